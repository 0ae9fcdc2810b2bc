/* aos_soa [n]: adds to both members of n points (1 << 22), kept as an array of structs and as a
 * struct of arrays.
 *
 * Shows why the layout matters. The members of a struct are read one by one, so a warp's load of
 * x strides over the y's between them: half of every sector is thrown away.
 *
 *                                     arrayOfStructs   structOfArrays
 *   gld_efficiency, gst_efficiency    50 %             100 %
 *   flop_count_sp                     2 n              2 n */
#include "check.h"

struct point {
    float x, y;
};

__global__ void arrayOfStructs(const struct point *in, struct point *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i].x = in[i].x + 10.0f;
        out[i].y = in[i].y + 20.0f;
    }
}

__global__ void structOfArrays(const float *in_x, const float *in_y, float *out_x, float *out_y,
                               int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out_x[i] = in_x[i] + 10.0f;
        out_y[i] = in_y[i] + 20.0f;
    }
}

static float x_of(int i)
{
    return (float)(i % 1021);
}

static float y_of(int i)
{
    return (float)(i % 257) * 0.5f;
}

/* Where element i of x and of y lies: `stride` 2 for the array of structs, 1 for two arrays. */
static double checked_sum(const float *x, const float *y, int stride, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        float got_x = x[(size_t)i * stride], got_y = y[(size_t)i * stride];
        REQUIRE(got_x == x_of(i) + 10.0f, "x of %d is %g", i, got_x);
        REQUIRE(got_y == y_of(i) + 20.0f, "y of %d is %g", i, got_y);
        sum += got_x + got_y;
    }
    return sum;
}

int main(int argc, char **argv)
{
    const int block = 256;
    int n = (int)argument(argc, argv, 1, 1 << 22, 1, 1 << 27);
    size_t bytes = n * sizeof(struct point);

    float *host = (float *)malloc(bytes);
    REQUIRE(host, "out of memory: %zu bytes", bytes);
    float *in, *out;
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&out, bytes));

    for (int i = 0; i < n; i++) {
        host[2 * (size_t)i] = x_of(i);
        host[2 * (size_t)i + 1] = y_of(i);
    }
    CHECK(cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice));
    for (int i = 0; i < repeats(); i++) {
        CHECK(cudaMemset(out, 0, bytes));
        arrayOfStructs<<<blocks_for(n, block), block>>>((struct point *)in, (struct point *)out, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost));
    printf("aos_soa array of structs n %d: ok sum=%.1f\n", n, checked_sum(host, host + 1, 2, n));

    for (int i = 0; i < n; i++) {
        host[i] = x_of(i);
        host[(size_t)n + i] = y_of(i);
    }
    CHECK(cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice));
    for (int i = 0; i < repeats(); i++) {
        CHECK(cudaMemset(out, 0, bytes));
        structOfArrays<<<blocks_for(n, block), block>>>(in, in + n, out, out + n, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost));
    printf("aos_soa struct of arrays n %d: ok sum=%.1f\n", n, checked_sum(host, host + n, 1, n));

    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    free(host);
    return 0;
}
