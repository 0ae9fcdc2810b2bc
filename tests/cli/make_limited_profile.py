#!/usr/bin/env python3
"""Writes a profile of a program whose host launches short kernels of PyTorch one by one, of which the limit to the added
time left out all but one. Some have no time in all their launches, some in those of one grid. None of it was measured."""

import json

from h200 import DEVICE

LAUNCHES = 20000
# Kernel, grid, the share of the launches, microseconds (None: no launch was timed).
FILL = "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_11FillFunctorI{}EESt5arrayIPcLm1EEEEviT0_T1_"
KERNELS = [(FILL.format("l"), 1, 0.3, 2), (FILL.format("f"), 1, 0.2, 2), (FILL.format("f"), 64, 0.1, None),
           ("nvjet_sm90_tst_8x64_64x16_2x1_v_bz_TNN", 128, 0.2, 8), ("_Z8unmeasuredv", 128, 0.2, None)]
LEFT_OUT = "left out by the limit to the time that measuring adds (GPUPROF_OVERHEAD)"
TIMED_ONLY = "only timed, as measuring it would have added more time than the limit (GPUPROF_OVERHEAD)"


def line(kind, kernel, grid, **more):
    print(json.dumps({"type": kind, "kernel": kernel, "device": 0, "grid": [grid, 1, 1], "block": [128, 1, 1],
                      "cluster": [0, 0, 0], "shared_dynamic": 0, **more}))


def main():
    print(json.dumps({"type": "header", "format": 1, "gpuprof": "0.1.0", "pid": 77, "host": "node1",
                      "command": ["./app"], "time": "2026-01-02T03:04:05Z", "overhead": "3%"}))
    print(json.dumps(DEVICE))
    for index, (kernel, grid, _, us) in enumerate(KERNELS):
        if us:
            line("launch", kernel, grid, index=index, registers=32, shared_carveout=-1, passes=0,
                 counters={"gpu__time_duration.sum": 1e3 * us},
                 absent={"sm__warps_active.avg.pct_of_peak_sustained_active": TIMED_ONLY},
                 causes={TIMED_ONLY: "added-limit"}, skipped=LEFT_OUT if index else TIMED_ONLY, cause="added-limit")
    for kernel, grid, share, _ in KERNELS:
        line("count", kernel, grid, launches=int(share * LAUNCHES))
    print(json.dumps({"type": "end", "added_seconds": 0.03, "seconds": 1.03, "limit_seconds": 0.03, "limit_spent": 0.02,
                      "start_up_seconds": 0.1, "limit_wanted": 0.5, "host_launches": LAUNCHES,
                      **{f"host_{kind}{part}": 0 for kind in ("copies", "waits", "allocations", "frees")
                         for part in ("", "_timed", "_seconds", "_disturbed", "_disturbed_seconds")},
                      "host_copies_bytes": 0}))


main()
