/* Events around launches: the times between them are positive and add up, and an event that waits
 * for a launch is not ready before the launch's writes can be read. */
#include "check.h"

#define N 200000
#define LAUNCHES 6

__global__ void update(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

int main()
{
    static unsigned host[N];
    unsigned *data, expected = 0;
    cudaStream_t stream;
    cudaEvent_t events[LAUNCHES + 1];
    float sum = 0, part, whole;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k <= LAUNCHES; k++)
        CHECK(cudaEventCreate(&events[k]));
    CHECK(cudaEventRecord(events[0], stream));
    for (int k = 0; k < LAUNCHES; k++) {
        update<<<blocks_for(N, 128), 128, 0, stream>>>(data, k);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(events[k + 1], stream));
        expected = 3 * expected + k;
    }
    CHECK(cudaEventSynchronize(events[LAUNCHES]));
    for (int k = 0; k <= LAUNCHES; k++)
        CHECK(cudaEventQuery(events[k]));
    for (int k = 0; k < LAUNCHES; k++) {
        CHECK(cudaEventElapsedTime(&part, events[k], events[k + 1]));
        REQUIRE(part > 0, "launch %d took %g ms", k, part);
        sum += part;
    }
    CHECK(cudaEventElapsedTime(&whole, events[0], events[LAUNCHES]));
    REQUIRE(sum > 0.99f * whole - 0.01f && sum < 1.01f * whole + 0.01f,
            "the launches took %g ms, one by one %g", whole, sum);
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    for (int k = 0; k <= LAUNCHES; k++)
        CHECK(cudaEventDestroy(events[k]));
    CHECK(cudaStreamDestroy(stream));
    printf("events_timing: ok %u\n", expected);
    return 0;
}
