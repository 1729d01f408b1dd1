#!/usr/bin/env python3
"""Programs that were compiled with libpgokit still run with the one that was built: scripts/abi.

usage: test_abi.py SOURCE-FOLDER LIBRARY
"""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

from tap import Report

BEFORE = """\
libx.so.0

int pgk_a@V(struct pgk_options *)
const struct pgk_stats * pgk_b@V(struct pgk_pair, const char *, const char *, const char *, const
        char *)

enum pgk_kind
    PGK_ONE = 1
struct pgk_options: 16 bytes
    0 size_t struct_size
    8 int depth
struct pgk_pair: 8 bytes
    0 int first
    4 int second
struct pgk_stats: 8 bytes
    0 size_t n
"""
# What changed, of what to what, and what programs notice.
CHANGES = (
    ("nothing", "", "", []),
    ("a new function", "int pgk_a", "int pgk_0@V(void)\nint pgk_a", []),
    ("a new value", "PGK_ONE = 1", "PGK_ONE = 1\n    PGK_TWO = 2", []),
    ("a field behind struct_size", "16 bytes", "24 bytes", []),
    ("a field in a struct of the library", "8 bytes\n    0 size_t n", "16 bytes\n    0 size_t n",
     []),
    ("a field in a struct of callers", "pgk_pair: 8", "pgk_pair: 12", ["struct pgk_pair: 8 bytes"]),
    ("a function gone", "int pgk_a", "int pgk_c", ["int pgk_a@V(struct pgk_options *)"]),
    ("a type of a parameter", "const\n        char *)", "const\n        int *)",
     ["const struct pgk_stats * pgk_b@V(struct pgk_pair, const char *, const char *, const char *, "
      "const char *)"]),
    ("a field that moved", "8 int depth", "12 int depth", ["struct pgk_options: 8 int depth"]),
    ("a value that changed", "PGK_ONE = 1", "PGK_ONE = 2", ["enum pgk_kind: PGK_ONE = 1"]),
    ("another soname", "libx.so.0", "libx.so.1", ["libx.so.0"]),
)


def load(path):
    loader = importlib.machinery.SourceFileLoader("abi", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("abi", loader))
    loader.exec_module(module)
    return module


def main():
    script, report = pathlib.Path(sys.argv[1], "scripts/abi"), Report()
    sys.dont_write_bytecode = True
    abi = load(script)
    for name, old, new, expected in CHANGES:
        found = list(abi.noticed(BEFORE, BEFORE.replace(old, new, 1) if old else BEFORE))
        report.case(f"what programs notice: {name}",
                    [] if found == expected else [f"found {found}", f"expected {expected}"])
    done = subprocess.run([script, sys.argv[2]], capture_output=True, text=True, check=False)
    name = "the library has what lib/libpgokit.abi describes"
    if done.returncode == abi.CANNOT_TELL:
        report.skip(name, done.stdout.strip())
    else:
        report.case(name, [done.stdout + done.stderr] if done.returncode else [])
    report.end()


main()
