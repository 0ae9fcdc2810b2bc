/* Large pieces of memory. In pages of 2 MB, where the system has such pages to give: to touch 20 MB
 * in pages of 4 KB for the first time takes 5000 faults. */
#ifndef GPUPROF_BASE_PAGES_H
#define GPUPROF_BASE_PAGES_H

#include <stddef.h>

/* Memory of so many bytes, all zero; NULL where there is none. errno may change. */
void *gp_pages_take(size_t bytes);
/* Gives it back, by the size that was asked for. NULL is allowed. */
void gp_pages_give(void *memory, size_t bytes);

#endif
