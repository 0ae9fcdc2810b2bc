#include "gate/internal_work.h"

#include "base/added_time.h"
#include "base/cancel.h"
#include "base/checker.h"
#include "base/floating.h"
#include "base/stack.h"

#include <errno.h>

/* How many times it has begun. */
__thread int gp_internal_work __attribute__((tls_model("initial-exec")));
static __thread int programs_errno __attribute__((tls_model("initial-exec")));

/* Our work in a thread writes, sleeps and holds locks: one that is to be cancelled ends at the
 * program's next cancellation point, not at one of ours. */
void gp_internal_work_begins(void)
{
    gp_cancel_hold();
    if (gp_internal_work++ == 0) {
        programs_errno = errno;
        gp_checker_rests();
    }
    gp_added_begins();
}

void gp_internal_work_ends(void)
{
    gp_added_ends();
    if (--gp_internal_work == 0) {
        gp_checker_goes_on();
        errno = programs_errno;
    }
    gp_cancel_release();
}

void gp_run_internal_work(void (*work)(void *argument), void *argument)
{
    gp_floating program;
    gp_internal_work_begins();
    gp_floating_hold(&program);
    if (!gp_stack_run(GP_STACK_ENOUGH, work, argument))
        work(argument);
    gp_floating_restore(&program);
    gp_internal_work_ends();
}
