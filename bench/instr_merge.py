"""Counters of a real program, cppcheck, built with -fprofile-generate: llvm-profdata-22 against
pgokit.

llvm-profdata decompresses and hashes the names of all functions for each profile; pgokit once.
"""

import os
import shutil
import subprocess

from heap_merge import profile_list

# Our cost as a part of the peer's, at most.
REQUIRED = {1: {}, 10: {"peak": 1 / 3}, 100: {"cpu": 1 / 10, "peak": 1 / 3}}


def cases(bench):
    """Yields (name, peer's command, our command, required ratios)."""
    peer = shutil.which("llvm-profdata-22")
    if not peer:
        raise SystemExit("bench: llvm-profdata-22 is missing; scripts/deps bench installs it")
    subprocess.run([os.path.join(bench.here, "instr_workloads"), bench.data], check=True)
    hundred = profile_list(bench.data, "counts.txt")
    for count in REQUIRED:
        raws = hundred[:count]
        yield (f"merge {count} profile{'s' * (count > 1)} of counters",
               [peer, "merge", *raws, "-o", bench.out("peer")],
               [bench.pgokit, "merge", *raws, "-o", bench.out("ours"), "--to", "llvm22"],
               REQUIRED[count])
    indexed = []
    for i, raw in enumerate(hundred):
        indexed.append(bench.out(f"{i}.profdata"))
        subprocess.run([bench.pgokit, "merge", raw, "-o", indexed[-1], "--to", "llvm22"],
                       check=True)
    yield ("merge 100 indexed profiles", [peer, "merge", *indexed, "-o", bench.out("peer")],
           [bench.pgokit, "merge", *indexed, "-o", bench.out("ours"), "--to", "llvm22"],
           {"peak": 1 / 3})
