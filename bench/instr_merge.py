"""Counters of a real program, cppcheck, built with -fprofile-generate: llvm-profdata 22 and
23 against pgokit.

llvm-profdata decompresses and hashes the names of all functions for each profile; pgokit once.
"""

import os
import subprocess

import peer_tools
from heap_merge import profile_list

# Our cost as a part of the peer's, at most.
REQUIRED = {1: {}, 10: {"peak": 1 / 3}, 100: {"cpu": 1 / 10, "peak": 1 / 3}}


def cases(bench):
    """Yields (name, peer's command, our command, required ratios, labels)."""
    subprocess.run([os.path.join(bench.here, "instr_workloads"), bench.data], check=True)
    hundred = profile_list(bench.data, "counts.txt")
    for label, peer in peer_tools.releases("llvm-profdata"):
        yield from merges(bench, hundred, label, peer)


def merges(bench, hundred, label, peer):
    """Each release reads raw counters of its own version alone: written by pgokit for 23."""
    release = label.rpartition("-")[2]
    to, labels = f"llvm{release}", (label, "pgokit")
    raws, indexed = [], []
    for i, raw in enumerate(hundred):
        raws.append(raw)
        if release != "22":
            raws[-1] = bench.out(f"{i}.profraw")
            subprocess.run([bench.pgokit, "convert", raw, "--to", "raw", "-o", raws[-1]],
                           check=True)
        indexed.append(bench.out(f"{i}.profdata"))
        subprocess.run([bench.pgokit, "merge", raw, "-o", indexed[-1], "--to", to], check=True)
    for count, required in REQUIRED.items():
        yield (f"merge {count} profile{'s' * (count > 1)} of counters",
               [peer, "merge", *raws[:count], "-o", bench.out("peer")],
               [bench.pgokit, "merge", *raws[:count], "-o", bench.out("ours"), "--to", to],
               required, labels)
    yield ("merge 100 indexed profiles", [peer, "merge", *indexed, "-o", bench.out("peer")],
           [bench.pgokit, "merge", *indexed, "-o", bench.out("ours"), "--to", to],
           {"peak": 1 / 3}, labels)
