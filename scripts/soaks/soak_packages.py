"""Builds source packages of Debian by profiles that are kept in them, recorded while the packages'
own tests run: `pgokit pgo --record`, then `pgokit pgo --use`, both by debian/rules and gcc.

  scripts/soak packages BUILD [--only NAME]...
  scripts/soak packages BUILD --draw

Installs the build dependencies of each package, so it needs root, and is best run in a root of
Debian 12 of its own (scripts/fresh). The packages are those of scripts/soaks/packages.txt, which
--draw wrote before any of them was built. By this rule: source packages with a program in C or C++
(by the tags of their binary packages), with source archives of at most 1 MB, in the order of the
SHA-256 of "pgokit NAME"; of these the first forty that can be fetched and whose build system names
tests (SOURCES_WITH_TESTS below).

The tests run by debhelper's dh_auto_test with the options that debian/rules has for dh. Then they
run in turns with both builds for a minute, at least six and at most thirty turns, and the processor
time of all that they start is compared: the median of the ratios, and the interval in which it lies
with 97 %. Most of that time is often spent in shells and compilers, which no profile makes faster.

One line for each package, then the sums. The exit status is 1 if a package that builds and passes
its tests plain does not do so by its profile.
"""

import collections
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import statistics
import subprocess
import time

import suites

LIST = pathlib.Path(__file__).with_name("packages.txt")
COUNT, MOST_BYTES = 40, 1000 * 1000
TRIED = 1500  # of the order, until so many have tests
BUILD_S, TEST_S, MEASURE_S = 900, 300, 60
TURNS = range(6, 31)
LEAST_S = 0.2  # of processor time, or nothing can be recorded
SOURCES_WITH_TESTS = {
    "Makefile.am": r"^\s*(TESTS\s*\+?=\s*\S|check-local\s*:)",
    "CMakeLists.txt": r"^\s*(?i:enable_testing|add_test)\s*\(",
    "meson.build": r"^\s*test\s*\(",
    "Makefile": r"^(check|test)\s*:",
    "GNUmakefile": r"^(check|test)\s*:",
    "Makefile.in": r"^(check|test)\s*:",
}
PLAIN = {"DEB_BUILD_OPTIONS": "nocheck"}
Turns = collections.namedtuple("Turns", "gain low high")


# ---- the list ----

def fields_of(stanza):
    return dict(re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", stanza, re.M))


def with_programs():
    """Source packages of which a binary package holds a program in C or C++."""
    found = set()
    for stanza in subprocess.run(["apt-cache", "dumpavail"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout.split("\n\n"):
        fields = fields_of(stanza)
        tags = fields.get("Tag", "")
        if "role::program" in tags and re.search(r"implemented-in::(c|c\+\+)(,|\s|$)", tags):
            found.add(fields.get("Source", fields["Package"]).split()[0])
    return found


def archive_bytes(name):
    text = subprocess.run(["apt-cache", "showsrc", "--only-source", name], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split("\n\n")[0]
    sizes = re.findall(r"^ \w{32} (\d+) \S+\.(?:orig\S*|tar\.\w+)$", text, re.M)
    return sum(map(int, sizes)) if sizes else MOST_BYTES + 1


def names_tests(folder):
    return any(re.search(pattern, path.read_text(errors="replace"), re.M)
               for name, pattern in SOURCES_WITH_TESTS.items()
               for path in folder.rglob(name) if path.is_file())


def draw():
    order = sorted(with_programs(),
                   key=lambda name: hashlib.sha256(f"pgokit {name}".encode()).digest())
    chosen = []
    for name in order[:TRIED]:
        if archive_bytes(name) > MOST_BYTES:
            continue
        try:
            data = suites.fetch([name])
        except subprocess.CalledProcessError:
            continue
        if names_tests(suites.source_of(data, name)):
            chosen.append(name)
            print(f"{len(chosen)}: {name}", flush=True)
        if len(chosen) == COUNT:
            break
    LIST.write_text("".join(f"{name}\n" for name in chosen), encoding="ascii")
    return len(chosen) == COUNT


# ---- one package ----

class Failed(Exception):
    """What became of a package that has no figures."""


class Package:
    def __init__(self, name, data, build):
        self.name, self.pgokit = name, build / "tools" / "pgokit"
        self.folder = suites.folder_of(data, "packages") / name
        self.source = suites.source_of(data, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def copy(self, variant):
        to = self.folder / variant / "source"
        shutil.copytree(self.source, to, symlinks=True)
        return to

    def shell(self, log, command, folder, limit, **env):
        """The exit status; 124 after the limit."""
        with open(self.folder / f"{log}.log", "a", encoding="utf-8") as out:
            return subprocess.run(
                ["timeout", "-k", "10", str(limit), "sh", "-c", command], cwd=folder, check=False,
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C.UTF-8", **PLAIN, **env}).returncode

    def test_command(self):
        """As dh runs the tests, with its options for the build system."""
        rules = (self.source / "debian/rules").read_text(errors="replace")
        words = re.findall(r"^\t\s*dh \$@(.*(?:\\\n.*)*)", rules, re.M)
        options = re.findall(r"--(?:buildsystem|builddirectory|sourcedirectory)[= ]\S+",
                             " ".join(words))
        return "DEB_BUILD_OPTIONS= dh_auto_test " + " ".join(
            "-O" + option.replace(" ", "=") for option in options)

    def test(self, log, folder):
        """Whether the tests pass, and their processor time."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        status = self.shell(log, self.test_command(), folder, TEST_S)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return status == 0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def pgo(self, log, folder, *options):
        words = [str(self.pgokit), "pgo", "--cc", "gcc", "--clean", "debian/rules clean", "--build",
                 "debian/rules build-arch", *options]
        return self.shell(log, shlex.join(words), folder, BUILD_S + TEST_S)

    def record(self, plain, profile):
        if self.shell("plain", "debian/rules build-arch", plain, BUILD_S):
            raise Failed("does not build plain")
        passes, _ = self.test("plain", plain)
        if not passes:
            raise Failed("its tests do not pass plain")
        _, seconds = self.test("plain", plain)
        if seconds < LEAST_S:
            raise Failed(f"its tests take {seconds:.2f} s of processor time")
        recorded = self.copy("recorded")
        if self.pgo("recorded", recorded, "--record", "-o", str(profile), "--run",
                    self.test_command()):
            raise Failed("no profile: " + self.last_words("recorded"))

    def last_words(self, log):
        lines = (self.folder / f"{log}.log").read_text(errors="replace").splitlines()
        said = [line for line in lines if line.startswith("pgokit: ")
                and "all that the commands printed" not in line and "above is why" not in line]
        return (said or lines or [""])[-1].removeprefix("pgokit: ")

    def build_used(self, used, profile):
        if self.pgo("used", used, "--use", str(profile)):
            raise Failed("DOES NOT BUILD BY ITS PROFILE: " + self.last_words("used"))
        for _ in range(suites.TRIES):
            passes, _ = self.test("used", used)
            if passes:
                return
        raise Failed("ITS TESTS FAIL BY ITS PROFILE")

    def measure(self, plain, used):
        until, ratios = time.monotonic() + MEASURE_S, []
        while len(ratios) < TURNS.start or (len(ratios) < TURNS.stop and
                                            time.monotonic() < until):
            seconds = {}
            for folder in random.sample([plain, used], 2):
                passes, seconds[folder] = self.test("measured", folder)
                if not passes:
                    raise Failed("ITS TESTS FAIL WHILE THEY ARE MEASURED")
            ratios.append(seconds[plain] / seconds[used])
        ratios.sort()
        # With six turns the smallest and the largest; the median is outside of them in 1 of 32.
        outside, n, skip = 0.0, len(ratios), 0
        chance = 2.0 ** -n
        while outside + 2 * chance <= 0.032 and skip < n // 2:
            outside += 2 * chance
            skip += 1
            chance *= (n - skip + 1) / skip
        skip = max(skip - 1, 0)
        return Turns(*(100 * (ratio - 1) for ratio in (statistics.median(ratios), ratios[skip],
                                                       ratios[-1 - skip])))

    def code_bytes(self, folder):
        """Machine code of what a build made."""
        total = 0
        for path in folder.rglob("*"):
            if path.is_symlink() or not path.is_file() or path.suffix in (".o", ".a", ".lo"):
                continue
            with open(path, "rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            listed = subprocess.run(["size", path], check=False, text=True, capture_output=True)
            rows = listed.stdout.splitlines()[1:]
            total += sum(int(row.split()[0]) for row in rows)
        return total

    def try_it(self):
        """The figures of a package; raises Failed."""
        if subprocess.run(["apt-get", "-qq", "build-dep", "-y", "--no-install-recommends",
                           self.source], check=False, stdin=subprocess.DEVNULL,
                          capture_output=True,
                          env={**os.environ,
                               "DEBIAN_FRONTEND": "noninteractive"}).returncode:
            raise Failed("what it needs cannot be installed")
        plain, profile = self.copy("plain"), self.folder / "profile.afdo"
        self.record(plain, profile)
        used = self.copy("used")
        self.build_used(used, profile)
        turns = self.measure(plain, used)
        before, after = self.code_bytes(plain), self.code_bytes(used)
        return turns, 100 * (after - before) / before if before else 0.0, profile.stat().st_size


def verdict(turns):
    return "gains" if turns.low > 0 else "loses" if turns.high < 0 else "same"


def add_options(parser):
    parser.add_argument("--only", action="append", metavar="NAME", help="this package alone")
    parser.add_argument("--draw", action="store_true", help="write the list anew")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures to this file")


def soak(args):
    """True: every package that builds and passes plain does so by its profile."""
    if args.draw:
        return draw()
    names = args.only or LIST.read_text(encoding="ascii").split()
    counts, rows = collections.Counter(), []
    for name in names:
        row = {"package": name}
        try:
            turns, growth, size = Package(name, suites.fetch([name]), args.build).try_it()
            row |= {"verdict": verdict(turns), **turns._asdict(), "growth": growth,
                    "profile_bytes": size}
            print(f"{name}: {row['verdict']}, {turns.gain:+.1f} % ({turns.low:+.1f} to "
                  f"{turns.high:+.1f} %), code {growth:+.1f} %, profile {size:,} bytes", flush=True)
        except Failed as failed:
            row |= {"verdict": str(failed)}
            print(f"{name}: {failed}", flush=True)
        counts[re.sub(r"[:\d].*", "", row["verdict"])] += 1
        rows.append(row)
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for what, n in counts.most_common():
        print(f"{n} of {len(names)}: {what}")
    return not any(row["verdict"].isupper() for row in rows)
