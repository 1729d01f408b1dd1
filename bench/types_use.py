"""What types of objects are worth in clang: programs with virtual calls that are built with ThinLTO
and a profile of one training run, and run with another input.

  no profile  ThinLTO alone
  functions   the profile without types: a promoted call compares the function's address
  types       the same profile with types, by our plugin: it compares the object's virtual table

bench/virtual_calls has calls of classes of other modules, of templates and of anonymous namespaces,
one kind at a time; the others are real programs. Shown are how many places were promoted by each
comparison, and the processor time divided by that of the other build in the same turn: the median
over the turns, with its quartiles; less than 1 is a gain. All builds must print the same.
"""

import glob
import os
import re
import statistics
import subprocess

import branches_use
import measure
from runtime import programs

CALLS = os.path.join(branches_use.programs.HERE, "..", "virtual_calls")
KINDS = {"module": "one class of another module", "modules": "two classes of another module",
         "local": "anonymous namespace, in the module of the call",
         "elsewhere": "anonymous namespace of another module",
         "template": "two classes of a template", "calls": "two calls of one object",
         "shared": "four classes that share a function", "alike": "eight classes, alike often"}
TRAINED, MEASURED, LEAST_TURNS = "20000", "80000", 9
THIN, LLD = ["-flto=thin"], ["-flto=thin", "-fuse-ld=lld"]
VTABLES = ["-fwhole-program-vtables", "-fno-split-lto-unit"]
LOADS = ["--real-time", "-F", "1000", "--loads"]
BUILDS = ("no profile", "functions", "types")


def virtual_calls(_, __):
    return programs.Program("virtual_calls",
                            [os.path.join(CALLS, name + ".cpp")
                             for name in ("main", "plain", "templates", "local")], cxx=True)


def database(data, made):
    program = programs.leveldb(data, made)
    sources = [path for path in program.sources if not path.endswith("db_bench.cc")]
    return programs.Program("leveldb", [*sources, os.path.join(CALLS, "database.cpp")],
                            program.flags, program.libraries, cxx=True)


# What is built, the arguments for training, and those for measuring, which may be several.
PROGRAMS = {
    "virtual_calls": (virtual_calls, lambda _: ["all", TRAINED],
                      {what: [kind, MEASURED] for kind, what in KINDS.items()}),
    "muparserx": (branches_use.muparserx, lambda _: ["900000", "0"], {"": ["350000", "1"]}),
    "leveldb": (database, lambda _: ["120000", "7"], {"": ["60000", "3"]}),
}
PACKAGES = ["muparserx", "leveldb"]


def promoted(folder):
    """Places that compare a virtual table, and those that compare functions alone."""
    tables, functions = set(), set()
    for path in glob.glob(os.path.join(folder, "remarks*")):
        with open(path, encoding="utf-8") as file:
            for remark in file.read().split("--- !Passed")[1:]:
                where = re.search(r"^(?:DebugLoc|Function): +(\{[^}]*\}|\S+)", remark, re.M)[1]
                (tables if "  - VTable:" in remark else functions).add(where)
    return len(tables), len(functions - tables)


class Maker(branches_use.Maker):
    def __init__(self, bench, name):
        super().__init__(bench, name, branches_use.CLANG, "types-use", PROGRAMS)

    def linked(self, variant, flags, link):
        """The program, and how its calls were promoted."""
        folder = self.at(variant.replace(" ", "-") + "-remarks")
        os.makedirs(folder)
        path = self.build(variant.replace(" ", "-"), [*THIN, *VTABLES, *flags],
                          [*LLD, *link, "-Wl,-plugin-opt=opt-remarks-passes=pgo-icall-prom",
                           "-Wl,-plugin-opt=opt-remarks-filename=" +
                           os.path.join(folder, "remarks")])
        return path, promoted(folder)

    def config(self, kind, profile):
        return subprocess.run([self.bench.pgokit, "config", "-q", kind, "use", "--cc", "clang-22",
                               "--profile", profile], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.split()

    def builds(self):
        plain = self.linked("no profile", [], [])
        counts, profiles = self.at("counts"), {}
        self.run([self.bench.pgokit, "record", "branches", "-q", "-o", counts, *LOADS, "--",
                  plain[0], *self.train(self.folder)])
        for name, option in (("functions", "--no-vtables"), ("types", "--vtables")):
            profiles[name] = self.at(name + ".afdo")
            self.run([self.bench.pgokit, "gen", "-q", *glob.glob(counts + ".*"), "-b", plain[0],
                      option, "-o", profiles[name]])
        same = ["-Wl,--lto-whole-program-visibility", "-Wl,-mllvm,-wholeprogramdevirt-skip=*"]
        return {"no profile": plain,
                "functions": self.linked(
                    "functions", ["-fprofile-sample-use=" + profiles["functions"]],
                    ["-fprofile-sample-use=" + profiles["functions"], *same]),
                "types": self.linked("types", self.config("--cflags", profiles["types"]),
                                     self.config("--ldflags", profiles["types"]))}


def quartiles(ours, theirs):
    ratios = [a / b for a, b in zip(ours.turns_cpu_s, theirs.turns_cpu_s)]
    return statistics.quantiles(ratios, n=4)


def printed(path, arguments):
    return subprocess.run([path, *arguments], check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE).stdout


def measured(bench, runs, name):
    """Yields (program, build, Cost) and prints lines."""
    maker = Maker(bench, name)
    built = maker.builds()
    for build in BUILDS[1:]:
        tables, functions = built[build][1]
        print(f"  {name}, {build}: {tables} places compare a table, {functions} a function alone")
    for what, arguments in maker.measured.items():
        texts = {printed(path, arguments) for path, _ in built.values()}
        costs = dict(zip(built, measure.in_turn([[path, *arguments] for path, _ in built.values()],
                                                max(runs, LEAST_TURNS))))
        row = "".join(f"{middle:>10.2f} ({low:.2f} {high:.2f})" for low, middle, high in
                      (quartiles(costs["types"], costs[other]) for other in BUILDS[:2]))
        print(f"  {what or name:<48}{costs['no profile'].cpu_s:>8.3f} s{row}"
              + ("" if len(texts) == 1 else "   MISS: they print different things"), flush=True)
        for build, cost in costs.items():
            yield f"{name} {what}".strip(), build, cost


def run(bench, runs):
    """Yields (program, build, Cost)."""
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, *PACKAGES], check=True)
    os.makedirs(os.path.join(bench.data, "types-use"), exist_ok=True)
    print("\nProcessor time with types")
    print(f"  {'':<48}{'plain':>10}{'to no profile':>22}{'to functions':>22}")
    for name in PROGRAMS:
        if not bench.only or name in bench.only:
            yield from measured(bench, runs, name)
