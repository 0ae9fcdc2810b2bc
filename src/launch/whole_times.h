/* The times of graphs that are launched as they are and timed as a whole (launch/timed.h): sums of
 * each graph. Owns them, a bounded amount; they last as long as the process. From any thread. */
#ifndef GPUPROF_LAUNCH_WHOLE_TIMES_H
#define GPUPROF_LAUNCH_WHOLE_TIMES_H

#include <stdint.h>

struct gp_whole_times {
    const char *kernel; /* its first one, mangled */
    unsigned kernels;
    int device;
    uint64_t launches, timed;          /* how many, and of how many the time is known */
    double seconds, shortest, longest; /* of those */
};

/* The times of the graph with that key; `device` is the one that it runs on. NULL where there are
 * too many graphs. */
struct gp_whole_times *gp_whole_times_of(uint64_t key, const char *kernel, unsigned kernels,
                                         int device);

/* One launch took so long; 0: that is not known. */
void whole_times_add(struct gp_whole_times *times, double seconds);

/* Gives each in the order of first launches. */
void whole_times_visit(void (*visit)(void *user, const struct gp_whole_times *times), void *user);

/* Writes its line of a profile, of type "graph". */
struct gp_writer;
void whole_times_write(const struct gp_whole_times *times, struct gp_writer *writer);

#endif
