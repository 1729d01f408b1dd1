"""How near the counts of `pgokit record branches` are to exact ones:

    bench/branches_overlap.py [-r RUNS] [-k FOLDER] PGOKIT [OPTION...] -- PROGRAM [ARGUMENT...]

The program, which must be linked with -no-pie, runs once under callgrind and RUNS times under the
recorder with these options. An overlap of two distributions is the sum of the smaller share of each
of their parts: 1, they are the same.

  between   instructions that ran, by function
  within    instructions that ran in a function, by instruction; the mean over the functions,
            weighed by how often their instructions ran
  calls     calls, by call and callee

The exact counts stay in FOLDER, and are taken from there the next time.
"""

import argparse
import bisect
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "recorder"))
from recording import Recording  # noqa: E402


def exact_counts(path, program):
    """How often each instruction ran, and each call was made, as callgrind says."""
    ran, calls = collections.Counter(), collections.Counter()
    inside = callee_inside = False
    call = None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            key, _, value = line.strip().partition("=")
            if key == "ob":
                inside = value == program
            elif key == "fn":
                callee_inside = inside
            elif key == "cob":
                callee_inside = value == program
            elif key == "calls":
                count, target = value.split()[:2]
                call = int(target, 16), int(count), callee_inside
                callee_inside = inside
            elif line.startswith("0x"):
                addr, _, cost = line.split()[:3]
                if inside and not call:
                    ran[int(addr, 16)] += int(cost)
                elif inside and call[2]:
                    calls[int(addr, 16), call[0]] += call[1]
                call = None
    return ran, calls


class Code:
    """Instructions of the program: their addresses in order, and the function of each."""

    def __init__(self, program):
        self.path, self.addrs, self.function = program, [], {}
        name = None
        listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], check=True,
                                 capture_output=True, text=True).stdout
        for line in listing.splitlines():
            if head := re.match(r"([0-9a-f]+) <(.*)>:$", line):
                name = head[2]
            elif insn := re.match(r" +([0-9a-f]+):\t", line):
                self.addrs.append(int(insn[1], 16))
                self.function[self.addrs[-1]] = name

    def add(self, recording, ran, branches):
        paths = [module.path for module in recording.modules]
        if self.path not in paths:
            return
        number = paths.index(self.path)
        for module, first, _, last, count in recording.ranges:
            if module == number:
                for addr in self.addrs[bisect.bisect_left(self.addrs, first):
                                       bisect.bisect_right(self.addrs, last)]:
                    ran[addr] += count
        for module, source, other, target, count in recording.branches:
            if module == other == number:
                branches[source, target] += count

    def by_function(self, ran):
        found = collections.defaultdict(collections.Counter)
        for addr, count in ran.items():
            found[self.function.get(addr)][addr] += count
        return found


def overlap(one, other):
    all_of_one, all_of_other = sum(one.values()), sum(other.values())
    if not all_of_one or not all_of_other:
        return 0
    return sum(min(count / all_of_one, other.get(key, 0) / all_of_other)
               for key, count in one.items())


def sums(functions):
    return {name: sum(counts.values()) for name, counts in functions.items()}


class Comparison:
    def __init__(self, code, exact, recordings):
        ran, branches = collections.Counter(), collections.Counter()
        self.windows = self.branches = self.cost_ns = 0
        for recording in recordings:
            code.add(recording, ran, branches)
            self.windows += recording.counters["WINDOWS"]
            self.branches += recording.counters["BRANCHES"]
            self.cost_ns += recording.counters["COST_NS"]
        exact_ran, exact_calls = exact
        wanted, got = code.by_function(exact_ran), code.by_function(ran)
        self.wanted, self.got = sums(wanted), sums(got)
        everything = sum(self.wanted.values())
        self.between = overlap(self.wanted, self.got)
        self.within = sum(self.wanted[name] / everything * overlap(counts, got.get(name, {}))
                          for name, counts in wanted.items())
        self.calls = overlap(exact_calls, {call: branches[call] for call in exact_calls})

    def say(self, name, functions):
        print(f"{name}: {self.windows:,} windows, {self.branches:,} branches: "
              f"between {self.between:.3f}, within {self.within:.3f}, calls {self.calls:.3f}; "
              f"{self.cost_ns / max(1, self.windows) / 1000:.0f} us a window", flush=True)
        wanted, got = (({key: 100 * n / sum(of.values()) for key, n in of.items()})
                       for of in (self.wanted, self.got))
        farthest = sorted(wanted, key=lambda key: -abs(wanted[key] - got.get(key, 0)))
        for key in farthest[:functions]:
            print(f"    {wanted[key]:5.1f} % are {got.get(key, 0):5.1f} % in {key}")


def run_exactly(path, argv):
    if not os.path.exists(path):
        subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no",
                        "--compress-strings=no", "--callgrind-out-file=" + path, *argv],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    return exact_counts(path, argv[0])


def record(pgokit, options, argv, runs):
    with tempfile.TemporaryDirectory() as folder:
        for i in range(runs):
            subprocess.run([pgokit, "record", "branches", "--keep", "-o",
                            os.path.join(folder, f"{i}.counts"), *options, "--", *argv],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
        return [Recording(path) for path in glob.glob(os.path.join(folder, "*.counts.*"))]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-r", "--runs", type=int, default=1)
    parser.add_argument("-k", "--keep", default="")
    parser.add_argument("-f", "--functions", type=int, default=4)
    parser.add_argument("pgokit")
    here = sys.argv.index("--")
    given, options = parser.parse_known_args(sys.argv[1:here])
    argv = sys.argv[here + 1:]
    argv[0] = os.path.realpath(argv[0])
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.basename(argv[0])
        exact = run_exactly(os.path.join(given.keep or folder, name + ".callgrind"), argv)
    Comparison(Code(argv[0]), exact, record(given.pgokit, options, argv, given.runs)).say(
        name, given.functions)


if __name__ == "__main__":
    main()
