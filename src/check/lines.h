/* Files of sections and lines, as thresholds and tolerances are written: "[kernel pattern]", then
 * one rule to a line. INI in shape; but a rule has <, <= and > in it, a pattern has brackets, and
 * errors name a column, which is why inih is not asked. */
#ifndef GPUPROF_CHECK_LINES_H
#define GPUPROF_CHECK_LINES_H

#include "base/text.h"
#include "check/selector.h"

#include <stdbool.h>
#include <stddef.h>

#define GP_LONGEST_LINE (66 << 10) /* the longest pattern fits */
#define GP_LARGEST_RULES (1 << 20) /* bytes of a file */
#define GP_MOST_SECTIONS 1000

struct gp_lines_visitor {
    void *user;
    /* A section begins. Takes the selector over; false when out of memory: then it is the
     * caller's still. */
    bool (*section)(void *user, const struct gp_selector *selector, int line);
    /* A line of the last section that is no comment: blanks and a comment at its end are gone.
     * `column` is that of its first letter, from 1. It may be changed. Rules of a section that was
     * refused are left out. */
    void (*rule)(void *user, char *text, int line, int column);
};

/* Mistakes in the shape of the file and in its patterns add lines "file:line:column: ..." to
 * `problems`. */
void gp_lines_read(const char *file, const char *text, size_t length,
                   const struct gp_lines_visitor *visitor, struct gp_text *problems);

/* The whole file, NULL with the reason in `why`; to be freed. A pipe that brings nothing for five
 * seconds is such a reason. */
char *gp_file_read(const char *path, size_t most, size_t *length, char *why, size_t why_size);

/* Cuts the blanks off both ends; returns where the rest begins. */
char *gp_trim(char *text);

#endif
