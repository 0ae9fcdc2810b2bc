/* Programs that are linked with the runtime of gcc's address sanitizer. */
#ifndef GPUPROF_CLI_CHECKED_H
#define GPUPROF_CLI_CHECKED_H

#include <stdbool.h>

/* Whether the program at that path is. Such a runtime ends a process in which a library was loaded
 * before it, as those of LD_PRELOAD are. */
bool cli_is_linked_with_checker(const char *path);

/* Tells that runtime to bear it: ours stands in for none of its functions. */
void cli_let_preload(void);

#endif
