/* The time of a launch that is not waited for, and of our own work in front of it: events before
 * that, before the launch and behind it, which are asked later. Where the hardware has few queues
 * no times are taken. Owns the events of a context that
 * no launch has at present. Used with the gate locked and the context current. */
#ifndef GPUPROF_LAUNCH_CLOCKS_H
#define GPUPROF_LAUNCH_CLOCKS_H

#include "launch/launch.h"

struct gp_clock {
    CUevent before, start, end; /* before our own work in front of the launch, and behind that */
    bool begun, started, stopped, ended;
    bool charged; /* our own work is, to us */
    struct gp_clock *next;
};

/* One of the list, or a new one; NULL where there can be none. */
struct gp_clock *clock_take(struct gp_clock **list);
void clock_give_back(struct gp_clock **list, struct gp_clock *clock);

/* Before our own work, and around the launch, in its stream. From any thread; the clock is that of
 * this launch. */
void clock_begin(struct gp_clock *clock, const struct gp_launch *call);
void clock_start(struct gp_clock *clock, const struct gp_launch *call);
void clock_stop(struct gp_clock *clock, const struct gp_launch *call);

/* True where the launch has ended; false also where that is not known. */
bool clock_has_stopped(struct gp_clock *clock);
/* True where the work in front of the launch in its stream has ended; false also where that is not
 * known. */
bool clock_has_started(const struct gp_clock *clock);
/* Milliseconds between the two events; 0 where that is not known. */
float clock_read(const struct gp_clock *clock);

/* Milliseconds that our own work took, once; 0 where that is not known. */
float clock_charge(struct gp_clock *clock);

/* Frees the list; the events too, where the context is alive. */
void clocks_free(struct gp_clock **list, bool context_alive);

#endif
