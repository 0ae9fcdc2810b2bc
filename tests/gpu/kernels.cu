/* Kernels of the simulator (tests/sim/model), for its programs that run on a GPU too. */

#define KERNEL extern "C" __global__ void

static __device__ void scale(float *a, unsigned n, float factor)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = a[i] * factor + 1;
}

KERNEL scale_in_place(float *a, unsigned n, float factor)
{
    scale(a, n, factor);
}

KERNEL ordinary(float *a, unsigned n, float factor)
{
    scale(a, n, factor);
}

KERNEL wait_for_flag(const volatile unsigned *flag, unsigned *seen)
{
    if (threadIdx.x == 0) {
        while (*flag == 0)
            ;
        *seen = *flag;
    }
}

/* Elements whose link begins at a multiple of 4 only. */
struct element {
    unsigned value, low, high;
};

KERNEL reach_list(element *e)
{
    if (threadIdx.x == 0)
        for (; e; e = (element *)((unsigned long long)e->high << 32 | e->low))
            e->value = 3 * e->value + 1;
}
