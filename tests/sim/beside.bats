#!/usr/bin/env bats
# Launches that reach the driver past our exports, and other ways into a process than LD_PRELOAD.

load common

library() { echo "$programs/libsnippets.so"; }

@test "a library loaded with RTLD_DEEPBIND, which asks the linker's own dlsym" {
    for how in plain deep; do
        for way in dlsym runtime; do
            same_with_and_without "$programs/loads_dlopen" $how "$(library)" $way vector_add one_lane
            [ "$(measured)" -eq 2 ]
        done
    done
}

# injected COMMAND...: the same output and status, the library loaded by the driver alone.
injected() {
    rm -f "$profile" "$log"
    "$@" >"$BATS_TEST_TMPDIR/plain.out" 2>"$BATS_TEST_TMPDIR/plain.err"
    preload='' profiled env CUDA_INJECTION64_PATH="$GPUPROF_BUILD/libgpuprof.so" "$@"
    diff "$BATS_TEST_TMPDIR/plain.out" "$BATS_TEST_TMPDIR/ours.out"
    diff "$BATS_TEST_TMPDIR/plain.err" "$BATS_TEST_TMPDIR/ours.err"
}

@test "CUDA_INJECTION64_PATH alone: what the program asked for before cuInit is found as well" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the sanitizers' runtimes have to be preloaded"
    for how in plain deep; do
        for way in dlsym runtime; do
            injected "$programs/loads_dlopen" $how "$(library)" $way vector_add one_lane
            [ "$(measured)" -eq 2 ]
        done
    done
    injected "$programs/exits_linked" return
    [ "$(measured)" -gt 0 ]
}

@test "CUDA_INJECTION64_PATH alone, and addresses that only the stack has: a line says that nothing is seen" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the sanitizers' runtimes have to be preloaded"
    injected "$programs/snippets_dlopen" vector_add
    grep -qx 'gpuprof: the program uses CUDA in a way that gpuprof does not see: nothing is measured' "$log"
}

@test "the command has the driver load the library, too, where no other tool is to be" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "the sanitizers' runtimes have to be preloaded"
    # A program that drops LD_PRELOAD on the way.
    "$GPUPROF_BUILD/gpuprof" -o "$profile" env -u LD_PRELOAD "$programs/exits_linked" return >"$BATS_TEST_TMPDIR/out" 2>&1
    [ "$(measured)" -gt 0 ]
    [ "$(CUDA_INJECTION64_PATH=/other.so "$GPUPROF_BUILD/gpuprof" printenv CUDA_INJECTION64_PATH 2>/dev/null)" = /other.so ]
}

@test "a library that dlmopen has loaded: a line says that its launches are not seen" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "dlmopen of a library with a sanitizer in it does not work"
    "$programs/loads_dlopen" apart "$(library)" runtime vector_add >"$BATS_TEST_TMPDIR/plain"
    "$GPUPROF_BUILD/gpuprof" "$programs/loads_dlopen" apart "$(library)" runtime vector_add >"$BATS_TEST_TMPDIR/out" 2>"$log"
    diff "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/out"
    [ "$(cat "$log")" = "gpuprof: CUDA is used in a library that was loaded by dlmopen: its launches are not seen" ]
}
