/* Streams of every priority, launches with a priority of their own, and events that put the
 * streams' launches into one order. */
#include "check.h"

#define N 30000

__global__ void update(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

int main()
{
    static unsigned host[N];
    int least, greatest;
    unsigned *data, expected = 0, launches = 0;
    cudaEvent_t done;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaDeviceSynchronize());
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributePriority;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks_for(N, 128));
    config.blockDim = dim3(128);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaStream_t streams[3];
    for (int s = 0; s < 3; s++) {
        int wanted = s == 0 ? least : s == 1 ? greatest : (least + greatest) / 2, got;
        CHECK(cudaStreamCreateWithPriority(&streams[s], cudaStreamNonBlocking, wanted));
        CHECK(cudaStreamGetPriority(streams[s], &got));
        REQUIRE(got == wanted, "stream %d has priority %d, not %d", s, got, wanted);
    }
    for (unsigned k = 0; k < 12; k++) {
        config.stream = streams[k % 3];
        attribute.val.priority = k % 2 ? least : greatest;
        CHECK(cudaStreamWaitEvent(config.stream, done, 0));
        if (k < 6) {
            update<<<config.gridDim, config.blockDim, 0, config.stream>>>(data, k);
            CHECK(cudaGetLastError());
        } else {
            CHECK(cudaLaunchKernelEx(&config, update, data, k));
        }
        CHECK(cudaEventRecord(done, config.stream));
        expected = 3 * expected + k;
        launches++;
    }
    CHECK(cudaEventSynchronize(done));
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    for (int s = 0; s < 3; s++)
        CHECK(cudaStreamDestroy(streams[s]));
    printf("priorities: ok %u launches %u\n", launches, expected);
    return 0;
}
