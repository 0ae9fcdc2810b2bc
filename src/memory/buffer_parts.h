/* The list of buffers from within: buffers.c owns it, buffer_writers.c notes their writers,
 * buffer_changes.c their changes. Only for these. */
#ifndef GPUPROF_MEMORY_BUFFER_PARTS_H
#define GPUPROF_MEMORY_BUFFER_PARTS_H

#include "memory/buffers.h"

void buffers_lock(void);
void buffers_unlock(void);

/* The others with the list locked. In order of allocation: */
struct gp_buffer *buffers_first(void);
/* By its address; NULL where there is none. */
struct gp_buffer *buffer_find(CUdeviceptr address);
/* Takes it off the list, and frees it. */
void buffer_drop(struct gp_buffer *buffer);
/* Before a buffer is changed or taken off the list, and after it was added or changed. */
void buffer_note_change(const struct gp_buffer *buffer, bool added);

/* Enters a copy of it, not locked. */
void buffer_enter(struct gp_buffer entry);
/* Why it must not be put back, by its writers; none where it may. */
struct gp_reason buffer_not_ours(const struct gp_buffer *buffer);
/* Takes those off the list that the driver does not know any more. Not locked. */
void buffers_drop_gone(void);
/* As a kernel of the context sees it: memory of another one is just memory, and not ours. False
 * where it cannot reach it. */
bool buffer_concerns(const struct gp_buffer *buffer, CUcontext context, int device,
                     struct gp_buffer *seen);

#endif
