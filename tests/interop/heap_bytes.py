#!/usr/bin/env python3
"""The bytes of indexed profiles: the same as llvm-profdata 22 and 23 write for the same records,
the same for any order of inputs and any number of threads, the same after reading and
writing again, and the same whether raw profiles are merged at once or in parts.
"""

import itertools
import sys

import profiles
from heap_releases import OF_YAML, ROWS
from peers import Failure, Variant, at_hand, good, main, read, require, tool, write

PIE_19 = Variant(19, "-O2", "-pie", "-fpie")
PIE_22 = Variant(22, "-O2", "-pie", "-fpie")
HISTOGRAM_22 = Variant(22, "-O2", "-no-pie", histogram=True)
NO_COLUMNS = Variant(22, "-O3", "-pie", "-fpie", "-gno-column-info")
SOURCES = ("plain.c", "classes.cpp", "dumps.c", "threads.cpp", "lifetimes.cpp")


def equal(what, expected, got):
    if expected == got:
        return
    n = next((i for i, (a, b) in enumerate(zip(expected, got)) if a != b),
             min(len(expected), len(got)))
    raise Failure(f"{what}: sizes {len(expected)} and {len(got)}, first difference at {n:#x}: "
                  f"expected {expected[n:n + 16].hex()}, got {got[n:n + 16].hex()}")


def merge(work, out, inputs, binaries, *options):
    good(work.pgokit, "merge", *inputs, *(a for b in binaries for a in ("-b", b)), "-o", out,
         *options)
    return read(out)


def by_guid(shown):
    """LLVM's YAML with the records by GUID, as pgokit adds them to a file; LLVM prints them
    in the order of the hash table. Inside a record its order is that of the file."""
    start, end = "HeapProfileRecords:\n", "...\n"
    body = shown[shown.index(start) + len(start):shown.rindex(end)]
    records = body.split("  - GUID:")[1:]
    records.sort(key=lambda text: int(text.split()[0], 16))
    return "---\n" + start + "".join("  - GUID:" + text for text in records) + end


def canonical(work, release, source, variant, memprof, full):
    """Our records as YAML, by GUID, through llvm-profdata. Not for V2: there the
    order inside its tables follows LLVM's hash map in memory."""
    program = work.build(source, variant)
    folder = work.temp("canonical")
    options = ["--index-version", ROWS[release].writes, "--memprof-version", str(memprof),
               *(["--full-schema"] if full else [])]
    ours = merge(work, f"{folder}/ours.profdata", [program.raw], [program.exe], *options)
    shown = good(tool("llvm-profdata", release), "show", "--memory", f"{folder}/ours.profdata")
    yaml = write(f"{folder}/records.yaml", by_guid(shown).encode())
    theirs = f"{folder}/theirs.profdata"
    good(tool("llvm-profdata", release), "merge", yaml, "-o", theirs,
         f"--memprof-version={memprof}", *(["--memprof-full-schema"] if full else []))
    equal(f"pgokit against llvm-profdata-{release}", read(theirs), ours)
    equal("pgokit from YAML", ours,
          merge(work, f"{folder}/again.profdata", [yaml], [], *options))
    return f"{len(ours)} bytes"


CALLEES = """---
HeapProfileRecords:
  - GUID: 0x1111
    AllocSites:
      - Callstack:
          - { Function: 0x1111, LineOffset: 1, Column: 2, IsInlineFrame: true }
          - { Function: main, LineOffset: 3, Column: 4, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount: 3
          TotalSize: 300
          TotalLifetime: 900000
          TotalLifetimeAccessDensity: 1
    CallSites: []
  - GUID: main
    CallSites:
      - Frames:
          - { Function: main, LineOffset: 9, Column: 9, IsInlineFrame: false }
        CalleeGuids: [ 0x123, 0xe413754a191db537 ]
      - Frames:
          - { Function: main, LineOffset: 7000, Column: 0, IsInlineFrame: false }
...
"""


def callees(work, release):
    """What only YAML tells: indirect call targets, functions by name."""
    folder = work.temp("callees")
    # Records by GUID, as pgokit orders them.
    yaml = write(f"{folder}/in.yaml", CALLEES.encode())
    theirs = f"{folder}/theirs.profdata"
    target = ["--to", f"llvm{release}"]
    good(tool("llvm-profdata", release), "merge", yaml, "-o", theirs, "--memprof-version=4")
    ours = merge(work, f"{folder}/ours.profdata", [yaml], [], *target)
    equal("from YAML", read(theirs), ours)
    equal("from LLVM's file", ours,
          merge(work, f"{folder}/again.profdata", [theirs], [], *target))
    printed = good(tool("llvm-profdata", release), "show", "--memory", theirs)
    again = write(f"{folder}/printed.yaml", printed.encode())
    equal("from LLVM's own YAML", ours,
          merge(work, f"{folder}/third.profdata", [again], [], *target))


def rewrite(work, source, variant, memprof, index, full):
    """Reading a file and writing it again, twice, changes nothing."""
    program = work.build(source, variant)
    folder = work.temp("rewrite")
    options = ["--memprof-version", str(memprof), "--index-version", str(index),
               *(["--full-schema"] if full else [])]
    first = merge(work, f"{folder}/1.profdata", [program.raw], [program.exe], *options)
    second = merge(work, f"{folder}/2.profdata", [f"{folder}/1.profdata"], [], *options)
    equal("read and written again", first, second)
    # By way of every other version: no version loses what another one keeps.
    path = f"{folder}/2.profdata"
    for i, other in enumerate((2, 3, 4)):
        via = f"{folder}/via{i}.profdata"
        merge(work, via, [path], [], "--memprof-version", str(other), "--index-version", "13",
              *(["--full-schema"] if full else []))
        path = via
    third = merge(work, f"{folder}/3.profdata", [path], [], *options)
    equal("by way of V2, V3 and V4", first, third)


def recordings(work, source, variant, count):
    """The same program recorded several times: equal contexts, other numbers."""
    program = work.build(source, variant)
    folder = work.temp("recordings")
    raws = []
    for i in range(count):
        dumps = profiles.decode_raw(read(program.raw))
        for d in dumps:
            # Each file has contexts of its own, lost ones and different numbers.
            d.blocks = [(s, b) for n, (s, b) in enumerate(d.blocks) if n % (count + 1) != i]
            for n, (_, b) in enumerate(d.blocks):
                b["TotalSize"] += i * 3 + n % 5
                b["MaxSize"] += i
                b["MinSize"] = max(0, b["MinSize"] - i)
                b["AllocTimestamp"] += (i * 7 + n) % 4
                b["DeallocTimestamp"] += (n * 5 + i) % 9
                b["AllocCpuId"] = (i + n) % 2
                b["TotalLifetimeAccessDensity"] += i * n
                b["NumLifetimeOverlaps"] += i
        raws.append(write(f"{folder}/{i}.memprofraw", profiles.encode_raw(dumps)))
    return program, folder, raws


def any_order(work, source, variant):
    program, folder, raws = recordings(work, source, variant, 4)
    expected, tried = None, 0
    for order in itertools.permutations(raws):
        options = ["--full-schema", "--to", "llvm22", "-j", str((1, 2, 8)[tried % 3])]
        got = merge(work, f"{folder}/out{tried}.profdata", order, [program.exe], *options)
        expected = expected or got
        equal(f"order {[r[-12:-11] for r in order]}, {options}", expected, got)
        tried += 1
    # As records, too, it is what adding up file by file gives.
    sum_of_all = profiles.Records()
    for raw in raws:
        sum_of_all.add(profiles.parse_json(
            good(work.pgokit, "show", raw, "-b", program.exe, "--json")))
    shown = profiles.parse_json(good(work.pgokit, "show", f"{folder}/out0.profdata", "--json"))
    difference = profiles.first_difference(sum_of_all.low_lines(), shown)
    require(not difference, f"the sum of the files: {difference}")
    return f"{tried} orders"


def threads(work):
    program, folder, raws = recordings(work, "classes.cpp", PIE_22, 6)
    expected = None
    for jobs in (1, 2, 3, 8, 64):
        got = merge(work, f"{folder}/j{jobs}.profdata", raws, [program.exe], "-j", str(jobs))
        expected = expected or got
        equal(f"-j {jobs}", expected, got)


def parts(work, source, variant, full, memprof):
    """Partial files, merged in several ways, give what all raw files at once give."""
    program, folder, raws = recordings(work, source, variant, 4)
    options = ["--memprof-version", str(memprof), "--index-version", "13" if memprof == 4 else "12",
               *(["--full-schema"] if full else [])]
    at_once = merge(work, f"{folder}/all.profdata", raws, [program.exe], *options)
    for i, raw in enumerate(raws):
        merge(work, f"{folder}/part{i}.profdata", [raw], [program.exe], *options)
    single = [f"{folder}/part{i}.profdata" for i in range(len(raws))]
    equal("all partial files", at_once, merge(work, f"{folder}/a.profdata", single, [], *options))
    equal("the other way round", at_once,
          merge(work, f"{folder}/b.profdata", single[::-1], [], *options))
    merge(work, f"{folder}/01.profdata", single[:2], [], *options)
    merge(work, f"{folder}/23.profdata", raws[2:], [program.exe], *options)
    pairs = [f"{folder}/23.profdata", f"{folder}/01.profdata"]
    equal("partial files of partial files", at_once,
          merge(work, f"{folder}/c.profdata", pairs, [], *options))
    equal("raw and indexed files mixed", at_once,
          merge(work, f"{folder}/d.profdata", [raws[3], single[0], raws[1], single[2]],
                [program.exe], *options))


def twice(work, source, variant):
    """The same raw profile twice: sums double, minima and maxima stay."""
    program = work.build(source, variant)
    folder = work.temp("twice")
    options = ["--full-schema", "--to", "llvm22"]
    shown = []
    for name, inputs in (("once", [program.raw]), ("twice", [program.raw] * 2)):
        merge(work, f"{folder}/{name}.profdata", inputs, [program.exe], *options)
        shown.append(profiles.parse_yaml(
            good(tool("llvm-profdata", 22), "show", "--memory", f"{folder}/{name}.profdata")))
    once, both = shown
    for record in once.by_guid.values():
        for block in record.allocs.values():
            for name, _, _, rule in profiles.FIELDS:
                if rule == "sum":
                    block[name] *= 2
    difference = profiles.first_difference(once, both)
    require(not difference, difference)


def standard_output(work):
    program = work.build("plain.c", PIE_22)
    folder = work.temp("stdout")
    expected = merge(work, f"{folder}/out.profdata", [program.raw], [program.exe])
    with open(f"{folder}/piped.profdata", "wb") as f:
        good(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", "-", stdout=f)
    equal("-o -", expected, read(f"{folder}/piped.profdata"))


def add_cases(work, tap):
    tool("clang", 19)
    tool("clang", 22)
    tool("llvm-profdata", 22)
    for variant, sources in ((PIE_22, SOURCES), (NO_COLUMNS, SOURCES[:2]),
                             (HISTOGRAM_22, SOURCES[:1]), (PIE_19, SOURCES[:2])):
        for release, source, memprof, full in itertools.product(at_hand(*OF_YAML), sources, (3, 4),
                                                                (False, True)):
            tap.add(f"bytes of LLVM {release}: {source} {variant.name}, V{memprof} "
                    f"{'full' if full else 'hot/cold'}", canonical, work, release, source, variant,
                    memprof, full)
    # V0 and V1 have no other schema than the full one.
    for memprof, index, full in itertools.chain(
            itertools.product((0, 1), (8, 9, 11, 12), (True,)),
            itertools.product((2, 3, 4), (8, 11, 12, 13), (False, True))):
        tap.add(f"read and written again: V{memprof} index {index} "
                f"{'full' if full else 'hot/cold'}", rewrite, work, "classes.cpp", PIE_22, memprof,
                index, full)
    for source, variant in (("plain.c", PIE_22), ("classes.cpp", PIE_19), ("dumps.c", HISTOGRAM_22),
                            ("plain.c", NO_COLUMNS)):
        tap.add(f"any order and thread count: {source} {variant.name}", any_order, work, source,
                variant)
        for full, memprof in itertools.product((False, True), (2, 3, 4)):
            tap.add(f"in parts: {source} {variant.name}, V{memprof} "
                    f"{'full' if full else 'hot/cold'}", parts, work, source, variant, full,
                    memprof)
        tap.add(f"the same file twice: {source} {variant.name}", twice, work, source, variant)
    for release in at_hand(*OF_YAML):
        tap.add(f"YAML with callees and names, LLVM {release}", callees, work, release)
    tap.add("any thread count", threads, work)
    tap.add("to standard output", standard_output, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
