#include "base/nearest.h"

#include <string.h>

#define LONGEST 128

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Letters to insert, delete, change or swap with a neighbour to make b of a. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smallest(change, last[j] + 1, row[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_length];
}

const char *gp_nearest(const char *word, size_t count, const char *(*name)(const void *, size_t),
                       const void *user)
{
    size_t length = strlen(word);
    if (length == 0 || length > LONGEST)
        return NULL;
    const char *best = NULL;
    /* Some letter at least must have been right. */
    size_t best_distance = smallest(length / 3 > 2 ? length / 3 : 2, length - 1, LONGEST);
    for (size_t i = 0; i < count; i++) {
        const char *candidate = name(user, i);
        size_t candidate_length = strlen(candidate);
        if (candidate_length > LONGEST)
            continue;
        size_t d = distance(word, length, candidate, candidate_length);
        if (d < best_distance || (d == best_distance && !best)) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}
