#!/usr/bin/env bats
# CUPTI is detached while nothing is measured, as each launch takes longer where it serves the driver.
#
# How many launches that takes depends on the time of a launch. Here it is 200 us longer beside CUPTI, so that a thousand
# or two are as dear as to come again, also on a busy machine.

load common

export GPUPROF_SAMPLE=first:2,every:4000 GPUSIM_FAULTS=slowlaunches


# traced PROGRAM...: CUPTI's calls of the run stand in $GPUSIM_PROFILER.
traced() {
    export GPUSIM_PROFILER=$BATS_TEST_TMPDIR/trace
    rm -f "$GPUSIM_PROFILER"
    same_with_and_without "$@"
    sort "$GPUSIM_PROFILER" | uniq -c
}

times() { grep -c "^$1 " "$GPUSIM_PROFILER" || true; }

# The launches' counters, each set once.
sets_of_counters() { counted | cut -d' ' -f2- | sort -u | wc -l; }

@test "CUPTI is detached where launches pass, and comes for the next one to be measured, with the same counters" {
    traced "$programs/limit_linked" 0 one:9000
    [ "$(times finalize)" -ge 1 ]
    [ "$(times enable)" -ge 2 ]
    [ "$(launches | wc -l)" -eq 4 ]
    ! grep '"skipped"' "$profile" || false
    [ "$(sets_of_counters)" -eq 1 ]
}

@test "a new kernel is counted in instrumented code behind a detachment" {
    GPUPROF_SAMPLE=first:2 traced "$programs/limit_linked" 0 one:4000 rare:101
    [ "$(times finalize)" -ge 1 ]
    grep '"kernel":"vector_add_float"' "$profile" | grep -q '"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum":[1-9]\|"smsp__inst_executed.sum":[1-9]'
    ! grep '"skipped"' "$profile" || false
}

@test "it stays where every launch is measured, and where few pass" {
    GPUPROF_SAMPLE=every:1 traced "$programs/limit_linked" 0 one:800
    [ "$(times finalize)" -eq 0 ]
    traced "$programs/limit_linked" 0 one:60
    [ "$(times finalize)" -eq 0 ]
}

@test "threads launch beside the detachment" {
    GPUPROF_SAMPLE=first:2 traced "$programs/limit_linked" 0 threads:2000
    [ "$(times finalize)" -ge 1 ]
    [ "$(sets_of_counters)" -eq 1 ]
}

@test "graphs pass as well" {
    GPUPROF_SAMPLE=first:2 traced "$programs/limit_linked" 0 one:1300 graph:3000
    [ "$(times finalize)" -ge 1 ]
}

@test "a context goes while CUPTI is detached, and launches of the next one are counted" {
    traced "$programs/limit_linked" 0 one:3990 anew:1 one:4000 anew:2 one:4000
    [ "$(times finalize)" -ge 2 ]
    [ "$(launches | wc -l)" -ge 4 ]
    ! grep '"skipped"' "$profile" || false
    [ "$(sets_of_counters)" -eq 1 ]
}

@test "it stays while a kernel runs in another context" {
    GPUPROF_TIMEOUT=0.2 traced "$programs/limit_linked" 0 one:9000
    [ "$(times finalize)" -ge 1 ]
    GPUPROF_TIMEOUT=0.2 traced "$programs/limit_linked" 0 one:10 waiting:1 one:9000
    [ "$(times finalize)" -eq 0 ]
}

@test "it stays where it may still be sampling" {
    GPUPROF_DIAGNOSIS=full GPUSIM_FAILS=cuptiPCSamplingDisable@1 traced "$programs/limit_linked" 0 one:4100 rare:100 one:4000
    [ "$(times finalize)" -eq 1 ]
}

@test "where CUPTI refuses to be detached it stays, and a line says so" {
    GPUSIM_FAILS=cuptiFinalize@1 traced "$programs/limit_linked" 0 one:9000
    [ "$(times finalize)" -eq 0 ]
    [ "$(grep -c "CUPTI stays with the program where nothing is measured: cuptiFinalize" "$log")" -eq 1 ]
    [ "$(launches | wc -l)" -eq 4 ]
    ! grep '"skipped"' "$profile" || false
}

@test "where it does not come again, launches say so" {
    GPUSIM_FAILS=cuptiSubscribe@1+ traced "$programs/limit_linked" 0 one:9000
    [ "$(times finalize)" -eq 1 ]
    grep -q "launches of scale_in_place: cuptiSubscribe: CUPTI_ERROR_UNKNOWN" "$log"
}

@test "it stays for a tool of the program" {
    traced "$programs/tool_linked" linked launches
    [ "$(times finalize)" -ge 1 ]
    traced "$programs/tool_linked" linked launch subscribe unsubscribe launches
    [ "$(times finalize)" -eq 0 ]
}

@test "it comes again beside a tool that has subscribed meanwhile" {
    traced "$programs/tool_linked" linked launches subscribe launches launches
    [ "$(times finalize)" -ge 1 ]
    [ "$(launches | wc -l)" -eq 4 ]
    [ "$(sets_of_counters)" -eq 1 ]
}
