/* The plan of a launch: which passes it makes in which order, and the source of its counters. Pure:
 * it knows nothing of CUPTI, and its facts are handed in.
 *
 * A launch that is held makes its passes in a drain, sweep by sweep, with all others of its batch:
 * first its fingerprint, if it is not assumed to be like others; then those of the hardware, by
 * itself or together with launches that should be alike, or none where enough is known
 * (counters/batch.h); then, if it is like none before, the instrumented pass by the Range Profiler.
 *
 * Others make all of them at once. The session stands in instrumented code, and the launch needs
 * that: the instrumented pass by the Range Profiler, then those of the hardware, then its
 * fingerprint, so that others can be like it. Else: the hardware's passes. Then its fingerprint is
 * taken; like one before: recalled; like none: the instrumented pass by the Range Profiler. Where
 * that takes too long it is left out. No fingerprint can be had, or it does not pay: the hardware's
 * passes, then the instrumented pass by the Range Profiler. There is no session: the instrumented
 * pass by the SASS metrics, which count. */
#ifndef GPUPROF_COUNTERS_PLAN_H
#define GPUPROF_COUNTERS_PLAN_H

#include <stdbool.h>

/* The ways of an instrumented pass. */
enum gp_way { GP_WAY_UNDECIDED, GP_WAY_RANGE, GP_WAY_SASS };

/* Where counters of instrumented code are from. */
enum gp_source {
    GP_SOURCE_NONE,
    GP_SOURCE_COUNTED,   /* by the SASS metrics */
    GP_SOURCE_MEASURED,  /* by the Range Profiler */
    GP_SOURCE_NEW,       /* to be measured: the fingerprint is that of no other launch */
    GP_SOURCE_LEARNABLE, /* measured, and the fingerprint is known: others may be like it */
    GP_SOURCE_RECALLED,  /* another launch's that has the same fingerprint */
    GP_SOURCE_UNLEARNED  /* the same, of one that was not learned yet */
};

/* The answer of a fingerprint. */
enum gp_finding { GP_FOUND_NONE, GP_FOUND_LEARNED, GP_FOUND_UNLEARNED };

/* Begins as all zero. */
struct gp_plan {
    enum gp_stage {
        GP_STAGE_FRONT,
        GP_STAGE_HARDWARE,
        GP_STAGE_BACK,
        GP_STAGE_AGAIN,
        GP_STAGE_DONE
    } stage;
    unsigned hardware;   /* passes of the hardware that were planned */
    bool front;          /* its instrumented pass comes before these */
    bool no_fingerprint; /* it could not be taken */
    bool given, broken;  /* held: a pass of the hardware was begun; one could not be made */
    bool assumed,
        to_identify; /* held: to be like others, and no fingerprint was taken; it is to be */
    bool together;   /* held: no pass of the hardware is its own */
    bool parted;     /* held: it makes its passes in another round */
    bool left_out;   /* held: its instrumented passes are, as these take too long */
    enum gp_way preferred, way; /* of its first instrumented pass; of the one that has begun */
    enum gp_source source;
};

/* The sweeps of a drain, from 1. In the first one fingerprints are taken, in the second one of
 * launches that were assumed to be like others, if that is the cheapest way to know. Then comes one
 * for each pass of the hardware, and one in which all that are new are measured. Then the session
 * is read. Two more sweeps measure launches that are new after all: by the hardware's counters, or
 * as the launch that they are like could not be measured. */
#define GP_SWEEP_TO_IDENTIFY 1u
#define GP_SWEEP_TO_IDENTIFY_MORE 2u
#define GP_SWEEP_TO_COUNT 3u
unsigned gp_plan_sweep_to_measure(unsigned hardware_passes);
#define GP_SWEEPS_TO_MEASURE 3u

/* The means to count with. */
struct gp_means_to_count {
    unsigned hardware_passes;    /* 0 where the session is not there, or counts nothing of it */
    bool session;                /* the Range Profiler can count */
    bool stands_in_instrumented; /* its pass of instrumented code is started */
    bool sass_counts;            /* the SASS metrics count, as there was no session */
    bool fingerprints;           /* they can take one of this launch */
    bool instrumented;           /* counters of instrumented code are wanted */
    bool held;                   /* the launch is held: it makes its passes sweep by sweep */
    unsigned sweep;
};

/* Questions on the launch, asked once each at the most, and only if the answer matters. */
struct gp_plan_questions {
    bool (*expects_new)(void *data);      /* it will be like none that was measured */
    bool (*fingerprint_pays)(void *data); /* against measuring at once */
    /* Of a held launch: it is assumed to be like others. */
    bool (*assume)(void *data);
    /* It takes too long to measure: it stays without counters of instrumented code. Of a held
     * launch it may be asked twice, before and after passes of others. */
    bool (*takes_too_long)(void *data);
    void *data;
};

#define GP_PLAN_INSTRUMENTED 1000u

/* The next pass in *pass: of the hardware from 0, or GP_PLAN_INSTRUMENTED; false where there is
 * none any more. `made`: the one before was made, and ended well. */
bool gp_plan_next(struct gp_plan *plan, const struct gp_means_to_count *means,
                  const struct gp_plan_questions *questions, bool made, unsigned *pass);

/* The way of the instrumented pass that begins now; also where nobody asked for the next one, as
 * for launches that take turns. */
enum gp_way gp_plan_way(struct gp_plan *plan, const struct gp_means_to_count *means,
                        const struct gp_plan_questions *questions);

/* It ended well: by the Range Profiler; by the SASS metrics, counting; or with a fingerprint. */
void gp_plan_measured(struct gp_plan *plan);
void gp_plan_counted(struct gp_plan *plan);
void gp_plan_found(struct gp_plan *plan, enum gp_finding finding);
/* All that could be learned of it is learned. */
void gp_plan_learned(struct gp_plan *plan);

/* Of a held launch, whose fingerprint is known by now. */
/* It was assumed, and is to be taken all the same. */
void gp_plan_identify(struct gp_plan *plan);
/* Its passes of the hardware are made together with other launches, or not at all. */
void gp_plan_share(struct gp_plan *plan);
/* It is like a launch that was measured: nothing more is to be made of it. */
void gp_plan_confirmed(struct gp_plan *plan);
/* It was counted together with others, and their sum is wrong: it makes passes of its
 * own, in another round of sweeps. */
void gp_plan_part(struct gp_plan *plan);
/* The launch that it is like was not measured after all, or it is not like it: it is to be. */
void gp_plan_reopen(struct gp_plan *plan);

/* There may be more passes in sweeps to come. */
bool gp_plan_is_open(const struct gp_plan *plan, const struct gp_means_to_count *means);

/* Its counters of instrumented code are its own, or of another launch. */
bool gp_plan_is_measured(const struct gp_plan *plan);
bool gp_plan_is_recalled(const struct gp_plan *plan);

#endif
