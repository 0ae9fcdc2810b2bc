/* Module images: cubin, fatbin, PTX; the names and the machine code in them. */
#include "code/image.h"
#include "code/module_code.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Reads every letter, so that a name outside the image is noticed. */
static void read_name(const char *name, size_t length, void *data)
{
    unsigned *sum = data;
    for (size_t i = 0; i < length; i++)
        *sum += (unsigned char)name[i];
}

static void read_variable(const char *name, size_t length, const struct gp_position *position,
                          void *data)
{
    *(unsigned *)data += position->alone + position->part + position->section +
                         (unsigned)(position->offset + position->bytes);
    read_name(name, length, data);
}

static void read_answer(const char *name, size_t length, bool may_wait, void *data)
{
    read_name(name, length, data);
    *(unsigned *)data += may_wait;
}

static void read_at(const void *image, size_t size, int cc)
{
    volatile unsigned seen;
    unsigned sum = 0;
    static const struct gp_image_visitor visitor = {read_variable, read_name, read_answer};
    const char *runs_once = NULL;
    const char *why = NULL;
    if (!gp_image_read(NULL, image, size, cc, &visitor, &sum, &runs_once, &why) && !why)
        abort(); /* refused without a reason */
    seen = sum + (runs_once != NULL);
    (void)seen;
}

/* Reads every byte, so that one outside the image is noticed. */
static void read_bytes(const void *bytes, size_t size)
{
    volatile unsigned seen;
    unsigned sum = 0;
    const unsigned char *at = bytes;
    for (size_t i = 0; at && i < size; i++)
        sum += at[i];
    seen = sum;
    (void)seen;
}

/* Finds the code of a kernel, of a function called k, which the seeds have, and of one without a
 * name. The answer must not depend on the cubins that are kept of earlier questions. */
static void find_code(const void *image, size_t size, int cc)
{
    static const char *const functions[] = {"_Z1kPi", "k", ""};
    static const struct gp_image_visitor visitor = {read_variable, read_name, read_answer};
    const char *runs_once = NULL, *why = NULL;
    unsigned sum = 0;
    struct gp_code *code = gp_code_keep(image, size, false);
    bool read = gp_code_read(code, image, size, cc, &visitor, &sum, &runs_once, &why);
    if (read != !why)
        abort();
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
        size_t length = 0, same_length = 0, slim_size = 0;
        struct gp_code *alone = gp_code_keep(image, size, false);
        const void *bytes = gp_code_find(code, functions[f], cc, &length, &why);
        if (!bytes != !!why)
            abort();
        const void *same = gp_code_find(alone, functions[f], cc, &same_length, &why);
        if (!bytes != !same || (bytes && (length != same_length || memcmp(bytes, same, length))))
            abort();
        read_bytes(bytes, length);
        gp_code_drop(alone);
        void *slim = gp_code_slim(code, functions[f], cc, 1 << 20, &slim_size);
        read_bytes(slim, slim_size);
        free(slim);
        bool may = gp_code_may_call(code, functions[f], cc);
        if (may != gp_code_may_call(code, functions[f], cc))
            abort();
    }
    gp_code_drop(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0; /* a size of 0 means that the image is to be believed */
    /* Once aligned, once not: tables are copied then. Nothing lies behind either copy. */
    for (size_t shift = 0; shift < 2; shift++) {
        char *copy = malloc(shift + size);
        if (!copy)
            return 0;
        memcpy(copy + shift, bytes, size);
        read_at(copy + shift, size, 90);
        read_at(copy + shift, size, 75);
        find_code(copy + shift, size, 90);
        find_code(copy + shift, size, 75);
        free(copy);
    }
    return 0;
}
