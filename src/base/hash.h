/* uthash for code that runs inside somebody else's process: running out of memory does not end the
 * program; an element that could not be added has hh.tbl == NULL after HASH_ADD. */
#ifndef GPUPROF_BASE_HASH_H
#define GPUPROF_BASE_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
