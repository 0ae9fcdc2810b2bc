/* Selects launches of a profile: by kernel, device and number. Owns its answers for names. */
#ifndef GPUPROF_REPORT_FILTER_H
#define GPUPROF_REPORT_FILTER_H

#include "base/text.h"
#include "profile/record.h"

#include <stdbool.h>

struct gp_filter;

/* Texts as `gpuprof run` takes them, NULL where there is none. NULL with the option and the reason
 * in `why`. */
struct gp_filter *gp_filter_new(const char *kernels, const char *devices, const char *skip,
                                const char *count, char *why, size_t why_size);
void gp_filter_free(struct gp_filter *filter);

/* Whether launches are selected by their numbers. */
bool gp_filter_is_by_number(const struct gp_filter *filter);

/* Asked once for each launch, where it is by number in their order. */
bool gp_filter_takes(struct gp_filter *filter, const struct gp_record *launch);

/* Whether no launch is left out. */
bool gp_filter_takes_all(const struct gp_filter *filter);

/* Whether the launches that were only counted are selected. */
bool gp_filter_counts(struct gp_filter *filter, const struct gp_count *count);

/* Where launches were asked for and none was taken: one line on it, with the number of kernels and
 * the names most like the one that was searched for. Nothing is added where some was taken, or
 * there was none. */
void gp_filter_explain(const struct gp_filter *filter, struct gp_text *out);

#endif
