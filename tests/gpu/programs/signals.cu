/* A timer that interrupts the program a thousand times a second, also where it waits for the GPU.
 * The handler, the timer and the signal mask stay the program's. */
#include "check.h"
#include <signal.h>
#include <sys/time.h>

#define N 20000

__global__ void update(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

static volatile sig_atomic_t ticks;

static void tick(int)
{
    ticks = 1;
}

int main()
{
    static unsigned host[N];
    unsigned *data, expected = 0;
    struct sigaction action = {}, now;
    struct itimerval often = {{0, 1000}, {0, 1000}}, timer, none = {};
    sigset_t mask;
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    REQUIRE(sigaction(SIGALRM, &action, NULL) == 0, "no handler");
    REQUIRE(setitimer(ITIMER_REAL, &often, NULL) == 0, "no timer");
    for (unsigned k = 0; k < 20; k++) {
        update<<<blocks_for(N, 128), 128>>>(data, k);
        CHECK(cudaGetLastError());
        expected = 3 * expected + k;
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    while (!ticks)
        ;
    REQUIRE(getitimer(ITIMER_REAL, &timer) == 0 && timer.it_interval.tv_usec == 1000,
            "the timer has changed");
    REQUIRE(setitimer(ITIMER_REAL, &none, NULL) == 0, "the timer does not stop");
    REQUIRE(sigaction(SIGALRM, NULL, &now) == 0 && now.sa_handler == tick,
            "the handler has changed");
    REQUIRE(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGALRM),
            "the signal is blocked");
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    CHECK(cudaFree(data));
    printf("signals: ok %u\n", expected);
    return 0;
}
