/* The reading of rules, shared by the files that do it: rule_lines.c makes sections of lines,
 * rule_formulas.c formulas and texts of their keys, rules.c rules of sections. */
#ifndef GPUPROF_REPORT_RULE_LOADING_H
#define GPUPROF_REPORT_RULE_LOADING_H

#include "base/text.h"
#include "report/rules.h"

enum gp_rule_key {
    GP_RULE_UNDER,
    GP_RULE_CONDITION,
    GP_RULE_EVIDENCE,
    GP_RULE_TEXT,
    GP_RULE_ESTIMATE,
    GP_RULE_SOURCE,
    GP_RULE_LINES,
    GP_RULE_LINES_IF,
    GP_RULE_HELPS,
    GP_RULE_SCOPE,
    GP_RULE_OF,
    GP_RULE_LIBRARIES,
    GP_RULE_KERNELS,
    GP_RULE_USE,
    GP_RULE_LAST,
    GP_RULE_GUESS,
    GP_RULE_EACH_SM,
    GP_RULE_TITLE,
    GP_RULE_UTILIZATION,
    GP_RULE_COUNTED,
    GP_RULE_AT_MOST,
    GP_RULE_CEILING,
    GP_RULE_KEYS
};

/* One section while it is read. */
struct gp_rule_section {
    bool is_unit;
    char name[49];
    int line;
    struct {
        struct gp_text text;
        int line;
    } keys[GP_RULE_KEYS];
};

struct gp_rule_loading {
    struct gp_rules *rules;
    const struct gp_metrics *metrics;
    struct gp_text *problems;
    const char *file;
    int line;
    bool open, refused; /* a section; it makes no sense */
    int key;            /* that the next line may go on with; -1: none */
    struct gp_rule_section section;
};

/* ---- lines (rule_lines.c) ---- */

/* Reads the lines of a file; `loading` is a struct gp_rule_loading. */
void gp_rule_take_file(void *loading, const char *file, const char *text, size_t length);
void gp_rule_loading_free(struct gp_rule_loading *l);

/* Each adds a line to the problems, and the section is refused. */
void gp_rule_complain(struct gp_rule_loading *l, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void gp_rule_complain_of_key(struct gp_rule_loading *l, enum gp_rule_key key, const char *what);

bool gp_rule_is_given(const struct gp_rule_loading *l, enum gp_rule_key key);
const char *gp_rule_text_of(const struct gp_rule_loading *l, enum gp_rule_key key);

/* Complains where the key is missing. */
void gp_rule_need(struct gp_rule_loading *l, enum gp_rule_key key);

/* Answers which of the words it is, -1 after a complaint. Not given: the first. */
int gp_rule_word(struct gp_rule_loading *l, enum gp_rule_key key, const char *const *words,
                 size_t count);

/* Reads words with commas between them into `found`; 0 behind the last. More than `most` get a
 * complaint. */
void gp_rule_list(struct gp_rule_loading *l, enum gp_rule_key key, const char *const *words,
                  size_t count, unsigned *found, size_t most);

/* To be freed; NULL after a complaint. */
char *gp_rule_copy_of(struct gp_rule_loading *l, enum gp_rule_key key);

/* ---- formulas (rule_formulas.c): NULL after a complaint ---- */

/* A part of a key's value that begins at column `column` of it. */
struct gp_node *gp_rule_formula(struct gp_rule_loading *l, enum gp_rule_key key, const char *text,
                                size_t column);
struct gp_node *gp_rule_formula_between(struct gp_rule_loading *l, enum gp_rule_key key,
                                        const char *begin, const char *end);
/* Reads the parts of a condition; returns how many. */
size_t gp_rule_condition(struct gp_rule_loading *l, enum gp_rule_key key,
                         struct gp_test tests[GP_MOST_TESTS]);
/* The pieces of a text with "{formula:unit}" in it; those before a mistake all the same. */
struct gp_piece *gp_rule_pieces(struct gp_rule_loading *l, enum gp_rule_key key);

/* ---- rules (rules.c) ---- */

/* Makes a bound or a rule of the section that was read. */
void gp_rule_section_ends(struct gp_rule_loading *l);

#endif
