#!/usr/bin/env python3
"""Writes a profile of made-up launches, for tests of the page: none of its numbers was measured."""

import argparse
import json
import math
import random
import sys

DEVICE = {
    "type": "device", "ordinal": 0, "name": "made up", "chip": "GH100", "cc_major": 9,
    "cc_minor": 0, "sm_count": 132, "clock_khz": 1980000, "memory_clock_khz": 3201000,
    "memory_bus_bits": 6016, "sp_dp_ratio": 2, "warp_size": 32, "max_threads_per_sm": 2048,
    "max_blocks_per_sm": 32, "max_threads_per_block": 1024, "registers_per_sm": 65536,
    "registers_per_block": 65536, "shared_per_sm": 233472, "shared_per_block": 49152,
    "shared_per_block_optin": 232448, "reserved_shared_per_block": 1024, "driver_version": 13000,
    "simulated": 1}
BLOCKS = [[32, 1, 1], [64, 1, 1], [128, 1, 1], [256, 1, 1], [512, 1, 1], [16, 16, 1], [1024, 1, 1]]

# Of libraries; the number makes them different.
LONG_NAMES = [
    "_ZN2at6native29vectorized_elementwise_kernelILi{0}ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
    "_ZN2at6native13reduce_kernelILi{0}ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfNS0_11sum_functorIfffEEEEjfLi4EEEE"
    "EvT1_",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x{0}_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel"
    "__5x_cublas",
    "_ZN12_GLOBAL__N_120softmax_warp_forwardIfffLi{0}ELb0ELb0EEEvPT0_PKT_iiiPKbib",
    "triton_per_fused_native_layer_norm_native_layer_norm_backward_{0}",
    "_ZN7cutlass7Kernel2I68cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8Li{0}EEEvNT_6ParamsE"]


def kernel(number, random, long_names):
    called = f"_Z{len(name(number))}{name(number)}Pfi"
    if long_names:
        called = LONG_NAMES[number % len(LONG_NAMES)].format(number)
    intensity, speed = 10 ** random.uniform(-2, 2.5), 10 ** random.uniform(9, 13.3)
    seconds = 10 ** random.uniform(-6, -3.5) * 100 / (number + 10)
    return {
        "kernel": called, "block": random.choice(BLOCKS),
        "grid": [random.choice([8, 132, 1000, 4096]), 1, 1],
        "registers": random.choice([16, 24, 32, 40, 64, 96, 128, 255]),
        "shared_static": random.choice([0, 0, 2048, 16384, 40960]),
        "seconds": seconds, "flop": speed * seconds, "bytes": min(speed * seconds / intensity, 4.5e12 * seconds),
        "efficiency": random.choice([12.5, 25.0, 50.0, 93.7, 100.0]), "occupancy": random.uniform(5, 100),
        "lanes": random.uniform(3, 32)}


def name(number):
    parts = ["gemm", "reduce", "copy", "softmax", "stencil", "scan", "sort", "fft"]
    return f"{parts[number % len(parts)]}_kernel_{number}"


def launch(index, k, stream, random, faster):
    noise = random.uniform(0.95, 1.1) / faster
    ns = 1e9 * k["seconds"] * noise
    sectors = math.ceil(k["bytes"] / 32)
    return {
        "type": "launch", "index": index, "kernel": k["kernel"], "device": 0, "context": 1,
        "stream": stream, "grid": k["grid"], "block": k["block"], "registers": k["registers"],
        "shared_static": k["shared_static"], "shared_carveout": -1, "passes": 3, "overhead_ms": 0.4,
        "start_ms": 1000 + index * 0.9,
        "counters": {
            "gpu__time_duration.sum": ns, "dram__bytes_read.sum": k["bytes"] * 0.7,
            "dram__bytes_write.sum": k["bytes"] * 0.3,
            "sm__warps_active.avg.pct_of_peak_sustained_active": k["occupancy"],
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": k["efficiency"],
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct": k["efficiency"],
            "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct": 83.0,
            "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum": sectors * 2,
            "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum": sectors,
            "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum": 0, "smsp__sass_inst_executed_op_tma.sum": 0,
            "smsp__inst_executed.sum": 1e6, "smsp__thread_inst_executed.sum": 1e6 * k["lanes"],
            "smsp__thread_inst_executed_pred_on.sum": 0.9e6 * k["lanes"],
            "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 0,
            "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": 0,
            "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": k["flop"] / 2,
            "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum": 0,
            "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum": 0,
            "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": 0,
            "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum": 0,
            "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum": 0,
            "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum": 0,
            "gpc__cycles_elapsed.avg.per_second": 1.98e9, "gpc__cycles_elapsed.max": 1.98 * ns,
            "sm__cycles_active.avg": 1.9 * ns, "sm__cycles_active.max": 1.95 * ns,
            "l1tex__t_sectors.avg.pct_of_peak_sustained_elapsed": k["occupancy"] * 0.7,
            "lts__t_bytes.sum": k["bytes"] * 1.3,
            "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": k["efficiency"] * 0.6,
            "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum": sectors / 40,
            "smsp__sass_l1tex_tags_mem_global.sum": sectors / 9,
            **{f"gpuprof__sass_ops_tensor_src_{of}.sum": 0 for of in ("fp16", "bf16", "tf32", "fp64", "fp8", "fp4")},
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 0}}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for number, default in (("kernels", None), ("launches", None), ("streams", 1), ("faster", 1)):
        parser.add_argument(number, type=float if number == "faster" else int, nargs=None if default is None else "?",
                            default=default)
    parser.add_argument("--long-names", action="store_true", help="names as libraries have them, a long command line")
    parser.add_argument("--device", help="the name of a device, of which there are measured roofs")
    return parser.parse_args()


def main():
    given = arguments()
    chance = random.Random(7)
    made = [kernel(i, chance, given.long_names) for i in range(given.kernels)]
    command = ["./made_up", "--kernels", str(given.kernels)]
    if given.long_names:
        command += [f"--option-{i}=a/folder/and/a/file-{i}.yaml" for i in range(40)]
    print(json.dumps({"type": "header", "format": 1, "gpuprof": "0.1.0", "pid": 7, "host": "nowhere",
                      "command": command, "time": "2026-01-02T03:04:05Z"}))
    print(json.dumps({**DEVICE, **({"name": given.device, "simulated": 0} if given.device else {})}))
    out = sys.stdout
    for i in range(given.launches):
        k = made[i] if i < given.kernels else made[min(int(chance.expovariate(0.15)), given.kernels - 1)]
        out.write(json.dumps(launch(i, k, 0 if i % 5 else 7 + i % given.streams, chance, given.faster)) + "\n")


main()
