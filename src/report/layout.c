#include "report/layout.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A byte inside a letter of several bytes: no line may break before it. */
static bool is_inside_letter(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void trim(struct gp_text *out)
{
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

/* A percent sign stays with its number. */
static bool may_end_line(const char *text, size_t at)
{
    return text[at] == ' ' && text[at + 1] != '%';
}

void gp_wrap_to(struct gp_text *out, size_t width, size_t indent, const char *text)
{
    size_t column = 0;
    while (column < out->length && out->data[out->length - 1 - column] != '\n')
        column++;
    /* Not strlen: a text may be as long as a line of a profile. */
    while (strnlen(text, width + 1) + column > width) {
        size_t room = width > column ? width - column : 0;
        size_t taken = room;
        while (taken > 0 && !may_end_line(text, taken))
            taken--;
        if (taken == 0 && column <= indent) {
            taken = room > 0 ? room : 1;
            while (taken > 1 && is_inside_letter(text[taken]))
                taken--;
        }
        gp_text_add_bytes(out, text, taken);
        trim(out);
        text += taken;
        while (*text == ' ')
            text++;
        gp_text_addf(out, "\n%*s", (int)indent, "");
        column = indent;
    }
    gp_text_add(out, text);
    trim(out);
    gp_text_add(out, "\n");
}

void gp_wrap(struct gp_text *out, size_t indent, const char *text)
{
    gp_wrap_to(out, GP_COLUMNS, indent, text);
}

/* Copies a name without its "space::" parts, outside and inside of template arguments. */
static void drop_namespaces(const char *name, char *out)
{
    char *word = out; /* where the word being copied began */
    for (const char *p = name; *p;) {
        if (strncmp(p, "(anonymous namespace)::", 23) == 0) {
            p += 23;
        } else if (p[0] == ':' && p[1] == ':') {
            out = word;
            p += 2;
        } else {
            *out++ = *p;
            if (!isalnum((unsigned char)*p) && *p != '_')
                word = out;
            p++;
        }
    }
    *out = '\0';
}

/* Copies a name without the text in template arguments, from the given depth on. */
static void drop_arguments(const char *name, char *out, int from)
{
    int depth = 0;
    for (const char *p = name; *p; p++) {
        if (*p == '<' && ++depth == from)
            out = stpcpy(out, "<...>");
        if (depth < from)
            *out++ = *p;
        if (*p == '>' && depth > 0)
            depth--;
    }
    *out = '\0';
}

void gp_drop_middle(const char *name, char *out, size_t width)
{
    size_t length = strlen(name);
    if (length <= width) {
        strcpy(out, name);
        return;
    }
    if (width < 8) {
        snprintf(out, width + 1, "%s", name);
        return;
    }
    size_t front = (width - 3) / 2, back = width - 3 - front;
    while (front > 0 && is_inside_letter(name[front]))
        front--;
    while (back > 0 && is_inside_letter(name[length - back]))
        back--;
    snprintf(out, width + 1, "%.*s...%s", (int)front, name, name + length - back);
}

void gp_shorten(const char *name, char *out, size_t width)
{
    size_t length = strlen(name);
    if (length <= width) {
        strcpy(out, name);
        return;
    }
    /* "<...>" is longer than the shortest list of arguments, "<>", or than "<" at the end. */
    char *one = malloc(3 * length + 8), *two = malloc(3 * length + 8);
    if (one && two) {
        drop_namespaces(name, one);
        for (int from = 2; from >= 1 && strlen(one) > width; from--) {
            drop_arguments(one, two, from);
            strcpy(one, two);
        }
        if (strlen(one) <= width)
            strcpy(out, one);
        else
            gp_drop_middle(one, out, width);
    } else {
        gp_drop_middle(name, out, width);
    }
    free(one);
    free(two);
}

void gp_extent(const unsigned extent[3], char *out, size_t size)
{
    if (extent[2] > 1)
        snprintf(out, size, "%ux%ux%u", extent[0], extent[1], extent[2]);
    else if (extent[1] > 1)
        snprintf(out, size, "%ux%u", extent[0], extent[1]);
    else
        snprintf(out, size, "%u", extent[0]);
}
