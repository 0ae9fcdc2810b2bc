#include "launch/copies.h"

#include "base/floating.h"
#include "gate/captures.h"
#include "launch/inside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CONTEXTS 64
#define MOST_PAIRS 256 /* copies of a context that may be under way */
#define READ_AT_ONCE 8

enum state { FREE, IN_USE, WAITING };

struct pair {
    CUevent begin, end;
    enum state state;
    enum gp_copy_kind kind;
    size_t bytes;
};

struct gp_copy_pool {
    CUcontext context; /* NULL: nobody's */
    struct pair pairs[MOST_PAIRS];
    unsigned next; /* where the search for a free one begins */
};

static struct {
    bool wanted;
    pthread_mutex_t lock; /* of all below */
    struct gp_copy_pool *pools[MOST_CONTEXTS];
    struct gp_copies totals[GP_COPY_KINDS];
} copies = {.lock = PTHREAD_MUTEX_INITIALIZER};

void copies_start(void)
{
    copies.wanted = setting_word("GPUPROF_COPIES", (const char *const[]){"off", "on", NULL},
                                 "on or off (the default)") == 1;
}

bool gp_copies_wanted(void)
{
    return copies.wanted;
}

/* ---- reading, locked ------------------------------------------------------------------------- */

static void add_time(struct pair *p)
{
    float ms = 0;
    struct gp_copies *total = &copies.totals[p->kind];
    if (gp_cuda.cuEventElapsedTime(&ms, p->begin, p->end) != CUDA_SUCCESS || !(ms >= 0))
        return;
    double seconds = (double)ms / 1e3;
    if (total->timed == 0 || seconds < total->shortest)
        total->shortest = seconds;
    if (total->timed == 0 || seconds > total->longest)
        total->longest = seconds;
    total->timed++;
    total->timed_bytes += p->bytes;
    total->seconds += seconds;
}

/* Takes the time of copies that are over, `most` at the most; of none while anything is captured:
 * to ask an event would end that. */
static void read_pool(struct gp_copy_pool *pool, unsigned most)
{
    if (!gp_captures_hold_off())
        return;
    for (unsigned i = 0; i < MOST_PAIRS && most > 0; i++) {
        struct pair *p = &pool->pairs[(pool->next + i) % MOST_PAIRS];
        if (p->state != WAITING)
            continue;
        most--;
        CUresult result = gp_cuda.cuEventQuery(p->end);
        if (result == CUDA_ERROR_NOT_READY)
            continue;
        if (result == CUDA_SUCCESS)
            add_time(p);
        p->state = FREE;
    }
    gp_captures_let_begin();
}

/* The pool of a context, a new one where there is room; NULL where there is none. */
static struct gp_copy_pool *pool_of(CUcontext context)
{
    struct gp_copy_pool **free_slot = NULL;
    for (size_t i = 0; i < MOST_CONTEXTS; i++) {
        if (copies.pools[i] && copies.pools[i]->context == context)
            return copies.pools[i];
        if (!free_slot && !copies.pools[i])
            free_slot = &copies.pools[i];
    }
    if (!free_slot || !(*free_slot = calloc(1, sizeof(**free_slot))))
        return NULL;
    (*free_slot)->context = context;
    return *free_slot;
}

static bool has_events(struct pair *p)
{
    return (p->begin || gp_event_make(&p->begin, CU_EVENT_DEFAULT)) &&
           (p->end || gp_event_make(&p->end, CU_EVENT_DEFAULT));
}

/* A pair of events that nothing waits for; -1 where there is none. */
static int take_pair(struct gp_copy_pool *pool)
{
    read_pool(pool, READ_AT_ONCE);
    for (unsigned i = 0; i < MOST_PAIRS; i++) {
        unsigned at = (pool->next + i) % MOST_PAIRS;
        struct pair *p = &pool->pairs[at];
        if (p->state != FREE)
            continue;
        if (!has_events(p))
            return -1;
        p->state = IN_USE;
        pool->next = (at + 1) % MOST_PAIRS;
        return (int)at;
    }
    return -1;
}

/* ---- around a copy --------------------------------------------------------------------------- */

static void find_events(struct gp_copy *copy)
{
    CUcontext context = NULL;
    if (gp_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
        return;
    gp_floating program;
    pthread_mutex_lock(&copies.lock);
    gp_floating_hold(&program); /* times are read */
    struct gp_copy_pool *pool = pool_of(context);
    int pair = pool ? take_pair(pool) : -1;
    gp_floating_restore(&program);
    pthread_mutex_unlock(&copies.lock);
    if (pair < 0)
        return;
    copy->pool = pool;
    copy->pair = (unsigned)pair;
}

bool gp_copy_begins(struct gp_copy *copy, enum gp_copy_kind kind, size_t bytes, CUstream stream)
{
    *copy = (struct gp_copy){.kind = kind, .bytes = bytes, .stream = stream};
    if (!window_is_open() || gp_stream_is_capturing(stream, false, true))
        return false;
    find_events(copy);
    /* Where the stream is of another context the driver says so, and the copy is counted only. */
    if (copy->pool && gp_cuda.cuEventRecord(copy->pool->pairs[copy->pair].begin, stream)) {
        pthread_mutex_lock(&copies.lock);
        copy->pool->pairs[copy->pair].state = FREE;
        pthread_mutex_unlock(&copies.lock);
        copy->pool = NULL;
    }
    return true;
}

void gp_copy_ends(const struct gp_copy *copy, CUresult result)
{
    struct pair *p = copy->pool ? &copy->pool->pairs[copy->pair] : NULL;
    bool done = result == CUDA_SUCCESS;
    bool timed = p && done && gp_cuda.cuEventRecord(p->end, copy->stream) == CUDA_SUCCESS;
    pthread_mutex_lock(&copies.lock);
    if (done) {
        copies.totals[copy->kind].calls++;
        copies.totals[copy->kind].bytes += copy->bytes;
    }
    if (p) {
        p->kind = copy->kind;
        p->bytes = copy->bytes;
        p->state = timed ? WAITING : FREE;
    }
    pthread_mutex_unlock(&copies.lock);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Its events go with the context. A pool is never freed: a copy may be under way. */
void gp_copies_leave(CUcontext context)
{
    pthread_mutex_lock(&copies.lock);
    for (size_t i = 0; i < MOST_CONTEXTS; i++) {
        struct gp_copy_pool *pool = copies.pools[i];
        if (!pool || pool->context != context)
            continue;
        read_pool(pool, MOST_PAIRS);
        memset(pool, 0, sizeof(*pool));
    }
    pthread_mutex_unlock(&copies.lock);
}

bool copies_read(struct gp_copies *totals)
{
    if (!copies.wanted)
        return false;
    pthread_mutex_lock(&copies.lock);
    for (size_t i = 0; i < MOST_CONTEXTS; i++)
        if (copies.pools[i] && copies.pools[i]->context)
            read_pool(copies.pools[i], MOST_PAIRS);
    memcpy(totals, copies.totals, sizeof(copies.totals));
    pthread_mutex_unlock(&copies.lock);
    return true;
}

/* ---- the copies ------------------------------------------------------------------------------ */

static enum gp_copy_kind kind_of(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
        return GP_COPY_BY_ADDRESS;
    bool from_host = from == CU_MEMORYTYPE_HOST, to_host = to == CU_MEMORYTYPE_HOST;
    if (from_host)
        return to_host ? GP_HOST_TO_HOST : GP_HOST_TO_DEVICE;
    return to_host ? GP_DEVICE_TO_HOST : GP_DEVICE_TO_DEVICE;
}

enum gp_copy_kind gp_copy_kind_2d(const CUDA_MEMCPY2D_v2 *copy)
{
    return copy ? kind_of(copy->srcMemoryType, copy->dstMemoryType) : GP_COPY_BY_ADDRESS;
}

enum gp_copy_kind gp_copy_kind_3d(const CUDA_MEMCPY3D_v2 *copy)
{
    return copy ? kind_of(copy->srcMemoryType, copy->dstMemoryType) : GP_COPY_BY_ADDRESS;
}

size_t gp_copy_bytes_2d(const CUDA_MEMCPY2D_v2 *copy)
{
    return copy ? copy->WidthInBytes * copy->Height : 0;
}

size_t gp_copy_bytes_3d(const CUDA_MEMCPY3D_v2 *copy)
{
    return copy ? copy->WidthInBytes * copy->Height * copy->Depth : 0;
}
