/* exit_variants HOW: launches, then ends in the way given: return, exit, _exit, quick_exit, kill,
 * or thread (exit from another thread). The launches measured by then must be in the profile. */
#include "check.h"
#include <signal.h>
#include <string.h>
#include <thread>
#include <unistd.h>

__global__ void update(int *data)
{
    data[threadIdx.x] += 1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    int *data, host[32];
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    for (int k = 0; k < 5; k++) {
        update<<<1, 32>>>(data);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    REQUIRE(host[31] == 5, "the result is %d", host[31]);
    printf("exit_variants %s: ok\n", how);
    fflush(stdout);
    if (!strcmp(how, "exit"))
        exit(11);
    if (!strcmp(how, "_exit"))
        _exit(12);
    if (!strcmp(how, "quick_exit"))
        quick_exit(13);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "thread")) {
        std::thread other([] { exit(14); });
        other.join();
    }
    return 10;
}
