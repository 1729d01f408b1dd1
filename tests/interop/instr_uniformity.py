"""What version 11 of raw counters and index version 14 hold of code for GPUs: of hand-made raw
files llvm-profdata 23 and pgokit make the same, alone and merged."""

import os
import random
import sys

from instr_profiles import merge, profdata, same_text, text
from peers import good, main, read, require, run, write
from raw_counters import Function, raw

RELEASE = 23
FORMS = {f"{order}-endian, {8 * pointer} bits": (order, pointer)
         for order in ("little", "big") for pointer in (4, 8)}


def functions(seed, uniform=True, sizes=(1, 2, 7, 8, 9, 64, 100)):
    """Of many sizes, with counts at and around the border of what is uniform."""
    choose = random.Random(seed)
    out = []
    for n in sizes:
        counts = [choose.choice((0, 1, 10, 64, 640, 1000, 12345)) for _ in range(n)]
        lanes = [choose.choice((c, c * 9 // 10, c * 9 // 10 + 1, max(c * 9 // 10 - 1, 0), 0))
                 for c in counts]
        bitmap = bytes(choose.randrange(256) for _ in range({2: 1, 7: 5, 8: 17, 9: 8}.get(n, 0)))
        out.append(Function(f"f{n}", counts, lanes if uniform else None, bitmap, 32))
    return out


def as_theirs(work, order, pointer):
    folder = work.temp("uniform")
    path = write(f"{folder}/in.profraw", raw(functions(1), order, pointer))
    result = merge(work, f"{folder}/text", path, "--to", "text", code=1)
    require("marks of uniform counters are not written" in result.errors, str(result))
    same_text(text(RELEASE, path), read(f"{folder}/text").decode(), "text")
    good(profdata(RELEASE), "merge", path, "-o", f"{folder}/theirs")
    merge(work, f"{folder}/ours", path, "--to", "llvm23")
    require(read(f"{folder}/theirs") == read(f"{folder}/ours"), "index 14: the bytes differ")
    merge(work, f"{folder}/again", f"{folder}/theirs", "--to", "llvm23")
    require(read(f"{folder}/theirs") == read(f"{folder}/again"), "read and written it differs")
    # A raw file again, and with it all bits.
    merge(work, f"{folder}/raw", f"{folder}/theirs", "--to", "raw")
    good(profdata(RELEASE), "merge", f"{folder}/raw", "-o", f"{folder}/back")
    require(read(f"{folder}/theirs") == read(f"{folder}/back"), "by way of a raw file it differs")


def merged(work):
    """Sums of raw files, bits of indexed ones, and records that say nothing."""
    folder = work.temp("merged")
    raws = [write(f"{folder}/{seed}.profraw", raw(functions(seed))) for seed in range(3)]
    plain = write(f"{folder}/plain.profraw", raw(functions(9, uniform=False)))
    indexed = []
    for path in raws:
        indexed.append(path.replace("profraw", "profdata"))
        merge(work, indexed[-1], path, "--to", "llvm23")
    for inputs in (raws, raws[::-1], indexed, indexed[::-1], [*indexed[:2], raws[2]],
                   [indexed[0], plain], [plain, indexed[0]]):
        names = [os.path.basename(p) for p in inputs]
        good(profdata(RELEASE), "merge", "-j", "1", *inputs, "-o", f"{folder}/theirs")
        merge(work, f"{folder}/ours", *inputs, "--to", "llvm23")
        require(read(f"{folder}/theirs") == read(f"{folder}/ours"), f"{names}: the bytes differ")
    good(profdata(RELEASE), "merge", f"-weighted-input=5,{raws[0]}", "-o", f"{folder}/theirs")
    merge(work, f"{folder}/ours", f"{raws[0]}@5", "--to", "llvm23")
    require(read(f"{folder}/theirs") == read(f"{folder}/ours"), "weighted: the bytes differ")
    for parts in (["--partial", *raws], ["--partial", raws[1], indexed[2]]):
        merge(work, f"{folder}/part", *parts)
        merge(work, f"{folder}/of-part", f"{folder}/part", plain, "--to", "llvm23")
        merge(work, f"{folder}/at-once", *parts[1:], plain, "--to", "llvm23")
        require(read(f"{folder}/of-part") == read(f"{folder}/at-once"), "partial profiles differ")


def losses(work):
    """What earlier versions cannot hold is said, and the rest is right."""
    folder = work.temp("losses")
    path = write(f"{folder}/in.profraw", raw(functions(4)))
    plain = write(f"{folder}/plain.profraw", raw(functions(4, uniform=False)))
    for options in (["--to", "llvm22"], ["--to", "llvm16"], ["--to", "text"], [],
                    ["--to", "raw", "--format-version", "10"]):
        result = merge(work, f"{folder}/ours", path, *options, code=1)
        require("7 functions' marks of uniform counters are not written" in result.errors,
                str(result))
        code = run(work.pgokit, "merge", plain, *options, "-o", f"{folder}/plain").code
        require(code == int("llvm16" in options), "another exit status without uniform counters")
        require(read(f"{folder}/plain") == read(f"{folder}/ours"), f"{options}: it differs")


def refused(work):
    """As llvm-profdata does, and with a reason."""
    folder = work.temp("refused")
    some = functions(5)
    some[-1].uniform = []
    bad = write(f"{folder}/bad.profraw", raw(some))
    require(run(profdata(RELEASE), "merge", bad, "-o", f"{folder}/out").code == 1, "they refuse")
    require("uniform_ptr" in merge(work, f"{folder}/out", bad, code=2).errors, "no reason is given")


def add_cases(work, tap):
    profdata(RELEASE)
    for name, form in FORMS.items():
        tap.add(f"uniform counters, {name}", as_theirs, work, *form)
    tap.add("merged and weighted", merged, work)
    tap.add("losses", losses, work)
    tap.add("refused", refused, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
