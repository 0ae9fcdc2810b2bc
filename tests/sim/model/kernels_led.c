/* Kernels that load addresses behind others, or have many of them. */
#include "model/define.h"

/* x = 2 * x + 1, and 3 more in the word to which the node leads to which the table leads, where
 * that leads anywhere. */
static void arena_node(struct gpusim_thread *t)
{
    uint32_t *a = PARAM(t, 0, uint32_t *);
    uint32_t **const *table = PARAM(t, 1, uint32_t * *const *);
    unsigned at = PARAM(t, 2, unsigned), i = LINEAR_INDEX(t);
    uint32_t **node = LDG(t, &table[at]);

    INT(t, 3);
    STG(t, &a[i], 2 * LDG(t, &a[i]) + 1);
    IF(t, i == 0 && node != NULL)
    {
        INT(t, 1);
        uint32_t *to = LDG(t, node);
        STG(t, to, LDG(t, to) + 3);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_node, false, 8, 8, 4);

/* Each thread has an array of its own: its first word becomes 2 * x + 1. The table is as above,
 * without a node. */
struct many {
    uint32_t *of[72];
};

static void arena_many(struct gpusim_thread *t)
{
    unsigned i = LINEAR_INDEX(t);
    uint32_t *a = PARAM(t, 0, struct many).of[i];
    uint32_t *const *table = PARAM(t, 1, uint32_t *const *);
    unsigned at = PARAM(t, 2, unsigned);
    uint32_t *to = LDG(t, &table[at]);

    INT(t, 3);
    STG(t, a, 2 * LDG(t, a) + 1);
    IF(t, i == 0 && to != NULL)
    {
        INT(t, 1);
        STG(t, to, LDG(t, to) + 3);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_many, false, sizeof(struct many), 8, 4);
