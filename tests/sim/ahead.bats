#!/usr/bin/env bats
# CUPTI is loaded beside the program's own start, by a thread of ours.

load common

# A libcupti that takes its time and some stack to be loaded, and makes the file LOADED when it is.
slow_cupti() {
    export LOADED=$BATS_TEST_TMPDIR/loaded
    cat >"$BATS_TEST_TMPDIR/slow.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{
    volatile char large[256 << 10];
    memset((void *)large, 1, sizeof(large));
    usleep(300000);
    FILE *file = fopen(getenv("LOADED"), "w");
    if (file)
        fclose(file);
}
C
    cc -shared -fPIC -o "$BATS_TEST_TMPDIR/libcupti.so.13" "$BATS_TEST_TMPDIR/slow.c" \
        -Wl,--no-as-needed "$sim/libcupti.so.13"
    export GPUPROF_CUPTI=$BATS_TEST_TMPDIR/libcupti.so.13
}

@test "a fork waits for it: a child finds the loader's lists whole" {
    slow_cupti
    for _ in 1 2 3; do
        rm -f "$LOADED"
        profiled "$programs/ahead_linked" fork
        grep -qx loaded "$BATS_TEST_TMPDIR/ours.out"
        [ "$(measured)" -eq 1 ]
    done
}

# A library that calls, while it is loaded, the function whose address is in CALL.
early_library() {
    cat >"$BATS_TEST_TMPDIR/early.c" <<'C'
#include <stdint.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void)
{
    ((void (*)(void))(uintptr_t)strtoull(getenv("CALL"), NULL, 16))();
}
C
    cc -shared -fPIC -o "$BATS_TEST_TMPDIR/libearly.so" "$BATS_TEST_TMPDIR/early.c"
}

@test "a library that launches kernels while it is loaded" {
    slow_cupti
    early_library
    same_with_and_without "$programs/ahead_linked" library "$BATS_TEST_TMPDIR/libearly.so"
    grep -q vector_add "$BATS_TEST_TMPDIR/ours.out"
    [ "$(measured)" -eq 1 ]
}

@test "forks of a library that is being loaded do not wait again and again" {
    slow_cupti
    early_library
    SECONDS=0
    profiled "$programs/ahead_linked" forks "$BATS_TEST_TMPDIR/libearly.so"
    # One wait takes 2 s; all of them would take 100.
    [ "$SECONDS" -lt 60 ]
}

@test "a thread that is to be cancelled forks all the same" {
    slow_cupti
    same_with_and_without "$programs/ahead_linked" cancelled
    grep -qx forked "$BATS_TEST_TMPDIR/ours.out"
}

@test "the program's threads have little stack by default" {
    slow_cupti
    same_with_and_without "$programs/ahead_linked" stack
    [ "$(measured)" -eq 1 ]
}

@test "the program's environment is read in its own thread, which may change it" {
    slow_cupti
    cat >"$BATS_TEST_TMPDIR/reads.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
char *secure_getenv(const char *name)
{
    if (gettid() != getpid())
        fprintf(stderr, "%s is read in another thread\n", name);
    else if (getenv("READS"))
        fprintf(stderr, "%s is read\n", name);
    return getenv(name);
}
C
    cc -shared -fPIC -o "$BATS_TEST_TMPDIR/libreads.so" "$BATS_TEST_TMPDIR/reads.c"
    preload+=:$BATS_TEST_TMPDIR/libreads.so
    same_with_and_without "$programs/ahead_linked" cancelled
    READS=1 profiled "$programs/ahead_linked" start
    grep -qx 'GPUPROF_CUPTI is read' "$BATS_TEST_TMPDIR/ours.err"
}
