#!/usr/bin/env python3
"""Heap profiles that jemalloc and gperftools write of a real program, read by pgokit.

usage: allocator_files.py PGOKIT
"""

import glob
import json
import os
import sys

from harness import Cases, Skip, require, run, tool

PGOKIT = os.path.abspath(sys.argv[1])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "heaptrack.cc")
EVERYTHING = "prof:true,prof_final:true,lg_prof_sample:0,prof_accum:true"


def library(name):
    found = glob.glob(f"/usr/lib/*/{name}")
    if not found:
        raise Skip(f"missing {name}")
    return found[0]


def record(folder, pattern, **env):
    run([tool("g++"), "-g", "-O2", SOURCE, "-o", "app"], folder)
    run(["./app"], folder, env=env)
    found = glob.glob(os.path.join(folder, pattern))
    if not found:
        raise Skip("this build of the library does not profile")
    return found[0]


def jemalloc(folder, conf):
    return record(folder, "je.*.heap", MALLOC_CONF=f"{conf},prof_prefix:{folder}/je",
                  LD_PRELOAD=library("libjemalloc.so.2"))


def by_line(folder, path):
    """By the line of main: objects, bytes, objects alive, names of the program's frames."""
    said = run([PGOKIT, "show", "-q", "--json", path, "-b", "app"], folder).stdout
    found = {}
    for context in json.loads(said)["contexts"]:
        # Without the frames of libraries, which stay as addresses.
        named = [frame for frame in context["stack"] if "function" in frame]
        names = [frame["function"] for frame in named]
        lines = {frame["function"]: frame.get("line") for frame in named}
        m = context["mib"]
        if "main" in lines:
            found[lines["main"]] = (m["AllocCount"], m["TotalSize"], m["ExitCount"], names)
    return found


def frames_are(found):
    for line in (26, 33):
        names = found[line][3]
        require(["inlined" in names[0], "make" in names[1], names[2]] == [True, True, "main"],
                f"{names}")


def jemalloc_counts(folder):
    found = by_line(folder, jemalloc(folder, EVERYTHING))
    require({line: row[:3] for line, row in found.items()} ==
            {26: (5, 5 * 16, 0), 28: (20, 20 * 8, 0), 33: (1, 112, 1)}, f"{found}")
    frames_are(found)


def jemalloc_alive(folder):
    found = by_line(folder, jemalloc(folder, EVERYTHING.replace(",prof_accum:true", "")))
    require({line: row[:3] for line, row in found.items()} == {33: (1, 112, 1)}, f"{found}")


def gperftools_counts(folder):
    path = record(folder, "gp.*.heap", HEAPPROFILE=f"{folder}/gp",
                  LD_PRELOAD=library("libtcmalloc.so.4"))
    found = by_line(folder, path)
    require({line: row[:3] for line, row in found.items()} ==
            {26: (5, 55, 0), 28: (20, 160, 0), 33: (1, 101, 1)}, f"{found}")
    frames_are(found)


def views(folder):
    path = jemalloc(folder, EVERYTHING)
    require("grew" not in run([PGOKIT, "diff", path, path, "-b", "app"], folder).stdout, "diff")
    run([PGOKIT, "report", "-q", path, "-b", "app", "-o", "page.html"], folder)
    said = run([PGOKIT, "report", "-q", path, "-b", "app", "--format", "folded", "--weight",
                "leaked"], folder).stdout
    require([line.split()[-1] for line in said.splitlines() if "main" in line] == ["112"], said)


def main():
    cases = Cases()
    cases.run("jemalloc's counts and frames are those of the program", jemalloc_counts)
    cases.run("jemalloc without prof_accum tells what is alive", jemalloc_alive)
    cases.run("gperftools' counts and frames are those of the program", gperftools_counts)
    cases.run("profiles are compared and shown", views)
    cases.finish()


main()
