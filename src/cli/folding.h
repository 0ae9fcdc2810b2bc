/* Profiles and baselines as sides of a comparison. */
#ifndef GPUPROF_CLI_FOLDING_H
#define GPUPROF_CLI_FOLDING_H

#include "check/side.h"

/* Folds the metrics selected in `m` out of profiles, each a run. Notes of the reader go to `notes`
 * (may be NULL), and a line for each profile whose launches may not be all to `unfinished`. False
 * with the reason in `why`; the side is to be freed in both cases. */
bool cli_fold_profiles(const struct gp_metrics *m, char *const *paths, int count,
                       struct gp_side *side, struct gp_text *notes, struct gp_text *unfinished,
                       char *why, size_t why_size);

/* True where the file begins as a baseline does, not as a profile. */
bool cli_is_baseline(const char *path);

/* Selects the metrics of a list (NULL: the set "paper", whose metrics are few and well known).
 * False, having said why. */
bool cli_select(struct gp_metrics *m, const char *list);

/* Selects the metrics that a side has and that are defined here. False, having said why. */
bool cli_select_side(struct gp_metrics *m, const struct gp_side *side);

/* A count of the profile: where the limit to the added time left launches out a note says so, once:
 * other runs may have other ones. `notes`: may be NULL. */
struct gp_count;
void cli_note_added_limit(const struct gp_count *count, const char *path, bool *noted,
                          struct gp_text *notes);

#endif
