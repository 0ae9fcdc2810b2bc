/* How much memory copies of the program's may take: GPUPROF_MEMORY. Owns that setting. */
#ifndef GPUPROF_MEMORY_BUDGET_H
#define GPUPROF_MEMORY_BUDGET_H

#include "base/cause.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes left free on a device for the program's next allocations. */
#define GP_DEVICE_RESERVE ((uint64_t)256 << 20)

/* Sets it from "512M", "4G" (1024-based; K, M, G, T or none) or "10%" (of the free memory, 0
 * excluded and 100% included). False, and nothing is set, where the text is neither. */
bool gp_budget_set(const char *text);

/* Bytes that copies may take on a device, and beside that in page-locked host memory, with so many
 * bytes free in either (those we hold already counted as free). */
struct gp_room {
    uint64_t device, host;
};
struct gp_room memory_budget(uint64_t free_on_device, uint64_t free_on_host);

/* OVER_LIMIT, "the launch's memory (60 GB) is more than GPUPROF_MEMORY allows (13 GB)". */
struct gp_reason memory_budget_exceeded(uint64_t needed, uint64_t allowed);

#endif
