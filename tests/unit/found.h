/* The findings of one launch on an H200, with the shipped rules. */
#ifndef GPUPROF_TESTS_FOUND_H
#define GPUPROF_TESTS_FOUND_H

#include "report/advice.h"
#include "report/sources.h"

#include "sample.h"

/* The findings of one launch, beside nothing else. */
struct found {
    struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_rows rows;
    struct gp_rules *rules;
    struct gp_findings findings;
};

static const struct gp_lines *lines_of(void *user, const struct gp_row *row)
{
    return gp_sources_of(user, row->launch->kernel);
}

/* With the metrics of that list; a counter that was not counted is absent. */
static void find_of(struct found *f, const struct sample *s, struct gp_sources *sources,
                    const char *list)
{
    struct gp_text problems = {0};
    f->metrics = selected(list);
    f->summary = gp_summary_new(f->metrics);
    gp_summary_device(f->summary, &h200);
    gp_summary_launch(f->summary, &s->launch);
    assert_true(gp_rows_make(&f->rows, f->summary));
    f->rules = gp_rules_open(f->metrics, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    assert_true(
        gp_findings_make(&f->findings, f->rules, &f->rows, sources ? lines_of : NULL, sources));
}

static inline void find(struct found *f, const struct sample *s, struct gp_sources *sources)
{
    find_of(f, s, sources, "default,stalls");
}

static inline void forget(struct found *f)
{
    gp_findings_free(&f->findings);
    gp_rules_close(f->rules);
    gp_rows_free(&f->rows);
    gp_summary_free(f->summary);
    gp_metrics_close(f->metrics);
}

#endif
