#include "gate/waits.h"
#include "launch/inside.h"
#include "memory/sharing.h"

#include <math.h>

#define PEERS_TIMEOUT 0.01 /* seconds: the work of other GPUs is the program's business */
#define MOST_PEERS 64

/* True when nothing runs in the context. */
static bool is_at_rest(CUcontext handle)
{
    CUevent event;
    bool at_rest = false;
    /* Older drivers can only be waited for without a limit. */
    if (!gp_cuda.cuCtxRecordEvent || gp_cuda.cuCtxPushCurrent_v2(handle) != CUDA_SUCCESS)
        return false;
    if (gp_event_make(&event, CU_EVENT_DISABLE_TIMING)) {
        double most = fmin(PEERS_TIMEOUT, gp_wait_limit());
        at_rest = gp_wait_for_rest(handle, event, most, NULL) == CUDA_SUCCESS;
        gp_cuda.cuEventDestroy_v2(event);
    }
    gp_context_pop();
    return at_rest;
}

static struct gp_reason disturbs(const struct gp_context *c, const CUcontext *others, size_t count,
                                 size_t most)
{
    bool at_rest = count <= most;
    for (size_t i = 0; i < count && at_rest; i++)
        at_rest = others[i] == c->handle || is_at_rest(others[i]);
    return at_rest ? GP_NO_REASON
                   : GP_REASON_TEXT(BESIDE_WORK,
                                    "another GPU that can write the launch's memory is at work");
}

struct gp_reason context_disturbed(const struct gp_context *c)
{
    CUcontext peers[MOST_PEERS];
    return disturbs(c, peers, gp_peers_of(c->handle, peers, MOST_PEERS), MOST_PEERS);
}

struct gp_reason others_disturb(const struct gp_context *c)
{
    CUcontext all[GP_MOST_CONTEXTS];
    return disturbs(c, all, gp_contexts_used(all), GP_MOST_CONTEXTS);
}
