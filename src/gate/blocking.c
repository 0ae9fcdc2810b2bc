#include "gate/blocking.h"

#include <stdatomic.h>

static atomic_ulong noted[GP_BLOCKING_KINDS];

void gp_blocking_noted(enum gp_blocking kind)
{
    for (int k = 0; k <= (int)kind; k++)
        atomic_fetch_add(&noted[k], 1);
}

unsigned long gp_blocking_count(enum gp_blocking kind)
{
    return atomic_load(&noted[kind]);
}
