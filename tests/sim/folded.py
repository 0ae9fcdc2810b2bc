#!/usr/bin/env python3
"""How a report folds launches, as properties of all its numbers: those of --print json, of the page and of the screen.
  folded.py GPUPROF PROFILE      PROFILE is as --print launches has it; prints nothing, or the differences

Launches of the simulated GPU are much alike, so each is given other times and counts first.

A profile merged with itself has twice the counts and totals, and all else but intervals is the same; the order of launches does not
matter; a launch of no time changes no ratio."""

import json
import pathlib
import random
import re
import subprocess
import sys

gpuprof, profile = sys.argv[1:]
wrong = []

# Counts and totals, in any object.
TOTALS = {"launches", "recorded", "measured", "recalled", "timed", "calls", "bytes", "seconds", "processes",
          "run_seconds", "gpu_seconds", "copy_seconds", "graph_launches", "graph_seconds", "flop", "dram_bytes", "absent_launches", "replays",
          "overhead_seconds", "untimed_launches", "count", "other_skips", "ungrouped", "disturbed", "most_seconds"}
# All numbers in these are totals, and those in `values` that a rule takes of the whole program.
OF_TOTALS = {"flop_by_precision", "seconds_by_bound", "seconds_by_origin"}
PROGRAM_VALUES = {"short_launches", "processes", "host_copies", "host_waits", "host_allocations"}
# The time of two processes is "2 processes ran ~2 s together", and so on.
WORDS = [(r"\d+ processes ran ~([\d.]+ \w+) together", r"ran ~\1"), (r"/s of each process", "/s")]


def report(*arguments):
    done = subprocess.run([gpuprof, "report", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"report {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def json_of(*arguments):
    return json.loads(report("--print", "json", *arguments))["profiles"][0]


def page_of(*arguments):
    return json.loads(re.search(r'id="data">(.*?)</script>', report("--html", "-", *arguments), re.S).group(1))["profiles"][0]


# ---- JSON and the page

def is_total(path):
    name = path[-1]
    if len(path) > 1 and path[-2] == "values":
        return name in PROGRAM_VALUES
    return name in TOTALS or any(part in OF_TOTALS for part in path)


def alike(path, before, after, times, close=1e-9):
    """Compares trees; numbers that are totals are so many times as large."""
    where = ".".join(map(str, path))
    if isinstance(before, dict) and isinstance(after, dict):
        if before.keys() != after.keys():
            wrong.append(f"{where}: {sorted(before.keys() ^ after.keys())}")
        for key in before.keys() & after.keys() - {"interval"}:  # twice as many launches are surer
            alike((*path, key), before[key], after[key], times, close)
    elif isinstance(before, list) and isinstance(after, list):
        if before and isinstance(before[0], dict) and "grid" in before[0]:  # configurations: in any order
            before, after = (sorted(each, key=lambda c: (c["grid"], c.get("block"))) for each in (before, after))
        if len(before) != len(after):
            wrong.append(f"{where}: {len(before)} and {len(after)}")
        for i, (x, y) in enumerate(zip(before, after)):
            alike((*path, i), x, y, times, close)
    elif isinstance(before, (int, float)) and isinstance(after, (int, float)) and not isinstance(before, bool):
        expected = before * times if is_total([p for p in path if isinstance(p, str)]) else before
        if abs(after - expected) > close * max(abs(expected), abs(after)):
            wrong.append(f"{where}: {before} became {after}")
    elif isinstance(before, str) and isinstance(after, str):
        same_text(where, before, after, times)
    elif before != after:
        wrong.append(f"{where}: {before} became {after}")


# ---- texts

NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e[-+]\d+)?)( ?[kMGTPE]?(?:B|FLOP)(?![/\w])| ?[num]?s\b|%| %)?")
STEPS = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def numbers(text):
    """Each with its unit: values, as units may change with size, and how precisely they are written."""
    for number, unit in NUMBER.findall(text):
        unit = unit.strip()
        step = STEPS.get(unit[0], 1) if len(unit) > 1 else 1
        yield float(number) * step, unit[1:] if step != 1 else unit


def same_text(where, before, after, times):
    """The same words; numbers are the same, or totals: never percents."""
    for pattern, instead in WORDS:
        before, after = re.sub(pattern, instead, before), re.sub(pattern, instead, after)
    words = [re.sub(r"\W+", " ", NUMBER.sub("#", text)).replace("launches", "launch") for text in (before, after)]
    pairs = list(zip(numbers(before), numbers(after)))
    fits = all(abs(x - y) <= 6e-4 * abs(y) or (unit not in ("%", " %") and abs(times * x - y) <= 1.1e-3 * abs(y))
               for (x, unit), (y, _) in pairs)
    if words[0] != words[1] or not fits:
        wrong.append(f"{where}: '{before}' became '{after}'")


def screen_of(*arguments):
    """Without the lines on the files."""
    text = report(*arguments)
    text = re.sub(r"   (values ±[\d.]+%|values not sure|measured once)", "", text)
    return " ".join(re.sub(r"\nMore: .*(\n   .*)*", "", text[text.index("\ngpuprof "):]).split())


# ---- profiles

SUMS = re.compile(r"\.(sum|max|avg)$")
records = [json.loads(line) for line in pathlib.Path(profile).read_text().splitlines()]
heads, others = records[:2], records[2:]
tail = [r for r in others if r["type"] != "launch"]
if [r["type"] for r in heads] != ["header", "device"] or tail[-1]["type"] != "end" or \
        any(r["type"] in ("header", "device") for r in tail):
    sys.exit("the profile is not of one process, on one GPU, that came to its end")
tail[-1]["seconds"] += 1


def written(name, launches, ends=tail):
    path = pathlib.Path(profile).with_name(name)
    path.write_text("".join(json.dumps(line) + "\n" for line in [*heads, *launches, *ends]))
    return str(path)


def changed(launch, chance):
    """Up to a thousand times as long, with other work."""
    longer, more = 10 ** chance.uniform(0, 3), 10 ** chance.uniform(0, 3)
    return {**launch, "counters": {
        name: value * (longer if "time" in name or "cycles" in name else more) if SUMS.search(name) else value
        for name, value in launch.get("counters", {}).items()}}


chance = random.Random(5)
made = [changed(r, chance) for r in others if r["type"] == "launch"]


# ---- the properties

def without(tree, *names):
    return {key: value for key, value in tree.items() if key not in names}


FILES = ("file", "path", "processes", "launches", "notes")

# Merged with itself.
plain = written("plain.jsonl", made)
before, page = json_of(plain), page_of(plain)
if not before["summary"]["flop"] or not before["summary"]["gpu_share"] or len(before["advice"]) < 3:
    sys.exit("the profile says too little")
twice = ("--merge", plain, plain)
alike(("json",), before, json_of(*twice), 2)
doubled = page_of(*twice)
alike(("page",), without(page, *FILES), without(doubled, *FILES), 2, 2e-8)  # of nine digits
same_text("screen", screen_of(plain), screen_of(*twice), 2)
if doubled["launches"]["count"] != 2 * page["launches"]["count"]:
    wrong.append("the page has not twice the launches")

# In another order. Reasons why launches were left out are listed as they came.
indices = sorted(r["index"] for r in made)
backwards = iter([r for r in reversed(made) if not r.get("skipped")])
turned = written("turned.jsonl", [{**(r if r.get("skipped") else next(backwards)), "index": i}
                                  for i, r in zip(indices, made)])
alike(("turned",), without(before, "file"), without(json_of(turned), "file"), 1)
alike(("turned page",), without(page, *FILES), without(page_of(turned), *FILES), 1, 2e-8)
same_text("turned screen", screen_of(plain), screen_of(turned), 1)

# With a launch of next to no time.
RATIOS = {"%", "ratio", "bytes/s", "flop/s", "flop/byte"}
SHARES = ("gpu_share", "copy_share", "flop_share", "dram_share", "flop_covered", "dram_covered", *OF_TOTALS)
complete = [r for r in made if not r.get("skipped")]
several = [r for r in complete if sum(r["kernel"] == other["kernel"] for other in complete) > 1]
longest = max(several, key=lambda r: r["counters"]["gpu__time_duration.sum"])
nothing = {**longest, "index": indices[-1] + 1, "counters": {
    name: value * (1e-12 if SUMS.search(name) else 0.5) for name, value in longest["counters"].items()}}
counted = [{**r, "launches": r["launches"] + 1} if r["type"] == "count" and all(
    r[key] == longest[key] for key in ("kernel", "device", "grid", "block")) else r for r in tail]
if counted == tail:
    sys.exit("the longest launch was not counted")
added = written("more.jsonl", [*made, nothing], counted)
more = json_of(added)
if more["launches"] != before["launches"] + 1:
    wrong.append(f"{before['launches']} launches and one are {more['launches']}")
for x, y in zip(before["kernels"], more["kernels"]):
    alike((x["name"], "bound"), x["bound"], y["bound"], 1, 1e-6)
    for name, stat in x["metrics"].items():
        if stat["unit"] in RATIOS and "mean" in stat:
            alike((x["name"], name), stat["mean"], y["metrics"][name]["mean"], 1, 1e-6)
alike(("summary",), {k: before["summary"][k] for k in SHARES}, {k: more["summary"][k] for k in SHARES}, 1, 1e-6)
alike(("advice",), [[a[k] for k in ("rule", "kernel", "gain")] for a in before["advice"]],
      [[a[k] for k in ("rule", "kernel", "gain")] for a in more["advice"]], 1, 1e-6)
percents = [[x for x, unit in numbers(screen_of(path)) if unit in ("%", " %")] for path in (plain, added)]
if percents[0] != percents[1]:
    wrong.append(f"the screen's percents {percents[0]} became {percents[1]}")
more_page = page_of(added)
units = [metric["unit"] for metric in page["metrics"]]
for x, y in zip(page["kernels"], more_page["kernels"]):
    alike((x["name"], "page's bound"), x["bound"], y["bound"], 1, 1e-6)
    for unit, *stats in zip(units, x["stats"], y["stats"]):
        means = [s[0] if isinstance(s, list) else s for s in stats]
        if unit in RATIOS:
            alike((x["name"], "page"), *means, 1, 1e-6)
alike(("page's changes",), page["changes"], more_page["changes"], 1, 1e-6)

print("\n".join(wrong))
sys.exit(bool(wrong))
