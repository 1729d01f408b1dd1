#!/usr/bin/env python3
"""Accesses that windows see, multiplied by what the windows stand for, are those of the program.

usage: record_accesses.py LIBRARY ACCESS_OBJECT GUEST_ARCHIVE SOURCE_ROOT
"""

import os
import re
import sys

sys.argv[1:] = [os.path.abspath(arg) for arg in sys.argv[1:]]
LIBRARY, OBJECT, GUEST, ROOT = sys.argv[1:5]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
from harness import Cases, require, run, tool  # noqa: E402

BUDGET = "300"  # thousandths: many windows in a short run


def build(folder):
    out = os.path.join(folder, "accesses")
    run([tool("gcc"), "-O2", "-g", os.path.join(HERE, "programs", "accesses.c"), OBJECT, GUEST,
         *(f"-I{os.path.join(ROOT, name)}" for name in ("guest", "recorder", "lib/records")),
         "-o", out, "-pthread"], folder)
    return out


class Counts:
    """Of some runs: {array: [loads, stores, estimated loads, estimated stores]}."""

    def __init__(self):
        self.rows, self.windows, self.cost_ns = {}, 0, 0

    def add(self, text):
        for name, *numbers in (line.split() for line in text.splitlines()):
            values = [int(number) for number in numbers]
            if name == "windows":
                self.windows += values[0]
            elif name == "cost_ns":
                self.cost_ns += values[0]
            elif any(values):
                row = self.rows.setdefault(name, [0] * 4)
                self.rows[name] = [a + b for a, b in zip(row, values)]

    def ratios(self):
        """{array: of loads, array + " stores": of stores}, where there are any."""
        found = {}
        for name, (loads, stores, seen_loads, seen_stores) in self.rows.items():
            require(loads or not seen_loads, f"{name} is never read, and {seen_loads} seen")
            require(stores or not seen_stores, f"{name} is never written, and {seen_stores} seen")
            if loads:
                found[name] = seen_loads / loads
            if stores:
                found[name + " stores"] = seen_stores / stores
        return found


def counted(program, folder, times, *argv):
    counts = Counts()
    for _ in range(times):
        counts.add(run([program, *argv, BUDGET], folder, timeout=300).stdout)
    return counts


def all_kinds_of_instructions(folder):
    """Of loops so short that each window sees all of them: they differ by chance of a window's
    ends alone."""
    counts = counted(build(folder), folder, 1, "aqpwsm", "300000", "5")
    ratios = counts.ratios()
    require(len(ratios) == 11, ratios)
    mean = sum(ratios.values()) / len(ratios)
    for name, ratio in ratios.items():
        require(abs(ratio / mean - 1) < 0.05, f"{name}: {ratio / mean:.3f} of the others")
    require(0.7 < mean < 1.4, f"{mean:.3f} of all accesses, by {counts.windows} windows")
    return [f"{mean:.3f} of all accesses, by {counts.windows} windows"]


def quick_and_slow_code(folder):
    """In turns that are long against a window, so that time decides where windows begin."""
    counts = counted(build(folder), folder, 4, "qs", "1500", "10000")
    ratios = counts.ratios()
    require(len(ratios) == 3, ratios)
    for name, ratio in ratios.items():
        require(0.7 < ratio < 1.4, f"{name}: {ratio:.3f}")
    require(0.75 < ratios["quick"] / ratios["slow"] < 1.33, ratios)
    return [f"quick {ratios['quick']:.3f}, slow {ratios['slow']:.3f}, {counts.windows} windows"]


def short_threads(folder):
    """As many windows as a share of its threads' time brings, though most end before a tick."""
    counts = counted(build(folder), folder, 12, "qs", "20", "10000")
    require(counts.windows > 12, f"{counts.windows} windows")
    ratios = counts.ratios()
    require(0.3 < ratios["slow"] < 3, ratios)
    return [f"{ratios}, {counts.windows} windows"]


def budget(folder):
    """Windows cost what they may cost, and not much less."""
    program = build(folder)
    counts = Counts()
    before = os.times()
    counts.add(run([program, "aqpwsm", "600000", "5", "10"], folder, timeout=300).stdout)
    after = os.times()
    spent = after.children_user - before.children_user
    share = counts.cost_ns / 1e9 / spent
    require(0.001 < share < 0.02, f"{share:.4f} of {spent:.2f} s, by {counts.windows} windows")
    return [f"{share:.4f} of {spent:.2f} s"]


def other_recorder(folder):
    """Preloaded: it gives way, and says so."""
    program = build(folder)
    told = run([program, "qs", "200", "10000", BUDGET], folder, env={
        "LD_PRELOAD": LIBRARY, "PGOKIT_BRANCHES_OPTIONS": f"out={folder}/r.%p:frequency=1000"})
    counts = Counts()
    counts.add(told.stdout)
    require(counts.windows > 5, told.stdout)
    require(re.search("recording no branches", told.stderr), told.stderr)
    left = [name for name in os.listdir(folder) if name.startswith("r.")]
    require(not left, left)


def main():
    cases = Cases()
    cases.run("all kinds of instructions", all_kinds_of_instructions)
    cases.run("quick and slow code", quick_and_slow_code)
    cases.run("threads that live for less than a tick", short_threads)
    cases.run("the budget", budget)
    cases.run("with the branch recorder preloaded", other_recorder)
    cases.finish()


main()
