/* Memory of another process: a child allocates it, hands it over (cudaIpcGetMemHandle) and goes on
 * writing its second half, while this process updates the first half, and memory of its own. */
#include "check.h"
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void own(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + k;
}

__global__ void other(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 5 * data[i] + k;
}

static const int n = 100000, rounds = 10;

static void be_the_child(int to_parent, int from_parent)
{
    unsigned *data;
    size_t bytes = n * sizeof(unsigned);
    cudaIpcMemHandle_t handle;
    struct pollfd ended = {from_parent, POLLIN, 0};
    CHECK(cudaMalloc(&data, 2 * bytes));
    CHECK(cudaMemset(data, 0, 2 * bytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaIpcGetMemHandle(&handle, data));
    REQUIRE(write(to_parent, &handle, sizeof(handle)) == (ssize_t)sizeof(handle), "pipe");
    for (int value = 1; poll(&ended, 1, 0) == 0; value = value % 100 + 1) {
        CHECK(cudaMemset(data + n, value, bytes));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaFree(data));
    exit(0);
}

static unsigned require_all(const unsigned *data, unsigned expected)
{
    static unsigned host[n];
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    return host[0];
}

int main()
{
    int to_parent[2], to_child[2], status;
    REQUIRE(pipe(to_parent) == 0 && pipe(to_child) == 0, "pipe");
    pid_t child = fork();
    REQUIRE(child >= 0, "fork");
    if (child == 0) {
        close(to_child[1]);
        be_the_child(to_parent[1], to_child[0]);
    }
    close(to_parent[1]);

    unsigned *mine, *theirs, expected_own = 0, expected_other = 0;
    cudaIpcMemHandle_t handle;
    CHECK(cudaMalloc(&mine, n * sizeof(unsigned)));
    CHECK(cudaMemset(mine, 0, n * sizeof(unsigned)));
    REQUIRE(read(to_parent[0], &handle, sizeof(handle)) == (ssize_t)sizeof(handle), "no handle");
    CHECK(cudaIpcOpenMemHandle((void **)&theirs, handle, cudaIpcMemLazyEnablePeerAccess));
    for (unsigned k = 0; k < (unsigned)rounds; k++) {
        own<<<blocks_for(n, 128), 128>>>(mine, n, k);
        CHECK(cudaGetLastError());
        other<<<blocks_for(n, 128), 128>>>(theirs, n, k);
        CHECK(cudaGetLastError());
        expected_own = 3 * expected_own + k;
        expected_other = 5 * expected_other + k;
    }
    CHECK(cudaDeviceSynchronize());
    unsigned sum = require_all(mine, expected_own) + require_all(theirs, expected_other);
    CHECK(cudaIpcCloseMemHandle(theirs));
    close(to_child[1]);
    REQUIRE(waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
    printf("two_processes: ok %u\n", sum);
    return 0;
}
