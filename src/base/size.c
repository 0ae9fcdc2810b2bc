#include "base/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t unit_of(const char *letter)
{
    switch (*letter) {
    case 'K':
    case 'k':
        return (uint64_t)1 << 10;
    case 'M':
    case 'm':
        return (uint64_t)1 << 20;
    case 'G':
    case 'g':
        return (uint64_t)1 << 30;
    case 'T':
    case 't':
        return (uint64_t)1 << 40;
    default:
        return 0;
    }
}

bool gp_size_read(const char *text, uint64_t *bytes, unsigned *percent)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (number == 0 || errno == ERANGE)
        return false;
    if (strcmp(end, "%") == 0) {
        if (number > 100)
            return false;
        *percent = (unsigned)number;
        *bytes = 0;
        return true;
    }
    uint64_t unit = *end ? unit_of(end) : 1;
    if (!unit || (*end && end[1]) || number > UINT64_MAX / unit)
        return false;
    *bytes = number * unit;
    *percent = 0;
    return true;
}

bool gp_profile_limit_read(const char *text, uint64_t *bytes)
{
    uint64_t limit;
    unsigned percent;
    if (!gp_size_read(text, &limit, &percent) || percent || limit < (uint64_t)1 << 20)
        return false;
    *bytes = limit;
    return true;
}
