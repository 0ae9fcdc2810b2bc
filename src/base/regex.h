/* Regular expressions that the user writes and that are matched inside somebody else's process:
 * neither a long one nor one that matches in very many ways takes much time, memory or stack. The
 * syntax is Perl's. Owns the compiled expression. */
#ifndef GPUPROF_BASE_REGEX_H
#define GPUPROF_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct gp_regex;

/* NULL where the text is no expression, or too long a one, with the reason in `why`. */
struct gp_regex *gp_regex_new(const char *text, char *why, size_t why_size);
void gp_regex_free(struct gp_regex *regex);

/* True where some part of `subject` matches. Where that is not found out within a million steps it
 * is false, and *too_hard (else left as it was). One thread at a time. */
bool gp_regex_matches(struct gp_regex *regex, const char *subject, bool *too_hard);

#endif
