/* Made-up runs of an unchanged program: times and counters that vary as those of a GPU do. The same
 * numbers each time, from a seed.
 *
 * Measured, and so the sizes here (docs/ci.md, docs/validation.md, docs/validation-ncu.tsv; H200):
 * - 51 runs of kernels of 20 to 270 us that are launched once differ by 0.53 % (the middle kernel)
 *   to 0.96 % (the worst). That is made of a part of the run and one of the launch.
 * - Medians of three launches of kernels of 4 to 6 us differ by 60 ns from program to program, and
 *   all times are multiples of 32 ns.
 * - Of some hundred launches below 30 us one to three take 0.9 to 1.5 us more than their like.
 * - gpuprof times a kernel's first launch twice, and each that took 5 % and 1 us longer than the
 *   least of its like, up to four times in vain; the quicker time counts (launch/times.c).
 * - Occupancy differs by 0.071 to 0.24 %, bytes read from DRAM by 0.01 %; instructions of kernels
 *   that wait by up to 0.4 %, sectors of asynchronous copies by some 0.001 %.
 * Assumed: GPUs of one model, and the same one on another day, differ by 1 %. */
#ifndef GPUPROF_TESTS_NOISE_H
#define GPUPROF_TESTS_NOISE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct noise {
    double of_gpu;          /* a GPU on a day; relative, as the next two: standard deviations */
    double of_run;          /* clock and temperature */
    double of_launch;       /* refresh of DRAM, order of blocks */
    double blur;            /* seconds: start and end of a kernel */
    double tick;            /* seconds: the clock's step */
    double held_up;         /* the share of launches that are held up, */
    double held_up_seconds; /* and for how long: the mean of an exponential distribution */
    double stalled;         /* the same of those that another context, or the driver, stops */
    double stalled_seconds;
};

static const struct noise usual_noise = {
    .of_gpu = 0.01,
    .of_run = 0.006,
    .of_launch = 0.007,
    .blur = 80e-9,
    .tick = 32e-9,
    .held_up = 0.03,
    .held_up_seconds = 1e-6,
    .stalled = 1e-4,
    .stalled_seconds = 50e-6,
};

static uint64_t noise_seed = 1;

/* Numbers of seeds that lie side by side have nothing in common. */
static inline uint64_t seed_of_noise(uint64_t number)
{
    number = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return number ^ number >> 27;
}

/* Between 0 and 1, neither of both. */
static inline double uniform(void)
{
    noise_seed = noise_seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(noise_seed >> 33) + 0.5) / (double)(1u << 31);
}

/* A standard normal number. */
static inline double gaussian(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static inline double exponential(double mean)
{
    return -mean * log(uniform());
}

/* The clock and the GPU of one run, and the state of launch/times.c for one configuration. */
struct noisy_run {
    const struct noise *noise;
    double speed;  /* relative */
    double offset; /* of all times, as two events with nothing in between are subtracted */
    double least;
    int in_vain;
};

/* `gpu` is gaussian(), the same for all runs on one GPU and day. */
static inline struct noisy_run noisy_run(const struct noise *n, double gpu)
{
    return (struct noisy_run){.noise = n,
                              .speed = (1 + n->of_gpu * gpu) * (1 + n->of_run * gaussian()),
                              .offset = (floor(3 * uniform()) - 1) * n->tick};
}

static inline double noisy_once(const struct noisy_run *r, double seconds)
{
    const struct noise *n = r->noise;
    double time = seconds * r->speed * (1 + n->of_launch * gaussian()) + fabs(n->blur * gaussian());
    if (uniform() < n->held_up)
        time += exponential(n->held_up_seconds);
    if (uniform() < n->stalled)
        time += exponential(n->stalled_seconds);
    return time;
}

static inline bool noisy_doubt(const struct noisy_run *r, double time)
{
    return time > r->least + fmax(0.05 * r->least, 1e-6);
}

/* The time of the run's next launch of a kernel and configuration that takes `seconds`. */
static inline double noisy_time(struct noisy_run *r, double seconds)
{
    double time = noisy_once(r, seconds);
    if (r->least == 0) {
        time = fmin(time, noisy_once(r, seconds));
    } else if (r->in_vain < 4 && noisy_doubt(r, time)) {
        time = fmin(time, noisy_once(r, seconds));
        r->in_vain += noisy_doubt(r, time);
    }
    r->least = r->least == 0 ? time : fmin(r->least, time);
    double tick = r->noise->tick;
    return fmax(tick, floor(time / tick + 0.5) * tick + r->offset);
}

#endif
