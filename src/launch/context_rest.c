
#include "gate/captures.h"
#include "gate/waits.h"
#include "launch/inside.h"

#include <math.h>

/* How long a context is waited for where the last wait for it was in vain: less each time. A wait
 * in which it came to rest and which was not too short to tell makes good for it. */
#define FIRST_WARY_SECONDS 0.01
#define LAST_WARY_SECONDS 0.0005
#define TELLING_SECONDS 0.0005
/* Also where no time is left for waits: an idle GPU takes that long to answer, at most. */
#define LEAST_REST_SECONDS 0.001

bool context_is_held_up(const struct gp_context *c)
{
    if (gp_unending_runs(c->handle))
        return true;
    return c->busy && gp_cuda.cuEventQuery(c->event) == CUDA_ERROR_NOT_READY;
}

void backoff_note(double *backoff, CUresult result, double waited)
{
    if (result == CUDA_ERROR_NOT_READY)
        *backoff = *backoff > 0 ? fmax(*backoff / 2, LAST_WARY_SECONDS) : FIRST_WARY_SECONDS;
    else if (waited > TELLING_SECONDS)
        *backoff = 0;
}

CUresult context_wait(struct gp_context *c, double most, double *waited)
{
    most = backoff_limit(fmax(most, LEAST_REST_SECONDS), c->backoff);
    CUresult result = gp_wait_for_rest(c->handle, c->event, most, waited);
    backoff_note(&c->backoff, result, *waited);
    return result;
}

void context_wait_for_tail(struct gp_context *c)
{
    if (c->tail)
        gp_wait_within_limit(c->event, backoff_limit(gp_wait_limit(), c->backoff), NULL);
    c->tail = false;
}

double backoff_limit(double most, double backoff)
{
    return backoff > 0 ? fmin(most, backoff) : most;
}

CUresult context_rests(struct gp_context *c, bool goes_on)
{
    double waited, most = fmax(gp_wait_limit(), LEAST_REST_SECONDS);
    if (context_is_held_up(c))
        return CUDA_ERROR_NOT_READY;
    double deferred = deferred_wait(c);
    CUresult result = goes_on && c->wait_failed
                          ? context_wait(c, most, &waited)
                          : gp_wait_for_rest(c->handle, c->event, most, &waited);
    /* The program would have waited for its launches, too. */
    if (result == CUDA_SUCCESS && held_first(c))
        leave_wait_to_program(c, deferred + waited);
    return result;
}

CUresult context_comes_to_rest(struct gp_context *c, bool goes_on, bool at_end)
{
    if (!gp_captures_are_in(c->handle))
        return context_rests(c, goes_on);
    return at_end || context_is_held_up(c) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
