/* The host's ordinary memory, which a GPU with access to pageable memory can write as well. */
#ifndef GPUPROF_MEMORY_PAGEABLE_H
#define GPUPROF_MEMORY_PAGEABLE_H

#include <stdbool.h>
#include <stdint.h>

/* True when this process can read the byte at the address, which may be any number. Stretches of
 * addresses that a driver keeps for its devices are not readable. About a microsecond. */
bool host_is_readable(uint64_t address);

#endif
