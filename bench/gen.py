"""Sample profiles of recordings: llvm-profgen 22 and 23 against pgokit, on a 75 MB C++ program
with a million pseudo probes and walks through its code. --full adds a million samples (1.3 GB of
text).
"""

import os
import subprocess

import peer_tools

EIGHT_TIMES = {"cpu": 1 / 8}
TEN_TIMES = {"cpu": 1 / 10}
MANY = {"cpu": 1 / 10, "peak": 1 / 3}
BY_LINES = ["--use-dwarf-correlation"]


def tool_of(bench, name):
    return os.path.join(os.path.dirname(os.path.dirname(bench.pgokit)), "bench", name)


def walk(bench, binary, samples, *options):
    """A recording, made once."""
    name = os.path.basename(binary)
    path = os.path.join(bench.data, f"walk-{name}{''.join(options)}-{samples}")
    if not os.path.exists(path):
        subprocess.run([tool_of(bench, "branch_walk"), *options, "-n", str(samples), binary,
                        path + ".new"], check=True)
        os.rename(path + ".new", path)
    return path


def cases(bench):
    """Yields (name, peer's command, our command, required ratios, labels)."""
    subprocess.run([os.path.join(bench.here, "workloads"), bench.data, "probes"], check=True)
    binary = os.path.join(bench.data, "cppcheck.probe")

    def case(peer, samples, chains, lines, required):
        label, path = peer
        recording = walk(bench, binary, samples, *(["-g"] if chains else []))
        mode = ("cs" if chains else "") + ("-autofdo" if chains and lines else "")
        mode = mode or ("autofdo" if lines else "probe")
        return (f"{samples:,} samples{' with call chains' if chains else ''}, by "
                f"{'lines' if lines else 'probes'}",
                [path, f"--perfscript={recording}", f"--binary={binary}",
                 "-o", bench.out("theirs.afdo"), *(BY_LINES if lines else [])],
                [bench.pgokit, "gen", "-q", recording, "-b", binary, "--mode", mode,
                 "-o", bench.out("ours.afdo")], required, (label, "pgokit"))

    for peer in peer_tools.releases("llvm-profgen"):
        for lines in (False, True):
            yield case(peer, 10000, False, lines, EIGHT_TIMES)
            yield case(peer, 10000, True, lines, TEN_TIMES)
        # Most is the profile, which is as large as LLVM's.
        yield case(peer, 100000, True, False, EIGHT_TIMES)
        if bench.full:
            yield case(peer, 1000000, False, False, MANY)
            yield case(peer, 1000000, False, True, MANY)
    print("\nreading alone; required: text 500 MB/s, perf.data 1000 MB/s")
    for options in ([], ["-g"], ["-d"], ["-g", "-d"]):
        subprocess.run([tool_of(bench, "perf_read"), walk(bench, binary, 100000, *options), "5"],
                       check=True)
