#!/usr/bin/env python3
"""The shared library exports the functions that the public headers declare, and nothing else.

usage: test_exports.py INCLUDE-FOLDER LIBRARY
"""

import pathlib
import re
import subprocess
import sys

from tap import Report

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
MACRO = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
TYPEDEF = re.compile(r"\btypedef\b[^;]*;")
FUNCTION = re.compile(r"\b(\w+)\s*\([^;{}]*\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?;")


def declared_functions(include):
    names = set()
    for path in include.rglob("*.h"):
        text = path.read_text(encoding="utf-8")
        for noise in (COMMENT, MACRO, TYPEDEF):
            text = noise.sub("", text)
        names.update(match[1] for match in FUNCTION.finditer(text))
    return names


def exported_symbols(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    return {line.split()[-1] for line in listing.splitlines()}


def main():
    declared = declared_functions(pathlib.Path(sys.argv[1]))
    exported = exported_symbols(sys.argv[2])
    report = Report()
    report.case("every exported symbol begins with pgk_",
                sorted(name for name in exported if not name.startswith("pgk_")))
    report.case("every exported symbol is declared in a public header",
                sorted(exported - declared))
    report.case("every declared function is exported", sorted(declared - exported))
    report.end()


main()
