/* The parameters of a launch as the device sees them: one block of bytes. */
#include "launch/inside.h"

#include "code/data_words.h"

#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of a cache line: how accesses are cut into sectors and lines depends on no more of an
 * address. */
#define LINE_BYTES 128
/* Addresses nearer than that lead into one allocation, to the same data but for the edges. So many
 * are compared. */
#define NEAR UINT64_C(256)
#define MOST_ADDRESSES 64

/* A kernel has no more than one for each byte. */
#define MOST_PARAMETERS GP_MOST_PARAMETER_BYTES

struct asked {
    CUfunction handle, function;
    bool as_kernel; /* the handle is a CUkernel, which the driver does not take for a function */
};

static CUresult ask_one(const struct asked *a, size_t index, size_t *offset, size_t *size)
{
    if (a->as_kernel)
        return gp_cuda.cuKernelGetParamInfo((CUkernel)a->handle, index, offset, size);
    return gp_cuda.cuFuncGetParamInfo(a->function, index, offset, size);
}

static bool add(struct gp_parameter_layout *layout, size_t offset, size_t size)
{
    if (offset > GP_MOST_PARAMETER_BYTES || size > GP_MOST_PARAMETER_BYTES - offset)
        return false;
    /* Room for 1, 2, 4, 8, ... */
    if ((layout->count & (layout->count - 1)) == 0) {
        size_t capacity = layout->count ? 2 * layout->count : 1;
        struct gp_parameter *list = realloc(layout->list, capacity * sizeof(*list));
        if (!list)
            return false;
        layout->list = list;
    }
    layout->list[layout->count++] =
        (struct gp_parameter){.offset = (uint32_t)offset, .size = (uint32_t)size};
    return true;
}

static void ask_all(struct gp_parameter_layout *layout, struct asked *asked)
{
    size_t offset = 0, size = 0;
    if (!gp_cuda.cuFuncGetParamInfo || !gp_cuda.cuKernelGetParamInfo)
        return;
    CUresult result = ask_one(asked, 0, &offset, &size);
    if (result != CUDA_SUCCESS) {
        asked->as_kernel = true;
        CUresult as_kernel = ask_one(asked, 0, &offset, &size);
        /* A function without parameters has no first one. */
        if (as_kernel != CUDA_SUCCESS) {
            layout->known =
                result == CUDA_ERROR_INVALID_VALUE || as_kernel == CUDA_ERROR_INVALID_VALUE;
            return;
        }
        result = as_kernel;
    }
    while (result == CUDA_SUCCESS) {
        if (layout->count == MOST_PARAMETERS || !add(layout, offset, size))
            return;
        result = ask_one(asked, layout->count, &offset, &size);
    }
    layout->known = result == CUDA_ERROR_INVALID_VALUE; /* beyond the last */
}

void parameter_layout_ask(struct gp_parameter_layout *layout, CUfunction handle,
                          CUfunction function)
{
    struct asked asked = {.handle = handle, .function = function};
    if (layout->asked)
        return;
    ask_all(layout, &asked);
    layout->asked = true; /* last: then other threads read the rest */
}

void parameter_layout_free(struct gp_parameter_layout *layout)
{
    free(layout->list);
    *layout = (struct gp_parameter_layout){0};
}

/* The program has laid the block out itself. */
static bool find_block(void **extra, const void **block, size_t *size)
{
    *block = NULL;
    *size = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *block = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
            *size = *(const size_t *)extra[i + 1];
        else
            return false; /* the driver will not take it either */
    }
    return *size <= GP_MOST_PARAMETER_BYTES && (!*size || *block);
}

static bool read_block(void **extra, void *bytes, size_t *size)
{
    const void *block;
    if (!find_block(extra, &block, size))
        return false;
    if (*size)
        memcpy(bytes, block, *size);
    return true;
}

bool parameters_read(const struct gp_launch *call, const struct gp_parameter_layout *layout,
                     void *bytes, size_t *size)
{
    *size = 0;
    if (call->extra)
        return !call->parameters && read_block(call->extra, bytes, size);
    if (!layout->known)
        return false;
    for (size_t i = 0; i < layout->count; i++) {
        const struct gp_parameter *p = &layout->list[i];
        if (!call->parameters || !call->parameters[i])
            return false; /* the driver will refuse the launch */
        size_t end = (size_t)p->offset + p->size;
        /* Gaps between parameters hold nothing. */
        if (p->offset > *size)
            memset((char *)bytes + *size, 0, p->offset - *size);
        memcpy((char *)bytes + p->offset, call->parameters[i], p->size);
        *size = end > *size ? end : *size;
    }
    return true;
}

bool parameters_each(const struct gp_launch *call, const struct gp_parameter_layout *layout,
                     parameter_visit *visit, void *data)
{
    if (call->extra) {
        const void *block;
        size_t size;
        if (call->parameters || !find_block(call->extra, &block, &size))
            return false;
        visit(block, size, data);
        return true;
    }
    if (!layout->known)
        return false;
    for (size_t i = 0; i < layout->count; i++) {
        if (!call->parameters || !call->parameters[i])
            return false;
        visit(call->parameters[i], layout->list[i].size, data);
    }
    return true;
}

void gp_parameters_as_block(void *extra[GP_EXTRA_WORDS], void *bytes, size_t *size)
{
    extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    extra[1] = bytes;
    extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    extra[3] = size;
    extra[4] = CU_LAUNCH_PARAM_END;
}

/* The two words of four bytes at that offset, without those that are data only. */
static uint64_t without_data(uint64_t word, size_t at, uint64_t data_words)
{
    const size_t first = at / 4;
    const unsigned data = first < GP_DATA_WORDS ? data_words >> first & 3 : 0;
    return word & (data & 1 ? ~(uint64_t)UINT32_MAX : UINT64_MAX) &
           (data & 2 ? UINT32_MAX : UINT64_MAX);
}

uint64_t parameters_hash_work(const void *bytes, size_t size, gp_is_address *is_address,
                              const void *data, uint64_t data_words)
{
    uint64_t hash = size, addresses[MOST_ADDRESSES];
    size_t count = 0;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at,
               size - at < sizeof(word) ? size - at : sizeof(word));
        if (!is_address(data, at, word)) {
            hash = gp_mix(hash, without_data(word, at, data_words));
            continue;
        }
        hash = gp_mix(hash, word % LINE_BYTES);
        for (size_t i = 0; i < count; i++)
            if (word - addresses[i] < NEAR || addresses[i] - word < NEAR)
                hash = gp_mix(gp_mix(hash, 1 + i), word - addresses[i]);
        if (count < MOST_ADDRESSES)
            addresses[count++] = word;
    }
    return hash;
}
