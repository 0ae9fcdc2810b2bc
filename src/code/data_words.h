/* Which words of its parameters a kernel takes as data only: their values get into numbers that it
 * computes and stores, and into no address and no condition. Launches that differ in such words
 * alone execute the same instructions on the same memory in the same order. Pure. */
#ifndef GPUPROF_CODE_DATA_WORDS_H
#define GPUPROF_CODE_DATA_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Words of four bytes with a bit each, from the first one on. */
#define GP_DATA_WORDS 64u

/* `size` bytes of machine code of one function, for compute capability cc / 10, 7.0 or later. Bit i
 * is set where word i is data only, or not read. 0 where that is not known: where the function
 * calls another one or goes to an address that it computes, where it reads no parameter at all, or
 * when out of memory. */
uint64_t gp_code_data_words(const void *code, size_t size, int cc);

#endif
