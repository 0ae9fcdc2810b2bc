#include "base/demangle.h"

#include "base/text.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* The demangler needs stack in proportion to the name, and this is not our stack: a name that is
 * longer than any compiler's is left as it is. */
#define LONGEST_NAME 8192
/* A mangled name says what it says again by number: twenty letters more can double the demangled
 * one, and one that nobody could read is not worth the time and memory. */
#define LONGEST_DEMANGLED 65536

struct demangling {
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

static int demangle(struct demangling *d, const char *mangled, int options)
{
    if (setjmp(d->given_up) != 0)
        return 0;
    return cplus_demangle_v3_callback(mangled, options, add_part, d);
}

char *gp_demangle(const char *mangled, enum gp_name which)
{
    int options = which == GP_NAME_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_ANSI;
    struct demangling d = {.text = {0}};
    if (strlen(mangled) <= LONGEST_NAME && demangle(&d, mangled, options) && d.text.length > 0)
        return d.text.data;
    gp_text_free(&d.text);
    return strdup(mangled);
}
