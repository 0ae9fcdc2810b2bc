/* A copy of the memory that a kernel can be seen to reach, taken before it runs, and put back
 * before it runs again; hashes of everything else that kernels can write, which tell whether that
 * was all. Memory that others may write as well (memory/sharing.h) is neither copied nor hashed.
 *
 * A kernel reaches the buffers its parameters and its module's variables point into, and those that
 * the contents of these point into, and so on. A pointer is any 8 bytes, at any byte of the
 * parameters and at any multiple of 4 in memory, that are an address in a buffer or just behind it.
 *
 * Owns the memory it copies into, which is kept from launch to launch and given back when the
 * program needs it. Used with the gate locked and the context idle and current; one thread at a
 * time. */
#ifndef GPUPROF_MEMORY_SNAPSHOT_H
#define GPUPROF_MEMORY_SNAPSHOT_H

#include "base/put_work.h"
#include "cuda/driver.h"
#include "memory/work.h"

#include <stdint.h>

struct gp_snapshot; /* of a context */

/* The facts of a launch. */
struct gp_reach {
    const void *parameters; /* as the device sees them; may be NULL when there are none */
    size_t parameters_size; /* bytes */
    const struct gp_address_words *address_words; /* upper halves of addresses; NULL: any may be */
    bool parameters_known;                        /* else every buffer is reached */
    const void *module;              /* the module or library of the kernel; NULL: any may be */
    const void *const *more_modules; /* of the other kernels, where there are several */
    unsigned more_module_count;
    bool leads_no_further; /* its kernels read no addresses from memory */
    bool everything;       /* memory that is not reached is copied as well */
    bool verify;           /* gp_snapshot_verify will be asked for */
    uint64_t most_bytes;   /* more of the program's memory are not copied; 0: as many as may be */
    bool others_rest;      /* the other GPUs of the process do, until the launch is over: memory is
                            * put back that they can write, or that is theirs */
    /* Parts of divided memory (memory/divided.h) are saved alone where the launch writes them, as
     * far as launches like it have shown. A number for its kernel, 0: it is no launch of one; and
     * one for its kernel, its shape and its parameters but for addresses. */
    uint64_t kernel, work;
    uint64_t shape;       /* a number for its kernel and its shape */
    bool may_be_held;     /* and verified with its batch, as far as is known now; else no memory is
                           * guarded */
    bool writes_anywhere; /* its code does not tell where it writes */
    bool writes_by_input; /* the contents of its memory tell it */
    bool writes_by_order; /* or whether it writes there: the order of its threads, which is another
                           * one in each run */
};

/* Whether the eight bytes at that offset of its parameters may be an address. */
bool gp_reach_may_be_address(const struct gp_reach *launch, size_t at, uint64_t value);

/* `for_many`: copies of many launches are held in it at a time. NULL, with the reason in *why,
 * where our kernels cannot be loaded. */
struct gp_snapshot *gp_snapshot_open(CUcontext context, bool for_many, struct gp_reason *why);
/* Frees our memory in the context, unless the context is gone already. */
void gp_snapshot_close(struct gp_snapshot *s, bool context_alive);

/* Nothing of it is freed any more, nor promised to the program: its context goes, and a launch of
 * another thread may still need it. */
void gp_snapshot_leave(struct gp_snapshot *s);

/* Copies the memory that the launch reaches, and hashes the rest if that is to be verified. The GPU
 * has done so when this returns. False, with the reason in *why, where there is no room, the kernel
 * may write memory that we cannot save, or something failed. */
bool gp_snapshot_take(struct gp_snapshot *s, const struct gp_reach *reach, struct gp_reason *why);
/* The launch reaches memory that other GPUs of the process can write, or that is theirs; and no
 * other memory for which it could not be taken. */
bool gp_snapshot_reaches_other_gpus(const struct gp_snapshot *s);
uint64_t
gp_snapshot_bytes(const struct gp_snapshot *s); /* of the program's memory that were copied */

/* True where the launch reaches more than its parameters and its module's variables lead to: the
 * contents of that memory have led further, or all memory was copied. */
bool gp_snapshot_led_further(const struct gp_snapshot *s);

/* True where the address lies in memory that was copied. */
bool gp_snapshot_reaches(const struct gp_snapshot *s, CUdeviceptr address);

/* True where the address is in memory of the program, as of the last gp_snapshot_find_memory, which
 * is false when out of memory. */
bool gp_snapshot_find_memory(struct gp_snapshot *s);
bool gp_snapshot_is_address(const struct gp_snapshot *s, CUdeviceptr address);

/* Bytes from the address to the end of that memory; 0 where it is in none. */
uint64_t gp_snapshot_bytes_behind(const struct gp_snapshot *s, CUdeviceptr address);

/* Asked once for each launch: false where checks of digests have taken too much time so far: where
 * much memory is divided, and other work comes between the launches again and again. */
bool gp_snapshot_affords_parts(struct gp_snapshot *s);
/* The memory that was copied counts as written for other contexts, where it is divided memory there
 * as well. True where launches that are held there reach some of it. */
bool gp_snapshot_writes_to_others(const struct gp_snapshot *s);
/* True where a replay of the launch may write memory that was not copied: it has to be held, before
 * its first run, and replayed with its batch alone, as its memory is put right there. */
bool gp_snapshot_guards(const struct gp_snapshot *s);
/* The launch cannot be held, nor those like it: they guard no memory for a while. */
void gp_snapshot_is_not_held(struct gp_snapshot *s);
/* True where the launch reaches divided memory. */
bool gp_snapshot_is_divided(const struct gp_snapshot *s);
/* After its first run: *outside becomes true where it has changed divided memory that was not
 * copied, so that it must not run again, nor launches that are held. The digests are up to date
 * then. `later`: it does not run again before gp_snapshot_verify_held. So that is not asked now
 * where its parts are known, and else of the near part alone (memory/inside.h). False, with the
 * reason in *why, where something failed. */
bool gp_snapshot_wrote_outside(struct gp_snapshot *s, bool later, bool *outside,
                               struct gp_reason *why);
/* True where that was asked of all divided memory. */
bool gp_snapshot_is_verified(const struct gp_snapshot *s);

/* After the kernel's first run: *elsewhere becomes true when memory has changed that was not
 * copied, so that the kernel must not run again. False and not asked, where the launch was not to
 * be verified. Returns false, with the reason in *why, where something failed. */
bool gp_snapshot_verify(struct gp_snapshot *s, bool *elsewhere, struct gp_reason *why);

/* Puts back changes since the copy was taken. The first time the changes of the program's own run
 * are kept. Where page-locked host memory is among the changes nothing is put back at all, and
 * gp_snapshot_host_changed says so. False, with the reason in *why, where there is no room to keep
 * that, or something failed. The GPU has done so when this returns. */
bool gp_snapshot_rewind(struct gp_snapshot *s, struct gp_reason *why);
/* After the last replay: memory becomes as the program's own run left it, in spite of the writes of
 * replays. Does nothing where nothing was rewound. False, with the reason in *why, where something
 * failed. */
bool gp_snapshot_finish(struct gp_snapshot *s, struct gp_reason *why);
/* Put back by the last rewind: bytes, in words of 16, and arrays of surfaces whole. */
uint64_t gp_snapshot_changed_bytes(const struct gp_snapshot *s);

/* True when the last rewind found that page-locked host memory has changed. Whether the kernel
 * wrote there or the host did meanwhile is not known, so it is never written back, and the kernel
 * must not run again. The same holds for managed memory that is copied without being reached. */
bool gp_snapshot_host_changed(const struct gp_snapshot *s);

/* Nobody takes its memory until gp_snapshot_done, as from gp_snapshot_take on. Returns whether it
 * was so before. */
bool gp_snapshot_set_in_use(struct gp_snapshot *s, bool in_use);
/* The launch is over: the copy is of no more use, its memory may be given back. */
void gp_snapshot_done(struct gp_snapshot *s);

/* The copy of a launch that is to be replayed later, when memory holds something else. */
struct gp_held_copy;

/* True where the launch whose memory was taken reaches memory that other contexts and the host use
 * as well. */
bool gp_snapshot_reaches_managed(const struct gp_snapshot *snapshot);
/* True where it reaches memory that other devices may access directly, once it has ended. */
bool gp_snapshot_reaches_direct(const struct gp_snapshot *snapshot);
/* True where the launch reaches page-locked host memory, which is never put back. */
bool gp_snapshot_reaches_host(const struct gp_snapshot *s);
/* True where the host may write some of the memory that was copied at any time. */
bool gp_snapshot_may_host_write(const struct gp_snapshot *s);
/* Why the copy just taken cannot be held: the launch reaches memory that the host or other devices
 * may write at any time, or arrays. NULL where it can. */
struct gp_reason gp_snapshot_not_to_be_held(const struct gp_snapshot *s);
/* Holds it beyond gp_snapshot_done. NULL where it lies on the host, or out of memory. While any is
 * held our memory is not given back. */
struct gp_held_copy *gp_snapshot_hold(struct gp_snapshot *s);
/* Reserves the held copy of a launch that is not made yet: of the memory to which its parameters
 * and its module's variables lead. Nothing is read, so the GPU may be at work. Room is given out,
 * nothing is copied. NULL where that is not to be had without a wait, or the launch reaches memory
 * whose copy cannot be held. */
struct gp_held_copy *gp_snapshot_reserve_copy(struct gp_snapshot *s, const struct gp_reach *launch);
/* Finds out, with the context idle, whether held launches have written any divided memory that they
 * have not saved. Then those that reach such memory are spoilt: they must not run again. The same
 * where that failed, with the reason in *why, and false. Does nothing in the middle of replays. */
bool gp_snapshot_verify_held(struct gp_snapshot *s, struct gp_reason *why);
bool gp_held_copy_has_parts(const struct gp_held_copy *copy); /* of divided memory */
bool gp_held_copy_is_spoilt(const struct gp_snapshot *s, const struct gp_held_copy *copy);
/* True where other GPUs can write some of the memory: it is replayed only while they rest. */
bool gp_held_copy_is_of_gpus(const struct gp_held_copy *copy);
/* True where held launches have saved parts of memory: all of them are to be replayed together, as
 * one needs the copies of those behind it. */
bool gp_snapshot_holds_parts(const struct gp_snapshot *s);
/* Has the digests of divided memory brought up to date behind the launch, in its stream. */
CUresult gp_held_copy_note_on(struct gp_snapshot *s, const struct gp_held_copy *copy,
                              CUstream stream, bool per_thread);
/* A copy or a fill of the program's whose digests are to follow behind it. */
struct gp_followed_write {
    uint32_t count;
    uint64_t units;
    struct gp_few_segments few;
    CUstream stream;
    CUfunction digest;
    unsigned blocks;
};
/* Before it writes so many bytes of divided memory, in its stream: where launches are held that
 * reach this, the contents are saved for them, without a wait. False where that cannot be, or the
 * digests are not up to date: then the memory counts as written. The gate is locked; the others
 * need no lock. */
bool gp_snapshot_follow_write(struct gp_snapshot *s, CUdeviceptr to, uint64_t bytes,
                              CUstream stream, struct gp_followed_write *followed);
void gp_followed_write_ends(const struct gp_followed_write *followed);
/* It is over, whether it ended or not: else no digests are freed. */
void gp_followed_write_done(void);
/* Has it copied in a stream (of the default ones the thread's own, when per_thread), in front of
 * the launch, without waiting. */
CUresult gp_held_copy_make_on(struct gp_snapshot *s, struct gp_held_copy *copy, CUstream stream,
                              bool per_thread);
/* Memory is freed of which there is no such copy. Copies that were made before may lead there;
 * where there are none it is forgotten. */
void gp_snapshot_note_freed(struct gp_snapshot *s, CUdeviceptr address, uint64_t bytes);
void gp_snapshot_forget_freed(struct gp_snapshot *s);
/* When that is done and the context is idle: *whole becomes true where its contents lead to no
 * other memory, nor to memory that was freed since the copy was reserved. False, with the reason in
 * *why, where something failed. In use until gp_snapshot_done. */
bool gp_held_copy_is_whole(struct gp_snapshot *s, const struct gp_held_copy *copy, bool *whole,
                           struct gp_reason *why);
/* Keeps the memory of now that these launches reach; puts the copy of one there, and keeps it
 * before if that was not done; and puts all back that was kept. `by_driver`: code of CUPTI is in
 * place, which would change our kernels. The GPU has done so when the latter two return; the last
 * is not waited for where a kernel did not end. In use from the first to gp_snapshot_done. False,
 * with the reason in *why, where there is no room, or something failed. */
bool gp_snapshot_keep(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                      bool by_driver, struct gp_reason *why);
bool gp_snapshot_put_in_place(struct gp_snapshot *s, struct gp_held_copy *copy, bool by_driver,
                              struct gp_reason *why);
/* The work of the second for each of these copies, one after the other: how much it is, and that
 * work on the copies themselves. Memory stays as it is. */
bool gp_snapshot_put_work(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                          struct gp_put_work *work, struct gp_reason *why);
bool gp_snapshot_put_blank(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                           struct gp_reason *why);
bool gp_snapshot_put_back(struct gp_snapshot *s, bool to_wait, struct gp_reason *why);
/* Bytes of the program's memory that were copied. */
uint64_t gp_held_copy_bytes(const struct gp_held_copy *copy);
/* A hash of the layout of a copy, or of the copy just taken: to put copies of one layout in place
 * is the same work each time. 0: of divided memory it is another one each time. */
uint64_t gp_held_copy_layout(const struct gp_held_copy *copy);
uint64_t gp_snapshot_layout(const struct gp_snapshot *s);
/* True where the launch reaches some of these bytes. */
bool gp_held_copy_reaches(const struct gp_held_copy *copy, CUdeviceptr address, uint64_t bytes);
/* The copy is of no more use. When all copies of a snapshot are, so is their memory. */
void gp_snapshot_release(struct gp_snapshot *s, struct gp_held_copy *copy);

/* Memory of our own that stands in for memory of the program's: at least so many bytes, as they
 * are. It stays until gp_snapshot_stand_in_done, and while copies are held, which may be of it. 0,
 * with the reason in *why, where there is no room for it. */
CUdeviceptr gp_snapshot_stand_in(struct gp_snapshot *s, uint64_t bytes, struct gp_reason *why);
/* True where it is there. */
bool gp_snapshot_has_stand_in(const struct gp_snapshot *s, uint64_t bytes);
/* It is not used any more, but for held copies. */
void gp_snapshot_stand_in_done(struct gp_snapshot *s);

/* True where the last copy was refused for want of room. */
bool gp_snapshot_is_short(const struct gp_snapshot *s);
/* Frees the memory for copies, where none is in use or held, for another snapshot of its context,
 * which is idle. True where there was some. */
bool gp_snapshot_give_up_copies(struct gp_snapshot *s);

/* Empties the L2 cache of all that the program and we have put there. False where there is no
 * memory for it. `taken`: the snapshot is of the launch that comes next, so it is known which
 * buffers of the program that launch does not reach, and one of these will do. */
bool gp_snapshot_flush_caches(struct gp_snapshot *s, bool taken);
/* Empties the L2 cache as gp_snapshot_flush_caches, in a stream (of the default ones the thread's
 * own, when per_thread), without waiting: the next work in the stream begins with empty caches.
 * From then on the snapshot is in use until gp_snapshot_done, which must not come before the stream
 * is done. */
bool gp_snapshot_flush_caches_on(struct gp_snapshot *s, CUstream stream, bool per_thread);

/* Keeps a stream busy for some microseconds, without waiting, and leaves the caches as they are:
 * the next work in the stream stands in line by the time it can run. */
bool gp_snapshot_pause_on(struct gp_snapshot *s, CUstream stream, bool per_thread);

/* True where the memory for that is there. */
bool gp_snapshot_may_flush(const struct gp_snapshot *s);
/* Delays the stream: empties the caches that way, where it may, or only keeps the stream busy.
 * While a copy is held. */
bool gp_snapshot_delay_stream(struct gp_snapshot *s, CUstream stream, bool per_thread, bool flush);

/* Waits, some seconds at most, for the contexts where launches still have copies: these are to be
 * written behind work that goes on. True where one has come to rest. From any thread. */
bool gp_snapshot_await_held(void);
/* The program has run out of device memory: gives back all of ours that no replay is using now, in
 * every context. A free waits for work in the context; where that does not end in some seconds
 * nothing is given back there. (While streams are captured that cannot be asked.) True when
 * something was given back. From any thread. */
bool gp_snapshot_release_memory(bool captures);
/* Bytes of device memory that could be given back that way, on the current device. */
size_t gp_snapshot_held_memory(void);

#endif
