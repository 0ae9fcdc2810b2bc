#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

struct gp_driver gp_cuda;
void *(*gp_real_dlsym)(void *handle, const char *name);

/* The driver's handle is held for ever: its functions stay callable until the process ends. */
static _Atomic(void *) library;
static atomic_bool ready;
static atomic_bool simulated;

void gp_real_dlsym_find(void)
{
    /* Never the public dlsym: that is our own hook. */
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.0"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]) && !gp_real_dlsym; i++)
        *(void **)&gp_real_dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *file_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool gp_is_driver_address(const void *address)
{
    return starts_with(name_of(file_of(address)), "libcuda.so");
}

bool gp_is_nvidia_file(const char *path)
{
    static const char *const libraries[] = {"libcuda.so",    "libcupti.so",      "libnvperf_",
                                            "libnvidia-",    "libcheckpoint.so", "libcudadebugger",
                                            "libpcsampling", "libsanitizer-"};
    const char *file = name_of(path);
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (starts_with(file, libraries[i]))
            return true;
    return false;
}

bool gp_is_nvidia_caller(const void *caller)
{
    return gp_is_nvidia_file(file_of(caller));
}

bool gp_driver_is_simulated(void)
{
    return atomic_load(&simulated);
}

bool gp_driver_find(void)
{
    if (atomic_load_explicit(&ready, memory_order_acquire))
        return true;
    gp_real_dlsym_find();
    if (!gp_real_dlsym)
        return false;
    void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        handle = dlopen("libcuda.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return false;
        /* Two threads may both be here; they write the same pointers. */
#define HOOK(base, version, suffix, symbol) \
    *(void **)&gp_cuda.symbol = gp_real_dlsym(handle, #symbol);
#define GATE(base, version, suffix, symbol, parameters, arguments) \
    HOOK(base, version, suffix, symbol)
#define BARS(base, version, suffix, symbol, parameters, arguments, why) \
    HOOK(base, version, suffix, symbol)
#define RAW(base, version, suffix, symbol) HOOK(base, version, suffix, symbol)
#include "cuda/functions.def"
    atomic_store(&simulated, gp_real_dlsym(handle, "gpusim_backend") != NULL);
    atomic_store(&library, handle);
    atomic_store_explicit(&ready, true, memory_order_release);
    return true;
}

const char *gp_cuda_error(CUresult result)
{
    const char *name = NULL;
    if (gp_cuda.cuGetErrorName && gp_cuda.cuGetErrorName(result, &name) == CUDA_SUCCESS && name)
        return name;
    return "an unknown CUDA error";
}

struct gp_reason gp_cuda_reason(CUresult result)
{
    return GP_REASON_TEXT(DRIVER_FAILED, gp_cuda_error(result));
}

bool gp_stream_is_capturing(CUstream stream, bool per_thread_stream, bool unknown)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    PFN_cuStreamIsCapturing_v10000 ask =
        per_thread_stream ? gp_cuda.cuStreamIsCapturing_ptsz : gp_cuda.cuStreamIsCapturing;
    if (!ask)
        return false;
    return ask(stream, &status) == CUDA_SUCCESS ? status != CU_STREAM_CAPTURE_STATUS_NONE : unknown;
}

bool gp_stream_is_default(CUstream stream)
{
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

CUresult gp_event_record(CUevent event, CUstream stream, bool per_thread_stream)
{
    return per_thread_stream ? gp_cuda.cuEventRecord_ptsz(event, stream)
                             : gp_cuda.cuEventRecord(event, stream);
}

bool gp_event_make(CUevent *event, unsigned flags)
{
    if (gp_cuda.cuEventCreate(event, flags) == CUDA_SUCCESS)
        return true;
    *event = NULL;
    return false;
}

void gp_context_pop(void)
{
    CUcontext popped;
    gp_cuda.cuCtxPopCurrent_v2(&popped);
}

int gp_device_attribute(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    if (gp_cuda.cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS)
        return 0;
    return value;
}
