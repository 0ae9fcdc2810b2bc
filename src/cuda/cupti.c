#include "cuda/cupti.h"

#include "base/cancel.h"
#include "base/stack.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Milliseconds that forks wait, all of them together, for libraries that are being loaded. */
#define MOST_NAPS 2000

struct gp_cupti gp_cupti;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool searched;
static uint32_t version;
static bool has_ranges, has_host_lists, has_sass, has_events;
static const char *reason;

/* ---- where it may be ------------------------------------------------------------------------- */

static int note_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(file, "libcupti.so", 11) != 0)
        return 0;
    gp_text_add(data, info->dlpi_name);
    return 1;
}

static void *open_loaded(void)
{
    struct gp_text path = {0};
    dl_iterate_phdr(note_loaded, &path);
    void *handle = path.length ? dlopen(path.data, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    gp_text_free(&path);
    return handle;
}

/* NVIDIA's wheels have no libcupti.so, only the versioned name. */
static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static void *open_in(const char *toolkit, const char *folder)
{
    void *handle = NULL;
    for (size_t i = NAMES; i-- > 0 && !handle;) {
        struct gp_text path = {0};
        gp_text_addf(&path, "%s/%s/%s", toolkit, folder, names[i]);
        if (!path.failed)
            handle = dlopen(path.data, RTLD_LAZY | RTLD_LOCAL);
        gp_text_free(&path);
    }
    return handle;
}

static void *open_below(const char *toolkit)
{
    static const char *const folders[] = {"extras/CUPTI/lib64", "lib64", "lib"};
    void *handle = NULL;
    for (size_t i = 0; toolkit && *toolkit && !handle && i < sizeof(folders) / sizeof(folders[0]);
         i++)
        handle = open_in(toolkit, folders[i]);
    return handle;
}

static void *open_named(void)
{
    void *handle = NULL;
    for (size_t i = 0; !handle && i < NAMES; i++)
        handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    return handle;
}

/* Of the environment's GPUPROF_CUPTI and CUDA_HOME. */
static void *open_library(const char *file, const char *toolkit, const char **why)
{
    if (file && *file) {
        void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
        if (!handle)
            *why = "the file GPUPROF_CUPTI names cannot be loaded as libcupti.so";
        return handle; /* the user's word is final */
    }
    void *handle = open_loaded();
    if (!handle)
        handle = open_below(toolkit);
    if (!handle)
        handle = open_below("/usr/local/cuda");
    if (!handle)
        handle = open_named();
    if (!handle)
        *why = "libcupti.so was not found; set CUDA_HOME to a CUDA toolkit 12.6 or later, or "
               "GPUPROF_CUPTI to the file";
    return handle;
}

/* The runtime of the address sanitizer ends a process that binds so. */
#ifdef __SANITIZE_ADDRESS__
#define DEEPBIND 0
#else
#define DEEPBIND RTLD_DEEPBIND
#endif

/* libcupti opens these by name, and finds them only in a folder that the loader searches: those
 * beside it, of its own version, are loaded first. Missing ones are its own to report. */
static void open_parts(void *handle)
{
    static const char *const parts[] = {"libnvperf_host.so", "libnvperf_target.so"};
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !strchr(map->l_name, '/'))
        return;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct gp_text path = {0};
        gp_text_addf(&path, "%.*s/%s", (int)(strrchr(map->l_name, '/') - map->l_name), map->l_name,
                     parts[i]);
        if (!path.failed)
            dlopen(path.data, RTLD_LAZY | RTLD_LOCAL | DEEPBIND);
        gp_text_free(&path);
    }
}

/* ---- its functions --------------------------------------------------------------------------- */

static bool find_functions(void *handle)
{
    bool common = true;
    has_ranges = has_host_lists = has_sass = has_events = true;
#define FIND(function, complete)                                     \
    *(void **)&gp_cupti.function = gp_real_dlsym(handle, #function); \
    complete = complete && gp_cupti.function;
#define CUPTI(function) FIND(function, common)
#define RANGE(function) FIND(function, has_ranges)
#define HOST(function) FIND(function, has_host_lists)
#define SASS(function) FIND(function, has_sass)
#define EVENT(function) FIND(function, has_events)
#include "cuda/cupti.def"
    return common && (has_ranges || has_events);
}

bool gp_cupti_has_ranges(void)
{
    return has_ranges;
}

bool gp_cupti_has_host_lists(void)
{
    return has_host_lists;
}

bool gp_cupti_has_sass(void)
{
    return has_sass;
}

bool gp_cupti_has_events(void)
{
    return has_events;
}

/* From CUDA 13.2 on, which brought the function named here, it fails without a driver, and that of
 * 13.2 recurses without end. A profiled program has the driver; the command may run without. */
static bool lacks_driver(void *handle)
{
    return gp_real_dlsym(handle, "cuptiProfilerHostGetSinglePassSets") &&
           !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
}

bool gp_cupti_find(const char **why)
{
    pthread_mutex_lock(&lock);
    if (!searched) {
        searched = true;
        void *handle =
            open_library(secure_getenv("GPUPROF_CUPTI"), secure_getenv("CUDA_HOME"), &reason);
        if (handle)
            open_parts(handle);
        if (handle && lacks_driver(handle))
            reason = "libcupti of CUDA 13.2 and later needs the NVIDIA driver; GPUPROF_CUPTI can "
                     "name an earlier one";
        else if (handle && !find_functions(handle))
            reason = "libcupti.so is not a version we can use; that of CUDA 12.6 or later is";
        if (!reason && gp_cupti.cuptiGetVersion(&version) != CUPTI_SUCCESS)
            version = 0;
    }
    *why = reason;
    pthread_mutex_unlock(&lock);
    return !*why;
}

/* ---- ahead of the first launch --------------------------------------------------------------- */

static atomic_bool loading;
static atomic_int naps = MOST_NAPS;
/* Copies: the program may change its environment while the thread is at it. */
static char named_file[PATH_MAX], named_toolkit[PATH_MAX];

/* A program that uses the driver before its libraries have begun loads no further ones beside. */
static bool begun;
__attribute__((constructor)) static void begin(void)
{
    begun = true;
}

static bool copy_of_environment(const char *name, char copy[PATH_MAX])
{
    const char *value = secure_getenv(name);
    return snprintf(copy, PATH_MAX, "%s", value ? value : "") < PATH_MAX;
}

/* Takes none of our locks: a program may launch kernels while it loads a library of its own, and
 * then has the loader's, which this thread waits for. */
static void *load(void *unused)
{
    const char *ignored;
    void *handle = open_library(named_file, named_toolkit, &ignored);
    if (handle)
        open_parts(handle);
    atomic_store(&loading, false);
    return unused;
}

/* A child would have the loader's lists as this thread left them, half changed. Where the program
 * forks while it loads a library itself, the thread waits for that: not for ever. */
static void wait_before_fork(void)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    const int saved_errno = errno;
    gp_cancel_hold(); /* fork is no cancellation point */
    while (atomic_load(&loading) && atomic_fetch_sub(&naps, 1) > 0)
        nanosleep(&nap, NULL);
    gp_cancel_release();
    errno = saved_errno;
}

/* The program's default size of a stack may be too small for the constructors of these libraries,
 * and its signals are the program's. Where no thread can be had, the first launch loads them. */
static void start_to_load(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
        pthread_attr_setstacksize(&attributes, GP_STACK_BYTES) == 0 &&
        pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
        atomic_store(&loading, true);
        if (pthread_create(&thread, &attributes, load, NULL) != 0)
            atomic_store(&loading, false);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
}

void gp_cupti_load_ahead(void)
{
    if (begun && copy_of_environment("GPUPROF_CUPTI", named_file) &&
        copy_of_environment("CUDA_HOME", named_toolkit) &&
        pthread_atfork(wait_before_fork, NULL, NULL) == 0)
        start_to_load();
}

uint32_t gp_cupti_version(void)
{
    return version;
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

const char *gp_cupti_error(const char *function, CUptiResult result)
{
    switch ((int)result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        return "no permission to read the GPU's counters; run as root, or load the driver with "
               "NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
        return "the GPU's counters are in use by another process (a profiler or a monitor; for "
               "DCGM: "
               "dcgmi profile --pause)";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        return "another tool uses CUPTI in this process";
    case CUPTI_ERROR_INVALID_CHIP_NAME:
        return "this CUPTI does not know the GPU; a newer CUDA toolkit may";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return "the hypervisor does not let this virtual GPU be profiled";
    case CUPTI_ERROR_NOT_INITIALIZED:
        return "CUPTI could not start; it must not be newer than the driver";
    default:
        break;
    }
    return name_error(function, result);
}

bool gp_cupti_failed(const char *function, CUptiResult result, const char **why)
{
    if (result == CUPTI_SUCCESS)
        return false;
    *why = gp_cupti_error(function, result);
    return true;
}
