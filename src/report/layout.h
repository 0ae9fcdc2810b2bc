/* Fitting text into columns. */
#ifndef GPUPROF_REPORT_LAYOUT_H
#define GPUPROF_REPORT_LAYOUT_H

#include "base/text.h"

#define GP_COLUMNS 120

/* Appends `text` behind the text that is already in the line, breaking it at blanks (a word that is
 * too long: anywhere) so that no line is longer than GP_COLUMNS; later lines start with `indent`
 * blanks. Ends the line. */
void gp_wrap(struct gp_text *out, size_t indent, const char *text);

/* Appends `text` as gp_wrap does, in lines of at most `width` columns. */
void gp_wrap_to(struct gp_text *out, size_t width, size_t indent, const char *text);

/* Writes `name` into `out`, which has room for `width` letters and the NUL. A name that is too long
 * loses its namespaces, then its template arguments from the inside out, then its middle. */
void gp_shorten(const char *name, char *out, size_t width);

/* Writes `name` as gp_shorten does, but a name that is too long loses its middle alone. */
void gp_drop_middle(const char *name, char *out, size_t width);

/* "32x8" of {32, 8, 1}: trailing ones left out. */
void gp_extent(const unsigned extent[3], char *out, size_t size);

#endif
