/* How long the program's own copies and fills take (GPUPROF_COPIES=on): two events around each, in
 * its stream, read when they are over. Owns the events. From any thread. */
#ifndef GPUPROF_LAUNCH_COPIES_H
#define GPUPROF_LAUNCH_COPIES_H

#include "cuda/driver.h"
#include "profile/record.h"

#include <stdbool.h>

/* A copy that is being made. */
struct gp_copy {
    enum gp_copy_kind kind;
    size_t bytes;
    CUstream stream;
    struct gp_copy_pool *pool; /* NULL: its time is not taken */
    unsigned pair;
};

/* True where it asks for them. */
bool gp_copies_wanted(void);

/* Around the driver's call. False where the copy is captured into a graph, as it is none yet, and
 * outside the window (launch/window.h). */
bool gp_copy_begins(struct gp_copy *copy, enum gp_copy_kind kind, size_t bytes, CUstream stream);
void gp_copy_ends(const struct gp_copy *copy, CUresult result);

/* The context goes: its ended copies are read, its events are forgotten. */
void gp_copies_leave(CUcontext context);

/* The stream of a call whose NULL stream is the thread's own. */
#define GP_PER_THREAD(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

enum gp_copy_kind gp_copy_kind_2d(const CUDA_MEMCPY2D_v2 *copy);
enum gp_copy_kind gp_copy_kind_3d(const CUDA_MEMCPY3D_v2 *copy);
size_t gp_copy_bytes_2d(const CUDA_MEMCPY2D_v2 *copy);
size_t gp_copy_bytes_3d(const CUDA_MEMCPY3D_v2 *copy);

#endif
