#!/usr/bin/env bats
# Programs that launch kernels and go on: they are not held up in vain, and lose no counters by that.

load common

export GPUPROF_REPLAY=later

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
