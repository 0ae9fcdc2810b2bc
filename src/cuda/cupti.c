#include "cuda/cupti.h"
#include "base/log.h"
#include "base/surroundings.h"
#include "cuda/cupti_library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gp_cupti gp_cupti;

/* The answer of a search. */
struct found {
    struct gp_cupti functions;
    bool has_ranges, has_host_lists, has_sass, has_samples, can_detach, has_events;
    uint32_t version;
    void *handle;
    struct gp_reason reason; /* why there is none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool searched;
static atomic_bool is_lost;
static struct gp_reason lost; /* why; constant once `is_lost` */
static struct found found;    /* constant once `searched`; its functions are in gp_cupti */

/* ---- its functions --------------------------------------------------------------------------- */

static bool find_functions(struct found *f, void *handle)
{
    bool common = true;
    f->has_ranges = f->has_host_lists = f->has_sass = f->has_samples = f->can_detach = true;
    f->has_events = true;
#define FIND(function, complete)                                         \
    *(void **)&f->functions.function = gp_real_dlsym(handle, #function); \
    complete = complete && f->functions.function;
#define CUPTI(function) FIND(function, common)
#define RANGE(function) FIND(function, f->has_ranges)
#define HOST(function) FIND(function, f->has_host_lists)
#define SASS(function) FIND(function, f->has_sass)
#define SAMPLE(function) FIND(function, f->has_samples)
#define DETACH(function) FIND(function, f->can_detach)
#define EVENT(function) FIND(function, f->has_events)
#include "cuda/cupti.def"
    return common && (f->has_ranges || f->has_events);
}

bool gp_cupti_has_ranges(void)
{
    return found.has_ranges;
}

bool gp_cupti_has_host_lists(void)
{
    return found.has_host_lists;
}

bool gp_cupti_has_sass(void)
{
    return found.has_sass;
}

bool gp_cupti_has_samples(void)
{
    return found.has_samples && found.can_detach;
}

bool gp_cupti_can_detach(void)
{
    return found.can_detach;
}

bool gp_cupti_has_events(void)
{
    return found.has_events;
}

/* From CUDA 13.2 on, which brought the function named here, it fails without a driver, and that of
 * 13.2 recurses without end. A profiled program has the driver; the command may run without. */
static bool lacks_driver(void *handle)
{
    return gp_real_dlsym(handle, "cuptiProfilerHostGetSinglePassSets") &&
           !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
}

static const char *named_file(void)
{
    return secure_getenv("GPUPROF_CUPTI");
}

static void search(struct found *f)
{
    void *handle = gp_cupti_open(named_file(), secure_getenv("CUDA_HOME"), &f->reason);
    f->handle = handle;
    if (handle && lacks_driver(handle))
        f->reason = GP_REASON_TEXT(NO_CUPTI, "libcupti of CUDA 13.2 and later needs the NVIDIA "
                                             "driver; GPUPROF_CUPTI can name an earlier one");
    else if (handle && !find_functions(f, handle))
        f->reason = GP_REASON_TEXT(
            NO_CUPTI,
            "libcupti.so is not a version that gpuprof can use; that of CUDA 12.6 or later is");
    if (!f->reason.cause && f->functions.cuptiGetVersion(&f->version) != CUPTI_SUCCESS)
        f->version = 0;
}

/* The lock is not held in the search: the loader's lock may be another thread's of the program,
 * which waits for ours. Two threads may search at a time, and find the same. */
bool gp_cupti_find(struct gp_reason *why)
{
    if (!atomic_load(&searched)) {
        struct found mine = {.reason = GP_NO_REASON};
        search(&mine);
        pthread_mutex_lock(&lock);
        if (!atomic_load(&searched)) {
            gp_cupti = mine.functions;
            found = mine;
            atomic_store(&searched, true);
        }
        pthread_mutex_unlock(&lock);
    }
    *why = atomic_load(&is_lost) ? lost : found.reason;
    return !why->cause;
}

static bool is_below(const char *path, const char *folder)
{
    return folder && *folder && strncmp(path, folder, strlen(folder)) == 0;
}

/* The user's word is not repeated, nor is the toolkit that everybody expects. */
void gp_cupti_say_file(void)
{
    static struct gp_say_limit once;
    const char *named = named_file();
    struct link_map *map = NULL;
    if (!(named && *named) && dlinfo(found.handle, RTLD_DI_LINKMAP, &map) == 0 &&
        !is_below(map->l_name, "/usr/local/cuda") &&
        !is_below(map->l_name, secure_getenv("CUDA_HOME")))
        gp_say_limited(&once, 1, "CUPTI is taken from %s", map->l_name);
}

void gp_cupti_lose(struct gp_reason why)
{
    pthread_mutex_lock(&lock);
    if (!atomic_load(&is_lost))
        lost = why;
    atomic_store(&is_lost, true);
    pthread_mutex_unlock(&lock);
}

bool gp_cupti_has(const void *address)
{
    Dl_info own, its;
    return atomic_load(&searched) && !found.reason.cause &&
           dladdr((void *)gp_cupti.cuptiGetVersion, &own) && dladdr(address, &its) &&
           own.dli_fbase == its.dli_fbase;
}

uint32_t gp_cupti_version(void)
{
    return found.version;
}

/* "cuptiRangeProfilerStart: CUPTI_ERROR_UNKNOWN", made once for each pair that comes up. */
static const char *name_error(const char *function, CUptiResult result)
{
    enum { MOST = 32 };
    static struct {
        const char *function;
        CUptiResult result;
        char text[96];
    } seen[MOST];
    static size_t count;
    const char *text = NULL;
    if (gp_cupti.cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
        text = "an unknown CUPTI error";
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < count && !(seen[i].function == function && seen[i].result == result))
        i++;
    if (i == count && count < MOST) {
        seen[i].function = function;
        seen[i].result = result;
        snprintf(seen[i].text, sizeof(seen[i].text), "%s: %s", function, text);
        count++;
    }
    if (i < MOST)
        text = seen[i].text;
    pthread_mutex_unlock(&lock);
    return text;
}

/* With the remedy for the surroundings of the process. */
static struct gp_reason forbidden(void)
{
    static char no_permission[512];
    struct gp_surroundings s;
    pthread_mutex_lock(&lock);
    if (!no_permission[0]) {
        size_t used = (size_t)snprintf(no_permission, sizeof(no_permission), "%s; ",
                                       gp_cause_text(GP_CAUSE_NO_PERMISSION));
        gp_surroundings_find(&s, "");
        gp_surroundings_remedy(&s, no_permission + used, sizeof(no_permission) - used);
    }
    pthread_mutex_unlock(&lock);
    return GP_REASON_TEXT(NO_PERMISSION, no_permission);
}

struct gp_reason gp_cupti_error(const char *function, CUptiResult result)
{
    switch ((int)result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        return forbidden();
    case CUPTI_ERROR_HARDWARE_BUSY:
        return GP_REASON(COUNTERS_IN_USE);
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        return GP_REASON_TEXT(COUNTERS_IN_USE, "another tool uses CUPTI in this process");
    case CUPTI_ERROR_INVALID_CHIP_NAME:
        return GP_REASON_TEXT(OTHER_CUPTI,
                              "this CUPTI does not know the GPU; a newer CUDA toolkit may");
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return GP_REASON_TEXT(GPU_NOT_PROFILED,
                              "the hypervisor does not let this virtual GPU be profiled");
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        return GP_REASON_TEXT(
            GPU_NOT_PROFILED,
            "the GPU is in confidential computing mode, where nothing may be counted");
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
        return GP_REASON_TEXT(GPU_NOT_PROFILED, "CUPTI counts nothing on mining processors (CMP)");
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        return GP_REASON_TEXT(GPU_NOT_PROFILED,
                              "CUPTI counts nothing on this slice of a GPU (MIG)");
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
        return GP_REASON_TEXT(GPU_NOT_PROFILED,
                              "CUPTI counts nothing on GPUs that are linked by SLI");
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
        return GP_REASON_TEXT(GPU_NOT_PROFILED, "CUPTI counts nothing under this version of WSL");
    case CUPTI_ERROR_NOT_INITIALIZED:
        return GP_REASON_TEXT(
            OTHER_CUPTI,
            "CUPTI could not start: it is newer than the driver, or the program has ended it");
    default:
        break;
    }
    return GP_REASON_TEXT(CUPTI_FAILED, name_error(function, result));
}

bool gp_cupti_failed(const char *function, CUptiResult result, struct gp_reason *why)
{
    if (result == CUPTI_SUCCESS)
        return false;
    *why = gp_cupti_error(function, result);
    return true;
}
