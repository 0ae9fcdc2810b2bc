/* streams [n]: c = a + b for n ints (1 << 22), in four pieces, each with its own stream: copy in,
 * add, copy out, with an event after each piece.
 *
 * Shows a program whose copies and kernels overlap. A profiler that measures a kernel alone takes
 * that overlap away; results must not depend on it.
 *
 *   streamAdd is launched four times (times EXAMPLE_REPEAT), on four streams
 *   gld_efficiency, gst_efficiency   100 %
 *   warp_execution_efficiency        100 % */
#include "check.h"

#define STREAMS 4

__global__ void streamAdd(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    const int block = 256;
    int n = (int)argument(argc, argv, 1, 1 << 22, STREAMS, 1 << 28);
    n -= n % STREAMS;
    int piece = n / STREAMS;
    size_t bytes = n * sizeof(int), piece_bytes = piece * sizeof(int);

    int *a, *b, *c, *da, *db, *dc;
    CHECK(cudaMallocHost(&a, bytes));
    CHECK(cudaMallocHost(&b, bytes));
    CHECK(cudaMallocHost(&c, bytes));
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    for (int i = 0; i < n; i++) {
        a[i] = i % 4099;
        b[i] = 7 * (i % 19);
    }

    cudaStream_t streams[STREAMS];
    cudaEvent_t done[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    }

    for (int r = 0; r < repeats(); r++) {
        for (int s = 0; s < STREAMS; s++) {
            size_t at = (size_t)s * piece;
            CHECK(
                cudaMemcpyAsync(da + at, a + at, piece_bytes, cudaMemcpyHostToDevice, streams[s]));
            CHECK(
                cudaMemcpyAsync(db + at, b + at, piece_bytes, cudaMemcpyHostToDevice, streams[s]));
            streamAdd<<<blocks_for(piece, block), block, 0, streams[s]>>>(da + at, db + at, dc + at,
                                                                          piece);
            CHECK(cudaGetLastError());
            CHECK(
                cudaMemcpyAsync(c + at, dc + at, piece_bytes, cudaMemcpyDeviceToHost, streams[s]));
            CHECK(cudaEventRecord(done[s], streams[s]));
        }
        for (int s = 0; s < STREAMS; s++)
            CHECK(cudaEventSynchronize(done[s]));
    }

    long long sum = 0;
    for (int i = 0; i < n; i++) {
        REQUIRE(c[i] == a[i] + b[i], "c[%d] is %d, not %d", i, c[i], a[i] + b[i]);
        sum += c[i];
    }
    printf("streams %d n %d: ok sum=%lld\n", STREAMS, n, sum);

    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaStreamDestroy(streams[s]));
        CHECK(cudaEventDestroy(done[s]));
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    CHECK(cudaFreeHost(a));
    CHECK(cudaFreeHost(b));
    CHECK(cudaFreeHost(c));
    return 0;
}
