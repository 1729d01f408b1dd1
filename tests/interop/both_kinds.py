"""One file for counters and heap data of a real program: ninja, from Debian's sources, built by
clang 22 with -fprofile-generate and again with -fmemory-profile, run over a large build, and
built a third time with what became of these runs. Its files are compiled many at a time, which
takes a fourth of the processor time that each by itself takes."""

import concurrent.futures
import glob
import os
import sys

from peers import (FRAME_POINTERS, HERE, JOBS, Skip, good, main, need_linkers, read, require, run,
                   tool, write)
from stepped import LLD

FETCH = os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench", "fetch-sources")
EDGES = 4000
UNITS = 4
# As the manual of clang has it for these profiles.
LINES = ("-gmlt", "-fdebug-info-for-profiling")
NOT_FOR_US = ("test", "perftest", "win32", ".in.cc", "hash_collision_bench", "browse.cc")


def sources(work):
    folder = os.path.join(work.cache, "fetched")
    fetched = run(FETCH, folder, "ninja-build", timeout=600)
    if fetched.code:
        raise Skip(f"missing the sources of ninja: {fetched.errors[-300:]}")
    found = glob.glob(f"{folder}/sources/ninja-build-*/src/*.cc")
    mine = [s for s in found if not any(word in os.path.basename(s) for word in NOT_FOR_US)]
    require(len(mine) > 20, f"only {len(mine)} files of ninja's sources")
    return sorted(mine)


def units(folder, files):
    """Sources that each include some of the files. Neighbours in the list have names in common that
    one source cannot have twice, so each unit takes every fourth."""
    made = []
    for i in range(UNITS):
        made.append((f"{folder}/unit{i}.cc", files[i::UNITS]))
        text = "".join(f'#include "{path}"\n' for path in made[-1][1])
        write(made[-1][0], text.encode())
    return made


def build(folder, parts, *flags):
    """Compiles and links; the linked program."""
    os.makedirs(folder)
    compiler = [tool("clang++", 22), "-w", *LINES, *flags]
    need_linkers([LLD])

    def compiled(source):
        out = f"{folder}/{os.path.basename(source)}.o"
        return run(*compiler, "-c", source, "-o", out, timeout=600)

    def compile_unit(unit):
        source, files = unit
        if compiled(source).code:  # another ninja, with other names in common
            for result in map(compiled, files):
                require(result.code == 0, str(result))

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(compile_unit, parts))
    good(*compiler, *sorted(glob.glob(f"{folder}/*.o")), LLD, "-Wl,--build-id", "-o",
         f"{folder}/ninja")
    return f"{folder}/ninja"


def manifest(folder):
    os.makedirs(folder)
    with open(f"{folder}/build.ninja", "w", encoding="ascii") as f:
        f.write("rule cc\n  command = cc $flags -c $in -o $out\n  depfile = $out.d\n")
        for i in range(EDGES):
            f.write(f"build out/{i}.o: cc src/{i % 97}/{i}.c | gen/{i // 40}.h\n"
                    f"  flags = -O{i % 3} -Iinclude/{i % 11}\n")
        f.write("rule touch\n  command = touch $out\n")
        for i in range(EDGES // 40):
            f.write(f"build gen/{i}.h: touch\n")
        f.write("build all: phony " + " ".join(f"out/{i}.o" for i in range(EDGES)) + "\n")
    for i in range(EDGES):
        os.makedirs(f"{folder}/src/{i % 97}", exist_ok=True)
        open(f"{folder}/src/{i % 97}/{i}.c", "w", encoding="ascii").close()


def workload(ninja, project, env=None):
    """What ninja prints, in three modes; nothing is built."""
    return [good(ninja, "-C", project, *args, env=env, timeout=600)
            for args in (["-n", "all"], ["-t", "commands", "all"], ["-t", "targets", "all"])]


def ir(folder, source, *flags):
    good(tool("clang++", 22), "-w", "-O2", *LINES, *flags, "-S", "-emit-llvm", source, "-o",
         f"{folder}/unit.ll", timeout=600)
    return read(f"{folder}/unit.ll").decode()


def one_file(work):
    files = sources(work)
    folder = work.temp("both")
    project = f"{folder}/project"
    manifest(project)
    parts = units(folder, files)
    counted = build(f"{folder}/counted", parts, "-O1", "-fprofile-generate")
    profiled = build(f"{folder}/profiled", parts, "-O1", "-fmemory-profile", *FRAME_POINTERS)
    want = workload(counted, project, {"LLVM_PROFILE_FILE": f"{folder}/%p.profraw"})
    options = {"MEMPROF_OPTIONS": f"log_path={folder}/heap:print_text=false"}
    require(workload(profiled, project, options) == want, "-fmemory-profile changes the outputs")

    counts, heaps = glob.glob(f"{folder}/*.profraw"), glob.glob(f"{folder}/heap.*")
    require(len(counts) == len(heaps) == len(want), f"{len(counts)}, {len(heaps)} profiles")
    both, counts_alone, heap_alone = (f"{folder}/{n}.profdata" for n in ("both", "counts", "heap"))
    to = ["--to", "llvm22", "-o"]
    good(work.pgokit, "merge", *counts, *heaps, "-b", profiled, *to, both)
    good(work.pgokit, "merge", *counts, *to, counts_alone)
    good(work.pgokit, "merge", *heaps, "-b", profiled, *to, heap_alone)

    unit = [f for f in files if f.endswith("/state.cc")][0]
    used = ir(folder, unit, f"-fprofile-use={both}", f"-fmemory-profile-use={both}")
    for word in ("function_entry_count", "branch_weights", '"memprof"='):
        require(word in used, f"no {word} in the compiler's output for {unit}")
    require(used == ir(folder, unit, f"-fprofile-use={counts_alone}",
                       f"-fmemory-profile-use={heap_alone}"), "two files give another output")
    require('"memprof"=' not in ir(folder, unit, f"-fprofile-use={counts_alone}"),
            "heap data among the counters")

    fast = build(f"{folder}/used", parts, "-O2", f"-fprofile-use={both}",
                 f"-fmemory-profile-use={both}")
    require(workload(fast, project) == want, "the optimised program gives other outputs")


def add_cases(work, tap):
    tap.add("ninja, optimised by its counters and heap data", one_file, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
