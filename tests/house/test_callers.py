#!/usr/bin/env python3
"""Every public function has a caller: the command line, a plugin, the Python module or an example.
What only the library itself calls belongs into an internal header, what nothing calls is removed.

usage: test_callers.py SOURCE-FOLDER
"""

import pathlib
import re
import sys

from tap import Report

CALLERS = ("compiler", "examples", "fleet", "python", "tools")
SUFFIXES = {".c", ".cc", ".h", ".py"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# A struct may have the name of a function.
NAME = re.compile(r"(?<!struct )(?<!enum )\bpgk_\w+")


def public_functions(source):
    text = (source / "lib/libpgokit.map").read_text(encoding="utf-8")
    return re.findall(r"\b(pgk_\w+);", COMMENT.sub("", text))


def names_in(path):
    text = path.read_text(encoding="utf-8")
    return NAME.findall(text if path.suffix == ".py" else COMMENT.sub("", text))


def main():
    source = pathlib.Path(sys.argv[1])
    called = {name for folder in CALLERS for path in (source / folder).rglob("*")
              if path.suffix in SUFFIXES for name in names_in(path)}
    functions = public_functions(source)
    report = Report()
    report.case("the map has functions", [] if len(functions) > 100 else [str(functions)])
    report.case("every public function has a caller",
                [name for name in functions if name not in called])
    report.end()


main()
