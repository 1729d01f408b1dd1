"""Counters of real programs: what pgokit merges is what llvm-profdata of the same release
merges, as text, in bytes where they are defined, and in its reading of our files."""

import os
import shutil
import sys

from instr_profiles import KINDS, counted, each, keep, merge, profdata, same_text, text
from peers import at_hand, good, main, read, require, run

# Byte for byte: 14 and 16 write in the order of a hash table in memory, and the order of names of
# virtual tables is such an order in all releases.
SAME_BYTES = [(k, r) for k, r in each() if r >= 19 and k != "vtables"]


def parts(program):
    # Traces of several runs are put in an order of their own.
    return [program.raws[:1]] + ([program.raws] if program.kind != "temporal" else [])


def as_text(work, kind, release):
    program = counted(work, kind, release)
    folder = work.temp("text")
    for raws in parts(program):
        merge(work, f"{folder}/out.proftext", "--to", "text", *raws)
        same_text(text(release, *raws), read(f"{folder}/out.proftext").decode(),
                  f"{len(raws)} profiles")


def shown(release, tables, path):
    """Lines in an order of their own: functions come in that of the file's hash table."""
    return "\n".join(sorted(good(profdata(release), "show", *tables, path).splitlines()))


def read_by_them(work, kind, release):
    program = counted(work, kind, release)
    folder = work.temp("indexed")
    for raws in parts(program):
        merge(work, f"{folder}/ours", "--to", f"llvm{release}", *raws)
        good(profdata(release), "merge", *keep(release), "-j", "1", *raws, "-o", f"{folder}/theirs")
        same_text(text(release, f"{folder}/theirs"), text(release, f"{folder}/ours"), "their text")
        for tables in (["--all-functions", "--counts", "--ic-targets", "--memop-sizes"],
                       ["--detailed-summary", "--binary-ids"] if release >= 16
                       else ["--detailed-summary"]):
            same_text(shown(release, tables, f"{folder}/theirs"),
                      shown(release, tables, f"{folder}/ours"), "show")


def same_bytes(work, kind, release):
    program = counted(work, kind, release)
    folder = work.temp("bytes")
    for raws in parts(program):
        merge(work, f"{folder}/ours", "--to", f"llvm{release}", *raws)
        good(profdata(release), "merge", "-j", "1", *raws, "-o", f"{folder}/theirs")
        require(read(f"{folder}/ours") == read(f"{folder}/theirs"),
                f"{len(raws)} profiles: the bytes differ")


def theirs_read_by_us(work, kind, release):
    """Raw, indexed and text of one profile are the same to us."""
    program = counted(work, kind, release)
    folder = work.temp("theirs")
    good(profdata(release), "merge", *keep(release), program.raws[1], "-o", f"{folder}/indexed")
    good(profdata(release), "merge", *keep(release), "--text", program.raws[1], "-o",
         f"{folder}/text")
    texts = []
    for source in (program.raws[1], f"{folder}/indexed", f"{folder}/text"):
        merge(work, f"{folder}/out", "--to", "text", source)
        texts.append(read(f"{folder}/out").decode())
        same_text(texts[0], texts[-1], os.path.basename(source))


# What llvm-profdata of each release reads, and what of a profile that cannot hold.
RAW_VERSIONS = ((14, 8), (16, 8), (19, 10), (22, 10), (23, 11))
LOST_BEFORE = {"loops": 9, "mcdc": 9, "temporal": 9, "vtables": 10}
COVERAGE = ("blocks", "bytes", "entry")
# Texts before have no word for it.
WORD_FROM = {"blocks": 19, "bytes": 19, "entry": 19, "loops": 22}


def raw_again(work, kind, release):
    """A raw profile that we write is to every release what the original is to its own."""
    program = counted(work, kind, release)
    folder = work.temp("raw")
    for raws in parts(program):
        merge(work, f"{folder}/all", *raws, "--to", "text")
        for reader, version in RAW_VERSIONS:
            if reader not in at_hand(reader):
                continue
            lost = version < LOST_BEFORE.get(kind, 0)
            merge(work, f"{folder}/ours", *raws, "--to", "raw", "--format-version", str(version),
                  code=int(lost or (kind in COVERAGE and len(raws) > 1)))
            merge(work, f"{folder}/back", f"{folder}/ours", "--to", "text")
            back = read(f"{folder}/back").decode()
            if not lost and kind not in COVERAGE:
                same_text(read(f"{folder}/all").decode(), back, f"version {version}")
            if reader >= WORD_FROM.get(kind, 0):
                same_text(text(reader, f"{folder}/ours"), back, f"of llvm-profdata {reader}")


def partial(work, kind, release):
    """Partial profiles of some inputs each, merged, are the merge of all inputs."""
    program = counted(work, kind, release)
    folder = work.temp("partial")
    a, b, c = program.raws
    for name, raws in (("a", [a]), ("bc", [f"{b}@3", c])):
        merge(work, f"{folder}/{name}", "--partial", *raws)
    for to in (["--to", "llvm14"], ["--to", "llvm22"], ["--to", "llvm23"], ["--to", "raw"],
               []):
        code = run(work.pgokit, "merge", a, f"{b}@3", c, *to, "-o", f"{folder}/all").code
        merge(work, f"{folder}/parts", f"{folder}/bc", f"{folder}/a", *to, code=code)
        require(read(f"{folder}/all") == read(f"{folder}/parts"), f"{to}: the bytes differ")


def many_files(work):
    """Enough for several threads; all of a kind, with what tells inputs apart."""
    folder = work.temp("many")
    raws = counted(work, "ir", 22).raws + counted(work, "ir", 19).raws
    files = []
    for i in range(192):
        files.append(f"{folder}/{i}.profraw")
        shutil.copy(raws[i % len(raws)], files[-1])
    said = [merge(work, f"{folder}/{threads}", "-j", str(threads), *files).errors
            for threads in (1, 2, 3)]
    require(read(f"{folder}/1") == read(f"{folder}/2") == read(f"{folder}/3"), "threads show")
    require(said[0] == said[1] == said[2], f"threads show in what is said:\n{said}")


def any_order(work, kind, release):
    """Order, grouping, threads and the kind of files in between do not show."""
    program = counted(work, kind, release)
    folder = work.temp("order")
    a, b, c = program.raws
    to = ["--to", f"llvm{release}" if release >= 22 else "llvm19"]
    merge(work, f"{folder}/abc", *to, a, b, c)
    want = read(f"{folder}/abc")
    merge(work, f"{folder}/cab", *to, "-j", "1", c, a, b)
    merge(work, f"{folder}/ab", *to, a, b)
    merge(work, f"{folder}/ab-c", *to, f"{folder}/ab", c)
    merge(work, f"{folder}/bc", "--to", "text", b, c)
    merge(work, f"{folder}/a-bc", *to, f"{folder}/bc", a)
    for name in ("cab", "ab-c"):
        require(read(f"{folder}/{name}") == want, f"{name} differs")
    # Texts do not hold binary ids.
    reader = max(release, 22)
    same_text(text(reader, f"{folder}/abc"), text(reader, f"{folder}/a-bc"), "by way of a text")


def concatenated(work, kind, release):
    program = counted(work, kind, release)
    folder = work.temp("cat")
    with open(f"{folder}/cat.profraw", "wb") as f:
        for raw in program.raws:
            f.write(read(raw))
    merge(work, f"{folder}/one", f"{folder}/cat.profraw")
    merge(work, f"{folder}/three", *program.raws)
    require(read(f"{folder}/one") == read(f"{folder}/three"), "differs from the files apart")


def weights(work, kind, release):
    """A weight is so many times the file; of counters llvm-profdata says the same."""
    program = counted(work, kind, release)
    folder = work.temp("weights")
    a, b, _ = program.raws
    merge(work, f"{folder}/weighted", f"{a}@3", b, "--to", "text")
    merge(work, f"{folder}/repeated", a, b, a, a, "--to", "text")
    same_text(read(f"{folder}/repeated").decode(), read(f"{folder}/weighted").decode(), "weights")
    theirs = good(profdata(release), "merge", "--text", *keep(release), "-j", "1",
                  f"-weighted-input=3,{a}", f"-weighted-input=1,{b}", "-o", "-")
    same_text(counters_only(theirs), counters_only(read(f"{folder}/weighted").decode()),
              "counters")


def counters_only(profile):
    """The text without its value sites, where llvm-profdata forgets weights."""
    records = profile.split("\n\n")
    return "\n\n".join(r.split("# Num Value Kinds")[0].rstrip("\n") for r in records)


def sparse(work, kind, release):
    program = counted(work, kind, release)
    folder = work.temp("sparse")
    merge(work, f"{folder}/ours", "--sparse", "--to", "text", program.raws[0])
    theirs = good(profdata(release), "merge", "--sparse", "--text", *keep(release),
                  program.raws[0], "-o", "-")
    same_text(theirs, read(f"{folder}/ours").decode(), "sparse")


def overlap(work, kind, release):
    program = counted(work, kind, release)
    folder = work.temp("overlap")
    for i in (0, 2):
        merge(work, f"{folder}/{i}", "--to", f"llvm{release}", program.raws[i])
    theirs = good(profdata(release), "overlap", f"{folder}/0", f"{folder}/2",
                  *(["--cs"] if kind == "csir" else []))
    ours = good(work.pgokit, "diff", f"{folder}/0", f"{folder}/2",
                *(["--contextual"] if kind == "csir" else []))
    lines = {"Edge": "of the counters", "IndirectCall": "of indirect calls",
             "MemOP": "of memory operation sizes", "VTable": "of virtual tables"}
    seen = 0
    for line in theirs.splitlines():
        for name, label in lines.items():
            if line.strip().startswith(f"{name} profile overlap:"):
                want = float(line.split(":")[1].strip().rstrip("%"))
                found = [x.split() for x in ours.splitlines() if x.endswith(label)]
                have = [float(w[w.index("%") - 1]) for w in found]
                require(len(have) == 1 and abs(have[0] - want) < 0.0011,
                        f"{name}: theirs {want}, ours {have}\n{ours}")
                seen += 1
    require(seen >= 1, f"nothing to compare in\n{theirs}")


def add_cases(work, tap):
    for kind, release in each():
        label = f"{kind} of clang {release}"
        tap.add(f"text: {label}", as_text, work, kind, release)
        tap.add(f"read by llvm-profdata {release}: {label}", read_by_them, work, kind, release)
        tap.add(f"raw, indexed, text: {label}", theirs_read_by_us, work, kind, release)
        tap.add(f"raw for every release: {label}", raw_again, work, kind, release)
        tap.add(f"partial profiles: {label}", partial, work, kind, release)
        tap.add(f"any order and grouping: {label}", any_order, work, kind, release)
        # Images of one file are of one run, so that their time stamps make one trace.
        if kind != "temporal":
            tap.add(f"one file of several: {label}", concatenated, work, kind, release)
            tap.add(f"weights: {label}", weights, work, kind, release)
        tap.add(f"sparse: {label}", sparse, work, kind, release)
    tap.add("many files on several threads", many_files, work)
    for kind, release in SAME_BYTES:
        tap.add(f"bytes: {kind} of clang {release}", same_bytes, work, kind, release)
    for kind in ("ir", "fe", "vtables", "csir"):
        for release in KINDS[kind][1]:
            tap.add(f"overlap: {kind} of clang {release}", overlap, work, kind, release)


if __name__ == "__main__":
    sys.exit(main(add_cases))
