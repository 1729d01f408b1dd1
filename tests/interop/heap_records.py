#!/usr/bin/env python3
"""Function records from raw profiles: what `pgokit show` and `pgokit merge` make of a raw
profile equals what llvm-profdata makes of it, for programs in C and C++ built in many ways.
"""

import sys

import profiles
from heap_releases import OF_YAML, reads_raw
from peers import Variant, at_hand, good, main, read, require, tool, write

LLD_22 = "-fuse-ld=/usr/bin/ld.lld-22"

VARIANTS = [
    Variant(19, "-O0", "-no-pie", "-gdwarf-5"),
    Variant(19, "-O2", "-pie", "-fpie", "-gdwarf-5"),
    Variant(19, "-O2", "-no-pie", "-gdwarf-4", "-fuse-ld=lld"),
    Variant(19, "-O1", "-pie", "-fpie", "-gno-column-info"),
    Variant(19, "-O2", "-pie", "-fpie", "-gdwarf-5", histogram=True),
    Variant(22, "-O0", "-pie", "-fpie", "-gdwarf-5"),
    Variant(22, "-O2", "-pie", "-fpie", "-gdwarf-5", LLD_22),
    Variant(22, "-O2", "-no-pie", "-gdwarf-4", "-fuse-ld=mold", "-funique-internal-linkage-names"),
    Variant(22, "-O3", "-pie", "-fpie", "-gno-column-info", "-fdebug-types-section", "-gz"),
    Variant(22, "-O2", "-no-pie", "-gsplit-dwarf", "-fuse-ld=gold"),
    Variant(22, "-O2", "-pie", "-fpie", "-gline-tables-only", "-fdebug-info-for-profiling"),
    Variant(22, "-O2", "-no-pie", "-gdwarf-5", histogram=True),
]
SOURCES = ["plain.c", "classes.cpp", "dumps.c", "threads.cpp"]

# Older runtimes: raw version 2, which only llvm-profdata-16 reads, and 1, which none does.
CLANG_16 = [Variant(16, "-O0", "-no-pie"), Variant(16, "-O2", "-no-pie", "-gdwarf-4"),
            Variant(16, "-O2", "-no-pie", "-gno-column-info")]

# Two files and link-time optimisation: static functions get names with ".llvm.".
LTO = Variant(22, "-O2", "-pie", "-fpie", "-flto=thin", LLD_22)


def expected_from(program, release, folder):
    """What llvm-profdata says. It crashes on several dumps with histograms, so these are
    first made one dump here."""
    raw = program.raw
    if program.variant.histogram:
        dumps = profiles.decode_raw(read(raw))
        if len(dumps) > 1:
            one = profiles.encode_raw([profiles.merge_dumps(dumps)])
            raw = write(f"{folder}/one-dump.memprofraw", one)
    text = good(tool("llvm-profdata", release), "show", "--memory", raw,
                "--profiled-binary", program.exe)
    return profiles.parse_show(text)


def same(what, expected, got, fields=profiles.COMPARED, histogram=False):
    difference = profiles.first_difference(expected, got, fields, histogram)
    require(not difference, f"{what}: {difference}")


def merged_show(work, program, folder, name, *options):
    """`pgokit merge` and what llvm-profdata, by release, and pgokit read from the file."""
    out = f"{folder}/{name}.profdata"
    good(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", out, *options)
    llvm = {release: profiles.parse_yaml(good(tool("llvm-profdata", release), "show", "--memory",
                                              out)) for release in at_hand(*OF_YAML)}
    ours = profiles.parse_json(good(work.pgokit, "show", out, "--json"))
    return llvm, ours


def compare(work, program):
    folder = work.temp("records")
    expected = expected_from(program, 22, folder)
    require(expected.contexts > 0, "llvm-profdata shows no context")
    if program.variant.release == 19:
        same("llvm-profdata-19 against -22", expected, expected_from(program, 19, folder))
    for release in at_hand(23):
        same(f"llvm-profdata-{release}", expected, expected_from(program, release, folder))

    shown = good(work.pgokit, "show", program.raw, "-b", program.exe, "--json")
    same("show", expected, profiles.parse_json(shown), histogram=True)

    for name, options, fields in (
            ("v4-full", ["--to", "llvm22", "--full-schema"], profiles.COMPARED),
            ("v3-any", [], profiles.HOT_COLD),
            ("v3-full", ["--to", "llvm19", "--full-schema"], profiles.COMPARED),
            ("v2-full", ["--memprof-version", "2", "--index-version", "11", "--full-schema"],
             profiles.COMPARED)):
        llvm, ours = merged_show(work, program, folder, name, *options)
        for release, theirs in llvm.items():
            same(f"{name} read by llvm-profdata-{release}", expected.low_lines(), theirs, fields)
        same(f"{name} read by pgokit", expected.low_lines(), ours, fields)
    return (f"{len(expected.by_guid)} records, {expected.contexts} alloc sites, "
            f"{expected.merged_contexts()} of them equal to another")


def single(work, source, variant):
    return compare(work, work.build(source, variant))


def version_3(work, source, variant):
    """What clang 17 and 18 wrote: the same without histograms."""
    program = work.build(source, variant)
    folder = work.temp("v3")
    dumps = profiles.decode_raw(read(program.raw))
    for d in dumps:
        d.version = 3
    raw = write(f"{folder}/v3.memprofraw", profiles.encode_raw(dumps))
    fields = [f for f in profiles.COMPARED if f != "AccessHistogramSize"]
    for release in at_hand(*reads_raw(3)):
        expected = profiles.parse_show(good(tool("llvm-profdata", release), "show", "--memory", raw,
                                            "--profiled-binary", program.exe))
        shown = good(work.pgokit, "show", raw, "-b", program.exe, "--json")
        same(f"llvm-profdata-{release}", expected, profiles.parse_json(shown), fields)


def version_2(work, source, variant):
    program = work.build(source, variant)
    fields = [f for f in profiles.COMPARED if f != "AccessHistogramSize"]
    expected = profiles.parse_show(good(tool("llvm-profdata", 16), "show", "--memory", program.raw,
                                        "--profiled-binary", program.exe))
    shown = good(work.pgokit, "show", program.raw, "-b", program.exe, "--json")
    same("llvm-profdata-16", expected, profiles.parse_json(shown), fields)
    out = f"{work.temp('v2')}/out.profdata"
    good(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", out, "--full-schema")
    written = good(tool("llvm-profdata", 22), "show", "--memory", out)
    same("written for all", expected.low_lines(), profiles.parse_yaml(written), fields)


def version_2_pie(work, source, release):
    """llvm-profdata-16 refuses position-independent programs, clang-14's profiles are read
    by nobody: the stacks and sums must be those of clang-16 without PIE."""
    known = work.build(source, Variant(16, "-O0", "-no-pie"))
    program = work.build(source, Variant(release, "-O0", "-pie", "-fpie"))
    both = [profiles.parse_json(good(work.pgokit, "show", p.raw, "-b", p.exe, "--json"))
            for p in (known, program)]
    same("PIE", *both, fields=["AllocCount", "TotalSize", "MinSize"])


def modules(work, variant):
    """Frames in the library are dropped by both, as only the program is given."""
    return compare(work, work.modules(variant))


def one_module(work, variant):
    return compare(work, work.build("modules.cpp module_library.cpp module_plugin.cpp", variant,
                                    more=["-DONE_MODULE"]))


def aggregated_somewhere(work):
    """The corpus must hold contexts that become equal, else adding up is not tested."""
    found = 0
    for variant in VARIANTS:
        if "-gno-column-info" in variant.flags:
            program = work.build("plain.c", variant)
            found += expected_from(program, 22, work.temp("equal")).merged_contexts()
    require(found > 0, "no two contexts with equal stacks in any program")
    return f"{found} contexts"


def codec(work):
    """The decoder here is itself right: decoding and encoding gives the same bytes."""
    for variant in VARIANTS:
        for source in ("plain.c", "dumps.c"):
            data = read(work.build(source, variant).raw)
            dumps = profiles.decode_raw(data)
            for d in dumps:
                for _, block in d.blocks:
                    block["AccessHistogram"] = 0
            again = profiles.decode_raw(profiles.encode_raw(dumps))
            require(len(profiles.encode_raw(dumps)) == len(data), f"{variant.name}: size")
            for d, e in zip(dumps, again):
                require(d.blocks == e.blocks and d.stacks == e.stacks, f"{variant.name}: content")


def add_cases(work, tap):
    for release in sorted({v.release for v in VARIANTS + CLANG_16}):
        tool("clang", release)
        tool("llvm-profdata", release)
    for variant in VARIANTS:
        for source in SOURCES:
            tap.add(f"{source} {variant.name}", single, work, source, variant)
    for source in SOURCES:
        tap.add(f"{source} as raw version 3", version_3, work, source, VARIANTS[1])
        for variant in CLANG_16:
            tap.add(f"{source} {variant.name}", version_2, work, source, variant)
    for source in ("plain.c", "dumps.c"):
        for release in (14, 16):
            tap.add(f"{source} clang-{release} PIE", version_2_pie, work, source, release)
    for variant in (VARIANTS[1], VARIANTS[2], VARIANTS[6], VARIANTS[11]):
        tap.add(f"program of three modules {variant.name}", modules, work, variant)
    for variant in (VARIANTS[0], LTO):
        tap.add(f"three files in one program {variant.name}", one_module, work, variant)
    tap.add("some contexts become equal once symbolised", aggregated_somewhere, work)
    tap.add("the raw codec of the tests", codec, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
