#include "memory/inside.h"

/* As long as the host takes to put a launch into a stream, and more. */
#define PAUSE_NS 30000
/* The scratch buffer that replaces the L2's contents, in sizes of the L2: its replacement is not
 * strictly oldest first, so one is not enough. With two, a sixteenth of the memory that was put
 * back was now and then written out in a kernel's pass. */
#define FLUSH_SIZES 3

static bool make_scratch(struct gp_snapshot *s)
{
    if (s->scratch)
        return true;
    s->scratch_size =
        FLUSH_SIZES * (size_t)gp_device_attribute(s->device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    return s->scratch_size && arena_has_room(s->scratch_size) &&
           own_memory(&s->scratch, s->scratch_size) == CUDA_SUCCESS;
}

static CUresult read_memory(struct gp_snapshot *s, CUdeviceptr address, CUstream stream,
                            bool per_thread)
{
    uint64_t bytes = s->scratch_size;
    void *arguments[] = {&address, &bytes, &address};
    return own_kernel_start_on(stream, per_thread, s->own.read_all.function, s->own.read_all.blocks,
                               GP_UNIT_THREADS, arguments);
}

bool gp_snapshot_may_flush(const struct gp_snapshot *s)
{
    return s->scratch != 0;
}

bool gp_snapshot_delay_stream(struct gp_snapshot *s, CUstream stream, bool per_thread, bool flush)
{
    return flush ? read_memory(s, s->scratch, stream, per_thread) == CUDA_SUCCESS
                 : gp_snapshot_pause_on(s, stream, per_thread);
}

bool gp_snapshot_pause_on(struct gp_snapshot *s, CUstream stream, bool per_thread)
{
    uint64_t nanoseconds = PAUSE_NS;
    void *arguments[] = {&nanoseconds};
    return own_kernel_start_on(stream, per_thread, s->own.pause.function, 1, 1, arguments) ==
           CUDA_SUCCESS;
}

bool gp_snapshot_flush_caches_on(struct gp_snapshot *s, CUstream stream, bool per_thread)
{
    /* In use, so that nobody takes the scratch buffer from under the kernel. */
    gp_snapshot_set_in_use(s, true);
    return make_scratch(s) && read_memory(s, s->scratch, stream, per_thread) == CUDA_SUCCESS;
}

struct large {
    const struct gp_snapshot *snapshot;
    CUdeviceptr address;
};

/* Reading memory that the launch reaches would make its caches warm. */
static void note_large(const struct gp_buffer *buffer, void *data)
{
    struct large *large = data;
    const struct gp_snapshot *s = large->snapshot;
    if (buffer->kind == GP_BUFFER_DEVICE && buffer->context == s->context &&
        buffer->size >= s->scratch_size && !gp_snapshot_reaches(s, buffer->address) &&
        !segments_reach(&s->restored, buffer->address, buffer->size) &&
        !segments_reach(&s->watched, buffer->address, buffer->size))
        large->address = buffer->address;
}

/* A program that fills the GPU has a large buffer, which does as well: it is only read. The gate is
 * closed until that has ended, so the buffer cannot go. */
static bool read_buffer_of_program(struct gp_snapshot *s)
{
    struct large large = {.snapshot = s};
    if (s->scratch_size)
        gp_buffers_each(s->context, s->device, note_large, &large);
    return large.address && read_memory(s, large.address, s->own.stream, false) == CUDA_SUCCESS;
}

bool gp_snapshot_flush_caches(struct gp_snapshot *s, bool taken)
{
    bool was_in_use = gp_snapshot_set_in_use(s, true);
    bool flushed = (gp_snapshot_flush_caches_on(s, s->own.stream, false) ||
                    (taken && read_buffer_of_program(s))) &&
                   gp_cuda.cuStreamSynchronize(s->own.stream) == CUDA_SUCCESS;
    gp_snapshot_set_in_use(s, was_in_use);
    return flushed;
}
