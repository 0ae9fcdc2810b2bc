/* Memory that a program divides among its arrays by itself: an allocation of which launches have
 * had addresses of the inside as parameters. A launch reaches parts of it. Its contents are cut
 * into units (memory/work.h), and a digest of each is kept up to date, so that it shows where a
 * launch has written to parts of which there was no copy.
 *
 * The digests follow writes that are known. Before other writes these functions are called, from
 * any thread, with the gate unlocked: else held launches would be lost, but nothing more, as the
 * digests show any write. */
#ifndef GPUPROF_MEMORY_DIVIDED_H
#define GPUPROF_MEMORY_DIVIDED_H

#include "cuda/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory around the address is about to be written (so many bytes; 0: any of it), all of it may
 * be, or it is freed. True where a launch that is held reaches it: these are to be drained before.
 */
bool gp_divided_is_there(CUdeviceptr address); /* the first is of use there */
bool gp_divided_is_written(CUdeviceptr address, uint64_t bytes);
bool gp_divided_all_written(void);
/* Memory is about to be written by a launch: that around each address among these bytes, which are
 * its parameters. An address is a word of 8 bytes, at any offset. */
bool gp_divided_led_written(const void *bytes, size_t size);
/* False where none of that changes anything: no digests are up to date, and no launch is held. */
bool gp_divided_any(void);
bool gp_divided_is_freed(CUdeviceptr address, uint64_t bytes);

#endif
