/* offset [offset] [n]: adds two vectors of n floats (1 << 20), once reading and once writing at
 * an offset (11).
 *
 * Shows the cost of misaligned access. The 128 bytes that a warp wants lie in four 32-byte sectors
 * when they start at a multiple of 32 bytes, and in five otherwise.
 *
 *   offset             0, 128 (multiples of 8)          11 (anything else)
 *   readOffset         gld 100 %, gst 100 %             gld 80 %, gst 100 %
 *   writeOffset        gld 100 %, gst 100 %             gld 100 %, gst 80 %
 *
 * The vectors are longer by the offset, so that every thread has an element.
 *   flop_count_sp      n: one addition a thread */
#include "check.h"

__global__ void readOffset(const float *a, const float *b, float *c, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i + offset] + b[i + offset];
}

__global__ void writeOffset(const float *a, const float *b, float *c, int n, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i + offset] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    const int block = 512;
    int offset = (int)argument(argc, argv, 1, 11, 0, 1 << 20);
    int n = (int)argument(argc, argv, 2, 1 << 20, 1, 1 << 27);
    size_t length = (size_t)n + offset, bytes = length * sizeof(float);

    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes);
    REQUIRE(a && b && c, "out of memory: three vectors of %zu bytes", bytes);
    for (size_t i = 0; i < length; i++) {
        a[i] = (float)(i % 512);
        b[i] = (float)(i % 13) * 0.25f;
    }

    float *da, *db, *dc;
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));

    for (int writing = 0; writing < 2; writing++) {
        for (int i = 0; i < repeats(); i++) {
            CHECK(cudaMemset(dc, 0, bytes));
            if (writing)
                writeOffset<<<blocks_for(n, block), block>>>(da, db, dc, n, offset);
            else
                readOffset<<<blocks_for(n, block), block>>>(da, db, dc, n, offset);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));

        int from = writing ? 0 : offset, to = writing ? offset : 0;
        double sum = 0;
        for (int i = 0; i < n; i++) {
            float expected = a[i + from] + b[i + from];
            REQUIRE(c[i + to] == expected, "c[%d] is %g, not %g", i + to, c[i + to], expected);
            sum += expected;
        }
        printf("offset %s %d n %d: ok sum=%.2f\n", writing ? "write" : "read", offset, n, sum);
    }

    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    free(a);
    free(b);
    free(c);
    return 0;
}
