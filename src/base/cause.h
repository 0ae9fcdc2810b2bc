/* Why something was not measured: a cause, by which code and readers group, and a text for people.
 * The causes are in base/causes.def. */
#ifndef GPUPROF_BASE_CAUSE_H
#define GPUPROF_BASE_CAUSE_H

#include <stdbool.h>

enum gp_cause {
    GP_CAUSE_NONE, /* it was measured */
#define CAUSE(name, word, sentence) GP_CAUSE_##name,
#include "base/causes.def"
    GP_CAUSES /* how many there are, with none */
};

/* The text is that of the cause, or says more. Of no reason it is NULL. It outlives the reason: in
 * the profiled process for ever. */
struct gp_reason {
    enum gp_cause cause;
    const char *text;
};

#define GP_NO_REASON ((struct gp_reason){GP_CAUSE_NONE, NULL})
/* GP_REASON(NO_MEMORY), GP_REASON_TEXT(NO_CUPTI, "libcupti.so was not found") */
#define GP_REASON(name) gp_reason_of(GP_CAUSE_##name)
#define GP_REASON_TEXT(name, sentence) ((struct gp_reason){GP_CAUSE_##name, sentence})

/* With the cause's own text. */
struct gp_reason gp_reason_of(enum gp_cause cause);

/* The first of two that is a reason. */
static inline struct gp_reason gp_reason_or(struct gp_reason first, struct gp_reason other)
{
    return first.cause ? first : other;
}

/* "no-memory"; NULL of GP_CAUSE_NONE. */
const char *gp_cause_word(enum gp_cause cause);
/* A sentence; NULL of GP_CAUSE_NONE. */
const char *gp_cause_text(enum gp_cause cause);
/* The cause of a word; GP_CAUSE_OTHER of a word that this version does not know. */
enum gp_cause gp_cause_by_word(const char *word);

/* True for reasons that readers take for one: of one cause; of causes whose reasons differ in more
 * than their words, as the call of CUPTI that failed, only with the same text. */
bool gp_reasons_are_alike(struct gp_reason a, struct gp_reason b);

/* True where the launch itself was passed over, cannot run again, or has no room: others may. */
static inline bool gp_cause_is_of_launch(enum gp_cause cause)
{
    return cause > GP_CAUSE_NONE && cause <= GP_CAUSE_OVER_LIMIT;
}

/* True where the launch lacks a counter that other launches like it have. */
static inline bool gp_cause_is_elsewhere(enum gp_cause cause)
{
    return cause == GP_CAUSE_COUNTED_ELSEWHERE || cause == GP_CAUSE_INSTRUMENTED_ENOUGH;
}

#endif
