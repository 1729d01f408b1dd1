#!/usr/bin/env python3
"""Types of objects that code compares itself: three of four objects are of the type that a virtual
call was promoted for, so that no load of its table tells of them. Their counts come of branches;
profiles are by lines, by probes and with calling contexts, of branch stacks and without. Programs
for AArch64 run in an emulator.
"""

import json
import os
import re
import sys

import arm_trace
from gen_inferred import instructions_alone
from gen_types import LOAD, call_of, counts, recording, BASE, SLOT, symbols
from peers import AARCH64, PROGRAMS, good, main, require, run, tool
from perf_writer import ADDR, DATA_SRC, IP, PERIOD, TID, TIME, Event
from stepped import FRAMES, LINES, LLD, PROBES, recorded

SITES = ["_Z11calls_firstP4Basei", "_Z12calls_secondP4Basei"]
FORMS = {
    "position-independent": ["-fPIE", "-pie"],
    "for a library": ["-fPIC", "-pie", "-Wl,-z,norelro"],
    "at a fixed address": ["-fno-pie", "-no-pie"],
    "with the table's address in a slot": ["-fPIC", "-pie", "-Wa,-mrelax-relocations=no"],
}
ON_AARCH64 = {
    "the table's address put together": ["-fno-pie"],
    "the table's address in a slot": ["-fPIC", "-Wl,--no-relax"],
}
MODES = {
    "lines": (LINES, ["--mode", "autofdo"]),
    "probes": (PROBES, ["--mode", "probe"]),
    "contexts by probes": (PROBES, ["--mode", "cs", "--contexts", "--no-preinline"]),
    "contexts by lines": (LINES, ["--mode", "cs", "--contexts", "--no-preinline"]),
}


def build(work, kind, form, samples=1500):
    return recorded(work, 22, "-O2", "-g", kind, FRAMES, "-fno-strict-aliasing", *FORMS[form],
                    sources=("types_promoted.cpp",), every=53, samples=samples)


def gen(work, exe, *inputs):
    out = exe + ".txt"
    report = json.loads(good(work.pgokit, "gen", *inputs, "-b", exe, "--vtables", "--json", "--to",
                             "text", "-o", out))
    with open(out, encoding="utf-8") as file:
        return file.read(), report


def check_shares(text, report, part=0.75, room=0.1):
    """Of all calls so many are of Often, which is called directly, and the rest of Rarely."""
    for site in SITES:
        often = counts(text).get(site, {}).get("_ZTV5Often", 0)
        require(often > 50, f"types at {site}: {counts(text)}\n{text}")
    often = sum(table.get("_ZTV5Often", 0) for table in counts(text).values())
    direct, indirect = (sum(map(int, re.findall(rf" {name}:(\d+)", text)))
                        for name in ("_ZN5Often4funcEi", "_ZN6Rarely4funcEi"))
    require(abs(often - direct) <= room * often,
            f"{often} of the type, but {direct} calls of its function\n{text}")
    require(abs(often / (often + indirect) - part) < room, f"{often} {indirect}\n{text}")
    require(report["type_tests"] >= 2 and report["recovered_types"] == often, str(report))


def recovered(work, mode, form):
    kind, options = MODES[mode]
    exe, trace = build(work, kind, form)
    text, report = gen(work, exe, trace, *options)
    check_shares(text, report)
    none, report = gen(work, exe, trace, *options, "--no-recovered-types")
    require("vtables" not in none and not report["recovered_types"], none)
    require([line for line in text.splitlines() if "vtables" not in line] == none.splitlines(),
            "more than types differs")


def on_aarch64(work, form):
    """By lines: for AArch64 clang makes no probes of calls, which types would belong to."""
    root, (kind, options) = arm_trace.need(), MODES["lines"]
    exe = os.path.join(work.temp("aarch64"), "types")
    good(tool("clang++", 22), AARCH64, LLD, f"--sysroot={root}", "-O2", "-g", kind, FRAMES,
         "-fno-strict-aliasing", "-static", "-no-pie", *ON_AARCH64[form],
         os.path.join(PROGRAMS, "types_promoted.cpp"), "-o", exe)
    trace = arm_trace.trace(exe, "400", steps=40000).write(exe + ".trace")
    text, report = gen(work, exe, trace, *options)
    check_shares(text, report)
    none, report = gen(work, exe, trace, *options, "--no-recovered-types")
    require("vtables" not in none and not report["recovered_types"], none)


def inferred(work):
    """Without branch stacks, from the samples of instructions alone."""
    exe, trace = build(work, LINES, "position-independent", samples=6000)
    text, report = gen(work, exe, instructions_alone(trace), "--mode", "autofdo")
    require(report["inferred"], str(report))
    check_shares(text, report, room=0.2)


def one_scale(work):
    """Loads that another sampler counted get the scale of branches: each stands for as many calls
    as branches show in all. Without periods, one load in all is enough."""
    exe, trace = build(work, LINES, "position-independent")
    loads = exe + ".loads"
    r = recording(exe, Event(IP | TID | TIME | ADDR | PERIOD | DATA_SRC, name="loads:upp"))
    table = symbols(exe)["_ZTV6Rarely"]
    for _ in range(7):
        r.sample(ip=BASE + call_of(exe, SITES[0]), addr=BASE + table + SLOT + 16, data_src=LOAD,
                 period=1)
    r.write_file(loads)
    text, report = gen(work, exe, trace, loads, "--mode", "autofdo")
    found = counts(text)[SITES[0]]
    part = found["_ZTV6Rarely"] / sum(found.values())
    require(abs(part - 0.25) < 0.05, f"{found}\n{text}")
    require(report["vtable_samples"] == 7 and report["vtable_scale"] > 0, str(report))


def only_if_asked_for(work):
    """Types make files that older compilers refuse: nobody gets them, nor a warning, unasked."""
    exe, trace = build(work, LINES, "position-independent")
    result = run(work.pgokit, "gen", trace, "-b", exe, "--mode", "autofdo", "-o", exe + ".afdo")
    require(result.code == 0 and "types" not in result.errors.replace(exe, "EXE"), str(result))


def add_cases(work, tap):
    for mode in MODES:
        tap.add(f"types of comparisons, {mode}", recovered, work, mode, "position-independent")
    for form in list(FORMS)[1:]:
        tap.add(f"types of comparisons, {form}", recovered, work, "lines", form)
    for form in ON_AARCH64:
        tap.add(f"types of comparisons on AArch64, {form}", on_aarch64, work, form)
    tap.add("types of comparisons without branch stacks", inferred, work)
    tap.add("types of loads and of comparisons", one_scale, work)
    tap.add("types only if asked for", only_if_asked_for, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
