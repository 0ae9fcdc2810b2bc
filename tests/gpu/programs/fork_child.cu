/* Forks before CUDA is used, with a child that uses it, and after, with a child that does not. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void update(int *data)
{
    data[threadIdx.x] += threadIdx.x;
}

static void work(const char *who, int launches)
{
    int *data, host[64];
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    for (int k = 0; k < launches; k++) {
        update<<<1, 64>>>(data);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        REQUIRE(host[i] == launches * i, "%s: element %d is %d", who, i, host[i]);
    CHECK(cudaFree(data));
    printf("fork_child %s: ok %d\n", who, host[63]);
    fflush(stdout);
}

static void wait_for(pid_t child, int wanted)
{
    int status;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child, "no child to wait for");
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == wanted, "the child ended with 0x%x",
            status);
}

int main()
{
    pid_t child = fork();
    if (child == 0) {
        work("child", 3);
        exit(5);
    }
    wait_for(child, 5);
    work("parent", 4);
    child = fork();
    if (child == 0)
        _exit(7);
    wait_for(child, 7);
    work("parent again", 2);
    return 0;
}
