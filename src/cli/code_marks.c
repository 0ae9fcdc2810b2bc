#include "cli/code_marks.h"

#include "base/sha256.h"
#include "code/instruction.h"
#include "code/operations.h"

#include <stdio.h>
#include <stdlib.h>

/* False when out of memory. */
static bool mark_code(const void *code, size_t size, struct gp_code_mark *mark)
{
    char hash[GP_SHA256_TEXT];
    uint16_t *operations = malloc((size / GP_INSTRUCTION_BYTES + 1) * sizeof(*operations));
    if (!operations)
        return false;
    gp_sha256_text(code, size, hash);
    snprintf(mark->hash, sizeof(mark->hash), "%.*s", GP_CODE_HASH - 1, hash);
    gp_sketch_make(operations, gp_operations_of(code, size, operations), &mark->sketch);
    free(operations);
    return true;
}

void cli_visit_code_marks(const struct gp_sources *sources,
                          void (*take)(void *user, const char *kernel,
                                       const struct gp_code_mark *mark),
                          void *user)
{
    for (size_t i = 0; i < gp_sources_count(sources); i++) {
        const struct gp_lines *lines = gp_sources_at(sources, i);
        struct gp_code_mark mark;
        size_t size;
        const void *code = gp_lines_code(lines, lines->source.kernel, &size);
        if (code && mark_code(code, size, &mark))
            take(user, lines->source.kernel, &mark);
    }
}
