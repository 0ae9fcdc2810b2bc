#!/usr/bin/env bats
# The whole tool on the simulated chip of the sources' time (compute capability 3.7): few events per
# group, a launch replayed once for each set of groups, lines of 128 bytes in L1.

load common

kepler() {
    GPUSIM_CHIP=kepler profiled "$programs/snippets_linked" "$@"
}

@test "every snippet computes the same" {
    export GPUSIM_CHIP=kepler
    for program in linked dlopen getproc; do
        same_with_and_without "$programs/snippets_$program"
        [ "$(measured)" -gt 0 ]
    done
}

@test "a launch is replayed once for each set of event groups" {
    kepler vector_add
    runs=$(grep -o '"passes":[0-9]*' "$profile" | cut -d: -f2)
    [ "$runs" -ge 4 ] # the program's own, and at least three sets
    grep -q '"event__active_warps":[0-9]' "$profile"
    grep -q '"event_counters":1' "$profile"
}

@test "without replay no turn goes by in which nothing is collected" {
    # The first launch only shows that the kernel ends: events are its time as well.
    GPUPROF_METRICS=inst_executed GPUPROF_REPLAY=off kepler --launches 6 in_place
    [ "$(grep -c '"event__inst_executed":[0-9]' "$profile")" -eq 5 ]
}

@test "these very programs notice when a restore does nothing" {
    export GPUSIM_CHIP=kepler
    for snippet in in_place globals managed_global atomics; do
        run env GPUSIM_FAULTS=badrestore GPUPROF_LOG="$log" \
            LD_PRELOAD="$preload" "$programs/snippets_linked" "$snippet"
        [ "$status" -ne 0 ] || { echo "$snippet did not notice"; false; }
    done
}

# The table of the sources, 16384 x 16384 there, 256 x 256 here: 4096 times less.
@test "matrix add: transactions and efficiencies to the digit" {
    export GPUSIM_L1=on
    for block in 32x32 32x16; do
        kepler --size 256 --block $block matrix_row matrix_column
        is matrix_add_row gld_transactions $((16777216 / 4096))
        is matrix_add_row gst_transactions $((8388608 / 4096))
        is matrix_add_row gld_efficiency "100 %"
        is matrix_add_row gst_efficiency "100 %"
        is matrix_add_column gld_transactions $((536870912 / 4096))
        is matrix_add_column gst_transactions $((268435456 / 4096))
        is matrix_add_column gld_efficiency "3.12 %"
        is matrix_add_column gst_efficiency "12.5 %"
    done
    kepler --size 256 --block 16x16 matrix_row matrix_column
    is matrix_add_row gld_transactions $((33554432 / 4096))
    is matrix_add_row gst_transactions $((16777216 / 4096))
    is matrix_add_row gld_efficiency "50.0 %"
    is matrix_add_row gst_efficiency "100 %"
    is matrix_add_column gld_transactions $((268435456 / 4096))
    is matrix_add_column gst_transactions $((134217728 / 4096))
    is matrix_add_column gld_efficiency "6.25 %"
    is matrix_add_column gst_efficiency "25.0 %"
    kepler --size 256 --block 128 matrix_linear
    is matrix_add_linear gld_efficiency "100 %"
    is matrix_add_linear gst_efficiency "100 %"
}

@test "an offset of 11 floats, with L1 and without" {
    GPUSIM_L1=on kepler --size 131072 --offset 11 --block 512 read_offset write_offset
    [[ $(metric read_offset gld_efficiency) == 49.* ]] || [[ $(metric read_offset gld_efficiency) == 50.* ]]
    is write_offset gst_efficiency "80.0 %"
    GPUSIM_L1=on kepler --size 131072 --offset 128 --block 512 read_offset
    is read_offset gld_efficiency "100 %"
    GPUSIM_L1=off kepler --size 131072 --offset 11 --block 512 read_offset write_offset
    is read_offset gld_efficiency "80.0 %"
    is write_offset gld_efficiency "100 %"
    GPUSIM_L1=off kepler --size 131072 --offset 0 --block 512 read_offset write_offset
    is read_offset gld_efficiency "100 %"
    is write_offset gst_efficiency "100 %"
}

@test "an array of structs is half as efficient" {
    for l1 in off on; do
        GPUSIM_L1=$l1 kepler structs_aos structs_soa
        is structs_aos gld_efficiency "50.0 %"
        is structs_aos gst_efficiency "50.0 %"
        is structs_soa gld_efficiency "100 %"
    done
}

@test "vector add: occupancy by block size" {
    for case in 1024:1.00 512:1.00 256:1.00 128:1.00 64:0.500 32:0.250; do
        kepler --size 262144 --block ${case%:*} vector_add
        is vector_add theoretical_occupancy ${case#*:}
        achieved=$(metric vector_add achieved_occupancy)
        awk -v a="$achieved" -v t="${case#*:}" 'BEGIN { exit !(a > 0.5 * t && a <= t) }'
    done
}

@test "bank conflicts and divergence" {
    kepler transpose_shared transpose_padded sum_neighbours sum_interleaved
    [ "$(metric transpose_shared shared_efficiency | cut -d. -f1)" -lt 20 ]
    is transpose_padded shared_efficiency "100 %"
    [ "$(metric sum_neighbours warp_execution_efficiency | cut -d. -f1)" -lt \
        "$(metric sum_interleaved warp_execution_efficiency | cut -d. -f1)" ]
}

# Of 512 x 512 floats a warp's row is one line, its column 32.
@test "nvprof's metrics of instructions, replays, L1 and L2 are computed from events" {
    GPUPROF_METRICS=inst_executed,inst_issued,issue_slots,issued_ipc,ipc,issue_slot_utilization,inst_replay_overhead,gld_transactions,gst_transactions,gld_transactions_per_request,gst_transactions_per_request,global_replay_overhead,shared_replay_overhead,l2_read_transactions,l2_write_transactions,l2_l1_read_transactions,l2_l1_write_transactions,l2_l1_read_hit_rate
    export GPUPROF_METRICS
    GPUSIM_L1=off kepler --size 512 --block 32x32 matrix_row matrix_column
    is matrix_add_row gld_transactions_per_request 1.00
    is matrix_add_row gst_transactions_per_request 1.00
    is matrix_add_column gld_transactions_per_request 32.0
    # Two matrices are read and one is written, four bytes an element, 32 a sector.
    is matrix_add_row l2_read_transactions $((2 * 512 * 512 * 4 / 32))
    is matrix_add_row l2_write_transactions $((512 * 512 * 4 / 32))
    is matrix_add_row l2_l1_read_transactions $((2 * 512 * 512 * 4 / 32))
    is matrix_add_row l2_l1_write_transactions $((512 * 512 * 4 / 32))
    is matrix_add_row global_replay_overhead 0
    executed=$(metric matrix_add_column inst_executed)
    # 31 replays of each of the 2 loads and the store of 8192 warps.
    is matrix_add_column global_replay_overhead "$(awk -v n="$executed" 'BEGIN { printf "%.3g", 3 * 31 * 8192 / n }')"
    is matrix_add_row inst_issued "$executed"
    is matrix_add_row issue_slots "$executed"
    is matrix_add_row inst_replay_overhead 0
    [ "$(metric matrix_add_row issued_ipc)" = "$(metric matrix_add_row ipc)" ]
    awk -v u="$(metric matrix_add_row issue_slot_utilization)" -v i="$(metric matrix_add_row ipc)" \
        'BEGIN { d = u + 0 - 25 * i; exit !(u + 0 > 0 && d * d < 0.01) }'
    GPUPROF_METRICS=shared_replay_overhead,shared_efficiency kepler transpose_shared transpose_padded
    is transpose_padded shared_replay_overhead 0
    awk -v o="$(metric transpose_shared shared_replay_overhead)" 'BEGIN { exit !(o > 0.1) }'
}

@test "a metric that events cannot count says why, and names the nearest that they can" {
    export GPUSIM_CHIP=kepler
    refused() {
        run "$GPUPROF_BUILD/gpuprof" --metrics "$1" "$programs/snippets_linked" vector_add
        [ "$status" -eq 2 ]
        [ "$output" = "gpuprof: --metrics: '$1' on compute capability 3.7: $2" ]
    }
    refused flop_count_sp "instructions of a class have no event on this GPU; CUPTI counted them in its metric interface alone; the nearest is not_predicated_off_thread_inst_executed"
    refused stall_sync "the reasons why warps wait have no event on this GPU; CUPTI counted them in its metric interface alone; the nearest is issue_slot_utilization"
    refused half_precision_fu_utilization "how busy a pipe is has no event on this GPU; CUPTI counted it in its metric interface alone; the nearest is issue_slot_utilization"
    run "$GPUPROF_BUILD/gpuprof" --metrics global_replay_overhead "$programs/snippets_linked" matrix_column
    [ "$status" -eq 0 ]
    [[ $output == *" global_replay_overhead "* ]]
    # Of every name of nvprof's there is a formula or a reason of its own.
    for cc in 3.7 5.2 6.0; do
        run "$GPUPROF_BUILD/gpuprof" metrics --cc $cc $(sed -n 's/^TITLE(\([a-z0-9_]*\),.*/\1/p' "$BATS_TEST_DIRNAME/../../src/report/nvprof_titles.def")
        [ "$status" -eq 0 ]
        [[ $output != *"is not defined for"* && $output != *"has no formula over"* ]]
    done
}

@test "values that events cannot count are absent, not 0" {
    kepler flops_float
    is flops_float flop_count_sp absent
    is flops_float tensor_utilization absent
}

@test "a CUPTI from before the Range Profiler is enough" {
    export GPUSIM_CHIP=kepler GPUSIM_FAULTS=oldcupti
    same_with_and_without "$programs/snippets_linked" in_place
    [ "$(measured)" -eq 3 ] || { cat "$log"; false; }
}

@test "a kernel that is abandoned has no events of the launch that follows" {
    GPUSIM_CHIP=kepler GPUPROF_TIMEOUT=1 \
        same_with_and_without "$programs/waiting_dlopen" scale stream scale
    grep -q '"event_counters":1' "$profile"
    [ "$(measured)" -eq 2 ]
    [ "$(measured wait_for_flag)" -eq 0 ]
}
