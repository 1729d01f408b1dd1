#!/usr/bin/env python3
"""What pgokit says of real programs' heaps, beside what heaptrack and valgrind say of them.

usage: heap_peers.py PGOKIT

Prints TAP, with the figures of each tool. docs/design/runtime.md, "Over time", has them as a table,
and what the differences are.
"""

import itertools
import json
import os
import re
import sys

import raw_profile
from harness import Cases, Skip, require, run, tool

PGOKIT = os.path.abspath(sys.argv[1])
UNITS = {"B": 1, "K": 1e3, "M": 1e6, "G": 1e9}
POOL = 72704  # of libstdc++, which heaptrack brings into the program and counts
PEAK = 0.01  # a new peak is that much higher than the one before
VARIABLES = 24  # objects of those that a tool adds to the environment, about
ROUNDED = 0.006  # heaptrack's figures, to two places
SQL = """create table t(a int, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<20000)
insert into t select x, hex(x) from c;
create index i on t(b);
select count(*), max(b) from t where b > 3 order by a desc;
"""
SOURCE = """int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 0; i < argc; i++)
        for (const char *p = argv[i]; *p; p++)
            n = n * 31 + *p;
    return n == 0;
}
"""
AWK = "{n[$1 % 977] = n[$1 % 977] $2} END {for (k in n) s += length(n[k]); print s}"
PERL = "my %h; $h{$_ % 997} .= $_ for 1..40000; my @a = map { {k => $_, v => [1..5]} } 1..2000"


def fill(folder):
    with open(os.path.join(folder, "text"), "w", encoding="ascii") as file:
        file.writelines(f"{i} word line text\n" for i in range(20000))
    with open(os.path.join(folder, "in.c"), "w", encoding="ascii") as file:
        file.write(SOURCE)


def history(folder):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    run([*git, "init", "-q", "."], folder)
    for i in range(40):
        with open(os.path.join(folder, "file"), "w", encoding="ascii") as file:
            file.writelines(f"{n}\n" for n in range(i, 300))
        run([*git, "add", "file"], folder)
        run([*git, "commit", "-qm", str(i)], folder)


def cc1(folder):
    compiler = run([tool("gcc"), "-print-prog-name=cc1"], folder).stdout.strip()
    with open(os.path.join(folder, "out.s"), "w", encoding="ascii"):
        pass  # it takes a few bytes more where it replaces a file, as in the second tool
    return [tool(compiler), "-quiet", "-O2", "in.c", "-o", "out.s"]


# How far allocations, their bytes and what is left may be from valgrind's. What keeps the
# environment holds a little more or less with each tool, and cc1 has tables of its pages.
PROGRAMS = {
    "sqlite3": (lambda folder: [tool("sqlite3"), ":memory:", SQL], 0),
    # Two files, for which xz does not confine itself; newer ones also keep their environment.
    "xz": (lambda folder: [tool("xz"), "-3", "-k", "-f", "text", "text"], 1e-6),
    "awk": (lambda folder: [tool("awk"), AWK, "text"], 0.005),
    "perl": (lambda folder: [tool("perl"), "-e", PERL], 0.01),
    "git": (lambda folder: history(folder) or [tool("git"), "--no-pager", "log", "--stat", "-p"],
            0.005),
    "cc1": (cc1, 0.1),
}


# Their pointers are in memory that they map themselves, where valgrind looks, too.
MAPS = {"cc1"}


def of_pgokit(folder, argv):
    run([PGOKIT, "record", "heap", "-q", "--leak-check", "-o", "own.profraw", "--", *argv], folder,
        {"PWD": folder})
    path, = raw_profile.files(folder)
    found = json.loads(run([PGOKIT, "show", "-q", "--json", path], folder).stdout)
    totals = found["totals"]
    return {"peak": found["over_time"]["peak_bytes"], "left": totals["ExitSize"],
            "left objects": totals["ExitCount"], "allocations": totals["AllocCount"],
            "bytes": totals["TotalSize"], "unreachable": totals["UnreachableSize"],
            "unreachable objects": totals["UnreachableCount"]}


def numbers(pattern, text):
    found = re.search(pattern, text)
    require(found, f"nothing like {pattern} in:\n{text}")
    return [int(n.replace(",", "")) for n in found.groups()]


def of_valgrind(folder, argv):
    """The peak of massif, the rest of memcheck. Neither frees what the C library still has."""
    own = [tool("valgrind"), "--run-libc-freeres=no", "--run-cxx-freeres=no"]
    run([*own, "--tool=massif", "--peak-inaccuracy=0", "--massif-out-file=massif", *argv], folder,
        {"PWD": folder})
    with open(os.path.join(folder, "massif"), encoding="utf-8") as file:
        peak = max(map(int, re.findall(r"^mem_heap_B=(\d+)$", file.read(), re.M)))
    said = run([*own, "--leak-check=summary", *argv], folder, {"PWD": folder}).stderr
    left, objects = numbers(r"in use at exit: ([\d,]+) bytes in ([\d,]+) blocks", said)
    allocations, bytes_ = numbers(r"usage: ([\d,]+) allocs, .* ([\d,]+) bytes allocated", said)
    lost = [0, 0]
    if objects:
        for kind in "definitely", "indirectly":
            more = numbers(rf"{kind} lost: ([\d,]+) bytes in ([\d,]+) blocks", said)
            lost = [a + b for a, b in zip(lost, more)]
    return {"peak": peak, "left": left, "left objects": objects, "allocations": allocations,
            "bytes": bytes_, "unreachable": lost[0], "unreachable objects": lost[1]}


def of_heaptrack(folder, argv):
    reader = tool("heaptrack_print")
    run([tool("heaptrack"), "-o", "track", *argv], folder, {"PWD": folder})
    track, = [name for name in os.listdir(folder) if name.startswith("track")]
    said = run([reader, "--disable-builtin-suppressions", "--disable-embedded-suppressions", "-f",
                track], folder).stdout
    size = {what: re.search(rf"^{what}: ([\d.]+)([BKMG])", said, re.M)
            for what in ("peak heap memory consumption", "total memory leaked")}
    require(all(size.values()), said[-2000:])
    peak, left = (float(m.group(1)) * UNITS[m.group(2)] for m in size.values())
    return {"peak": round(peak), "left": round(left),
            "allocations": numbers(r"(?m)^calls to allocation functions: (\d+)", said)[0]}


# What cc1 makes more or less of with another layout of addresses: its garbage collector has a table
# of 2064 bytes for each 4 GiB that it has a page in, and one of 32,768 for each 16 MiB.
BY_ADDRESS = {"for 16 MiB": (32768, 8), "for 4 GiB": (2064, 4)}


def by_address(own, valgrind):
    """How often which of these are there more: what cc1 allocated with valgrind, and what was left,
    differs by nothing else."""
    ranges = (range(-most, most + 1) for _, most in BY_ADDRESS.values())
    counts = list(itertools.product(*ranges))
    notes = []
    for objects, bytes_ in (("allocations", "bytes"), ("left objects", "left")):
        more = own[objects] - valgrind[objects], own[bytes_] - valgrind[bytes_]
        found = [count for count in counts if more == (
            sum(count), sum(n * size for n, (size, _) in zip(count, BY_ADDRESS.values())))]
        require(found, f"{objects}: {more[0]} more, of {more[1]} bytes, are not tables of pages")
        notes.append(f"{objects}: {more[0]} more are " + ", ".join(
            f"{n} {what}" for what, n in zip(BY_ADDRESS, found[0])))
    return notes


def near(a, b, share):
    return abs(a - b) <= share * max(a, b) + (VARIABLES if share else 0)


def compared(folder, name):
    fill(folder)
    make, share = PROGRAMS[name]
    argv = make(folder)
    own, valgrind = of_pgokit(folder, argv), of_valgrind(folder, argv)
    notes = [f"pgokit {own}", f"valgrind {valgrind}"]
    for what, n in valgrind.items():
        if name in MAPS and what.startswith("unreachable"):
            require(own[what] >= n, f"{what}: {own[what]}, less than valgrind's {n}")
            continue
        far = share if what != "peak" else max(share, PEAK)
        require(near(own[what], n, far), f"{what}: {own[what]}, of valgrind {n}")
    if name == "cc1":
        notes += by_address(own, valgrind)
    try:
        other = of_heaptrack(folder, argv)
    except Skip as reason:
        return [*notes, f"heaptrack: {reason}"]
    for what, n, more in (("peak", other["peak"] - POOL, PEAK), ("left", other["left"], 0),
                          ("allocations", other["allocations"] - 1, 0)):
        require(near(own[what], n, share + more + ROUNDED), f"{what}: {own[what]}, of heaptrack "
                f"{other[what]}")
    return [*notes, f"heaptrack {other}"]


def main():
    for name in os.environ.keys() - {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"}:
        del os.environ[name]  # some of the programs keep the environment on their heap
    # They get PWD, which valgrind's script sets: cc1 looks for the current directory without it.
    cases = Cases()
    for name in PROGRAMS:
        cases.run(name, compared, name)
    cases.finish()


main()
