#!/usr/bin/env bats
# Programs under tools that check their memory or threads, and with allocators in place of libc's: their
# output and status are as without gpuprof, and there is a report.

load common

# compiled NAME COMMAND...: the program of that name, built by a compiler with a sanitizer; skips where that is not
# there, or where the sanitizer does not work.
compiled() {
    local name=$1 repository=$BATS_TEST_DIRNAME/../.. cuda
    shift
    cuda=$(make -s -C "$repository" cuda-home)
    command -v "$1" >/dev/null || skip "$1 is not installed"
    "$@" -g -O1 -std=gnu11 -D_GNU_SOURCE -w -iquote "$repository/tests/sim" -iquote "$repository/tests" \
        -iquote "$repository/src" -I "$cuda/include" -I "$cuda/extras/CUPTI/include" -I "$GPUPROF_BUILD/compat" \
        -o "$BATS_TEST_TMPDIR/$name" "$repository/tests/sim/programs/$name.c" "$sim/libcuda.so.1" \
        "$sim/libcupti.so.13" -lpthread -ldl -lm || skip "no program can be built with: $*"
}

# commanded COMMAND...: by the command; the rest as same_with_and_without. Skips where the tool takes the program for a
# faulty one without gpuprof, as clang's memory sanitizer of Debian 13 does: it does not know that C library.
commanded() {
    local plain=0 ours=0
    "$@" >"$BATS_TEST_TMPDIR/plain.out" 2>"$BATS_TEST_TMPDIR/plain.err" || plain=$?
    [ "$plain" = 0 ] || skip "without gpuprof it ends with $plain: $(head -n 1 "$BATS_TEST_TMPDIR/plain.err")"
    GPUPROF_LOG=$log GPUPROF_OUTPUT=$profile "$GPUPROF_BUILD/gpuprof" "$@" \
        >"$BATS_TEST_TMPDIR/ours.out" 2>"$BATS_TEST_TMPDIR/ours.err" || ours=$?
    diff "$BATS_TEST_TMPDIR/plain.out" "$BATS_TEST_TMPDIR/ours.out"
    diff "$BATS_TEST_TMPDIR/plain.err" "$BATS_TEST_TMPDIR/ours.err"
    [ "$ours" = 0 ]
    grep -q "kernel launch.* measured" "$log"
}

all_programs() { # compiler and option
    compiled exits_linked "$@"
    commanded "$BATS_TEST_TMPDIR/exits_linked" return
    [ "$(measured)" -eq 3 ]
    compiled threads_linked "$@"
    commanded "$BATS_TEST_TMPDIR/threads_linked" own 4
    compiled tool_linked "$@"
    commanded "$BATS_TEST_TMPDIR/tool_linked" linked launch subscribe record launch show stop unsubscribe launch
}

not_sanitized() { [ -z "$GPUPROF_RUNTIMES" ] || skip "the library has a sanitizer itself"; }

# bats test_tags=long
@test "clang's address sanitizer" {
    not_sanitized
    all_programs clang -fsanitize=address
}

# bats test_tags=long
@test "clang's thread sanitizer" {
    not_sanitized
    all_programs clang -fsanitize=thread
}

# bats test_tags=long
@test "clang's memory sanitizer" {
    not_sanitized
    all_programs clang -fsanitize=memory
}

@test "gcc's address sanitizer, a library that must be loaded before all others" {
    not_sanitized
    all_programs gcc -fsanitize=address
}

# bats test_tags=long
@test "gcc's thread sanitizer" {
    not_sanitized
    all_programs gcc -fsanitize=thread
}

@test "valgrind" {
    not_sanitized
    command -v valgrind >/dev/null || skip "valgrind is not installed"
    # Its search for leaks would go through all memory that the simulated GPU has reserved.
    commanded valgrind -q --leak-check=no --error-exitcode=9 "$programs/exits_linked" return
    [ "$(measured)" -eq 3 ]
}

@test "jemalloc, tcmalloc and mimalloc" {
    not_sanitized
    tried=0
    for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2 libmimalloc.so.3; do
        found=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk -v name="$allocator" '$1 == name { print $NF; exit }')
        [ -n "$found" ] || continue
        tried=$((tried + 1))
        for program in "exits_linked return" "calls_linked" "threads_linked own 4" "snippets_dlopen vector_add"; do
            # shellcheck disable=SC2086
            set -- $program
            LD_PRELOAD=$found commanded "$programs/$1" "${@:2}"
        done
    done
    [ "$tried" -gt 0 ] || skip "none of them is installed"
}
