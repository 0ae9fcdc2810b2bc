/* Two GPUs of which the first may write memory of the second: kernels that do, and kernels on
 * either that stay in their own memory. Before that, and without a second GPU, all do. */
#include "check.h"

__global__ void near(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + k;
}

__global__ void far(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 5 * data[i] + k;
}

static const int n = 100000;

static unsigned require_all(const unsigned *data, unsigned expected)
{
    static unsigned host[n];
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDefault));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    return host[0];
}

int main()
{
    unsigned *data[2], expected[2] = {0, 0}, *visited = NULL, expected_far = 0;
    int devices, may = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices > 1)
        CHECK(cudaDeviceCanAccessPeer(&may, 0, 1));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(may ? i : 0));
        CHECK(cudaMalloc(&data[i], n * sizeof(unsigned)));
        CHECK(cudaMemset(data[i], 0, n * sizeof(unsigned)));
    }
    if (may) {
        CHECK(cudaMalloc(&visited, n * sizeof(unsigned)));
        CHECK(cudaMemset(visited, 0, n * sizeof(unsigned)));
        CHECK(cudaDeviceSynchronize());
    }
    for (unsigned k = 0; k < 10; k++) {
        for (int i = 0; i < 2; i++) {
            CHECK(cudaSetDevice(may ? i : 0));
            near<<<blocks_for(n, 128), 128>>>(data[i], n, k);
            CHECK(cudaGetLastError());
            expected[i] = 3 * expected[i] + k;
        }
        CHECK(cudaSetDevice(0));
        if (may && k == 4)
            CHECK(cudaDeviceEnablePeerAccess(1, 0));
        if (may && k >= 4) {
            far<<<blocks_for(n, 128), 128>>>(visited, n, k);
            CHECK(cudaGetLastError());
            expected_far = 5 * expected_far + k;
        }
    }
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(may ? i : 0));
        CHECK(cudaDeviceSynchronize());
    }
    unsigned sum = require_all(data[0], expected[0]) + require_all(data[1], expected[1]);
    if (may)
        sum += require_all(visited, expected_far);
    printf("peer_access: ok %s %u\n", may ? "two GPUs" : "one GPU", sum);
    return 0;
}
