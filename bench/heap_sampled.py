"""What sampled heap profiles cost: processor time and peak memory of ten programs from Debian's
sources, plain, with the sampler loaded but switched off, at the default budget of 1 %, and beside
it `pgokit record heap` of all objects and heaptrack, where that is installed. Then a pair of malloc
and free of 48 bytes, by threads.

What is added is the median over the turns of the time of the recorded run divided by that of the
plain one in the same turn, with its quartiles.
"""

import math
import os
import shlex
import shutil
import statistics
import subprocess
import tempfile

import measure
from branches_cost import added
from runtime import overhead, programs

MOST_MEAN, MOST_EACH = 0.02, 0.03
MOST_MEMORY, MOST_MIB = 1.03, 8
PAIR_NS = {"off": 2, "sampled": 5}
LEAST_TURNS = 7
PAIRS = 4_000_000


def variants(bench, folder):
    """Words before a program, by what records."""
    sampler = os.path.join(bench.build, "sampler", "libpgokit_sampled_heap.so")
    runtime = os.path.join(bench.build, "runtime", "libpgokit_heap.so")

    def sampled(options):
        return ["env", f"LD_PRELOAD={sampler}",
                f"PGOKIT_SAMPLED_HEAP_OPTIONS=out={folder}/sampled:{options}"]

    found = {"plain": ["env"], "off": sampled("enabled=0"), "sampled": sampled("dump_every=10"),
             "all objects": ["env", f"LD_PRELOAD={runtime}",
                             f"PGOKIT_HEAP_OPTIONS=out={folder}/all"]}
    if shutil.which("heaptrack"):
        found["heaptrack"] = ["heaptrack", "-o", f"{folder}/heaptrack"]
    return found


def wrapped(folder, what, words, path):
    """A program that runs another one after these words."""
    wrapper = os.path.join(folder, f"{os.path.basename(path)} {what}".replace(" ", "-"))
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec {shlex.join([*words, path])} \"$@\"\n")
    os.chmod(wrapper, 0o755)
    return wrapper


def report(name, costs):
    plain = costs["plain"]
    print(f"  {name}: {plain.cpu_s:.3f} s, {plain.peak_mib:.1f} MiB")
    for what, cost in costs.items():
        low, middle, high = added(plain, cost)
        more = cost.peak_mib - plain.peak_mib
        text = (f"    {what:<12}{100 * middle:>+8.2f} % ({100 * low:+.2f} {100 * high:+.2f})"
                f"{more:>+8.1f} MiB")
        if what == "sampled":
            most_mib = plain.peak_mib * (MOST_MEMORY - 1) + MOST_MIB
            good = low <= MOST_EACH and more <= most_mib
            text += (f"  required {100 * MOST_EACH:.0f} % and {most_mib:.1f} MiB: "
                     + ("pass" if good else "MISS"))
        print(text, flush=True)


def run_pairs(path, known, folder, runs):
    print("\na pair of malloc and free: CPU time in ns, by threads\n"
          + f"{'':<12}" + "".join(f"{threads:>9}" for threads in overhead.THREADS))
    plain = []
    for what in ("plain", "off", "sampled", "all objects"):
        command = wrapped(folder, what, known[what], path)
        medians = [statistics.median(
            float(subprocess.run([command, str(threads), str(PAIRS // threads)], check=True,
                                 capture_output=True, text=True).stdout) for _ in range(runs))
            for threads in overhead.THREADS]
        plain = plain or medians
        more = max(ns - before for ns, before in zip(medians, plain))
        print(f"{what:<12}" + "".join(f"{ns:>9.1f}" for ns in medians)
              + (f"  adds {more:.1f}, required {PAIR_NS[what]}: "
                 + ("pass" if more <= PAIR_NS[what] else "MISS") if what in PAIR_NS else ""),
              flush=True)


def run(bench, runs):
    """Yields (program, what records, Cost)."""
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, *programs.PACKAGES],
                   check=True)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    ratios = []
    with tempfile.TemporaryDirectory(prefix="pgokit-bench-", dir=memory) as folder:
        known = variants(bench, folder)
        print("\nProcessor time and peak memory that heap profiles add: medians, and quartiles")
        for name, workload in overhead.WORKLOADS.items():
            if bench.only and name not in bench.only:
                continue
            path = programs.build(bench, name)["plain"]
            commands = [workload(bench, folder, wrapped(folder, what, words, path))
                        for what, words in known.items()]
            costs = dict(zip(known, measure.in_turn(commands, max(runs, LEAST_TURNS))))
            report(name, costs)
            ratios.append(1 + added(costs["plain"], costs["sampled"])[1])
            yield from ((name, what, cost) for what, cost in costs.items())
        if len(ratios) > 1:
            mean = math.exp(statistics.fmean(map(math.log, ratios))) - 1
            print(f"geometric mean: {100 * mean:+.2f} %, required {100 * MOST_MEAN:.0f} %: "
                  + ("pass" if mean <= MOST_MEAN else "MISS"))
        if not bench.only or "malloc_pairs" in bench.only:
            run_pairs(programs.build(bench, "malloc_pairs")["plain"], known, folder, runs)
