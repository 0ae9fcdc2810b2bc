#include "model/schedule.h"

#include <string.h>

void gpusim_schedule_init(struct gpusim_schedule *s, const struct gpusim_chip *chip, unsigned slots)
{
    memset(s, 0, sizeof(*s));
    s->chip = chip;
    s->slots = slots ? slots : 1;
}

static unsigned first_free_slot(const struct gpusim_schedule *s, unsigned sm)
{
    unsigned best = 0;

    for (unsigned i = 1; i < s->slots; i++)
        if (s->slot_free[sm][i] < s->slot_free[sm][best])
            best = i;
    return best;
}

void gpusim_schedule_add_block(struct gpusim_schedule *s)
{
    uint64_t best = UINT64_MAX;

    for (unsigned sm = 0; sm < s->chip->sms; sm++) {
        uint64_t room = s->slot_free[sm][s->first_free[sm]];
        uint64_t start = room > s->next_start[sm] ? room : s->next_start[sm];
        if (start < best) {
            best = start;
            s->sm = sm;
        }
    }
    s->start = best;
}

uint64_t gpusim_schedule_finish(struct gpusim_schedule *s, uint64_t cycles)
{
    unsigned sm = s->sm;
    uint64_t end = s->start + cycles;
    uint64_t added;

    s->slot_free[sm][s->first_free[sm]] = end;
    s->first_free[sm] = first_free_slot(s, sm);
    s->next_start[sm] = s->start + s->chip->block_start_cycles;
    if (s->start >= s->busy_until[sm])
        added = cycles;
    else
        added = end > s->busy_until[sm] ? end - s->busy_until[sm] : 0;
    if (end > s->busy_until[sm])
        s->busy_until[sm] = end;
    if (end > s->end)
        s->end = end;
    return added;
}
