"""What is merged alike where llvm-profdata loses data or gives up: several inputs, binaries with
several executable segments, programs of several modules, debug information kept apart.
"""

import os
import re

import profiles
from heap_fixtures import HISTOGRAM_22, LLD_22, PIE, WITH_LLD, binaries, build_id, same
from heap_releases import OF_YAML
from peers import Failure, Skip, Variant, at_hand, good, read, require, run, tool, write

LLD_NO_PIE = Variant(22, "-O2", "-no-pie", "-gdwarf-4", LLD_22)


def shape(records, fields=("AllocCount", "TotalSize", "MinSize", "MaxSize")):
    """What does not depend on when and where a program ran: call stack -> sizes."""
    return {s: tuple(b[f] for f in fields) for s, b in records.stacks().items()}


def totals(records):
    blocks = records.stacks().values()
    return {f: sum(b[f] for b in blocks) for f in profiles.HOT_COLD}


def equal_shape(expected, got):
    a, b = shape(expected), shape(got)
    names = profiles.Records()
    names.names = {**got.names, **expected.names}
    for stack in sorted(set(a) ^ set(b)):
        raise Failure(f"{'lost' if stack in a else 'unexpected'}: {names.stack_text(stack)}" +
                      profiles.near(names, stack, (set(b) if stack in a else set(a))))
    for stack, sizes in a.items():
        require(sizes == b[stack], f"{names.stack_text(stack)}: expected {sizes}, got {b[stack]}")


def ours_and_theirs(f, release, folder, inputs, exe):
    ours, theirs = f"{folder}/ours.profdata", f"{folder}/theirs.profdata"
    binary = ["-b", exe] if exe else []
    good(f.pgokit, "merge", *inputs, *binary, "-o", ours, "--to", f"llvm{release}")
    profiled = [f"--profiled-binary={exe}"] if exe else []
    good(tool("llvm-profdata", release), "merge", "-num-threads=1", *inputs, *profiled, "-o",
         theirs)
    return f.llvm_reads(release, ours), f.llvm_reads(release, theirs)


def several_raw_files(f, release):
    """llvm-profdata keeps the first raw file only."""
    program = f.build("classes.cpp", PIE[22])
    folder = f.temp("several")
    inputs = [program.raw, *(write(f"{folder}/{i}.memprofraw", read(program.raw)) for i in (1, 2))]
    one = totals(f.show(program.raw, program.exe))
    ours, theirs = ours_and_theirs(f, release, folder, inputs, program.exe)
    for field, value in one.items():
        got = totals(ours)[field]
        require(got == 3 * value, f"{field}: {got}, not 3 * {value}")
    return (f"AllocCount of three files of {one['AllocCount']} each: pgokit "
            f"{totals(ours)['AllocCount']}, llvm-profdata {totals(theirs)['AllocCount']}")


def indexed_again(f, release):
    """llvm-profdata loses the heap profile of an indexed input."""
    program = f.build("classes.cpp", PIE[22])
    folder = f.temp("again")
    first = f"{folder}/first.profdata"
    good(tool("llvm-profdata", release), "merge", program.raw,
         f"--profiled-binary={program.exe}", "-o", first)
    one = totals(f.llvm_reads(release, first))
    ours, theirs = ours_and_theirs(f, release, folder, [first], None)
    require(totals(ours) == one, f"{totals(ours)}, not {one}")
    both, _ = ours_and_theirs(f, release, folder, [first, program.raw], program.exe)
    require(totals(both) == {k: 2 * v for k, v in one.items()}, f"with raw: {totals(both)}")
    return (f"contexts of an indexed file of {len(ours.stacks())}: pgokit {len(ours.stacks())}, "
            f"llvm-profdata {len(theirs.stacks())}")


def several_programs(f):
    """Profiles of two programs in one file."""
    a, b = f.build("classes.cpp", PIE[22]), f.build("plain.c", PIE[19])
    out = f"{f.temp('programs')}/out.profdata"
    good(f.pgokit, "merge", a.raw, b.raw, "-b", a.exe, "-b", b.exe, "-o", out, "--full-schema")
    expected = f.show(a.raw, a.exe)
    expected.add(f.show(b.raw, b.exe))
    same("both", expected.low_lines(), f.show(out))


def files_of_both_releases(f):
    """Indexed files that llvm-profdata 19, 22 and 23 wrote, in every version, into one."""
    program = f.build("lifetimes.cpp", PIE[19])
    folder = f.temp("releases")
    one = totals(f.show(program.raw, program.exe))
    inputs = []
    for release, options in ((19, ["--memprof-version=2"]), (19, ["--memprof-version=3"]),
                             (19, ["--memprof-version=3", "--write-prev-version"]),
                             (19, ["--memprof-version=2", "--memprof-full-schema"]),
                             (22, ["--memprof-version=2"]), (22, []),
                             (22, ["--memprof-version=4"]),
                             (22, ["--memprof-version=4", "--memprof-full-schema"]),
                             (22, ["--memprof-version=4", "--write-prev-version"]),
                             *((release, options) for release in at_hand(23)
                               for options in ([], ["--memprof-version=4"],
                                               ["--write-prev-version"]))):
        inputs.append(f"{folder}/{len(inputs)}.profdata")
        good(tool("llvm-profdata", release), "merge", program.raw,
             f"--profiled-binary={program.exe}", "-o", inputs[-1], *options)
        require(totals(f.show(inputs[-1])) == one, f"llvm-profdata-{release} {options}")
    good(f.pgokit, "merge", *inputs, "-o", f"{folder}/out.profdata")
    got = totals(f.show(f"{folder}/out.profdata"))
    wanted = {k: len(inputs) * v for k, v in one.items()}
    require(got == wanted, f"{got}, not {wanted}")
    return f"{len(inputs)} files"


# ---- executable segments ----

def executable_segments(path):
    text = good(tool("readelf"), "-lW", path)
    return len(re.findall(r"^\s*LOAD\s.* R[W ]E\s", text, re.M))


LAYOUTS = {
    "GNU ld, section far away": ("-Wl,--section-start=.far=0x20000000",),
    "lld, section far away": (LLD_22, "-Wl,--section-start=.far=0x20000000"),
}


def segments(f, layout, pie, release):
    """The same source in one segment, which llvm-profdata can do, says what is right."""
    mode = ("-pie", "-fpie") if pie else ("-no-pie",)
    one = f.build("segments.c", Variant(release, "-O2", *mode))
    require(executable_segments(one.exe) == 1, "the reference has several segments")
    two = f.build("segments.c", Variant(release, "-O2", *mode, *LAYOUTS[layout]),
                     more=['-DSEGMENT2=".far"'])
    count = executable_segments(two.exe)
    if count < 2:
        raise Skip(f"this linker makes {count} executable segment")
    refused = run(tool("llvm-profdata", 22), "show", "--memory", two.raw, "--profiled-binary",
                  two.exe)
    require(refused.code != 0, "llvm-profdata-22 has learnt this; compare with it directly")
    expected = f.llvm_shows(22, one.raw, one.exe)
    equal_shape(expected, f.show(two.raw, two.exe))
    out = f"{f.temp('segments')}/out.profdata"
    good(f.pgokit, "merge", two.raw, "-b", two.exe, "-o", out, "--full-schema")
    equal_shape(expected, f.llvm_reads(22, out))
    return f"{count} executable segments"


def linker_layouts(f, flags, pie):
    """One executable segment, but cut differently by each linker: equal to llvm-profdata."""
    mode = ("-pie", "-fpie") if pie else ("-no-pie",)
    program = f.build("segments.c", Variant(22, "-O2", *mode, *flags))
    require(executable_segments(program.exe) == 1, "several executable segments")
    same("llvm-profdata-22", f.llvm_shows(22, program.raw, program.exe),
         f.show(program.raw, program.exe))


def no_build_id(f, variant):
    """A program linked without build id, which llvm-profdata refuses."""
    known = f.build("plain.c", variant)
    program = f.build("plain.c", variant, more=["-Wl,--build-id=none"])
    refused = run(tool("llvm-profdata", 22), "show", "--memory", program.raw, "--profiled-binary",
                  program.exe)
    require(refused.code != 0, "llvm-profdata-22 has learnt this; compare with it directly")
    equal_shape(f.show(known.raw, known.exe), f.show(program.raw, program.exe))


# ---- modules ----

def libraries(f, variant):
    """Program, library and plug-in as separate binaries: the stacks are those of the same
    sources in one program."""
    program = f.modules(variant)
    one = f.one_module(variant)
    expected = f.show(one.raw, one.exe)
    parts = [program.exe, program.path("lib.so"), program.path("plugin.so")]
    equal_shape(expected, f.show(program.raw, *parts))
    equal_shape(expected, f.show(program.raw, *parts[::-1]))
    out = f"{f.temp('libraries')}/out.profdata"
    good(f.pgokit, "merge", program.raw, *binaries(*parts), "-o", out,
         "--full-schema")
    equal_shape(expected, f.llvm_reads(22, out))

    # One module of it alone, which llvm-profdata can do for each.
    for part in parts:
        same(f"{os.path.basename(part)} alone", f.llvm_shows(22, program.raw, part),
             f.shown(program.raw, part))
    alone = len(f.shown(program.raw, program.exe).stacks())
    return (f"{len(expected.stacks())} contexts with all modules, {alone} with the program alone")


# ---- separate debug information ----

def stripped(f, variant, how):
    """A stripped program whose debug information lies where debuggers look for it."""
    program = f.build("classes.cpp", variant)
    folder = f.temp("stripped")
    exe, debug = f"{folder}/prog", f"{folder}/prog.debug"
    good(tool("objcopy"), "--only-keep-debug",
         *(["--compress-debug-sections"] if how == "compressed" else []), program.exe, debug)
    good(tool("objcopy"), "--strip-all",
         *([f"--add-gnu-debuglink={debug}"] if "link" in how else []), program.exe, exe)
    options = []
    if how == "link in .debug":
        os.mkdir(f"{folder}/.debug")
        os.rename(debug, f"{folder}/.debug/prog.debug")
    elif how != "link":
        ident = build_id(exe)
        os.makedirs(f"{folder}/symbols/.build-id/{ident[:2]}")
        os.rename(debug, f"{folder}/symbols/.build-id/{ident[:2]}/{ident[2:]}.debug")
        options = ["--debug-dir", f"{folder}/symbols"]
        without = run(f.pgokit, "show", program.raw, "-b", exe, "--json")
        require(without.code == 2 and exe in without.errors,
                f"found debug information without --debug-dir\n{without}")
    expected = f.shown(program.raw, program.exe)
    same("stripped", expected, f.show(program.raw, exe, options=options))
    out = [f"{folder}/{i}.profdata" for i in (0, 1)]
    good(f.pgokit, "merge", program.raw, "-b", exe, "-o", out[0], *options)
    good(f.pgokit, "merge", program.raw, "-b", program.exe, "-o", out[1])
    require(read(out[0]) == read(out[1]), "merge writes other bytes")


NO_DENSITY = """---
HeapProfileRecords:
  - GUID: main
    AllocSites:
      - Callstack:
          - { Function: main, LineOffset: 1, Column: 2, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount: 3
          TotalSize: 300
          TotalLifetime: 900000
    CallSites:
      - Frames:
          - { Function: main, LineOffset: 9, Column: 9, IsInlineFrame: false }
        CalleeGuids: [ 0x123 ]
...
"""


def beside_counters(f):
    """What is said of heap data is the same when counters go into the file, too."""
    folder = f.temp("beside-counters")
    heap = write(f"{folder}/heap.yaml", NO_DENSITY.encode())
    counts = write(f"{folder}/counts.proftext", b":ir\nf\n1\n2\n1\n2\n\n")
    cold = "compilers take 1 context for cold"
    for target, code, words in (("llvm22", 0, [cold]),
                                ("llvm19", 1, [cold, "targets of indirect calls"])):
        alone, both = (run(f.pgokit, "merge", heap, *more, "--to", target, "-o",
                           f"{folder}/out.profdata") for more in ((), (counts,)))
        require(alone.code == both.code == code and alone.errors == both.errors and
                all(w in both.errors for w in words), f"{alone}\n{both}")


def symbols_only(f):
    """The debug file itself serves as the binary: it has the segments and the build id."""
    program = f.build("classes.cpp", PIE[22])
    debug = f"{f.temp('symbols')}/prog.debug"
    good(tool("objcopy"), "--only-keep-debug", program.exe, debug)
    same("the debug file", f.shown(program.raw, program.exe), f.show(program.raw, debug))


def wrong_debug_file(f):
    """A debug file of another build is not used, even where .gnu_debuglink leads to it."""
    program, other = f.build("classes.cpp", PIE[22]), f.build("plain.c", PIE[22])
    folder = f.temp("wrong-debug")
    debug, exe = f"{folder}/prog.debug", f"{folder}/prog"
    good(tool("objcopy"), "--only-keep-debug", other.exe, debug)
    good(tool("objcopy"), "--strip-all", f"--add-gnu-debuglink={debug}", program.exe, exe)
    result = run(f.pgokit, "show", program.raw, "-b", exe, "--json")
    require(result.code == 2, f"used it\n{result}")


def rows(f, tap):
    for release in at_hand(*OF_YAML):
        tap.add(f"several raw files, LLVM {release}", several_raw_files, f, release)
        tap.add(f"an indexed file again, LLVM {release}", indexed_again, f, release)
    tap.add("raw files of several programs", several_programs, f)
    tap.add("indexed files of several LLVM releases", files_of_both_releases, f)
    for layout in LAYOUTS:
        for pie in (True, False):
            for release in (19, 22):
                tap.add(f"several executable segments: {layout}, {'PIE' if pie else 'non-PIE'}, "
                        f"clang-{release}", segments, f, layout, pie, release)
    for name, flags in (("GNU ld", []), ("GNU ld -z noseparate-code", ["-Wl,-z,noseparate-code"]),
                        ("lld", [LLD_22]), ("lld --no-rosegment", [LLD_22, "-Wl,--no-rosegment"]),
                        ("lld -z separate-code", [LLD_22, "-Wl,-z,separate-code"]),
                        ("lld -z separate-loadable-segments",
                         [LLD_22, "-Wl,-z,separate-loadable-segments"]),
                        ("gold", ["-fuse-ld=gold"]), ("mold", ["-fuse-ld=mold"])):
        for pie in (True, False):
            tap.add(f"layout of {name}, {'PIE' if pie else 'non-PIE'}", linker_layouts, f, flags,
                    pie)
    for variant in (PIE[19], PIE[22], LLD_NO_PIE):
        tap.add(f"no build id {variant.name}", no_build_id, f, variant)
    for variant in (PIE[19], WITH_LLD, HISTOGRAM_22, Variant(22, "-O0", "-no-pie", "-gdwarf-4")):
        tap.add(f"shared libraries as further binaries {variant.name}", libraries, f, variant)
    for how in ("build id", "compressed", "link", "link in .debug"):
        for variant in (PIE[19], PIE[22], LLD_NO_PIE):
            tap.add(f"stripped, debug file by {how} {variant.name}", stripped, f, variant, how)
    tap.add("what is said of heap data beside counters", beside_counters, f)
    tap.add("the debug file as the binary", symbols_only, f)
    tap.add("a debug file of another build", wrong_debug_file, f)
