/* Surface objects, by which kernels write arrays, and the end of such arrays. */
#include "memory/surfaces.h"

#include "hook/entry.h"
#include "memory/buffers.h"

GP_EXPORT CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    GP_FORWARD_UNLESS_OURS(cuSurfObjectCreate, pSurfObject, pResDesc);
    gp_gate_share();
    CUresult result = gp_cuda.cuSurfObjectCreate(pSurfObject, pResDesc);
    if (result == CUDA_SUCCESS)
        gp_surface_made(*pSurfObject, pResDesc);
    gp_gate_unshare();
    return result;
}

GP_EXPORT CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                                            unsigned int level)
{
    GP_FORWARD_UNLESS_OURS(cuMipmappedArrayGetLevel, pLevelArray, hMipmappedArray, level);
    CUresult result = gp_cuda.cuMipmappedArrayGetLevel(pLevelArray, hMipmappedArray, level);
    if (result == CUDA_SUCCESS)
        gp_mipmap_level(hMipmappedArray, *pLevelArray);
    return result;
}

/* A destruction that fails is the program's mistake, and leaves us without the array. */
#define DESTROYS(symbol, going, parameters, handle)                                      \
    GP_EXPORT CUresult symbol parameters                                                 \
    {                                                                                    \
        GP_FORWARD(symbol, (handle));                                                    \
        gp_gate_share();                                                                 \
        bool gone = going(handle);                                                       \
        CUresult result = gp_cuda.symbol(handle);                                        \
        if (gone && result != CUDA_SUCCESS)                                              \
            gp_memory_bar_replay("the program failed to destroy an array of a surface"); \
        gp_gate_unshare();                                                               \
        return result;                                                                   \
    }
DESTROYS(cuSurfObjectDestroy, gp_surface_going, (CUsurfObject surfObject), surfObject)
DESTROYS(cuArrayDestroy, gp_array_going, (CUarray hArray), hArray)
DESTROYS(cuMipmappedArrayDestroy, gp_mipmap_going, (CUmipmappedArray hMipmappedArray),
         hMipmappedArray)
