#include "cupti/cupti_sim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <cupti_version.h>

#define MAX_DEVICES 8

const struct gpusim_backend *gpusim_driver(void)
{
    static const struct gpusim_backend *found;
    const struct gpusim_backend *backend;
    void *driver;

    if (found) {
        if (found->fault("errno"))
            errno = EOWNERDEAD;
        return found;
    }
    /* Like the real one: no dependency on the driver, found by its file's name when needed. */
    driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return NULL;
    backend = dlsym(driver, "gpusim_backend");
    if (!backend || backend->version != GPUSIM_BACKEND_VERSION)
        return NULL;
    found = backend;
    return found;
}

bool gpusim_cupti_fault(const char *name)
{
    const struct gpusim_backend *driver = gpusim_driver();

    return driver && driver->fault(name);
}

/* How often each function was called that may fail. */
static unsigned long count_call(const char *function)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        const char *function;
        unsigned long calls;
    } counts[64];
    unsigned long calls = 0;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && calls == 0; i++) {
        if (!counts[i].function)
            counts[i].function = function;
        if (strcmp(counts[i].function, function) == 0)
            calls = ++counts[i].calls;
    }
    pthread_mutex_unlock(&lock);
    return calls;
}

static CUptiResult error_called(const char *word)
{
    static const struct {
        const char *word;
        CUptiResult error;
    } errors[] = {
        {"forbidden", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES},
        {"busy", CUPTI_ERROR_HARDWARE_BUSY},
        {"hypervisor", CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES},
        {"unsupported", CUPTI_ERROR_NOT_SUPPORTED},
        {"mig", CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED},
        {"wsl", CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED},
    };

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strncmp(word, errors[i].word, strlen(errors[i].word)) == 0)
            return errors[i].error;
    return CUPTI_ERROR_UNKNOWN;
}

CUptiResult gpusim_cupti_failure(const char *function)
{
    const char *at = getenv("GPUSIM_FAILS");
    size_t length = strlen(function);
    unsigned long call = at ? count_call(function) : 0;

    for (; at && *at; at += strcspn(at, ","), at += *at == ',') {
        char *end;
        if (strncmp(at, function, length) != 0 || at[length] != '@')
            continue;
        unsigned long from = strtoul(at + length + 1, &end, 10);
        bool and_later = *end == '+';
        end += and_later;
        if (call == from || (and_later && call > from))
            return *end == '=' ? error_called(end + 1) : CUPTI_ERROR_UNKNOWN;
    }
    return CUPTI_SUCCESS;
}

void gpusim_takes_ms(double ms)
{
    if (gpusim_cupti_fault("slowcounters"))
        gpusim_driver()->sleep_ms(ms);
}

_Noreturn void gpusim_crash(const char *what)
{
    (void)fprintf(stderr, "simulated CUPTI: the real one crashes here: %s\n", what);
    (void)raise(SIGSEGV);
    abort();
}

/* ---- clients ---- */

static pthread_mutex_t owners_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    CUcontext owner;
    unsigned times;
    int file;
} owners[MAX_DEVICES];

static CUptiResult lock_file(int device, int *file)
{
    const char *path = getenv("GPUSIM_LOCK");
    char name[4096];

    *file = -1;
    if (!path || !*path)
        return CUPTI_SUCCESS;
    if (snprintf(name, sizeof(name), "%s.%d", path, device) >= (int)sizeof(name))
        return CUPTI_ERROR_UNKNOWN;
    *file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*file < 0)
        return CUPTI_ERROR_UNKNOWN;
    if (flock(*file, LOCK_EX | LOCK_NB) != 0) {
        (void)close(*file);
        *file = -1;
        return CUPTI_ERROR_HARDWARE_BUSY;
    }
    return CUPTI_SUCCESS;
}

CUptiResult gpusim_counters_take(CUcontext owner, int device)
{
    CUptiResult result = CUPTI_SUCCESS;

    if (device < 0 || device >= MAX_DEVICES)
        return CUPTI_ERROR_INVALID_DEVICE;
    if (gpusim_cupti_fault("busy"))
        return CUPTI_ERROR_HARDWARE_BUSY;
    pthread_mutex_lock(&owners_lock);
    if (owners[device].times == 0)
        result = lock_file(device, &owners[device].file);
    else if (owners[device].owner != owner)
        result = CUPTI_ERROR_HARDWARE_BUSY;
    if (result == CUPTI_SUCCESS) {
        owners[device].owner = owner;
        owners[device].times++;
    }
    pthread_mutex_unlock(&owners_lock);
    return result;
}

void gpusim_counters_give_back(CUcontext owner, int device)
{
    pthread_mutex_lock(&owners_lock);
    if (device >= 0 && device < MAX_DEVICES && owners[device].owner == owner &&
        owners[device].times > 0 && --owners[device].times == 0) {
        if (owners[device].file >= 0)
            (void)close(owners[device].file);
        owners[device].file = -1;
        owners[device].owner = NULL;
    }
    pthread_mutex_unlock(&owners_lock);
}

/* ---- version and words ---- */

void gpusim_write_later_fields(void *params, size_t size)
{
    if (gpusim_cupti_fault("laterparams"))
        memset((unsigned char *)params + size, 0, 40);
}

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *version = gpusim_cupti_fault("oldcupti") ? 18 : CUPTI_API_VERSION; /* 18: CUDA 11.8 */
    return CUPTI_SUCCESS;
}

#define RESULTS(X)                                      \
    X(SUCCESS)                                          \
    X(ERROR_INVALID_PARAMETER)                          \
    X(ERROR_INVALID_DEVICE)                             \
    X(ERROR_INVALID_CONTEXT)                            \
    X(ERROR_INVALID_EVENT_DOMAIN_ID)                    \
    X(ERROR_INVALID_EVENT_ID)                           \
    X(ERROR_INVALID_EVENT_NAME)                         \
    X(ERROR_INVALID_OPERATION)                          \
    X(ERROR_OUT_OF_MEMORY)                              \
    X(ERROR_HARDWARE)                                   \
    X(ERROR_PARAMETER_SIZE_NOT_SUFFICIENT)              \
    X(ERROR_API_NOT_IMPLEMENTED)                        \
    X(ERROR_MAX_LIMIT_REACHED)                          \
    X(ERROR_NOT_READY)                                  \
    X(ERROR_NOT_COMPATIBLE)                             \
    X(ERROR_NOT_INITIALIZED)                            \
    X(ERROR_INVALID_METRIC_ID)                          \
    X(ERROR_INVALID_METRIC_NAME)                        \
    X(ERROR_HARDWARE_BUSY)                              \
    X(ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)         \
    X(ERROR_NOT_SUPPORTED)                              \
    X(ERROR_INSUFFICIENT_PRIVILEGES)                    \
    X(ERROR_LEGACY_PROFILER_NOT_SUPPORTED)              \
    X(ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES) \
    X(ERROR_MIG_DEVICE_NOT_SUPPORTED)                   \
    X(ERROR_WSL_DEVICE_NOT_SUPPORTED)                   \
    X(ERROR_INVALID_CHIP_NAME)                          \
    X(ERROR_UNKNOWN)

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **str)
{
    if (!str)
        return CUPTI_ERROR_INVALID_PARAMETER;
    switch (result) {
#define X(name)                \
    case CUPTI_##name:         \
        *str = "CUPTI_" #name; \
        return CUPTI_SUCCESS;
        RESULTS(X)
#undef X
    default:
        *str = "<unknown>";
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
}
