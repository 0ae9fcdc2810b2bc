/* The counts of each kernel's instructions, and the code they stand in, by kernel: from a profile,
 * or from the process that was profiled. Owns copies, which are bounded. */
#ifndef GPUPROF_REPORT_SOURCES_H
#define GPUPROF_REPORT_SOURCES_H

#include "profile/code_counts.h"
#include "report/lines.h"

struct gp_sources;

/* NULL when out of memory. */
struct gp_sources *gp_sources_new(void);
void gp_sources_free(struct gp_sources *s);

/* Takes in the counts of a kernel's instructions; several of one kernel add up where their code is
 * the same, else those count that more launches are in. False when out of memory or there is too
 * much. */
bool gp_sources_add(struct gp_sources *s, const struct gp_code_counts *source);

/* Takes in a cubin; the order in which kernels and cubins come does not matter. */
bool gp_sources_add_cubin(struct gp_sources *s, const struct gp_cubin_image *cubin);

/* NULL where nothing is known of the kernel (its mangled name). Lives as long as the sources. */
const struct gp_lines *gp_sources_of(const struct gp_sources *s, const char *kernel);

/* Whether a cubin of that hash is not there yet, and such cubins may be unpacked: all of them
 * together have a limit, also those that then make no sense. */
bool gp_sources_wants_cubin(struct gp_sources *s, const char *hash, size_t size);

/* From here on nobody is shown the folders and the text of the source, only names of files. */
void gp_sources_hide(struct gp_sources *s);

/* In the order in which they came. */
size_t gp_sources_count(const struct gp_sources *s);
const struct gp_lines *gp_sources_at(const struct gp_sources *s, size_t i);

#endif
