"""The tests of the page: a list of functions, each called with a browser and the page of a small profile.
Prints a line for each and "N passed, N failed"; fails if one failed.
  harness.py BUILD [quick]      quick: only the tests that take seconds"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback
import urllib.parse

HERE = pathlib.Path(__file__).parent
build = pathlib.Path(sys.argv[1])
quick = sys.argv[2:] == ["quick"]
tests = []


def test(of):
    tests.append(of)
    return of


def slow(of):
    if not quick:
        tests.append(of)
    return of


def made_up(folder, name, *arguments):
    profile = folder / f"{name}.jsonl"
    with open(profile, "w") as out:
        subprocess.run([sys.executable, HERE / "make_profile.py", *map(str, arguments)], stdout=out, check=True)
    return profile


def page_of(*profiles):
    page = profiles[0].with_name("-and-".join(p.stem for p in profiles) + ".html")
    subprocess.run([build / "gpuprof", "report", "--html", page, *profiles], check=True)
    return page


def said(profile):
    """The report for people, in a file."""
    return subprocess.run([build / "gpuprof", "report", profile], check=True, capture_output=True, text=True).stdout


def records(profile):
    """The lines of a profile: the header, the device, then the launches."""
    with open(profile) as lines:
        return [json.loads(line) for line in lines]


def written(profile, lines):
    profile.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return profile


def equal(got, expected):
    assert got == expected, f"{got!r} instead of {expected!r}"


DATA = re.compile(r'(?<=id="data">).*?(?=</script>)', re.S)


def kernel_link(page, number):
    """Of the kernel of that rank, by its name."""
    kernel = json.loads(DATA.search(page.read_text()).group())["profiles"][0]["kernels"][number]
    params = {"name": kernel["name"], "block": "x".join(map(str, kernel["block"]))}
    return "#kernel?" + urllib.parse.urlencode(params, safe="*")


def rows(b):
    return b.run("return [...document.querySelectorAll('table.kernels tbody tr')].map(r => +r.dataset.kernel)")


def header(b, column):
    b.run("document.querySelector(`[data-column='${arguments[0]}'] button`).click()", column)


def choose(b, selector, value):
    """An option of a list."""
    b.run("""const list = document.querySelector(arguments[0]);
             list.value = arguments[1];
             list.dispatchEvent(new Event('change'))""", selector, value)


def main():
    from browser import Browser
    failed = 0
    with tempfile.TemporaryDirectory() as folder, Browser() as b:
        page = page_of(made_up(pathlib.Path(folder), "small", 12, 400, 3))
        for of in tests:
            name = of.__name__.replace("_", " ")
            b.device(1280, 900)
            b.prefer("light")
            try:
                of(b, page)
                print(f"ok {name}", flush=True)
            except Exception:
                failed += 1
                print(f"not ok {name}")
                print("    " + traceback.format_exc().replace("\n", "\n    "), flush=True)
            b.console()
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    import harness
    import test_layout  # noqa: F401
    import test_page  # noqa: F401
    import test_use  # noqa: F401
    sys.exit(harness.main())
