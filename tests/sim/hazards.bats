#!/usr/bin/env bats
# Launches that are deferred do not harm the program beside them: its memory, its threads, its modules.

load common

# Most of these wait in vain once.
export GPUPROF_TIMEOUT=0.3

# unharmed CASE...
unharmed() {
    for case in "$@"; do
        same_with_and_without "$programs/hazards_linked" "$case"
    done
}

@test "a launch with another grid may write memory that is not known" {
    unharmed hidden
}

@test "a deferred launch that takes long is not run again in part" {
    # 30 times as long a replay may take: less than that launch takes.
    GPUPROF_TIMEOUT=0.008 unharmed long
}

@test "deferred launches leave room in their stream" {
    unharmed many
}

@test "waits in vain in front of deferred launches have a limit together" {
    GPUPROF_TIMEOUT=0.05 unharmed cycles
}

@test "another thread blocks a stream while a launch is measured" {
    # Each wait takes longer: the measurement is under way when the stream is blocked.
    GPUSIM_FAULTS=slowmarks unharmed function value
}

@test "another thread blocks a stream while deferred launches are measured" {
    GPUSIM_FAULTS=slowmarks unharmed change
}

@test "a module is unloaded beside a thread that copies, and one that waits in the driver" {
    unharmed unload
}

@test "a module is unloaded beside a thread that waits in the driver, and one with kernels that wait for it" {
    # Launches would be read, which takes long, with the gate unlocked. Twice: the thread may wait for its own turn.
    export GPUSIM_FAULTS=slowcounters GPUPROF_KERNELS=scale_in_place
    unharmed unload_waiting unload_waiting
}

@test "a context whose stream is blocked keeps the counters, and the other is measured later" {
    GPUPROF_TIMEOUT=1 unharmed contexts
    [ "$(grep -c "not measuring" "$log")" -eq 0 ]
    # More than those in front of the blocked stream.
    [ "$(measured scale_in_place)" -gt 4 ]
}

@test "counters go from one context to another, also after a kernel that was waited for in vain" {
    unharmed abandoned
    [ "$(grep -c "not measuring" "$log")" -eq 0 ]
    [ "$(measured scale_in_place)" -eq 8 ]
}

@test "a module of one context is unloaded while another one is blocked" {
    unharmed unload_beside
    [ "$(grep -cE "not measuring|stay loaded" "$log")" -eq 0 ]
    [ "$(measured scale_in_place)" -ge 16 ]
}

@test "modules of two GPUs are unloaded when nobody knows whose kernels were counted" {
    for replay in "" now off; do
        GPUSIM_DEVICES=2 GPUPROF_REPLAY=$replay unharmed unload_devices
    done
}

@test "launches beside a context that does not come to rest do not wait for it each time" {
    # That would leave no time for a kernel of which it is not known that it ends.
    GPUPROF_KERNELS='scale_in_place|compute_long' GPUPROF_TIMEOUT=0.3 unharmed many_beside
    [ "$(measured compute_long)" -eq 1 ]
}

@test "a module goes before a deferred launch is copied" {
    unharmed variable library
}

@test "managed variables that the host writes meanwhile" {
    unharmed managed managed_blocked
}

@test "another GPU writes memory beside that of the launches" {
    GPUSIM_DEVICES=2 GPUSIM_FAULTS=slow unharmed copied_from_gpu managed_by_gpu
}
