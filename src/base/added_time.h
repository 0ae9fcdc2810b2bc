/* How much longer the program takes because of us. Owns the account.
 *
 * It is wall time: the time in which we hold up at least one thread of the program. A program with
 * other threads at work in that time is held up by less. Safe in signal handlers; takes no lock. */
#ifndef GPUPROF_BASE_ADDED_TIME_H
#define GPUPROF_BASE_ADDED_TIME_H

#include <stdint.h>

/* Between these we hold up the calling thread. */
void gp_added_begins(void);
void gp_added_ends(void);

/* Within these: the program would do the work between them without us too. May not lie in one
 * another. */
void gp_added_pauses(void);
void gp_added_resumes(void);

/* So many seconds of the time counted are the program's own: it would have waited as long. */
void gp_added_less(double seconds);

/* So many seconds of the time counted are start-up, once for each process: it is said by itself. */
void gp_added_start_up(double seconds);

/* So many seconds that are not counted by the above: the GPU does work of ours while nobody is held
 * up, and the program may wait for it later; or calls were too short and too many to be timed. */
void gp_added_beside(double seconds);
void gp_added_beside_ns(uint64_t ns);

/* The calling thread ends, wherever it was. */
void gp_added_abandon(void);

/* Seconds so far, up to this moment. */
double gp_added_seconds(void);

/* The parts of it, for bounds. */
struct gp_added_parts {
    double start_up; /* of gp_added_seconds */
    double awaited;  /* left out of it: gp_added_less */
    double beside;   /* not in it: gp_added_beside */
};
struct gp_added_parts gp_added_parts(void);

#endif
