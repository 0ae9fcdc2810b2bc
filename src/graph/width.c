/* How many nodes of a graph can wait for each other, by the machine code of its kernels. */
#include "graph/inside.h"

#include "launch/kernels.h"

#include <stdlib.h>

static bool may_wait(const struct gp_graph_node *n, const struct gp_device *device)
{
    if (n->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return n->type == CU_GRAPH_NODE_TYPE_HOST;
    struct gp_kernel *kernel = gp_kernel_find(n->function);
    return !kernel || gp_kernel_may_wait(kernel, device);
}

bool graph_spread_by_code(struct gp_graph_clone *clone)
{
    CUdevice ordinal;
    bool *waits = calloc(clone->order.count + 1, sizeof(*waits));
    if (waits && gp_cuda.cuCtxGetDevice(&ordinal) == CUDA_SUCCESS) {
        const struct gp_device device = {
            .cc_major = gp_device_attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            .cc_minor = gp_device_attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
        for (unsigned i = 0; i < clone->order.count; i++)
            waits[i] = !clone->nodes[i].disabled && may_wait(&clone->nodes[i], &device);
        clone->spread = clone->by_code = graph_order_spread(&clone->order, waits);
    }
    free(waits);
    return clone->spread;
}
