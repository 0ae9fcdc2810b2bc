#include "report/nvprof_values.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct step {
    double size;
    const char *name;
};

static const struct step times[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
static const struct step bytes[] = {{1, "B"}, {1e3, "KB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}};

static const struct step *step_for(double value, const struct step *steps, size_t count)
{
    size_t i = 0;
    while (i + 1 < count && fabs(value) >= steps[i + 1].size * 0.999995)
        i++;
    return &steps[i];
}

/* Five digits that count. */
static void add_digits(double value, const char *unit, bool exact, char *out, size_t size)
{
    double magnitude = fabs(value);
    int decimals = exact                  ? 6
                   : magnitude >= 9999.95 ? 0
                   : magnitude >= 999.995 ? 1
                   : magnitude >= 99.9995 ? 2
                   : magnitude >= 9.99995 ? 3
                                          : 4;
    snprintf(out, size, "%.*f%s", decimals, value, unit);
}

double gp_nvprof_time_in(double seconds, const char *unit)
{
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (strcmp(unit, times[i].name) == 0)
            return seconds / times[i].size;
    return seconds;
}

void gp_nvprof_time(double seconds, const char *unit, char *out, size_t size)
{
    if (!unit)
        unit = step_for(seconds, times, sizeof(times) / sizeof(times[0]))->name;
    add_digits(gp_nvprof_time_in(seconds, unit), unit, false, out, size);
}

static bool is_count(const char *unit)
{
    return !*unit || strcmp(unit, "count") == 0 || strcmp(unit, "flop") == 0;
}

/* A level from 0 to 10, as a word and a whole number: any use at all is at least 1. */
static void add_level(double value, bool exact, char *out, size_t size)
{
    static const struct {
        int most;
        const char *word;
    } words[] = {{0, "Idle"}, {3, "Low"}, {6, "Mid"}, {9, "High"}, {10, "Max"}};
    double raised = fmin(10, fmax(0, ceil(value)));
    size_t i = 0;
    while (raised > words[i].most)
        i++;
    const char *quote = exact ? "\"" : ""; /* of CSV */
    snprintf(out, size, "%s%s (%d)%s", quote, words[i].word, (int)raised, quote);
}

void gp_nvprof_value(double value, const char *unit, bool exact, const char *time_unit, char *out,
                     size_t size)
{
    if (strcmp(unit, "level") == 0 && isfinite(value)) {
        add_level(value, exact, out, size);
    } else if (strcmp(unit, "%") == 0) {
        snprintf(out, size, exact ? "%.6f%%" : "%.2f%%", value);
    } else if (strcmp(unit, "s") == 0 && exact && time_unit) {
        snprintf(out, size, "%.6f", gp_nvprof_time_in(value, time_unit));
    } else if (strcmp(unit, "s") == 0 && exact) {
        snprintf(out, size, "%.9f", value);
    } else if (strcmp(unit, "s") == 0) {
        gp_nvprof_time(value, time_unit, out, size);
    } else if (strcmp(unit, "bytes/s") == 0) {
        const struct step *step = step_for(value, bytes, sizeof(bytes) / sizeof(bytes[0]));
        char name[8];
        snprintf(name, sizeof(name), "%s/s", step->name);
        add_digits(value / step->size, name, exact, out, size);
    } else if (strcmp(unit, "ratio") == 0) {
        snprintf(out, size, "%.6f", value);
    } else if ((is_count(unit) || strcmp(unit, "bytes") == 0) && value == floor(value) &&
               fabs(value) < 1e18) {
        snprintf(out, size, "%.0f", value);
    } else {
        snprintf(out, size, "%.6g", value);
    }
}

static const struct {
    const char *name, *title;
} titles[] = {
#define TITLE(name, title) {#name, title},
#include "report/nvprof_titles.def"
#undef TITLE
};

const char *gp_nvprof_title(const struct gp_metric *metric)
{
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        if (strcmp(titles[i].name, metric->name) == 0)
            return titles[i].title;
    return metric->description;
}

bool gp_nvprof_is_event(const struct gp_metric *metric)
{
    return strcmp(metric->metric_class, "event") == 0;
}

bool gp_nvprof_has_event(const struct gp_metric *metric)
{
    return gp_nvprof_is_event(metric) || strcmp(metric->name, "inst_executed") == 0;
}

/* Signs with which a formula begins; the wide ones as well, which some spreadsheets take for them.
 */
static bool is_formula(const char *cell)
{
    static const char *const signs[] = {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
    cell += strspn(cell, " \t\r\n\"");
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        const size_t length = strlen(signs[i]);
        if (strncmp(cell, signs[i], length) == 0)
            return cell[length] != '\0'; /* "-" is a name of standard input */
    }
    return false;
}

void gp_csv_text(const char *text, struct gp_text *out)
{
    gp_text_add(out, is_formula(text) ? "\"'" : "\"");
    for (; *text; text++) {
        if (*text == '"')
            gp_text_add(out, "\"");
        gp_text_add_bytes(out, text, 1);
    }
    gp_text_add(out, "\"");
}

void gp_csv_line(const char *text, struct gp_text *out)
{
    for (; *text; text++) {
        gp_text_add_bytes(out, text, 1);
        if (strchr(",;\t", *text) && is_formula(text + 1))
            gp_text_add(out, "'");
    }
}
