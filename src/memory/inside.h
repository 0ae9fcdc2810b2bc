/* memory/ from within: the declarations that its own files alone use, each section behind those
 * that it needs. The first lines of a file that a section names say more. */
#ifndef GPUPROF_MEMORY_INSIDE_H
#define GPUPROF_MEMORY_INSIDE_H

#include "base/cause.h"
#include "base/hash.h"
#include "code/module_code.h"
#include "cuda/driver.h"
#include "memory/buffers.h"
#include "memory/snapshot.h"
#include "memory/work.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the memory that copies may take (budget.c) ---------------------------------------------- */

/* Bytes left free on a device for the program's next allocations. */
#define GP_DEVICE_RESERVE ((uint64_t)256 << 20)

/* Bytes that copies may take on a device, and beside that in page-locked host memory, with so many
 * bytes free in either (those we hold already counted as free). */
struct gp_room {
    uint64_t device, host;
};
struct gp_room memory_budget(uint64_t free_on_device, uint64_t free_on_host);

/* OVER_LIMIT, "the launch's memory (60 GB) is more than GPUPROF_MEMORY allows (13 GB)". */
struct gp_reason memory_budget_exceeded(uint64_t needed, uint64_t allowed);

/* ---- memory that others can write (sharing.c) ------------------------------------------------ */

/* Devices are bits; there is none for those beyond. */
#define GP_MOST_DEVICES 64
uint64_t device_bit(int device);

/* True where kernels of one context can write the memory of the other. */
bool peer_reaches(CUcontext by, CUcontext owner);

/* True where another process has the physical memory with that handle. */
bool physical_is_shared(CUmemGenericAllocationHandle handle);
/* The first handle of physical memory, by any of its handles. */
CUmemGenericAllocationHandle physical_of_handle(CUmemGenericAllocationHandle handle);

/* The devices that may write a pool's memory, as bits; NULL: a pool that is not known. */
uint64_t pool_devices(CUmemoryPool pool);

/* ---- arrays that kernels can write (surfaces.c) ---------------------------------------------- */

/* The context goes, and its arrays with it. */
void surfaces_forget_context(CUcontext context);

/* Calls visit with each array of the context, once; under the list's lock. */
typedef void gp_array_visit(CUarray array, void *data);
void surfaces_each(CUcontext context, gp_array_visit *visit, void *data);

/* ---- the host's ordinary memory (pageable.c) ------------------------------------------------- */

/* True when this process can read the byte at the address, which may be any number. Stretches of
 * addresses that a driver keeps for its devices are not readable. About a microsecond. */
bool host_is_readable(uint64_t address);

/* ---- buffers (buffers.c, buffer_changes.c) --------------------------------------------------- */

/* Enters a variable of that module or library as a buffer of the current context. */
void buffer_add_global(const void *owner, CUdeviceptr address, size_t size);

/* The addresses of that physical memory are shared with another process. */
void mappings_shared(CUmemGenericAllocationHandle handle);
/* Gives another device the right to write memory from the pool, or takes it. */
void pooled_set_access(CUmemoryPool pool, int device, bool writable);

/* False where the buffer that starts at the address is not one for kernels of that context. */
bool buffer_may_concern(CUdeviceptr address, CUcontext context, int device);

/* Takes all globals of a module off the list. */
void buffers_drop_owner(const void *owner);

/* Calls visit for each change since generation *since that concerns the context, oldest first, and
 * sets *since to the present; under the list's lock. False, and nothing visited, where that is too
 * long ago (*since is set all the same): then gp_buffers_each tells. */
typedef void gp_buffer_change(const struct gp_buffer *buffer, bool added, void *data);
bool buffers_changes(uint64_t *since, CUcontext context, int device, gp_buffer_change *visit,
                     void *data);

/* Makes all that follow the changes ask anew: other memory can be reached than before. */
void buffers_changed(void);

/* ---- the list of buffers (buffers.c, buffer_writers.c, buffer_changes.c) --------------------- */

/* The list of buffers from within: buffers.c owns it, buffer_writers.c notes their writers,
 * buffer_changes.c their changes. */

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

/* ---- modules (modules.c) --------------------------------------------------------------------- */

void modules_forget_context(CUcontext context);

/* ---- memory that the program has freed (retired.c) ------------------------------------------- */

/* Bytes that are kept on the device, but for those of pools. */
uint64_t retired_bytes(CUdevice device);

/* ---- device memory of our own (own_memory.c) ------------------------------------------------- */

/* At least so many bytes; 0 in *address where that fails. */
CUresult own_memory(CUdeviceptr *address, uint64_t bytes);
/* Bytes that it takes for so many. */
uint64_t own_memory_takes(uint64_t bytes);

/* ---- our own kernels (own_kernels.c) --------------------------------------------------------- */

struct gp_own_kernel {
    CUfunction function;
    unsigned blocks; /* that the device runs at the same time */
};

struct gp_own_kernels {
    CUmodule module;
    struct gp_own_kernel copy, copy_few, save_few, digest_few, check_digests, copy_and_follow,
        compare, keep, rewind_kept, rewind, put_back, put_right;
    struct gp_own_kernel hash, compare_hashes, read_all, pause;
    CUstream stream;               /* made by the caller */
    CUdeviceptr answer;            /* struct gp_answer, on the device */
    struct gp_answer *host_answer; /* a copy of it in page-locked memory */
};

/* False where they cannot be loaded; close them all the same. */
bool own_kernels_load(struct gp_own_kernels *kernels, CUdevice device);
/* Gives back all that lies in the context, the stream too. Not where the context is gone. */
void own_kernels_close(struct gp_own_kernels *kernels);

/* Starts one with as many blocks as have something to do. */
CUresult own_kernel_start(const struct gp_own_kernels *kernels, const struct gp_own_kernel *kernel,
                          uint64_t units, void **arguments);

/* Starts one in a stream of the program (of the default ones the thread's own, when per_thread). */
CUresult own_kernel_start_on(CUstream stream, bool per_thread, CUfunction function, unsigned blocks,
                             unsigned threads, void **arguments);

/* Zeroes the answer; the list in it needs no more than its count. */
CUresult answer_clear(struct gp_own_kernels *kernels);
/* Waits for all that was started, and fetches the answer. */
CUresult answer_fetch(struct gp_own_kernels *kernels);

/* True for CUDA_SUCCESS; else the reason is in *why. */
bool driver_worked(CUresult result, struct gp_reason *why);

/* ---- pieces of memory (segments.c) ----------------------------------------------------------- */

struct gp_segments {
    struct gp_segment *list;
    size_t count, capacity;
    uint64_t units;      /* of all of them */
    uint64_t units_done; /* of those that somebody has dealt with: theirs to keep */
    CUdeviceptr table;   /* the same on the device */
    size_t on_device, device_capacity;
};

/* Adds memory that lies at `live`; `saved` is its copy or 0, `start` that of its buffer. False
 * when out of memory. */
bool segments_add(struct gp_segments *segments, uint64_t live, uint64_t saved, uint64_t bytes,
                  uint64_t start);
/* Adds whole units with digests, or without (0); to the last one, where they lie behind it as their
 * copies do. */
bool segments_add_units(struct gp_segments *segments, uint64_t live, uint64_t saved, uint64_t bytes,
                        uint64_t digests);
/* The last one that was added has these digests. */
void segments_note_digests(struct gp_segments *segments, uint64_t digests);
void segments_clear(struct gp_segments *segments);
/* Leaves the first ones, on the host. */
void segments_cut(struct gp_segments *segments, size_t count);

/* True where some of that memory is among the segments. */
bool segments_reach(const struct gp_segments *segments, uint64_t address, uint64_t bytes);

/* Makes the list equal to another one, on the host. False when out of memory. */
bool segments_copy(struct gp_segments *segments, const struct gp_segments *other);

/* Puts the segments that were added since the last time on the device, in the order of the
 * stream. */
CUresult segments_upload(struct gp_segments *segments, CUstream stream);

/* Frees the device's table as well, if the context still lives. */
void segments_free(struct gp_segments *segments, bool context_alive);

/* The segments of a list by address (segment_order.c). None may overlap another one. */
struct gp_segment_order {
    uint32_t *at; /* indices of the list */
    size_t count, capacity;
};

/* A segment that overlaps `wanted`, NULL where none does. */
const struct gp_segment *order_find(const struct gp_segment_order *order,
                                    const struct gp_segments *segments,
                                    const struct gp_segment *wanted);
/* Adds the last segment of the list. False when out of memory. */
bool order_add_last(struct gp_segment_order *order, const struct gp_segments *segments);
/* Leaves the first segments of the list. */
void order_cut(struct gp_segment_order *order, size_t count);
void order_free(struct gp_segment_order *order);

/* ---- the buffers of a context, by address (ranges.c) ----------------------------------------- */

struct gp_range_facts {
    enum gp_buffer_kind kind;
    bool managed;              /* memory that the host uses as well */
    bool direct;               /* memory that other devices access directly */
    const void *owner;         /* of a global: its module or library */
    struct gp_reason not_ours; /* why it must not be put back; none where it may */
    bool of_gpus;              /* only as other GPUs of the process can write it, or it is theirs */
    uint64_t freed_at;         /* the time of a range that was freed (memory/freed.c) */
};

struct gp_ranges {
    struct gp_range *ranges;      /* in order of address; none overlaps another */
    struct gp_range_facts *facts; /* of the same */
    size_t count, capacity;
    uint64_t bytes;      /* of all ranges */
    size_t changed_from; /* ranges before it are as they were when another part set this to count */
    uint32_t
        high[GP_HIGH_HALVES / 32]; /* upper halves of addresses there are or were, a bit each */
    bool high_changed;             /* bits came since somebody cleared this */

    uint64_t generation; /* of the list, up to which this follows it */
    bool complete; /* it has been read whole once, and no change was lost for want of memory */
    struct gp_owner *owners;
    size_t owner_count, owner_capacity;
    bool owners_known;
};

/* Brings the ranges up to date with the list of buffers. False when out of memory. */
bool ranges_update(struct gp_ranges *ranges, CUcontext context, int device);
void ranges_free(struct gp_ranges *ranges);

/* Ranges that follow no list: adds one, to which its part of each other one goes over. Where there
 * is no memory for that they are not complete any more. */
void ranges_add(struct gp_ranges *ranges, struct gp_range range, struct gp_range_facts facts);
void ranges_clear(struct gp_ranges *ranges);

/* The ranges that an address points into, or just behind the end of: none, one or two. */
unsigned ranges_find(const struct gp_ranges *ranges, uint64_t address, size_t found[2]);

/* Calls visit with each variable of the module or library; with all variables for NULL. False where
 * out of memory. */
typedef void gp_range_visit(size_t range, void *data);
bool ranges_of(struct gp_ranges *ranges, const void *owner, gp_range_visit *visit, void *data);

/* ---- ranges as our kernels see them (lookup.c) ----------------------------------------------- */

struct gp_lookup {
    CUdeviceptr table;  /* struct gp_table, and behind it the upper halves */
    CUdeviceptr arrays; /* its ranges, marks and list */
    size_t capacity;    /* ranges that fit */
    struct gp_table copy;
};

/* Brings the table up to date with the ranges, in the order of the stream; costs nothing where
 * nothing has changed. The ranges must stay as they are until the stream is done. */
CUresult lookup_update(struct gp_lookup *lookup, struct gp_ranges *ranges, CUstream stream);
/* From the next update on addresses of large ranges are listed, too. */
CUresult lookup_list_led(struct gp_lookup *lookup, struct gp_ranges *ranges);

/* Frees the device memory, if the context still lives. */
void lookup_free(struct gp_lookup *lookup, bool context_alive);

/* ---- ranges that a launch reaches (reached.c) ------------------------------------------------ */

struct gp_reached {
    struct gp_ranges ranges;
    size_t *list; /* numbers of ranges */
    size_t count, capacity;
    size_t roots;    /* of them that parameters and variables lead to; contents lead to the next */
    size_t seen;     /* of them; the rest is there because everything is */
    uint32_t *marks; /* per range: the round in which it was reached last */
    size_t marks_capacity;
    uint32_t round; /* of launches */
    bool out_of_memory;
    struct gp_reason not_ours; /* why reached memory cannot be put back, none while it can */
    bool others_rest;          /* as of the launch */
    bool of_gpus, barred;      /* some memory is not ours for other GPUs alone; or for more */
    uint64_t bytes, needed;    /* of the reached memory; room for its copies */
};

/* Forgets the last launch. */
void reached_clear(struct gp_reached *reached);
/* Brings the ranges up to date. False when out of memory. */
bool reached_update(struct gp_reached *reached, CUcontext context, CUdevice device);
void reached_free(struct gp_reached *reached);

/* A gp_range_visit: the range is reached. */
void reach_range(size_t range, void *reached);
void reach_all(struct gp_reached *reached);

/* Every 8 bytes of the parameters, wherever they begin. False, with the reason in *why, where one
 * points to the host's ordinary memory, and kernels can write that (`pageable`). */
bool reach_from_parameters(struct gp_reached *reached, const struct gp_reach *launch, bool pageable,
                           struct gp_reason *why);
/* The variables a kernel can name are those of its module. False when out of memory. */
bool reach_from_modules(struct gp_reached *reached, const struct gp_reach *launch);

/* Whether all that is reached, or all that there is, may be put back; else why not. With
 * `others_rest`, so may memory of other GPUs. */
bool reached_is_ours(const struct gp_reached *reached, struct gp_reason *why);
bool reached_all_is_ours(struct gp_reached *reached, struct gp_reason *why);

/* True where the index-th is compared only, and never put back. */
bool reached_is_watched(const struct gp_reached *reached, size_t index);

/* ---- divided memory (divided.c) -------------------------------------------------------------- */

/* An allocation that a program may divide (memory/divided.h). */
/* ---- its near part (near.c) ---- */

#define GP_NEAR_BLOCKS 8192u
/* Units of an allocation, from 0 on. */
struct gp_near {
    uint64_t units, block; /* of all, and of a block */
    uint64_t bits[GP_NEAR_BLOCKS / 64];
};

/* Nothing is near. */
void near_begin(struct gp_near *near, uint64_t units);
/* A launch has had an address in the unit. True where more is near than before. */
bool near_add(struct gp_near *near, uint64_t unit);
/* A change was found there. */
void near_add_changed(struct gp_near *near, uint64_t unit);
/* The next stretch of near units from *from on; false where there is none. */
bool near_next(const struct gp_near *near, uint64_t *from, uint64_t *to);
/* Whether all units from `from` to before `to` are near. */
bool near_holds(const struct gp_near *near, uint64_t from, uint64_t to);

struct gp_divided {
    const struct gp_snapshot *owner;
    uint64_t start, end;   /* of the allocation */
    uint64_t first, units; /* its whole units: the address of the first one, and how many */
    uint64_t *cuts;        /* addresses of its inside that launches have had, in order */
    size_t cut_count, cut_capacity;
    CUdeviceptr digests; /* uint64_t by unit; 0: not made yet */
    struct gp_near near; /* the far part is the rest */
    bool grew;           /* the near part: the launch with the new address may write anywhere */
    /* Other threads read these, and set the first two to false. */
    atomic_bool known;     /* the digests are those of its contents, but for the far part */
    atomic_bool far_known; /* and there, as far as launches write as is expected */
    atomic_bool pending;   /* a launch that is held reaches it */
    bool active;           /* divided_is */
    bool reached;          /* by the launch at hand */
    struct gp_divided *prev, *next;
};

/* Forgets allocations where there are many, and those that the program has freed; not those that a
 * held launch reaches. The context is idle: device memory is freed. */
void divided_make_room(const struct gp_snapshot *s);
/* Frees all digests; device memory that this gives back. No launch is held, and none is at hand. */
void divided_free_digests(const struct gp_snapshot *s);
uint64_t divided_free_bytes(const struct gp_snapshot *s);
/* A write of the program is about to be followed by its digests; they have followed. In between no
 * digests are freed. The snapshot is in use where it begins. */
void divided_follow_begins(void);
void divided_follow_ends(void);
/* The allocation of a range; NULL where it is small, there are too many, or out of memory. */
struct gp_divided *divided_of(const struct gp_snapshot *s, const struct gp_range *range);
/* The one that the address is in; NULL: none. */
struct gp_divided *divided_around(const struct gp_snapshot *s, CUdeviceptr address);
/* True where launches have had several addresses in it. So it is from one launch to the next while
 * copies are held: they have copies of parts, or of the whole. */
bool divided_is(struct gp_divided *d);
/* A launch has a copy of that memory as a whole, which knows of no digests: it is not divided while
 * that is held. */
void divided_rest(const struct gp_snapshot *s, uint64_t start, uint64_t end);
bool divided_any(const struct gp_snapshot *s);
/* A launch has had that address. The start of the piece that it is in, and its end. */
void divided_cut(struct gp_divided *d, uint64_t address);
uint64_t divided_piece_start(const struct gp_divided *d, uint64_t address);
uint64_t divided_piece_end(const struct gp_divided *d, uint64_t address);
void divided_set_known(struct gp_divided *d, bool known);
void divided_set_pending(struct gp_divided *d, bool pending);
void divided_close(const struct gp_snapshot *s, bool context_alive);

/* The means to check digests. */
struct gp_digests {
    CUdeviceptr answer; /* struct gp_digests_answer */
    CUdeviceptr bits;   /* of units that have changed */
    uint32_t *host_bits;
    size_t words;      /* of either */
    uint64_t checked;  /* units of the last check */
    double seconds;    /* that checks have taken */
    uint64_t launches; /* that have asked whether that is too much */
};

void digests_free(struct gp_digests *g, bool context_alive);

/* Brings its digests up to date, in one read of it; *changed becomes true where some were not. The
 * GPU has done so when this returns. False, with the reason in *why, where that failed. */
bool divided_check(struct gp_snapshot *s, struct gp_divided *d, bool *changed,
                   struct gp_reason *why);
/* All launches so far are over, and the whole was checked behind them. */
void divided_grew_no_more(struct gp_divided *d);
/* Brings the digests of its near part up to date, and of parts of the far one that are saved, where
 * the whole was checked before. */
bool divided_check_near(struct gp_snapshot *s, struct gp_divided *d, bool *changed,
                        struct gp_reason *why);
/* The end of the near part that the address lies in; the address itself where it lies in the far
 * part. */
uint64_t divided_near_end(const struct gp_divided *d, uint64_t address);
/* True where there is a far part, whose digests are right but for launches that write where nobody
 * expects it: a check of the whole shows these. */
bool divided_has_far(const struct gp_divided *d);
/* Calls visit with each stretch of units that the last check found changed. */
typedef void divided_change(const struct gp_divided *d, uint64_t from, uint64_t to, void *data);
void divided_each_change(const struct gp_snapshot *s, const struct gp_divided *d,
                         divided_change *visit, void *data);
/* Counts the alarms since the last time, and lists them, for the caller to free. NULL: there are
 * none, or more than GP_MOST_ALARMS, or the list is not to be had. */
CUresult digests_alarms(struct gp_snapshot *s, struct gp_alarm **list, uint32_t *count);

/* ---- the parts of it that launches write (writes.c) ------------------------------------------ */

/* Addresses of divided memory among the parameters of a launch. */
#define GP_MOST_ADDRESSES 64
struct gp_addresses {
    uint64_t kernel, work, shape; /* see struct gp_reach; with these offsets */
    bool by_input, by_order, anywhere;
    bool guarded;     /* memory that a replay alone may write is, or may be (memory/guard.c) */
    uint64_t unknown; /* bytes of a piece that are planned at most where nobody has shown more */
    uint64_t whole;   /* bytes that are saved where none is; 0: the pieces of the addresses */
    uint64_t behind;  /* bytes of these that are planned behind the near part, at least */
    unsigned count;
    struct gp_address {
        uint32_t offset; /* in the parameters, in bytes */
        uint64_t value;
        struct gp_divided *in;
    } of[GP_MOST_ADDRESSES];
};

/* Bytes that are planned of each piece in any case; and of one for a launch like none before. */
#define GP_FIRST_PART ((uint64_t)1 << 20)
#define GP_MOST_OF_UNKNOWN ((uint64_t)128 << 20)

#define GP_MOST_PARTS 256
/* So many go with a launch that is not waited for, beside other memory. */
#define GP_FEW_PARTS 8
struct gp_plan {
    unsigned count;
    struct gp_write_part {
        const struct gp_divided *in;
        uint64_t from, to;
    } of[GP_MOST_PARTS];
};

#define GP_MOST_WRITE_RUNS 16
/* By the work of launches, and by the shape of their kernel. */
struct gp_work_writes {
    uint64_t work;
    unsigned seen;    /* launches in a row whose writes are among these */
    unsigned settled; /* and in a row that have written nowhere else than those before */
    unsigned works;   /* of a shape: works in a row whose first launches did so */
    bool grew;        /* the launch at hand has written elsewhere */
    bool lost;        /* there were too many */
    unsigned count;
    struct gp_write_run {
        uint32_t offset;
        int64_t from, to; /* from the address that stands there */
    } runs[GP_MOST_WRITE_RUNS];
    UT_hash_handle hh;
};

struct gp_kernel_writes {
    uint64_t kernel;
    unsigned seen;      /* launches whose writes are known */
    unsigned in_pieces; /* launches in a row whose writes lay in pieces from their addresses on */
    unsigned suspect;   /* so many launches are verified one by one: a batch with it was spoilt */
    unsigned wild;      /* launches that were found to write elsewhere than was expected */
    unsigned tame;      /* launches in a row that were not */
    unsigned strays;    /* batches that were spoilt in memory that it guards */
    unsigned unguarded; /* so many launches guard none */
    uint64_t strayed_in, kept_in; /* the last batches */
    unsigned kept;  /* batches with launches that guard memory, and were not spoilt since */
    unsigned count; /* the parameters from whose addresses on it has written */
    uint32_t written[GP_MOST_WRITE_RUNS];
    UT_hash_handle hh;
};

struct gp_learned {
    struct gp_work_writes *works;
    struct gp_kernel_writes *kernels;
};

/* A launch with these addresses has written there; and that is all it wrote. */
void writes_learn(struct gp_learned *l, const struct gp_addresses *a, const struct gp_divided *d,
                  uint64_t from, uint64_t to);
void writes_seen(struct gp_learned *l, const struct gp_addresses *a, bool unexpected);
/* A launch with these addresses may have written where no launch of its batch was expected to. */
void writes_suspect(struct gp_learned *l, const struct gp_addresses *a);
/* A batch was spoilt in memory that a launch with these addresses guards, and may have written; or
 * it was not spoilt. */
void writes_strayed(struct gp_learned *l, const struct gp_addresses *a, uint64_t batch);
void writes_kept_to_parts(struct gp_learned *l, const struct gp_addresses *a, uint64_t batch);
bool writes_keep_to_parts(const struct gp_learned *l, const struct gp_addresses *a);
/* A launch with these addresses cannot be held, so the next ones guard no memory. */
void writes_unguard(struct gp_learned *l, const struct gp_addresses *a);
/* True where the launch at hand guards none for one of these reasons; it counts as one of them. */
bool writes_are_unguarded(struct gp_learned *l, const struct gp_addresses *a);
/* True where launches of the kernel are verified one by one. */
bool writes_are_suspect(const struct gp_learned *l, const struct gp_addresses *a);
/* True where a launch may be planned that is not waited for. */
bool writes_are_known(const struct gp_learned *l, const struct gp_addresses *a);
/* Whether launches like this one, or of its shape, have shown their writes; else its pieces stand
 * for them. */
bool writes_were_seen(const struct gp_learned *l, const struct gp_addresses *a);
/* True where launches of this very work have written to the same parts again and again. */
bool writes_have_settled(const struct gp_learned *l, const struct gp_addresses *a);
/* Whether numbers in memory, or the order of threads, may say that a launch writes elsewhere than
 * those before it. */
bool writes_may_be_elsewhere(const struct gp_learned *l, const struct gp_addresses *a);
/* The bytes of the parts. */
uint64_t plan_bytes(const struct gp_plan *plan);
/* The parts to save for a launch, in order of address, each of whole units: from its addresses on,
 * and those of `led`. `least`: bytes that are saved from each address on in any case.
 * False where there are too many. */
bool writes_plan(const struct gp_learned *l, const struct gp_addresses *a,
                 const struct gp_plan *led, uint64_t least, struct gp_plan *plan);
/* Whether all of the stretch lies in the parts. */
bool plan_holds(const struct gp_plan *plan, const struct gp_divided *d, uint64_t from, uint64_t to);
/* To whole units, but for the edges of an allocation. */
void plan_round(struct gp_plan *plan);
/* Adds a part of the allocation, if there is anything of it. False where there are too many. */
bool plan_add(struct gp_plan *plan, const struct gp_divided *d, uint64_t from, uint64_t to);
/* And all of an allocation. */
bool writes_plan_whole(struct gp_plan *plan, const struct gp_divided *d);
void writes_free(struct gp_learned *l);

/* Bytes from which on it is worth while to save less at each launch. */
#define GP_DEAR_BYTES ((uint64_t)64 << 20)

struct gp_versions;
struct gp_held_copy;

/* ---- memory that a launch does not save though a replay may write it (guard.c) --------------- */

/* Stretches of addresses, each byte once. */
struct gp_cover {
    struct gp_stretch {
        uint64_t from, to;
    } * of;
    size_t count, capacity;
};

/* Bytes of the stretch that are not among them. */
uint64_t cover_misses(const struct gp_cover *cover, uint64_t from, uint64_t to);
/* False when out of memory. */
bool cover_add(struct gp_cover *cover, uint64_t from, uint64_t to);
uint64_t cover_bytes(const struct gp_cover *cover);
void cover_free(struct gp_cover *cover);

/* Plans the guard of the launch at hand: `outer`, or all of its divided memory (NULL), but for the
 * planned parts. False where that is not worth while, or has too many parts. */
bool guard_plan(struct gp_snapshot *s, const struct gp_plan *outer);
/* The guard as segments, with the digests of the present contents. False when out of memory. */
bool guard_list(const struct gp_snapshot *s, struct gp_segments *list);
/* Memory has changed, and the launch with that copy may have written it: to its guard, if that is
 * there. */
void guard_note_change(struct gp_held_copy *copy, uint64_t from, uint64_t to);
/* Any launch that guards memory may have written anywhere. */
void guard_note_all(const struct gp_versions *v);
/* The kernels of these copies save that memory for a while. */
void guard_blame(struct gp_snapshot *s);
/* No memory has changed that way. */
void guard_kept(struct gp_snapshot *s);
/* Room for the present contents of all guarded memory of the batch, and of the launch at hand. */
uint64_t guard_room(const struct gp_snapshot *s);

/* ---- memory that was freed after it was copied (freed.c) ------------------------------------- */

struct gp_freed {
    struct gp_ranges ranges;
    struct gp_lookup lookup;
    uint64_t now;  /* frees so far */
    uint64_t lost; /* up to this time more was freed than is listed */
};

/* So many bytes are freed. */
void freed_add(struct gp_freed *freed, uint64_t address, uint64_t bytes);
/* No copy from before now is left. */
void freed_clear(struct gp_freed *freed);
void freed_close(struct gp_freed *freed, bool context_alive);

/* True where some memory was freed after that time; *known where all of that is listed. */
bool freed_after(const struct gp_freed *freed, uint64_t time, bool *known);

/* ---- the memory that copies lie in (arena.c) ------------------------------------------------- */

struct gp_arena {
    CUdeviceptr device, host; /* as kernels see it; 0 where there is none */
    void *host_memory;
    uint64_t device_size, host_size; /* bytes */
    uint64_t device_used, host_used;
    uint64_t device_held; /* of the used room: not taken back before it is released */
    /* The bytes of other memory that shares the budget; its owner sets them before the arena is
     * used. */
    uint64_t device_elsewhere, host_elsewhere;
    bool refused;       /* the budget, or the memory, did not allow for it */
    bool for_many;      /* copies of many launches lie in it at once */
    uint64_t too_small; /* it was, with so many bytes on the device; 0: it was not */
    uint64_t too_large; /* there is no batch of launches with so many bytes each; 0: not known */
    uint64_t left;      /* on the device to the arena beside it, when it was made */
    bool halved;        /* that was too little once: since then both have as much */
};

/* To drain a batch takes tens of milliseconds: launches are not held where copies of fewer fit. A
 * launch with large copies takes long itself, and a pass that compares it many times as long: so
 * few are enough. */
#define GP_LEAST_BATCH 4

/* True where so many bytes, those of one launch, leave room for a batch of such launches. */
bool arena_suits_batch(const struct gp_arena *arena, uint64_t bytes);

/* Bytes to count on for the copy of a buffer of so many. */
uint64_t arena_need(uint64_t bytes);

/* Makes room for copies that need `bytes` together (the sum of arena_need), beside those that
 * are held; where copies of many launches lie in it, for a batch of such launches if the budget
 * allows. *moved becomes true when room given out before is gone. False, with the reason in
 * *why, where the budget or the memory does not allow for it; with the cause ROOM_HELD where it may
 * without those that are held. The budget is for this arena and `beside` together. */
bool arena_reserve(struct gp_arena *arena, const struct gp_arena *beside, uint64_t bytes,
                   bool *moved, struct gp_reason *why);

/* True where copies that need so many bytes fit beside those that are held, on the device and as it
 * is. */
bool arena_fits(const struct gp_arena *arena, uint64_t bytes);

/* Takes all room back that is not held. */
void arena_clear(struct gp_arena *arena);

/* Holds all room given out, until they are released together. False where some are on the host:
 * a copy there costs the launch as long as the bus takes, each time. */
bool arena_hold(struct gp_arena *arena);
void arena_release(struct gp_arena *arena);

/* Room for the copy of the memory at `live`, equal to it modulo GP_COPY_ALIGNMENT. *bytes becomes
 * less where only a part fits there: then the rest gets room of its own. 0 where there is none
 * left, which arena_reserve excludes. */
uint64_t arena_take(struct gp_arena *arena, uint64_t live, uint64_t *bytes);

void arena_free(struct gp_arena *arena);

/* True when the current device has so many bytes to spare. */
bool arena_has_room(uint64_t bytes);
/* Bytes of the device that the budget has for the arena; `beside` shares it. */
uint64_t arena_most(const struct gp_arena *arena, const struct gp_arena *beside);
/* True where the arena has so many, or may have. */
bool arena_may_have(const struct gp_arena *arena, const struct gp_arena *beside, uint64_t bytes);

/* ---- copies of arrays (arrays.c) ------------------------------------------------------------- */

/* Copies of an array's contents before the launch, and after the program's own run. */
enum gp_array_state { GP_BEFORE, GP_AFTER, GP_ARRAY_STATES };

struct gp_arrays {
    struct gp_array_copy *list;
    size_t count, capacity;
    uint64_t bytes;       /* of all of them */
    uint64_t needed;      /* in an arena */
    struct gp_reason why; /* some array cannot be copied, and why */
};

/* Lists the arrays of a context. False, with the reason in *why, where one of them cannot be
 * copied. */
bool arrays_list(struct gp_arrays *arrays, CUcontext context, struct gp_reason *why);

/* Gives each copy its room. False where there is none left. */
bool arrays_take(struct gp_arrays *arrays, struct gp_arena *arena);

/* In the order of the stream: takes the copies, writes them back. */
CUresult arrays_save(const struct gp_arrays *arrays, enum gp_array_state state, CUstream stream);
CUresult arrays_restore(const struct gp_arrays *arrays, enum gp_array_state state, CUstream stream);

void arrays_free(struct gp_arrays *arrays);

/* ---- the final state of a launch (final.c) --------------------------------------------------- */

struct gp_final {
    CUdeviceptr positions; /* uint32_t by unit: 1 + where its content is kept, 0: it is not */
    size_t positions_capacity;
    struct gp_arena arena;        /* the contents */
    uint32_t on_device, capacity; /* units that have room on the device, and in all */
};

/* Makes room for `kept` of `units` units and forgets the units that were kept, in the order of the
 * stream. False, with the reason in *why, where there is none. `beside`: the arena that shares the
 * budget. */
bool final_prepare(struct gp_final *final, const struct gp_arena *beside, uint64_t units,
                   uint32_t kept, CUstream stream, struct gp_reason *why);

/* Makes room for contents of the caller's, `bytes` together (the sum of arena_need), which it
 * takes from the arena. They stay until the next launch is prepared. False with the reason. */
bool final_lend(struct gp_final *final, const struct gp_arena *beside, uint64_t bytes,
                struct gp_reason *why);

/* Gives the contents' memory back: the next launch makes room anew. */
void final_release(struct gp_final *final);
/* And all else, if the context still lives. */
void final_free(struct gp_final *final, bool context_alive);

/* Bytes of device memory that a release gives back. */
uint64_t final_held(const struct gp_final *final);

/* ---- the contents of divided memory in the course of a batch (versions.c) -------------------- */

/* A part of divided memory that launches of a batch have saved, all of it or nothing. */
struct gp_version_run {
    uint64_t live, bytes;
    uint64_t present;    /* the copy of its contents of now */
    uint64_t current;    /* its contents are those of that copy; 0: not known */
    size_t first, count; /* of the versions, in the order of launches */
    bool guarded;        /* by some launch: it may have no versions */
};

struct gp_version {
    uint64_t order; /* of the launch before which it was so */
    uint64_t saved; /* the copy */
};

/* Stretches of launches that cannot be replayed; with more the last ones are one. */
#define GP_MOST_SPOILT 32
/* Copies in the log of a batch with launches that may come to nothing. */
#define GP_FEW_LOGGED 64
struct gp_versions {
    struct gp_held_copy *
        *log; /* the copies of launches, in order, until no copy is held any more */
    size_t log_count, log_capacity, most; /* most: 0 as yet */
    uint64_t bytes; /* of room that the present contents of saved parts may need */
    struct gp_cover guarded;
    uint64_t batch;                       /* the number of the batch */
    const struct gp_held_copy *unchecked; /* put in place last: its guard was not checked since */
    uint64_t short_of;                    /* there was no room for so many at once; 0: as yet */
    uint64_t made;                        /* the number of the last copy */
    struct gp_suspects {
        uint64_t after, before;
    } spoilt[GP_MOST_SPOILT]; /* copies with numbers in between are spoilt */
    unsigned spoilt_count;
    struct gp_version_run *runs;
    size_t run_count;
    struct gp_version *versions;
    bool kept;       /* the present contents are */
    unsigned alarms; /* with launches in several streams */
};

/* Whether the launch at hand can be held without more room: to get that is to wait for the GPU. And
 * the copy that holds it; NULL when out of memory. */
bool held_copy_has_room(const struct gp_snapshot *s);
struct gp_held_copy *held_copy_make(struct gp_snapshot *s);
void held_copy_free(struct gp_held_copy *copy);

/* The copy was made: enters it into the log, which owns it from then on. False where it has no
 * room. */
bool versions_enter(struct gp_snapshot *s, struct gp_held_copy *copy);
/* No copy is held any more. */
void versions_clear(struct gp_snapshot *s);
void versions_free(struct gp_snapshot *s);
/* All launches in the log have written to the parts that they saved, and nowhere else. */
void versions_verified(struct gp_snapshot *s);
/* Whether the number of the copy lies in between. */
bool suspects_hold(const struct gp_suspects *of, const struct gp_held_copy *copy);
/* Launches with copies of these numbers cannot be replayed. */
void versions_spoil(struct gp_snapshot *s, struct gp_suspects those);
/* Memory has changed, and nobody knows where: none of those so far can be. */
void versions_spoil_all(struct gp_snapshot *s);
/* The number that the next copy gets. */
uint64_t versions_next_number(const struct gp_snapshot *s);

/* ---- the order in which launches run (stream_order.c) ---------------------------------------- */

/* The copy is made in that stream (of the default ones the thread's own, when per_thread), and its
 * launch is not waited for. */
void held_copy_note_stream(struct gp_held_copy *copy, CUstream stream, bool per_thread);
/* Whether the launches in the log run in its order. */
bool versions_are_in_order(const struct gp_versions *v);

/* ---- launches that cannot be replayed (spoil.c) ---------------------------------------------- */

/* The launch at hand has written that memory, and did not save it: those before it may have read
 * it. */
void spoil_readers(struct gp_snapshot *s, uint64_t from, uint64_t to);
/* The last check has found changes in it; or launches that saved units have. Those that may have
 * written them are learned from. list: NULL where there are alarms, but no list of them. */
void spoil_by_check(struct gp_snapshot *s, const struct gp_divided *d);
void spoil_by_alarms(struct gp_snapshot *s, struct gp_alarm *list, uint32_t count);

/* Bytes of room that the present contents need, where they are not kept. */
uint64_t versions_need(struct gp_snapshot *s);
/* Keeps them; makes divided memory that the launch reaches as it was before it; puts the present
 * contents back. The first and the last do nothing where no launch has saved any. Without a wait.
 */
bool versions_keep(struct gp_snapshot *s, struct gp_reason *why);
/* Adds the moves that the copy needs; they were made, or that failed. False when out of memory. */
bool versions_list(const struct gp_snapshot *s, const struct gp_held_copy *copy,
                   struct gp_segments *moves);
void versions_put(struct gp_snapshot *s, const struct gp_held_copy *copy, bool well);
/* Lists the guarded memory that is to be checked before the copy comes. False when out of memory.
 */
bool versions_list_unchecked(struct gp_snapshot *s, const struct gp_held_copy *copy,
                             struct gp_segments *checks);
/* It cannot be checked: it is copied where it is needed. */
void versions_leave_unchecked(struct gp_snapshot *s);
/* Which contents lie where: remembered, and taken for so again. False when out of memory. */
struct gp_versions_state {
    uint64_t *currents; /* by run */
    const struct gp_held_copy *unchecked;
};
bool versions_remember(const struct gp_snapshot *s, struct gp_versions_state *state);
void versions_restore(struct gp_snapshot *s, struct gp_versions_state *state);
CUresult versions_put_back(struct gp_snapshot *s);

/* ---- snapshots (snapshot.c) ------------------------------------------------------------------ */

/* A snapshot from within: snapshot.c takes it, rewind.c puts it back, hash_rest.c hashes the memory
 * that is not in it, held_copies.c keeps it for later, present.c puts such copies in place,
 * reserve.c has it made in the launch's stream, flush.c empties the caches, stand_in.c has memory
 * in place of the program's, give_back.c gives its memory back to the program. */
struct gp_snapshot {
    CUcontext context;
    CUdevice device;
    struct gp_own_kernels own;
    CUevent idle;  /* to wait for all there is in the context */
    bool busy;     /* that wait ran out: until `idle` happens nothing is freed */
    bool pageable; /* kernels can write the host's ordinary memory */

    struct gp_reached reached; /* by the launch at hand */
    struct gp_lookup lookup;
    struct gp_freed freed;
    uint32_t *found; /* by our kernels, where the answer has no room for all */
    size_t found_capacity;

    struct gp_arena arena;
    size_t with_room;                     /* of the reached memory has room there */
    struct gp_segments restored, watched; /* watched is compared only */
    struct gp_arrays arrays;
    bool arrays_saved;

    struct gp_final final;
    struct gp_segments present; /* memory as it is now, kept by present.c */
    struct gp_segment_order present_order;
    uint64_t present_bytes;        /* of room that it takes */
    struct gp_segments moves;      /* our kernels are to make */
    struct gp_segments unit_moves; /* the same, of whole units */
    uint32_t kept; /* units that the last launch changed: so much room the next may need */
    bool rewound;  /* memory is not as the program's own run left it */

    struct gp_segments hashed;
    CUdeviceptr hashes; /* before, then after */
    size_t hashes_capacity;
    bool verifies;

    struct gp_digests digests;
    struct gp_learned learned;
    struct gp_addresses addresses; /* of the launch at hand, in divided memory */
    struct gp_plan plan;           /* the parts of that to save */
    struct gp_plan wide;           /* these with more around them, where they are only guessed */
    struct gp_plan led;            /* parts to which contents of memory lead */
    struct gp_plan guard;          /* memory that a replay may write, beside the planned parts */
    struct gp_divided **divided;   /* that it reaches */
    size_t divided_count, divided_capacity;
    bool divides;      /* reached memory is, where a program does so */
    bool saves_parts;  /* of these the planned parts; else all */
    bool saves_whole;  /* allocations, where parts are planned that are only guessed */
    bool saves_wide;   /* the wide parts, where they are */
    bool parts_known;  /* launches like it have shown them, and the digests are up to date */
    bool near_will_do; /* checks of the near part, as the whole is checked with its batch */
    bool verified;     /* the whole was checked behind it */
    bool leads_known;  /* its memory leads to memory that is reached, and to no other */
    bool guards;       /* the guard: it has to be held, and replayed with its batch alone */
    struct gp_versions versions;

    CUdeviceptr scratch;
    size_t scratch_size;

    CUdeviceptr stand_in;
    uint64_t stand_in_size;
    bool stand_in_used;

    bool in_use;   /* between take and done */
    unsigned held; /* copies */
    struct gp_snapshot *prev, *next;
};

struct gp_held_copy {
    uint64_t bytes;
    uint64_t made; /* by the time of memory that was freed */
    struct gp_segments segments;
    struct gp_segments guarded; /* without copies */
    /* A copy of divided memory is in the log of versions until no copy is held. */
    struct gp_divided **divided;
    size_t divided_count;
    struct gp_addresses *addresses;
    uint64_t number;   /* of all copies */
    uint64_t order;    /* in the log: its number; 0: it is not in it */
    bool in_stream;    /* the copy is made in a stream; else the launch was waited for */
    bool is_of_thread; /* in one of the thread */
    CUstream stream;
    int thread;
    bool strayed;  /* memory has changed that it guards, and may have written */
    bool of_gpus;  /* other GPUs can write some of its memory */
    bool released; /* nobody holds it */
};

/* ---- divided memory that a launch reaches (divide.c) ----------------------------------------- */

/* Forgets the last launch. */
void divide_begin(struct gp_snapshot *s);
/* The ranges that its parameters lead to are reached: which of them are divided, and which parts of
 * them are to be saved. known_only: false where it is not known yet where such a launch writes, or
 * the digests are not those of the contents. */
bool divide(struct gp_snapshot *s, const struct gp_reach *launch, bool known_only);
/* A launch that knows of no digests: the memory that it may reach is not divided. */
void divide_rest(struct gp_snapshot *s, const struct gp_reach *launch);
/* The divided memory of a range; NULL where it is none. */
struct gp_divided *divide_find(const struct gp_snapshot *s, const struct gp_range *range);
/* The range of that number is reached as well. */
bool divide_found(struct gp_snapshot *s, size_t range, struct gp_reason *why);
/* Calls visit with each part to be saved of a range that is reached, where it is divided; false
 * where that says so. `digests`: of its units, 0: it has none. */
typedef bool divide_part(struct gp_snapshot *s, uint64_t from, uint64_t to, CUdeviceptr digests,
                         void *data);
bool divide_each_part(struct gp_snapshot *s, const struct gp_divided *d, divide_part *visit,
                      void *data);
/* Before the launch, with the context idle: brings digests up to date. */
bool divide_check_before(struct gp_snapshot *s, struct gp_reason *why);
/* The copy of the launch at hand gets all that is known of its divided memory. */
bool divide_note_copy(struct gp_snapshot *s, struct gp_held_copy *copy);

/* Follows the pointers in a list of segments, each its own copy, to the ranges of a lookup: those
 * that are found are in the answer (memory/work.h), beside those that were there where it
 * `goes_on`. Nothing is written. */
bool snapshot_search(struct gp_snapshot *s, struct gp_segments *list, struct gp_lookup *lookup,
                     struct gp_ranges *ranges, bool goes_on, struct gp_reason *why);

/* ---- divided memory to which contents of memory lead (led.c) --------------------------------- */

/* Before the launch, with the context idle, of whose kernel nobody knows that it loads no address:
 * follows the addresses in its memory until nothing new is found. Ranges that are found are reached
 * then, divided ones are added by divide_add, and the parts are s->led. False where there is too
 * much: then contents of its memory may lead anywhere in divided memory. */
bool led_find(struct gp_snapshot *s, bool *all);
/* The divided memory of a reached range is the launch's, too. False when out of memory. */
bool divide_add(struct gp_snapshot *s, size_t range, struct gp_divided **added);

/* Copies the segments of a short list, GP_FEW_SEGMENTS at most, in a stream (of the default ones
 * the thread's own, when per_thread). */
CUresult snapshot_copy_few(const struct gp_snapshot *s, const struct gp_segments *list,
                           CUstream stream, bool per_thread);

/* Each copy becomes the memory to be copied. It lies as its original modulo 16, so the units stay.
 */
void segments_reverse(struct gp_segments *list);

/* Copies memory to its copies, without a wait: by our kernels, or by the driver. The second, of
 * whole units alone, has a few segments in each launch where there are not many. The last ends when
 * all is done, also where something failed before. */
CUresult snapshot_move(const struct gp_snapshot *s, struct gp_segments *moves, bool by_driver);
CUresult snapshot_move_units(const struct gp_snapshot *s, struct gp_segments *units,
                             bool by_driver);
CUresult snapshot_wait(struct gp_snapshot *s, CUresult result);
/* Puts guarded memory right (memory/guard.c), or checks its copies instead: the same work without
 * an effect. */
CUresult snapshot_put_right(const struct gp_snapshot *s, const struct gp_segments *checks,
                            bool of_copies);
/* Whether there are not many; and adds the blocks, units and segments of a kernel's launches for
 * these. */
bool units_go_by_few(const struct gp_segments *units);
void units_add_work(uint64_t amounts[GP_PUT_AMOUNTS / 2], const struct gp_own_kernel *kernel,
                    const struct gp_segments *list);

/* Starts a kernel of ours for all units that have digests, a few segments at a time. */
CUresult snapshot_start_units(const struct gp_own_kernel *kernel, const struct gp_segments *list,
                              CUstream stream, bool per_thread);

/* Acts as snapshot_copy_few, with an alarm where divided memory was not as its digests say.
 * `order`: the launch's. */
CUresult snapshot_save_few(const struct gp_snapshot *s, const struct gp_segments *list,
                           uint64_t number, CUstream stream, bool per_thread);

/* The list of all, whose memory a thread that runs out of memory may come to take (give_back.c);
 * not while a snapshot is in use or holds copies. */
void snapshot_list(struct gp_snapshot *s);
void snapshot_unlist(struct gp_snapshot *s);
void snapshot_set_held(struct gp_snapshot *s, unsigned held);
/* Tells its arenas of the memory that the budget allows for beside them: that of other snapshots in
 * its context, and memory that stands in for the program's. */
void snapshot_note_beside(struct gp_snapshot *s);
/* Takes note that the memory that stands in is in use, or not; while it is nobody frees it. */
void snapshot_use_stand_in(struct gp_snapshot *s, bool used);
/* Frees the memory that stands in for the program's. */
void snapshot_free_stand_in(struct gp_snapshot *s);

/* Frees device memory, if there is any, and forgets it. */
void free_device_memory(CUdeviceptr *address);

/* Hashes memory that the launch does not reach, for gp_snapshot_verify (hash_rest.c). */
bool snapshot_hash_rest(struct gp_snapshot *s, struct gp_reason *why);

#endif
