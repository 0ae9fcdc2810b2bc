#include "cli/pairs.h"

#include "base/log.h"
#include "check/hand_pairs.h"

#include <stdio.h>
#include <string.h>

bool cli_add_pair(struct cli_pairs *pairs, const char *text)
{
    const char *sign = strchr(text, '=');
    if (!sign || sign == text || !sign[1]) {
        gp_say("--pair: '%s' is no pair: write OLD=NEW, two names of kernels", text);
        return false;
    }
    if (pairs->count == CLI_MOST_PAIRS) {
        gp_say("--pair: at most %d are taken", CLI_MOST_PAIRS);
        return false;
    }
    pairs->list[pairs->count++] = text;
    return true;
}

bool cli_apply_pairs(const struct cli_pairs *pairs, const struct gp_side *a, struct gp_side *b,
                     char *why, size_t why_size)
{
    char reason[512];
    for (size_t i = 0; i < pairs->count; i++) {
        if (gp_pair_by_hand(pairs->list[i], a, b, reason, sizeof(reason)))
            continue;
        snprintf(why, why_size, "--pair: %s", reason);
        return false;
    }
    return true;
}
