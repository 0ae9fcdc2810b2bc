/* The numbers of a thread and its block, and their parts: quotients, remainders, some of the bits.
 * A part is a number of its own that follows from those it was made of; these do not follow from
 * it. So it is known whether one of two values follows from the other, however a program computes
 * rows and columns. Sets are bits, one for each number. Pure. */
#ifndef GPUPROF_CODE_THREAD_PARTS_H
#define GPUPROF_CODE_THREAD_PARTS_H

#include <stdint.h>

#define GP_MOST_NUMBERS 27

/* Zeroed at first; numbers up to `given` are no parts. */
struct gp_thread_parts {
    unsigned given, count; /* count: of all; 0 before the first part */
    struct {
        uint32_t of;   /* the numbers that it was made of */
        uint64_t how;  /* parts of the same that were made otherwise have another */
        uint32_t bits; /* of these it has these bits */
    } part[GP_MOST_NUMBERS];
};

/* The part of a set; the same one each time. The set itself where it is empty or there are too many
 * parts. */
uint32_t gp_thread_part(struct gp_thread_parts *p, uint32_t of, uint64_t how, uint32_t bits);

/* All numbers that follow from these, with them. */
uint32_t gp_thread_parts_implied(const struct gp_thread_parts *p, uint32_t numbers);

#endif
