#!/usr/bin/env python3
"""Recordings of walks through the code of a program (bench/branch_walk), which go where no run of a
test would: `pgokit gen` writes what llvm-profgen 22 writes, in every mode, from text and perf.data.
The program is the reader and writer of sample profiles of this tree; a smaller one is built for
AArch64, and with split debug information.
"""

import glob
import os
import re
import sys

import sample_program
from gen_profiles import (FLOW_SENSITIVE, FRAMES, LINES, LLD, MODES, PROBES, Build, build, equal,
                          ours, split_contexts, theirs, without_chains, without_marks)
from peers import AARCH64, Failure, good, main, need_aarch64, require, run, tool
from stepped import made

KINDS = {"lines": [LINES], "probes": [PROBES],
         "flow-sensitive lines": [LINES, "-mllvm", FLOW_SENSITIVE]}


def walk(work, exe, *options):
    out = exe + ".walk" + "".join(options)
    good(work.walker, *options, "-n", "1500", exe, out)
    return out


def without_locks(text):
    """llvm-profgen counts an instruction with a lock prefix twice into totals of contexts by lines,
    which is their order; these functions of the program have one."""
    text = re.sub(r"((?:must_fail|make_temp_name)\]):\d+:", r"\1:0:", text)
    return "".join(sorted(re.split(r"^(?=\[)", text, flags=re.M)))


def check(name, flags, mine, other):
    if "--contexts" not in MODES[name][2]: # marks of contexts that became functions of their own
        mine, other = without_marks(mine), without_marks(other)
    elif LINES in flags:
        mine, other = without_locks(mine), without_locks(other)
    if name == "contexts" and flags == [LINES]:
        split_contexts(mine, other)
    else:
        equal(mine, other)


def same_profiles(work, kind):
    compare(work, os.path.join(sample_program.build(work, KINDS[kind]), "program"), KINDS[kind])


def same_for_aarch64(work, kind):
    """What cannot be run here can still be walked through. Without the C library's start, whose
    functions have no debug information: of these llvm-profgen knows no frames that are set up."""
    need_aarch64()
    b = Build(22, "-O2", *KINDS[kind], FRAMES, AARCH64, LLD, "-nostartfiles", "-Wl,--entry=main")
    compare(work, build(work, b), KINDS[kind])


def split_dwarf(work, version):
    """Debug information in .dwo files, in a package instead, and in neither."""
    exe = made(work.temp("split"), 22, "-O2", "-g", LINES, FRAMES, f"-gdwarf-{version}",
               "-gsplit-dwarf")
    trace = walk(work, exe)
    expected = theirs(exe, trace)
    require(expected.count("\n") > 50, expected)
    equal(ours(work, exe, trace), expected)
    good(tool("llvm-dwp", 22), "-e", exe, "-o", exe + ".dwp")
    for unit in glob.glob(os.path.join(os.path.dirname(exe), "*.dwo")):
        os.remove(unit)
    equal(ours(work, exe, trace), expected)
    os.remove(exe + ".dwp")
    left = run(work.pgokit, "gen", "-q", trace, "-b", exe, "-o", exe + ".afdo")
    require(".dwo was not found" in left.errors, str(left))


def compare(work, exe, flags):
    trace = walk(work, exe, "-g")
    plain, failures = without_chains(trace), []
    for name, (needs, peer, own) in MODES.items():
        if any(flag not in flags for flag in needs):
            continue
        used = plain if name in ("plain", "lines") else trace
        try:
            mine = ours(work, exe, used, *own)
            check(name, flags, mine, theirs(exe, used, *peer))
        except Failure as e:
            failures.append(f"{name}: {e}")
    require(not failures, "\n".join(failures))


def as_perf_data(work, kind, *options):
    """The same walk as perf.data. (llvm-profgen cannot: it lets perf print the file, and perf 6.1
    puts symbols into lines of branches, and offsets in files into call chains.)"""
    exe = os.path.join(sample_program.build(work, KINDS[kind]), "program")
    equal(ours(work, exe, walk(work, exe, *options, "-d")),
          ours(work, exe, walk(work, exe, *options)))


def same_address_counts(work, kind):
    exe = os.path.join(sample_program.build(work, KINDS[kind]), "program")
    trace = walk(work, exe, "-g")
    for used in (trace, without_chains(trace)):
        raw = good(work.pgokit, "gen", "-q", used, "-b", exe, "--raw", "-o", "-")
        equal(raw, theirs(exe, used, "--skip-symbolization"))


def add_cases(work, tap):
    work.walker = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(work.pgokit))),
                               "bench", "branch_walk")
    for kind in KINDS:
        tap.add(f"profiles of walks, {kind}", same_profiles, work, kind)
    for kind in ("probes", "flow-sensitive lines"):
        tap.add(f"profiles of walks for AArch64, {kind}", same_for_aarch64, work, kind)
    for version in (4, 5):
        tap.add(f"split DWARF {version}", split_dwarf, work, version)
    for kind in ("lines", "probes"):
        tap.add(f"perf.data of walks, {kind}", as_perf_data, work, kind)
        tap.add(f"perf.data of walks with call chains, {kind}", as_perf_data, work, kind, "-g")
        tap.add(f"address counts of walks, {kind}", same_address_counts, work, kind)


if __name__ == "__main__":
    sys.exit(main(add_cases))
