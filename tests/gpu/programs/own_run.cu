/* A kernel that writes how many cycles it took. A replay, which is slower, must not leave its
 * number in the program's memory: the number there is that of the program's own run. So it is for
 * sums by atomics in floating point, and for races. */
#include "check.h"

#define STEPS 4096
/* Some 4 cycles a step by itself; code that counts at each instruction takes many times as long. */
#define MOST_CYCLES (10ll * 4 * STEPS)

__global__ void timeSteps(long long *cycles, float *value)
{
    float x = *value;
    long long start = clock64();
    for (int i = 0; i < STEPS; i++)
        x = fmaf(x, 0.999f, 1.0f);
    *cycles = clock64() - start;
    *value = x;
}

int main(void)
{
    long long *cycles, host;
    float *value, before = 0, after;
    CHECK(cudaMalloc(&cycles, sizeof(*cycles)));
    CHECK(cudaMalloc(&value, sizeof(*value)));
    CHECK(cudaMemset(value, 0, sizeof(*value)));
    for (int k = 0; k < 6; k++) {
        timeSteps<<<1, 1>>>(cycles, value);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&host, cycles, sizeof(host), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(&after, value, sizeof(after), cudaMemcpyDeviceToHost));
        REQUIRE(host <= MOST_CYCLES, "launch %d took %lld cycles", k, host);
        REQUIRE(after >= before, "launch %d left %g after %g", k, after, before);
        before = after;
    }
    printf("own_run: six launches took their own time\n");
    return 0;
}
