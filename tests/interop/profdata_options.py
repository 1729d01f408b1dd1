"""What llvm-profdata 22 does by its options, and what pgokit does by the like of them: folders,
inputs that cannot be read, choosing and renaming functions, cutoffs, orders of functions; and texts
and counts that it takes or refuses."""

import json
import os
import random
import sys

from instr_profiles import counted, profdata
from peers import good, main, read, require, run, write

TWO = (b":ir\nkeep\n1\n2\n5\n6\n1\n0\n1\n2\nother:3\nkeep:2\n\n"
       b"other\n2\n1\n700\n\nf.c;keep\n3\n1\n7\n")


def same(a, b, what):
    require(read(a) == read(b), f"{what}: other bytes in {a} than in {b}")


def folders(work):
    program, folder = counted(work, "ir", 22), work.temp("folders")
    os.makedirs(f"{folder}/runs/below/deep")
    for raw, place in zip(program.raws, ("a.profraw", "below/b", "below/deep/c.profraw")):
        write(f"{folder}/runs/{place}", read(raw))
    good(profdata(22), "merge", f"{folder}/runs", "-o", f"{folder}/theirs")
    good(profdata(22), "merge", f"--weighted-input=3,{folder}/runs", "-o", f"{folder}/theirs3")
    write(f"{folder}/runs/below/README", b"no profile\n")
    write(f"{folder}/runs/empty.profraw", b"")
    out = f"{folder}/runs/all.profdata"
    for _ in range(2):  # the second time with the output of the first in the folder
        result = run(work.pgokit, "merge", f"{folder}/runs", "--to", "llvm22", "-o", out)
        require(result.code == 0 and "README" in result.errors and "empty" in result.errors,
                str(result))
        same(out, f"{folder}/theirs", "a folder")
    os.remove(out)
    good(work.pgokit, "merge", "-q", f"{folder}/runs@3", "--to", "llvm22", "-o", f"{folder}/ours3")
    require(sum_of(work, f"{folder}/ours3") == sum_of(work, f"{folder}/theirs3"), "weights")
    os.mkdir(f"{folder}/none")
    result = run(work.pgokit, "merge", f"{folder}/none", "-o", f"{folder}/out")
    require(result.code == 2 and "without any profile" in result.errors, str(result))


def sum_of(work, path):
    lines = good(profdata(22), "show", path).splitlines()
    return [line for line in lines if "count" in line]


def failure_modes(work):
    program, folder = counted(work, "ir", 22), work.temp("failures")
    cut = write(f"{folder}/cut.profraw", read(program.raws[0])[:300])
    stranger = write(f"{folder}/README", b"no profile\n")
    front_end = counted(work, "fe", 22).raws[0]
    sound = program.raws[1]
    good(profdata(22), "merge", sound, "-o", f"{folder}/alone")
    ours = f"{folder}/ours"
    for inputs in ([cut, sound], [stranger, sound], [sound, stranger, cut]):
        theirs = f"{folder}/theirs"
        require(run(profdata(22), "merge", *inputs, "-o", theirs).code == 1, "they refuse")
        require(run(work.pgokit, "merge", *inputs, "-o", ours).code == 2, "so do we")
        require(not os.path.exists(ours), "nothing is written")
        good(profdata(22), "merge", "--failure-mode=all", *inputs, "-o", theirs)
        for mode, code in (("all", 1), ("warn", 0)):
            result = run(work.pgokit, "merge", f"--failure-mode={mode}", *inputs, "--to", "llvm22",
                         "-o", ours)
            require(result.code == code and "left out" in result.errors, str(result))
            same(ours, theirs, f"{mode} {inputs}")
        os.remove(ours)
    require(run(profdata(22), "merge", "--failure-mode=all", cut, "-o", ours).code == 1, "all")
    require(run(work.pgokit, "merge", "--failure-mode=all", cut, "-o", ours).code == 2, "all")
    result = run(work.pgokit, "merge", "--failure-mode=all", sound, front_end, "--to", "llvm22",
                 "-o", ours)
    require(result.code == 1 and front_end in result.errors, str(result))
    same(ours, f"{folder}/alone", "a front-end profile beside IR")
    samples = write(f"{folder}/t.prof", b"f:1:1\n 1: 1\n")
    result = run(work.pgokit, "merge", "--failure-mode=all", stranger, samples, "--to", "text",
                 "-o", ours)
    require(result.code == 1, str(result))
    same(ours, samples, "samples")


def chosen(work):
    program, folder = counted(work, "ir", 22), work.temp("chosen")
    for options in (["--function=_ZN|main"], ["--no-function=A|^main$"],
                    ["--function=i$", "--no-function=tmpl"]):
        for form, ours in (([], ["--to", "llvm22"]), (["--text"], ["--to", "text"])):
            good(profdata(22), "merge", program.raws[0], *options, *form, "-o", f"{folder}/theirs")
            good(work.pgokit, "merge", program.raws[0], *options, *ours, "-o", f"{folder}/ours")
            same(f"{folder}/ours", f"{folder}/theirs", options)


def renamed(work):
    folder = work.temp("renamed")
    text = write(f"{folder}/in.proftext", TWO)
    pairs = write(f"{folder}/pairs", b"# old new\n\nother another\nf.c;keep keep\n")
    good(profdata(22), "merge", "--text", text, f"--remapping-file={pairs}", "-o",
         f"{folder}/theirs")
    good(work.pgokit, "merge", text, f"--remap={pairs}", "--to", "text", "-o", f"{folder}/ours")
    theirs, ours = read(f"{folder}/theirs"), read(f"{folder}/ours")
    # Theirs does not find the target under its new name.
    require(theirs.replace(b"** External Symbol **", b"another") == ours,
            f"{theirs.decode()}\n{ours.decode()}")


def cutoffs(work):
    program = counted(work, "ir", 22)
    for cutoff in (1, 20, 100000000):
        theirs = good(profdata(22), "show", f"--value-cutoff={cutoff}", "--list-below-cutoff",
                      program.raws[0]).splitlines()
        names = sorted(line.split(":")[0].strip() for line in theirs if " (Max = " in line)
        ours = good(work.pgokit, "show", program.raws[0], f"--value-cutoff={cutoff}",
                    "--list-below-cutoff", "--json")
        require(sorted(names_in(ours)) == names, f"below {cutoff}: {names}\n{ours}")
        theirs = good(profdata(22), "show", f"--value-cutoff={cutoff}", "--all-functions",
                      program.raws[0]).splitlines()
        names = sorted(line.strip()[:-1] for line in theirs
                       if line.startswith("  ") and line[2] != " " and line.endswith(":"))
        ours = good(work.pgokit, "show", program.raws[0], f"--value-cutoff={cutoff}", "--json")
        require(sorted(names_in(ours)) == names, f"from {cutoff} on: {names}\n{ours}")


def names_in(text):
    return [f["name"] for f in json.loads(text)["functions"]]


def shown_functions(work):
    program = counted(work, "ir", 22)
    theirs = good(profdata(22), "show", "--function=tmpl", program.raws[0]).splitlines()
    names = sorted(line.strip()[:-1] for line in theirs
                   if line.startswith("  ") and line[2] != " " and line.endswith(":"))
    ours = good(work.pgokit, "show", program.raws[0], "--function", "tmpl", "--json")
    require(names and sorted(names_in(ours)) == names, f"{names}\n{ours}")
    ours = good(work.pgokit, "show", program.raws[0], "--function", "main", "--json")
    require(names_in(ours) == ["main"], "the very name comes first")


def sections(work):
    folder = work.temp("sections")
    text = write(f"{folder}/t.prof", b"main:9:1\n 1: 4\n 2: inl:5\n  1: 5\nf:3:3\n 1: 3\n")
    for options in ([], ["--use-md5"], ["--compress-all-sections"], ["--split-layout"]):
        path = f"{folder}/out"
        good(profdata(22), "merge", "--sample", "--extbinary", *options, text, "-o", path)
        theirs = [line.split("- Offset:")[1].split(", ")[:2]
                  for line in good(profdata(22), "show", "--sample", "--show-sec-info-only",
                                   path).splitlines() if "- Offset:" in line]
        theirs = sorted((int(off), int(size.split(":")[1])) for off, size in theirs)
        ours = sorted((int(line.split()[0]), int(line.split()[1]))
                      for line in good(work.pgokit, "show", "--sections", path).splitlines()[3:]
                      if line and line.split()[0].isdigit())
        require(ours == theirs, f"{options}: {ours}, {theirs}")
    require(run(work.pgokit, "show", "--sections", text).code == 2, "a text has no sections")


def traces(seed, functions, n):
    """A profile with traces, in some of which functions come in an order alike."""
    rng = random.Random(seed)
    names = [f"a.c;f{i}" if i % 7 == 0 else f"f{i}" for i in range(functions)]
    lines = [":ir", ":temporal_prof_traces", str(n), str(n)]
    for k in range(n):
        some = rng.sample(names, rng.randint(1, functions))
        some.sort(key=lambda x: (int(x.split("f")[-1]) * (k % 3 + 1) + rng.randint(0, functions))
                  % functions)
        lines += [str(rng.randint(1, 3)), ",".join(some) + ","]
    for name in names:
        lines += [name, "1", "1", "1", ""]
    return "\n".join(lines).encode()


def orders(work):
    folder = work.temp("orders")
    for seed, functions, n in ((1, 5, 1), (2, 40, 3), (3, 300, 8), (4, 2000, 12), (5, 17, 2)):
        text = write(f"{folder}/t.proftext", traces(seed, functions, n))
        good(profdata(22), "merge", text, "-o", f"{folder}/t.profdata")
        for test in (0, 1) if n > 1 else (0,):
            theirs = good(profdata(22), "order", f"{folder}/t.profdata",
                          *([f"--num-test-traces={test}"] if test else []))
            result = run(work.pgokit, "order", f"{folder}/t.profdata",
                         *(["--test-traces", str(test)] if test else []))
            require(result.code == 0, str(result))
            require(theirs.splitlines()[2 + bool(test):] == result.text.splitlines()[1:],
                    f"seed {seed}, {test} test traces: another order")
            if test:
                area = float(theirs.splitlines()[1].split(":")[1])
                ours = float(result.errors.split(": ")[3].split()[0])
                require(abs(area - ours) <= area * 1e-6, f"{area}, {ours}")
    program = counted(work, "temporal", 22)
    good(profdata(22), "merge", *program.raws, "-o", f"{folder}/t.profdata")
    theirs = good(profdata(22), "order", f"{folder}/t.profdata").splitlines()
    ours = good(work.pgokit, "order", f"{folder}/t.profdata").splitlines()
    require(theirs[2:] == ours[1:], "a program's own order")


def supplement(work):
    """Functions of all sizes and shares of zeros, sampled or not, some inlined into others."""
    folder = work.temp("supplement")
    for seed in range(1, 9):
        rng = random.Random(seed)
        counters, samples = [":ir"], []
        for i in range(60):
            n, top = rng.randint(1, 25), rng.choice((0, 1, 3, 50, 100000))
            zeros = rng.random()
            counts = [0 if rng.random() < zeros else rng.randint(0, top) for _ in range(n)]
            counters += [f"f{i}", "7", str(n), *map(str, counts)]
            if n > 20:
                counters += ["1", "0", "1", "1", f"f{i}:{top}"]
            counters.append("")
            if rng.random() < 0.6:
                hot = rng.choice((1, 5, 100, 200000))
                samples += [f"f{i}:{hot * 3}:{hot}", f" 1: {hot}", f" 2: {hot // 2}",
                            f" 3: f{rng.randint(0, 70)}:{hot}", f"  1: {rng.randint(1, hot)}"]
        text = write(f"{folder}/in.proftext", "\n".join(counters).encode() + b"\n")
        prof = write(f"{folder}/in.prof", "\n".join(samples).encode() + b"\n")
        for theirs, ours in (([], []),
                             (["--suppl-min-size-threshold=1"], ["--supplement-size=1"]),
                             (["--zero-counter-threshold=0.3"], ["--supplement-zeros=30"]),
                             (["--instr-prof-cold-threshold=60"], ["--supplement-cold=60"])):
            good(profdata(22), "merge", "--instr", text, f"--supplement-instr-with-sample={prof}",
                 *theirs, "--text", "-o", f"{folder}/theirs")
            good(work.pgokit, "merge", text, f"--supplement={prof}", *ours, "--to", "text", "-o",
                 f"{folder}/ours")
            same(f"{folder}/ours", f"{folder}/theirs", f"seed {seed}, {ours}")
    require(b"18446744073709551615" in read(f"{folder}/ours"), "no function was marked as hot")
    static = write(f"{folder}/static.proftext", b":ir\na.c;f\n7\n1\n0\n\ng\n1\n1\n1000\n")
    prof = write(f"{folder}/static.prof", b"f.__uniq.123:900:900\n 1: 900\ng:9:9\n 1: 9\n")
    good(work.pgokit, "merge", static, f"--supplement={prof}", "--supplement-size=1", "--to",
         "text", "-o", f"{folder}/ours")
    require(b"18446744073709551615" in read(f"{folder}/ours"), "a static function")


def texts(work):
    folder = work.temp("texts")
    blanks = write(f"{folder}/blanks.proftext", b"f\n1\n1\n5\n$       2\n0x1\n0x2\n")
    good(profdata(22), "merge", "--text", blanks, "-o", f"{folder}/theirs")
    good(work.pgokit, "merge", "--to", "text", blanks, "-o", f"{folder}/ours")
    same(f"{folder}/ours", f"{folder}/theirs", "blanks behind the $")
    for kind in (0, 2):
        nameless = write(f"{folder}/nameless.proftext",
                         f":ir\nf\n1\n1\n5\n1\n{kind}\n1\n1\n:7\n".encode())
        require(run(profdata(22), "merge", nameless, "-o", f"{folder}/theirs").code == 1, "theirs")
        result = run(work.pgokit, "merge", nameless, "-o", f"{folder}/ours")
        require(result.code == 2 and "not empty" in result.errors, str(result))


def largest_counts(work):
    folder = work.temp("largest")
    for count, version, release, code in ((2**56, 10, 22, 0), (2**56 + 1, 10, 22, 2),
                                          (2**64 - 1, 10, 19, 2), (2**56 + 1, 8, 16, 0)):
        text = write(f"{folder}/in.proftext", f":ir\nf\n1\n2\n{count}\n3\n".encode())
        raw = f"{folder}/out.profraw"
        result = run(work.pgokit, "convert", text, "--to", "raw", "--format-version", str(version),
                     "-o", raw)
        require(result.code == code, str(result))
        if code:
            require("2^56" in result.errors and not os.path.exists(raw), str(result))
            continue
        good(profdata(release), "merge", raw, "-o", f"{folder}/out")
        # As if its first counter, behind the record, had been damaged.
        data = bytearray(read(raw))
        at = data.index(count.to_bytes(8, "little") + (3).to_bytes(8, "little"))
        data[at:at + 8] = (2**60).to_bytes(8, "little")
        damaged = write(f"{folder}/damaged.profraw", data)
        theirs = run(profdata(release), "merge", damaged, "-o", f"{folder}/out").code
        ours = run(work.pgokit, "check", damaged).code
        require((theirs == 0) == (ours == 0), f"version {version}: {theirs}, {ours}")
        os.remove(raw)


def call_sites_only(work):
    folder = work.temp("sites")
    yaml = write(f"{folder}/in.yaml",
                 b"---\nHeapProfileRecords:\n  - GUID: 0x1\n    CallSites:\n      - Frames:\n"
                 b"        - { Function: 0x1, LineOffset: 1, Column: 2, IsInlineFrame: false }\n"
                 b"...\n")
    good(profdata(22), "merge", yaml, "-o", f"{folder}/theirs")
    good(work.pgokit, "merge", yaml, "--to", "llvm22", "-o", f"{folder}/ours")
    shown = [good(profdata(22), "show", "--memory", f"{folder}/{name}")
             for name in ("theirs", "ours")]
    require(shown[0] == shown[1] and "CallSites" in shown[0], "\n".join(shown))


CASES = (
    ("folders of profiles", folders),
    ("inputs that cannot be read", failure_modes),
    ("functions chosen by patterns", chosen),
    ("functions renamed", renamed),
    ("cutoffs of counters", cutoffs),
    ("functions shown by patterns", shown_functions),
    ("sections of extensible binaries", sections),
    ("orders of functions", orders),
    ("counters supplemented by samples", supplement),
    ("blanks and empty names in texts", texts),
    ("the largest count of a raw profile", largest_counts),
    ("YAML with call sites only", call_sites_only),
)


def add_cases(work, tap):
    for name, case in CASES:
        tap.add(name, case, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
