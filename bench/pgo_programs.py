"""What one `pgokit pgo` command is worth for projects of each build system, as its manual page says
to type it, next to instrumentation by hand: twelve programs of Debian's sources that none of this
was made with.

  plain      as the project is built
  pgo        what `pgokit pgo --run LOAD --measure OTHER` leaves in the tree, also if that is plain
  counters   -fprofile-generate, a run of the same load, -fprofile-use (rustc: -Cprofile-generate)
  used       by a committed profile, `pgokit pgo --record` and `--use`: only the time of the build

All are measured in turns by input that no profile has seen. The gain is the processor time of the
plain program divided by that of the other in the same turn: the median, with its quartiles.
Functions begin at multiples of 64 bytes in all of them (pgo --align), so that luck of placement is
not measured. Required: geometric mean of pgo at least 95 % of that of counters; code at most 2 %
larger than plain; the build by a committed profile at most 1.15 times as long as the plain one.
Programs of Rust need crates of Debian: librust-pulldown-cmark-dev, librust-csv-dev,
librust-regex-dev; without them they are left out.
"""

import collections
import glob
import json
import os
import random
import resource
import shlex
import shutil
import statistics
import subprocess

import measure
from branches_use import gains, geometric

LEAST_TURNS, MEASURE_S = 31, 60
OF_COUNTERS, GROWTH, USED_TIME = 0.95, 2.0, 1.15
CLANG = {"CC": "clang-22", "CXX": "clang++-22"}
GCC = {"CC": "gcc-12", "CXX": "g++-12"}
ALIGN = "-falign-functions=64"
NOT_KEPT = 3  # exit status of pgokit pgo
REGISTRY = "/usr/share/cargo/registry"

# `source` is a package of Debian, or a crate of it; `folder` where its build system is. `by_hand`
# builds with $CC, $CXX, $CFLAGS, $CXXFLAGS; NULL flags are those of the project. `train` and
# `other` are loads in words of the shell, for which `inputs` makes files. No program is given
# /dev/null to write: some remove it first, and root may.
Program = collections.namedtuple(
    "Program", "source folder system binary by_hand inputs train other build compilers",
    defaults=[None, CLANG])

CMAKE = "cmake -S . -B pgo-build -DCMAKE_BUILD_TYPE=Release && cmake --build pgo-build"
CONFIGURE = "./configure && make"
CARGO = "cargo build --release --offline"


# ---- inputs ----

def text(at, name, lines):
    with open(os.path.join(at, name), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def words(dice, n):
    return " ".join(dice.choice(WORDS) for _ in range(n))


WORDS = [f"{a}{b}{c}" for a in ("un", "re", "in", "co", "ba", "mi")
         for b in ("lo", "ta", "der", "s") for c in ("ing", "ed", "er", "a", "ion", "")]


def markdown(dice, n):
    for i in range(n):
        yield f"## {words(dice, 4)} {i}\n\n{words(dice, 40)} *{words(dice, 2)}* `{words(dice, 1)}`"
        yield f"[{words(dice, 2)}](http://x/{i} \"{words(dice, 1)}\") **{words(dice, 3)}**\n"
        yield "".join(f"- {words(dice, 5)}\n" for _ in range(dice.randrange(6)))
        yield f"> {words(dice, 20)}\n\n    {words(dice, 5)}\n"


def hebrew(dice, n):
    letters = [chr(c) for c in range(0x5D0, 0x5EA)]
    for _ in range(n):
        yield " ".join("".join(dice.choice(letters) for _ in range(dice.randrange(2, 9)))
                       if dice.random() < 0.6 else f"{words(dice, 1)} ({dice.randrange(1000)})"
                       for _ in range(12))


def bitmap(dice, size):
    blobs = [(dice.randrange(size), dice.randrange(size), dice.randrange(4, 40))
             for _ in range(size // 2)]
    rows = [bytearray(size) for _ in range(size)]
    for x, y, r in blobs:
        for v in range(max(0, y - r), min(size, y + r)):
            half = int((r * r - (v - y) ** 2) ** 0.5)
            for u in range(max(0, x - half), min(size, x + half)):
                rows[v][u] ^= 1
    return [f"P1\n{size} {size}", *(" ".join(map(str, row)) for row in rows)]


def c_source(dice, n):
    yield "#include <stddef.h>\nstruct s { int a, b; double d; struct s *next; };"
    for i in range(n):
        yield (f"static int f{i}(struct s *p, int n) {{ int t = {dice.randrange(99)}; "
               f"for (int i = 0; i < n; i++) {{ if (p && p->a > {i % 17}) t += p->b * i; "
               f"else switch (t & 7) {{ case 1: t ^= {i}; break; case 3: t += n; default: t--; }} "
               f"p = p ? p->next : NULL; }} return t{f' + f{i - 1}(p, n - 1)' if i else ''}; }}")
    yield f"int main(void) {{ struct s s = {{0}}; return f{n - 1}(&s, 3); }}"


def xml(dice, n):
    yield "<all>"
    for i in range(n):
        yield (f'<item id="i{i}" kind="{words(dice, 1)}"><name>{words(dice, 3)}</name>'
               f"<!-- {words(dice, 4)} --><note lang='en'>{words(dice, 12)} &amp; &lt;{i}&gt;"
               "</note></item>")
    yield "</all>"


def letters(dice, n, of="ACGT"):
    return "".join(dice.choice(of) for _ in range(n))


def genome(dice, n, reads):
    base = letters(dice, n)
    yield ">one\n" + base
    for i in range(reads):
        start, size = dice.randrange(n - 3000), dice.randrange(800, 3000)
        piece = list(base[start:start + size])
        for _ in range(size // 12):
            piece[dice.randrange(size)] = dice.choice("ACGT")
        yield f">r{i}\n" + "".join(piece)


def two_files(at, name, lines):
    """The genome and the reads of it."""
    first, *rest = lines
    text(at, name + ".ref", [first])
    text(at, name + ".reads", rest)


def proteins(dice, n, size):
    base = letters(dice, size, "ACDEFGHIKLMNPQRSTVWY")
    for i in range(n):
        piece = [dice.choice("ACDEFGHIKLMNPQRSTVWY") if dice.random() < 0.3 else c for c in base]
        del piece[dice.randrange(size):][:dice.randrange(20)]
        yield f">p{i}\n" + "".join(piece)


def table(dice, n):
    yield "City,State,Population,Latitude,Longitude"
    for i in range(n):
        yield (f'"{words(dice, 2)}, {i}",{letters(dice, 2)},{dice.randrange(10 ** 6)},'
               f"{dice.random():.6f},{-dice.random():.6f}")


def dna(dice, n):
    yield ">x"
    for _ in range(n):
        yield letters(dice, 60, "acgt")


def both(maker, writer=text):
    """Makes files for training and for measuring: other sizes, other contents."""
    def make(at, sizes):
        for name, seed, size in zip(("train", "other"), (3, 11), sizes):
            size = size if isinstance(size, tuple) else (size,)
            writer(at, name, maker(random.Random(seed), *size))
    return make


PROGRAMS = {
    "cmark": Program("cmark", "", "CMake", "pgo-build/src/cmark", CMAKE,
                     (both(markdown), (6000, 5000)), "{0} {at}/train", "{0} -t latex {at}/other"),
    "zopfli": Program("zopfli", "", "CMake", "pgo-build/zopfli", CMAKE,
                      (both(xml), (1500, 2000)), "{0} -c {at}/train",
                      "{0} -c --zlib --i10 {at}/other"),
    "fribidi": Program("fribidi", "", "Meson", "pgo-build/bin/fribidi",
                       "meson setup pgo-build --buildtype=release -Ddocs=false && "
                       "ninja -C pgo-build", (both(hebrew), (20000, 25000)), "{0} {at}/train",
                       "{0} --rtl {at}/other"),
    "potrace": Program("potrace", "", "configure", "src/potrace", CONFIGURE,
                       (both(bitmap), (1400, 1700)), "{0} -s -o - {at}/train",
                       "{0} -b pdf -o - {at}/other"),
    "tcc": Program("tcc", "", "configure", "tcc", "./configure --cc=\"$CC\" --extra-cflags="
                   "\"$CFLAGS\" --extra-ldflags=\"$CFLAGS\" && make tcc",
                   (both(c_source), (9000, 11000)),
                   "{0} -B$(dirname {0}) -c -x c {at}/train -o {at}/out",
                   "{0} -B$(dirname {0}) -g -c -x c {at}/other -o {at}/out",
                   "./configure && make tcc", GCC),
    "minimap2": Program("minimap2", "", "make", "minimap2", "make",
                        (both(genome, two_files), ((600000, 1500), (500000, 1800))),
                        "{0} -t1 -a {at}/train.ref {at}/train.reads",
                        "{0} -t1 -x map-pb {at}/other.ref {at}/other.reads"),
    "lzip": Program("lzip", "", "configure", "lzip",
                    "./configure CXX=\"$CXX\" CXXFLAGS=\"$CXXFLAGS\" && make",
                    (both(markdown), (600, 700)), "{0} -k -c {at}/train",
                    "{0} -8 -k -c {at}/other", CONFIGURE),
    "clustalw": Program("clustalw", "", "configure", "src/clustalw2",
                        "CFLAGS= CXXFLAGS= ./configure && make CXXFLAGS=\"$CXXFLAGS\"",
                        (both(proteins), ((24, 260), (20, 330))),
                        "{0} -infile={at}/train -outfile={at}/out -newtree={at}/tree",
                        "{0} -infile={at}/other -outfile={at}/out -newtree={at}/tree",
                        CONFIGURE, GCC),
    "muscle": Program("muscle", "src", "make", "Linux/muscle",
                      "make CXX=\"$CXX\" CXXFLAGS=\"$CXXFLAGS\"",
                      (both(proteins), ((14, 120), (16, 110))),
                      "{0} -align {at}/train -output {at}/out -threads 1",
                      "{0} -align {at}/other -output {at}/out -threads 1", "make", GCC),
    "pulldown-cmark": Program("pulldown-cmark", "", "cargo", "target/release/pulldown-cmark",
                              CARGO + " --features getopts", (both(markdown), (30000, 40000)),
                              "{0} <{at}/train", "{0} -S -T <{at}/other",
                              CARGO + " --features getopts"),
    "csv": Program("csv", "", "cargo", "target/release/examples/tutorial-pipeline-search-02",
                   CARGO + " --example tutorial-pipeline-search-02",
                   (both(table), (500000, 600000)), "{0} AC <{at}/train", "{0} GT <{at}/other",
                   CARGO + " --example tutorial-pipeline-search-02"),
    "regex": Program("regex", "", "cargo", "target/release/examples/shootout-regex-dna-single",
                     CARGO + " --example shootout-regex-dna-single",
                     (both(dna), (30000, 36000)), "{0} <{at}/train", "{0} <{at}/other",
                     CARGO + " --example shootout-regex-dna-single"),
}


# ---- building ----

class Failed(Exception):
    pass


class Maker:
    def __init__(self, bench, name):
        self.bench, self.name, self.program = bench, name, PROGRAMS[name]
        self.folder = os.path.join(bench.data, "pgo-programs", name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        make, sizes = self.program.inputs
        make(self.folder, sizes)

    def is_rust(self):
        return self.program.system == "cargo"

    def copy(self, variant):
        """The folder of the build system in a copy of the sources."""
        to = os.path.join(self.folder, variant)
        if not self.is_rust():
            pattern = os.path.join(self.bench.data, "sources", self.program.source + "-[0-9]*")
            [source] = [path for path in glob.glob(pattern) if os.path.isdir(path)]
            shutil.copytree(source, to, symlinks=True)
            return os.path.join(to, self.program.folder)
        [crate] = [path for path in glob.glob(f"{REGISTRY}/{self.program.source}-[0-9]*")
                   if os.path.isdir(path)]
        shutil.copytree(crate, to)
        os.makedirs(os.path.join(to, ".cargo"))
        text(os.path.join(to, ".cargo"), "config.toml", [
            "[source.crates-io]", 'replace-with = "debian"', "[source.debian]",
            f'directory = "{REGISTRY}"'])
        return to

    def load(self, template, tree):
        binary = os.path.join(tree, self.program.binary)
        return template.format(shlex.quote(binary), at=shlex.quote(self.folder))

    def shell(self, command, tree, statuses=(0,), **env):
        """The processor time of the command."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(["sh", "-c", command], cwd=tree, check=False, text=True,
                              env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                              capture_output=True, errors="replace")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in statuses:
            raise Failed(f"{command}: {done.returncode}\n" + (done.stdout + done.stderr)[-3000:])
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def by_hand(self, variant, flags, rust="", tree=None):
        """The tree and the time of its build."""
        tree = tree or self.copy(variant)
        if self.is_rust():
            rust = f"-Cllvm-args=-align-all-functions=6 {rust}"
            return tree, self.shell(self.program.by_hand, tree, RUSTFLAGS=rust,
                                    CARGO_PROFILE_RELEASE_DEBUG="1")
        flags = f"-O2 -g1 {ALIGN} {flags}"
        return tree, self.shell(self.program.by_hand, tree, CFLAGS=flags, CXXFLAGS=flags,
                                **self.program.compilers)

    def with_counters(self):
        raw, profile = os.path.join(self.folder, "raw"), os.path.join(self.folder, "p.profdata")
        gcc = self.program.compilers is GCC
        generate = f"-fprofile-generate={raw} -fprofile-update=single" if gcc else \
            f"-fprofile-generate={raw}"
        tree, _ = self.by_hand("counted", generate, f"-Cprofile-generate={raw}")
        self.shell(self.load(self.program.train, tree) + " >/dev/null", tree)
        if gcc:  # which has the path of each object in the names of counts
            self.shell("make clean", tree)
            return self.by_hand("counted", f"-fprofile-use={raw} -Wno-missing-profile",
                                tree=tree)[0]
        merge = [self.bench.pgokit, "merge", "-q", *glob.glob(raw + "/*"), "-o", profile]
        subprocess.run(merge, check=True)
        return self.by_hand("counters", f"-fprofile-use={profile}",
                            f"-Cprofile-use={profile}")[0]

    def pgokit(self, variant, *options):
        """The tree, and the processor time of the command."""
        tree = os.path.join(self.folder, variant, "" if self.is_rust() else self.program.folder)
        if not os.path.exists(tree):
            tree = self.copy(variant)
        words = [self.bench.pgokit, "pgo", *options]
        if not self.is_rust():
            words += ["--cc", self.program.compilers["CC"]]
        if self.program.build:
            words += ["--build", self.program.build]
        return tree, self.shell(shlex.join(words), tree, (0, NOT_KEPT))

    def with_pgo(self):
        """The tree, and the report."""
        tree = self.copy("pgo")
        result = os.path.join(self.folder, "pgo.json")
        self.pgokit("pgo", "--run", self.load(self.program.train, tree) + " >/dev/null",
                    "--measure", self.load(self.program.other, tree), "--align", "--json", result,
                    "--max-time", str(MEASURE_S))
        with open(result, encoding="utf-8") as file:
            return tree, json.load(file)

    def committed(self):
        """The processor time of a build by a profile that was recorded before."""
        profile = os.path.join(self.folder, "kept.afdo")
        tree = self.copy("recorded")
        self.pgokit("recorded", "--record", "-o", profile, "--run",
                    self.load(self.program.train, tree) + " >/dev/null")
        return self.pgokit("used", "--use", profile)[1]


# ---- all of it ----

def code_bytes(maker, tree):
    listed = subprocess.run(["size", os.path.join(tree, maker.program.binary)], check=True,
                            text=True, stdout=subprocess.PIPE).stdout
    return int(listed.splitlines()[1].split()[0])


def measured(bench, runs, name):
    """Prints a line; the costs, and the figures."""
    maker = Maker(bench, name)
    plain, plain_s = maker.by_hand("plain", "")
    used_s = maker.committed()
    pgo, result = maker.with_pgo()
    built = {"plain": plain, "pgo": pgo, "counters": maker.with_counters()}
    commands = [["sh", "-c", "exec >/dev/null; exec "
                 + maker.load(maker.program.other, tree)] for tree in built.values()]
    costs = dict(zip(built, measure.in_turn(commands, max(runs, LEAST_TURNS))))
    found = {variant: gains(costs["plain"], costs[variant]) for variant in ("pgo", "counters")}
    growth = {variant: 100 * (code_bytes(maker, built[variant]) / code_bytes(maker, plain) - 1)
              for variant in found}
    kept = [row["name"] for row in result["rows"] if row["kept"]]
    print(f"  {name:<15}{maker.program.system:<10}{costs['plain'].cpu_s:>7.3f} s"
          + "".join(f"{100 * middle:>+8.1f} % ({100 * low:+.1f} {100 * high:+.1f}) "
                    f"{growth[variant]:+5.1f} %"
                    for variant, (low, middle, high) in found.items())
          + f"  {used_s / plain_s:.2f}  {kept[-1] if kept else 'plain: ' + why(result)}",
          flush=True)
    return costs, {variant: middle for variant, (_, middle, _) in found.items()}, used_s / plain_s


def why(result):
    return result["rows"][-1]["why"] if result["rows"] else "the same programs"


def say_means(rows):
    means = {variant: geometric([gain[variant] for gain, _ in rows])
             for variant in ("pgo", "counters")}
    print("  geometric means: " + ", ".join(f"{name} {100 * mean:+.1f} %"
                                            for name, mean in means.items()))
    if means["counters"] > 0:
        share = means["pgo"] / means["counters"]
        print(f"  pgo to counters {share:.2f}, required {OF_COUNTERS:.2f}: "
              + ("pass" if share >= OF_COUNTERS else "MISS"))
    slowest = statistics.geometric_mean([used for _, used in rows])
    print(f"  build by a committed profile {slowest:.2f} times plain, required {USED_TIME:.2f}: "
          + ("pass" if slowest <= USED_TIME else "MISS"))


def run(bench, runs):
    """Yields (program, variant, Cost)."""
    names = [name for name in PROGRAMS if not bench.only or name in bench.only]
    for name in list(names):
        if PROGRAMS[name].system == "cargo" and not glob.glob(
                f"{REGISTRY}/{PROGRAMS[name].source}-[0-9]*"):
            print(f"  {name}: left out, install librust-{PROGRAMS[name].source}-dev")
            names.remove(name)
    packages = [PROGRAMS[name].source for name in names if PROGRAMS[name].system != "cargo"]
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, *packages], check=True)
    print("\nGain, with quartiles, and growth of code; then the time of a build by a committed "
          "profile\n" + f"  {'':<25}{'plain':>9}{'pgo':>24}{'counters':>34}{'used':>15}  kept")
    rows = []
    for name in names:
        try:
            costs, gain, used = measured(bench, runs, name)
        except Failed as why_not:
            print(f"  {name:<15}FAILED: {why_not}", flush=True)
            continue
        rows.append((gain, used))
        yield from ((name, variant, cost) for variant, cost in costs.items())
    if rows:
        say_means(rows)
