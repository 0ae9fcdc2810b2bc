#include "memory/buffer_parts.h"

#include <stdatomic.h>

static atomic_ulong generation; /* changes so far */

/* The last changes, each at its number modulo the size. */
#define CHANGES 1024
static struct change {
    struct gp_buffer buffer; /* as it was then; its links mean nothing */
    bool added;
} changes[CHANGES];

void gp_buffer_note_change(const struct gp_buffer *buffer, bool added)
{
    unsigned long number = atomic_load(&generation);
    changes[number % CHANGES] = (struct change){.buffer = *buffer, .added = added};
    atomic_store(&generation, number + 1);
}

void gp_buffers_changed(void)
{
    gp_buffers_lock();
    /* Longer ago than changes are kept. */
    atomic_fetch_add(&generation, CHANGES + 1);
    gp_buffers_unlock();
}

bool gp_buffers_changes(uint64_t *since, CUcontext context, int device, gp_buffer_change *visit,
                        void *data)
{
    struct gp_buffer seen;
    gp_buffers_drop_gone();
    gp_buffers_lock();
    unsigned long now = atomic_load(&generation);
    bool known = now - *since <= CHANGES;
    for (unsigned long number = *since; known && number != now; number++) {
        const struct change *change = &changes[number % CHANGES];
        if (gp_buffer_concerns(&change->buffer, context, device, &seen))
            visit(&seen, change->added, data);
    }
    *since = now;
    gp_buffers_unlock();
    return known;
}
