"""The contents of the page: the figures of the profile, kernels, source lines, hostile texts, two profiles."""

import base64
import hashlib
import json
import re
import shutil
import subprocess

from browser import KEY
from harness import build, choose, equal, header, kernel_link, made_up, page_of, rows, slow, test


# ---- it is there ----


@test
def it_renders_and_loads_nothing(b, page):
    b.open(page)
    equal(b.console(), [])
    sections = b.run("return [...document.querySelectorAll('section')].map(s => s.id)")
    equal(sections, ["overview", "kernels", "roofline", "bars", "timeline"])
    equal(b.run("return performance.getEntriesByType('resource').length"), 0)
    equal(len(rows(b)), 12)
    # Each canvas has been painted in more than one color.
    blank = b.run("""return [...document.querySelectorAll('canvas')].filter(c => {
        const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        return p.every((v, i) => v === p[i % 4]);
    }).length""")
    equal(blank, 0)


@test
def figures_are_those_of_the_profile(b, page):
    b.open(page)
    launches = [json.loads(line) for line in open(page.with_suffix(".jsonl")) if '"launch"' in line]
    times = {}
    for launch in launches:
        times.setdefault(launch["kernel"], []).append(launch["counters"]["gpu__time_duration.sum"] / 1e9)
    seen = b.run("return profiles[0].kernels.map(k => [k.symbol, k.seconds, stat(k, 'duration').min, k.launches])")
    equal(len(seen), len(times))
    for symbol, seconds, least, count in seen:
        equal(count, len(times[symbol]))
        assert abs(seconds / sum(times[symbol]) - 1) < 1e-6 and abs(least / min(times[symbol]) - 1) < 1e-6
    columns = b.run("const l = launchesOf(profiles[0]); return [l.count, [...l.metric('duration')], [...l.index], "
                    "[...l.kernel].map(k => profiles[0].kernels[k].symbol)]")
    equal(columns[0], len(launches))
    for i, launch in enumerate(launches):
        assert abs(columns[1][i] * 1e9 / launch["counters"]["gpu__time_duration.sum"] - 1) < 1e-6
        equal((columns[2][i], columns[3][i]), (launch["index"], launch["kernel"]))


# ---- the table ----


@test
def the_table_sorts(b, page):
    b.open(page)
    equal(rows(b), list(range(12)))
    header(b, "time-average")
    averages = b.run("return profiles[0].kernels.map(averageTime)")
    equal(rows(b), sorted(range(12), key=lambda k: -averages[k]))
    header(b, "time-average")
    equal(rows(b), sorted(range(12), key=lambda k: averages[k]))
    equal(b.run("return document.querySelector(`[data-column=time-average]`).ariaSort"), "ascending")
    header(b, "kernel-name")
    names = b.run("return [...document.querySelectorAll('table.kernels tbody th a')].map(a => a.textContent)")
    equal(names, sorted(names))


@test
def the_table_filters(b, page):
    b.open(page)
    b.keys("/")
    b.keys("GEMM kernel")
    names = b.run("return [...document.querySelectorAll('table.kernels tbody th a')].map(a => a.textContent)")
    assert names and all("gemm" in name for name in names), names
    assert "of 12 kernels" in b.run("return document.querySelector('#kernels [role=status]').textContent")
    b.keys("zzz")
    equal(rows(b), [])
    b.run("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'))")
    choose(b, "#kernels select", "0.05")
    equal(len(rows(b)), b.run("return profiles[0].kernels.filter(k => k.share >= 0.05).length"))


@test
def columns_are_chosen(b, page):
    b.open(page)
    heads = "return document.querySelectorAll('table.kernels thead th').length"
    before = b.run(heads)
    summary = "return document.querySelector('.chooser summary').textContent"
    count = b.run("return columnsOf(shownProfiles()).length")
    equal(b.run(summary), f"Columns: {before} of {count}")
    b.run("""for (const label of document.querySelectorAll('.chooser label'))
                 if (label.textContent.trim() === 'gld_transactions') label.firstChild.click()""")
    equal(b.run(heads), before + 1)
    equal(b.run(summary), f"Columns: {before + 1} of {count}")


# ---- tooltips and the keyboard ----

CHART = "const c = theme.charts.get(document.querySelector('#roofline canvas')).chart;"


@test
def the_roofline_has_tooltips(b, page):
    b.open(page)
    point = b.run(CHART + """c.canvas.scrollIntoView({block: 'center'});
        const p = c.getDatasetMeta(0).data[0], box = c.canvas.getBoundingClientRect();
        return [box.left + p.x, box.top + p.y]""")
    b.settle()
    b.point(*point)
    title = b.wait(CHART + "return c.tooltip.opacity > 0 && c.tooltip.title[0]")
    equal(title, b.run("return profiles[0].kernels[0].label"))
    b.point(*point, click=True)
    equal(b.wait("return location.hash"), b.run("return kernelLink(profiles[0].kernels[0])"))


@test
def a_chart_is_walked_through_by_keyboard(b, page):
    b.open(page)
    b.keys(KEY["Right"] * 2, "#roofline canvas")
    equal(b.run(CHART + "return c.tooltip.title[0]"), b.run(CHART + "return c.data.datasets[0].data[1].kernel.label"))
    b.keys(KEY["Enter"])
    equal(b.run("return location.hash"), b.run("return kernelLink(profiles[0].kernels[1])"))


@test
def a_kernel_has_a_page(b, page):
    b.open(page, kernel_link(page, 3))
    equal(b.console(), [])
    equal(b.run("return document.querySelector('h1').textContent"), b.run("return profiles[0].kernels[3].brief"))
    equal(b.run("return document.querySelector('.full-name').textContent"), b.run("return profiles[0].kernels[3].name"))
    heads = b.run("return [...document.querySelectorAll('h2')].map(e => e.textContent)")
    for head in ("Advice", "Occupancy", "Metrics", "Launches over time"):
        assert head in heads, heads
    # The curve of block sizes passes through the kernel as it is.
    equal(b.run("""const k = profiles[0].kernels[3], c = k.occupancy.curves.block;
        return c.warps[(k.block[0] * k.block[1] - c.first) / c.step]"""),
          b.run("return profiles[0].kernels[3].occupancy.warps"))
    b.keys("n")
    equal(b.run("return location.hash"), b.run("return kernelLink(profiles[0].kernels[4])"))
    b.keys(KEY["Escape"])
    assert b.wait("return document.getElementById('kernels') && document.querySelectorAll('h1').length === 0")


@test
def many_launches_are_thinned_out(b, page):
    # Of each stretch the least and the greatest stay, in the order of the launches.
    b.open(page)
    values = [i * 7919 % 10007 for i in range(10007)]
    most, few, kept = b.run("""const points = arguments[0].map((y, x) => ({x, y}));
        return [MOST_POINTS, thinned(points.slice(0, MOST_POINTS)).length, thinned(points).map(p => [p.x, p.y])]""", values)
    equal(few, most)
    assert most / 2 < len(kept) <= most, len(kept)
    stretch = -(-2 * len(values) // most)
    expected = set()
    for start in range(0, len(values), stretch):
        some = values[start:start + stretch]
        expected |= {start + some.index(min(some)), start + some.index(max(some))}
    equal(kept, [[i, values[i]] for i in sorted(expected)])


@test
def lines_of_the_source_stand_with_their_counts(b, page):
    cubin = build / "tests" / "lines.cubin"
    if not cubin.exists() or not shutil.which("zstd"):
        print("    there is no cubin of nvcc's, or no zstd: not tested")
        return
    lines = open(page.with_suffix(".jsonl")).read().splitlines()
    launch, kernel, code = json.loads(lines[2]), "_Z5sixthPfPKf", cubin.read_bytes()
    launch.update(kernel=kernel)
    counts = {"type": "instructions", "kernel": kernel, "cc": 90, "launches": 1, "code": hashlib.sha256(code).hexdigest(),
              "counts": ["smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal"], "functions": [kernel],
              "at": [[0, 16 * i, 100 + i, 40] for i in range(60)]}
    packed = subprocess.run(["zstd", "-c"], input=code, capture_output=True, check=True).stdout
    image = {"type": "cubin", "hash": counts["code"], "size": len(code), "zstd": base64.b64encode(packed).decode()}
    profile = page.with_name("source.jsonl")
    profile.write_text("\n".join([*lines[:2], json.dumps(launch), json.dumps(counts), json.dumps(image)]) + "\n")
    shown = page_of(profile)
    b.open(shown, kernel_link(shown, 0))
    equal(b.console(), [])
    source = b.run("return profiles[0].kernels[0].source")
    text = b.run("return document.getElementById('main').textContent")
    accesses = [line for line in source if "q[threadIdx.x" in (line["text"] or "")]
    assert len(accesses) >= 10, source
    for line in accesses:
        assert line["text"].strip() in text, line
        assert line["counts"]["wasted sectors"] > 0, line
    # The lines' counts are those of all instructions.
    equal(sum(line["counts"].get("sectors", 0) for line in source), sum(a[2] for a in counts["at"]))
    b.device(390, 844, 2, True)
    b.open(shown, kernel_link(shown, 0))
    assert b.run("return document.documentElement.scrollWidth") <= 390


@test
def the_flame_graph_shows_each_line_by_its_samples(b, page):
    lines = open(page.with_suffix(".jsonl")).read().splitlines()
    stalled = "smsp__pcsamp_warps_issue_stalled_"
    launch = json.loads(lines[2])
    samples = {"type": "instructions", "kernel": launch["kernel"], "cc": 90, "launches": 1, "code": "", "sampled": 1,
               "counts": ["smsp__pcsamp_sample_count", stalled + "long_scoreboard", stalled + "barrier"],
               "functions": [launch["kernel"]], "at": [[0, 16, 6000, 6000, 0], [0, 32, 3000, 0, 3000], [0, 48, 1000, 600, 400]]}
    profile = page.with_name("sampled.jsonl")
    profile.write_text("\n".join([*lines[:3], json.dumps(samples)]) + "\n")
    shown = page_of(profile)
    b.open(shown, kernel_link(shown, 0))
    equal(b.console(), [])
    boxes = """return [...document.querySelectorAll('.flame > svg')].map(e =>
        [e.getAttribute('x'), e.getAttribute('y'), e.getAttribute('width'), e.querySelector('rect').getAttribute('fill')])"""
    red, violet = b.run("return [STALL_COLORS.long_scoreboard, STALL_COLORS.barrier]")
    equal(b.run(boxes), [["0.000%", "0", "100.000%", red], ["0.000%", "22", "60.000%", red],
                         ["60.000%", "22", "30.000%", violet], ["90.000%", "22", "10.000%", red]])
    rows = b.run("return [...document.querySelectorAll('.stalls tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    equal([row[:2] for row in rows], [["long_scoreboard", "66 %"], ["barrier", "34 %"]])
    assert rows[0][3] == "+0x10 (91 % of it)", rows
    # A click shows a box in full width, Escape all of them; arrow keys go from box to box.
    b.run("document.querySelectorAll('.flame > svg')[2].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    equal([box[2] for box in b.run(boxes)], ["100.000%", "100.000%"])
    key = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))"
    b.run(key, "Escape")
    equal(len(b.run(boxes)), 4)
    b.run(key, "ArrowRight")
    b.run(key, "ArrowRight")
    assert "+0x20: 30 %" in b.run("return document.activeElement.getAttribute('aria-label')")
    b.run(key, "Enter")
    equal(len(b.run(boxes)), 2)
    b.device(390, 844, 2, True)
    b.open(shown, kernel_link(shown, 0))
    assert b.run("return document.documentElement.scrollWidth") <= 390


# ---- texts that mean harm ----

HOSTILE = ['</script><script>window.harmed = 1</script>', '<img src=x onerror="window.harmed = 2">',
           '"><svg onload=window.harmed=3>', "__proto__", "constructor", "a\u2028b\u2029c<!--", "&lt;b&gt;",
           "javascript:window.harmed=4", "\u202egnirts \u0000\u0001".replace("\u0000", "")]


def visible(text):
    """As the reader of profiles has it: letters that are not seen are spelled out."""
    return "".join(f"\\x{ord(c):02x}" if ord(c) < 32 else f"\\u{{{ord(c):x}}}" if c in "\u2028\u2029\u202e" else c
                   for c in text)


@test
def hostile_texts_are_shown_and_never_run(b, page):
    lines = open(page.with_suffix(".jsonl")).read().splitlines()
    head, device, launch = (json.loads(line) for line in lines[:3])
    head["command"] = HOSTILE
    device["name"] = HOSTILE[1]
    folder = page.parent / "<img src=x onerror=window.harmed=5>"
    folder.mkdir(exist_ok=True)
    profile = folder / "hostile.jsonl"
    with open(profile, "w") as out:
        for record in (head, device):
            out.write(json.dumps(record) + "\n")
        for i, name in enumerate(HOSTILE):
            launch.update(index=i, kernel=name, skipped=HOSTILE[0])
            out.write(json.dumps(launch) + "\n")
    b.open(page_of(profile))
    equal(b.console(), [])
    links = b.run("return profiles[0].kernels.map(kernelLink)")
    equal(len(set(links)), len(HOSTILE))
    for link in links:
        b.run("location.hash = arguments[0]", link)
        equal(b.wait("return document.title.includes(' · ') && [kernelLink(opened.kernel)]"), [link])
    for fragment in ["#kernel?name=toString&block=constructor&profile=__proto__", "#<img src=x onerror=window.harmed=6>",
                     "#kernel?name=<img src=x onerror=window.harmed=7>",
                     "#kernels?search=<img src=x onerror=window.harmed=8>&sort=__proto__&order=constructor&least=1e999"
                     "&columns=__proto__,<b>,constructor&a=__proto__&b=%F0%00"]:
        b.run("location.hash = arguments[0]", fragment)
        assert b.wait("return document.querySelector('#kernels')"), fragment
        b.settle()
    b.run("location.hash = ''")
    equal(b.run("return window.harmed ?? null"), None)
    equal(b.run("return document.querySelectorAll('img, svg, iframe').length"), 0)
    shown = b.run("return profiles[0].kernels.map(k => k.symbol)")
    equal(sorted(shown), sorted(visible(name) for name in HOSTILE))
    text = b.run("return document.getElementById('main').textContent")
    for name in HOSTILE[:3]:
        assert name in text, name


@test
def no_other_script_runs(b, page):
    b.open(page)
    b.run("""const s = document.createElement('script'); s.textContent = 'window.harmed = 1'; document.body.append(s);
             const d = document.createElement('div'); d.innerHTML = '<p onclick="window.harmed = 2"></p>';
             document.body.append(d); d.firstChild.click();""")
    equal(b.run("return window.harmed ?? null"), None)
    assert any("Content Security Policy" in m for m in b.console())


# ---- two profiles, colors, sizes ----


@test
def two_profiles_stand_side_by_side(b, page):
    faster = made_up(page.parent, "faster", 10, 300, 2, 2)
    b.open(page_of(faster, page.with_suffix(".jsonl")))
    b.open(page_of(page.with_suffix(".jsonl"), faster))
    equal(b.console(), [])
    equal(b.run("return shownProfiles().map(p => p.kernels.length)"), [12, 10])
    changes = b.run("""return profiles[0].kernels.map(k => { const p = partner(k, profiles[1]);
        return p && value(p, 'duration') / value(k, 'duration') })""")
    equal(len([c for c in changes if c is None]), 2)
    assert all(0.4 < c < 0.6 for c in changes if c), changes
    assert "not there" in b.run("return document.querySelector('table.kernels').textContent")
    equal(b.run("return document.querySelectorAll('tr[data-profile=B]').length"), 0)
    b.run("openKernel(profiles[0].kernels[0])")
    equal(b.run("return [...document.querySelectorAll('table.metrics thead th')].map(t => t.textContent)"),
          ["metric", "A", "B", "B to A", "meaning"])
    # The choice of the profiles stands in the address.
    b.open(page_of(page.with_suffix(".jsonl"), faster))
    beside = "select[aria-label='beside it']"
    choose(b, beside, -1)
    equal(b.run("return [location.hash, shownProfiles().length]"), ["#?b=-", 1])
    b.back()
    equal(b.wait(f'return shownProfiles().length === 2 && document.querySelector("{beside}").value'), "1")
    equal(b.console(), [])


@test
def kernels_that_only_the_second_profile_has_are_there(b, page):
    more = made_up(page.parent, "more", 15, 300, 2, 2)
    b.open(page_of(page.with_suffix(".jsonl"), more))
    equal(b.console(), [])
    equal(b.run("return shownProfiles().map(p => p.kernels.length)"), [12, 15])
    equal(b.run("return document.querySelectorAll('table.kernels tbody tr').length"), 15)
    names = b.run("return [...document.querySelectorAll('tr[data-profile=B] a')].map(a => a.textContent).sort()")
    equal(names, b.run("""const known = new Set(profiles[0].kernels.map(k => k.symbol));
        return profiles[1].kernels.filter(k => !known.has(k.symbol)).map(k => k.label).sort()"""))
    equal(len(names), 3)
    # Their time is B's, and nothing is said of a change.
    cells = b.run("""const head = [...document.querySelectorAll('table.kernels thead th')].map(t => t.dataset.column);
        return [...document.querySelectorAll('tr[data-profile=B]')].map(row => ['kernel-name', 'time-share', 'time-total',
            'time-b', 'time-change', 'launch-count'].map(c => row.cells[head.indexOf(c)].textContent))""")
    for name, share, in_a, in_b, change, launches in cells:
        assert name.endswith(" only in B") and in_a == "not there" and in_b not in ("not there", "–"), cells
        assert share == "–" and change == "" and int(launches) > 0, cells
    equal(b.run("return document.querySelector('#kernels .toolbar [role=status]').textContent"), "15 kernels")
    # Sorted by B's time they stand where their time puts them; a click opens their own page.
    header(b, "time-b")
    times = b.run("return [...document.querySelectorAll('table.kernels tbody tr')].map(r => "
                  "profiles[r.dataset.profile === 'A' ? 0 : 1].kernels[r.dataset.kernel])"
                  ".map(k => partner(k, profiles[1])?.seconds)")
    equal(times, sorted(times, reverse=True))
    first = b.run("return document.querySelector('tr[data-profile=B] a').textContent")
    b.run("document.querySelector('tr[data-profile=B] a').click()")
    assert b.wait("return document.title.endsWith(' · gpuprof')")
    assert b.run("return document.querySelector('h1').textContent").startswith(first)
    # It comes back to its row, and the roofline keeps the points of each profile.
    b.keys(KEY["Escape"])
    equal(b.run("return document.activeElement.textContent"), first)
    equal(b.run("return document.activeElement.closest('tr').dataset.profile"), "B")
    b.run("setState({search: arguments[0]})", first.split()[0])
    equal(b.run("""const c = theme.charts.get(document.querySelector('#roofline canvas')).chart;
        return c.data.datasets.filter(d => !d.isRoof).map(d => d.data.map(p => p.kernel.label))"""), [[], [first]])
    # The other way round there are none, but three that are not there.
    b.open(page_of(more, page.with_suffix(".jsonl")))
    equal(b.run("return document.querySelectorAll('tr[data-profile=B]').length"), 0)
    equal(b.console(), [])


@slow
def it_is_light_and_dark(b, page):
    b.open(page)
    color = "return getComputedStyle(document.body).backgroundColor"
    b.prefer("light")
    light = b.wait("return document.documentElement.dataset.theme === 'light'") and b.run(color)
    b.prefer("dark")
    assert b.wait("return document.documentElement.dataset.theme === 'dark'")
    assert b.run(color) != light
    b.run("setTheme('light')")
    equal(b.run(color), light)
    b.prefer("light")
    b.run("setTheme('auto')")
    equal(b.console(), [])


@slow
def it_shows_profiles_that_hold_little(b, page):
    head, device, launch = open(page.with_suffix(".jsonl")).read().splitlines()[:3]
    bare = json.loads(launch)
    bare["counters"] = {}
    cases = {"header": [head], "device": [head, device], "bare": [head, device, json.dumps(bare)],
             "no-device": [head, launch]}
    for name, lines in cases.items():
        profile = page.parent / f"{name}.jsonl"
        profile.write_text("".join(line + "\n" for line in lines))
        b.open(page_of(profile))
        equal((name, b.console()), (name, []))
        if "bare" in name or "no-device" in name:
            b.run("openKernel(profiles[0].kernels[0])")
            assert b.wait("return document.querySelector('h1')")
            equal((name, b.console()), (name, []))


@slow
def a_large_profile_opens_quickly(b, page):
    profile = made_up(page.parent, "large", 300, 100000, 6)
    large = page_of(profile)
    size = large.stat().st_size
    assert size < 10e6, f"{size} bytes"
    b.computed_seconds()
    b.open(large)
    seconds = b.computed_seconds()
    equal(b.console(), [])
    print(f"    {size / 1e6:.1f} MB, opens in {seconds:.2f} s of the processor")
    assert seconds < 2, seconds
