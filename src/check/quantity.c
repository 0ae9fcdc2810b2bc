#include "check/quantity.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *of; /* the metric's unit */
    const char *name;
    double size;  /* in the metric's unit */
    bool printed; /* values are written in it */
};

/* Rows with the same metric's unit stand in ascending order. */
static const struct unit units[] = {
    {"s", "ns", 1e-9, true},
    {"s", "us", 1e-6, true},
    {"s", "ms", 1e-3, true},
    {"s", "s", 1, true},
    {"bytes", "B", 1, true},
    {"bytes", "bytes", 1, false},
    {"bytes", "kB", 1e3, true},
    {"bytes", "KiB", 1024, false},
    {"bytes", "MB", 1e6, true},
    {"bytes", "MiB", 1048576, false},
    {"bytes", "GB", 1e9, true},
    {"bytes", "GiB", 1073741824, false},
    {"bytes", "TB", 1e12, true},
    {"bytes/s", "B/s", 1, true},
    {"bytes/s", "kB/s", 1e3, true},
    {"bytes/s", "MB/s", 1e6, true},
    {"bytes/s", "MiB/s", 1048576, false},
    {"bytes/s", "GB/s", 1e9, true},
    {"bytes/s", "GiB/s", 1073741824, false},
    {"bytes/s", "TB/s", 1e12, true},
    {"flop/s", "FLOP/s", 1, true},
    {"flop/s", "kFLOP/s", 1e3, true},
    {"flop/s", "MFLOP/s", 1e6, true},
    {"flop/s", "GFLOP/s", 1e9, true},
    {"flop/s", "TFLOP/s", 1e12, true},
    {"flop/s", "PFLOP/s", 1e15, true},
    {"flop", "FLOP", 1, false},
    {"flop", "MFLOP", 1e6, false},
    {"flop", "GFLOP", 1e9, false},
    {"flop", "TFLOP", 1e12, false},
    {"%", "%", 1, true},
    {"ratio", "%", 0.01, false},
};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

/* A plain number, in any locale. Returns the text behind it, NULL where there is none or it is not
 * finite. */
static const char *parse_number(const char *text, double *value)
{
    while (isspace((unsigned char)*text))
        text++;
    if (!isdigit((unsigned char)*text) && !strchr("+-.", *text))
        return NULL;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return NULL;
    char *end;
    *value = strtod_l(text, &end, plain);
    freelocale(plain);
    return end > text && isfinite(*value) ? end : NULL;
}

static bool is_unit(const struct unit *unit, const char *text, size_t length)
{
    return strlen(unit->name) == length && strncasecmp(unit->name, text, length) == 0;
}

static void list_units(const char *of, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < UNITS && at < size; i++)
        if (strcmp(units[i].of, of) == 0)
            at += (size_t)snprintf(out + at, size - at, "%s%s", at ? ", " : "", units[i].name);
}

/* `text` follows the number. */
static bool read_unit(const char *text, const char *of, double *size, char *why, size_t why_size)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    *size = 1;
    char known[160];
    list_units(of, known, sizeof(known));
    /* 120 has no unit. And 0.9 for a percentage would always hold. */
    if (length == 0 && (strcmp(of, "s") == 0 || strcmp(of, "%") == 0)) {
        snprintf(why, why_size, "the number needs its unit: %s", known);
        return false;
    }
    if (length == 0 || (strlen(of) == length && strncmp(of, text, length) == 0))
        return true;
    for (size_t i = 0; i < UNITS; i++) {
        if (strcmp(units[i].of, of) == 0 && is_unit(&units[i], text, length)) {
            *size = units[i].size;
            return true;
        }
    }
    if (known[0])
        snprintf(why, why_size, "'%.*s' is no unit here, write one of: %s", (int)length, text,
                 known);
    else if (of[0])
        snprintf(why, why_size, "'%.*s' is no unit here, write '%s' or none", (int)length, text,
                 of);
    else
        snprintf(why, why_size, "there is no unit here, '%.*s' is too much", (int)length, text);
    return false;
}

bool gp_quantity_parse(const char *text, const char *of, double *value, char *why, size_t why_size)
{
    double number, size;
    const char *rest = parse_number(text, &number);
    if (!rest) {
        snprintf(why, why_size, "expected a number, found '%.24s'", text);
        return false;
    }
    if (!read_unit(rest, of, &size, why, why_size))
        return false;
    *value = number * size;
    return true;
}

void gp_quantity_format(double value, const char *of, char *out, size_t size)
{
    const struct unit *best = NULL;
    for (size_t i = 0; i < UNITS; i++)
        if (units[i].printed && strcmp(units[i].of, of) == 0 &&
            (!best || fabs(value) >= units[i].size * 0.99995))
            best = &units[i];
    if (best)
        snprintf(out, size, "%.5g %s", value / best->size, best->name);
    else if (value == floor(value) && fabs(value) < 1e15)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%.5g%s%s", value, of[0] && strcmp(of, "ratio") != 0 ? " " : "",
                 strcmp(of, "ratio") != 0 && strcmp(of, "count") != 0 ? of : "");
}
