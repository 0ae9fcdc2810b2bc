/* Which words of its parameters may be upper halves of addresses that a kernel uses. Two numbers
 * side by side, 32 bits each, can be equal to an address: where the second one is small, as sizes
 * are, to one of memory that a pool has reserved. Pure. */
#ifndef GPUPROF_CODE_ADDRESS_WORDS_H
#define GPUPROF_CODE_ADDRESS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses whose upper half is so small that numbers of 32 bits side by side can be equal to them.
 */
static inline bool gp_is_low_address(uint64_t address)
{
    return address >> 44 == 0;
}

/* Words of four bytes with a bit each, from the first one on. Those behind may be any. */
#define GP_ADDRESS_WORDS 512u

struct gp_address_words {
    uint64_t whole[GP_ADDRESS_WORDS / 64];
    uint64_t in_bytes[GP_ADDRESS_WORDS / 64]; /* or parts of them, as of addresses not aligned */
};

/* `size` bytes of machine code of one function, for compute capability cc / 10, 7.0 or later, which
 * has `count` words of parameters; those behind may be any. Words that it does not read are none,
 * nor are sizes that it multiplies or shifts. False where that is not known: where it calls another
 * function, goes to an address that it computes, may read its parameters by an address, is too
 * long, or when out of memory.
 *
 * Not found are addresses that the kernel computes of a parameter by a shift of bits and back, by a
 * division and a product with another number than a power of two, by a product with a number known
 * at run time, by the difference to another address in 32 bits, or of bits that go through
 * conditions. */
bool gp_code_address_words(const void *code, size_t size, int cc, unsigned count,
                           struct gp_address_words *words);

/* Whether the eight bytes at that offset of the parameters may be an address. */
bool gp_address_words_may(const struct gp_address_words *words, size_t at);

#endif
