/* The counters of a chip, asked of CUPTI's host library: it needs no GPU. For the command and for
 * tests; nothing here touches a device, but gp_chip_find_here, in a process of its own.
 *
 * Owns the list of chips and the copies of CUPTI's lists. One thread at a time. */
#ifndef GPUPROF_CLI_CHIP_H
#define GPUPROF_CLI_CHIP_H

#include "base/cause.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* The chips of compute capability 7.5 and later that CUPTI names. */
struct gp_chip_name {
    const char *name; /* "GH100" */
    int cc_major, cc_minor;
};
size_t gp_chip_name_count(void);
const struct gp_chip_name *gp_chip_name_at(size_t i);
const struct gp_chip_name *gp_chip_name_find(const char *name);

/* The first chip of that compute capability; NULL where there is none. */
const struct gp_chip_name *gp_chip_name_of(int cc_major, int cc_minor);

/* This machine's first GPU. */
struct gp_chip_here {
    int cc_major, cc_minor;
    char name[32]; /* "GH100"; empty where CUPTI has none, as for GPUs with event groups */
};

/* Asks a child process for it, which may take a second. False with the reason in *why. */
bool gp_chip_find_here(struct gp_chip_here *here, const char **why);

/* Why the chip cannot count it, none where it can, for each of `count` counters in their order.
 * False with the reason in *why where CUPTI cannot be asked (no library, a chip it does not know).
 */
bool gp_chip_try(const char *chip, const char *const *counters, size_t count,
                 struct gp_reason *unavailable, const char **why);

/* Adds to `problems` one line on a name that the chip does not have: near names, or the ends it may
 * have. */
void gp_chip_explain(const char *chip, const char *counter, struct gp_text *problems);

/* Adds the counters that a pattern with * and ? stands for, commas between them: of one without a
 * dot each in its plain form (.sum, .ratio or a share of the peak). Returns how many; 0 also where
 * CUPTI cannot list them, with the reason in *why. */
size_t gp_chip_expand(const char *chip, const char *pattern, struct gp_text *names,
                      const char **why);

/* The passes of a launch: those of the hardware, and one of instrumented code or none. */
struct gp_chip_passes {
    unsigned hardware, instrumented;
    size_t unavailable; /* counters that the chip does not have */
};
bool gp_chip_count_passes(const char *chip, const char *const *counters, size_t count,
                          struct gp_chip_passes *passes, const char **why);

#endif
