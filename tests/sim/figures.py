#!/usr/bin/env python3
"""Holds the first screen to the profile: each of its figures is a metric's value, or one that the page has
as well.
  figures.py GPUPROF PROFILE      prints nothing, or the difference"""

import json
import pathlib
import re
import subprocess
import sys

gpuprof, profile = sys.argv[1:]
RULES = pathlib.Path(__file__).parents[2] / "metrics" / "rules" / "0-bounds.ini"
STEPS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def said(*arguments):
    return subprocess.run([gpuprof, "report", *arguments, profile], capture_output=True, text=True, check=True).stdout


def fail(text):
    print(text)
    sys.exit(1)


screen = said()
page = json.loads(re.search(r'id="data">(.*?)</script>', said("--html", "-"), re.S).group(1))["profiles"][0]
names = [m["name"] for m in page["metrics"]]
# By the title of a unit: the metric that says how busy it was.
units = {title: metric for title, metric in re.findall(r"title = (.+)\nutilization = (\w+)", RULES.read_text())}


def mean(kernel, metric):
    stat = kernel["stats"][names.index(metric)]
    if isinstance(stat, dict):
        return stat.get("all")
    return stat[0] if isinstance(stat, list) else stat


def average_of(kernel):
    """The time of a launch, those that were not timed included."""
    return kernel["seconds"] / kernel["launches"]


def check(name, shown, value, most):
    """The figure shown is the value, rounded as it is shown."""
    if value is None or abs(shown - value) > most:
        fail(f"{name}: the screen says {shown}, the profile {value}")


def check_share_of(unit, percent, kernel):
    check(f"{kernel['brief']}: {unit}", float(percent), 100 * mean(kernel, units[unit]), 0.5001)


total, step = re.search(r"by their share of ([\d.]+) (\w+) on the GPU", screen).groups()
check("GPU time", float(total) * STEPS[step], page["totals"]["seconds"], page["totals"]["seconds"] * 1e-3)
head = re.search(r": (\d+) kernel launches, (\d+) measured(?: with (\d+) replays?)?", screen)
for shown, key in zip(head.groups(), ("launches", "measured", "replays")):
    check(key, int(shown or 0), page["totals"][key], 0)

# A name, the next limit, and below them the numbers.
row = re.compile(r"^(\S.*?) \[([\dx]+)\](?:   next limit (.{1,13}?) ([\d.]+)%)?(?:   values ±[\d.]+%|   values not sure|   measured once)?\n"
                 r" *(~?)([\d.]+)% +(?:(\d+) of )?(\d+) +([\d.]+) (ns|us|ms|s)  (\S.*?)(?: ([\d.]+)%\*?)?  +"
                 r"([\d.]+|-)/([\d.]+|-) +(.*)$", re.M)
kernels = row.findall(screen)
if not kernels or len(kernels) != min(10, len(page["kernels"])):
    fail(f"{len(kernels)} kernels were found in the screen, {len(page['kernels'])} in the page")
classes = [("gld_efficiency", 1), ("gst_efficiency", 1), ("shared_efficiency", 1), ("warp_execution_efficiency", 1),
           ("flops", 1), ("flop_per_byte", 1), ("dram_utilization", 100)]
PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
for shown, kernel in zip(kernels, page["kernels"]):
    name, _, beside, busy, mark, share, measured, launches, average, step, by, used, achieved, fits, rest = shown
    check(f"{name}: share", float(share), 100 * kernel["seconds"] / page["totals"]["seconds"], 0.0501)
    check(f"{name}: launches", int(launches), kernel["launches"], 0)
    check(f"{name}: measured", int(measured or launches), kernel["measured"], 0)
    check(f"{name}: time", float(average) * STEPS[step], average_of(kernel), average_of(kernel) * 1e-3)
    if (mark == "~") != kernel["estimated"] or by.strip() != kernel["bound"]["by"]:
        fail(f"{name}: the screen says '{mark}' and '{by}', the page {kernel['estimated']} and {kernel['bound']['by']}")
    # Of several grids the use is that of the time in which the kernel is bound so.
    if kernel["bound"]["share"] == 1:
        if used:
            check_share_of(kernel["bound"]["by"], used, kernel)
        if beside:
            check_share_of(next(t for t in units if t.startswith(beside)), busy, kernel)
    if achieved != "-":
        check(f"{name}: occupancy", float(achieved), mean(kernel, "achieved_occupancy"), 0.00501)
    if fits != "-":
        check(f"{name}: occupancy that fits", float(fits), mean(kernel, "theoretical_occupancy"), 0.00501)
    cells = re.findall(r"([\d.e-]+|-)(?:%| ([kMGT])(?=\s))?", rest)
    for (cell, prefix), (metric, factor) in zip(cells, classes):
        if cell == "-":
            if mean(kernel, metric) is not None:
                fail(f"{name}: {metric} is not in the screen, and {mean(kernel, metric)} in the page")
            continue
        value = factor * mean(kernel, metric) / PREFIXES.get(prefix, 1)
        check(f"{name}: {metric}", float(cell), value, max(0.501 if metric not in ("flops", "flop_per_byte") else 0, 6e-3 * abs(value)))

flat = " ".join(screen.split())
for line in page["summary"]:
    if f"{line['name']}: {line['value']}" not in flat:
        fail(f"the screen has no '{line['name']}: {line['value']}'")
about = screen[screen.index("a model, not measured."):screen.index("\nKERNELS")]
if [line["name"] for line in page["summary"]] != re.findall(r"^(\w[\w ]+): +\S", about, re.M):
    fail("the screen has lines on the program that the page has not")
changes = re.findall(r"^\d\. ((?:up to|about) [\d.]+ %): ", screen, re.M)
left = iter(page["changes"])
for gain in changes:
    change = next((c for c in left if c["saves"] == gain), None)
    if not change:
        fail(f"no change of the page saves '{gain}'")
    said = " ".join(f"{change['evidence']}: ".split())
    if f"{said} {' '.join(change['text'].split())}" not in flat and f"{said} as under " not in flat:
        fail(f"the screen has not the evidence of the page: {change['evidence']}")
if len(changes) < min(3, len(page["changes"])):
    fail(f"{len(changes)} changes in the screen of {len(page['changes'])}")
