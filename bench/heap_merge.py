"""Raw heap profiles of a real program, cppcheck: llvm-profdata 22 and 23 against pgokit.

llvm-profdata reads the debug information of the program once for each profile and keeps
the first profile only; pgokit reads it once and adds up all.
"""

import os
import struct
import subprocess

import peer_tools

# Our cost as a part of the peer's, at most.
ONE = {"cpu": 1 / 4, "peak": 1 / 2}
MANY = {"cpu": 1 / 10, "peak": 1 / 2}
LARGE = {"cpu": 1 / 10, "peak": 1 / 4}


def contexts(path):
    """The MIB counts of all dumps of a raw profile."""
    total, pos = 0, 0
    with open(path, "rb") as f:
        size = os.fstat(f.fileno()).st_size
        while pos < size:
            f.seek(pos)
            _, _, dump_size, _, mib_off, _ = struct.unpack("<6Q", f.read(48))
            f.seek(pos + mib_off)
            total += struct.unpack("<Q", f.read(8))[0]
            pos += dump_size
    return total


def profile_list(data, name):
    with open(os.path.join(data, name), encoding="utf-8") as f:
        return [os.path.join(data, line.strip()) for line in f]


def cases(bench):
    """Yields (name, peer's command, our command, required ratios, labels)."""
    wanted = 100 if bench.full else 10
    subprocess.run([os.path.join(bench.here, "workloads"), bench.data, str(wanted)], check=True)
    binary = os.path.join(bench.data, "cppcheck.memprof")
    ten = profile_list(bench.data, "ten.txt")
    # The one with the median number of contexts above the 5,000 that count as real.
    large = sorted((p for p in ten if contexts(p) >= 5000), key=contexts)
    one = large[len(large) // 2]
    sets = [(ONE, [one]), (MANY, ten), (LARGE, profile_list(bench.data, "large.txt"))]
    if bench.full:
        sets.append((MANY, profile_list(bench.data, "hundred.txt")))
    for label, peer in peer_tools.releases("llvm-profdata"):
        yield from merges(bench, sets, binary, label, peer)


def merges(bench, sets, binary, label, peer):
    to, labels, one = "llvm" + label.rpartition("-")[2], (label, "pgokit"), sets[0][1][0]
    for required, raws in sets:
        count = sum(map(contexts, raws))
        yield (f"merge {len(raws)} profile{'s' * (len(raws) > 1)}, {count} contexts",
               [peer, "merge", *raws, f"--profiled-binary={binary}", "-o", bench.out("peer")],
               [bench.pgokit, "merge", *raws, "-b", binary, "-o", bench.out("ours"), "--to",
                to, "--no-cache"],
               required, labels)
    yield (f"show 1 profile, {contexts(one)} contexts",
           [peer, "show", "--memory", one, f"--profiled-binary={binary}"],
           [bench.pgokit, "show", one, "-b", binary, "--no-cache"], {}, labels)
