/* Shared by the host and our own kernels: the pieces of memory to copy, compare or hash, the table
 * of the program's buffers in which pointers are looked up, and the kernels' answers.
 *
 * Work is handed out in units: the memory of a segment is cut at multiples of GP_UNIT_BYTES,
 * counted from the 16-byte boundary at or before its first byte; one block of threads does one unit
 * at a time. All addresses are as kernels see them. */
#ifndef GPUPROF_MEMORY_WORK_H
#define GPUPROF_MEMORY_WORK_H

#include <stdint.h>

#define GP_UNIT_BYTES (16u * 1024u)
#define GP_UNIT_THREADS 256
/* Distances at which a copy and its original are the same: whole cache lines move. */
#define GP_COPY_ALIGNMENT 128u

struct gp_segment {
    uint64_t live;  /* in the program's buffer */
    uint64_t saved; /* its copy; equal to live modulo GP_COPY_ALIGNMENT; 0 where there is none */
    uint64_t bytes; /* more than 0 */
    uint64_t start; /* of the buffer that it is a part of */
    uint64_t first_unit; /* units of all segments before this one */
    /* uint64_t[]: digests of its units, each of which is whole and begins at a multiple of its
     * size. 0: it has none. */
    uint64_t digests;
};

/* So few are handed to a kernel as they are, where there is no table on the device. Little of a
 * stack is theirs. */
#define GP_FEW_SEGMENTS 20u
struct gp_few_segments {
    struct gp_segment of[GP_FEW_SEGMENTS];
};

/* The kernels' answer about digests of units, which are hashes of their contents. An alarm is a
 * unit that was not as its digest said when a launch saved it. */
#define GP_MOST_ALARMS 4096u
struct gp_alarm {
    uint64_t unit;   /* its address */
    uint64_t number; /* of the launch's copy */
};
struct gp_digests_answer {
    uint32_t changed; /* units that were not as their digests said, in the check at hand */
    uint32_t alarms;  /* more than GP_MOST_ALARMS: some are not listed */
    struct gp_alarm alarm[GP_MOST_ALARMS];
};

/* A buffer: the memory from start to before end. A pointer to its end counts as one into it. */
struct gp_range {
    uint64_t start, end;
};

/* Words of the upper half of an address with which some buffer's addresses begin, a bit for each;
 * those beyond are not compared. */
#define GP_HIGH_HALVES 65536u

/* Addresses of large buffers are listed, each time that they are found, so many of them. */
#define GP_LARGE_BYTES ((uint64_t)4 << 20)
#define GP_MOST_LED 65536u

struct gp_table {
    uint64_t ranges;     /* gp_range[count], in order of address; none overlaps another */
    uint64_t marks;      /* uint32_t[count]: the round of launches in which it was found last */
    uint64_t list;       /* uint32_t[count]: those found, in order of finding */
    uint64_t high;       /* uint32_t[GP_HIGH_HALVES / 32]: the upper halves of their addresses */
    uint64_t led;        /* uint64_t[GP_MOST_LED]: addresses of large buffers; 0: none is listed */
    uint64_t first, end; /* all of them lie in between; both 0 while there are none */
    uint64_t count;
};

/* The most ranges found that come with the answer itself. */
#define GP_FOUND_AT_ONCE 120u

struct gp_answer {
    uint64_t
        changed_bytes;  /* written back, in words of 16 bytes; less where a buffer begins or ends */
    uint32_t watched;   /* not 0: memory changed that is never written back */
    uint32_t elsewhere; /* hashes that are not as they were */
    uint32_t found;     /* ranges found in the round so far */
    uint32_t kept;      /* units that the program's own run has changed */
    uint32_t led;       /* addresses listed so far; more than GP_MOST_LED: some are lost */
    uint32_t at_once[GP_FOUND_AT_ONCE];
};

#endif
