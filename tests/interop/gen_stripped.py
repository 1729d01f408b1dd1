#!/usr/bin/env python3
"""A program that was stripped and its debug file give the profile of the program before: where the
debug file is found or given, by lines and by probes, with contexts and without.
"""

import os
import shutil
import sys

from gen_profiles import without_chains
from peers import PROGRAMS, good, main, read, require, run, tool
from stepped import FRAMES, LINES, PROBES, WALKS, built, recorded

PROBE_SECTIONS = ("-R", ".pseudo_probe", "-R", ".pseudo_probe_desc")


def build(work, *flags):
    return recorded(work, 22, "-O2", "-g", *flags, FRAMES, "-Wl,--build-id")


def split(exe, *options, name="walks.debug"):
    """The program without symbols, and its debug file in a folder of its own."""
    folder, apart = os.path.dirname(exe) + "/release", os.path.dirname(exe) + "/apart"
    for path in (folder, apart):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
    stripped, debug = os.path.join(folder, "walks"), os.path.join(apart, name)
    good(tool("objcopy"), "--only-keep-debug", exe, debug)
    good(tool("objcopy"), "--strip-all", *options, f"--add-gnu-debuglink={debug}", exe, stripped)
    return stripped, debug


def build_id_file(exe, folder):
    text = good(tool("readelf"), "-n", exe).split("Build ID: ")[1].split()[0]
    return os.path.join(folder, ".build-id", text[:2], text[2:] + ".debug")


def beside(debug, stripped):
    shutil.copy(debug, os.path.dirname(stripped))
    return []


def in_hidden_folder(debug, stripped):
    os.makedirs(os.path.dirname(stripped) + "/.debug")
    shutil.copy(debug, os.path.dirname(stripped) + "/.debug")
    return []


def by_build_id(debug, stripped):
    folder = os.path.dirname(debug) + "/ids"
    place = build_id_file(stripped, folder)
    os.makedirs(os.path.dirname(place))
    shutil.copy(debug, place)
    return ["--debug-dir", folder]


def in_debug_folder(debug, _stripped):
    return ["--debug-dir", os.path.dirname(debug)]


def given(debug, _stripped):
    return ["--debug-binary", debug]


def profile(work, exe, trace, *options):
    out = exe + ".profile"
    good(work.pgokit, "gen", "-q", trace, "-b", exe, "-o", out, *options)
    return read(out)


def equal_to_unstripped(work, kind, place):
    exe, trace = build(work, kind)
    for mode in ("autofdo", "cs-autofdo", *(("probe", "cs") if kind == PROBES else ())):
        used = trace if "cs" in mode else without_chains(trace)
        whole = profile(work, exe, used, "--mode", mode)
        stripped, debug = split(exe)
        found = profile(work, stripped, used, "--mode", mode, *place(debug, stripped))
        require(whole == found, f"{mode}: other bytes")


def probes_in_either_file(work):
    exe, trace = build(work, PROBES)
    whole = profile(work, exe, trace)
    stripped, debug = split(exe, *PROBE_SECTIONS)
    require(b"pseudo_probe" not in read(stripped), "the program still has probes")
    require(profile(work, stripped, trace, *in_debug_folder(debug, stripped)) == whole,
            "probes of the debug file give another profile")
    stripped, debug = split(exe)
    good(tool("objcopy"), *PROBE_SECTIONS, debug)
    require(profile(work, stripped, trace, *given(debug, stripped)) == whole,
            "probes of the program give another profile")


def debug_file_of_another_build(work):
    exe, trace = build(work, LINES)
    stripped, _ = split(exe)
    other = built(work, 22, "-O1", "-g", LINES, FRAMES, "-Wl,--build-id")
    _, debug = split(other)
    result = run(work.pgokit, "gen", trace, "-b", stripped, "--debug-binary", debug, "-o",
                 exe + ".out")
    require(result.code == 2 and "build id" in result.errors and debug in result.errors,
            str(result))
    require(not os.path.exists(exe + ".out"), "a file was left")


def no_debug_file(work):
    """It is said what to give."""
    exe, trace = build(work, LINES)
    stripped, debug = split(exe)
    result = run(work.pgokit, "gen", trace, "-b", stripped, "-o", exe + ".out")
    require(result.code == 2 and "--debug-binary" in result.errors, str(result))
    result = run(work.pgokit, "gen", trace, "-b", debug, "-o", exe + ".out")
    require(result.code == 2 and "not its debug file" in result.errors, str(result))


def package_elsewhere(work):
    """Split debug information in a package that is neither beside the program nor has its name."""
    folder = work.temp("package")
    exe = os.path.join(folder, "walks")
    objects = []
    for number, source in enumerate(WALKS):
        objects.append(os.path.join(folder, f"{number}.o"))
        good(tool("clang++", 22), "-O2", "-g", "-gsplit-dwarf", LINES, FRAMES, "-c",
             os.path.join(PROGRAMS, source), "-o", objects[-1], cwd=folder)
    good(tool("clang++", 22), *objects, "-Wl,--build-id", "-o", exe)
    trace = exe + ".trace"
    good(os.path.abspath(os.environ["BRANCH_TRACE"]), "-g", "-e", "211", "-n", "1500", trace, exe,
         "100000", timeout=300)
    whole = profile(work, exe, trace)
    package = os.path.join(work.temp("elsewhere"), "any.name")
    good(tool("llvm-dwp", 22), "-e", exe, "-o", package, cwd=folder)
    for name in os.listdir(folder):
        if name.endswith(".dwo"):
            os.remove(os.path.join(folder, name))
    left = run(work.pgokit, "gen", "-q", trace, "-b", exe, "-o", exe + ".afdo")
    require(left.code == 2 and ".dwo was not found" in left.errors, str(left))
    require(profile(work, exe, trace, "--dwp", package) == whole, "other bytes")
    stripped, debug = split(exe)
    require(profile(work, stripped, trace, "--dwp", package, "--debug-binary", debug) == whole,
            "other bytes of the stripped program")


def disassembly(work):
    """Names, lines and probes of a stripped program come from its debug file."""
    exe, trace = build(work, PROBES)
    stripped, debug = split(exe, *PROBE_SECTIONS)
    counts = exe + ".counts"
    good(work.pgokit, "gen", "-q", trace, "-b", exe, "-o", counts)
    for options in (["--probes"], ["--source"], ["--probes", "--format", "llvm"],
                    ["--profile", counts, "--top", "3"]):
        whole = good(work.pgokit, "disasm", exe, *options)
        found = good(work.pgokit, "disasm", stripped, "--debug-binary", debug, *options)
        require(whole.replace(exe, "") == found.replace(stripped, ""), f"{options}: other lines")


def add_cases(work, tap):
    for kind in (LINES, PROBES):
        for place in (beside, in_hidden_folder, by_build_id, in_debug_folder, given):
            tap.add(f"the profile of the unstripped program, {kind}, debug file "
                    f"{place.__name__.replace('_', ' ')}", equal_to_unstripped, work, kind, place)
    for fn in (probes_in_either_file, debug_file_of_another_build, no_debug_file,
               package_elsewhere, disassembly):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
