/* The ways on which a function's code comes to an instruction: the instructions before each, in any
 * order of execution. Owns them. Pure. */
#ifndef GPUPROF_CODE_PATHS_H
#define GPUPROF_CODE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_paths {
    const unsigned char *code; /* of the caller; must stay */
    size_t count;              /* instructions */
    int cc;
    /* The instructions before number n: list[starts[n]] to list[starts[n + 1] - 1]. */
    uint32_t *starts, *list;
    uint32_t *loops;   /* two for each: the innermost loop around it, from the first to the last */
    uint32_t *visited; /* by the walk of that number */
    uint32_t *waiting; /* of the walk: to be visited */
    uint32_t walk;
};

/* Longer functions are left out. */
#define GP_LONGEST_CODE ((size_t)1 << 20)

/* `size` bytes of code for compute capability cc / 10, 7.0 or later. Branches, calls within the
 * function and their returns, and tables of targets are followed: an instruction to which nothing
 * else leads is taken for a target of each table. NULL when out of memory, or too long. */
struct gp_paths *gp_paths_open(const void *code, size_t size, int cc);
void gp_paths_close(struct gp_paths *p);

/* The 128 bits of an instruction. */
void gp_paths_word(const struct gp_paths *p, size_t n, uint64_t word[2]);

/* The shortest stretch of code that holds number n and ends in a branch to its begin: from *first
 * to *last, of which there are two instructions or more. False where n is in no loop; then it is
 * the whole code. */
bool gp_paths_loop(const struct gp_paths *p, size_t n, size_t *first, size_t *last);

/* Visits the instructions before number n, those before these and so on, each once, the nearest
 * first; n itself too where a loop leads back to it. Where visit returns false, it goes no further
 * on that way. */
void gp_paths_walk_back(struct gp_paths *p, size_t n, bool (*visit)(void *user, size_t n),
                        void *user);

#endif
