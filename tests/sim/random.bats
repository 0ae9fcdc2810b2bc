#!/usr/bin/env bats
# Programs made by chance: cases that nobody has thought of. tests/sim/random runs more of them.

load common

# recorded: launches that have a record, or are counted as passed over.
recorded() {
    "$GPUPROF_BUILD/gpuprof" report --print launches "$profile" |
        awk '/"type":"launch"/ { n++ } /"type":"passed_over"/ { match($0, /"launches":[0-9]+/); n += substr($0, RSTART + 11, RLENGTH - 11) } END { print n }'
}

@test "a program that nobody has written computes the same, and no launch of it is forgotten" {
    for seed in 1 2 3 4 5 6; do
        same_with_and_without "$programs/random_linked" $seed 1 150
        [ "$(recorded)" -eq "$(sed -n 's/^launches: //p' "$BATS_TEST_TMPDIR/ours.out")" ]
    done
}

@test "one of several threads computes the same" {
    for seed in 7 8 9; do
        same_with_and_without "$programs/random_linked" $seed 3 80
    done
}

@test "these programs notice when a restore does nothing" {
    run env GPUSIM_FAULTS=badrestore GPUPROF_LOG="$log" GPUPROF_OUTPUT="$profile" LD_PRELOAD="$preload" \
        "$programs/random_linked" 1 1 150
    [ "$output" != "$("$programs/random_linked" 1 1 150)" ]
}
