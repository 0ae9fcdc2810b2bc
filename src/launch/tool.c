#include "launch/tool.h"

#include "base/log.h"
#include "counters/collector.h"
#include "cuda/cupti.h"
#include "gate/gate.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "launch/contexts.h"
#include "launch/inside.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define MOST_BITS 4096 /* of a set */

/* The work that it has CUPTI do. Calls of a domain are numbered from 1 on; 0 is all of them. */
static struct {
    pthread_mutex_t lock;
    uint64_t records[MOST_BITS / 64], listens[MOST_BITS / 64], counts[MOST_BITS / 64];
} tool = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool at_work;
static atomic_bool has_come;        /* it has asked our copy of CUPTI for anything */
static _Atomic(const void *) early; /* the function that it called last before we had a copy */

bool tool_has_come(void)
{
    const void *called = atomic_load(&early);
    return atomic_load(&has_come) || (called && gp_cupti_has(called));
}

bool tool_at_work(void)
{
    return atomic_load_explicit(&at_work, memory_order_relaxed);
}

static uint64_t *set_of(enum gp_tool_change change)
{
    return change == GP_TOOL_RECORDS   ? tool.records
           : change == GP_TOOL_LISTENS ? tool.listens
           : change == GP_TOOL_COUNTS  ? tool.counts
                                       : NULL;
}

static unsigned bit_of(const struct gp_tool_call *call)
{
    if (call->change != GP_TOOL_LISTENS)
        return call->which % MOST_BITS;
    const unsigned domain = call->which >> 16, number = call->which & 0xffff;
    return ((domain << 10) + (number == GP_TOOL_EVERY_CALL ? 0 : 1 + number % 1023)) % MOST_BITS;
}

/* Locked. Whether it was there before. */
static bool put(const struct gp_tool_call *call, bool on)
{
    uint64_t *set = set_of(call->change), *word = set + bit_of(call) / 64;
    const uint64_t bit = (uint64_t)1 << bit_of(call) % 64;
    const bool was = *word & bit;
    *word = on ? *word | bit : *word & ~bit;
    /* To end all calls of a domain ends those that were begun one by one. */
    if (!on && call->change == GP_TOOL_LISTENS && (call->which & 0xffff) == GP_TOOL_EVERY_CALL)
        memset(&set[(call->which >> 16 << 10) % MOST_BITS / 64], 0, 1024 / 8);
    return was;
}

static bool has_any(const uint64_t *set)
{
    uint64_t any = 0;
    for (size_t i = 0; i < MOST_BITS / 64; i++)
        any |= set[i];
    return any != 0;
}

/* Locked. */
static bool does_anything(void)
{
    return has_any(tool.records) || has_any(tool.listens) || has_any(tool.counts);
}

/* ---- way for it ------------------------------------------------------------------------------ */

/* The passes to come of held launches are made, and our sessions are ended. Where the gate cannot
 * be shut they stay, unused. With `leaves` our CUPTI is given up as well. */
static void give_way(void *leaves)
{
    const struct gp_reason why = *(const struct gp_reason *)leaves;
    gp_gate_queue();
    const bool closed = (why.cause || gp_contexts_collect()) && gp_gate_lock_queued_in_time();
    const bool rest = closed && gp_contexts_close_collections(NULL, NULL);
    if (rest && why.cause) {
        gp_collectors_end();
        gp_cupti_lose(why);
    }
    gp_gate_unlock_queued(closed);
}

/* In a callback of CUPTI's, in the midst of a call of the program's that enters the gate, nobody
 * can wait for it. */
static void make_way(struct gp_reason leaves)
{
    if (session_began() && session_is_here() && !gp_gate_is_entered_here())
        gp_run_internal_work(give_way, &leaves);
}

static void begin(void)
{
    static struct gp_say_limit once;
    if (atomic_exchange(&at_work, true))
        return;
    gp_say_limited(
        &once, 1,
        "the program has a tool of its own that uses CUPTI: while that is at work launches "
        "are only timed");
    make_way(GP_NO_REASON);
}

/* The driver has been given to ours by now, and nothing but the end of the process gives it back:
 * the tool is refused, and the next run can do better. */
static void say_other_copy(const struct gp_tool_call *call)
{
    static struct gp_say_limit once;
    Dl_info info;
    if (dladdr(call->real, &info) && info.dli_fname)
        gp_say_limited(
            &once, 1,
            "the program's own tool uses another copy of CUPTI, and the driver serves one "
            "in a process: GPUPROF_CUPTI=%s lets both use that",
            info.dli_fname);
}

void gp_tool_calls(struct gp_tool_call *call)
{
    call->watched = !gp_in_internal_work();
    if (!call->watched)
        return;
    const bool ours = gp_cupti_has(call->real);
    if (ours)
        atomic_store(&has_come, true);
    else
        atomic_store(&early, call->real);
    if (call->on && !ours && gp_collectors_have_driver())
        say_other_copy(call);
    if (call->change == GP_TOOL_LEAVES && ours)
        make_way(GP_REASON_TEXT(NO_CUPTI, "the program has ended CUPTI (cuptiFinalize)"));
    if (!set_of(call->change) || !call->on)
        return;
    pthread_mutex_lock(&tool.lock);
    call->was = put(call, true);
    pthread_mutex_unlock(&tool.lock);
    begin();
}

void gp_tool_called(const struct gp_tool_call *call, bool done)
{
    if (!call->watched)
        return;
    pthread_mutex_lock(&tool.lock);
    if (done && (call->change == GP_TOOL_LEAVES || call->change == GP_TOOL_GOES))
        memset(tool.listens, 0, sizeof(tool.listens));
    if (done && call->change == GP_TOOL_LEAVES) {
        memset(tool.records, 0, sizeof(tool.records));
        memset(tool.counts, 0, sizeof(tool.counts));
    }
    if (set_of(call->change) && (call->on ? !done && !call->was : done))
        put(call, false);
    atomic_store(&at_work, does_anything());
    pthread_mutex_unlock(&tool.lock);
}
