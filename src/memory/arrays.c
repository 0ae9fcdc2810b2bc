/* Copies of the arrays that kernels can write through surfaces. The layout of an array is the
 * driver's secret, so they are copied by the driver, and put back whole. Owns the list of copies,
 * not their memory. */
#include "memory/inside.h"

#include <stdlib.h>
#include <string.h>

struct gp_array_copy {
    CUarray array;
    size_t row, rows, layers; /* bytes; rows of a layer; layers, or slices of a volume */
    uint64_t saved[GP_ARRAY_STATES];
};

/* Bytes of one channel; 0 for formats in which texels are packed or compressed. */
static size_t channel_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static uint64_t bytes_of(const struct gp_array_copy *copy)
{
    return (uint64_t)copy->row * copy->rows * copy->layers;
}

static bool describe(CUarray array, struct gp_array_copy *copy)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (gp_cuda.cuArray3DGetDescriptor_v2(&d, array) != CUDA_SUCCESS)
        return false;
    size_t texel = channel_bytes(d.Format) * d.NumChannels;
    *copy = (struct gp_array_copy){
        .array = array,
        .row = d.Width * texel,
        .rows = d.Height ? d.Height : 1,
        .layers = d.Depth ? d.Depth : 1,
    };
    return copy->row > 0 && !(d.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING));
}

static void note(CUarray array, void *data)
{
    struct gp_arrays *a = data;
    struct gp_array_copy copy;
    if (!describe(array, &copy)) {
        a->why = GP_REASON_TEXT(ARRAYS, "a surface's array is of a kind that cannot be copied");
        return;
    }
    if (a->count == a->capacity) {
        size_t capacity = a->capacity ? 2 * a->capacity : 16;
        struct gp_array_copy *list = realloc(a->list, capacity * sizeof(*list));
        if (!list) {
            a->why = GP_REASON(NO_MEMORY);
            return;
        }
        a->list = list;
        a->capacity = capacity;
    }
    a->list[a->count++] = copy;
    a->bytes += bytes_of(&copy);
    a->needed += GP_ARRAY_STATES * arena_need(bytes_of(&copy));
}

bool arrays_list(struct gp_arrays *a, CUcontext context, struct gp_reason *why)
{
    a->count = 0;
    a->bytes = a->needed = 0;
    a->why = GP_NO_REASON;
    surfaces_each(context, note, a);
    *why = a->why;
    return !a->why.cause;
}

/* Not in two pieces: where it does not fit on the device it is all on the host. */
static uint64_t take_whole(struct gp_arena *arena, uint64_t needed)
{
    uint64_t bytes = needed, address = arena_take(arena, 0, &bytes);
    if (bytes < needed) {
        bytes = needed;
        address = arena_take(arena, 0, &bytes);
    }
    return bytes < needed ? 0 : address;
}

bool arrays_take(struct gp_arrays *a, struct gp_arena *arena)
{
    for (size_t i = 0; i < a->count; i++)
        for (unsigned state = 0; state < GP_ARRAY_STATES; state++)
            if (!(a->list[i].saved[state] = take_whole(arena, bytes_of(&a->list[i]))))
                return false;
    return true;
}

static CUDA_MEMCPY3D save_of(const struct gp_array_copy *copy, enum gp_array_state state)
{
    return (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_ARRAY,
        .srcArray = copy->array,
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = copy->saved[state],
        .dstPitch = copy->row,
        .dstHeight = copy->rows,
        .WidthInBytes = copy->row,
        .Height = copy->rows,
        .Depth = copy->layers,
    };
}

static CUDA_MEMCPY3D restore_of(const struct gp_array_copy *copy, enum gp_array_state state)
{
    return (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = copy->saved[state],
        .srcPitch = copy->row,
        .srcHeight = copy->rows,
        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
        .dstArray = copy->array,
        .WidthInBytes = copy->row,
        .Height = copy->rows,
        .Depth = copy->layers,
    };
}

typedef CUDA_MEMCPY3D copy_of(const struct gp_array_copy *copy, enum gp_array_state state);

static CUresult each(const struct gp_arrays *a, copy_of *of, enum gp_array_state state,
                     CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < a->count && result == CUDA_SUCCESS; i++) {
        CUDA_MEMCPY3D copy = of(&a->list[i], state);
        result = gp_cuda.cuMemcpy3DAsync_v2(&copy, stream);
    }
    return result;
}

CUresult arrays_save(const struct gp_arrays *a, enum gp_array_state state, CUstream stream)
{
    return each(a, save_of, state, stream);
}

CUresult arrays_restore(const struct gp_arrays *a, enum gp_array_state state, CUstream stream)
{
    return each(a, restore_of, state, stream);
}

void arrays_free(struct gp_arrays *a)
{
    free(a->list);
    memset(a, 0, sizeof(*a));
}
