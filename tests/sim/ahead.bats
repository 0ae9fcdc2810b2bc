#!/usr/bin/env bats
# CUPTI is loaded beside the program's own start, by a thread of ours.

load common

# A libcupti that takes its time to be loaded, and makes the file LOADED when it is.
slow_cupti() {
    export LOADED=$BATS_TEST_TMPDIR/loaded
    cat >"$BATS_TEST_TMPDIR/slow.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{
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

@test "a library that launches kernels while it is loaded" {
    slow_cupti
    cat >"$BATS_TEST_TMPDIR/early.c" <<'C'
#include <stdint.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void)
{
    ((void (*)(void))(uintptr_t)strtoull(getenv("CALL"), NULL, 16))();
}
C
    cc -shared -fPIC -o "$BATS_TEST_TMPDIR/libearly.so" "$BATS_TEST_TMPDIR/early.c"
    same_with_and_without "$programs/ahead_linked" library "$BATS_TEST_TMPDIR/libearly.so"
    grep -q vector_add "$BATS_TEST_TMPDIR/ours.out"
    [ "$(measured)" -eq 1 ]
}
