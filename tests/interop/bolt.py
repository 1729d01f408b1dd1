#!/usr/bin/env python3
"""Counts of branches for BOLT: `pgokit gen --format bolt` says what perf2bolt says of the same
recording, line by line, and llvm-bolt makes the same program of both, byte for byte. Recordings are
of programs that ran step by step, and of walks through their code; some branches are marked as
mispredicted.

perf2bolt reads recordings through perf, which its root does not have: a script of this name prints
what perf 6.12 would print of the same samples.
"""

import collections
import os
import random
import re
import shutil
import sys

import sample_program
import sample_texts
from peers import AARCH64, PROGRAMS, good, main, need_aarch64, peer, read, require, run, tool, write

RELEASES = (19, 23)
LINK = ["-O2", "-g", "-Wl,--emit-relocs", "-Wl,--build-id"]
WALKS = [os.path.join(PROGRAMS, s) for s in ("walks.cpp", "walks_other.cpp")]
LAYOUT = ["-reorder-blocks=ext-tsp", "-reorder-functions=cdsort", "-split-functions"]

PERF = """#!/bin/sh
for last; do :; done
case "$*" in
*pid,brstack*) cat "$last.branches" ;;
*pid,ip,brstack*) cat "$last.ip_branches" ;;
*pid,event,ip*) cat "$last.instructions" ;;
*mmap-events*) cat "$last.mappings" ;;
*addr,ip*)
    echo "Samples for 'x' event do not have ADDR attribute set. Cannot print 'addr' field." >&2
    exit 1
    ;;
esac
"""



# ---- recordings ----

def mispredict(trace):
    """Marks one branch of ten in a text of branch stacks."""
    seed = random.Random(7)
    with open(trace, encoding="utf-8") as f:
        lines = [re.sub("/P/", lambda _: seed.choice("MPPPPPPPPP").join("//"), line)
                 for line in f]
    with open(trace, "w", encoding="utf-8") as f:
        f.writelines(lines)
    return trace


def as_perf(trace):
    """What perf prints of the samples of a text, beside a file that looks like its recording."""
    out = trace + ".data"
    files = {name: open(f"{out}.{name}", "w", encoding="utf-8")
             for name in ("branches", "ip_branches", "instructions", "mappings")}
    pid = None
    with open(trace, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if line.startswith("PERF_RECORD_MMAP2"):
                pid = words[1].split("/")[0]
                files["mappings"].write("prog 1 1.0: " + line)
            elif len(words) == 1:
                files["instructions"].write(f" {pid} cycles:u: {words[0]}\n")
            elif words:
                branches = " ".join(w + "/-" for w in words[1:])
                files["branches"].write(f" {pid} {branches}\n")
                files["ip_branches"].write(f" {pid} {words[0]} {branches}\n")
    for f in files.values():
        f.close()
    return write(out, b"PERFILE2")


def perf2bolt(folder, release, exe, recording, *options):
    """The fdata that it writes. (perf2bolt-19 takes itself for llvm-bolt unless told.)"""
    write(f"{folder}/perf", PERF.encode())
    os.chmod(f"{folder}/perf", 0o755)
    out = f"{recording}.{release}.fdata"
    good(peer(f"perf2bolt-{release}"), "--aggregate-only", "-p", recording, "-o", out, exe,
         *options, env={"PATH": folder + os.pathsep + os.environ["PATH"]})
    return out


def ours(work, exe, recording, form="bolt"):
    out = f"{recording}.{form}"
    good(work.pgokit, "gen", "-q", recording, "-b", exe, "--format", form, "-o", out)
    return out


# ---- programs ----

def walks(work, compiler, *flags):
    exe = os.path.join(work.temp("bolt"), "walks")
    good(compiler, *LINK, *flags, *WALKS, "-o", exe)
    return exe, ["20"]


def reader(work, *flags):
    """A larger program, of many local functions: see sample_program.py."""
    folder = sample_program.build(work, [*LINK, *flags])
    write(f"{folder}/in.txt", sample_texts.text(0, "nested").encode())
    return f"{folder}/program", [f"{folder}/in.txt"]


PROGRAMS_OF = {
    "clang": lambda work: walks(work, tool("clang++", 22)),
    "clang at fixed addresses": lambda work: walks(work, tool("clang++", 22), "-no-pie"),
    "gcc, with cold parts": lambda work: walks(work, tool("g++")),
    "gcc at fixed addresses": lambda work: walks(work, tool("g++"), "-no-pie"),
    "many local functions": reader,
}


def record(work, exe, arguments):
    good(work.recorder, "-e", "211", "-n", "1500", exe + ".trace", exe, *arguments)
    return mispredict(exe + ".trace")


def walk(work, exe):
    good(work.walker, "-n", "1500", exe, exe + ".walk")
    return mispredict(exe + ".walk")


# ---- cases ----

STUB = re.compile(r"1 (\S+@PLT|__BOLT_PSEUDO_\S*) [0-9a-f]+")


def without_stubs(path):
    """Lines of an fdata file: where control goes through stubs of the linker is unknown to ours."""
    counts = collections.Counter()
    for line in read(path).decode().splitlines():
        *key, wrong, count = STUB.sub("0 [unknown] 0", line).split(" ")
        if key[0] == "1" or key[3] == "1":
            counts["wrong", *key] += int(wrong)
            counts["count", *key] += int(count)
    return counts


def equal_counts(mine, theirs):
    one, other = without_stubs(mine), without_stubs(theirs)
    require(len(one) > 100, read(mine).decode())
    wrong = [f"{' '.join(k)}: {one[k]}, of perf2bolt {other[k]}" for k in {*one, *other}
             if one[k] != other[k]]
    require(not wrong, "\n".join(sorted(wrong)[:20]))


def optimised(release, exe, fdata):
    """Names of files are in the program, so both are given under the same ones."""
    folder = os.path.dirname(exe)
    shutil.copy(fdata, f"{folder}/counts.fdata")
    text = good(peer(f"llvm-bolt-{release}"), exe, f"-data={folder}/counts.fdata", "-o",
                f"{folder}/bolted", *LAYOUT)
    require("have non-empty execution profile" in text, text)
    return read(f"{folder}/bolted"), f"{folder}/bolted"


def same_program(work, name, release):
    exe, arguments = PROGRAMS_OF[name](work)
    peer(f"perf2bolt-{release}")
    traces = [record(work, exe, arguments)]
    if "at fixed addresses" not in name: # to which walks do not keep
        traces.append(walk(work, exe))
    for trace in traces:
        mine = ours(work, exe, trace)
        theirs = perf2bolt(os.path.dirname(exe), release, exe, as_perf(trace))
        equal_counts(mine, theirs)
        made, path = optimised(release, exe, mine)
        require(made == optimised(release, exe, theirs)[0], "llvm-bolt makes another program")
        require(good(path, *arguments) == good(exe, *arguments), "it computes something else")
    return "the same counts, and the same bytes of llvm-bolt"


def for_aarch64(work, release):
    """A walk through a program of AArch64. perf2bolt 19 counts no branch stacks there."""
    need_aarch64()
    exe, _ = walks(work, tool("clang++", 22), AARCH64, "-fuse-ld=lld")
    trace = walk(work, exe)
    mine = ours(work, exe, trace)
    made, _ = optimised(release, exe, mine)
    require(made[18:20] == b"\xb7\0", "no program of AArch64")
    if release < 23:
        return "llvm-bolt takes the counts"
    theirs = perf2bolt(os.path.dirname(exe), release, exe, as_perf(trace))
    equal_counts(mine, theirs)
    require(made == optimised(release, exe, theirs)[0], "llvm-bolt makes another program")
    return "the same counts, and the same bytes of llvm-bolt"


def by_address(work, name, release):
    """perf2bolt makes the same of our counts by address as of the recording."""
    exe, arguments = PROGRAMS_OF[name](work)
    trace = record(work, exe, arguments)
    pre = ours(work, exe, trace, "preaggregated")
    made = perf2bolt(os.path.dirname(exe), release, exe, pre, "-pa")
    direct = perf2bolt(os.path.dirname(exe), release, exe, as_perf(trace))
    require(sorted(read(made).splitlines()) == sorted(read(direct).splitlines()), "other counts")


def as_perf_data(work, release):
    """The same walk as perf.data."""
    exe, _ = walks(work, tool("clang++", 22))
    good(work.walker, "-n", "1500", exe, exe + ".walk")
    good(work.walker, "-d", "-n", "1500", exe, exe + ".perf.data")
    text, data = ours(work, exe, exe + ".walk"), ours(work, exe, exe + ".perf.data")
    require(read(text) == read(data), "perf.data and text differ")
    theirs = perf2bolt(os.path.dirname(exe), release, exe, as_perf(exe + ".walk"))
    equal_counts(data, theirs)


def instructions_alone(work, release):
    """Without branch stacks: samples by function, and llvm-bolt estimates the rest."""
    exe, arguments = walks(work, tool("clang++", 22))
    trace, texts = record(work, exe, arguments), {"text": "", "perf": ""}
    with open(trace, encoding="utf-8") as f:
        for line in f:
            sample = line.startswith(" ") and line.split()[0]
            texts["text"] += f"prog 1 1.0: 1 cycles:u: {sample}\n" if sample else line
            texts["perf"] += f"{sample}\n" if sample else line
    pid = re.search(r"MMAP2 (\d+)/", texts["text"]).group(1)
    texts["text"] = texts["text"].replace("prog 1 1.0", f"prog {pid} 1.0")
    paths = {k: write(f"{exe}.{k}", t.encode()) for k, t in texts.items()}
    mine = ours(work, exe, paths["text"])
    theirs = perf2bolt(os.path.dirname(exe), release, exe, as_perf(paths["perf"]), "-nl")

    def lines(path):
        return sorted(line for line in read(path).decode().splitlines() if not STUB.search(line))
    require(read(mine).startswith(b"no_lbr cycles:u") and len(lines(mine)) > 30,
            read(mine).decode())
    require([x.rstrip(":") for x in lines(mine)] == [x.rstrip(":") for x in lines(theirs)],
            "other samples")
    require(optimised(release, exe, mine)[0] == optimised(release, exe, theirs)[0],
            "llvm-bolt makes another program")


def several(work, release):
    """A program and its library in one pass, a file for each."""
    folder = work.temp("several")
    clang = tool("clang", 22)
    library, exe, unused = f"{folder}/library.so", f"{folder}/program", f"{folder}/unused"
    good(clang, *LINK, "-shared", "-fPIC", os.path.join(PROGRAMS, "bolt_library.c"), "-o", library)
    good(clang, *LINK, os.path.join(PROGRAMS, "bolt.c"), library, "-o", exe, f"-Wl,-rpath,{folder}")
    shutil.copy(exe, unused)
    trace = record(work, exe, [])
    files = ["-b", exe, "-b", library]
    alone = run(work.pgokit, "gen", "-q", trace, *files, "--format", "bolt", "-o", f"{folder}/x")
    require(alone.code == 2 and "-o DIR/" in alone.errors, str(alone))
    good(work.pgokit, "gen", "-q", trace, *files, "--format", "bolt", "-o", f"{folder}/counts/")
    require(sorted(os.listdir(f"{folder}/counts")) == ["library.so.fdata", "program.fdata"],
            str(os.listdir(f"{folder}/counts")))
    recording = as_perf(trace)
    for path in (exe, library):
        mine = f"{folder}/counts/{os.path.basename(path)}.fdata"
        require(read(mine) == read(ours(work, path, trace)), "another file than alone")
        theirs = perf2bolt(folder, release, path, recording)
        require(without_stubs(mine) == without_stubs(theirs), read(mine).decode())
        require(optimised(release, path, mine)[0] == optimised(release, path, theirs)[0],
                "llvm-bolt makes another program")


def add_cases(work, tap):
    work.walker = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(work.pgokit))),
                               "bench", "branch_walk")
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    for release in RELEASES:
        for name in PROGRAMS_OF:
            tap.add(f"llvm-bolt {release}, {name}", same_program, work, name, release)
            tap.add(f"perf2bolt {release}, by address, {name}", by_address, work, name, release)
        tap.add(f"llvm-bolt {release}, AArch64", for_aarch64, work, release)
        tap.add(f"perf2bolt {release}, perf.data", as_perf_data, work, release)
        tap.add(f"llvm-bolt {release}, instructions alone", instructions_alone, work, release)
        tap.add(f"llvm-bolt {release}, several in one pass", several, work, release)


if __name__ == "__main__":
    sys.exit(main(add_cases))
