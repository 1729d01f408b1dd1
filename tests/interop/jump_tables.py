#!/usr/bin/env python3
"""Tables of offsets that compilers make for switches of AArch64, against the assembly that they
wrote: of each table all targets are found, and nothing else.

usage: jump_tables.py JUMP_TARGETS WORK
"""

import os
import re
import sys

from peers import AARCH64, PROGRAMS, good, main, require, tool

SOURCE = os.path.join(PROGRAMS, "switches.c")
COMPILERS = {"gcc-12": "aarch64-linux-gnu-gcc-12", "clang-14": 14, "clang-22": 22}
ENTRY = re.compile(r"\s*\.(byte|2byte|hword|4byte|word)\s+\(?(\.L\w+) ?- ?\.L\w+")
SIZES = {"byte": 1, "2byte": 2, "hword": 2, "4byte": 4, "word": 4}


def assembly(work, compiler, flags):
    path = os.path.join(work.temp("switches"), "switches.s")
    command = [tool(compiler)] if isinstance(compiler, str) else \
        [tool("clang", compiler), AARCH64, "-fno-addrsig"]
    good(*command, *flags, "-S", SOURCE, "-o", path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file: # marks of the file that old assemblers refuse
        file.write(re.sub(r"\s*\.aeabi_.*", "", text))
    return path


def tables_of(path):
    """Labels of the targets and size of entries, a pair for each table."""
    tables, open_table = [], False
    with open(path, encoding="utf-8") as file:
        for line in file:
            entry = ENTRY.match(line)
            if entry and not open_table:
                tables.append((set(), SIZES[entry[1]]))
            if entry:
                tables[-1][0].add(entry[2])
            open_table = bool(entry)
    return tables


def addresses(program):
    return {name: int(address, 16) for address, _, name in
            (line.split() for line in good(tool("aarch64-linux-gnu-nm"), program).splitlines())}


def found(work, program):
    lines = good(work.pgokit, program).splitlines()
    return sorted(sorted({int(word, 16) for word in line.split()[1:]}) for line in lines)


def targets(work, compiler, *flags):
    path = assembly(work, compiler, flags)
    program, plain = path[:-2], path[:-2] + ".plain"
    good(tool("aarch64-linux-gnu-as"), "--keep-locals", path, "-o", path[:-2] + ".o")
    good(tool("aarch64-linux-gnu-ld"), path[:-2] + ".o", "-o", program)
    # Without the labels, as programs are.
    good(tool("aarch64-linux-gnu-objcopy"), "--discard-locals", program, plain)
    of_label, tables = addresses(program), tables_of(path)
    functions = sorted(of_label[name] for name in
                       ("bytes", "halfwords", "words", "loop", "masked", "nested"))
    expected = {}
    for labels, _ in tables:
        places = {of_label[label] for label in labels}
        function = max(start for start in functions if start <= min(places))
        expected.setdefault(function, set()).update(places)
    got = found(work, plain)
    require(got == sorted(sorted(places) for places in expected.values()),
            f"found {[list(map(hex, places)) for places in got]}\n"
            f"expected {[sorted(map(hex, places)) for places in expected.values()]}")
    return [f"{len(tables)} tables with entries of "
            f"{', '.join(map(str, sorted({size for _, size in tables})))} bytes, "
            f"{sum(map(len, got))} targets"]


def add_cases(work, tap):
    for name, compiler in COMPILERS.items():
        for level in ("-O1", "-O2", "-O3", "-Os"):
            tap.add(f"{name} {level}", targets, work, compiler, level)
        tap.add(f"{name} -O2, position-independent, branch targets marked", targets, work, compiler,
                "-O2", "-fPIC", "-mbranch-protection=standard")
    tap.add("gcc-12 -O2, tables for few cases", targets, work, COMPILERS["gcc-12"], "-O2",
            "--param=case-values-threshold=4")


if __name__ == "__main__":
    sys.exit(main(add_cases))
