#include "launch/selection.h"

#include "base/demangle.h"
#include "base/hash.h"
#include "base/kernel_filter.h"
#include "base/launch_choice.h"
#include "base/log.h"
#include "base/regex.h"
#include "base/text.h"
#include "launch/inside.h"
#include "launch/kernels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A launch without a number is not in the user's ranges. */
#define MOST_NUMBERED 256
#define MOST_KERNELS 65536
#define MOST_TOO_HARD 8

/* Things in the order in which they came up. */
struct order {
    const void *things[MOST_NUMBERED];
    size_t count;
};

struct invocations {
    UT_hash_handle hh;
    uint64_t count;
    char name[];
};

/* One bit for each device; the others as in base/kernel_filter.h. */
struct rules {
    uint64_t devices;
    uint64_t context, stream, invocation;
    struct gp_launch_choice launches;
};

static struct {
    bool active;
    struct rules rules;
    pthread_mutex_t lock; /* of all below */
    struct order contexts, streams;
    struct invocations *kernels;
    uint64_t launches;
} selection = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- kernels, by their names ----------------------------------------------------------------- */

static struct {
    struct gp_regex *wanted;        /* NULL: all */
    const char *pattern;            /* the text of it */
    unsigned too_hard;              /* names that could not be compared with it */
    atomic_bool selected, left_out; /* some kernel is wanted, some is not */
} names;

/* The command has made the variable of its option. */
#define BY_OPTION "(--kernels, GPUPROF_KERNELS)"

/* Each name that is too hard to compare costs some milliseconds: after so many it is enough. */
static bool matches(const char *name, bool *too_hard)
{
    return names.too_hard < MOST_TOO_HARD && gp_regex_matches(names.wanted, name, too_hard);
}

bool selection_wants(const char *kernel)
{
    static struct gp_say_limit once;
    bool too_hard = false;
    if (!names.wanted)
        return true;
    bool selected = matches(kernel, &too_hard);
    char *demangled = selected || too_hard ? NULL : gp_demangle(kernel, GP_NAME_FULL);
    selected = selected || (demangled && matches(demangled, &too_hard));
    free(demangled);
    names.too_hard += too_hard;
    if (too_hard)
        gp_say_limited(&once, 1,
                       "'%s' " BY_OPTION
                       " matches in too many ways to compare %.100s%s with it; such kernels "
                       "are not measured",
                       names.pattern, kernel, strlen(kernel) > 100 ? "..." : "");
    if (selected)
        atomic_store(&names.selected, true);
    else
        atomic_store(&names.left_out, true);
    return selected;
}

void selection_end(void)
{
    if (atomic_load(&names.left_out) && !atomic_load(&names.selected))
        gp_say("'%s' " BY_OPTION " matches no kernel that was launched", names.pattern);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Its number from 1; 0 where there is no more room. */
static uint64_t number_of(struct order *order, const void *thing)
{
    for (size_t i = 0; i < order->count; i++)
        if (order->things[i] == thing)
            return i + 1;
    if (order->count == MOST_NUMBERED)
        return 0;
    order->things[order->count++] = thing;
    return order->count;
}

/* NULL when out of memory or room. */
static struct invocations *new_kernel(const struct gp_text *name)
{
    struct invocations *k =
        HASH_COUNT(selection.kernels) < MOST_KERNELS ? calloc(1, sizeof(*k) + name->length) : NULL;
    if (!k)
        return NULL;
    memcpy(k->name, name->data, name->length);
    HASH_ADD_KEYPTR(hh, selection.kernels, k->name, name->length, k);
    if (k->hh.tbl)
        return k;
    free(k);
    return NULL;
}

/* Counts a launch of the kernel; 0 where it has no number. */
static uint64_t invocation_of(const struct gp_text *name)
{
    struct invocations *k = NULL;
    if (name->failed || name->length == 0)
        return 0;
    HASH_FIND(hh, selection.kernels, name->data, name->length, k);
    if (!k)
        k = new_kernel(name);
    return k ? ++k->count : 0;
}

static bool fits(uint64_t wanted, uint64_t number)
{
    return wanted == GP_ANY || wanted == number;
}

/* Locked. Every launch that comes up is counted, also where something else speaks against it. */
static bool takes(const struct gp_launch *call, const struct gp_text *name, CUcontext context,
                  CUdevice device)
{
    const struct rules *rules = &selection.rules;
    uint64_t context_number = number_of(&selection.contexts, context);
    uint64_t stream_number =
        gp_stream_is_default(call->stream) ? 0 : number_of(&selection.streams, call->stream);
    bool known_stream = gp_stream_is_default(call->stream) || stream_number > 0;
    uint64_t invocation = rules->invocation == GP_ANY ? 0 : invocation_of(name);
    bool on_device = device < 0 || device >= 64 || (rules->devices >> device & 1);
    if (!on_device || !fits(rules->context, context_number) ||
        !(rules->stream == GP_ANY || (known_stream && rules->stream == stream_number)) ||
        !fits(rules->invocation, invocation))
        return false;
    uint64_t before = selection.launches++;
    return before >= rules->launches.skip && before - rules->launches.skip < rules->launches.count;
}

bool selection_counts(void)
{
    return selection.active;
}

bool gp_selection_takes(const struct gp_launch *call)
{
    if (!selection.active)
        return true;
    CUcontext context = NULL;
    CUdevice device = -1;
    if (gp_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS)
        context = NULL;
    if (gp_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        device = -1;
    struct gp_text name = {0};
    if (selection.rules.invocation != GP_ANY)
        gp_kernel_add_name(call->function, &name);
    pthread_mutex_lock(&selection.lock);
    bool taken = takes(call, &name, context, device);
    pthread_mutex_unlock(&selection.lock);
    gp_text_free(&name);
    return taken;
}

/* the user's choice ---------------------------------------------------------------------------- */

static void read_rules(const struct gp_kernel_filter *filter)
{
    struct rules rules = {.devices = UINT64_MAX,
                          .context = filter->context,
                          .stream = filter->stream,
                          .invocation = filter->invocation,
                          .launches = {.count = UINT64_MAX}};
    const char *devices = secure_getenv("GPUPROF_DEVICES"),
               *launches = secure_getenv("GPUPROF_LAUNCHES");
    if (devices && *devices && !gp_devices_parse(devices, &rules.devices))
        gp_say("GPUPROF_DEVICES=%s: no list; " GP_DEVICES_SYNTAX "; all are measured", devices);
    if (launches && *launches && !gp_launches_parse(launches, &rules.launches))
        gp_say("GPUPROF_LAUNCHES=%s: no rule; " GP_LAUNCHES_SYNTAX "; all are measured", launches);
    selection.rules = rules;
    selection.active = rules.devices != UINT64_MAX || rules.context != GP_ANY ||
                       rules.stream != GP_ANY || rules.invocation != GP_ANY ||
                       rules.launches.skip > 0 || rules.launches.count != UINT64_MAX;
}

void selection_read(void)
{
    const char *text = secure_getenv("GPUPROF_KERNELS");
    struct gp_kernel_filter filter = {.context = GP_ANY, .stream = GP_ANY, .invocation = GP_ANY};
    char why[256];
    if (text && *text && !gp_kernel_filter_parse(text, &filter, why, sizeof(why)))
        gp_say("GPUPROF_KERNELS=%.100s%s: %s; every kernel is measured", text,
               strlen(text) > 100 ? "..." : "", why);
    read_rules(&filter);
    names.pattern = filter.name; /* the program may change its environment */
    if (filter.name && *filter.name)
        names.wanted = gp_regex_new(filter.name, why, sizeof(why));
}
