#include "launch/polls.h"

#include "memory/buffers.h"

#include <string.h>

#define WARP_THREADS 32

/* Under the gate: one launch at a time. */
static unsigned char bytes[GP_MOST_PARAMETER_BYTES];

/* Blocks that wait for each other read their flags in the same way: cuDNN's do, in kernels that get
 * memory of the host besides. For the host a single warp waits. */
static bool is_one_warp(const struct gp_launch *call)
{
    const unsigned *g = call->grid, *b = call->block;
    return (uint64_t)g[0] * g[1] * g[2] == 1 && (uint64_t)b[0] * b[1] * b[2] <= WARP_THREADS;
}

struct search {
    size_t size; /* of the parameters */
    bool found;
};

static void note_memory_of_host(const struct gp_buffer *buffer, void *data)
{
    struct search *s = data;
    if (s->found || (buffer->kind != GP_BUFFER_HOST && buffer->kind != GP_BUFFER_MANAGED))
        return;
    for (size_t at = 0; at + sizeof(CUdeviceptr) <= s->size && !s->found;
         at += sizeof(CUdeviceptr)) {
        CUdeviceptr address;
        memcpy(&address, bytes + at, sizeof(address));
        s->found = address - buffer->device_address < buffer->size;
    }
}

static bool gets_memory_of_host(struct gp_kernel *kernel, const struct gp_launch *call,
                                const struct gp_context *c)
{
    struct search s = {0};
    if (!gp_kernel_parameters(kernel, call, bytes, &s.size))
        return false;
    gp_buffers_each(c->handle, c->device.ordinal, note_memory_of_host, &s);
    return s.found;
}

bool gp_launch_polls(struct gp_kernel *kernel, const struct gp_launch *call,
                     const struct gp_context *c)
{
    return kernel->polls != GP_NEVER && is_one_warp(call) && gets_memory_of_host(kernel, call, c) &&
           gp_kernel_may_poll(kernel, &c->device);
}
