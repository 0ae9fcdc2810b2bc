#include "base/window_rule.h"

#include "base/duration.h"
#include "base/launch_choice.h"

#include <stdio.h>
#include <string.h>

#define LONGEST_PART 64

#define TIMES "5, 5s, 500ms or 2m"

static const char *read_from_start(const char *value, struct gp_window_rule *rule)
{
    static const char *const on[] = {"on", "yes", "1"}, *const off[] = {"off", "no", "0"};
    for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
        if (strcmp(value, on[i]) != 0 && strcmp(value, off[i]) != 0)
            continue;
        rule->by_calls = true;
        rule->from_start = strcmp(value, on[i]) == 0;
        return NULL;
    }
    return "is neither on nor off";
}

static const char *read_capture_range(const char *value, struct gp_window_rule *rule)
{
    if (strcmp(value, "none") == 0)
        return NULL;
    if (strcmp(value, "cudaProfilerApi") != 0)
        return "is neither cudaProfilerApi nor none";
    rule->by_calls = true;
    rule->from_start = false;
    return NULL;
}

static const char *read_delay(const char *value, struct gp_window_rule *rule)
{
    return gp_duration_parse(value, &rule->delay) ? NULL : "is no time; say " TIMES;
}

static const char *read_duration(const char *value, struct gp_window_rule *rule)
{
    return gp_duration_parse(value, &rule->duration) && rule->duration > 0
               ? NULL
               : "is no time of more than 0; say " TIMES;
}

/* A number alone is one of launches. */
static const char *read_warm_up(const char *value, struct gp_window_rule *rule)
{
    const char *end = value;
    if (gp_digits_read(&end, &rule->warm_up_launches) && *end == '\0')
        return NULL;
    rule->warm_up_launches = 0;
    return gp_duration_parse(value, &rule->warm_up)
               ? NULL
               : "is neither a time, as 5s or 500ms, nor a number of "
                 "launches";
}

static const char *read_launches(const char *value, struct gp_window_rule *rule)
{
    static const char wrong[] =
        "is no range A:B of launches; say 100:200, 100: or :200, with whole numbers from 0, and B "
        "more than A";
    uint64_t first = 0, behind = UINT64_MAX;
    bool begins = gp_digits_read(&value, &first), colon = *value == ':';
    value += colon;
    bool ends = gp_digits_read(&value, &behind);
    if (!colon || !(begins || ends) || *value != '\0' || behind <= first)
        return wrong;
    rule->first = first;
    rule->behind = behind;
    return NULL;
}

/* Each answers NULL, or says of the value why it makes no sense. */
static const struct {
    const char *word;
    const char *(*read)(const char *value, struct gp_window_rule *rule);
} words[] = {{"profile-from-start", read_from_start},
             {"capture-range", read_capture_range},
             {"delay", read_delay},
             {"warm-up", read_warm_up},
             {"duration", read_duration},
             {"launches", read_launches}};
#define WORDS (sizeof(words) / sizeof(words[0]))

static size_t find_word(const char *word)
{
    size_t i = 0;
    while (i < WORDS && strcmp(words[i].word, word) != 0)
        i++;
    return i;
}

bool gp_window_read_part(const char *word, const char *value, struct gp_window_rule *rule,
                         char *why, size_t why_size)
{
    const size_t i = find_word(word);
    const char *wrong = i < WORDS ? words[i].read(value, rule)
                                  : "belongs to no word of profile-from-start, capture-range, "
                                    "delay, warm-up, duration, launches";
    if (wrong)
        snprintf(why, why_size, "'%s' %s", value, wrong);
    return wrong == NULL;
}

/* Copies the part up to the comma; where the next one begins, NULL where it is too long, or a comma
 * has nothing behind it. */
static const char *take_part(const char *text, char part[LONGEST_PART])
{
    const size_t length = strcspn(text, ",");
    if (length >= LONGEST_PART || strcmp(text + length, ",") == 0)
        return NULL;
    memcpy(part, text, length);
    part[length] = '\0';
    return text + length + (text[length] == ',');
}

bool gp_window_read(const char *text, struct gp_window_rule *rule, char *why, size_t why_size)
{
    struct gp_window_rule read = GP_WINDOW_OF_ALL;
    bool seen[WORDS + 1] = {false};
    char part[LONGEST_PART];
    while (*text) {
        const char *next = take_part(text, part);
        char *value = next ? strchr(part, ':') : NULL;
        if (!value) {
            snprintf(why, why_size, "'%.*s' is no WORD:VALUE", LONGEST_PART, text);
            return false;
        }
        *value++ = '\0';
        const size_t i = find_word(part);
        if (seen[i]) {
            snprintf(why, why_size, "%s stands there twice", part);
            return false;
        }
        seen[i] = true;
        if (!gp_window_read_part(part, value, &read, why, why_size))
            return false;
        text = next;
    }
    *rule = read;
    return true;
}

bool gp_window_limits(const struct gp_window_rule *rule)
{
    return rule->by_calls || rule->delay > 0 || rule->duration > 0 || rule->warm_up > 0 ||
           rule->warm_up_launches > 0 || rule->first > 0 || rule->behind != UINT64_MAX;
}
