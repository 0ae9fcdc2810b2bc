#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 64

/* Makes room for `more` bytes and the NUL behind them. */
static bool reserve(struct gp_text *t, size_t more)
{
    if (t->failed)
        return false;
    if (more < t->capacity - t->length)
        return true;
    size_t needed, capacity = t->capacity ? t->capacity : SMALLEST;
    if (__builtin_add_overflow(t->length, more, &needed) || needed > SIZE_MAX / 2) {
        t->failed = true;
        return false;
    }
    while (capacity <= needed)
        capacity *= 2;
    char *data = realloc(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void gp_text_add_bytes(struct gp_text *t, const char *bytes, size_t length)
{
    if (!reserve(t, length))
        return;
    if (length > 0)
        memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void gp_text_add(struct gp_text *t, const char *s)
{
    gp_text_add_bytes(t, s, strlen(s));
}

void gp_text_addf(struct gp_text *t, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    char small[256];
    int n = vsnprintf(small, sizeof(small), fmt, args);
    if (n < 0)
        t->failed = true;
    else if ((size_t)n < sizeof(small))
        gp_text_add_bytes(t, small, (size_t)n);
    else if (reserve(t, (size_t)n))
        t->length += (size_t)vsnprintf(t->data + t->length, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(args);
}

void gp_text_clear(struct gp_text *t)
{
    t->length = 0;
    t->failed = false;
    if (t->data)
        t->data[0] = '\0';
}

void gp_text_free(struct gp_text *t)
{
    free(t->data);
    memset(t, 0, sizeof(*t));
}

const char *gp_text_string(const struct gp_text *t)
{
    return t->data ? t->data : "";
}
