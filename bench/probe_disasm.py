"""Annotated disassembly of a 75 MB C++ program with a million pseudo probes: llvm-profgen 22
and 23 against pgokit, which print the same bytes. Decoding alone is measured by probe_decode.
"""

import os
import subprocess

import peer_tools

# The largest function of the command line's half, 20 KB.
FUNCTION = "_ZN13CmdLineParser13parseFromArgsEiPKPKc"
FIVE_TIMES = {"cpu": 1 / 5, "peak": 1}


def cases(bench):
    """Yields (name, peer's command, our command, required ratios, labels)."""
    subprocess.run([os.path.join(bench.here, "workloads"), bench.data, "probes"], check=True)
    binary = os.path.join(bench.data, "cppcheck.probe")
    for label, peer in peer_tools.releases("llvm-profgen"):
        yield from listings(bench, binary, peer, (label, "pgokit"))
    decode = os.path.join(os.path.dirname(os.path.dirname(bench.pgokit)), "bench", "probe_decode")
    if os.path.exists(decode):
        print()
        subprocess.run([decode, binary, "20"], check=True)


def listings(bench, binary, peer, labels):
    theirs = [peer, "--show-disassembly-only", f"--binary={binary}", "-o", os.devnull]
    ours = [bench.pgokit, "disasm", binary, "--format", "llvm"]
    yield ("disassembly", theirs, ours, FIVE_TIMES, labels)
    yield ("with probes", [*theirs, "--show-pseudo-probe"], [*ours, "--probes"], FIVE_TIMES,
           labels)
    yield ("with probes and source locations",
           [*theirs, "--show-pseudo-probe", "--show-source-locations"],
           [*ours, "--probes", "--source"], FIVE_TIMES, labels)
    yield ("one function with probes",
           [*theirs, "--show-pseudo-probe", f"--disassemble-functions={FUNCTION}"],
           [bench.pgokit, "disasm", binary, "--probes", "-f", FUNCTION], {"cpu": 0.05 / 1.5},
           labels)
