/* A thread watches a number in mapped memory that every launch raises. It may miss values, but
 * never sees one that is less than one before. */
#include "check.h"
#include <atomic>
#include <thread>

__global__ void advance(volatile unsigned *progress)
{
    for (int i = 0; i < 100; i++)
        *progress += 1;
}

static std::atomic<bool> working{true};
static unsigned went_back;

static void watch(const volatile unsigned *progress)
{
    for (unsigned last = 0; working;) {
        unsigned now = *progress;
        if (now < last)
            went_back++;
        last = now;
    }
}

int main()
{
    const unsigned launches = 20;
    unsigned *progress, *d_progress;
    CHECK(cudaHostAlloc(&progress, sizeof(*progress), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&d_progress, progress, 0));
    *progress = 0;
    std::thread watcher(watch, progress);
    for (unsigned k = 0; k < launches; k++) {
        advance<<<1, 1>>>(d_progress);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
    working = false;
    watcher.join();
    REQUIRE(*progress == 100 * launches, "the number is %u", *progress);
    REQUIRE(went_back == 0, "the number went back %u times", went_back);
    CHECK(cudaFreeHost(progress));
    printf("watched: ok %u\n", 100 * launches);
    return 0;
}
