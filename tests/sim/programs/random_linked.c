/*
 * random_linked SEED [THREADS [STEPS [waits]]]: a program made by chance, the same for the same
 * seed. Memory of every kind comes and goes, kernels update it in several streams, in graphs and
 * behind host functions, modules and streams come and go. Every other program has an arena, of
 * which it cuts pieces, gives them back, and cuts others there. Operations that touch the
 * same memory have an order, so the results are the same in each run. With "waits" there are
 * kernels, too, that wait for the host or for another stream. Prints digests of memory, and how
 * many kernels were launched.
 */
#include <pthread.h>
#include <stdint.h>

#include "image.h"
#include "programs/linked.h"
#include "programs/nodes.h"

enum {
    PIECES = 14,
    STREAMS = 4,
    MODULES = 3,
    GRAPHS = 3,
    MOST_WORDS = 3000,
    MOST_THREADS = 8,
    TABLE = 6, /* pointers in a table, elements of a list */
    SLOTS = 48,
    SLOT_BYTES = 4 * MOST_WORDS + 544, /* not in whole units of a profiler's */
    ARENA_BYTES = 4456448,             /* the last slots lie at its end */
};

enum memory {
    PLAIN,
    PITCHED,
    ORDERED, /* allocated and freed in the order of a stream */
    MANAGED,
    PINNED,     /* of the host, which the device reaches */
    REGISTERED, /* the same, of the program's own */
    MAPPED,     /* physical memory at a reserved address */
    CUT,        /* a part of the arena */
    KINDS,
};

/* Memory, or the variables of a module. One stream at a time has the use of it. */
struct piece {
    bool exists;
    enum memory kind;
    CUdeviceptr at;
    uint32_t *host; /* of pinned and managed memory */
    size_t mapped;  /* bytes */
    CUmemGenericAllocationHandle handle;
    unsigned words;
    unsigned stream;
    unsigned graphs; /* that use it */
    unsigned slot;   /* of the arena */
};

/* A part of the arena, for a piece. */
struct slot {
    bool taken;
    unsigned stream; /* in which its last piece was used */
};

struct module {
    bool exists;
    CUmodule module;
    CUlibrary library; /* or NULL */
    struct piece variables;
};

struct graph {
    bool exists;
    CUgraph graph;
    CUgraphExec exec;
    unsigned pieces, module; /* those used: bits, an index */
    unsigned kernels;
};

struct world {
    uint64_t chance;
    unsigned number;
    CUcontext context;
    const void *image;
    size_t image_bytes;
    struct piece pieces[PIECES];
    bool has_arena;
    CUdeviceptr arena; /* 0: there is none */
    struct slot slots[SLOTS];
    struct module modules[MODULES];
    struct graph graphs[GRAPHS];
    CUstream streams[STREAMS]; /* the first is the default stream */
    CUevent event;
    struct graph *captured; /* operations go into it */
    unsigned capturing[2];  /* in these streams */
    bool waits;             /* there are kernels that wait */
    bool waiting;           /* one of them does: the host must not wait for anything */
    unsigned launches, steps;
    uint32_t digest;
    FILE *out;
    char *text;
    size_t text_bytes;
    uint32_t *buffer;
};

/* ---- chance ---- */

static unsigned below(struct world *w, unsigned n)
{
    w->chance = w->chance * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((w->chance >> 33) % n);
}

static bool one_in(struct world *w, unsigned n)
{
    return below(w, n) == 0;
}

/* ---- order ---- */

/* Later work in that stream comes behind earlier work with the piece. */
static void use(struct world *w, struct piece *p, unsigned stream)
{
    if (w->captured) {
        /* Everything else was waited for. Two streams are captured, each with half of the memory.
         */
        if (p >= w->pieces && p < w->pieces + PIECES)
            w->captured->pieces |= 1u << (p - w->pieces);
        return;
    }
    if (p->stream == stream)
        return;
    MUST(cuEventRecord(w->event, w->streams[p->stream]));
    MUST(cuStreamWaitEvent(w->streams[stream], w->event, 0));
    p->stream = stream;
}

static void everything_is_done(struct world *w)
{
    for (unsigned i = 0; i < STREAMS; i++)
        if (i == 0 || w->streams[i])
            MUST(cuStreamSynchronize(w->streams[i]));
}

static unsigned any_stream(struct world *w)
{
    unsigned s;

    if (w->captured)
        return w->capturing[below(w, 2)];
    do
        s = below(w, STREAMS);
    while (s && !w->streams[s]);
    return s;
}

/* A piece that the operation may use, with at least so many words; NULL: none was found. */
static struct piece *any_piece(struct world *w, unsigned words, unsigned stream)
{
    for (unsigned tries = 0; tries < 20; tries++) {
        unsigned i = below(w, PIECES);
        struct piece *p = &w->pieces[i];
        bool mine = !w->captured || (i % 2 == 0) == (stream == w->capturing[0]);
        if (p->exists && p->words >= words && mine)
            return p;
    }
    return NULL;
}

static struct module *any_module(struct world *w)
{
    for (;;) {
        struct module *m = &w->modules[below(w, MODULES)];
        if (m->exists)
            return m;
    }
}

/* ---- memory ---- */

static void map(struct piece *p, size_t bytes)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    size_t unit;

    MUST(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    p->mapped = (bytes + unit - 1) / unit * unit;
    MUST(cuMemAddressReserve(&p->at, p->mapped, 0, 0, 0));
    MUST(cuMemCreate(&p->handle, p->mapped, &prop, 0));
    MUST(cuMemMap(p->at, p->mapped, 0, p->handle, 0));
    MUST(cuMemSetAccess(p->at, p->mapped, &access, 1));
}

/* A free slot among some; every fourth one lies far behind the others. */
static bool cut(struct world *w, struct piece *p)
{
    unsigned i = below(w, SLOTS);
    struct slot *slot = &w->slots[i];

    if (!w->arena || slot->taken)
        return false;
    p->at = i % 4 ? w->arena + i * SLOT_BYTES : w->arena + ARENA_BYTES - (i / 4 + 1) * SLOT_BYTES;
    p->slot = i;
    p->stream = slot->stream;
    slot->taken = true;
    return true;
}

static void allocate(struct world *w, struct piece *p)
{
    unsigned stream = any_stream(w);
    size_t bytes, pitch;

    *p = (struct piece){.exists = true, .kind = below(w, KINDS), .stream = stream};
    p->words = 64 + below(w, MOST_WORDS - 64);
    bytes = p->words * sizeof(uint32_t);
    if (w->arena && one_in(w, 2))
        p->kind = CUT;
    if (p->kind == CUT && !cut(w, p))
        p->kind = PLAIN;
    switch (p->kind) {
    case CUT:
        break;
    case PLAIN:
        MUST(cuMemAlloc(&p->at, bytes));
        break;
    case PITCHED:
        MUST(cuMemAllocPitch(&p->at, &pitch, 256, bytes / 256 + 1, 4));
        break;
    case ORDERED:
        MUST(cuMemAllocAsync(&p->at, bytes, w->streams[stream]));
        break;
    case MANAGED:
        MUST(cuMemAllocManaged(&p->at, bytes, CU_MEM_ATTACH_GLOBAL));
        p->host = (uint32_t *)(uintptr_t)p->at;
        break;
    case PINNED:
        MUST(cuMemHostAlloc((void **)&p->host, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
        MUST(cuMemHostGetDevicePointer(&p->at, p->host, 0));
        break;
    case REGISTERED:
        if (posix_memalign((void **)&p->host, 4096, (bytes + 4095) / 4096 * 4096) != 0)
            exit(2);
        MUST(
            cuMemHostRegister(p->host, (bytes + 4095) / 4096 * 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
        MUST(cuMemHostGetDevicePointer(&p->at, p->host, 0));
        break;
    default:
        map(p, bytes);
        break;
    }
    MUST(cuMemsetD32Async(p->at, below(w, 1000), p->words, w->streams[p->stream]));
}

static void release(struct world *w, struct piece *p)
{
    switch (p->kind) {
    case CUT:
        w->slots[p->slot] = (struct slot){.stream = p->stream};
        break;
    case ORDERED:
        if (!one_in(w, 3)) {
            unsigned stream = any_stream(w);
            use(w, p, stream);
            MUST(cuMemFreeAsync(p->at, w->streams[stream]));
            break;
        }
        MUST(cuStreamSynchronize(w->streams[p->stream]));
        /* fall through */
    case PLAIN:
    case PITCHED:
    case MANAGED:
        MUST(cuMemFree(p->at));
        break;
    case PINNED:
        MUST(cuMemFreeHost(p->host));
        break;
    case REGISTERED:
        MUST(cuStreamSynchronize(w->streams[p->stream]));
        MUST(cuMemHostUnregister(p->host));
        free(p->host);
        break;
    default:
        MUST(cuStreamSynchronize(w->streams[p->stream]));
        MUST(cuMemUnmap(p->at, p->mapped));
        MUST(cuMemRelease(p->handle));
        MUST(cuMemAddressFree(p->at, p->mapped));
        break;
    }
    p->exists = false;
}

static void come_or_go(struct world *w)
{
    struct piece *p = &w->pieces[below(w, PIECES)];

    if (!p->exists)
        allocate(w, p);
    else if (p->graphs == 0)
        release(w, p);
}

static void add_digest(struct world *w, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        w->digest = (w->digest ^ words[i]) * 16777619u;
}

static void read_back(struct world *w, struct piece *p)
{
    if ((p->host) && one_in(w, 2)) {
        if (p->kind == MANAGED)
            everything_is_done(w);
        else
            MUST(cuStreamSynchronize(w->streams[p->stream]));
        add_digest(w, p->host, p->words);
        return;
    }
    if (one_in(w, 2)) {
        use(w, p, 0);
        MUST(cuMemcpyDtoH(w->buffer, p->at, p->words * sizeof(uint32_t)));
    } else {
        MUST(cuMemcpyDtoHAsync(w->buffer, p->at, p->words * sizeof(uint32_t),
                               w->streams[p->stream]));
        MUST(cuStreamSynchronize(w->streams[p->stream]));
    }
    add_digest(w, w->buffer, p->words);
}

static void write(struct world *w, struct piece *p)
{
    if (p->kind == MANAGED)
        everything_is_done(w);
    else if (p->host)
        MUST(cuStreamSynchronize(w->streams[p->stream]));
    else
        use(w, p, 0);
    for (unsigned i = 0; i < p->words; i++)
        w->buffer[i] = below(w, 1 << 20);
    if (p->host)
        memcpy(p->host, w->buffer, p->words * sizeof(uint32_t));
    else
        MUST(cuMemcpyHtoD(p->at, w->buffer, p->words * sizeof(uint32_t)));
}

static void fill(struct world *w, struct piece *p, unsigned stream)
{
    use(w, p, stream);
    if (one_in(w, 2))
        MUST(
            cuMemsetD32Async(p->at, below(w, 1 << 20), 1 + below(w, p->words), w->streams[stream]));
    else
        MUST(cuMemsetD8Async(p->at, (unsigned char)below(w, 256), 1 + below(w, p->words * 4),
                             w->streams[stream]));
}

static void copy(struct world *w, unsigned stream)
{
    struct piece *from = any_piece(w, 0, stream), *to = any_piece(w, 0, stream);

    if (!from || !to || from == to)
        return;
    use(w, from, stream);
    use(w, to, stream);
    unsigned words = 1 + below(w, from->words < to->words ? from->words : to->words);
    MUST(cuMemcpyDtoDAsync(to->at, from->at, words * sizeof(uint32_t), w->streams[stream]));
}

/* A pinned piece is changed by the host, in the order of a stream. */
static void change(void *argument)
{
    struct piece *p = argument;

    for (unsigned i = 0; i < p->words; i++)
        p->host[i] = p->host[i] * 5 + i;
}

static void host_function(struct world *w, unsigned stream)
{
    struct piece *p = any_piece(w, 0, stream);

    if (!p || (p->kind != PINNED && p->kind != REGISTERED))
        return;
    use(w, p, stream);
    MUST(cuLaunchHostFunc(w->streams[stream], change, p));
}

/* ---- kernels ---- */

static const struct gpusim_image_kernel kernels[] = {
    {"vector_add", 12, 0, 0},       {"scale_in_place", 10, 0, 0},
    {"global_state", 10, 0, 0},     {"global_counter", 8, 0, 0},
    {"grid_is_valid", 8, 0, 0},     {"atomic_counter", 10, 0, 0},
    {"atomic_histogram", 10, 0, 0}, {"sum_neighbours", 14, 0, 0},
    {"sum_shared", 14, 0, 0},       {"sum_once", 8, 0, 0},
    {"structs_aos", 12, 0, 0},      {"reach_table", 10, 0, 0},
    {"reach_list", 10, 0, 0},       {"reach_variable", 10, 0, 0},
    {"reach_around", 10, 0, 0},     {"reach_unaligned", 10, 0, 0},
    {"reach_hidden", 10, 0, 0},     {"noop", 4, 0, 0},
    {"arena_update", 10, 0, 0},     {"arena_scatter", 10, 0, 0},
    {"wait_for_flag", 8, 0, 0}, /* the last: it is not launched like the others */
};
static const uint32_t table[8] = {3, 1, 4, 1, 5, 9, 2, 6}, state = 7;
/* The counter of every fourth program is managed: the host may write it at any time. */
static struct gpusim_image_global globals[] = {
    {"counter", 4, NULL, GPUSIM_IMAGE_GLOBAL},
    {"state", 4, &state, GPUSIM_IMAGE_GLOBAL},
    {"calls", 4, NULL, GPUSIM_IMAGE_GLOBAL},
    {"table", sizeof(table), table, GPUSIM_IMAGE_CONSTANT},
    {"anchor", 8, NULL, GPUSIM_IMAGE_GLOBAL},
};

struct call {
    const char *name;
    unsigned blocks, threads, shared;
    bool cooperative;
    bool module; /* uses the module's variables */
    unsigned count;
    uint64_t value[6];
    unsigned size[6];
    CUdeviceptr pointers[TABLE + 1]; /* where it wrote addresses, which no digest may have */
    unsigned pointer_count;
};

static void pass(struct call *c, uint64_t value, unsigned size)
{
    c->value[c->count] = value;
    c->size[c->count++] = size;
}

static void launch(struct world *w, struct module *m, const struct call *c, unsigned stream)
{
    void *params[6];
    unsigned char packed[64];
    size_t bytes = 0;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CUfunction f;
    CUstream in = w->streams[stream];

    if (c->module)
        use(w, &m->variables, stream);
    if (m->library) {
        CUkernel kernel;
        MUST(cuLibraryGetKernel(&kernel, m->library, c->name));
        f = (CUfunction)kernel;
        if (one_in(w, 2))
            MUST(cuKernelGetFunction(&f, kernel));
    } else {
        MUST(cuModuleGetFunction(&f, m->module, c->name));
    }
    for (unsigned i = 0; i < c->count; i++) {
        params[i] = (void *)(uintptr_t)&c->value[i];
        bytes = (bytes + c->size[i] - 1) / c->size[i] * c->size[i];
        memcpy(packed + bytes, &c->value[i], c->size[i]);
        bytes += c->size[i];
    }
    if (c->cooperative) {
        MUST(
            cuLaunchCooperativeKernel(f, c->blocks, 1, 1, c->threads, 1, 1, c->shared, in, params));
    } else if (one_in(w, 4)) {
        CUlaunchConfig config = {.gridDimX = c->blocks,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = c->threads,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .sharedMemBytes = c->shared,
                                 .hStream = in};
        MUST(cuLaunchKernelEx(&config, f, params, NULL));
    } else if (one_in(w, 4) && c->count > 0) {
        MUST(cuLaunchKernel(f, c->blocks, 1, 1, c->threads, 1, 1, c->shared, in, NULL, extra));
    } else {
        MUST(cuLaunchKernel(f, c->blocks, 1, 1, c->threads, 1, 1, c->shared, in, params, NULL));
    }
    if (w->captured)
        w->captured->kernels++;
    else
        w->launches++;
}

/* Pointers to pieces, written into another one: for kernels that follow them. */
static unsigned make_table(struct world *w, struct call *c, struct piece *in, unsigned stream)
{
    uint64_t pointers[TABLE];
    unsigned count = 0, most = 1 + below(w, TABLE);

    for (unsigned i = 0; i < most; i++) {
        struct piece *to = any_piece(w, 0, stream);
        if (!to || to == in)
            continue;
        use(w, to, stream);
        uint64_t at = to->at + 4 * below(w, to->words);
        bool known = false;
        for (unsigned k = 0; k < count; k++)
            known = known || pointers[k] == at;
        if (!known) {
            c->pointers[c->pointer_count++] = in->at + 8 * count;
            pointers[count++] = at;
        }
    }
    use(w, in, 0);
    MUST(cuMemcpyHtoD(in->at, pointers, sizeof(pointers[0]) * count));
    use(w, in, stream);
    return count;
}

/* Elements of a list, each in a piece of its own; where the first one is, or 0. */
static CUdeviceptr make_list(struct world *w, struct call *c, unsigned stream)
{
    CUdeviceptr next = 0;
    unsigned used = 0, most = 1 + below(w, TABLE);

    for (unsigned i = 0; i < most; i++) {
        struct piece *p = any_piece(w, 8, stream);
        if (!p || used >> (p - w->pieces) & 1)
            continue;
        used |= 1u << (p - w->pieces);
        uint32_t element[3] = {below(w, 100), (uint32_t)next, (uint32_t)(next >> 32)};
        CUdeviceptr at = p->at + 4 * below(w, p->words - 3);
        use(w, p, 0);
        MUST(cuMemcpyHtoD(at, element, sizeof(element)));
        use(w, p, stream);
        c->pointers[c->pointer_count++] = at + 4;
        next = at;
    }
    return next;
}

/* Changes the first words of a piece, and one word that memory names: of the same, or now and then
 * of another piece of the arena. */
static void scatter(struct world *w, struct call *c, struct piece *a, struct piece *other,
                    struct piece *index, unsigned stream)
{
    const bool far = other->kind == CUT && one_in(w, 8);
    const CUdeviceptr to = far ? other->at + 4 * below(w, other->words) : a->at + 4 * 50;
    const uint32_t word = (uint32_t)((int64_t)(to - a->at) / 4);

    use(w, index, 0);
    MUST(cuMemcpyHtoD(index->at, &word, sizeof(word)));
    use(w, a, stream), use(w, other, stream), use(w, index, stream);
    c->blocks = 1;
    c->threads = 64;
    pass(c, a->at, 8), pass(c, index->at, 8), pass(c, 64, 4);
}

static bool prepare(struct world *w, struct call *c, struct module *m, unsigned stream)
{
    const unsigned count = sizeof(kernels) / sizeof(kernels[0]) - 1;
    unsigned kind = w->arena && one_in(w, 2) ? count - 1 - below(w, 2) : below(w, count);
    struct piece *a = any_piece(w, 0, stream), *b = any_piece(w, 0, stream);
    struct piece *d = any_piece(w, 0, stream);
    bool makes_order = false; /* the preparation copies, which a capture cannot */
    unsigned n;

    *c = (struct call){.name = kernels[kind].name, .threads = 32u << below(w, 4)};
    c->blocks = 1 + below(w, 8);
    if (!a || !b || !d || a == b || b == d || a == d)
        return false;
    n = 1 + below(w, a->words < b->words ? a->words : b->words);
    if (n > d->words)
        n = d->words;
    makes_order = strncmp(c->name, "reach_", 6) == 0 || strcmp(c->name, "arena_scatter") == 0;
    if (makes_order && (w->captured || w->waiting))
        return false;
    if (w->captured && stream != w->capturing[0] && strncmp(c->name, "global_", 7) == 0)
        return false; /* the module's variables are with the other half */
#define IS(other) (strcmp(c->name, #other) == 0)
    if (IS(vector_add)) {
        use(w, a, stream), use(w, b, stream), use(w, d, stream);
        pass(c, a->at, 8), pass(c, b->at, 8), pass(c, d->at, 8), pass(c, n, 4);
    } else if (IS(scale_in_place)) {
        static const float factor = 2.0f;
        uint32_t bits;
        memcpy(&bits, &factor, 4);
        use(w, a, stream);
        pass(c, a->at, 8), pass(c, a->words, 4), pass(c, bits, 4);
    } else if (IS(global_state)) {
        c->module = true;
        use(w, a, stream);
        pass(c, a->at, 8);
    } else if (IS(global_counter)) {
        c->module = true;
    } else if (IS(grid_is_valid)) {
        c->cooperative = true;
        while (c->blocks * c->threads > a->words && c->blocks > 1)
            c->blocks--;
        if (c->blocks * c->threads > a->words)
            return false;
        use(w, a, stream);
        pass(c, a->at, 8);
    } else if (IS(atomic_counter)) {
        use(w, a, stream), use(w, b, stream);
        pass(c, a->at, 8), pass(c, b->at, 8), pass(c, n, 4);
    } else if (IS(atomic_histogram)) {
        use(w, a, stream), use(w, b, stream);
        pass(c, a->at, 8), pass(c, b->at, 8), pass(c, n, 4), pass(c, 1 + below(w, 32), 4);
    } else if (IS(sum_neighbours) || IS(sum_shared)) {
        c->shared = IS(sum_shared) ? c->threads * 4 : 0;
        if (c->blocks * c->threads > a->words)
            c->blocks = a->words / c->threads;
        if (c->blocks == 0 || c->blocks > b->words)
            return false;
        use(w, a, stream), use(w, b, stream);
        pass(c, a->at, 8), pass(c, b->at, 8), pass(c, c->blocks * c->threads, 4);
    } else if (IS(sum_once)) {
        use(w, a, stream), use(w, b, stream);
        pass(c, a->at, 8), pass(c, b->at, 8), pass(c, n, 4);
    } else if (IS(structs_aos)) {
        use(w, a, stream), use(w, b, stream);
        pass(c, a->at, 8), pass(c, b->at, 8), pass(c, n / 2, 4);
    } else if (IS(reach_table)) {
        n = make_table(w, c, a, stream);
        if (n == 0)
            return false;
        pass(c, a->at, 8), pass(c, n, 4);
    } else if (IS(reach_list)) {
        CUdeviceptr list = make_list(w, c, stream);
        if (!list)
            return false;
        pass(c, list, 8);
    } else if (IS(reach_variable)) {
        CUdeviceptr list = m->library ? 0 : make_list(w, c, stream), anchor;
        size_t bytes;
        if (!list)
            return false;
        MUST(cuModuleGetGlobal(&anchor, &bytes, m->module, "anchor"));
        use(w, &m->variables, 0);
        MUST(cuMemcpyHtoD(anchor, &list, 8));
        c->module = true;
        pass(c, 0, 4);
    } else if (IS(reach_around)) {
        n = 1 + below(w, a->words / 2 - 1);
        use(w, a, stream);
        pass(c, a->at + a->words / 2 * 4, 8), pass(c, n, 4);
    } else if (IS(reach_unaligned)) {
        use(w, a, stream);
        pass(c, 1 + below(w, a->words), 4), pass(c, (uint32_t)a->at, 4), pass(c, a->at >> 32, 4);
    } else if (IS(reach_hidden)) {
        /* A change of the host's memory is not noticed: the host may write it at any time. */
        if (a->kind == PINNED || a->kind == REGISTERED || !one_in(w, 4))
            return false;
        use(w, a, stream);
        pass(c, ~a->at, 8), pass(c, 1 + below(w, a->words), 4);
    } else if (strncmp(c->name, "arena_", 6) == 0 && a->kind != CUT) {
        return false; /* memory of the host would have the kernel run once */
    } else if (IS(arena_update)) {
        use(w, a, stream);
        pass(c, a->at, 8), pass(c, a->words, 4), pass(c, 3, 4), pass(c, 1 + below(w, 2), 4);
    } else if (IS(arena_scatter)) {
        scatter(w, c, a, b, d, stream);
    }
#undef IS
    return true;
}

/* The same launch several times: later ones are like the first. */
static void work(struct world *w, unsigned stream)
{
    struct module *m = w->captured ? &w->modules[w->captured->module] : any_module(w);
    struct call c;

    bool ready = prepare(w, &c, m, stream);
    for (unsigned times = one_in(w, 3) ? 1 + below(w, 5) : 1; ready && times > 0; times--)
        launch(w, m, &c, stream);
    for (unsigned i = 0; i < c.pointer_count; i++)
        MUST(cuMemsetD32Async(c.pointers[i], 0, 2, w->streams[stream]));
}

static void operate(struct world *w);

/* A kernel in a stream of its own waits until the host, or a fill in yet another stream, sets its
 * flag; meanwhile there is other work, some of it behind that kernel. */
static void wait_for_flag(struct world *w)
{
    struct call c = {.name = "wait_for_flag", .blocks = 1, .threads = 32};
    struct piece *seen = any_piece(w, 0, 0);
    bool by_host = one_in(w, 2);
    CUstream other, kept = w->streams[1];
    CUdeviceptr flag;
    uint32_t *host;

    if (!seen)
        return;
    everything_is_done(w);
    MUST(cuMemHostAlloc((void **)&host, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&flag, host, 0));
    if (!by_host)
        MUST(cuMemAlloc(&flag, 4));
    MUST(cuMemsetD32(flag, 0, 1));
    MUST(cuStreamSynchronize(NULL));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&w->streams[1], CU_STREAM_NON_BLOCKING));
    use(w, seen, 1);
    pass(&c, flag, 8), pass(&c, seen->at, 8);
    launch(w, &w->modules[0], &c, 1);
    w->waiting = true;
    for (unsigned i = below(w, 6); i > 0; i--)
        operate(w);
    w->waiting = false;
    if (by_host)
        __atomic_store_n(host, 5u, __ATOMIC_RELEASE);
    else
        MUST(cuMemsetD32Async(flag, 5, 1, other));
    everything_is_done(w);
    if (!by_host)
        MUST(cuMemFree(flag));
    MUST(cuMemFreeHost(host));
    MUST(cuStreamDestroy(w->streams[1]));
    MUST(cuStreamDestroy(other));
    w->streams[1] = kept;
    for (unsigned i = 0; i < PIECES; i++)
        w->pieces[i].stream = 0;
    for (unsigned i = 0; i < MODULES; i++)
        w->modules[i].variables.stream = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        w->slots[i].stream = 0;
}

/* Attributes and limits, on which launches depend. */
static void set_up(struct world *w)
{
    struct module *m = any_module(w);
    unsigned kind = below(w, sizeof(kernels) / sizeof(kernels[0]));
    CUfunction f;

    if (m->library)
        return;
    MUST(cuModuleGetFunction(&f, m->module, kernels[kind].name));
    switch (below(w, 4)) {
    case 0:
        MUST(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                (int)(1 + below(w, 16)) * 1024));
        break;
    case 1:
        MUST(cuFuncSetCacheConfig(f, below(w, 2) ? CU_FUNC_CACHE_PREFER_SHARED
                                                 : CU_FUNC_CACHE_PREFER_L1));
        break;
    case 2:
        MUST(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024 * (1 + below(w, 4))));
        break;
    default:
        MUST(cuCtxSetCacheConfig(below(w, 2) ? CU_FUNC_CACHE_PREFER_SHARED
                                             : CU_FUNC_CACHE_PREFER_L1));
        break;
    }
}

/* ---- modules, streams, graphs ---- */

static void load(struct world *w, struct module *m)
{
    *m = (struct module){.exists = true};
    if (one_in(w, 3))
        MUST(cuLibraryLoadData(&m->library, w->image, NULL, NULL, 0, NULL, NULL, 0));
    else
        MUST(cuModuleLoadData(&m->module, w->image));
}

static void load_or_unload(struct world *w)
{
    unsigned i = 1 + below(w, MODULES - 1); /* the first one stays */
    struct module *m = &w->modules[i];

    if (!m->exists) {
        load(w, m);
        return;
    }
    for (unsigned g = 0; g < GRAPHS; g++)
        if (w->graphs[g].exists && w->graphs[g].module == i)
            return;
    everything_is_done(w);
    if (m->library)
        MUST(cuLibraryUnload(m->library));
    else
        MUST(cuModuleUnload(m->module));
    m->exists = false;
}

static void open_or_close_stream(struct world *w)
{
    unsigned s = 1 + below(w, STREAMS - 1);

    if (!w->streams[s]) {
        MUST(cuStreamCreate(&w->streams[s],
                            one_in(w, 2) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
        return;
    }
    /* Its work goes on without it. */
    MUST(cuEventRecord(w->event, w->streams[s]));
    MUST(cuStreamWaitEvent(NULL, w->event, 0));
    MUST(cuStreamDestroy(w->streams[s]));
    w->streams[s] = NULL;
    for (unsigned i = 0; i < PIECES; i++)
        if (w->pieces[i].stream == s)
            w->pieces[i].stream = 0;
    for (unsigned i = 0; i < MODULES; i++)
        if (w->modules[i].variables.stream == s)
            w->modules[i].variables.stream = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        if (w->slots[i].stream == s)
            w->slots[i].stream = 0;
}

static void operate(struct world *w)
{
    unsigned stream = any_stream(w), choice = below(w, 10);
    struct piece *p;

    if (choice == 0 && (p = any_piece(w, 0, stream)) != NULL)
        fill(w, p, stream);
    else if (choice == 1)
        copy(w, stream);
    else if (choice == 2)
        host_function(w, stream);
    else
        work(w, stream);
}

static CUfunction function_of(const struct module *m, const char *name)
{
    CUfunction f;
    CUkernel kernel;

    if (!m->library) {
        MUST(cuModuleGetFunction(&f, m->module, name));
        return f;
    }
    MUST(cuLibraryGetKernel(&kernel, m->library, name));
    return (CUfunction)kernel;
}

/* Adds memory of the graph's own, behind all else there is in it, and work with that. */
static void add_own_memory(struct world *w, struct graph *g)
{
    struct piece *p = any_piece(w, 1, 0);
    size_t count;
    CUcontext current;
    CUgraphNode *all, node;

    if (!p)
        return;
    uint32_t n = 1 + below(w, p->words);
    CUgraphNodeParams made = allocation_node(4 * n), gone;

    MUST(cuGraphGetNodes(g->graph, NULL, &count));
    all = calloc(count + 1, sizeof(*all));
    if (!all)
        exit(2);
    MUST(cuGraphGetNodes(g->graph, all, &count));
    MUST(cuGraphAddNode(&node, g->graph, all, NULL, count, &made));
    free(all);
    CUdeviceptr own = made.alloc.dptr;
    gone = free_node(own);
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = own, .value = below(w, 1000), .elementSize = 4, .width = n, .height = 1};
    void *params[] = {&p->at, &own, &p->at, &n};
    CUDA_KERNEL_NODE_PARAMS kernel =
        kernel_node(function_of(&w->modules[g->module], "vector_add"), n / 128 + 1, 128, params);
    MUST(cuCtxGetCurrent(&current));
    MUST(cuGraphAddMemsetNode(&node, g->graph, &node, 1, &fill, current));
    MUST(cuGraphAddKernelNode(&node, g->graph, &node, 1, &kernel));
    MUST(cuGraphAddNode(&node, g->graph, &node, NULL, 1, &gone));
    g->pieces |= 1u << (p - w->pieces);
    g->kernels++;
}

/* Two streams of its own, one of which begins behind the other and ends before it does. */
static void capture(struct world *w, struct graph *g)
{
    unsigned before[2] = {STREAMS - 2, STREAMS - 1};
    CUstream kept[2], own[2];
    CUevent fork, join;

    everything_is_done(w);
    *g = (struct graph){.exists = true};
    do
        g->module = below(w, MODULES);
    while (!w->modules[g->module].exists);
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < 2; i++) {
        kept[i] = w->streams[before[i]];
        MUST(cuStreamCreate(&own[i], CU_STREAM_NON_BLOCKING));
        w->streams[before[i]] = own[i];
        w->capturing[i] = before[i];
    }
    MUST(cuStreamBeginCapture(own[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuEventRecord(fork, own[0]));
    MUST(cuStreamWaitEvent(own[1], fork, 0));
    w->captured = g;
    for (unsigned i = 1 + below(w, 8); i > 0; i--) {
        operate(w);
    }
    w->captured = NULL;
    MUST(cuEventRecord(join, own[1]));
    MUST(cuStreamWaitEvent(own[0], join, 0));
    MUST(cuStreamEndCapture(own[0], &g->graph));
    if (one_in(w, 3))
        add_own_memory(w, g);
    for (unsigned i = 0; i < 2; i++) {
        w->streams[before[i]] = kept[i];
        MUST(cuStreamDestroy(own[i]));
    }
    MUST(cuEventDestroy(fork));
    MUST(cuEventDestroy(join));
    MUST(cuGraphInstantiateWithFlags(&g->exec, g->graph, 0));
    for (unsigned i = 0; i < PIECES; i++)
        w->pieces[i].graphs += g->pieces >> i & 1;
}

static void launch_graph(struct world *w, struct graph *g)
{
    unsigned stream = any_stream(w);

    for (unsigned i = 0; i < PIECES; i++)
        if (g->pieces >> i & 1)
            use(w, &w->pieces[i], stream);
    use(w, &w->modules[g->module].variables, stream);
    for (unsigned times = 1 + below(w, 3); times > 0; times--) {
        MUST(cuGraphLaunch(g->exec, w->streams[stream]));
        w->launches += g->kernels;
    }
}

static void forget(struct world *w, struct graph *g)
{
    if (one_in(w, 2))
        everything_is_done(w);
    MUST(cuGraphExecDestroy(g->exec));
    MUST(cuGraphDestroy(g->graph));
    for (unsigned i = 0; i < PIECES; i++)
        w->pieces[i].graphs -= g->pieces >> i & 1;
    g->exists = false;
}

static void graph(struct world *w)
{
    struct graph *g = &w->graphs[below(w, GRAPHS)];

    if (!g->exists)
        capture(w, g);
    else if (one_in(w, 4))
        forget(w, g);
    else
        launch_graph(w, g);
}

/* ---- the whole ---- */

static void step(struct world *w)
{
    unsigned choice = below(w, 100);
    struct piece *p;

    if (choice < 12) {
        come_or_go(w);
    } else if (choice < 20) {
        if ((p = any_piece(w, 0, 0)) != NULL)
            read_back(w, p);
    } else if (choice < 26) {
        if ((p = any_piece(w, 0, 0)) != NULL)
            write(w, p);
    } else if (choice < 36) {
        graph(w);
    } else if (choice < 38) {
        load_or_unload(w);
    } else if (choice < 41) {
        open_or_close_stream(w);
    } else if (choice < 45) {
        set_up(w);
    } else if (choice < 47 && w->waits) {
        wait_for_flag(w);
    } else if (choice < 46) {
        MUST(cuCtxSynchronize());
    } else if (choice < 47) {
        (void)cuStreamQuery(w->streams[any_stream(w)]);
    } else {
        operate(w);
    }
}

static void *live(void *argument)
{
    struct world *w = argument;
    CUcontext own = NULL;

    if (w->context)
        MUST(cuCtxSetCurrent(w->context));
    else
        MUST(cuCtxCreate_v2(&own, 0, 0));
    w->buffer = calloc(MOST_WORDS, sizeof(uint32_t));
    w->out = open_memstream(&w->text, &w->text_bytes);
    if (!w->buffer || !w->out)
        exit(2);
    MUST(cuEventCreate(&w->event, CU_EVENT_DISABLE_TIMING));
    load(w, &w->modules[0]);
    if (w->has_arena) {
        MUST(cuMemAlloc(&w->arena, ARENA_BYTES));
        MUST(cuMemsetD32(w->arena, 0, ARENA_BYTES / 4));
    }
    for (unsigned i = 0; i < PIECES / 2; i++)
        allocate(w, &w->pieces[i]);
    for (unsigned i = 0; i < w->steps; i++) {
        step(w);
        if (i % 25 == 24)
            fprintf(w->out, "%u: step %u, digest %08x\n", w->number, i, w->digest);
    }
    for (unsigned i = 0; i < PIECES; i++)
        if (w->pieces[i].exists)
            read_back(w, &w->pieces[i]);
    fprintf(w->out, "%u: digest %08x\n", w->number, w->digest);
    fclose(w->out);
    if (one_in(w, 2)) { /* else all is left to the end of the process */
        for (unsigned i = 0; i < GRAPHS; i++)
            if (w->graphs[i].exists)
                forget(w, &w->graphs[i]);
        for (unsigned i = 0; i < PIECES; i++)
            if (w->pieces[i].exists)
                release(w, &w->pieces[i]);
        MUST(cuMemFree(w->arena));
    }
    free(w->buffer);
    if (own && one_in(w, 2))
        MUST(cuCtxDestroy(own));
    return NULL;
}

int main(int argc, char **argv)
{
    static struct world worlds[MOST_THREADS];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    unsigned steps = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 100;
    unsigned launches = 0;
    pthread_t thread[MOST_THREADS];
    CUcontext context;
    CUdevice device;
    size_t bytes;
    if (seed % 4 == 0)
        globals[0].memory = GPUSIM_IMAGE_MANAGED;
    void *image = gpusim_image_build(kernels, sizeof(kernels) / sizeof(kernels[0]), globals,
                                     sizeof(globals) / sizeof(globals[0]), &bytes);

    if (threads == 0 || threads > MOST_THREADS || !image)
        return 2;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    for (unsigned i = 0; i < threads; i++) {
        worlds[i] = (struct world){.chance = seed * 977 + i,
                                   .number = i,
                                   .context = seed % 3 == 0 ? NULL : context,
                                   .image = image,
                                   .image_bytes = bytes,
                                   .waits = argc > 4,
                                   .has_arena = seed % 2 == 0,
                                   .steps = steps};
        below(&worlds[i], 2);
        if (pthread_create(&thread[i], NULL, live, &worlds[i]) != 0)
            return 2;
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        fputs(worlds[i].text, stdout);
        free(worlds[i].text);
        launches += worlds[i].launches;
    }
    printf("launches: %u\n", launches);
    MUST(cuCtxSetCurrent(context));
    MUST(cuCtxSynchronize());
    free(image);
    if (seed % 2)
        MUST(cuDevicePrimaryCtxRelease(device));
    return 0;
}
