/* A verdict for people and for CI systems. Owns the list of formats. docs/ci.md says which system
 * reads which. */
#ifndef GPUPROF_CHECK_FORMAT_H
#define GPUPROF_CHECK_FORMAT_H

#include "check/verdict.h"

/* The text around the outcomes. */
struct gp_occasion {
    const char *title; /* "gpuprof check" */
    const char *held;  /* the profiles that were judged: their names, blanks between them */
    const char *host;
    const char *time; /* ISO 8601, without a zone */
};

struct gp_format {
    const char *name;
    const char *help;
    void (*write)(const struct gp_verdict *v, const struct gp_occasion *occasion,
                  struct gp_text *out);
};

/* The names in gp_formats, for the help of options. */
#define GP_FORMAT_NAMES "text, junit, github, gitlab, sarif or markdown"

/* Ends in one without a name. The first is text. */
extern const struct gp_format gp_formats[];

/* NULL where there is none of that name. */
const struct gp_format *gp_format_find(const char *name);

void gp_write_text(const struct gp_verdict *v, const struct gp_occasion *o, struct gp_text *out);
void gp_write_junit(const struct gp_verdict *v, const struct gp_occasion *o, struct gp_text *out);
void gp_write_annotations(const struct gp_verdict *v, const struct gp_occasion *o,
                          struct gp_text *out);
void gp_write_code_quality(const struct gp_verdict *v, const struct gp_occasion *o,
                           struct gp_text *out);
void gp_write_sarif(const struct gp_verdict *v, const struct gp_occasion *o, struct gp_text *out);
void gp_write_markdown(const struct gp_verdict *v, const struct gp_occasion *o,
                       struct gp_text *out);

/* Adds text as UTF-8 that XML and JSON take: other bytes and control characters become '?'. */
void gp_add_clean(struct gp_text *out, const char *s);

/* 16 hexadecimal digits that stay the same as long as rule, kernel and configuration do. */
void gp_fingerprint(const struct gp_outcome *o, char out[17]);

#endif
