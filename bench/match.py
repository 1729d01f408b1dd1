"""How much of a profile fits other builds, and what rebasing it is worth.

  levels    heap profiles of five programs in builds by other options and compilers: contexts that
            are found, with the profiled build at hand. Required: 99 % by other options of the
            profiled compiler, 95 % of the programs in C from clang to gcc and back
  releases  ten releases of Lua, each with the heap profile of the one before: bytes by level, and
            those that the rebased profile has at their places. Required: 90 %
            of 100 calls that moved in them, whether the text of both lines is the same, or the new
            one names what is called: read from the sources, and not from debug information
  stale     a sample profile of an older release, by lines and by probes, as it is, rebased, and
            with LLVM's own matching, beside a fresh one. Required: 60 % of what it loses is brought
            back

--only chooses parts. Releases come from the git repositories of Lua and QuickJS.
"""

import concurrent.futures
import json
import os
import random
import re
import shutil
import statistics
import subprocess

import branches_use
import measure
from runtime import programs

CLANG, GCC = ("clang-22", "clang++-22"), ("gcc-12", "g++-12")
REPOSITORIES = {"lua": "https://github.com/lua/lua",
                "quickjs": "https://github.com/bellard/quickjs",
                "mujs": "https://github.com/ccxvii/mujs"}
LUA_RELEASES = [f"v5.4.{n}" for n in range(9)] + ["v5.5.0"]
# Older and newer release, and when the latter was made.
STALE = {"lua": ("v5.3.6", "v5.4.0"), "quickjs": ("b5e6289", "3f81070"),
         "mujs": ("1.1.0", "1.3.5")}
OF_OPTIONS, OF_COMPILERS, OF_RELEASES, OF_LOSS = 99, 95, 90, 60
LEAST_TURNS, SAMPLE = 15, 100
FRAMES = ["-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
LLVMS_OWN = ["-mllvm", "-salvage-stale-profile", "-mllvm", "-salvage-unused-profile"]
MARKS = {"lines": ["-fdebug-info-for-profiling"], "probes": ["-fpseudo-probe-for-profiling"]}
BACK_TO_BACK = ["--real-time", "-F", "10000", "-n", "4096"]


PARTS = ("levels", "releases", "stale")


def verdict(passes):
    return "pass" if passes else "MISS"


# ---- programs ----

def release_of(bench, name, tag):
    """The sources of a release, from a clone that is made once."""
    clone = os.path.join(bench.data, "releases", name)
    tree = f"{clone}-{tag}"
    if not os.path.exists(clone):
        subprocess.run(["git", "clone", "-q", "--bare", REPOSITORIES[name], clone], check=True)
    if not os.path.exists(tree):
        os.makedirs(tree + ".new", exist_ok=True)
        packed = subprocess.run(["git", "-C", clone, "archive", tag], check=True,
                                stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "x", "-C", tree + ".new"], input=packed, check=True)
        os.rename(tree + ".new", tree)
    return tree


def lua_release(bench, tag):
    tree = release_of(bench, "lua", tag)
    return programs.Program("lua", programs.files(tree, "*.c",
                                                  without=r"/(onelua|ltests|luac|all)\.c$"),
                            ["-DLUA_USE_POSIX"], ["-lm"])


def quickjs_release(bench, tag):
    tree = release_of(bench, "quickjs", tag)
    return programs.Program(
        "quickjs", [*programs.files(tree, "*.c",
                                    without=r"/(qjsc|run-test262|unicode_gen|repl)\.c$"),
                    os.path.join(bench.here, "match_js.c")],
        ["-D_GNU_SOURCE", '-DCONFIG_VERSION="bench"', "-DCONFIG_BIGNUM", "-I" + tree],
        ["-lm", "-ldl", "-pthread"])


def mujs_release(bench, tag):
    tree = release_of(bench, "mujs", tag)
    return programs.Program("mujs", programs.files(tree, "js*.c", "utf*.c", "regexp.c", "main.c"),
                            [], ["-lm"])


RELEASES = {"lua": lua_release, "quickjs": quickjs_release, "mujs": mujs_release}
LEVELS = ["lua", "sqlite3", "jq", "leveldb", "muparserx"]


class Folder:
    """Where builds of one program are."""

    def __init__(self, bench, *names):
        self.bench = bench
        self.path = os.path.join(bench.data, "match", *names)
        shutil.rmtree(self.path, ignore_errors=True)
        os.makedirs(self.path)

    def at(self, name):
        return os.path.join(self.path, name)

    def build(self, program, variant, flags, compilers=CLANG, link=()):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = programs.compile_all(pool, program, self.at(variant + "-objects"), [],
                                           ["-w", *flags], compilers)
        out = self.at(variant)
        programs.link(program, objects, out, [*link], compilers)
        return out

    def run(self, *argv, codes=(0,)):
        done = subprocess.run(argv, cwd=self.path, stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, text=True, errors="replace")
        if done.returncode not in codes:
            raise SystemExit(f"bench: {argv}: {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def heap_profile(self, exe, arguments):
        raw, profile = exe + ".raw", exe + ".profdata"
        self.run(self.bench.pgokit, "record", "heap", "-q", "-o", raw, "--", exe, *arguments)
        self.run(self.bench.pgokit, "merge", "-q", raw, "-b", exe, "--full-schema", "-o", profile)
        return profile

    def match(self, profile, exe, *options):
        return json.loads(self.run(self.bench.pgokit, "match", "-q", profile, "-b", exe, "--json",
                                   *options))


# ---- other options and compilers ----

def shares(found, what):
    """Per cent by level, and of all that are found."""
    whole = found["totals"][what] or 1
    levels = {row["level"]: 100 * row[what] / whole for row in found["levels"]}
    return levels, sum(levels[row["level"]] for row in found["levels"] if row["found"])


BUILDS = {
    "-O2": (["-O2"], CLANG, ()),
    "-O3": (["-O3"], CLANG, ()),
    "ThinLTO": (["-O2", "-flto=thin"], CLANG, ["-flto=thin", "-fuse-ld=lld-22", "-O2"]),
    "gcc -O2": (["-O2"], GCC, ()),
    "gcc -O3": (["-O3"], GCC, ()),
}


def small_run(folder, name):
    """The arguments of a short run."""
    if name == "lua":
        return [os.path.join(folder.bench.here, "mixed.lua"), "4", "20"]
    return {"sqlite3": lambda: branches_use.shop(folder.path, "heap", 3000, 3),
            "jq": lambda: branches_use.numbers(folder.path, "heap", 2000, "group_by(.kind)|"
                                               "map({k:.[0].kind,n:length})|sort_by(.n)|.[0:3]"),
            "leveldb": lambda: branches_use.database(folder.path, "heap",
                                                     "fillrandom,readrandom,readseq", 4000),
            "muparserx": lambda: ["3000", "0"]}[name]()


def levels(bench):
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, *branches_use.PACKAGES],
                   check=True)
    print("\nHeap profiles in other builds: per cent of the contexts, with the profiled build")
    print(f"  {'':<34}{'exact':>7}{'inlining':>9}{'line 0':>7}{'moved':>7}{'rerouted':>9}"
          f"{'found':>8}")
    for name in LEVELS:
        folder = Folder(bench, "levels-" + name)
        program = branches_use.PROGRAMS[name][0](bench.data, folder.path)
        built = {build: folder.build(program, build.replace(" ", ""), [*flags, *FRAMES], compilers,
                                     link)
                 for build, (flags, compilers, link) in BUILDS.items()}
        profiles = {build: folder.heap_profile(built[build], small_run(folder, name))
                    for build in ("-O2", "gcc -O2")}
        for old, profile in profiles.items():
            for new, exe in built.items():
                if new == old:
                    continue
                by_level, found = shares(
                    folder.match(profile, exe, "--profiled-binary", built[old]), "contexts")
                same = old.startswith("gcc") == new.startswith("gcc")
                least = OF_OPTIONS if same else 0 if program.cxx else OF_COMPILERS
                print(f"  {name:<12}{old + ' to ' + new:<22}"
                      f"{by_level['exact']:>7.1f}{by_level['other inlining']:>9.1f}"
                      f"{by_level['line 0']:>7.1f}{by_level['moved']:>7.1f}"
                      f"{by_level['rerouted']:>9.1f}{found:>8.1f}"
                      + (f"  {least}: {verdict(found >= least)}" if least else ""), flush=True)


# ---- releases ----

def bytes_of(found, *names):
    return sum(row["bytes"] for row in found["levels"] if row["level"] in names)


def text_at(tree, place, around=0):
    """The line of a place without blanks, or some around it, for calls that take several."""
    with open(os.path.join(tree, os.path.basename(place["file"])), encoding="latin-1") as file:
        lines = file.readlines()
    low = max(place["line"] - 1 - around, 0)
    return re.sub(r"\s+", "", "".join(lines[low:place["line"] + around]))


def check_moved(moved):
    """Compares the texts of calls with (old tree, new tree, change); prints those that differ."""
    drawn = random.Random(20).sample(moved, min(SAMPLE, len(moved)))
    counts = {"same text": 0, "names what is called": 0, "neither": 0}
    for old, new, change in drawn:
        before, now = text_at(old, change["profile"]), text_at(new, change["build"])
        callee = change.get("callee") or ""
        if before == now:
            counts["same text"] += 1
        elif callee and callee in text_at(new, change["build"], 2):
            counts["names what is called"] += 1
        else:
            counts["neither"] += 1
            print(f"    {change['caller']} calls {callee or 'an allocator'}: {before} -> {now}")
    print(f"  of {len(drawn)} calls that moved, by the text of their lines: "
          + ", ".join(f"{name} {n}" for name, n in counts.items()), flush=True)


def is_moved(change):
    return change["level"] == "moved" and all(
        change.get(side, {}).get("line") for side in ("profile", "build"))


def releases(bench):
    folder = Folder(bench, "releases")
    trees, built, moved = {}, {}, []
    for tag in LUA_RELEASES:
        trees[tag] = release_of(bench, "lua", tag)
        built[tag] = folder.build(lua_release(bench, tag), tag, ["-O2", *FRAMES])
    print("\nLua, each release with the heap profile of the one before: per cent of the bytes")
    print(f"  {'':<20}{'exact':>7}{'inlining':>9}{'line 0':>7}{'moved':>7}{'rerouted':>9}"
          f"{'found':>8}{'rebased':>9}")
    for old, new in zip(LUA_RELEASES, LUA_RELEASES[1:]):
        profile = folder.heap_profile(built[old], small_run(folder, "lua"))
        found = folder.match(profile, built[new], "--profiled-binary", built[old])
        by_level, percent = shares(found, "bytes")
        rebased = folder.at(new + ".rebased")
        folder.run(bench.pgokit, "convert", "-q", profile, "--rebase-to", built[new], "-b",
                   built[old], "-o", rebased, codes=(0, 1))
        again = folder.match(rebased, built[new])
        there = 100 * bytes_of(again, "exact", "other inlining", "line 0") \
            / found["totals"]["bytes"]
        print(f"  {old + ' to ' + new:<20}{by_level['exact']:>7.1f}"
              f"{by_level['other inlining']:>9.1f}{by_level['line 0']:>7.1f}"
              f"{by_level['moved']:>7.1f}{by_level['rerouted']:>9.1f}{percent:>8.1f}"
              f"{there:>9.1f}  {OF_RELEASES}: {verdict(there >= OF_RELEASES)}", flush=True)
        moved += [(trees[old], trees[new], change) for change in found["changes"]
                  if is_moved(change)]
    check_moved(moved)


# ---- stale samples ----

def arguments(bench, name, measured):
    if name == "lua":
        return [os.path.join(bench.here, "mixed.lua"), *(["12", "100"] if measured else
                                                         ["60", "60"])]
    first = branches_use.script("measure.js" if measured else "train.js")
    if name == "quickjs":
        return ["-I", first, branches_use.script("mixed.js")]
    whole = os.path.join(bench.data, os.path.basename(first))
    with open(whole, "w", encoding="utf-8") as out:
        for path in (first, branches_use.script("mixed.js")):
            with open(path, encoding="utf-8") as part:
                out.write(part.read())
    return [whole]


def sampled(folder, exe, name):
    counts, profile = exe + ".counts", exe + ".afdo"
    folder.run(folder.bench.pgokit, "record", "branches", "-o", counts, *BACK_TO_BACK, "--", exe,
               *arguments(folder.bench, name, False))
    folder.run(folder.bench.pgokit, "gen", "-q", counts, "-b", exe, "-o", profile)
    return profile


def stale_builds(bench, name, marks):
    """The newer release with each profile."""
    folder = Folder(bench, f"stale-{name}-{marks}")
    flags = ["-O2", "-g", branches_use.ALIGNED, *MARKS[marks]]
    old, new = (RELEASES[name](bench, tag) for tag in STALE[name])
    built = {"plain": folder.build(new, "plain", flags)}
    profiled = folder.build(old, "old", flags)
    profiles = {"fresh": sampled(folder, built["plain"], name),
                "stale": sampled(folder, profiled, name), "rebased": folder.at("rebased.afdo")}
    folder.run(bench.pgokit, "convert", "-q", profiles["stale"], "--rebase-to", built["plain"],
               "-b", profiled, "-o", profiles["rebased"], codes=(0, 1))
    for variant, profile in profiles.items():
        built[variant] = folder.build(new, "with-" + variant,
                                      [*flags, "-fprofile-sample-use=" + profile])
    built["LLVM"] = folder.build(
        new, "with-salvaged", [*flags, "-fprofile-sample-use=" + profiles["stale"], *LLVMS_OWN])
    return built


def gain(plain, cost):
    ratios = [a / b for a, b in zip(plain.turns_cpu_s, cost.turns_cpu_s)]
    return 100 * (statistics.median(ratios) - 1)


def stale(bench, runs):
    """Yields (program, variant, Cost)."""
    print("\nGain by profiles of an older release, median of the turns in per cent")
    for name in STALE:
        for marks in MARKS:
            built = stale_builds(bench, name, marks)
            costs = dict(zip(built, measure.in_turn(
                [[exe, *arguments(bench, name, True)] for exe in built.values()],
                max(runs, LEAST_TURNS))))
            gains = {variant: gain(costs["plain"], cost) for variant, cost in costs.items()}
            loss = gains["fresh"] - gains["stale"]
            print(f"  {name + ' by ' + marks:<20}{costs['plain'].cpu_s:>7.3f} s  "
                  + ", ".join(f"{variant} {gains[variant]:+.1f}" for variant in
                              ("fresh", "stale", "rebased", "LLVM")), flush=True)
            back = {variant: 100 * (gains[variant] - gains["stale"]) / loss if loss > 0 else 0
                    for variant in ("rebased", "LLVM")}
            print(f"    of what is lost, rebasing brings back {back['rebased']:.0f} %, LLVM's own "
                  f"{back['LLVM']:.0f} %; required {OF_LOSS} %: "
                  + verdict(back["rebased"] >= OF_LOSS), flush=True)
            yield from ((f"{name}, {marks}", variant, cost) for variant, cost in costs.items())


def run(bench, runs):
    """Yields (program, variant, Cost)."""
    def wants(part):
        return not bench.only or part in bench.only
    if wants("levels"):
        levels(bench)
    if wants("releases"):
        releases(bench)
    if wants("stale"):
        yield from stale(bench, runs)
