/* How far what a kernel is seen to reach can be relied upon: when to look whether it wrote
 * elsewhere. Looking costs two readings of all memory the program has, so a kernel is watched
 * closely at first and now and then afterwards. Calls nothing. */
#ifndef GPUPROF_LAUNCH_TRUST_H
#define GPUPROF_LAUNCH_TRUST_H

#include <stdbool.h>
#include <stdint.h>

struct gp_trust {
    uint64_t launches; /* that were copied for, and have ended */
    uint64_t next;     /* the one to verify next, once the first are over; 0: not set */
    unsigned grid[3];  /* of the last */
    unsigned changes;  /* of the grid that were verified */
    bool broken;       /* it wrote where it was not seen to reach */
};

/* True when a launch with that grid, if it is the next, is to be verified: the first three of a
 * kernel, its 10th, 30th, 100th, 300th and so on, and the first few whose grid is not that of the
 * last. */
bool gp_trust_verifies(const struct gp_trust *trust, const unsigned grid[3]);
/* That launch has ended, and was verified if it was to be. */
void gp_trust_count(struct gp_trust *trust, const unsigned grid[3]);

/* It wrote elsewhere. From now on everything is copied for it. */
void gp_trust_break(struct gp_trust *trust);
bool gp_trust_is_broken(const struct gp_trust *trust);

#endif
