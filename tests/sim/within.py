#!/usr/bin/env python3
"""within.py MOST PART ALL METRIC...: reports in JSON of a run that measured some launches and one that measured all.

Each of the metrics, of the first kernel, is as far from its value in the second report as its interval says, at most,
and that interval is at most MOST of the value.
"""

import json
import sys


def values(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["profiles"][0]["kernels"][0]["metrics"]


most, part, whole = float(sys.argv[1]), values(sys.argv[2]), values(sys.argv[3])
wrong = 0
for name in sys.argv[4:]:
    mean, interval, right = part[name]["mean"], part[name]["interval"], whole[name]["mean"]
    well = interval is not None and interval <= most * mean and abs(mean - right) <= interval + 1e-9 * right
    print("ok" if well else "not ok", name, mean, interval, right)
    wrong += not well
sys.exit(wrong > 0)
