/* The list of functions, held against cudaTypedefs.h and searched by name. */
#include <string.h>

#include "driver/driver.h"
#include "driver/faults.h"

#include <cudaTypedefs.h>

#define GPUSIM_FUNCTION(base, version, suffix, symbol)                                        \
    _Static_assert(                                                                           \
        __builtin_types_compatible_p(__typeof__(&symbol), PFN_cu##base##_v##version##suffix), \
        "prototype of " #symbol);
#include "driver/functions.def"
#undef GPUSIM_FUNCTION

struct function {
    const char *base;
    int version;
    bool per_thread;
    void (*address)(void);
};

static const struct function functions[] = {
#define GPUSIM_FUNCTION(base, version, suffix, symbol) \
    {"cu" #base, version, sizeof(#suffix) > 1, (void (*)(void)) & symbol},
#include "driver/functions.def"
#undef GPUSIM_FUNCTION
};

/* The newest form of the function that a caller of that version can know. */
static const struct function *find(const char *base, int version, bool per_thread, bool *known)
{
    const struct function *best = NULL;

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        const struct function *f = &functions[i];
        if (strcmp(f->base, base) != 0 || f->per_thread != per_thread)
            continue;
        *known = true;
        if (f->version <= version && (!best || f->version > best->version))
            best = f;
    }
    return best;
}

/* Answers as driver 580 was seen to: a name it does not know, or not yet, is a success without a
 * pointer, and a form for per-thread streams is never replaced by the other one. */
static CUresult look_up(const char *symbol, void **found, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *status)
{
    const struct function *f = NULL;
    bool known = false;

    if (!symbol || !found ||
        flags & ~(cuuint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                              CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    if (version > gpusim_driver_version())
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpusim_fault_is("nodriverfunction", symbol)) {
        if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
            f = find(symbol, version, true, &known);
        if (!known)
            f = find(symbol, version, false, &known);
    }
    *found = NULL;
    if (f)
        memcpy(found, &f->address, sizeof(*found));
    *status = f       ? CU_GET_PROC_ADDRESS_SUCCESS
              : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status;
    void *found = NULL;
    CUresult result = look_up(symbol, pfn ? &found : NULL, cudaVersion, flags, &status);

    if (result != CUDA_SUCCESS)
        return result;
    if (!found)
        return CUDA_ERROR_NOT_FOUND; /* and *pfn is left as it was */
    *pfn = found;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus)
{
    CUdriverProcAddressQueryResult status;
    CUresult result = look_up(symbol, pfn, cudaVersion, flags, &status);

    if (result == CUDA_SUCCESS && symbolStatus)
        *symbolStatus = status;
    return result;
}

CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    *ppExportTable = NULL;
    return CUDA_ERROR_NOT_FOUND; /* the driver's private tables are not simulated */
}
