"""What counting accesses costs: clang's own pass against the plugin, with the same runtime, which
does nothing.

Real programs from Debian's sources: plain; with -fmemory-profile; with the plugin, each access
counted where it is; and with counts merged. What a variant adds is its CPU time above plain in the
same turn. How many accesses were counted and how many updates were executed is counted by programs
of their own. With --full, valgrind counts instructions: those added per access, and per update; and
the compiles are measured, and the code that they make.
"""

import os
import re
import shlex
import shutil
import statistics
import subprocess
import tempfile

import measure
from runtime import overhead, programs

REQUIRED = 0.5  # of what -fmemory-profile adds, geometric mean
REQUIRED_COMPILE = 1.1  # of a compile with -fmemory-profile, geometric mean
VARIANTS = ("plain", "llvm", "each", "merged")
EACH, TALLY = "-pgokit-heap-coalesce=0", "-pgokit-heap-tally"


def plugin_flags(bench, *options):
    told = subprocess.run([bench.pgokit, "config", "--cflags", "heap", "--cc", programs.CC],
                          check=True, capture_output=True, text=True)
    if "by the plugin" not in told.stderr:
        raise SystemExit(f"bench: {told.stderr.strip()}")
    return [*told.stdout.split(), *[word for option in options for word in ("-mllvm", option)]]


def flags_of(bench):
    return {"plain": [], "llvm": programs.COUNT, "each": plugin_flags(bench, EACH),
            "merged": plugin_flags(bench)}


def build(bench, name):
    """Paths by variant; those that tally are beside them, as tally-each and tally-merged."""
    return programs.build_counting(bench, name, {
        **flags_of(bench), "tally-each": plugin_flags(bench, TALLY, EACH),
        "tally-merged": plugin_flags(bench, TALLY)})


def compile_command(bench, scratch, name, more):
    """All sources of the program, one after the other."""
    program = programs.prepare(bench, name)[0]
    compiler = programs.CXX if program.cxx else programs.CC
    out = os.path.join(scratch, "compiled.o")
    return ["sh", "-ec", "export CCACHE_DISABLE=1\n" + "\n".join(
        shlex.join([compiler, *programs.FLAGS, *more, *program.flags, "-c", source, "-o", out])
        for source in program.sources)]


def code_bytes(path):
    told = subprocess.run(["size", "-A", path], check=True, capture_output=True, text=True).stdout
    return int(re.search(r"^\.text\s+(\d+)", told, re.M)[1])


def print_compile(bench, scratch, name, paths, runs):
    """What compiles cost, and their code; the time of merged as a share of llvm's."""
    commands = [compile_command(bench, scratch, name, more) for more in flags_of(bench).values()]
    costs = dict(zip(VARIANTS, measure.in_turn(commands, runs)))
    share = statistics.median(ours / llvm for ours, llvm in
                              zip(costs["merged"].turns_cpu_s, costs["llvm"].turns_cpu_s))
    code = {variant: code_bytes(paths[variant]) for variant in VARIANTS}
    print(f"{'':<9}CPU time of compiles: "
          + ", ".join(f"{variant} {costs[variant].cpu_s:.1f} s" for variant in VARIANTS)
          + f"; merged {share:.2f} times llvm\n"
          f"{'':<9}code: plain {code['plain'] / 1024:,.0f} KiB; times plain: "
          + ", ".join(f"{variant} {code[variant] / code['plain']:.2f}" for variant in VARIANTS[1:]),
          flush=True)
    return share


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
    rows, shares, compiles = [], [], []
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
                compiles.append(print_compile(bench, scratch, name, paths, runs))
            rows += [(name, variant, costs[variant]) for variant in VARIANTS]
    for what, found, required in (("share", shares, REQUIRED),
                                  ("compiles, times llvm", compiles, REQUIRED_COMPILE)):
        if len(found) > 1:
            mean = overhead.geometric_mean(found)
            print(f"geometric mean of the {what}: {mean:.2f}, required {required}: "
                  + ("pass" if mean <= required else "MISS"))
    return rows
