/* Divided memory to which the contents of memory lead, as of launches that get arrays of pointers.
 * The parts from the addresses on that stand in the memory of a launch are saved with those of its
 * parameters. Addresses are followed in the pieces that the launch has addresses of, in other
 * memory that it reaches, and in the parts that are found. */
#include "memory/inside.h"

#include <stdlib.h>

/* Bytes that are searched for addresses before a launch; parts that are found, rounds that find
 * more, and bytes of a part. */
#define MOST_SEARCHED ((uint64_t)1 << 30)
#define MOST_FOUND (GP_MOST_PARTS / 2)
#define MOST_ROUNDS 8
#define MOST_OF_PART ((uint64_t)128 << 20)
/* Numbers can be taken for addresses, as two in a row of 32 bits: 32736, 32737. In the
 * far part of an allocation, of which no launch has had an address, these are most: there an
 * address is aligned as allocators align, and little is saved behind it. */
#define FAR_ALIGNMENT 256
#define MOST_OF_FAR ((uint64_t)1 << 20)

struct leads {
    struct gp_snapshot *s;
    struct gp_segments *list; /* to be searched in this round */
    uint64_t *addresses;      /* of the answer, as far as they were fetched */
    uint32_t ranges, words;   /* of the answer that were taken */
    uint64_t left;            /* bytes that may be searched */
    bool left_out, too_much;
};

static void search_in(struct leads *l, uint64_t from, uint64_t to, uint64_t start)
{
    if (from >= to)
        return;
    l->too_much =
        l->too_much || to - from > l->left || !segments_add(l->list, from, from, to - from, start);
    l->left -= l->too_much ? 0 : to - from;
}

/* Behind the near part no launch has had any address. */
static void search_piece(struct leads *l, const struct gp_divided *d, uint64_t from, uint64_t to)
{
    const uint64_t near = divided_near_end(d, from);
    search_in(l, from, to < near ? to : near, d->start);
}

/* Large memory that is not divided is followed when it is copied, and then all of a
 * divided allocation to which it leads is saved. */
static void search_range(struct leads *l, size_t range)
{
    const struct gp_range *r = &l->s->reached.ranges.ranges[range];
    if (r->end - r->start <= l->left)
        search_in(l, r->start, r->end, r->start);
    else
        l->left_out = true;
}

static void begin(struct leads *l)
{
    const struct gp_snapshot *s = l->s;
    segments_clear(l->list);
    for (unsigned i = 0; i < s->addresses.count; i++) {
        const struct gp_address *p = &s->addresses.of[i];
        if (divide_find(s, &(struct gp_range){p->in->start, p->in->end}))
            search_piece(l, p->in, p->value, divided_piece_end(p->in, p->value));
    }
    for (size_t i = 0; i < s->reached.count; i++)
        if (!divide_find(s, &s->reached.ranges.ranges[s->reached.list[i]]))
            search_range(l, s->reached.list[i]);
}

/* ---- the answer -------------------------------------------------------------------------- */

static void take_ranges(struct leads *l)
{
    struct gp_snapshot *s = l->s;
    struct gp_reached *r = &s->reached;
    const struct gp_answer *answer = s->own.host_answer;
    l->too_much = l->too_much || answer->found > GP_FOUND_AT_ONCE;
    for (; !l->too_much && l->ranges < answer->found; l->ranges++) {
        const uint32_t range = answer->at_once[l->ranges];
        struct gp_divided *d = NULL;
        l->too_much = range >= r->ranges.count;
        if (l->too_much || r->marks[range] == r->round)
            continue;
        reach_range(range, r);
        l->too_much = r->out_of_memory || r->marks[range] != r->round || !divide_add(s, range, &d);
        if (!l->too_much && !d)
            search_range(l, range);
    }
}

/* More of a part that is found. An address in the far part may lead to a node that leads on. */
static void search_part(struct leads *l, const struct gp_divided *d, uint64_t from, uint64_t to,
                        bool far)
{
    if (far)
        search_in(l, from, to, d->start);
    else
        search_piece(l, d, from, to);
}

static void take_part(struct leads *l, struct gp_divided *d, uint64_t from)
{
    struct gp_plan *led = &l->s->led;
    const bool far = divided_near_end(d, from) == from;
    const uint64_t end = divided_piece_end(d, from), most = far ? MOST_OF_FAR : MOST_OF_PART;
    const uint64_t to = end - from > most ? from + most : end;
    if (far && from % FAR_ALIGNMENT)
        return;
    for (unsigned i = 0; i < led->count; i++) {
        struct gp_write_part *p = &led->of[i];
        if (p->in != d || from >= p->to || to < p->from)
            continue;
        search_part(l, d, from, p->from, far); /* the rest was searched already */
        search_part(l, d, p->to, to, far);
        p->from = from < p->from ? from : p->from;
        p->to = to > p->to ? to : p->to;
        return;
    }
    l->too_much = l->too_much || led->count == MOST_FOUND;
    if (l->too_much)
        return;
    led->of[led->count++] = (struct gp_write_part){d, from, to};
    search_part(l, d, from, to, far);
}

static void take_address(struct leads *l, uint64_t address)
{
    struct gp_snapshot *s = l->s;
    size_t found[2];
    const unsigned count = ranges_find(&s->reached.ranges, address, found);
    for (unsigned i = 0; i < count; i++) {
        const struct gp_range *r = &s->reached.ranges.ranges[found[i]];
        struct gp_divided *d = divide_find(s, r);
        if (d && address < r->end)
            take_part(l, d, address);
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first of several in a piece takes the piece. */
static void take_addresses(struct leads *l)
{
    struct gp_snapshot *s = l->s;
    const uint32_t all = s->own.host_answer->led, count = all - l->words;
    l->too_much = l->too_much || all > GP_MOST_LED || all < l->words;
    if (l->too_much || !count)
        return;
    CUresult result =
        gp_cuda.cuMemcpyDtoHAsync_v2(l->addresses, s->lookup.copy.led + l->words * sizeof(uint64_t),
                                     count * sizeof(uint64_t), s->own.stream);
    CUresult waited = gp_cuda.cuStreamSynchronize(s->own.stream);
    l->too_much = result != CUDA_SUCCESS || waited != CUDA_SUCCESS;
    if (l->too_much)
        return;
    l->words = all;
    qsort(l->addresses, count, sizeof(*l->addresses), ascending);
    for (uint32_t i = 0; i < count && !l->too_much; i++)
        take_address(l, l->addresses[i]);
}

bool led_find(struct gp_snapshot *s, bool *all)
{
    struct gp_reason why;
    struct leads l = {.s = s,
                      .list = &s->watched,
                      .addresses = malloc(GP_MOST_LED * sizeof(uint64_t)),
                      .left = MOST_SEARCHED};
    l.too_much = !l.addresses || lookup_list_led(&s->lookup, &s->reached.ranges) != CUDA_SUCCESS;
    begin(&l);
    for (unsigned round = 0; l.list->count && !l.too_much; round++) {
        l.too_much = round == MOST_ROUNDS ||
                     !snapshot_search(s, l.list, &s->lookup, &s->reached.ranges, round > 0, &why);
        segments_clear(l.list);
        if (!l.too_much)
            take_ranges(&l);
        if (!l.too_much)
            take_addresses(&l);
    }
    segments_clear(l.list);
    free(l.addresses);
    plan_round(&s->led); /* changes are found in whole units */
    *all = !l.too_much && !l.left_out;
    return !l.too_much;
}
