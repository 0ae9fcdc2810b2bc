#!/usr/bin/env python3
"""The tables of Zheng, Zhai, Li, Chen 2016 from profiles of Rodinia's programs: tables.txt for a
terminal and rodinia.md for docs/, with the paper's findings beside the measured values.
  tables.py GPUPROF PROGRAMS_FILE OUT_DIR      (OUT_DIR/profiles/NAME.jsonl, as tests/rodinia/run leaves them)
  tables.py --self-test"""

import json
import os
import pathlib
import re
import subprocess
import sys

COLUMNS = [  # head, width, metric, format
    ("FLOP/B", 8, "flop_per_byte", "{:.2f}"), ("GFLOP/s", 9, "flops", "giga"), ("U_f", 7, "flop_utilization", "{:.4f}"),
    ("U_dram", 7, "dram_utilization", "{:.3f}"), ("occ", 6, "achieved_occupancy", "{:.2f}"),
    ("of", 6, "theoretical_occupancy", "{:.2f}"), ("shared", 7, "shared_efficiency", "share"),
    ("gld", 7, "gld_efficiency", "share"), ("gst", 7, "gst_efficiency", "share"),
    ("warp", 7, "warp_execution_efficiency", "share"), ("on", 7, "warp_nonpred_execution_efficiency", "share")]
LEGEND = """FLOP/B: FLOP for each byte of global loads and stores; U_f, U_dram: share of the device's peak;
occ, of: achieved and theoretical occupancy; shared, gld, gst: efficiencies of memory; warp, on: lanes of a
warp that are active, and that are with their predicate on; -: no value (the profile says why)."""


class Kernel:
    def __init__(self, program, profile, number):
        raw = profile["kernels"][number]
        self.program, self.name = program, raw["brief"]
        self.block, self.launches, self.seconds = raw["block"], raw["launches"], raw["seconds"]
        self.measured = raw["measured"]
        self.source = raw.get("source") or []
        self.bound = raw["bound"]
        self.advice = [c for c in profile["changes"] if c["kernel"] == number]
        self.of_program = [c for c in profile["changes"] if c["kernel"] < 0]
        self.stats = dict(zip((m["name"] for m in profile["metrics"]), raw["stats"]))

    def value(self, metric):
        """The mean over the launches, None where there is none."""
        stat = self.stats.get(metric)
        if isinstance(stat, dict):
            stat = stat.get("all")
        return stat[0] if isinstance(stat, list) else stat

    def share(self, metric):
        value = self.value(metric)
        return None if value is None else value / 100

    def shape(self):
        return "x".join(str(n) for n in self.block[:3 if self.block[2] > 1 else 2 if self.block[1] > 1 else 1])


def written(kernel, metric, form):
    value = kernel.value(metric)
    if value is None:
        return "-"
    if form == "giga":
        return f"{value / 1e9:.1f}"
    return f"{value / 100:.4f}" if form == "share" else form.format(value)


def read(gpuprof, profile):
    page = subprocess.run([gpuprof, "report", "--html", "-", profile], check=True, capture_output=True).stdout.decode()
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))["profiles"][0]


def name_of(kernel, width):
    name = kernel.name
    return name if len(name) <= width else name[:width - 2] + ".."


def text_table(kernels):
    head = f"{'program':16}{'kernel [block]':36}{'launches':>9}" + "".join(f"{h:>{w}}" for h, w, _, _ in COLUMNS) + "  bound by"
    lines = [head]
    for k in kernels:
        name = f"{name_of(k, 34 - len(k.shape()) - 3)} [{k.shape()}]"
        lines.append(f"{k.program[:15]:16}{name:36}{k.launches:9}" +
                     "".join(f"{written(k, m, f):>{w}}" for _, w, m, f in COLUMNS) + f"  {k.bound['by']}")
    return lines


# ---- the paper's findings --------------------------------------------------------------------

def of(kernels, program, name):
    """The kernel of that program whose name matches, the one with the most time."""
    found = [k for k in kernels if k.program == program and re.search(name, k.name)]
    return max(found, key=lambda k: k.seconds) if found else None


def counted(kernels, metric, test):
    known = [k for k in kernels if k.value(metric) is not None]
    return sum(test(k.value(metric)) for k in known), len(known), known


def extreme(known, metric, pick):
    k = pick(known, key=lambda k: k.value(metric))
    return k, k.value(metric)


def few_flops(kernels):
    count, all_, known = counted(kernels, "flop_utilization", lambda v: v < 0.04)
    if not known:
        return None
    k, best = extreme(known, "flop_utilization", max)
    return f"{count} of {all_}; best {best:.3f} ({k.program} {k.name})", count / all_ > 0.8


def little_dram(kernels):
    count, all_, known = counted(kernels, "dram_utilization", lambda v: v < 0.5)
    if not known:
        return None
    k, best = extreme(known, "dram_utilization", max)
    return f"{count} of {all_}; best {best:.3f} ({k.program} {k.name})", count / all_ > 0.6


def intense(kernels):
    count, all_, known = counted(kernels, "flop_per_byte", lambda v: v > 1)
    if not known:
        return None
    k, best = extreme(known, "flop_per_byte", max)
    return f"{count} of {all_}; most {best:.2f} ({k.program} {k.name})", count / all_ < 0.5


def reached_by_most(metric, bound, text):
    """A finding: most kernels with that metric reach the bound."""
    def judge(kernels):
        count, all_, known = counted(kernels, metric, lambda v: v >= bound)
        if not known:
            return None
        k, least = extreme(known, metric, min)
        return f"{count} of {all_}; least {text(least)} ({k.program} {k.name})", count / all_ > 0.5
    return judge


occupied = reached_by_most("achieved_occupancy", 0.7, lambda v: f"{v:.2f}")
# Of the kernels that use shared memory.
shared_without_loss = reached_by_most("shared_efficiency", 99.5, lambda v: f"{v / 100:.4f}")


def one(program, name, metric, test, scale=0.01):
    def ask(kernels):
        k = of(kernels, program, name)
        value = k and k.value(metric)
        return None if value is None else (f"{value * scale:.4f}", test(value * scale), k)
    return ask


def fan2_blocks(kernels):
    small, large = of(kernels, "gaussian", "Fan2"), of(kernels, "gaussian-16x16", "Fan2")
    if not small or not large or not small.seconds or not large.seconds:
        return None
    before, after = small.value("achieved_occupancy"), large.value("achieved_occupancy")
    if before is None or after is None:
        return None
    saved = 1 - large.seconds / small.seconds
    return f"{before:.2f} and {after:.2f}, {100 * saved:.0f} % less time", after > 1.5 * before and saved > 0.2, small


def fan2_efficiency(kernels):
    small, large = of(kernels, "gaussian", "Fan2"), of(kernels, "gaussian-16x16", "Fan2")
    values = [k and k.value(m) for k in (small, large) for m in ("gld_efficiency", "gst_efficiency")]
    if None in values:
        return None
    text = f"gld {values[0] / 100:.2f} and {values[2] / 100:.2f}, gst {values[1] / 100:.2f} and {values[3] / 100:.2f}"
    return text, values[2] < values[0] and values[3] < values[1], small


def counted_at_lines(kernel, name):
    return sum(line["counts"].get(name, 0) for line in kernel.source)


def lava_conflicts(kernels):
    """Whether loads of the lanes from structs of 32 bytes still meet in one bank, or are kept in registers."""
    k = of(kernels, "lavaMD", "kernel_gpu_cuda")
    steps = counted_at_lines(k, "wavefronts") if k else 0
    if not steps:
        return None
    share = counted_at_lines(k, "bank conflicts") / steps
    holds = share > 0.1
    return f"{100 * share:.1f} % of the steps of shared memory", holds, k, "bank_conflicts" if holds else "not bank_conflicts"


FINDINGS = [  # the paper's finding, its figure, the same question for ours, the rule that says it ("not": that must not)
    ("kernels that reach less than 0.04 of the peak FLOP/s", "36 of 37; best 0.177 (lavaMD)", few_flops),
    ("kernels that use less than half of the DRAM bandwidth", "28 of 37; best 0.727 (cfd cuda_time_step)", little_dram),
    ("kernels with more than one FLOP for each byte", "9 of 37; most 86.25 (kmeansPoint)", intense),
    ("kernels with an occupancy of 0.7 or more", "22 of 37; least 0.2", occupied),
    ("lavaMD: FLOP for each byte", "7.97", one("lavaMD", "kernel_gpu_cuda", "flop_per_byte", lambda v: v > 1, 1)),
    ("kmeansPoint: FLOP for each byte", "86.25, the most", one("kmeans", "kmeansPoint", "flop_per_byte", lambda v: v > 50, 1)),
    ("cfd cuda_time_step: share of the DRAM bandwidth", "0.727, the most",
     one("cfd", "cuda_time_step", "dram_utilization", lambda v: v > 0.5, 1)),
    ("kernels with shared memory and a shared efficiency of 1", "8 of 14; least 0.4211 (lavaMD)", shared_without_loss),
    ("gaussian Fan2, blocks of 4 x 4: occupancy", "0.2, of 0.25",
     one("gaussian", "Fan2", "achieved_occupancy", lambda v: v < 0.3, 1), "small_blocks"),
    ("gaussian Fan2, blocks of 4 x 4 and 16 x 16: occupancy, time", "0.2 and 0.86, 56 % less time", fan2_blocks, "small_blocks"),
    ("gaussian Fan2, the same: global efficiencies fall", "lower", fan2_efficiency),
    ("lavaMD: shared efficiency, structs of 32 bytes", "0.4211, the lowest",
     one("lavaMD", "kernel_gpu_cuda", "shared_efficiency", lambda v: v < 0.6), "not bank_conflicts"),
    ("lavaMD: bank conflicts, which the paper has as the reason", "lanes n and n + 4 share banks", lava_conflicts),
    ("mummergpuKernel: efficiency of loads by a random index", "0.032, the lowest",
     one("mummergpu", "mummergpuKernel", "gld_efficiency", lambda v: v < 0.3), "uncoalesced"),
    ("mummergpu printKernel: efficiency of stores to struct members", "0.0938, the lowest",
     one("mummergpu", "printKernel", "gst_efficiency", lambda v: v < 0.3), "uncoalesced"),
    ("particlefilter find_index_kernel: all lanes load one address (in nvprof's sense, by threads)", "7.3438, the highest",
     one("particlefilter-float", "find_index", "gld_efficiency_nvprof", lambda v: v > 1), "not uncoalesced"),
    ("myocyte: lanes of a warp that are active", "0.0344",
     one("myocyte", "kernel", "warp_execution_efficiency", lambda v: v < 0.1), "single_lanes"),
    ("myocyte: lanes with their predicate on", "0.0328",
     one("myocyte", "kernel", "warp_nonpred_execution_efficiency", lambda v: v < 0.1), "single_lanes"),
    ("lud_internal: lanes of a warp that are active", "1.0, no divergence",
     one("lud", "lud_internal", "warp_execution_efficiency", lambda v: v > 0.99), "not divergence"),
    ("lud_diagonal: occupancy", "0.2, of 0.25",
     one("lud", "lud_diagonal", "achieved_occupancy", lambda v: v < 0.3, 1), "small_grid"),
    ("lud_perimeter: occupancy", "0.2, of 0.25",
     one("lud", "lud_perimeter", "achieved_occupancy", lambda v: v < 0.3, 1), "small_grid"),
    ("myocyte: occupancy", "0.2, of 0.25",
     one("myocyte", "kernel", "achieved_occupancy", lambda v: v < 0.3, 1), "small_grid"),
]

REASONS = {  # of findings that do not hold on a GPU of today
    "kernels with an occupancy of 0.7 or more":
        "The inputs are those of 2009. A K20c had 13 SMs, an H200 has 132: the advice says `small_grid` of the kernels that do not "
        "fill them.",
    "gaussian Fan2, blocks of 4 x 4 and 16 x 16: occupancy, time":
        "An SM of a K20c took 16 blocks and of an H200 takes 32, so that blocks of 4 x 4 fill half of it and not a quarter. With 16 x 16 "
        "the grid has too few blocks for the GPU; larger blocks still take less time.",
    "cfd cuda_time_step: share of the DRAM bandwidth":
        "The input has 97 thousand cells, for which the kernel asks for 6 MB. They fit into the 50 MB of an H200's L2 cache, where the written part "
        "written stays, and the kernel lasts 5 us.",
    "kernels with shared memory and a shared efficiency of 1":
        "On GPUs since Volta a step of shared memory moves 128 bytes, also where lanes are idle or read one address: such steps lower "
        "the efficiency without a conflict.",
    "lavaMD: bank conflicts, which the paper has as the reason":
        "Shared memory is read at one address by many lanes, which lowers the efficiency and is no conflict.",
}


def advised(kernel, expected):
    """Whether the advice has the paper's finding by itself: "yes: RULE", or its text instead."""
    rules = list(dict.fromkeys(c["rule"] for c in kernel.advice))
    if not expected:
        return ", ".join(rules)
    if expected.startswith("not "):
        return "no: " + expected[4:] if expected[4:] in rules else "yes: nothing of " + expected[4:]
    return "yes: " + expected if expected in rules else "no" + (": " + ", ".join(rules) if rules else "")


def findings(kernels):
    """(finding, the paper's, ours, whether it holds, whether the advice says it) for each."""
    for finding, paper, ask, *expected in FINDINGS:
        answer = ask(kernels)
        if answer is None:
            yield finding, paper, "not measured", "-", ""
            continue
        rule = answer[3] if len(answer) > 3 else expected[0] if expected else None
        said = advised(answer[2], rule) if len(answer) > 2 else ""
        yield finding, paper, answer[0], "yes" if answer[1] else "no", said


# ---- writing ----------------------------------------------------------------------------------

def advice_lines(kernels):
    """(program, the kernel or the program as a whole, gain, the change): the two with the largest gain in each program."""
    for program in dict.fromkeys(k.program for k in kernels):
        own = [k for k in kernels if k.program == program]
        changes = [(c, f"`{k.name}`") for k in own for c in k.advice] + [(c, "the program") for c in own[0].of_program]
        for change, about in sorted(changes, key=lambda pair: -(pair[0]["gain"] or 0))[:2]:
            yield program, about, change["saves"], change


def write_text(out, device, kernels):
    lines = [f"Rodinia on {device}", "", *text_table(kernels), "", LEGEND, "", "The paper's findings"]
    for finding, paper, ours, holds, rules in findings(kernels):
        lines.append(f"  {finding}\n    paper: {paper}\n    here:  {ours}; holds: {holds}" + (f"; advice: {rules}" if rules else ""))
    lines += ["", "Changes worth most in each program, of its GPU time"]
    for program, about, gain, change in advice_lines(kernels):
        lines.append(f"  {program}, {about.strip('`')}: {gain}: {change['evidence']}: {change['text']}")
    (out / "tables.txt").write_text("\n".join(lines) + "\n")


def needed(programs):
    """The comments of the table of programs, each with the program below it."""
    comment, found = [], []
    for line in programs.read_text().splitlines():
        if line.startswith("#"):
            comment.append(line[1:].strip())
        elif "|" in line:
            if comment:
                found.append((line.split("|")[0].strip(), " ".join(comment)))
            comment = []
        else:
            comment = []
    return found


def names_of(programs):
    return [line.split("|")[0].strip() for line in programs.read_text().splitlines()
            if "|" in line and not line.startswith("#")]


def commit():
    """Of the checkout that the runs were made with."""
    found = subprocess.run(["git", "-C", pathlib.Path(__file__).parent, "rev-parse", "--short", "HEAD"],
                           capture_output=True, text=True, check=False).stdout.strip()
    return os.environ.get("GPUPROF_COMMIT") or found or "unknown"


def write_markdown(out, device, made_with, kernels, programs, missing):
    ran = len({k.program for k in kernels})
    lines = [
        "# Rodinia, as the paper did it", "",
        "Zheng, Zhai, Li and Chen measured Rodinia's programs with their tool in 2016, on a K20c with CUDA 6.0. "
        f"These are the same tables from gpuprof, on one {device}. `tests/rodinia/run CHECKOUT` builds and runs the programs and "
        "writes this page; its results are not edited. Of a kernel's launches the first five are measured, then one in a hundred.",
        "", f"The runs were made with {', '.join(made_with)}; bounds and advice are by the rules that this page was written with.", "",
        f"{ran} programs ran, with {len(kernels)} kernels in all. `tests/rodinia/programs` lists all CUDA programs of Rodinia 3.1, some in "
        "two versions, so that the paper's 17 are among them.", "", "## Options for the compiler", "",
        "No source was changed. All programs get `-O3 -lineinfo`, the GPU's `-arch`, and with `-include` a header of "
        "[ours](../tests/rodinia/before_cuda_12.h) with names that CUDA had and has no more (texture references, "
        "`cudaThreadSynchronize`, some properties of devices). Beyond that:", ""]
    lines += [f"- `{name}`: {why}" for name, why in needed(programs)]
    if missing:
        lines += ["", "Without results:", ""] + [f"- `{name}`: {why}" for name, why in missing]
    lines += ["", "## The paper's findings", "", "| finding | paper, K20c | here | holds | the advice says it |", "| --- | --- | --- | --- | --- |"]
    lines += ["| " + " | ".join(row) + " |" for row in findings(kernels)]
    lines += ["", "The last column has the rule that says it, or that a rule rightly is silent; a rule without "
              "\"yes\" is said of the kernel, and is no answer to the finding. It is empty for findings on all kernels."]
    not_here = [(row[0], REASONS[row[0]]) for row in findings(kernels) if row[3] == "no" and row[0] in REASONS]
    if not_here:
        lines += ["", "Findings that do not hold on this GPU:", ""] + [f"- {finding}: {reason}" for finding, reason in not_here]
    lines += ["", "## Kernels", "", LEGEND.replace("\n", " "), "",
              "| program | kernel [block] | launches | " + " | ".join(h for h, _, _, _ in COLUMNS) + " | bound by |",
              "| --- | --- |" + " ---: |" * (1 + len(COLUMNS)) + " --- |"]
    for k in kernels:
        lines.append(f"| {k.program} | `{k.name}` [{k.shape()}] | {k.launches} | " +
                     " | ".join(written(k, m, f) for _, _, m, f in COLUMNS) + f" | {k.bound['by']} |")
    lines += ["", "## The advice", "", "The one or two changes worth most in each program, of its GPU time.", "",
              "| program | kernel | gain | advice |", "| --- | --- | --- | --- |"]
    for program, about, gain, change in advice_lines(kernels):
        lines.append(f"| {program} | {about} | {gain} | {change['evidence']}: {change['text']} |")
    (out / "rodinia.md").write_text("\n".join(lines) + "\n")


def why_missing(out, name, page):
    built = out / "logs" / f"{name}.build"
    if not (out / "bin" / name).exists():
        errors = re.findall(r".*(?:error|undefined|No such).*", built.read_text()) if built.exists() else []
        return "does not build: " + (errors[0].strip() if errors else "no reason given")
    skips = page["skips"] if page else []
    if skips:
        return f"none of its {sum(k['launches'] for k in page['kernels'])} launches was measured: {skips[0]['reason']}"
    last = [line for line in (out / "logs" / f"{name}.out").read_text(errors="replace").splitlines() if line.strip()]
    return "ran without a launch; it says last: " + (last[-1].strip() if last else "nothing")


def main(gpuprof, programs, out):
    kernels, devices, missing, drivers = [], [], [], set()
    for name in names_of(programs):
        profile = out / "profiles" / f"{name}.jsonl"
        page = read(gpuprof, profile) if profile.exists() else None
        measured = [i for i, k in enumerate(page["kernels"]) if k["measured"] > 0] if page else []
        if not measured:
            missing.append((name, why_missing(out, name, page)))
            continue
        devices += [d["name"] for d in page["devices"]]
        drivers |= {f"a driver for CUDA {d['driver'] // 1000}.{d['driver'] % 1000 // 10}" for d in page["devices"]}
        kernels += [Kernel(name, page, i) for i in measured]
    if not kernels:
        sys.exit("tables.py: no profile holds a kernel")
    device = ", ".join(dict.fromkeys(devices))
    write_text(out, device, kernels)
    made_with = [f"commit {commit()}", *sorted(drivers)]
    write_markdown(out, device, made_with, kernels, programs, missing)


def self_test():
    def made(program, name, seconds, **stats):
        profile = {"metrics": [{"name": n} for n in stats], "changes": [],
                   "kernels": [{"brief": name, "block": [4, 4, 1], "launches": 2, "measured": 2, "seconds": seconds,
                                "bound": {"by": "latency"}, "stats": list(stats.values())}]}
        return Kernel(program, profile, 0)
    small = made("gaussian", "Fan2", 1.0, achieved_occupancy=0.2, gld_efficiency=[50, 40, 60], gst_efficiency=50)
    large = made("gaussian-16x16", "Fan2", 0.44, achieved_occupancy=0.86, gld_efficiency=40, gst_efficiency=40)
    none = made("lud", "lud_internal", 1.0, warp_execution_efficiency={"why": "x"}, flop_utilization={"all": 0.01})
    assert fan2_blocks([small, large])[:2] == ("0.20 and 0.86, 56 % less time", True)
    assert fan2_efficiency([small, large])[1] is True and fan2_blocks([small]) is None
    assert few_flops([none])[0].startswith("1 of 1") and few_flops([small]) is None
    answers = {row[0]: row for row in findings([small, large, none])}
    assert answers["lud_internal: lanes of a warp that are active"][2:4] == ("not measured", "-")
    assert answers["gaussian Fan2, blocks of 4 x 4: occupancy"][2:4] == ("0.2000", "yes")
    lava = made("lavaMD", "kernel_gpu_cuda", 1.0, shared_efficiency=9)
    lava.source = [{"counts": {"wavefronts": 100, "bank conflicts": 3}}, {"counts": {"sectors": 5}}]
    assert lava_conflicts([lava])[:2] == ("3.0 % of the steps of shared memory", False) and lava_conflicts([small]) is None
    small.advice = [{"rule": "small_blocks"}]
    assert {row[0]: row for row in findings([small, large])}["gaussian Fan2, blocks of 4 x 4: occupancy"][4] == "yes: small_blocks"
    assert advised(small, "bank_conflicts") == "no: small_blocks" and advised(small, "not divergence").startswith("yes")
    assert written(small, "gld_efficiency", "share") == "0.5000" and written(none, "flops", "giga") == "-"
    assert text_table([small])[1].startswith("gaussian        Fan2 [4x4]")
    print("ok")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
