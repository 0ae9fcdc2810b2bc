/* Kernels that wait for the host: nobody waits for these. */
#include "launch/inside.h"
#include "launch/kernels.h"

#include "memory/buffers.h"

#include <string.h>

/* Under the gate: one launch at a time. */
static unsigned char bytes[GP_MOST_PARAMETER_BYTES];

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

bool launch_polls(struct gp_kernel *kernel, const struct gp_launch *call,
                  const struct gp_context *c)
{
    return kernel->polls != GP_NEVER && is_one_warp(&call->configuration) &&
           gets_memory_of_host(kernel, call, c) && kernel_may_poll(kernel, &c->device);
}
