/* Cubins: the line table, looked up at every instruction, and the slim cubins of them. */
#include "code/line_table.h"
#include "code/slim.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void find(const void *cubin, size_t size, const char *function)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    volatile size_t seen;
    size_t letters = 0;
    const char *why = NULL;
    struct gp_line_table *t = gp_line_table_open(cubin, size, &why);
    if (!t && !why)
        abort(); /* refused without a reason */
    for (uint64_t at = 0; t && at < 0x200; at += 16) {
        size_t count = gp_line_table_find(t, function, at, frames, GP_MOST_FRAMES);
        if (count > GP_MOST_FRAMES)
            abort();
        /* Every letter, so that a name outside the file is noticed. */
        for (size_t i = 0; i < count; i++)
            letters += strlen(frames[i].file) + strlen(frames[i].directory) +
                       (frames[i].function ? strlen(frames[i].function) : 0);
    }
    gp_line_table_close(t);
    seen = letters;
    (void)seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const functions[] = {"_Z6secondPd", "k", ""};
    struct gp_cubin cubin;
    char *copy = malloc(size + 1); /* nothing lies behind it */
    if (!copy)
        return 0;
    memcpy(copy + 1, bytes, size);
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
        size_t slim_size;
        find(copy + 1, size, functions[f]);
        void *slim = gp_cubin_open(&cubin, copy + 1, size)
                         ? gp_cubin_slim(&cubin, functions[f], 1 << 20, &slim_size)
                         : NULL;
        if (slim)
            find(slim, slim_size, functions[f]);
        free(slim);
    }
    free(copy);
    return 0;
}
