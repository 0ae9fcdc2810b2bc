#include "report/screen.h"

#include "base/escape.h"
#include "gpuprof_version.h"
#include "report/host.h"
#include "report/kernel_table.h"
#include "report/layout.h"
#include "report/remedies.h"
#include "report/row_names.h"
#include "report/skips.h"
#include "report/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* So many lines of each kind keep the whole within a screen of 60. */
#define MOST_KERNELS 10 /* unless more are asked for */
#define MOST_DEVICES 4
#define MOST_CHANGES 5
#define LEAST_CHANGES 3
#define MOST_LINES_OF_A_CHANGE 5
#define MOST_LINES 60
#define ABOVE 1      /* line that names the profile */
#define LEAST_MORE 6 /* lines of the table on waiting warps and single grids */
#define MOST_OF_A_KERNEL 2
#define MOST_TUNINGS 3
#define MOST_NAMED 3 /* kernels of a change */
#define MOST_REASONS 3
#define LONGEST_REASON 140
#define NAME_WIDTH 60 /* in advice */
#define LEAST_WIDTH 60
#define WIDE_HEADING 92

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- headline -------------------------------------------------------------------------------- */

static void add_device(const struct gp_device *d, size_t width, struct gp_text *out)
{
    char line[512];
    snprintf(line, sizeof(line), "GPU %d: %s%s%s%scompute capability %d.%d, %d SMs", d->ordinal,
             d->name, d->name[0] ? ", " : "", d->chip, d->chip[0] ? ", " : "", d->cc_major,
             d->cc_minor, d->sm_count);
    size_t used = strlen(line);
    if (d->driver_version > 0)
        snprintf(line + used, sizeof(line) - used, ", driver for CUDA %d.%d",
                 d->driver_version / 1000, d->driver_version % 1000 / 10);
    gp_wrap_to(out, width, 7, line);
}

static void add_settings(const struct gp_settings *settings, size_t width, struct gp_text *out)
{
    char line[512];
    if (settings->sample) {
        snprintf(line, sizeof(line),
                 "Of each kernel and launch configuration, some launches were "
                 "measured: %s.",
                 settings->sample);
        gp_wrap_to(out, width, 3, line);
    }
    if (settings->replay_off)
        gp_wrap_to(out, width, 3,
                   "No launch was replayed (GPUPROF_REPLAY=off): each was counted in part, "
                   "launches of a kernel in turns.");
}

void gp_screen_headline(const struct gp_summary *summary, size_t width, struct gp_text *out)
{
    struct gp_totals t = gp_summary_totals(summary);
    struct gp_text line = {0};
    gp_text_addf(&line, "gpuprof %s: %" PRIu64 " kernel launch%s, %" PRIu64 " measured", GP_VERSION,
                 t.launches, t.launches == 1 ? "" : "es", t.measured);
    if (t.replays > 0)
        gp_text_addf(&line, " with %" PRIu64 " replay%s", t.replays, plural(t.replays));
    if (t.added_seconds > 0) {
        char cost[32];
        gp_unit_format(t.added_seconds, "s", cost, sizeof(cost));
        gp_text_addf(&line, ", which added %s", cost);
    }
    gp_wrap_to(out, width, 3, gp_text_string(&line));
    out->failed |= line.failed;
    gp_text_free(&line);
    int devices = 0;
    bool simulated = false;
    for (int i = 0; i < GP_MAX_DEVICES; i++) {
        const struct gp_device *d = gp_summary_get_device(summary, i);
        if (d && devices++ < MOST_DEVICES)
            add_device(d, width, out);
        simulated = simulated || (d && d->simulated);
    }
    if (devices > MOST_DEVICES)
        gp_text_addf(out, "and %d more GPUs\n", devices - MOST_DEVICES);
    if (simulated)
        gp_wrap_to(out, width, 3,
                   "Simulated GPU: these numbers are computed by a model, not measured.");
    add_settings(gp_summary_get_settings(summary), width, out);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The rows that are shown, with names of the table's width, and narrower ones for the advice. */
struct shown {
    const struct gp_rows *rows;
    size_t kernels; /* in the table */
    size_t width;
    struct gp_row_names table, advice;
};

static bool name_rows(struct shown *s)
{
    size_t named = s->kernels > 4 * MOST_KERNELS ? s->kernels : 4 * MOST_KERNELS;
    size_t width = gp_kernel_table_name_width(s->rows, s->kernels, s->width);
    return gp_row_names_make(&s->table, s->rows, named, width) &&
           gp_row_names_make(&s->advice, s->rows, named, NAME_WIDTH);
}

static void forget_names(struct shown *s)
{
    gp_row_names_free(&s->table);
    gp_row_names_free(&s->advice);
}

/* ---- tunings ----------------------------------------------------------------------------------
 */

static void add_tunings(const struct shown *s, const struct gp_tunings *tunings,
                        struct gp_text *out)
{
    for (size_t i = 0; i < tunings->count && i < MOST_TUNINGS; i++) {
        const struct gp_tuning *tuning = &tunings->list[i];
        if (!(tuning->seconds >= GP_ADVISED_SHARE * s->rows->seconds))
            break;
        char name[GP_ROW_NAME_SIZE];
        struct gp_text line = {0};
        gp_row_names_format_kernel(&s->advice, tuning->tried[0].row, name);
        gp_tuning_text(s->rows, tuning, name, &line);
        gp_text_add(out, i == 0 ? "\n" : "");
        gp_wrap_to(out, s->width, 3, gp_text_string(&line));
        out->failed |= line.failed;
        gp_text_free(&line);
    }
}

/* ---- advice ---------------------------------------------------------------------------------- */

static size_t lines_in(const struct gp_text *text, size_t begin)
{
    size_t lines = 0;
    for (size_t i = begin; i < text->length; i++)
        lines += text->data[i] == '\n';
    return lines;
}

/* Changes of the program are about different things. */
static size_t advised_before(const struct gp_remedies *changes, size_t end)
{
    const struct gp_remedy *list = changes->list;
    size_t count = 0;
    for (size_t i = 0; i < end && list[end].first->row; i++)
        count += list[i].first->row == list[end].first->row;
    return count;
}

/* "a [128] up to 18 %, b [128] up to 11 %, and 3 more: " */
static void add_kernels_of(const struct shown *s, const struct gp_remedy *change,
                           const struct gp_advice_list *list, struct gp_text *out)
{
    const struct gp_advice *a = change->first;
    size_t named = 0;
    for (; a && named < MOST_NAMED; a = gp_remedy_next(change, list, a), named++) {
        char name[GP_ROW_NAME_SIZE], gain[GP_GAIN_SIZE];
        gp_row_names_format(&s->advice, a->row, name);
        gp_gain_format(a->gain, a->up_to, gain);
        gp_text_addf(out, "%s%s %s", named ? ", " : "", name, gain);
    }
    if (change->kernels > named)
        gp_text_addf(out, ", and %zu more", change->kernels - named);
    gp_text_add(out, ": ");
}

/* Advice that another kernel has already is not repeated. */
static void add_change(const struct shown *s, const struct gp_remedy *change,
                       const struct gp_advice_list *list, size_t number, size_t same_as,
                       struct gp_text *out)
{
    const struct gp_advice *a = change->first;
    char name[GP_ROW_NAME_SIZE] = "the program", gain[GP_GAIN_SIZE];
    struct gp_text line = {0};
    if (change->kernels > 1)
        snprintf(name, sizeof(name), "%zu kernels", change->kernels);
    else if (a->row)
        gp_row_names_format(&s->advice, a->row, name);
    gp_gain_format(change->gain, a->up_to, gain);
    gp_text_addf(&line, "%zu. %s%s: %s", number, gain, a->rule->of_run ? " of the run" : "", name);
    if (a->where)
        gp_text_addf(&line, ", %s", a->where);
    gp_text_addf(&line, " (%s)", a->rule->name);
    gp_wrap_to(out, s->width, 3, gp_text_string(&line));
    gp_text_clear(&line);
    gp_text_add(&line, "   ");
    if (change->kernels > 1)
        add_kernels_of(s, change, list, &line);
    else
        gp_advice_grids(s->rows, a, &line);
    if (same_as)
        gp_text_addf(&line, "%s: as under %zu", a->evidence, same_as);
    else
        gp_text_addf(&line, "%s: %s", a->evidence, a->text);
    gp_wrap_to(out, s->width, 3, gp_text_string(&line));
    out->failed |= line.failed;
    gp_text_free(&line);
}

/* The number of the change shown whose text is the same, 0 where there is none. */
static size_t said_under(const struct gp_remedies *changes, const size_t *shown, size_t count,
                         const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(changes->list[shown[i]].first->text, text) == 0)
            return i + 1;
    return 0;
}

static bool any_of_run(const struct gp_remedies *changes)
{
    size_t i = 0;
    while (i < changes->count && !changes->list[i].first->rule->of_run)
        i++;
    return i < changes->count;
}

/* Gains of the GPU time and gains of the run are only compared by that. */
static void add_share_of_run(const struct gp_rows *rows, struct gp_text *out)
{
    char share[32];
    const double busy = 1 - gp_host_idle_share(rows);
    if (!isfinite(busy))
        return;
    gp_unit_format(100 * busy, "%", share, sizeof(share));
    gp_text_addf(out, " (~%s of the run)", share);
}

/* `used` lines of the screen are there already, or will be. */
static void add_changes(const struct shown *s, const struct gp_findings *f, size_t used,
                        struct gp_text *out)
{
    const struct gp_advice_list *list = &f->advice;
    struct gp_remedies changes;
    size_t begin = out->length, said[MOST_CHANGES];
    size_t number = 0, known = 0, measured = 0, roofs = 0, large = 0;
    out->failed |= !gp_remedies_make(&changes, list);
    gp_text_add(out, "\nWORTH CHANGING, by the estimated gain of the whole GPU time");
    if (any_of_run(&changes))
        add_share_of_run(s->rows, out);
    if (gp_findings_assume_fastest(f, s->rows))
        gp_text_add(out, s->width < WIDE_HEADING ? "\n   with the fastest configurations"
                                                 : " with the fastest configurations");
    gp_text_add(out, "\n");
    for (size_t i = 0; i < changes.count && number < MOST_CHANGES; i++) {
        if (number >= LEAST_CHANGES &&
            used + lines_in(out, begin) + MOST_LINES_OF_A_CHANGE > MOST_LINES)
            break;
        if (advised_before(&changes, i) >= MOST_OF_A_KERNEL)
            continue;
        size_t same_as = said_under(&changes, said, number, changes.list[i].first->text);
        said[number++] = i;
        add_change(s, &changes.list[i], list, number, same_as, out);
    }
    gp_remedies_free(&changes);
    for (size_t i = 0; i < s->rows->count; i++) {
        measured += s->rows->rows[i].measured > 0;
        known += f->bounds[i].kind != GP_BOUND_UNKNOWN;
        roofs += f->bounds[i].at_roof;
        large += s->rows->rows[i].seconds >= GP_ADVISED_SHARE * s->rows->seconds;
    }
    if (number > 0)
        return;
    if (measured == 0)
        gp_text_add(out, "   nothing was measured to give advice on\n");
    else if (known == 0) {
        gp_text_add(out, "   the bound of the kernels is not known\n");
    } else if (large == 0)
        gp_text_add(out, "   no kernel takes so much of the time that it matters\n");
    else
        gp_text_addf(out, "   no rule of advice applies to these kernels%s\n",
                     roofs > 0 ? "; some are at their roof" : "");
}

/* ---- missing values -------------------------------------------------------------------------- */

static void add_not_measured(const struct gp_summary *s, size_t width, struct gp_text *out)
{
    size_t said = 0, next = 0;
    uint64_t rest = gp_summary_other_skips(s), launches;
    do {
        struct gp_text line = {0};
        gp_text_add(&line, "   ");
        launches = gp_skips_next(s, &next, LONGEST_REASON, &line);
        if (launches > 0 && said == 0)
            gp_text_add(out, "\nNOT MEASURED, or not completely\n");
        if (launches > 0 && said++ < MOST_REASONS)
            gp_wrap_to(out, width, 6, gp_text_string(&line));
        else
            rest += launches;
        out->failed |= line.failed;
        gp_text_free(&line);
    } while (launches > 0);
    if (rest > 0)
        gp_text_addf(out, "   and %" PRIu64 " more launches for further reasons\n", rest);
}

/* The launches and values that are missing, and how to see more. */
static void add_behind(const struct gp_summary *s, const char *profile, size_t width,
                       struct gp_text *out)
{
    add_not_measured(s, width, out);
    if (profile && *profile) {
        struct gp_text name = {0};
        gp_text_add_escaped(&name, profile, strlen(profile));
        gp_text_add(out, "\nMore: gpuprof report --details ");
        gp_wrap_to(out, width, 3, gp_text_string(&name));
        out->failed |= name.failed;
        gp_text_free(&name);
    } else if (profile) {
        gp_text_add(out, "\n");
        gp_wrap_to(out, width, 3,
                   "More: GPUPROF_REPORT=details, or a profile (-o FILE) and gpuprof report "
                   "--details FILE");
    }
}

size_t gp_screen_width(size_t width)
{
    return width == 0 ? GP_COLUMNS : width < LEAST_WIDTH ? LEAST_WIDTH : width;
}

/* The lines of a table, and of the least advice under it. */
static size_t least_lines(const struct shown *s, const struct gp_findings *f,
                          const struct gp_kernel_table_options *table)
{
    struct gp_text out = {0};
    gp_kernel_table(s->rows, f, table, &out);
    add_tunings(s, &f->tunings, &out);
    add_changes(s, f, MOST_LINES, &out);
    const size_t lines = lines_in(&out, 0);
    gp_text_free(&out);
    return lines;
}

/* Kernels, and the changes; `used` lines of the screen are there already, or will be. */
static void add_kernels(const struct shown *s, const struct gp_findings *f,
                        const struct gp_screen_options *options, size_t used, struct gp_text *out)
{
    struct gp_kernel_table_options table = {
        .names = &s->table, .sources = options->sources, .count = s->kernels, .width = s->width};
    const size_t begin = out->length, least = ABOVE + used + least_lines(s, f, &table);
    table.more = least + LEAST_MORE < MOST_LINES ? MOST_LINES - least : LEAST_MORE;
    if (options->kernels)
        table.more = SIZE_MAX;
    gp_kernel_table(s->rows, f, &table, out);
    add_tunings(s, &f->tunings, out);
    add_changes(s, f, used + lines_in(out, begin), out);
}

void gp_screen(const struct gp_rows *rows, const struct gp_findings *findings,
               const struct gp_whole *whole, const struct gp_screen_options *options,
               struct gp_text *out)
{
    size_t most = options->kernels ? options->kernels : MOST_KERNELS;
    struct shown s = {.rows = rows,
                      .kernels = rows->count < most ? rows->count : most,
                      .width = gp_screen_width(options->width)};
    struct gp_text behind = {0};
    size_t begin = out->length;
    add_behind(rows->summary, options->profile, s.width, &behind);
    gp_screen_headline(rows->summary, s.width, out);
    gp_whole_text(whole, s.width, out);
    if (name_rows(&s)) {
        add_kernels(&s, findings, options, lines_in(out, begin) + lines_in(&behind, 0), out);
    } else {
        out->failed = true;
    }
    forget_names(&s);
    gp_text_add(out, gp_text_string(&behind));
    out->failed |= behind.failed;
    gp_text_free(&behind);
}
