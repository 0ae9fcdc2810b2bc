/* Text from elsewhere (names of kernels and files, arguments) inside a Markdown document: its
 * readers see the text as it is, as GitHub's own parser and others take it. */
#ifndef GPUPROF_BASE_MARKDOWN_H
#define GPUPROF_BASE_MARKDOWN_H

#include "base/text.h"

#include <stdbool.h>

/* Adds the text as words of a paragraph, a heading or a cell of a table: nothing in it is a mark,
 * an element of HTML, an address that becomes a link, or a person's name that is called. The text
 * is in one line, as base/escape.h makes it. */
void gp_text_add_markdown(struct gp_text *to, const char *text);

/* Adds the text in a code span, as one line; `in_table` where the span stands in a cell. An empty
 * text adds nothing. */
void gp_text_add_markdown_code(struct gp_text *to, const char *text, bool in_table);

#endif
