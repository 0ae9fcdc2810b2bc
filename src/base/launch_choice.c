#include "base/launch_choice.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 18

bool gp_digits_read(const char **text, uint64_t *number)
{
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || length > MOST_DIGITS)
        return false;
    *number = strtoull(*text, NULL, 10);
    *text += length;
    return true;
}

bool gp_whole_parse(const char *text, uint64_t *number)
{
    return gp_digits_read(&text, number) && *text == '\0';
}

bool gp_launches_parse(const char *text, struct gp_launch_choice *choice)
{
    struct gp_launch_choice read = {.skip = 0, .count = UINT64_MAX};
    bool skipped = false, counted = false;
    for (;;) {
        bool is_skip = strncmp(text, "skip:", 5) == 0, is_count = strncmp(text, "count:", 6) == 0;
        text += is_skip ? 5 : 6;
        if ((!is_skip && !is_count) || (is_skip && skipped) || (is_count && counted) ||
            !gp_digits_read(&text, is_skip ? &read.skip : &read.count))
            return false;
        skipped |= is_skip;
        counted |= is_count;
        if (*text == '\0')
            break;
        if (*text++ != ',')
            return false;
    }
    *choice = read;
    return true;
}

bool gp_devices_parse(const char *text, uint64_t *devices)
{
    uint64_t all = 0, device;
    if (strcmp(text, "all") == 0) {
        *devices = UINT64_MAX;
        return true;
    }
    for (;;) {
        if (!gp_digits_read(&text, &device) || device >= 64)
            return false;
        all |= UINT64_C(1) << device;
        if (*text == '\0')
            break;
        if (*text++ != ',')
            return false;
    }
    *devices = all;
    return true;
}
