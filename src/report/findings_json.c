#include "report/findings_json.h"

#include "report/operands.h"
#include "report/sources.h"

#include <math.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text ? gp_object_text(text) : json_null();
}

json_t *gp_bound_json(struct gp_object *o, const struct gp_rules *rules, const struct gp_bound *b)
{
    json_t *bound = json_object(), *units = json_object();
    gp_object_put(o, bound, "name", gp_object_text(b->name));
    gp_object_put(o, bound, "share", number(b->share));
    gp_object_put(o, bound, "at_roof", json_boolean(b->at_roof));
    gp_object_put(o, bound, "busiest_unit", text_or_null(b->unit));
    gp_object_put(o, bound, "busiest", number(b->unit ? b->utilization : (double)NAN));
    gp_object_put(o, bound, "closeness", number(b->closeness));
    for (size_t i = 0; i < rules->unit_count; i++)
        gp_object_put(o, units, rules->units[i].name, number(b->units[i]));
    gp_object_put(o, bound, "units", units);
    gp_object_put(o, bound, "why", text_or_null(b->why[0] ? b->why : NULL));
    return bound;
}

/* ---- the values that a rule names ------------------------------------------------------------ */

struct naming {
    struct gp_object *o;
    json_t *values;
    const struct gp_subject *subject;
};

static bool put_value(void *user, struct gp_node *operand)
{
    struct naming *n = user;
    struct gp_text name = {0};
    char why[GP_WHY_SIZE];
    double value;
    gp_formula_print(operand, &name);
    bool known = gp_subject_evaluate(n->subject, operand, &value, why, sizeof(why));
    gp_object_put(n->o, n->values, gp_text_string(&name), known ? json_real(value) : json_null());
    n->o->failed |= name.failed;
    gp_text_free(&name);
    return true;
}

static void put_values(struct naming *n, struct gp_node *formula)
{
    if (formula)
        gp_formula_walk(formula, put_value, n);
}

static json_t *all_values(struct gp_object *o, const struct gp_subject *subject,
                          const struct gp_rule *rule)
{
    struct naming n = {.o = o, .values = json_object(), .subject = subject};
    for (size_t i = 0; i < rule->test_count; i++) {
        put_values(&n, rule->tests[i].left);
        put_values(&n, rule->tests[i].right);
    }
    put_values(&n, rule->estimate);
    for (const struct gp_piece *p = rule->evidence; p; p = p->next)
        put_values(&n, p->value);
    for (const struct gp_piece *p = rule->text; p; p = p->next)
        put_values(&n, p->value);
    return n.values;
}

/* The figures of a text in their order, each with the formula that gave it. */
static void append_figures(struct gp_object *o, json_t *figures, const struct gp_subject *subject,
                           const struct gp_piece *piece)
{
    for (; piece; piece = piece->next) {
        char why[GP_WHY_SIZE];
        double value;
        if (!piece->value)
            continue;
        struct gp_text formula = {0};
        json_t *figure = json_object();
        gp_formula_print(piece->value, &formula);
        bool known = gp_subject_evaluate(subject, piece->value, &value, why, sizeof(why));
        gp_object_put(o, figure, "formula", gp_object_text(gp_text_string(&formula)));
        gp_object_put(o, figure, "value", known ? json_real(value) : json_null());
        gp_object_put(o, figure, "unit", gp_object_text(piece->unit));
        gp_object_append(o, figures, figure);
        o->failed |= formula.failed;
        gp_text_free(&formula);
    }
}

static json_t *estimate_text(struct gp_object *o, const struct gp_rule *rule)
{
    struct gp_text formula = {0};
    gp_formula_print(rule->estimate, &formula);
    json_t *text = gp_object_text(gp_text_string(&formula));
    o->failed |= formula.failed;
    gp_text_free(&formula);
    return text;
}

static void put_sequence(struct gp_object *o, json_t *advice, const struct gp_rows *rows,
                         const struct gp_sequence *sequence)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < sequence->count; i++)
        gp_object_append(o, kernels, json_integer(sequence->list[i].row - rows->rows));
    gp_object_put(o, advice, "sequence", kernels);
}

static json_t *advice_object(struct gp_object *o, const struct gp_rows *rows,
                             const struct gp_subject *subject, const struct gp_advice *a)
{
    json_t *advice = json_object(), *figures = json_array(), *grids = json_array();
    gp_object_put(o, advice, "kernel", a->row ? json_integer(a->row - rows->rows) : json_null());
    if (a->sequence)
        put_sequence(o, advice, rows, a->sequence);
    for (size_t i = 0; i < a->group_count; i++) {
        const struct gp_group *group = rows->groups[a->row->first_group + a->groups[i]];
        gp_object_append(o, grids, gp_object_extent(o, group->launch.grid));
    }
    gp_object_put(o, advice, "grids", grids);
    gp_object_put(o, advice, "rule", gp_object_text(a->rule->name));
    gp_object_put(o, advice, "gain", number(a->gain));
    gp_object_put(o, advice, "kernel_gain", number(a->kernel_gain));
    gp_object_put(o, advice, "grid_gain", number(a->grid_gain));
    gp_object_put(o, advice, "of", json_string(a->rule->of_run ? "run" : "gpu"));
    gp_object_put(o, advice, "up_to", json_boolean(a->up_to));
    gp_object_put(o, advice, "guess", json_boolean(a->rule->guess));
    gp_object_put(o, advice, "where", text_or_null(a->where));
    gp_object_put(o, advice, "evidence", gp_object_text(a->evidence));
    gp_object_put(o, advice, "text", gp_object_text(a->text));
    gp_object_put(o, advice, "source", text_or_null(a->rule->source));
    append_figures(o, figures, subject, a->rule->evidence);
    append_figures(o, figures, subject, a->rule->text);
    gp_object_put(o, advice, "figures", figures);
    gp_object_put(o, advice, "estimate", estimate_text(o, a->rule));
    gp_object_put(o, advice, "values", all_values(o, subject, a->rule));
    return advice;
}

json_t *gp_advice_json(struct gp_object *o, const struct gp_rows *rows,
                       const struct gp_findings *findings, const struct gp_sources *sources)
{
    json_t *all = json_array();
    for (size_t i = 0; i < findings->advice.count; i++) {
        const struct gp_advice *a = &findings->advice.list[i];
        const struct gp_lines *lines =
            a->row && sources ? gp_sources_of(sources, a->row->launch->kernel) : NULL;
        struct gp_row one;
        const struct gp_subject subject = gp_findings_subject(findings, rows, a, lines, &one);
        gp_object_append(o, all, advice_object(o, rows, &subject, a));
    }
    return all;
}

/* ---- tunings, and the program as a whole ------------------------------------------------------
 */

static json_t *tuning_object(struct gp_object *o, const struct gp_rows *rows,
                             const struct gp_tuning *tuning)
{
    json_t *one = json_object(), *tried = json_array();
    gp_object_put(o, one, "symbol", gp_object_text(tuning->tried[0].row->launch->kernel));
    gp_object_put(o, one, "launches", gp_object_whole(tuning->launches));
    gp_object_put(o, one, "seconds", number(tuning->seconds));
    for (size_t i = 0; i < tuning->count; i++) {
        const struct gp_tried *t = &tuning->tried[i];
        const struct gp_record *l = &rows->groups[t->row->first_group + t->group]->launch;
        json_t *configuration = json_object();
        gp_object_put(o, configuration, "kernel", json_integer(t->row - rows->rows));
        gp_object_put(o, configuration, "grid", gp_object_extent(o, l->grid));
        gp_object_put(o, configuration, "block", gp_object_extent(o, l->block));
        gp_object_put(o, configuration, "shared_dynamic", gp_object_whole(l->shared_dynamic));
        gp_object_put(o, configuration, "mean", number(t->seconds));
        gp_object_append(o, tried, configuration);
    }
    gp_object_put(o, one, "configurations", tried);
    return one;
}

json_t *gp_tunings_json(struct gp_object *o, const struct gp_rows *rows,
                        const struct gp_tunings *tunings)
{
    json_t *all = json_array();
    for (size_t i = 0; i < tunings->count; i++)
        gp_object_append(o, all, tuning_object(o, rows, &tunings->list[i]));
    return all;
}

static json_t *parts_object(struct gp_object *o, const struct gp_whole_part *parts, size_t count)
{
    json_t *all = json_object();
    for (size_t i = 0; i < count && parts[i].title; i++)
        if (parts[i].seconds > 0)
            gp_object_put(o, all, parts[i].title, number(parts[i].seconds));
    return all;
}

static json_t *known_or_null(double value)
{
    return value > 0 ? number(value) : json_null();
}

static json_t *host_calls_object(struct gp_object *o, const struct gp_whole *w,
                                 enum gp_host_kind kind)
{
    const struct gp_host_calls *calls = &w->host.calls[kind];
    json_t *one = json_object();
    gp_object_put(o, one, "calls", gp_object_whole(calls->calls));
    gp_object_put(o, one, "timed", gp_object_whole(calls->timed));
    gp_object_put(o, one, "seconds", number(gp_host_seconds(&w->host, kind)));
    gp_object_put(o, one, "most_seconds", number(gp_host_most_seconds(calls, w->busy_seconds)));
    return one;
}

static json_t *host_object(struct gp_object *o, const struct gp_whole *w)
{
    const struct gp_host *host = &w->host;
    if (!host->known)
        return json_null();
    json_t *all = json_object(), *copies = host_calls_object(o, w, GP_HOST_COPY);
    gp_object_put(o, copies, "bytes", gp_object_whole(host->calls[GP_HOST_COPY].bytes));
    gp_object_put(o, all, "launches", gp_object_whole(host->launches));
    gp_object_put(o, all, "copies", copies);
    gp_object_put(o, all, "waits", host_calls_object(o, w, GP_HOST_WAIT));
    gp_object_put(o, all, "allocations", host_calls_object(o, w, GP_HOST_ALLOCATION));
    gp_object_put(o, all, "frees", host_calls_object(o, w, GP_HOST_FREE));
    return all;
}

json_t *gp_whole_json(struct gp_object *o, const struct gp_whole *w)
{
    json_t *whole = json_object();
    gp_object_put(o, whole, "processes", gp_object_whole(w->processes));
    gp_object_put(o, whole, "run_seconds", known_or_null(w->run_seconds));
    gp_object_put(o, whole, "gpu_seconds", known_or_null(w->gpu_seconds));
    gp_object_put(o, whole, "apart_seconds", known_or_null(w->apart.seconds));
    gp_object_put(o, whole, "apart_launches", gp_object_whole(w->apart.launches));
    gp_object_put(o, whole, "copy_seconds", known_or_null(w->copy_seconds));
    gp_object_put(o, whole, "graph_launches", gp_object_whole(w->graphs.timed));
    gp_object_put(o, whole, "graph_seconds", known_or_null(w->graphs.seconds));
    gp_object_put(o, whole, "gpu_share", number(w->gpu_share));
    gp_object_put(o, whole, "copy_share", number(w->copy_share));
    gp_object_put(o, whole, "outside_launches",
                  w->window.known ? gp_object_whole(w->window.launches) : json_null());
    gp_object_put(o, whole, "outside_seconds",
                  number(w->window.known ? w->window.seconds : (double)NAN));
    gp_object_put(o, whole, "host", host_object(o, w));
    gp_object_put(o, whole, "estimated", json_boolean(w->estimated));
    gp_object_put(o, whole, "untimed_launches", gp_object_whole(w->untimed));
    gp_object_put(o, whole, "side_by_side", json_boolean(w->side_by_side));
    gp_object_put(o, whole, "flop", number(w->flop.covered > 0 ? w->flop.value : (double)NAN));
    gp_object_put(o, whole, "flop_covered", number(w->flop.covered));
    gp_object_put(o, whole, "flop_share", number(w->flop.share));
    gp_object_put(o, whole, "flop_by_precision", parts_object(o, w->precisions, GP_PRECISIONS));
    gp_object_put(o, whole, "dram_bytes",
                  number(w->dram_bytes.covered > 0 ? w->dram_bytes.value : (double)NAN));
    gp_object_put(o, whole, "dram_covered", number(w->dram_bytes.covered));
    gp_object_put(o, whole, "dram_share", number(w->dram_bytes.share));
    gp_object_put(o, whole, "seconds_by_bound", parts_object(o, w->bounds, GP_WHOLE_BOUNDS));
    gp_object_put(o, whole, "seconds_by_origin", parts_object(o, w->origins, GP_ORIGINS));
    return whole;
}
