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

# The table of the sources, 16384 x 16384 there, 512 x 512 here: 1024 times less.
@test "matrix add: transactions and efficiencies to the digit" {
    export GPUSIM_L1=on
    for block in 32x32 32x16; do
        kepler --size 512 --block $block matrix_row matrix_column
        is matrix_add_row gld_transactions $((16777216 / 1024))
        is matrix_add_row gst_transactions $((8388608 / 1024))
        is matrix_add_row gld_efficiency "100.00 %"
        is matrix_add_row gst_efficiency "100.00 %"
        is matrix_add_column gld_transactions $((536870912 / 1024))
        is matrix_add_column gst_transactions $((268435456 / 1024))
        is matrix_add_column gld_efficiency "3.12 %"
        is matrix_add_column gst_efficiency "12.50 %"
    done
    kepler --size 512 --block 16x16 matrix_row matrix_column
    is matrix_add_row gld_transactions $((33554432 / 1024))
    is matrix_add_row gst_transactions $((16777216 / 1024))
    is matrix_add_row gld_efficiency "50.00 %"
    is matrix_add_row gst_efficiency "100.00 %"
    is matrix_add_column gld_transactions $((268435456 / 1024))
    is matrix_add_column gst_transactions $((134217728 / 1024))
    is matrix_add_column gld_efficiency "6.25 %"
    is matrix_add_column gst_efficiency "25.00 %"
    kepler --size 512 --block 128 matrix_linear
    is matrix_add_linear gld_efficiency "100.00 %"
    is matrix_add_linear gst_efficiency "100.00 %"
}

@test "an offset of 11 floats, with L1 and without" {
    GPUSIM_L1=on kepler --size 131072 --offset 11 --block 512 read_offset write_offset
    [[ $(metric read_offset gld_efficiency) == 49.* ]] || [[ $(metric read_offset gld_efficiency) == 50.* ]]
    is write_offset gst_efficiency "80.00 %"
    GPUSIM_L1=on kepler --size 131072 --offset 128 --block 512 read_offset
    is read_offset gld_efficiency "100.00 %"
    GPUSIM_L1=off kepler --size 131072 --offset 11 --block 512 read_offset write_offset
    is read_offset gld_efficiency "80.00 %"
    is write_offset gld_efficiency "100.00 %"
    GPUSIM_L1=off kepler --size 131072 --offset 0 --block 512 read_offset write_offset
    is read_offset gld_efficiency "100.00 %"
    is write_offset gst_efficiency "100.00 %"
}

@test "an array of structs is half as efficient" {
    for l1 in off on; do
        GPUSIM_L1=$l1 kepler structs_aos structs_soa
        is structs_aos gld_efficiency "50.00 %"
        is structs_aos gst_efficiency "50.00 %"
        is structs_soa gld_efficiency "100.00 %"
    done
}

@test "vector add: occupancy by block size" {
    for case in 1024:1.0000 512:1.0000 256:1.0000 128:1.0000 64:0.5000 32:0.2500; do
        kepler --size 262144 --block ${case%:*} vector_add
        is vector_add theoretical_occupancy ${case#*:}
        achieved=$(metric vector_add achieved_occupancy)
        awk -v a="$achieved" -v t="${case#*:}" 'BEGIN { exit !(a > 0.5 * t && a <= t) }'
    done
}

@test "bank conflicts and divergence" {
    kepler transpose_shared transpose_padded sum_neighbours sum_interleaved
    [ "$(metric transpose_shared shared_efficiency | cut -d. -f1)" -lt 20 ]
    is transpose_padded shared_efficiency "100.00 %"
    [ "$(metric sum_neighbours warp_execution_efficiency | cut -d. -f1)" -lt \
        "$(metric sum_interleaved warp_execution_efficiency | cut -d. -f1)" ]
}

@test "values that events cannot count are absent, not 0" {
    kepler flops_float
    is flops_float flop_count_sp absent
    is flops_float tensor_utilization absent
}

@test "counters in use, no permission: one line, same program" {
    export GPUSIM_CHIP=kepler
    for fault in busy noprivileges; do
        GPUSIM_FAULTS=$fault same_with_and_without "$programs/snippets_linked"
        [ "$(grep -c "not measuring" "$log")" -eq 1 ]
        [ "$(wc -l <"$log")" -eq 1 ] || { echo $fault; cat "$log"; false; }
    done
}

@test "a CUPTI from before the Range Profiler is enough" {
    export GPUSIM_CHIP=kepler GPUSIM_FAULTS=oldcupti
    same_with_and_without "$programs/snippets_linked" in_place
    [ "$(measured)" -eq 3 ] || { cat "$log"; false; }
}

@test "a kernel that is abandoned has no events of the launch that follows" {
    GPUSIM_CHIP=kepler GPUPROF_TIMEOUT=0.3 \
        same_with_and_without "$programs/waiting_dlopen" scale stream scale
    grep -q '"event_counters":1' "$profile"
    [ "$(measured)" -eq 2 ]
    [ "$(measured wait_for_flag)" -eq 0 ]
}
