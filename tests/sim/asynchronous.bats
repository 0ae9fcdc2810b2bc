#!/usr/bin/env bats
# Programs that launch kernels and go on: they are not held up in vain, and lose no counters by that.

load common

# all_measured CASE KERNEL LAUNCHES
all_measured() {
    same_with_and_without "$programs/asynchronous_linked" "$1"
    [ "$(measured "$2")" -eq "$3" ]
    [ "$(grep '"type":"launch"' "$profile" | grep "$2" | grep -c '"skipped"')" -eq 0 ]
}

@test "memory that no launch has reached is freed while a stream waits for the host" {
    # A wait for that stream would last until the alarm.
    all_measured freed scale_in_place 7
    [ "$(grep -c "in vain" "$log")" -eq 0 ]
}

@test "memory that is freed in stream order stays until its copy is made" {
    GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/asynchronous_linked" kept
    [ "$(measured scale_in_place)" -eq 4 ]
    grep -q "counters of 1 launch are lost: other work on the GPU did not end before the launch was measured" "$log"
}

@test "launches that take longer than was to be expected are waited for" {
    # All four are too long for a wait that may be in vain.
    export GPUPROF_TIMEOUT=0.5
    all_measured longer compute_long 9
    all_measured longer_freed compute_long 8
    all_measured longer_exit compute_long 8
    [ "$(grep -c "lost" "$log")" -eq 0 ]
}

@test "launches are measured behind each other where no time is left for waits in vain" {
    GPUPROF_TIMEOUT=0.05 same_with_and_without "$programs/asynchronous_linked" used_up
    # All of them, but for a busy machine.
    [ "$(measured compute_long)" -gt 60 ]
}

@test "a batch is drained after a second where the GPU is at work at each launch" {
    GPUPROF_KERNELS=compute_long same_with_and_without "$programs/asynchronous_linked" busy
    # The others have only their time: the program is killed before they are read.
    [ "$(grep '"kernel":"compute_long"' "$profile" | grep '"launch"' | grep -vc '"skipped"')" -gt 10 ]
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 22 ]
}

@test "no event stands in the way of a launch where all streams share one queue of the hardware" {
    # Nobody knows that the kernel beside these launches waits for them.
    CUDA_DEVICE_MAX_CONNECTIONS=1 GPUPROF_KERNELS=scale all_measured queue scale_in_place 16
    [ "$(metric scale_in_place duration)" != absent ]
}

@test "how many launches a context takes with it that dies" {
    # No time passes, so that none of them is read before.
    preload=$preload:$programs/libclock.so
    same_with_and_without "$programs/asynchronous_linked" dies
    lost=$(awk '/^gpuprof: counters of [0-9]* launch(es)? are lost: the launch.s context was gone before it was measured/ { n += $4 }
                END { print n + 0 }' "$log")
    echo "$lost lost by the log; by the profile:" # of a failure
    launches | grep -o '"skipped":"[^"]*"' | sort | uniq -c
    grep "lost" "$log"
    [ "$lost" -gt 8 ]
    [ "$(grep '"kernel":"scale_in_place"' "$profile" | grep -c '"skipped":"the launch.s context was gone before it was measured"')" -eq "$lost" ]
}

@test "memory that other devices may access is not replayed later" {
    # All passes of each were made, though the program is killed.
    all_measured direct scale_in_place 16
    # The other thread's launch comes right behind the drain in some of the runs only.
    for _ in $(seq 10); do
        same_with_and_without "$programs/asynchronous_linked" direct_beside
        [ "$(grep '"type":"launch"' "$profile" | grep -c '"passes":1,')" -eq 0 ]
    done
}
