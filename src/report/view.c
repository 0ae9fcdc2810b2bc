#include "report/view.h"

#include <stdio.h>
#include <string.h>

const char *gp_view_unit(const char *name, size_t length)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i]) == length && strncmp(units[i], name, length) == 0)
            return units[i];
    return NULL;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

static bool take_word(const char *text, size_t length, struct gp_view *view)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"report", &view->report},  {"times", &view->times}, {"metrics", &view->metrics},
                 {"events", &view->events},  {"trace", &view->trace}, {"csv", &view->csv},
                 {"mangled", &view->mangled}};
    static const char unit[] = "unit=";
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (is_word(text, length, flags[i].word)) {
            *flags[i].flag = true;
            return true;
        }
    }
    if (length < sizeof(unit) - 1 || strncmp(text, unit, sizeof(unit) - 1) != 0)
        return false;
    view->unit = gp_view_unit(text + sizeof(unit) - 1, length - (sizeof(unit) - 1));
    return view->unit != NULL;
}

bool gp_view_parse(const char *text, struct gp_view *view, char *why, size_t why_size)
{
    *view = (struct gp_view){0};
    while (text && *text) {
        size_t length = strcspn(text, ",");
        if (!take_word(text, length, view)) {
            snprintf(why, why_size, "'%.*s' is none of " GP_VIEW_SYNTAX, (int)length, text);
            return false;
        }
        text += length + (text[length] == ',');
    }
    view->metrics = view->metrics || view->events;
    if (!view->times && !view->metrics && !view->trace)
        view->report = true;
    return true;
}
