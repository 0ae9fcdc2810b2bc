#include "counters/states.h"

#include "base/log.h"
#include "counters/inside.h"

#include <stddef.h>

static const char *const states[] = {
#define STATE(name, words, sentence) [GP_LAUNCH_##name] = words,
#include "counters/states.def"
};

static const struct {
    enum gp_launch_state from;
    enum gp_launch_event event;
    enum gp_launch_state to;
} moves[] = {
#define MOVE(from, event, to, sentence) {GP_LAUNCH_##from, GP_LAUNCH_##event, GP_LAUNCH_##to},
#include "counters/states.def"
};

bool launch_state_after(enum gp_launch_state state, enum gp_launch_event event,
                        enum gp_launch_state *after)
{
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        if ((moves[i].from == state || moves[i].from == GP_LAUNCH_ANY) && moves[i].event == event) {
            *after = moves[i].to;
            return true;
        }
    }
    return false;
}

void gp_launch_move(enum gp_launch_state *state, enum gp_launch_event event)
{
    static struct gp_say_limit said;
    if (!launch_state_after(*state, event, state))
        gp_say_limited(&said, 1,
                       "a fault of gpuprof: a launch that is %s has no move %d; please report it",
                       states[*state], (int)event);
}
