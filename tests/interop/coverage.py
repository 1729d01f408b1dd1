"""Reports of coverage: `llvm-cov report` says the same of a profile of llvm-profdata and of ours,
however ours came about, for programs of clang 14 to 23 and of rustc. llvm-cov finds a function by
its hash in the program, so that a hash that is changed shows as a function that never ran."""

import functools
import os
import re
import sys
import threading

from instr_profiles import many_branches, profdata
from peers import PROGRAMS, Skip, at_hand, beside, good, main, peer, require, run, tool

RELEASES = (14, 16, 19, 22, 23)
COVERAGE = ["-fprofile-instr-generate", "-fcoverage-mapping"]
RUNS = ("3", "9")
RECORDING = threading.Lock()


class Recorded:
    """A program, its raw profiles, and what llvm-profdata of its release made of them. `since` is
    the first release that writes all that is in them into an index."""

    def __init__(self, work, label, release, since=0):
        self.release, self.since = release, since
        self.folder = work.temp(label.replace(" ", "-"))
        self.exe = f"{self.folder}/program"
        self.raws = [f"{self.folder}/{arg}.profraw" for arg in RUNS]
        self.theirs = f"{self.folder}/theirs.profdata"
        self.lock = threading.Lock()
        self.made = 0
        self.ours, self.newer, self.reports = {}, {}, {}

    def record(self, *start):
        for arg, raw in zip(RUNS, self.raws):
            run(*start, self.exe, arg, env={"LLVM_PROFILE_FILE": raw})
        good(profdata(self.release), "merge", *self.raws, "-o", self.theirs)
        return self

    def report(self, reader, profile):
        """Of a profile; equal ones are read once."""
        with open(profile, "rb") as f:
            key = reader, f.read()
        if key not in self.reports:
            result = run(tool("llvm-cov", reader), "report", self.exe, f"-instr-profile={profile}",
                         *(["-show-mcdc-summary"] if reader >= 19 else []))
            self.reports[key] = result.text + result.errors
        return self.reports[key]

    def by_newer(self, release):
        """What llvm-profdata of a newer release makes of the index."""
        if release not in self.newer:
            self.newer[release] = f"{self.folder}/by-{release}.profdata"
            good(profdata(release), "merge", self.theirs, "-o", self.newer[release])
        return self.newer[release]


@functools.lru_cache(maxsize=None)
def by_clang(work, release, *flags):
    compiler = tool("clang", release)
    recorded = Recorded(work, f"clang {release}", release, 19 if flags else 0)
    source = many_branches(recorded.folder)
    good(compiler, *COVERAGE, *flags, source, "-o", recorded.exe)
    return recorded.record(*beside(compiler))


@functools.lru_cache(maxsize=None)
def by_rustc(work):
    rustc = peer("rustc")
    recorded = Recorded(work, "rustc", rust_llvm(rustc))
    built = run(rustc, "-Cinstrument-coverage", os.path.join(PROGRAMS, "covered.rs"), "-o",
                recorded.exe)
    if "profiler_builtins" in built.errors:
        raise Skip("no profiler_builtins beside rustc: it cannot count")
    require(built.code == 0, str(built))
    return recorded.record()


def rust_llvm(rustc):
    """The release whose tools read what its programs write."""
    version = int(re.search(r"LLVM version: (\d+)", good(rustc, "-vV"))[1])
    for release in at_hand(*RELEASES):
        if release >= version:
            return release
    raise Skip(f"no llvm-cov {version} for programs of this rustc")


def ways(work, recorded, target):
    """Each way from the raw profiles to an indexed file: its name, and the file."""
    def pgokit(verb, *args, to=target):
        recorded.made += 1
        out = f"{recorded.folder}/{recorded.made}"
        result = run(work.pgokit, verb, *args, *to, "-q", "-o", out)
        # What some targets cannot hold, and what convert says of it.
        require(result.code == ("build ids of programs are not" in result.errors), str(result))
        return out

    yield "merge", pgokit("merge", *recorded.raws)
    yield "convert", pgokit("convert", recorded.theirs)
    parts = [pgokit("merge", "--partial", raw, to=[]) for raw in recorded.raws]
    yield "merge of partial forms", pgokit("merge", *parts)
    yield "convert by way of text", pgokit("convert", pgokit("convert", recorded.theirs,
                                                             to=["--to", "text"]))
    yield "convert by way of raw", pgokit("convert", pgokit("convert", recorded.theirs,
                                                            to=["--to", "raw"]))
    for release in at_hand(*RELEASES):
        if release > recorded.release:
            newer = recorded.by_newer(release)
            yield f"merge of what llvm-profdata {release} wrote", pgokit("merge", newer)


def same_report(work, record, reader, *args):
    with RECORDING:  # once for all readers
        recorded = record(work, *args)
    with recorded.lock:
        compare(work, recorded, reader)


def compare(work, recorded, reader):
    wanted = recorded.report(reader, recorded.theirs)
    require("TOTAL" in wanted and "100.00%" not in wanted.split("TOTAL")[1].split("\n")[0] and
            " 0.00%" not in wanted.split("TOTAL")[1], f"says nothing of a loss:\n{wanted}")
    targets = [("--to", f"llvm{r}") for r in RELEASES if recorded.since <= r <= reader]
    if reader >= max(19, recorded.release):
        targets += [("--to", "any"), ()]
    if reader >= 22:  # asked for, hashes stay all the same
        targets += [("--index-version", "13")]
    for target in targets:
        if target not in recorded.ours:
            recorded.ours[target] = list(ways(work, recorded, target))
        for name, profile in recorded.ours[target]:
            found = recorded.report(reader, profile)
            require(found == wanted, f"{name} {' '.join(target)}\nwas:\n{wanted}\nis:\n{found}")


def add_cases(work, tap):
    for release in RELEASES:
        for reader in sorted({release, 22, 23}):
            if reader >= release:
                tap.add(f"coverage of clang {release} by llvm-cov {reader}", same_report, work,
                        by_clang, reader, release)
    for release in (19, 22, 23):
        tap.add(f"conditions (MC/DC) of clang {release}", same_report, work, by_clang, release,
                release, "-fcoverage-mcdc")
    for reader in (22, 23):
        tap.add(f"coverage of rustc by llvm-cov {reader}", same_report, work, by_rustc, reader)


if __name__ == "__main__":
    sys.exit(main(add_cases))
