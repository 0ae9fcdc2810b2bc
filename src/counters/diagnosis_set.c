#include "counters/diagnosis_set.h"

#include "counters/inside.h"

#include <math.h>
#include <stdlib.h>

/* CUPTI's image. */
#define MOST_BYTES ((size_t)64 << 20)

struct gp_diagnosis_set {
    const char *const *names;
    size_t count;
    struct gp_reason *unavailable; /* by name */
    const char **used;             /* those that are counted, */
    size_t *columns;               /* and which of the names they are */
    size_t used_count;
    struct gp_range_session *session;
};

/* The names that the chip has, in their order. */
static bool list_names(struct gp_diagnosis_set *s, const char *chip, struct gp_reason *why)
{
    if (!range_config_try(chip, s->names, s->count, s->unavailable, why))
        return false;
    for (size_t i = 0; i < s->count; i++) {
        if (s->unavailable[i].cause)
            continue;
        s->columns[s->used_count] = i;
        s->used[s->used_count++] = s->names[i];
    }
    *why = GP_REASON_TEXT(NO_SUCH_COUNTER, "this GPU has none of the counters");
    return s->used_count > 0;
}

static bool make_config(struct gp_range_config *config, const struct gp_diagnosis_set *s,
                        const char *chip, size_t count, struct gp_reason *why)
{
    const bool made = gp_range_config_make(config, chip, s->used, count, count, why);
    if (!made)
        gp_range_config_free(config);
    return made;
}

/* As many of the names, from the first one on, as the passes hold. */
static bool configure(struct gp_range_config *config, struct gp_diagnosis_set *s, const char *chip,
                      struct gp_reason *why)
{
    size_t fits = 0, too_many = s->used_count;
    bool made = make_config(config, s, chip, too_many, why);
    if (!made || config->passes <= GP_DIAGNOSIS_PASSES)
        return made;
    while (made && too_many - fits > 1) {
        const size_t middle = (fits + too_many) / 2;
        gp_range_config_free(config);
        made = make_config(config, s, chip, middle, why);
        if (made)
            *(config->passes <= GP_DIAGNOSIS_PASSES ? &fits : &too_many) = middle;
    }
    if (made)
        gp_range_config_free(config);
    for (size_t i = fits; i < s->used_count; i++)
        s->unavailable[s->columns[i]] = GP_REASON(NO_PASS);
    s->used_count = fits;
    return made && make_config(config, s, chip, fits, why);
}

static bool allocate(struct gp_diagnosis_set *s)
{
    s->unavailable = calloc(s->count + 1, sizeof(*s->unavailable));
    s->used = calloc(s->count + 1, sizeof(*s->used));
    s->columns = calloc(s->count + 1, sizeof(*s->columns));
    return s->unavailable && s->used && s->columns;
}

struct gp_diagnosis_set *gp_diagnosis_set_open(CUcontext context, const struct gp_device *device,
                                               const char *const *names, size_t count,
                                               unsigned launches, struct gp_reason *why)
{
    struct gp_diagnosis_set *s = calloc(1, sizeof(*s));
    struct gp_range_config config;
    *why = GP_REASON(NO_MEMORY);
    if (!s)
        return NULL;
    s->names = names;
    s->count = count;
    if (allocate(s) && list_names(s, device->chip, why) && configure(&config, s, device->chip, why))
        s->session = range_session_open(context, &config, launches, MOST_BYTES, why);
    if (s->session)
        return s;
    gp_diagnosis_set_close(s, true);
    return NULL;
}

void gp_diagnosis_set_close(struct gp_diagnosis_set *s, bool context_alive)
{
    range_session_close(s->session, context_alive);
    free(s->unavailable);
    free(s->used);
    free(s->columns);
    free(s);
}

unsigned gp_diagnosis_set_launches(const struct gp_diagnosis_set *s)
{
    return range_session_ranges(s->session);
}

unsigned gp_diagnosis_set_passes(const struct gp_diagnosis_set *s)
{
    return range_session_hardware_passes(s->session);
}

/* As in a pass of the default set a start comes before the caches are emptied: it leaves memory of
 * CUPTI's dirty in the L2. */
bool gp_diagnosis_set_begin(struct gp_diagnosis_set *s, unsigned pass, unsigned launch,
                            const struct gp_run *run, struct gp_reason *why)
{
    if (!range_session_advance(s->session, pass, why))
        return false;
    run->empty_caches(run->empty_caches_data);
    return range_session_push(s->session, launch, why);
}

bool gp_diagnosis_set_end(struct gp_diagnosis_set *s, struct gp_reason *why)
{
    return range_session_pop(s->session, why);
}

bool gp_diagnosis_set_settle(struct gp_diagnosis_set *s, struct gp_reason *why)
{
    return range_session_settle(s->session, why);
}

bool gp_diagnosis_set_read(const struct gp_diagnosis_set *s, unsigned launch,
                           struct gp_counter *counters)
{
    const double *values = range_session_values(s->session, launch);
    for (size_t i = 0; values && i < s->count; i++)
        counters[i] = (struct gp_counter){.name = s->names[i], .absent = s->unavailable[i]};
    for (size_t i = 0; values && i < s->used_count; i++) {
        struct gp_counter *counter = &counters[s->columns[i]];
        counter->value = values[i];
        counter->absent = isfinite(values[i]) ? GP_NO_REASON : GP_REASON(NOTHING_COUNTED);
    }
    return values != NULL;
}
