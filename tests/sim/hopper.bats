#!/usr/bin/env bats
# The whole tool on the simulated Hopper: whole programs, found and called in every way, the metrics
# computed from the addresses they touch, and everything that can go wrong.

load common

# ---- the program never notices -------------------------------------------------------------------

@test "a program linked with the driver computes the same" {
    same_with_and_without "$programs/snippets_linked"
    [ "$(measured)" -gt 0 ]
}

@test "a program that opens the driver itself computes the same" {
    same_with_and_without "$programs/snippets_dlopen"
    [ "$(measured)" -gt 0 ]
}

@test "a program that asks cuGetProcAddress, as the CUDA runtime does, computes the same" {
    same_with_and_without "$programs/snippets_getproc"
    [ "$(measured)" -gt 0 ]
}

@test "kernels that update in place, count and keep state are replayed from the right memory" {
    for passes in "" 5 12; do
        GPUSIM_PASSES=$passes same_with_and_without "$programs/snippets_linked" in_place globals \
            managed managed_global pinned atomics histogram
        [ "$(measured)" -gt 0 ]
        grep -q '"passes":'$((${passes:-2} + 1)) "$profile"
    done
}

@test "these very programs notice when a restore does nothing" {
    for snippet in in_place globals managed_global atomics; do
        run env GPUSIM_FAULTS=badrestore GPUPROF_LOG="$log" \
            LD_PRELOAD="$preload" "$programs/snippets_linked" "$snippet"
        [ "$status" -ne 0 ] || { echo "$snippet did not notice"; false; }
    done
}

@test "asynchronous memory, streams, libraries, cooperative launches: the same" {
    same_with_and_without "$programs/snippets_linked" async_memory streams library cooperative
    [ "$(measured)" -gt 0 ]
}

@test "a graph is captured undisturbed, and its kernels are measured when it is launched" {
    same_with_and_without "$programs/snippets_linked" graph
    [ "$(measured scale_in_place)" -eq 6 ]
}

# ---- the paper's tables, on sectors of 32 bytes --------------------------------------------------

@test "matrix add by rows and columns" {
    for block in 32x32 32x16; do
        profiled "$programs/snippets_linked" --size 512 --block $block matrix_row matrix_column
        is matrix_add_row gld_efficiency "100.00 %"
        is matrix_add_row gst_efficiency "100.00 %"
        is matrix_add_column gld_efficiency "12.50 %"
        is matrix_add_column gst_efficiency "12.50 %"
    done
    profiled "$programs/snippets_linked" --size 512 --block 16x16 matrix_row matrix_column
    is matrix_add_row gld_efficiency "100.00 %"
    is matrix_add_column gld_efficiency "25.00 %"
    is matrix_add_column gst_efficiency "25.00 %"
}

@test "an offset of 11 floats" {
    profiled "$programs/snippets_linked" --size 1048576 --offset 11 --block 512 read_offset write_offset
    is read_offset gld_efficiency "80.00 %"
    is read_offset gst_efficiency "100.00 %"
    is write_offset gld_efficiency "100.00 %"
    is write_offset gst_efficiency "80.00 %"
    profiled "$programs/snippets_linked" --offset 128 --block 512 read_offset
    is read_offset gld_efficiency "100.00 %"
}

@test "an array of structs against a struct of arrays" {
    profiled "$programs/snippets_linked" structs_aos structs_soa
    is structs_aos gld_efficiency "50.00 %"
    is structs_aos gst_efficiency "50.00 %"
    is structs_soa gld_efficiency "100.00 %"
    is structs_soa gst_efficiency "100.00 %"
}

@test "the theoretical occupancy of blocks of 32 is half" {
    profiled "$programs/snippets_linked" --block 32 vector_add
    is vector_add theoretical_occupancy 0.5000
    profiled "$programs/snippets_linked" --block 64 vector_add
    is vector_add theoretical_occupancy 1.0000
}

@test "bank conflicts show, and padding removes them" {
    profiled "$programs/snippets_linked" transpose_shared transpose_padded transpose_naive
    [ "$(metric transpose_shared shared_efficiency)" != "100.00 %" ]
    is transpose_padded shared_efficiency "100.00 %"
    is transpose_naive shared_efficiency absent
}

@test "divergence and predication show" {
    profiled "$programs/snippets_linked" one_lane predicated sum_neighbours sum_interleaved
    [ "$(metric one_lane warp_execution_efficiency | cut -d. -f1)" -lt 60 ]
    nonpred=$(metric predicated warp_nonpred_execution_efficiency | cut -d. -f1)
    all=$(metric predicated warp_execution_efficiency | cut -d. -f1)
    [ "$nonpred" -lt "$all" ]
    neighbours=$(metric sum_neighbours warp_execution_efficiency | cut -d. -f1)
    interleaved=$(metric sum_interleaved warp_execution_efficiency | cut -d. -f1)
    [ "$neighbours" -lt "$interleaved" ]
}

@test "operations are counted by precision, tensor work apart" {
    profiled "$programs/snippets_linked" flops_float flops_double flops_half tensor
    for kind in float:sp double:dp half:hp; do
        for other in sp dp hp; do
            value=$(metric "flops_${kind%:*}" flop_count_$other)
            if [ $other = "${kind#*:}" ]; then [ "$value" -gt 0 ]; else [ "$value" = 0 ]; fi
        done
    done
    is tensor_work flop_count_sp 0
    [ "$(metric tensor_work tensor_utilization)" != 0.0000 ]
}

# 2048 threads, 8 rounds, each of which multiplies 16 x 8 x 16 numbers for a warp.
@test "operations of the tensor cores are counted from how often their instructions ran" {
    for metrics in default flop_count_tensor,flop_count_tensor_fp16; do
        GPUPROF_METRICS=$metrics profiled "$programs/snippets_linked" tensor flops_float tensor
        is tensor_work flop_count_tensor $((2048 / 32 * 8 * 2 * 16 * 8 * 16))
        is tensor_work flop_count_tensor_fp16 $((2048 / 32 * 8 * 2 * 16 * 8 * 16))
        is flops_float flop_count_tensor 0
        [ "$(measured)" -eq 3 ]
    done
    [ "$(metric tensor_work flops)" = absent ] # not asked for: there is no duration
    GPUPROF_METRICS=flops,flops_without_tensor,flop_utilization profiled "$programs/snippets_linked" tensor
    [[ $(metric tensor_work flops) == *"FLOP/s" ]]
    is tensor_work flops_without_tensor "0 FLOP/s"
}

@test "they are counted as well where the hardware's counters are busy" {
    GPUSIM_FAULTS=busy GPUPROF_METRICS=flop_count_tensor profiled "$programs/snippets_linked" tensor
    is tensor_work flop_count_tensor $((2048 / 32 * 8 * 2 * 16 * 8 * 16))
}

@test "in nvprof's sense each thread's bytes count" {
    GPUPROF_METRICS=gld_efficiency,gld_efficiency_nvprof,gst_efficiency_nvprof \
        profiled "$programs/snippets_linked" vector_add matrix_column
    is vector_add gld_efficiency_nvprof "100.00 %"
    is vector_add gst_efficiency_nvprof "100.00 %"
    is matrix_add_column gld_efficiency_nvprof "12.50 %"
}

# ---- counters by their own names -----------------------------------------------------------------

@test "a counter that the GPU does not have takes no other with it" {
    GPUPROF_METRICS=no__such_counter.sum,dram__bytes_read.sum,smsp__sass_inst_executed.sum \
        profiled "$programs/snippets_linked" matrix_row
    grep -q '"dram__bytes_read.sum": *[0-9]' "$profile"
    grep -q '"smsp__sass_inst_executed.sum": *[0-9]' "$profile"
    grep -q '"no__such_counter.sum": *"this GPU has no such counter"' "$profile"
}
