#include "memory/snapshot.h"

#include "base/cancel.h"
#include "cuda/wait.h"
#include "memory/arena.h"
#include "memory/arrays.h"
#include "memory/final.h"
#include "memory/lookup.h"
#include "memory/modules.h"
#include "memory/pageable.h"
#include "memory/ranges.h"
#include "memory/segments.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* As long as the host takes to put a launch into a stream, and more. */
#define PAUSE_NS 30000
/* The scratch buffer that replaces the L2's contents, in sizes of the L2: its replacement is not
 * strictly oldest first, so one is not enough. */
#define FLUSH_SIZES 2
/* Addresses below this are not taken for pointers to the host's own memory: an executable that is
 * not position-independent lies among the numbers that kernels are given as sizes. */
#define LEAST_PAGEABLE ((uint64_t)1 << 32)

/* To drain a batch takes tens of milliseconds: not for fewer launches. */
#define LEAST_BATCH 8

/* How long a program that runs out of memory waits until ours can be freed. */
#define FREE_SECONDS 5.0

#define OUT_OF_MEMORY "memory ran out"
/* The program's kernels can write our memory on the device, too. */
#define WRONG_ANSWER "what our own kernel found in its memory cannot be"

extern const char gp_device_image[];

struct our_kernel {
    CUfunction function;
    unsigned blocks; /* that the device runs at the same time */
};

struct gp_snapshot {
    CUcontext context;
    CUdevice device;
    CUmodule module;
    struct our_kernel copy, copy_and_follow, compare, keep, rewind_kept, rewind, put_back;
    struct our_kernel hash, compare_hashes, read_all, pause;
    CUstream stream;
    CUevent idle;  /* to wait for all there is in the context */
    bool busy;     /* that wait ran out: until `idle` happens nothing is freed */
    bool pageable; /* kernels can write the host's ordinary memory */

    struct gp_ranges ranges;
    struct gp_lookup lookup;
    CUdeviceptr answer;            /* struct gp_answer, on the device */
    struct gp_answer *host_answer; /* a copy of it in page-locked memory */

    /* What this launch reaches: numbers of ranges, each once. */
    size_t *reached;
    size_t reached_count, reached_capacity;
    size_t seen_to_reach; /* of them; the rest is there because everything is */
    uint32_t *marks;      /* per range: the round in which it was reached last */
    size_t marks_capacity;
    uint32_t round; /* of launches */
    uint32_t *found;
    size_t found_capacity;
    bool out_of_memory;
    const char *not_ours; /* why what is reached cannot be put back, NULL while it can */

    struct gp_arena arena;
    uint64_t needed;                      /* room for the copies of what is reached */
    size_t with_room;                     /* of what is reached has room there */
    struct gp_segments restored, watched; /* watched is compared only */
    struct gp_arrays arrays;
    bool arrays_saved;
    uint64_t bytes;

    struct gp_final final;
    uint32_t kept; /* units that the last launch changed: so much room the next may need */
    bool rewound;  /* memory is not what the program's own run left */

    struct gp_segments hashed;
    CUdeviceptr hashes; /* before, then after */
    size_t hashes_capacity;
    bool verifies;

    CUdeviceptr scratch;
    size_t scratch_size;

    bool in_use;   /* between take and done */
    unsigned held; /* copies */
    struct gp_snapshot *prev, *next;
};

/* All snapshots and their memory, which a thread that runs out of memory may come to take. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_snapshot *snapshots;

static bool worked(CUresult result, const char **why)
{
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        *why = GP_NO_ROOM;
    else if (result != CUDA_SUCCESS)
        *why = gp_cuda_error(result);
    return result == CUDA_SUCCESS;
}

/* ---- memory that the program may want back ----------------------------------------------------
 */

static void free_device(CUdeviceptr *address)
{
    if (*address)
        gp_cuda.cuMemFree_v2(*address);
    *address = 0;
}

static void set_in_use(struct gp_snapshot *s, bool in_use)
{
    pthread_mutex_lock(&lock);
    s->in_use = in_use;
    pthread_mutex_unlock(&lock);
}

/* Locked; the context is current. */
static bool comes_to_rest(struct gp_snapshot *s)
{
    if (s->busy && gp_cuda.cuEventQuery(s->idle) == CUDA_ERROR_NOT_READY)
        return false;
    s->busy = gp_wait_for_context(s->context, s->idle, FREE_SECONDS) == CUDA_ERROR_NOT_READY;
    return !s->busy;
}

bool gp_snapshot_release_memory(bool captures)
{
    bool released = false;
    struct gp_snapshot *s;
    gp_cancel_hold(); /* a thread that is cancelled while it waits would keep the lock */
    pthread_mutex_lock(&lock);
    DL_FOREACH(snapshots, s)
    {
        if (s->in_use || s->held ||
            (!s->arena.device_size && !gp_final_held(&s->final) && !s->scratch))
            continue;
        if (gp_cuda.cuCtxPushCurrent_v2(s->context) != CUDA_SUCCESS)
            continue;
        if (captures || comes_to_rest(s)) {
            gp_arena_free(&s->arena);
            gp_final_release(&s->final);
            free_device(&s->scratch);
            released = true;
        }
        CUcontext popped;
        gp_cuda.cuCtxPopCurrent_v2(&popped);
    }
    pthread_mutex_unlock(&lock);
    gp_cancel_release();
    return released;
}

size_t gp_snapshot_held_memory(void)
{
    CUdevice current;
    if (gp_cuda.cuCtxGetDevice(&current) != CUDA_SUCCESS)
        return 0;
    size_t held = 0;
    struct gp_snapshot *s;
    pthread_mutex_lock(&lock);
    DL_FOREACH(snapshots, s)
    {
        if (s->device == current && !s->in_use)
            held += s->arena.device_size + gp_final_held(&s->final) +
                    (s->scratch ? s->scratch_size : 0);
    }
    pthread_mutex_unlock(&lock);
    return held;
}

/* ---- open and close -------------------------------------------------------------------------- */

static bool load_kernel(struct gp_snapshot *s, struct our_kernel *kernel, const char *name)
{
    int per_sm = 0;
    if (gp_cuda.cuModuleGetFunction(&kernel->function, s->module, name) != CUDA_SUCCESS ||
        gp_cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel->function,
                                                            GP_UNIT_THREADS, 0) != CUDA_SUCCESS)
        return false;
    int sms = gp_device_attribute(s->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    kernel->blocks = per_sm > 0 && sms > 0 ? (unsigned)per_sm * (unsigned)sms : 1;
    return true;
}

static bool load_kernels(struct gp_snapshot *s)
{
    return gp_cuda.cuModuleLoadData(&s->module, gp_device_image) == CUDA_SUCCESS &&
           load_kernel(s, &s->copy, "gp_copy") &&
           load_kernel(s, &s->copy_and_follow, "gp_copy_and_follow") &&
           load_kernel(s, &s->compare, "gp_compare") && load_kernel(s, &s->keep, "gp_keep") &&
           load_kernel(s, &s->rewind_kept, "gp_rewind_kept") &&
           load_kernel(s, &s->rewind, "gp_rewind") && load_kernel(s, &s->put_back, "gp_put_back") &&
           load_kernel(s, &s->hash, "gp_hash") &&
           load_kernel(s, &s->compare_hashes, "gp_compare_hashes") &&
           load_kernel(s, &s->read_all, "gp_read_all") && load_kernel(s, &s->pause, "gp_pause");
}

struct gp_snapshot *gp_snapshot_open(CUcontext context, const char **why)
{
    struct gp_snapshot *s = calloc(1, sizeof(*s));
    *why = OUT_OF_MEMORY;
    if (!s)
        return NULL;
    s->context = context;
    s->arena.for_many = true;
    *why = "our own kernels cannot be loaded";
    void *host_answer = NULL;
    if (gp_cuda.cuCtxGetDevice(&s->device) != CUDA_SUCCESS ||
        gp_cuda.cuStreamCreate(&s->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
        gp_cuda.cuEventCreate(&s->idle, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS ||
        gp_cuda.cuMemHostAlloc(&host_answer, sizeof(*s->host_answer), CU_MEMHOSTALLOC_PORTABLE) !=
            CUDA_SUCCESS ||
        !load_kernels(s)) {
        s->host_answer = host_answer;
        gp_snapshot_close(s, true);
        return NULL;
    }
    s->host_answer = host_answer;
    s->pageable = gp_device_attribute(s->device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0;
    pthread_mutex_lock(&lock);
    DL_APPEND(snapshots, s);
    pthread_mutex_unlock(&lock);
    return s;
}

void gp_snapshot_close(struct gp_snapshot *s, bool context_alive)
{
    if (!s)
        return;
    pthread_mutex_lock(&lock);
    if (s->prev)
        DL_DELETE(snapshots, s);
    pthread_mutex_unlock(&lock);
    gp_lookup_free(&s->lookup, context_alive);
    gp_segments_free(&s->restored, context_alive);
    gp_segments_free(&s->watched, context_alive);
    gp_segments_free(&s->hashed, context_alive);
    gp_final_free(&s->final, context_alive);
    if (context_alive) {
        gp_arena_free(&s->arena);
        free_device(&s->answer);
        free_device(&s->hashes);
        free_device(&s->scratch);
        if (s->host_answer)
            gp_cuda.cuMemFreeHost(s->host_answer);
        if (s->module)
            gp_cuda.cuModuleUnload(s->module);
        if (s->stream)
            gp_cuda.cuStreamDestroy_v2(s->stream);
        if (s->idle)
            gp_cuda.cuEventDestroy_v2(s->idle);
    }
    gp_ranges_free(&s->ranges);
    gp_arrays_free(&s->arrays);
    free(s->reached);
    free(s->marks);
    free(s->found);
    free(s);
}

/* ---- work for the GPU ------------------------------------------------------------------------ */

/* Starts one of our kernels with as many blocks as have something to do. */
static CUresult start(struct gp_snapshot *s, const struct our_kernel *kernel, uint64_t units,
                      void **arguments)
{
    unsigned blocks = units < kernel->blocks ? (unsigned)units : kernel->blocks;
    return gp_cuda.cuLaunchKernel(kernel->function, blocks, 1, 1, GP_UNIT_THREADS, 1, 1, 0,
                                  s->stream, arguments, NULL);
}

/* Zeroes the answer; the list in it needs no more than its count. */
static CUresult clear_answer(struct gp_snapshot *s)
{
    if (!s->answer) {
        CUresult result = gp_cuda.cuMemAlloc_v2(&s->answer, sizeof(*s->host_answer));
        if (result != CUDA_SUCCESS) {
            s->answer = 0;
            return result;
        }
    }
    return gp_cuda.cuMemsetD32Async(s->answer, 0, offsetof(struct gp_answer, at_once) / 4,
                                    s->stream);
}

/* Waits for all that was started, and fetches the answer. */
static CUresult ask(struct gp_snapshot *s)
{
    CUresult result =
        gp_cuda.cuMemcpyDtoHAsync_v2(s->host_answer, s->answer, sizeof(*s->host_answer), s->stream);
    CUresult waited = gp_cuda.cuStreamSynchronize(s->stream);
    return result == CUDA_SUCCESS ? waited : result;
}

/* ---- what a launch reaches ------------------------------------------------------------------- */

static bool make_marks(struct gp_snapshot *s)
{
    if (s->ranges.count <= s->marks_capacity)
        return true;
    size_t capacity = s->ranges.capacity;
    uint32_t *marks = realloc(s->marks, capacity * sizeof(*marks));
    if (!marks)
        return false;
    memset(marks + s->marks_capacity, 0, (capacity - s->marks_capacity) * sizeof(*marks));
    s->marks = marks;
    s->marks_capacity = capacity;
    return true;
}

static void reach(size_t range, void *data)
{
    struct gp_snapshot *s = data;
    if (s->marks[range] == s->round)
        return;
    if (s->ranges.facts[range].not_ours) {
        s->not_ours = s->ranges.facts[range].not_ours;
        return;
    }
    if (s->reached_count == s->reached_capacity) {
        size_t capacity = s->reached_capacity ? 2 * s->reached_capacity : 64;
        size_t *reached = realloc(s->reached, capacity * sizeof(*reached));
        if (!reached) {
            s->out_of_memory = true;
            return;
        }
        s->reached = reached;
        s->reached_capacity = capacity;
    }
    s->marks[range] = s->round;
    s->reached[s->reached_count++] = range;
    uint64_t bytes = s->ranges.ranges[range].end - s->ranges.ranges[range].start;
    s->bytes += bytes;
    s->needed += gp_arena_need(bytes);
}

static void reach_all(struct gp_snapshot *s)
{
    for (size_t i = 0; i < s->ranges.count; i++)
        reach(i, s);
}

static bool is_ours(const struct gp_snapshot *s, const char **why)
{
    if (s->not_ours)
        *why = s->not_ours;
    return !s->not_ours;
}

/* Every 8 bytes of the parameters, wherever they begin. */
static bool reach_from_parameters(struct gp_snapshot *s, const struct gp_reach *launch,
                                  const char **why)
{
    const char *bytes = launch->parameters;
    uint64_t word;
    for (size_t at = 0; at + sizeof(word) <= launch->parameters_size; at++) {
        memcpy(&word, bytes + at, sizeof(word));
        size_t found[2];
        unsigned count = gp_ranges_find(&s->ranges, word, found);
        for (unsigned i = 0; i < count; i++)
            reach(found[i], s);
        if (s->pageable && !count && at % 4 == 0 && word >= LEAST_PAGEABLE &&
            gp_is_readable(word)) {
            *why = "a parameter points to host memory that is not page-locked";
            return false;
        }
    }
    return true;
}

/* The variables a kernel can name are those of its module. */
static bool reach_from_module(struct gp_snapshot *s, const void *module)
{
    return gp_ranges_of(&s->ranges, gp_module_is_loaded(module) ? module : NULL, reach, s);
}

/* What comes after what the launch was seen to reach is there in case it reaches more; managed
 * memory of that kind the host may well be using. */
static bool is_watched(const struct gp_snapshot *s, size_t index)
{
    enum gp_buffer_kind kind = s->ranges.facts[s->reached[index]].kind;
    return kind == GP_BUFFER_HOST || (kind == GP_BUFFER_MANAGED && index >= s->seen_to_reach);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Gives the next reached range its room; it may come in two pieces. */
static bool take_room_for_next(struct gp_snapshot *s)
{
    const struct gp_range *range = &s->ranges.ranges[s->reached[s->with_room]];
    struct gp_segments *list = is_watched(s, s->with_room) ? &s->watched : &s->restored;
    for (uint64_t at = range->start; at < range->end;) {
        uint64_t bytes = range->end - at;
        uint64_t saved = gp_arena_take(&s->arena, at, &bytes);
        if (!saved || !gp_segments_add(list, at, saved, bytes, range->start))
            return false;
        at += bytes;
    }
    s->with_room++;
    return true;
}

static bool take_room_for_reached(struct gp_snapshot *s, const char **why)
{
    bool moved = false;
    if (!gp_arena_reserve(&s->arena, &s->final.arena, s->needed, &moved, why))
        return false;
    if (moved || s->with_room == 0) {
        gp_arena_clear(&s->arena);
        gp_segments_clear(&s->restored);
        gp_segments_clear(&s->watched);
        s->with_room = 0;
        s->arrays_saved = false;
        *why = GP_NO_ROOM;
        if (!gp_arrays_take(&s->arrays, &s->arena))
            return false;
    }
    *why = OUT_OF_MEMORY;
    while (s->with_room < s->reached_count)
        if (!take_room_for_next(s))
            return false;
    return true;
}

static CUresult copy_new(struct gp_snapshot *s, struct gp_segments *list, bool follow)
{
    if (list->units_done == list->units)
        return CUDA_SUCCESS;
    CUresult result = gp_segments_upload(list, s->stream);
    if (result != CUDA_SUCCESS)
        return result;
    uint32_t count = (uint32_t)list->count;
    uint64_t begin = list->units_done;
    void *arguments[] = {&list->table,     &count,     &begin,   &list->units,
                         &s->lookup.table, &s->answer, &s->round};
    list->units_done = list->units;
    return start(s, follow ? &s->copy_and_follow : &s->copy, list->units - begin, arguments);
}

/* Copies all that is reached and was not copied yet. */
static bool copy_reached(struct gp_snapshot *s, bool follow, const char **why)
{
    if (!take_room_for_reached(s, why) || !worked(copy_new(s, &s->restored, follow), why) ||
        !worked(copy_new(s, &s->watched, follow), why))
        return false;
    if (!s->arrays_saved && !worked(gp_arrays_save(&s->arrays, GP_BEFORE, s->stream), why))
        return false;
    s->arrays_saved = true;
    return true;
}

/* Reaches the ranges that were found beyond the first `before`. */
static bool reach_found(struct gp_snapshot *s, uint32_t before, const char **why)
{
    uint32_t count = s->host_answer->found;
    const uint32_t *found = s->host_answer->at_once;
    if (count < before || count > s->ranges.count) {
        *why = WRONG_ANSWER;
        return false;
    }
    if (count > GP_FOUND_AT_ONCE) {
        if (count > s->found_capacity) {
            free(s->found);
            s->found_capacity = 0;
            s->found = malloc(s->ranges.capacity * sizeof(*s->found));
            if (!s->found) {
                *why = OUT_OF_MEMORY;
                return false;
            }
            s->found_capacity = s->ranges.capacity;
        }
        CUresult result =
            gp_cuda.cuMemcpyDtoHAsync_v2(s->found + before, s->lookup.copy.list + 4 * before,
                                         4 * (size_t)(count - before), s->stream);
        if (!worked(result, why) || !worked(gp_cuda.cuStreamSynchronize(s->stream), why))
            return false;
        found = s->found;
    }
    for (uint32_t i = before; i < count; i++) {
        if (found[i] >= s->ranges.count) {
            *why = WRONG_ANSWER;
            return false;
        }
        reach(found[i], s);
    }
    return true;
}

/* Copies what is reached, and what that points to, until nothing new is found. */
static bool copy_and_follow(struct gp_snapshot *s, const char **why)
{
    uint32_t before = 0;
    if (!worked(gp_lookup_update(&s->lookup, &s->ranges, s->stream), why))
        return false;
    while (s->with_room < s->reached_count) {
        if (!copy_reached(s, true, why) || !worked(ask(s), why) || !reach_found(s, before, why) ||
            !is_ours(s, why))
            return false;
        before = s->host_answer->found;
    }
    return true;
}

/* ---- hashes of the rest ---------------------------------------------------------------------- */

static bool list_rest(struct gp_snapshot *s)
{
    gp_segments_clear(&s->hashed);
    for (size_t i = 0; i < s->ranges.count; i++) {
        const struct gp_range *range = &s->ranges.ranges[i];
        /* Others may write meanwhile what is not ours, and the host what is its. */
        if (s->marks[i] == s->round || s->ranges.facts[i].kind == GP_BUFFER_HOST ||
            s->ranges.facts[i].not_ours)
            continue;
        if (!gp_segments_add(&s->hashed, range->start, 0, range->end - range->start, range->start))
            return false;
    }
    return true;
}

static CUresult make_hashes(struct gp_snapshot *s)
{
    if (s->hashed.count <= s->hashes_capacity)
        return CUDA_SUCCESS;
    s->hashes_capacity = 0;
    free_device(&s->hashes);
    CUresult result = gp_cuda.cuMemAlloc_v2(&s->hashes, 2 * s->hashed.capacity * sizeof(uint64_t));
    if (result == CUDA_SUCCESS)
        s->hashes_capacity = s->hashed.capacity;
    else
        s->hashes = 0;
    return result;
}

/* Hashes the rest into the first half of the hashes, or the second. */
static CUresult hash_rest(struct gp_snapshot *s, bool after)
{
    uint32_t count = (uint32_t)s->hashed.count;
    CUdeviceptr hashes = s->hashes + (after ? count * sizeof(uint64_t) : 0);
    CUresult result = gp_cuda.cuMemsetD32Async(hashes, 0, 2 * (size_t)count, s->stream);
    if (result != CUDA_SUCCESS)
        return result;
    void *arguments[] = {&s->hashed.table, &count, &s->hashed.units, &hashes};
    return start(s, &s->hash, s->hashed.units, arguments);
}

static bool hash_before(struct gp_snapshot *s, const char **why)
{
    *why = OUT_OF_MEMORY;
    if (!list_rest(s))
        return false;
    if (s->hashed.count == 0)
        return true;
    s->verifies = true;
    return worked(make_hashes(s), why) && worked(gp_segments_upload(&s->hashed, s->stream), why) &&
           worked(hash_rest(s, false), why);
}

/* ---- before the launch ----------------------------------------------------------------------- */

static bool begin(struct gp_snapshot *s, const char **why)
{
    s->round++;
    s->reached_count = s->with_room = 0;
    s->seen_to_reach = SIZE_MAX; /* so far it is all of them */
    s->verifies = s->out_of_memory = s->rewound = false;
    s->not_ours = NULL;
    memset(s->host_answer, 0, sizeof(*s->host_answer));
    gp_segments_clear(&s->restored);
    gp_segments_clear(&s->watched);
    if (!gp_arrays_list(&s->arrays, s->context, why))
        return false;
    s->needed = s->arrays.needed;
    s->bytes = s->arrays.bytes;
    *why = OUT_OF_MEMORY;
    return gp_ranges_update(&s->ranges, s->context, s->device) && make_marks(s) &&
           worked(clear_answer(s), why);
}

/* Where everything will be copied, whether that fits is known before anything is done. */
static bool reserve_for_all(struct gp_snapshot *s, const char **why)
{
    bool moved;
    uint64_t all = s->ranges.bytes + s->ranges.count * gp_arena_need(0) + s->arrays.needed;
    return gp_arena_reserve(&s->arena, &s->final.arena, all, &moved, why);
}

/* What the launch may write is not known, so it may be anything. */
static bool is_all_ours(struct gp_snapshot *s, const char **why)
{
    for (size_t i = 0; i < s->ranges.count && !s->not_ours; i++)
        s->not_ours = s->ranges.facts[i].not_ours;
    return is_ours(s, why);
}

static bool copy_launch(struct gp_snapshot *s, const struct gp_reach *launch, const char **why)
{
    if ((launch->everything || !launch->parameters_known) && !is_all_ours(s, why))
        return false;
    if (launch->everything && !reserve_for_all(s, why))
        return false;
    if (!launch->parameters_known) {
        reach_all(s);
    } else {
        if (!reach_from_parameters(s, launch, why))
            return false;
        *why = OUT_OF_MEMORY;
        if (!reach_from_module(s, launch->module) || !is_ours(s, why) || !copy_and_follow(s, why))
            return false;
    }
    s->seen_to_reach = s->reached_count;
    if (launch->everything)
        reach_all(s);
    *why = OUT_OF_MEMORY;
    return !s->out_of_memory && copy_reached(s, false, why);
}

bool gp_snapshot_take(struct gp_snapshot *s, const struct gp_reach *launch, const char **why)
{
    set_in_use(s, true);
    bool taken =
        begin(s, why) && copy_launch(s, launch, why) && (!launch->verify || hash_before(s, why));
    CUresult waited = gp_cuda.cuStreamSynchronize(s->stream);
    return taken && worked(waited, why);
}

uint64_t gp_snapshot_bytes(const struct gp_snapshot *s)
{
    return s->bytes;
}

/* ---- after it -------------------------------------------------------------------------------- */

bool gp_snapshot_verify(struct gp_snapshot *s, bool *elsewhere, const char **why)
{
    *elsewhere = false;
    if (!s->verifies)
        return true;
    s->verifies = false;
    uint32_t count = (uint32_t)s->hashed.count;
    CUdeviceptr after = s->hashes + count * sizeof(uint64_t);
    void *arguments[] = {&s->hashes, &after, &count, &s->answer};
    if (!worked(hash_rest(s, true), why) ||
        !worked(start(s, &s->compare_hashes, (count + GP_UNIT_THREADS - 1) / GP_UNIT_THREADS,
                      arguments),
                why) ||
        !worked(ask(s), why))
        return false;
    *elsewhere = s->host_answer->elsewhere != 0;
    return true;
}

static CUresult compare_watched(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->watched.count;
    void *arguments[] = {&s->watched.table, &count, &s->watched.units, &s->answer};
    return count ? start(s, &s->compare, s->watched.units, arguments) : CUDA_SUCCESS;
}

/* Our kernels check themselves whether they may; the driver's copies cannot. */
static CUresult may_restore_arrays(struct gp_snapshot *s, bool *may)
{
    *may = s->arrays.count > 0;
    if (!*may || !s->watched.count)
        return CUDA_SUCCESS;
    CUresult result = ask(s);
    *may = result == CUDA_SUCCESS && !s->host_answer->watched;
    return result;
}

static CUresult restore_arrays(struct gp_snapshot *s, bool first)
{
    bool may;
    CUresult result = may_restore_arrays(s, &may);
    if (result == CUDA_SUCCESS && may && first)
        result = gp_arrays_save(&s->arrays, GP_AFTER, s->stream);
    if (result == CUDA_SUCCESS && may)
        result = gp_arrays_restore(&s->arrays, GP_BEFORE, s->stream);
    return result;
}

static CUresult restore(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->restored.count;
    void *arguments[] = {&s->restored.table, &count, &s->restored.units, &s->answer};
    return count ? start(s, &s->rewind, s->restored.units, arguments) : CUDA_SUCCESS;
}

static CUresult keep(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->restored.count;
    struct gp_final *f = &s->final;
    void *arguments[] = {&s->restored.table, &count,        &s->restored.units,
                         &s->answer,         &f->positions, &f->arena.device,
                         &f->arena.host,     &f->on_device, &f->capacity};
    return count ? start(s, &s->keep, s->restored.units, arguments) : CUDA_SUCCESS;
}

static CUresult restore_kept(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->restored.count;
    void *arguments[] = {&s->restored.table,  &count,
                         &s->restored.units,  &s->answer,
                         &s->final.positions, &s->final.capacity};
    return count ? start(s, &s->rewind_kept, s->restored.units, arguments) : CUDA_SUCCESS;
}

/* Makes memory what the program's own run left. */
static CUresult put_back(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->restored.count;
    struct gp_final *f = &s->final;
    void *arguments[] = {&s->restored.table, &count,         &s->restored.units, &f->positions,
                         &f->arena.device,   &f->arena.host, &f->on_device};
    return count ? start(s, &s->put_back, s->restored.units, arguments) : CUDA_SUCCESS;
}

/* Keeps what the program's own run left, and puts back what was before it, if there is room for
 * `kept` units or as many as there are. The answer tells. */
static bool keep_and_rewind(struct gp_snapshot *s, uint32_t kept, const char **why)
{
    if (!gp_final_prepare(&s->final, &s->arena, s->restored.units, kept, s->stream, why))
        return false;
    CUresult result = clear_answer(s);
    if (result == CUDA_SUCCESS)
        result = compare_watched(s);
    if (result == CUDA_SUCCESS)
        result = keep(s);
    s->rewound = result == CUDA_SUCCESS; /* whatever of the rest was started may have been done */
    if (result == CUDA_SUCCESS)
        result = restore_kept(s);
    CUresult asked = ask(s);
    if (!worked(result, why) || !worked(asked, why))
        return false;
    s->rewound = !s->host_answer->watched && s->host_answer->kept <= s->final.capacity;
    return !s->rewound || (worked(restore_arrays(s, true), why) && worked(ask(s), why));
}

/* The first time: what the program's own run left is kept. */
static bool rewind_first(struct gp_snapshot *s, const char **why)
{
    if (!keep_and_rewind(s, s->kept, why))
        return false;
    s->kept = s->host_answer->kept;
    if (s->rewound || s->host_answer->watched)
        return true;
    /* How much room it takes is known now. */
    if (!keep_and_rewind(s, s->kept, why))
        return false;
    *why = GP_NO_ROOM;
    return s->rewound || s->host_answer->watched;
}

static bool rewind_again(struct gp_snapshot *s, const char **why)
{
    /* Whatever of it is started, is waited for. */
    CUresult result = clear_answer(s);
    if (result == CUDA_SUCCESS)
        result = compare_watched(s);
    if (result == CUDA_SUCCESS)
        result = restore_arrays(s, false);
    if (result == CUDA_SUCCESS)
        result = restore(s);
    CUresult asked = ask(s);
    return worked(result, why) && worked(asked, why);
}

bool gp_snapshot_rewind(struct gp_snapshot *s, const char **why)
{
    return s->rewound ? rewind_again(s, why) : rewind_first(s, why);
}

bool gp_snapshot_finish(struct gp_snapshot *s, const char **why)
{
    if (!s->rewound)
        return true;
    CUresult result = put_back(s);
    if (result == CUDA_SUCCESS)
        result = gp_arrays_restore(&s->arrays, GP_AFTER, s->stream);
    CUresult waited = gp_cuda.cuStreamSynchronize(s->stream);
    s->rewound = !worked(result, why) || !worked(waited, why);
    return !s->rewound;
}

bool gp_snapshot_host_changed(const struct gp_snapshot *s)
{
    return s->host_answer->watched != 0;
}

uint64_t gp_snapshot_changed_bytes(const struct gp_snapshot *s)
{
    return s->host_answer->changed_bytes + s->arrays.bytes;
}

void gp_snapshot_done(struct gp_snapshot *s)
{
    set_in_use(s, false);
}

/* ---- copies that are held -------------------------------------------------------------------- */

struct gp_held_copy {
    uint64_t bytes;
    struct gp_segments segments;
};

const char *gp_snapshot_not_to_be_held(const struct gp_snapshot *s)
{
    if (s->needed > s->arena.device_size / LEAST_BATCH)
        return "copies of a few such launches would fit at once";
    if (s->watched.count)
        return "it reaches page-locked host memory";
    if (s->arrays.count)
        return "arrays can be written through surfaces";
    for (size_t i = 0; i < s->reached_count; i++)
        if (s->ranges.facts[s->reached[i]].kind == GP_BUFFER_MANAGED)
            return "it reaches managed memory";
    return NULL;
}

static void set_held(struct gp_snapshot *s, unsigned held)
{
    pthread_mutex_lock(&lock);
    s->held = held;
    pthread_mutex_unlock(&lock);
}

struct gp_held_copy *gp_snapshot_hold(struct gp_snapshot *s)
{
    struct gp_held_copy *copy = calloc(1, sizeof(*copy));
    bool ok = copy && gp_segments_copy(&copy->segments, &s->restored) && gp_arena_hold(&s->arena);
    if (!ok) {
        if (copy)
            gp_segments_free(&copy->segments, false);
        free(copy);
        return NULL;
    }
    copy->bytes = s->bytes;
    set_held(s, s->held + 1);
    return copy;
}

bool gp_snapshot_resume(struct gp_snapshot *s, const struct gp_held_copy *copy, const char **why)
{
    set_in_use(s, true);
    gp_segments_clear(&s->watched);
    gp_arrays_forget(&s->arrays);
    s->verifies = s->rewound = false;
    s->bytes = copy->bytes;
    *why = OUT_OF_MEMORY;
    return gp_segments_copy(&s->restored, &copy->segments) &&
           worked(gp_segments_upload(&s->restored, s->stream), why);
}

bool gp_held_copy_reaches(const struct gp_held_copy *copy, CUdeviceptr address, uint64_t bytes)
{
    for (size_t i = 0; i < copy->segments.count; i++) {
        const struct gp_segment *segment = &copy->segments.list[i];
        if (address < segment->live + segment->bytes && segment->live < address + bytes)
            return true;
    }
    return false;
}

void gp_snapshot_release(struct gp_snapshot *s, struct gp_held_copy *copy)
{
    if (!copy)
        return;
    gp_segments_free(&copy->segments, false);
    free(copy);
    set_held(s, s->held - 1);
    if (!s->held)
        gp_arena_release(&s->arena);
}

/* ---- caches ---------------------------------------------------------------------------------- */

static bool make_scratch(struct gp_snapshot *s)
{
    if (s->scratch)
        return true;
    s->scratch_size =
        FLUSH_SIZES * (size_t)gp_device_attribute(s->device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    if (!s->scratch_size || !gp_arena_has_room(s->scratch_size) ||
        gp_cuda.cuMemAlloc_v2(&s->scratch, s->scratch_size) != CUDA_SUCCESS)
        s->scratch = 0;
    return s->scratch != 0;
}

static CUresult launch_on(CUstream stream, bool per_thread, CUfunction function, unsigned blocks,
                          unsigned threads, void **arguments)
{
    PFN_cuLaunchKernel_v4000 launch =
        per_thread ? gp_cuda.cuLaunchKernel_ptsz : gp_cuda.cuLaunchKernel;
    if (!launch)
        return CUDA_ERROR_NOT_SUPPORTED;
    return launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL);
}

static CUresult read_scratch(struct gp_snapshot *s, CUstream stream, bool per_thread)
{
    uint64_t bytes = s->scratch_size;
    void *arguments[] = {&s->scratch, &bytes, &s->scratch};
    return launch_on(stream, per_thread, s->read_all.function, s->read_all.blocks, GP_UNIT_THREADS,
                     arguments);
}

bool gp_snapshot_pause_on(struct gp_snapshot *s, CUstream stream, bool per_thread)
{
    uint64_t nanoseconds = PAUSE_NS;
    void *arguments[] = {&nanoseconds};
    return launch_on(stream, per_thread, s->pause.function, 1, 1, arguments) == CUDA_SUCCESS;
}

bool gp_snapshot_flush_caches_on(struct gp_snapshot *s, CUstream stream, bool per_thread)
{
    /* In use, so that nobody takes the scratch buffer from under the kernel. */
    set_in_use(s, true);
    return make_scratch(s) && read_scratch(s, stream, per_thread) == CUDA_SUCCESS;
}

bool gp_snapshot_flush_caches(struct gp_snapshot *s)
{
    pthread_mutex_lock(&lock);
    bool was_in_use = s->in_use;
    pthread_mutex_unlock(&lock);
    bool flushed = gp_snapshot_flush_caches_on(s, s->stream, false) &&
                   gp_cuda.cuStreamSynchronize(s->stream) == CUDA_SUCCESS;
    set_in_use(s, was_in_use);
    return flushed;
}
