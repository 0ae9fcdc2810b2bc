"""How the page is used: clicks, keys, menus, the address, CSV."""

import csv
import io
import json
import time

from browser import KEY
from harness import choose, equal, header, kernel_link, made_up, page_of, records, rows, said, test, written

# ---- the timeline ----

# Where a launch is drawn; its number is the argument.
LAUNCH = """const view = document.getElementById('timeline').view;
    view.canvas.scrollIntoView({block: 'center'});
    const i = arguments[0], box = view.canvas.getBoundingClientRect();
    return [box.left + view.left + (view.model.start[i] + view.model.lasts[i] / 2 - view.from) * view.scale,
            box.top + topOf(view, view.model.rowOf[view.model.launches.stream[i]]) + ROW / 2 - 2]"""
FIRST_SIX = """const view = document.getElementById('timeline').view;
    setView(view, 0, view.model.start[6]); drawTimeline(view)"""
SPAN = "const view = document.getElementById('timeline').view; return view.to - view.from"
SELECTED = "return document.querySelector('#timeline .selected').textContent"


@test
def the_timeline_has_tooltips(b, page):
    b.open(page)
    b.run(FIRST_SIX)
    b.run(LAUNCH, 2)
    b.settle()
    b.point(*b.run(LAUNCH, 2))
    text = b.wait("return !tip.hidden && tip.textContent")
    assert text and "launch 2 " in text, text
    # By the program's time there are gaps, and no launch begins before the one before has ended.
    choose(b, "#timeline select", "program")
    begins, lasts = b.run("""const {model} = document.getElementById('timeline').view;
        return [[...model.start], [...model.lasts]]""")
    assert all(b_ >= a + d for a, d, b_ in zip(begins, lasts, begins[1:]))
    assert begins[-1] > sum(lasts[:-1]) and abs(begins[1] - max(5e-4, lasts[0])) < 1e-6


@test
def a_click_on_the_timeline_keeps_its_promises(b, page):
    b.open(page)
    text = b.run("return document.querySelector('#timeline .toolbar').textContent")
    for promise in ("Drag to move.", "A click selects a launch;", "then the wheel zooms,",
                    "the arrow keys go from launch to launch,", "and Enter opens the kernel."):
        assert promise in text, text
    b.run(FIRST_SIX)
    b.run(LAUNCH, 2)
    b.settle()
    at = b.run(LAUNCH, 2)
    # Before a click the wheel belongs to the page.
    span = b.run(SPAN)
    b.wheel(*at, 40)
    b.settle()
    equal(b.run(SPAN), span)
    at = b.run(LAUNCH, 2)
    b.settle()
    b.point(*at, click=True)
    equal(b.run("return [location.hash, document.activeElement.matches('#timeline canvas')]"), ["", True])
    kernel = b.run("const l = launchesOf(profiles[0]); return profiles[0].kernels[l.kernel[2]].label")
    assert b.run(SELECTED).startswith(f"{kernel} · launch 2 · "), b.run(SELECTED)
    top = b.run("return scrollY")
    b.wheel(*at, -40)
    b.settle()
    assert b.run(SPAN) < 0.9 * span
    equal(b.run("return scrollY"), top)
    b.keys(KEY["Right"])
    assert " · launch 3 · " in b.run(SELECTED)
    b.keys(KEY["Left"] * 2)
    assert " · launch 1 · " in b.run(SELECTED)
    # To draw is not to click.
    before = b.run("const v = document.getElementById('timeline').view; return [v.from, v.selected]")
    b.point(*at, drag=(at[0] - 60, at[1]))
    b.settle()
    after = b.run("const v = document.getElementById('timeline').view; return [v.from, v.selected]")
    assert after[0] > before[0] and after[1] == before[1], (before, after)
    # The link in the line, and Enter, open the kernel.
    link = b.run("return document.querySelector('#timeline .selected a').getAttribute('href')")
    equal(link, b.run("const l = launchesOf(profiles[0]); return kernelLink(profiles[0].kernels[l.kernel[1]])"))
    b.keys(KEY["Enter"], "#timeline canvas")
    equal(b.run("return location.hash"), link)


@test
def escape_selects_no_launch(b, page):
    b.open(page)
    b.keys(KEY["Right"] * 2, "#timeline canvas")
    assert "launch 1" in b.run(SELECTED)
    b.keys(KEY["Escape"])
    equal(b.run(SELECTED), "No launch is selected.")


# ---- the worst first ----

def judged(folder):
    """10 % with 44 % of the time, 5 % with a thousandth of it, 80 % with the rest; and a kernel without a value."""
    lines = records(made_up(folder, "judged", 4, 4))
    for line, nanoseconds, efficiency in zip(lines[2:], (4.4e6, 1e4, 5.58e6, 1e4), (10.0, 5.0, 80.0, None)):
        counters = line["counters"]
        counters["gpu__time_duration.sum"] = nanoseconds
        for kind in ("ld", "st"):
            counters[f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{kind}.pct"] = efficiency
        if efficiency is None:
            for kind in ("ld", "st"):
                del counters[f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{kind}.pct"]
    return page_of(written(folder / "judged.jsonl", lines))


@test
def efficiencies_sort_the_worst_first_by_time(b, page):
    b.open(judged(page.parent))
    values = """return [...document.querySelectorAll('table.kernels tbody tr')]
        .map(r => value(profiles[0].kernels[r.dataset.kernel], 'gld_efficiency'))"""
    aria = "return document.querySelector('[data-column=gld_efficiency]').ariaSort"
    header(b, "gld_efficiency")
    equal([b.run(values), b.run(aria)], [[10, 80, 5, None], "other"])
    header(b, "gld_efficiency")
    equal([b.run(values), b.run(aria)], [[5, 10, 80, None], "ascending"])
    header(b, "gld_efficiency")
    equal([b.run(values), b.run(aria)], [[80, 10, 5, None], "descending"])
    # The figure has the same order, and says which time it is.
    figure = """const f = document.querySelectorAll('#bars figure')[1];
        return [...f.querySelectorAll('tbody tr')].map(r => [...r.cells].slice(1, 4).map(c => c.textContent))"""
    equal(b.run(figure), [["44 %", "40 %", "10.0 %"], ["56 %", "11 %", "80.0 %"], ["0.1 %", "0.1 %", "5.00 %"]])


@test
def a_head_says_how_it_sorts(b, page):
    b.open(page)
    b.run("document.querySelector('[data-column=time-share] button').focus()")
    b.keys(KEY["Tab"])
    assert b.run("return !tip.hidden && document.activeElement.matches('[data-column=time-total] button')")
    for column in b.run("return [...document.querySelectorAll('table.kernels thead th')].map(t => t.dataset.column)"):
        b.run("document.querySelector(`[data-column='${arguments[0]}'] button`).focus()", column)
        text = b.run("return !tip.hidden && tip.textContent")
        assert text and len(text) > 30, (column, text)
        assert b.run("return document.activeElement.getAttribute('aria-describedby')") == "tip"
        if "efficiency" in column:
            assert "A click sorts the worst first, by time: share of the GPU time × (100 % − the value)" in text, text
            assert b.run("return metricOf(profiles[0], arguments[0]).formula", column) in text
            assert b.run("return metricOf(profiles[0], arguments[0]).description", column) in text
    b.keys(KEY["Escape"])
    assert b.run("return tip.hidden")
    # With the mouse, and as a list for a finger.
    b.run("document.activeElement.blur(); document.querySelector('#kernels').scrollIntoView()")
    b.settle()
    b.point(*b.run("""const box = document.querySelector('[data-column=flops] button').getBoundingClientRect();
        return [box.left + 4, box.top + 4]"""))
    assert "floating-point operations" in b.wait("return !tip.hidden && tip.textContent")
    equal(b.run("return document.querySelectorAll('.legend dl > div').length"),
          b.run("return document.querySelectorAll('table.kernels thead th').length"))
    # Heads of the figures too, also by a click.
    for index in range(b.run("return document.querySelectorAll('.explained').length")):
        b.run("hideTip(); document.querySelectorAll('.explained')[arguments[0]].click()", index)
        assert b.run("return !tip.hidden && tip.textContent.length > 20"), index


# ---- menus ----

@test
def escape_closes_menus(b, page):
    b.open(page)
    opened, focused = "return document.querySelector('.chooser').open", "return document.activeElement.tagName"
    b.keys(KEY["Enter"], ".chooser summary")
    assert b.run(opened)
    b.keys(KEY["Tab"] * 2)
    equal(b.run(focused), "INPUT")
    b.keys(KEY["Escape"])
    equal([b.run(opened), b.run(focused)], [False, "SUMMARY"])
    # A click elsewhere closes it as well, and so does the focus that goes on.
    b.keys(KEY["Enter"])
    assert b.run(opened)
    b.click("#kernels h2")
    assert not b.run(opened)
    b.keys(KEY["Enter"], ".chooser summary")
    assert b.run(opened)
    b.keys(KEY["Tab"], "#kernels .tools button:last-child")
    assert not b.run(opened)
    b.keys("?")
    assert b.run("return keys.open")
    b.keys(KEY["Escape"])
    assert not b.run("return keys.open")
    # Within a kernel Escape closes the tooltip first, then goes back.
    b.run("openKernel(profiles[0].kernels[2])")
    canvas = "document.querySelector('.chart canvas')"
    b.keys(KEY["Right"], ".chart canvas")
    assert b.run(f"return theme.charts.get({canvas}).chart.tooltip.opacity > 0")
    b.keys(KEY["Escape"])
    assert b.run(f"return theme.charts.get({canvas}).chart.tooltip.opacity === 0 && location.hash.startsWith('#kernel?')")
    b.keys(KEY["Escape"])
    equal(b.run("return location.hash"), "#kernels")
    equal(b.run("return document.activeElement.closest('tr').dataset.kernel"), "2")


# ---- the address ----

POINTS = """const c = theme.charts.get(document.querySelector('#roofline canvas')).chart;
    return c.data.datasets[0].data.map(p => p.kernel.number)"""


def names_of(b, numbers):
    return b.run("return arguments[0].map(i => profiles[0].kernels[i].name)", numbers)


FIGURE_KERNELS = "return [...document.querySelectorAll('#bars figure:first-child tbody a')].map(a => a.title)"


@test
def search_filter_and_order_stand_in_the_address(b, page):
    b.open(page)
    equal(len(b.run(POINTS)), 12)
    b.keys("/")
    b.keys("kernel_1")
    choose(b, "#kernels select", "0.001")
    header(b, "achieved_occupancy")
    header(b, "achieved_occupancy")
    b.run("""for (const label of document.querySelectorAll('.chooser label'))
                 if (label.textContent.trim() === 'waves') label.firstChild.click()""")
    address = b.run("return location.hash")
    target, _, query = address.partition("?")
    equal(target, "#kernels")
    equal(sorted(query.split("&"))[1:], ["least=0.001", "order=up", "search=kernel_1", "sort=achieved_occupancy"])
    listed = rows(b)
    expected = b.run("""return profiles[0].kernels.filter(k => /kernel_1/.test(k.name) && k.share >= 0.001)
        .sort((a, b) => value(a, 'achieved_occupancy') - value(b, 'achieved_occupancy')).map(k => k.number)""")
    equal(listed, expected)
    assert 1 < len(listed) < 12
    # The roofline has the same kernels in the same order, the efficiencies the same; the timeline dims the others.
    equal(b.run(POINTS), listed)
    equal(sorted(b.run(FIGURE_KERNELS)), sorted(names_of(b, listed)))
    equal(b.run("return launchColors(profiles[0], 'pale').flatMap((c, i) => c === 'pale' ? [] : [i])"), sorted(listed))
    for section in ("roofline", "bars", "timeline"):
        said = b.run("return document.querySelector(`#${arguments[0]} p.filtered`).textContent", section)
        equal(said, f"{len(listed)} of 12 kernels: “kernel_1”, 0.1 % of the time or more")
    # The address alone leads to the same page.
    b.open(page, address)
    equal([rows(b), b.run(POINTS)], [listed, listed])
    equal(b.run("return document.getElementById('search').value"), "kernel_1")
    assert b.run("return document.querySelector('[data-column=waves]') !== null")
    # Through a kernel and back they stay; next and previous go through the rows of the table.
    b.run("document.querySelector('table.kernels tbody a').click()")
    equal(b.run("return [opened.kernel.number, location.hash.includes('search=kernel_1')]"), [listed[0], True])
    b.keys("n")
    equal(b.run("return opened.kernel.number"), listed[1])
    b.keys("p")
    equal(b.run("return opened.kernel.number"), listed[0])
    b.back()
    b.back()
    b.back()
    equal(b.wait("return document.querySelector('#kernels') && location.hash"), address)
    equal(rows(b), listed)
    # A button on all parts of the page shows all again.
    b.click("#bar .filtered")
    equal([len(rows(b)), len(b.run(POINTS))], [12, 12])
    assert b.run("return document.querySelectorAll('p.filtered').length") == 0
    assert b.run("return document.querySelector('#bar .filtered').hidden && !location.hash.includes('search')")
    # Unknown values are as none.
    b.open(page, "#kernels?sort=nothing&order=sideways&least=-3&columns=nothing")
    equal(rows(b), list(range(12)))
    b.keys("/")
    b.keys("nothing of that name")
    equal([rows(b), b.run(POINTS), b.console()], [[], [], []])


@test
def links_survive_another_run(b, page):
    first = page.with_suffix(".jsonl")
    lines = records(first)
    link = kernel_link(page, 4)
    b.open(page, link)
    name = b.run("return opened.kernel.name")
    # In another run the kernel has another rank ...
    symbol = b.run("return opened.kernel.symbol")
    for line in lines[2:]:
        if line["kernel"] == symbol:
            line["counters"]["gpu__time_duration.sum"] *= 1000
    other = page_of(written(page.parent / "another-run.jsonl", lines))
    b.open(other, link)
    equal([b.run("return opened.kernel.name"), b.run("return opened.kernel.number")], [name, 0])
    # ... or another block, or, of two, the one with the same block ...
    for line in lines[2:]:
        if line["kernel"] == symbol:
            line["block"] = [96, 1, 1]
    changed = written(page.parent / "another-block.jsonl", lines)
    b.open(page_of(changed), link)
    equal(b.run("return [opened.kernel.name, String(opened.kernel.block)]"), [name, "96,1,1"])
    both = page_of(written(page.parent / "both-blocks.jsonl", [*records(first), *lines[2:]]))
    b.open(both, link)
    block = next(line["block"] for line in records(first)[2:] if line["kernel"] == symbol)
    equal(b.run("return opened.kernel.block"), block)
    # (the names of the two say which is which)
    equal(b.run("""return profiles[0].kernels.filter(k => k.symbol === opened.kernel.symbol)
        .map(k => k.label.split(' ')[1]).sort()"""), sorted(["[96]", f"[{block[0]}]" if block[1] == 1 else f"[{block[0]}×{block[1]}]"]))
    # ... or a name with another number that the compiler gave the file.
    pages = []
    for number in (1, 2):
        space = f"_GLOBAL__N__0000000{number}_4_k_cu_12345678_6"
        lines = records(first)
        for line in lines[2:]:
            if line["kernel"] == symbol:
                line["kernel"] = f"_ZN{len(space)}{space}6hiddenEPfi"
        pages.append(page_of(written(page.parent / f"file-{number}.jsonl", lines)))
    link = kernel_link(pages[0], 4)
    b.open(pages[1], link)
    equal(b.run("return [opened.kernel.name, opened.kernel.symbol.includes('00000002')]"),
          ["(anonymous namespace)::hidden(float*, int)", True])
    # A name that is nowhere is said.
    b.open(page, "#kernel?name=_Z7nothingv&block=32x1x1")
    equal(b.run("return notice.textContent"), "This page has no kernel of the name _Z7nothingv.")
    assert b.run("return !notice.hidden && document.querySelector('#kernels') !== null")
    b.keys("k")
    assert b.run("return notice.hidden")


# ---- tables ----

def parsed(b, selector):
    """The CSV of a table, as a program reads it."""
    return list(csv.reader(io.StringIO(b.run("return csvOf(document.querySelector(arguments[0]))", selector))))


@test
def each_table_has_csv_and_copy(b, page):
    lines = records(page.with_suffix(".jsonl"))
    for line in lines[2:]:
        if line["kernel"] == lines[2]["kernel"]:
            line["kernel"] = '=HYPERLINK("x"),1'
    b.open(page_of(written(page.parent / "formula.jsonl", lines)))
    tools = """return [...document.querySelectorAll('table')].map(table =>
        [...table.closest('section, figure').querySelectorAll('.tools button:not(.more)')].map(b => b.textContent).join())"""
    for link in (None, "kernels[0]"):
        if link:
            b.run("openKernel(profiles[0].kernels[0])")
        found = b.run(tools)
        assert found and all(each == "CSV,Copy" for each in found), found
    b.run("go('#kernels')")
    # As the table is: its rows, its order, its columns, and numbers in full.
    b.run("setState({search: 'kernel', sort: 'flops', order: 'up'})")
    head, *body = parsed(b, "table.kernels")
    shown = rows(b)
    equal(head[:4], ["Kernel", "Block", "Time [ratio]", "Time [s]"])
    assert "gld_efficiency [%]" in head and "flops [flop/s]" in head
    equal([row[0] for row in body], names_of(b, shown))
    equal([float(row[head.index("flops [flop/s]")]) for row in body],
          b.run("return arguments[0].map(i => value(profiles[0].kernels[i], 'flops'))", shown))
    equal([float(row[3]) for row in body], b.run("return arguments[0].map(i => profiles[0].kernels[i].seconds)", shown))
    # A name that a spreadsheet would run is none for it.
    b.run("setState({search: 'hyperlink'})")
    equal(parsed(b, "table.kernels")[1][0], """'=HYPERLINK("x"),1""")
    heads, first = parsed(b, "#bars figure table")
    equal([heads[:4], first[0]], [["Kernel", "Block", "Time [ratio]", "Lost [ratio]"], """'=HYPERLINK("x"),1"""])
    b.run("setState({search: ''}); openKernel(profiles[0].kernels[1])")
    metrics = parsed(b, "table.metrics")
    equal(metrics[0], ["Metric", "Unit", "mean", "least", "most", "meaning"])
    equal(len(metrics) - 1, b.run("return profiles[0].metrics.length"))
    flops = next(row for row in metrics if row[0] == "flops")
    equal([flops[1], *map(float, flops[2:5])],
          b.run("const s = stat(opened.kernel, 'flops'); return ['flop/s', s.mean, s.min, s.max]"))
    absent = [row for row in metrics[1:] if row[2] == ""]
    equal(len(absent), b.run("return profiles[0].metrics.filter(m => stat(opened.kernel, m.name).why).length"))


@test
def csv_is_saved_and_a_table_is_copied(b, page):
    folder = page.parent / "downloads"
    folder.mkdir()
    b.download_to(folder)
    b.open(page)
    save, copy = "#kernels .tools button:nth-last-child(2)", "#kernels .tools button:last-child"
    b.click(save)
    assert b.wait("return document.querySelector(arguments[0]).textContent === '12 rows saved'", save)
    until = time.monotonic() + 10
    while not (folder / "gpuprof-kernels.csv").exists() and time.monotonic() < until:
        time.sleep(0.05)
    with open(folder / "gpuprof-kernels.csv", newline="") as file:
        saved = list(csv.reader(file))
    equal(saved, parsed(b, "table.kernels"))
    equal(len(saved), 13)
    # The browser's clipboard, and the older way where that is closed.
    for closed in (False, True):
        b.open(page)
        if closed:
            b.run("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        b.click(copy)
        assert b.wait("return document.querySelector(arguments[0]).textContent === '12 rows copied'", copy)
        equal(b.run("return spoken.textContent"), "12 rows copied")
        b.run("const t = document.createElement('textarea'); t.id = 'paste'; document.body.append(t); t.focus()")
        b.keys("v", held=KEY["Control"])
        pasted = b.wait("return document.getElementById('paste').value")
        equal([line.split("\t") for line in pasted.splitlines()], saved)
        b.run("document.getElementById('paste').remove()")
    equal(b.console(), [])


@test
def columns_that_do_not_fit_are_announced(b, page):
    hidden = """const box = document.querySelector('#kernels .scroll').getBoundingClientRect();
        const first = document.querySelector('table.kernels th').getBoundingClientRect().right;
        const heads = [...document.querySelectorAll('table.kernels th + th[scope=col]')].map(t => t.getBoundingClientRect());
        return [heads.filter(r => r.left < first - 1).length, heads.filter(r => r.right > box.right + 1).length]"""
    said = """return [...document.querySelectorAll('#kernels .more')].map(m => m.hidden ? '' : m.textContent)"""

    def text(left, right):
        words = ["column" if number == 1 else "columns" for number in (left, right)]
        return [f"◂ {left} {words[0]} to the left" if left else "",
                f"{right} {words[1]} to the right ▸" if right else ""]

    b.device(390, 844, 2, True)
    b.open(page)
    b.settle()
    left, right = b.run(hidden)
    assert left == 0 and right > 5, (left, right)
    equal(b.run(said), text(left, right))
    steps = 0
    while b.run(hidden)[1] > 0 and steps < 20:
        b.run("document.querySelectorAll('#kernels .more')[1].click()")
        b.settle()
        equal(b.run(said), text(*b.run(hidden)))
        steps += 1
    assert b.run(hidden)[0] > 5 and b.run(hidden)[1] == 0, b.run(hidden)
    b.device(2560, 1400)
    b.open(page)
    b.settle()
    equal([b.run(hidden), b.run(said)], [[0, 0], ["", ""]])
    b.run("setState({columns: profiles[0].metrics.map(m => m.name)})")
    b.settle()
    assert b.run(hidden)[1] > 20
    equal(b.run(said), text(*b.run(hidden)))


@test
def a_long_command_line_is_folded(b, page):
    lines = records(page.with_suffix(".jsonl"))
    command = ["python3", "-m", "train", *(f"--option-{i}=of the value {i}" for i in range(200))]
    lines[0]["command"] = command
    b.open(page_of(written(page.parent / "folded.jsonl", lines)))
    details = "document.querySelector('.command details')"
    assert not b.run(f"return {details}.open")
    assert b.run("return document.querySelector('.command').offsetHeight") < 80
    assert b.run(f"return {details}.querySelector('summary').textContent").startswith("python3 -m train --option-0")
    b.keys(KEY["Enter"], ".command summary")
    assert b.run(f"return {details}.open && {details}.innerText").endswith(" ".join(command))
    b.open(page)
    equal(b.run("return document.querySelector('.command').innerHTML"), "./made_up --kernels 12")
    # A report for strangers has none; then the profile's name stands there.
    lines[0]["command"] = []
    b.open(page_of(written(page.parent / "no-command.jsonl", lines)))
    assert b.run("return document.querySelector('.command').textContent").endswith("no-command.jsonl")


# ---- the summary of the program ----

@test
def a_bound_of_some_grids_says_its_share(b, page):
    lines = records(made_up(page.parent, "grids", 1, 2))
    for line, blocks, nanoseconds in zip(lines[2:], (4096, 8), (3e6, 1e6)):
        line["grid"] = [blocks, 1, 1]
        line["counters"]["gpu__time_duration.sum"] = nanoseconds
    # The small grid leaves every unit idle.
    for name, value in lines[3]["counters"].items():
        if "_elapsed" in name or "sectors" in name or "wavefronts" in name or "tags" in name:
            lines[3]["counters"][name] = value if "cycles" in name else 1e-3 * value
    profile = written(page.parent / "grids.jsonl", lines)
    opened = page_of(profile)
    bound = """return [...document.querySelectorAll('section')].find(s => s.querySelector('h2')?.textContent === 'Bound')
        .querySelector('p').textContent"""
    b.open(opened, kernel_link(opened, 0))
    assert ", in 75 % of its time" in b.run(bound), b.run(bound)
    # With one grid, or one bound, it is all of the time.
    b.open(page, kernel_link(page, 0))
    assert " of its time" not in b.run(bound), b.run(bound)


SUMMARY = """return [...document.querySelectorAll('.summary > *')].map(e =>
    [...e.childNodes].map(n => n.textContent).join('|'))"""


def ended(folder, name, seconds, *arguments):
    """A profile of a process that came to its end after so many seconds."""
    lines = records(made_up(folder, name, *arguments))
    return written(folder / f"{name}.jsonl", [*lines, {"type": "end", "added_seconds": 0.0, "seconds": seconds}])


@test
def the_summary_of_the_program_is_that_of_the_text(b, page):
    profile = ended(page.parent, "ended", 0.5, 12, 400)
    text = said(profile).splitlines()
    first = next(i for i, line in enumerate(text) if line.startswith("Program:"))
    lines = "\n".join(text[first:text.index("", first)]).replace("\n" + 15 * " ", " ").splitlines()
    pairs = [part.strip() for line in lines for part in line.split(":", 1)]
    equal(pairs[::2], ["Program", "Arithmetic", "Memory", "Time bound by", "Kernels of"])
    b.open(page_of(profile))
    equal(b.run(SUMMARY), pairs)
    # It stands above all other figures of the first screen.
    equal(b.run("return document.querySelector('#overview .tiles').previousElementSibling.className"), "summary")


@test
def the_summaries_of_two_programs_stand_together(b, page):
    lines = records(made_up(page.parent, "timed", 3, 3))
    for line in lines[2:]:
        line["counters"] = {"gpu__time_duration.sum": line["counters"]["gpu__time_duration.sum"]}
    b.open(page_of(written(page.parent / "timed.jsonl", lines), ended(page.parent, "other", 0.5, 12, 400)))
    summary = b.run(SUMMARY)
    equal(summary[::2], ["Time bound by", "Kernels of", "Program", "Arithmetic", "Memory"])
    equal(summary[3], "100 % the program's own|B: 100 % the program's own")
    assert summary[5].startswith("–|B: ran ~500.0 ms without gpuprof; the GPU ran kernels in at most ~"), summary[5]


@test
def a_program_of_which_nothing_is_known_has_no_summary(b, page):
    lines = records(made_up(page.parent, "unknown", 3, 3))
    for line in lines[2:]:
        line["counters"] = {}
    b.open(page_of(written(page.parent / "unknown.jsonl", lines)))
    equal(b.console(), [])
    assert not b.run("return document.querySelector('.summary')")
