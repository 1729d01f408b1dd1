#!/usr/bin/env python3
"""Which samples `pgokit gen` takes, and what it says of the others: processes by number and name,
the kernel, and the report as text and JSON with an example of each kind.
"""

import json
import os
import sys

from gen_refuse import branches_of, profile
from gen_types import as_text, mappings
from peers import Skip, good, main, require, run, tool, write
from perf_writer import BRANCH, IP, TID, TIME, Event, Recording
from stepped import FRAMES, LINES, recorded

BASE = 0x555500000000


TYPES = (22, "-O2", "-g", LINES, FRAMES, "-fPIE", "-pie")


def build(work):
    exe, trace = recorded(work, *TYPES, sources=("types.cpp",), every=53, samples=300, chains=False)
    inside = [[(f + BASE, t + BASE) for f, t in pairs if 0 <= f < 1 << 20 and 0 <= t < 1 << 20]
              for pairs in branches_of(exe, trace)]
    return exe, [pairs for pairs in inside if pairs]


def map_program(r, exe, pid):
    for start, size, offset, executable in mappings(exe):
        r.mmap(pid, start, size, offset, exe, prot=5 if executable else 1)


def report(work, exe, path, *options):
    return json.loads(good(work.pgokit, "gen", path, "-b", exe, "-o", exe + ".afdo", "--json",
                           *options))


def by_name(work):
    """--comm takes the processes of a name, which a fork hands on and an exec changes."""
    exe, stacks = build(work)
    r = Recording(Event(IP | TID | TIME | BRANCH, name="branches:u"))
    r.comm(7, "server", by_exec=True)
    map_program(r, exe, 7)
    r.fork(8, 7)
    r.comm(9, "client", by_exec=True)
    map_program(r, exe, 9)
    for number, pairs in enumerate(stacks):
        pid = 7 + number % 3
        r.sample(pid=pid, tid=pid, ip=pairs[0][1], branches=pairs)
    r.write_file(exe + ".data")
    whole, n = report(work, exe, exe + ".data"), len(stacks)
    require(whole["samples"] == whole["used"] == n, str(whole))
    for name, used in (("server", (n + 2) // 3 + (n + 1) // 3), ("client", n // 3)):
        some = report(work, exe, exe + ".data", "--comm", name)
        require(some["used"] == used and some["other_process"] == n - used, str(some))
        require("of process" in some["examples"]["other_process"], str(some))
    both = report(work, exe, exe + ".data", "--comm", "server", "--pid", "8")
    require(both["used"] == (n + 1) // 3, str(both))
    none = run(work.pgokit, "gen", exe + ".data", "-b", exe, "--comm", "x", "-o", exe + ".none")
    require(none.code == 2 and f"{n} of other processes" in none.errors, str(none))
    require(not os.path.exists(exe + ".none"), "a file was left")


def of_the_kernel(work):
    """A program stands for a kernel, which lies where the machine put it at its start."""
    exe, stacks = build(work)
    text = next((start, size, offset) for start, size, offset, x in mappings(exe) if x)
    low = text[0] - BASE
    at = 0xFFFFFFFF9C000000
    lines = [f"PERF_RECORD_MMAP -1/0: [{at:#x}({text[1]:#x}) @ {at:#x}]: x "
             "[kernel.kallsyms]_text"]
    segment = good(tool("readelf"), "-lW", exe)
    vaddr = next(int(line.split()[2], 16) for line in segment.splitlines()
                 if "LOAD" in line and "R E" in line)
    require(vaddr & ~4095 == low, f"{vaddr:#x} {low:#x}")
    for pairs in stacks:
        moved = [(f - BASE - vaddr + at, t - BASE - vaddr + at) for f, t in pairs]
        lines.append(f" {moved[0][1]:x} " + "  ".join(f"{f:#x}/{t:#x}/P/-/-/0/" for f, t in moved))
    path = write(exe + ".kernel", "\n".join(lines).encode() + b"\n")
    r = Recording(Event(IP | TID | TIME | BRANCH, name="branches:u"))
    map_program(r, exe, 7)
    for pairs in stacks:
        r.sample(pid=7, tid=7, ip=pairs[0][1], branches=pairs)
    r.write_file(exe + ".data")
    require(profile(work, exe, path, options=["--kernel"]) == profile(work, exe, exe + ".data"),
            "another profile than that of a program")


def examples(work):
    """Each kind of sample that is left out is named once with -v, and in JSON."""
    exe, stacks = build(work)
    r = Recording(Event(IP | TID | TIME | BRANCH, name="branches:u"))
    map_program(r, exe, 7)
    r.mmap(7, 0x7F0000000000, 0x10000, 0, "/usr/lib/libelse.so")
    for pairs in stacks:
        r.sample(pid=7, tid=7, ip=pairs[0][1], branches=pairs)
    outside = 0x7F0000000123
    r.sample(pid=7, tid=7, ip=outside, branches=((outside, outside + 5),))
    a, b = stacks[0][0], stacks[0][-1]
    r.sample(pid=7, tid=7, ip=a[1], branches=(a, b))
    r.sample(pid=8, tid=8, ip=a[1], branches=stacks[0])
    r.sample(pid=7, tid=7, ip=0xFFFFFFFF81000000, mode=1)
    r.write_file(exe + ".data")
    seen = report(work, exe, exe + ".data", "--pid", "7")
    require(seen["outside"] == 1 and seen["other_process"] == 1 and seen["in_kernel"] == 1,
            str(seen))
    require("libelse.so" in seen["examples"]["outside"], str(seen))
    require("of process 8" in seen["examples"]["other_process"], str(seen))
    require(seen["used"] == seen["samples"] - 3, str(seen))
    loud = run(work.pgokit, "gen", exe + ".data", "-b", exe, "-o", os.devnull, "-v", "--pid", "7")
    quiet = run(work.pgokit, "gen", exe + ".data", "-b", exe, "-o", os.devnull, "--pid", "7")
    require("libelse.so" in loud.errors and "the first:" in loud.errors, str(loud))
    require("the first:" not in quiet.errors and "outside the binary" in quiet.errors, str(quiet))


def density(work):
    """As llvm-profgen tells it; below --min-density the report asks for more samples."""
    exe, _ = build(work)
    trace = exe + ".trace"
    ours = report(work, exe, trace)["density"]
    theirs = good(tool("llvm-profgen", 22), f"--perfscript={trace}", f"--binary={exe}",
                  "--show-density", "-o", exe + ".peer")
    require(f"density >= {ours:.1f} " in theirs, f"{ours}: {theirs}")
    for limit, asks in ((int(ours) * 2 + 2, True), (0, False)):
        said = run(work.pgokit, "gen", trace, "-b", exe, "-o", os.devnull, "--min-density",
                   str(limit)).errors
        require(("more samples would help" in said) == asks, said)


def compressed(work):
    """perf.data, text of perf script and of perf report -D, packed by gzip or zstd."""
    exe, stacks = build(work)
    dump = exe + ".dump"
    as_text(exe, dump)
    r = Recording(Event(IP | TID | TIME | BRANCH, name="branches:u"))
    map_program(r, exe, 77)
    for pairs in stacks:
        r.sample(ip=pairs[0][1], branches=pairs)
    r.write_file(exe + ".data")

    def with_types(*inputs):
        return profile(work, exe, *inputs, options=["--vtables"])

    plain = with_types(exe + ".data", dump)
    require("vtables" in plain, plain)
    text = with_types(exe + ".trace", dump)
    for pack, end in ((["gzip", "-k"], ".gz"), (["zstd", "-q"], ".zst")):
        good(tool(pack[0]), *pack[1:], exe + ".data", exe + ".trace", dump)
        require(with_types(exe + ".data" + end, dump + end) == plain, f"perf.data{end}")
        require(with_types(exe + ".trace" + end, dump + end) == text, f"text{end}")


def perf_check(work):
    """The first command that perf-check prints works here, and its recording makes a profile."""
    said = run(work.pgokit, "perf-check")
    require(said.code == 0 and "branch stacks" in said.text, str(said))
    line = next((x for x in said.text.splitlines() if "perf record" in x), None)
    if not line:
        raise Skip("perf may not record here")
    exe, _ = build(work)
    data = exe + ".data"
    options = line.split("perf record", 1)[1].split("--")[0].split()
    good(tool("perf"), "record", "-q", *options, "-o", data, "--", exe, "30000000")
    seen = report(work, exe, data)
    require(seen["used"] > 10 and seen["functions"], str(seen))


def add_cases(work, tap):
    for fn in (by_name, of_the_kernel, examples, density, compressed, perf_check):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
