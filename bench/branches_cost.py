"""What windows of `pgokit record branches` cost: processor time and peak memory of Lua and sqlite
from Debian's sources, with the recorder loaded but switched off, at 20 and at 100 windows a second,
and beside it `perf record -e cpu-clock:u` at the same rates.

What is added is the median over the turns of the time of the recorded run divided by that of the
plain one in the same turn, with its quartiles. That of perf has its own start and end in it.
"""

import os
import resource
import statistics
import subprocess

import branches_use
import measure
from runtime import programs

MOST = {"off": 0.005, "20 a second": 0.01, "100 a second": 0.03}
MOST_MIB = 8
NAMES = ("sqlite3", "lua")
LEAST_TURNS = 15


def commands(bench, argv, folder):
    """By what records; env(1) sets the environment for the program alone."""
    library = os.path.join(bench.build, "recorder", "libpgokit_branches.so")

    def preloaded(options):
        return ["env", f"LD_PRELOAD={library}",
                f"PGOKIT_BRANCHES_OPTIONS=out={folder}/recording:{options}", *argv]

    found = {"plain": ["env", *argv], "off": preloaded("enabled=0")}
    for rate in (20, 100):
        found[f"{rate} a second"] = preloaded(f"frequency={rate}")
        found[f"perf, {rate}"] = ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(rate),
                                  "-o", os.path.join(folder, "perf.data"), "--", *argv]
    return found


def added(plain, cost):
    ratios = [b / a - 1 for a, b in zip(plain.turns_cpu_s, cost.turns_cpu_s)]
    return statistics.quantiles(ratios, n=4)


def run(bench, runs):
    """Yields (program, what records, Cost)."""
    packages = ["sqlite3", "lua5.4"]
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, *packages], check=True)
    os.makedirs(os.path.join(bench.data, "branches-use"), exist_ok=True)
    print("\nProcessor time that recording branches adds: median of the turns, and quartiles")
    for name in NAMES:
        if bench.only and name not in bench.only:
            continue
        maker = branches_use.Maker(bench, name, branches_use.CLANG)
        argv = [maker.build("plain"), *maker.measured(maker.folder)]
        known = commands(bench, argv, maker.folder)
        costs = dict(zip(known, measure.in_turn(list(known.values()), max(runs, LEAST_TURNS))))
        plain = costs["plain"]
        # Less than what this process has, the system does not report of those that it starts.
        least = 1 + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  {name}: {plain.cpu_s:.3f} s"
              + (f", {plain.peak_mib:.1f} MiB" if plain.peak_mib > least else ""))
        for what, cost in costs.items():
            low, middle, high = added(plain, cost)
            more = cost.peak_mib - plain.peak_mib if plain.peak_mib > least else 0
            text = f"    {what:<14}{100 * middle:>+7.2f} % ({100 * low:+.2f} {100 * high:+.2f})" \
                   + (f"{more:>+7.1f} MiB" if plain.peak_mib > least else "")
            if what in MOST:
                good = middle <= MOST[what] and more <= MOST_MIB
                text += f"  required {100 * MOST[what]:.1f} % and {MOST_MIB} MiB: " \
                        + ("pass" if good else "MISS")
            print(text, flush=True)
            yield name, what, cost
