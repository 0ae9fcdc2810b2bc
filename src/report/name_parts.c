#include "report/name_parts.h"

#include <ctype.h>
#include <string.h>

/* A wrapper in a wrapper, and so on: no more than that is opened. */
#define MOST_WRAPPERS 12

static bool opens(char c)
{
    return c == '<' || c == '(' || c == '[' || c == '{';
}

static bool closes(char c)
{
    return c == '>' || c == ')' || c == ']' || c == '}';
}

static void trim(struct gp_span *s)
{
    while (s->begin < s->end && isspace((unsigned char)*s->begin))
        s->begin++;
    while (s->end > s->begin && isspace((unsigned char)s->end[-1]))
        s->end--;
}

static bool begins_with(struct gp_span s, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(s.end - s.begin) >= length && memcmp(s.begin, text, length) == 0;
}

bool gp_span_same(struct gp_span a, struct gp_span b)
{
    return a.end - a.begin == b.end - b.begin &&
           memcmp(a.begin, b.begin, (size_t)(a.end - a.begin)) == 0;
}

/* Lambdas, call operators and unnamed namespaces have no name of their own. */
static bool is_unnamed(struct gp_span component)
{
    return component.begin == component.end || *component.begin == '{' || *component.begin == '(' ||
           begins_with(component, "operator()");
}

/* The last component between "::" outside of brackets that has a name; all where none has. */
static struct gp_span named_component(struct gp_span all)
{
    struct gp_span found = all, component = {all.begin, all.begin};
    int depth = 0;
    for (const char *p = all.begin; p <= all.end; p++) {
        bool at_end = p == all.end;
        if (!at_end)
            depth += opens(*p) - (depth > 0 && closes(*p));
        bool ends = at_end || (depth == 0 && p[0] == ':' && p + 1 < all.end && p[1] == ':');
        if (!ends)
            continue;
        component.end = p;
        if (!is_unnamed(component))
            found = component;
        component.begin = p + 2;
        p += !at_end;
    }
    if (begins_with(found, "void "))
        found.begin += strlen("void ");
    return found;
}

/* Splits the text between the brackets that open at `open`; returns the text behind them. */
static const char *split(struct gp_name_part *part, const char *open)
{
    int depth = 0;
    struct gp_span argument = {open + 1, open + 1};
    for (const char *p = open; p < part->all.end; p++) {
        bool ends = false;
        if (opens(*p))
            depth++;
        else if (closes(*p))
            ends = --depth == 0;
        if (!ends && !(*p == ',' && depth == 1))
            continue;
        argument.end = p;
        trim(&argument);
        if (part->argument_count < GP_NAME_MOST_ARGUMENTS && argument.end > argument.begin)
            part->arguments[part->argument_count++] = argument;
        argument.begin = p + 1;
        if (ends)
            return p + 1;
    }
    return part->all.end;
}

void gp_name_take_apart(struct gp_name_part *part, struct gp_span name)
{
    part->all = name;
    part->argument_count = 0;
    trim(&part->all);
    part->head = named_component(part->all);
    /* An enumerator, "(space::mode)2": the number. */
    const char *number = part->all.end;
    while (number > part->all.begin && isdigit((unsigned char)number[-1]))
        number--;
    if (number > part->all.begin && number < part->all.end && number[-1] == ')' &&
        *part->all.begin == '(') {
        part->head = (struct gp_span){number, part->all.end};
        part->rest = (struct gp_span){part->all.end, part->all.end};
        return;
    }
    const char *end = part->head.begin;
    while (end < part->head.end && *end != '<' && *end != '(')
        end++;
    /* "operator<", or a text that is no name. */
    if (end == part->head.begin)
        end = part->head.end;
    const char *behind = end;
    if (end < part->head.end && *end == '<')
        behind = split(part, end);
    part->head.end = end;
    part->rest = (struct gp_span){behind, part->all.end};
}

/* Templates of data: their arguments are types, no operations. */
static bool is_data(struct gp_span head)
{
    static const char *const data[] = {
        "array", "Array", "complex", "tuple", "pair", "vector", "vec", "Vec", "integral_constant"};
    for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
        if (gp_span_same(head, (struct gp_span){data[i], data[i] + strlen(data[i])}))
            return true;
    return false;
}

static bool has_bracket(struct gp_span s)
{
    for (const char *p = s.begin; p < s.end; p++)
        if (*p == '<' || *p == '{' || *p == '(')
            return true;
    return false;
}

int gp_name_weight(struct gp_span argument)
{
    struct gp_name_part part;
    if (argument.begin == argument.end || isdigit((unsigned char)*argument.begin) ||
        *argument.begin == '-' || *argument.begin == '(')
        return 0;
    gp_name_take_apart(&part, argument);
    if (is_data(part.head))
        return 0;
    return has_bracket(argument) ? 2 : 1;
}

struct gp_span gp_name_operation(struct gp_span name)
{
    for (int depth = 0; depth < MOST_WRAPPERS; depth++) {
        struct gp_name_part part;
        size_t operations = 0;
        gp_name_take_apart(&part, name);
        for (size_t a = 0; a < part.argument_count; a++) {
            if (gp_name_weight(part.arguments[a]) < 2)
                continue;
            name = operations++ == 0 ? part.arguments[a] : name;
        }
        if (operations != 1)
            return part.all;
    }
    return name;
}
