/* The launches of a batch, and the next step to be made of them: a fingerprint, a pass of the
 * hardware's counters, a pass of instrumented code, a reading. The state of each launch tells the
 * rest (counters/states.def). batch_next is pure: facts in, step out.
 *
 * A range of the hardware's counters takes a millisecond, which goes into two system calls, however
 * much runs in it. So of launches that are alike a few are counted one by one
 * (counters/measured_rows.c). A later one whose fingerprint was found to be theirs is not counted
 * at all, if the fingerprint tells all of its work. A launch that is only assumed to have it, or of
 * which it tells less, shares a range with others, a bundle: their sum has to be that of launches
 * like them. To go from the hardware's passes to instrumented code and back takes tens of
 * milliseconds, so each kind of step is made for all launches before the next kind.
 *
 * A launch that cannot wait makes the same steps at once, as a batch of one: it has the counters of
 * launches with its fingerprint without the hardware's word. Two such launches that are new, one
 * after the other, make their passes in opposite order, so that the session goes to instrumented
 * code and back once for both. */
#ifndef GPUPROF_COUNTERS_BATCH_H
#define GPUPROF_COUNTERS_BATCH_H

#include "base/cause.h"
#include "base/put_work.h"
#include "counters/run.h"
#include "counters/states.h"

/* Launches whose counters wait to be read: so many are lost where their context dies. With few of
 * them the session is stopped and started often, which takes 45 ms. */
#define GP_MOST_MEMBERS 256
/* Ranges of the session. Each costs its first start some 1.2 ms, and each pass of instrumented code
 * 0.1 ms. A launch takes one when it is counted, or its bundle does; where none is left launches
 * are counted in another round. */
#define GP_MOST_RANGES 68
/* Launches in one range. One more bundle of each kind need not be full. */
#define GP_MOST_TOGETHER 32u
#define GP_MOST_ASKING_TOGETHER 16u
#define GP_MOST_BUNDLES (GP_MOST_MEMBERS / GP_MOST_ASKING_TOGETHER + 3)

/* The fingerprint of a launch: its kernel, and a hash of its shape and of the counts of each of its
 * instructions. */
struct gp_fingerprint {
    uint64_t kernel;
    uint64_t words[2];
};

/* The kind of a launch, which is known before it has run. */
#define GP_KIND_WORDS 64
struct gp_launch_kind {
    struct gp_fingerprint shape;        /* the kernel and the shape alone */
    struct gp_fingerprint work;         /* and the parameters on which its work depends */
    uint32_t parameters[GP_KIND_WORDS]; /* the last one stands for all that follow */
    bool by_work;                       /* assumed to be as others with the same work */
    bool by_chance; /* assumed, though others with the same work had other fingerprints */
};

/* How the hardware counts a launch. */
enum gp_share {
    GP_SHARE_OPEN, /* that is not decided yet */
    GP_ALONE,      /* in ranges of its own */
    GP_TOGETHER,   /* in a range with others */
    GP_NOT_AT_ALL, /* it takes the counters of launches like it */
    GP_NOT_NOW     /* in another round: no range is left, or none for launches like it */
};

/* A launch in a batch: the part of its measurement that is its counters'. Its address stays. */
struct gp_member {
    struct gp_run run;
    enum gp_launch_state state;
    enum gp_share share;
    unsigned number;        /* its position in the batch */
    unsigned range;         /* of the session, from 1 on; 0: it has none yet */
    unsigned round;         /* it makes its steps in that round; from 1 on it is counted alone */
    unsigned denied;        /* the number of its bundle among those with a wrong sum; 0: none */
    unsigned asked, passes; /* passes of the hardware that were begun, and that ended well */
    unsigned bundle;        /* 1 + the index of its bundle; 0: none */
    enum { GP_BLANK_OPEN, GP_BLANK_ASKED, GP_BLANK_COUNTED } blank; /* of its copy's layout */
    const struct gp_member *like; /* LIKE_MEMBER: the launch whose counters it takes */
    enum { GP_NO_IDENTITY, GP_ASSUMED_IDENTITY, GP_FOUND_IDENTITY } identity;
    struct gp_launch_kind kind;        /* known beforehand */
    struct gp_fingerprint fingerprint; /* by its identity */
    struct gp_fingerprint own;         /* its own, where `by_work`: that is of another launch's, */
    bool by_work;                      /* whose work is the same */
    struct gp_fingerprint taken_for;   /* the one that it had in the bundle, where `denied` */
    bool in_session; /* the session has counts of it that were not read: it is so in many states */
    uint64_t questions; /* branches of questions that it asked in instrumented code, by warps; or as
                         * many as a launch like it; 1 where it asked, and nobody knows how often */
    bool swaps;         /* its kernel swaps values of memory until no other thread comes between */
    bool copies;       /* it makes asynchronous copies; its kernel may be gone when it is learned */
    double code_ms;    /* an instrumented pass of it takes about so long */
    double started_ms; /* the instrumented pass */
    double promised_ms;             /* of the time for such passes, for the one to come */
    struct gp_reason left_out;      /* why there is no instrumented pass */
    struct gp_reason hardware_lost; /* why the hardware's counts cannot be read */
};

/* Launches in one range. The first one makes its pass. */
struct gp_bundle {
    unsigned first, members;
    unsigned range; /* as that of a member; its blank has the first one's */
    bool in_parts;  /* a copy of its launches is: then it has a blank of its own, in which all of
                     * them are put in place as in its range, which comes directly behind */
    enum { GP_BUNDLE_OPEN, GP_BUNDLE_ASKED, GP_BUNDLE_COUNTED, GP_BUNDLE_READ } progress, blank;
    struct gp_put_work work; /* in its blank */
    bool by_law;             /* the blank's counts follow from that */
};

struct gp_batch {
    struct gp_member *members[GP_MOST_MEMBERS];
    unsigned count;
    unsigned round;
    enum { GP_NOTHING_DECIDED, GP_IDENTITIES_DECIDED, GP_SHARES_DECIDED } decided;
    struct gp_bundle bundles[GP_MOST_BUNDLES];
    unsigned bundle_count;
};

/* The facts of the collection that counts a batch. */
struct gp_batch_facts {
    bool session;             /* the hardware's counters can be had */
    bool code_first;          /* a launch that cannot wait begins with instrumented code */
    bool instrumented;        /* counters of instrumented code are wanted */
    unsigned hardware_passes; /* 0 where there is no session, or it counts nothing */
};

enum gp_step_kind {
    GP_STEP_CONSIDER, /* find out as much of the member as is known without a run of it */
    GP_STEP_IDENTIFY, /* its fingerprint is taken, in instrumented code */
    GP_STEP_CHOOSE,   /* find out whose fingerprints are to be taken although they were assumed */
    GP_STEP_SHARE,    /* decide which launches are counted alone, together, and not at all */
    GP_STEP_COUNT,    /* a pass of the hardware's counters, of the member alone */
    GP_STEP_BLANK,    /* a range in which the member's copy, or its bundle's copies one after the
                       * other, are put in place, and nothing runs */
    GP_STEP_TOGETHER, /* a range with all launches of the member's bundle */
    GP_STEP_MEASURE,  /* its instrumented counters are counted */
    GP_STEP_READ,     /* read the hardware's counters, and judge whether launches are alike */
    GP_STEP_SETTLE,   /* read all; launches take the counters of those that were measured */
    GP_STEP_AGAIN,    /* the ranges are used anew, by launches that are to be counted alone */
    GP_STEP_FINISH,   /* read all: the batch is over */
    GP_STEP_ABANDON   /* the same with the context gone: the hardware's counters are lost */
};

/* True for a pass of instrumented code. */
static inline bool gp_step_is_instrumented(enum gp_step_kind kind)
{
    return kind == GP_STEP_IDENTIFY || kind == GP_STEP_MEASURE;
}

struct gp_step {
    enum gp_step_kind kind;
    struct gp_member *member; /* NULL: the step is the whole batch's */
    unsigned pass;            /* GP_STEP_COUNT: which one */
    bool of_bundle;           /* GP_STEP_BLANK: with all copies of the bundle */
    bool in_row; /* others of its kind follow, and nothing but their launches runs in between */
    double ms;   /* it takes about so long */
};

#endif
