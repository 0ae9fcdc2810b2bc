/* Functions of mathematics in full single precision, found in machine code: sinf, expf, a quotient
 * and so on, which compilers write as many instructions where a faster one of lower accuracy takes
 * two (__sinf, __expf, __fdividef). Pure. */
#ifndef GPUPROF_CODE_ACCURATE_H
#define GPUPROF_CODE_ACCURATE_H

#include <stdbool.h>
#include <stdint.h>

/* True for one instruction of each such function, by a number in it that stands nowhere else, or as
 * nothing else is done by it. */
bool gp_is_accurate_function(const uint64_t word[2]);

/* True for that instruction of quotients: a multiplication can stand for one, with no special
 * function at all. */
bool gp_is_accurate_quotient(const uint64_t word[2]);

/* The instruction is that of a sine, a cosine or a tangent, which read a table where the angle is
 * large. */
bool gp_is_accurate_angle(const uint64_t word[2]);

#endif
