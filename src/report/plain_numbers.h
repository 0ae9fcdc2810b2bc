/* Numbers with a decimal point, also in a program whose locale has another one: between begin and
 * end, in the calling thread. Owns the locale. */
#ifndef GPUPROF_REPORT_PLAIN_NUMBERS_H
#define GPUPROF_REPORT_PLAIN_NUMBERS_H

#include <locale.h>

struct gp_plain_numbers {
    locale_t plain, before;
};

static inline void gp_plain_numbers_begin(struct gp_plain_numbers *p)
{
    p->plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    p->before = p->plain ? uselocale(p->plain) : (locale_t)0;
}

static inline void gp_plain_numbers_end(struct gp_plain_numbers *p)
{
    if (!p->plain)
        return;
    uselocale(p->before);
    freelocale(p->plain);
}

#endif
