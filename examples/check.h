/* Shared by every example: a CUDA call that fails, or a wrong result, ends the program with
 * status 1 and a line on stderr; stdout only ever carries results, so it can be compared byte by
 * byte between a plain and a profiled run. */
#ifndef GPUPROF_EXAMPLES_CHECK_H
#define GPUPROF_EXAMPLES_CHECK_H

#include <cuda_runtime.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                       \
    do {                                                                  \
        cudaError_t check_error = (call);                                 \
        if (check_error != cudaSuccess) {                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                    cudaGetErrorString(check_error));                     \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

/* A result that must hold. The other arguments are a printf format and its arguments. */
#define REQUIRE(condition, ...)                             \
    do {                                                    \
        if (!(condition)) {                                 \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
            fprintf(stderr, __VA_ARGS__);                   \
            fprintf(stderr, "\n");                          \
            exit(1);                                        \
        }                                                   \
    } while (0)

/* Argument number i, or the fallback where there are not so many. */
static inline long argument(int argc, char **argv, int i, long fallback, long least, long most)
{
    if (i >= argc)
        return fallback;
    char *end;
    errno = 0;
    long value = strtol(argv[i], &end, 0);
    REQUIRE(end != argv[i] && !*end && !errno && value >= least && value <= most,
            "argument %d: '%s' is not a number from %ld to %ld", i, argv[i], least, most);
    return value;
}

/* How often each kernel is launched: EXAMPLE_REPEAT, or once. More launches give a comparison of
 * two profilers something to take a median of; they change no result and no output. */
static inline int repeats(void)
{
    const char *text = getenv("EXAMPLE_REPEAT");
    int n = text ? atoi(text) : 1;
    return n < 1 ? 1 : n;
}

static inline long blocks_for(long n, long block)
{
    return (n + block - 1) / block;
}

#endif
