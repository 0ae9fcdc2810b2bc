#!/usr/bin/env python3
"""Writes a profile of made-up launches, for tests of the page: none of its numbers was measured.
  make_profile.py KERNELS LAUNCHES [STREAMS [FASTER]]"""

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


def kernel(number, random):
    intensity, speed = 10 ** random.uniform(-2, 2.5), 10 ** random.uniform(9, 13.3)
    seconds = 10 ** random.uniform(-6, -3.5) * 100 / (number + 10)
    return {
        "kernel": f"_Z{len(name(number))}{name(number)}Pfi", "block": random.choice(BLOCKS),
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


def main():
    kernels, launches = int(sys.argv[1]), int(sys.argv[2])
    streams = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    faster = float(sys.argv[4]) if len(sys.argv) > 4 else 1
    chance = random.Random(7)
    made = [kernel(i, chance) for i in range(kernels)]
    print(json.dumps({"type": "header", "format": 1, "gpuprof": "0.1.0", "pid": 7, "host": "nowhere",
                      "command": ["./made_up", "--kernels", str(kernels)], "time": "2026-01-02T03:04:05Z"}))
    print(json.dumps(DEVICE))
    out = sys.stdout
    for i in range(launches):
        k = made[i] if i < kernels else made[min(int(chance.expovariate(0.15)), kernels - 1)]
        out.write(json.dumps(launch(i, k, 0 if i % 5 else 7 + i % streams, chance, faster)) + "\n")


main()
