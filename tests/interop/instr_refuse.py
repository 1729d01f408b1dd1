"""What is refused or left out, and how it is said."""

import sys

from instr_profiles import counted, merge, profdata
from peers import Variant, good, main, read, require, run, write


def says(result, *words):
    for word in words:
        require(word in result.errors, f"'{word}' is not said:\n{result}")


def mixing(work):
    a, b = counted(work, "ir", 22), counted(work, "fe", 22)
    out = f"{work.temp('mixing')}/out"
    result = merge(work, out, a.raws[0], b.raws[0], code=2)
    says(result, "front-end", "IR", a.raws[0], b.raws[0])
    blocks = counted(work, "blocks", 22)
    says(merge(work, out, a.raws[0], blocks.raws[0], code=2), "coverage")


def conflicts(work):
    folder = work.temp("conflicts")
    one = write(f"{folder}/one.proftext", b":ir\nf\n1\n2\n1\n2\n\ng\n1\n1\n5\n\n")
    other = write(f"{folder}/other.proftext", b":ir\nf\n1\n3\n1\n2\n3\n\ng\n1\n1\n6\n\n")
    out = f"{folder}/out.proftext"
    says(merge(work, out, "--to", "text", one, other, code=2), "f, hash 0x0000000000000001",
         "3 counters", "other.proftext", "--keep-going")
    for inputs in ((one, other), (other, one)):
        says(merge(work, out, "--to", "text", "--keep-going", *inputs, code=1), "left out")
        text = read(out)
        require(b"f\n# Func" not in text and b"\n11\n" in text, text.decode())
    says(merge(work, out, "--to", "text", "--keep-going", "--sparse", one, other, one, code=1),
         "1 function differs")


def losses(work):
    folder = work.temp("losses")
    for kind, target, words in (("mcdc", "llvm16", "bitmaps"), ("vtables", "llvm16", "virtual"),
                                ("temporal", "llvm16", "temporal traces"),
                                ("loops", "llvm16", "loop entries")):
        program = counted(work, kind, 22)
        says(merge(work, f"{folder}/out", "--to", target, program.raws[0], code=1), words)
        good(profdata(16), "show", f"{folder}/out")
        merge(work, f"{folder}/out", "--to", "llvm22", program.raws[0])


def losses_of_raw(work):
    folder = work.temp("raw")
    text = write(f"{folder}/in.proftext", b":ir\nf\n1\n1\n5\n1\n0\n1\n2\ng:4\nf:3\n\n")
    says(merge(work, f"{folder}/out", text, "--to", "raw", code=1),
         "1 names of call targets are not written")
    says(merge(work, f"{folder}/out", text, "--format-version", "9", code=2), "--to raw")
    says(merge(work, f"{folder}/out", text, "--to", "raw", "--format-version", "7", code=2),
         "8 to 11")
    covered = write(f"{folder}/covered.proftext", b":ir\n:single_byte_coverage\nf\n1\n2\n2\n1\n")
    says(merge(work, f"{folder}/out", covered, "--to", "raw", code=1), "counts above 1")


def no_partial(work):
    """What would not be a part of the whole."""
    folder = work.temp("partial")
    text = write(f"{folder}/in.proftext", b":ir\nf\n1\n1\n5\n")
    for option in (["--to", "llvm22"], ["--index-version", "9"], ["--sparse"]):
        says(merge(work, f"{folder}/out", "--partial", text, *option, code=2), "--partial")
    heap = work.build("plain.c", Variant(22, "-O1"))
    says(merge(work, f"{folder}/out", "--partial", text, heap.raw, code=2), "apart")


def nothing(work):
    folder = work.temp("nothing")
    empty = write(f"{folder}/empty.proftext", b":ir\n")
    says(merge(work, f"{folder}/out", empty, code=2), "no functions")
    zero = write(f"{folder}/zero.proftext", b":ir\nf\n1\n1\n0\n")
    says(merge(work, f"{folder}/out", "--sparse", zero, code=2), "no functions")
    says(merge(work, f"{folder}/out", f"{zero}@0", code=2), "weight", "1 to 4294967295")
    says(run(work.pgokit, "convert", zero, zero, "-o", f"{folder}/out"), "one file")
    says(run(work.pgokit, "show", zero, "--function", "main"),
         "no function that has or matches this name")
    says(run(work.pgokit, "diff", zero, zero), "no counts")


def changed_functions(work):
    """Of another hash in another input: told, and all of them kept. Two hashes in one input are
    nothing to tell of."""
    folder = work.temp("changed")
    old = write(f"{folder}/old.proftext", b"f\n1\n1\n1\n\ng\n7\n1\n1\n\ng\n8\n1\n1\n\n")
    new = write(f"{folder}/new.proftext", b"f\n2\n1\n1\n\ng\n7\n1\n1\n\ng\n8\n1\n1\n\n")
    for inputs in ((old, new), (new, old)):
        result = merge(work, f"{folder}/out", *inputs, "--to", "text")
        says(result, "1 function changed", "\npgokit:   f\n")
        require("   g" not in result.errors, str(result))
        require(read(f"{folder}/out").count(b"f\n# Func") == 2, "a hash is missing")
    require(not merge(work, f"{folder}/out", old, old).errors, "nothing has changed")


def empty_file(work):
    """Left by a program that was killed. The others are merged."""
    folder = work.temp("empty")
    empty = write(f"{folder}/empty.profraw", b"")
    a = counted(work, "ir", 22).raws[0]
    merge(work, f"{folder}/alone", a)
    for inputs in ((empty, a), (a, empty), (empty, a, empty)):
        says(merge(work, f"{folder}/out", *inputs, code=1), "empty.profraw is empty")
        require(read(f"{folder}/out") == read(f"{folder}/alone"), "another output")
    says(merge(work, f"{folder}/none", empty, code=2), "empty file")


def weight_in_name(work):
    """A file whose name looks like one with a weight."""
    folder = work.temp("names")
    odd = write(f"{folder}/run@3", b":ir\nf\n1\n1\n4\n")
    merge(work, f"{folder}/out", odd, "--to", "text")
    require(b"\n4\n" in read(f"{folder}/out"), "the name was cut")
    merge(work, f"{folder}/out", f"{odd}@2", "--to", "text")
    require(b"\n8\n" in read(f"{folder}/out"), "the weight was not taken")


def heap_needs_binary(work):
    heap = work.build("plain.c", Variant(22, "-O1"))
    program = counted(work, "ir", 22)
    folder = work.temp("binary")
    says(merge(work, f"{folder}/out", program.raws[0], heap.raw, code=2), "-b")
    says(merge(work, f"{folder}/out", program.raws[0], heap.raw, "-b", heap.exe, "--to", "text",
               code=1), "heap contexts are not written")


def add_cases(work, tap):
    for case in (mixing, conflicts, losses, losses_of_raw, no_partial, nothing,
                 changed_functions, empty_file, weight_in_name, heap_needs_binary):
        tap.add(case.__name__.replace("_", " "), case, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
