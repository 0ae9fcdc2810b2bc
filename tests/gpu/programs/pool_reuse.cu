/* Memory from a pool of the program's own: a list that grows into new memory between the launches
 * that update it, freed on one stream and had again on another, and a pool that is trimmed. */
#include "check.h"

__global__ void update(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + k;
}

int main()
{
    const int rounds = 10, step = 3000;
    static unsigned expected[rounds * step], host[rounds * step];
    cudaMemPool_t pool;
    cudaMemPoolProps kind = {};
    kind.allocType = cudaMemAllocationTypePinned;
    kind.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &kind));
    unsigned long long keep = 1 << 20;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    cudaStream_t streams[2];
    cudaEvent_t freed;
    CHECK(cudaEventCreateWithFlags(&freed, cudaEventDisableTiming));
    for (int s = 0; s < 2; s++)
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    unsigned *list = NULL, *scratch, sum = 0;
    int n = 0;
    for (int k = 0; k < rounds; k++) {
        cudaStream_t mine = streams[k % 2];
        unsigned *longer;
        CHECK(cudaStreamWaitEvent(mine, freed, 0));
        CHECK(cudaMallocFromPoolAsync((void **)&longer, (n + step) * sizeof(unsigned), pool, mine));
        CHECK(cudaMemsetAsync(longer, 0, (n + step) * sizeof(unsigned), mine));
        if (list) {
            CHECK(cudaMemcpyAsync(longer, list, n * sizeof(unsigned), cudaMemcpyDeviceToDevice,
                                  mine));
            CHECK(cudaFreeAsync(list, mine));
        }
        list = longer;
        n += step;
        CHECK(cudaMallocAsync((void **)&scratch, n * sizeof(unsigned), pool, mine));
        CHECK(cudaMemsetAsync(scratch, 0xee, n * sizeof(unsigned), mine));
        update<<<blocks_for(n, 128), 128, 0, mine>>>(list, n, k);
        update<<<blocks_for(n, 128), 128, 0, mine>>>(scratch, n, k);
        CHECK(cudaGetLastError());
        CHECK(cudaFreeAsync(scratch, mine));
        CHECK(cudaEventRecord(freed, mine));
        for (int i = 0; i < n; i++)
            expected[i] = 3 * expected[i] + k;
        if (k == 6) {
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemPoolTrimTo(pool, 0));
        }
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, list, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        REQUIRE(host[i] == expected[i], "element %d is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    CHECK(cudaFree(list));
    CHECK(cudaMemPoolDestroy(pool));
    printf("pool_reuse: ok sum=%u\n", sum);
    return 0;
}
