#!/usr/bin/env python3
"""Programs made at random count the same in all ways: by a slow plain heap that is called for each
access, by LLVM's instrumentation, by ours with and without merging.

usage: random_programs.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS [RELEASE=PLUGIN]...

PGOKIT_TEST_PROGRAMS=1000 in the environment tries so many; PGOKIT_TEST_SEED=77 begins with that
seed. The program that fails is kept in the folder that the message names."""

import concurrent.futures
import os
import shutil
import sys
import tempfile

import harness
import raw_profile
import runtime_programs
from harness import Cases, Failure, Skip, require, run, tool
from program_maker import ProgramMaker
from runtime_programs import FRAMES, HERE, one_file

PLUGINS = dict(argument.split("=", 1) for argument in sys.argv[5:])
RELEASES = ("14", "16", "19", "22")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "ThinLTO")
PROGRAMS = int(os.environ.get("PGOKIT_TEST_PROGRAMS", "20"))
FIRST = int(os.environ.get("PGOKIT_TEST_SEED", "1"))
JOBS = 2


def ways_to_count(release):
    plugin = ["-Xclang", "-load", "-Xclang", PLUGINS[release],
              "-Xclang", "-fpass-plugin=" + PLUGINS[release], "-mllvm", "-pgokit-heap-verify"]
    return {"oracle": ["-fmemory-profile", "-mllvm", "-memprof-use-callbacks"],
            "llvm": ["-fmemory-profile"],
            "each": [*plugin, "-mllvm", "-pgokit-heap-coalesce=0"],
            "near": [*plugin, "-mllvm", "-pgokit-heap-coalesce=1"],
            "merged": [*plugin, "-mllvm", "-pgokit-heap-coalesce=2"]}


def level_flags(release, level):
    if level != "ThinLTO":
        return [level, "-mavx2"] if level == "-O3" and has_avx2() else [level]
    tool(f"ld.lld-{release}")
    return ["-O2", "-flto=thin", f"-fuse-ld=lld-{release}"]


def has_avx2():
    if harness.TARGET:
        return False
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return " avx2 " in file.read()


def build(folder, release, level, cxx, how):
    """In two parts, so that ThinLTO has something to inline."""
    compiler = tool(f"clang{'++' if cxx else ''}-{release}")
    flags = [*FRAMES, *level_flags(release, level), "-w"]
    objects = []
    for part in ("one", "two"):
        objects.append(os.path.join(folder, f"{how}-{part}.o"))
        run([compiler, *flags, *ways_to_count(release)[how], "-c",
             f"{part}.{'cpp' if cxx else 'c'}", "-o", objects[-1]], folder)
    program = os.path.join(folder, how)
    heap = [os.path.join(folder, "oracle.o")] if how == "oracle" else [runtime_programs.ARCHIVE]
    run([compiler, *flags, *objects, *heap, "-pthread", "-no-pie", "-Wl,--build-id", "-o", program],
        folder)
    harness.built_by(program, compiler)
    return program


def by_oracle(program, out):
    """As Profile.by_function, of the oracle's list."""
    functions, found, used = raw_profile.symbols(program), {}, {}
    for line in out.splitlines():
        if not line.startswith("object "):
            continue
        asked_by, size, accesses, touched = (int(word, base) for word, base
                                             in zip(line.split()[1:], (16, 10, 10, 10)))
        name = next((name for name, start, end in functions if start <= asked_by < end), "?")
        values = [1, size, accesses, accesses, accesses]
        found[name] = raw_profile.add(found[name], values) if name in found else values
        share = touched * 100 // size
        values = [touched, size - touched, share, share]
        used[name] = raw_profile.add_up(used[name], values) if name in used else values
    return found, used


def counted(folder, release, level, cxx, how):
    program = build(folder, release, level, cxx, how)
    out = run([program], folder).stdout
    if how == "oracle":
        found, used = by_oracle(program, out)
    else:
        profile = raw_profile.Profile(one_file(folder))
        require(profile.merged == (how == "merged"), f"{how}: flag of merging {profile.merged}")
        found, used = profile.by_function(program), profile.touched_by_function(program)
        os.remove(one_file(folder))
    said = [line for line in out.splitlines() if not line.startswith("object ")]
    return said, *({name: values for name, values in all.items() if "site_" in name}
                   for all in (found, used))


def check_touched(how, found, truth, objects):
    """Counts that are merged within 64 bytes hide granules beside the one that is counted: a third
    of them is told at least, and one of each object. What is merged over a whole object says
    nothing."""
    granule = 64
    for name, values in truth.items() if how != "merged" else ():
        told = found.get(name, [0] * 4)
        close = told == values
        if how == "near":
            most = 3 * (told[0] + granule * objects[name])
            close = told[0] <= values[0] <= most and bool(told[0]) == bool(values[0])
        require(close and sum(told[:2]) == sum(values[:2]),
                f"{how}: touched of {name}: {told}, oracle {values}")


def write_parts(folder, seed, cxx):
    paths = [os.path.join(folder, f"{part}.{'cpp' if cxx else 'c'}") for part in ("one", "two")]
    for path, text in zip(paths, ProgramMaker(seed, cxx).program()):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return paths


def compare(folder, seed, release, level, cxx):
    write_parts(folder, seed, cxx)
    run([tool(f"clang-{release}"), "-O1", "-fno-builtin", "-c",
         os.path.join(HERE, "programs", "counting_oracle.c"), "-o",
         os.path.join(folder, "oracle.o")], folder)
    results = {how: counted(folder, release, level, cxx, how) for how in ways_to_count(release)}
    said, truth, used = results["oracle"]
    require(len(truth) >= 2 and said, f"the program does too little: {said} {truth}")
    for how, (also_said, found, touched) in results.items():
        wrong = [f"{how}: {name}: {found.get(name)}, oracle {truth.get(name)}"
                 for name in sorted({*truth, *found}) if found.get(name) != truth.get(name)]
        require(also_said == said, f"{how}: prints {also_said}, oracle {said}")
        require(not wrong, "\n".join(wrong))
        check_touched(how, touched, used, {name: row[0] for name, row in truth.items()})
    return sum(values[2] for values in truth.values())


def is_cxx(seed):
    return seed // len(RELEASES) % 2 == 1


def one(seed):
    """Which compiler and how is by turns, so that 20 programs try all, and 40 in both languages."""
    release = RELEASES[seed % len(RELEASES)]
    level, cxx = LEVELS[seed % len(LEVELS)], is_cxx(seed)
    if release not in PLUGINS:
        return Skip(f"missing llvm-{release}-dev: no plugin for clang {release} has been built")
    folder = tempfile.mkdtemp(prefix="pgokit-random-")
    try:
        accesses = compare(folder, seed, release, level, cxx)
    except Skip as skip:
        accesses = skip
    except Failure as failure:
        return Failure(f"seed {seed}, clang-{release} {level}{' C++' if cxx else ''}: see "
                       f"{folder}\n{failure}")
    shutil.rmtree(folder)
    return accesses


def all_the_same(_, seeds):
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(one, seeds))
    failures = [result for result in results if isinstance(result, Failure)]
    require(not failures, "\n".join(map(str, failures[:3])) + f"\n{len(failures)} programs in all")
    skips = [result for result in results if isinstance(result, Skip)]
    if skips and len(skips) == len(results):
        raise skips[0]
    compared = [result for result in results if isinstance(result, int)]
    return [f"{len(compared)} programs, {sum(compared)} accesses; left out: "
            f"{len(skips)}{''.join(sorted({f' ({skip})' for skip in skips}))}"]


def add_cases(cases, programs):
    for cxx in (False, True):
        seeds = [seed for seed in range(FIRST, FIRST + programs) if is_cxx(seed) == cxx]
        if seeds:
            cases.run(f"{len(seeds)} random programs in {'C++' if cxx else 'C'}: the same counts "
                      "in all ways", all_the_same, seeds)


if __name__ == "__main__":
    CASES = Cases()
    add_cases(CASES, PROGRAMS)
    CASES.finish()
