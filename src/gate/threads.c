#include "gate/threads.h"

#include "base/cancel.h"
#include "gate/inside.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

__thread struct gp_thread *gp_thread_own;

static struct gp_thread *_Atomic threads;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static bool has_key;
static pthread_key_t key;

static void end(void *its_own)
{
    struct gp_thread *t = its_own;
    gp_thread_own = NULL;
    gate_abandon(t);
    atomic_store(&t->taken, false);
}

static void prepare(void)
{
    has_key = pthread_key_create(&key, end) == 0;
}

static struct gp_thread *reuse(void)
{
    struct gp_thread *t = gp_threads();
    while (t && (atomic_load(&t->taken) || atomic_exchange(&t->taken, true)))
        t = t->next;
    return t;
}

static struct gp_thread *make(void)
{
    struct gp_thread *t = aligned_alloc(_Alignof(struct gp_thread), sizeof(*t));
    if (!t)
        return NULL;
    atomic_init(&t->inside, 0);
    atomic_init(&t->calls, 0);
    atomic_init(&t->admitted, false);
    atomic_init(&t->launches, 0);
    atomic_init(&t->calls_of_launches, 0);
    atomic_init(&t->taken, true);
    t->skipping = NULL;
    t->next = gp_threads();
    while (!atomic_compare_exchange_weak(&threads, &t->next, t))
        ;
    return t;
}

/* NULL where it could not be given back when the thread ends. */
static struct gp_thread *take(void)
{
    pthread_once(&prepared, prepare);
    if (!has_key)
        return NULL;
    struct gp_thread *t = reuse();
    if (!t)
        t = make();
    if (!t || pthread_setspecific(key, t) == 0)
        return t;
    atomic_store(&t->taken, false);
    return NULL;
}

struct gp_thread *thread_enter(void)
{
    int saved_errno = errno;
    gp_cancel_hold();
    gp_thread_own = take();
    gp_cancel_release();
    errno = saved_errno;
    return gp_thread_own;
}

struct gp_thread *gp_threads(void)
{
    return atomic_load(&threads);
}
