/* Host functions between the launches of a stream, in order: each sees the writes of the launch
 * before it to page-locked memory and leaves the input of the next one. */
#include "check.h"

#define ROUNDS 10

struct exchange {
    unsigned from_device, to_device, seen[ROUNDS];
    int calls;
};

__global__ void update(struct exchange *shared, unsigned *total)
{
    *total = 3 * *total + shared->to_device;
    shared->from_device = *total;
}

static void CUDART_CB answer(void *data)
{
    struct exchange *shared = (struct exchange *)data;
    shared->seen[shared->calls++] = shared->from_device;
    shared->to_device = shared->from_device % 7 + 1;
}

int main()
{
    struct exchange *shared;
    unsigned *total, expected = 0, next = 5, got;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&shared, sizeof(*shared)));
    CHECK(cudaMalloc(&total, sizeof(*total)));
    CHECK(cudaMemset(total, 0, sizeof(*total)));
    CHECK(cudaDeviceSynchronize());
    shared->from_device = shared->calls = 0;
    shared->to_device = next;
    for (int k = 0; k < ROUNDS; k++) {
        update<<<1, 1, 0, stream>>>(shared, total);
        CHECK(cudaGetLastError());
        CHECK(cudaLaunchHostFunc(stream, answer, shared));
    }
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(shared->calls == ROUNDS, "%d calls, not %d", shared->calls, ROUNDS);
    for (int k = 0; k < ROUNDS; k++) {
        expected = 3 * expected + next;
        next = expected % 7 + 1;
        REQUIRE(shared->seen[k] == expected, "call %d saw %u, not %u", k, shared->seen[k],
                expected);
    }
    CHECK(cudaMemcpy(&got, total, sizeof(got), cudaMemcpyDeviceToHost));
    REQUIRE(got == expected, "the total is %u, not %u", got, expected);
    CHECK(cudaFree(total));
    CHECK(cudaFreeHost(shared));
    CHECK(cudaStreamDestroy(stream));
    printf("callbacks: ok %d calls, %u\n", ROUNDS, got);
    return 0;
}
