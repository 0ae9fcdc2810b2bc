#include "cli/recorded.h"

#include "base/hash.h"
#include "metrics/define.h"
#include "profile/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct recorded_name {
    UT_hash_handle hh;
    char name[];
};

/* Found by a first reading of the profile. */
struct cli_recorded {
    struct recorded_name *counters;
    struct gp_device devices[GP_MAX_DEVICES];
    size_t device_count;
    size_t launches_left; /* to be read */
    bool has_more;        /* launches than those */
};

#define FIRST_LAUNCHES 4096

static bool note_device(void *user, const struct gp_device *device)
{
    struct cli_recorded *c = user;
    if (c->device_count < GP_MAX_DEVICES)
        c->devices[c->device_count++] = *device;
    return true;
}

static bool note_launch(void *user, const struct gp_record *launch)
{
    struct cli_recorded *c = user;
    (void)launch;
    c->has_more = c->launches_left == 0;
    if (!c->has_more)
        c->launches_left--;
    return !c->has_more;
}

/* Notes the name; counters keep the reader's copy of it, or the definitions' own. */
static const char *note_counter(void *user, const char *name)
{
    struct cli_recorded *c = user;
    size_t length = strlen(name);
    struct recorded_name *known = NULL;
    HASH_FIND(hh, c->counters, name, length, known);
    if (known || !(known = calloc(1, sizeof(*known) + length + 1)))
        return NULL;
    memcpy(known->name, name, length);
    HASH_ADD_KEYPTR(hh, c->counters, known->name, length, known);
    if (!known->hh.tbl)
        free(known);
    return NULL;
}

static void forget(struct cli_recorded *c)
{
    struct recorded_name *n, *next;
    HASH_ITER(hh, c->counters, n, next)
    {
        HASH_DEL(c->counters, n);
        free(n);
    }
}

static bool is_recorded(void *user, const char *counter)
{
    const struct cli_recorded *c = user;
    struct recorded_name *known = NULL;
    HASH_FIND(hh, c->counters, counter, strlen(counter), known);
    return known != NULL;
}

static bool can_be_given(const struct cli_recorded *c, const struct gp_metric *metric)
{
    for (size_t i = 0; i < c->device_count; i++)
        if (gp_metric_can_be_given(metric, &c->devices[i], is_recorded, (void *)c))
            return true;
    return false;
}

bool cli_can_be_read_twice(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static bool select_from(struct gp_metrics *m, const struct cli_recorded *c,
                        struct gp_text *problems)
{
    struct gp_text list = {0};
    for (size_t i = 0; c->counters && i < gp_metrics_count(m); i++)
        if (can_be_given(c, gp_metrics_at(m, i)))
            gp_text_addf(&list, "%s,", gp_metrics_at(m, i)->name);
    bool answer =
        gp_metrics_select(m, list.length > 0 && !list.failed ? list.data : NULL, problems);
    gp_text_free(&list);
    return answer;
}

bool cli_select_recorded(struct gp_metrics *m, const char *path, struct gp_text *problems)
{
    struct cli_recorded c = {0};
    char why[512];
    const struct gp_profile_visitor visitor = {
        .user = &c, .device = note_device, .counter_name = note_counter};
    if (cli_can_be_read_twice(path))
        gp_profile_read(path, &visitor, NULL, why, sizeof(why));
    bool answer = select_from(m, &c, problems);
    forget(&c);
    return answer;
}

bool cli_select_begin(struct gp_metrics *m, const char *path, struct cli_recorded **begin,
                      struct gp_text *problems)
{
    char why[512];
    struct cli_recorded *c = calloc(1, sizeof(*c));
    const struct gp_profile_visitor visitor = {
        .user = c, .device = note_device, .launch = note_launch, .counter_name = note_counter};
    *begin = NULL;
    if (!c)
        return cli_select_recorded(m, path, problems);
    c->launches_left = FIRST_LAUNCHES;
    if (cli_can_be_read_twice(path))
        gp_profile_read(path, &visitor, NULL, why, sizeof(why));
    bool answer = select_from(m, c, problems);
    if (c->has_more)
        *begin = c;
    else
        cli_recorded_free(c);
    return answer;
}

void cli_recorded_free(struct cli_recorded *begin)
{
    if (begin)
        forget(begin);
    free(begin);
}

bool cli_began_with_counter(const struct cli_recorded *begin, const char *name)
{
    struct recorded_name *known = NULL;
    HASH_FIND(hh, begin->counters, name, strlen(name), known);
    return known != NULL;
}

/* Formulas depend on these. */
bool cli_began_with_device(const struct cli_recorded *begin, const struct gp_device *device)
{
    for (size_t i = 0; i < begin->device_count; i++) {
        const struct gp_device *d = &begin->devices[i];
        if (d->cc_major == device->cc_major && d->cc_minor == device->cc_minor &&
            d->event_counters == device->event_counters)
            return true;
    }
    return false;
}
