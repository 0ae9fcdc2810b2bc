#include "counters/batch.h"

#include "counters/inside.h"

#include <string.h>

/* Milliseconds to start the hardware's counters, to stop and to read them; and for one range. */
#define SESSION_MS 45.0
#define RANGE_MS 1.1

unsigned batch_enter(struct gp_batch *b, struct gp_member *m)
{
    m->number = b->count;
    b->members[b->count] = m;
    return b->count++;
}

static bool is_there(const struct gp_batch *b, unsigned i)
{
    const struct gp_member *m = b->members[i];
    return m->run.when == GP_RUN_LATER && m->round == b->round;
}

/* ---- the steps of a launch ------------------------------------------------------------------- */

/* A pass that could not be made is the last one of the hardware. */
static bool has_hardware_pass(const struct gp_member *m, const struct gp_batch_facts *f)
{
    return f->session && m->asked < f->hardware_passes && m->passes == m->asked;
}

static bool wants_count(const struct gp_member *m, const struct gp_batch_facts *f)
{
    return (launch_is_undecided(m->state) || m->state == GP_LAUNCH_HARDWARE_ONLY) &&
           m->share <= GP_ALONE && has_hardware_pass(m, f);
}

static bool wants_measure(const struct gp_member *m, const struct gp_batch_facts *f)
{
    (void)f;
    return launch_is_to_be_measured(m->state);
}

bool member_is_open(const struct gp_member *m, const struct gp_batch_facts *f)
{
    if (m->run.when != GP_RUN_LATER || !f->session || m->state < GP_LAUNCH_RAN)
        return false;
    return wants_count(m, f) || (f->instrumented && (launch_is_undecided(m->state) ||
                                                     m->state == GP_LAUNCH_LIKE_MEMBER));
}

/* ---- the steps of a batch -------------------------------------------------------------------- */

typedef bool wants(const struct gp_member *m, const struct gp_batch_facts *f);

static bool wants_identity(const struct gp_member *m, const struct gp_batch_facts *f)
{
    (void)f;
    return m->state == GP_LAUNCH_RAN || m->state == GP_LAUNCH_TO_IDENTIFY;
}

static bool awaits_hardware(const struct gp_member *m, const struct gp_batch_facts *f)
{
    (void)f;
    return launch_awaits_hardware(m->state);
}

static bool is_like_member(const struct gp_member *m, const struct gp_batch_facts *f)
{
    (void)f;
    return m->state == GP_LAUNCH_LIKE_MEMBER;
}

/* Launches of which it is to be seen first whether they end come first: then a row of launches
 * follows in which nothing else runs. */
static struct gp_member *first_that(wants *does, const struct gp_batch *b,
                                    const struct gp_batch_facts *f, bool *in_row)
{
    for (int sure = 0; sure < 2; sure++) {
        for (unsigned i = 0; i < b->count; i++) {
            struct gp_member *m = b->members[i];
            if (!is_there(b, i) || m->run.unsure == (sure != 0) || !does(m, f))
                continue;
            *in_row = sure != 0;
            return m;
        }
    }
    return NULL;
}

/* About how long a step takes, in milliseconds. */
static double cost_of(enum gp_step_kind kind, const struct gp_batch *b, const struct gp_member *m)
{
    switch (kind) {
    case GP_STEP_IDENTIFY:
    case GP_STEP_MEASURE:
        return m->code_ms > RANGE_MS ? m->code_ms : RANGE_MS;
    case GP_STEP_COUNT:
    case GP_STEP_BLANK:
        return RANGE_MS + m->run.native_ms;
    case GP_STEP_TOGETHER:
        return RANGE_MS + b->bundles[m->bundle - 1].members * m->run.native_ms;
    case GP_STEP_READ:
    case GP_STEP_SETTLE:
    case GP_STEP_AGAIN:
    case GP_STEP_FINISH:
        return SESSION_MS;
    default:
        return 0;
    }
}

static bool take(struct gp_step *step, enum gp_step_kind kind, const struct gp_batch *b,
                 struct gp_member *m, bool in_row)
{
    *step =
        (struct gp_step){.kind = kind, .member = m, .in_row = in_row, .ms = cost_of(kind, b, m)};
    return true;
}

static bool take_member(struct gp_step *step, enum gp_step_kind kind, wants *does,
                        const struct gp_batch *b, const struct gp_batch_facts *f)
{
    bool in_row = false;
    struct gp_member *m = first_that(does, b, f, &in_row);
    return m && take(step, kind, b, m, in_row);
}

static bool next_identity(const struct gp_batch *b, const struct gp_batch_facts *f,
                          struct gp_step *step)
{
    bool in_row = false;
    struct gp_member *m = first_that(wants_identity, b, f, &in_row);
    if (!m)
        return false;
    return take(step, m->state == GP_LAUNCH_RAN ? GP_STEP_CONSIDER : GP_STEP_IDENTIFY, b, m,
                in_row);
}

static bool is_blank_known(const struct gp_batch *b, uint64_t layout)
{
    for (unsigned i = 0; i < b->count; i++)
        if (b->members[i]->blank != GP_BLANK_OPEN && b->members[i]->run.layout == layout)
            return true;
    return false;
}

/* The step of a launch that shares a range: its blank, and behind the first one's the bundle's. */
static bool next_shared(const struct gp_batch *b, const struct gp_member *m,
                        enum gp_step_kind *kind)
{
    const struct gp_bundle *g = &b->bundles[m->bundle - 1];
    const bool first = g->first == m->number;
    *kind = GP_STEP_BLANK;
    if (g->in_parts ? first && g->blank == GP_BUNDLE_OPEN
                    : m->blank == GP_BLANK_OPEN && !is_blank_known(b, m->run.layout))
        return true;
    *kind = GP_STEP_TOGETHER;
    return first && g->progress == GP_BUNDLE_OPEN;
}

/* The lowest pass of the hardware that a launch is still to make. */
static bool next_count(const struct gp_batch *b, const struct gp_batch_facts *f,
                       struct gp_step *step)
{
    for (unsigned pass = 0; f->session && pass < f->hardware_passes; pass++) {
        for (int sure = 0; sure < 2; sure++) {
            for (unsigned i = 0; i < b->count; i++) {
                struct gp_member *m = b->members[i];
                enum gp_step_kind kind = GP_STEP_COUNT;
                if (!is_there(b, i) || m->run.unsure == (sure != 0))
                    continue;
                bool next = m->bundle ? pass == 0 && next_shared(b, m, &kind)
                                      : m->asked == pass && wants_count(m, f);
                if (!next)
                    continue;
                take(step, kind, b, m, sure != 0);
                step->pass = pass;
                step->of_bundle = kind == GP_STEP_BLANK && b->bundles[m->bundle - 1].in_parts;
                return true;
            }
        }
    }
    return false;
}

static bool has_waiting(wants *does, const struct gp_batch *b, const struct gp_batch_facts *f)
{
    for (unsigned i = 0; i < b->count; i++)
        if (is_there(b, i) && does(b->members[i], f))
            return true;
    return false;
}

static bool has_put_off(const struct gp_batch *b)
{
    for (unsigned i = 0; i < b->count; i++)
        if (b->members[i]->round > b->round)
            return true;
    return false;
}

bool batch_next(const struct gp_batch *b, const struct gp_batch_facts *f, struct gp_step *step)
{
    /* Without a session nothing can be counted, and nothing confirms that launches are alike. */
    if (!f->session)
        return has_waiting(awaits_hardware, b, f) && take(step, GP_STEP_READ, b, NULL, false);
    if (next_identity(b, f, step))
        return true;
    if (b->decided == GP_NOTHING_DECIDED && has_waiting(member_is_open, b, f))
        return take(step, GP_STEP_CHOOSE, b, NULL, false);
    if (b->decided == GP_IDENTITIES_DECIDED)
        return take(step, GP_STEP_SHARE, b, NULL, false);
    if (next_count(b, f, step) || take_member(step, GP_STEP_MEASURE, wants_measure, b, f))
        return true;
    if (has_waiting(awaits_hardware, b, f))
        return take(step, GP_STEP_READ, b, NULL, false);
    if (has_waiting(is_like_member, b, f))
        return take(step, GP_STEP_SETTLE, b, NULL, false);
    return has_put_off(b) && take(step, GP_STEP_AGAIN, b, NULL, false);
}

static bool next_count_of(struct gp_member *m, const struct gp_batch_facts *f, struct gp_step *step)
{
    if (m->state < GP_LAUNCH_RAN || m->state == GP_LAUNCH_GIVEN_UP || !has_hardware_pass(m, f))
        return false;
    take(step, GP_STEP_COUNT, NULL, m, false);
    step->pass = m->asked;
    return true;
}

static bool next_code_of(struct gp_member *m, const struct gp_batch_facts *f, struct gp_step *step)
{
    if (wants_identity(m, f))
        return take(step, m->state == GP_LAUNCH_RAN ? GP_STEP_CONSIDER : GP_STEP_IDENTIFY, NULL, m,
                    false);
    return f->session && wants_measure(m, f) && take(step, GP_STEP_MEASURE, NULL, m, false);
}

bool batch_next_of(struct gp_member *m, const struct gp_batch_facts *f, struct gp_step *step)
{
    return f->code_first ? next_code_of(m, f, step) || next_count_of(m, f, step)
                         : next_count_of(m, f, step) || next_code_of(m, f, step);
}

void batch_stepped(struct gp_batch *b, const struct gp_step *step, bool well)
{
    struct gp_member *m = step->member;
    switch (step->kind) {
    case GP_STEP_CHOOSE:
        b->decided = GP_IDENTITIES_DECIDED;
        break;
    case GP_STEP_SHARE:
        b->decided = GP_SHARES_DECIDED;
        break;
    case GP_STEP_AGAIN:
        b->round++;
        b->decided = GP_NOTHING_DECIDED;
        break;
    case GP_STEP_COUNT:
        m->asked = step->pass + 1;
        break;
    case GP_STEP_BLANK:
        if (step->of_bundle && b->bundles[m->bundle - 1].blank == GP_BUNDLE_OPEN)
            b->bundles[m->bundle - 1].blank = GP_BUNDLE_ASKED;
        if (!step->of_bundle && m->blank == GP_BLANK_OPEN)
            m->blank = GP_BLANK_ASKED;
        break;
    case GP_STEP_TOGETHER:
        if (b->bundles[m->bundle - 1].progress == GP_BUNDLE_OPEN)
            b->bundles[m->bundle - 1].progress = GP_BUNDLE_ASKED;
        break;
    case GP_STEP_IDENTIFY:
    case GP_STEP_MEASURE:
        if (!well)
            gp_launch_move(&m->state, GP_LAUNCH_FAIL);
        break;
    case GP_STEP_CONSIDER:
    case GP_STEP_READ:
    case GP_STEP_SETTLE:
    case GP_STEP_FINISH:
    case GP_STEP_ABANDON:
        break;
    }
}

void batch_put_off(const struct gp_batch *b, struct gp_member *m)
{
    m->round = b->round + 1;
    m->asked = m->passes = m->bundle = m->range = 0;
    m->share = GP_SHARE_OPEN;
}

/* ---- shares ---------------------------------------------------------------------------------- */

static bool are_alike(const struct gp_share_facts *a, const struct gp_share_facts *b)
{
    return memcmp(&a->fingerprint, &b->fingerprint, sizeof(a->fingerprint)) == 0;
}

/* Launches before this one in the batch, like it, that are counted one by one. */
static unsigned alone_before(const struct gp_batch *b, const struct gp_share_facts *facts,
                             unsigned at)
{
    unsigned alone = 0;
    for (unsigned i = 0; i < at; i++)
        alone += facts[i].counted && b->members[i]->identity && b->members[i]->share == GP_ALONE &&
                 are_alike(&facts[i], &facts[at]);
    return alone;
}

static bool is_alone_in_any_case(const struct gp_member *m)
{
    return m->round > 0 || m->state == GP_LAUNCH_NEW;
}

/* Rows of earlier batches can be taken at once; the sum of others is judged when they are there. */
static enum gp_share best_share_of(const struct gp_batch *b, const struct gp_share_facts *facts,
                                   unsigned at, bool may_share)
{
    const struct gp_member *m = b->members[at];
    const struct gp_share_facts *f = &facts[at];
    if (!m->identity || is_alone_in_any_case(m) ||
        f->measured + alone_before(b, facts, at) < GP_LEAST_MEASURED)
        return GP_ALONE;
    if (f->measured && f->complete && m->identity == GP_FOUND_IDENTITY)
        return GP_NOT_AT_ALL;
    /* The sum of launches that swap would hide one whose numbers make for more swaps. */
    return may_share && !m->swaps && (m->run.layout || m->run.in_parts) ? GP_TOGETHER : GP_ALONE;
}

/* The launches that are counted alone as long as there are so many ranges. Launches that would need
 * the counters of one for which there is none wait with it. */
static void share_all(struct gp_batch *b, const struct gp_share_facts *facts, bool may_share,
                      unsigned ranges)
{
    bool any_waits = false;
    for (unsigned i = 0; i < b->count; i++) {
        struct gp_member *m = b->members[i];
        if (!facts[i].counted)
            continue;
        m->bundle = 0;
        m->share = best_share_of(b, facts, i, may_share);
        const bool needs_others =
            m->share == GP_TOGETHER && facts[i].measured < GP_LEAST_MEASURED && any_waits;
        if (needs_others || (m->share == GP_ALONE && ranges == 0))
            m->share = GP_NOT_NOW;
        any_waits = any_waits || m->share == GP_NOT_NOW;
        ranges -= m->share == GP_ALONE;
    }
}

/* Counts of launches that ask depend on time: beside them a launch that was taken for another one
 * would not show in the sum; nor would one that has to agree more closely. */
enum { EXACT, ASKING, BY_WORK, BUNDLE_KINDS };

static unsigned bundle_kind(const struct gp_member *m)
{
    return !m->questions ? EXACT : member_is_by_work(m) ? BY_WORK : ASKING;
}

/* The sum of many launches that ask would hide one of other work. */
static unsigned most_together(unsigned kind)
{
    return kind == EXACT ? GP_MOST_TOGETHER : GP_MOST_ASKING_TOGETHER;
}

/* Two launches that are assumed to be like two others of their kernel and shape. Each may be like
 * the other's: the sum of a bundle would not show that. */
static bool may_hide(const struct gp_member *m, const struct gp_member *other)
{
    return m->identity == GP_ASSUMED_IDENTITY && other->identity == GP_ASSUMED_IDENTITY &&
           memcmp(&m->kind.shape, &other->kind.shape, sizeof(m->kind.shape)) == 0 &&
           memcmp(&m->fingerprint, &other->fingerprint, sizeof(m->fingerprint)) != 0;
}

/* Launches that are not to be counted may have a bundle of another round. */
static bool is_in_bundle(const struct gp_batch *b, const struct gp_share_facts *facts, unsigned i,
                         unsigned number)
{
    return facts[i].counted && b->members[i]->bundle == number;
}

static bool suits(const struct gp_batch *b, const struct gp_share_facts *facts,
                  const struct gp_member *m, unsigned number)
{
    for (unsigned i = 0; i < b->count; i++)
        if (is_in_bundle(b, facts, i, number) && may_hide(m, b->members[i]))
            return false;
    return true;
}

/* The bundle for it among those from `first` on; 0: there are too many. */
static unsigned bundle_for(const struct gp_batch *b, const struct gp_share_facts *facts,
                           const struct gp_member *m, unsigned first)
{
    const unsigned most = most_together(bundle_kind(m));
    for (unsigned number = first; number <= b->bundle_count; number++)
        if (b->bundles[number - 1].members < most && suits(b, facts, m, number))
            return number;
    return b->bundle_count < GP_MOST_BUNDLES ? b->bundle_count + 1 : 0;
}

static void bundle(struct gp_batch *b, struct gp_member *m, unsigned number)
{
    struct gp_bundle *g = &b->bundles[number - 1];
    if (b->bundle_count < number)
        *g = (struct gp_bundle){.first = m->number};
    b->bundle_count = number > b->bundle_count ? number : b->bundle_count;
    g->members++;
    g->in_parts = g->in_parts || m->run.in_parts;
    m->bundle = number;
}

static void bundle_those(struct gp_batch *b, const struct gp_share_facts *facts, unsigned kind)
{
    const unsigned first = b->bundle_count + 1;
    for (unsigned i = 0; i < b->count; i++) {
        struct gp_member *m = b->members[i];
        if (!facts[i].counted || m->share != GP_TOGETHER || bundle_kind(m) != kind)
            continue;
        const unsigned number = bundle_for(b, facts, m, first);
        if (number)
            bundle(b, m, number);
        else
            m->share = GP_NOT_NOW;
    }
}

/* Forms the bundles; the number of ranges of these, and of blanks. */
static unsigned bundle_all(struct gp_batch *b, const struct gp_share_facts *facts)
{
    unsigned blanks = 0, parts = 0;
    b->bundle_count = 0;
    for (unsigned kind = 0; kind < BUNDLE_KINDS; kind++)
        bundle_those(b, facts, kind);
    for (unsigned i = 0; i < b->count; i++) {
        const struct gp_member *m = b->members[i];
        if (!facts[i].counted || m->share != GP_TOGETHER)
            continue;
        bool known = m->run.in_parts || facts[i].blank_known;
        for (unsigned k = 0; k < i && !known; k++)
            known = facts[k].counted && b->members[k]->share == GP_TOGETHER &&
                    b->members[k]->run.layout == m->run.layout;
        blanks += !known;
    }
    for (unsigned i = 0; i < b->bundle_count; i++)
        parts += b->bundles[i].in_parts;
    return b->bundle_count + blanks + parts;
}

/* The launches of one bundle get the number of another one; 0: each is alone. */
static void renumber(struct gp_batch *b, const struct gp_share_facts *facts, unsigned from,
                     unsigned to)
{
    for (unsigned i = 0; i < b->count; i++) {
        if (!is_in_bundle(b, facts, i, from))
            continue;
        b->members[i]->bundle = to;
        if (!to)
            b->members[i]->share = GP_ALONE;
    }
}

/* A range for one launch is as good for it alone: the last bundle takes the number of its bundle.
 */
static void leave_out_single(struct gp_batch *b, const struct gp_share_facts *facts)
{
    for (unsigned number = b->bundle_count; number > 0; number--) {
        if (b->bundles[number - 1].members > 1)
            continue;
        renumber(b, facts, number, 0);
        renumber(b, facts, b->bundle_count, number);
        b->bundles[number - 1] = b->bundles[b->bundle_count - 1];
        b->bundle_count--;
    }
}

void batch_share(struct gp_batch *b, const struct gp_share_facts *facts, bool may_share,
                 unsigned ranges)
{
    share_all(b, facts, may_share, b->count);
    const unsigned shared = bundle_all(b, facts);
    share_all(b, facts, may_share, shared < ranges / 2 ? ranges - shared : (ranges + 1) / 2);
    bundle_all(b, facts);
    leave_out_single(b, facts);
}

bool batch_is_to_be_identified(const struct gp_batch *b, const struct gp_share_facts *facts)
{
    double tell = 0, bundles = 0;
    for (unsigned i = 0; i < b->count; i++) {
        const struct gp_member *m = b->members[i];
        const struct gp_share_facts *f = &facts[i];
        if (!f->counted || m->share == GP_NOT_AT_ALL)
            continue;
        if (m->identity != GP_ASSUMED_IDENTITY || !f->complete || is_alone_in_any_case(m) ||
            f->measured < GP_LEAST_MEASURED)
            return false;
        tell += f->fingerprint_ms;
        bundles += 1.0 / GP_MOST_TOGETHER;
    }
    return tell > 0 && tell < SESSION_MS + RANGE_MS * bundles;
}
