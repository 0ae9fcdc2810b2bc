/* The host never synchronises: it sees that a launch has ended by the number the kernel leaves in
 * mapped memory, and writes the next request there before the next launch. */
#include "check.h"
#include <atomic>
#include <chrono>

struct mailbox {
    volatile unsigned request, answer, done;
};

__global__ void serve(struct mailbox *box, unsigned *state)
{
    *state = 3 * *state + box->request;
    box->answer = *state;
    __threadfence_system();
    box->done += 1;
}

int main()
{
    const unsigned rounds = 12;
    struct mailbox *box, *d_box;
    unsigned *state, expected = 0;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc(&box, sizeof(*box), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&d_box, box, 0));
    CHECK(cudaMalloc(&state, sizeof(*state)));
    CHECK(cudaMemset(state, 0, sizeof(*state)));
    CHECK(cudaDeviceSynchronize());
    box->request = box->answer = box->done = 0;
    for (unsigned k = 0; k < rounds; k++) {
        box->request = 17 * k + expected % 5;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        serve<<<1, 1, 0, stream>>>(d_box, state);
        CHECK(cudaGetLastError());
        auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (box->done != k + 1)
            REQUIRE(std::chrono::steady_clock::now() < limit, "launch %u: done is %u", k,
                    box->done);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        expected = 3 * expected + 17 * k + expected % 5;
        REQUIRE(box->answer == expected, "answer %u is %u, not %u", k, box->answer, expected);
    }
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(box->done == rounds, "%u answers, not %u", box->done, rounds);
    CHECK(cudaFreeHost(box));
    CHECK(cudaFree(state));
    CHECK(cudaStreamDestroy(stream));
    printf("mapped_flag: ok %u\n", expected);
    return 0;
}
