/* Reasons as a profile has them: a text, and the word of its cause. */
#ifndef GPUPROF_PROFILE_OLD_REASONS_H
#define GPUPROF_PROFILE_OLD_REASONS_H

#include "base/cause.h"

/* The reason with that text and the cause of the word. Without a word, as in profiles of earlier
 * versions, the cause is found by the text; GP_CAUSE_OTHER where neither is known. */
struct gp_reason gp_reason_read(const char *text, const char *word);

#endif
