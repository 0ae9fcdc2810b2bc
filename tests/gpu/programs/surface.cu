/* An array read and written through a surface, in place, by every launch. A kernel can write it
 * without a pointer to it. */
#include "check.h"

#define WIDTH 75
#define HEIGHT 40

__global__ void update(cudaSurfaceObject_t surface, unsigned *launches)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < WIDTH) {
        unsigned value = surf2Dread<unsigned>(surface, x * (int)sizeof(unsigned), y);
        surf2Dwrite(3 * value + y, surface, x * (int)sizeof(unsigned), y);
    }
    if (x == 0 && y == 0)
        ++*launches;
}

int main()
{
    const unsigned launches = 8;
    static unsigned host[HEIGHT][WIDTH];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            host[y][x] = x;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, sizeof(host[0]), sizeof(host[0]), HEIGHT,
                              cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    unsigned *counter, counted;
    CHECK(cudaMalloc(&counter, sizeof(unsigned)));
    CHECK(cudaMemset(counter, 0, sizeof(unsigned)));
    for (unsigned k = 0; k < launches; k++) {
        update<<<dim3(blocks_for(WIDTH, 64), HEIGHT), 64>>>(surface, counter);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy2DFromArray(host, sizeof(host[0]), array, 0, 0, sizeof(host[0]), HEIGHT,
                                cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&counted, counter, sizeof(counted), cudaMemcpyDeviceToHost));
    REQUIRE(counted == launches, "%u launches counted", counted);
    unsigned sum = 0;
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH; x++) {
            unsigned expected = x;
            for (unsigned k = 0; k < launches; k++)
                expected = 3 * expected + y;
            REQUIRE(host[y][x] == expected, "[%u][%u] is %u, not %u", y, x, host[y][x], expected);
            sum += expected;
        }
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(counter));
    printf("surface: ok sum=%u\n", sum);
    return 0;
}
