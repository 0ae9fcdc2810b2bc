/* For tests that ask CUPTI's host library, which needs no GPU. */
#ifndef GPUPROF_TESTS_NEED_CUPTI_H
#define GPUPROF_TESTS_NEED_CUPTI_H

#include "cuda/cupti.h"
#include "sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Skips the test where there is no such library. */
static inline void need_cupti(void)
{
    static const char *const wheel = "build/cuda/lib/libcupti.so.13";
    struct gp_reason why = {.text = "the address sanitizer"};
    if (!SANITIZED && access(wheel, R_OK) == 0)
        setenv("GPUPROF_CUPTI", wheel, 0);
    if (!SANITIZED)
        gp_real_dlsym_find();
    if (!SANITIZED && gp_cupti_find(&why) && gp_cupti_has_ranges())
        return;
    print_message("skipped: %s\n", why.text);
    skip();
}

#endif
