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
    GPUPROF_DIAGNOSIS=full same_with_and_without "$programs/snippets_linked" vector_add sum_shared
    [ "$(sampled)" = "$(printf '%s\n' sum_shared vector_add)" ]
    all=$(samples vector_add sample_count)
    [ "$all" -gt 1000 ]
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

@test "the report at the end says why warps wait, and so does that of the profile" {
    GPUPROF_DIAGNOSIS=full profiled "$programs/snippets_linked" sum_shared
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
