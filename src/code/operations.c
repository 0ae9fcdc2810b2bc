#include "code/operations.h"

#include "code/instruction.h"

#include <string.h>

#define OPERATION 0x1ff
#define NOP 0x118

size_t gp_operations_of(const void *code, size_t size, uint16_t *operations)
{
    size_t count = size / GP_INSTRUCTION_BYTES;
    for (size_t i = 0; i < count; i++) {
        uint16_t low;
        memcpy(&low, (const char *)code + i * GP_INSTRUCTION_BYTES, sizeof(low));
        operations[i] = low & OPERATION;
    }
    while (count > 0 && operations[count - 1] == NOP)
        count--;
    return count;
}
