"""Hundreds of raw heap profiles: pgokit against llvm-profdata-22 without and with a warm cache,
against itself with five times as many files and with more threads; sizes of the files.

Only with --full, for the first run makes a hundred profiles. The five hundred are these a hundred,
each under five names: as much to read and to merge, and contexts that are all known after the
first fifth, as in a fleet that runs one program.
"""

import os
import shlex
import shutil
import statistics
import subprocess

from heap_merge import contexts, profile_list

# Contexts of the 500 runs of clang in the proposal of the format: smallest, median, largest.
PROPOSAL = (940, 10661, 35355)

OURS = ("pgokit, one", "pgokit, other")


def human(size):
    return f"{size / (1 << 20):,.1f} MiB"


def print_sizes(bench, raws, binary):
    """The table of the format's proposal for this set of profiles."""
    counts, sizes = [contexts(p) for p in raws], [os.path.getsize(p) for p in raws]
    packed = []
    for path in raws:
        out = bench.out("packed.zst")
        subprocess.run(["zstd", "-qf", path, "-o", out], check=True)
        packed.append(os.path.getsize(out))
    indexed = []
    for path in (raws[counts.index(c)] for c in
                 (min(counts), statistics.median_low(counts), max(counts))):
        out = bench.out("one.profdata")
        subprocess.run([bench.pgokit, "merge", "-q", path, "-b", binary, "-o", out], check=True)
        indexed.append(os.path.getsize(out))
    print(f"\nsizes of {len(raws)} raw profiles of cppcheck ({human(os.path.getsize(binary))})")
    print(f"  {'':<22}{'min':>14}{'median':>14}{'max':>14}{'all':>14}")

    def row(name, values, show):
        cells = [min(values), statistics.median_low(values), max(values), sum(values)]
        print(f"  {name:<22}" + "".join(f"{show(c):>14}" for c in cells))

    row("contexts", counts, lambda n: f"{n:,}")
    print(f"  {'in the proposal':<22}" + "".join(f"{n:>14,}" for n in PROPOSAL) +
          f"{'500 runs':>14}")
    row("raw", sizes, human)
    row("raw, zstd", packed, human)
    print(f"  {'indexed, of those':<22}" + "".join(f"{human(s):>14}" for s in indexed))
    outs = {"indexed, of all": [], "partial, of all": ["--partial"],
            "partial, zstd": ["--partial"]}
    for name, options in outs.items():
        out = bench.out("all" + (".zst" if "zstd" in name else ""))
        subprocess.run([bench.pgokit, "merge", "-q", *raws, *options, "-b", binary, "-o", out],
                       check=True)
        print(f"  {name:<22}{'':>42}{human(os.path.getsize(out)):>14}")
        if name == "indexed, of all":
            limit = 1.5 * (os.path.getsize(out) + max(sizes))
    print(f"  a merge may take 1.5 x (output + largest input) = {human(limit)} of memory")


def cases(bench):
    if not bench.full:
        return
    subprocess.run([os.path.join(bench.here, "workloads"), bench.data, "100"], check=True)
    peer, binary = shutil.which("llvm-profdata-22"), os.path.join(bench.data, "cppcheck.memprof")
    raws = profile_list(bench.data, "hundred.txt")
    print_sizes(bench, raws, binary)

    def merge(files, *options):
        return [bench.pgokit, "merge", "-q", *files, "-b", binary, "-o", bench.out("ours"),
                *(options or ["--no-cache"])]

    # The first turn, which does not count, fills the cache.
    yield (f"merge {len(raws)} profiles, {sum(map(contexts, raws))} contexts",
           [peer, "merge", *raws, f"--profiled-binary={binary}", "-o", bench.out("peer")],
           {"without a cache": merge(raws),
            "with a warm cache": ["env", f"XDG_CACHE_HOME={bench.scratch}",
                                  *merge(raws, f"-j{os.cpu_count()}")]},
           {"cpu": 1 / 20, "peak": 1 / 3})
    many = []
    for i in range(5):
        for path in raws:
            many.append(bench.out(f"{i}-{os.path.basename(path)}"))
            os.symlink(path, many[-1])
    yield (f"merge {len(raws)} profiles, and each of them five times", merge(raws), merge(many),
           {"cpu": 5}, OURS)
    # What the machine itself gives: two processors may share a core, caches and memory.
    alone = shlex.join(merge(raws, "-j1", "--no-cache"))
    beside = shlex.join([*merge(raws, "-j1", "--no-cache"), "-o", bench.out("beside")])
    yield (f"merge {len(raws)} profiles, and two such merges side by side",
           ["sh", "-c", alone], ["sh", "-c", f"{beside} & {alone}; wait"], {},
           ("one merge", "two at once"))
    # What is not done in parallel, opening and writing, is as much for one as for the other.
    for files, required in ((raws, {}), (many, {"wall": 1 / 1.6})):
        yield (f"merge {len(files)} profiles with 1 thread and with 2",
               merge(files, "-j1", "--no-cache"), merge(files, "-j2", "--no-cache"), required, OURS)
    largest = max(raws, key=contexts)
    yield (f"show 1 profile, {contexts(largest)} contexts",
           [peer, "show", "--memory", largest, f"--profiled-binary={binary}"],
           [bench.pgokit, "show", largest, "-b", binary, "--no-cache"], {"cpu": 1 / 20})
