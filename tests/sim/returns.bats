#!/usr/bin/env bats
# A launch of a kernel that is known returns when the driver does, and is measured in a batch.

load common

# returns CASE LAUNCHES: nothing was waited for in vain, and so many launches of scale_in_place were measured.
returns() {
    same_with_and_without "$programs/returns_linked" "$1"
    [ "$(grep -cE "not end|in vain" "$log")" -eq 0 ]
    [ "$(measured scale_in_place)" -eq "$2" ]
    [ "$(grep '"type":"launch"' "$profile" | grep scale_in_place | grep -c '"skipped"')" -eq 0 ]
}

@test "launches behind a wait return before it ends, and all are measured" {
    returns value 16
    returns function 16
    returns streams 16
    # A kernel that is not waited for: the program may time those behind it.
    GPUPROF_TIMEOUT='' same_with_and_without "$programs/returns_linked" kernel
    [ "$(measured scale_in_place)" -eq 4 ]
}

@test "a kernel is waited for in vain, and those behind it are measured" {
    GPUPROF_TIMEOUT=0.2 same_with_and_without "$programs/returns_linked" kernel
    grep -q "wait_for_flag did not end within 0.2 s" "$log"
    [ "$(measured scale_in_place)" -eq 16 ]
}

@test "beside a kernel that does not end nothing is copied: it may wait for that very launch" {
    GPUPROF_TIMEOUT='' same_with_and_without "$programs/returns_linked" beside
    [ "$(measured scale_in_place)" -eq 4 ]
}

@test "beside a kernel that was waited for in vain nothing is copied either" {
    GPUPROF_TIMEOUT=0.2 same_with_and_without "$programs/returns_linked" beside
    [ "$(measured scale_in_place)" -eq 4 ]
}

@test "with GPUPROF_REPLAY=now the first of these is waited for in vain" {
    GPUPROF_TIMEOUT=0.2 GPUPROF_REPLAY=now same_with_and_without "$programs/returns_linked" value
    grep -q "other work on the GPU does not end" "$log"
    [ "$(measured scale_in_place)" -lt 16 ]
}

@test "threads whose launches are not waited for" {
    returns threads 196
}

@test "launches that are not waited for have the counters of those that are" {
    GPUPROF_REPLAY=now same_with_and_without "$programs/returns_linked" exit
    counted >"$BATS_TEST_TMPDIR/waited"
    returns exit 16
    counted >"$BATS_TEST_TMPDIR/returned"
    diff "$BATS_TEST_TMPDIR/waited" "$BATS_TEST_TMPDIR/returned"
    # The hardware's pass is their first replay: the own run is timed by the way.
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"passes":2,')" -gt 8 ]
}

# led [led]: all launches of it are measured, or have the reason. Says how many have that.
led() {
    same_with_and_without "$programs/returns_linked" "$@" >&2
    lost=$(grep -c '"skipped":"the launch.s memory led to other memory, of which there was no copy"' "$profile" || true)
    [ $(("$(measured reach_list)" + lost)) -eq $((16 * $#)) ]
}

@test "each launch is replayed from the memory that it found" {
    GPUPROF_REPLAY=now same_with_and_without "$programs/returns_linked" counting
    counted >"$BATS_TEST_TMPDIR/waited"
    [ "$(grep -o '"smsp__inst_executed.sum":[0-9]*' "$BATS_TEST_TMPDIR/waited" | sort -u | wc -l)" -eq 16 ]
    same_with_and_without "$programs/returns_linked" counting
    [ "$(measured count_down)" -eq 16 ]
    counted >"$BATS_TEST_TMPDIR/returned"
    diff "$BATS_TEST_TMPDIR/waited" "$BATS_TEST_TMPDIR/returned"
}

@test "memory that leads to other memory is found when the batch is drained" {
    # None of these launches can be waited for.
    GPUPROF_TIMEOUT=0.3 led led_behind
    [ "$lost" -eq 6 ]
    # From then on launches of the kernel are waited for.
    GPUPROF_TIMEOUT=0.3 led led_behind led
    [ "$lost" -eq 6 ]
}

@test "a launch whose memory may lead to other memory is waited for before there are many of them" {
    # A wait for the GPU has two milliseconds, in which a busy machine may not come to run it: no time passes here.
    preload=$preload:$programs/libclock.so
    led led
    [ "$lost" -le 1 ]
}

@test "numbers that are equal to addresses lead nowhere if the kernel reads none" {
    for replay in on now; do
        GPUPROF_REPLAY=$replay same_with_and_without "$programs/returns_linked" numbers
        [ "$(measured compute_long)" -eq 16 ]
        # The megabyte is not copied.
        [ "$(grep -c '"saved_bytes":[0-9]\{7\}' "$profile" || true)" -eq 0 ]
    done
}

@test "memory goes, or is needed, while launches wait in their stream" {
    export GPUPROF_TIMEOUT=0.3
    for case in freed reused gone full; do
        same_with_and_without "$programs/returns_linked" $case
        # Of launches of other memory none has the copy of the one that was given up.
        [ $case != reused ] || [ "$(grep -c '"skipped":"the launch.s memory led' "$profile")" -eq 0 ]
    done
    GPUSIM_MEMORY=1G same_with_and_without "$programs/returns_linked" full_memory
    GPUSIM_MEMORY=1G same_with_and_without "$programs/returns_linked" full_behind
    GPUSIM_MEMORY=1G same_with_and_without "$programs/returns_linked" unreturned
}

@test "launches are drained while a stream is being captured" {
    same_with_and_without "$programs/returns_linked" captured
}

@test "a launch that is refused, and one that fails" {
    same_with_and_without "$programs/returns_linked" refused
    [ "$(measured scale_in_place)" -eq 16 ]
    [ "$(grep -c '"skipped":"CUDA_ERROR_INVALID_VALUE"' "$profile")" -eq 1 ]
    same_with_and_without "$programs/returns_linked" failing
    [ "$(grep -c '"skipped":"the launch.s context was gone before it was measured"' "$profile")" -gt 0 ]
}

@test "a program that is killed leaves a line for each launch that was not waited for" {
    same_with_and_without "$programs/returns_linked" killed
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 16 ]
    [ "$(grep -c 'the process ended before it was read' "$profile")" -gt 0 ]
}

@test "there is room for many batches" {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    same_with_and_without "$programs/snippets_linked" --size 64 --launches 2048 in_place
    [ "$(measured)" -eq 2048 ]
    [ "$(grep -c '^enable 0' "$GPUSIM_PROFILER")" -eq 1 ]
    # Most are known by their fingerprints.
    [ "$(grep '"type":"launch"' "$profile" | grep -vc '"recalled":2,')" -lt 64 ]
}
