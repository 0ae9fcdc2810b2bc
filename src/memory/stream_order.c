/* The order in which held launches run: that of the log where they are in one stream. One that was
 * waited for came behind all before it, and in front of all behind. */
#include "memory/inside.h"

#include <sys/syscall.h>
#include <unistd.h>

void held_copy_note_stream(struct gp_held_copy *copy, CUstream stream, bool per_thread)
{
    const bool is_default = !stream || stream == CU_STREAM_LEGACY;
    copy->in_stream = true;
    copy->stream = is_default ? NULL : stream;
    copy->is_of_thread = stream == CU_STREAM_PER_THREAD || (!stream && per_thread);
    copy->thread = copy->is_of_thread ? (int)syscall(SYS_gettid) : 0;
}

static bool are_in_order(const struct gp_held_copy *a, const struct gp_held_copy *b)
{
    if (a->is_of_thread || b->is_of_thread)
        return a->is_of_thread && b->is_of_thread && a->thread == b->thread;
    return a->stream == b->stream;
}

bool versions_are_in_order(const struct gp_versions *v)
{
    const struct gp_held_copy *first = NULL;
    for (size_t i = 0; i < v->log_count; i++) {
        const struct gp_held_copy *copy = v->log[i];
        if (!copy->in_stream)
            continue;
        if (first && !are_in_order(first, copy))
            return false;
        first = copy;
    }
    return true;
}
