#include "driver/times.h"

#include "noise.h"

#include <pthread.h>
#include <stdlib.h>

static struct noisy_run run;
static double factor = 1;
static bool vary;

/* SEED, or SEED:PERCENT for kernels that take so much of their time. */
static void begin(void)
{
    const char *times = getenv("GPUSIM_TIMES");
    char *end;

    if (!times || !*times)
        return;
    noise_seed = seed_of_noise(strtoull(times, &end, 10));
    if (*end == ':')
        factor = strtod(end + 1, NULL) / 100;
    run = noisy_run(&usual_noise, 0);
    vary = true;
}

static void begin_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, begin);
}

double gpusim_times_vary(double ms)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    begin_once();
    if (!vary)
        return ms;
    pthread_mutex_lock(&lock);
    ms = 1e3 * noisy_once(&run, factor * ms / 1e3);
    pthread_mutex_unlock(&lock);
    return ms;
}

double gpusim_times_shown(double ms)
{
    begin_once();
    return vary ? floor(ms / (1e3 * usual_noise.tick)) * 1e3 * usual_noise.tick : ms;
}
