"""What is the same: function records of raw profiles as llvm-profdata makes them, for programs in C
and C++ built in many ways; and bytes of indexed profiles, as llvm-profdata writes them for the
same records, for any order of inputs, number of threads, and ways of merging them in parts.
"""

import itertools
from functools import partial

import profiles
from heap_fixtures import (BUILDS, HISTOGRAM_22, LLD_22, NO_COLUMNS, PIE, WITH_LLD, Made, same)
from heap_releases import OF_YAML, ROWS, reads_raw
from peers import Failure, Variant, at_hand, good, read, require, tool, write

SOURCES = ["plain.c", "classes.cpp", "dumps.c", "threads.cpp"]
# Older runtimes: raw version 2, which only llvm-profdata-16 reads, and 1, which none does.
CLANG_16 = [Variant(16, "-O0", "-no-pie"), Variant(16, "-O2", "-no-pie", "-gdwarf-4"),
            Variant(16, "-O2", "-no-pie", "-gno-column-info")]
# Two files and link-time optimisation: static functions get names with ".llvm.".
LTO = Variant(22, "-O2", "-pie", "-fpie", "-flto=thin", LLD_22)
SUMS = {name for name, _, _, rule in profiles.FIELDS if rule == "sum"}
WITHOUT_HISTOGRAM = [name for name in profiles.COMPARED if name != "AccessHistogramSize"]

# ---- records ----


def expected_from(f, program, release):
    """What llvm-profdata says. It crashes on several dumps with histograms, so these are
    first made one dump here."""
    def one_dump():
        dumps = profiles.decode_raw(read(program.raw))
        return program.raw if len(dumps) == 1 else write(
            f.new_path(), profiles.encode_raw([profiles.merge_dumps(dumps)]))
    raw = program.raw
    if program.variant.histogram:
        raw = f.once(("one dump", raw), one_dump)
    return f.llvm_shows(release, raw, program.exe)


def compare(f, build, turn):
    """Our profiles are read by pgokit, and two of them by a release: V2, of which LLVM has no bytes
    to compare with, and in turn one of the others, of which `canonical` compares them. Over the
    programs each release reads each form; heap_converted asks each release for each version."""
    program = build()
    expected = expected_from(f, program, 22)
    low = expected.low_lines()
    require(expected.contexts > 0, "llvm-profdata shows no context")
    if program.variant.release == 19:
        same("llvm-profdata-19 against -22", expected, expected_from(f, program, 19))
    for release in at_hand(23):
        same(f"llvm-profdata-{release}", expected, expected_from(f, program, release))
    same("show", expected, f.shown(program.raw, program.exe), histogram=True)
    readers = at_hand(*OF_YAML)
    release = readers[turn % len(readers)]
    for i, (name, options, fields) in enumerate((
            ("v4-full", ("--to", "llvm22", "--full-schema"), profiles.COMPARED),
            ("v3-any", (), profiles.HOT_COLD),
            ("v3-full", ("--to", "llvm19", "--full-schema"), profiles.COMPARED),
            ("v2-full", Made(2, 11, True).options, profiles.COMPARED))):
        path = f.merged(program.raw, program.exe, *options)
        same(f"{name} read by pgokit", low, f.shown(path), fields)
        if i in (turn % 3, 3):
            same(f"{name} read by llvm-profdata-{release}", low, f.llvm_reads(release, path),
                 fields)
    return (f"{len(expected.by_guid)} records, {expected.contexts} alloc sites, "
            f"{expected.merged_contexts()} of them equal to another")


def version_3(f, source, variant):
    """What clang 17 and 18 wrote: the same without histograms."""
    program = f.build(source, variant)
    dumps = profiles.decode_raw(read(program.raw))
    for d in dumps:
        d.version = 3
    raw = write(f.new_path(), profiles.encode_raw(dumps))
    for release in at_hand(*reads_raw(3)):
        same(f"llvm-profdata-{release}", f.llvm_shows(release, raw, program.exe),
             f.shown(raw, program.exe), WITHOUT_HISTOGRAM)


def version_2(f, source, variant):
    program = f.build(source, variant)
    expected = f.llvm_shows(16, program.raw, program.exe)
    same("llvm-profdata-16", expected, f.shown(program.raw, program.exe), WITHOUT_HISTOGRAM)
    out = f.merged(program.raw, program.exe, "--full-schema")
    same("written for all", expected.low_lines(), f.llvm_reads(22, out), WITHOUT_HISTOGRAM)


def version_2_pie(f, source, release):
    """llvm-profdata-16 refuses position-independent programs, clang-14's profiles are read
    by nobody: the stacks and sums must be those of clang-16 without PIE."""
    known = f.build(source, CLANG_16[0])
    program = f.build(source, Variant(release, "-O0", "-pie", "-fpie"))
    same("PIE", *(f.shown(p.raw, p.exe) for p in (known, program)),
         fields=["AllocCount", "TotalSize", "MinSize"])


def aggregated_somewhere(f):
    """The corpus must hold contexts that become equal, else adding up is not tested."""
    found = sum(expected_from(f, f.build("plain.c", variant), 22).merged_contexts()
                for variant in BUILDS if "-gno-column-info" in variant.flags)
    require(found > 0, "no two contexts with equal stacks in any program")
    return f"{found} contexts"


def codec(f):
    """The decoder here is itself right: decoding and encoding gives the same bytes."""
    for variant, source in itertools.product(BUILDS, ("plain.c", "dumps.c")):
        data = read(f.build(source, variant).raw)
        dumps = profiles.decode_raw(data)
        for d in dumps:
            for _, block in d.blocks:
                block["AccessHistogram"] = 0
        encoded = profiles.encode_raw(dumps)
        require(len(encoded) == len(data), f"{variant.name}: size")
        for d, e in zip(dumps, profiles.decode_raw(encoded)):
            require(d.blocks == e.blocks and d.stacks == e.stacks, f"{variant.name}: content")


# ---- bytes ----


def equal(what, expected, got):
    if expected == got:
        return
    n = next((i for i, (a, b) in enumerate(zip(expected, got)) if a != b),
             min(len(expected), len(got)))
    raise Failure(f"{what}: sizes {len(expected)} and {len(got)}, first difference at {n:#x}: "
                  f"expected {expected[n:n + 16].hex()}, got {got[n:n + 16].hex()}")


def by_guid(shown):
    """LLVM's YAML with the records by GUID, as pgokit adds them to a file; LLVM prints them
    in the order of the hash table. Inside a record its order is that of the file."""
    start, end = "HeapProfileRecords:\n", "...\n"
    body = shown[shown.index(start) + len(start):shown.rindex(end)]
    records = body.split("  - GUID:")[1:]
    records.sort(key=lambda text: int(text.split()[0], 16))
    return "---\n" + start + "".join("  - GUID:" + text for text in records) + end


def canonical(f, release, source, variant, memprof, full):
    """Our records as YAML, by GUID, through llvm-profdata. Not for V2: there the
    order inside its tables follows LLVM's hash map in memory."""
    program = f.build(source, variant)
    made = Made(memprof, int(ROWS[release].writes), full)
    path = f.merged(program.raw, program.exe, *made.options)
    ours = read(path)
    yaml = write(f.new_path(), by_guid(f.llvm_prints(release, path)).encode())
    theirs = f.new_path()
    good(tool("llvm-profdata", release), "merge", yaml, "-o", theirs,
         f"--memprof-version={memprof}", *(["--memprof-full-schema"] if full else []))
    equal(f"pgokit against llvm-profdata-{release}", read(theirs), ours)
    equal("pgokit from YAML", ours, f.merge(f.new_path(), [yaml], [], *made.options))
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


def callees(f, release):
    """What only YAML tells: indirect call targets, functions by name."""
    # Records by GUID, as pgokit orders them.
    yaml, theirs = write(f.new_path(), CALLEES.encode()), f.new_path()
    target = ["--to", f"llvm{release}"]
    good(tool("llvm-profdata", release), "merge", yaml, "-o", theirs, "--memprof-version=4")
    ours = f.merge(f.new_path(), [yaml], [], *target)
    equal("from YAML", read(theirs), ours)
    equal("from LLVM's file", ours, f.merge(f.new_path(), [theirs], [], *target))
    printed = write(f.new_path(), f.llvm_prints(release, theirs).encode())
    equal("from LLVM's own YAML", ours, f.merge(f.new_path(), [printed], [], *target))


def rewrite(f, made):
    """Reading a file and writing it again, twice, changes nothing."""
    program = f.build("classes.cpp", PIE[22])
    first = f.merged(program.raw, program.exe, *made.options)
    second = f.new_path()
    equal("read and written again", read(first), f.merge(second, [first], [], *made.options))
    # By way of every other version: no version loses what another one keeps.
    path = second
    for other in (2, 3, 4):
        via = f.new_path()
        f.merge(via, [path], [], *made._replace(memprof=other, index=13).options)
        path = via
    equal("by way of V2, V3 and V4", read(first), f.merge(f.new_path(), [path], [], *made.options))


def recordings(f, source, variant, count):
    """The same program recorded several times: equal contexts, other numbers."""
    program = f.build(source, variant)

    def make():
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
            raws.append(write(f.new_path(), profiles.encode_raw(dumps)))
        return raws
    return program, f.once(("recordings", program.raw, count), make)


def any_order(f, source, variant):
    program, raws = recordings(f, source, variant, 4)
    out, expected, tried = f.new_path(), None, 0
    for order in itertools.permutations(raws):
        options = ["--full-schema", "--to", "llvm22", "-j", str((1, 2, 8)[tried % 3])]
        got = f.merge(out, order, [program.exe], *options)
        expected = expected or got
        equal(f"order {[raws.index(raw) for raw in order]}, {options}", expected, got)
        tried += 1
    # As records, too, it is what adding up file by file gives.
    sum_of_all = profiles.Records()
    for raw in raws:
        sum_of_all.add(f.show(raw, program.exe))
    same("the sum of the files", sum_of_all.low_lines(), f.show(out))
    return f"{tried} orders"


def threads(f):
    program, raws = recordings(f, "classes.cpp", PIE[22], 6)
    expected = None
    for jobs in (1, 2, 3, 8, 64):
        got = f.merge(f.new_path(), raws, [program.exe], "-j", str(jobs))
        expected = expected or got
        equal(f"-j {jobs}", expected, got)


def parts(f, source, variant, made):
    """Partial files, merged in several ways, give what all raw files at once give."""
    program, raws = recordings(f, source, variant, 4)
    out = f.new_path()
    at_once = f.merge(out, raws, [program.exe], *made.options)
    single_parts = [f.merged(raw, program.exe, *made.options) for raw in raws]
    pairs = [f.new_path(), f.new_path()]
    f.merge(pairs[1], single_parts[:2], [], *made.options)
    f.merge(pairs[0], raws[2:], [program.exe], *made.options)
    for what, inputs, of in (
            ("all partial files", single_parts, []),
            ("the other way round", single_parts[::-1], []),
            ("partial files of partial files", pairs, []),
            ("raw and indexed files mixed", [raws[3], single_parts[0], raws[1], single_parts[2]],
             [program.exe])):
        equal(what, at_once, f.merge(out, inputs, of, *made.options))


def twice(f, source, variant):
    """The same raw profile twice: sums double, minima and maxima stay."""
    program = f.build(source, variant)
    options = ["--full-schema", "--to", "llvm22"]
    out = f.new_path()
    f.merge(out, [program.raw] * 2, [program.exe], *options)
    once = f.llvm_reads(22, f.merged(program.raw, program.exe, *options))
    doubled = profiles.Records()
    doubled.add(once)
    for record in doubled.by_guid.values():
        for stack, block in record.allocs.items():
            record.allocs[stack] = {name: value * (1 + (name in SUMS))
                                    for name, value in block.items()}
    same("twice", doubled, f.llvm_reads(22, out))


def standard_output(f):
    program = f.build("plain.c", PIE[22])
    piped = f.new_path()
    with open(piped, "wb") as out:
        good(f.pgokit, "merge", program.raw, "-b", program.exe, "-o", "-", stdout=out)
    equal("-o -", read(f.merged(program.raw, program.exe)), read(piped))


def record_rows(f, tap):
    for turn, (variant, source) in enumerate(itertools.product(BUILDS, SOURCES)):
        # Without the latter, a source would always meet the same release.
        tap.add(f"{source} {variant.name}", compare, f, partial(f.build, source, variant),
                turn + turn // 4)
    # Frames in the library are dropped by both, as only the program is given.
    for turn, variant in enumerate((BUILDS[1], BUILDS[2], BUILDS[6], BUILDS[11])):
        tap.add(f"program of three modules {variant.name}", compare, f,
                partial(f.modules, variant), turn)
    for turn, variant in enumerate((BUILDS[0], LTO)):
        tap.add(f"three files in one program {variant.name}", compare, f,
                partial(f.one_module, variant), turn)
    tap.add("some contexts become equal once symbolised", aggregated_somewhere, f)
    tap.add("the raw codec of the tests", codec, f)


def older_rows(f, tap):
    for source in SOURCES:
        tap.add(f"{source} as raw version 3", version_3, f, source, PIE[19])
        for variant in CLANG_16:
            tap.add(f"{source} {variant.name}", version_2, f, source, variant)
    for source, release in itertools.product(("plain.c", "dumps.c"), (14, 16)):
        tap.add(f"{source} clang-{release} PIE", version_2_pie, f, source, release)


def byte_rows(f, tap):
    for variant, sources in ((WITH_LLD, SOURCES), (PIE[22], ["lifetimes.cpp"]),
                             (NO_COLUMNS, SOURCES[:2]), (HISTOGRAM_22, SOURCES[:1]),
                             (PIE[19], SOURCES[:2])):
        for release, source, memprof, full in itertools.product(at_hand(*OF_YAML), sources, (3, 4),
                                                                (False, True)):
            tap.add(f"bytes of LLVM {release}: {source} {variant.name}, V{memprof} "
                    f"{'full' if full else 'hot/cold'}", canonical, f, release, source, variant,
                    memprof, full)
    # V0 and V1 have no other schema than the full one.
    for made in itertools.starmap(Made, itertools.chain(
            itertools.product((0, 1), (8, 9, 11, 12), (True,)),
            itertools.product((2, 3, 4), (8, 11, 12, 13), (False, True)))):
        tap.add(f"read and written again: V{made.memprof} index {made.index} {made.schema}",
                rewrite, f, made)
    for source, variant in (("plain.c", PIE[22]), ("classes.cpp", PIE[19]),
                            ("dumps.c", HISTOGRAM_22), ("plain.c", NO_COLUMNS)):
        tap.add(f"any order and thread count: {source} {variant.name}", any_order, f, source,
                variant)
        for full, memprof in itertools.product((False, True), (2, 3, 4)):
            made = Made(memprof, 13 if memprof == 4 else 12, full)
            tap.add(f"in parts: {source} {variant.name}, V{memprof} {made.schema}", parts, f,
                    source, variant, made)
        tap.add(f"the same file twice: {source} {variant.name}", twice, f, source, variant)
    for release in at_hand(*OF_YAML):
        tap.add(f"YAML with callees and names, LLVM {release}", callees, f, release)
    tap.add("any thread count", threads, f)
    tap.add("to standard output", standard_output, f)
