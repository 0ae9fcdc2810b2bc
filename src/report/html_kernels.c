#include "report/html_kernels.h"

#include "base/demangle.h"
#include "metrics/roofs.h"
#include "report/html_lines.h"
#include "report/html_stalls.h"
#include "report/json.h"
#include "report/names.h"
#include "report/occupancy_curves.h"
#include "report/row_names.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void gp_html_name(const char *mangled, struct gp_text *out)
{
    char *name = gp_demangle(mangled, GP_NAME_FULL);
    gp_json_string(out, name ? name : mangled);
    free(name);
}

/* ---- devices ---- */

static void add_roof(void *user, const struct gp_roof *roof)
{
    struct gp_text *out = user;
    gp_json_next(out);
    gp_text_addf(out, "{\"name\":\"%s\",\"of\":\"%s\",\"nominal\":", roof->name,
                 roof->is_bandwidth ? "bytes" : "flop");
    gp_json_number(out, roof->nominal);
    gp_json_key(out, "measured");
    gp_json_number(out, roof->measured);
    gp_text_add(out, "}");
}

static void add_device(const struct gp_device *d, struct gp_text *out)
{
    gp_json_next(out);
    gp_text_addf(out, "{\"ordinal\":%d", d->ordinal);
    gp_json_member(out, "name", d->name);
    gp_json_member(out, "chip", d->chip);
    gp_text_addf(out,
                 ",\"cc\":\"%d.%d\",\"sms\":%d,\"clock_khz\":%d,\"driver\":%d,\"memory\":%zu,"
                 "\"l2\":%d,\"max_warps\":%d,\"simulated\":%s,\"roofs\":[",
                 d->cc_major, d->cc_minor, d->sm_count, d->clock_khz, d->driver_version,
                 d->total_memory, d->l2_bytes,
                 d->warp_size > 0 ? d->max_threads_per_sm / d->warp_size : 0,
                 d->simulated ? "true" : "false");
    gp_roofs_of(d, add_roof, out);
    gp_text_add(out, "]}");
}

void gp_html_devices(const struct gp_summary *s, struct gp_text *out)
{
    gp_json_key(out, "devices");
    gp_text_add(out, "[");
    for (int i = 0; i < GP_MAX_DEVICES; i++) {
        const struct gp_device *d = gp_summary_get_device(s, i);
        if (d)
            add_device(d, out);
    }
    gp_text_add(out, "]");
}

/* ---- metrics ---- */

static const struct gp_device *first_device(const struct gp_summary *s)
{
    for (int i = 0; i < GP_MAX_DEVICES; i++)
        if (gp_summary_get_device(s, i))
            return gp_summary_get_device(s, i);
    return NULL;
}

static void add_formula(const struct gp_metric *metric, const struct gp_device *device,
                        struct gp_text *out)
{
    struct gp_text formula = {0};
    char why[GP_WHY_SIZE];
    if (device && gp_metric_formula(metric, device, &formula, why, sizeof(why)))
        gp_json_member(out, "formula", gp_text_string(&formula));
    gp_text_free(&formula);
}

void gp_html_metrics(const struct gp_summary *s, struct gp_text *out)
{
    const struct gp_metrics *m = gp_summary_metrics(s);
    const struct gp_device *device = first_device(s);
    gp_json_key(out, "metrics");
    gp_text_add(out, "[");
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_selected(m, i);
        gp_json_next(out);
        gp_text_add(out, "{");
        gp_json_member(out, "name", metric->name);
        gp_json_member(out, "unit", metric->unit);
        gp_json_member(out, "class", metric->metric_class);
        gp_json_member(out, "description", metric->description);
        add_formula(metric, device, out);
        gp_text_add(out, "}");
    }
    gp_text_add(out, "]");
}

/* ---- kernels ---- */

/* A number where all launches agree; [mean, least, most]; {"all": value} where it is from the means
 * of counters of several launches; {"mean": value, "launches": number} where few launches have it;
 * {"why": reason} where there is none, false where none was to be. */
static void add_stat(const struct gp_stat *stat, struct gp_text *out)
{
    gp_json_next(out);
    if (stat->count == 0 && gp_stat_is_of_few(stat)) {
        gp_text_add(out, "false");
        return;
    }
    if (stat->count == 0) {
        gp_text_add(out, "{\"why\":");
        gp_json_string(out, gp_stat_absence(stat).text);
        gp_text_add(out, "}");
        return;
    }
    double mean;
    gp_stat_mean(stat, &mean);
    if (gp_stat_is_of_few(stat)) {
        gp_text_add(out, "{\"mean\":");
        gp_json_number(out, mean);
        gp_text_addf(out, ",\"launches\":%" PRIu64 "}", stat->count);
    } else if (stat->combined) {
        gp_text_add(out, "{\"all\":");
        gp_json_number(out, mean);
        gp_text_add(out, "}");
    } else if (stat->min == stat->max) {
        gp_json_number(out, stat->min);
    } else {
        gp_text_add(out, "[");
        gp_json_number(out, mean);
        gp_text_add(out, ",");
        gp_json_number(out, stat->min);
        gp_text_add(out, ",");
        gp_json_number(out, stat->max);
        gp_text_add(out, "]");
    }
}

static void add_extent(const char *key, const unsigned extent[3], struct gp_text *out)
{
    gp_json_key(out, key);
    gp_text_addf(out, "[%u,%u,%u]", extent[0], extent[1], extent[2]);
}

static void add_launch(const struct gp_row *row, struct gp_text *out)
{
    const struct gp_record *l = row->launch;
    gp_text_addf(out,
                 ",\"device\":%d,\"registers\":%u,\"local\":%u,\"shared\":[%u,%u],"
                 "\"launches\":%" PRIu64 ",\"recorded\":%" PRIu64 ",\"measured\":%" PRIu64
                 ",\"recalled\":%" PRIu64 ",\"timed\":%" PRIu64 ",\"grids\":%zu,\"seconds\":",
                 l->device, l->registers, l->local_bytes, l->shared_static, l->shared_dynamic,
                 row->launches, row->recorded, row->measured, row->recalled, row->timed,
                 row->grids);
    gp_json_number(out, row->seconds);
    add_extent("grid", row->largest_grid, out);
    add_extent("smallest_grid", row->smallest_grid, out);
    add_extent("block", l->block, out);
    add_extent("cluster", l->cluster, out);
}

static void add_limit(const char *name, int blocks, struct gp_text *out)
{
    if (blocks == INT_MAX)
        return;
    gp_json_key(out, name);
    gp_text_addf(out, "%d", blocks);
}

static void add_occupancy(const struct gp_rows *r, const struct gp_row *row, struct gp_text *out)
{
    gp_json_key(out, "occupancy");
    if (!row->occupancy_known) {
        gp_text_add(out, "{\"why\":");
        gp_json_string(out, row->occupancy_why);
        gp_text_add(out, "}");
        return;
    }
    const struct gp_occupancy *o = &row->occupancy;
    gp_text_addf(out, "{\"blocks\":%d,\"warps\":%d,\"max_warps\":%d,\"limiter\":", o->blocks_per_sm,
                 o->warps_per_sm, o->max_warps_per_sm);
    gp_json_string(out, o->limiter);
    gp_json_key(out, "limits");
    gp_text_add(out, "{");
    add_limit("warps", o->by_warps, out);
    add_limit("registers", o->by_registers, out);
    add_limit("shared", o->by_shared, out);
    add_limit("blocks", o->by_blocks, out);
    gp_text_add(out, "}");
    gp_json_key(out, "curves");
    gp_occupancy_curves_json(gp_summary_get_device(r->summary, row->launch->device), row->launch,
                             out);
    gp_text_add(out, "}");
}

/* ---- bound and advice ---- */

static void add_share(const char *key, double share, struct gp_text *out)
{
    gp_json_key(out, key);
    gp_json_number(out, share);
}

static void add_bound(const struct gp_rules *rules, const struct gp_bound *b, struct gp_text *out)
{
    gp_json_key(out, "bound");
    gp_text_addf(out, "{\"known\":%s,\"of_unit\":%s,\"at_roof\":%s,\"balanced\":%s",
                 b->kind != GP_BOUND_UNKNOWN ? "true" : "false",
                 b->kind == GP_BOUND_UNIT ? "true" : "false", b->at_roof ? "true" : "false",
                 b->balanced ? "true" : "false");
    gp_json_member(out, "by", b->title);
    add_share("share", b->share, out);
    if (b->kind == GP_BOUND_UNKNOWN) {
        gp_json_member(out, "why", b->why);
    } else {
        gp_json_member(out, "unit", b->unit);
        add_share("closeness", b->closeness, out);
        add_share("utilization", b->utilization, out);
    }
    gp_json_key(out, "units");
    gp_text_add(out, "[");
    for (size_t i = 0; i < rules->unit_count; i++) {
        gp_json_next(out);
        gp_text_add(out, "[");
        gp_json_string(out, rules->units[i].title);
        gp_text_add(out, ",");
        gp_json_number(out, b->units[i]);
        gp_text_add(out, "]");
    }
    gp_text_add(out, "]}");
}

/* As the text has it. */
static void add_gain(const char *key, double gain, bool up_to, struct gp_text *out)
{
    char text[GP_GAIN_SIZE];
    gp_gain_format(gain, up_to, text);
    gp_json_member(out, key, text);
}

void gp_html_changes(const struct gp_rows *r, const struct gp_advice_list *advice,
                     struct gp_text *out)
{
    gp_json_key(out, "changes");
    gp_text_add(out, "[");
    for (size_t i = 0; i < advice->count; i++) {
        const struct gp_advice *a = &advice->list[i];
        gp_json_next(out);
        gp_text_addf(out, "{\"kernel\":%td,\"up_to\":%s", a->row ? a->row - r->rows : -1,
                     a->up_to ? "true" : "false");
        add_share("gain", a->gain, out);
        add_share("kernel_gain", a->kernel_gain, out);
        add_gain("saves", a->gain, a->up_to, out);
        add_gain("saves_kernel", a->kernel_gain, a->up_to, out);
        gp_json_member(out, "of", gp_gain_of(a));
        gp_json_member(out, "rule", a->rule->name);
        gp_json_member(out, "source", a->rule->source);
        gp_json_member(out, "evidence", a->evidence);
        gp_json_member(out, "text", a->text);
        gp_json_member(out, "where", a->where);
        gp_text_add(out, "}");
    }
    gp_text_add(out, "]");
}

/* ---- all of a kernel ---- */

/* The names of the kernels in the page, different from one another: as short as that allows, and of
 * so many letters at most, for tables and for pictures. */
enum { BRIEF, IN_TABLES, IN_PICTURES, NAMES };
static const struct {
    const char *key;
    size_t width; /* 0: as long as it is */
} spellings[NAMES] = {{"brief", 0}, {"label", 44}, {"short", 24}};

struct names {
    char **of[NAMES]; /* one of each row */
};

static void add_kernel(const struct gp_rows *r, const struct names *names, size_t index,
                       struct gp_text *out)
{
    const struct gp_row *row = &r->rows[index];
    gp_text_add(out, "\"name\":");
    gp_json_string(out, row->full_name);
    for (size_t n = 0; n < NAMES; n++)
        gp_json_member(out, spellings[n].key, names->of[n][index]);
    gp_json_member(out, "symbol", row->launch->kernel);
    add_launch(row, out);
    const struct gp_stat *duration = gp_rows_stat(r, row, "duration");
    bool estimated = duration && duration->count > 0 && duration->count < row->launches;
    gp_text_addf(out, ",\"estimated\":%s", estimated ? "true" : "false");
    gp_text_addf(out, ",\"apart\":%s", row->apart ? "true" : "false");
    add_occupancy(r, row, out);
    gp_json_key(out, "stats");
    gp_text_add(out, "[");
    for (size_t i = 0; i < gp_metrics_selected_count(gp_summary_metrics(r->summary)); i++)
        add_stat(&row->stats[i], out);
    gp_text_add(out, "]");
}

static void add_kernels(const struct gp_rows *r, const struct gp_rules *rules,
                        const struct gp_findings *findings, const struct gp_sources *sources,
                        const struct names *names, struct gp_text *out)
{
    size_t room = GP_HTML_LINES_ROOM;
    gp_json_key(out, "kernels");
    gp_text_add(out, "[");
    for (size_t i = 0; i < gp_rows_all(r); i++) {
        gp_json_next(out);
        gp_text_add(out, "{");
        add_kernel(r, names, i, out);
        add_bound(rules, &findings->bounds[i], out);
        const struct gp_lines *lines = gp_sources_of(sources, r->rows[i].launch->kernel);
        gp_html_lines(lines, &room, out);
        gp_html_stalls(lines, &room, out);
        gp_text_add(out, "}");
    }
    gp_text_add(out, "]");
}

static bool copy_all(char *const *from, size_t count, char **to)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = strdup(from[i]);
        if (!to[i])
            return false;
    }
    return true;
}

static bool make_names(const struct gp_rows *r, struct names *names)
{
    struct gp_kernel_spelling *kernels = calloc(gp_rows_all(r) + 1, sizeof(*kernels));
    bool answer = kernels;
    for (size_t i = 0; kernels && i < gp_rows_all(r); i++)
        kernels[i] = gp_row_spelling(&r->rows[i]);
    for (size_t n = 0; n < NAMES && answer; n++) {
        names->of[n] = calloc(gp_rows_all(r) + 1, sizeof(*names->of[n]));
        answer = names->of[n] &&
                 (n == BRIEF ? gp_names_distinct(kernels, gp_rows_all(r), names->of[n])
                             : copy_all(names->of[BRIEF], gp_rows_all(r), names->of[n]) &&
                                   gp_names_fit(names->of[n], gp_rows_all(r), spellings[n].width));
    }
    free(kernels);
    return answer;
}

static void free_names(struct names *names, size_t count)
{
    for (size_t n = 0; n < NAMES; n++) {
        for (size_t i = 0; names->of[n] && i < count; i++)
            free(names->of[n][i]);
        free(names->of[n]);
    }
}

void gp_html_kernels(const struct gp_rows *r, const struct gp_rules *rules,
                     const struct gp_findings *findings, const struct gp_sources *sources,
                     struct gp_text *out)
{
    struct names names = {0};
    if (make_names(r, &names))
        add_kernels(r, rules, findings, sources, &names, out);
    else
        out->failed = true;
    free_names(&names, gp_rows_all(r));
}
