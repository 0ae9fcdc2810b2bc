/* Where ini files come from: those that the build put into the program, and those in the user's
 * folders. */
#ifndef GPUPROF_BASE_INIFILES_H
#define GPUPROF_BASE_INIFILES_H

#include "base/text.h"

/* Takes one file; `file` and `text` are gone when it returns. */
typedef void gp_take_ini(void *user, const char *file, const char *text, size_t length);

/* The shipped files lie one behind the other in [text, end), each under a line "; file NAME". */
void gp_ini_shipped(const char *text, const char *end, gp_take_ini *take, void *user);

/* The *.ini files of $XDG_CONFIG_HOME/gpuprof (else ~/.config/gpuprof) and of each folder of
 * GPUPROF_METRICS_PATH, in alphabetical order; of the folder `below` in each of these, where it is
 * not NULL. A file that cannot be read adds one line to `problems`; so does a missing folder that
 * GPUPROF_METRICS_PATH names. */
void gp_ini_users(const char *below, gp_take_ini *take, void *user, struct gp_text *problems);

#endif
