#!/usr/bin/env python3
"""Types of objects from sample profiles in clang, by the plugin that uses them: the metadata of
virtual calls, promotion by comparing virtual tables, and profiles that cannot be used.

USE_PLUGINS in the environment has RELEASE=PLUGIN for each plugin that was built.
"""

import hashlib
import json
import os
import re
import sys

import gen_types
from peers import PROGRAMS, Skip, good, main, read, require, run, tool, write

PLUGINS = dict(word.split("=", 1) for word in os.environ["USE_PLUGINS"].split())
RELEASES = sorted({19, 22, *map(int, PLUGINS)})
FIRST_WITH_TYPES = 22 # in files for -fprofile-sample-use
SOURCE = os.path.join(PROGRAMS, "types_modules.cpp")
PROFILE = os.path.join(PROGRAMS, "types_modules.prof")
SQUARE, CIRCLE = "_ZTV6Square", "_ZTV6CircleILi3EE"
LOCAL, HIDDEN = "_ZTVN12_GLOBAL__N_15LocalE", "_ZTVN12_GLOBAL__N_16HiddenE"
MIXED, IN_A, IN_B = "_Z5mixedP5Shapei", "_Z4in_aP5Shapei", "_Z4in_bP5Shapei"
LOCALS, HIDDENS = "_Z6localsP5Shapei", "_Z6hiddenP5Shapei"
ONCE = "_ZL4onceP5Shapei"


def plugin(release):
    if not PLUGINS:
        raise Skip("no plugins in this build, as in those with a sanitizer")
    if str(release) not in PLUGINS:
        raise Skip(f"missing llvm-{release}-dev: no plugin for clang {release} has been built")
    return PLUGINS[str(release)]


def config(work, release, *options, profile=PROFILE):
    plugin(release)
    out = good(work.pgokit, "config", "-q", *options, "use", "--cc", f"clang-{release}",
               "--profile", profile)
    return out.split()


def without_types(work, folder):
    """For -fprofile-sample-use of a release that cannot read types."""
    path = os.path.join(folder, "plain.prof")
    good(work.pgokit, "convert", "-q", PROFILE, "--to", "text", "--no-vtables", "-o", path)
    return path


def compile_flags(work, folder, release, profile=PROFILE):
    flags = [*config(work, release, "--cflags", profile=profile), "-mllvm", "-pgokit-use-verify"]
    if release < FIRST_WITH_TYPES:
        flags.append("-fprofile-sample-use=" + without_types(work, folder))
    return ["-O2", "-g", *flags]


def guid(name):
    return int.from_bytes(hashlib.md5(name.encode()).digest()[:8], "little")


NAMES = {guid(name): name for name in (SQUARE, CIRCLE, LOCAL, HIDDEN, "_ZTV7Another", "_ZTV5Often",
                                       "_ZTV6Rarely")}


def types_in(text):
    """Function to the types of its loads, from LLVM's assembly."""
    nodes = {}
    for number, values in re.findall(r'^!(\d+) = !\{!"VP", i32 2, (.*)\}$', text, re.M):
        words = [int(word) & (1 << 64) - 1 for word in re.findall(r"i64 (-?\d+)", values)]
        pairs = dict(zip((NAMES[word] for word in words[1::2]), words[2::2]))
        require(words[0] == sum(pairs.values()), f"total of {words}")
        nodes[number] = pairs
    found = {}
    for body in re.findall(r"^define .*?^\}", text, re.M | re.S):
        name = re.search(r"@(\S+?)\(", body)[1]
        loads = re.findall(r"= load ptr, .*!prof !(\d+)", body)
        if loads:
            require(len(loads) == 1, body)
            found[name] = nodes[loads[0]]
    return found


def compiler(release):
    return tool("clang++", release)


def disassembled(folder, release, *command):
    """What a compiler makes; clang 19 cannot print modules for ThinLTO by itself."""
    good(compiler(release), *command, "-c", "-o", os.path.join(folder, "module.bc"))
    return good(tool("llvm-dis", release), "module.bc", "-o", "-", cwd=folder)


def assembly(work, release, *more, profile=PROFILE):
    """Of the module with the calls, as it goes into a link with ThinLTO."""
    folder = work.temp("ir")
    return disassembled(folder, release, *compile_flags(work, folder, release, profile), *more,
                        "-DPART=2", SOURCE)


def metadata(work, release):
    """Counts are those of the calls; rare types are left out; and each copy of the function that
    was inlined as the profile says has the types of its own caller."""
    found = types_in(assembly(work, release))
    found.pop(ONCE, None)
    expected = {MIXED: {SQUARE: 7731, CIRCLE: 2245}, LOCALS: {LOCAL: 10000},
                HIDDENS: {HIDDEN: 10000}, IN_A: {SQUARE: 10000}, IN_B: {LOCAL: 10000}}
    require(found == expected, f"{found}")


def part_as_whole(work, release):
    """Of an extensible binary what concerns the module is read, of a text all."""
    whole = types_in(assembly(work, release))
    require(whole, "no types: the test shows nothing")
    for options in ([], ["--md5"], ["--compress"]):
        binary = os.path.join(work.temp("binary"), "types.afdo")
        good(work.pgokit, "convert", "-q", PROFILE, "--to", "extbinary", "--vtables", *options,
             "-o", binary)
        part = types_in(assembly(work, release, profile=binary))
        require(part == whole, f"{options}: {part} of {whole}")


def without_counts(work, release):
    """By opt, on a module without counts: the profile's own. A function that is not inlined has the
    types of all places that it was inlined at."""
    folder = work.temp("opt")
    bitcode = os.path.join(folder, "calls.bc")
    good(compiler(release), "-O2", "-g", "-Xclang", "-disable-llvm-passes", "-DPART=2",
         "-c", "-emit-llvm", SOURCE, "-o", bitcode)
    text = good(tool("opt", release), "-load=" + plugin(release),
                "-load-pass-plugin=" + plugin(release), "-passes=pgokit-use-types,verify",
                "-pgokit-use=" + PROFILE, "-S", bitcode, "-o", "-")
    expected = {MIXED: {SQUARE: 310, CIRCLE: 90}, LOCALS: {LOCAL: 300}, HIDDENS: {HIDDEN: 300},
                ONCE: {SQUARE: 400, LOCAL: 200}}
    require(types_in(text) == expected, f"{types_in(text)}")


def linked(work, release, flags, link_flags):
    """What the program prints, and how each call was promoted: function called, table compared."""
    tool("ld.lld", release)
    folder = work.temp("linked")
    objects = []
    for part in (1, 2, 3):
        objects.append(os.path.join(folder, f"{part}.o"))
        good(compiler(release), *flags(folder), f"-DPART={part}", "-c", SOURCE, "-o", objects[-1])
    exe = os.path.join(folder, "program")
    result = run(compiler(release), "-O2", *objects, *link_flags,
                 "-Wl,-mllvm,-pass-remarks=pgo-icall-prom", "-o", exe)
    require(result.code == 0, str(result))
    promoted = re.findall(r"Promote indirect call to ([\w.]+?)(?:\.[0-9a-f]+|\.llvm\.\d+)? with"
                          r"(?:.*1 vtable\(s\): \{([\w]+))?", result.text)
    return good(exe), sorted(promoted)


# Function of each class, and which is called where.
AREAS = {SQUARE: "_ZN6Square4areaEi", CIRCLE: "_ZN6CircleILi3EE4areaEi",
         LOCAL: "_ZN12_GLOBAL__N_15Local4areaEi", HIDDEN: "_ZN12_GLOBAL__N_16Hidden4areaEi"}
CALLED = [SQUARE, CIRCLE, LOCAL, HIDDEN, SQUARE, LOCAL]


def promoted(work, release, how, compared):
    """The tables that are compared; for others, the function is. The program prints the same."""
    change = {"thin": [], "split units": ["-fsplit-lto-unit"], "full": ["-flto=full"]}[how]
    plain, _ = linked(work, release, lambda _: ["-O2"], ["-fuse-ld=lld"])
    text, found = linked(work, release,
                         lambda folder: [*compile_flags(work, folder, release), *change],
                         [*config(work, release, "--ldflags"), *change[:how == "full"]])
    require(text == plain, f"{text} instead of {plain}")
    expected = [(AREAS[table], table if table in compared else "") for table in CALLED]
    if how == "split units":  # 23 does not promote calls of functions that have no name outside
        left = {HIDDEN, LOCAL} if release >= 23 else {HIDDEN}
        expected = [row for row in expected if row[0] not in {AREAS[table] for table in left}]
    require(found == sorted(expected), f"{found}")


def remarks(work, release):
    folder = work.temp("remarks")
    result = run(compiler(release), *compile_flags(work, folder, release), "-Rpass=pgokit",
                 "-DPART=2", "-c", SOURCE, "-o", os.devnull)
    require(result.code == 0 and re.search(r"types_modules.cpp:\d+:15: remark: virtual call with 2 "
                                           r"types, the first 7731 times", result.errors),
            str(result))


def used(work, folder, profile=PROFILE):
    """What the records in a folder say."""
    return json.loads(good(work.pgokit, "match", "-q", profile, "--used", folder, "--json"))


def outcomes(report, weight):
    return {row["outcome"]: row[weight] for row in report["outcomes"]}


def report(work, release, how):
    """What was used of the types, by compiles and links; it agrees with the remarks."""
    folder = os.path.join(work.temp("report"), "records")
    asked = ["--report", folder]
    thin = how == "thin"
    said = []

    def flags(temporary):
        said.append(run(compiler(release), *compile_flags(work, temporary, release), "-DPART=2",
                        "-Rpass=pgokit", "-c", SOURCE, "-o", os.devnull).errors)
        return [*compile_flags(work, temporary, release), *([] if thin else ["-flto=full"]),
                "-mllvm", "-pgokit-use-report=" + folder]

    config(work, release, "--cflags", *asked) # makes the folder
    linked(work, release, flags, [*config(work, release, "--ldflags", *asked),
                                  *([] if thin else ["-flto=full"])])
    found = used(work, folder)
    expected = {"compared": 1300 if thin else 1600, "rare type": 1}
    if thin:
        expected["local table"] = 300
    require(outcomes(found, "objects") == expected, f"{found}")
    require(found["totals"] == {"types": 7, "objects": 1601}, f"{found}")
    given = len(re.findall(r"remark: virtual call with", said[0]))
    require(found["calls"]["given"] == given == 6, f"{given} remarks, {found}")
    require(found["records"]["modules"] == 3, f"{found}")
    require([row["type"] for row in found["not_used"]][-1:] == ["_ZTV7Another"], f"{found}")


def report_of_another_source(work, release):
    """Why nothing was used: no call at the line, another caller, no function in the module."""
    folder = work.temp("misfit")
    profile = write(os.path.join(folder, "misfit.prof"), read(PROFILE).replace(
        b" 2: vtables _ZTV6Square:310", b" 7: vtables _ZTV6Square:310").replace(
        b" 2: vtables _ZTVN12_GLOBAL__N_16HiddenE", b" 2.1: vtables _ZTVN12_GLOBAL__N_16HiddenE") +
        b"_Z4gonev:30:3\n 1: 27\n 1: vtables _ZTV4Gone:27\n")
    records = os.path.join(folder, "records")
    flags = [flag for flag in config(work, release, "--cflags", "--report", records,
                                     profile=profile) if "sample-use" not in flag]
    good(compiler(release), "-O2", "-g", *flags, "-DPART=2", "-c", SOURCE, "-o", os.devnull)
    found = outcomes(used(work, records, profile), "objects")
    require(found["no such call"] == 701 and found["no function"] == 27, f"{found}")
    other = run(work.pgokit, "match", "-q", PROFILE, "--used", records)
    require(other.code == 2 and "records of other profiles" in other.errors, str(other))


def one_warning(work, release, profile, part, text):
    """And the module is as without the plugin, whose other flags stay."""
    folder = work.temp("warning")
    flags = [flag for flag in compile_flags(work, folder, release)
             if "sample-use" not in flag and not flag.startswith("-pgokit-use=")]
    flags.remove("-mllvm") # of the profile
    module = os.path.join(folder, "module.o")
    command = [compiler(release), *flags, f"-DPART={part}", "-c", SOURCE, "-o", module]
    result = run(*command, "-mllvm", "-pgokit-use=" + profile)
    require(result.code == 0, str(result))
    require(len(re.findall("warning:", result.errors)) == bool(text) and text in result.errors,
            f"{result.errors}")
    with_plugin = read(module)
    good(*command)
    require(with_plugin == read(module), "the module is another one")


def damaged(work, release):
    folder = work.temp("damaged")
    whole = os.path.join(folder, "whole")
    good(work.pgokit, "convert", "-q", PROFILE, "--vtables", "-o", whole)
    data = read(whole)
    cut = write(os.path.join(folder, "cut"), data[:len(data) // 2])
    one_warning(work, release, cut, 2, cut)
    text = write(os.path.join(folder, "text"), b"mixed:3:\n 1: many\n")
    one_warning(work, release, text, 2, text)
    missing = os.path.join(folder, "missing")
    one_warning(work, release, missing, 2, missing)


def of_another_program(work, release):
    """Said once, where main is: a module without samples need not be of another program."""
    folder = work.temp("another")
    other = write(os.path.join(folder, "other.prof"),
                  b"main:900:10\n 4: 90\n_Z5otherv:20:10\n 1: 10\n 1: vtables _ZTV5Other:3\n")
    one_warning(work, release, other, 2, "")
    one_warning(work, release, other, 3, "no function of this program")


def repeated(work, release):
    """Build systems repeat flags."""
    once = assembly(work, release)
    flags = config(work, release, "--cflags")
    require(assembly(work, release, *flags, *flags) == once, "differs with flags given three times")


def recorded(work, release, mode):
    """A profile that gen made, by lines, by probes and with contexts."""
    kind, options = gen_types.MODES[mode]
    exe, trace = gen_types.build(work, kind)
    loads, profile = exe + ".loads", exe + ".profile"
    (gen_types.as_chains if "contexts" in mode else gen_types.as_perf_data)(exe, loads)
    good(work.pgokit, "gen", "-q", trace, loads, "-b", exe, "--vtables", *options, "-o", profile)
    flags = config(work, release, "--cflags", profile=profile)
    found = types_in(disassembled(os.path.dirname(exe), release, "-O2", "-g", gen_types.FRAMES,
                                  *flags, "-mllvm", "-pgokit-use-verify",
                                  os.path.join(PROGRAMS, "types.cpp")))
    for site in gen_types.SITES:
        types = found.get(site, {})
        require(list(types) == ["_ZTV5Often", "_ZTV6Rarely"], f"{site}: {found}")
        share = types["_ZTV5Often"] / sum(types.values())
        require(0.749 < share < 0.751, f"{site}: {types}")


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    for release in RELEASES:
        for case in (metadata, part_as_whole, without_counts, remarks, damaged,
                     of_another_program, repeated, report_of_another_source):
            tap.add(f"clang {release}: {case.__name__.replace('_', ' ')}", case, work, release)
        tap.add(f"clang {release}: promoted by table, ThinLTO", promoted, work, release, "thin",
                {SQUARE, CIRCLE, LOCAL})
        tap.add(f"clang {release}: promoted by function, split units", promoted, work, release,
                "split units", {})
        for how in ("thin", "full"):
            tap.add(f"clang {release}: report, {how} LTO", report, work, release, how)
        tap.add(f"clang {release}: promoted by table, full LTO", promoted, work, release, "full",
                set(CALLED))
    for mode in gen_types.MODES:
        tap.add(f"clang 22: types as recorded, {mode}", recorded, work, 22, mode)


if __name__ == "__main__":
    sys.exit(main(add_cases))
