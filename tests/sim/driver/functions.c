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

static CUresult look_up(const char *symbol, void **pfn, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *status)
{
    const struct function *f = NULL;
    bool known = false;
    int driver = 0;

    if (!symbol || !pfn ||
        flags & ~(cuuint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                              CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    driver = gpusim_fault("olddriver") ? 11040 : 13000;
    if (version > driver)
        return CUDA_ERROR_INVALID_VALUE;
    *pfn = NULL;
    if (!gpusim_fault_is("nodriverfunction", symbol)) {
        if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
            f = find(symbol, version, true, &known);
        if (!f)
            f = find(symbol, version, false, &known);
    }
    if (f)
        memcpy(pfn, &f->address, sizeof(*pfn));
    if (status)
        *status = f       ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    CUresult result = look_up(symbol, pfn, cudaVersion, flags, NULL);

    /* The older form has no other way to say so. */
    if (result == CUDA_SUCCESS && !*pfn)
        return CUDA_ERROR_NOT_FOUND;
    return result;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus)
{
    CUresult result = look_up(symbol, pfn, cudaVersion, flags, symbolStatus);

    if (result == CUDA_SUCCESS && !*pfn && !symbolStatus)
        return CUDA_ERROR_NOT_FOUND;
    return result;
}

CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    *ppExportTable = NULL;
    return CUDA_ERROR_NOT_FOUND; /* the driver's private tables are not simulated */
}
