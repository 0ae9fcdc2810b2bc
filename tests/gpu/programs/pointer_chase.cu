/* Memory that kernels come to by roundabout ways: a pointer packed into a struct, a table of pointers, a
 * list over many allocations, a pointer in a variable of the module, pointers into the middle and to
 * the end, a table in page-locked memory. Beside it lies memory that none of them touches. */
#include "check.h"

struct element {
    unsigned value;
    unsigned next[2]; /* a pointer, at a multiple of 4 only */
};

#pragma pack(push, 1)
struct packed {
    char first;
    unsigned *data;
    int n;
};
#pragma pack(pop)

__device__ element *anchor;

__device__ static void step(unsigned *x)
{
    *x = 3 * *x + 1;
}

__global__ void from_struct(packed p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n)
        step(&p.data[i]);
}

__global__ void from_table(unsigned *const *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        step(table[i]);
}

__device__ static void walk(element *e)
{
    while (e) {
        step(&e->value);
        e = (element *)((unsigned long long)e->next[1] << 32 | e->next[0]);
    }
}

__global__ void from_list(element *first)
{
    walk(first);
}

__global__ void from_variable()
{
    walk(anchor);
}

__global__ void around(unsigned *middle, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2 * n)
        step(middle - n + i);
}

__global__ void before(unsigned *end, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        step(end - 1 - i);
}

static const int launches = 5, elements = 40, buffers = 500, n = 100000;
static unsigned sum;

static unsigned after(unsigned x, int steps)
{
    while (steps-- > 0)
        x = 3 * x + 1;
    return x;
}

static void require(const unsigned *device, int count, unsigned first, int steps, const char *what)
{
    static unsigned host[n];
    CHECK(cudaMemcpy(host, device, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        REQUIRE(host[i] == after(first + i, steps), "%s: element %d is %u, not %u", what, i,
                host[i], after(first + i, steps));
    sum += host[0];
}

static unsigned *make(int count, unsigned first)
{
    static unsigned host[n];
    unsigned *device;
    for (int i = 0; i < count; i++)
        host[i] = first + i;
    CHECK(cudaMalloc(&device, count * sizeof(unsigned)));
    CHECK(cudaMemcpy(device, host, count * sizeof(unsigned), cudaMemcpyHostToDevice));
    return device;
}

static void tables()
{
    static unsigned *list[buffers];
    unsigned **on_device, **on_host;
    for (int i = 0; i < buffers; i++)
        list[i] = make(1 + i % 7, i);
    CHECK(cudaMalloc(&on_device, sizeof(list)));
    CHECK(cudaMemcpy(on_device, list, sizeof(list), cudaMemcpyHostToDevice));
    CHECK(cudaHostAlloc(&on_host, sizeof(list), cudaHostAllocMapped));
    for (int i = 0; i < buffers; i++)
        on_host[i] = list[i];
    for (int k = 0; k < launches; k++) {
        from_table<<<4, 128>>>(on_device, buffers);
        from_table<<<4, 128>>>(on_host, buffers);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < buffers; i++) {
        require(list[i], 1, i, 2 * launches, "table");
        CHECK(cudaFree(list[i]));
    }
    CHECK(cudaFree(on_device));
    CHECK(cudaFreeHost(on_host));
}

static void lists()
{
    static element *list[elements + 1];
    for (int i = 0; i < elements; i++)
        CHECK(cudaMalloc(&list[i], sizeof(element)));
    for (unsigned i = 0; i < elements; i++) {
        unsigned long long next = (unsigned long long)list[i + 1];
        element e = {i, {(unsigned)next, (unsigned)(next >> 32)}};
        CHECK(cudaMemcpy(list[i], &e, sizeof(e), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMemcpyToSymbol(anchor, &list[0], sizeof(list[0])));
    for (int k = 0; k < launches; k++) {
        from_list<<<1, 1>>>(list[0]);
        from_variable<<<1, 1>>>();
        CHECK(cudaGetLastError());
    }
    for (int i = 0; i < elements; i++) {
        require(&list[i]->value, 1, i, 2 * launches, "list");
        CHECK(cudaFree(list[i]));
    }
}

int main()
{
    unsigned *bystander;
    CHECK(cudaMalloc(&bystander, 64 << 20));
    CHECK(cudaMemset(bystander, 7, 64 << 20));
    unsigned *x = make(n, 5);
    packed p = {1, x, n};
    for (int k = 0; k < launches; k++) {
        from_struct<<<blocks_for(n, 256), 256>>>(p);
        around<<<blocks_for(n, 256), 256>>>(x + n / 2, n / 2);
        before<<<blocks_for(n, 256), 256>>>(x + n, n);
        CHECK(cudaGetLastError());
    }
    require(x, n, 5, 3 * launches, "in place");
    CHECK(cudaFree(x));
    tables();
    lists();
    CHECK(cudaFree(bystander));
    printf("pointer_chase: ok sum=%u\n", sum);
    return 0;
}
