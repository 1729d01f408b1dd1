#!/usr/bin/env python3
"""Files of the real heaptrack, read by pgokit: against what the program does, and heaptrack_print.

usage: heaptrack_files.py PGOKIT
"""

import gzip
import json
import os
import re
import shutil
import sys

from harness import Cases, require, run, tool

PGOKIT = os.path.abspath(sys.argv[1])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "heaptrack.cc")
UNITS = {"B": 1, "K": 1e3, "M": 1e6}


def record(folder, *flags):
    """heaptrack's file of the program behind the golden one, decompressed."""
    run([tool("g++"), "-g", *flags, SOURCE, "-o", "app"], folder)
    run([tool("heaptrack"), "-o", "track", "./app"], folder)
    track, = [name for name in os.listdir(folder) if name.startswith("track")]
    if track.endswith(".zst"):
        run([tool("zstd"), "-dq", track, "-o", "plain"], folder)
    else:
        with gzip.open(os.path.join(folder, track)) as packed:
            with open(os.path.join(folder, "plain"), "wb") as plain:
                shutil.copyfileobj(packed, plain)
    return track


def shown(folder, path):
    return json.loads(run([PGOKIT, "show", "-q", "--json", path], folder).stdout)


def places(context):
    """The frames of the program: names, lines and inlining, the innermost first. heaptrack 1.5
    says in which function another one is inlined."""
    found = [(f["function"].removeprefix("make::"), f.get("line"), f["inline"])
             for f in context["stack"]]
    return [f for f in found if re.fullmatch(r"inlined|make|main", f[0])]


def exact(folder, level):
    record(folder, level)
    profile = shown(folder, "plain")
    found = {}
    for context in profile["contexts"]:
        own = places(context)
        if own:
            m = context["mib"]
            found[own[-1][1]] = (m["AllocCount"], m["TotalSize"], m["ExitCount"],
                                 m["PeakCount"], [name for name, *_ in own],
                                 [line for _, line, _ in own], [inlined for *_, inlined in own])
    inlined = ["inlined", "make", "main"], [8, 13], [True, False, False]
    require(sorted(found) == [26, 28, 33], f"lines of main: {sorted(found)}")
    require(found[26][:4] == (5, 55, 0, 0), f"freed: {found[26]}")
    require(found[28][:4] == (20, 160, 0, 20), f"list: {found[28]}")
    require(found[33][:3] == (1, 101, 1), f"kept: {found[33]}")
    for line in (26, 33):
        names, lines, flags = found[line][4:]
        require((names, lines[:2], flags) == inlined, f"frames: {found[line]}")


def as_heaptrack_prints(folder):
    record(folder, "-O1")
    profile = shown(folder, "plain")
    said = run([tool("heaptrack_print"), "--disable-builtin-suppressions", "-f", "plain"],
               folder).stdout
    calls = int(re.search(r"(?m)^calls to allocation functions: (\d+)", said)[1])
    require(calls == profile["totals"]["AllocCount"], f"{calls} allocations")
    for what, value in (("peak heap memory consumption", profile["over_time"]["peak_bytes"]),
                        ("total memory leaked", profile["totals"]["ExitSize"])):
        number, unit = re.search(rf"(?m)^{what}: ([\d.]+)([BKM])", said).groups()
        require(abs(float(number) * UNITS[unit] - value) <= 0.006 * UNITS[unit] ,
                f"{what}: {number}{unit}, pgokit has {value}")


def compressed(folder):
    track = record(folder, "-O1")
    wanted = shown(folder, "plain")["contexts"]
    with open(os.path.join(folder, "plain"), "rb") as plain:
        with gzip.open(os.path.join(folder, "packed.gz"), "wb") as packed:
            shutil.copyfileobj(plain, packed)
    for path in (track, "packed.gz"):
        require(shown(folder, path)["contexts"] == wanted, path)


def raw_is_refused(folder):
    run([tool("g++"), "-g", SOURCE, "-o", "app"], folder)
    run([tool("heaptrack"), "--raw", "-o", "track", "./app"], folder)
    raw, = [name for name in os.listdir(folder) if name.startswith("track")]
    said = run([PGOKIT, "show", raw], folder, status=2).stderr
    require("heaptrack_interpret" in said, said)


def views(folder):
    record(folder, "-O1")
    require("contexts" in run([PGOKIT, "diff", "plain", "plain"], folder).stdout, "diff")
    run([PGOKIT, "report", "-q", "plain", "-o", "page.html"], folder)
    run([PGOKIT, "merge", "-q", "plain", "plain", "--partial", "-o", "twice"], folder)
    once, twice = shown(folder, "plain")["totals"], shown(folder, "twice")["totals"]
    require(twice["AllocCount"] == 2 * once["AllocCount"], f"{twice}")


def main():
    cases = Cases()
    for level in ("-O1", "-O2"):
        cases.run(f"objects and frames are those of the program, {level}", exact, level)
    cases.run("totals are those of heaptrack_print", as_heaptrack_prints)
    cases.run("compressed files are read", compressed)
    cases.run("a raw recording is refused with what to do", raw_is_refused)
    cases.run("profiles are compared, shown and merged", views)
    cases.finish()


main()
