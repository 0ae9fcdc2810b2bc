#include "cuda/cupti.h"
#include "cuda/cupti_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gp_cupti gp_cupti;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool searched;
static uint32_t version;
static bool has_ranges, has_host_lists, has_sass, has_events;
static const char *reason;

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
            gp_cupti_open(secure_getenv("GPUPROF_CUPTI"), secure_getenv("CUDA_HOME"), &reason);
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
