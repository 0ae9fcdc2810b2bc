#include "base/sample.h"

#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST 1000000000u

/* Reads "NAME:NUMBER" where *text points to, and moves it behind. False where it does not say so,
 * or says it for the second time. */
static bool read_part(const char **text, const char *name, uint64_t *number)
{
    size_t length = strlen(name);
    if (*number != 0 || strncmp(*text, name, length) != 0 || (*text)[length] != ':')
        return false;
    const char *digits = *text + length + 1;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > strlen("1000000000"))
        return false;
    uint64_t value = strtoull(digits, NULL, 10);
    if (value < 1 || value > LARGEST)
        return false;
    *number = value;
    *text = digits + count;
    return true;
}

bool gp_sample_parse(const char *text, struct gp_sample *sample)
{
    struct gp_sample read = {0};
    if (strcmp(text, "auto") == 0) {
        *sample = (struct gp_sample){.first = GP_SAMPLE_FIRST, .rarer = true};
        return true;
    }
    while (read_part(&text, "first", &read.first) || read_part(&text, "every", &read.every)) {
        if (*text == '\0') {
            if (read.first == 0)
                read.first = 1;
            *sample = read;
            return true;
        }
        if (*text++ != ',')
            return false;
    }
    return false;
}

#define PART_BITS 3
_Static_assert(GP_SAMPLE_FIRST == 1 << PART_BITS, "the first launches are a part of each length");

/* The launches from one power of two to the next are four parts of the same length. One launch of
 * each is taken, the same in each run, by a hash: a regular step could meet the program's own. */
static bool is_chosen_of_part(uint64_t before)
{
    const unsigned bits = 64 - (unsigned)__builtin_clzll(before);
    const unsigned shift = bits - PART_BITS; /* so that 4 <= before >> shift < 8 */
    const uint64_t length = UINT64_C(1) << shift, rest = length - 1;
    const uint64_t by_chance = gp_mix(length, before >> shift) >> 32;
    return (before & rest) == (by_chance & rest);
}

bool gp_sample_takes(const struct gp_sample *sample, uint64_t before)
{
    if (sample->first == 0 || before < sample->first)
        return true;
    if (sample->rarer)
        return is_chosen_of_part(before);
    return sample->every > 0 && (before - sample->first + 1) % sample->every == 0;
}
