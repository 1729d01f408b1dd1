"""What counting accesses costs: clang's own pass against the plugin, with the same runtime, which
does nothing.

Real programs from Debian's sources: plain; with -fmemory-profile; with the plugin, each access
counted where it is; and with counts merged. What a variant adds is its CPU time above plain in the
same turn. How many accesses were counted and how many updates were executed is counted by programs
of their own. With --full, valgrind counts instructions: those added per access, and per update.
"""

import os
import re
import shutil
import statistics
import subprocess
import tempfile

import measure
from runtime import overhead, programs

REQUIRED = 0.5  # of what -fmemory-profile adds, geometric mean
VARIANTS = ("plain", "llvm", "each", "merged")
EACH, TALLY = "-pgokit-heap-coalesce=0", "-pgokit-heap-tally"


def plugin_flags(bench, *options):
    told = subprocess.run([bench.pgokit, "config", "--cflags", "heap", "--cc", programs.CC],
                          check=True, capture_output=True, text=True)
    if "by the plugin" not in told.stderr:
        raise SystemExit(f"bench: {told.stderr.strip()}")
    return [*told.stdout.split(), *[word for option in options for word in ("-mllvm", option)]]


def build(bench, name):
    """Paths by variant; those that tally are beside them, as tally-each and tally-merged."""
    flags = {"plain": [], "llvm": programs.COUNT, "each": plugin_flags(bench, EACH),
             "merged": plugin_flags(bench), "tally-each": plugin_flags(bench, TALLY, EACH),
             "tally-merged": plugin_flags(bench, TALLY)}
    return programs.build_counting(bench, name, flags)


def tally(bench, scratch, name, path):
    """Updates executed and accesses counted."""
    result = os.path.join(scratch, "tally")
    os.environ["PGOKIT_BENCH_TALLY"] = result
    command = overhead.WORKLOADS[name](bench, scratch, path)
    if callable(command):
        command()
    else:
        measure.once(command)
    del os.environ["PGOKIT_BENCH_TALLY"]
    with open(result, encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def instructions(bench, scratch, name, path):
    command = overhead.WORKLOADS[name](bench, scratch, path)
    told = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=True).stderr
    return int(re.search(r"refs:\s+([\d,]+)", told)[1].replace(",", ""))


def print_instructions(bench, scratch, name, paths, accesses, updates):
    """Of programs that are one process."""
    if name in ("redis", "tcc") or not shutil.which("valgrind"):
        return
    counted = {variant: instructions(bench, scratch, name, paths[variant])
               for variant in VARIANTS}
    added = {variant: counted[variant] - counted["plain"] for variant in VARIANTS[1:]}
    print(f"{'':<9}instructions added per access: "
          + ", ".join(f"{variant} {added[variant] / accesses:.2f}" for variant in added)
          + f"; merged, per update {added['merged'] / updates:.2f}", flush=True)


def print_row(name, costs, accesses, updates):
    plain = costs["plain"]
    ours, llvm = ([one - two for one, two in zip(costs[variant].turns_cpu_s, plain.turns_cpu_s)]
                  for variant in ("merged", "llvm"))
    shares = [one / two for one, two in zip(ours, llvm) if two > 0]
    share = statistics.median(shares) if shares else 1.0
    print(f"{name:<9}{plain.cpu_s:>7.2f}"
          + "".join(f"{costs[variant].cpu_s:>8.2f} ({costs[variant].cpu_s / plain.cpu_s:4.2f})"
                    for variant in VARIANTS[1:])
          + f"{share:>8.2f}{accesses / 1e6:>10.0f}{updates / accesses:>9.2f}", flush=True)
    return share


def run(bench, runs):
    """Prints all; returns (case, tool, cost) for each thing measured."""
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, *programs.PACKAGES],
                   check=True)
    names = [name for name in overhead.WORKLOADS if not bench.only or name in bench.only]
    rows, shares = [], []
    print("\nCPU time in s, medians, times plain in brackets; what merged adds, as a share of what "
          "-fmemory-profile\nadds in the same turn; accesses in millions, updates executed per "
          "access\n"
          f"{'':<9}{'plain':>7}{'llvm':>15}{'each':>15}{'merged':>15}{'share':>8}"
          f"{'accesses':>10}{'updates':>9}")
    with tempfile.TemporaryDirectory(prefix="pgokit-bench-") as scratch:
        for name in names:
            paths = build(bench, name)
            costs = dict(zip(VARIANTS, measure.in_turn(
                [overhead.WORKLOADS[name](bench, scratch, paths[variant])
                 for variant in VARIANTS], runs)))
            accesses = tally(bench, scratch, name, paths["tally-each"])[1]
            updates = tally(bench, scratch, name, paths["tally-merged"])[0]
            shares.append(max(print_row(name, costs, accesses, updates), 0.01))
            if bench.full:
                print_instructions(bench, scratch, name, paths, accesses, updates)
            rows += [(name, variant, costs[variant]) for variant in VARIANTS]
    if len(shares) > 1:
        mean = overhead.geometric_mean(shares)
        print(f"geometric mean of the share: {mean:.2f}, required {REQUIRED}: "
              + ("pass" if mean <= REQUIRED else "MISS"))
    return rows
