/* A layered array read through a texture; the host writes one layer anew before each launch, and
 * the kernel adds the values to ordinary memory. */
#include "check.h"

#define WIDTH 60
#define HEIGHT 33
#define LAYERS 3

__global__ void accumulate(cudaTextureObject_t texture, unsigned *sums)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < WIDTH)
        for (int layer = 0; layer < LAYERS; layer++)
            sums[y * WIDTH + x] += tex2DLayered<unsigned>(texture, x + 0.5f, y + 0.5f, layer);
}

static unsigned layers[LAYERS][HEIGHT][WIDTH], expected[HEIGHT][WIDTH], host[HEIGHT][WIDTH];

int main()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(WIDTH, HEIGHT, LAYERS),
                            cudaArrayLayered));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    unsigned *sums;
    CHECK(cudaMalloc(&sums, sizeof(host)));
    CHECK(cudaMemset(sums, 0, sizeof(host)));
    for (int k = -LAYERS; k < 6; k++) {
        int layer = (k + LAYERS) % LAYERS;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                layers[layer][y][x] = x + 10 * y + 1000 * (k + LAYERS);
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(layers[layer], WIDTH * sizeof(unsigned), WIDTH, HEIGHT);
        copy.dstArray = array;
        copy.dstPos = make_cudaPos(0, 0, layer);
        copy.extent = make_cudaExtent(WIDTH, HEIGHT, 1);
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
        if (k < 0)
            continue; /* not every layer is there yet */
        accumulate<<<dim3(1, HEIGHT), 64>>>(texture, sums);
        CHECK(cudaGetLastError());
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int l = 0; l < LAYERS; l++)
                    expected[y][x] += layers[l][y][x];
    }
    CHECK(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            REQUIRE(host[y][x] == expected[y][x], "[%d][%d] is %u, not %u", y, x, host[y][x],
                    expected[y][x]);
            sum += host[y][x];
        }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(sums));
    printf("texture_layers: ok sum=%u\n", sum);
    return 0;
}
