/* Surface objects, by which kernels write arrays, and the end of such arrays; textures, by which
 * they read memory that no parameter names. */
#include "memory/surfaces.h"

#include "hook/entry.h"
#include "memory/buffers.h"
#include "memory/textures.h"

GP_EXPORT CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                     const CUDA_TEXTURE_DESC *pTexDesc,
                                     const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    gp_texture_made();
    GP_FORWARD_UNLESS_OURS(cuTexObjectCreate, pTexObject, pResDesc, pTexDesc, pResViewDesc);
    return gp_cuda.cuTexObjectCreate(pTexObject, pResDesc, pTexDesc, pResViewDesc);
}

GP_EXPORT CUresult cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name)
{
    gp_texture_made();
    GP_FORWARD_UNLESS_OURS(cuModuleGetTexRef, pTexRef, hmod, name);
    return gp_cuda.cuModuleGetTexRef(pTexRef, hmod, name);
}

GP_EXPORT CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    GP_FORWARD_UNLESS_OURS(cuSurfObjectCreate, pSurfObject, pResDesc);
    gp_gate_enter();
    CUresult result = gp_cuda.cuSurfObjectCreate(pSurfObject, pResDesc);
    if (result == CUDA_SUCCESS)
        gp_surface_made(*pSurfObject, pResDesc);
    gp_gate_leave();
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
#define DESTROYS(symbol, going, parameters, handle)                                     \
    GP_EXPORT CUresult symbol parameters                                                \
    {                                                                                   \
        GP_FORWARD(symbol, (handle));                                                   \
        gp_gate_enter();                                                                \
        bool gone = going(handle);                                                      \
        CUresult result = gp_cuda.symbol(handle);                                       \
        if (gone && result != CUDA_SUCCESS)                                             \
            gp_memory_bar_replay(GP_REASON_TEXT(                                        \
                REPLAY_BARRED, "the program failed to destroy an array of a surface")); \
        gp_gate_leave();                                                                \
        return result;                                                                  \
    }
DESTROYS(cuSurfObjectDestroy, gp_surface_going, (CUsurfObject surfObject), surfObject)
DESTROYS(cuArrayDestroy, gp_array_going, (CUarray hArray), hArray)
DESTROYS(cuMipmappedArrayDestroy, gp_mipmap_going, (CUmipmappedArray hMipmappedArray),
         hMipmappedArray)
