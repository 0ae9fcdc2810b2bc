#!/usr/bin/env bats
# A program that tunes itself: the report says so in one line, and all else of its other launches.

load common

report() { "$GPUPROF_BUILD/gpuprof" report "$@" "$profile"; }
# of_json FILTER
of_json() { report --print json | jq -r ".profiles[0] | $1"; }

# kept_apart LAUNCHES KERNELS: so the screen and the JSON say.
kept_apart() {
    report | tr -s ' \n' ' ' | grep -q " Autotuning: $1 launches of $2 kernels and configurations, [~0-9.]* % of all GPU time, are kept apart: "
    [ "$(of_json '.summary.apart_launches')" -eq "$1" ]
    [ "$(of_json '[.kernels[] | select(.apart) | .launches] | add')" -eq "$1" ]
}

@test "tries that lost are kept apart, and are in the details, the JSON and the page" {
    same_with_and_without "$programs/tuner_linked" tune
    # Four losers of five launches each, and the kernel between them.
    kept_apart 40 5
    # The screen has the others alone, and all of their time.
    [ "$(report | grep -cE '^ +[0-9.~]+%')" -eq 2 ]
    [ "$(of_json '[.kernels[] | select(.apart | not) | .name] | sort | join(" ")')" = "scale_in_place vector_add_float" ]
    [ "$(of_json '(.summary.gpu_seconds - ([.kernels[] | select(.apart | not) | .seconds] | add)) | fabs < 1e-9')" = true ]
    [ "$(of_json '(.summary.apart_seconds - ([.kernels[] | select(.apart) | .seconds] | add)) | fabs < 1e-9')" = true ]
    [ "$(of_json '[.advice[] | select(.block == [1024,1,1])] | length')" -eq 0 ]
    report --details | sed -n '/^KEPT APART, as autotuning$/,$p' | grep -q "grid 64, block 1024"
    report --html "$BATS_TEST_TMPDIR/page.html"
    [ "$(grep -o '"apart":true' "$BATS_TEST_TMPDIR/page.html" | wc -l)" -ge 4 ]
    # All launches are in the profile, with their counters.
    [ "$(measured)" -eq $((25 + 20 + 80)) ]
}

@test "so they are where most launches are only counted, and in the report at the end of the program" {
    GPUPROF_SAMPLE=first:2 GPUPROF_REPORT=on profiled "$programs/tuner_linked" tune
    kept_apart 40 5
    grep -q "^Autotuning: *40 launches of 5 kernels" "$log"
}

@test "without times, and without a winner that goes on, nothing is kept apart" {
    for word in untimed compare; do
        same_with_and_without "$programs/tuner_linked" $word
        [ "$(of_json '.summary.apart_launches')" -eq 0 ]
        [ "$(report | grep -c '^Autotuning')" -eq 0 ]
    done
}

@test "each reading counts once, however many times are asked for" {
    profiled "$programs/tuner_linked" tune
    [ "$(grep '"type":"count"' "$profile" | jq -s 'map(.last_reading // 0) | max')" -eq 5 ]
}
