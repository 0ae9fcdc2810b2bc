"""How the page is laid out: 1, 30 and 300 kernels on a phone, a laptop and a wide screen, light and dark; on paper;
by keyboard alone. Leaves pictures of them in BUILD/page."""

import re
import shutil
import subprocess

from browser import KEY
from harness import build, choose, equal, kernel_link, made_up, page_of, quick, records, rows, slow, test, written

# ---- measurements in the page ----

# Texts that lie on each other: pairs of them. Cut to their boxes that scroll.
TEXTS = """
    const boxes = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true}) ||
            element.closest('.spoken, .skip, #tip, select, dialog, script, style'))
            continue;
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        for (const r of range.getClientRects()) {
            const box = {left: r.left + 1, top: r.top + 2, right: r.right - 1, bottom: r.bottom - 2};
            box.text = walker.currentNode.data;
            for (let p = element; p; p = p.parentElement) {
                if (getComputedStyle(p).overflowX === 'visible' || p === document.documentElement)
                    continue;
                const cut = p.getBoundingClientRect();
                box.left = Math.max(box.left, cut.left); box.right = Math.min(box.right, cut.right);
                box.top = Math.max(box.top, cut.top); box.bottom = Math.min(box.bottom, cut.bottom);
            }
            if (box.right > box.left && box.bottom > box.top)
                boxes.push(box);
        }
    }
    boxes.sort((a, b) => a.top - b.top);
    const pairs = [];
    boxes.forEach((a, i) => {
        for (let k = i + 1; k < boxes.length && boxes[k].top < a.bottom; k++)
            if (a.left < boxes[k].right && boxes[k].left < a.right)
                pairs.push(`${a.text.slice(0, 40)} / ${boxes[k].text.slice(0, 40)}`);
    });
    return {count: boxes.length, pairs: pairs.slice(0, 20)};
"""

# The same of the texts in pictures: names in the roofline, names and times of the timeline, numbers at axes. And those
# that leave the picture; and pictures that were stretched.
PICTURES = """
    const touch = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
    const wrong = [];
    let count = 0;
    function check(canvas, labels) {
        labels.forEach((a, i) => {
            count++;
            if (a.boxes.some(box => box.x < -1 || box.x + box.width > canvas.clientWidth + 1 || box.y < -1 ||
                                    box.y + box.height > canvas.clientHeight + 1))
                wrong.push(`${a.text} leaves the picture`);
            for (const b of labels.slice(i + 1))
                if (a.boxes.some(x => b.boxes.some(y => touch(x, y))))
                    wrong.push(`${a.text} / ${b.text}`);
        });
        const stretched = (canvas.width / canvas.height) / (canvas.clientWidth / canvas.clientHeight);
        if (Math.abs(stretched - 1) > 0.02)
            wrong.push(`a picture is stretched by ${stretched}`);
    }
    const ticks = chart => Object.values(chart.scales).flatMap(scale => {
        const {ctx} = chart, flat = scale.isHorizontal();
        ctx.save();
        ctx.font = Chart.helpers.toFont(scale.options.ticks.font).string;
        const labels = scale.ticks.map((tick, i) => {
            const text = String(tick.label ?? ''), width = ctx.measureText(text).width, at = scale.getPixelForTick(i);
            return {text, boxes: [flat ? {x: at - width / 2, y: scale.top + 9, width, height: 12}
                                       : {x: scale.left, y: at - 6, width, height: 12}]};
        }).filter(label => label.text !== '');
        ctx.restore();
        return labels;
    });
    for (const [canvas, {chart}] of theme.charts)
        check(canvas, [...chart.labels ?? [], ...ticks(chart).map(label => ({...label, boxes: label.boxes.map(box =>
            ({...box, x: Math.max(0, Math.min(box.x, canvas.clientWidth - box.width))}))}))]);
    for (const section of main.children)
        if (section.view)
            check(section.view.canvas, section.view.labels);
    return {count, wrong};
"""

# Texts with too little contrast to the color behind them (WCAG 2.2, 1.4.3), without the bars, which are pale.
CONTRAST = """
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    function parts(color) {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    }
    const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const seen = new Map(), poor = [];
    for (const element of document.querySelectorAll('body *')) {
        if (![...element.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !element.checkVisibility() ||
            element.closest('.spoken, .skip'))
            continue;
        let behind = element;
        while (behind && parts(getComputedStyle(behind).backgroundColor)[3] < 255)
            behind = behind.parentElement;
        const colors = [getComputedStyle(element).color, getComputedStyle(behind ?? document.body).backgroundColor];
        if (seen.has(String(colors)))
            continue;
        const [a, b] = colors.map(c => light(parts(c))).sort((a, b) => b - a), ratio = (a + 0.05) / (b + 0.05);
        seen.set(String(colors), ratio);
        if (ratio < 4.5)
            poor.push(`${element.textContent.slice(0, 40)}: ${colors} ${ratio.toFixed(2)}`);
    }
    return {count: seen.size, poor};
"""

# Tables of which the first column, which stays, leaves no room to scroll the others to, or has none itself.
NO_ROOM = """
    return [...document.querySelectorAll('.scroll')].filter(box => {
        const first = box.querySelector('th').offsetWidth;
        return first < 64 || (box.scrollWidth > box.clientWidth + 1 && first > 0.6 * box.clientWidth);
    }).map(box => `${box.ariaLabel}: ${box.querySelector('th').offsetWidth} of ${box.clientWidth}`)
"""

# The width that the page takes beyond the window, and the elements that stand out.
TOO_WIDE = """
    const width = document.documentElement.clientWidth;
    return [document.documentElement.scrollWidth - width, [...document.querySelectorAll('main *')].filter(e =>
        e.getBoundingClientRect().right > width + 1 && !e.closest('.scroll, nav')).map(e => e.outerHTML.slice(0, 80))]
"""


def check_layout(b, of):
    texts, pictures, contrast, wide = (b.run(script) for script in (TEXTS, PICTURES, CONTRAST, TOO_WIDE))
    assert texts["count"] > 20 and not texts["pairs"], (of, texts)
    assert pictures["count"] > 5 and not pictures["wrong"], (of, pictures)
    assert contrast["count"] > 3 and not contrast["poor"], (of, contrast)
    assert wide[0] <= 0 and not wide[1], (of, wide)
    equal((of, b.run(NO_ROOM)), (of, []))
    equal((of, b.console()), (of, []))


PICTURES_OF = build / "page"
PICTURES_OF.mkdir(exist_ok=True)
pages = {}


def page_with(folder, kernels):
    """With names as libraries have them, and measured roofs."""
    if kernels not in pages:
        pages[kernels] = page_of(made_up(folder, f"with-{kernels}", kernels, 20 * kernels, 3, "--long-names",
                                         "--device", "NVIDIA H200"))
    return pages[kernels]


def picture(b, name):
    if not quick:
        b.screenshot(PICTURES_OF / f"{name}.png", whole=True)


# ---- sizes and schemes ----

SIZES = {390: (390, 844, 2, True), 1280: (1280, 900), 2560: (2560, 1400)}


def try_all(b, folder, counts, sizes, schemes):
    for kernels in counts:
        page = page_with(folder, kernels)
        for width in sizes:
            b.device(*SIZES[width])
            for scheme in schemes:
                b.prefer(scheme)
                for part, link in (("", ""), ("-kernel", kernel_link(page, 0))):
                    b.open(page, link)
                    b.settle()
                    equal(b.run("return document.documentElement.dataset.theme"), scheme)
                    check_layout(b, (kernels, width, scheme, part))
                    picture(b, f"{kernels}-{width}-{scheme}{part}")


@test
def it_is_readable_on_a_phone(b, page):
    try_all(b, page.parent, [30], [390], ["light"])


@slow
def it_is_readable_at_all_sizes(b, page):
    try_all(b, page.parent, [1, 30, 300], SIZES, ["light", "dark"])
    print(f"    pictures: {PICTURES_OF}")


@slow
def it_is_readable_on_a_phone_with_two_profiles_and_with_nothing(b, page):
    two = page_of(page.with_suffix(".jsonl"), made_up(page.parent, "another", 5, 50))
    # Reasons of absent metrics are long, and have long words.
    lines = records(page.with_suffix(".jsonl"))
    for line in lines:
        line.get("counters", {}).update(dict.fromkeys(line.get("counters", {}), 0))
    nothing = page_of(written(page.with_name("nothing.jsonl"), lines))
    b.device(390, 844, 2, True)
    for file in (page, two, nothing):
        for link in ("", kernel_link(file, 0)):
            b.open(file, link)
            b.settle()
            equal((file.name, b.run(TOO_WIDE)), (file.name, [0, []]))
            equal((file.name, b.run(TEXTS)["pairs"]), (file.name, []))


@slow
def labels_stay_apart_after_zooming_and_filtering(b, page):
    for width in SIZES:
        b.device(*SIZES[width])
        b.open(page_with(page.parent, 300))
        for script in ("setState({search: 'elementwise'})", "setState({search: '', least: 0.01, sort: 'flops'})",
                       "document.querySelectorAll('#roofline .toolbar button')[1].click()",
                       "document.querySelectorAll('#roofline .toolbar button')[2].click()",
                       "const v = document.getElementById('timeline').view; setView(v, v.model.end / 3, v.model.end / 2.9)"):
            b.run(script)
            b.settle()
            equal((width, script, b.run(PICTURES)["wrong"]), (width, script, []))


# ---- on paper ----

def text_of(b, file):
    """The pages of a PDF as text, or None without a program that reads it."""
    b.pdf(file)
    if not shutil.which("pdftotext"):
        return None
    return subprocess.run(["pdftotext", "-layout", file, "-"], capture_output=True, text=True,
                          check=True).stdout.split("\f")


ROW = re.compile(r"^.* \d[\d.]* %\s+[\d.]+ [mµn]?s\s+\d+\s+[\d.]+ [mµn]?s\s", re.M)


@slow
def heads_repeat_on_paper(b, page):
    b.prefer("dark")
    b.open(page_with(page.parent, 300))
    choose(b, "#bars select", 100)
    sheets = text_of(b, PICTURES_OF / "300-paper.pdf")
    b.prefer("light")
    equal(b.console(), [])
    if sheets is None:
        print("    there is no pdftotext: not tested")
        return
    of_table = [sheet for sheet in sheets if len(ROW.findall(sheet)) > 5]
    assert len(of_table) >= 4, len(of_table)
    for sheet in of_table:
        assert re.search(r"^ *Kernel .*Bound by", sheet, re.M), sheet[:400]
    # No row is lost, and none stands on two sheets.
    equal(sum(len(ROW.findall(sheet)) for sheet in of_table), 300)
    # A figure is longer than a sheet; its heads stand on each.
    of_figures = [sheet for sheet in sheets
                  if re.search(r"\d %\s+\d[\d.]* %\s+\d[\d.]* %", sheet) and sheet not in of_table]
    assert len(of_figures) >= 2, len(of_figures)
    for sheet in of_figures:
        assert "Lost %" in sheet, sheet[:400]


@test
def labels_stay_apart_on_paper(b, page):
    b.prefer("dark")
    b.device(718, 1000)
    for link in ("", kernel_link(page_with(page.parent, 30), 0)):
        b.open(page_with(page.parent, 30), link)
        screen = b.run("return [...document.querySelectorAll('canvas')].map(c => c.clientWidth)")
        b.prefer("dark", "print")
        b.run("dispatchEvent(new Event('beforeprint'))")
        equal(b.run("return document.documentElement.dataset.theme"), "light")
        check_layout(b, f"paper {link}")
        # Nothing is cut off where nobody can scroll, and nothing is there to be pressed.
        cut = b.run("""return [...document.querySelectorAll('table')].filter(t => t.checkVisibility() &&
            t.getBoundingClientRect().right > main.getBoundingClientRect().right + 1).map(t => t.className)""")
        equal(cut, [])
        equal(b.run("""return [...document.querySelectorAll('button, select, input')]
            .filter(e => e.getClientRects().length > 0).length"""), 0)
        picture(b, f"30-paper{'-kernel' if link else ''}")
        b.prefer("dark")
        b.run("dispatchEvent(new Event('afterprint'))")
        equal(b.run("return document.documentElement.dataset.theme"), "dark")
        b.settle()
        equal(b.run("return [...document.querySelectorAll('canvas')].map(c => c.clientWidth)"), screen)


# ---- by keyboard alone ----

TABBABLE = """
    window.stops = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
        .filter(e => e.checkVisibility({visibilityProperty: true}) && !e.disabled);
    return stops.map(e => e.outerHTML.slice(0, 90))"""

# The number of the element with the focus; whether one sees it there: in the window, on top, with an outline.
FOCUSED = """
    const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
    const x = Math.max(1, Math.min(innerWidth - 1, box.left + Math.min(box.width / 2, 20)));
    const y = Math.max(1, Math.min(innerHeight - 1, box.top + Math.min(box.height / 2, 12)));
    const top = document.elementFromPoint(x, y);
    return [stops.indexOf(e), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
            box.width > 8 && box.bottom > 0 && box.top < innerHeight && !!top && (e.contains(top) || top.contains(e))]"""


def walk_through(b, of):
    stops = b.run(TABBABLE)
    assert len(stops) > 20, stops
    for expected, stop in enumerate(stops):
        b.keys(KEY["Tab"])
        equal((of, stop, b.run(FOCUSED)), (of, stop, [expected, True, True]))


@slow
def each_control_is_reached_by_tab_and_seen(b, page):
    page = page_with(page.parent, 30)
    for width in (1280, 390):
        b.device(*SIZES[width])
        for link in ("", kernel_link(page, 0)):
            b.open(page, link)
            b.run("document.activeElement.blur(); scrollTo(0, 0)")
            b.settle()
            if link:
                b.run("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
            walk_through(b, (width, link))


@test
def it_is_used_by_keyboard_alone(b, page):
    active = "const e = document.activeElement; return e.tagName + ' ' + e.textContent.slice(0, 40)"
    b.open(page)
    b.keys(KEY["Tab"])
    equal(b.run(active), "BUTTON skip to the contents")
    b.keys(KEY["Enter"])
    equal(b.run("return document.activeElement.closest('section')?.id ?? document.activeElement.id"), "overview")
    # A key for each part; Tab goes on from there.
    for key, section in (("k", "kernels"), ("r", "roofline"), ("e", "bars"), ("t", "timeline"), ("o", "overview")):
        b.keys(key)
        equal(b.run("return [document.activeElement.closest('section').id, location.hash]"), [section, f"#{section}"])
    b.keys("k")
    b.keys(KEY["Tab"])
    equal(b.run(active), "BUTTON skip the table of kernels")
    b.keys(KEY["Enter"])
    equal(b.run(active), "H2 Roofline")
    b.keys(KEY["Tab"] * 2)
    equal(b.run(active), "BUTTON L2")
    b.keys(" ")
    equal(b.run("return document.activeElement.ariaPressed"), "true")
    # To sort, choose a column and filter.
    b.run("document.querySelector('[data-column=launch-count] button').focus()")
    b.keys(" ")
    equal(b.run("return document.activeElement.closest('th').ariaSort"), "descending")
    equal(rows(b), b.run("""return [...profiles[0].kernels]
        .sort((a, b) => b.launches - a.launches || a.number - b.number).map(k => k.number)"""))
    before = b.run("return document.querySelectorAll('table.kernels thead th').length")
    b.keys(" " + KEY["Tab"] + " ", ".chooser summary")
    after = b.run("return document.querySelectorAll('table.kernels thead th').length")
    assert abs(after - before) == 1, (before, after)
    b.keys(KEY["Escape"])
    # From kernel to kernel in the table, into one, and back to its row.
    b.run("document.querySelector('table.kernels tbody a').focus()")
    b.keys(KEY["Down"] * 2)
    third = rows(b)[2]
    equal(b.run("return +document.activeElement.closest('tr').dataset.kernel"), third)
    b.keys(KEY["Up"] + KEY["Down"] + KEY["Enter"])
    equal(b.run("return [opened.kernel.number, document.activeElement.tagName]"), [third, "H1"])
    b.keys(KEY["Escape"])
    equal(b.run("return +document.activeElement.closest('tr').dataset.kernel"), third)
    # A chart says which point the keys have come to.
    b.keys(KEY["Right"], "#roofline canvas")
    said, label = b.run("return [spoken.textContent, profiles[0].kernels[arguments[0]].label]", rows(b)[0])
    assert said.startswith(label), said
