#include "base/duration.h"

#include "base/launch_choice.h"

#include <stddef.h>
#include <string.h>

#define MOST_SECONDS 1e8

bool gp_decimal_read(const char **text, double *number)
{
    uint64_t whole, part = 0;
    double scale = 1;
    if (!gp_digits_read(text, &whole))
        return false;
    if (**text == '.') {
        const char *digits = ++*text;
        if (!gp_digits_read(text, &part))
            return false;
        for (const char *p = digits; p < *text; p++)
            scale *= 10;
    }
    *number = (double)whole + (double)part / scale;
    return true;
}

bool gp_duration_parse(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}};
    double number;
    if (!gp_decimal_read(&text, &number))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].unit) == 0) {
            *seconds = number * units[i].seconds;
            return *seconds <= MOST_SECONDS;
        }
    }
    return false;
}
