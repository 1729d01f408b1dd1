#!/usr/bin/env python3
"""Who takes the indexed profiles that pgokit writes: every pair of MemProf and index version
is read or refused by each LLVM release as expected, and the compilers annotate the same
allocation calls with our file as with LLVM's own file of the same raw profile.
"""

import itertools
import os
import re
import sys

import profiles
from heap_releases import (INDEX, MEMPROF, READERS, RELEASES, accepts, reads_all, use_options)
from peers import Variant, at_hand, good, main, read, require, run, tool, write

NO_PIE_16 = Variant(16, "-O2", "-no-pie")
PIE_19 = Variant(19, "-O2", "-pie", "-fpie")
PIE_22 = Variant(22, "-O2", "-pie", "-fpie")
PIE_23 = Variant(23, "-O2", "-pie", "-fpie")


# ---- accepted and refused ----

def make(work, program, folder, memprof, index, full):
    out = f"{folder}/v{memprof}-i{index}.profdata"
    good(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", out,
         "--memprof-version", str(memprof), "--index-version", str(index),
         *(["--full-schema"] if full else []))
    return out


def acceptance(work, memprof, index, full):
    program = work.build("segments.c", PIE_19)
    folder = work.temp("accept")
    if memprof < 2 and index >= 13:
        result = run(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", f"{folder}/no",
                     "--memprof-version", str(memprof), "--index-version", str(index))
        require(result.code == 2 and not os.path.exists(f"{folder}/no"),
                f"wrote what no release reads\n{result}")
        return "refused, as no release reads it"
    path = make(work, program, folder, memprof, index, full)
    if not full:
        checked = good(work.pgokit, "check", path)
        for release in RELEASES:
            # A release that reads the file is named, one that does not is not.
            first, last = re.search(r"LLVM (\d+)(?: \w+ (\d+))?$", checked).groups()
            named = int(first) <= release <= int(last or first)
            require(named == accepts(release, memprof, index),
                    f"pgokit check on readers, LLVM {release}: {checked}")
    said = []
    for release in at_hand(*RELEASES):
        shown = run(tool("llvm-profdata", release), "show", path)
        require((shown.code == 0) == accepts(release, memprof, index),
                f"llvm-profdata-{release} show\n{shown}")
        if release in READERS:
            used = run(tool("clang", release), "-O2", "-g", "-c", "-o", f"{folder}/{release}.o",
                       *use_options(release, path), "-Wno-backend-plugin",
                       "-Wno-profile-instr-unprofiled", f"{work.programs}/segments.c")
            require((used.code == 0) == accepts(release, memprof, index),
                    f"clang-{release} {use_options(release, path)[0]}\n{used}")
        said.append(f"{release}: {'yes' if shown.code == 0 else 'no'}")
    return ", ".join(said)


def targets(work, target, readers):
    """What --to promises."""
    program = work.build("segments.c", PIE_19)
    path = f"{work.temp('target')}/out.profdata"
    good(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", path, "--to", target)
    for release in at_hand(*RELEASES):
        shown = run(tool("llvm-profdata", release), "show", path)
        require((shown.code == 0) == (release in readers), str(shown))


# ---- annotated alike ----

def age(data, cold):
    """A raw profile in which the contexts that `cold` picks by position lived for ten
    minutes untouched, all others were used a lot: so that the compiler finds both."""
    dumps = profiles.decode_raw(data)
    for d in dumps:
        for i, (_, block) in enumerate(d.blocks):
            n = block["AllocCount"]
            if cold(i):
                block.update(TotalLifetime=600000 * n, TotalLifetimeAccessDensity=0)
            else:
                block.update(TotalLifetime=10 * n, TotalLifetimeAccessDensity=50000 * n)
    return profiles.encode_raw(dumps)


LIFE = {
    "every other context cold": lambda i: i % 2 == 0,
    "one in three cold": lambda i: i % 3 == 0,
    "all cold": lambda i: True,
    "none cold": lambda i: False,
}
ANNOTATION = re.compile(r'!memprof|!callsite|"memprof"=')


def llvm_file(work, program, raw, release, folder):
    """LLVM's own indexed file that `release` of the compiler reads, and what it holds."""
    out = f"{folder}/llvm.profdata"
    made_by = program.variant.release
    merger = max(22, release) if release >= 22 or made_by >= 22 else release
    options = {
        (16, 16): [],
        (22, 22): ["--memprof-version=4"],
        (23, 23): ["--memprof-version=4"],
        (19, 22): ["--memprof-version=3", "--write-prev-version"],
        (19, 19): ["--memprof-version=3"],
    }[(release, merger)]
    good(tool("llvm-profdata", merger), "merge", raw, f"--profiled-binary={program.exe}",
         "-o", out, *options)
    return out


def added_up(work, program, raw, folder):
    """LLVM's file of the records with equal call stacks added up, and with the line offsets that
    compilers can match: via YAML. Says whether that differs from what llvm-profdata writes."""
    shown = good(tool("llvm-profdata", 22), "show", "--memory", raw,
                 "--profiled-binary", program.exe)
    records = profiles.parse_show(shown)
    yaml = profiles.to_yaml(profiles.plain(records.low_lines()))
    text = write(f"{folder}/added-up.yaml", yaml.encode())
    out = f"{folder}/added-up.profdata"
    good(tool("llvm-profdata", 22), "merge", text, "-o", out, "--memprof-version=3",
         "--write-prev-version")
    return out, records.low_lines().merged_contexts(), records.far_lines()


def compiled(release, source, profile, out, opt_level):
    good(tool("clang++" if source.endswith(".cpp") else "clang", release), opt_level, "-g",
         "-fno-optimize-sibling-calls", "-S", "-emit-llvm", "-Wno-backend-plugin",
         "-Wno-profile-instr-unprofiled", *use_options(release, profile), source, "-o", out)
    return read(out).decode()


def annotations(work, source, variant, release, life, opt_level="-O2"):
    program = work.build(source, variant)
    folder = work.temp("annotate")
    raw = write(f"{folder}/aged.memprofraw", age(read(program.raw), LIFE[life]))
    # LLVM 16 leaves equal call stacks apart and has no YAML to bring them together.
    theirs, equal, far = added_up(work, program, raw, folder) if release > 16 else (None, 0, 0)
    if not equal and not far:
        theirs = llvm_file(work, program, raw, release, folder)
    ours = f"{folder}/ours.profdata"
    files = {f"llvm{release}": ["--to", f"llvm{release}"]}
    if release > 16:
        files.update({"any": [], "v2": ["--memprof-version", "2", "--index-version", "11"],
                      "full schema": ["--full-schema"]})
    path = f"{work.programs}/{source}"
    expected = compiled(release, path, theirs, f"{folder}/theirs.ll", opt_level)
    count = len(ANNOTATION.findall(expected))
    require(count > 0 or life == "none cold", "LLVM's own file annotates nothing")
    for name, options in files.items():
        good(work.pgokit, "merge", raw, "-b", program.exe, "-o", ours, *options)
        got = compiled(release, path, ours, f"{folder}/ours.ll", opt_level)
        if got != expected:
            raise_difference(name, expected, got)
    return f"{count} annotated calls and attributes" + (
        f", {equal} contexts added up" if equal else "") + (
        f", {far} line offsets of more than 16 bits" if far else "")


def raise_difference(name, expected, got):
    for a, b in itertools.zip_longest(expected.splitlines(), got.splitlines()):
        require(a == b, f"{name}: the compiler's output differs\nLLVM's: {a}\nours:   {b}")


def pass_alone(work, release):
    """The pass on its own, on code that no other pass has touched."""
    variant = {19: PIE_19, 22: PIE_22, 23: PIE_23}[release]
    source = "lifetimes.cpp"
    program = work.build(source, variant)
    folder = work.temp("pass")
    raw = write(f"{folder}/aged.memprofraw", age(read(program.raw), LIFE["one in three cold"]))
    plain = f"{folder}/plain.ll"
    good(tool("clang++", release), "-O2", "-g", "-fno-optimize-sibling-calls", "-S", "-emit-llvm",
         "-Xclang", "-disable-llvm-passes", f"{work.programs}/{source}", "-o", plain)
    ours = f"{folder}/ours.profdata"
    good(work.pgokit, "merge", raw, "-b", program.exe, "-o", ours, "--to", f"llvm{release}")
    out = []
    for path in (llvm_file(work, program, raw, release, folder), ours):
        out.append(good(tool("opt", release), f"-passes=memprof-use<profile-filename={path}>",
                        "-S", plain))
    if out[0] != out[1]:
        raise_difference("opt", *out)
    count = len(ANNOTATION.findall(out[1]))
    require(count > 0, "nothing is annotated")
    return f"{count} annotated calls and attributes"


def add_cases(work, tap):
    for release in at_hand(*RELEASES):
        tool("llvm-profdata", release)
    for release in at_hand(*READERS):
        tool("clang", release)
    for memprof, index, full in itertools.chain(
            itertools.product(MEMPROF, INDEX, (False,)),
            itertools.product(MEMPROF, (9, 12, 13, 14), (True,))):
        if full and index not in (9, 12, 13, 14):
            continue  # the index version does not change how a schema is read
        tap.add(f"MemProf V{memprof}, index {index}, {'full' if full else 'hot/cold'} schema",
                acceptance, work, memprof, index, full)
    for target, readers in (("any", reads_all(3)), ("llvm16", reads_all(0)),
                            ("llvm19", reads_all(3)), ("llvm22", reads_all(4)), ("llvm23", (23,))):
        tap.add(f"--to {target}", targets, work, target, readers)
    for release, variant in ((16, NO_PIE_16), (19, PIE_19), (22, PIE_22), (19, PIE_22),
                             (22, PIE_19), (23, PIE_23), (22, PIE_23), (23, PIE_22)):
        for source in ("lifetimes.cpp", "plain.c", "classes.cpp"):
            for life in LIFE if source == "lifetimes.cpp" else ("every other context cold",):
                tap.add(f"clang-{release} annotates {source} of clang-{variant.release}, {life}",
                        annotations, work, source, variant, release, life)
    for release in reads_all(3):
        tap.add(f"opt-{release} memprof-use", pass_alone, work, release)


if __name__ == "__main__":
    sys.exit(main(add_cases))
