#!/usr/bin/env python3
"""The shared library exports the functions that the public headers declare, each with a version of
its map, and nothing else.

usage: test_exports.py INCLUDE-FOLDER MAP LIBRARY
"""

import pathlib
import re
import subprocess
import sys

from tap import Report

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
MACRO = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
TYPEDEF = re.compile(r"\btypedef\b[^;]*;")
VERSION = re.compile(r"([\w.]+)\s*\{(.*?)\}", re.DOTALL)
FUNCTION = re.compile(r"\b(\w+)\s*\([^;{}]*\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?;")


def declared_functions(include):
    names = set()
    for path in include.rglob("*.h"):
        text = path.read_text(encoding="utf-8")
        for noise in (COMMENT, MACRO, TYPEDEF):
            text = noise.sub("", text)
        names.update(match[1] for match in FUNCTION.finditer(text))
    return names


def mapped_symbols(path):
    """The version of each symbol, and symbols that stand in the map more than once."""
    versions, twice = {}, []
    for version, names in VERSION.findall(COMMENT.sub("", path.read_text(encoding="utf-8"))):
        for name in re.findall(r"\b(pgk_\w+);", names):
            if name in versions:
                twice.append(name)
            versions[name] = version
    return versions, twice


def exported_symbols(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    symbols = (line.split()[-2:] for line in listing.splitlines())
    return dict(name.partition("@@")[::2] for kind, name in symbols if kind != "A")


def main():
    declared = declared_functions(pathlib.Path(sys.argv[1]))
    mapped, twice = mapped_symbols(pathlib.Path(sys.argv[2]))
    exported = exported_symbols(sys.argv[3])
    report = Report()
    report.case("every exported symbol begins with pgk_",
                sorted(name for name in exported if not name.startswith("pgk_")))
    report.case("every exported symbol is declared in a public header",
                sorted(set(exported) - declared))
    report.case("every declared function is exported", sorted(declared - set(exported)))
    report.case("the map has every declared function", sorted(declared - set(mapped)))
    report.case("the map has no other function", sorted(set(mapped) - declared))
    report.case("the map has a function once", twice)
    report.case("every exported symbol has the version of the map",
                [f"{name}: {version or 'none'}" for name, version in sorted(exported.items())
                 if version != mapped.get(name)])
    report.end()


main()
