#!/usr/bin/env python3
"""Writes a profile of a loop of a large program with as much to say as there can be: kernels of one template, several
grids of each that are bound by different things, and launches left out for many reasons. None of it was measured."""

import json

from h200 import DEVICE

CYCLES = 1.8e6
ZERO = ["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        *(f"smsp__sass_thread_inst_executed_op_{p}{q}_pred_on.sum" for p in "fdh" for q in ("add", "mul", "fma"))]


def counters(busy):
    issued = busy * 4 * 132 * CYCLES
    return {
        "gpu__time_duration.sum": 1e6, "gpc__cycles_elapsed.max": CYCLES,
        "gpc__cycles_elapsed.avg.per_second": CYCLES * 1e3, "sm__cycles_active.avg": CYCLES,
        "sm__cycles_active.max": CYCLES * 1.5, "sm__warps_active.avg.pct_of_peak_sustained_active": 40,
        "smsp__inst_executed.sum": issued, "smsp__thread_inst_executed.sum": 10 * issued,
        "smsp__thread_inst_executed_pred_on.sum": 8 * issued, "dram__bytes_read.sum": 1e6,
        "dram__bytes_write.sum": 1e6, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 10,
        "l1tex__t_sectors.avg.pct_of_peak_sustained_elapsed": 10,
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_local_op_ld.sum": 1e7,
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_local_op_st.sum": 1e7,
        "smsp__sass_data_bytes_mem_global_op_ld.sum": 1e6, "smsp__sass_data_bytes_mem_global_op_st.sum": 1e6,
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum": 1e6,
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum": 1e6,
        "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum": 1e6, "smsp__sass_l1tex_tags_mem_global.sum": 1e6,
        "smsp__sass_inst_executed_op_global_atom.sum": 1e6, "smsp__sass_inst_executed_op_global_red.sum": 1e6,
        **{name: 0 for name in ZERO}}


def name(number):
    return (f"_ZN2my6vector29vectorized_elementwise_kernelILi{number}ENS0_15CUDAFunctor_addIfEE"
            "NS_6detail5ArrayIPcLi3EEEEEviT0_T1_")


def main():
    print(json.dumps({"type": "header", "format": 1, "gpuprof": "0.1.0", "pid": 77, "host": "node1",
                      "command": ["./app"], "time": "2026-01-02T03:04:05Z", "sample": "first:5,every:100"}))
    print(json.dumps(DEVICE))
    launches = [{"kernel": name(k), "grid": [grid, 1, 1], "block": [96, 1, 1], "registers": 128,
                 "shared_dynamic": 40000, "passes": 2, "overhead_ms": 3, "counters": counters(busy)}
                for k in range(14) for grid, busy in ((132 * 80, 0.2), (132 * 90, 0.9), (20, 0.01))]
    launches += [{"kernel": f"_Z40k{'x' * 38}{r}Pf", "grid": [1, 1, 1], "block": [32, 1, 1], "registers": 1, "passes": 0,
                  "skipped": f"reason {r}: " + "the launch reaches memory that is shared with other processes " * 4}
                 for r in range(8)]
    for index, launch in enumerate(launches):
        print(json.dumps({"type": "launch", "index": index, "device": 0, "shared_carveout": -1, **launch}))


main()
