#!/usr/bin/env python3
"""Of the rooms that live in other people's processes only guest/ makes system calls.

usage: test_system_calls.py ROOT ROOM...
"""

import pathlib
import re
import sys

from tap import Report

CALL = re.compile(r"\bSYS_\w+|\b__NR_\w+|\bsyscall\s*\(|<sys/syscall\.h>|<asm/unistd|"
                  r'"(?:syscall|sysenter|svc)\b')
# The C library's function of that name may be replaced.
DEFINES = re.compile(r"^(?:REPLACES )?long syscall\(long number, \.\.\.\);?$")


def calls(folder):
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix not in {".c", ".h", ".def", ".S"}:
            continue
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if CALL.search(line) and not DEFINES.search(line):
                found.append(f"{path.name}:{number}: {line.strip()}")
    return found


def main():
    root, rooms = pathlib.Path(sys.argv[1]), sys.argv[2:]
    report = Report()
    for room in rooms:
        found = calls(root / room)
        if room == "guest":
            report.case("guest has system calls",
                        [] if found else ["none found: the test looks for the wrong words"])
        else:
            report.case(f"{room} leaves system calls to guest", found)
    report.end()


main()
