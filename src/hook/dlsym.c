/* Two of the three doors through which programs find the driver: dlsym (the answer that the
 * trampoline in dlsym.S gives) and cuGetProcAddress. The third, exported symbols, needs no code. */
#include "hook/cupti.h"
#include "hook/entry.h"
#include "hook/imports.h"
#include "hook/table.h"

#include <dlfcn.h>
#include <string.h>

#define ANSWER_NULL ((void *)1) /* the trampoline's word for "answer NULL" */

/* The answer of dlsym(handle, name) to `caller`; NULL: that of libc. Runs before constructors,
 * under the loader's lock, in every process: no memory, no locks, and for names that are none of
 * ours no work. But a program that loads a library asks for a function in it next: so it is the
 * moment to see whether the library was bound past us. */
__attribute__((visibility("hidden"))) void *gp_dlsym_answer(void *handle, const char *name,
                                                            const void *caller);

/* CUPTI's functions are wrapped, too, where a program's own tool asks for them. */
static void *answer_of_cupti(void *handle, const char *name, const void *caller)
{
    const void *exported = gp_cupti_export(name);
    void *answer = exported ? gp_real_dlsym(handle, name) : NULL;
    if (answer && answer == exported) { /* by RTLD_DEFAULT, as above */
        void *next = gp_real_dlsym(RTLD_NEXT, name);
        return next ? NULL : ANSWER_NULL;
    }
    return answer && !gp_is_nvidia_caller(caller) ? gp_cupti_wrapper(name, answer) : NULL;
}

void *gp_dlsym_answer(void *handle, const char *name, const void *caller)
{
    if (!gp_real_dlsym)
        gp_real_dlsym_find();
    gp_imports_mend();
    if (name && gp_real_dlsym && strncmp(name, "cupti", 5) == 0)
        return answer_of_cupti(handle, name, caller);
    const struct gp_hook *hook = name && gp_real_dlsym ? gp_hook_by_symbol(name) : NULL;
    if (!hook)
        return NULL;
    void *answer = gp_real_dlsym(handle, name);
    if (answer == hook->wrapper) {
        /* Found by RTLD_DEFAULT, because we export it. Without us the answer would be the driver's,
         * or NULL in a program that never linked the driver. */
        return gp_real_dlsym(RTLD_NEXT, name) ? NULL : ANSWER_NULL;
    }
    if (!answer || !gp_is_driver_address(answer) || gp_is_nvidia_caller(caller))
        return NULL;
    return hook->wrapper;
}

/* Puts our function instead of the driver's into an answer of cuGetProcAddress. */
static void replace_answer(const char *symbol, void **answer, int version, cuuint64_t flags,
                           const void *caller)
{
    if (!answer || !*answer || gp_is_nvidia_caller(caller))
        return;
    const struct gp_hook *hook = gp_hook_for_answer(symbol, *answer, version, flags);
    if (hook)
        *answer = hook->wrapper;
}

GP_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
                                    cuuint64_t flags)
{
    if (!GP_REAL(cuGetProcAddress))
        return CUDA_ERROR_NOT_FOUND;
    CUresult result = gp_cuda.cuGetProcAddress(symbol, pfn, cudaVersion, flags);
    if (result == CUDA_SUCCESS)
        GP_COUNTED(replace_answer(symbol, pfn, cudaVersion, flags, __builtin_return_address(0)));
    return result;
}

GP_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                                       cuuint64_t flags,
                                       CUdriverProcAddressQueryResult *symbolStatus)
{
    if (!GP_REAL(cuGetProcAddress_v2))
        return CUDA_ERROR_NOT_FOUND;
    CUresult result = gp_cuda.cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
    if (result == CUDA_SUCCESS)
        GP_COUNTED(replace_answer(symbol, pfn, cudaVersion, flags, __builtin_return_address(0)));
    return result;
}
