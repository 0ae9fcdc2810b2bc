/* Which launches keep a line of their own in a profile that has a limit, and the sums of the
 * others. Owns the sums, by kernel and launch configuration, a bounded number.
 *
 * A launch keeps its line by a hash of its number alone, so that its early line has the same
 * answer; numbers that are kept lie evenly over the run. The first line of each configuration
 * stays, and so do launches that were diagnosed. Not locked: the caller lets one thread in at a
 * time. */
#ifndef GPUPROF_PROFILE_THINNING_H
#define GPUPROF_PROFILE_THINNING_H

#include "profile/record.h"

#include <stdbool.h>

/* Kernels and configurations that have sums; as many as a summary has groups. Launches of others
 * are thinned as if they were of one, and those without a line are in no sum. */
#define GP_MOST_SUMS 4096

struct gp_thinning;

struct gp_thinning *gp_thinning_new(void); /* NULL when out of memory */
void gp_thinning_free(struct gp_thinning *t);

/* One with the same densities, without a sum and without a line, for a file that is written anew.
 * NULL when out of memory. */
struct gp_thinning *gp_thinning_again(const struct gp_thinning *t);

/* Whether the launch keeps its line. `further`: so often the lines of configurations that were
 * halved are halved once more, for a while. */
bool gp_thinning_keeps(struct gp_thinning *t, const struct gp_record *launch, unsigned further);

/* The launch has got its line, or is left out: then it is in a sum. */
void gp_thinning_line(struct gp_thinning *t, const struct gp_record *launch);
void gp_thinning_leave_out(struct gp_thinning *t, const struct gp_record *launch);

/* Adds to the sums. */
void gp_thinning_sum(struct gp_thinning *t, const struct gp_sum *sum);

/* Hands over each sum that is not 0, which is 0 then, and its strings until the thinning is freed.
 */
void gp_thinning_take(struct gp_thinning *t, void (*take)(void *user, const struct gp_sum *sum),
                      void *user);

/* Halves the number of lines, that of configurations with the most lines first: the others keep all
 * of theirs. */
void gp_thinning_halve(struct gp_thinning *t);

/* Takes the number of lines of each configuration over from a file that was written anew, and its
 * sums. */
void gp_thinning_take_lines(struct gp_thinning *t, const struct gp_thinning *again);

/* Launches that were left out, so far. */
uint64_t gp_thinning_left_out(const struct gp_thinning *t);

#endif
