/* The owners of addresses. Device memory is handed out from a large stretch of addresses that
 * the process can never touch, as on a machine with a GPU; data stored there lie at another
 * address (the range's host). Pinned and managed memory has one address for both sides. */
#ifndef GPUSIM_MEMORY_H
#define GPUSIM_MEMORY_H

#include "driver/driver.h"

enum gpusim_memory_kind {
    GPUSIM_DEVICE_MEMORY,
    GPUSIM_MANAGED_MEMORY,
    GPUSIM_PINNED_MEMORY,     /* allocated by the driver */
    GPUSIM_REGISTERED_MEMORY, /* the program's own, made known to the driver */
    GPUSIM_VARIABLE_MEMORY,   /* a module's global */
    GPUSIM_MAPPED_MEMORY      /* mapped piece by piece */
};

struct gpusim_range {
    uint64_t start, end;
    uintptr_t host;
    enum gpusim_memory_kind kind;
    CUcontext context;
    struct gpusim_device *device;
    unsigned flags;
    CUmemoryPool pool;
    unsigned long long id;
    uint64_t mapped_bytes; /* to unmap, of pinned memory */
    void *physical;        /* the mapped memory */
    bool of_graph;         /* a graph allocates it */
    bool absent;           /* a graph's own, while that does not run */
};

/* The type of a pool's memory; NULL: no pool. */
enum gpusim_memory_kind gpusim_pool_kind(CUmemoryPool pool);

/* A new range; *address is set. Counts against the device's memory unless it is the host's. */
CUresult gpusim_memory_new(CUcontext context, enum gpusim_memory_kind kind, uint64_t bytes,
                           unsigned flags, CUmemoryPool pool, uint64_t *address);
/* Shared by the forms of cuMemHostRegister. */
CUresult gpusim_host_register(void *p, size_t bytes, unsigned flags);
/* Memory that a graph allocates is there from its allocation until it is freed, at an address that
 * stays. */
void gpusim_memory_set_there(uint64_t address, bool there);
bool gpusim_memory_is_there(uint64_t address);
/* Makes the host's own memory known. */
CUresult gpusim_memory_register(CUcontext context, void *address, uint64_t bytes, unsigned flags);
/* Lays physical memory under reserved addresses. */
CUresult gpusim_memory_map(CUcontext context, uint64_t address, uint64_t bytes, void *host,
                           void *physical);
/* Takes back the range that starts there and is of one of these kinds (a bit for each). */
CUresult gpusim_memory_release(uint64_t address, unsigned kinds);

/* The range that holds the address. Copies it out: it may be gone a moment later. */
bool gpusim_memory_find(uint64_t address, struct gpusim_range *found);

/*
 * Where these bytes really are. Addresses of no range are the program's own memory and stand for
 * themselves, unless device is set: then, and when the bytes leave their range, NULL.
 */
void *gpusim_memory_host(uint64_t address, uint64_t bytes, bool device);

/* For kernels: only ranges count. */
extern const struct gpusim_space gpusim_memory_space;

#endif
