#!/usr/bin/env bats
# Launches that are only timed: where no counter is asked for, and where none can be had.

load common

# timed [KERNEL]: how many launches of it have a time.
timed() {
    grep '"type":"launch"' "$profile" | grep "\"kernel\":\"${1:-}" | grep -c '"gpu__time_duration.sum":[0-9]' || true
}

# launched: how many launches the profile has.
launched() { grep -c '"type":"launch"' "$profile" || true; }

# all_timed LAUNCHES: so many there are, each with its time and shape, run once, with no copy of memory.
all_timed() {
    [ "$(launched)" -eq "$1" ] && [ "$(timed)" -eq "$1" ] || { echo "$(timed) of $1, $(launched) lines"; false; }
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"passes":1,"saved_bytes":0,"restored_bytes":0,')" -eq "$1" ]
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"grid":\[[1-9].*"block":\[[1-9].*"registers":[1-9]')" -eq "$1" ]
}

# ---- no counter is asked for ---------------------------------------------------------------------

@test "with durations alone each launch is timed, and CUPTI is not loaded" {
    export GPUPROF_METRICS=duration LD_DEBUG=files LD_DEBUG_OUTPUT=$BATS_TEST_TMPDIR/loaded
    profiled "$programs/snippets_linked" --launches 5 vector_add in_place globals
    unset LD_DEBUG LD_DEBUG_OUTPUT
    all_timed 11
    ! grep -l libcupti "$BATS_TEST_TMPDIR"/loaded.* || false
    ! grep -q '"skipped"' "$profile" || false
    [ "$(forgotten)" = "of 11" ]
    # A file that is no library would be a message.
    for metrics in duration theoretical_occupancy waves,registers_per_thread set=; do
        [ "$metrics" != set= ] || metrics=times,waves,tail_share
        GPUPROF_METRICS=$metrics GPUPROF_CUPTI=/nowhere profiled "$programs/snippets_linked" in_place
        all_timed 3
        ! grep '^gpuprof: ' "$log" || false
    done
    # A metric that needs a counter needs CUPTI.
    GPUPROF_METRICS=duration,ipc GPUPROF_CUPTI=/nowhere profiled "$programs/snippets_linked" in_place
    grep -q "GPUPROF_CUPTI" "$log"
    all_timed 3
}

@test "launches that are only timed change nothing in a program, and wait for nothing" {
    export GPUPROF_METRICS=duration GPUPROF_TIMEOUT=0.2
    for program in "returns_linked value" "returns_linked function" "returns_linked streams" "returns_linked kernel" \
        "returns_linked beside" "returns_linked refused" "returns_linked failing" "returns_linked captured" \
        "waiting_dlopen host" "waiting_dlopen stream" "waiting_dlopen set" "blocked_linked value event function host" \
        "contexts_linked contexts" "contexts_linked modules" "contexts_linked libraries" "contexts_linked mortal" \
        "contexts_linked captured" "asynchronous_linked dies" "calls_linked" "errno_linked" "early_linked" \
        "small_stack_linked" "fork_dlopen after" "random_linked 5 4 80" "random_linked 7 1 150 waits"; do
        # shellcheck disable=SC2086
        same_with_and_without "$programs/"$program || { echo "$program"; false; }
        ! grep -E "not end|in vain" "$log" || { echo "$program"; false; }
        [ "$(forgotten | grep -vc '^of ')" -eq 0 ] || { echo "$program"; forgotten; false; }
        [ "$(grep '"type":"launch"' "$profile" | grep -vc '"passes":1,"saved_bytes":0,')" -eq 0 ]
    done
}

@test "a kernel that never ends has no time, and nobody waits for it but the end, within the limit" {
    export GPUPROF_METRICS=duration
    GPUPROF_TIMEOUT=0.2 same_with_and_without "$programs/waiting_dlopen" left
    [ "$(launched)" -eq 1 ]
    [ "$(timed)" -eq 0 ]
    grep -q "the launch had not ended when its context or its process did" "$profile"
}

@test "events leave a stream that is held up its room" {
    # 952 launches behind a wait, of the 1024 pieces of work that a stream takes.
    GPUPROF_METRICS=duration same_with_and_without "$programs/hazards_linked" many
    [ "$(launched)" -ge 952 ]
    [ "$(timed)" -ge 12 ]
    grep -q "the launch's stream may stand still, and has no room for events" "$profile"
    # The GPU comes to these after the wait, when the host has long launched them.
    [ "$(launches | grep '"gpu__time_duration.sum":[0-9]' | grep -c '"doubt_ms":0.0,')" -ge 12 ]
    # Once the wait has ended, and of as many that nothing holds up, all are timed.
    GPUSIM_FAULTS=slow GPUPROF_METRICS=duration same_with_and_without "$programs/hazards_linked" rested
    all_timed 29
    GPUPROF_METRICS=duration same_with_and_without "$programs/snippets_linked" --launches 2000 in_place
    all_timed 2000
}

@test "where streams share a queue of the hardware no event with a time stands behind work that may wait" {
    export CUDA_DEVICE_MAX_CONNECTIONS=1 GPUPROF_METRICS=duration
    for program in "blocked_linked value event function host released consumer" "waiting_dlopen stream" \
        "waiting_dlopen host" "random_linked 6 1 150 waits"; do
        # shellcheck disable=SC2086
        same_with_and_without "$programs/"$program || { echo "$program"; false; }
        [ "$(forgotten | grep -vc '^of ')" -eq 0 ]
    done
    GPUPROF_METRICS=duration same_with_and_without "$programs/waiting_dlopen" stream scale
    [ "$(timed wait_for_flag)" -eq 0 ]
    grep -q "streams share queues of the hardware" "$profile"
    GPUPROF_METRICS=duration same_with_and_without "$programs/snippets_linked" --launches 20 in_place
    all_timed 20
}

@test "threads launch at the same time: each launch has a number of its own" {
    for how in shared own default; do
        GPUPROF_METRICS=duration same_with_and_without "$programs/threads_linked" $how 8
        all_timed 40
        [ "$(grep -o '"index":[0-9]*' "$profile" | sort -u | wc -l)" -eq 40 ]
    done
}

@test "a launch beside a capture that another thread begins does not end it" {
    GPUSIM_FAULTS=capturefirst GPUPROF_METRICS=duration same_with_and_without "$programs/threads_linked" captures 3
    [ "$(launched)" -eq 301 ]
    GPUPROF_METRICS=ipc same_with_and_without "$programs/threads_linked" captures 2
}

@test "a killed process leaves a line for each launch, with the time of those that it has waited for" {
    export GPUPROF_METRICS=duration
    for how in kill waited; do
        same_with_and_without "$programs/exits_linked" $how vector_add one_lane flops_float
        [ "$(launched)" -gt 2 ]
        [ "$(timed)" -eq "$(launched)" ]
    done
    same_with_and_without "$programs/returns_linked" killed
    [ "$(launched)" -gt 3 ]
    grep -q "the process ended before it was read" "$profile"
}

@test "a graph is launched as it is: one kernel has its time, others share that of the whole" {
    export GPUPROF_METRICS=duration GPUSIM_GRAPHS=$BATS_TEST_TMPDIR/graphs
    profiled "$programs/graphs_linked" library
    all_timed 11
    [ "$(grep -c '"graph":1,' "$profile")" -eq 10 ]
    : >"$GPUSIM_GRAPHS"
    same_with_and_without "$programs/graphs_linked" branches
    [ "$(sort -u "$GPUSIM_GRAPHS" | wc -l)" -eq 1 ] # the program's graph, of all its nodes, and no other one
    [ "$(timed)" -eq 0 ]
    [ "$(launched)" -gt 0 ] # each of its kernels once, with its registers
    [ "$(forgotten)" = "of 100" ]
    grep -q '"type":"graph",.*"kernels":10,.*"launches":10,"timed":10,"seconds":[0-9.e-]*[1-9]' "$profile" ||
        { grep '"type":"graph"' "$profile"; false; }
    grep -q "10 launches of graphs took .* on the GPU" "$log"
}

@test "a time that the host or the loading of code may be part of is in doubt, and others are not" {
    doubts() { launches | grep "${1:-}" | sed 's/.*"doubt_ms":\([0-9.e-]*\).*/\1/'; }
    export GPUPROF_METRICS=duration
    # A driver that cannot be asked to load code before loads it at the first launch of a kernel.
    GPUSIM_FAULTS=lazyload=refused profiled "$programs/hazards_linked" long
    [ "$(launches | grep -c compute_long)" -eq 5 ]
    # The last one takes 300 ms, and waits for the host meanwhile.
    doubts compute_long | awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(first > 30 && last == 0) }' || { doubts; false; }
    # This one is asked.
    GPUSIM_FAULTS=lazyload profiled "$programs/snippets_linked" in_place
    all_timed 3
    doubts | awk '$1 > 29 { exit 1 }' || { doubts; false; }
    "$GPUPROF_BUILD/gpuprof" report --print trace --csv --columns name,duration_doubt "$profile" >"$log"
    [ "$(tail -n +2 "$log" | grep -c '^"scale_in_place",[0-9]')" -eq 3 ]
}

@test "a time is in doubt where the GPU waited for the host between the event and the launch" {
    GPUSIM_FAULTS=slowhost GPUPROF_METRICS=duration profiled "$programs/snippets_linked" in_place
    all_timed 3
    [ "$(launches | grep -c '"doubt_ms":0.0,')" -eq 0 ]
}

@test "two events between which the host was held up do not say how long an event takes" {
    # The GPU comes to the second one so late that it has not done so when the kernel is launched.
    GPUSIM_FAULTS=heldevent=2,slowmarks GPUPROF_METRICS=duration profiled "$programs/snippets_linked" in_place
    all_timed 3
}

@test "the attributes of a kernel are those at each launch" {
    GPUPROF_METRICS=duration same_with_and_without "$programs/changes_linked" attributes
    [ "$(grep -o '"max_shared_dynamic":[0-9]*\|"shared_carveout":[0-9-]*' "$profile" | sort -u | wc -l)" -gt 2 ]
}

# ---- no counter can be had -----------------------------------------------------------------------

# refused [LINE]: every launch has its time and shape, and one line says why there is nothing more.
refused() {
    same_with_and_without "$programs/snippets_linked"
    [ "$(launched)" -eq 9 ]
    [ "$(timed)" -eq 9 ]
    [ "$(forgotten)" = "of 9" ]
    [ "$(grep -c '^gpuprof: ' "$log")" -eq 1 ] || { cat "$log"; false; }
    grep -q "^gpuprof: only times, shapes and .* measured: .*${1:-}" "$log" || { cat "$log"; false; }
    is vector_add theoretical_occupancy 1.00
    is vector_add dram_read_bytes absent
}

@test "no permission, no CUPTI, an old one, an unknown chip: times, shapes, and one line" {
    GPUSIM_FAULTS=noprivileges refused "no permission to read the GPU's counters; "
    GPUPROF_CUPTI=/nowhere refused "GPUPROF_CUPTI"
    GPUSIM_FAULTS=oldcupti refused "CUPTI could not start"
    GPUSIM_FAULTS=unsupportedchip refused "this CUPTI does not know the GPU"
    GPUSIM_FAILS=cuptiRangeProfilerEnable@1+=hypervisor refused "the hypervisor does not let this virtual GPU"
    GPUSIM_FAILS=cuptiRangeProfilerEnable@1+=mig refused "this slice of a GPU (MIG)"
    GPUSIM_FAILS=cuptiRangeProfilerEnable@1+=wsl refused "WSL"
    GPUPROF_COPIES=on GPUSIM_FAULTS=noprivileges refused "no permission"
    grep -E '^   host to device  .* us ' "$log"
    # Held by another process for good, and nothing of instrumented code is asked for.
    GPUPROF_METRICS=achieved_occupancy,duration,theoretical_occupancy,dram_read_bytes GPUSIM_FAULTS=busy \
        refused "the GPU's counters are in use by another process"
    for fault in busy noprivileges; do
        GPUSIM_CHIP=kepler GPUSIM_FAULTS=$fault refused
    done
}

@test "a refusal at any call, at first or in the middle: each launch has a line and its time" {
    plain=$("$programs/snippets_linked" vector_add in_place)
    # refusals FAILURES: the program is as without, and its four launches have their times.
    refusals() {
        GPUSIM_FAILS=$1 profiled "$programs/snippets_linked" vector_add in_place || { echo "$1"; false; }
        [ "$(cat "$BATS_TEST_TMPDIR/ours.out")" = "$plain" ]
        [ ! -s "$BATS_TEST_TMPDIR/ours.err" ]
        [ "$(launched)" -eq 4 ] && [ "$(timed)" -eq 4 ] || { echo "$1"; launches | cut -c-300; false; }
    }
    for function in cuptiProfilerInitialize cuptiRangeProfilerEnable cuptiRangeProfilerGetCounterDataSize \
        cuptiRangeProfilerCounterDataImageInitialize cuptiRangeProfilerSetConfig cuptiRangeProfilerStart \
        cuptiRangeProfilerStop cuptiRangeProfilerPushRange cuptiRangeProfilerPopRange cuptiRangeProfilerDecodeData \
        cuptiRangeProfilerGetCounterDataInfo cuptiSassMetricsSetConfig cuptiSassMetricsEnable cuptiSassMetricsDisable \
        cuptiSassMetricsGetDataProperties cuptiSassMetricsFlushData cuptiProfilerHostInitialize \
        cuptiProfilerHostConfigAddMetrics cuptiProfilerHostGetConfigImage; do
        refusals "$function@1+=forbidden"
        refusals "$function@3+=forbidden"
    done
    for call in 1 2 5; do
        refusals "cuptiRangeProfilerStart@$call=busy,cuptiSassMetricsEnable@2+=forbidden"
    done
}

@test "event groups that are refused leave times" {
    export GPUSIM_CHIP=kepler
    for function in cuptiEventGroupSetsCreate cuptiEventGroupSetEnable cuptiEventGroupReadAllEvents; do
        for call in 1+ 2+; do
            GPUSIM_FAILS=$function@$call=forbidden same_with_and_without "$programs/snippets_linked" in_place
            [ "$(launched)" -eq 3 ] || { echo "$function $call"; false; }
        done
    done
    # In the middle: the launch at which that shows has no time.
    GPUSIM_FAILS=cuptiEventGroupSetEnable@2+=forbidden same_with_and_without "$programs/snippets_linked" in_place
    [ "$(timed)" -eq 2 ]
    "$GPUPROF_BUILD/gpuprof" report --print trace --csv --columns name,duration "$profile" >"$log"
    [ "$(grep -c '^"scale_in_place",[0-9]' "$log")" -eq 2 ]
}

@test "instrumented code is tried without the right to count, and used only where it works" {
    # As on an H200: without the Range Profiler only the first launch has records.
    GPUSIM_FAULTS=noprivileges profiled "$programs/snippets_linked" --launches 9 flops_float in_place
    [ "$(grep -c "only times, shapes and theoretical occupancy" "$log")" -eq 1 ]
    [ "$(timed)" -eq 10 ]
    [ "$(grep -c '"smsp__sass_[a-z_]*.sum":[0-9]' "$profile")" -eq 1 ]
    # Launches were replayed for it until that showed.
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"passes":1,')" -ge 7 ]
    wanted=$(plain_flops)
    for how in noprivileges,sassalone started; do
        if [ $how = started ]; then
            GPUSIM_FAILS=cuptiRangeProfilerStart@1+=forbidden profiled "$programs/snippets_linked" vector_add flops_float
        else
            GPUSIM_FAULTS=$how profiled "$programs/snippets_linked" vector_add flops_float
        fi
        [ "$(grep -c "only times, shapes and counters of instrumented code are measured: no permission" "$log")" -eq 1 ] ||
            { echo $how; cat "$log"; false; }
        is flops_float flop_count_sp "$wanted"
        is vector_add dram_read_bytes absent
    done
    # It is refused itself.
    GPUSIM_FAILS=cuptiRangeProfilerEnable@1+=forbidden,cuptiSassMetricsSetConfig@1+=forbidden refused "no permission"
    GPUSIM_FAILS=cuptiRangeProfilerEnable@1+=forbidden,cuptiSassMetricsEnable@1+=forbidden refused "no permission"
    # Only counters of instrumented code are asked for, and it counts nothing.
    GPUPROF_METRICS=flop_count_sp,duration,theoretical_occupancy,dram_read_bytes \
        GPUSIM_FAILS=cuptiRangeProfilerEnable@1+=forbidden,cuptiSassMetricsEnable@1+=forbidden refused "no permission"
}

plain_flops() {
    (
        profile=$BATS_TEST_TMPDIR/free.jsonl
        profiled "$programs/snippets_linked" flops_float
        metric flops_float flop_count_sp
    )
}

@test "the line names the owner of a rented machine, and does not tell root to be root" {
    COLAB_RELEASE_TAG=x GPUSIM_FAULTS=noprivileges refused "no permission .*; Google Colab decides on that: "
    [ "$EUID" -ne 0 ] || ! grep "run as root" "$log"
}

@test "without counters the machine code is there: accesses to local memory, barriers, source lines" {
    GPUSIM_FAULTS=unsupportedchip profiled "$programs/snippets_linked" vector_add
    GPUSIM_FAULTS=unsupportedchip GPUPROF_OUTPUT=$BATS_TEST_TMPDIR/raw.jsonl GPUPROF_LOG=$log LD_PRELOAD=$preload \
        "$programs/snippets_linked" vector_add >/dev/null
    grep -q '"type":"instructions","kernel":"vector_add",.*"counts":\[\]' "$BATS_TEST_TMPDIR/raw.jsonl"
    run "$GPUPROF_BUILD/gpuprof" source "$BATS_TEST_TMPDIR/raw.jsonl" vector_add
    [ "$status" -eq 0 ]
    [[ $output == *LDG* || $output == *"vector_add"* ]]
}
