#!/usr/bin/env python3
"""The Python module reads, merges and writes what pgokit does, and refuses what it refuses.

usage: python_profiles.py PGOKIT LIBRARY SOURCE-FOLDER BUILD-FOLDER
"""

import json
import pathlib

import pgokit
from python_harness import GOLDEN, PGOKIT, Cases, golden, require, run, said

HEAP_FOLDERS = ("heap-raw", "partial", "heaptrack", "pprof", "allocator-heap",
                "indexed", "yaml")


def as_json(path):
    done = said("show", "-q", "--json", path)
    require(done.returncode == 0, f"{path}: {done.stderr!r}")
    return json.loads(done.stdout)


def heaps_are_as_shown(_folder):
    for path in (path for name in HEAP_FOLDERS for path in golden(name)):
        shown, profile = as_json(path)["contexts"], pgokit.read(path, kind="heap")
        require(len(profile) == len(shown), f"{path}: {len(profile)} and {len(shown)} contexts")
        for row, context in zip(shown, profile):
            numbers = {name: value for name, value in row["mib"].items()
                       if name in (field.name for field in pgokit.heap_fields())}
            require(numbers == {name: value for name, value in context.items() if name in numbers},
                    f"{path}: {row} and {context}")
            require([frame.get("function", "") for frame in row["stack"]] ==
                    [frame.linkage_name for frame in context.frames], f"{path}: {row['stack']}")


def frames_have_places(_folder):
    profile = pgokit.HeapProfile.read(GOLDEN / "partial/two-contexts.pgk")
    places = [[frame.place for frame in context.frames] for context in profile.top(2)]
    require(places == [["two_contexts.c:26:12"], ["two_contexts.c:18:19"]], f"{places}")
    frame = profile.top(1)[0].frames[0]
    require((frame.function, frame.line, frame.column, frame.inlined, frame.address) ==
            ("main", 26, 12, False, None), f"{frame}")
    require(profile.top(1)[0].label == "never used", "another label")
    require("PeakSize" not in profile.top(1)[0] and profile.top(1)[0].get("PeakSize") is None,
            "it knows the peak")


def addresses_stay_where_no_program_is(_folder):
    profile = pgokit.HeapProfile.read(GOLDEN / "heap-raw/clang22.profraw")
    require(profile.needs_binaries, "it has names")
    frame = next(iter(profile)).frames[0]
    require(frame.address and frame.function == hex(frame.address), f"{frame}")


def heap_over_time(_folder):
    times = pgokit.HeapProfile.read(GOLDEN / "heap-raw/handmade-over-time.profraw").over_time()
    require(times is not None and times.peak_bytes > 0 and len(times.points) > 1, f"{times}")
    require(pgokit.HeapProfile().over_time() is None, "an empty profile has times")


def samples_give_intervals(_folder):
    profile = pgokit.HeapProfile.read(GOLDEN / "heap-raw/handmade-sampled.profraw")
    sampling, few = profile.sampling(), profile.top(2)[1]
    require(sampling is not None and (sampling.samples, sampling.hits, sampling.exact) ==
            (14, 9, True), f"{sampling}")
    require(sampling.bytes.low == sampling.bytes.value == 61234, f"{sampling}")
    size = few.estimate("TotalSize")
    require(size is not None and 0 < size.low < size.value < size.high, f"{size}")
    require(few.estimate("PeakSize") is None and few.label == "undecided", few.label)
    exact = pgokit.HeapProfile.read(GOLDEN / "heap-raw/handmade-over-time.profraw")
    require(exact.sampling() is None and exact.top(1)[0].estimate("TotalSize") is None,
            "an exact profile is sampled")


def all_nodes(functions):
    for function in functions:
        yield function
        yield from all_nodes(function.inlinees)


def samples_are_as_shown(_folder):
    for path in golden("sample"):
        shown, profile = as_json(path), pgokit.SampleProfile.read(path)
        require(len(profile) == len(shown["functions"]), f"{path}: {len(profile)}")
        for row, function in zip(shown["functions"], profile):
            require((row["total"], row["head"]) == (function.total, function.head),
                    f"{path}: {row}")
        require(profile.summary().total_count ==
                sum(line.count for node in all_nodes(profile) for line in node.lines) % 2**64,
                f"{path}: lines do not add up to {profile.summary()}")


def lines_and_targets(_folder):
    profile = pgokit.SampleProfile.read(GOLDEN / "sample/llvm22-plain.afdo")
    function = next(iter(profile))
    require(profile.function(function.linkage_name).total == function.total, "found by name")
    require(profile.function("no such function") is None, "found what is not there")
    text = said("convert", GOLDEN / "sample/llvm22-plain.afdo", "--to", "text", "-o", "-").stdout
    for node in profile:
        require(f"{node.linkage_name}:{node.total}:{node.head}\n".encode() in text,
                f"{node} is not in the text")
        for inlinee in node.inlinees:
            require(inlinee.inlined and inlinee.caller.linkage_name == node.linkage_name,
                    f"{inlinee} is not in {node}")
        for line in node.lines:
            place = f"{line.line}.{line.discriminator}" if line.discriminator else f"{line.line}"
            require(f"\n {place}: {line.count}".encode() in text, f"{node}: {line}")
        for target in node.targets:
            require(f" {target.name}:{target.count}".encode() in text, f"{node}: {target}")


def counters_are_as_shown(_folder):
    for path in golden("instr-indexed") + golden("instr-raw") + golden("instr-text"):
        shown, profile = as_json(path), pgokit.CounterProfile.read(path)
        rows = {(row["name"], row["hash"]): row for row in shown["functions"]}
        require(len(profile) == shown["totals"]["functions"], f"{path}: {len(profile)}")
        for function in profile:
            row = rows.get((function.linkage_name, f"{function.hash:#018x}"))
            require(row is not None, f"{path}: {function} is not shown")
            require(list(function.counts) == row["counts"], f"{path}: {function}, {row}")


def values_of_sites(_folder):
    profile = pgokit.CounterProfile.read(GOLDEN / "instr-indexed/llvm22-vtables.profdata")
    seen = [value for function in profile for site in function.vtables for value in site]
    require(seen and all(value.count for value in seen) and any(value.name for value in seen),
            f"{seen}")


def counters_of_gcc(_folder):
    for path in golden("gcov"):
        profile = pgokit.GcovProfile.read(path)
        require(len(profile), f"{path} has no function")
        if path.suffix == ".gcda":
            require(profile.runs and any(function.counts["arcs"] for function in profile
                                         if "arcs" in function.counts), f"{path}")
        else:
            require("main" in {function.name for function in profile}, f"{path} has no main")


def pgokit_kind(path):
    try:
        return pgokit.detect(path).kind
    except pgokit.Error:
        return None


def refused_as_by_pgokit(_folder):
    """One kind of exception, with the file, the place in it and the sentence."""
    for path in golden("reject"):
        if pgokit_kind(path) == "binary":  # looked at for its pseudo probes; no profile
            continue
        try:
            pgokit.read(path)
        except pgokit.Error as error:
            require(error.file == str(path), f"{path}: the error names {error.file}")
            require(error.offset is not None or error.status in ("TRUNCATED", "FORMAT", "MISMATCH",
                                                                 "EMPTY"), f"{path}: {vars(error)}")
            require(str(error).startswith(f"{path}: "), f"{path}: {error}")
            require(str(error).encode() in said("check", path).stderr, f"{path}: {error}")
        else:
            require(False, f"{path} is read")


def what_is_not_there(folder):
    try:
        pgokit.read(pathlib.Path(folder, "none"))
        require(False, "it is read")
    except pgokit.Error as error:
        require((error.status, error.errno, error.offset) == ("IO", 2, None), f"{vars(error)}")


def merged_as_by_pgokit(folder):
    """The same bytes, weights included."""
    for sources, form in (
            ([GOLDEN / "partial/two-contexts.pgk", GOLDEN / "indexed/llvm22-v3-full.profdata"],
             ("--full-schema", "any")),
            ([GOLDEN / "sample/llvm22-plain.afdo", GOLDEN / "sample/llvm19-ext.afdo"],
             (None, "extbinary")),
            ([GOLDEN / "instr-indexed/llvm22-ir.profdata", GOLDEN / "instr-raw/clang22-ir.profraw"],
             (None, "any"))):
        run([PGOKIT, "merge", "-q", f"{sources[0]}@3", str(sources[1]), *filter(None, form[:1]),
             "-o", "wanted"], folder)
        profile = pgokit.merge([(sources[0], 3), sources[1]])
        profile.write(pathlib.Path(folder, "got"), form[1])
        require(pathlib.Path(folder, "got").read_bytes() ==
                pathlib.Path(folder, "wanted").read_bytes(), f"{sources}: other bytes")
        added = pgokit.read(sources[1])
        added.merge(pgokit.read(sources[0]), 3)
        added.write(pathlib.Path(folder, "added"), form[1])
        require(pathlib.Path(folder, "added").read_bytes() ==
                pathlib.Path(folder, "wanted").read_bytes(), f"{sources}: merge() has other bytes")


def converted_as_by_pgokit(folder):
    for source, forms in ((GOLDEN / "partial/two-contexts.pgk",
                           ("any", "llvm16", "yaml", "partial", "csv", "folded", "json")),
                          (GOLDEN / "sample/llvm22-plain.afdo",
                           ("extbinary", "text", "binary", "gcc16", "csv", "folded")),
                          (GOLDEN / "instr-indexed/llvm22-ir.profdata", ("any", "llvm19", "text"))):
        for form in forms:
            run([PGOKIT, "convert", "-q", str(source), "--to", form, "-o", "wanted"], folder,
                status=None)
            pgokit.convert(source, pathlib.Path(folder, "got"), form)
            require(pathlib.Path(folder, "got").read_bytes() ==
                    pathlib.Path(folder, "wanted").read_bytes(), f"{source}, {form}: other bytes")


def heaps_can_be_built_again(folder):
    """From what the module shows of them."""
    for name in ("indexed/llvm22-v4-full.profdata", "partial/two-contexts.pgk"):
        profile, again = pgokit.HeapProfile.read(GOLDEN / name), pgokit.HeapProfile()
        for context in profile:
            again.add(context.frames, context)
        shown = [[(dict(context), context.frames) for context in heap] for heap in (profile, again)]
        require(shown[0] == shown[1], f"{name}: {shown}")
    heap = pgokit.HeapProfile()
    heap.add([pgokit.Frame.of("_Z4loadPKc", "load.cc", 12, first_line=5, column=3),
              pgokit.Frame.of("main")], {"AllocCount": 4, "TotalSize": 4096})
    heap.add([pgokit.Frame.of("_Z4loadPKc", "load.cc", 12, first_line=5, column=3),
              pgokit.Frame.of("main")], {"AllocCount": 1, "TotalSize": 1})
    (context,) = heap
    require((context["TotalSize"], context["AllocCount"]) == (4097, 5), f"{context}")
    frame = context.frames[0]
    require((frame.function, frame.place, frame.line_offset) == ("load", "load.cc:12:3", 7),
            f"{frame}")
    heap.write(pathlib.Path(folder, "built.profdata"))
    require(pgokit.read(pathlib.Path(folder, "built.profdata")).total() == 4097, "other bytes")
    for frames, values in (([], {"TotalSize": 1}), ([pgokit.Frame.of("")], {"TotalSize": 1})):
        try:
            heap.add(frames, values)
            require(False, f"{frames} are taken")
        except pgokit.Error as error:
            require(error.status == "ARG", str(error))
    try:
        heap.add([pgokit.Frame.of("main")], {"NoSuch": 1})
        require(False, "a field that is none is taken")
    except ValueError as error:
        require("NoSuch" in str(error), str(error))


def built_as_text(folder, builder, wanted):
    builder.finish().write(pathlib.Path(folder, "built.txt"), "text")
    text = pathlib.Path(folder, "built.txt").read_text(encoding="utf-8")
    require(text == wanted, text)
    try:
        builder.function("more")
        require(False, "it is finished, and takes more")
    except ValueError as error:
        require("finished" in str(error), str(error))


def samples_can_be_built(folder):
    builder = pgokit.SampleBuilder()
    main_ = builder.function("main")
    main_.line(4, 100)
    main_.line(4, 20, discriminator=2)
    main_.calls(5, "work", 7)
    main_.entered(3)
    main_.inlinee(6, "parse").line(1, 80)
    builder.function("main").line(4, 20)
    built_as_text(folder, builder, "main:220:3\n 4: 120\n 4.2: 20\n 5: 0 work:7\n"
                  " 6: parse:80\n  1: 80\n")
    builder = pgokit.SampleBuilder(contexts=True)
    builder.context([("main", 3), ("parse", 2)], "scan").line(1, 9)
    built_as_text(folder, builder, "[main:3 @ parse:2 @ scan]:9:0\n 1: 9\n")
    try:
        pgokit.SampleBuilder().context([("main", 3)], "scan")
        require(False, "a context in a profile without")
    except pgokit.Error as error:
        require(error.status == "ARG", str(error))


def counters_can_be_built(folder):
    profile = pgokit.CounterProfile()
    profile.count_by(optimiser=True)
    profile.add("draw", 0x123, [1000, 40])
    profile.add("draw", 0x123, [1, 2])
    require(profile.origin == "IR", profile.origin)
    (function,) = profile
    require((function.linkage_name, function.hash, function.counts) == ("draw", 0x123, (1001, 42)),
            f"{function}")
    profile.write(pathlib.Path(folder, "built.profdata"))
    require(pgokit.CounterProfile.read(pathlib.Path(folder, "built.profdata")).origin == "IR",
            "another origin")
    comparison = profile.compare(profile)
    require((comparison.matched, comparison.counters) == (1, 1.0), f"{comparison}")


def compared_as_by_pgokit(folder):
    """The figures of `pgokit diff --json`."""
    paths = [GOLDEN / "partial/two-contexts.pgk", GOLDEN / "heap-raw/handmade-over-time.profraw"]
    figures = json.loads(said("diff", "-q", "--json", *paths).stdout)
    heaps = [pgokit.HeapProfile.read(path) for path in paths]
    found = heaps[1].compare(heaps[0])
    require((found.bytes_before, found.bytes) == (heaps[0].total(), heaps[1].total()), f"{found}")
    require(abs(found.overlap - figures["overlap"]) < 1e-6, f"{found} and {figures['overlap']}")
    exit_bytes, peak_bytes = (figures["now"][name] for name in ("ExitSize", "PeakSize"))
    require((found.exit_bytes, found.peak_bytes) == (exit_bytes, peak_bytes), f"{found}")
    require((found.exit_bytes_before, found.exit_growth_percent, found.peak_growth_percent)
            == (None, None, None), f"{found}")
    twice = pgokit.HeapProfile.read(paths[1])
    twice.merge(heaps[1])
    grown = twice.compare(heaps[1])
    require((grown.exit_bytes, grown.exit_bytes_before, grown.exit_growth_percent)
            == (2 * exit_bytes, exit_bytes, 100), f"{grown}")
    builders = pgokit.SampleBuilder(), pgokit.SampleBuilder()
    for builder, samples in zip(builders, (50, 10)):
        builder.function("main").line(1, 50)
        builder.function("parse").line(1, samples)
    base, test = (builder.finish() for builder in builders)
    change = test.compare(base)
    require((change.base_samples, change.test_samples) == (100, 60), f"{change}")
    require(abs(change.growth_percent + 40) < 1e-9 and change.new_percent == 0, f"{change}")
    require(change.changes[0].function in ("main", "parse") and
            abs(change.moved_points - 100 / 3) < 1e-6, f"{change}")
    try:
        test.compare(pgokit.SampleBuilder().finish())
        require(False, "a profile without samples is compared")
    except pgokit.Error as error:
        require(error.status == "EMPTY", str(error))


def names_are_demangled(_folder):
    require(pgokit.demangled("_Z3addii") == "add", "add")
    require(pgokit.demangled("_Z3addii", parameters=True) == "add(int, int)", "add(int, int)")
    parts = 60  # longer than the first buffer
    name = "_ZN" + "4part" * parts + "1fEv"
    require(pgokit.demangled(name) == "part::" * parts + "f", pgokit.demangled(name))
    require(pgokit.demangled("main", parameters=True) == "main", "main")


def files_with_two_kinds(folder):
    """Nothing is left out without a word."""
    path = pathlib.Path(folder, "both.profdata")
    counters = pgokit.CounterProfile.read(GOLDEN / "instr-indexed/llvm22-ir.profdata")
    heap = pgokit.HeapProfile.read(GOLDEN / "partial/two-contexts.pgk")
    counters.write(path, heap=heap)
    for use in (pgokit.read, lambda name: pgokit.merge([name])):
        try:
            use(path)
            require(False, "one of two kinds is read")
        except ValueError as error:
            require("kind=" in str(error), str(error))
    require(len(pgokit.read(path, kind="heap")) == len(heap), "other contexts")
    require(len(pgokit.read(path, kind="counters")) == len(counters), "other functions")


def what_a_file_is(_folder):
    info = pgokit.HeapProfile.read(GOLDEN / "indexed/llvm22-v4-full.profdata").info
    require(info.version == 13 or info.version == 12, f"{info}")
    require(info.facts["memprof_version"] == 4 and info.facts["heap"], f"{info}")
    require("MemProf V4" in info.text and "LLVM" in info.readers, f"{info}")
    require(pgokit.detect(GOLDEN / "gcov/gcc12.gcda").kind == "gcov", "another kind")
    names = {row["name"] for row in json.loads(said("formats", "--json").stdout)}
    require({row.name for row in pgokit.formats()} == names, "other formats than are printed")


def main():
    cases = Cases()
    cases.run("heap profiles are what pgokit show prints", heaps_are_as_shown)
    cases.run("frames have functions, files, lines and columns", frames_have_places)
    cases.run("addresses stay addresses without the program", addresses_stay_where_no_program_is)
    cases.run("the heap over time", heap_over_time)
    cases.run("figures of samples have intervals", samples_give_intervals)
    cases.run("sample profiles are what pgokit show prints", samples_are_as_shown)
    cases.run("lines, targets and inlined functions", lines_and_targets)
    cases.run("counters are what pgokit show prints", counters_are_as_shown)
    cases.run("values of sites have names", values_of_sites)
    cases.run("counters of gcc", counters_of_gcc)
    cases.run("what pgokit refuses is refused with the same sentence", refused_as_by_pgokit)
    cases.run("a file that is not there", what_is_not_there)
    cases.run("merges are the same bytes", merged_as_by_pgokit)
    cases.run("conversions are the same bytes", converted_as_by_pgokit)
    cases.run("heap profiles are built of call stacks", heaps_can_be_built_again)
    cases.run("sample profiles are built of lines", samples_can_be_built)
    cases.run("counters are built of functions", counters_can_be_built)
    cases.run("comparisons have the figures of pgokit diff", compared_as_by_pgokit)
    cases.run("linkage names are demangled, however long", names_are_demangled)
    cases.run("a file of heap data and counters is asked for one of them", files_with_two_kinds)
    cases.run("what a file is", what_a_file_is)
    cases.finish()


main()
