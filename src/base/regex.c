#include "base/regex.h"

#include "base/cancel.h"
#include "base/stack.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 1000 /* letters */
#define MOST_NESTED 50
#define MOST_MEMORY_KB 4096
#define MOST_STEPS 1000000 /* some 20 ms */

struct gp_regex {
    pcre2_code *code;
    pcre2_match_data *match; /* that of the whole: nothing is captured */
    pcre2_match_context *limits;
    unsigned long steps;
};

/* Called before each item of the expression is tried. */
static int count_step(pcre2_callout_block *unused, void *user)
{
    struct gp_regex *regex = user;
    (void)unused;
    return ++regex->steps > MOST_STEPS ? PCRE2_ERROR_MATCHLIMIT : 0;
}

/* ---- compiling and matching, on a stack that has room for them ------------------------
 */

struct compiling {
    const char *text;
    int error;
    size_t offset;
    pcre2_code *code;
};

static void compile(void *user)
{
    struct compiling *c = user;
    pcre2_compile_context *limits = pcre2_compile_context_create(NULL);
    if (!limits)
        return;
    pcre2_set_parens_nest_limit(limits, MOST_NESTED);
    c->code = pcre2_compile((PCRE2_SPTR)c->text, PCRE2_ZERO_TERMINATED,
                            PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C |
                                PCRE2_AUTO_CALLOUT,
                            &c->error, &c->offset, limits);
    pcre2_compile_context_free(limits);
}

struct matching {
    struct gp_regex *regex;
    const char *subject;
    int result;
};

static void match(void *user)
{
    struct matching *m = user;
    const struct gp_regex *r = m->regex;
    m->result = pcre2_match(r->code, (PCRE2_SPTR)m->subject, PCRE2_ZERO_TERMINATED, 0, 0, r->match,
                            r->limits);
}

/* ---- */

static bool prepare(struct gp_regex *r, pcre2_code *code)
{
    r->code = code;
    r->match = pcre2_match_data_create(1, NULL);
    r->limits = pcre2_match_context_create(NULL);
    if (!r->match || !r->limits)
        return false;
    pcre2_set_heap_limit(r->limits, MOST_MEMORY_KB);
    pcre2_set_match_limit(r->limits, MOST_STEPS);
    pcre2_set_callout(r->limits, count_step, r);
    return true;
}

static void explain(const struct compiling *c, char *why, size_t why_size)
{
    PCRE2_UCHAR text[128];
    if (c->error <= 0 || pcre2_get_error_message(c->error, text, sizeof(text)) < 0)
        snprintf(why, why_size, "out of memory");
    else
        snprintf(why, why_size, "%s at letter %zu", (const char *)text, c->offset + 1);
}

struct gp_regex *gp_regex_new(const char *text, char *why, size_t why_size)
{
    struct compiling c = {.text = text};
    if (strlen(text) > LONGEST) {
        snprintf(why, why_size, "longer than %d letters", LONGEST);
        return NULL;
    }
    gp_cancel_hold();
    gp_stack_run(GP_STACK_ENOUGH, compile, &c);
    gp_cancel_release();
    if (!c.code) {
        explain(&c, why, why_size);
        return NULL;
    }
    struct gp_regex *regex = calloc(1, sizeof(*regex));
    if (regex && prepare(regex, c.code))
        return regex;
    snprintf(why, why_size, "out of memory");
    if (regex)
        gp_regex_free(regex);
    else
        pcre2_code_free(c.code);
    return NULL;
}

void gp_regex_free(struct gp_regex *regex)
{
    if (!regex)
        return;
    pcre2_match_context_free(regex->limits);
    pcre2_match_data_free(regex->match);
    pcre2_code_free(regex->code);
    free(regex);
}

bool gp_regex_matches(struct gp_regex *regex, const char *subject, bool *too_hard)
{
    struct matching m = {.regex = regex, .subject = subject, .result = PCRE2_ERROR_NOMEMORY};
    regex->steps = 0;
    gp_cancel_hold();
    gp_stack_run(GP_STACK_ENOUGH, match, &m);
    gp_cancel_release();
    if (m.result < 0 && m.result != PCRE2_ERROR_NOMATCH)
        *too_hard = true;
    return m.result >= 0;
}
