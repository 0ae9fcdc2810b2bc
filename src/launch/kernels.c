#include "launch/kernels.h"

#include "base/added_time.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mix.h"
#include "code/addresses.h"
#include "code/code_hash.h"
#include "counters/code_counts.h"
#include "launch/inside.h"
#include "launch/selection.h"
#include "memory/modules.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Kernels named in messages; a communication library has many. */
#define MOST_REFUSALS 5
/* The compute capability, times ten, from which on machine code is read. */
#define OLDEST_CODE 70
/* Names of kernels that were abandoned, remembered beyond their modules and contexts. */
#define MOST_ABANDONED 256

/* Taken at every launch, but for new kernels and those that go by readers only. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static struct gp_kernel *kernels;

/* Some functions that the user has not selected, so that their launches cost next to nothing. A
 * thread's answers hold until kernels are forgotten: then a handle may become another
 * function's. A program may launch dozens one after the other; but the room is taken from every
 * thread's stack. */
#define REMEMBERED_BITS 6
#define REMEMBERED (1 << REMEMBERED_BITS)
struct unselected {
    CUfunction handle;
    unsigned long forgotten;
};
static __thread struct unselected remembered[REMEMBERED] __attribute__((tls_model("initial-exec")));
static atomic_ulong times_forgotten = 1;

static atomic_bool graphs_from_device; /* there is a graph that kernels may launch */

/* Kernels that wait for others will do so when they are loaded another time: each time to find out
 * takes seconds. Others of their name, with other code, may not. Locked as the kernels are. */
struct abandoned {
    struct gp_reason why;
    uint64_t code; /* 0: any */
    UT_hash_handle hh;
    char name[];
};
static struct abandoned *abandoned;

/* A hash; 0 where the code is not known. */
static uint64_t code_of(const struct gp_kernel *k)
{
    size_t size;
    struct gp_reason why;
    const void *code = gp_module_code(k->module, k->name, &size, &why);
    return code ? gp_code_hash(code, size) : 0;
}

static void remember(const char *name, uint64_t code, struct gp_reason why)
{
    struct abandoned *l;
    HASH_FIND_STR(abandoned, name, l);
    if (l && l->code != code)
        l->code = 0;
    if (l || HASH_COUNT(abandoned) >= MOST_ABANDONED)
        return;
    size_t length = strlen(name);
    l = malloc(sizeof(*l) + length + 1);
    if (!l)
        return;
    l->why = why;
    l->code = code;
    memcpy(l->name, name, length + 1);
    HASH_ADD_KEYPTR(hh, abandoned, l->name, length, l);
    if (!l->hh.tbl)
        free(l);
}

static struct gp_reason remembered_reason(const struct gp_kernel *k)
{
    struct abandoned *l;
    HASH_FIND_STR(abandoned, k->name, l);
    uint64_t code = l && l->code ? code_of(k) : 0;
    return l && (code == 0 || code == l->code) ? l->why : GP_NO_REASON;
}

/* cuLaunchKernel takes a CUkernel where it says CUfunction, and the CUDA runtime gives it one;
 * asking the wrong way is an error without consequences. */
static const char *ask_name(CUfunction handle, CUfunction *function)
{
    const char *name = NULL;
    *function = handle;
    if (gp_cuda.cuFuncGetName && gp_cuda.cuFuncGetName(&name, handle) == CUDA_SUCCESS && name)
        return name;
    if (gp_cuda.cuKernelGetName &&
        gp_cuda.cuKernelGetName(&name, (CUkernel)handle) == CUDA_SUCCESS && name) {
        if (gp_cuda.cuKernelGetFunction(function, (CUkernel)handle) != CUDA_SUCCESS)
            *function = handle;
        return name;
    }
    return "(a kernel without a name)";
}

/* The library or module the function came from; NULL where this driver does not tell. */
static const void *ask_module(CUfunction handle, const char *name)
{
    CUlibrary library;
    CUmodule module;
    if (gp_cuda.cuFuncGetModule && gp_cuda.cuFuncGetModule(&module, handle) == CUDA_SUCCESS)
        return gp_module_owner(module, handle, name);
    if (gp_cuda.cuKernelGetLibrary &&
        gp_cuda.cuKernelGetLibrary(&library, (CUkernel)handle) == CUDA_SUCCESS)
        return library;
    return NULL;
}

/* Kernels of these libraries wait for those of other GPUs or processes, and each run uses up the
 * messages of the others: they run once. */
static bool communicates(const char *name)
{
    static const char *const marks[] = {"nccl", "nvshmem"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (strstr(name, marks[i]))
            return true;
    return false;
}

static struct gp_kernel *make(CUfunction handle)
{
    struct gp_kernel *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->handle = handle;
    /* The driver loads the kernel, as its first launch would do: that is the program's time. */
    gp_added_pauses();
    const char *name = ask_name(handle, &k->function);
    gp_added_resumes();
    k->name = strdup(name);
    if (!k->name) {
        free(k);
        return NULL;
    }
    k->selected = selection_wants(k->name);
    k->module = ask_module(handle, k->name);
    k->runs_once = gp_module_runs_once(k->module, k->name);
    k->refused = remembered_reason(k);
    k->unending = k->refused.cause;
    if (k->selected && communicates(k->name)) {
        static struct gp_say_limit once;
        k->refused = GP_COMMUNICATES;
        gp_say_limited(&once, MOST_REFUSALS, "%s is not measured: %s", kernel_shown(k),
                       k->refused.text);
    }
    atomic_init(&k->is_refused, k->refused.cause);
    return k;
}

static void free_kernel(struct gp_kernel *k)
{
    parameter_layout_free(&k->layout);
    free(k->name);
    free(k->shown);
    free(k);
}

/* Locked. */
static struct gp_kernel *known(CUfunction handle)
{
    struct gp_kernel *k;
    HASH_FIND_PTR(kernels, &handle, k);
    return k;
}

/* Locked for writing. */
static struct gp_kernel *find(CUfunction handle)
{
    struct gp_kernel *k = known(handle);
    if (k)
        return k;
    k = make(handle);
    if (!k)
        return NULL;
    HASH_ADD_PTR(kernels, handle, k);
    if (k->hh.tbl)
        return k;
    free_kernel(k);
    return NULL;
}

struct gp_kernel *gp_kernel_find(CUfunction handle)
{
    pthread_rwlock_wrlock(&lock);
    struct gp_kernel *k = find(handle);
    pthread_rwlock_unlock(&lock);
    return k;
}

/* A CUkernel is another function in each context. */
static CUfunction function_here(const struct gp_kernel *k)
{
    CUfunction function = k->function;
    if (function != k->handle &&
        gp_cuda.cuKernelGetFunction(&function, (CUkernel)k->handle) != CUDA_SUCCESS)
        return k->function;
    return function;
}

/* Locked for writing. A kernel whose code is not read may do all that code could show. */
static bool ask_facts(struct gp_kernel *k, const struct gp_device *device, bool reads,
                      struct gp_kernel_facts *facts)
{
    const int cc = 10 * device->cc_major + device->cc_minor;
    const struct gp_run run = {.kernel = k->name,
                               .code = &k->code,
                               .find_code = kernel_find_code,
                               .find_cubin = kernel_find_cubin,
                               .find_code_data = k};
    *facts = (struct gp_kernel_facts){
        .name = strdup(k->name),
        .function = function_here(k),
        .code_read = reads,
        .may_wait = !reads || gp_kernel_may_wait(k, device),
        .may_poll = !reads || kernel_may_poll(k, device),
    };
    if (facts->name && reads && cc >= OLDEST_CODE)
        gp_code_counts_note(&run, cc);
    return facts->name != NULL;
}

bool kernel_ask_facts(CUfunction handle, const struct gp_device *device, bool reads,
                      struct gp_kernel_facts *facts)
{
    pthread_rwlock_wrlock(&lock);
    struct gp_kernel *k = find(handle);
    bool known = k && ask_facts(k, device, reads, facts);
    pthread_rwlock_unlock(&lock);
    return known;
}

unsigned long kernels_forgotten(void)
{
    return atomic_load_explicit(&times_forgotten, memory_order_acquire);
}

/* Locks, for writing only where the kernel is new. NULL when out of memory; locked all the same.
 */
static const struct gp_kernel *lock_and_find(CUfunction handle)
{
    pthread_rwlock_rdlock(&lock);
    const struct gp_kernel *k = known(handle);
    if (k)
        return k;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    return find(handle);
}

double kernel_reading_seconds(CUfunction handle)
{
    const struct gp_kernel *k = lock_and_find(handle);
    const bool is_read = !k || atomic_load_explicit(&k->is_read, memory_order_relaxed);
    const double seconds =
        is_read ? 0 : gp_module_code_seconds(k->module, k->name) + kernel_compiling_seconds(k);
    pthread_rwlock_unlock(&lock);
    return seconds;
}

/* Locked for writing. */
static void ask_layout(struct gp_kernel *k)
{
    parameter_layout_ask(&k->layout, k->handle, k->function);
}

void kernel_ask_layout(struct gp_kernel *kernel)
{
    if (kernel->layout.asked)
        return;
    pthread_rwlock_wrlock(&lock);
    ask_layout(kernel);
    pthread_rwlock_unlock(&lock);
}

/* Whether it may write memory to which its parameters do not lead. Answers of kernel_facts.c are
 * kept by threads that have locked the gate. */
static bool may_write_elsewhere(struct gp_kernel *k)
{
    CUdevice device;
    size_t size;
    struct gp_reason why;
    const void *code = kernel_find_code(k, k->name, &size, &why);
    if (!code || gp_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return true;
    const int cc = 10 * gp_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                   gp_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return gp_code_may_load_addresses(code, size, cc) ||
           gp_code_write_addresses(code, size, cc) == GP_WRITES_ANYWHERE;
}

/* Locks, as lock_and_find, and asks a kernel that was not asked yet, if there is the time to. */
static const struct gp_kernel *lock_and_ask(CUfunction handle)
{
    const struct gp_kernel *k = lock_and_find(handle);
    if (!k || (k->writes_elsewhere != GP_NOT_ASKED && k->layout.asked))
        return k;
    pthread_rwlock_unlock(&lock);
    const bool reads = within_limit_permits_code(handle);
    pthread_rwlock_wrlock(&lock);
    struct gp_kernel *asked = find(handle);
    if (!asked)
        return NULL;
    ask_layout(asked);
    if (reads && asked->writes_elsewhere == GP_NOT_ASKED)
        asked->writes_elsewhere = may_write_elsewhere(asked) ? GP_MAYBE : GP_NEVER;
    return asked;
}

bool kernel_each_root(const struct gp_launch *call, parameter_visit *visit, void *data)
{
    const struct gp_kernel *k = lock_and_ask(call->function);
    const bool led =
        k && k->writes_elsewhere == GP_NEVER && parameters_each(call, &k->layout, visit, data);
    pthread_rwlock_unlock(&lock);
    return led;
}

static struct unselected *position_of(CUfunction handle)
{
    return &remembered[gp_mix(0, (uintptr_t)handle) >> (64 - REMEMBERED_BITS)];
}

bool kernel_is_left_out(CUfunction handle)
{
    const struct unselected *position = position_of(handle);
    return position->handle == handle &&
           position->forgotten == atomic_load_explicit(&times_forgotten, memory_order_acquire);
}

static enum gp_interest interest_in(const struct gp_kernel *selected,
                                    const struct gp_configuration *configuration)
{
    if (atomic_load_explicit(&selected->is_refused, memory_order_acquire))
        return selected->unending ? GP_UNENDING : GP_REFUSED;
    bool waits = atomic_load(&selected->waits_for_host) && is_one_warp(configuration);
    return waits ? GP_UNENDING : GP_WANTED;
}

enum gp_interest gp_kernel_interest(CUfunction handle, const struct gp_configuration *configuration)
{
    if (kernel_is_left_out(handle))
        return GP_NOT_SELECTED;
    unsigned long now = atomic_load_explicit(&times_forgotten, memory_order_acquire);
    const struct gp_kernel *k = lock_and_find(handle);
    enum gp_interest interest = k && k->selected ? interest_in(k, configuration) : GP_NOT_SELECTED;
    if (k && interest == GP_NOT_SELECTED)
        *position_of(handle) = (struct unselected){.handle = handle, .forgotten = now};
    pthread_rwlock_unlock(&lock);
    return interest;
}

bool kernel_polls(CUfunction handle)
{
    const struct gp_kernel *k = lock_and_find(handle);
    bool polls = k && atomic_load(&k->waits_for_host);
    pthread_rwlock_unlock(&lock);
    return polls;
}

enum gp_passed_over gp_kernel_why_not(enum gp_interest interest)
{
    return interest == GP_REFUSED ? GP_COMMUNICATING : GP_WAITS;
}

void gp_kernel_add_name(CUfunction handle, struct gp_text *text)
{
    const struct gp_kernel *k = lock_and_find(handle);
    if (k)
        gp_text_add(text, k->name);
    pthread_rwlock_unlock(&lock);
}

void kernel_refuse(struct gp_kernel *kernel, struct gp_reason why)
{
    kernel->unending = true;
    kernel->refused = why;
    atomic_store(&kernel->is_refused, true);
    sampling_asks_again();
    uint64_t code = code_of(kernel);
    pthread_rwlock_wrlock(&lock);
    remember(kernel->name, code, why);
    pthread_rwlock_unlock(&lock);
}

void gp_kernels_can_launch_graphs(void)
{
    atomic_store(&graphs_from_device, true);
}

bool gp_kernels_launch_graphs(void)
{
    return atomic_load_explicit(&graphs_from_device, memory_order_relaxed);
}

bool gp_kernel_may_launch_graphs(CUfunction function)
{
    pthread_rwlock_wrlock(&lock);
    struct gp_kernel *k = find(function);
    if (k && k->launches_graphs == GP_NOT_ASKED)
        k->launches_graphs = gp_module_may_call(k->module, "cudaGraphLaunch") ? GP_MAYBE : GP_NEVER;
    bool may = !k || k->launches_graphs == GP_MAYBE;
    pthread_rwlock_unlock(&lock);
    return may;
}

/* A function of a library that was looked up in a context is of a module that the driver made
 * there, and which the program did not load: where its library was not found it may be any. */
static bool may_be_of(const struct gp_kernel *k, const void *module, bool is_library)
{
    return !module || !k->module || k->module == module ||
           (is_library && !gp_module_is_loaded(k->module));
}

/* Some have run in a pass, nobody knows which: of those that were forgotten together, or beside a
 * kernel that was abandoned in its pass. */
static bool unknown_collected;

/* CUPTI could not be made to free the code of those that ran in a pass, nor will it be that of
 * those that do so from then on: its session stays. The second is true where such a kernel was
 * forgotten, but not with its own module. */
static bool holds, unknown_held;

static bool is_held(const struct gp_kernel *k)
{
    return holds && (k->collected || unknown_collected);
}

void kernels_all_collected(void)
{
    pthread_rwlock_wrlock(&lock);
    unknown_collected = true;
    pthread_rwlock_unlock(&lock);
}

void kernels_hold(void)
{
    const struct gp_kernel *k, *next;
    pthread_rwlock_wrlock(&lock);
    HASH_ITER(hh, kernels, k, next)
    {
        holds = holds || k->collected;
    }
    holds = holds || unknown_collected;
    pthread_rwlock_unlock(&lock);
}

bool gp_kernels_held(const void *module, bool is_library)
{
    const struct gp_kernel *k, *next;
    pthread_rwlock_rdlock(&lock);
    bool held = unknown_held || (holds && unknown_collected);
    HASH_ITER(hh, kernels, k, next)
    {
        held = held || (is_held(k) && may_be_of(k, module, is_library));
    }
    pthread_rwlock_unlock(&lock);
    return held;
}

bool gp_kernels_collected(const void *module, bool is_library)
{
    const struct gp_kernel *k, *next;
    pthread_rwlock_rdlock(&lock);
    bool collected = unknown_collected;
    HASH_ITER(hh, kernels, k, next)
    {
        collected = collected || (k->collected && may_be_of(k, module, is_library));
    }
    pthread_rwlock_unlock(&lock);
    return collected;
}

bool gp_kernels_collected_somewhere(void)
{
    const struct gp_kernel *k, *next;
    pthread_rwlock_rdlock(&lock);
    bool somewhere = unknown_collected;
    HASH_ITER(hh, kernels, k, next)
    {
        somewhere = somewhere || (k->collected && !k->module);
    }
    pthread_rwlock_unlock(&lock);
    return somewhere;
}

bool kernel_goes_with(const struct gp_kernel *k, CUcontext context)
{
    const CUcontext own = k->module ? gp_module_context(k->module) : NULL;
    return !own || own == context;
}

/* Kernels that are not known to be of this context may be patched by sessions of others. */
void gp_kernels_forget_context(CUcontext context)
{
    struct gp_kernel *k, *next;
    pthread_rwlock_wrlock(&lock);
    atomic_fetch_add_explicit(&times_forgotten, 1, memory_order_release);
    HASH_ITER(hh, kernels, k, next)
    {
        if (!kernel_goes_with(k, context))
            continue;
        unknown_held = unknown_held || is_held(k);
        unknown_collected = unknown_collected || k->collected;
        HASH_DEL(kernels, k);
        free_kernel(k);
    }
    pthread_rwlock_unlock(&lock);
    sampling_forget();
}

void gp_kernels_forget(const void *module, bool is_library)
{
    bool collected = false;
    struct gp_kernel *k, *next;
    pthread_rwlock_wrlock(&lock);
    atomic_fetch_add_explicit(&times_forgotten, 1, memory_order_release);
    HASH_ITER(hh, kernels, k, next)
    {
        if (may_be_of(k, module, is_library)) {
            collected = collected || k->collected;
            unknown_held = unknown_held || (is_held(k) && (!module || k->module != module));
            HASH_DEL(kernels, k);
            free_kernel(k);
        }
    }
    unknown_collected = !module && (collected || unknown_collected);
    pthread_rwlock_unlock(&lock);
    sampling_forget();
}
