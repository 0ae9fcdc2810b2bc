/* Waiting for a number in memory to change, with nothing to lock: a thread that is cancelled or
 * interrupted by a signal's handler while it waits leaves nothing behind. Leaves errno as it was.
 */
#ifndef GPUPROF_BASE_FUTEX_H
#define GPUPROF_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* Sleeps while *word is `value`, until it is woken; it may wake for no reason. False when it is
 * `until` by CLOCK_MONOTONIC; NULL: however long. */
bool gp_futex_wait(atomic_int *word, int value, const struct timespec *until);

/* Wakes one that sleeps there, or all. */
void gp_futex_wake(atomic_int *word);
void gp_futex_wake_all(atomic_int *word);

#endif
