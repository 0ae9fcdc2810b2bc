"""`python -m gpuprof`: becomes the command gpuprof."""
import csv
import glob
import os
import signal
import sys


def commands():
    """Where it may be: as the list of installed files says, or as `pip install --target` moves it."""
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for installed in glob.glob(os.path.join(glob.escape(packages), "gpuprof-*.dist-info", "RECORD")):
        with open(installed, encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                if row and os.path.basename(row[0]) == "gpuprof":
                    yield os.path.normpath(os.path.join(packages, row[0]))
    yield os.path.join(packages, "bin", "gpuprof")


def environment():
    """As it was given to Python, which sets LC_CTYPE for itself in some locales."""
    with open("/proc/self/environ", "rb") as file:
        return dict(one.split(b"=", 1) for one in file.read().split(b"\0") if b"=" in one)


def main():
    paths = list(commands())
    for path in paths:
        if os.access(path, os.X_OK):
            # Python ignores these two, and the program would.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            os.execve(path, [path] + sys.argv[1:], environment())
    return "gpuprof: there is no " + paths[0]


if __name__ == "__main__":
    sys.exit(main())
