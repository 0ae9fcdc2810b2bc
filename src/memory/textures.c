#include "memory/textures.h"

#include <stdatomic.h>

static atomic_bool made;

void gp_texture_made(void)
{
    atomic_store(&made, true);
}

bool gp_textures_made(void)
{
    return atomic_load(&made);
}
