#include "graph/ends.h"

static bool is_on_device(CUdeviceptr address)
{
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    unsigned managed = 0;
    if (gp_cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
        CUDA_SUCCESS)
        return false;
    return type == CU_MEMORYTYPE_DEVICE ||
           (gp_cuda.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
                CUDA_SUCCESS &&
            managed);
}

static enum gp_side side_of(CUmemorytype type, CUdeviceptr address, const struct gp_stand_ins *own)
{
    switch (type) {
    case CU_MEMORYTYPE_DEVICE:
        return GP_ON_DEVICE;
    case CU_MEMORYTYPE_ARRAY:
        return GP_IN_ARRAY;
    case CU_MEMORYTYPE_UNIFIED:
        return gp_stand_ins_cover(own, address) || is_on_device(address) ? GP_ON_DEVICE
                                                                         : GP_ON_HOST;
    default:
        return GP_ON_HOST;
    }
}

enum gp_side gp_side_of_source(const CUDA_MEMCPY3D_v2 *c, const struct gp_stand_ins *own)
{
    return side_of(c->srcMemoryType, c->srcDevice, own);
}

enum gp_side gp_side_of_target(const CUDA_MEMCPY3D_v2 *c, const struct gp_stand_ins *own)
{
    return side_of(c->dstMemoryType, c->dstDevice, own);
}

enum gp_side gp_side_of_fill(const CUDA_MEMSET_NODE_PARAMS_v1 *f, const struct gp_stand_ins *own)
{
    return side_of(CU_MEMORYTYPE_UNIFIED, f->dst, own);
}

static size_t at_least_one(size_t count)
{
    return count ? count : 1;
}

uint64_t gp_copied_bytes(const CUDA_MEMCPY3D_v2 *c)
{
    return (uint64_t)c->WidthInBytes * at_least_one(c->Height) * at_least_one(c->Depth);
}

struct end {
    uint64_t base;
    size_t x, y, z, pitch, height;
};

static struct gp_span span_of(const struct end *e, const CUDA_MEMCPY3D_v2 *c)
{
    uint64_t row = e->pitch ? e->pitch : c->WidthInBytes + e->x;
    uint64_t slice = row * (e->height ? e->height : at_least_one(c->Height) + e->y);
    uint64_t start = e->base + e->z * slice + e->y * row + e->x;
    uint64_t last = (at_least_one(c->Depth) - 1) * slice + (at_least_one(c->Height) - 1) * row;
    return (struct gp_span){start, start + last + c->WidthInBytes};
}

struct gp_span gp_span_of_source(const CUDA_MEMCPY3D_v2 *c)
{
    const struct end e = {c->srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)c->srcHost
                                                                 : c->srcDevice,
                          c->srcXInBytes,
                          c->srcY,
                          c->srcZ,
                          c->srcPitch,
                          c->srcHeight};
    return span_of(&e, c);
}

struct gp_span gp_span_of_target(const CUDA_MEMCPY3D_v2 *c)
{
    const struct end e = {c->dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)c->dstHost
                                                                 : c->dstDevice,
                          c->dstXInBytes,
                          c->dstY,
                          c->dstZ,
                          c->dstPitch,
                          c->dstHeight};
    return span_of(&e, c);
}

struct gp_span gp_span_of_fill(const CUDA_MEMSET_NODE_PARAMS_v1 *f)
{
    uint64_t rows = (uint64_t)f->pitch * (at_least_one(f->height) - 1);
    return (struct gp_span){f->dst, f->dst + rows + (uint64_t)f->width * f->elementSize};
}

CUDA_MEMCPY3D_v2 gp_copy_from_row(const CUDA_MEMCPY3D_v2 *copy, CUdeviceptr row)
{
    CUDA_MEMCPY3D_v2 c = *copy;
    c.srcXInBytes = c.srcY = c.srcZ = c.srcLOD = 0;
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcHost = NULL;
    c.srcArray = NULL;
    c.srcDevice = row;
    c.srcPitch = c.WidthInBytes;
    c.srcHeight = c.Height;
    return c;
}

CUDA_MEMCPY3D_v2 gp_copy_to_row(const CUDA_MEMCPY3D_v2 *copy, CUdeviceptr row)
{
    CUDA_MEMCPY3D_v2 c = *copy;
    c.dstXInBytes = c.dstY = c.dstZ = c.dstLOD = 0;
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstHost = NULL;
    c.dstArray = NULL;
    c.dstDevice = row;
    c.dstPitch = c.WidthInBytes;
    c.dstHeight = c.Height;
    return c;
}
