/* A captured graph that has to run as a whole: it allocates memory twice, one allocation behind the
 * other, waits for an event of another stream and records one, adds floats in an order that differs
 * from run to run, and copies the sum to the host. The sum on the device has to stay the one that
 * came to the host. */
#include "check.h"

#define N 100000
#define LAUNCHES 6

__global__ void spread(float *scratch, const float *data, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        scratch[i] = factor * data[i];
}

__global__ void collect(float *sum, const float *scratch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        atomicAdd(sum, scratch[i] * (1.0f + (i % 977) * 1e-4f));
}

__global__ void step(float *data, unsigned *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = data[i] * 0.5f + 1.0f;
    if (i == 0)
        ++*count;
}

static float *data, *sum, *landed;
static unsigned *count;
static cudaStream_t stream, other;
static cudaEvent_t ready, done;

/* Memory that is there for two kernels only. */
static void add_work(float factor)
{
    const int blocks = (int)blocks_for(N, 128);
    float *scratch;
    CHECK(cudaMallocAsync(&scratch, N * sizeof(float), stream));
    spread<<<blocks, 128, 0, stream>>>(scratch, data, factor);
    collect<<<blocks, 128, 0, stream>>>(sum, scratch);
    CHECK(cudaGetLastError());
    CHECK(cudaFreeAsync(scratch, stream));
}

static cudaGraphExec_t make(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaStreamWaitEvent(stream, ready, cudaEventWaitExternal));
    add_work(1.0f / 3);
    add_work(1.0f / 7);
    CHECK(cudaMemcpyAsync(landed, sum, sizeof(*sum), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecordWithFlags(done, stream, cudaEventRecordExternal));
    step<<<(int)blocks_for(N, 128), 128, 0, stream>>>(data, count);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return executable;
}

int main()
{
    float seen;
    unsigned steps;
    int supported;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    REQUIRE(supported, "this device has no memory pools");
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaMalloc(&data, N * sizeof(float)));
    CHECK(cudaMalloc(&sum, sizeof(*sum)));
    CHECK(cudaMalloc(&count, sizeof(*count)));
    CHECK(cudaMallocHost(&landed, sizeof(*landed)));
    CHECK(cudaMemset(data, 0, N * sizeof(float)));
    CHECK(cudaMemset(sum, 0, sizeof(*sum)));
    CHECK(cudaMemset(count, 0, sizeof(*count)));
    CHECK(cudaDeviceSynchronize());
    cudaGraphExec_t executable = make();
    for (int i = 0; i < LAUNCHES; i++) {
        CHECK(cudaEventRecord(ready, other));
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamWaitEvent(other, done, 0));
        CHECK(cudaStreamSynchronize(other));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&seen, sum, sizeof(seen), cudaMemcpyDeviceToHost));
        REQUIRE(seen == *landed, "the sum is %.9g, and %.9g came to the host", seen, *landed);
    }
    CHECK(cudaMemcpy(&steps, count, sizeof(steps), cudaMemcpyDeviceToHost));
    REQUIRE(steps == LAUNCHES, "%u steps, not %d", steps, LAUNCHES);
    CHECK(cudaGraphExecDestroy(executable));
    printf("graph_whole: ok %u\n", steps);
    return 0;
}
