#include "base/cancel.h"
#include "cuda/wait.h"
#include "memory/inside.h"
#include "memory/retired.h"

#include <pthread.h>
#include <utlist.h>

/* How long a program that runs out of memory waits until ours can be freed. */
#define FREE_SECONDS 5.0

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_snapshot *snapshots;

void free_device_memory(CUdeviceptr *address)
{
    if (*address)
        gp_cuda.cuMemFree_v2(*address);
    *address = 0;
}

void snapshot_list(struct gp_snapshot *s)
{
    pthread_mutex_lock(&lock);
    DL_APPEND(snapshots, s);
    pthread_mutex_unlock(&lock);
}

void snapshot_unlist(struct gp_snapshot *s)
{
    pthread_mutex_lock(&lock);
    if (s->prev)
        DL_DELETE(snapshots, s);
    pthread_mutex_unlock(&lock);
}

bool gp_snapshot_set_in_use(struct gp_snapshot *s, bool in_use)
{
    pthread_mutex_lock(&lock);
    bool before = s->in_use;
    s->in_use = in_use;
    pthread_mutex_unlock(&lock);
    return before;
}

void snapshot_set_held(struct gp_snapshot *s, unsigned held)
{
    pthread_mutex_lock(&lock);
    s->held = held;
    pthread_mutex_unlock(&lock);
}

void snapshot_note_beside(struct gp_snapshot *s)
{
    uint64_t device = 0, host = 0;
    const struct gp_snapshot *o;
    pthread_mutex_lock(&lock);
    DL_FOREACH(snapshots, o)
    {
        if (o->context != s->context)
            continue;
        device += o->stand_in_size;
        if (o == s)
            continue;
        device += o->arena.device_size + o->final.arena.device_size;
        host += o->arena.host_size + o->final.arena.host_size;
    }
    pthread_mutex_unlock(&lock);
    s->arena.device_elsewhere = s->final.arena.device_elsewhere = device;
    s->arena.host_elsewhere = s->final.arena.host_elsewhere = host;
    s->arena.refused = s->final.arena.refused = false;
}

void snapshot_use_stand_in(struct gp_snapshot *s, bool used)
{
    pthread_mutex_lock(&lock);
    s->stand_in_used = used;
    pthread_mutex_unlock(&lock);
}

bool gp_snapshot_give_up_copies(struct gp_snapshot *s)
{
    pthread_mutex_lock(&lock);
    bool unused = !s->in_use && !s->held && (s->arena.device_size || final_held(&s->final));
    if (unused) {
        arena_free(&s->arena);
        final_release(&s->final);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Locked. */
static bool has_free_stand_in(const struct gp_snapshot *s)
{
    return s->stand_in && !s->stand_in_used;
}

/* Locked; the context is current. */
static bool comes_to_rest(struct gp_snapshot *s)
{
    if (s->busy && gp_cuda.cuEventQuery(s->idle) == CUDA_ERROR_NOT_READY)
        return false;
    s->busy = gp_wait_for_context(s->context, s->idle, FREE_SECONDS) == CUDA_ERROR_NOT_READY;
    return !s->busy;
}

bool gp_snapshot_await_held(void)
{
    bool rests = false;
    struct gp_snapshot *s;
    gp_cancel_hold(); /* see below */
    pthread_mutex_lock(&lock);
    DL_FOREACH(snapshots, s)
    {
        if (!s->held || gp_cuda.cuCtxPushCurrent_v2(s->context) != CUDA_SUCCESS)
            continue;
        rests = comes_to_rest(s) || rests;
        gp_context_pop();
    }
    pthread_mutex_unlock(&lock);
    gp_cancel_release();
    return rests;
}

/* Locked. Launches that are held may reach memory that is retired. */
static bool holds_copies(CUcontext context)
{
    const struct gp_snapshot *s = snapshots;
    while (s && (s->context != context || !s->held))
        s = s->next;
    return s != NULL;
}

bool gp_snapshot_release_memory(bool captures)
{
    bool released = false;
    struct gp_snapshot *s;
    gp_cancel_hold(); /* a thread that is cancelled while it waits would keep the lock */
    pthread_mutex_lock(&lock);
    DL_FOREACH(snapshots, s)
    {
        if (s->in_use || s->held ||
            (!s->arena.device_size && !final_held(&s->final) && !s->scratch &&
             !has_free_stand_in(s) && !retired_bytes(s->device) && !divided_free_bytes(s)))
            continue;
        if (gp_cuda.cuCtxPushCurrent_v2(s->context) != CUDA_SUCCESS)
            continue;
        if (captures || comes_to_rest(s)) {
            arena_free(&s->arena);
            final_release(&s->final);
            free_device_memory(&s->scratch);
            if (has_free_stand_in(s))
                snapshot_free_stand_in(s);
            if (!captures)
                divided_free_digests(s);
            if (!captures && !holds_copies(s->context))
                gp_retired_free(s->context);
            released = true;
        }
        gp_context_pop();
    }
    pthread_mutex_unlock(&lock);
    gp_cancel_release();
    return released;
}

size_t gp_snapshot_held_memory(void)
{
    CUdevice current;
    if (gp_cuda.cuCtxGetDevice(&current) != CUDA_SUCCESS)
        return 0;
    size_t held = retired_bytes(current);
    struct gp_snapshot *s;
    pthread_mutex_lock(&lock);
    DL_FOREACH(snapshots, s)
    {
        if (s->device == current && !s->in_use)
            held += s->arena.device_size + final_held(&s->final) + divided_free_bytes(s) +
                    (s->scratch ? s->scratch_size : 0) +
                    (has_free_stand_in(s) ? s->stand_in_size : 0);
    }
    pthread_mutex_unlock(&lock);
    return held;
}
