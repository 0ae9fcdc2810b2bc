#include "report/names.h"

#include "base/text.h"
#include "report/layout.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

/* Splits the text between the brackets that open at `open`; returns the text behind them. */
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

/* Texts, of which `mine` is one: the part of it that the others do not have. */
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

bool gp_names_distinct(const char *const *names, size_t count, char **out)
{
    struct group all = {.begins = calloc(count + 1, sizeof(char *)),
                        .ends = calloc(count + 1, sizeof(char *)),
                        .count = count};
    bool answer = all.begins && all.ends;
    for (size_t i = 0; i < count; i++)
        out[i] = NULL;
    for (size_t i = 0; i < count && answer; i++) {
        all.begins[i] = names[i];
        all.ends[i] = names[i] + strlen(names[i]);
    }
    struct gp_text text = {0};
    for (size_t i = 0; i < count && answer; i++) {
        gp_text_clear(&text);
        show(all.begins[i], all.ends[i], &all, 0, &text);
        out[i] = text.failed ? NULL : strdup(gp_text_string(&text));
        answer = out[i] != NULL;
    }
    gp_text_free(&text);
    free(all.begins);
    free(all.ends);
    return answer;
}

/* ---- names in columns ------------------------------------------------------------------------ */

/* Of a head at least so much is shown. */
#define LEAST_HEAD 10
/* How often names that have become the same are parted by where they differ. */
#define ROUNDS 4

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void fit(const char *name, size_t width, char *out)
{
    const char *arguments = strchr(name, '<');
    size_t head = arguments ? (size_t)(arguments - name) : 0, length = strlen(name);
    if (length <= width || head == 0) {
        gp_drop_middle(name, out, width);
        return;
    }
    size_t rest = length - head, shown = least(head, LEAST_HEAD);
    if (rest + shown <= width)
        shown = width - rest;
    shown = least(least(shown, head), width);
    char *own = strndup(name, head);
    *out = '\0';
    if (own)
        gp_drop_middle(own, out, shown);
    free(own);
    gp_drop_middle(arguments, out + strlen(out), width - strlen(out));
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

static bool is_inside_letter(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* "kernel<...512, float>": the begin, and the text from a little before `at` on. */
static void show_from(const char *name, size_t at, size_t width, char *out)
{
    size_t front = least(LEAST_HEAD, width / 3), begin = at > 3 ? at - 3 : 0;
    while (begin > 0 && is_inside_letter(name[begin]))
        begin--;
    while (front > 0 && is_inside_letter(name[front]))
        front--;
    size_t room = width > front + 3 ? width - front - 3 : 0,
           end = begin + least(room, strlen(name + begin));
    while (end > begin && is_inside_letter(name[end]))
        end--;
    if (begin <= front + 3)
        gp_drop_middle(name, out, width);
    else
        snprintf(out, width + 1, "%.*s...%.*s", (int)front, name, (int)(end - begin), name + begin);
}

/* Makes names that are shown as names[first] is differ; true where there are some. */
static bool part_from(char *const *names, char *const *shown, size_t count, size_t first,
                      size_t width, bool number)
{
    size_t prefix = SIZE_MAX, different = 0;
    char *same = strdup(shown[first]);
    if (!same)
        return false;
    for (size_t i = first + 1; i < count; i++)
        if (strcmp(shown[i], same) == 0 && strcmp(names[i], names[first]) != 0)
            prefix = least(prefix, common_prefix(names[i], names[first]));
    for (size_t i = first; i < count && prefix != SIZE_MAX; i++) {
        if (strcmp(shown[i], same) != 0)
            continue;
        if (!number)
            show_from(names[i], prefix, width, shown[i]);
        else if (width >= 4 && strcmp(names[i], names[first]) != 0)
            snprintf(shown[i] + least(strlen(same), width - 4), 5, "#%zu", ++different % 1000);
    }
    free(same);
    return prefix != SIZE_MAX;
}

bool gp_names_fit(char **names, size_t count, size_t width)
{
    char **shown = calloc(count + 1, sizeof(*shown));
    bool failed = !shown, again = true;
    for (size_t i = 0; i < count && !failed; i++) {
        shown[i] = calloc(1, width + 1);
        failed = !shown[i];
        if (shown[i])
            fit(names[i], width, shown[i]);
    }
    for (int round = 0; round < ROUNDS && again && !failed; round++) {
        again = false;
        for (size_t i = 0; i < count; i++)
            again = part_from(names, shown, count, i, width, round + 1 == ROUNDS) || again;
    }
    for (size_t i = 0; shown && i < count; i++) {
        char *freed = failed ? shown[i] : names[i];
        if (!failed)
            names[i] = shown[i];
        free(freed);
    }
    free(shown);
    return !(failed);
}
