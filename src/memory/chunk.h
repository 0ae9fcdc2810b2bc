/* What the host and our own kernels share: a piece of a buffer and where it is kept. One block of
 * threads works on one chunk. */
#ifndef GPUPROF_MEMORY_CHUNK_H
#define GPUPROF_MEMORY_CHUNK_H

#include <stdint.h>

#define GP_CHUNK_BYTES (256u * 1024u)
#define GP_CHUNK_THREADS 256

/* live and saved are equal modulo 16, so that both can be read 16 bytes at a time. */
struct gp_chunk {
    uint64_t live;  /* address in the program's buffer, as kernels see it */
    uint64_t saved; /* address of the copy */
    uint64_t bytes; /* 1 to GP_CHUNK_BYTES */
};

#endif
