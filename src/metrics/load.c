#include "metrics/load.h"

#include "base/inifiles.h"
#include "metrics/shipped.h"

void gp_load_text(struct gp_loading *l, const char *file, const char *text, size_t length)
{
    gp_definitions_read(file, text, length, gp_definition_compile, l, l->problems);
}

static void take(void *loading, const char *file, const char *text, size_t length)
{
    gp_load_text(loading, file, text, length);
}

void gp_load_shipped(struct gp_loading *l)
{
    gp_ini_shipped(gp_shipped_definitions, gp_shipped_definitions_end, take, l);
}

void gp_load_users_files(struct gp_loading *l)
{
    gp_ini_users(NULL, take, l, l->problems);
}
