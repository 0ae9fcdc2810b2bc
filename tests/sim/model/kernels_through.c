/* A kernel that loads an address from memory. */
#include "model/define.h"

/* x = 2 * x + 1, and 3 more in the word to which the table leads, where it leads anywhere. No
 * branch comes before the access by the address: gpuprof reads the code in its order. */
static void arena_through(struct gpusim_thread *t)
{
    uint32_t *a = PARAM(t, 0, uint32_t *);
    uint32_t *const *table = PARAM(t, 1, uint32_t *const *);
    unsigned at = PARAM(t, 2, unsigned), i = LINEAR_INDEX(t);
    uint32_t *to = LDG(t, &table[at]);

    INT(t, 3);
    STG(t, &a[i], 2 * LDG(t, &a[i]) + 1);
    IF(t, i == 0 && to != NULL)
    {
        INT(t, 1);
        STG(t, to, LDG(t, to) + 3);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_through, false, 8, 8, 4);
