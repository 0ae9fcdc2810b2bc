#include "code/thread_parts.h"

#include <stdbool.h>

/* The bits of another part of the same have all of its bits. */
static bool is_within(const struct gp_thread_parts *p, unsigned inner, unsigned outer)
{
    return p->part[inner].of == p->part[outer].of && p->part[inner].how == p->part[outer].how &&
           !(p->part[inner].bits & ~p->part[outer].bits);
}

static bool follows(const struct gp_thread_parts *p, unsigned n, uint32_t from)
{
    if (!(p->part[n].of & ~from))
        return true;
    for (unsigned other = p->given; other < p->count; other++)
        if ((from >> other & 1) && is_within(p, n, other))
            return true;
    return false;
}

uint32_t gp_thread_parts_implied(const struct gp_thread_parts *p, uint32_t numbers)
{
    uint32_t before;
    do {
        before = numbers;
        for (unsigned n = p->given; n < p->count; n++)
            if (follows(p, n, numbers))
                numbers |= UINT32_C(1) << n;
    } while (numbers != before);
    return numbers;
}

/* Without the numbers that follow from the others: a part that is made again and again in a loop is
 * one. */
static uint32_t least_of(const struct gp_thread_parts *p, uint32_t numbers)
{
    for (unsigned n = p->count; n-- > p->given;) {
        const uint32_t others = numbers & ~(UINT32_C(1) << n);
        if (others && gp_thread_parts_implied(p, others) >> n & 1)
            numbers = others;
    }
    return numbers;
}

uint32_t gp_thread_part(struct gp_thread_parts *p, uint32_t of, uint64_t how, uint32_t bits)
{
    if (p->count < p->given)
        p->count = p->given;
    const uint32_t least = least_of(p, of);
    for (unsigned n = p->given; n < p->count; n++)
        if (p->part[n].of == least && p->part[n].how == how && p->part[n].bits == bits)
            return UINT32_C(1) << n;
    if (!of || p->count == GP_MOST_NUMBERS)
        return of;
    p->part[p->count].of = least;
    p->part[p->count].how = how;
    p->part[p->count].bits = bits;
    return UINT32_C(1) << p->count++;
}
