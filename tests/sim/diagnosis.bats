#!/usr/bin/env bats
# Samples of the instructions at which warps wait, taken between the counts of launches.

load common

# sampled: the kernels with samples, one a line.
sampled() { grep '"sampled":' "$profile" | grep -o '"kernel":"[^"]*"' | cut -d'"' -f4 | sort; }

# samples KERNEL REASON: how many of them there are, over all instructions.
samples() {
    local line column
    line=$(grep "\"type\":\"instructions\",\"kernel\":\"$1\"" "$profile")
    column=$(grep -o '"counts":\[[^]]*\]' <<<"$line" | grep -o '"smsp[^"]*"' | grep -nx "\"smsp__pcsamp_$2\"" | cut -d: -f1)
    [ -n "$column" ] || {
        echo 0
        return
    }
    grep -o '\[[0-9]*,[0-9]*,[0-9,]*\]' <<<"$line" | tr -d '[]' |
        awk -F, -v column="$column" '{ sum += $(column + 2) } END { print sum + 0 }'
}

# of_default_set: the counters of each launch, without those of the diagnosis, which stand behind them.
of_default_set() { counted | sed 's/,"sm__inst_executed_pipe_alu\..*//'; }

@test "with --diagnosis full each kernel is sampled, where its model waits" {
    GPUSIM_PROFILER=$BATS_TEST_TMPDIR/calls GPUPROF_DIAGNOSIS=full \
        same_with_and_without "$programs/snippets_linked" vector_add sum_shared
    [ "$(sampled)" = "$(printf '%s\n' sum_shared vector_add)" ]
    # Samples that come more often disturb a launch. Launches take turns: none finds its code in the caches each time.
    grep '^sampled' "$BATS_TEST_TMPDIR/calls" | uniq >"$BATS_TEST_TMPDIR/runs"
    [ "$(grep -c '^sampled [a-z_]* 12$' "$BATS_TEST_TMPDIR/runs")" -eq 32 ]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/runs")" -eq 32 ]
    all=$(samples vector_add sample_count)
    [ "$all" -gt 500 ]
    [ "$(samples vector_add warps_issue_stalled_long_scoreboard)" -gt $((all / 2)) ]
    [ "$(samples vector_add warps_issue_stalled_barrier)" -eq 0 ]
    [ "$(samples sum_shared warps_issue_stalled_barrier)" -gt 0 ]
    # Samples in which nothing was issued are among those of the reason: all reasons sum up to all.
    sum=0
    for reason in long_scoreboard short_scoreboard selected wait barrier; do
        sum=$((sum + $(samples sum_shared warps_issue_stalled_$reason)))
    done
    [ "$sum" -eq "$(samples sum_shared sample_count)" ]
}

@test "a launch runs again until it has enough samples, others sixteen times" {
    GPUSIM_FAULTS=manysamples GPUSIM_PROFILER=$BATS_TEST_TMPDIR/calls GPUPROF_DIAGNOSIS=full \
        same_with_and_without "$programs/snippets_linked" vector_add sum_shared
    all=$(samples vector_add sample_count)
    [ "$all" -ge 4000 ]
    [ "$all" -lt 8000 ]
    [ "$(grep -c '^sampled vector_add ' "$BATS_TEST_TMPDIR/calls")" -eq 11 ]
    [ "$(grep -c '^sampled sum_shared ' "$BATS_TEST_TMPDIR/calls")" -eq 16 ]
}

@test "the report at the end says why warps wait, and so does that of the profile" {
    GPUSIM_FAULTS=manysamples GPUPROF_DIAGNOSIS=full profiled "$programs/snippets_linked" sum_shared
    grep '^   warps wait: .*(long_scoreboard).* at +0x[0-9a-f]* ([A-Z0-9]*)' "$log"
    diff <(grep 'warps wait' "$log") <("$GPUPROF_BUILD/gpuprof" report "$profile" | grep 'warps wait')
    "$GPUPROF_BUILD/gpuprof" source --sort heat "$profile" sum_shared >"$BATS_TEST_TMPDIR/hot"
    grep '% *barrier .* BAR' "$BATS_TEST_TMPDIR/hot"
}

@test "counters are the same whether kernels are sampled or not, before and behind" {
    for case in freed written variables; do
        GPUPROF_DIAGNOSIS=off same_with_and_without "$programs/changes_linked" $case
        of_default_set >"$BATS_TEST_TMPDIR/off"
        [ -z "$(sampled)" ]
        GPUPROF_DIAGNOSIS=full same_with_and_without "$programs/changes_linked" $case
        of_default_set >"$BATS_TEST_TMPDIR/full"
        [ -n "$(sampled)" ]
        diff "$BATS_TEST_TMPDIR/off" "$BATS_TEST_TMPDIR/full"
        [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
    done
}

@test "kernels that come behind samples are counted in instrumented code, and launches that cannot wait are sampled" {
    kernels="vector_add in_place sum_shared matrix_row matrix_column predicated one_lane"
    for memory in 1M 300K; do
        for diagnosis in off full; do
            # shellcheck disable=SC2086
            GPUPROF_DIAGNOSIS=$diagnosis GPUPROF_MEMORY=$memory GPUSIM_PROFILER=$BATS_TEST_TMPDIR/calls \
                same_with_and_without "$programs/snippets_linked" $kernels
            of_default_set >"$BATS_TEST_TMPDIR/$diagnosis"
        done
        diff "$BATS_TEST_TMPDIR/off" "$BATS_TEST_TMPDIR/full"
        [ "$(grep '"sampled":' "$profile" | grep -c '"smsp__sass_sectors_mem_global"')" -eq 7 ]
    done
    # The session came again between kernels.
    [ "$(grep -c '^enable' "$BATS_TEST_TMPDIR/calls")" -ge 5 ]
}

@test "a short program is not sampled of itself; one that took long to be measured is, at its end" {
    export GPUPROF_DIAGNOSIS=auto
    same_with_and_without "$programs/snippets_linked" vector_add
    [ -z "$(sampled)" ]
    kernels="vector_add in_place sum_shared matrix_row matrix_column predicated one_lane"
    # shellcheck disable=SC2086
    GPUSIM_FAULTS=slowcode GPUSIM_PROFILER=$BATS_TEST_TMPDIR/calls same_with_and_without "$programs/exits_linked" exit $kernels
    [ -n "$(sampled)" ]
    # It was the last act: no session came behind it.
    [ "$(grep -c '^enable' "$BATS_TEST_TMPDIR/calls")" -eq 1 ]
}

@test "CUPTI refuses to sample: all is counted, and one line says why" {
    for call in cuptiFinalize cuptiPCSamplingEnable cuptiPCSamplingGetNumStallReasons \
        cuptiPCSamplingGetStallReasons cuptiPCSamplingSetConfigurationAttribute cuptiPCSamplingStart \
        cuptiPCSamplingStop cuptiPCSamplingGetData; do
        GPUPROF_DIAGNOSIS=full GPUSIM_FAILS=$call@1 same_with_and_without "$programs/snippets_linked" vector_add in_place
        [ "$(grep -c "not all instructions were sampled: .*$call" "$log")" -eq 1 ]
        [ "$(grep -c '"skipped"' "$profile")" -eq 0 ]
        grep -q '"dram__bytes_read.sum":[0-9]' "$profile"
    done
    GPUPROF_DIAGNOSIS=full GPUSIM_FAULTS=nosamples same_with_and_without "$programs/snippets_linked" vector_add
    grep -q "not all instructions were sampled" "$log"
}

@test "kernels behind samples that were refused, or that do not end" {
    kernels="vector_add in_place sum_shared matrix_row matrix_column predicated one_lane"
    for call in cuptiPCSamplingEnable cuptiPCSamplingDisable; do
        # shellcheck disable=SC2086
        GPUPROF_DIAGNOSIS=full GPUPROF_MEMORY=300K GPUSIM_FAILS=$call@1 \
            same_with_and_without "$programs/snippets_linked" $kernels
        cp "$profile" "$BATS_TEST_TMPDIR/$call"
    done
    # Refused, they are over, and all is counted. Where CUPTI goes on sampling nothing is counted any more.
    [ "$(grep '"type":"launch"' "$BATS_TEST_TMPDIR/cuptiPCSamplingEnable" | grep -vc '"dram__bytes_read.sum":[0-9]')" -eq 0 ]
    [ "$(grep '"type":"launch"' "$BATS_TEST_TMPDIR/cuptiPCSamplingDisable" | grep -vc '"dram__bytes_read.sum":[0-9]')" -gt 0 ]
}

@test "CUPTI cannot count again behind samples: launches are timed, and nothing is wrong" {
    GPUPROF_DIAGNOSIS=full GPUSIM_FAILS=cuptiProfilerInitialize@2+ same_with_and_without "$programs/changes_linked" freed
    [ "$(launches | wc -l)" -eq 12 ]
}

@test "CUPTI is not finalized under a tool of the program's" {
    GPUPROF_DIAGNOSIS=full profiled "$programs/tool_linked" "$sim/libcupti.so.13" subscribe launch
    [ -z "$(sampled)" ]
}

@test "samples beside several contexts" {
    GPUPROF_DIAGNOSIS=full same_with_and_without "$programs/contexts_linked" contexts alone
    [ -n "$(sampled)" ]
}

@test "--diagnosis is off, auto or full" {
    GPUPROF_DIAGNOSIS=much profiled "$programs/snippets_linked" vector_add
    grep -q "GPUPROF_DIAGNOSIS=much: unknown; say off, auto (the default) or full" "$log"
    run "$GPUPROF_BUILD/gpuprof" --diagnosis much true
    [ "$status" -eq 2 ]
    [[ $output == *"--diagnosis: 'much' is none of off, auto and full"* ]]
}

# ---- counters of the diagnosis

# counter KERNEL NAME: its value in the kernel's launches that have one, each once.
counter() {
    grep "\"type\":\"launch\".*\"kernel\":\"$1\"" "$profile" | grep -o "\"$2\":[0-9.e+]*" | cut -d: -f2 | sort -u
}

# diagnosed: the kernels with these counters, one a line for each launch that has them.
diagnosed() {
    grep '"type":"launch"' "$profile" | grep '"sm__inst_executed_pipe_alu' | grep -o '"kernel":"[^"]*"' | cut -d'"' -f4 | sort
}

# sum KERNEL NAME...: of such values.
sum() {
    local kernel=$1 name
    shift
    for name in "$@"; do counter "$kernel" "$name"; done | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

@test "counters of the diagnosis agree with those of the default set, and memory is as it was" {
    kernels="vector_add in_place sum_shared matrix_column"
    # shellcheck disable=SC2086
    GPUPROF_DIAGNOSIS=full same_with_and_without "$programs/snippets_linked" $kernels
    [ "$(diagnosed)" = "$(printf '%s\n' matrix_add_column scale_in_place sum_shared vector_add)" ]
    for kernel in matrix_add_column scale_in_place sum_shared vector_add; do
        [ "$(counter $kernel smsp__inst_issued.sum)" = "$(counter $kernel smsp__inst_executed.sum)" ]
        [ "$(counter $kernel l1tex__data_pipe_lsu_wavefronts_mem_shared.sum)" = \
            "$(counter $kernel smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum)" ]
        [ "$(counter $kernel l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum)" = \
            "$(counter $kernel smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum)" ]
        [ $((32 * $(sum $kernel lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum))) -eq \
            "$(sum $kernel lts__t_bytes.sum)" ]
        # Caches are as empty.
        rate=$(counter $kernel lts__t_request_hit_rate.pct)
        hits=$(sum $kernel lts__t_sectors_op_read_lookup_hit.sum lts__t_sectors_op_write_lookup_hit.sum)
        [ "$(awk -v rate="$rate" -v bytes="$(sum $kernel lts__t_bytes.sum)" 'BEGIN { printf "%.0f", rate / 100 * bytes / 32 }')" -eq "$hits" ]
    done
    # Of no launch twice, and of the rest none.
    [ "$(counter scale_in_place sm__warps_active.sum | wc -l)" -eq 1 ]
}

@test "each configuration of a kernel has them, and details say of how many launches values are" {
    GPUPROF_DIAGNOSIS=full GPUPROF_REPORT=details same_with_and_without "$programs/snippets_linked" in_place
    grep -q '^ *stalled_long_scoreboard .*%  of 1 launch$' "$log"
    diff <(grep '  of 1 launch' "$log" | sort) \
        <("$GPUPROF_BUILD/gpuprof" report --details "$profile" | grep '  of 1 launch' | sort) | grep -v '^>' | grep '^<' && return 1
    # A metric that was not to be counted is no 0, and not listed as absent either.
    GPUPROF_DIAGNOSIS=off GPUPROF_REPORT=details profiled "$programs/snippets_linked" in_place
    [ "$(grep -c 'stalled_\|issue_slots_lost\|alu_pct' "$log")" -eq 0 ]
    GPUPROF_DIAGNOSIS=full same_with_and_without "$programs/limit_linked" 0 all:4
    [ "$(diagnosed | uniq -c | awk '$1 > 1' | wc -l)" -ge 1 ]
}

@test "a configuration that comes in a later batch is diagnosed, and none twice" {
    GPUPROF_DIAGNOSIS=full same_with_and_without "$programs/limit_linked" 0 one:300 all:3 one:300 all:4
    grids=$(grep '"diagnosed":1' "$profile" | grep -o '"grid":[^]]*' | sort)
    [ "$(wc -l <<<"$grids")" -eq 5 ]
    [ "$(uniq <<<"$grids" | wc -l)" -eq 5 ]
    [ "$(sampled)" = scale_in_place ]
}

@test "metrics that were asked for are all that is counted" {
    GPUPROF_DIAGNOSIS=full GPUPROF_METRICS=duration,ipc same_with_and_without "$programs/snippets_linked" vector_add
    [ -z "$(diagnosed)" ]
    [ "$(sampled)" = vector_add ]
    GPUPROF_DIAGNOSIS=full GPUPROF_METRICS=default,branch_efficiency profiled "$programs/snippets_linked" vector_add
    [ "$(diagnosed)" = vector_add ]
}

@test "CUPTI refuses the session of the diagnosis: all else is counted, and one line says why" {
    # With one batch the default set takes these calls once, or as often as is said.
    for call in cuptiRangeProfilerEnable@2 cuptiRangeProfilerGetCounterDataSize@2 cuptiRangeProfilerSetConfig@2 \
        cuptiRangeProfilerStart@5 cuptiRangeProfilerStop@6 cuptiRangeProfilerPushRange@10 cuptiRangeProfilerPopRange@10 \
        cuptiRangeProfilerDecodeData@3 cuptiProfilerHostEvaluateToGpuValues@20; do
        GPUPROF_DIAGNOSIS=full GPUSIM_FAILS=$call same_with_and_without "$programs/snippets_linked" vector_add in_place
        [ "$(grep -c 'the counters of the diagnosis were not counted: ' "$log")" -eq 1 ] || [ -n "$(diagnosed)" ]
        [ "$(grep '"type":"launch"' "$profile" | grep -c '"dram__bytes_read.sum":[0-9]')" -eq 4 ]
        [ "$(sampled | wc -l)" -eq 2 ]
    done
    GPUPROF_DIAGNOSIS=full GPUSIM_FAILS=cuptiRangeProfilerEnable@2 profiled "$programs/snippets_linked" vector_add
    grep -q 'the counters of the diagnosis were not counted: cuptiRangeProfilerEnable' "$log"
    [ -z "$(diagnosed)" ]
}

@test "a counter that the chip does not have costs itself alone; those that take too many passes are left out" {
    mkdir -p "$BATS_TEST_TMPDIR/gpuprof"
    cat >"$BATS_TEST_TMPDIR/gpuprof/own.ini" <<'INI'
[set diagnosis]
description = with one that no chip has, and more of L1's than eight passes hold
metrics = alu_pct_of_peak, made_up__counter.sum, l1_data_wavefronts, shared_wavefronts, global_load_sectors,
    global_store_sectors, local_sectors, local_hit_rate, l1_cache_global_hit_rate, shared_ld_bank_conflict,
    shared_st_bank_conflict, atomic_throughput, global_load_requests, global_store_requests, global_atomic_requests,
    global_reduction_requests, local_load_requests, local_store_requests
INI
    GPUPROF_DIAGNOSIS=full same_with_and_without "$programs/snippets_linked" vector_add
    [ "$(diagnosed)" = vector_add ]
    grep -q '"made_up__counter.sum":"this GPU has no such counter"' "$profile"
    [ "$(counter vector_add l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum)" = 4096.0 ]
    grep -q '"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum":"the counter needs a pass that could not be made"' "$profile"
}

@test "a kernel fails while it is diagnosed: its context is lost, and counters stay" {
    for run in 16 25; do
        # Without us the program has no such run.
        GPUPROF_DIAGNOSIS=full GPUSIM_FAULTS=trapped=$run profiled "$programs/snippets_linked" vector_add in_place || true
        grep -q 'the counters of the diagnosis were not counted: the launch failed' "$log"
        [ "$(grep '"type":"launch"' "$profile" | grep -c '"dram__bytes_read.sum":[0-9]')" -eq 4 ]
        [ -z "$(diagnosed)" ]
    done
}

# bats test_tags=long
@test "a kernel does not end while it is diagnosed: nothing more is counted, and the program goes on" {
    GPUPROF_TIMEOUT=1 GPUPROF_DIAGNOSIS=full GPUSIM_FAULTS=stuck=16 same_with_and_without "$programs/snippets_linked" vector_add in_place
    [ "$(grep '"type":"launch"' "$profile" | grep -c '"dram__bytes_read.sum":[0-9]')" -eq 4 ]
    [ -z "$(diagnosed)" ]
}

@test "the diagnosis keeps to the limit, and to a tenth of measuring" {
    kernels="vector_add in_place sum_shared matrix_row"
    # The session of the diagnosis takes 300 ms to open, and each pass 60.
    # shellcheck disable=SC2086
    GPUPROF_OVERHEAD=100s GPUPROF_DIAGNOSIS=full GPUSIM_FAULTS=slowcounters profiled "$programs/snippets_linked" $kernels
    [ -n "$(diagnosed)" ]
    # shellcheck disable=SC2086
    GPUPROF_OVERHEAD=0.6s GPUPROF_DIAGNOSIS=full GPUSIM_FAULTS=slowcounters GPUSIM_PROFILER=$BATS_TEST_TMPDIR/calls \
        profiled "$programs/snippets_linked" $kernels
    [ -z "$(diagnosed)" ]
    [ "$(grep -c '^enable' "$BATS_TEST_TMPDIR/calls")" -eq 1 ]
    # shellcheck disable=SC2086
    GPUPROF_DIAGNOSIS=auto GPUSIM_FAULTS=slowcode same_with_and_without "$programs/exits_linked" exit $kernels
    [ -z "$(diagnosed)" ]
}

# bats test_tags=long
@test "where it took long to measure a program the diagnosis has its counters, too" {
    kernels="vector_add in_place sum_shared matrix_row matrix_column predicated one_lane atomics histogram matrix_linear
        transpose_naive flops_float flops_double transpose_shared structs_aos"
    # shellcheck disable=SC2086
    GPUPROF_DIAGNOSIS=auto GPUSIM_FAULTS=slowcode same_with_and_without "$programs/exits_linked" exit $kernels $kernels $kernels
    [ -n "$(diagnosed)" ]
    [ -n "$(sampled)" ]
}

# bats test_tags=long
@test "where kernels have no instrumented counters those of the diagnosis come before samples" {
    kernels="vector_add in_place sum_shared matrix_row matrix_column predicated one_lane"
    # Six seconds of measuring pay for one of the two.
    # shellcheck disable=SC2086
    GPUPROF_DIAGNOSIS=auto GPUSIM_FAULTS=slowcode,refusedcode \
        same_with_and_without "$programs/exits_linked" exit $kernels $kernels $kernels $kernels
    [ "$(diagnosed | uniq | wc -l)" -eq 7 ]
}
