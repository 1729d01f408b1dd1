"""What a profile of `pgokit record branches` is worth: real programs from Debian's sources, built
plain and with profiles of one training run, then run with another input.

  windows     `pgokit record branches`, some 1,000 windows of 512 branches
  all         windows of 4,096 branches, one right after the other: most of all branches that the
              run takes, which is the limit of what samples can give through the same compiler
  counters    instrumentation (-fprofile-instr-generate, gcc's -fprofile-generate)

The gain is the processor time of the plain build divided by that of the other in the same turn: the
median over the turns, with its quartiles. Functions of all builds begin at multiples of 64 bytes.
Required: geometric mean of windows at least 95 % of the gain of all branches, and 80 % of that of
counters. With gcc 12, too, for two of them.
"""

import concurrent.futures
import glob
import math
import os
import re
import shutil
import statistics
import subprocess

import measure
from runtime import programs

PACKAGES = ["sqlite3", "lua5.4", "jq", "leveldb", "duktape", "muparserx", "mawk"]
CLANG, GCC = ("clang-22", "clang++-22"), ("gcc-12", "g++-12")
OF_ALL, OF_COUNTERS = 0.95, 0.80
LEAST_TURNS = 9
WINDOWS = ["--real-time", "-F", "500"]
BACK_TO_BACK = ["--real-time", "-F", "10000", "-n", "4096"]
VARIANTS = ("windows", "all", "counters")
# Where functions lie in the lines of the processor's caches moved the time of mawk by up to 10 %
# without another instruction in them, more than some profiles do. So in all builds, the plain one
# too, functions begin at such lines.
ALIGNED = "-falign-functions=64"
# As `pgokit pgo` has them: passes which gcc 12 turns on for a profile, and which lose more than
# they gain.
GCC_12_LEAN = ("-fno-gcse-after-reload -fno-ipa-cp-clone -fno-loop-interchange "
               "-fno-loop-unroll-and-jam -fno-peel-loops -fno-predictive-commoning "
               "-fno-split-loops -fno-tracer -fno-tree-loop-distribution -fno-unswitch-loops "
               "-fno-version-loops-for-strides -fno-unroll-loops "
               "-fvect-cost-model=very-cheap").split()


# ---- programs, and what they are run with ----

def muparserx(data, _):
    tree = programs.tree_of(data, "muparserx")
    return programs.Program(
        "muparserx", [*programs.files(tree, "parser/*.cpp", without=r"/mpTest\.cpp$"),
                      os.path.join(programs.HERE, "formulas.cpp")],
        ["-DNDEBUG", "-I" + os.path.join(tree, "parser")], cxx=True)


def mawk(data, made):
    built = os.path.join(made, "mawk")
    if not os.path.exists(os.path.join(built, "scancode.c")):
        shutil.rmtree(built, ignore_errors=True)
        shutil.copytree(programs.tree_of(data, "mawk"), built)
        programs.run(["sh", "configure"], built)
        programs.run(["make", "parse.c", "scancode.c"], built)
    return programs.Program(
        "mawk", programs.files(built, "*.c", without=r"/(fpe_check|makescan|rexp[0-4]?|rexpdb|"
                                                     r"regexp_system|trace)\.c$"),
        ["-I" + built, "-DHAVE_CONFIG_H", "-DLOCAL_REGEXP", "-D_DEFAULT_SOURCE",
         "-D_XOPEN_SOURCE=500"], ["-lm"])


def text_of(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def shop(folder, name, rows, seed):
    with open(os.path.join(programs.HERE, "shop.sql"), encoding="utf-8") as file:
        text = file.read().replace("ROWS", str(rows)).replace("SEED", str(seed))
    return [":memory:", f".read {text_of(folder, name + '.sql', text)}"]


def script(name):
    return os.path.join(programs.HERE, name)


def numbers(folder, name, rows, query):
    items = ",".join(f'{{"id":{i},"kind":"k{i * 7919 % 97}","value":{i * 31 % 1009},'
                     f'"tags":["t{i % 13}","t{i % 7}"]}}' for i in range(rows))
    return [query, text_of(folder, name + ".json", f"[{items}]")]


def database(folder, name, kinds, rows):
    return [f"--benchmarks={kinds}", f"--num={rows}", f"--db={os.path.join(folder, name)}"]


COUNT_WORDS = """{ n[$2]++; s[$2] += $1; if ($3 ~ /[37]$/) t += length($2) }
END { for (k in n) { m += s[k] / n[k]; gsub(/o/, "0", k) } printf "%.3f %d\\n", m, t }
"""
SPLIT_LINES = """function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
{ l[NR % 100] = $2 " " $3; x += index($0, "7") }
END { print fib(22), x; for (i = 0; i < 200000; i++) { split(l[i % 100], p, " "); y += p[2] }
      print y }
"""


def words(folder, name, text, lines, times=1):
    rows = "".join(f"{i * 7919 % 10007} word{i % 97} {i}\n" for i in range(lines))
    return ["-f", text_of(folder, name + ".awk", text),
            *[text_of(folder, name + ".txt", rows)] * times]


# What is built, and the arguments for training and for measuring, which are other inputs.
PROGRAMS = {
    "sqlite3": (programs.sqlite, lambda at: shop(at, "train", 400000, 3),
                lambda at: shop(at, "measure", 150000, 11)),
    "lua": (programs.lua, lambda at: [script("../mixed.lua"), "60", "60"],
            lambda at: [script("../mixed.lua"), "12", "100"]),
    "jq": (programs.jq,
           lambda at: numbers(at, "train", 400000, "group_by(.kind)|map({k:.[0].kind,n:length,"
                              "s:(map(.value)|add)})|sort_by(.n)|.[0:3]"),
           lambda at: numbers(at, "measure", 80000, "map(select(.value>300)|{id,t:(.tags|join"
                              "(\"-\"))})|map(.t|ascii_upcase)|unique|length")),
    "leveldb": (programs.leveldb,
                lambda at: database(at, "train", "fillrandom,readrandom,readseq", 300000),
                lambda at: database(at, "measure", "fillseq,overwrite,readreverse,readhot",
                                    120000)),
    "duktape": (programs.duktape, lambda at: [script("train.js"), script("mixed.js")],
                lambda at: [script("measure.js"), script("mixed.js")]),
    "muparserx": (muparserx, lambda at: ["900000", "0"], lambda at: ["350000", "1"]),
    "mawk": (mawk, lambda at: words(at, "train", COUNT_WORDS, 1000000, 7),
             lambda at: words(at, "measure", SPLIT_LINES, 600000, 4)),
}
WITH_GCC = ("sqlite3", "lua", "mawk")


# ---- building and recording ----

class Maker:
    """Builds variants of one program with one compiler."""

    def __init__(self, bench, name, compilers, suite="branches-use", known=None):
        self.bench, self.name, self.compilers = bench, name, compilers
        self.gcc = compilers is GCC
        made = os.path.join(bench.data, suite)
        self.folder = os.path.join(made, f"{name}-{compilers[0]}")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        maker, self.train, self.measured = (known or PROGRAMS)[name]
        self.program = maker(bench.data, made)

    def at(self, name):
        return os.path.join(self.folder, name)

    def build(self, variant, flags=(), link=()):
        debug = ["-g", "-gdwarf-4"] if self.gcc else ["-g", "-fdebug-info-for-profiling"]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = programs.compile_all(pool, self.program, self.at(variant + "-objects"),
                                           flags, ["-O2", "-w", ALIGNED, *debug], self.compilers)
        out = self.at(variant)
        programs.link(self.program, objects, out, link, self.compilers)
        return out

    def run(self, argv, **env):
        done = subprocess.run(argv, cwd=self.folder, env={**os.environ, **env}, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace")
        if done.returncode:
            raise SystemExit(f"bench: {argv}: {done.returncode}\n{done.stderr[-2000:]}")
        return done.stderr

    def with_windows(self, plain, variant, options):
        counts, profile = self.at(variant + ".counts"), self.at(variant + ".profile")
        told = self.run([self.bench.pgokit, "record", "branches", "-o", counts, *options, "--",
                         plain, *self.train(self.folder)])
        self.run([self.bench.pgokit, "gen", "-q", counts, "-b", plain, "-o", profile,
                  *(["--to", "gcc12"] if self.gcc else [])])
        flags = [f"-fauto-profile={profile}", *GCC_12_LEAN] if self.gcc else \
            [f"-fprofile-sample-use={profile}"]
        return self.build(variant, flags), re.search(r"^pgokit: (.* windows .*)$", told, re.M)[1]

    def with_counters(self):
        if self.gcc:
            counted = self.build("counted", ["-fprofile-generate", "-fprofile-update=single"],
                                 ["-fprofile-generate"])
            self.run([counted, *self.train(self.folder)])
            # Counts are looked for beside the objects, which have other names in each folder.
            for path in glob.glob(self.at("counted-objects/*.gcda")):
                os.makedirs(self.at("counters-objects"), exist_ok=True)
                shutil.copy(path, self.at("counters-objects"))
            return self.build("counters", ["-fprofile-use", "-Wno-missing-profile"])
        counted = self.build("counted", ["-fprofile-instr-generate"], ["-fprofile-instr-generate"])
        self.run([counted, *self.train(self.folder)], LLVM_PROFILE_FILE=self.at("raw"))
        self.run(["llvm-profdata-22", "merge", self.at("raw"), "-o", self.at("counters.profdata")])
        return self.build("counters", ["-fprofile-instr-use=" + self.at("counters.profdata")])


# ---- measuring ----

def gains(plain, cost):
    ratios = [a / b for a, b in zip(plain.turns_cpu_s, cost.turns_cpu_s)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return low - 1, middle - 1, high - 1


def measured(bench, runs, name, compilers):
    """Yields (variant, Cost) and prints a line; the medians of the gains."""
    maker = Maker(bench, name, compilers)
    plain = maker.build("plain")
    windows, told = maker.with_windows(plain, "windows", WINDOWS)
    everything, told_all = maker.with_windows(plain, "all", BACK_TO_BACK)
    built = {"plain": plain, "windows": windows, "all": everything,
             "counters": maker.with_counters()}
    arguments = maker.measured(maker.folder)
    costs = dict(zip(built, measure.in_turn([[path, *arguments] for path in built.values()],
                                            max(runs, LEAST_TURNS))))
    found = {variant: gains(costs["plain"], costs[variant]) for variant in VARIANTS}
    print(f"  {name:<10}{compilers[0]:<9}{costs['plain'].cpu_s:>7.3f} s"
          + "".join(f"{100 * middle:>+8.1f} % ({100 * low:+.1f} {100 * high:+.1f})"
                    for low, middle, high in found.values()), flush=True)
    print(f"    windows: {told}\n    all: {told_all}", flush=True)
    return costs, {variant: middle for variant, (_, middle, _) in found.items()}


def geometric(values):
    return math.exp(statistics.fmean(math.log(1 + value) for value in values)) - 1


def say_means(found):
    means = {variant: geometric([gain[variant] for gain in found]) for variant in VARIANTS}
    print("  geometric means: " + ", ".join(f"{name} {100 * mean:+.1f} %"
                                            for name, mean in means.items()))
    for other, least in (("all", OF_ALL), ("counters", OF_COUNTERS)):
        if means[other] > 0:
            share = means["windows"] / means[other]
            print(f"  windows to {other} {share:.2f}, required {least:.2f}: "
                  + ("pass" if share >= least else "MISS"))


def run(bench, runs):
    """Yields (program, variant, Cost)."""
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, *PACKAGES], check=True)
    os.makedirs(os.path.join(bench.data, "branches-use"), exist_ok=True)
    print("\nGain by profiles of a training run: median of the turns, and quartiles")
    print(f"  {'':<19}{'plain':>9}" + "".join(f"{variant:>24}" for variant in VARIANTS))
    for compilers, names in ((CLANG, PROGRAMS), (GCC, WITH_GCC)):
        found = []
        for name in names:
            if bench.only and name not in bench.only:
                continue
            costs, gain = measured(bench, runs, name, compilers)
            found.append(gain)
            yield from ((name, f"{compilers[0]} {variant}", cost)
                        for variant, cost in costs.items())
        if found:
            say_means(found)
