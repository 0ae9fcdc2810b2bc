/* Work of the program that writes divided memory (memory/divided.h) and is no launch that is
 * replayed. While launches are held that reach the memory, a copy or a fill is a member of their
 * batch: the memory is saved in front of it, in its stream, and the digests follow behind it. Where
 * that cannot be, and before other work, the launches are drained. */
#include "gate/captures.h"
#include "gate/gate.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "launch/inside.h"
#include "launch/kernels.h"
#include "launch/launch.h"
#include "launch/session.h"
#include "memory/divided.h"

#include <stdlib.h>

struct write {
    CUdeviceptr to;
    uint64_t bytes;
    CUstream stream;
    bool followed;
};

/* The write at hand, from its save to the digests behind it. */
static _Thread_local struct gp_followed_write *followed; /* NULL: there is none */

static void forget(void)
{
    if (!followed)
        return;
    gp_followed_write_done();
    free(followed);
    followed = NULL;
}

/* The gate is locked. */
static bool follow_here(const struct write *w)
{
    enum gp_passed_over why;
    const struct gp_context *c = stream_context(w->stream, &why);
    struct gp_followed_write *write = malloc(sizeof(*write));
    const bool saved = write && c && c->snapshot && !c->busy && !c->dead && gp_captures() == 0 &&
                       gp_snapshot_follow_write(c->snapshot, w->to, w->bytes, w->stream, write);
    if (saved)
        followed = write;
    else
        free(write);
    return saved;
}

static bool follow(const struct write *w)
{
    if (!w->bytes || gp_captures() > 0 || !gp_session_measures() || !gp_gate_lock_in_time())
        return false;
    const bool is_followed = follow_here(w);
    gp_gate_unlock();
    return is_followed;
}

static void follow_at_work(void *write)
{
    struct write *w = write;
    w->followed = follow(w);
}

void gp_launch_before_write(CUdeviceptr to, uint64_t bytes, CUstream stream)
{
    struct write w = {.to = to, .bytes = bytes, .stream = stream};
    forget(); /* a thread that was cancelled in a write */
    if (!gp_divided_is_there(to)) {
        gp_divided_is_written(to, bytes); /* the far part of it */
        return;
    }
    gp_run_internal_work(follow_at_work, &w);
    if (!w.followed && gp_divided_is_written(to, w.bytes) && gp_captures() == 0)
        gp_launch_before_change();
}

static void follow_behind(void *data)
{
    (void)data;
    gp_followed_write_ends(followed);
    forget();
}

void gp_launch_after_write(void)
{
    succession_broken();
    if (followed)
        gp_run_internal_work(follow_behind, NULL);
}

bool launch_follows_write(CUdeviceptr to, uint64_t bytes, CUstream stream)
{
    const struct write w = {.to = to, .bytes = bytes, .stream = stream};
    forget();
    return bytes && gp_divided_is_there(to) && follow_here(&w);
}

void launch_followed_write(void)
{
    if (followed)
        follow_behind(NULL);
}

/* ---- launches -------------------------------------------------------------------------------- */

static void note_root(const void *bytes, size_t size, void *held)
{
    if (gp_divided_led_written(bytes, size))
        *(bool *)held = true;
}

/* The code may be wrong about its writes, and numbers in memory may lead beyond an allocation: the
 * digests show any write that was not expected, and then nothing is replayed. */
bool launch_writes_held(const struct gp_launch *call)
{
    bool held = false;
    if (!gp_divided_any())
        return false;
    if (call && call->function && kernel_each_root(call, note_root, &held))
        return held;
    return gp_divided_all_written();
}
