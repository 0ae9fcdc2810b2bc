/* Launches that come right behind another one in their stream, and reach the same arrays: for each
 * two kernels and configurations how many there are, and how many bytes of arrays they share. An
 * array begins at an address among the parameters, and goes to the end of its allocation, or the
 * next address that one of the two has. Addresses that are not the same lead to different arrays.
 *
 * Owns the counts, a bounded amount. The launch at hand and the one before it are known under the
 * gate; the counts are read at the end from any thread. */
#include "launch/inside.h"

#include "base/mix.h"
#include "profile/fields.h"
#include "profile/object.h"
#include "profile/writer.h"

#include <pthread.h>
#include <string.h>

#define MOST_ARRAYS 16
#define MOST_SUCCESSIONS 1024 /* a power of two */

/* A result that a launch needs besides, of all of the one before, say: an array so much smaller
 * than the largest that they share. */
#define MUCH_SMALLER 16

struct array {
    uint64_t address, bytes;
    bool read, written;
};

struct reaching {
    const struct gp_measurement *of; /* NULL: not known */
    struct gp_tally *tally;
    uint64_t index, context, stream, parameters;
    bool of_graph;
    size_t count;
    struct array arrays[MOST_ARRAYS];
};

/* Under the gate. */
static struct reaching now, before;

/* Copies and fills that the program has made. */
static atomic_ulong other_work;
static unsigned long other_work_before;

static struct entry {
    const struct gp_tally *tally, *before; /* NULL: the entry is free; nothing is known before it */
    struct gp_succession sums;
} entries[MOST_SUCCESSIONS];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void succession_broken(void)
{
    atomic_fetch_add_explicit(&other_work, 1, memory_order_relaxed);
}

/* ---- the arrays of a launch ------------------------------------------------------------------ */

static void add_array(const struct gp_parameter_uses *uses, size_t at, uint64_t address,
                      uint64_t bytes)
{
    const uint64_t word = UINT64_C(1) << at / 4;
    const struct array array = {address, bytes, uses->reads & word, uses->writes & word};
    for (size_t i = 0; i < now.count; i++) {
        struct array *known = &now.arrays[i];
        if (known->address != address)
            continue;
        known->read |= array.read;
        known->written |= array.written;
        return;
    }
    if (now.count < MOST_ARRAYS)
        now.arrays[now.count++] = array;
}

/* Each ends at the latest where another one begins. */
static void part_arrays(void)
{
    for (size_t i = 0; i < now.count; i++)
        for (size_t k = 0; k < now.count; k++) {
            struct array *a = &now.arrays[i];
            const uint64_t apart = now.arrays[k].address - a->address;
            if (now.arrays[k].address > a->address && apart < a->bytes)
                a->bytes = apart;
        }
}

void succession_gather(const struct gp_measurement *m, const void *parameters, size_t size)
{
    const struct gp_parameter_uses uses = kernel_parameter_uses(m->kernel, &m->context->device);
    now = (struct reaching){.of = m};
    if (!uses.known)
        return;
    now.parameters = gp_mix(size, (uintptr_t)m->kernel);
    for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        uint64_t word, bytes;
        memcpy(&word, (const char *)parameters + at, sizeof(word));
        now.parameters = gp_mix(now.parameters, word);
        if (at / 4 < GP_DATA_WORDS &&
            (bytes = gp_snapshot_bytes_behind(m->context->snapshot, word)) > 0)
            add_array(&uses, at, word, bytes);
    }
    part_arrays();
}

/* ---- two launches ---------------------------------------------------------------------------- */

static const struct array *find_array(const struct reaching *r, uint64_t address)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->arrays[i].address == address)
            return &r->arrays[i];
    return NULL;
}

/* Sums for this launch: the arrays that it reads and the one before it has written or read. */
static struct gp_succession compare(void)
{
    struct gp_succession s = {.launches = 1};
    uint64_t largest = 0, least_passed = UINT64_MAX;
    for (size_t i = 0; i < now.count; i++) {
        const struct array *a = &now.arrays[i], *b = find_array(&before, a->address);
        if (!a->read || !b)
            continue;
        const uint64_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes;
        largest = bytes > largest && (b->written || b->read) ? bytes : largest;
        if (b->written) {
            s.passed_bytes += bytes;
            s.replaced_bytes += a->written ? bytes : 0;
            least_passed = bytes < least_passed ? bytes : least_passed;
        } else if (b->read) {
            s.shared_bytes += bytes;
        }
    }
    s.needing = least_passed < largest / MUCH_SMALLER;
    return s;
}

/* The same work once more, as benchmarks do it. */
static bool is_repetition(void)
{
    return now.tally == before.tally && now.parameters == before.parameters;
}

static bool is_right_behind(void)
{
    return before.of && before.index + 1 == now.index && before.context == now.context &&
           before.stream == now.stream && !before.of_graph && !now.of_graph &&
           atomic_load_explicit(&other_work, memory_order_relaxed) == other_work_before;
}

/* Locked. NULL where there is no room for a new one. */
static struct entry *entry_of(const struct gp_tally *tally, const struct gp_tally *behind)
{
    size_t slot = gp_mix((uintptr_t)tally, (uintptr_t)behind) % MOST_SUCCESSIONS;
    while (entries[slot].tally && (entries[slot].tally != tally || entries[slot].before != behind))
        slot = (slot + 1) % MOST_SUCCESSIONS;
    if (!entries[slot].tally) {
        if (used >= MOST_SUCCESSIONS / 4 * 3)
            return NULL;
        used++;
        entries[slot] = (struct entry){.tally = tally, .before = behind};
    }
    return &entries[slot];
}

static void add_sums(const struct gp_tally *behind, const struct gp_succession *s)
{
    pthread_mutex_lock(&lock);
    struct entry *e = entry_of(now.tally, behind);
    if (e) {
        e->sums.launches += s->launches;
        e->sums.needing += s->needing;
        e->sums.passed_bytes += s->passed_bytes;
        e->sums.replaced_bytes += s->replaced_bytes;
        e->sums.shared_bytes += s->shared_bytes;
    }
    pthread_mutex_unlock(&lock);
}

void succession_note(const struct gp_measurement *m)
{
    if (now.of != m)
        now = (struct reaching){.of = m};
    now.index = m->index;
    now.context = (uintptr_t)m->context->handle;
    now.stream = (uintptr_t)m->call->stream;
    now.of_graph = m->call->of_graph;
    now.tally =
        tally_of_kernel(m->kernel->name, m->context->device.ordinal, &m->call->configuration);
    const bool is_behind = is_right_behind();
    const struct gp_succession sums =
        is_behind && !is_repetition() ? compare() : (struct gp_succession){.launches = 1};
    if (now.tally->what.kernel) /* else it shares its count with others */
        add_sums(is_behind ? before.tally : NULL, &sums);
    before = now;
    now.of = NULL;
    other_work_before = atomic_load_explicit(&other_work, memory_order_relaxed);
}

/* ---- at the end ------------------------------------------------------------------------------ */

void successions_visit(void (*visit)(void *user, const struct gp_succession *s), void *user)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MOST_SUCCESSIONS; i++) {
        const struct entry *e = &entries[i];
        if (!e->tally)
            continue;
        struct gp_succession s = e->sums;
        s.kernel = e->tally->what.kernel;
        s.device = e->tally->what.device;
        s.configuration = e->tally->what.configuration;
        s.before = e->before && e->before->what.kernel ? e->before->what.kernel : "";
        if (e->before)
            s.configuration_before = e->before->what.configuration;
        visit(user, &s);
    }
    pthread_mutex_unlock(&lock);
}

void succession_write(const struct gp_succession *s, struct gp_writer *writer)
{
    struct gp_object line = gp_object_new(NULL);
    gp_object_put_fields(&line, gp_succession_fields, gp_succession_field_count, GP_FIELDS_ALL, s);
    if (!line.failed) {
        gp_writer_line(writer, "succession", line.object);
        return;
    }
    json_decref(line.object);
    gp_writer_line(writer, "succession", NULL);
}
