#include "code/ptx.h"

#include "base/hash.h"
#include "code/printing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

const char *gp_ptx_skip_blank(const char *p, const char *end)
{
    while (p < end) {
        if (isspace((unsigned char)*p)) {
            p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            p += 2;
            while (end - p >= 2 && !(p[0] == '*' && p[1] == '/'))
                p++;
            p = end - p >= 2 ? p + 2 : end;
        } else {
            break;
        }
    }
    return p;
}

/* Skips a (...), [...] or {...} with all that is nested in it, and a "string" whole. */
static const char *skip_bracket(const char *p, const char *end)
{
    int depth = 0;
    do {
        p = gp_ptx_skip_blank(p, end);
        if (p >= end)
            break;
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                ;
        } else if (strchr("([{", *p)) {
            depth++;
        } else if (strchr(")]}", *p)) {
            depth--;
        }
        p++;
    } while (p < end && depth > 0);
    return p < end ? p : end;
}

struct word {
    const char *at;
    size_t length;
};

static struct word word_at(const char *p, const char *end)
{
    struct word word = {.at = p};
    while (p + word.length < end && is_name_char(p[word.length]))
        word.length++;
    return word;
}

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

struct visitor {
    void (*variable)(const char *name, size_t length, void *data);
    void (*function)(struct word name, const char *body, const char *end, void *data);
    void *data;
};

/* Module-scope PTX is statements: directives and names up to a `;` or a `{...}` body. A variable is
 * a statement with .global or .const in it; its name is the last word before `[`, `=`, `,` or `;`.
 * A function's name is the first word behind .entry or .func; its own variables are in the module's
 * scope.
 */
static void read_statements(const struct visitor *v, const char *p, const char *end)
{
    bool is_variable = false, is_function = false, in_value = false;
    struct word last = {.at = NULL}, function = {.at = NULL};
    for (p = gp_ptx_skip_blank(p, end); p < end; p = gp_ptx_skip_blank(p, end)) {
        if (is_name_char(*p)) {
            const struct word word = word_at(p, end);
            p += word.length;
            if (is(word, ".global") || is(word, ".const"))
                is_variable = true;
            else if (is(word, ".entry") || is(word, ".func"))
                is_function = true;
            else if (*word.at != '.' && is_function && !function.at)
                function = word;
            else if (*word.at != '.' && !in_value)
                last = word;
            continue;
        }
        if (is_variable && !is_function && !in_value && last.at && strchr("[=,;", *p)) {
            if (v->variable)
                v->variable(last.at, last.length, v->data);
            last.at = NULL;
        }
        if (*p == '=')
            in_value = true;
        else if (*p == ',')
            in_value = false; /* the next name of the same statement */
        if (*p == ';') {
            is_variable = is_function = in_value = false;
            last.at = function.at = NULL;
            p++;
        } else if (*p == '{' && !in_value) {
            const char *body = p;
            p = skip_bracket(p, end);
            if (v->function && function.at)
                v->function(function, body, p, v->data);
            is_variable = is_function = false;
            last.at = function.at = NULL;
        } else if (strchr("([{\"", *p)) {
            p = skip_bracket(p, end);
        } else {
            p++;
        }
    }
}

void gp_ptx_variables(const char *p, const char *end,
                      void (*visit)(const char *name, size_t length, void *data), void *data)
{
    read_statements(&(struct visitor){.variable = visit, .data = data}, p, end);
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct function {
    UT_hash_handle hh;
    struct word name;
    const char *body, *end;
    uint32_t number;
};

/* A question on functions: the words of a body, and the called functions without a body, that make
 * the answer yes. A pointer may lead to any function. */
struct question {
    bool (*word)(struct word); /* NULL: none */
    bool (*call)(struct word);
};

struct program {
    const struct question *question;
    struct function *functions; /* by name */
    uint32_t count;
    struct gp_call *calls;
    size_t call_count, capacity;
    bool *marks;
    bool failed; /* out of memory */
};

static void note_function(struct word name, const char *body, const char *end, void *data)
{
    struct program *g = data;
    struct function *f;
    HASH_FIND(hh, g->functions, name.at, name.length, f);
    if (f)
        return; /* PTX of that kind is not accepted by the driver */
    f = calloc(1, sizeof(*f));
    if (f) {
        *f = (struct function){.name = name, .body = body, .end = end, .number = g->count};
        HASH_ADD_KEYPTR(hh, g->functions, f->name.at, f->name.length, f);
    }
    if (!f || !f->hh.tbl) {
        free(f);
        g->failed = true;
        return;
    }
    g->count++;
}

static void add_call(struct program *g, uint32_t caller, uint32_t callee)
{
    if (g->call_count == g->capacity) {
        size_t capacity = 2 * g->capacity + 64;
        struct gp_call *calls = realloc(g->calls, capacity * sizeof(*calls));
        if (!calls) {
            g->failed = true;
            return;
        }
        g->calls = calls;
        g->capacity = capacity;
    }
    g->calls[g->call_count++] = (struct gp_call){.caller = caller, .callee = callee};
}

/* The target of `call.uni (r), target, (p), ...;` is a name, or a register with an address. */
static void note_call(struct program *g, const struct function *caller, struct word target)
{
    const struct function *callee = NULL;
    if (target.length && *target.at != '%')
        HASH_FIND(hh, g->functions, target.at, target.length, callee);
    if (callee)
        add_call(g, caller->number, callee->number);
    else if (!target.length || *target.at == '%' || g->question->call(target))
        g->marks[caller->number] = true;
}

static void read_body(struct program *g, const struct function *f)
{
    const char *p = f->body, *end = f->end;
    for (p = gp_ptx_skip_blank(p, end); p < end; p = gp_ptx_skip_blank(p, end)) {
        if (*p == '"') {
            p = skip_bracket(p, end);
            continue;
        }
        const struct word word = word_at(p, end);
        p += word.length ? word.length : 1;
        if (g->question->word && g->question->word(word))
            g->marks[f->number] = true;
        if (!is(word, "call") && !is(word, "call.uni"))
            continue;
        p = gp_ptx_skip_blank(p, end);
        if (p < end && *p == '(')
            p = gp_ptx_skip_blank(skip_bracket(p, end), end);
        if (p < end && *p == ',')
            p = gp_ptx_skip_blank(p + 1, end);
        note_call(g, f, word_at(p, end));
    }
}

/* Calls visit for each function with the answer. False where that is not to be had. */
static bool ask(const struct question *question, const char *text, const char *end,
                gp_ptx_answer *visit, void *data)
{
    struct program g = {.question = question};
    struct function *f, *next;
    read_statements(&(struct visitor){.function = note_function, .data = &g}, text, end);
    g.marks = calloc(g.count + 1, sizeof(*g.marks));
    g.failed = g.failed || !g.marks;
    for (f = g.functions; f && !g.failed; f = f->hh.next)
        read_body(&g, f);
    bool known = !g.failed && gp_mark_callers(g.calls, g.call_count, g.marks);
    HASH_ITER(hh, g.functions, f, next)
    {
        if (known)
            visit(f->name.at, f->name.length, g.marks[f->number], data);
        HASH_DEL(g.functions, f);
        free(f);
    }
    free(g.calls);
    free(g.marks);
    return known;
}

/* ---- functions that print -------------------------------------------------------------------- */

struct printing {
    gp_printing_visit *visit;
    void *data;
};

static bool is_printing(struct word call)
{
    return is(call, GP_PRINTS);
}

static void visit_printing(const char *name, size_t length, bool prints, void *printing)
{
    const struct printing *p = printing;
    if (prints)
        p->visit(name, length, p->data);
}

bool gp_ptx_printing(const char *text, const char *end, gp_printing_visit *visit, void *data)
{
    static const struct question prints = {.call = is_printing};
    struct printing p = {visit, data};
    return ask(&prints, text, end, visit_printing, &p);
}

/* ---- functions that may wait ----------------------------------------------------------------- */

/* Whether one of the texts is a part of the word between dots; the first part is its `base`. */
static bool has_part(struct word word, const char *const *texts)
{
    for (const char *at = word.at, *end = word.at + word.length; at < end;) {
        struct word part = {.at = at};
        while (at < end && *at != '.')
            at++;
        part.length = (size_t)(at - part.at);
        for (size_t i = 0; texts[i]; i++)
            if (is(part, texts[i]))
                return true;
        at++;
    }
    return false;
}

static struct word base_of(struct word word)
{
    const char *dot = memchr(word.at, '.', word.length);
    return (struct word){word.at, dot ? (size_t)(dot - word.at) : word.length};
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A fence for the block shows nothing of others, nor does one that orders copies by themselves. */
static bool is_wide_fence(struct word word)
{
    return !has_part(word, PARTS("cta")) &&
           !(has_part(word, PARTS("proxy")) && has_part(word, PARTS("async")));
}

/* The rules are those of code/waits.c. That nobody uses the answer of an atomic operation is not
 * asked. Registers, labels and directives begin with another letter. */
static bool shows_changes(struct word word)
{
    const struct word base = base_of(word);
    if (base.length == 0 || strchr("%$.", *word.at) || has_part(word, PARTS("shared", "local")) ||
        has_part(base, PARTS("st", "red", "sust", "sured", "bar", "barrier", "mbarrier")))
        return false;
    if (has_part(base, PARTS("membar", "fence")))
        return is_wide_fence(word);
    return has_part(base, PARTS("atom", "suld", "ldu", "multimem")) ||
           has_part(word,
                    PARTS("volatile", "relaxed", "acquire", "acq_rel", "mmio", "ca", "cv", "cg"));
}

static bool is_unknown(struct word call)
{
    static const char *const drivers[] = {GP_PRINTS, "malloc", "free", "__assertfail"};
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
        if (is(call, drivers[i]))
            return false;
    return true;
}

bool gp_ptx_waits(const char *text, const char *end, gp_ptx_answer *visit, void *data)
{
    static const struct question waits = {.word = shows_changes, .call = is_unknown};
    return ask(&waits, text, end, visit, data);
}
