# The harness: no program of tests can fail, die, hang or say nothing without a failure.

load ../inherited

setup() {
    cd "$BATS_TEST_DIRNAME/../.."
    dir=$BATS_TEST_TMPDIR
    # This file runs in the harness itself.
    unset CMOCKA_MESSAGE_OUTPUT HARNESS_ACTIVE HARNESS_VERSION TEST_ACTIVE TEST_VERBOSE "${!PERL@}"
}

program() { # NAME TEXT
    printf '#!/bin/sh\n%s\n' "$2" >"$dir/$1"
    chmod +x "$dir/$1"
}

# proved LINE...: all of them.
proved() {
    run tests/prove -j 2 < <(printf '%s\n' "$@")
}

@test "tests that pass and tests that are skipped are counted, with the reasons" {
    program passes 'echo any line'
    program skipped 'echo first; echo there is no moon; exit 77'
    program lines 'echo "ok 30 rows"; echo "1 passed"; echo "ok stars # skip it is day"'
    program unit 'echo 1..2; echo "ok 1 - one"; echo "skipped: no CUPTI"; echo "not ok 2 # SKIP two"'
    proved "check $dir/passes" "check $dir/skipped" "tap $dir/lines" "unit $dir/unit"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "3 passed, 0 failed, 3 skipped" ]
    # The programs run beside each other, and end in any order.
    for text in "# SKIP there is no moon" "ok - stars # skip it is day" "ok 2 - two # SKIP no CUPTI"; do
        [[ $output == *"$text"* ]] || { echo "no '$text' in: $output"; false; }
    done
    [[ $output != *"any line"* ]]
}

@test "a failed test is named, with all output of its program" {
    program fails 'echo the reason >&2; exit 3'
    program lines 'echo "ok one"; echo "not ok two"; echo because of this; exit 1'
    program unit 'echo 1..2; echo "ok 1 - one"; echo "x.c:8: error" >&2; echo "not ok 2 - two"; exit 1'
    program asan 'echo 1..1; echo "ok 1 - one"; echo "ERROR: AddressSanitizer" >&2; exit 1'
    proved "check $dir/fails" "tap $dir/lines" "unit $dir/unit" "unit $dir/asan"
    [ "$status" -ne 0 ]
    [ "${lines[-1]}" = "3 passed, 4 failed, 0 skipped" ]
    for text in "# the reason" "not ok - two" "# because of this" "not ok 2 - two" "# x.c:8: error" "# ERROR: AddressSanitizer"; do
        [[ $output == *"$text"* ]] || { echo "no '$text' in: $output"; false; }
    done
}

@test "a program that dies, hangs, ends early or says nothing has failed" {
    program dies 'echo 1..2; echo "ok 1 - one"; kill -9 $$'
    program early 'echo 1..2; echo "ok 1 - one"'
    program silent ':'
    program hangs 'echo begun; exec sleep 60'
    MOST_SECONDS=1 proved "unit $dir/dies" "unit $dir/early" "unit $dir/silent" "tap $dir/silent" "check $dir/hangs" "unit $dir/hangs" "unit $dir/no_such" "other $dir/silent"
    [ "$status" -ne 0 ]
    [ "${lines[-1]}" = "2 passed, 8 failed, 0 skipped" ]
    [[ $output == *"# begun"*"# it did not end within 1 s"* ]]
}

@test "tests of bats are chosen by their tags, and the long ones run only where they are asked for" {
    printf '%s\n' '@test "short" { true; }' '# bats test_tags=long' '@test "long" { false; }' \
        '# bats test_tags=time' '@test "of waits" { [ -z "${GPUPROF_RUNTIMES:-}" ]; }' >"$dir/some.bats"
    proved "bats $dir $dir/some.bats"
    [ "${lines[-1]}" = "2 passed, 0 failed, 0 skipped" ]
    proved "bats $dir $dir/some.bats long"
    [ "${lines[-1]}" = "0 passed, 1 failed, 0 skipped" ]
    mkdir "$dir/sim"
    proved "sanitized $dir $dir $dir/some.bats"
    [ "${lines[-1]}" = "1 passed, 0 failed, 0 skipped" ]
}

@test "each file of tests is in the list, and no test is long that make test-long does not run" {
    mkdir -p "$dir/bin"
    program bin/make ':'
    program bin/prove 'cat'
    mkdir -p "$dir/build/obj"
    touch "$dir/build/obj/device.fatbin"
    PATH=$dir/bin:$PATH tools/run-tests "$dir/build" >"$dir/quick"
    PATH=$dir/bin:$PATH tools/run-tests long "$dir/build" >"$dir/long"
    for file in tests/*/*.bats tests/unit/test_*.c tests/sim/test_*.c; do
        name=$(basename "$file" .c)
        [[ $file != *.c ]] || file=/$name
        [ "$file" = tests/cli/wheel.bats ] || grep -qE "$file\$" "$dir/quick" || { echo "$file is not in the list"; false; }
        [[ $file != */unit/*.c ]] || grep -qx "unit $dir/build-san/unit/$(basename "$file" .c)" "$dir/long"
    done
    [ "$(sort "$dir/quick" | uniq -d)" = "" ]
    for file in $(grep -lE '^# bats (test|file)_tags=.*long' tests/*/*.bats); do
        grep -qx "bats $dir/build $file long" "$dir/long"
    done
}
