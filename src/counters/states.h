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

/* The state after the event; false where the table has no such move. */
bool launch_state_after(enum gp_launch_state state, enum gp_launch_event event,
                        enum gp_launch_state *after);

/* "to identify"; "Its fingerprint is to be taken." */
const char *launch_state_words(enum gp_launch_state state);
const char *launch_state_sentence(enum gp_launch_state state);

/* True where the hardware's counters are still to say whether the launch is like others. */
static inline bool launch_awaits_hardware(enum gp_launch_state state)
{
    return state == GP_LAUNCH_ASSUMED || state == GP_LAUNCH_ALIKE;
}

/* True where an instrumented pass is to be made of the launch. */
static inline bool launch_is_to_be_measured(enum gp_launch_state state)
{
    return state == GP_LAUNCH_NEW || state == GP_LAUNCH_UNIDENTIFIED;
}

/* True where the instrumented counters are the launch's own. */
static inline bool launch_is_measured(enum gp_launch_state state)
{
    return state == GP_LAUNCH_MEASURED || state == GP_LAUNCH_LEARNABLE;
}

/* True where nothing is decided of the launch's instrumented counters yet. */
static inline bool launch_is_undecided(enum gp_launch_state state)
{
    return state < GP_LAUNCH_HARDWARE_ONLY;
}

#endif
