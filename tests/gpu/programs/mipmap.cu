/* A mipmapped array: each launch adds the sums of four texels of one level to the next level,
 * through surfaces of both. */
#include "check.h"

#define SIZE 64
#define LEVELS 4

__global__ void reduce(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= size)
        return;
    const int texel = (int)sizeof(unsigned);
    unsigned sum = surf2Dread<unsigned>(to, x * texel, y);
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++)
            sum += surf2Dread<unsigned>(from, (2 * x + dx) * texel, 2 * y + dy);
    surf2Dwrite(sum, to, x * texel, y);
}

static unsigned host[SIZE * SIZE], expected[LEVELS][SIZE * SIZE];

int main()
{
    const int rounds = 3;
    cudaMipmappedArray_t pyramid;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    CHECK(cudaMallocMipmappedArray(&pyramid, &format, make_cudaExtent(SIZE, SIZE, 0), LEVELS,
                                   cudaArraySurfaceLoadStore));
    cudaArray_t levels[LEVELS];
    cudaSurfaceObject_t surfaces[LEVELS];
    for (int i = 0; i < SIZE * SIZE; i++)
        expected[0][i] = i % 31;
    for (int l = 0; l < LEVELS; l++) {
        size_t row = (SIZE >> l) * sizeof(unsigned);
        cudaResourceDesc resource = {};
        CHECK(cudaGetMipmappedArrayLevel(&levels[l], pyramid, l));
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = levels[l];
        CHECK(cudaCreateSurfaceObject(&surfaces[l], &resource));
        CHECK(cudaMemcpy2DToArray(levels[l], 0, 0, expected[l], row, row, SIZE >> l,
                                  cudaMemcpyHostToDevice));
    }
    for (int k = 0; k < rounds; k++)
        for (int l = 1; l < LEVELS; l++) {
            int size = SIZE >> l;
            reduce<<<dim3(1, size), 32>>>(surfaces[l - 1], surfaces[l], size);
            CHECK(cudaGetLastError());
            for (int y = 0; y < size; y++)
                for (int x = 0; x < size; x++)
                    for (int d = 0; d < 4; d++)
                        expected[l][y * size + x] +=
                            expected[l - 1][(2 * y + d / 2) * 2 * size + 2 * x + d % 2];
        }
    unsigned sum = 0;
    for (int l = 0; l < LEVELS; l++) {
        size_t row = (SIZE >> l) * sizeof(unsigned);
        CHECK(cudaMemcpy2DFromArray(host, row, levels[l], 0, 0, row, SIZE >> l,
                                    cudaMemcpyDeviceToHost));
        for (int i = 0; i < (SIZE >> l) * (SIZE >> l); i++) {
            REQUIRE(host[i] == expected[l][i], "level %d: texel %d is %u, not %u", l, i, host[i],
                    expected[l][i]);
            sum += host[i];
        }
        CHECK(cudaDestroySurfaceObject(surfaces[l]));
    }
    CHECK(cudaFreeMipmappedArray(pyramid));
    printf("mipmap: ok sum=%u\n", sum);
    return 0;
}
