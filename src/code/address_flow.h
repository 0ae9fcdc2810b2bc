/* Only for addresses.c. */
#ifndef GPUPROF_CODE_ADDRESS_FLOW_H
#define GPUPROF_CODE_ADDRESS_FLOW_H

#include <stdbool.h>
#include <stddef.h>

/* Finds out where the numbers get to that a function loads, as bits in *found: addresses that are
 * loaded, that follow from answers of atomic operations, and memory that is written at loaded
 * numbers. False where that is not known. words_apart: no two words of memory are loaded from side
 * by side. */
enum { GP_ADDRESS_LOADED = 1, GP_ADDRESS_FROM_ANSWER = 2, GP_WRITES_AT_LOADED = 4 };
bool gp_address_flow(const void *code, size_t size, int cc, bool words_apart, unsigned *found);

#endif
