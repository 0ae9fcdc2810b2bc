#include "base/demangle.h"

#include "base/cancel.h"
#include "base/escape.h"
#include "base/stack.h"
#include "base/text.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* A name that is longer than any compiler's is left as it is. */
#define LONGEST_NAME 8192
/* The demangler needs stack in proportion to the name: at most 430 bytes a letter were seen, where
 * 1000 letters are pointers. Its own limit is a name of 1024 letters. */
#define STACK_PER_LETTER 800
/* A mangled name repeats a part by its number: twenty letters more can double the demangled one,
 * and a name too long to read is not worth the time and memory. */
#define LONGEST_DEMANGLED 65536

_Static_assert(LONGEST_NAME *STACK_PER_LETTER < GP_STACK_BYTES, "the longest name has a stack");

struct demangling {
    const char *mangled;
    int options;
    bool done;
    struct gp_text text;
    jmp_buf given_up;
};

/* The demangler keeps nothing but stack while it prints, so it may be left from here. */
static void add_part(const char *part, size_t length, void *user)
{
    struct demangling *d = user;
    if (length > LONGEST_DEMANGLED - d->text.length)
        longjmp(d->given_up, 1);
    gp_text_add_bytes(&d->text, part, length);
    if (d->text.failed)
        longjmp(d->given_up, 1);
}

static void demangle(void *user)
{
    struct demangling *d = user;
    if (setjmp(d->given_up) == 0)
        d->done = cplus_demangle_v3_callback(d->mangled, d->options, add_part, d);
}

static size_t stack_for(size_t length)
{
    size_t bytes = length * STACK_PER_LETTER;
    return bytes < GP_STACK_ENOUGH ? GP_STACK_ENOUGH : bytes;
}

static char *printable(const char *name, size_t length)
{
    struct gp_text text = {0};
    if (gp_is_printable(name, length))
        return strndup(name, length);
    gp_text_add_escaped(&text, name, length);
    if (text.failed)
        gp_text_free(&text);
    return text.data;
}

char *gp_demangle(const char *mangled, enum gp_name which)
{
    int options = (which == GP_NAME_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_ANSI);
    struct demangling *d = calloc(1, sizeof(*d)); /* with room for registers: not on this stack */
    if (!d)
        return NULL;
    d->mangled = mangled;
    d->options = options | DMGL_NO_RECURSE_LIMIT;
    gp_cancel_hold();
    size_t length = strlen(mangled);
    if (length <= LONGEST_NAME)
        gp_stack_run(stack_for(length), demangle, d);
    gp_cancel_release();
    bool done = d->done && d->text.length > 0;
    char *name = done ? printable(d->text.data, d->text.length) : printable(mangled, length);
    gp_text_free(&d->text);
    free(d);
    return name;
}
