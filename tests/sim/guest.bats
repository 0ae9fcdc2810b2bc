#!/usr/bin/env bats
# A guest: hooks need little of the program's stack and keep its floating-point state;
# which kernels are wanted, for all names of kernels and all patterns of the user.

load common

# Names of the linker's are looked up before the thread with the small stack runs.
export LD_BIND_NOW=1

@test "a thread with 16 KiB of stack: no call needs more than 4 of them, and exit is called there" {
    [ -z "$GPUPROF_RUNTIMES" ] || skip "sanitizers take stack of their own"
    for kernels in "" 'scale_in_place' 'no_such_kernel' 'scale_in_place<int\*\*\*'; do
        GPUPROF_KERNELS=$kernels same_with_and_without "$programs/small_stack_linked"
        [ "$(cat "$BATS_TEST_TMPDIR/ours.out")" = "done" ]
    done
    # Every message and metric there is.
    export GPUPROF_METRICS=all GPUPROF_VERIFY=always GPUPROF_TIMEOUT=soon GPUPROF_COPIES=on
    GPUPROF_REPLAY=off same_with_and_without "$programs/small_stack_linked"
    [ "$(cat "$BATS_TEST_TMPDIR/ours.out")" = "done" ]
    GPUSIM_FAULTS=noprivileges same_with_and_without "$programs/small_stack_linked"
    [ "$(cat "$BATS_TEST_TMPDIR/ours.out")" = "done" ]
}

@test "a kernel that writes past the end of a small buffer does not find our tables there" {
    GPUSIM_FAULTS=packed same_with_and_without "$programs/overrun_linked"
    [ "$(measured scale_in_place)" -eq 8 ]
}

@test "floating-point exceptions stay as they were, also at launches that are timed as they pass" {
    local kernels
    for kernels in scale_in_place no_such_kernel; do
        GPUPROF_OVERHEAD=1ms GPUPROF_KERNELS=$kernels same_with_and_without "$programs/small_stack_linked" many
        [ "$(cat "$BATS_TEST_TMPDIR/ours.out")" = "done" ]
    done
}

@test "floating-point exceptions stay as they were, and may be fatal" {
    for copies in off on; do
        GPUPROF_COPIES=$copies same_with_and_without "$programs/small_stack_linked" traps
        [ "$(cat "$BATS_TEST_TMPDIR/ours.out")" = "done" ]
        grep -q ' measured with ' "$log"
    done
}

@test "kernels with names of 2000 letters are shown demangled, and selected by that" {
    GPUPROF_KERNELS='^void scale_in_place<foo::bar, (foo::bar, )+foo::bar>\(float\*' \
        GPUPROF_REPORT=details profiled "$programs/small_stack_linked"
    [ "$(measured)" -eq 4 ]
    [ "$(measured _Z14scale_in_placeIN3foo3bar)" -eq 4 ]
    grep -q "foo::bar, foo::bar" "$log"
}

# selects SECONDS TEXT [LINE]: with a GPUPROF_KERNELS the program runs as always, in that much processor time; a
# line of the log begins with the variable and the text, or with LINE.
selects() {
    (
        ulimit -c 0 -t "$1"
        same_with_and_without "$programs/small_stack_linked"
    )
    grep -qF "gpuprof: ${3:-GPUPROF_KERNELS=$2}" "$log" || { head -c 2000 "$log"; false; }
}

@test "an expression that is long, deep or hard to match neither kills the program nor holds it up" {
    many() { printf "%0$1d" 0 | sed "s/0/$2/g"; }
    GPUPROF_KERNELS=$(many 30000 '(')$(many 30000 ')') selects 3 "((((((((((("
    grep -q "longer than 1000 letters; every kernel is measured" "$log"
    GPUPROF_KERNELS=$(many 400 '(')a$(many 400 ')') selects 3 "((((((((((("
    grep -q "parentheses are too deeply nested" "$log"
    GPUPROF_KERNELS='((((a{1,200}){1,200}){1,200}){1,200}){1,200}' selects 3 "((((a{1,200}"
    grep -q "every kernel is measured" "$log"
    GPUPROF_KERNELS='scale_in_place<(([a-z:, ]+)+)+$' selects 4 "" "'scale_in_place<(([a-z:, ]+)+)+\$' (--kernels, GPUPROF_KERNELS) matches in too many ways"
    # Names that are quickly compared are compared all the same.
    GPUPROF_KERNELS='(a|b)*a(a|b){20}|^scale_in_place$' profiled "$programs/small_stack_linked"
    [ "$(measured 'scale_in_place"')" -gt 0 ]
}
