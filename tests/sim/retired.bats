#!/usr/bin/env bats
# Memory that is freed right behind its launches stays until they have been measured, or is allocated again.

load common

starts() { grep -c '^start' "$GPUSIM_PROFILER"; }

# retired LAUNCHES MOST_STARTS CASE...: all are measured, in batches. These take a tenth of the starts; on a busy machine
# a second passes more often, and ends a batch.
retired() {
    local launches=$1 most=$2
    shift 2
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    rm -f "$GPUSIM_PROFILER"
    same_with_and_without "$programs/retired_linked" "$@"
    [ "$(measured)" -eq "$launches" ]
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"skipped"')" -eq 0 ]
    [ "$(starts)" -le "$most" ]
}

@test "a loop that allocates, launches and frees is measured in batches" {
    retired 200 100 loop
    counted >"$BATS_TEST_TMPDIR/batches"
    GPUPROF_REPLAY=now retired 200 1000 loop
    counted >"$BATS_TEST_TMPDIR/now"
    diff "$BATS_TEST_TMPDIR/now" "$BATS_TEST_TMPDIR/batches"
}

@test "attributes and a cache that are set anew before each launch, always the same, end no batch" {
    retired 200 50 prefers
}

@test "memory of a pool is given out again as it was" {
    retired 400 150 pools
}

@test "the bytes of a pool, a stream that there is not, and a context that goes" {
    same_with_and_without "$programs/retired_linked" bytes_of_pool elsewhere
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 4 ]
}

@test "memory that is freed twice is an error, as it is without gpuprof" {
    retired 100 40 twice
}

@test "memory that the driver refuses to free stays" {
    retired 5 20 refused
    GPUPROF_REPLAY=now retired 5 50 refused
}

@test "other sizes, other threads, other contexts" {
    retired 40 30 sizes
    retired 600 300 threads
    retired 606 300 contexts
}

@test "the program gets the memory that it has freed, where it needs it" {
    GPUSIM_MEMORY=1G retired 8 20 full
}
