#!/usr/bin/env bats
# Launches are held and replayed later, in batches. The program's changes meanwhile alter neither its
# results nor the counters of any launch: both are those of a replay at once.

load common

# changes CASE LAUNCHES: all of them are measured wholly, and alike: with all passes at the launch, and later.
changes() {
    GPUPROF_REPLAY=now same_with_and_without "$programs/changes_linked" "$1"
    counted >"$BATS_TEST_TMPDIR/now"
    same_with_and_without "$programs/changes_linked" "$1"
    counted >"$BATS_TEST_TMPDIR/later"
    [ "$(measured)" -eq "$2" ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum":[0-9]\|"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum":[0-9]')" -eq "$2" ]
    diff "$BATS_TEST_TMPDIR/now" "$BATS_TEST_TMPDIR/later"
}

# The same where the memory that a launch reaches depends on another thread.
changes_of_threads() {
    same_with_and_without "$programs/changes_linked" "$1"
    [ "$(measured)" -eq "$2" ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

@test "memory is freed right behind the launch" {
    changes freed 12
    changes freed_in_stream 6
}

@test "memory that a launch has read and written is written by the program" {
    changes written 6
}

@test "its module is unloaded, its stream destroyed" {
    changes unloaded 6
    changes streams 6
}

@test "a variable that a launch has reached goes with its module" {
    changes variables 6
}

@test "its module is unloaded before any pass was made" {
    # Where all counters are of instrumented code there is no pass before the launch is held.
    GPUPROF_METRICS=smsp__sass_thread_inst_executed_op_ffma_pred_on.sum changes unloaded 6
}

@test "attributes of the function and limits of the context change" {
    changes attributes 6
    changes attributes_of_kernel 6
    changes limits 6
}

@test "the process forks" {
    changes forks 6
}

@test "the program takes all the memory there is" {
    # Pages of the simulated GPU are used once touched.
    GPUSIM_MEMORY=600M changes memory 12
}

@test "caches are emptied where the program leaves no room for a buffer that does it" {
    changes large 2
    counted >"$BATS_TEST_TMPDIR/roomy"
    GPUSIM_MEMORY=326M changes large 2
    counted | diff "$BATS_TEST_TMPDIR/roomy" -
    [ "$(grep -c '"dram__bytes_read.sum":0.0' "$BATS_TEST_TMPDIR/roomy")" -eq 0 ]
    [ "$(grep -c 'no room for a buffer' "$log")" -eq 0 ]
}

# bats test_tags=long
@test "caches are emptied by other memory than the launch's own, or a line says that they are not" {
    # Reading the launch's own memory would make its caches warm.
    for memory in 326M 900M; do
        GPUPROF_MEMORY=400M GPUSIM_MEMORY=$memory same_with_and_without "$programs/changes_linked" large_own
        [ "$(measured)" -eq 2 ]
        [ "$(grep -c 'no room for a buffer' "$log")" -eq "$([ $memory = 900M ]; echo $?)" ]
    done
    # Without a snapshot nobody knows which buffers the launch reaches.
    GPUPROF_REPLAY=off GPUSIM_MEMORY=326M same_with_and_without "$programs/changes_linked" large
    [ "$(grep -c 'no room for a buffer' "$log")" -eq 1 ]
    # There is no large buffer, either.
    GPUSIM_MEMORY=140M same_with_and_without "$programs/changes_linked" written
    [ "$(grep -c 'no room for a buffer' "$log")" -eq 1 ]
}

@test "other threads allocate and free" {
    changes threads 60
}

@test "another thread frees memory to which a table leads" {
    for run in 1 2 3; do
        changes_of_threads entered 120
    done
}

@test "more launches than are held at once, some of them at the end of the process" {
    changes many 150
}

# held: how many launches made further passes after another launch had come.
held() {
    awk -F, '$1 == "[\"early\"" { early[$3] = $5; last = $3 }
             $1 == "[\"launch\"" && $3 in early && last != $3 && $5 > early[$3] { held++ }
             END { print held + 0 }' "$1"
}

@test "a kernel with code that is not known is held, unless the program has made a texture" {
    export GPUPROF_OUTPUT=$BATS_TEST_TMPDIR/raw GPUPROF_LOG="$log" CUDA_FORCE_PTX_JIT=1
    LD_PRELOAD="$preload" "$programs/changes_linked" many
    [ "$(held "$GPUPROF_OUTPUT")" -gt 140 ]
    for texture in texture texture_of_module; do
        rm "$GPUPROF_OUTPUT"
        LD_PRELOAD="$preload" "$programs/changes_linked" $texture many
        [ "$(held "$GPUPROF_OUTPUT")" -eq 0 ]
        grep -q ' 150 measured' "$log"
    done
}

@test "a kernel with code that is not known is not compared for its matrices where the tensor cores rested" {
    # All launches are new, so after the first batch no fingerprint is taken, but of one in 16.
    # With few ranges a batch has 34 launches.
    GPUSIM_FAULTS=bigimage CUDA_FORCE_PTX_JIT=1 same_with_and_without "$programs/changes_linked" many
    [ "$(measured)" -eq 150 ]
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"gpuprof__sass_ops_tensor_src_fp16.sum":0')" -eq 150 ]
    # The program's own run, the hardware's pass, the instrumented pass.
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"passes":3,')" -gt 70 ]
}

@test "these programs notice when a launch is replayed from other memory" {
    run env GPUSIM_FAULTS=badrestore LD_PRELOAD="$preload" GPUPROF_LOG="$log" \
        "$programs/changes_linked" written
    [ "$status" -ne 0 ]
    [[ $output == *"element"* ]]
}
