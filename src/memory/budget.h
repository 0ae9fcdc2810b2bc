/* How much memory copies of the program's may take: GPUPROF_MEMORY. Owns that setting. */
#ifndef GPUPROF_MEMORY_BUDGET_H
#define GPUPROF_MEMORY_BUDGET_H

#include "base/cause.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets it from "512M", "4G" (1024-based; K, M, G, T or none) or "10%" (of the free memory, 0
 * excluded and 100% included). False, and nothing is set, where the text is neither. */
bool gp_budget_set(const char *text);

#endif
