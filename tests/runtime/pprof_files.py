#!/usr/bin/env python3
"""Heap profiles of Go and of gperftools by way of pprof, read by pgokit: against go tool pprof.

usage: pprof_files.py PGOKIT
"""

import collections
import glob
import json
import os
import sys

from harness import Cases, Skip, require, run, tool

PGOKIT = os.path.abspath(sys.argv[1])
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
INDEXES = {"alloc_objects": "AllocCount", "alloc_space": "TotalSize",
           "inuse_objects": "ExitCount", "inuse_space": "ExitSize"}
BUILD_SECONDS = 600  # newer releases of Go compile their library first


def named(context):
    """Without the frames of libraries, which stay as addresses."""
    return [frame for frame in context["stack"] if "function" in frame]


def go(folder, *argv):
    env = {"GOCACHE": os.path.join(folder, "cache"), "GOPATH": os.path.join(folder, "path"),
           "GOFLAGS": "", "GO111MODULE": "off", "PPROF_TMPDIR": folder}
    return run([tool("go"), *argv], folder, env=env, timeout=BUILD_SECONDS).stdout


def record(folder, *argv):
    go(folder, "build", "-o", "app", os.path.join(GOLDEN, "pprof_heap.go"))
    run(["./app", "heap.pb.gz", *argv], folder)


def shown(folder, path, *options):
    return json.loads(run([PGOKIT, "show", "-q", "--json", path, *options], folder).stdout)


def top(folder, path, index):
    """By function: the value of what it allocates itself, as go tool pprof says."""
    said = go(folder, "tool", "pprof", "-top", "-unit=B", "-nodefraction=0", "-nodecount=10000",
              "-symbolize=none", f"-sample_index={index}", path)
    rows = said[said.index("flat%"):].splitlines()[1:]
    found = {}
    for row in rows:
        flat, _, _, _, _, name = row.split(None, 5)
        if float(flat.rstrip("B")):
            found[name.removesuffix(" (inline)")] = int(float(flat.rstrip("B")))
    return found


def by_function(profile, field):
    found = collections.Counter()
    for context in profile["contexts"]:
        found[named(context)[0]["function"]] += context["mib"].get(field, 0)
    return {name: value for name, value in found.items() if value}


def as_pprof_says(folder, *argv):
    record(folder, *argv)
    profile = shown(folder, "heap.pb.gz")
    for index, field in INDEXES.items():
        pprof, own = top(folder, "heap.pb.gz", index), by_function(profile, field)
        require(pprof == own and pprof, f"{index}: pprof {pprof}\npgokit {own}")


def counts_are_the_programs(folder):
    record(folder, "all")
    found = {}
    for context in shown(folder, "heap.pb.gz")["contexts"]:
        m = context["mib"]
        found[named(context)[0]["function"]] = (
            context["stack"][0]["line"], m["AllocCount"], m["TotalSize"], m["ExitSize"])
    line, objects, size, alive = found["main.churn"]
    # Go itself may allocate a little there, and keep it.
    require(line == 27 and objects in range(20000, 20010) and size >= 20000 * 1000 and alive < 1000,
            f"{found}")
    require("main.makeNodes" in found, f"{found}")


def sampling_is_told(folder):
    record(folder)
    require("a sample every 512 KiB" in run([PGOKIT, "show", "heap.pb.gz"], folder).stdout,
            "the rate")


def library(name):
    found = glob.glob(f"/usr/lib/*/{name}")
    if not found:
        raise Skip(f"missing {name}")
    return found[0]


def addresses(folder):
    """A text of gperftools, and what pprof makes of it without naming anything."""
    run([tool("g++"), "-g", "-O2", os.path.join(GOLDEN, "heaptrack.cc"), "-o", "app"], folder)
    run(["./app"], folder, env={"HEAPPROFILE": f"{folder}/gp",
                                "LD_PRELOAD": library("libtcmalloc.so.4")})
    text, = glob.glob(os.path.join(folder, "gp.*.heap"))
    go(folder, "tool", "pprof", "-proto", "-symbolize=none", "-output=proto.pb.gz", text)
    want, own = shown(folder, text, "-b", "app"), shown(folder, "proto.pb.gz", "-b", "app")
    for line in (26, 28, 33):
        numbers = []
        for profile in (want, own):
            for context in profile["contexts"]:
                if ("main", line) in [(f["function"], f.get("line")) for f in named(context)]:
                    m = context["mib"]
                    numbers.append(([f["function"] for f in named(context)][:3],
                                    m["AllocCount"], m["TotalSize"], m["ExitSize"]))
        require(len(numbers) == 2 and numbers[0] == numbers[1], f"line {line}: {numbers}")


def round_trip(folder):
    before = os.path.join(GOLDEN, "heaptrack", "heaptrack14.heaptrack")
    run([PGOKIT, "convert", "-q", before, "--to", "pprof", "-o", "own.pb.gz"], folder,
        status=None)
    fields = [*INDEXES.values(), "PeakSize", "PeakCount"]
    rows = [sorted((tuple((f["function"], f.get("line"), f["inline"]) for f in named(c)),
                    [c["mib"][field] for field in fields]) for c in shown(folder, path)["contexts"])
            for path in (before, "own.pb.gz")]
    require(rows[0] == rows[1], f"{rows[0]}\n{rows[1]}")


def views(folder):
    record(folder, "all")
    require("contexts" in run([PGOKIT, "diff", "heap.pb.gz", "heap.pb.gz"], folder).stdout, "diff")
    run([PGOKIT, "report", "-q", "heap.pb.gz", "-o", "page.html"], folder)
    run([PGOKIT, "merge", "-q", "heap.pb.gz", "heap.pb.gz", "--partial", "-o", "twice"], folder)
    once, twice = (shown(folder, p)["totals"]["AllocCount"] for p in ("heap.pb.gz", "twice"))
    require(twice == 2 * once, f"{once}, {twice}")


def advice_of_go(folder):
    """A program of Go cannot be linked with libraries of C, and has profiles of its own."""
    go(folder, "build", "-o", "app", os.path.join(GOLDEN, "pprof_heap.go"))
    for kind, words in (("heap", "heap profile with runtime/pprof"),
                        ("branches", "go build -pgo=FILE")):
        said = run([PGOKIT, "record", kind, "-o", "out", "--", "./app", "heap.pb.gz"], folder,
                   status=126).stderr
        require("built by Go" in said and words in said and "link it" not in said, said)


def main():
    cases = Cases()
    cases.run("objects of Go are those of the program", counts_are_the_programs)
    cases.run("values of all allocations are those of go tool pprof", as_pprof_says, "all")
    cases.run("values of samples are those of go tool pprof", as_pprof_says)
    cases.run("it is told that there are only samples", sampling_is_told)
    cases.run("addresses get the names that gperftools' own file gets", addresses)
    cases.run("what pgokit writes it reads again", round_trip)
    cases.run("record says what to do with a program of Go", advice_of_go)
    cases.run("profiles are compared, shown and merged", views)
    cases.finish()


main()
