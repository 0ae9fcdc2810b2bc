/* Counters of instrumented code, which cost much to measure: they are measured where a launch is
 * new, and recalled where a launch is, instruction for instruction, as one that was measured: as
 * many warps at each, as many sectors and wavefronts at each access to memory. That is read after:
 * they are measured again at the 300th, 3000th such launch and so on. Of a kernel for which that
 * was found not to hold they are measured always.
 *
 * To count at each instruction costs as well. Where all launches of one kind (a kernel, a grid, a
 * block) have been alike so far, the next ones are assumed to be, where no parameter is changed
 * that was the same for all. Where they were not, the same is asked of those whose parameters are
 * the same but for addresses: many kernels get the length of their work so. The hardware's counters
 * have to confirm it first, and the instructions of some are counted all the same: of the 16th,
 * and from there of one in 32, 64, 128 and at last 256; of fewer at first where that takes long.
 *
 * The hardware's counters of a few launches of a fingerprint stand for those of the others with the
 * same work, too.
 *
 * Owns its fingerprints and their counters, in bounded memory. One thread at a time. */
#ifndef GPUPROF_COUNTERS_RECALL_H
#define GPUPROF_COUNTERS_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fingerprint of a launch: its kernel, and a hash of its shape and of the counts of each of its
 * instructions. */
struct gp_fingerprint {
    uint64_t kernel;
    uint64_t words[2];
};

/* The fingerprint of a launch of that kernel (its mangled name); `shape` tells its grid, its blocks
 * and its code from others. */
struct gp_fingerprint fingerprint_of(const char *kernel, uint64_t shape);

/* The kind of a launch, which is known before it has run. */
#define GP_KIND_WORDS 64
struct gp_launch_kind {
    struct gp_fingerprint shape;        /* the kernel and the shape alone */
    struct gp_fingerprint work;         /* and the parameters on which its work depends */
    uint32_t parameters[GP_KIND_WORDS]; /* the last one stands for all that follow */
    bool by_work;                       /* assumed to be as others with the same work */
};

/* Makes the kind of a launch with `size` bytes of parameters; `work` is a hash of the parameters
 * that are no addresses. */
void launch_kind_of(struct gp_launch_kind *kind, const char *kernel, uint64_t shape, uint64_t work,
                    const void *parameters, size_t size);

/* A function, by its mangled name. With templates that has hundreds of characters: to be made once
 * for all counts of a function. */
uint64_t fingerprint_function(const char *name);
/* Adds a count of one instruction of that function; the order does not matter. */
void fingerprint_add(struct gp_fingerprint *f, uint64_t function, uint32_t offset, uint64_t metric,
                     uint64_t value);

struct gp_recall;

/* For `count` counters, and `hardware` of the hardware. NULL when out of memory. */
struct gp_recall *recall_new(size_t count, size_t hardware);
void recall_free(struct gp_recall *r);

/* The counters of a launch of that fingerprint; NULL where they are to be measured. Counts the
 * launch. */
const double *recall_values(struct gp_recall *r, const struct gp_fingerprint *f);

/* The counters of that fingerprint, also where they are to be measured again; NULL where they never
 * were measured. Counts no launch. */
const double *recall_find(const struct gp_recall *r, const struct gp_fingerprint *f);

/* Launches of that kernel with one fingerprint are not all alike. */
void recall_bar(struct gp_recall *r, const struct gp_fingerprint *f);
bool recall_is_barred(const struct gp_recall *r, const struct gp_fingerprint *f);

/* True where to count the instructions of a launch of that kind may spare it to be measured: its
 * kernel is not barred, and the last ones of the kind were not all new. Asked once for each
 * launch: of those it is false for, one in 16 is counted all the same. */
bool recall_compares(struct gp_recall *r, const struct gp_launch_kind *kind);
/* True when a launch of that kind will be like none that was measured, as far as is known: there
 * was none of the kind, or the last ones were all new. */
bool recall_expects_new(const struct gp_recall *r, const struct gp_launch_kind *kind);
/* They were compared; is_new: there was none like it. */
void recall_compared(struct gp_recall *r, const struct gp_launch_kind *kind, bool is_new);

/* The fingerprint of a launch of that kind was found to be f; whether the hardware's counters were
 * those of its like. */
void recall_found(struct gp_recall *r, const struct gp_launch_kind *kind,
                  const struct gp_fingerprint *f, bool confirmed);

/* True where the next launch of that kind may be assumed to be as all others. */
bool recall_is_familiar(const struct gp_recall *r, const struct gp_launch_kind *kind);

/* Where the next launch of that kind may be assumed to be as all others, or as all others with the
 * same work: true, with their fingerprint in *f. Counts the launch. Those that are compared all the
 * same lie `apart` launches apart at least, but not more than 256. */
bool recall_assume(struct gp_recall *r, struct gp_launch_kind *kind, unsigned apart,
                   struct gp_fingerprint *f);

/* A launch that was assumed to be like the others was, as the hardware says, or was not: then no
 * more of the kind are assumed. */
void recall_assumed(struct gp_recall *r, const struct gp_launch_kind *kind, bool confirmed);

/* A launch of that kind was counted in instrumented code; whether one was. */
void recall_note_counted(struct gp_recall *r, const struct gp_launch_kind *kind);
bool recall_has_counted(const struct gp_recall *r, const struct gp_launch_kind *kind);

/* They have been measured. */
void recall_learn(struct gp_recall *r, const struct gp_fingerprint *f, const double *values);

/* A launch may find its data in a cache, another one with the same fingerprint not: that depends on
 * parameters that no count of instructions shows. So the hardware's counters are those of launches
 * with the same work as well, which have this fingerprint. */
struct gp_fingerprint fingerprint_with_work(const struct gp_fingerprint *f,
                                            const struct gp_launch_kind *kind);

/* The hardware's counters of a launch of that fingerprint, which is known, and kind were measured.
 * How many of these stand for the next launch (measured_count); and those that it takes, NULL
 * where there are none. */
void recall_note_hardware(struct gp_recall *r, const struct gp_fingerprint *f,
                          const struct gp_launch_kind *kind, const double *values);
unsigned recall_hardware_count(const struct gp_recall *r, const struct gp_fingerprint *with_work);
const double *recall_hardware(struct gp_recall *r, const struct gp_fingerprint *with_work);

#endif
