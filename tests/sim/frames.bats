#!/usr/bin/env bats
# Programs that use the driver early, late, from threads, across a fork, or that fail and wait on it:
# with gpuprof they do the same as without.

load common
unset GPUPROF_TIMEOUT

@test "the driver used from a constructor, before ours" {
    same_with_and_without "$programs/early_linked"
    [ "$(measured)" -gt 0 ]
    GPUSIM_EARLY=preinit same_with_and_without "$programs/early_linked"
    [ "$(measured)" -gt 0 ]
}

@test "every way to end a process, and a profile of every launch up to then" {
    for how in return exit _exit quick_exit abort kill handler signal destroying; do
        same_with_and_without "$programs/exits_linked" $how
        [ "$(measured)" -gt 0 ] || { echo "$how left no launch"; false; }
    done
}

@test "counters that were read before a program is killed are in the profile" {
    # Each of these kernels is new: going on to the passes of one reads those before it.
    GPUPROF_REPLAY=now same_with_and_without "$programs/exits_linked" kill vector_add one_lane flops_float
    [ "$(measured)" -eq 6 ]
    for kernel in vector_add one_lane flops_float; do
        launch=$(grep "\"kernel\":\"$kernel\"" "$profile")
        [[ $launch == *'"dram__bytes_read.sum":'[0-9]* ]]
        [[ $launch == *'"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum":'[0-9]* ]]
    done
}

@test "a child made before the driver is used is profiled, too" {
    same_with_and_without "$programs/fork_dlopen" before
    export GPUPROF_OUTPUT
    GPUPROF_OUTPUT="$BATS_TEST_TMPDIR/%p.jsonl" GPUPROF_LOG=$log \
        LD_PRELOAD=$preload "$programs/fork_dlopen" before
    [ "$(cat "$BATS_TEST_TMPDIR"/[0-9]*.jsonl | grep -c '"type":"header"')" -eq 2 ]
}

@test "a child of a process that has used the driver" {
    same_with_and_without "$programs/fork_dlopen" after
    [ "$(measured)" -gt 0 ]
    # The child's exit records nothing of its parent's launches.
    [ -z "$(grep -o '"index":[0-9]*' "$profile" | sort | uniq -d)" ]
}

@test "threads on one context, on their own, and in the default stream" {
    for contexts in shared own default; do
        same_with_and_without "$programs/threads_linked" $contexts 8
        [ "$(measured)" -gt 0 ]
    done
}

@test "threads that are to be cancelled" {
    same_with_and_without "$programs/cancelled_linked"
    grep -q "ncclDevKernel_Scale is not measured" "$log"
    [ "$(measured scale_in_place)" -eq 4 ]
}

@test "the per-thread default stream" {
    same_with_and_without "$programs/snippets_getproc" --per-thread
    [ "$(measured)" -gt 0 ]
}

@test "launches in the thread's own stream, beside one that waits and behind a capture" {
    same_with_and_without "$programs/own_stream_linked" launches
    [ "$(measured scale_in_place)" -eq 27 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    for case in capture failing; do
        same_with_and_without "$programs/own_stream_linked" $case
        [ "$(measured scale_in_place)" -eq 5 ]
    done
    GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/own_stream_linked" graph
    [ "$(measured scale_in_place)" -ge 4 ]
}

@test "every way to launch a kernel, load its module and get its memory" {
    same_with_and_without "$programs/calls_linked"
    # Eight launches for each line but that of the communicating kernel; those on host memory, of which
    # there are two, cannot be replayed and are only timed.
    [ "$(measured scale_in_place)" -eq $((("$(grep -c . "$BATS_TEST_TMPDIR/plain.out")" - 1) * 8)) ]
    [ "$(grep -c '"skipped":"page-locked host memory change' "$profile")" -eq 16 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 16 ]
    [ "$(measured nccl)" -eq 0 ]
    grep -q "ncclDevKernel_Scale is not measured: the kernel communicates" "$log"
    grep -q "8 launches of ncclDevKernel_Scale: the kernel communicates with other GPUs or processes" "$log"
    [[ $(forgotten) == "of "* ]]
}

@test "launches that cannot be replayed, with failing ones between them" {
    same_with_and_without "$programs/calls_linked" barred
    grep -q '"skipped":"the launch reaches memory that the host can write"' "$profile"
    [ "$(measured scale_in_place)" -eq 12 ]
    # They take turns: five are timed, four counted by the hardware, three by instrumented code.
    settle_early
    [ "$(grep -c '"gpu__time_duration.sum":[0-9]' "$profile")" -eq 5 ]
    [ "$(grep -c '"dram__bytes_read.sum":[0-9]' "$profile")" -eq 4 ]
    [ "$(grep -c '"smsp__sass[a-z_]*.sum":[0-9]' "$profile")" -eq 3 ]
}

@test "launches in a green context are timed, and all others measured" {
    same_with_and_without "$programs/green_linked"
    green='"skipped":"the launch runs in a green context, where CUPTI counts nothing"'
    [ "$(grep -c "$green" "$profile")" -eq 28 ]
    # A time too short for the clock is none.
    [ "$(grep "$green" "$profile" | grep -c '"counters":{"gpu__time_duration.sum":[0-9.]*}')" -gt 14 ]
    [ "$(grep "$green" "$profile" | grep -c '"dram__bytes_read.sum":[0-9]')" -eq 0 ]
    # The primary context's, while the green one is there and afterwards.
    [ "$(grep '"type":"launch"' "$profile" | grep -v "$green" | grep '"dram__bytes_read' | grep -c '__sass_')" -eq 20 ]
    [ "$(wc -l < <(grep '^gpuprof: ' "$log"))" -eq 1 ]
    grep -q "launches in green contexts are only timed" "$log"
    # It is no other GPU that copies into the primary context's memory.
    [ "$(grep -c "another GPU" "$profile")" -eq 0 ]
    GPUPROF_REPLAY=off same_with_and_without "$programs/green_linked"
}

# absent: the metrics that the report has no value of.
absent() {
    "$GPUPROF_BUILD/gpuprof" report --details "$profile" | awk '/^DETAILS/ { details = 1 } details && $2 == "absent:" { print $1 }'
}

@test "a kernel that cannot be replayed has every metric that it would have without replay" {
    GPUPROF_REPLAY=off profiled "$programs/snippets_linked" --launches 3 in_place
    absent >"$BATS_TEST_TMPDIR/expected"
    GPUPROF_MEMORY=1 same_with_and_without "$programs/snippets_linked" --launches 3 in_place
    diff "$BATS_TEST_TMPDIR/expected" <(absent)
    "$GPUPROF_BUILD/gpuprof" report --metrics gld_requested_throughput "$profile" | grep -q '^ *gld_requested_throughput .* \*$'
    "$GPUPROF_BUILD/gpuprof" report --details "$profile" | grep -q '\* from the means of counters'
    grep -q '"skipped":"the launch.s memory' "$profile"
    # One that writes page-locked memory as well, and the facts that many launches share are kept.
    same_with_and_without "$programs/calls_linked"
    grep '"skipped":"page-locked host memory changes while' "$profile" | grep -q '__sass_'
    GPUPROF_MEMORY=1 same_with_and_without "$programs/alike_linked" 200x256
    [ "$(grep -c '"dram__bytes_read.sum":[0-9]' "$profile")" -gt 40 ]
    [ "$(grep -c '"smsp__sass[a-z_]*.sum":[0-9]' "$profile")" -gt 40 ]
}

@test "launches that take turns seldom go from one pass to the other" {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    GPUPROF_MEMORY=1 profiled "$programs/alike_linked" 200x256
    # A session that is begun anew, as a batch was read, goes on in the same pass.
    [ "$(grep start "$GPUSIM_PROFILER" | uniq | wc -l)" -lt 60 ]
}

@test "memory that does not fit twice on the device is copied to the host" {
    export GPUSIM_MEMORY=260M # of which 256 are left to the program
    export GPUPROF_TIMEOUT=60 # on a busy machine its kernels take long
    same_with_and_without "$programs/snippets_linked" --size 500000 --launches 2 in_place vector_add
    [ "$(measured)" -eq 3 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

@test "launches that go wrong give the same errors at the same calls" {
    for case in out_of_bounds reset misaligned trap no_blocks big_block much_shared no_parameters no_function; do
        same_with_and_without "$programs/faulty_dlopen" $case
    done
}

@test "a kernel that waits for the host, or for another stream, is abandoned" {
    export GPUPROF_TIMEOUT=0.3
    for case in host stream; do
        same_with_and_without "$programs/waiting_dlopen" $case
        grep -q "did not end within [0-9.]* s by itself" "$log"
    done
}

# held_up_for LEAST MOST: the longest wait in vain for a kernel, as the library says it, in seconds.
held_up_for() {
    local seconds
    seconds=$(sed -n 's/.* did not end within \([0-9.e-]*\) s by itself: .*/\1/p' "$log")
    awk -v s="${seconds:-none}" -v least="$1" -v most="$2" 'BEGIN { exit !(s + 0 >= least && s + 0 <= most) }' || {
        echo "held up for ${seconds:-no} s, not for $1 to $2 s"
        return 1
    }
}

# added MOST: the program was held up for no more than that, in seconds, as its profile says; on a busy machine, on
# which all takes longer, for no more than that beside ten times its own time.
added() {
    sed -n 's/.*"added_seconds": *\([0-9.e-]*\).*/\1/p' "$profile" | tail -1 |
        awk -v most="$1" -v plain="$plain_ms" '{ print "added " $1 " s"; good = $1 < most + plain / 100 } END { exit !good }'
}

# bats test_tags=time
@test "launches that wait for the program hold it up for two seconds in all, and others are measured" {
    # Twenty launches of each case wait. A second each would be twenty; all besides takes a fraction of a
    # second, on a busy machine a few.
    for case in value event function host consumer "value event function consumer host"; do
        # shellcheck disable=SC2086
        same_with_and_without "$programs/blocked_linked" $case
        # shellcheck disable=SC2086
        set -- $case
        [ "$(grep -cE "^gpuprof: .*(does not end|did not end|reads the host's memory in a loop)" "$log")" -gt 0 ]
        # All of these waits are one account: the first has taken half of it, so a later one has at most half a second.
        [ $# -eq 1 ] || held_up_for 0.001 0.5
        [ "$(measured ordinary)" -gt 0 ]
        added 10
    done
    # The user's limit is the longest of these waits. A busy machine may take all of it for the first.
    for _ in 1 2 3; do
        GPUPROF_TIMEOUT=0.5 same_with_and_without "$programs/blocked_linked" value consumer
        if held_up_for 0.0001 0.25; then break; fi
    done
    held_up_for 0.0001 0.25
    # No replay was made, so none lost the memory.
    [ "$(grep -c "a replay of" "$log")" -eq 0 ]
}

# bats test_tags=time
@test "no event stands in the way of launches where all streams share one queue of the hardware" {
    for case in consumer "value event function consumer host"; do
        # shellcheck disable=SC2086
        CUDA_DEVICE_MAX_CONNECTIONS=1 same_with_and_without "$programs/blocked_linked" $case
        [ "$(measured ordinary)" -gt 0 ]
        [ "$(metric ordinary duration)" != absent ]
    done
}

# bats test_tags=time
@test "where all streams share one queue of the hardware, a time that is taken behind the end is taken again" {
    passes() { # of four launches; the first one's time is taken again anyway
        GPUPROF_TIMEOUT=5 GPUPROF_METRICS=duration,ipc same_with_and_without "$programs/waiting_dlopen" set set set set
        launches | grep -o '"passes":[0-9]*' | tr '\n' ' '
    }
    [ "$(passes)" = '"passes":3 "passes":2 "passes":2 "passes":2 ' ]
    export CUDA_DEVICE_MAX_CONNECTIONS=1
    [ "$(passes)" = '"passes":3 "passes":3 "passes":3 "passes":3 ' ]
}

# bats test_tags=time
@test "a kernel that reads the host's memory in a loop is not waited for, unless the user says so" {
    same_with_and_without "$programs/blocked_linked" host
    [ "$(measured ordinary)" -gt 1 ]
    [ "$(grep -c "wait_for_flag reads the host's memory in a loop, so it may wait for the host" "$log")" -eq 1 ]
    [ "$(grep -cE "did not end within|in vain" "$log")" -eq 0 ]
    GPUPROF_TIMEOUT=0.2 same_with_and_without "$programs/blocked_linked" host
    grep -q "wait_for_flag did not end within 0.2 s" "$log"
    # Only single warps of it are left out.
    same_with_and_without "$programs/waiting_dlopen" host wide host wide scale
    [ "$(measured wait_for_flag)" -eq 2 ]
    [ "$(measured scale_in_place)" -eq 1 ]
    [ "$(grep -cE "did not end within|in vain" "$log")" -eq 0 ]
    # Its flag lies in memory of the GPU: another kernel may set it, or have set it.
    same_with_and_without "$programs/blocked_linked" consumer
    grep -q "wait_for_flag did not end within 1 s" "$log"
}

@test "a launch behind a kernel that the host has let end is measured" {
    same_with_and_without "$programs/blocked_linked" released
    # On a busy machine some kernels end too late.
    [ "$(measured scale_in_place)" -gt 9 ]
}

# bats test_tags=time
@test "a kernel that takes half of the longest wait is not said to have held the program up in vain" {
    # The kernel takes 0.4 s, of which nobody can know that it will end. A busy machine may make that more.
    for limit in 0.7 1.4 2.8; do
        GPUPROF_TIMEOUT=$limit profiled "$programs/waiting_dlopen" polling polling
        [ "$(grep -c "held up for 0 s" "$log")" -eq 0 ]
        grep -q "poll_long takes too long to be waited for; .* more time than $limit s" "$log" && return
    done
    cat "$log"
    false
}

# bats test_tags=time
@test "a kernel that is found to wait in its first pass, which is of instrumented code, is abandoned soon" {
    # After another new kernel the session stands in that pass. One that is known to end would get thirty times the
    # limit, at least; this one gets twice the time that it took by itself, which on a busy machine is more.
    for before in "" scale; do
        GPUPROF_TIMEOUT=0.6 same_with_and_without "$programs/waiting_dlopen" $before answered
        held_up_for 0.6 15
        # It took long by itself: instrumented code may take a hundred times that, once it is known to end.
        GPUPROF_TIMEOUT=0.6 same_with_and_without "$programs/waiting_dlopen" $before answered_late
        held_up_for 0.6 15
    done
}

@test "a kernel that takes far longer in instrumented code is waited for, so that its memory is not lost" {
    # More than a hundred times its own time, and more than the longest wait for a kernel of the program's.
    for replay in batch now; do
        GPUSIM_FAULTS=longcode GPUPROF_TIMEOUT=0.05 GPUPROF_REPLAY=${replay#batch} \
            same_with_and_without "$programs/waiting_dlopen" then_written
        [ "$(measured wait_for_flag)" -eq 1 ]
        [ "$(grep -c "did not end" "$log")" -eq 0 ]
    done
}

# bats test_tags=time
@test "a kernel that takes long, and by its code cannot wait for anybody, is measured" {
    # It takes 0.4 s. Instrumented code is left out, as it would take minutes.
    export GPUPROF_TIMEOUT=0.2
    for replay in on off; do
        GPUPROF_REPLAY=$replay same_with_and_without "$programs/waiting_dlopen" long long scale long
        [ "$(grep -c "did not end" "$log")" -eq 0 ]
        [ "$(measured compute_long)" -eq 3 ]
        [ "$(measured scale_in_place)" -eq 1 ]
        launches | grep '"kernel":"compute_long"' >"$profile.long"
        grep -q '"dram__bytes_read.sum":[0-9]' "$profile.long"
        [ "$(grep -c '"smsp__sass_[a-z_]*.sum":[0-9]' "$profile.long")" -eq 0 ]
        grep -q "takes longer than GPUPROF_TIMEOUT" "$profile.long"
    done
    # Another one that takes as long may wait, by its code.
    same_with_and_without "$programs/waiting_dlopen" polling polling long
    grep -q "poll_long did not end within [0-9.]* s by itself: it waits" "$log"
    [ "$(measured poll_long)" -eq 0 ]
    [ "$(measured compute_long)" -eq 1 ]
}

# bats test_tags=time
@test "a kernel that takes long is measured in full where it gets the time" {
    GPUPROF_TIMEOUT=60 same_with_and_without "$programs/waiting_dlopen" long polling
    [ "$(grep -c "long takes 0.4[0-9]* s by itself, and in instrumented code" "$log")" -eq 2 ]
    [ "$(launches | grep -c '"smsp__sass_[a-z_]*.sum":[0-9]')" -eq 2 ]
}

# bats test_tags=time
@test "a kernel whose blocks wait for each other for long is not run in instrumented code" {
    # Each takes 0.4 s, and the one of them longer than a hundredth of the limit that it may take there.
    GPUPROF_TIMEOUT=20 same_with_and_without "$programs/waiting_dlopen" long polling
    [ "$(measured poll_long)" -eq 1 ]
    [ "$(launches | grep -c '"smsp__sass_[a-z_]*.sum":[0-9]')" -eq 1 ]
    launches | grep '"kernel":"poll_long"' >"$profile.long"
    grep -q '"dram__bytes_read.sum":[0-9]' "$profile.long"
    grep -q "as the kernel's blocks wait for each other" "$profile.long"
}

# bats test_tags=time
@test "a kernel that takes longer than thirty times the limit is abandoned, as such" {
    # No more is charged than for any kernel that does not end: the next one is measured. On a busy machine that may
    # take longer than 5 ms.
    for _ in 1 2 3 4 5; do
        GPUPROF_TIMEOUT=0.01 same_with_and_without "$programs/waiting_dlopen" long long scale
        [ "$(grep -c "compute_long did not end within 0.3 s, and is not measured: it waits for nobody" "$log")" -eq 1 ]
        grep -q "1 launch of compute_long: the kernel takes longer than 30 times GPUPROF_TIMEOUT" "$log"
        [ "$(measured compute_long)" -eq 0 ]
        [ "$(measured scale_in_place)" -eq 0 ] || return 0
    done
    cat "$log"
    false
}

# bats test_tags=time
@test "the time of a kernel that only takes long is not charged as a wait in vain" {
    # As waits in vain these would leave no time for a kernel that is not known yet.
    GPUPROF_TIMEOUT=0.2 GPUPROF_METRICS=ipc \
        profiled "$programs/waiting_dlopen" long long long long long long scale
    [ "$(measured compute_long)" -eq 6 ]
    [ "$(measured scale_in_place)" -eq 1 ]
}

@test "a kernel that was abandoned is so when it is loaded again" {
    GPUPROF_TIMEOUT=0.2 same_with_and_without "$programs/waiting_dlopen" host again host scale
    [ "$(grep -c "did not end within" "$log")" -eq 1 ]
    [ "$(measured scale_in_place)" -eq 1 ]
}

@test "a kernel with the name of one that was abandoned, and other code, is measured" {
    GPUPROF_TIMEOUT=0.2 same_with_and_without "$programs/one_name_linked" wait add:3 unload multiply:2 wait
    [ "$(grep -c "did not end within" "$log")" -eq 1 ]
    [ "$(measured one_name)" -eq 5 ]
}

@test "launches of a kernel that is not measured any more are counted" {
    GPUPROF_TIMEOUT=0.2 same_with_and_without "$programs/waiting_dlopen" host host host scale
    grep -A1 '^wait_for_flag' "$log" | grep -q ' 0 of 3 '
    grep -q "3 launches of wait_for_flag: the kernel waits for the host or for other work, or takes longer than GPUPROF_TIMEOUT" "$log"
}

@test "counters are not read while a kernel waits for the host" {
    # That one is abandoned when the first launch has waited to be read for long enough.
    GPUPROF_TIMEOUT=1.1 same_with_and_without "$programs/waiting_dlopen" scale scale stream scale
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 4 ]
    [ "$(measured scale_in_place)" -eq 3 ]
}

@test "the launch that is abandoned is the last there is room for" {
    for metrics in "" duration,inst_executed; do
        GPUPROF_METRICS=$metrics GPUPROF_TIMEOUT=0.8 same_with_and_without "$programs/waiting_dlopen" \
            $(printf 'scale %.0s' {1..63}) host scale scale
        [ "$(measured scale_in_place)" -eq 65 ]
    done
}

@test "a program that ends before its kernel does" {
    GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/waiting_dlopen" scale scale left
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 3 ]
}

@test "counters held by another process" {
    hold=$BATS_TEST_TMPDIR/hold
    export GPUSIM_LOCK=$BATS_TEST_TMPDIR/lock
    "$programs/count_dlopen" hold "$hold" >"$hold.out" 3>&- &
    holder=$!
    until grep -qx holding "$hold.out"; do sleep 0.1; done
    same_with_and_without "$programs/snippets_linked" vector_add in_place
    grep -q "in use by another process" "$log" || { head -3 "$log"; touch "$hold"; false; }
    touch "$hold"
    wait $holder
    same_with_and_without "$programs/snippets_linked" vector_add in_place
    [ "$(measured)" -gt 0 ]
}

# shared CASE [REASON N]: N launches that reach shared memory are not replayed, for that reason; all
# others are, and none is found to have written elsewhere.
shared() {
    GPUSIM_DEVICES=2 same_with_and_without "$programs/shared_linked" "$1"
    if [ $# -eq 1 ]; then
        [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
        return
    fi
    [ "$(grep '"kernel":"reach_around"' "$profile" | grep -c '"skipped"')" -eq 0 ]
    [ "$(measured reach_around)" -ge 5 ]
    [ "$(grep -c '"passes":1,.*"skipped":"'"$2"'"' "$profile")" -eq "$3" ]
    [ "$(grep -c '"skipped"' "$profile")" -eq "$3" ]
    grep -q "$2" "$log"
}

@test "only launches that reach memory shared with another process are not replayed" {
    shared imported "the launch reaches memory shared with another process" 10
    shared exported "the launch reaches memory shared with another process" 5
    shared range "the launch reaches memory shared with another process" 5
    shared retained "the launch reaches memory shared with another process" 5
}

@test "memory of another process that was opened twice is there until it is closed twice" {
    shared imported_twice "the launch reaches memory shared with another process" 5
}

@test "memory shared with another process is not verified either" {
    GPUPROF_VERIFY=always shared imported "the launch reaches memory shared with another process" 10
}

@test "where parameters are not known nothing is replayed beside memory of another process" {
    GPUSIM_FAULTS=noparameters GPUSIM_DEVICES=2 same_with_and_without "$programs/shared_linked" imported
    # Fifteen are launched while it is open; afterwards there is nothing to be careful of.
    [ "$(grep -c '"skipped":"the launch reaches memory shared with another process"' "$profile")" -eq 15 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 15 ]
    [ "$(grep '"type":"launch".*"kernel":"reach_around"' "$profile" | grep -vc '"skipped"')" -eq 5 ]
}

@test "memory of another GPU is put back while that one is at rest" {
    shared apart
    shared peers
}

@test "memory that another GPU can write is put back while that one is at rest" {
    export GPUPROF_KERNELS=reach
    GPUSIM_DEVICES=2 same_with_and_without "$programs/shared_linked" busy
    [ "$(measured reach_around)" -eq 15 ]
    [ "$(grep -c '"skipped":"another GPU that can write the launch.s memory is at work"' "$profile")" -eq 10 ]
    [ "$(grep '"type":"launch"' "$profile" | grep -vc '"skipped"')" -eq 5 ]
    # Or that both can write, by mappings, which shows at launches that reach it.
    GPUSIM_DEVICES=2 same_with_and_without "$programs/shared_linked" busy_mapped
    [ "$(grep -c '"skipped":"another GPU that can write the launch.s memory is at work"' "$profile")" -eq 10 ]
    [ "$(grep '"type":"launch".*"kernel":"reach_' "$profile" | grep -vc '"skipped"')" -eq 5 ]
}

@test "launches on memory that another GPU can write are replayed at once" {
    # All passes of each were made, though the program is killed.
    GPUSIM_DEVICES=2 same_with_and_without "$programs/shared_linked" killed
    [ "$(measured reach_around)" -eq 20 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
}

@test "mapped and pooled memory that several GPUs can write, or cannot" {
    GPUSIM_DEVICES=2 same_with_and_without "$programs/shared_linked" mapped
    [ "$(grep -c '"skipped":"the launch reaches memory shared with another process"' "$profile")" -eq 10 ]
    [ "$(grep '"kernel":"reach_around"' "$profile" | grep -c '"skipped"')" -eq 0 ]
    shared pools
    shared host_pools "the launch reaches memory that the host can write" 5
}

# enabled: how often the range profiler was opened.
enabled() {
    grep -c enable "$GPUSIM_PROFILER" || true
}

@test "modules whose kernels were not counted come and go while counting goes on" {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    same_with_and_without "$programs/contexts_linked" modules
    [ "$(measured scale_in_place)" -eq 10 ]
    [ "$(enabled)" -eq 1 ]
}

# Each session of a context that was counted before, too.
has_all_counters() {
    ! grep -q "CUPTI_ERROR" "$profile"
}

@test "modules and libraries whose kernels were counted come and go" {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    same_with_and_without "$programs/contexts_linked" modules_launched
    [ "$(measured scale_in_place)" -eq 20 ]
    [ "$(enabled)" -eq 10 ]
    has_all_counters
    for case in libraries functions; do
        same_with_and_without "$programs/contexts_linked" $case
        [ "$(measured scale_in_place)" -eq 10 ]
        has_all_counters
    done
}

@test "modules, contexts and the process go while a copy of another thread waits for a kernel" {
    # Where nothing is collected nobody is waited for, else once.
    for case in nothing nopermission apart counted libraries "counted context_first" "libraries context_first" launched; do
        GPUPROF_KERNELS= GPUSIM_FAULTS=
        [ "$case" != nothing ] || GPUPROF_KERNELS=nothing
        [ "$case" != nopermission ] || GPUSIM_FAULTS=noprivileges
        export GPUPROF_KERNELS GPUSIM_FAULTS GPUPROF_TIMEOUT=0.3
        start=$SECONDS
        # shellcheck disable=SC2086
        same_with_and_without "$programs/held_linked" $case
        # Five seconds for each of six calls would be thirty.
        [ $((SECONDS - start)) -le 20 ] || { echo "$case: $((SECONDS - start)) s"; false; }
        # CUPTI cannot be made to release their code while the kernel runs.
        case $case in counted* | libraries*) grep -q "stay loaded: CUPTI holds their code" "$log" ;; esac
    done
    # The launches of the last case are recorded, read or not.
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"kernel":"scale_in_place"')" -eq 9 ]
    grep -q "scale_in_place" "$log"
}

@test "a module stays where CUPTI does not give its code free, and some context has gone" {
    GPUSIM_FAILS=cuptiSassMetricsDisable@1+=forbidden same_with_and_without "$programs/contexts_linked" beside
    grep -q "stay loaded: CUPTI holds their code" "$log"
}

@test "a module whose kernel was counted is unloaded after some context has gone" {
    same_with_and_without "$programs/contexts_linked" beside
    [ "$(measured scale_in_place)" -eq 10 ]
}

@test "a module whose kernel was counted is unloaded while a stream is being captured" {
    for case in captured captured_by_another; do
        same_with_and_without "$programs/contexts_linked" $case
        [ "$(measured scale_in_place)" -eq 20 ]
    done
}

@test "launches beside a capture are passed over, and said to be, in the report and in the profile" {
    same_with_and_without "$programs/contexts_linked" beside_capture
    [ "$(measured scale_in_place)" -eq 10 ]
    grep -q "30 kernel launches, 10 measured" "$log"
    grep -q "20 launches of scale_in_place: a stream was being captured at the launch" "$log"
    [ "$(grep -c "the kernels of a graph are not measured: a stream was being captured at the launch" "$log")" -eq 1 ]
    "$GPUPROF_BUILD/gpuprof" report "$profile" | grep -q "20 launches of scale_in_place: a stream was being captured"
    "$GPUPROF_BUILD/gpuprof" report --print launches "$profile" | grep -q '"type":"passed_over".*"launches":20'
}

@test "a context goes while a stream of it is being captured" {
    same_with_and_without "$programs/contexts_linked" captured_and_gone
    [ "$(measured scale_in_place)" -eq 10 ]
    ! grep -q "being captured" "$profile"
}

@test "a context is to go while a stream of it is being captured, and stays" {
    for case in destroyed released; do
        same_with_and_without "$programs/staying_linked" $case
        [ "$(grep -c '"type":"launch"' "$profile")" -eq 12 ]
        grep -q "a stream was being captured" "$profile"
        ! grep -q "the launch's context was gone" "$profile" || false
    done
}

@test "launches are held when their function is changed while a kernel waits, and have the reason" {
    GPUPROF_KERNELS=scale_in_place GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/staying_linked" at_work
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 6 ]
    grep -q "other work on the GPU did not end before the launch was measured" "$profile"
    ! grep -q "the launch's context was gone" "$profile"
}

@test "a context goes with its memory, and leaves none current" {
    same_with_and_without "$programs/contexts_linked" alone
    [ "$(measured scale_in_place)" -eq 10 ]
}

@test "registered memory stays when a context goes" {
    same_with_and_without "$programs/contexts_linked" registered
    [ "$(measured scale_in_place)" -gt 0 ]
}

@test "an image that is freed once it is loaded" {
    # Its code is asked for where the hardware counts nothing.
    for fault in busy none; do
        for case in freed freed_with_option freed_without_promise; do
            GPUSIM_FAULTS=$fault same_with_and_without "$programs/contexts_linked" $case
            [ "$(grep -c '"type":"launch"' "$profile")" -eq 10 ]
        done
    done
}

@test "an image that the program has promised to preserve" {
    GPUSIM_FAULTS=busy same_with_and_without "$programs/contexts_linked" freed
    grep -q "the kernel's module was not loaded as machine code" "$profile"
    GPUSIM_FAULTS=busy same_with_and_without "$programs/contexts_linked" preserved
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 10 ]
    [ "$(grep -c "the kernel's module was not" "$profile")" -eq 0 ]
}

@test "a kernel at the handle of one that was not selected" {
    GPUPROF_KERNELS=scale_in_place same_with_and_without "$programs/contexts_linked" handles
    [ "$(measured)" -eq 200 ]
}

@test "a primary context goes with its last user" {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    same_with_and_without "$programs/contexts_linked" primary
    [ "$(measured scale_in_place)" -eq 40 ]
    [ "$(enabled)" -eq 2 ]
    # A reset is no release.
    same_with_and_without "$programs/contexts_linked" primary_reset
    [ "$(measured scale_in_place)" -eq 30 ]
}

@test "no call of the driver changes errno" {
    for fault in none errno; do
        GPUSIM_FAULTS=$fault same_with_and_without "$programs/errno_linked"
        [ "$(grep -c '^cu[A-Za-z_0-9]*: 0$' "$BATS_TEST_TMPDIR/plain.out")" -ge 40 ]
        [ "$(measured scale_in_place)" -gt 200 ]
    done
}

@test "two contexts on one device take turns, and every launch has its values" {
    for chip in hopper kepler; do
        GPUSIM_CHIP=$chip same_with_and_without "$programs/contexts_linked" contexts
        [ "$(measured scale_in_place)" -eq 100 ]
        [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
        # All counters that one launch has, every launch has.
        [ "$(grep '"type":"launch"' "$profile" | sed 's/.*"counters":{\([^}]*\)}.*/\1/; s/:[^,]*//g' | sort -u | wc -l)" -eq 1 ]
    done
}

@test "two devices with alternate launches are counted side by side" {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/profiler
    GPUSIM_DEVICES=2 same_with_and_without "$programs/contexts_linked" devices
    [ "$(measured scale_in_place)" -eq 100 ]
    [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    [ "$(enabled)" -eq 2 ]
}

# bats test_tags=time
@test "launches on a device that is not used any more are read while another one is" {
    # The idle device is asked at each launch, and gets a millisecond: too little on a busy machine.
    for _ in 1 2 3; do
        GPUSIM_DEVICES=2 same_with_and_without "$programs/contexts_linked" left_alone
        [ "$(measured scale_in_place)" -eq 6 ]
        read=$(grep '"device":0' "$profile" | grep -c '"dram__bytes_read.sum":[0-9]') || true
        if [ "$read" -eq 3 ]; then return 0; fi
    done
    echo "$read of 3 were read"
    false
}

@test "a hundred contexts come and go" {
    for chip in hopper kepler; do
        GPUSIM_CHIP=$chip same_with_and_without "$programs/contexts_linked" mortal
        [ "$(measured scale_in_place)" -eq 200 ]
        ! grep -q "^gpuprof: " "$log" || false
    done
    # Event groups of a context that a kernel broke are left to CUPTI.
    GPUSIM_CHIP=kepler same_with_and_without "$programs/contexts_linked" mortal_failing
    [ "$(measured scale_in_place)" -eq 200 ]
    ! grep -q "^gpuprof: not measuring" "$log" || false
}

@test "a kernel is abandoned when there is no room for another unread launch" {
    # Reading does not happen while it waits, and the next launch comes first.
    many=$(yes scale | head -63)
    GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/waiting_dlopen" $many stream $many
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 127 ]
    [ "$(measured scale_in_place)" -eq 126 ]
    [ "$(measured wait_for_flag)" -eq 0 ]
}

@test "launches are held when a kernel is abandoned that ends later, and no other one follows" {
    GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/waiting_dlopen" scale scale stream
    [ "$(measured scale_in_place)" -eq 2 ]
    launches | grep '"kernel":"scale_in_place"' >"$profile.scale"
    [ "$(grep -c '"dram__bytes_read.sum":[0-9]' "$profile.scale")" -eq 2 ]
    [ "$(grep -c '"smsp__sass_data_bytes_mem_global_op_ld.sum":[0-9]' "$profile.scale")" -eq 2 ]
}

@test "the first launch that is measured comes while a kernel waits" {
    # Nothing is to be started with CUPTI then, which would wait for the kernel.
    GPUPROF_TIMEOUT=0.3 GPUPROF_KERNELS=scale \
        same_with_and_without "$programs/waiting_dlopen" beside scale
    [ "$(measured)" -eq 1 ]
}

@test "launches that are refused while they are counted" {
    export GPUSIM_FAULTS=refused GPUSIM_DEVICES=2
    # With replays, in turns without, and where none is possible.
    same_with_and_without "$programs/snippets_linked" vector_add in_place
    GPUPROF_REPLAY=off same_with_and_without "$programs/snippets_linked" in_place
    same_with_and_without "$programs/calls_linked" barred
    grep -q '"skipped":"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"' "$profile"
    [ "$(grep -c '"dram__bytes_read.sum":[0-9]' "$profile")" -eq 0 ]
    GPUSIM_CHIP=kepler same_with_and_without "$programs/snippets_linked" vector_add in_place
    [ "$(grep -c '"event__[a-z_]*":[0-9]' "$profile")" -eq 0 ]
}

@test "a kernel that has ended before waits in a pass" {
    export GPUPROF_TIMEOUT=1 GPUPROF_REPLAY=off
    # In the hardware's pass; in that of instrumented code.
    same_with_and_without "$programs/waiting_dlopen" set host scale scale
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 4 ]
    GPUPROF_METRICS=gld_efficiency \
        same_with_and_without "$programs/waiting_dlopen" set host scale scale
    [ "$(grep -c '"type":"launch"' "$profile")" -eq 4 ]
}

@test "launches while a copy of another thread waits for a kernel" {
    # They are not all held up as long as the first is.
    GPUPROF_TIMEOUT=0.3 GPUPROF_KERNELS=scale \
        same_with_and_without "$programs/waiting_dlopen" copied scale
    [ "$(measured)" -gt 0 ]
}

@test "launches, and the end of a context, wait for a kernel that waits for another thread" {
    for case in queued destroyed; do
        GPUPROF_TIMEOUT=0.3 same_with_and_without "$programs/waiting_dlopen" $case scale
        grep -q "did not end within [0-9.]* s by itself" "$log"
    done
}

@test "out of memory while a kernel waits" {
    # Our memory is given back, but not if the free would wait for that kernel.
    GPUPROF_TIMEOUT=0.3 GPUPROF_KERNELS=scale \
        same_with_and_without "$programs/waiting_dlopen" scale full scale
    [ "$(measured)" -eq 2 ]
}
