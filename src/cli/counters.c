#include "cli/counters.h"

#include "base/log.h"
#include "base/nearest.h"
#include "cli/chip.h"

#include <string.h>

static const char *chip_at(const void *user, size_t i)
{
    (void)user;
    return gp_chip_name_at(i)->name;
}

bool cli_check_chip(const char *chip)
{
    if (gp_chip_name_find(chip))
        return true;
    const char *nearest = gp_nearest(chip, gp_chip_name_count(), chip_at, NULL);
    struct gp_text names = {0};
    for (size_t i = 0; i < gp_chip_name_count(); i++)
        gp_text_addf(&names, "%s%s", i ? ", " : "", gp_chip_name_at(i)->name);
    if (nearest)
        gp_say("--chip: there is no chip '%s'; did you mean %s?", chip, nearest);
    else
        gp_say("--chip: there is no chip '%s'; there are %s", chip, gp_text_string(&names));
    gp_text_free(&names);
    return false;
}

static bool is_counter(const char *word)
{
    return strstr(word, "__") && strncmp(word, "event__", 7) != 0;
}

static bool resolve_pattern(const char *pattern, const char *chip, const char *no_chip,
                            struct gp_text *resolved, struct gp_text *problems)
{
    const char *why = no_chip;
    struct gp_text names = {0};
    size_t count = chip ? gp_chip_expand(chip, pattern, &names, &why) : 0;
    if (count && !names.failed) {
        gp_text_addf(resolved, "%s%s", resolved->length ? "," : "", names.data);
    } else {
        gp_text_addf(problems, "'%s': %s%s\n", pattern, names.failed ? "out of memory" : why,
                     chip ? "" : " (--chip says for which GPU)");
    }
    gp_text_free(&names);
    return count != 0;
}

static bool resolve_counter(const char *name, const char *chip, struct gp_text *problems)
{
    struct gp_reason unavailable = GP_NO_REASON;
    const char *why;
    if (!chip || !gp_chip_try(chip, &name, 1, &unavailable, &why) || !unavailable.cause)
        return true;
    gp_chip_explain(chip, name, problems);
    return false;
}

bool cli_resolve_metrics(const char *list, const char *chip, struct gp_text *resolved,
                         struct gp_text *problems)
{
    struct gp_chip_here here;
    const char *no_chip = NULL;
    bool resolved_all = true;
    if (!strstr(list, "__")) {
        gp_text_add(resolved, list);
        return !resolved->failed;
    }
    if (!chip && gp_chip_find_here(&here, &no_chip)) {
        no_chip = "CUPTI has no ranges for this GPU";
        chip = here.name[0] ? here.name : NULL;
    }
    for (const char *p = list;;) {
        p += strspn(p, ", \t\n");
        size_t length = strcspn(p, ", \t\n");
        if (length == 0)
            break;
        struct gp_text word = {0};
        gp_text_add_bytes(&word, p, length);
        p += length;
        const char *name = gp_text_string(&word);
        if (is_counter(name) && strpbrk(name, "*?")) {
            resolved_all &= resolve_pattern(name, chip, no_chip, resolved, problems);
        } else {
            if (is_counter(name))
                resolved_all &= resolve_counter(name, chip, problems);
            gp_text_addf(resolved, "%s%s", resolved->length ? "," : "", name);
        }
        gp_text_free(&word);
    }
    if (resolved->failed) {
        gp_text_add(problems, "out of memory\n");
        return false;
    }
    return resolved_all;
}
