// Launches of a kernel that has been launched before. They stand in their stream behind a wait for a
// value or a host function that waits: none runs before all of them have returned. Then in three
// streams, of which only the last is free; in four threads, each with its stream, with more
// launches than are held at once; and with memory that is made to point to other memory. Memory is
// checked against the host's after each part. `returns SECONDS` fails where all of it takes longer.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

#include "check.h"
#include "wait_value.h"

static const int n = 1 << 16, known = 4, launches = 12, perThread = 100;

__global__ void advance(float *x, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] = 0.5f * x[i] + 1;
}

struct Element {
    int value;
    Element *next;
};

__global__ void walk(Element *first)
{
    for (Element *e = first; e; e = e->next)
        e->value = 3 * e->value + 1;
}

static std::atomic<int> released;

static void CUDART_CB waitOnHost(void *)
{
    while (released == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

struct Numbers {
    float *x;
    std::vector<float> expected;

    Numbers() : expected(n, 0)
    {
        CHECK(cudaMalloc(&x, n * sizeof(float)));
        CHECK(cudaMemset(x, 0, n * sizeof(float)));
        CHECK(cudaDeviceSynchronize());
    }
    void launch(int count, cudaStream_t stream)
    {
        advance<<<n / 256, 256, 0, stream>>>(x, count);
        CHECK(cudaGetLastError());
        for (int i = 0; i < count; i++)
            expected[i] = 0.5f * expected[i] + 1;
    }
    void check(const char *part)
    {
        std::vector<float> found(n);
        CHECK(cudaMemcpy(found.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            REQUIRE(found[i] == expected[i], "%s: element %d is %g, not %g", part, i, found[i],
                    expected[i]);
        CHECK(cudaFree(x));
    }
};

static void threads()
{
    std::vector<Numbers> numbers(4);
    std::vector<std::thread> all;
    for (Numbers &own : numbers)
        all.emplace_back([&own] {
            cudaStream_t stream;
            CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            for (int i = 0; i < perThread; i++)
                own.launch(n, stream);
            CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaStreamDestroy(stream));
        });
    for (std::thread &thread : all)
        thread.join();
    for (Numbers &own : numbers)
        own.check("threads");
}

static void led()
{
    Element *elements[2], first = {5, nullptr}, found[2];
    int expected[2] = {5, 5};
    for (Element *&e : elements) {
        CHECK(cudaMalloc(&e, sizeof(Element)));
        CHECK(cudaMemcpy(e, &first, sizeof(Element), cudaMemcpyHostToDevice));
    }
    for (int i = 0; i < known + launches; i++) {
        if (i == known + launches / 2)
            CHECK(cudaMemcpy(&elements[0]->next, &elements[1], sizeof(Element *),
                             cudaMemcpyHostToDevice));
        walk<<<1, 1>>>(elements[0]);
        CHECK(cudaGetLastError());
        expected[0] = int(3u * expected[0] + 1);
        if (i >= known + launches / 2)
            expected[1] = 3 * expected[1] + 1;
    }
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMemcpy(&found[i], elements[i], sizeof(Element), cudaMemcpyDeviceToHost));
        REQUIRE(found[i].value == expected[i], "led: element %d is %d", i, found[i].value);
    }
}

int main(int argc, char **argv)
{
    WaitValue waitValue = findWaitValue();
    volatile int *flag;
    int *deviceFlag;
    cudaStream_t streams[3];
    CHECK(cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&deviceFlag, (void *)flag, 0));
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const auto start = std::chrono::steady_clock::now();

    for (int how = 0; how < 2; how++) {
        Numbers numbers;
        for (int i = 0; i < known; i++)
            numbers.launch(n, streams[0]);
        CHECK(cudaDeviceSynchronize());
        *flag = released = 0;
        if (how == 0)
            REQUIRE(waitValue(streams[0], (CUdeviceptr)deviceFlag, 1, 0) == CUDA_SUCCESS, "a wait");
        else
            CHECK(cudaLaunchHostFunc(streams[0], waitOnHost, nullptr));
        for (int i = 0; i < launches; i++)
            numbers.launch(n - 64 * i, streams[0]);
        *flag = released = 1;
        CHECK(cudaStreamSynchronize(streams[0]));
        numbers.check(how == 0 ? "value" : "function");
    }

    Numbers numbers[3];
    *flag = 0;
    for (int s = 0; s < 2; s++)
        REQUIRE(waitValue(streams[s], (CUdeviceptr)deviceFlag, 1, 0) == CUDA_SUCCESS, "a wait");
    for (int i = 0; i < launches; i++)
        numbers[i % 3].launch(n, streams[i % 3]);
    CHECK(cudaStreamSynchronize(streams[2])); // the others wait all the while
    *flag = 1;
    CHECK(cudaDeviceSynchronize());
    for (Numbers &own : numbers)
        own.check("streams");

    threads();
    led();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (argc > 1)
        REQUIRE(took.count() <= std::atof(argv[1]), "all of it took %.1f s", took.count());
    std::printf("returns: ok\n");
    return 0;
}
