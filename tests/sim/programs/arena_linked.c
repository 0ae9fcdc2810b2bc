/*
 * arena_linked CASE [SEED]: launches on pieces of one allocation, as of programs that divide memory
 * by themselves. Each launch changes its pieces in slot, by x = 3 * x + 1 or + 2, or adds two
 * pieces, so that one that runs twice, or from the wrong memory, is seen. In the case "pieces"
 * nothing else happens, in the case "thirds" there are three pieces, which are all of the
 * allocation, in the case "alike" most launches have the same counts, in the case "alternate" those
 * of every second launch of a piece, in the case "copies" copies and fills of pieces come between
 * the launches, in the case "streams" two streams have pieces of their own, in the case
 * "scatter-once" a single launch writes far away, in the case "scatter-on" each launch of a kernel
 * from some launch on, in the case "stray-word" one adds now and then to a word that others read,
 * in the case "stray-beside" from an allocation of its own, in the case "large" there are two large
 * pieces, in the case "moved" sums lie elsewhere at first, in the case "order" the order of threads
 * says where launches write, in the cases "race" and "race-behind" which of them write, in the
 * cases "whole" and "alike-whole" the same pieces are allocations, in the cases "scatter" and
 * "scatter-far" kernels write now and then far from their pieces, by numbers in memory, and in the
 * second one far behind all pieces, in the case "blocked" launches and fills stand behind a wait
 * that ends once they have returned, in the case "freed" the allocation is freed and had again, in
 * the case "short" there are several arenas, and nearly all other memory is allocated between
 * launches on them. In the cases "beside-host", "beside-other", "beside-arena" and "beside-far"
 * launches of another kernel come in between, in the cases "through-nowhere", "through-piece",
 * "through-other" and "through-arena" launches that load an address from memory: in the case
 * "through-node" one behind another, in the case "through-many" by a kernel with many addresses, in
 * the case "through-far" of memory to which the launch before has written by a number. In the cases
 * "peers" and "access" each of two GPUs has an arena that both can write, by mappings or by access
 * to the other context; in the cases "peers-copies", "peers-kernels", "peers-through" and those of
 * "access" copies and kernels of the second one write to the arena of the first, which they have
 * from parameters or from memory; in the case "peers-waits" the second one is at work when the
 * first arena is freed. In the case "graphs" launches, fills and copies are nodes of graphs; in the
 * case "graphs-busy" a function of the host takes a while in each, and nodes behind it wait for
 * that; in the case "graphs-random" they have two branches, and are made by chance. In the case
 * "random" pieces are given back and others cut there, launches begin in the middle of pieces, have
 * addresses of others from memory, and write behind all that they have written, or now and then far
 * away, by numbers in memory; the number of launches is printed, too; in the case "random-near"
 * none writes far away; in the case "random-order" the order of threads says where they write, or
 * which of them. Prints a digest of all pieces.
 */
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/nodes.h"
#include "programs/snippets.h"

enum { PIECES = 24, LAUNCHES = 260, MOST_WORDS = 12000, ARENAS = 24 };

/* In the context of each GPU. */
static struct {
    CUcontext context;
    CUfunction scale, add, flip, scatter, draw, race, stray, through, node, many;
} of[2];
static unsigned gpu;     /* the current one */
static CUfunction waits; /* of the last context */
static uint32_t seed = 1;

struct piece {
    CUdeviceptr at;
    unsigned words;
    uint32_t *expected;
};

/* Words in front of the pieces, which no launch has as an address, and as many far behind them. */
enum { QUIET = 1024 };

struct arena {
    uint32_t quiet[QUIET], far[QUIET];
    CUdeviceptr base;
    size_t bytes;
    bool whole;
    void *on_host;                       /* the base, where it is page-locked */
    CUmemGenericAllocationHandle mapped; /* at the base; 0: it is not */
    struct piece pieces[PIECES];
};

static uint32_t chance(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

enum kind { PARTS, WHOLE, ON_HOST, MAPPED };

static void use(unsigned which)
{
    gpu = which;
    MUST(cuCtxSetCurrent(of[gpu].context));
}

/* The arena lies on the current GPU, and both can write it. */
static void map_arena(struct arena *a)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = (int)gpu}};
    CUmemAccessDesc access[2];

    for (int i = 0; i < 2; i++)
        access[i] = (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = i},
                                      .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    MUST(cuMemAddressReserve(&a->base, a->bytes, 0, 0, 0));
    MUST(cuMemCreate(&a->mapped, a->bytes, &prop, 0));
    MUST(cuMemMap(a->base, a->bytes, 0, a->mapped, 0));
    MUST(cuMemSetAccess(a->base, a->bytes, access, 2));
}

static void allocate_arena(struct arena *a, enum kind kind)
{
    a->on_host = NULL;
    a->mapped = 0;
    if (kind == MAPPED) {
        map_arena(a);
    } else if (kind == ON_HOST) {
        MUST(cuMemHostAlloc(&a->on_host, a->bytes, CU_MEMHOSTALLOC_DEVICEMAP));
        MUST(cuMemHostGetDevicePointer(&a->base, a->on_host, 0));
    } else {
        MUST(cuMemAlloc(&a->base, a->bytes + 1000));
    }
    MUST(cuMemsetD32(a->base, 7, a->bytes / 4));
}

static void begin(struct arena *a, enum kind kind, size_t megabytes)
{
    const bool whole = kind == WHOLE;
    size_t at = 512 * 1024;

    a->whole = whole;
    a->bytes = megabytes << 20;
    for (int k = 0; k < QUIET; k++)
        a->quiet[k] = a->far[k] = 7;
    if (!whole)
        allocate_arena(a, kind);
    for (int i = 0; i < PIECES; i++) {
        struct piece *p = &a->pieces[i];
        p->words = 100 + chance(MOST_WORDS - 100);
        if (whole)
            MUST(cuMemAlloc(&p->at, 4 * p->words));
        else
            p->at = a->base + at;
        at += (4 * p->words + 255) / 256 * 256;
        p->expected = calloc(p->words, sizeof(uint32_t));
        MUST(cuMemsetD32(p->at, 0, p->words));
    }
}

static CUdeviceptr far_of(const struct arena *a)
{
    return a->base + a->bytes - 4 * QUIET;
}

static void free_arena(struct arena *a)
{
    if (a->on_host) {
        MUST(cuMemFreeHost(a->on_host));
    } else if (a->mapped) {
        MUST(cuMemUnmap(a->base, a->bytes));
        MUST(cuMemRelease(a->mapped));
        MUST(cuMemAddressFree(a->base, a->bytes));
    } else {
        MUST(cuMemFree(a->base));
    }
}

static void compare(const uint32_t *quiet, CUdeviceptr at, uint32_t *found)
{
    MUST(cuMemcpyDtoH(found, at, 4 * QUIET));
    for (unsigned k = 0; k < QUIET; k++)
        if (found[k] != quiet[k])
            printf("word %u apart from the pieces is %u, not %u\n", k, found[k], quiet[k]);
}

static void end(struct arena *a)
{
    uint64_t digest = 0;
    uint32_t *found = malloc(4 * MOST_WORDS);

    for (int i = 0; i < PIECES; i++) {
        struct piece *p = &a->pieces[i];
        MUST(cuMemcpyDtoH(found, p->at, 4 * p->words));
        for (unsigned k = 0; k < p->words; k++) {
            digest = (digest ^ found[k]) * 0x100000001b3u;
            if (found[k] == p->expected[k])
                continue;
            printf("piece %d: word %u is %u, not %u\n", i, k, found[k], p->expected[k]);
            exit(1);
        }
        free(p->expected);
        if (a->whole)
            MUST(cuMemFree(p->at));
    }
    if (!a->whole) {
        compare(a->quiet, a->base, found);
        compare(a->far, far_of(a), found);
        free_arena(a);
    }
    free(found);
    printf("%016llx\n", (unsigned long long)digest);
}

static void launch_scale(struct piece *p, unsigned n, unsigned shift, CUstream stream)
{
    unsigned factor = 3;
    void *params[] = {&p->at, &n, &factor, &shift};

    MUST(cuLaunchKernel(of[gpu].scale, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    for (unsigned k = 0; k < n; k++)
        p->expected[k] = factor * p->expected[k] + shift;
}

static void launch_flip(struct piece *p)
{
    unsigned n = 100;
    void *params[] = {&p->at, &n};

    MUST(cuLaunchKernel(of[gpu].flip, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    for (unsigned k = 0; k < n; k++)
        p->expected[k]++;
}

/* The first words of three pieces: c = a + b + c. */
static void launch_add(const struct piece *a, const struct piece *b, struct piece *c,
                       CUstream stream)
{
    unsigned n = 100;
    void *params[] = {(void *)&a->at, (void *)&b->at, &c->at, &n};

    MUST(cuLaunchKernel(of[gpu].add, 1, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    for (unsigned k = 0; k < n; k++)
        c->expected[k] += a->expected[k] + b->expected[k];
}

static void launch_any(struct arena *a, unsigned first, unsigned count, CUstream stream)
{
    struct piece *p = &a->pieces[first + chance(count)];

    if (chance(3))
        launch_scale(p, p->words, 1 + chance(2), stream);
    else
        launch_add(&a->pieces[first + chance(count)], &a->pieces[first + chance(count)], p, stream);
}

static void copy_any(struct arena *a)
{
    struct piece *from = &a->pieces[chance(PIECES)], *to = &a->pieces[chance(PIECES)];
    unsigned words = 1 + chance(100), value = chance(1000);

    switch (chance(3)) {
    case 0:
        MUST(cuMemcpyDtoD(to->at, from->at, 4 * words));
        memmove(to->expected, from->expected, 4 * words);
        break;
    case 1:
        MUST(cuMemsetD32(to->at, value, words));
        for (unsigned k = 0; k < words; k++)
            to->expected[k] = value;
        break;
    default:
        MUST(cuMemcpyHtoD(to->at, from->expected, 4 * words));
        memmove(to->expected, from->expected, 4 * words);
    }
}

static void pieces(bool whole)
{
    struct arena a;

    begin(&a, whole ? WHOLE : PARTS, 12);
    for (int i = 0; i < LAUNCHES; i++)
        launch_any(&a, 0, PIECES, NULL);
    end(&a);
}

/* Launches have the same counts as long as their numbers are even, which ends for some pieces. */
static void alike(bool whole)
{
    struct arena a;

    begin(&a, whole ? WHOLE : PARTS, 12);
    for (int i = 0; i < LAUNCHES; i++)
        launch_scale(&a.pieces[chance(PIECES)], 100, i >= 150 && !chance(10) ? 1 : 2, NULL);
    end(&a);
}

/* The numbers of each piece are even and odd, from launch to launch: one of the wrong memory has
 * the counts of others. */
static void alternate(void)
{
    struct arena a;

    begin(&a, PARTS, 12);
    for (int i = 0; i < 4 * LAUNCHES; i++)
        launch_flip(&a.pieces[i % PIECES]);
    end(&a);
}

/* Alike launches; between them others that have addresses of the same arena, of another one, or of
 * the host's memory alone; in the case "far" a fill far behind the pieces, too. */
static void beside(const char *where)
{
    static struct arena a, other;
    const bool far = strcmp(where, "far") == 0, apart = !far && strcmp(where, "arena") != 0;

    begin(&a, PARTS, 12);
    if (apart)
        begin(&other, strcmp(where, "host") == 0 ? ON_HOST : PARTS, 5);
    for (int i = 0; i < LAUNCHES; i++) {
        struct arena *b = apart ? &other : &a;
        launch_scale(&a.pieces[chance(PIECES)], 100, 2, NULL);
        if (i % 3 == 2)
            launch_add(&b->pieces[chance(PIECES)], &b->pieces[chance(PIECES)],
                       &b->pieces[chance(PIECES)], NULL);
        if (far && i % 3 == 2) {
            const unsigned k = chance(QUIET);
            MUST(cuMemsetD32(far_of(&a) + 4 * k, 1000 + k, 1));
            a.far[k] = 1000 + k;
        }
    }
    end(&a);
    if (apart)
        end(&other);
}

/* Three arrays are all of an allocation; two are added to the last one. */
static void thirds(void)
{
    unsigned n = 500000;
    const size_t bytes = 4 * (size_t)n;
    uint32_t *found = malloc(bytes);
    CUdeviceptr base;

    MUST(cuMemAlloc(&base, 3 * bytes));
    MUST(cuMemsetD32(base, 2, 3 * n));
    for (int i = 0; i < 12; i++) {
        CUdeviceptr a = base, b = base + bytes, c = base + 2 * bytes;
        void *params[] = {&a, &b, &c, &n};
        MUST(cuLaunchKernel(of[gpu].add, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    }
    MUST(cuMemcpyDtoH(found, base + 2 * bytes, bytes));
    for (unsigned k = 0; k < n; k++)
        if (found[k] != 2 + 12 * 4) {
            printf("word %u is %u\n", k, found[k]);
            exit(1);
        }
    printf("%u\n", found[n - 1]);
    MUST(cuMemFree(base));
    free(found);
}

static void copies(void)
{
    struct arena a;

    begin(&a, PARTS, 12);
    for (int i = 0; i < LAUNCHES; i++) {
        launch_any(&a, 0, PIECES, NULL);
        if (!chance(20))
            copy_any(&a);
    }
    end(&a);
}

static void streams(void)
{
    struct arena a;
    CUstream stream[2];

    begin(&a, PARTS, 12);
    for (int i = 0; i < 2; i++)
        MUST(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
    MUST(cuCtxSynchronize());
    for (int i = 0; i < LAUNCHES; i++)
        launch_any(&a, i % 2 * (PIECES / 2), PIECES / 2, stream[i % 2]);
    MUST(cuCtxSynchronize());
    end(&a);
}

/* ---- graphs ---- */

enum { NODES = 14, ROUNDS = 16 };

struct graph_node {
    enum { SCALES, ADDS, FILLS, COPIES, LEADS } kind; /* LEADS: by a table of addresses */
    unsigned to, from[2];
};

/* A table of addresses. The one that is loaded stands so far in it that no launch saves it as a
 * part. */
enum { TABLE = 8 << 20, TABLE_INDEX = (5 << 18) / sizeof(CUdeviceptr) };

static CUgraphNode add_node(CUgraph graph, const struct arena *a, const struct graph_node *n,
                            const CUgraphNode *after)
{
    const struct piece *to = &a->pieces[n->to];
    const struct piece *from[] = {&a->pieces[n->from[0]], &a->pieces[n->from[1]]};
    unsigned words = n->kind == SCALES ? to->words : 100, factor = 3, shift = 1;
    void *scale[] = {(void *)&to->at, &words, &factor, &shift};
    void *add[] = {(void *)&from[0]->at, (void *)&from[1]->at, (void *)&to->at, &words};
    CUdeviceptr table = a->base + TABLE;
    unsigned entry = TABLE_INDEX + n->from[0]; /* leads to that piece */
    void *lead[] = {(void *)&to->at, &table, &entry};
    CUDA_KERNEL_NODE_PARAMS kernel =
        kernel_node(n->kind == SCALES  ? of[gpu].scale
                    : n->kind == LEADS ? of[gpu].through
                                       : of[gpu].add,
                    n->kind == LEADS ? 1 : (words + 127) / 128, n->kind == LEADS ? 64 : 128,
                    n->kind == SCALES  ? scale
                    : n->kind == LEADS ? lead
                                       : add);
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = to->at, .value = 5, .elementSize = 4, .width = words, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = from[0]->at,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = to->at,
                          .WidthInBytes = 4 * (size_t)words,
                          .Height = 1,
                          .Depth = 1};
    CUgraphNode node;

    if (n->kind == FILLS)
        MUST(cuGraphAddMemsetNode(&node, graph, after, after != NULL, &fill, of[gpu].context));
    else if (n->kind == COPIES)
        MUST(cuGraphAddMemcpyNode(&node, graph, after, after != NULL, &copy, of[gpu].context));
    else
        MUST(cuGraphAddKernelNode(&node, graph, after, after != NULL, &kernel));
    return node;
}

static void expect_node(struct arena *a, const struct graph_node *n)
{
    struct piece *to = &a->pieces[n->to];
    const uint32_t *x = a->pieces[n->from[0]].expected, *y = a->pieces[n->from[1]].expected;

    for (unsigned k = 0; n->kind == LEADS && k < 64; k++)
        to->expected[k] = 2 * to->expected[k] + 1;
    if (n->kind == LEADS)
        a->pieces[n->from[0]].expected[90] += 3;
    if (n->kind == LEADS)
        return;
    for (unsigned k = 0; k < (n->kind == SCALES ? to->words : 100); k++)
        to->expected[k] = n->kind == SCALES  ? 3 * to->expected[k] + 1
                          : n->kind == ADDS  ? x[k] + y[k] + to->expected[k]
                          : n->kind == FILLS ? 5
                                             : x[k];
}

/* Graphs of kernels, fills and copies on pieces, other launches between them. */
static void graphs(void)
{
    struct arena a;
    struct graph_node nodes[2][NODES];
    CUgraphExec exec[2];

    begin(&a, PARTS, 12);
    for (int g = 0; g < 2; g++) {
        CUgraph graph;
        CUgraphNode last = NULL;
        MUST(cuGraphCreate(&graph, 0));
        for (int i = 0; i < NODES; i++) {
            struct graph_node *n = &nodes[g][i];
            *n = (struct graph_node){i % 5 == 3   ? FILLS
                                     : i % 7 == 5 ? COPIES
                                     : chance(2)  ? SCALES
                                                  : ADDS,
                                     chance(PIECES),
                                     {chance(PIECES), chance(PIECES)}};
            if (n->kind == COPIES)
                n->from[0] = (n->to + 1) % PIECES;
            last = add_node(graph, &a, n, last ? &last : NULL);
        }
        MUST(cuGraphInstantiateWithFlags(&exec[g], graph, 0));
        MUST(cuGraphDestroy(graph));
    }
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuGraphLaunch(exec[i % 2], NULL));
        for (int k = 0; k < NODES; k++)
            expect_node(&a, &nodes[i % 2][k]);
        if (i % 3 == 2)
            launch_any(&a, 0, PIECES, NULL);
    }
    for (int g = 0; g < 2; g++)
        MUST(cuGraphExecDestroy(exec[g]));
    end(&a);
}

static void take_a_while(void *data)
{
    (void)data;
    usleep(50000);
}

/* A launch, and behind the function of the host a fill and a launch of another kernel. */
static void graphs_busy(void)
{
    static const struct graph_node nodes[] = {
        {SCALES, 3, {0, 0}}, {FILLS, 5, {0, 0}}, {ADDS, 7, {3, 5}}};
    const CUDA_HOST_NODE_PARAMS function = {.fn = take_a_while};
    struct arena a;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode last;

    begin(&a, PARTS, 12);
    MUST(cuGraphCreate(&graph, 0));
    last = add_node(graph, &a, &nodes[0], NULL);
    MUST(cuGraphAddHostNode(&last, graph, &last, 1, &function));
    for (int k = 1; k < 3; k++)
        last = add_node(graph, &a, &nodes[k], &last);
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuGraphLaunch(exec, NULL));
        for (int k = 0; k < 3; k++)
            expect_node(&a, &nodes[k]);
        launch_scale(&a.pieces[5], a.pieces[5].words, 1, NULL);
    }
    MUST(cuGraphExecDestroy(exec));
    end(&a);
}

/* Graphs in two branches, each on pieces of its own, launched, changed and mixed with other work by
 * chance. */
static void graphs_at_random(void)
{
    enum { GRAPHS = 3, HALF = PIECES / 2 };
    static const CUDA_HOST_NODE_PARAMS function = {.fn = take_a_while};
    static struct arena a;
    static struct graph_node nodes[GRAPHS][2][NODES];
    CUgraphExec exec[GRAPHS];
    CUdeviceptr entries[PIECES];
    CUstream stream;

    begin(&a, PARTS, 12);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < PIECES; i++)
        entries[i] = a.pieces[i].at + 4 * 90;
    MUST(
        cuMemcpyHtoD(a.base + TABLE + sizeof(CUdeviceptr) * TABLE_INDEX, entries, sizeof(entries)));
    for (int g = 0; g < GRAPHS; g++) {
        CUgraph graph;
        MUST(cuGraphCreate(&graph, 0));
        for (unsigned b = 0; b < 2; b++) {
            CUgraphNode last = NULL;
            if (g == 2 && b == 0)
                MUST(cuGraphAddHostNode(&last, graph, NULL, 0, &function));
            for (int i = 0; i < NODES; i++) {
                struct graph_node *n = &nodes[g][b][i];
                n->kind = chance(5);
                n->to = b * HALF + chance(HALF);
                for (int k = 0; k < 2; k++)
                    n->from[k] = b * HALF + chance(HALF);
                if ((n->kind == COPIES || n->kind == LEADS) && n->from[0] == n->to)
                    n->from[0] = b * HALF + (n->to + 1) % HALF;
                last = add_node(graph, &a, n, last ? &last : NULL);
            }
        }
        MUST(cuGraphInstantiateWithFlags(&exec[g], graph, 0));
        MUST(cuGraphDestroy(graph));
    }
    for (int i = 0; i < ROUNDS; i++) {
        const unsigned g = chance(GRAPHS);
        const bool apart = chance(2);
        if (apart)
            MUST(cuCtxSynchronize());
        MUST(cuGraphLaunch(exec[g], apart ? stream : NULL));
        if (apart)
            MUST(cuStreamSynchronize(stream));
        for (int b = 0; b < 2; b++)
            for (int k = 0; k < NODES; k++)
                expect_node(&a, &nodes[g][b][k]);
        for (unsigned k = chance(4); k > 0; k--)
            launch_any(&a, 0, PIECES, NULL);
        if (!chance(3))
            copy_any(&a);
        if (!chance(4))
            MUST(cuCtxSynchronize());
    }
    for (int g = 0; g < GRAPHS; g++)
        MUST(cuGraphExecDestroy(exec[g]));
    MUST(cuStreamDestroy(stream));
    end(&a);
}

static void freed(void)
{
    struct arena a;

    for (int round = 0; round < 4; round++) {
        begin(&a, PARTS, 12);
        for (int i = 0; i < LAUNCHES / 4; i++)
            launch_any(&a, 0, PIECES, NULL);
        end(&a);
    }
}

/* All memory but for the arenas and some blocks is allocated, after a half of the launches. */
static void short_of_memory(void)
{
    static struct arena arenas[ARENAS];
    const size_t left = (size_t)32 << 20;
    size_t unused, total, taken = 0;
    CUdeviceptr large;

    MUST(cuMemGetInfo(&unused, &total));
    for (int i = 0; i < ARENAS; i++) {
        begin(&arenas[i], PARTS, 5);
        taken += arenas[i].bytes + 1000;
    }
    for (int i = 0; i < LAUNCHES / 2; i++)
        launch_any(&arenas[i % ARENAS], 0, PIECES, NULL);
    printf("nearly all: %d\n", cuMemAlloc(&large, unused - taken - left));
    for (int i = 0; i < ARENAS; i++)
        launch_any(&arenas[i], 0, PIECES, NULL);
    MUST(cuMemFree(large));
    for (int i = 0; i < LAUNCHES / 2 - ARENAS; i++)
        launch_any(&arenas[i % ARENAS], 0, PIECES, NULL);
    for (int i = 0; i < ARENAS; i++)
        end(&arenas[i]);
    MUST(cuMemGetInfo(&unused, &total));
    printf("nearly all: %d\n", cuMemAlloc(&large, unused - left));
    MUST(cuMemFree(large));
}

/* Launches and fills behind a wait return before it ends. */
static void blocked(void)
{
    struct arena a;
    CUstream stream;
    CUdeviceptr flag;
    void *memory;
    volatile uint32_t *on_host;

    begin(&a, PARTS, 12);
    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&flag, memory, 0));
    on_host = memory;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxSynchronize());
    for (int round = 0; round < 4; round++) {
        *on_host = 0;
        for (int i = 0; i < LAUNCHES / 4 - 8; i++)
            launch_any(&a, 0, PIECES, stream);
        MUST(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
        for (int i = 0; i < 8; i++) {
            struct piece *p = &a.pieces[chance(PIECES)];
            launch_any(&a, 0, PIECES, stream);
            MUST(cuMemsetD32Async(p->at, (unsigned)i, 10, stream));
            for (int k = 0; k < 10; k++)
                p->expected[k] = (unsigned)i;
        }
        *on_host = 1;
        MUST(cuStreamSynchronize(stream));
    }
    end(&a);
}

enum target { OWN, OTHER, IN_FRONT, FAR };

/* A thread writes to a word that memory names: of the piece, of another one, or apart from all. */
static void launch_scatter(struct arena *a, struct piece *p, enum target target, CUstream stream)
{
    struct piece *index = &a->pieces[0], *other = &a->pieces[chance(PIECES)];
    const unsigned k = chance(QUIET);
    CUdeviceptr to = target == IN_FRONT ? a->base + 4 * k
                     : target == FAR    ? far_of(a) + 4 * k
                                        : (target == OTHER ? other : p)->at + 200;
    uint32_t word = (uint32_t)((int64_t)(to - p->at) / 4);
    unsigned n = 64;
    void *params[] = {&p->at, &index->at, &n};

    MUST(cuMemsetD32(index->at, word, 1));
    index->expected[0] = word;
    MUST(cuLaunchKernel(of[gpu].scatter, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL));
    for (unsigned k = 0; k < n; k++)
        if (k != 50)
            p->expected[k] = 2 * p->expected[k] + 1;
    if (target == IN_FRONT)
        a->quiet[k] += 3;
    else if (target == FAR)
        a->far[k] += 3;
    else
        (target == OTHER ? other : p)->expected[50] += 3;
}

static void scatter_far(bool far)
{
    struct arena a;

    begin(&a, PARTS, 12);
    for (int i = 0; i < LAUNCHES; i++) {
        enum target target = i % 60 != 59 ? OWN : far ? FAR : chance(2) ? IN_FRONT : OTHER;
        if (i % 10 == 9)
            launch_scatter(&a, &a.pieces[1 + chance(PIECES - 1)], target, NULL);
        else
            launch_any(&a, 1, PIECES - 1, NULL);
    }
    end(&a);
}

/* One launch of many, whose parts are known, writes far away. */
static void scatter_once(void)
{
    struct arena a;

    begin(&a, PARTS, 12);
    for (int i = 0; i < LAUNCHES; i++)
        launch_scatter(&a, &a.pieces[1 + i % 5], i == 150 ? FAR : OWN, NULL);
    end(&a);
}

/* Each launch adds 1 to a word of one of two large pieces, which its threads' order tells. Prints
 * the sum of all. */
static void order(CUfunction kernel)
{
    enum { WORDS = 1 << 20 };
    uint32_t *found = malloc(4 * WORDS), sum = 0;
    CUdeviceptr base, at[2], to;
    unsigned n = WORDS;
    void *params[] = {&to, &base, &n};

    MUST(cuMemAlloc(&base, 12 << 20));
    MUST(cuMemsetD32(base, 0, 3 * WORDS));
    at[0] = base + (1 << 20);
    at[1] = base + (6 << 20);
    for (int i = 0; i < LAUNCHES; i++) {
        to = at[i % 2];
        MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    }
    for (unsigned i = 0; i < 2; i++) {
        MUST(cuMemcpyDtoH(found, at[i], 4 * WORDS));
        for (unsigned k = 0; k < WORDS; k++)
            sum += found[k];
    }
    MUST(cuMemFree(base));
    free(found);
    printf("sum: %u\n", sum);
}

/* The sum of some words of the GPU. */
static uint32_t sum_of(CUdeviceptr at, unsigned words)
{
    uint32_t *found = malloc(4 * (size_t)words), sum = 0;
    MUST(cuMemcpyDtoH(found, at, 4 * (size_t)words));
    for (unsigned i = 0; i < words; i++)
        sum += found[i];
    free(found);
    return sum;
}

static CUdeviceptr managed(void)
{
    CUdeviceptr at;
    MUST(cuMemAllocManaged(&at, 4096, CU_MEM_ATTACH_GLOBAL));
    return at;
}

/* Launches that add 1 to a word at the begin of a large piece; but while something counts, now and
 * then to one at its end, as their threads' order tells. Others read the words there, which are
 * even, and write to those of the second piece; the last launches are alone. The threads draw their
 * order from `drawn`, or from the first word (0). Prints the sum of all. */
static void order_of_large(unsigned times, unsigned others, unsigned piece, CUdeviceptr drawn)
{
    enum { LAST = 256 };
    const unsigned bytes = 2 * piece + (10u << 20), words = piece / 4 - LAST;
    CUdeviceptr base, at[2], to, last, zero, sum;
    CUstream stream;
    unsigned n = words, few = LAST, factor = 1, shift = 2;
    void *strays[] = {&to, drawn ? &drawn : &base, &n}, *updates[] = {&last, &few, &factor, &shift},
         *adds[] = {&last, &zero, &sum, &few};

    MUST(cuMemAlloc(&base, bytes));
    MUST(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    MUST(cuMemsetD32(base, 0, bytes / 4));
    at[0] = base + (1 << 20);
    at[1] = base + (2 << 20) + piece;
    zero = base + 2 * (CUdeviceptr)piece + (4 << 20);
    sum = base + 2 * (CUdeviceptr)piece + (6 << 20);
    for (unsigned i = 0; i < times; i++) {
        to = at[i % 2];
        last = to + 4 * (CUdeviceptr)(words - LAST);
        MUST(cuLaunchKernel(of[gpu].stray, 1, 1, 1, 32, 1, 1, 0, stream, strays, NULL));
        if (i < others && i % 6 == 5)
            MUST(cuLaunchKernel(of[gpu].scale, 1, 1, 1, LAST, 1, 1, 0, stream, updates, NULL));
        if (i < others && i % 5 == 4)
            MUST(cuLaunchKernel(of[gpu].add, 1, 1, 1, LAST, 1, 1, 0, stream, adds, NULL));
    }
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream)); /* held launches are replayed */
    printf("sum: %u\n", sum_of(base + 8, bytes / 4 - 2));
    MUST(cuMemFree(base));
}

/* Launches that add 1 to a word at the begin of a large piece, and now and then to one at its end,
 * where another launch behind each of them saves and writes it. Prints the sum of all. */
static void order_saved_behind(int times)
{
    enum { BYTES = 80 << 20, LAST = 4096 };
    CUdeviceptr base, to, last;
    unsigned n = BYTES / 4 - (2u << 18), few = LAST, factor = 1, shift = 0;
    void *races[] = {&to, &base, &n}, *updates[] = {&last, &few, &factor, &shift};

    MUST(cuMemAlloc(&base, BYTES));
    MUST(cuMemsetD32(base, 0, BYTES / 4));
    to = base + (1 << 20);
    last = to + 4 * (CUdeviceptr)(n - LAST);
    for (int i = 0; i < times; i++) {
        MUST(cuLaunchKernel(of[gpu].race, 1, 1, 1, 32, 1, 1, 0, NULL, races, NULL));
        MUST(cuLaunchKernel(of[gpu].scale, LAST / 256, 1, 1, 256, 1, 1, 0, NULL, updates, NULL));
    }
    printf("sum: %u\n", sum_of(base + 4, BYTES / 4 - 1));
    MUST(cuMemFree(base));
}

/* Words that a launch changes in each round, that others read, and to one of which a launch in
 * between adds 3 now and then, far behind its piece, or `beside` it: that has an allocation of its
 * own; then others take their part. All have other counts for odd words. Prints the sum of all. */
static void stray_word(int times, bool beside)
{
    enum { BYTES = 48 << 20, WORDS = 64 };
    CUdeviceptr base, apart, index, piece, sums, zero, words, other;
    unsigned n = WORDS, many = 1000, factor = 1, shift = 2;
    void *flips[] = {&words, &n}, *adds[] = {&words, &zero, &sums, &n},
         *scatters[] = {&piece, &index, &n}, *updates[] = {&other, &many, &factor, &shift};

    MUST(cuMemAlloc(&base, BYTES));
    MUST(cuMemAlloc(&apart, 1 << 16));
    MUST(cuMemsetD32(base, 0, BYTES / 4));
    MUST(cuMemsetD32(apart, 0, (1 << 16) / 4));
    index = beside ? apart + (1 << 15) : base + (1 << 20);
    piece = beside ? apart : base + (2 << 20);
    sums = base + (3 << 20);
    zero = base + (4 << 20);
    other = base + (5 << 20);
    words = base + (6 << 20); /* a piece ends here */
    MUST(cuLaunchKernel(of[gpu].flip, 1, 1, 1, WORDS, 1, 1, 0, NULL, flips, NULL));
    for (int i = 0; i < times; i++) {
        words = base + ((24 + i / 40) << 20);
        const int64_t to = i % 40 == 39 ? (int64_t)(words - piece) / 4 : 60;
        MUST(cuMemsetD32(index, (uint32_t)to, 1));
        MUST(cuLaunchKernel(of[gpu].flip, 1, 1, 1, WORDS, 1, 1, 0, NULL, flips, NULL));
        MUST(cuLaunchKernel(of[gpu].add, 1, 1, 1, WORDS, 1, 1, 0, NULL, adds, NULL));
        MUST(cuLaunchKernel(of[gpu].scatter, 1, 1, 1, WORDS, 1, 1, 0, NULL, scatters, NULL));
        MUST(cuLaunchKernel(of[gpu].add, 1, 1, 1, WORDS, 1, 1, 0, NULL, adds, NULL));
        MUST(cuLaunchKernel(of[gpu].scale, 4, 1, 1, 256, 1, 1, 0, NULL, updates, NULL));
    }
    printf("sum: %u\n", sum_of(base, BYTES / 4) + sum_of(apart, (1 << 16) / 4));
    MUST(cuMemFree(apart));
    MUST(cuMemFree(base));
}

/* Launches on two pieces that are large beside the memory for copies. Prints the sum of all. */
static void large_pieces(int times)
{
    enum { BYTES = 48 << 20 };
    CUdeviceptr base, to;
    unsigned n = 1000, factor = 3, shift = 1;
    void *updates[] = {&to, &n, &factor, &shift};

    MUST(cuMemAlloc(&base, BYTES));
    MUST(cuMemsetD32(base, 1, BYTES / 4));
    for (int i = 0; i < times; i++) {
        to = base + ((i % 2 ? 25 : 1) << 20);
        MUST(cuLaunchKernel(of[gpu].scale, 4, 1, 1, 256, 1, 1, 0, NULL, updates, NULL));
    }
    printf("sum: %u\n", sum_of(base, BYTES / 4));
    MUST(cuMemFree(base));
}

/* Sums that lie in an allocation of their own at first, and then beside the numbers. Prints the sum
 * of all. */
static void moved_sums(void)
{
    enum { BYTES = 12 << 20, WORDS = 300000, TIMES = 6 };
    CUdeviceptr base, apart, numbers[2], sums;
    unsigned n = WORDS;
    void *adds[] = {&numbers[0], &numbers[1], &sums, &n};

    MUST(cuMemAlloc(&base, BYTES));
    MUST(cuMemAlloc(&apart, 4 * WORDS));
    MUST(cuMemsetD32(base, 1, BYTES / 4));
    MUST(cuMemsetD32(apart, 1, WORDS));
    numbers[0] = base + (1 << 20);
    numbers[1] = base + (3 << 20);
    for (unsigned i = 0; i < 2 * TIMES; i++) {
        sums = i < TIMES ? apart : base + (6 << 20);
        MUST(
            cuLaunchKernel(of[gpu].add, (WORDS + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, adds, NULL));
    }
    printf("sum: %u\n", sum_of(base, BYTES / 4) + sum_of(apart, WORDS));
    MUST(cuMemFree(apart));
    MUST(cuMemFree(base));
}

/* Launches that add 1 to a word of a large array, in which others have had their addresses before.
 * Prints the sum of all. */
static void order_behind(void)
{
    enum { BYTES = 48 << 20, FIRST = 12, TIMES = 60 };
    CUdeviceptr base, to;
    unsigned n;
    void *params[] = {&to, &base, &n};

    MUST(cuMemAlloc(&base, BYTES));
    MUST(cuMemsetD32(base, 0, BYTES / 4));
    for (unsigned i = 0; i < FIRST + TIMES; i++) {
        to = base + (i < FIRST ? (1u + 4 * i) << 20 : 1u << 20);
        n = i < FIRST ? 5 : (BYTES - (1 << 20)) / 4;
        MUST(cuLaunchKernel(of[gpu].race, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    }
    printf("sum: %u\n", sum_of(base + 4, BYTES / 4 - 1));
    MUST(cuMemFree(base));
}

/* Launches that add 1 to a word of pieces that overlap, as their threads' order tells, of an
 * allocation that is freed and had again, with fills in between. Prints the sum of all that they
 * have added. */
static void order_at_random(int times, unsigned bytes, unsigned kinds)
{
    enum { QUIET_BYTES = 1 << 20, CUT = 4 };
    const CUfunction kernels[] = {of[gpu].draw, of[gpu].race, of[gpu].stray};
    CUdeviceptr base = 0, at[CUT] = {0}, to;
    uint32_t sum = 0;
    unsigned n;
    void *params[] = {&to, &base, &n};

    for (int i = 0; i <= times; i++) {
        if (base && (i == times || !chance(80))) {
            sum += sum_of(base + QUIET_BYTES, (bytes - QUIET_BYTES) / 4);
            MUST(cuMemFree(base));
            base = 0;
        }
        if (i == times)
            break;
        if (!base) {
            MUST(cuMemAlloc(&base, bytes));
            MUST(cuMemsetD32(base, 0, bytes / 4));
            for (unsigned k = 0; k < CUT; k++)
                at[k] = base + QUIET_BYTES + k * (2u << 20) + 256 * chance(4000);
        }
        to = at[chance(CUT)];
        n = 64u << (kinds == 2 ? chance(14) : 13 * chance(2));
        if (!chance(15)) {
            const uint32_t value = chance(3);
            sum += sum_of(to, n) - n * value;
            MUST(cuMemsetD32(to, value, n));
        }
        MUST(cuLaunchKernel(kernels[chance(kinds)], 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
        if (!chance(40))
            at[chance(CUT)] = base + QUIET_BYTES + 4 * chance(2 << 20);
    }
    printf("sum: %u\nlaunches: %d\n", sum, times);
}

/* From the middle on a kernel writes elsewhere at each launch. */
static void scatter_on(void)
{
    struct arena a;

    begin(&a, PARTS, 12);
    for (int i = 0; i < LAUNCHES; i++) {
        if (i % 4 == 3)
            launch_scatter(&a, &a.pieces[1 + chance(PIECES - 1)],
                           i < 60       ? OWN
                           : i % 8 == 3 ? OTHER
                                        : FAR,
                           NULL);
        else
            launch_any(&a, 1, PIECES - 1, NULL);
    }
    end(&a);
}

/* ---- a program made by chance ---- */

enum { STEPS = 400, SLOT = 4 * MOST_WORDS + 300 };

/* Words of a piece, from one of them on. */
static struct piece part_of(const struct piece *p)
{
    const unsigned first = chance(3) ? 0 : chance(p->words - 64);

    return (struct piece){p->at + 4 * first, p->words - first, p->expected + first};
}

/* The piece goes, and another one comes to lie where none is. */
static void cut_anew(struct arena *a, struct piece *p, bool *taken)
{
    unsigned slot;

    taken[(p->at - a->base) / SLOT] = false;
    do
        slot = 40 + chance(3 * PIECES);
    while (taken[slot]);
    taken[slot] = true;
    p->at = a->base + (size_t)slot * SLOT + 4 * chance(30);
    free(p->expected);
    p->words = 100 + chance(MOST_WORDS - 100);
    p->expected = calloc(p->words, sizeof(uint32_t));
    MUST(cuMemsetD32(p->at, 0, p->words));
}

/* A word of the piece behind those that the launch changes in any case, or a word far away. */
static void scatter_at_random(struct arena *a, bool far)
{
    struct piece *p = &a->pieces[1 + chance(PIECES - 1)],
                 *other = &a->pieces[1 + chance(PIECES - 1)];
    struct piece *index = &a->pieces[0];
    const unsigned k = 64 + chance(p->words - 64), away = chance(QUIET);
    const bool apart = far && chance(2), behind = far && !apart && other != p;
    CUdeviceptr to = apart ? far_of(a) + 4 * away : behind ? other->at + 4 * 70 : p->at + 4 * k;
    uint32_t word = (uint32_t)((int64_t)(to - p->at) / 4);
    unsigned n = 64;
    void *params[] = {&p->at, &index->at, &n};

    MUST(cuMemsetD32(index->at, word, 1));
    index->expected[0] = word;
    MUST(cuLaunchKernel(of[gpu].scatter, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    for (unsigned i = 0; i < n; i++)
        if (i != 50)
            p->expected[i] = 2 * p->expected[i] + 1;
    *(apart ? &a->far[away] : behind ? &other->expected[70] : &p->expected[k]) += 3;
}

/* A word of a piece is 3 more where the table leads there. */
static void launch_through(CUdeviceptr table, struct piece *p, struct piece *to)
{
    static CUdeviceptr before = UINT64_MAX;
    const CUdeviceptr address = to ? to->at + 4 * 90 : 0;
    unsigned n = 64, at = TABLE_INDEX;
    void *params[] = {&p->at, &table, &at};

    if (address != before)
        MUST(cuMemcpyHtoD(table + sizeof(address) * at, &address, sizeof(address)));
    before = address;
    MUST(cuLaunchKernel(of[gpu].through, 1, 1, 1, n, 1, 1, 0, NULL, params, NULL));
    for (unsigned k = 0; k < n; k++)
        p->expected[k] = 2 * p->expected[k] + 1;
    if (to)
        to->expected[90] += 3;
}

static void at_random(bool far)
{
    static struct arena a;
    bool taken[40 + 3 * PIECES] = {false};
    unsigned launches = 0;
    struct piece part;

    begin(&a, PARTS, 12);
    for (int i = 0; i < PIECES; i++)
        cut_anew(&a, &a.pieces[i], taken);
    for (int i = 0; i < STEPS; i++, launches++) {
        if (!chance(15))
            cut_anew(&a, &a.pieces[1 + chance(PIECES - 1)], taken);
        if (!chance(20))
            copy_any(&a);
        switch (chance(5)) {
        case 4:
            launch_through(a.base + TABLE, &a.pieces[1 + chance(PIECES - 1)],
                           chance(3) ? &a.pieces[1 + chance(PIECES - 1)] : NULL);
            break;
        case 0:
            scatter_at_random(&a, !chance(60) && far);
            break;
        case 1:
            part = part_of(&a.pieces[1 + chance(PIECES - 1)]);
            launch_scale(&part, part.words, 1 + chance(2), NULL);
            break;
        default:
            launch_any(&a, 1, PIECES - 1, NULL);
        }
        if (!chance(50))
            MUST(cuCtxSynchronize());
    }
    end(&a);
    printf("launches: %u\n", launches);
}

/* Every other launch loads an address: of no memory, or now and then of another piece or of another
 * allocation. The table stands behind the pieces; in the case "arena" it is an allocation, and
 * leads to another arena. */
static void through_memory(const char *where)
{
    static struct arena a, other;
    const bool nowhere = strcmp(where, "nowhere") == 0, piece = strcmp(where, "piece") == 0;
    const bool two = strcmp(where, "arena") == 0;
    CUdeviceptr table;

    begin(&a, PARTS, 12);
    begin(&other, two ? PARTS : WHOLE, 12);
    if (two)
        MUST(cuMemAlloc(&table, 3 << 19));
    else
        table = a.base + TABLE;
    for (int i = 0; i < LAUNCHES; i++) {
        struct arena *leads = piece ? &a : &other;
        struct piece *to = &leads->pieces[chance(PIECES)];
        if (i % 2 == 1)
            launch_through(table, &a.pieces[chance(PIECES)], nowhere || i % 20 != 19 ? NULL : to);
        else
            launch_any(two && i % 4 == 0 ? &other : &a, 0, PIECES, NULL);
    }
    end(&a);
    end(&other);
    if (two)
        MUST(cuMemFree(table));
}

/* A node of 8 bytes far behind all pieces, where an allocator would put one. */
static CUdeviceptr node_of(const struct arena *a)
{
    return far_of(a) / 256 * 256 + 1024;
}

/* The table leads to a node far behind all pieces, and that to another allocation. */
static void through_node(void)
{
    static struct arena a, other;
    CUdeviceptr table, none = 0, node;
    unsigned n = 64, at = 0;

    begin(&a, PARTS, 12);
    begin(&other, WHOLE, 12);
    MUST(cuMemAlloc(&table, 4096));
    MUST(cuMemcpyHtoD(table, &none, sizeof(none)));
    node = node_of(&a);
    for (int i = 0; i < LAUNCHES; i++) {
        struct piece *p = &a.pieces[chance(PIECES)];
        struct piece *to = i > 100 && i % 10 == 9 ? &other.pieces[chance(PIECES)] : NULL;
        void *params[] = {&p->at, &table, &at};
        if (i % 3 != 0) {
            launch_any(&a, 0, PIECES, NULL);
            continue;
        }
        if (to) {
            const CUdeviceptr word = to->at + 4 * 90;
            MUST(cuMemcpyHtoD(node, &word, sizeof(word)));
        }
        MUST(cuMemcpyHtoD(table, to ? &node : &none, sizeof(node)));
        MUST(cuLaunchKernel(of[gpu].node, 1, 1, 1, n, 1, 1, 0, NULL, params, NULL));
        for (unsigned k = 0; k < n; k++)
            p->expected[k] = 2 * p->expected[k] + 1;
        if (to)
            to->expected[90] += 3;
    }
    MUST(cuMemsetD32(far_of(&a), 7, QUIET));
    end(&a);
    end(&other);
    MUST(cuMemFree(table));
}

/* A kernel has addresses of more pieces than are noted, and a table behind them that leads to
 * another allocation. */
static void through_many(void)
{
    enum { MANY = 72 };
    static struct arena a, other;
    CUdeviceptr table, of_thread[MANY];
    unsigned at = 0;

    begin(&a, PARTS, 12);
    begin(&other, WHOLE, 12);
    table = a.base + TABLE;
    MUST(cuMemsetD32(table, 0, 2));
    for (int i = 0; i < LAUNCHES / 2; i++) {
        struct piece *to = i > 50 && i % 5 == 4 ? &other.pieces[chance(PIECES)] : NULL;
        const CUdeviceptr word = to ? to->at + 4 * 90 : 0;
        void *params[] = {of_thread, &table, &at};
        launch_any(&a, 0, PIECES, NULL);
        MUST(cuMemcpyHtoD(table, &word, sizeof(word)));
        for (int k = 0; k < MANY; k++) {
            struct piece *p = &a.pieces[k % PIECES];
            of_thread[k] = p->at + 4 * (k / PIECES);
            p->expected[k / PIECES] = 2 * p->expected[k / PIECES] + 1;
        }
        MUST(cuLaunchKernel(of[gpu].many, 1, 1, 1, MANY, 1, 1, 0, NULL, params, NULL));
        if (to)
            to->expected[90] += 3;
    }
    end(&a);
    end(&other);
}

/* Writes of one launch and of the next one to the same memory far behind all pieces: the first by a
 * number, of which nobody knows, the second one by an address. */
static void through_far(void)
{
    static struct arena a;
    CUdeviceptr table, word;

    begin(&a, PARTS, 12);
    MUST(cuMemAlloc(&table, 4096));
    for (int i = 0; i < LAUNCHES; i++) {
        const bool far = i % 40 == 38, behind = i % 40 == 39 || i == 27;
        struct piece *p = &a.pieces[1 + chance(PIECES - 1)];
        const unsigned k = (unsigned)((node_of(&a) - far_of(&a)) / 4);
        unsigned at = 0;
        void *params[] = {&p->at, &table, &at};
        if (!behind && i % 4 != 3) {
            launch_scatter(&a, p, far ? FAR : OWN, NULL);
            continue;
        }
        word = behind ? node_of(&a) : 0;
        MUST(cuMemcpyHtoD(table, &word, sizeof(word)));
        MUST(cuLaunchKernel(of[gpu].through, 1 + behind, 1, 1, behind ? 32 : 64, 1, 1, 0, NULL,
                            params, NULL));
        for (unsigned j = 0; j < 64; j++)
            p->expected[j] = 2 * p->expected[j] + 1;
        if (behind)
            a.far[k] += 3;
    }
    end(&a);
    MUST(cuMemFree(table));
}

/* Now and then the second GPU writes to the first one's arena: by a copy, by a kernel that has an
 * address of it, or by an address in memory. */
static void write_to_first(const char *how, struct arena *first, struct arena *second)
{
    struct piece *to = &first->pieces[chance(PIECES)], *from = &second->pieces[chance(PIECES)];

    if (strcmp(how, "-kernels") == 0) {
        launch_add(from, &second->pieces[chance(PIECES)], to, NULL);
    } else if (strcmp(how, "-through") == 0) {
        launch_through(second->base + TABLE, from, to);
    } else if (strcmp(how, "-copies") == 0) {
        MUST(cuMemcpyPeer(to->at, of[0].context, from->at, of[1].context, 400));
        memcpy(to->expected, from->expected, 400);
    }
}

/* Waits for the host on the second GPU, while the first arena is freed. */
static void free_beside(struct arena *first)
{
    CUdeviceptr flag, seen;
    void *memory, *params[] = {&flag, &seen};

    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&flag, memory, 0));
    *(uint32_t *)memory = 0;
    use(1);
    MUST(cuMemAlloc(&seen, 4));
    MUST(cuLaunchKernel(waits, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    use(0);
    end(first);
    __atomic_store_n((uint32_t *)memory, 7u, __ATOMIC_RELEASE);
    use(1);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(seen));
    MUST(cuMemFreeHost(memory));
}

/* Both GPUs change pieces of their own arenas. */
static void peers(enum kind kind, const char *how)
{
    static struct arena arenas[2];

    for (unsigned i = 0; i < 2; i++) {
        use(i);
        begin(&arenas[i], kind, 12);
        if (kind == PARTS)
            MUST(cuCtxEnablePeerAccess(of[1 - i].context, 0));
    }
    for (int i = 0; i < LAUNCHES; i++) {
        use(i % 4 == 3);
        if (i % 40 == 39)
            write_to_first(how, &arenas[0], &arenas[1]);
        launch_any(&arenas[gpu], 0, PIECES, NULL);
        MUST(cuCtxSynchronize());
    }
    if (strcmp(how, "-waits") == 0)
        free_beside(&arenas[0]);
    for (unsigned i = strcmp(how, "-waits") == 0; i < 2; i++) {
        use(i);
        end(&arenas[i]);
    }
}

static void begin_on(unsigned which, const void *image)
{
    CUmodule module;

    MUST(cuCtxCreate_v2(&of[which].context, 0, (CUdevice)which));
    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&of[which].scale, module, "arena_update"));
    MUST(cuModuleGetFunction(&of[which].add, module, "arena_add"));
    MUST(cuModuleGetFunction(&of[which].flip, module, "arena_flip"));
    MUST(cuModuleGetFunction(&of[which].scatter, module, "arena_scatter"));
    MUST(cuModuleGetFunction(&of[which].stray, module, "arena_stray"));
    MUST(cuModuleGetFunction(&of[which].draw, module, "arena_draw"));
    MUST(cuModuleGetFunction(&of[which].race, module, "arena_race"));
    MUST(cuModuleGetFunction(&of[which].through, module, "arena_through"));
    MUST(cuModuleGetFunction(&of[which].node, module, "arena_node"));
    MUST(cuModuleGetFunction(&of[which].many, module, "arena_many"));
    MUST(cuModuleGetFunction(&waits, module, "wait_for_flag"));
}

int main(int argc, char **argv)
{
    void *image;
    size_t size;
    const char *which = argc > 1 ? argv[1] : "";

    (void)alarm(250); /* longer than on a busy machine */
    seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    MUST(cuInit(0));
    image = snippets_image(&size);
    begin_on(0, image);
    if (!strncmp(which, "peers", 5) || !strncmp(which, "access", 6)) {
        begin_on(1, image);
        free(image);
        peers(*which == 'p' ? MAPPED : PARTS, which + (*which == 'p' ? 5 : 6));
        return 0;
    }
    free(image);
    if (!strcmp(which, "pieces") || !strcmp(which, "whole"))
        pieces(!strcmp(which, "whole"));
    else if (!strcmp(which, "thirds"))
        thirds();
    else if (!strcmp(which, "alike") || !strcmp(which, "alike-whole"))
        alike(!strcmp(which, "alike-whole"));
    else if (!strcmp(which, "alternate"))
        alternate();
    else if (!strcmp(which, "copies"))
        copies();
    else if (!strcmp(which, "through-node"))
        through_node();
    else if (!strcmp(which, "through-many"))
        through_many();
    else if (!strcmp(which, "through-far"))
        through_far();
    else if (!strncmp(which, "through-", 8))
        through_memory(which + 8);
    else if (!strncmp(which, "beside-", 7))
        beside(which + 7);
    else if (!strcmp(which, "streams"))
        streams();
    else if (!strcmp(which, "graphs"))
        graphs();
    else if (!strcmp(which, "graphs-random"))
        graphs_at_random();
    else if (!strcmp(which, "graphs-busy"))
        graphs_busy();
    else if (!strcmp(which, "short"))
        short_of_memory();
    else if (!strcmp(which, "random") || !strcmp(which, "random-near"))
        at_random(!strcmp(which, "random"));
    else if (!strcmp(which, "blocked"))
        blocked();
    else if (!strcmp(which, "freed"))
        freed();
    else if (!strcmp(which, "stray-word") || !strcmp(which, "stray-beside"))
        stray_word(200, !strcmp(which, "stray-beside"));
    else if (!strcmp(which, "large"))
        large_pieces(40);
    else if (!strcmp(which, "moved"))
        moved_sums();
    else if (!strcmp(which, "scatter-once"))
        scatter_once();
    else if (!strcmp(which, "order"))
        order(of[gpu].draw);
    else if (!strcmp(which, "race"))
        order(of[gpu].race);
    else if (!strcmp(which, "order-large")) {
        order_of_large(40, 40, 43 << 20, 0);
        order_of_large(14, 0, 43 << 20, 0);
    } else if (!strcmp(which, "order-saved")) {
        order_saved_behind(400);
    } else if (!strcmp(which, "order-managed")) {
        order_of_large(16, 0, 43 << 20, 0);
        order_of_large(12, 0, 43 << 20, managed());
    } else if (!strcmp(which, "order-huge")) {
        order_of_large(24, 24, 300 << 20, 0);
        order_of_large(8, 0, 300 << 20, 0);
    } else if (!strcmp(which, "race-behind"))
        order_behind();
    else if (!strcmp(which, "random-order"))
        order_at_random(600, 12 << 20, 2);
    else if (!strcmp(which, "random-order-large"))
        order_at_random(300, 100 << 20, 3);
    else if (!strcmp(which, "scatter-on"))
        scatter_on();
    else if (!strcmp(which, "scatter") || !strcmp(which, "scatter-far"))
        scatter_far(!strcmp(which, "scatter-far"));
    else
        return 2;
    return 0;
}
