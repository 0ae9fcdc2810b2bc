/* A kernel that works three times and then fails, by an assertion, a trap or a misaligned address:
 * the error comes at the same call, and the text that the device prints comes once. Prints each
 * call's result; exits with status 3. */
#undef NDEBUG
#include "check.h"
#include <assert.h>
#include <string.h>

#define N 64

enum { FINE, ASSERT, TRAP, MISALIGNED };

__global__ void work(unsigned *data, int how)
{
    unsigned *mine = data + threadIdx.x;
    assert(how != ASSERT || threadIdx.x != 5);
    if (how == TRAP && threadIdx.x == 5)
        __trap();
    if (how == MISALIGNED && threadIdx.x == 5)
        mine = (unsigned *)((char *)mine + 2);
    *mine = 3 * *mine + 1;
}

static void say(const char *what, cudaError_t error)
{
    printf("%s: %s\n", what, cudaGetErrorName(error));
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "assert";
    int how = !strcmp(kind, "assert") ? ASSERT : !strcmp(kind, "trap") ? TRAP : MISALIGNED;
    unsigned host[N], *data, *more;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    for (int k = 0; k < 3; k++) {
        work<<<1, N>>>(data, FINE);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == 13, "element %d is %u, not 13", i, host[i]);
    printf("device_errors %s: three launches are fine\n", kind);
    work<<<1, N>>>(data, how);
    say("launch", cudaGetLastError());
    cudaError_t error = cudaDeviceSynchronize();
    say("synchronise", error);
    REQUIRE(error != cudaSuccess, "the kernel did not fail");
    say("last error", cudaGetLastError());
    say("copy", cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    say("allocate", cudaMalloc(&more, sizeof(host)));
    work<<<1, N>>>(data, FINE);
    say("a launch after it", cudaGetLastError());
    return 3;
}
