/* Put before each source of Rodinia with the compiler's option -include: names that the CUDA
 * toolkit had when Rodinia was written and has no more, in terms of those it has. The sources stay
 * as they are. Texture references become texture objects in variables of the device, so reads still
 * go the way of textures. */
#ifndef GPUPROF_RODINIA_BEFORE_CUDA_12_H
#define GPUPROF_RODINIA_BEFORE_CUDA_12_H

#ifdef __CUDACC__
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static inline cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

static inline cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

/* ---- properties of a device that have become attributes ---- */

struct cudaDevicePropBefore : cudaDeviceProp {
    int clockRate, memoryClockRate, deviceOverlap, computeMode, kernelExecTimeoutEnabled;
};

static inline cudaError_t cudaGetDevicePropertiesBefore(cudaDevicePropBefore *properties,
                                                        int device)
{
    cudaError_t error = cudaGetDeviceProperties(properties, device);
    if (error != cudaSuccess)
        return error;
    cudaDeviceGetAttribute(&properties->clockRate, cudaDevAttrClockRate, device);
    cudaDeviceGetAttribute(&properties->memoryClockRate, cudaDevAttrMemoryClockRate, device);
    cudaDeviceGetAttribute(&properties->deviceOverlap, cudaDevAttrGpuOverlap, device);
    cudaDeviceGetAttribute(&properties->computeMode, cudaDevAttrComputeMode, device);
    cudaDeviceGetAttribute(&properties->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout,
                           device);
    return cudaSuccess;
}
#define cudaDeviceProp cudaDevicePropBefore
#define cudaGetDeviceProperties cudaGetDevicePropertiesBefore

/* ---- texture references ---- */

template <class T, int Dimensions = 1, cudaTextureReadMode Mode = cudaReadModeElementType>
struct texture_reference {
    cudaTextureObject_t object;
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
};
#define texture __device__ texture_reference

template <class T, int D, cudaTextureReadMode M, class Index>
static __device__ __forceinline__ T tex1Dfetch(texture_reference<T, D, M> reference, Index i)
{
    return ::tex1Dfetch<T>(reference.object, (int)i);
}

template <class T, int D, cudaTextureReadMode M>
static __device__ __forceinline__ T tex2D(texture_reference<T, D, M> reference, float x, float y)
{
    return ::tex2D<T>(reference.object, x, y);
}

template <class T, int D, cudaTextureReadMode M>
static cudaError_t texture_reference_bind(texture_reference<T, D, M> &reference,
                                          const cudaResourceDesc &resource)
{
    texture_reference<T, D, M> bound = reference;
    cudaTextureDesc texture_desc = {};
    for (int i = 0; i < 3; i++)
        texture_desc.addressMode[i] = bound.addressMode[i];
    texture_desc.filterMode = bound.filterMode;
    texture_desc.readMode = M;
    texture_desc.normalizedCoords = bound.normalized;
    cudaError_t error = cudaCreateTextureObject(&bound.object, &resource, &texture_desc, NULL);
    return error != cudaSuccess ? error : cudaMemcpyToSymbol(reference, &bound, sizeof(bound));
}

template <class T, int D, cudaTextureReadMode M>
static cudaError_t cudaBindTexture(size_t *offset, texture_reference<T, D, M> &reference,
                                   const void *pointer, const cudaChannelFormatDesc &desc,
                                   size_t size)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = (void *)pointer;
    resource.res.linear.desc = desc;
    resource.res.linear.sizeInBytes = size;
    if (offset)
        *offset = 0;
    return texture_reference_bind(reference, resource);
}

template <class T, int D, cudaTextureReadMode M>
static cudaError_t cudaBindTexture(size_t *offset, texture_reference<T, D, M> &reference,
                                   const void *pointer, size_t size)
{
    return cudaBindTexture(offset, reference, pointer, cudaCreateChannelDesc<T>(), size);
}

/* The C interface: by address. */
template <class T, int D, cudaTextureReadMode M>
static cudaError_t cudaBindTexture(size_t *offset, texture_reference<T, D, M> *reference,
                                   const void *pointer, const cudaChannelFormatDesc *desc,
                                   size_t size)
{
    return cudaBindTexture(offset, *reference, pointer, *desc, size);
}

template <class T, int D, cudaTextureReadMode M>
static cudaError_t cudaBindTextureToArray(texture_reference<T, D, M> &reference,
                                          cudaArray_const_t array,
                                          const cudaChannelFormatDesc &desc)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = (cudaArray_t)array;
    (void)desc;
    return texture_reference_bind(reference, resource);
}

/* The object stays: the program ends soon. */
template <class T, int D, cudaTextureReadMode M>
static cudaError_t cudaUnbindTexture(texture_reference<T, D, M> &reference)
{
    (void)reference;
    return cudaSuccess;
}
#elif defined(__cplusplus)
#include <unistd.h>
#endif

#endif
