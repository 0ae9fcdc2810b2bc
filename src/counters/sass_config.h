/* The list of CUPTI's SASS metrics of each device. CUPTI takes one list for a device, for as long
 * as the process lasts: to unset it and set another was seen to fail. So it is that of the first
 * session. Owns the lists. */
#ifndef GPUPROF_COUNTERS_SASS_CONFIG_H
#define GPUPROF_COUNTERS_SASS_CONFIG_H

#include "counters/code_counts.h"
#include "cuda/cupti.h"
#include "profile/record.h"

struct gp_sass_config {
    uint64_t *ids;             /* by the position of the base among those of the session */
    enum gp_count_kind *kinds; /* of each: where it shows which line counted it */
    bool *at_branches;         /* each counts at branches */
    size_t count;
    CUcontext context; /* that was current: CUPTI's allocations lie there */
};

/* True where CUPTI has a metric of that name for the chip. */
bool sass_config_knows(const char *name, void *chip);

/* The device's list, which is that of these bases from now on. NULL with the reason in *why where
 * it is another one already, or cannot be had. */
const struct gp_sass_config *sass_config_set(const struct gp_device *device,
                                             const char *const *bases, size_t count,
                                             struct gp_reason *why);

/* The context is about to be destroyed, and no session is open in it. If CUPTI was set up in it for
 * sessions there can be no more of them on its device: it was seen to crash at the end of the
 * process else, and to refuse another time. */
void sass_sessions_leave(CUcontext context, bool at_rest);

/* The process ends: CUPTI frees its configuration of the sessions, while the driver is there. No
 * session can be opened afterwards. */
void sass_sessions_end(void);

#endif
