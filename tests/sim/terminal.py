#!/usr/bin/env python3
"""Runs a command on a terminal of its own and prints its output: terminal.py COMMAND..."""
import os
import pty
import sys

if __name__ == "__main__":
    sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536))))
