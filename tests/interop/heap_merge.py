#!/usr/bin/env python3
"""Where llvm-profdata loses data or gives up, pgokit answers: several inputs, binaries with
several executable segments, programs of several modules, debug information kept apart.
"""

import os
import re
import sys

import profiles
from heap_releases import OF_YAML
from peers import Failure, Skip, Variant, at_hand, good, main, read, require, run, tool, write

PIE_19 = Variant(19, "-O2", "-pie", "-fpie")
PIE_22 = Variant(22, "-O2", "-pie", "-fpie")
LLD_22 = "-fuse-ld=/usr/bin/ld.lld-22"


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


def show_ours(work, path, *binaries, options=()):
    return profiles.parse_json(good(work.pgokit, "show", path, "--json", *options,
                                    *(a for b in binaries for a in ("-b", b))))


def show_llvm(path, release=22):
    return profiles.parse_yaml(good(tool("llvm-profdata", release), "show", "--memory", path))


def ours_and_theirs(work, release, folder, inputs, exe):
    ours, theirs = f"{folder}/ours.profdata", f"{folder}/theirs.profdata"
    binary = ["-b", exe] if exe else []
    good(work.pgokit, "merge", *inputs, *binary, "-o", ours, "--to", f"llvm{release}")
    profiled = [f"--profiled-binary={exe}"] if exe else []
    good(tool("llvm-profdata", release), "merge", "-num-threads=1", *inputs, *profiled, "-o",
         theirs)
    return show_llvm(ours, release), show_llvm(theirs, release)


def several_raw_files(work, release):
    """llvm-profdata keeps the first raw file only."""
    program = work.build("classes.cpp", PIE_22)
    folder = work.temp("several")
    inputs = [program.raw, *(write(f"{folder}/{i}.memprofraw", read(program.raw)) for i in (1, 2))]
    one = totals(show_ours(work, program.raw, program.exe))
    ours, theirs = ours_and_theirs(work, release, folder, inputs, program.exe)
    for field, value in one.items():
        got = totals(ours)[field]
        require(got == 3 * value, f"{field}: {got}, not 3 * {value}")
    return (f"AllocCount of three files of {one['AllocCount']} each: pgokit "
            f"{totals(ours)['AllocCount']}, llvm-profdata {totals(theirs)['AllocCount']}")


def indexed_again(work, release):
    """llvm-profdata loses the heap profile of an indexed input."""
    program = work.build("classes.cpp", PIE_22)
    folder = work.temp("again")
    first = f"{folder}/first.profdata"
    good(tool("llvm-profdata", release), "merge", program.raw,
         f"--profiled-binary={program.exe}", "-o", first)
    one = totals(show_llvm(first, release))
    ours, theirs = ours_and_theirs(work, release, folder, [first], None)
    require(totals(ours) == one, f"{totals(ours)}, not {one}")
    both, _ = ours_and_theirs(work, release, folder, [first, program.raw], program.exe)
    require(totals(both) == {k: 2 * v for k, v in one.items()}, f"with raw: {totals(both)}")
    return (f"contexts of an indexed file of {len(ours.stacks())}: pgokit {len(ours.stacks())}, "
            f"llvm-profdata {len(theirs.stacks())}")


def several_programs(work):
    """Profiles of two programs in one file."""
    a, b = work.build("classes.cpp", PIE_22), work.build("plain.c", PIE_19)
    out = f"{work.temp('programs')}/out.profdata"
    good(work.pgokit, "merge", a.raw, b.raw, "-b", a.exe, "-b", b.exe, "-o", out, "--full-schema")
    expected = show_ours(work, a.raw, a.exe)
    expected.add(show_ours(work, b.raw, b.exe))
    difference = profiles.first_difference(expected.low_lines(), show_ours(work, out))
    require(not difference, difference)


def files_of_both_releases(work):
    """Indexed files that llvm-profdata 19, 22 and 23 wrote, in every version, into one."""
    program = work.build("lifetimes.cpp", PIE_19)
    folder = work.temp("releases")
    one = totals(show_ours(work, program.raw, program.exe))
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
        require(totals(show_ours(work, inputs[-1])) == one, f"llvm-profdata-{release} {options}")
    good(work.pgokit, "merge", *inputs, "-o", f"{folder}/out.profdata")
    got = totals(show_ours(work, f"{folder}/out.profdata"))
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


def segments(work, layout, pie, release):
    """The same source in one segment, which llvm-profdata can do, says what is right."""
    mode = ("-pie", "-fpie") if pie else ("-no-pie",)
    one = work.build("segments.c", Variant(release, "-O2", *mode))
    require(executable_segments(one.exe) == 1, "the reference has several segments")
    two = work.build("segments.c", Variant(release, "-O2", *mode, *LAYOUTS[layout]),
                     more=['-DSEGMENT2=".far"'])
    count = executable_segments(two.exe)
    if count < 2:
        raise Skip(f"this linker makes {count} executable segment")
    refused = run(tool("llvm-profdata", 22), "show", "--memory", two.raw, "--profiled-binary",
                  two.exe)
    require(refused.code != 0, "llvm-profdata-22 has learnt this; compare with it directly")
    expected = profiles.parse_show(good(tool("llvm-profdata", 22), "show", "--memory", one.raw,
                                        "--profiled-binary", one.exe))
    equal_shape(expected, show_ours(work, two.raw, two.exe))
    out = f"{work.temp('segments')}/out.profdata"
    good(work.pgokit, "merge", two.raw, "-b", two.exe, "-o", out, "--full-schema")
    equal_shape(expected, show_llvm(out))
    return f"{count} executable segments"


def linker_layouts(work, flags, pie):
    """One executable segment, but cut differently by each linker: equal to llvm-profdata."""
    mode = ("-pie", "-fpie") if pie else ("-no-pie",)
    program = work.build("segments.c", Variant(22, "-O2", *mode, *flags))
    require(executable_segments(program.exe) == 1, "several executable segments")
    expected = profiles.parse_show(good(tool("llvm-profdata", 22), "show", "--memory", program.raw,
                                        "--profiled-binary", program.exe))
    difference = profiles.first_difference(expected, show_ours(work, program.raw, program.exe))
    require(not difference, difference)


def no_build_id(work, variant):
    """A program linked without build id, which llvm-profdata refuses."""
    known = work.build("classes.cpp", variant)
    program = work.build("classes.cpp", variant, more=["-Wl,--build-id=none"])
    refused = run(tool("llvm-profdata", 22), "show", "--memory", program.raw, "--profiled-binary",
                  program.exe)
    require(refused.code != 0, "llvm-profdata-22 has learnt this; compare with it directly")
    equal_shape(show_ours(work, known.raw, known.exe), show_ours(work, program.raw, program.exe))


# ---- modules ----

def libraries(work, variant):
    """Program, library and plug-in as separate binaries: the stacks are those of the same
    sources in one program."""
    program = work.modules(variant)
    one = work.build("modules.cpp module_library.cpp module_plugin.cpp", variant,
                     more=["-DONE_MODULE"])
    expected = show_ours(work, one.raw, one.exe)
    parts = [program.exe, program.path("lib.so"), program.path("plugin.so")]
    equal_shape(expected, show_ours(work, program.raw, *parts))
    equal_shape(expected, show_ours(work, program.raw, *parts[::-1]))
    out = f"{work.temp('libraries')}/out.profdata"
    good(work.pgokit, "merge", program.raw, *(a for p in parts for a in ("-b", p)), "-o", out,
         "--full-schema")
    equal_shape(expected, show_llvm(out))

    # One module of it alone, which llvm-profdata can do for each.
    for part in parts:
        theirs = profiles.parse_show(good(tool("llvm-profdata", 22), "show", "--memory",
                                          program.raw, "--profiled-binary", part))
        difference = profiles.first_difference(theirs, show_ours(work, program.raw, part))
        require(not difference, f"{os.path.basename(part)} alone: {difference}")
    alone = len(show_ours(work, program.raw, program.exe).stacks())
    return (f"{len(expected.stacks())} contexts with all modules, {alone} with the program alone")


# ---- separate debug information ----

def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", good(tool("readelf"), "-n", path))[1]


def stripped(work, variant, how):
    """A stripped program whose debug information lies where debuggers look for it."""
    program = work.build("classes.cpp", variant)
    folder = work.temp("stripped")
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
        without = run(work.pgokit, "show", program.raw, "-b", exe, "--json")
        require(without.code == 2 and exe in without.errors,
                f"found debug information without --debug-dir\n{without}")
    expected = show_ours(work, program.raw, program.exe)
    difference = profiles.first_difference(
        expected, show_ours(work, program.raw, exe, options=options))
    require(not difference, difference)
    out = [f"{folder}/{i}.profdata" for i in (0, 1)]
    good(work.pgokit, "merge", program.raw, "-b", exe, "-o", out[0], *options)
    good(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", out[1])
    require(read(out[0]) == read(out[1]), "merge writes other bytes")


STATIC = """#include <stdlib.h>
static __attribute__((noinline)) char *make(int n) { char *p = malloc(n); p[0] = 1; return p; }
char *make_%s(int n) { char *p = make(n); p[1] = 2; return p; }
"""
CALLS = """char *make_a(int), *make_b(int);
int main(void) { volatile char c = *make_a(10) + *make_b(20); return c == 0; }
"""


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


def beside_counters(work):
    """What is said of heap data is the same when counters go into the file, too."""
    folder = work.temp("beside-counters")
    heap = write(f"{folder}/heap.yaml", NO_DENSITY.encode())
    counts = write(f"{folder}/counts.proftext", b":ir\nf\n1\n2\n1\n2\n\n")
    cold = "compilers take 1 context for cold"
    for target, code, words in (("llvm22", 0, [cold]),
                                ("llvm19", 1, [cold, "targets of indirect calls"])):
        alone, both = (run(work.pgokit, "merge", heap, *more, "--to", target, "-o",
                           f"{folder}/out.profdata") for more in ((), (counts,)))
        require(alone.code == both.code == code and alone.errors == both.errors and
                all(w in both.errors for w in words), f"{alone}\n{both}")


def same_named(work):
    """Two static functions of one name are one record in LLVM's formats, which is said, and two
    where functions have files."""
    folder = work.temp("same-named")
    sources = {"a.c": STATIC % "a", "b.c": STATIC % "b", "main.c": CALLS}
    for name, text in sources.items():
        write(f"{folder}/{name}", text.encode())
    exe = f"{folder}/prog"
    good(tool("clang", 22), "-g", "-O1", "-fmemory-profile", "-Wl,--build-id",
         *(f"{folder}/{name}" for name in sources), "-o", exe)
    good(exe, env={"MEMPROF_OPTIONS": f"print_text=0:log_path={folder}/raw"})
    raw = next(f"{folder}/{f}" for f in os.listdir(folder) if f.startswith("raw."))
    result = run(work.pgokit, "merge", raw, "-b", exe, "-o", f"{folder}/out")
    require(result.code == 0 and "1 function has the name of a function in another file, as "
            "'make'" in result.errors, str(result))
    for form, records in (("llvm19", 1), ("partial", 2)):
        result = run(work.pgokit, "convert", raw, "-b", exe, "--to", form, "-o",
                     f"{folder}/{form}")
        require(("from others of the same name" in result.errors) == (records == 1), str(result))
    parts = f"{folder}/part"
    good(work.pgokit, "merge", raw, "-b", exe, "--partial", "-o", parts)
    result = run(work.pgokit, "merge", parts, "-o", f"{folder}/again")
    require("1 function has the name" in result.errors, str(result))
    require(read(f"{folder}/again") == read(f"{folder}/out"), "another file by a partial one")


def symbols_only(work):
    """The debug file itself serves as the binary: it has the segments and the build id."""
    program = work.build("classes.cpp", PIE_22)
    debug = f"{work.temp('symbols')}/prog.debug"
    good(tool("objcopy"), "--only-keep-debug", program.exe, debug)
    difference = profiles.first_difference(show_ours(work, program.raw, program.exe),
                                           show_ours(work, program.raw, debug))
    require(not difference, difference)


def wrong_debug_file(work):
    """A debug file of another build is not used, even where .gnu_debuglink leads to it."""
    program, other = work.build("classes.cpp", PIE_22), work.build("plain.c", PIE_22)
    folder = work.temp("wrong-debug")
    debug, exe = f"{folder}/prog.debug", f"{folder}/prog"
    good(tool("objcopy"), "--only-keep-debug", other.exe, debug)
    good(tool("objcopy"), "--strip-all", f"--add-gnu-debuglink={debug}", program.exe, exe)
    result = run(work.pgokit, "show", program.raw, "-b", exe, "--json")
    require(result.code == 2, f"used it\n{result}")


def add_cases(work, tap):
    tool("clang", 19)
    tool("clang", 22)
    tool("llvm-profdata", 22)
    for release in at_hand(*OF_YAML):
        tap.add(f"several raw files, LLVM {release}", several_raw_files, work, release)
        tap.add(f"an indexed file again, LLVM {release}", indexed_again, work, release)
    tap.add("raw files of several programs", several_programs, work)
    tap.add("indexed files of several LLVM releases", files_of_both_releases, work)
    for layout in LAYOUTS:
        for pie in (True, False):
            for release in (19, 22):
                tap.add(f"several executable segments: {layout}, {'PIE' if pie else 'non-PIE'}, "
                        f"clang-{release}", segments, work, layout, pie, release)
    for name, flags in (("GNU ld", []), ("GNU ld -z noseparate-code", ["-Wl,-z,noseparate-code"]),
                        ("lld", [LLD_22]), ("lld --no-rosegment", [LLD_22, "-Wl,--no-rosegment"]),
                        ("lld -z separate-code", [LLD_22, "-Wl,-z,separate-code"]),
                        ("lld -z separate-loadable-segments",
                         [LLD_22, "-Wl,-z,separate-loadable-segments"]),
                        ("gold", ["-fuse-ld=gold"]), ("mold", ["-fuse-ld=mold"])):
        for pie in (True, False):
            tap.add(f"layout of {name}, {'PIE' if pie else 'non-PIE'}", linker_layouts, work, flags,
                    pie)
    for variant in (PIE_19, PIE_22, Variant(22, "-O2", "-no-pie", LLD_22)):
        tap.add(f"no build id {variant.name}", no_build_id, work, variant)
    for variant in (PIE_19, PIE_22, Variant(22, "-O0", "-no-pie", "-gdwarf-4"),
                    Variant(22, "-O2", "-pie", "-fpie", histogram=True)):
        tap.add(f"shared libraries as further binaries {variant.name}", libraries, work, variant)
    for how in ("build id", "compressed", "link", "link in .debug"):
        for variant in (PIE_19, PIE_22, Variant(22, "-O2", "-no-pie", "-gdwarf-4", LLD_22)):
            tap.add(f"stripped, debug file by {how} {variant.name}", stripped, work, variant, how)
    tap.add("what is said of heap data beside counters", beside_counters, work)
    tap.add("static functions of one name", same_named, work)
    tap.add("the debug file as the binary", symbols_only, work)
    tap.add("a debug file of another build", wrong_debug_file, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
