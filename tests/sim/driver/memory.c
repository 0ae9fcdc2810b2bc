#include "driver/memory.h"

#include "driver/faults.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_RESERVED (256ull << 30)
#define LEAST_RESERVED (1ull << 30)
#define PAGE 4096ull
#define GUARD 65536ull
#define ALIGNMENT 512ull
#define BLOCK (2ull << 20)
#define MOST_BLOCKS 64

/* Ranges in order of address. A lock of their own: kernels look addresses up while they run. */
static pthread_rwlock_t ranges_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct gpusim_range *ranges;
static size_t range_count, range_capacity;
static unsigned long long last_id;

/* Stretches given back, to be given out again to a caller that asks for the same size. */
struct hole {
    uint64_t start, bytes;
};
static struct hole *holes;
static size_t hole_count, hole_capacity;

/* With the fault "packed": small allocations lie in these, one right behind the other. */
static uint64_t blocks[MOST_BLOCKS];
static size_t block_count;
static uint64_t block_used; /* of the last one */

static uint64_t device_base, device_next; /* addresses as programs see them */
static uintptr_t backing_base;            /* where the bytes are */
static uint64_t reserved;                 /* how many there can be */

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static bool reserve_bytes(uint64_t bytes)
{
    void *addresses, *backing;

    /* GPUSIM_ADDRESSES: they begin there, if there is room. */
    const char *from = getenv("GPUSIM_ADDRESSES");
    addresses = mmap((void *)(uintptr_t)(from ? strtoull(from, NULL, 0) : 0), bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (addresses == MAP_FAILED)
        return false;
    backing = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (backing == MAP_FAILED) {
        (void)munmap(addresses, bytes);
        return false;
    }
    (void)madvise(backing, bytes, MADV_DONTDUMP);
    reserved = bytes;
    device_base = round_up((uintptr_t)addresses, 2ull << 20);
    device_next = device_base;
    backing_base = (uintptr_t)backing;
    return true;
}

/* Less where there is less, as under valgrind. */
static bool reserve(void)
{
    uint64_t bytes = MOST_RESERVED;

    if (device_base)
        return true;
    while (bytes >= LEAST_RESERVED && !reserve_bytes(bytes))
        bytes /= 2;
    return device_base != 0;
}

/* Addresses in a block; 0 where there is none. */
static uint64_t take_packed(uint64_t whole)
{
    if (!block_count || block_used + whole > BLOCK) {
        uint64_t start = round_up(device_next, BLOCK);
        if (block_count == MOST_BLOCKS || start + 2 * BLOCK > device_base + reserved)
            return 0;
        blocks[block_count++] = start;
        block_used = 0;
        device_next = start + BLOCK + GUARD;
    }
    block_used += whole;
    return blocks[block_count - 1] + block_used - whole;
}

/* A stretch of device addresses, with room behind it that belongs to nobody. */
static uint64_t take_addresses(uint64_t bytes)
{
    uint64_t whole = round_up(bytes, PAGE);
    uint64_t start;

    if (whole < BLOCK && gpusim_fault("packed"))
        return take_packed(whole);
    for (size_t i = hole_count; i-- > 0;)
        if (holes[i].bytes == whole) {
            start = holes[i].start;
            holes[i] = holes[--hole_count];
            return start;
        }
    if (device_next + whole + GUARD > device_base + reserved - (2ull << 20))
        return 0;
    start = device_next;
    device_next = round_up(start + whole + GUARD, GUARD);
    return start;
}

static uintptr_t backing_of(uint64_t address)
{
    return backing_base + (uintptr_t)(address - device_base);
}

static void give_back_addresses(uint64_t start, uint64_t bytes)
{
    uint64_t whole = round_up(bytes, PAGE);

    if (whole < BLOCK && gpusim_fault("packed"))
        return;
    (void)madvise((void *)backing_of(start), whole, MADV_DONTNEED);
    if (hole_count == hole_capacity) {
        size_t capacity = hole_capacity ? hole_capacity * 2 : 64;
        struct hole *more = realloc(holes, capacity * sizeof(*more));
        if (!more)
            return; /* the addresses are lost, nothing else */
        holes = more;
        hole_capacity = capacity;
    }
    holes[hole_count++] = (struct hole){start, whole};
}

/* The first range that ends behind the address. */
static size_t index_of(uint64_t address)
{
    size_t low = 0, high = range_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(struct gpusim_range range)
{
    size_t at;

    if (range_count == range_capacity) {
        size_t capacity = range_capacity ? range_capacity * 2 : 64;
        struct gpusim_range *more = realloc(ranges, capacity * sizeof(*more));
        if (!more)
            return false;
        ranges = more;
        range_capacity = capacity;
    }
    at = index_of(range.start);
    memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(*ranges));
    range.id = ++last_id;
    ranges[at] = range;
    range_count++;
    return true;
}

static bool on_device(enum gpusim_memory_kind kind)
{
    return kind == GPUSIM_DEVICE_MEMORY || kind == GPUSIM_VARIABLE_MEMORY;
}

static CUresult fill_range(struct gpusim_range *range, uint64_t bytes)
{
    void *memory;

    if (on_device(range->kind)) {
        if (!reserve())
            return CUDA_ERROR_OUT_OF_MEMORY;
        range->start = take_addresses(bytes);
        if (!range->start)
            return CUDA_ERROR_OUT_OF_MEMORY;
        range->host = backing_of(range->start);
        return CUDA_SUCCESS;
    }
    memory = mmap(NULL, round_up(bytes, PAGE), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    range->host = (uintptr_t)memory;
    range->start = (uintptr_t)memory;
    range->mapped_bytes = round_up(bytes, PAGE);
    return CUDA_SUCCESS;
}

static uint64_t charge(const struct gpusim_range *range)
{
    if (on_device(range->kind) || range->kind == GPUSIM_MANAGED_MEMORY)
        return round_up(range->end - range->start, ALIGNMENT);
    return 0;
}

static void discard(const struct gpusim_range *range)
{
    range->device->used -= charge(range);
    if (on_device(range->kind))
        give_back_addresses(range->start, range->end - range->start);
    else if (range->mapped_bytes)
        (void)munmap((void *)range->host, range->mapped_bytes);
}

/* Managed memory may be more than the device has. */
static bool fits(const struct gpusim_range *range, uint64_t bytes)
{
    uint64_t all = gpusim_device_memory();

    return !on_device(range->kind) || (bytes <= all && range->device->used <= all - bytes);
}

CUresult gpusim_memory_new(CUcontext context, enum gpusim_memory_kind kind, uint64_t bytes,
                           unsigned flags, CUmemoryPool pool, uint64_t *address)
{
    struct gpusim_range range = {.kind = kind,
                                 .context = gpusim_context_owner(context),
                                 .device = context->device,
                                 .flags = flags,
                                 .pool = pool};
    CUresult result;

    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_rwlock_wrlock(&ranges_lock);
    result = fits(&range, bytes) ? fill_range(&range, bytes) : CUDA_ERROR_OUT_OF_MEMORY;
    range.end = range.start + bytes;
    if (result == CUDA_SUCCESS) {
        range.device->used += charge(&range);
        if (!insert(range)) {
            discard(&range);
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    pthread_rwlock_unlock(&ranges_lock);
    if (result == CUDA_SUCCESS)
        *address = range.start;
    return result;
}

void gpusim_memory_set_there(uint64_t address, bool there)
{
    size_t at;

    pthread_rwlock_wrlock(&ranges_lock);
    at = index_of(address);
    if (at < range_count && ranges[at].start == address) {
        ranges[at].of_graph = true;
        ranges[at].absent = !there;
    }
    pthread_rwlock_unlock(&ranges_lock);
}

/* A range of memory that exists already. */
static CUresult add_range(const struct gpusim_range *range, CUresult taken)
{
    CUresult result = CUDA_SUCCESS;
    size_t at;

    pthread_rwlock_wrlock(&ranges_lock);
    at = index_of(range->start);
    if (at < range_count && ranges[at].start < range->end)
        result = taken;
    else if (!insert(*range))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_rwlock_unlock(&ranges_lock);
    return result;
}

CUresult gpusim_memory_register(CUcontext context, void *address, uint64_t bytes, unsigned flags)
{
    uint64_t start = (uintptr_t)address;
    struct gpusim_range range = {.start = start,
                                 .end = start + bytes,
                                 .host = start,
                                 .kind = GPUSIM_REGISTERED_MEMORY,
                                 .context = gpusim_context_owner(context),
                                 .device = context->device,
                                 .flags = flags};

    return add_range(&range, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
}

CUresult gpusim_memory_map(CUcontext context, uint64_t address, uint64_t bytes, void *host,
                           void *physical)
{
    struct gpusim_range range = {.start = address,
                                 .end = address + bytes,
                                 .host = (uintptr_t)host,
                                 .kind = GPUSIM_MAPPED_MEMORY,
                                 .context = gpusim_context_owner(context),
                                 .device = context->device,
                                 .physical = physical};

    return add_range(&range, CUDA_ERROR_ALREADY_MAPPED);
}

static void remove_at(size_t at)
{
    struct gpusim_range range = ranges[at];

    memmove(&ranges[at], &ranges[at + 1], (range_count - at - 1) * sizeof(*ranges));
    range_count--;
    discard(&range);
}

CUresult gpusim_memory_release(uint64_t address, unsigned kinds)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    size_t at;

    pthread_rwlock_wrlock(&ranges_lock);
    at = index_of(address);
    if (at < range_count && ranges[at].start == address && (kinds >> ranges[at].kind & 1)) {
        remove_at(at);
        result = CUDA_SUCCESS;
    }
    pthread_rwlock_unlock(&ranges_lock);
    return result;
}

void gpusim_memory_free_all(CUcontext context)
{
    pthread_rwlock_wrlock(&ranges_lock);
    for (size_t i = range_count; i-- > 0;)
        if (ranges[i].context == context)
            remove_at(i);
    pthread_rwlock_unlock(&ranges_lock);
}

bool gpusim_memory_find(uint64_t address, struct gpusim_range *found)
{
    bool known;
    size_t at;

    pthread_rwlock_rdlock(&ranges_lock);
    at = index_of(address);
    known = at < range_count && ranges[at].start <= address;
    if (known)
        *found = ranges[at];
    pthread_rwlock_unlock(&ranges_lock);
    return known;
}

void *gpusim_memory_host(uint64_t address, uint64_t bytes, bool device)
{
    struct gpusim_range range;

    if (!gpusim_memory_find(address, &range))
        return device ? NULL : (void *)(uintptr_t)address;
    /* A copy may go past the pinned part of the program's memory, not past the device's. */
    if (range.kind == GPUSIM_REGISTERED_MEMORY && !device)
        return (void *)(uintptr_t)address;
    if (bytes > range.end - address)
        return NULL;
    return (void *)(range.host + (uintptr_t)(address - range.start));
}

bool gpusim_memory_is_there(uint64_t address)
{
    struct gpusim_range range;

    return !gpusim_memory_find(address, &range) || !range.absent;
}

/* All of a block is there, also the part that is nobody's. */
static bool find_block(uint64_t address, struct gpusim_stretch *found)
{
    for (size_t i = 0; i < block_count; i++)
        if (address - blocks[i] < BLOCK) {
            *found = (struct gpusim_stretch){blocks[i], blocks[i] + BLOCK, backing_of(blocks[i])};
            return true;
        }
    return false;
}

static bool find_stretch(void *self, uint64_t address, struct gpusim_stretch *found)
{
    struct gpusim_range range;

    (void)self;
    if (find_block(address, found))
        return true;
    if (!gpusim_memory_find(address, &range) || range.absent)
        return false;
    *found = (struct gpusim_stretch){range.start, range.end, range.host};
    return true;
}

const struct gpusim_space gpusim_memory_space = {find_stretch, NULL};
