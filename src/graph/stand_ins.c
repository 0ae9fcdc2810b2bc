/* Stand-ins for memory that a graph allocates and frees in itself: it is present only
 * while the graph runs, and its kernels are launched by themselves, too. In their parameters, and
 * in the addresses of copies and fills, the one is replaced by the other. */
#include "graph/inside.h"

#include "launch/kernels.h"
#include "memory/buffers.h"

#include <stdlib.h>
#include <string.h>

/* As the driver aligns allocations, at least. */
#define ALIGNMENT 512u
/* So far in front of their memory, and behind it, addresses are taken for theirs where no other
 * memory is nearer: as of an array whose first index is not 0. */
#define AROUND (2u << 20)
/* Bytes between them that are given to the gaps, beside as many as they have themselves. */
#define MOST_BETWEEN ((uint64_t)64 << 20)

struct gp_replaced_parameters {
    size_t size;
    void *extra[GP_EXTRA_WORDS];
    _Alignas(16) unsigned char bytes[GP_MOST_PARAMETER_BYTES];
};

/* ---- the list -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    CUdeviceptr one = ((const struct gp_stand_in *)a)->address;
    CUdeviceptr other = ((const struct gp_stand_in *)b)->address;
    return (one > other) - (one < other);
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Allocations that are not there at the same time may lie at the same addresses. */
static void join_overlapping(struct gp_stand_ins *s)
{
    unsigned count = 0;
    for (unsigned i = 0; i < s->count; i++) {
        struct gp_stand_in *last = count ? &s->list[count - 1] : NULL;
        const struct gp_stand_in next = s->list[i];
        if (last && next.address < last->address + last->bytes)
            last->bytes =
                most(last->address + last->bytes, next.address + next.bytes) - last->address;
        else
            s->list[count++] = next;
    }
    s->count = count;
}

/* They keep their distances, as kernels may go from one to another, and their alignment. */
static void lay_out(struct gp_stand_ins *s)
{
    uint64_t own = 0;
    for (unsigned i = 0; i < s->count; i++) {
        s->list[i].offset = s->list[i].address - s->list[0].address / ALIGNMENT * ALIGNMENT;
        s->bytes = (s->list[i].offset + s->list[i].bytes) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
        own += s->list[i].bytes;
    }
    s->far_apart = s->bytes > 2 * own + MOST_BETWEEN;
}

struct gp_stand_ins *stand_ins_list(CUgraph graph)
{
    struct gp_stand_ins *s = NULL;
    struct gp_graph_allocations *a = graph_allocations(graph);
    if (a && graph_keeps_to_itself(a))
        s = calloc(1, sizeof(*s) + a->made_count * sizeof(s->list[0]));
    for (unsigned i = 0; s && i < a->made_count; i++)
        s->list[s->count++] = (struct gp_stand_in){a->made[i].address, a->made[i].bytes, 0};
    free(a);
    if (!s)
        return NULL;
    qsort(s->list, s->count, sizeof(s->list[0]), compare);
    join_overlapping(s);
    lay_out(s);
    return s;
}

/* ---- their memory ---------------------------------------------------------------------------- */

void stand_ins_enter(struct gp_stand_ins *s, CUdeviceptr base)
{
    s->base = base;
    for (unsigned i = 0; i < s->count; i++) {
        gp_buffer_add(GP_BUFFER_DEVICE, base + s->list[i].offset, s->list[i].bytes);
        gp_buffer_add_foreign(s->list[i].address, s->list[i].bytes, GP_REASON(GRAPH_MEMORY));
    }
}

void stand_ins_leave(struct gp_stand_ins *s)
{
    for (unsigned i = 0; s->base && i < s->count; i++) {
        gp_buffer_discard(gp_buffer_take(s->base + s->list[i].offset));
        gp_buffer_discard(gp_buffer_take(s->list[i].address));
    }
    s->base = 0;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* The last one that begins there or before. */
static const struct gp_stand_in *find(const struct gp_stand_ins *s, CUdeviceptr address)
{
    unsigned low = 0, high = s->count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (s->list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &s->list[low - 1] : NULL;
}

bool stand_ins_cover(const struct gp_stand_ins *s, CUdeviceptr address)
{
    const struct gp_stand_in *one = s ? find(s, address) : NULL;
    return one && address - one->address < one->bytes;
}

/* Bytes from the address to the nearest of them; none to one that it is just behind. */
static uint64_t distance(const struct gp_stand_ins *s, CUdeviceptr address)
{
    const struct gp_stand_in *before = find(s, address);
    const struct gp_stand_in *behind = before ? before + 1 : s->list;
    uint64_t bytes = before ? address - before->address - before->bytes : UINT64_MAX;
    if (behind < s->list + s->count && behind->address - address < bytes)
        bytes = behind->address - address;
    return bytes;
}

/* True where the address is near the memory of the graph, and nearer to no other. */
static bool is_around(const struct gp_stand_ins *s, CUdeviceptr address)
{
    uint64_t own = distance(s, address);
    return own <= AROUND && own < gp_buffer_distance(address, GP_CAUSE_GRAPH_MEMORY);
}

CUdeviceptr stand_in_for(const struct gp_stand_ins *s, CUdeviceptr address)
{
    if (!s || !s->base || !(stand_ins_cover(s, address) || is_around(s, address)))
        return address;
    return s->base + s->list[0].offset + (address - s->list[0].address);
}

static void replace(const struct gp_stand_ins *s, unsigned char *bytes, size_t size)
{
    CUdeviceptr word, other;
    for (size_t at = 0; at + sizeof(word) <= size;) {
        memcpy(&word, bytes + at, sizeof(word));
        other = stand_in_for(s, word);
        memcpy(bytes + at, &other, sizeof(word));
        at += other == word ? 1 : sizeof(word);
    }
}

struct gp_replaced_parameters *stand_ins_replace(const struct gp_stand_ins *s,
                                                 struct gp_launch *call)
{
    struct gp_replaced_parameters *r = malloc(sizeof(*r));
    struct gp_kernel *kernel = gp_kernel_find(call->function);
    if (!r || !kernel || !gp_kernel_parameters(kernel, call, r->bytes, &r->size)) {
        free(r);
        return NULL;
    }
    replace(s, r->bytes, r->size);
    call->parameters = NULL;
    call->extra = NULL;
    if (!r->size)
        return r; /* it has none */
    gp_parameters_as_block(r->extra, r->bytes, &r->size);
    call->extra = r->extra;
    return r;
}
