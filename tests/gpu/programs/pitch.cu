/* Pitched memory, updated in place; copied in and out by rows. */
#include "check.h"

__global__ void update(char *base, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height) {
        int *row = (int *)(base + y * pitch);
        row[x] = 2 * row[x] + y;
    }
}

int main()
{
    const int width = 333, height = 57, launches = 8;
    static int host[height][width];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            host[y][x] = x;
    char *base;
    size_t pitch;
    CHECK(cudaMallocPitch(&base, &pitch, sizeof(host[0]), height));
    CHECK(cudaMemcpy2D(base, pitch, host, sizeof(host[0]), sizeof(host[0]), height,
                       cudaMemcpyHostToDevice));
    for (int k = 0; k < launches; k++) {
        update<<<dim3(blocks_for(width, 64), height), 64>>>(base, pitch, width, height);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy2D(host, sizeof(host[0]), base, pitch, sizeof(host[0]), height,
                       cudaMemcpyDeviceToHost));
    long long sum = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int expected = x;
            for (int k = 0; k < launches; k++)
                expected = 2 * expected + y;
            REQUIRE(host[y][x] == expected, "[%d][%d] is %d, not %d", y, x, host[y][x], expected);
            sum += host[y][x];
        }
    CHECK(cudaFree(base));
    printf("pitch: ok sum=%lld\n", sum);
    return 0;
}
