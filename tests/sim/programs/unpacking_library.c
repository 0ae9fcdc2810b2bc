/*
 * The time that it takes to unpack large images, for the clock of libclock.so: preloaded behind
 * libgpuprof.so and in front of that. Memory of LARGE bytes and more is asked for to unpack into,
 * and takes UNPACK_NS nanoseconds for each kilobyte.
 */
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#define LARGE ((size_t)32 << 20)

void *__libc_malloc(size_t bytes);

void *malloc(size_t bytes)
{
    const char *ns = bytes >= LARGE ? getenv("UNPACK_NS") : NULL;
    if (ns) {
        const long long all = atoll(ns) * (long long)(bytes >> 10);
        (void)nanosleep(&(struct timespec){.tv_sec = all / 1000000000, .tv_nsec = all % 1000000000},
                        NULL);
    }
    return __libc_malloc(bytes);
}
