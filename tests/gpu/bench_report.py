"""The table and the plot of the results of tests/gpu/bench. All figures follow from the raw runs in
its JSON, so that both can be made again anywhere."""

import math
import os
import re

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"

# For each case: its description, the unit of the figures ("launch": the loop, for each launch;
# "loop": the whole loop; "process": the whole process), and its target.
CASES = {
    "small": ("small kernels, 192 MB allocated, 8 MB touched", "launch", "ncu adds 85 times as much; < 1.2 ms"),
    "small-3g": ("short kernels, 3 GB allocated", "launch", "< 2 ms"),
    "small-30g": ("short kernels, 30 GB allocated", "launch", "< 2.5 ms"),
    "compute": ("compute-bound kernels of 2 ms", "launch", "ncu adds as much; < 15 ms"),
    "different": ("launches of 3 us that are all different", "launch", "< 2.5 ms"),
    "many-kernels": ("40 kernels launched a few times each", "launch", "< 3 ms"),
    "waits": ("kernels that wait for the host, and others beside them", "loop",
              "as without, but for the 20 others: < 50 ms"),
    "unselected": ("tiny launches, none selected", "launch", "< 3 %, < 2 us"),
    "training": ("a training of 727 launches a step, none selected", "launch", "< 1 %"),
    "training-limit": ("the same under a limit of 1 ms", "launch", "< 1 %"),
    "sampled": ("20000 tiny launches, the first 3 of each of 5 kernels measured", "process",
                "< 10 % + 1 s"),
    "torch": ("PyTorch training loop", "loop", "< 0.8 s"),
    "torch-first": ("the same without a warm-up, with the start of CUPTI", "loop", "< 1 s"),
    "own": ("pieces of 1 MB that are allocations of their own", "launch", None),
    "arena-100m": ("pieces of one allocation of 100 MB", "launch", "1.5 times own allocations"),
    "arena-1g": ("of 1 GB", "launch", "1.5 times own allocations"),
    "arena-4g": ("of 4 GB", "launch", "1.5 times own allocations"),
    "arena-16g": ("of 16 GB", "launch", "1.5 times own allocations"),
    "arena-64g": ("of 64 GB", "launch", "1.5 times own allocations"),
    "pool-64g": ("pieces of CUDA's pool of 64 GB", "launch", "1.5 times own allocations"),
    "peers": ("pieces of 16 GB that another GPU can reach", "launch", "1.5 times own allocations"),
    "contexts": ("six contexts of one process, 20 launches each, one after the other", "process",
                 "< 8 s in all"),
    "startup": ("start-up and exit, one kernel", "process", "< 0.2 s"),
}


PIECES = ("arena-100m", "arena-1g", "arena-4g", "arena-16g", "arena-64g", "pool-64g", "peers")
UNMEASURED = ("unselected", "training", "training-limit")  # no launch is measured


# ---- figures -----------------------------------------------------------------------------------

def per_launch(taken):
    return taken["loop"] / taken["launches"]


def quantity(basis):
    return {"launch": per_launch, "loop": lambda taken: taken["loop"],
            "process": lambda taken: taken["wall"]}[basis]


def best(runs, way, value):
    return min((value(taken) for taken in runs.get(way, [])), default=None)


def added(runs, way, value):
    """The time that a way adds to the native figure; None where one of the two is missing."""
    ours, native = best(runs, way, value), best(runs, "native", value)
    return None if ours is None or native is None else ours - native


def ratio_of(top, bottom):
    """None where there is nothing to divide by: a cost too small to be seen has no ratio."""
    return top / bottom if top is not None and bottom is not None and bottom > 0 else None


def no_or(*verdicts):
    """All of them: False if one is, else None if one is unknown."""
    if False in verdicts:
        return False
    return None if None in verdicts else True


def at_least(value, bound):
    return None if value is None else value >= bound


def judge(case, native, ours, ratio, own):
    """Whether the target holds (None: cannot be said), and a remark. `own`: added to a launch on allocations of its own."""
    if case == "own":
        return None, ""
    if case in PIECES:
        times = ratio_of(ours, own)
        return (None, "") if times is None else (times <= 1.5, f"{times:.2f} times")
    if case == "small":
        return no_or(ours < 1.2e-3, at_least(ratio, 85)), ""
    most = {"small-3g": 2e-3, "small-30g": 2.5e-3, "different": 2.5e-3, "many-kernels": 3e-3}
    if case in most:
        return ours < most[case], ""
    if case == "waits":
        return ours < 50e-3, ""
    if case == "compute":
        if ratio is None:
            return None, ""
        return no_or(ours < 15e-3, at_least(ratio, 1)), ""
    if case == "unselected":
        return ours < 0.03 * native and ours < 2e-6, f"{100 * ours / native:+.1f} %"
    if case in UNMEASURED:
        return ours < 0.01 * native, f"{100 * ours / native:+.1f} %"
    if case == "sampled":
        return ours < 0.1 * native + 1, f"limit {quantity_text(0.1 * native + 1)}"
    if case == "contexts":
        return native + ours < 8, f"{quantity_text(native + ours)} in all"
    if case in WARM_UP:
        return ours < (0.8 if case == "torch" else 1), ""
    return ours < 0.2, ""


def quantity_text(seconds):
    """Three digits and a unit: 1.23 ms."""
    if seconds is None:
        return "-"
    size = abs(seconds)
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1, 1e3, "ms")):
        if size < limit:
            break
    else:
        factor, unit = 1, "s"
    value = seconds * factor
    decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{decimals}f} {unit}"


def notes_of(case, result):
    """Remarks on the figures."""
    notes, runs = list(result.get("notes", [])), result.get("runs", {})
    counted = [taken for taken in runs.get("gpuprof", []) if "seen" in taken]
    ncu, native = runs.get("ncu", []), runs.get("native", [])
    if ncu and native and ncu[0]["launches"] != native[0]["launches"]:
        notes.append(f"{native[0]['launches']} launches, {ncu[0]['launches']} under ncu")
    elif native and case not in ("startup", "torch", "torch-first"):
        notes.append(f"{native[0]['launches']} launches")
    if counted and case in ("sampled", "torch", "torch-first"):
        notes.append(f"gpuprof measured {counted[0]['measured']} of {counted[0]['seen']} launches "
                     "of the whole process")
    elif counted and case not in UNMEASURED and counted[0]["measured"] < counted[0]["seen"]:
        notes.append(f"gpuprof measured only {counted[0]['measured']} of {counted[0]['seen']}")
    if case in WARM_UP:
        whole = [f"{way} {quantity_text(best(runs, way, quantity('process')))}"
                 for way in ("native", "gpuprof", "ncu") if way in runs]
        notes.append("whole process: " + ", ".join(whole))
    return notes


def measured_enough(case, runs):
    """A case where gpuprof did not do the work it is timed for says nothing."""
    for taken in runs.get("gpuprof", []):
        if case in UNMEASURED:
            if taken.get("measured", 0) > 0:
                return False
        elif case == "sampled":
            if taken.get("measured", 1) == 0:
                return False
        elif "seen" in taken:
            wanted = taken["seen"] / 2 if case == "waits" else taken["seen"]
            if taken["measured"] < 0.9 * wanted:
                return False
    return True


def row(case, result, own=None):
    """The cells of a case's line, as texts, and its notes. `own`: the runs of the case of that name."""
    title, basis, target = CASES[case]
    target = target or "-"
    for word in ("failed", "skipped"):
        if word in result:
            return [title, "-", "-", "-", "-", target, word], [result[word]]
    runs, value = result["runs"], quantity(basis)
    native, ours, theirs = best(runs, "native", value), added(runs, "gpuprof", value), \
        added(runs, "ncu", value)
    ratio = ratio_of(theirs, ours)
    held, remark = judge(case, native, ours, ratio, added(own or {}, "gpuprof", per_launch))
    if not measured_enough(case, runs):
        held, remark = False, "other launches were measured"
    verdict = {True: "yes", False: "no", None: "not judged"}[held]
    unit = {"launch": " a launch", "loop": " the loop", "process": " the process"}[basis]
    return [title, quantity_text(native) + unit, quantity_text(ours), quantity_text(theirs),
            "-" if ratio is None else f"{ratio:.1f}" if ratio < 100 else f"{ratio:.0f}", target,
            verdict + (f" ({remark})" if remark else "")], notes_of(case, result)


# ---- the page ----------------------------------------------------------------------------------

def bandwidth_lines(result):
    if "gb_per_s" not in result:
        return [f"Bandwidth of gpuprof's own kernels: {word}, {result[word]}."
                for word in ("skipped", "failed") if word in result]
    rates = result["gb_per_s"]
    copy = next((name for name in rates if "memcpy" in name.lower()), None)
    lines = ["| gpuprof's own kernels | GB/s | of the driver's copy |", "| --- | --- | --- |"]
    for name, rate in rates.items():
        share = f"{100 * rate / rates[copy]:.0f} %" if copy and rates[copy] else "-"
        lines.append(f"| {name} | {rate:.0f} | {share} |")
    return lines


def page(result):
    """The table in Markdown."""
    lines = [f"{result['machine']}; {result['date']}"
             + ("; a quick run, each way once" if result.get("quick") else "") + ".", "",
             "| case | native | gpuprof adds | ncu adds | ncu / gpuprof | target | held? |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    notes = []
    for case in CASES:
        if case in result["cases"]:
            cells, said = row(case, result["cases"][case], result["cases"].get("own", {}).get("runs"))
            lines.append("| " + " | ".join(cells) + " |")
            if said:
                notes.append(f"- {CASES[case][0]}: {'; '.join(said)}")
    if notes:
        lines += [""] + notes
    if "bandwidth" in result["cases"]:
        lines += [""] + bandwidth_lines(result["cases"]["bandwidth"])
    return "\n".join(lines) + "\n"


def put_into(path, result):
    """Replaces the text between the two marks of a page; the plot goes beside it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"bench: {path} needs the marks {BEGIN} and {END}, once each")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    figure = os.path.splitext(path)[0] + ".svg"
    image = f"![Added to each launch, by gpuprof and by ncu]({os.path.basename(figure)})"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{page(result)}\n{image}\n{END}{after}")
    with open(figure, "w", encoding="utf-8") as file:
        file.write(plot(result))


# ---- the plot ----------------------------------------------------------------------------------

STYLE = """
  .page { fill: #ffffff } .line { stroke: #d0d7de } .text { fill: #1f2328 } .faint { fill: #59636e }
  .gpuprof { fill: #1f6feb } .ncu { fill: #9a6700 }
  text { font: 12px system-ui, sans-serif }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .line { stroke: #30363d } .text { fill: #e6edf3 } .faint { fill: #9198a1 }
    .gpuprof { fill: #58a6ff } .ncu { fill: #d29922 }
  }
"""
LEAST = 1e-8  # seconds: where the axis begins; shorter bars are not drawn
MOST = 10.0
LEFT, WIDTH, BAR, GROUP, TOP = 250, 520, 14, 46, 48


WARM_UP = {"torch": 2, "torch-first": 0}  # steps before the loop


def loop_launches(case, runs):
    """A training loop counts steps; its launches are its share of those gpuprof saw, which are as
    many in each step."""
    taken = next((taken for taken in runs.get("gpuprof", []) if "seen" in taken), None)
    if not taken:
        return None
    return taken["seen"] * taken["launches"] / (taken["launches"] + WARM_UP[case])


def plotted(case, runs):
    """Seconds that each way adds to a launch."""
    result = {}
    for way in ("gpuprof", "ncu"):
        value = added(runs, way, quantity("launch" if CASES[case][1] == "launch" else "loop"))
        if CASES[case][1] != "launch" and value is not None:
            launches = loop_launches(case, runs) if case in WARM_UP else runs[way][0]["launches"]
            value = value / launches if launches else None
        if value is not None:
            result[way] = value
    return result


def plot(result):
    """An SVG: a bar for each case and profiler, on a logarithmic axis."""
    def x(seconds):
        return LEFT + WIDTH * (math.log10(seconds / LEAST)) / math.log10(MOST / LEAST)

    def escaped(text):
        return text.replace("&", "&amp;").replace("<", "&lt;")

    bars = [(case, plotted(case, result["cases"][case]["runs"])) for case in CASES
            if case != "startup" and "runs" in result["cases"].get(case, {})]
    height = TOP + GROUP * len(bars) + 40
    bottom = height - 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 90} {height}" '
           f'width="{LEFT + WIDTH + 90}" height="{height}" role="img">',
           "<title>Time added to each launch, by gpuprof and by ncu</title>",
           f"<style>{STYLE}</style>",
           '<rect class="page" width="100%" height="100%" rx="6"/>',
           '<text class="text" x="16" y="24" font-weight="bold">Time added to each launch</text>']
    for way, at in (("gpuprof", LEFT), ("ncu", LEFT + 90)):
        out.append(f'<rect class="{way}" x="{at}" y="14" width="12" height="12"/>'
                   f'<text class="text" x="{at + 18}" y="24">{way}</text>')
    power = round(math.log10(LEAST))
    while 10.0**power <= MOST * 1.001:
        at = x(10.0**power)
        out.append(f'<line class="line" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 8}" y2="{bottom}"/>')
        label = re.sub(r"\.0+ ", " ", quantity_text(10.0**power * 1.0000001))
        out.append(f'<text class="faint" x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">'
                   f"{label}</text>")
        power += 1
    for number, (case, values) in enumerate(bars):
        y = TOP + GROUP * number
        title = CASES[case][0] if case != "sampled" else "tiny launches, 15 of 20000 measured"
        out.append(f'<text class="text" x="{LEFT - 10}" y="{y + 20}" text-anchor="end">'
                   f"{escaped(title)}</text>")
        for rank, way in enumerate(("gpuprof", "ncu")):
            if way not in values:
                continue
            seconds, top = values[way], y + rank * (BAR + 3)
            end = x(min(max(seconds, LEAST), MOST))
            text = quantity_text(seconds) if seconds > LEAST else f"< {quantity_text(LEAST)}"
            out.append(f'<rect class="{way}" x="{LEFT}" y="{top}" width="{end - LEFT:.1f}" '
                       f'height="{BAR}"/>')
            out.append(f'<text class="text" x="{end + 5:.1f}" y="{top + 11}">{escaped(text)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


# ---- self-test ---------------------------------------------------------------------------------

def sample():
    """A made-up result, in which every target holds."""
    def taken(wall, loop, launches, **more):
        return dict(wall=wall, loop=loop, launches=launches, **more)

    def ways(native, gpuprof, ncu=None):
        return {"runs": {way: runs for way, runs in
                         (("native", [native]), ("gpuprof", [gpuprof]), ("ncu", [ncu])) if runs[0]},
                "notes": []}

    launches = 300
    return {"machine": "made-up GPU", "date": "2000-01-01", "cases": {
        "small": ways(taken(1, 0.012, launches), taken(3, 0.312, launches, seen=306, measured=306),
                      taken(5, 2.4008, 20)),
        "small-3g": ways(taken(1, 0.012, launches), taken(3, 0.312, launches), taken(6, 3.2, 20)),
        "small-30g": {"skipped": "30720 MB are wanted, 20000 MB are free"},
        "compute": ways(taken(1, 0.02, 10), taken(2, 0.12, 10), taken(4, 1.62, 10)),
        "different": ways(taken(1, 0.01, 1000), taken(4, 2.01, 1000), taken(4, 2.0, 20)),
        "many-kernels": ways(taken(1, 0.01, 200), taken(3, 0.41, 200), taken(8, 4.0, 40)),
        "waits": ways(taken(1, 0.02, 40), taken(2, 0.06, 40, seen=42, measured=22)),
        "unselected": ways(taken(1, 0.05, 20000), taken(1.2, 0.051, 20000), taken(2, 0.0055, 2000)),
        "training": ways(taken(4, 3.4, 145400), taken(4, 3.42, 145400)),
        "training-limit": ways(taken(4, 3.4, 145400), taken(4, 3.41, 145400, seen=146854, measured=0)),
        "sampled": ways(taken(1, 0.05, 20000), taken(1.6, 0.1, 20000, seen=20010, measured=15)),
        "torch": ways(taken(6, 0.01, 10), taken(8, 0.71, 10, seen=288, measured=288)),
        "torch-first": ways(taken(6, 0.5, 10), taken(8, 1.3, 10, seen=240, measured=240)),
        "own": ways(taken(1, 0.003, launches), taken(2, 0.303, launches), taken(5, 0.8, 8)),
        **{case: ways(taken(1, 0.003, launches), taken(2, 0.403, launches), taken(5, 0.8, 8)) for case in PIECES},
        "contexts": ways(taken(1.3, 0.01, 120), taken(4.3, 3, 120, seen=120, measured=120)),
        "startup": ways(taken(0.5, 0.0001, 1), taken(0.6, 0.01, 1), taken(2.5, 0.3, 1)),
        "bandwidth": {"gb_per_s": {"cuMemcpyDtoD": 4000.0, "copy": 3800.0}}}}


def self_test():
    import tempfile
    import xml.dom.minidom

    failures = []

    def expect(name, got, wanted):
        if got != wanted:
            failures.append(f"{name}: {got!r}, expected {wanted!r}")

    for seconds, wanted in ((2.0001, "2.00 s"), (0.0123, "12.3 ms"), (0.5e-6, "500 ns"),
                            (1.5e-6, "1.50 us"), (-0.002, "-2.00 ms"), (None, "-")):
        expect(f"{seconds} as text", quantity_text(seconds), wanted)
    good = sample()
    own = good["cases"]["own"]["runs"]
    cells = {case: row(case, good["cases"][case], own)[0] for case in CASES}
    expect("small", cells["small"][1:5], ["40.0 us a launch", "1000 us", "120 ms", "120"])
    for case in CASES:
        verdict = {"small-30g": "skipped", "own": "not judged"}.get(case, "yes")
        expect(f"{case} held", cells[case][6].split(" (")[0], verdict)
    expect("unselected", cells["unselected"][2:5], ["50.0 ns", "250 ns", "5.0"])
    expect("start-up", cells["startup"][1:3], ["500 ms the process", "100.0 ms"])

    def verdict_with(case, way, key, value):
        changed = sample()
        changed["cases"][case]["runs"][way][0][key] = value
        return row(case, changed["cases"][case], own)[0][6].split(" (")[0]

    expect("small is slow", verdict_with("small", "gpuprof", "loop", 0.8), "no")
    expect("ncu is fast", verdict_with("small", "ncu", "loop", 0.5), "no")
    expect("3 GB are slow", verdict_with("small-3g", "gpuprof", "loop", 1.3), "no")
    expect("slower than ncu", verdict_with("compute", "gpuprof", "loop", 1.7), "no")
    expect("4 percent", verdict_with("unselected", "gpuprof", "loop", 0.052), "no")
    expect("one selected", verdict_with("unselected", "gpuprof", "measured", 1), "no")
    expect("training is slow", verdict_with("training", "gpuprof", "loop", 3.44), "no")
    expect("training is measured", verdict_with("training-limit", "gpuprof", "measured", 1), "no")
    expect("sampled is slow", verdict_with("sampled", "gpuprof", "wall", 2.2), "no")
    expect("torch is slow", verdict_with("torch", "gpuprof", "loop", 1.6), "no")
    expect("torch is slow at first", verdict_with("torch-first", "gpuprof", "loop", 1.6), "no")
    expect("an arena is slow", verdict_with("arena-64g", "gpuprof", "loop", 0.46), "no")
    expect("nothing to compare with", row("peers", good["cases"]["peers"])[0][6], "not judged")
    expect("contexts are slow", verdict_with("contexts", "gpuprof", "wall", 9), "no")
    expect("contexts without counters", verdict_with("contexts", "gpuprof", "measured", 12), "no")
    expect("start-up is slow", verdict_with("startup", "gpuprof", "wall", 1.4), "no")
    expect("different is slow", verdict_with("different", "gpuprof", "loop", 3), "no")
    expect("it waits", verdict_with("waits", "gpuprof", "loop", 0.2), "no")
    expect("others than those that wait", verdict_with("waits", "gpuprof", "measured", 11), "no")
    expect("half is measured", verdict_with("small", "gpuprof", "measured", 150), "no")
    better = sample()
    better["cases"]["small"]["runs"]["native"].append({"wall": 1, "loop": 0.009, "launches": 300})
    expect("the better of two", row("small", better["cases"]["small"])[0][1], "30.0 us a launch")
    alone = sample()
    for case in ("small", "compute"):
        del alone["cases"][case]["runs"]["ncu"]
        expect(f"{case} without ncu", row(case, alone["cases"][case])[0][6], "not judged")

    text = page(good)
    expect("notes", "300 launches, 20 under ncu" in text, True)
    expect("the whole process", "whole process: native 6.00 s, gpuprof 8.00 s" in text, True)
    expect("bandwidth", "| copy | 3800 | 95 % |" in text, True)
    expect("a torch launch", round(plotted("torch", good["cases"]["torch"]["runs"])["gpuprof"], 6),
           round(0.7 / 240, 6))
    figure = plot(good)
    xml.dom.minidom.parseString(figure)
    expect("bars", figure.count('height="14"'), 35)
    xml.dom.minidom.parseString(plot({"cases": {}}))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
        for _ in range(2):
            put_into(path, good)
        with open(path, encoding="utf-8") as file:
            now = file.read()
        expect("old table", "old" in now, False)
        expect("frame", now.startswith(f"above\n{BEGIN}\n") and now.endswith(f"{END}\nbelow\n"),
               True)
        expect("figure", os.path.exists(os.path.join(folder, "page.svg")), True)

    for failure in failures:
        print("self-test: " + failure)
    print("self-test: " + (f"{len(failures)} failed" if failures else "ok"))
    return 1 if failures else 0
