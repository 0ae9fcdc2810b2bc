#include "report/layout.h"
#include "report/names.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A head is shown with at least so many letters. */
#define LEAST_HEAD 10
/* How often names that have become the same are parted by where they differ. */
#define ROUNDS 4

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Without the marks of arguments that are left out. */
static void drop_marks(char *name)
{
    static const char *const marks[] = {"<.., ", ", .., ", ", ..>"};
    static const char *const instead[] = {"<", ", ", ">"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        for (char *at = name; (at = strstr(at, marks[i]));) {
            size_t kept = strlen(instead[i]);
            memcpy(at, instead[i], kept);
            memmove(at + kept, at + strlen(marks[i]), strlen(at + strlen(marks[i])) + 1);
        }
    }
}

/* "Mul" of "MulFunctor" among the arguments: all operations are functors. */
static void drop_functor(char *name)
{
    static const char word[] = "Functor";
    for (char *at = strchr(name, '<'); at && (at = strstr(at, word));) {
        if (isalnum((unsigned char)at[-1]))
            memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
        else
            at += strlen(word);
    }
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
                      size_t width)
{
    size_t prefix = SIZE_MAX;
    char *same = strdup(shown[first]);
    if (!same)
        return false;
    for (size_t i = first + 1; i < count; i++)
        if (strcmp(shown[i], same) == 0 && strcmp(names[i], names[first]) != 0)
            prefix = least(prefix, common_prefix(names[i], names[first]));
    for (size_t i = first; i < count && prefix != SIZE_MAX; i++)
        if (strcmp(shown[i], same) == 0)
            show_from(names[i], prefix, width, shown[i]);
    free(same);
    return prefix != SIZE_MAX;
}

/* The last resort: different names that are shown as one get a number at their end. */
static void number_the_rest(char *const *names, char *const *shown, size_t count, size_t width)
{
    for (size_t i = 1; i < count; i++) {
        size_t length = strlen(shown[i]), number = 1, k = 0;
        while (k < i) {
            bool is_same = strcmp(names[k], names[i]) == 0;
            if (is_same)
                strcpy(shown[i], shown[k]);
            if (is_same || strcmp(shown[k], shown[i]) != 0) {
                k = is_same ? i : k + 1;
                continue;
            }
            char tail[24];
            int size = snprintf(tail, sizeof(tail), "#%zu", ++number);
            if ((size_t)size > width)
                break;
            size_t at = least(length, width - (size_t)size);
            while (at > 0 && is_inside_letter(shown[i][at]))
                at--;
            memcpy(shown[i] + at, tail, (size_t)size + 1);
            k = 0;
        }
    }
}

static char *shorten(const char *name, size_t width)
{
    char *out = calloc(1, width + 1), *own = strdup(name);
    if (out && own) {
        if (strlen(own) > width)
            drop_marks(own);
        if (strlen(own) > width)
            drop_functor(own);
        fit(own, width, out);
    } else {
        free(out);
        out = NULL;
    }
    free(own);
    return out;
}

bool gp_names_fit(char **names, size_t count, size_t width)
{
    char **shown = calloc(count + 1, sizeof(*shown));
    bool failed = !shown, again = true;
    for (size_t i = 0; i < count && !failed; i++) {
        shown[i] = shorten(names[i], width);
        failed = !shown[i];
    }
    for (int round = 0; round < ROUNDS && again && !failed; round++) {
        again = false;
        for (size_t i = 0; i < count; i++)
            again = part_from(names, shown, count, i, width) || again;
    }
    if (!failed)
        number_the_rest(names, shown, count, width);
    for (size_t i = 0; shown && i < count; i++) {
        char *freed = failed ? shown[i] : names[i];
        if (!failed)
            names[i] = shown[i];
        free(freed);
    }
    free(shown);
    return !failed;
}
