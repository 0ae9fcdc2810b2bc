#include "gate/captures.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <utlist.h>

/* Nanoseconds that a capture waits for threads that hold it off. Each makes a few calls that do not
 * wait; one that does not come back is not waited for. No number is floating: the program's
 * exceptions of such numbers stay as they were. */
#define MOST_HELD_OFF 1000000000u

struct gp_capture {
    CUstream stream;
    CUcontext context;
    pthread_t thread; /* that began it */
    bool going;       /* its context is, so nobody is disturbed */
    struct gp_capture *prev, *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_capture *captures;
static unsigned unlisted;       /* begun while there was no memory for an entry */
static atomic_uint count;       /* of both */
static atomic_uint undisturbed; /* those not to be disturbed: asked at every launch */
static atomic_uint holding_off; /* threads that make calls which would end a capture */

static struct gp_capture describe(CUstream stream, bool per_thread)
{
    struct gp_capture c = {
        .stream = stream || !per_thread ? stream : CU_STREAM_PER_THREAD,
        .thread = pthread_self(),
    };
    gp_cuda.cuCtxGetCurrent(&c.context);
    return c;
}

/* A default stream is that of the current context, another one may be of any. */
static void ask_context(struct gp_capture *c)
{
    CUcontext own = NULL;
    if (!gp_stream_is_default(c->stream) && gp_cuda.cuStreamGetCtx &&
        gp_cuda.cuStreamGetCtx(c->stream, &own) == CUDA_SUCCESS)
        c->context = own;
}

static bool is_same(const struct gp_capture *a, const struct gp_capture *b)
{
    if (a->stream != b->stream)
        return false;
    return a->stream != CU_STREAM_PER_THREAD ||
           (a->context == b->context && pthread_equal(a->thread, b->thread));
}

/* The capture is counted already: no thread holds it off that does not do so now. */
static void wait_for_threads(void)
{
    const struct timespec nap = {.tv_nsec = 20000};
    const uint64_t began = gp_clock_ns();
    while (atomic_load(&holding_off) > 0 && gp_clock_ns() - began < MOST_HELD_OFF)
        nanosleep(&nap, NULL);
}

bool gp_captures_hold_off(void)
{
    atomic_fetch_add(&holding_off, 1);
    if (gp_captures() == 0)
        return true;
    gp_captures_let_begin();
    return false;
}

void gp_captures_let_begin(void)
{
    atomic_fetch_sub(&holding_off, 1);
}

void gp_capture_begins(CUstream stream, bool per_thread)
{
    struct gp_capture *c = malloc(sizeof(*c));
    if (c) {
        *c = describe(stream, per_thread);
        ask_context(c);
    }
    pthread_mutex_lock(&lock);
    if (c)
        DL_APPEND(captures, c);
    else
        unlisted++;
    atomic_fetch_add(&count, 1);
    atomic_fetch_add(&undisturbed, 1);
    pthread_mutex_unlock(&lock);
    wait_for_threads();
}

/* Locked. */
static void drop(struct gp_capture *c)
{
    DL_DELETE(captures, c);
    atomic_fetch_sub(&count, 1);
    if (!c->going)
        atomic_fetch_sub(&undisturbed, 1);
    free(c);
}

void gp_capture_ends(CUstream stream, bool per_thread)
{
    struct gp_capture ended = describe(stream, per_thread), *c;
    pthread_mutex_lock(&lock);
    DL_FOREACH(captures, c)
    {
        if (is_same(c, &ended))
            break;
    }
    if (c) {
        drop(c);
    } else if (unlisted > 0) {
        unlisted--;
        atomic_fetch_sub(&count, 1);
        atomic_fetch_sub(&undisturbed, 1);
    }
    pthread_mutex_unlock(&lock);
}

const struct gp_capture *gp_capture_of(CUstream stream)
{
    struct gp_capture *c = NULL;
    if (gp_stream_is_default(stream) || atomic_load(&count) == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    DL_SEARCH_SCALAR(captures, c, stream, stream);
    pthread_mutex_unlock(&lock);
    return c;
}

void gp_capture_drop(const struct gp_capture *capture)
{
    struct gp_capture *c, *next;
    if (!capture)
        return;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(captures, c, next)
    {
        if (c == capture)
            drop(c);
    }
    pthread_mutex_unlock(&lock);
}

void gp_captures_forget_context(CUcontext context)
{
    struct gp_capture *c, *next;
    if (!context || atomic_load(&count) == 0)
        return;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(captures, c, next)
    {
        if (c->context == context)
            drop(c);
    }
    pthread_mutex_unlock(&lock);
}

void gp_captures_are_going(CUcontext context, bool going)
{
    struct gp_capture *c;
    pthread_mutex_lock(&lock);
    DL_FOREACH(captures, c)
    {
        if (c->context != context || c->going == going)
            continue;
        c->going = going;
        if (going)
            atomic_fetch_sub(&undisturbed, 1);
        else
            atomic_fetch_add(&undisturbed, 1);
    }
    pthread_mutex_unlock(&lock);
}

unsigned gp_captures(void)
{
    return atomic_load(&undisturbed);
}

bool gp_captures_are_in(CUcontext context)
{
    const struct gp_capture *c;
    pthread_mutex_lock(&lock);
    bool any = unlisted > 0;
    DL_FOREACH(captures, c)
    {
        any = any || !c->context || c->context == context;
    }
    pthread_mutex_unlock(&lock);
    return any;
}

bool gp_capture_is_own(void)
{
    const struct gp_capture *c;
    bool own = false;
    pthread_mutex_lock(&lock);
    DL_FOREACH(captures, c)
    {
        own = own || pthread_equal(c->thread, pthread_self());
    }
    pthread_mutex_unlock(&lock);
    return own;
}
