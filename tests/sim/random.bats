#!/usr/bin/env bats
# Programs made by chance: cases that nobody has thought of. tests/sim/random runs more of them.

load common

@test "a program that nobody has written computes the same, and no launch of it is forgotten" {
    for seed in 1 2 3 4; do
        same_with_and_without "$programs/random_linked" $seed 1 150
        [ "$(forgotten)" = "of $(sed -n 's/^launches: //p' "$BATS_TEST_TMPDIR/ours.out")" ]
    done
}

@test "variables that lie apart from each other are saved, too" {
    for seed in 5 6; do
        GPUSIM_FAULTS=scattered same_with_and_without "$programs/random_linked" $seed 1 150
    done
}

@test "one of several threads computes the same" {
    for seed in 11 12; do
        same_with_and_without "$programs/random_linked" $seed 4 80
        [[ $(forgotten) == "of "* ]]
    done
}

@test "these programs notice when a restore does nothing" {
    for seed in 3 4; do
        profiled "$programs/random_linked" $seed 1 150
        cp "$BATS_TEST_TMPDIR/ours.out" "$BATS_TEST_TMPDIR/right.out"
        GPUSIM_FAULTS=badrestore profiled "$programs/random_linked" $seed 1 150 || true
        grep -q ', digest ' "$BATS_TEST_TMPDIR/ours.out"
        run diff "$BATS_TEST_TMPDIR/right.out" "$BATS_TEST_TMPDIR/ours.out"
        [ "$status" -eq 1 ]
    done
}

@test "a program that divides an allocation by chance computes the same, and no launch of it is forgotten" {
    for seed in 2 8; do
        same_with_and_without "$programs/arena_linked" random $seed
        [ "$(forgotten)" = "of $(sed -n 's/^launches: //p' "$BATS_TEST_TMPDIR/ours.out")" ]
        [ "$(launches | grep -c "to other parts of an allocation")" -gt 0 ]
    done
}

# bats test_tags=long
@test "a program whose launches write as the order of their threads says computes the same" {
    for seed in 1 2; do
        GPUPROF_REPLAY=now same_with_and_without "$programs/arena_linked" random-order $seed
        [ "$(forgotten)" = "of $(sed -n 's/^launches: //p' "$BATS_TEST_TMPDIR/ours.out")" ]
    done
}

# bats test_tags=time
@test "a program whose kernels wait for the host and for each other computes the same" {
    for seed in 1 2 3; do
        GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/random_linked" $seed 1 150 waits
        [[ $(forgotten) == "of "* ]]
    done
}
