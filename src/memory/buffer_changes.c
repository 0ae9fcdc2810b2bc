#include "memory/inside.h"

#include <stdatomic.h>

static atomic_ulong generation; /* changes so far */

/* The last changes, each at its number modulo the size. */
#define CHANGES 1024
static struct change {
    struct gp_buffer buffer; /* as it was then; its links mean nothing */
    bool added;
} changes[CHANGES];

void buffer_note_change(const struct gp_buffer *buffer, bool added)
{
    unsigned long number = atomic_load(&generation);
    changes[number % CHANGES] = (struct change){.buffer = *buffer, .added = added};
    atomic_store(&generation, number + 1);
}

void buffers_changed(void)
{
    buffers_lock();
    /* Longer ago than changes are kept. */
    atomic_fetch_add(&generation, CHANGES + 1);
    buffers_unlock();
}

bool buffers_changes(uint64_t *since, CUcontext context, int device, gp_buffer_change *visit,
                     void *data)
{
    struct gp_buffer seen;
    buffers_drop_gone();
    buffers_lock();
    unsigned long now = atomic_load(&generation);
    bool known = now - *since <= CHANGES;
    for (unsigned long number = *since; known && number != now; number++) {
        const struct change *change = &changes[number % CHANGES];
        if (buffer_concerns(&change->buffer, context, device, &seen))
            visit(&seen, change->added, data);
    }
    *since = now;
    buffers_unlock();
    return known;
}
