"""What the samples of a continuous profiler are worth: as many as an hour at 20 a second gives, of
instructions alone, as a pprof file such as fleets collect, and the branches of windows of the same
training runs. Real programs from Debian's sources, as in branches_use.

  windows     `pgokit record branches`, some 1,000 windows of 512 branches
  samples     72,000 samples of `perf record -e cpu-clock:u`, written as pprof and read again

The samples are taken more densely, in as many runs as it takes, because an hour for each program
is long. Required: geometric mean of samples at least 60 % of that of windows.
"""

import os
import re
import subprocess

import branches_use
import measure
from branches_use import CLANG, PROGRAMS, Maker, gains, geometric

SAMPLES, RATE = 20 * 3600, "5000"
OF_WINDOWS = 0.60
SIX = ("lua", "jq", "leveldb", "duktape", "muparserx", "mawk")
LEAST_TURNS = 5
VARIANTS = ("windows", "samples")


def counted(bench, path, plain):
    told = subprocess.run([bench.pgokit, "gen", path, "-b", plain, "-o", os.devnull, "--json"],
                          check=False, capture_output=True, text=True).stdout
    return int(re.search(r'"samples": *(\d+)', told)[1])


def with_samples(maker, plain):
    """Recordings become the files of a store, whose folder is read."""
    store, told = maker.at("store"), 0
    os.makedirs(store)
    while told < SAMPLES:
        data = maker.at("perf.data")
        maker.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", RATE, "-o", data, "--",
                   plain, *maker.train(maker.folder)])
        told += counted(maker.bench, data, plain)
        maker.run([maker.bench.pgokit, "gen", "-q", data, "-b", plain, "--format", "pprof", "-o",
                   os.path.join(store, f"{len(os.listdir(store))}.pb.gz")])
    profile = maker.at("samples.profile")
    maker.run([maker.bench.pgokit, "gen", "-q", store, "-b", plain, "-o", profile])
    return maker.build("samples", [f"-fprofile-sample-use={profile}"]), told, len(os.listdir(store))


def measured(bench, runs, name):
    maker = Maker(bench, name, CLANG, suite="samples-use")
    plain = maker.build("plain")
    windows, _ = maker.with_windows(plain, "windows", branches_use.WINDOWS)
    samples, n, files = with_samples(maker, plain)
    built = {"plain": plain, "windows": windows, "samples": samples}
    arguments = maker.measured(maker.folder)
    costs = dict(zip(built, measure.in_turn([[path, *arguments] for path in built.values()],
                                            max(runs, LEAST_TURNS))))
    found = {variant: gains(costs["plain"], costs[variant]) for variant in VARIANTS}
    print(f"  {name:<12}{costs['plain'].cpu_s:>7.3f} s"
          + "".join(f"{100 * middle:>+8.1f} % ({100 * low:+.1f} {100 * high:+.1f})"
                    for low, middle, high in found.values())
          + f"   {n} samples in {files} files", flush=True)
    return costs, {variant: middle for variant, (_, middle, _) in found.items()}


def run(bench, runs):
    """Yields (program, variant, Cost)."""
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data,
                    *(p for p in branches_use.PACKAGES if p != "sqlite3")], check=True)
    os.makedirs(os.path.join(bench.data, "samples-use"), exist_ok=True)
    print("\nGain by samples of instructions alone: median of the turns, and quartiles")
    print(f"  {'':<12}{'plain':>9}" + "".join(f"{variant:>24}" for variant in VARIANTS))
    found = []
    for name in SIX:
        if bench.only and name not in bench.only:
            continue
        assert name in PROGRAMS
        costs, gain = measured(bench, runs, name)
        found.append(gain)
        yield from ((name, variant, cost) for variant, cost in costs.items())
    if not found:
        return
    means = {variant: geometric([gain[variant] for gain in found]) for variant in VARIANTS}
    share = means["samples"] / means["windows"] if means["windows"] > 0 else 0
    print("  geometric means: " + ", ".join(f"{name} {100 * mean:+.1f} %"
                                            for name, mean in means.items())
          + f"; samples to windows {share:.2f}, required {OF_WINDOWS:.2f}: "
          + ("pass" if share >= OF_WINDOWS else "MISS"))
