/* Right behind launches that are all different (another number of elements each time) something
 * changes that would keep one of them from being repeated later: its memory is freed or written,
 * its stream is destroyed, an attribute of its function or a limit of the context is set, the array
 * behind its texture is written. Each launch makes k = 2 * k + x of the elements it reaches, so
 * that one that runs twice, or from other memory, is seen. */
#include "check.h"

#define N 4096
#define ROUNDS 12

__global__ void mix(unsigned *kept, const unsigned *x, int n)
{
    extern __shared__ unsigned passed[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    passed[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        kept[i] = 2 * kept[i] + passed[threadIdx.x];
}

__global__ void mix_texture(unsigned *kept, cudaTextureObject_t x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        kept[i] = 2 * kept[i] + tex2D<unsigned>(x, i % 64, i / 64);
}

static unsigned *kept, expected[N], host[N];
static int launches;

static int elements(void)
{
    return 100 + 37 * launches % (N - 100);
}

/* `value` of round r, at element i. */
static unsigned value(int r, int i)
{
    return 7 * r + i % 13;
}

static void fill_host(int r)
{
    for (int i = 0; i < N; i++)
        host[i] = value(r, i);
}

static void note(int r)
{
    int n = elements();
    for (int i = 0; i < n; i++)
        expected[i] = 2 * expected[i] + value(r, i);
    launches++;
}

static void launch(const unsigned *x, int r, cudaStream_t stream, size_t shared)
{
    mix<<<N / 256, 256, shared, stream>>>(kept, x, elements());
    CHECK(cudaGetLastError());
    note(r);
}

static void check(const char *what)
{
    unsigned sum = 0;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, kept, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "%s: element %d is %u, not %u", what, i, host[i],
                expected[i]);
        sum += host[i];
    }
    printf("changes %s: ok sum=%u\n", what, sum);
}

static void freed(void)
{
    for (int r = 0; r < ROUNDS; r++) {
        unsigned *x;
        CHECK(cudaMalloc(&x, sizeof(host)));
        fill_host(r);
        CHECK(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
        launch(x, r, 0, 1024);
        CHECK(cudaFree(x));
    }
    check("freed");
}

static void freed_in_stream(void)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (int r = 0; r < ROUNDS; r++) {
        unsigned *x;
        CHECK(cudaMallocAsync((void **)&x, sizeof(host), stream));
        fill_host(r);
        CHECK(cudaMemcpyAsync(x, host, sizeof(host), cudaMemcpyHostToDevice, stream));
        launch(x, r, stream, 1024);
        CHECK(cudaFreeAsync(x, stream));
    }
    check("freed_in_stream");
    CHECK(cudaStreamDestroy(stream));
}

static void written(unsigned *x)
{
    for (int r = 0; r < ROUNDS; r++) {
        fill_host(r);
        CHECK(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
        launch(x, r, 0, 1024);
        CHECK(cudaMemset(x, 0xee, sizeof(host)));
    }
    check("written");
}

static void streams(unsigned *x)
{
    fill_host(3);
    CHECK(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    for (int r = 0; r < ROUNDS; r++) {
        cudaStream_t stream;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        launch(x, 3, stream, 1024);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamDestroy(stream));
    }
    check("streams");
}

static void attributes(unsigned *x)
{
    for (int r = 0; r < ROUNDS; r++) {
        size_t most = (size_t)(49 + r) << 10;
        CHECK(cudaFuncSetAttribute(mix, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most));
        launch(x, 3, 0, most);
        CHECK(cudaFuncSetAttribute(mix, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10));
        CHECK(cudaFuncSetAttribute(mix, cudaFuncAttributePreferredSharedMemoryCarveout, 5 * r));
    }
    check("attributes");
}

static void limits(unsigned *x)
{
    for (int r = 0; r < ROUNDS; r++) {
        launch(x, 3, 0, 1024);
        CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 1024 + 512 * (r % 3)));
    }
    check("limits");
}

/* Last: once there is a texture, kernels that may read one are not held. */
static void array(void)
{
    cudaArray_t memory;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    CHECK(cudaMallocArray(&memory, &format, 64, N / 64));
    struct cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = memory;
    struct cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    for (int r = 0; r < ROUNDS; r++) {
        fill_host(r);
        CHECK(cudaMemcpy2DToArray(memory, 0, 0, host, 64 * sizeof(unsigned), 64 * sizeof(unsigned),
                                  N / 64, cudaMemcpyHostToDevice));
        mix_texture<<<N / 256, 256>>>(kept, texture, elements());
        CHECK(cudaGetLastError());
        note(r);
    }
    check("array");
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(memory));
}

int main()
{
    unsigned *x;
    CHECK(cudaMalloc(&kept, sizeof(expected)));
    CHECK(cudaMemset(kept, 0, sizeof(expected)));
    CHECK(cudaMalloc(&x, sizeof(host)));
    freed();
    freed_in_stream();
    written(x);
    streams(x);
    attributes(x);
    limits(x);
    array();
    CHECK(cudaFree(x));
    CHECK(cudaFree(kept));
    return 0;
}
