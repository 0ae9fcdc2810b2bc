/* The hardware's counters of launches that were alike, as each of them was measured: a few rows,
 * of which the others take one after the other. So counters that differ a little from run to run
 * scatter among those as they did among the first. Now and then one more is measured, ever more
 * rarely. */
#include "counters/inside.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* One more is measured after so many, then after twice as many, and so on up to the rarest. */
#define FIRST_MORE 64
#define RAREST_MORE 1024

struct gp_measured_of {
    struct gp_fingerprint which;
    struct gp_measured_rows rows;
    UT_hash_handle hh;
};

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

void measured_add(struct gp_measured_rows *rows, const double *values, size_t count)
{
    if (!rows->values)
        rows->values = calloc(GP_LEAST_MEASURED * (count + 1), sizeof(*values));
    if (!rows->values)
        return; /* then they are measured for ever */
    memcpy(rows->values + rows->measured % GP_LEAST_MEASURED * count, values,
           count * sizeof(*values));
    rows->measured++;
    rows->most =
        rows->measured <= GP_LEAST_MEASURED ? FIRST_MORE : least(2 * rows->most, RAREST_MORE);
    rows->taken = 0;
}

unsigned measured_count(const struct gp_measured_rows *rows)
{
    unsigned enough = GP_LEAST_MEASURED - (rows->taken >= rows->most);
    return least(rows->measured, enough);
}

const double *measured_take(struct gp_measured_rows *rows, size_t count)
{
    if (!rows->measured)
        return NULL;
    return rows->values + rows->taken++ % least(rows->measured, GP_LEAST_MEASURED) * count;
}

void measured_free(struct gp_measured_rows *rows)
{
    free(rows->values);
    *rows = (struct gp_measured_rows){0};
}

/* ---- of many launches ------------------------------------------------------------------------ */

struct gp_measured_rows *measured_find(const struct gp_measured_table *table,
                                       const struct gp_fingerprint *which)
{
    struct gp_measured_of *m;
    HASH_FIND(hh, table->of, which, sizeof(*which), m);
    return m ? &m->rows : NULL;
}

struct gp_measured_rows *measured_find_or_make(struct gp_measured_table *table,
                                               const struct gp_fingerprint *which)
{
    struct gp_measured_rows *rows = measured_find(table, which);
    if (rows)
        return rows;
    if (HASH_COUNT(table->of) >= GP_MOST_MEASURED)
        measured_forget(table);
    struct gp_measured_of *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->which = *which;
    HASH_ADD(hh, table->of, which, sizeof(m->which), m);
    if (m->hh.tbl)
        return &m->rows;
    free(m);
    return NULL;
}

void measured_forget(struct gp_measured_table *table)
{
    struct gp_measured_of *m, *next;
    HASH_ITER(hh, table->of, m, next)
    {
        HASH_DEL(table->of, m);
        measured_free(&m->rows);
        free(m);
    }
}
