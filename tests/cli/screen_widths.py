#!/usr/bin/env python3
"""Shows the first screens of profiles in terminals of several widths: each line fits, and names keep 40 columns.
  screen_widths.py GPUPROF PROFILE...      prints nothing, or the lines that do not fit"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

WIDTHS = (80, 120, 170, 200)
LEAST_NAME = 40
gpuprof, *profiles = sys.argv[1:]
wrong = []


def shown(width, *arguments):
    """The output in a terminal of so many columns."""
    terminal, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 60, width, 0, 0))
    process = subprocess.Popen([gpuprof, "report", *arguments], stdin=subprocess.DEVNULL, stdout=program,
                               stderr=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})
    os.close(program)
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux says so where all of the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    process.wait()
    return b"".join(parts).decode().replace("\r\n", "\n")


def names_of(profile):
    """The kernels' names as the page's tables have them, uncut."""
    data = re.search(r'id="data">(.*?)</script>', subprocess.run([gpuprof, "report", "--html", "-", profile], check=False,
                     stderr=subprocess.DEVNULL, capture_output=False, stdout=subprocess.PIPE, text=True).stdout, re.S)
    return [kernel["brief"] for kernel in json.loads(data.group(1))["profiles"][0]["kernels"]] if data else []


for profile in profiles:
    longest = max(map(len, names_of(profile)), default=0)
    for width in WIDTHS:
        lines = shown(width, profile).splitlines()
        if not lines:
            wrong.append(f"{profile} at {width}: nothing is shown")
        # A word that is longer than a line is broken, too.
        wrong += [f"{profile} at {width}: {len(line)} columns: {line}" for line in lines if len(line) > width]
        # Of a name that is cut there are 40 columns at least: on its own line, or behind the numbers of its row.
        rows = [re.sub(r"^ *~?[\d.]+% .{90,}?%  (?=\S)", "", line) for line in lines]
        cut = [re.sub(r" +next limit .*| \[[\dx, ]+\].*$", "", row) for row in rows if re.search(r"\.\..*\[[\dx]+", row)]
        if longest > LEAST_NAME and "KERNELS" in " ".join(lines) and not any(len(name) >= LEAST_NAME for name in cut):
            wrong.append(f"{profile} at {width}: no name has {LEAST_NAME} columns: {cut}")
print("\n".join(wrong))
sys.exit(bool(wrong))
