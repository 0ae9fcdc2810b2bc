/*
 * How a simulated kernel is written: C per thread, every machine instruction through one of these
 * macros, so that a recorder sees the same stream of instructions a GPU would execute.
 *
 * Device pointers are ordinary typed pointers that must never be followed directly: LDG and STG
 * check the address and find the memory behind it. Shared memory is followed through LDS and STS.
 */
#ifndef GPUSIM_KERNEL_H
#define GPUSIM_KERNEL_H

#include <math.h>

#include "model/grid.h"

enum gpusim_op {
    GPUSIM_OP_INT,
    GPUSIM_OP_PARAMETER, /* loads the address that is a parameter */
    GPUSIM_OP_FADD,
    GPUSIM_OP_FMUL,
    GPUSIM_OP_FFMA,
    GPUSIM_OP_DADD,
    GPUSIM_OP_DMUL,
    GPUSIM_OP_DFMA,
    GPUSIM_OP_HADD,
    GPUSIM_OP_HMUL,
    GPUSIM_OP_HFMA,
    GPUSIM_OP_CONSTANT, /* moved by HFMA2 of zero */
    GPUSIM_OP_SFU,
    GPUSIM_OP_TENSOR,
    GPUSIM_OP_BRANCH,
    GPUSIM_OP_TRY_WAIT,
    GPUSIM_OP_RETRY, /* a branch to the instruction before it */
    GPUSIM_OP_CONTROL,
    GPUSIM_OP_BARRIER,
    GPUSIM_OP_GLOBAL_LD,
    GPUSIM_OP_GLOBAL_ST,
    GPUSIM_OP_GLOBAL_ATOM,
    GPUSIM_OP_GLOBAL_RED,
    GPUSIM_OP_ASYNC_COPY,
    GPUSIM_OP_LOCAL_LD,
    GPUSIM_OP_LOCAL_ST,
    GPUSIM_OP_SHARED_LD,
    GPUSIM_OP_SHARED_ST,
    GPUSIM_OP_SHARED_ATOM,
    GPUSIM_OP_SHARED_SWAP
};

/* One line of a kernel's text: the machine instruction, as far as the model is concerned. */
struct gpusim_site {
    enum gpusim_op op;
    int line;
    int order;        /* of appearance in the file */
    unsigned count;   /* instructions in a row */
    unsigned size;    /* bytes that a thread moves, 0 when it moves none */
    bool is_volatile; /* a load that sees the stores of others */
    bool predicated;  /* it runs under a predicate */
    const char *file; /* whose text it is in: all kernels of a file share theirs */
};

/* All of them are listed in a section of this library, so that code can be made of them. */
#define GPUSIM_SITE_OF(op_, count_, size_) GPUSIM_SITE_AS(op_, count_, size_, false, false)
#define GPUSIM_SITE_AS(op_, count_, size_, volatile_, predicated_)                                \
    (__extension__({                                                                              \
        static const struct gpusim_site gpusim_site_here = {(op_),         __LINE__, __COUNTER__, \
                                                            (count_),      (size_),  (volatile_), \
                                                            (predicated_), __FILE__};             \
        static const struct gpusim_site *const gpusim_site_listed                                 \
            __attribute__((section("gpusim_sites"), used)) = &gpusim_site_here;                   \
        (void)gpusim_site_listed;                                                                 \
        &gpusim_site_here;                                                                        \
    }))
#define GPUSIM_SITE(op_) GPUSIM_SITE_OF(op_, 1, 0)
#define GPUSIM_ACCESS(op_, pointer) GPUSIM_SITE_OF(op_, 1, sizeof(*(pointer)))

#define GPUSIM_VOLATILE_LOAD(pointer) \
    GPUSIM_SITE_AS(GPUSIM_OP_GLOBAL_LD, 1, sizeof(*(pointer)), true, false)
#define GPUSIM_PREDICATED(op_, size_) GPUSIM_SITE_AS(op_, 1, size_, false, true)

/* The parameter at this position, as the launch passed it. */
#define PARAM(t, i, type) \
    (*(type const *)(const void *)((t)->grid->params + (t)->grid->param_at[(i)]))

/* A parameter that is an address: its load is an instruction, and the accesses behind it in the
 * code take it. The parameters before it have eight bytes each. */
#define ADDRESS(t, i, type) \
    (gpusim_note((t), GPUSIM_SITE_OF(GPUSIM_OP_PARAMETER, 1, 1 + (i)), 1, true), PARAM(t, i, type))

/* The address of a variable of the kernel's module, as the linker would have written it in. */
#define GLOBAL(t, type, name) ((type *)gpusim_symbol((t), (name)))
void *gpusim_symbol(struct gpusim_thread *t, const char *name);

/* count instructions of that kind, executed by this thread, predicated on or off. */
void gpusim_note(struct gpusim_thread *t, const struct gpusim_site *site, unsigned count, bool on);

/* A memory access by this thread: checked, noted, and answered with the memory to touch. */
void *gpusim_global(struct gpusim_thread *t, const struct gpusim_site *site, const void *address,
                    unsigned size);
void *gpusim_shared(struct gpusim_thread *t, const struct gpusim_site *site, const void *address,
                    unsigned size);
/* An access by a lane whose predicate is off: noted, nothing touched. */
void gpusim_access_off(struct gpusim_thread *t, const struct gpusim_site *site, unsigned size);

bool gpusim_branch(struct gpusim_thread *t, const struct gpusim_site *site, bool taken);

/* Global memory. */
#define LDG(t, pointer)                              \
    (*(const __typeof__(*(pointer)) *)gpusim_global( \
        t, GPUSIM_ACCESS(GPUSIM_OP_GLOBAL_LD, pointer), pointer, sizeof(*(pointer))))
#define STG(t, pointer, value)                                                                \
    (*(__typeof__(*(pointer)) *)gpusim_global(t, GPUSIM_ACCESS(GPUSIM_OP_GLOBAL_ST, pointer), \
                                              pointer, sizeof(*(pointer))) = (value))
#define STG_IF(t, on, pointer, value)                                                              \
    do {                                                                                           \
        const struct gpusim_site *gpusim_st_ =                                                     \
            GPUSIM_PREDICATED(GPUSIM_OP_GLOBAL_ST, sizeof(*(pointer)));                            \
        if (on)                                                                                    \
            *(__typeof__(*(pointer)) *)gpusim_global(t, gpusim_st_, pointer, sizeof(*(pointer))) = \
                (value);                                                                           \
        else                                                                                       \
            gpusim_access_off(t, gpusim_st_, sizeof(*(pointer)));                                  \
    } while (0)
#define ATOMIC_ADD(t, pointer, value)                                                             \
    __atomic_fetch_add(                                                                           \
        (__typeof__(*(pointer)) *)gpusim_global(t, GPUSIM_ACCESS(GPUSIM_OP_GLOBAL_ATOM, pointer), \
                                                pointer, sizeof(*(pointer))),                     \
        (value), __ATOMIC_RELAXED)
#define RED_ADD(t, pointer, value)                                                               \
    ((void)__atomic_fetch_add(                                                                   \
        (__typeof__(*(pointer)) *)gpusim_global(t, GPUSIM_ACCESS(GPUSIM_OP_GLOBAL_RED, pointer), \
                                                pointer, sizeof(*(pointer))),                    \
        (value), __ATOMIC_RELAXED))
/* A read of memory that somebody else is changing: noted once, however often it is repeated. */
#define PEEK(pointer_in_host_memory) __atomic_load_n(pointer_in_host_memory, __ATOMIC_ACQUIRE)

/* Shared memory: the block's own, statically declared first, then the launch's own. */
#define SHARED(t, type, byte_offset) ((type *)(void *)((t)->grid->shared + (byte_offset)))
#define LDS(t, pointer)                              \
    (*(const __typeof__(*(pointer)) *)gpusim_shared( \
        t, GPUSIM_ACCESS(GPUSIM_OP_SHARED_LD, pointer), pointer, sizeof(*(pointer))))
#define STS(t, pointer, value)                                                                \
    (*(__typeof__(*(pointer)) *)gpusim_shared(t, GPUSIM_ACCESS(GPUSIM_OP_SHARED_ST, pointer), \
                                              pointer, sizeof(*(pointer))) = (value))
#define SHARED_ADD(t, pointer, value)                                                           \
    (*(__typeof__(*(pointer)) *)gpusim_shared(t, GPUSIM_ACCESS(GPUSIM_OP_SHARED_ATOM, pointer), \
                                              pointer, sizeof(*(pointer))) += (value))

/* An asynchronous copy from global to shared memory; its global side alone is counted. */
#define LDGSTS(t, shared_, pointer)                               \
    (*(shared_) = *(const __typeof__(*(pointer)) *)gpusim_global( \
         t, GPUSIM_ACCESS(GPUSIM_OP_ASYNC_COPY, pointer), pointer, sizeof(*(pointer))))

/* Arithmetic: the value, and a note that it was computed. */
#define GPUSIM_COMPUTE(t, op, value) (gpusim_note(t, GPUSIM_SITE(op), 1, true), (value))
#define FADD(t, a, b) GPUSIM_COMPUTE(t, GPUSIM_OP_FADD, (float)((a) + (b)))
#define FMUL(t, a, b) GPUSIM_COMPUTE(t, GPUSIM_OP_FMUL, (float)((a) * (b)))
#define FFMA(t, a, b, c) GPUSIM_COMPUTE(t, GPUSIM_OP_FFMA, fmaf(a, b, c))
#define DADD(t, a, b) GPUSIM_COMPUTE(t, GPUSIM_OP_DADD, (double)((a) + (b)))
#define DMUL(t, a, b) GPUSIM_COMPUTE(t, GPUSIM_OP_DMUL, (double)((a) * (b)))
#define DFMA(t, a, b, c) GPUSIM_COMPUTE(t, GPUSIM_OP_DFMA, fma(a, b, c))
#define HADD(t, a, b) GPUSIM_COMPUTE(t, GPUSIM_OP_HADD, gpusim_half((a) + (b)))
#define HMUL(t, a, b) GPUSIM_COMPUTE(t, GPUSIM_OP_HMUL, gpusim_half((a) * (b)))
#define HFMA(t, a, b, c) GPUSIM_COMPUTE(t, GPUSIM_OP_HFMA, gpusim_half(fmaf(a, b, c)))
#define CONSTANT(t, value) GPUSIM_COMPUTE(t, GPUSIM_OP_CONSTANT, (value))
#define RSQRT(t, a) GPUSIM_COMPUTE(t, GPUSIM_OP_SFU, 1.0f / sqrtf(a))
#define TENSOR(t) gpusim_note(t, GPUSIM_SITE(GPUSIM_OP_TENSOR), 1, true)
#define INT(t, count) gpusim_note(t, GPUSIM_SITE_OF(GPUSIM_OP_INT, (count), 0), (count), true)
/* An addition, executed by all lanes and effective in the lanes whose predicate is on. */
#define FADD_IF(t, on, a, b) \
    (gpusim_note(t, GPUSIM_PREDICATED(GPUSIM_OP_FADD, 0), 1, (on)), (on) ? (float)((a) + (b)) : (a))

/* A float rounded to the nearest half-precision value. */
float gpusim_half(float value);

/* Control flow. IF is a branch that lanes may take differently; the test itself costs one INT. */
#define IF(t, condition) if (gpusim_branch(t, GPUSIM_SITE(GPUSIM_OP_BRANCH), (condition)))
/* A branch over the `count` instructions behind it, which are not counted by themselves. */
#define IF_SHORT(t, condition, count) \
    if (gpusim_branch(t, GPUSIM_SITE_OF(GPUSIM_OP_BRANCH, 1, (count)), (condition)))
#define EXIT(t) gpusim_note(t, GPUSIM_SITE(GPUSIM_OP_CONTROL), 1, true)
#define SYNC(t)                                                  \
    do {                                                         \
        gpusim_note(t, GPUSIM_SITE(GPUSIM_OP_BARRIER), 1, true); \
        gpusim_barrier(t);                                       \
    } while (0)

/*
 * A loop with numbered iterations, so that lanes in the same one are seen to run together and
 * lanes that have left are not. Use as FOR(t, int i = 0, i < n, i++) { ... }; break, continue and
 * return work. The branch at the loop's end is noted in every iteration.
 */
struct gpusim_loop {
    struct gpusim_thread *thread;
    uint64_t outer;
    uint64_t seed;
    uint64_t iterations;
    bool open;
};

struct gpusim_loop gpusim_loop_begin(struct gpusim_thread *t, const struct gpusim_site *site);
void gpusim_loop_next(struct gpusim_loop *loop);
void gpusim_loop_end(struct gpusim_loop *loop);

/* DO(t) { ITERATION; ... } while (AGAIN(t, condition)): a loop whose branch stands at its end, as
 * compilers write it. */
#define DO(t)                                                                        \
    for (struct gpusim_loop gpusim_loop_ __attribute__((cleanup(gpusim_loop_end))) = \
             gpusim_loop_begin(t, GPUSIM_SITE(GPUSIM_OP_CONTROL));                   \
         gpusim_loop_.open; gpusim_loop_.open = false)                               \
        do
#define ITERATION gpusim_loop_next(&gpusim_loop_)
#define AGAIN(t, condition) gpusim_branch(t, GPUSIM_SITE(GPUSIM_OP_BRANCH), (condition))
/* An instruction that is run again until its answer is yes, after so many times. */
#define RETRY(t, op, times)                                                                     \
    do {                                                                                        \
        unsigned gpusim_asked_ = 0, gpusim_times_ = (times);                                    \
        DO(t)                                                                                   \
        {                                                                                       \
            ITERATION;                                                                          \
            gpusim_note(t, GPUSIM_SITE(op), 1, true);                                           \
        }                                                                                       \
        while (gpusim_branch(t, GPUSIM_SITE(GPUSIM_OP_RETRY), ++gpusim_asked_ < gpusim_times_)) \
            ;                                                                                   \
    } while (0)
/* Asks a barrier in shared memory; and swaps a value of it until no other thread comes between. */
#define TRY_WAIT(t, times) RETRY(t, GPUSIM_OP_TRY_WAIT, times)
#define TRY_SWAP(t, times) RETRY(t, GPUSIM_OP_SHARED_SWAP, times)
#define FOR(t, init, condition, step)                                                \
    for (struct gpusim_loop gpusim_loop_ __attribute__((cleanup(gpusim_loop_end))) = \
             gpusim_loop_begin(t, GPUSIM_SITE(GPUSIM_OP_CONTROL));                   \
         gpusim_loop_.open; gpusim_loop_.open = false)                               \
        for (init; gpusim_loop_next(&gpusim_loop_),                                  \
                   gpusim_branch(t, GPUSIM_SITE(GPUSIM_OP_BRANCH), (condition));     \
             step)

#endif
