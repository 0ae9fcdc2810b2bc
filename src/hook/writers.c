#include "hook/writers.h"

#include "cuda/green.h"
#include "gate/blocking.h"
#include "gate/captures.h"
#include "launch/launch.h"
#include "memory/sharing.h"

#include <stdint.h>

CUcontext gp_writer(CUstream stream)
{
    /* A stream that is being captured must not be asked whether it is green. */
    if (gp_green_context_was_made() && gp_captures() > 0)
        return NULL;
    CUcontext by = gp_working_context(stream);
    gp_context_is_used(by);
    return by;
}

static void note_owner(CUcontext by, CUdeviceptr to)
{
    CUcontext owner = by && to && gp_several_contexts() ? gp_owner_of(to) : NULL;
    if (owner && owner != by)
        gp_peer_copies(by, owner);
}

static void note(CUcontext by, CUdeviceptr to)
{
    gp_launch_before_write(to, 0, NULL);
    note_owner(by, to);
}

void gp_copies_to(CUdeviceptr to, uint64_t bytes, CUstream stream)
{
    if (!to)
        return;
    note_owner(gp_writer(stream), to);
    gp_launch_before_write(to, bytes, stream);
}

void gp_copies_elsewhere(const void *to, uint64_t bytes, CUstream stream)
{
    (void)to;
    (void)bytes;
    (void)stream;
}

void gp_writes(CUdeviceptr to, CUstream stream)
{
    if (to)
        note(gp_writer(stream), to);
}

/* 0 for memory of the host, and arrays. */
static CUdeviceptr on_device(CUmemorytype type, CUdeviceptr to)
{
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED ? to : 0;
}

void gp_copies_2d(const CUDA_MEMCPY2D_v2 *copy, uint64_t bytes, CUstream stream)
{
    (void)bytes;
    if (copy)
        gp_writes(on_device(copy->dstMemoryType, copy->dstDevice), stream);
}

void gp_copies_3d(const CUDA_MEMCPY3D_v2 *copy, uint64_t bytes, CUstream stream)
{
    (void)bytes;
    if (copy)
        gp_writes(on_device(copy->dstMemoryType, copy->dstDevice), stream);
}

void gp_writes_peer(const CUDA_MEMCPY3D_PEER_v1 *copy, CUstream stream)
{
    if (copy)
        gp_writes(on_device(copy->dstMemoryType, copy->dstDevice), stream);
}

static bool waits(const CUstreamBatchMemOpParams *operation)
{
    return operation->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
           operation->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

void gp_writes_operations(const CUstreamBatchMemOpParams *list, unsigned count, CUstream stream)
{
    for (unsigned i = 0; list && i < count; i++)
        if (waits(&list[i]))
            gp_blocking_noted(GP_MAY_HOLD);
    CUcontext by = list ? gp_writer(stream) : NULL;
    for (unsigned i = 0; by && i < count; i++)
        if (list[i].operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
            list[i].operation == CU_STREAM_MEM_OP_WRITE_VALUE_64)
            note(by, list[i].writeValue.address);
}

#if CUDA_VERSION >= 12080
void gp_writes_batch(const CUdeviceptr *targets, size_t count, CUstream stream)
{
    CUcontext by = targets ? gp_writer(stream) : NULL;
    for (size_t i = 0; by && i < count; i++)
        note(by, targets[i]);
}

void gp_writes_3d_batch(const CUDA_MEMCPY3D_BATCH_OP_v1 *list, size_t count, CUstream stream)
{
    CUcontext by = list ? gp_writer(stream) : NULL;
    for (size_t i = 0; by && i < count; i++)
        if (list[i].dst.type == CU_MEMCPY_OPERAND_TYPE_POINTER)
            note(by, list[i].dst.op.ptr.ptr);
}

void gp_writes_decompressed(const CUmemDecompressParams *list, size_t count, CUstream stream)
{
    CUcontext by = list ? gp_writer(stream) : NULL;
    for (size_t i = 0; by && i < count; i++)
        note(by, (uintptr_t)list[i].dst);
}
#endif
