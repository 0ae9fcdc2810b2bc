/* The state of a launch, from the locked gate to its record (counters/states.def). */
#ifndef GPUPROF_COUNTERS_STATES_H
#define GPUPROF_COUNTERS_STATES_H

#include <stdbool.h>

enum gp_launch_state {
#define STATE(name, words, sentence) GP_LAUNCH_##name,
#include "counters/states.def"
    GP_LAUNCH_STATES,
    GP_LAUNCH_ANY = GP_LAUNCH_STATES
};

enum gp_launch_event {
    GP_LAUNCH_DEFER,
    GP_LAUNCH_END,
    GP_LAUNCH_FAIL,
    GP_LAUNCH_ASSUME,
    GP_LAUNCH_IDENTIFY,
    GP_LAUNCH_SKIP,
    GP_LAUNCH_LEAVE_OUT,
    GP_LAUNCH_FIND,
    GP_LAUNCH_RECALL,
    GP_LAUNCH_FIND_NONE,
    GP_LAUNCH_COUNT,
    GP_LAUNCH_CONFIRM,
    GP_LAUNCH_CONFIRM_MEMBER,
    GP_LAUNCH_DENY,
    GP_LAUNCH_LOSE,
    GP_LAUNCH_MEASURE,
    GP_LAUNCH_LEARN,
    GP_LAUNCH_ABANDON,
    GP_LAUNCH_EVENTS
};

/* Moves a launch; the only way in which its state changes. A move that is not in the table is said
 * once, as a fault of ours, and leaves the launch where it is. */
void gp_launch_move(enum gp_launch_state *state, enum gp_launch_event event);

#endif
