/* The end of measuring, when the program exits. */
#include "launch/inside.h"

#include "gate/gate.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "launch/contexts.h"
#include "launch/session.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* CUPTI's own exit handlers, which came with it, must not find us measuring, and the counts are
 * read before they run. Launches that the program makes while it exits go through as they are. */
static void end_collecting(void *unused)
{
    (void)unused;
    timed_end();
    gp_gate_queue();
    bool collected = gp_contexts_collect(), locked = collected && gp_gate_lock_queued_in_time();
    contexts_end(locked || !collected);
    gp_gate_unlock_queued(locked);
}

static void end(void)
{
    static atomic_bool ended;
    if (!session_is_here())
        return; /* a child: the GPU, the gate and the counts are its parent's */
    session_stop();
    /* A signal's handler called exit in the middle of a measurement: this thread has the gate. */
    if (!gp_in_internal_work() && !atomic_exchange(&ended, true))
        gp_run_internal_work(end_collecting, NULL);
}

void gp_end_at_exit(void)
{
    static atomic_int registered;
    if (atomic_load(&registered) < 2 && atomic_fetch_add(&registered, 1) < 2) {
        atexit(end);
        at_quick_exit(end);
    }
}
