/* Texts that live for ever: reasons that are made while the program runs and are kept in records.
 */
#ifndef GPUPROF_BASE_INTERN_H
#define GPUPROF_BASE_INTERN_H

/* The one copy of the text; `instead` (a string that lives for ever) where there are too many texts
 * already, or memory ran out. From any thread. */
const char *gp_intern(const char *text, const char *instead);

#endif
