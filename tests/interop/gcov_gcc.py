"""Counters of gcc 12 to 16: merged as gcov-tool merges, used by gcc, of one release for another."""

import os
import re
import shutil
import sys

from instr_profiles import SOURCE, merge
from peers import PROGRAMS, good, main, peer, read, require, run, tool

RUNS = (10, 100, 1000)
RELEASES = (12, 13, 14, 15, 16)
# What a release counts besides, and by which options.
COVERAGE = {14: ["-fcondition-coverage"], 15: ["-fcondition-coverage", "-fpath-coverage"],
            16: ["-fcondition-coverage", "-fpath-coverage"]}


def record(folder, compiler, more):
    """Builds and runs the program; static, so that what newer Debian's compilers made runs here."""
    shutil.copy(os.path.join(PROGRAMS, SOURCE), folder)
    options = ["-fprofile-generate", "-ftest-coverage", *more]
    good(compiler, "-O2", *options, "-c", SOURCE, "-o", "counted.o", cwd=folder)
    good(compiler, "-static", *options, "counted.o", "-o", "counted", cwd=folder)
    for n in RUNS:
        good(f"{folder}/counted", str(n), cwd=folder)
        os.makedirs(f"{folder}/{n}")
        shutil.move(f"{folder}/counted.gcda", f"{folder}/{n}/counted.gcda")


def recorded(work, folder, release=12, more=()):
    """The program's .gcda of each run, and where gcc looks for it. The program is built and run
    once for all cases."""
    compiler = peer(f"g++-{release}")
    stat = os.stat(compiler)
    key = (release, more, read(os.path.join(PROGRAMS, SOURCE)), stat.st_size, stat.st_mtime_ns)
    kept = work.shared("gcov", key, lambda to: record(to, compiler, more))
    for name in (SOURCE, "counted.gcno"):
        shutil.copy(os.path.join(kept, name), folder)
    for n in RUNS:
        shutil.copytree(f"{kept}/{n}", f"{folder}/{n}")
    return [f"{folder}/{n}/counted.gcda" for n in RUNS]


def dump(path, release=12):
    """Counters as gcov-dump prints them: lists as sets, without those that were cut."""
    functions, numbers, kind = [], [], ""

    def finish():
        if kind in ("topn", "indirect_call") and numbers:
            functions.append((kind, lists(numbers)))
        elif kind:
            functions.append((kind, tuple(numbers)))

    for line in good(peer(f"gcov-dump-{release}"), "-l", path).splitlines():
        line = line[len(path) + 1:]
        if record := re.match(r" +\w{8}: +\S+(FUNCTION|SUMMARY|COUNTERS)\s?(.*)", line):
            finish()
            numbers = []
            kind = record[2].split()[0] if record[1] == "COUNTERS" else record[1] + record[2]
        elif values := re.match(r" +\d+: ([-\d ]+)$", line):
            numbers += [int(x) for x in values[1].split()]
    finish()
    return functions


def lists(numbers):
    out, at = [], 0
    while at + 1 < len(numbers):
        total, n = numbers[at], numbers[at + 1]
        pairs = numbers[at + 2:at + 2 + 2 * n]
        out.append((total, () if total < 0 else tuple(sorted(zip(pairs[::2], pairs[1::2])))))
        at += 2 + 2 * n
    return tuple(out)


def like_gcov_tool(work, release, more=()):
    folder = work.temp("gcov")
    runs = recorded(work, folder, release, more)
    merge(work, f"{folder}/two.gcda", *runs[:2])
    good(peer(f"gcov-tool-{release}"), "merge", f"{folder}/10", f"{folder}/100", "-o",
         f"{folder}/merged")
    theirs, ours = (dump(path, release) for path in (f"{folder}/merged/counted.gcda",
                                                     f"{folder}/two.gcda"))
    # gcov-tool leaves out empty records.
    require([r for r in theirs if r[1]] == [r for r in ours if r[1]],
            f"theirs {theirs}\nours {ours}")
    require(any(r[0] == "indirect_call" and r[1] for r in ours), "no indirect calls")
    if more:
        require(any(r[0] == "conditions" and any(r[1]) for r in ours), "no conditions")
    # A file alone stays as it is but for the order of lists.
    merge(work, f"{folder}/one.gcda", runs[0])
    require(dump(f"{folder}/one.gcda", release) == dump(runs[0], release), "one file changes")
    return good(peer(f"gcov-dump-{release}"), "--version").splitlines()[0]


def files_below(folder):
    found = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]
    return sorted(os.path.relpath(path, folder) for path in found if path.endswith(".gcda"))


def folders(work):
    """Whole programs: files of the same place are added up, others come along."""
    folder = work.temp("gcov-folders")
    runs = recorded(work, folder)
    for top, run_file in (("a", runs[0]), ("b", runs[1])):
        for place in ("one.gcda", "deep/er/two.gcda"):
            os.makedirs(os.path.dirname(f"{folder}/{top}/{place}"), exist_ok=True)
            shutil.copy(run_file, f"{folder}/{top}/{place}")
    shutil.copy(runs[2], f"{folder}/b/only.gcda")
    result = merge(work, f"{folder}/out", f"{folder}/a/", f"{folder}/b")
    require("3 .gcda files" in result.errors, str(result))
    merge(work, f"{folder}/two", runs[0], runs[1])
    merge(work, f"{folder}/alone", runs[2])
    require(files_below(f"{folder}/out") == ["deep/er/two.gcda", "one.gcda", "only.gcda"],
            str(files_below(f"{folder}/out")))
    for place, want in (("one", "two"), ("deep/er/two", "two"), ("only", "alone")):
        require(read(f"{folder}/out/{place}.gcda") == read(f"{folder}/{want}"), place)
    good(tool("gcov-tool-12"), "merge", f"{folder}/a", f"{folder}/b", "-o", f"{folder}/theirs")
    require(files_below(f"{folder}/theirs") == files_below(f"{folder}/out"), "other places")
    merge(work, f"{folder}/weighted", f"{folder}/a@2")
    merge(work, f"{folder}/twice", runs[0], runs[0])
    require(read(f"{folder}/weighted/one.gcda") == read(f"{folder}/twice"), "the weight")
    for inputs, words in (((f"{folder}/a", runs[0]), "not both"),
                          ((work.temp("gcov-none"),), "without any profile")):
        result = merge(work, f"{folder}/bad", *inputs, code=2)
        require(words in result.errors, str(result))
        require(not os.path.exists(f"{folder}/bad"), "half an output")


def any_order(work):
    folder = work.temp("gcov-order")
    a, b, c = recorded(work, folder)
    merge(work, f"{folder}/abc", a, b, c)
    want = read(f"{folder}/abc")
    for name, inputs in (("cba", (c, b, a)), ("bac", (b, a, c))):
        merge(work, f"{folder}/{name}", *inputs)
        require(read(f"{folder}/{name}") == want, f"{name} differs")
    merge(work, f"{folder}/weighted", f"{a}@3", b)
    merge(work, f"{folder}/repeated", a, b, a, a)
    require(read(f"{folder}/weighted") == read(f"{folder}/repeated"), "a weight is not so many")


def compiled(folder, release, profile, complaints=0):
    """The object that gcc makes with a profile, which it complains of for so many functions."""
    if profile:
        shutil.copy(profile, f"{folder}/counted.gcda")
    result = run(peer(f"g++-{release}"), "-O2", "-c", SOURCE, "-o", "counted.o",
                 *(["-fprofile-use", "-Wmissing-profile", "-Wno-error=coverage-mismatch"]
                   if profile else []), cwd=folder)
    about = set(re.findall(r"of function '(.*?)' does not match", result.errors))
    require(result.code == 0 and len(about) == complaints, str(result))
    require(complaints or "profile" not in result.errors, str(result))
    return read(f"{folder}/counted.o")


def used_by_gcc(work, release):
    """Objects by our file are those by gcov-tool's."""
    folder = work.temp("gcov-use")
    runs = recorded(work, folder, release)
    merge(work, f"{folder}/ours.gcda", *runs[:2])
    good(peer(f"gcov-tool-{release}"), "merge", f"{folder}/10", f"{folder}/100", "-o",
         f"{folder}/merged")
    objects = [compiled(folder, release, profile)
               for profile in (f"{folder}/merged/counted.gcda", f"{folder}/ours.gcda", None)]
    require(objects[0] == objects[1], "the objects differ")
    require(objects[0] != objects[2], "the profile has no effect")


def own_object(work, release):
    """What gcc makes with its own counters, once for all cases."""
    def make(folder):
        compiled(folder, release, recorded(work, folder, release)[0])
    key = (release, read(os.path.join(PROGRAMS, SOURCE)))
    return read(os.path.join(work.shared("gcov-used", key, make), "counted.o"))


def graphs(work, path):
    """Checksums of functions."""
    raw = good(work.pgokit, "show", "--raw", path)
    return dict(re.findall(r"^(\S.*)\n    checksums (.*)", raw, re.M))


def of_another_release(work, release, other):
    """The counters of one release make the object that the other release's own make, where both
    have the same graphs; as they are, that one ignores them."""
    folder, own = work.temp("gcov-from"), work.temp("gcov-own")
    theirs, ours = recorded(work, folder, other)[0], recorded(work, own, release)[0]
    version = good(peer(f"gcc-{release}"), "-dumpfullversion").strip().rpartition(".")[0]
    converted = f"{folder}/converted.gcda"
    good(work.pgokit, "convert", theirs, "--to", f"gcc{version}", "-o", converted)
    differ = len(graphs(work, theirs).items() - graphs(work, ours).items())
    require(differ <= 1, f"{differ} functions have other graphs")
    want = own_object(work, release)
    found = compiled(own, release, converted, differ)
    require((found == want) == (not differ), "another object")
    require(f"read by gcc {version}" in good(work.pgokit, "check", converted), "another release")
    shutil.copy(theirs, f"{own}/counted.gcda")
    result = run(peer(f"g++-{release}"), "-O2", "-c", SOURCE, "-o", "counted.o", "-fprofile-use",
                 cwd=own)
    require("expected version" in result.errors, str(result))
    return f"{differ} functions have other graphs"


def named(work, release):
    folder = work.temp("gcov-names")
    runs = recorded(work, folder, release, COVERAGE.get(release, ()))
    shutil.copy(f"{folder}/counted.gcno", f"{folder}/10/counted.gcno")
    shown = good(work.pgokit, "show", runs[0], "--top", "0")
    for name in ("_Z5callsi", "_Z4condiii", SOURCE):
        require(name in shown, shown)
    raw = good(work.pgokit, "show", "--raw", runs[0])
    require("indirect calls: reached 10 times" in raw, raw)
    require("names" in good(work.pgokit, "check", f"{folder}/counted.gcno"), "no names")


def refused(work):
    folder = work.temp("gcov-refuse")
    a = recorded(work, folder)[0]
    other = work.temp("gcov-other")
    with open(f"{other}/{SOURCE}", "w", encoding="ascii") as f:
        f.write("int main() { return 0; }\n")
    good(tool("g++-12"), "-fprofile-generate", "-c", SOURCE, "-o", "counted.o", cwd=other)
    good(tool("g++-12"), "-fprofile-generate", "counted.o", "-o", "counted", cwd=other)
    good(f"{other}/counted", cwd=other)
    result = merge(work, f"{folder}/out", a, f"{other}/counted.gcda", code=2)
    for word in ("stamp", a, "different builds"):
        require(word in result.errors, str(result))
    data = read(a)
    for n in range(4, len(data) - 5, 7):
        with open(f"{folder}/cut.gcda", "wb") as f:
            f.write(data[:n])
        result = run(work.pgokit, "check", f"{folder}/cut.gcda")
        # A file may end behind any record.
        require(result.code in (0, 2) and (result.code == 0 or "offset" in result.errors),
                str(result))


def add_cases(work, tap):
    for release in RELEASES:
        tap.add(f"gcc {release}: merged like gcov-tool", like_gcov_tool, work, release)
        tap.add(f"gcc {release}: objects", used_by_gcc, work, release)
        tap.add(f"gcc {release}: names of functions", named, work, release)
        for other in RELEASES:
            if other != release:
                tap.add(f"gcc {release}: counters of gcc {other}", of_another_release, work,
                        release, other)
    for release, more in COVERAGE.items():
        tap.add(f"gcc {release}: conditions and paths", like_gcov_tool, work, release, more)
    tap.add("gcc: folders", folders, work)
    tap.add("gcc: any order, weights", any_order, work)
    tap.add("gcc: refused", refused, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
