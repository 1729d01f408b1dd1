#!/usr/bin/env python3
"""Who reads the sample profiles that pgokit writes: llvm-profdata and clang of every release,
and GCC 12; and that a profile that went through every encoding makes the same program.
"""

import glob
import re
import sys

import sample_texts
from peers import at_hand, good, main, program_text, read, require, run, tool, write

RELEASES = (14, 16, 19, 22, 23)
# form: options of convert, the releases that read it, the kinds it can hold
ALL = sample_texts.KINDS
FORMS = {
    "text": (["--to", "text"], RELEASES, ALL),
    "extbinary": ([], RELEASES, ALL),
    "md5": (["--md5"], RELEASES, ALL),
    "compressed": (["--compress"], RELEASES, ALL),
    "partial": (["--gen-partial"], RELEASES, ALL),
    "split": (["--split-layout"], RELEASES, ("flat", "nested", "probe")),
    "version 104": (["--format-version", "104"], (23,), ALL),
    "binary": (["--to", "binary"], RELEASES, ("flat", "nested")),
}

PROGRAM = program_text("hot_table.c")
PROFILE = """hot:100000:10
 2: 10
 3: 10000
 4: 10000
 5: 9000 times:8000 mixed:1000
 7: 1000
 9: 10
 7: small:2000
  2: 2000
main:20:1
 2: 10 hot:10
times:8000:8000
 0: 8000
mixed:1000:1000
 0: 1000
"""


def body_lines(text):
    """Lines of a text without what releases print in another way: order, attributes."""
    return sorted(" ".join(sorted(line.split())) for line in text.splitlines() if "!" not in line)


def accepted(work, form, kind):
    options, releases, _ = FORMS[form]
    folder = work.temp("peers")
    write(f"{folder}/in.txt", sample_texts.text(7, kind).encode())
    good(work.pgokit, "convert", f"{folder}/in.txt", *options, "-o", f"{folder}/ours")
    want = good(work.pgokit, "convert", f"{folder}/ours", "--to", "text", "-o", "-")
    for release in at_hand(*releases):
        shown = run(tool("llvm-profdata", release), "merge", "--sample", "--text",
                    f"{folder}/ours", "-o", f"{folder}/{release}.txt")
        require(shown.code == 0, f"llvm-profdata-{release}\n{shown}")
        got = read(f"{folder}/{release}.txt").decode()
        require(body_lines(got) == body_lines(want),
                f"llvm-profdata-{release} reads\n{got}\npgokit means\n{want}")
    return "read by " + ", ".join(map(str, releases))


def written(work, release, kind):
    """What each release writes is read, and means the same."""
    folder = work.temp("peers")
    write(f"{folder}/in.txt", sample_texts.text(3, kind).encode())
    want = good(work.pgokit, "convert", f"{folder}/in.txt", "--to", "text", "-o", "-")
    forms = [["--extbinary"], ["--extbinary", "--use-md5"],
             ["--extbinary", "--compress-all-sections"], ["--text"]]
    if release >= 23:
        forms.append(["--extbinary", "-sample-profile-format-version=104"])
    if kind in ("flat", "nested"):
        forms.append(["--binary"])
        if release < 19:
            forms.append(["--compbinary"])
    done = 0
    for form in forms:
        made = run(tool("llvm-profdata", release), "merge", "--sample", *form, f"{folder}/in.txt",
                   "-o", f"{folder}/theirs")
        require(made.code == 0, f"{made}")
        if "--use-md5" in form or "--compbinary" in form:
            names = re.findall(r"[^\s:@\[\]]+", want)
            write(f"{folder}/names", "\n".join([*names, *sample_texts.FUNCTIONS]).encode())
            more = ["--names", f"{folder}/names"]
        else:
            more = []
        got = good(work.pgokit, "convert", f"{folder}/theirs", *more, "--to", "text", "-o", "-")
        require(body_lines(got) == body_lines(want), f"{form}:\n{got}\nexpected\n{want}")
        done += 1
    return f"{done} forms"


def compile_with(release, folder, profile, out):
    return run(tool("clang", release), "-O2", "-g", "-S", f"{folder}/t.c", "-o", out,
               f"-fprofile-sample-use={profile}", "-Werror=backend-plugin")


def program(work):
    folder = work.temp("peers")
    write(f"{folder}/t.c", PROGRAM.encode())
    write(f"{folder}/p.txt", PROFILE.encode())
    return folder


def same_program(work, release):
    """A profile through five conversions makes the program that the original makes."""
    folder = program(work)
    steps = [["--md5"], ["--to", "text"], ["--compress"], ["--split-layout"], []]
    source = f"{folder}/p.txt"
    for i, options in enumerate(steps):
        target = f"{folder}/{i}"
        extra = ["--names", f"{folder}/names"] if i else []
        write(f"{folder}/names", b"hot\nmain\ntimes\nmixed\nsmall\n")
        good(work.pgokit, "convert", source, *extra, *options, "-o", target)
        source = target
    require(good(work.pgokit, "convert", source, "--to", "text", "-o", "-") ==
            good(work.pgokit, "convert", f"{folder}/p.txt", "--to", "text", "-o", "-"),
            "five conversions changed the profile")
    for name, profile in (("plain", None), ("first", f"{folder}/p.txt"), ("last", source)):
        if profile:
            result = compile_with(release, folder, profile, f"{folder}/{name}.s")
        else:
            result = run(tool("clang", release), "-O2", "-g", "-S", f"{folder}/t.c", "-o",
                         f"{folder}/{name}.s")
        require(result.code == 0, f"{result}")
    require(read(f"{folder}/first.s") == read(f"{folder}/last.s"), "another program")
    require(read(f"{folder}/first.s") != read(f"{folder}/plain.s"), "the profile did nothing")
    return "the same assembly"


def every_form_compiles(work, release):
    folder = program(work)
    want = compile_with(release, folder, f"{folder}/p.txt", f"{folder}/want.s")
    require(want.code == 0, f"{want}")
    for form, (options, releases, _) in FORMS.items():
        if release not in releases:
            continue
        good(work.pgokit, "convert", f"{folder}/p.txt", *options, "-o", f"{folder}/{form}")
        result = compile_with(release, folder, f"{folder}/{form}", f"{folder}/{form}.s")
        require(result.code == 0, f"{form}\n{result}")
        require(read(f"{folder}/{form}.s") == read(f"{folder}/want.s"), f"{form}: another program")
    return f"{len(FORMS)} forms make one program"


def gcc_takes_it(work):
    folder = program(work)
    made = run(work.pgokit, "convert", f"{folder}/p.txt", "--to", "gcc", "-o", f"{folder}/p.afdo")
    require(made.code == 1 and "warning: gcc takes the sum of a function's lines" in made.errors,
            f"{made}")
    compiled = run(tool("gcc-12"), "-O2", "-g", f"-fauto-profile={folder}/p.afdo",
                   "-fdump-ipa-afdo-blocks-details", "-S", f"{folder}/t.c", "-o",
                   f"{folder}/gcc.s", "-dumpdir", f"{folder}/")
    require(compiled.code == 0, f"{compiled}")
    dump = read(glob.glob(f"{folder}/*i.afdo")[0]).decode()
    require("hist->count 8000 hist->all 9000" in dump, "GCC did not see the call targets")
    require("(auto FDO), maybe hot" in dump, "GCC did not see the samples of the loop")
    again = good(work.pgokit, "convert", f"{folder}/p.afdo", "--to", "text", "-o", "-")
    require(" 5: 9000 times:8000 mixed:1000" in again, again)
    return "counts and call targets are used"


def refusals(work):
    """What no reader, or not every one, would take for what it is."""
    folder = work.temp("peers")

    def refused(kind, *options, says):
        write(f"{folder}/in.txt", sample_texts.text(5, kind).encode())
        result = run(work.pgokit, "convert", f"{folder}/in.txt", *options, "-o", f"{folder}/out")
        require(result.code == 2 and says in result.errors, f"{kind} {options}: {result}")
    refused("cs", "--split-layout", says="has no place for contexts")
    refused("cs", "--to", "binary", says="a context-sensitive profile")
    refused("probe", "--to", "binary", says="probes and checksums")
    refused("probe", "--to", "gcc", says="by lines")
    write(f"{folder}/in.txt", b"f:1:1\n 70000.1: 1\n")
    result = run(work.pgokit, "convert", f"{folder}/in.txt", "-o", f"{folder}/out")
    require(result.code == 2 and "65535" in result.errors, f"{result}")
    write(f"{folder}/in.txt", sample_texts.text(5, "nested").encode())
    good(work.pgokit, "convert", f"{folder}/in.txt", "--md5", "-o", f"{folder}/md5")
    for form in ("binary", "gcc"):
        result = run(work.pgokit, "convert", f"{folder}/md5", "--to", form, "-o", f"{folder}/out")
        require(result.code == 2 and "GUIDs alone" in result.errors, f"{result}")
    result = run(work.pgokit, "convert", f"{folder}/md5", "--to", "text", "-o", f"{folder}/out")
    require(result.code == 0 and "compilers find no function" in result.errors, f"{result}")
    return "8 refused, 1 told of"


def readers(work):
    """Whom check says to read a file, reads it; the others do not."""
    folder = work.temp("peers")
    write(f"{folder}/in.txt", sample_texts.text(5, "nested", True).encode())
    write(f"{folder}/plain.txt", sample_texts.text(5, "nested").encode())
    for source, options, expected in (("in", ["--vtables"], {22, 23}),
                                      ("in", ["--vtables", "--split-layout"], {22, 23}),
                                      ("plain", ["--format-version", "104"], {23}),
                                      ("plain", [], set(RELEASES)),
                                      ("plain", ["--to", "gcc"], set())):
        made = run(work.pgokit, "convert", f"{folder}/{source}.txt", *options, "-o",
                   f"{folder}/ours")
        # GCC's form has no place for the upper bits of these discriminators.
        require(made.code == ("gcc" in options), f"{made}")
        told = good(work.pgokit, "check", f"{folder}/ours").strip().rpartition("read by ")[2]
        says = {"LLVM 22 and 23": {22, 23}, "LLVM 14 to 23": set(RELEASES), "LLVM 23": {23},
                "gcc 12 to 15": set()}[told]
        require(says == expected, f"{options}: read by {told}")
        for release in at_hand(*RELEASES):
            result = run(tool("llvm-profdata", release), "merge", "--sample", "--text",
                         f"{folder}/ours", "-o", f"{folder}/out")
            require((result.code == 0) == (release in expected), f"{options}, {release}: {result}")


def vtables(work):
    """Types of objects: LLVM 22 reads them, old releases do not get to see them."""
    folder = work.temp("peers")
    write(f"{folder}/in.txt", sample_texts.text(5, "nested", True).encode())
    plain = run(work.pgokit, "convert", f"{folder}/in.txt", "-o", f"{folder}/plain")
    require(plain.code == 1 and "vtables" in plain.errors, f"{plain}")
    refused = run(work.pgokit, "convert", f"{folder}/in.txt", "--to", "text", "-o", "-")
    require(refused.code == 2 and "--vtables" in refused.errors, f"{refused}")
    for release in at_hand(*RELEASES):
        good(tool("llvm-profdata", release), "merge", "--sample", f"{folder}/plain", "-o",
             f"{folder}/out")
    source = f"{folder}/in.txt"
    for i, options in enumerate((["--compress"], ["--to", "text"], ["--split-layout"],
                                 ["--to", "text"], [])):
        good(work.pgokit, "convert", source, "--vtables", *options, "-o", f"{folder}/{i}")
        source = f"{folder}/{i}"
    for release in at_hand(22, 23):
        theirs = f"{folder}/{release}"
        good(tool("llvm-profdata", release), "merge", "--sample", "--text", source, "-o", theirs)
        require(read(theirs) == read(f"{folder}/3"), f"LLVM {release} reads other types")
    return "none lost, none doubled"


def add_cases(work, tap):
    for form, (_, _, kinds) in FORMS.items():
        for kind in kinds:
            tap.add(f"llvm-profdata reads {form}, {kind}", accepted, work, form, kind)
    for release in RELEASES:
        for kind in sample_texts.KINDS:
            tap.add(f"LLVM {release} writes, {kind}", written, work, release, kind)
        tap.add(f"clang-{release} after five conversions", same_program, work, release)
        tap.add(f"clang-{release} with every form", every_form_compiles, work, release)
    tap.add("gcc -fauto-profile", gcc_takes_it, work)
    tap.add("vtables", vtables, work)
    tap.add("refusals", refusals, work)
    tap.add("readers", readers, work)


sys.exit(main(add_cases))
