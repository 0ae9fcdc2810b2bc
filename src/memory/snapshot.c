#include "memory/snapshot.h"

#include "memory/buffers.h"
#include "memory/chunk.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <utlist.h>

/* Left free on the device for the program's next allocations. */
#define RESERVE_BYTES ((size_t)256 << 20)
/* Page-locked host memory we take at the most, as a share of what is free. */
#define HOST_SHARE 4
/* Blocks of threads in flight per SM; enough to fill the memory pipes. */
#define BLOCKS_PER_SM 8
/* The scratch buffer that replaces the L2's contents, in sizes of the L2: its replacement is not
 * strictly oldest first, so one is not enough. */
#define FLUSH_SIZES 2

#define NO_ROOM "no room for a copy of the program's memory on the device or the host"

extern const char gp_device_image[];

struct gp_snapshot {
    CUcontext context;
    CUdevice device;
    CUmodule module;
    CUfunction copy, compare, restore, read_all;
    CUstream stream;
    unsigned blocks; /* most blocks worth starting */

    /* Where the copies lie: the first device_size bytes on the device, the rest on the host. */
    CUdeviceptr device_arena, host_arena;
    void *host_memory;
    size_t device_size, host_size;

    struct gp_chunk *chunks; /* the table as the host has it */
    size_t chunk_count, chunk_capacity;
    CUdeviceptr table, changed; /* the table and the flags on the device */
    size_t table_capacity;
    uint32_t *flags; /* the flags as the host has them */
    bool *on_host;   /* per chunk: it is of page-locked host memory */
    bool host_changed;
    uint64_t generation;
    bool planned, out_of_memory;
    bool no_room;         /* for the buffers of that generation: not tried again */
    size_t planned_bytes; /* room the copies take, gaps for alignment included */
    uint64_t bytes, changed_bytes;

    CUdeviceptr scratch;
    size_t scratch_size;

    bool in_use; /* between take and done */
    struct gp_snapshot *prev, *next;
};

/* All snapshots and their memory, which a thread that runs out of memory may come to take. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_snapshot *snapshots;

/* ---- memory ---------------------------------------------------------------------------------- */

static void free_device(CUdeviceptr *address)
{
    if (*address)
        gp_cuda.cuMemFree_v2(*address);
    *address = 0;
}

/* The context is current. */
static void free_copies(struct gp_snapshot *s)
{
    free_device(&s->device_arena);
    if (s->host_memory)
        gp_cuda.cuMemFreeHost(s->host_memory);
    s->host_memory = NULL;
    s->host_arena = 0;
    s->device_size = s->host_size = 0;
    s->planned = false;
}

static size_t device_room(void)
{
    size_t free = 0, total = 0;
    if (gp_cuda.cuMemGetInfo_v2(&free, &total) != CUDA_SUCCESS || free < RESERVE_BYTES)
        return 0;
    return free - RESERVE_BYTES;
}

static size_t host_room(void)
{
    struct sysinfo info;
    if (sysinfo(&info) != 0)
        return 0;
    return ((size_t)info.freeram + info.bufferram) * info.mem_unit / HOST_SHARE;
}

/* Makes room for `bytes` of copies. */
static bool make_room(struct gp_snapshot *s, size_t bytes, const char **why)
{
    if (bytes <= s->device_size + s->host_size)
        return true;
    pthread_mutex_lock(&lock);
    free_copies(s);
    size_t on_device = device_room() & ~(size_t)(GP_CHUNK_BYTES - 1);
    if (on_device > bytes)
        on_device = bytes;
    *why = NO_ROOM;
    if (bytes - on_device > host_room()) {
        pthread_mutex_unlock(&lock);
        return false; /* nothing is taken that would not be enough */
    }
    if (on_device && gp_cuda.cuMemAlloc_v2(&s->device_arena, on_device) != CUDA_SUCCESS) {
        s->device_arena = 0;
        on_device = 0;
    }
    s->device_size = on_device;
    pthread_mutex_unlock(&lock);

    size_t on_host = bytes - on_device;
    if (!on_host)
        return true;
    bool ok = on_host <= host_room();
    if (ok && gp_cuda.cuMemHostAlloc(&s->host_memory, on_host,
                                     CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE) !=
                  CUDA_SUCCESS) {
        s->host_memory = NULL;
        ok = false;
    }
    ok = ok &&
         gp_cuda.cuMemHostGetDevicePointer_v2(&s->host_arena, s->host_memory, 0) == CUDA_SUCCESS;
    if (ok) {
        s->host_size = on_host;
    } else {
        /* What would not be enough is not kept from the program. */
        pthread_mutex_lock(&lock);
        free_copies(s);
        pthread_mutex_unlock(&lock);
    }
    return ok;
}

bool gp_snapshot_release_memory(void)
{
    bool released = false;
    struct gp_snapshot *s;
    pthread_mutex_lock(&lock);
    DL_FOREACH(snapshots, s)
    {
        if (s->in_use || (!s->device_size && !s->scratch))
            continue;
        if (gp_cuda.cuCtxPushCurrent_v2(s->context) != CUDA_SUCCESS)
            continue;
        free_copies(s);
        free_device(&s->scratch);
        CUcontext popped;
        gp_cuda.cuCtxPopCurrent_v2(&popped);
        released = true;
    }
    pthread_mutex_unlock(&lock);
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
            held += s->device_size + (s->scratch ? s->scratch_size : 0);
    }
    pthread_mutex_unlock(&lock);
    return held;
}

/* ---- open and close -------------------------------------------------------------------------- */

static bool load_kernels(struct gp_snapshot *s)
{
    return gp_cuda.cuModuleLoadData(&s->module, gp_device_image) == CUDA_SUCCESS &&
           gp_cuda.cuModuleGetFunction(&s->copy, s->module, "gp_copy_chunks") == CUDA_SUCCESS &&
           gp_cuda.cuModuleGetFunction(&s->compare, s->module, "gp_compare_chunks") ==
               CUDA_SUCCESS &&
           gp_cuda.cuModuleGetFunction(&s->restore, s->module, "gp_restore_chunks") ==
               CUDA_SUCCESS &&
           gp_cuda.cuModuleGetFunction(&s->read_all, s->module, "gp_read_all") == CUDA_SUCCESS;
}

struct gp_snapshot *gp_snapshot_open(CUcontext context, const char **why)
{
    struct gp_snapshot *s = calloc(1, sizeof(*s));
    *why = "memory ran out";
    if (!s)
        return NULL;
    s->context = context;
    *why = "our own kernels cannot be loaded";
    if (gp_cuda.cuCtxGetDevice(&s->device) != CUDA_SUCCESS ||
        gp_cuda.cuStreamCreate(&s->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
        !load_kernels(s)) {
        gp_snapshot_close(s, true);
        return NULL;
    }
    s->blocks = BLOCKS_PER_SM *
                (unsigned)gp_device_attribute(s->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
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
    if (context_alive) {
        free_copies(s);
        free_device(&s->scratch);
        free_device(&s->table);
        free_device(&s->changed);
        if (s->module)
            gp_cuda.cuModuleUnload(s->module);
        if (s->stream)
            gp_cuda.cuStreamDestroy_v2(s->stream);
    }
    free(s->chunks);
    free(s->flags);
    free(s->on_host);
    free(s);
}

/* ---- what is copied where -------------------------------------------------------------------- */

/* Notes a chunk; `saved` is an offset until place_chunks makes it an address. */
static void note_chunk(struct gp_snapshot *s, uint64_t live, uint64_t bytes, bool on_host)
{
    if (s->chunk_count == s->chunk_capacity) {
        size_t capacity = s->chunk_capacity ? 2 * s->chunk_capacity : 256;
        struct gp_chunk *chunks = realloc(s->chunks, capacity * sizeof(*chunks));
        if (!chunks) {
            s->out_of_memory = true;
            return;
        }
        s->chunks = chunks;
        bool *flags = realloc(s->on_host, capacity * sizeof(*flags));
        if (!flags) {
            s->out_of_memory = true;
            return;
        }
        s->on_host = flags;
        s->chunk_capacity = capacity;
    }
    /* The copy lies at the same place modulo 16 as the original. */
    uint64_t saved = ((s->planned_bytes + 15) & ~(uint64_t)15) + live % 16;
    s->on_host[s->chunk_count] = on_host;
    s->chunks[s->chunk_count++] = (struct gp_chunk){.live = live, .saved = saved, .bytes = bytes};
    s->planned_bytes = saved + bytes;
    s->bytes += bytes;
}

static void note_buffer(const struct gp_buffer *buffer, void *data)
{
    for (size_t at = 0; at < buffer->size; at += GP_CHUNK_BYTES) {
        size_t left = buffer->size - at;
        note_chunk(data, buffer->device_address + at, left < GP_CHUNK_BYTES ? left : GP_CHUNK_BYTES,
                   buffer->kind == GP_BUFFER_HOST);
    }
}

/* Offsets become addresses: a chunk that does not end within the device's part goes to the host's.
 */
static void place_chunks(struct gp_snapshot *s)
{
    uint64_t host_used = 0;
    for (size_t i = 0; i < s->chunk_count; i++) {
        struct gp_chunk *c = &s->chunks[i];
        if (c->saved + c->bytes <= s->device_size) {
            c->saved += s->device_arena;
        } else {
            uint64_t offset = ((host_used + 15) & ~(uint64_t)15) + c->live % 16;
            c->saved = s->host_arena + offset;
            host_used = offset + c->bytes;
        }
    }
}

static bool make_tables(struct gp_snapshot *s)
{
    if (s->chunk_count > s->table_capacity) {
        s->table_capacity = 0;
        free_device(&s->table);
        free_device(&s->changed);
        free(s->flags);
        s->flags = malloc(s->chunk_capacity * sizeof(*s->flags));
        if (!s->flags || gp_cuda.cuMemAlloc_v2(&s->table, s->chunk_capacity * sizeof(*s->chunks)) !=
                             CUDA_SUCCESS)
            return false;
        if (gp_cuda.cuMemAlloc_v2(&s->changed, s->chunk_capacity * sizeof(*s->flags)) !=
            CUDA_SUCCESS)
            return false;
        s->table_capacity = s->chunk_capacity;
    }
    return gp_cuda.cuMemcpyHtoDAsync_v2(s->table, s->chunks, s->chunk_count * sizeof(*s->chunks),
                                        s->stream) == CUDA_SUCCESS &&
           gp_cuda.cuStreamSynchronize(s->stream) == CUDA_SUCCESS;
}

/* Lists what is to be copied and finds room for it; nothing to do while the program's buffers are
 * the same as last time. */
static bool plan(struct gp_snapshot *s, const char **why)
{
    uint64_t generation = gp_buffers_generation();
    *why = NO_ROOM;
    if (s->no_room && s->generation == generation)
        return false;
    if (s->planned && s->generation == generation)
        return true;
    s->generation = generation;
    s->no_room = false;
    s->planned = false;
    s->chunk_count = s->planned_bytes = 0;
    s->bytes = 0;
    s->out_of_memory = false;
    gp_buffers_each(s->context, s->device, note_buffer, s);
    if (s->out_of_memory) {
        *why = "memory ran out";
        return false;
    }
    /* A chunk may leave a gap at the end of the device's part. */
    size_t room = s->planned_bytes + GP_CHUNK_BYTES;
    if (s->chunk_count && !make_room(s, room, why)) {
        s->no_room = true;
        return false;
    }
    place_chunks(s);
    *why = "no room for the list of the program's buffers";
    if (s->chunk_count && !make_tables(s))
        return false;
    s->planned = true;
    return true;
}

/* ---- the three steps ------------------------------------------------------------------------- */

/* Runs one of our kernels over all chunks and waits for it. */
static bool run(struct gp_snapshot *s, CUfunction kernel, const char **why)
{
    if (!s->chunk_count)
        return true;
    uint32_t count = (uint32_t)s->chunk_count;
    void *arguments[] = {&s->table, &count, &s->changed};
    unsigned blocks = count < s->blocks ? count : s->blocks;
    CUresult result = gp_cuda.cuLaunchKernel(kernel, blocks, 1, 1, GP_CHUNK_THREADS, 1, 1, 0,
                                             s->stream, arguments, NULL);
    if (result == CUDA_SUCCESS)
        result = gp_cuda.cuStreamSynchronize(s->stream);
    if (result != CUDA_SUCCESS)
        *why = gp_cuda_error(result);
    return result == CUDA_SUCCESS;
}

bool gp_snapshot_take(struct gp_snapshot *s, const char **why)
{
    pthread_mutex_lock(&lock);
    s->in_use = true;
    pthread_mutex_unlock(&lock);
    s->changed_bytes = 0;
    s->host_changed = false;
    return plan(s, why) && run(s, s->copy, why);
}

uint64_t gp_snapshot_bytes(const struct gp_snapshot *s)
{
    return s->bytes;
}

bool gp_snapshot_compare(struct gp_snapshot *s, const char **why)
{
    if (!run(s, s->compare, why))
        return false;
    if (!s->chunk_count)
        return true;
    CUresult result = gp_cuda.cuMemcpyDtoHAsync_v2(s->flags, s->changed,
                                                   s->chunk_count * sizeof(*s->flags), s->stream);
    if (result == CUDA_SUCCESS)
        result = gp_cuda.cuStreamSynchronize(s->stream);
    if (result != CUDA_SUCCESS) {
        *why = gp_cuda_error(result);
        return false;
    }
    s->changed_bytes = 0;
    for (size_t i = 0; i < s->chunk_count; i++) {
        if (s->flags[i])
            s->changed_bytes += s->chunks[i].bytes;
        if (s->flags[i] && s->on_host[i])
            s->host_changed = true;
    }
    return true;
}

bool gp_snapshot_host_changed(const struct gp_snapshot *s)
{
    return s->host_changed;
}

bool gp_snapshot_restore(struct gp_snapshot *s, const char **why)
{
    return s->changed_bytes == 0 || run(s, s->restore, why);
}

uint64_t gp_snapshot_changed_bytes(const struct gp_snapshot *s)
{
    return s->changed_bytes;
}

void gp_snapshot_done(struct gp_snapshot *s)
{
    pthread_mutex_lock(&lock);
    s->in_use = false;
    pthread_mutex_unlock(&lock);
}

static bool read_scratch(struct gp_snapshot *s)
{
    if (!s->scratch) {
        s->scratch_size =
            FLUSH_SIZES * (size_t)gp_device_attribute(s->device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        if (device_room() < s->scratch_size ||
            gp_cuda.cuMemAlloc_v2(&s->scratch, s->scratch_size) != CUDA_SUCCESS) {
            s->scratch = 0;
            return false;
        }
    }
    uint64_t bytes = s->scratch_size;
    void *arguments[] = {&s->scratch, &bytes, &s->scratch};
    return gp_cuda.cuLaunchKernel(s->read_all, s->blocks, 1, 1, GP_CHUNK_THREADS, 1, 1, 0,
                                  s->stream, arguments, NULL) == CUDA_SUCCESS &&
           gp_cuda.cuStreamSynchronize(s->stream) == CUDA_SUCCESS;
}

bool gp_snapshot_flush_caches(struct gp_snapshot *s)
{
    /* In use, so that nobody takes the scratch buffer from under the kernel. */
    pthread_mutex_lock(&lock);
    bool was_in_use = s->in_use;
    s->in_use = true;
    pthread_mutex_unlock(&lock);
    bool flushed = read_scratch(s);
    pthread_mutex_lock(&lock);
    s->in_use = was_in_use;
    pthread_mutex_unlock(&lock);
    return flushed;
}
