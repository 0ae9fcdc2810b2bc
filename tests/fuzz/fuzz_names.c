/* Kernel names: demangled, shortened to a column, broken into lines. */
#include "base/demangle.h"
#include "report/layout.h"
#include "report/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void lay_out(const char *name)
{
    static const size_t widths[] = {0, 7, 8, 20, 60, GP_COLUMNS};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        char *out = malloc(widths[i] + 1);
        if (!out)
            return;
        gp_shorten(name, out, widths[i]);
        if (strlen(out) > widths[i])
            abort();
        free(out);
    }
    struct gp_text text = {0};
    gp_text_add(&text, "   ");
    gp_wrap(&text, 3, name);
    size_t column = 0;
    for (size_t i = 0; i < text.length; i++) {
        column = text.data[i] == '\n' ? 0 : column + 1;
        if (column > GP_COLUMNS)
            abort();
    }
    gp_text_free(&text);
}

/* The name in three forms side by side, as rows of a table. */
static void fit(const char *name, const char *full, const char *brief)
{
    static const size_t widths[] = {0, 3, 4, 12, 30, GP_COLUMNS};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        char *names[] = {strdup(name), strdup(full), strdup(brief)};
        if (!names[0] || !names[1] || !names[2] || !gp_names_fit(names, 3, widths[i]))
            abort();
        for (size_t k = 0; k < 3; k++) {
            if (strlen(names[k]) > widths[i])
                abort();
            free(names[k]);
        }
    }
}

/* As three kernels of a report, which must have different names. */
static void compare(const char *name, const char *full, const char *brief)
{
    const struct gp_kernel_spelling kernels[] = {
        {"a", full, brief}, {"b", brief, brief}, {"c", name, name}};
    char *names[3];
    if (!gp_names_distinct(kernels, 3, names) || strcmp(names[0], names[1]) == 0 ||
        strcmp(names[0], names[2]) == 0 || strcmp(names[1], names[2]) == 0)
        abort();
    for (size_t k = 0; k < 3; k++)
        free(names[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *name = malloc(size + 1);
    if (!name)
        return 0;
    memcpy(name, bytes, size);
    name[size] = '\0';
    char *full = gp_demangle(name, GP_NAME_FULL), *brief = gp_demangle(name, GP_NAME_BRIEF);
    if (!full || !brief)
        abort();
    lay_out(name);
    lay_out(full);
    lay_out(brief);
    fit(name, full, brief);
    compare(name, full, brief);
    free(full);
    free(brief);
    free(name);
    return 0;
}
