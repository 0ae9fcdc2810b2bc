/*
 * Threads of one block that wait for each other at a barrier: each has a stack of its own and is
 * switched to by hand, so that a million of them a second cost nothing worth mentioning.
 */
#ifndef GPUSIM_COROUTINE_H
#define GPUSIM_COROUTINE_H

#include <stdbool.h>
#include <stddef.h>

struct gpusim_coroutine {
    void *stack_pointer; /* of whichever side is not running */
    void *caller_pointer;
    unsigned char *stack;
    size_t stack_bytes;
    void (*body)(void *argument);
    void *argument;
    bool done;
    /* The facts of the two stacks, for the address sanitizer. */
    void *fake_stack, *caller_fake_stack;
    const void *caller_bottom;
    size_t caller_bytes;
};

/* count coroutines with stacks, not yet started; NULL when memory is out. */
struct gpusim_coroutine *gpusim_coroutines_new(unsigned count);
void gpusim_coroutines_free(struct gpusim_coroutine *all, unsigned count);

/* Makes the coroutine begin body(argument) at its next resume, from any state. */
void gpusim_coroutine_start(struct gpusim_coroutine *c, void (*body)(void *), void *argument);

/* Runs the coroutine until it yields or ends; then done says which. */
void gpusim_coroutine_resume(struct gpusim_coroutine *c);

/* From inside: goes back to the caller of resume. */
void gpusim_coroutine_yield(struct gpusim_coroutine *c);

#endif
