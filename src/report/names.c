#include "report/names.h"

#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Deeper template arguments are shown as they are. */
#define MOST_DEPTH 12
#define MOST_ARGUMENTS 32

/* A piece of a name: "space::head<argument, ...>rest". */
struct part {
    const char *begin, *end; /* all of it */
    const char *head, *head_end;
    const char *arguments[MOST_ARGUMENTS], *argument_ends[MOST_ARGUMENTS];
    size_t argument_count;
};

static bool opens(char c)
{
    return c == '<' || c == '(' || c == '[' || c == '{';
}

static bool closes(char c)
{
    return c == '>' || c == ')' || c == ']' || c == '}';
}

static void trim(const char **begin, const char **end)
{
    while (*begin < *end && isspace((unsigned char)**begin))
        (*begin)++;
    while (*end > *begin && isspace((unsigned char)(*end)[-1]))
        (*end)--;
}

/* Where the last "::" outside of brackets before `end` ends. */
static const char *behind_namespaces(const char *begin, const char *end)
{
    const char *head = begin;
    int depth = 0;
    for (const char *p = begin; p < end; p++) {
        depth += opens(*p) - closes(*p);
        if (depth == 0 && p[0] == ':' && p + 1 < end && p[1] == ':')
            head = p + 2;
    }
    return head;
}

/* Splits the text between the brackets that open at `open`; returns what is behind them. */
static const char *split(struct part *part, const char *open)
{
    int depth = 0;
    const char *begin = open + 1;
    for (const char *p = open; p < part->end; p++) {
        bool ends = false;
        if (opens(*p))
            depth++;
        else if (closes(*p))
            ends = --depth == 0;
        bool separates = *p == ',' && depth == 1;
        if (!ends && !separates)
            continue;
        const char *end = p;
        trim(&begin, &end);
        if (part->argument_count < MOST_ARGUMENTS && end > begin) {
            part->arguments[part->argument_count] = begin;
            part->argument_ends[part->argument_count++] = end;
        }
        begin = p + 1;
        if (ends)
            return p + 1;
    }
    return part->end;
}

static void take_apart(struct part *part, const char *begin, const char *end)
{
    *part = (struct part){.begin = begin, .end = end};
    trim(&part->begin, &part->end);
    /* The first '<' that is no operator's: "void f<int>(...)", "operator<" are rare enough. */
    const char *open = part->begin;
    int depth = 0;
    while (open < part->end && !(*open == '<' && depth == 0)) {
        depth += (*open == '(') - (*open == ')');
        open++;
    }
    part->head_end = open;
    if (open < part->end)
        split(part, open);
    part->head = behind_namespaces(part->begin, part->head_end);
    if (part->head == part->head_end)
        part->head = part->begin;
}

static bool same(const char *a, const char *a_end, const char *b, const char *b_end)
{
    return a_end - a == b_end - b && memcmp(a, b, (size_t)(a_end - a)) == 0;
}

static bool same_part(const struct part *a, const struct part *b)
{
    return same(a->begin, a->end, b->begin, b->end);
}

static bool same_head(const struct part *a, const struct part *b)
{
    return same(a->head, a->head_end, b->head, b->head_end);
}

/* Texts of which `mine` is one: what of it the others do not have. */
struct group {
    const char **begins, **ends;
    size_t count;
};

static void show(const char *mine, const char *mine_end, const struct group *others, int depth,
                 struct gp_text *out);

/* The arguments of `mine` in which it differs from the others with its head. */
static void show_arguments(const struct part *mine, const struct group *others, int depth,
                           struct gp_text *out)
{
    struct group same_argument = {.begins = calloc(others->count + 1, sizeof(char *)),
                                  .ends = calloc(others->count + 1, sizeof(char *))};
    bool left_out = false, any = false;
    if (!same_argument.begins || !same_argument.ends)
        out->failed = 1;
    for (size_t a = 0; a < mine->argument_count && !out->failed; a++) {
        bool differs = false;
        same_argument.count = 0;
        for (size_t i = 0; i < others->count; i++) {
            struct part other;
            take_apart(&other, others->begins[i], others->ends[i]);
            if (!same_head(mine, &other))
                continue;
            if (a >= other.argument_count) {
                differs = true;
                continue;
            }
            same_argument.begins[same_argument.count] = other.arguments[a];
            same_argument.ends[same_argument.count++] = other.argument_ends[a];
            differs = differs || !same(mine->arguments[a], mine->argument_ends[a],
                                       other.arguments[a], other.argument_ends[a]);
        }
        if (!differs) {
            left_out = true;
            continue;
        }
        gp_text_add(out, any ? ", " : "<");
        if (left_out)
            gp_text_add(out, ".., ");
        left_out = false;
        any = true;
        show(mine->arguments[a], mine->argument_ends[a], &same_argument, depth + 1, out);
    }
    if (any)
        gp_text_add(out, left_out ? ", ..>" : ">");
    free(same_argument.begins);
    free(same_argument.ends);
}

static void show(const char *mine, const char *mine_end, const struct group *others, int depth,
                 struct gp_text *out)
{
    struct part part;
    take_apart(&part, mine, mine_end);
    gp_text_add_bytes(out, part.head, (size_t)(part.head_end - part.head));
    if (depth > MOST_DEPTH)
        return;
    for (size_t i = 0; i < others->count; i++) {
        struct part other;
        take_apart(&other, others->begins[i], others->ends[i]);
        if (same_head(&part, &other) && !same_part(&part, &other)) {
            show_arguments(&part, others, depth, out);
            return;
        }
    }
}

int gp_names_distinct(const char *const *names, size_t count, char **out)
{
    struct group all = {.begins = calloc(count + 1, sizeof(char *)),
                        .ends = calloc(count + 1, sizeof(char *)),
                        .count = count};
    int answer = all.begins && all.ends ? 0 : -1;
    for (size_t i = 0; i < count; i++)
        out[i] = NULL;
    for (size_t i = 0; i < count && answer == 0; i++) {
        all.begins[i] = names[i];
        all.ends[i] = names[i] + strlen(names[i]);
    }
    struct gp_text text = {0};
    for (size_t i = 0; i < count && answer == 0; i++) {
        gp_text_clear(&text);
        show(all.begins[i], all.ends[i], &all, 0, &text);
        out[i] = text.failed ? NULL : strdup(gp_text_string(&text));
        answer = out[i] ? 0 : -1;
    }
    gp_text_free(&text);
    free(all.begins);
    free(all.ends);
    return answer;
}
