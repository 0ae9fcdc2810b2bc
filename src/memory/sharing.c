#include "memory/sharing.h"

#include "base/hash.h"
#include "memory/buffers.h"
#include "memory/inside.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Handles are remembered until they are given out anew; a program that imports for ever must not
 * make us grow for ever. */
#define MOST_HANDLES 65536u

#define SHARED_UNKNOWN \
    GP_REASON_TEXT(NO_MEMORY, "out of memory: not all memory that the program shares is known")

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t device_bit(int device)
{
    return device >= 0 && device < GP_MOST_DEVICES ? UINT64_C(1) << device : 0;
}

/* ---- peers ----------------------------------------------------------------------------------- */

struct peers {
    CUcontext by, owner;
    bool kernels; /* else copies alone */
};

static struct peers *peers;
static size_t peers_capacity;
static atomic_size_t peers_count;

/* Locked. NULL where they are none. */
static struct peers *find_peers(CUcontext by, CUcontext owner)
{
    for (size_t i = 0; i < peers_count; i++)
        if (peers[i].by == by && peers[i].owner == owner)
            return &peers[i];
    return NULL;
}

/* Locked. NULL where there is no memory for them. */
static struct peers *find_or_add_peers(CUcontext by, CUcontext owner)
{
    struct peers *known = find_peers(by, owner);
    if (known)
        return known;
    if (peers_count == peers_capacity) {
        size_t capacity = peers_capacity ? 2 * peers_capacity : 16;
        struct peers *list = realloc(peers, capacity * sizeof(*list));
        if (!list)
            return NULL;
        peers = list;
        peers_capacity = capacity;
    }
    peers[peers_count] = (struct peers){by, owner, false};
    return &peers[peers_count++];
}

/* False where they were known to be that already. */
static bool note_peers(CUcontext by, CUcontext owner, bool kernels)
{
    pthread_mutex_lock(&lock);
    size_t before = peers_count;
    struct peers *p = find_or_add_peers(by, owner);
    bool changed = p && (peers_count > before || (kernels && !p->kernels));
    if (p)
        p->kernels = p->kernels || kernels;
    pthread_mutex_unlock(&lock);
    if (!p)
        gp_memory_bar_replay(SHARED_UNKNOWN);
    return changed;
}

void gp_peer_enabled(CUcontext by, CUcontext owner)
{
    note_peers(by, owner, true);
    buffers_changed();
}

void gp_peer_copies(CUcontext by, CUcontext owner)
{
    note_peers(by, owner, false);
}

bool peer_reaches(CUcontext by, CUcontext owner)
{
    if (atomic_load(&peers_count) == 0)
        return false;
    pthread_mutex_lock(&lock);
    const struct peers *p = find_peers(by, owner);
    bool reaches = p && p->kernels;
    pthread_mutex_unlock(&lock);
    return reaches;
}

CUcontext gp_owner_of(CUdeviceptr address)
{
    CUcontext owner = NULL;
    return gp_cuda.cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address) ==
                   CUDA_SUCCESS
               ? owner
               : NULL;
}

size_t gp_peers_of(CUcontext owner, CUcontext *list, size_t room)
{
    size_t count = 0;
    if (atomic_load(&peers_count) == 0)
        return 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < peers_count; i++) {
        if (peers[i].owner != owner)
            continue;
        if (count < room)
            list[count] = peers[i].by;
        count++;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

static void forget_peers(CUcontext context)
{
    if (atomic_load(&peers_count) == 0)
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = peers_count; i-- > 0;) {
        if (peers[i].by == context || peers[i].owner == context) {
            peers_count--;
            peers[i] = peers[peers_count];
        }
    }
    pthread_mutex_unlock(&lock);
    buffers_changed();
}

/* ---- contexts -------------------------------------------------------------------------------- */

static CUcontext seen[GP_MOST_CONTEXTS];
static atomic_size_t seen_count; /* one more than there is room for, at most */

/* Locked. */
static size_t index_of(CUcontext context)
{
    size_t i = 0;
    while (i < seen_count && i < GP_MOST_CONTEXTS && seen[i] != context)
        i++;
    return i;
}

void gp_context_is_used(CUcontext context)
{
    if (!context)
        return;
    pthread_mutex_lock(&lock);
    size_t i = index_of(context);
    if (i == seen_count && i < GP_MOST_CONTEXTS)
        seen[i] = context;
    if (i == seen_count)
        seen_count = i < GP_MOST_CONTEXTS ? i + 1 : GP_MOST_CONTEXTS + 1;
    pthread_mutex_unlock(&lock);
}

bool gp_several_contexts(void)
{
    return atomic_load_explicit(&seen_count, memory_order_relaxed) > 1;
}

size_t gp_contexts_used(CUcontext list[GP_MOST_CONTEXTS])
{
    pthread_mutex_lock(&lock);
    size_t count = seen_count;
    memcpy(list, seen, sizeof(seen));
    pthread_mutex_unlock(&lock);
    return count;
}

static void forget_seen(CUcontext context)
{
    pthread_mutex_lock(&lock);
    size_t i = index_of(context);
    if (i < seen_count && seen_count <= GP_MOST_CONTEXTS) {
        seen_count--;
        seen[i] = seen[seen_count];
    }
    pthread_mutex_unlock(&lock);
}

void gp_peers_forget(CUcontext context)
{
    forget_peers(context);
    forget_seen(context);
}

/* ---- physical memory, pools ------------------------------------------------------------------ */

struct shared {
    uint64_t handle;  /* the key */
    uint64_t devices; /* of a pool */
    uint64_t first;   /* of another handle of physical memory */
    UT_hash_handle hh;
};

static struct shared *physical, *aliases, *pools;

/* Locked. */
static struct shared *find(struct shared *table, uint64_t handle)
{
    struct shared *s;
    HASH_FIND(hh, table, &handle, sizeof(handle), s);
    return s;
}

/* Locked. NULL where there is no memory for it. */
static struct shared *find_or_add(struct shared **table, uint64_t handle)
{
    struct shared *s = find(*table, handle);
    if (s || HASH_COUNT(*table) >= MOST_HANDLES)
        return s;
    s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->handle = handle;
    HASH_ADD(hh, *table, handle, sizeof(s->handle), s);
    if (s->hh.tbl)
        return s;
    free(s);
    return NULL;
}

static void forget(struct shared **table, uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct shared *s = find(*table, handle);
    if (s) {
        HASH_DEL(*table, s);
        free(s);
    }
    pthread_mutex_unlock(&lock);
}

void gp_physical_made(CUmemGenericAllocationHandle handle)
{
    forget(&physical, handle);
    forget(&aliases, handle);
}

void gp_physical_also(CUmemGenericAllocationHandle handle, CUmemGenericAllocationHandle first)
{
    forget(&aliases, handle);
    if (handle == first)
        return;
    pthread_mutex_lock(&lock);
    struct shared *s = find_or_add(&aliases, handle);
    if (s)
        s->first = first;
    pthread_mutex_unlock(&lock);
    if (!s)
        gp_memory_bar_replay(SHARED_UNKNOWN);
}

CUmemGenericAllocationHandle physical_of_handle(CUmemGenericAllocationHandle handle)
{
    pthread_mutex_lock(&lock);
    const struct shared *s = find(aliases, handle);
    CUmemGenericAllocationHandle first = s ? s->first : handle;
    pthread_mutex_unlock(&lock);
    return first;
}

void gp_physical_shared(CUmemGenericAllocationHandle handle)
{
    handle = physical_of_handle(handle);
    pthread_mutex_lock(&lock);
    bool noted = find_or_add(&physical, handle) != NULL;
    pthread_mutex_unlock(&lock);
    if (!noted)
        gp_memory_bar_replay(SHARED_UNKNOWN);
    mappings_shared(handle);
}

bool physical_is_shared(CUmemGenericAllocationHandle handle)
{
    pthread_mutex_lock(&lock);
    bool shared = find(physical, handle) != NULL;
    pthread_mutex_unlock(&lock);
    return shared;
}

void gp_pool_set_access(CUmemoryPool pool, int device, bool writable)
{
    uint64_t bit = device_bit(device);
    pthread_mutex_lock(&lock);
    struct shared *s = bit ? find_or_add(&pools, (uintptr_t)pool) : NULL;
    if (s)
        s->devices = writable ? s->devices | bit : s->devices & ~bit;
    pthread_mutex_unlock(&lock);
    if (!s)
        gp_memory_bar_replay(SHARED_UNKNOWN);
    pooled_set_access(pool, device, writable);
}

uint64_t pool_devices(CUmemoryPool pool)
{
    uint64_t devices = 0;
    struct shared *s, *next;
    pthread_mutex_lock(&lock);
    HASH_ITER(hh, pools, s, next)
    {
        if (!pool || s->handle == (uintptr_t)pool)
            devices |= s->devices;
    }
    pthread_mutex_unlock(&lock);
    return devices;
}

void gp_pool_forget(CUmemoryPool pool)
{
    forget(&pools, (uintptr_t)pool);
}
