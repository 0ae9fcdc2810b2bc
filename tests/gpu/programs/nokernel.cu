/* Uses CUDA and never launches a kernel of its own. */
#include "check.h"

int main()
{
    const int n = 1000;
    int host[n], *data, *other;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMalloc(&other, sizeof(host)));
    CHECK(cudaMemset(data, 1, sizeof(host)));
    CHECK(cudaMemcpy(other, data, sizeof(host), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(host, other, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == 0x01010101, "element %d is %d", i, host[i]);
    CHECK(cudaFree(data));
    CHECK(cudaFree(other));
    printf("nokernel: ok\n");
    return 0;
}
