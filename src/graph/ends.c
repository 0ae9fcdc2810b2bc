/* The ends of a copy or a fill: whose memory it is, and which bytes. */
#include "graph/inside.h"

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

static enum gp_copy_end side_of(CUmemorytype type, CUdeviceptr address,
                                const struct gp_stand_ins *own)
{
    switch (type) {
    case CU_MEMORYTYPE_DEVICE:
        return GP_ON_DEVICE;
    case CU_MEMORYTYPE_ARRAY:
        return GP_IN_ARRAY;
    case CU_MEMORYTYPE_UNIFIED:
        return stand_ins_cover(own, address) || is_on_device(address) ? GP_ON_DEVICE : GP_ON_HOST;
    default:
        return GP_ON_HOST;
    }
}

enum gp_copy_end copy_end_of_source(const CUDA_MEMCPY3D_v2 *c, const struct gp_stand_ins *own)
{
    return side_of(c->srcMemoryType, c->srcDevice, own);
}

enum gp_copy_end copy_end_of_target(const CUDA_MEMCPY3D_v2 *c, const struct gp_stand_ins *own)
{
    return side_of(c->dstMemoryType, c->dstDevice, own);
}

enum gp_copy_end copy_end_of_fill(const CUDA_MEMSET_NODE_PARAMS_v1 *f,
                                  const struct gp_stand_ins *own)
{
    return side_of(CU_MEMORYTYPE_UNIFIED, f->dst, own);
}

static size_t at_least_one(size_t count)
{
    return count ? count : 1;
}

uint64_t copied_bytes(const CUDA_MEMCPY3D_v2 *c)
{
    return (uint64_t)c->WidthInBytes * at_least_one(c->Height) * at_least_one(c->Depth);
}

/* The copy the other way round: so all of the following is said of sources only. */
static CUDA_MEMCPY3D_v2 turned(const CUDA_MEMCPY3D_v2 *c)
{
    CUDA_MEMCPY3D_v2 t = *c;
    t.srcXInBytes = c->dstXInBytes;
    t.srcY = c->dstY;
    t.srcZ = c->dstZ;
    t.srcLOD = c->dstLOD;
    t.srcMemoryType = c->dstMemoryType;
    t.srcHost = c->dstHost;
    t.srcDevice = c->dstDevice;
    t.srcArray = c->dstArray;
    t.srcPitch = c->dstPitch;
    t.srcHeight = c->dstHeight;
    t.dstXInBytes = c->srcXInBytes;
    t.dstY = c->srcY;
    t.dstZ = c->srcZ;
    t.dstLOD = c->srcLOD;
    t.dstMemoryType = c->srcMemoryType;
    t.dstHost = (void *)(uintptr_t)c->srcHost;
    t.dstDevice = c->srcDevice;
    t.dstArray = c->srcArray;
    t.dstPitch = c->srcPitch;
    t.dstHeight = c->srcHeight;
    return t;
}

struct gp_address_span span_of_source(const CUDA_MEMCPY3D_v2 *c)
{
    uint64_t base = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)c->srcHost : c->srcDevice;
    uint64_t row = c->srcPitch ? c->srcPitch : c->WidthInBytes + c->srcXInBytes;
    uint64_t slice = row * (c->srcHeight ? c->srcHeight : at_least_one(c->Height) + c->srcY);
    uint64_t start = base + c->srcZ * slice + c->srcY * row + c->srcXInBytes;
    uint64_t last = (at_least_one(c->Depth) - 1) * slice + (at_least_one(c->Height) - 1) * row;
    return (struct gp_address_span){start, start + last + c->WidthInBytes};
}

struct gp_address_span span_of_target(const CUDA_MEMCPY3D_v2 *c)
{
    const CUDA_MEMCPY3D_v2 t = turned(c);
    return span_of_source(&t);
}

struct gp_address_span span_of_fill(const CUDA_MEMSET_NODE_PARAMS_v1 *f)
{
    uint64_t rows = (uint64_t)f->pitch * (at_least_one(f->height) - 1);
    return (struct gp_address_span){f->dst, f->dst + rows + (uint64_t)f->width * f->elementSize};
}

CUDA_MEMCPY3D_v2 copy_from_row(const CUDA_MEMCPY3D_v2 *copy, CUdeviceptr row)
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

CUDA_MEMCPY3D_v2 copy_to_row(const CUDA_MEMCPY3D_v2 *copy, CUdeviceptr row)
{
    const CUDA_MEMCPY3D_v2 t = turned(copy), from = copy_from_row(&t, row);
    return turned(&from);
}
