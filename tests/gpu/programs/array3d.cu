/* Memory in three dimensions from cudaMalloc3D, updated in place; copied in and out as a box, and
 * one layer of it changed by a copy between the launches. */
#include "check.h"

#define X 45
#define Y 19
#define Z 11

__global__ void update(cudaPitchedPtr box)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x < X) {
        unsigned *row = (unsigned *)((char *)box.ptr + (z * box.ysize + y) * box.pitch);
        row[x] = 3 * row[x] + y + 100 * z;
    }
}

static unsigned host[Z][Y][X];

static void copy(cudaPitchedPtr box, int layers, cudaMemcpyKind kind)
{
    cudaPitchedPtr mine = make_cudaPitchedPtr(host, X * sizeof(unsigned), X, Y);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = kind == cudaMemcpyHostToDevice ? mine : box;
    copy.dstPtr = kind == cudaMemcpyHostToDevice ? box : mine;
    copy.extent = make_cudaExtent(X * sizeof(unsigned), Y, layers);
    copy.kind = kind;
    CHECK(cudaMemcpy3D(&copy));
}

int main()
{
    const int launches = 8, changed = 4;
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, make_cudaExtent(X * sizeof(unsigned), Y, Z)));
    for (int z = 0; z < Z; z++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++)
                host[z][y][x] = x;
    copy(box, Z, cudaMemcpyHostToDevice);
    for (int k = 0; k < launches; k++) {
        if (k == changed)
            copy(box, 1, cudaMemcpyHostToDevice);
        update<<<dim3(1, Y, Z), 64>>>(box);
        CHECK(cudaGetLastError());
    }
    copy(box, Z, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (unsigned z = 0; z < Z; z++)
        for (unsigned y = 0; y < Y; y++)
            for (unsigned x = 0; x < X; x++) {
                unsigned expected = x;
                for (int k = z ? 0 : changed; k < launches; k++)
                    expected = 3 * expected + y + 100 * z;
                REQUIRE(host[z][y][x] == expected, "[%u][%u][%u] is %u, not %u", z, y, x,
                        host[z][y][x], expected);
                sum += expected;
            }
    CHECK(cudaFree(box.ptr));
    printf("array3d: ok sum=%u\n", sum);
    return 0;
}
