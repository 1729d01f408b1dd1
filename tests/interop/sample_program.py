#!/usr/bin/env python3
"""A real program, the reader and writer of sample profiles of this tree, is recorded step by step
and profiled by llvm-profgen. The profile goes through five conversions; clang must make the same
objects with it as with the original.
"""

import concurrent.futures
import glob
import os
import shutil
import sys

import sample_texts
from peers import HERE, JOBS, good, main, read, require, tool, write

ROOT = os.path.dirname(os.path.dirname(HERE))
FLAGS = ["-O2", "-g", "-std=gnu17", "-D_GNU_SOURCE", "-w", "-fno-omit-frame-pointer",
         *[f"-I{ROOT}/{folder}" for folder in ("include", "lib/base", "lib/records",
                                               "lib/sample", "lib/sampleio")]]
LIBRARIES = ["-lmd", "-lzstd", "-lz", "-lm", "-pthread"]
MAIN = ["fuzz/fuzz_sample_text.c", "fuzz/replay_main.c"]
# What the program spends its time in.
HOT = ["lib/sampleio/sample_text_read.c", "lib/sample/sample_stage.c", "lib/sample/sample_names.c",
       "lib/sample/sample_recs.c", "lib/sampleio/sample_text_write.c", "lib/base/hash.c",
       "lib/base/index.c", "lib/base/arena.c"]
# name: flags of the program, options of llvm-profgen, call chains, conversions
LINES = (["-fdebug-info-for-profiling"], ["--use-dwarf-correlation"], False, [
    ["--compress"], ["--to", "text"], ["--to", "binary"], ["--md5"], ["--split-layout"]])
PROBES = (["-fpseudo-probe-for-profiling"], [], True, [
    ["--compress"], ["--to", "text"], ["--md5"], ["--to", "text"], []])
CONTEXTS = (["-fpseudo-probe-for-profiling"],
            ["--csspgo-preinliner=0", "--gen-cs-nested-profile=0"], True, PROBES[3])
KINDS = {"by lines": LINES, "by probes": PROBES, "by contexts": CONTEXTS}


def sources(folder):
    return sorted(glob.glob(f"{ROOT}/lib/{folder}/*.c"))


def compile_all(folder, names, *flags):
    """The objects, in the order of their sources."""
    clang = tool("clang", 22)

    def compile_one(source):
        out = f"{folder}/{os.path.basename(source)}.o"
        good(clang, *FLAGS, *flags, "-c", source, "-o", out)
        return out
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(compile_one, names))


def build(work, flags):
    """The program in a folder of its own; of the library it has what it needs. It is compiled once
    for all tests."""
    rooms = ["base", "records", "sample", "sampleio"]
    names = [s for room in rooms for s in sources(room) if not s.endswith("sample_rename.c")]
    compiler = os.stat(os.path.realpath(tool("clang", 22)))

    def make(kept):
        good(tool("ar"), "rc", f"{kept}/library.a", *compile_all(kept, names, *flags))
        good(tool("clang", 22), *FLAGS, *flags, *[f"{ROOT}/{source}" for source in MAIN],
             f"{kept}/library.a", *LIBRARIES, "-o", f"{kept}/program")
    headers = glob.glob(f"{ROOT}/lib/*/*.h") + glob.glob(f"{ROOT}/lib/*/*.def")
    texts = [read(path) for path in sorted([*names, *headers])]
    kept = work.shared("sample-program", (flags, texts, compiler.st_mtime_ns), make)
    folder = work.temp("program")
    shutil.copy(f"{kept}/program", folder)
    return folder


def profile(work, folder, options, chains):
    """As a fleet would have it: branch records of a run, through llvm-profgen."""
    for seed in range(3):
        write(f"{folder}/in{seed}.txt", sample_texts.text(seed, "nested").encode())
    good(work.recorder, *(["-g"] if chains else []), "-e", "211", "-n", "1500",
         f"{folder}/trace", f"{folder}/program", *glob.glob(f"{folder}/in*.txt"))
    good(tool("llvm-profgen", 22), f"--perfscript={folder}/trace", f"--binary={folder}/program",
         "-o", f"{folder}/first.afdo", *options)
    return f"{folder}/first.afdo"


def convert(work, folder, source, conversions):
    for i, options in enumerate(conversions):
        good(work.pgokit, "convert", "-q", source, "-b", f"{folder}/program", *options, "-o",
             f"{folder}/{i}")
        source = f"{folder}/{i}"
    return source


def objects(folder, flags, used):
    option = [f"-fprofile-sample-use={used}"] if used else []
    paths = compile_all(folder, [f"{ROOT}/{source}" for source in HOT], *flags, *option)
    for path in paths:
        # clang writes the records of probes in another order whenever it runs.
        good(tool("objcopy"), "-R", ".pseudo_probe", path)
    return [read(path) for path in paths]


def same_objects(work, kind):
    flags, options, chains, conversions = KINDS[kind]
    folder = build(work, flags)
    first = profile(work, folder, options, chains)
    last = convert(work, folder, first, conversions)
    text = good(work.pgokit, "convert", first, "--to", "text", "-o", "-")
    require(good(work.pgokit, "convert", last, "--to", "text", "-o", "-") == text,
            "five conversions changed the profile")
    functions = sum(not line.startswith(" ") for line in text.splitlines())
    require(functions > 20, f"a profile of {functions} functions")
    plain, with_first = objects(folder, flags, None), objects(folder, flags, first)
    require(with_first == objects(folder, flags, last), "another program")
    changed = sum(a != b for a, b in zip(plain, with_first))
    require(changed > len(HOT) / 2, f"the profile changed {changed} of {len(HOT)} objects")
    return f"{functions} functions, {changed} of {len(HOT)} objects are not as without a profile"


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    for kind in KINDS:
        tap.add(f"five conversions of a profile {kind}", same_objects, work, kind)


if __name__ == "__main__":
    sys.exit(main(add_cases))
