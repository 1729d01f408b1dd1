#!/usr/bin/env python3
"""The heap profiler runtime on AArch64, emulated: what the other tests of the runtime try, as far
as an emulator can do it. Counts are compared with what the programs know of themselves, and the
profile of a program with that of the same program for x86-64.

usage: heap_aarch64.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS [RELEASE=PLUGIN]..., all of this
machine.

PGOKIT_TEST_KILLS=1000 in the environment kills so many programs, PGOKIT_TEST_PROGRAMS=1000 makes so
many at random, from PGOKIT_TEST_SEED on."""

import os
import re
import sys
import tempfile

import cross
import harness
from harness import Cases, Failure, Skip, require, run, tool

HOST_ARCHIVE, HOST_SHARED = map(os.path.abspath, sys.argv[2:4])
TARGETS = ("runtime/libpgokit_heap.a", "runtime/libpgokit_heap.so",
           "runtime/libclang_rt.memprof-aarch64.so", "allocator/libpgokit_alloc.so")
os.environ.setdefault("PGOKIT_TEST_KILLS", "10")
RANDOM_PROGRAMS = int(os.environ.get("PGOKIT_TEST_PROGRAMS", "4"))


def exact(folder, compiler, link, version, seed, threads):
    """As heap_exact.exact, with fewer rounds."""
    program = build(folder, "random_access.c", compiler, link)
    out = run([program, str(seed), str(threads), "3000"], folder,
              {"PGOKIT_HEAP_OPTIONS": f"raw_version={version}",
               "LD_LIBRARY_PATH": f"{folder}/taken"}).stdout
    path = one_file(folder)
    check_sound(path)
    require_exact(program, out, raw_profile.Profile(path))


def on_kernel(folder, bits, page, function, *args):
    with harness.TARGET.kernel(bits, page):
        return function(folder, *args)


def races(folder):
    """Many threads in the runtime's tables, as the thread sanitizer sees them on x86-64."""
    program = heap_races.build_races(folder, "-mno-outline-atomics")
    return heap_races.check_races(folder, run([program, "8"], folder))


def same_as_x86_64(folder, source, compiler, arguments, skipped=()):
    """The same source counts the same on both processors, function by function."""
    found = []
    for target, archive in ((harness.TARGET, runtime_programs.ARCHIVE), (None, HOST_ARCHIVE)):
        where = os.path.join(folder, "target" if target else "host")
        os.mkdir(where)
        with on(target, archive):
            program = build(where, source, compiler, "archive", flags=["-fno-builtin"])
            out = run([program, *arguments], where).stdout
        profile = raw_profile.Profile(one_file(where))
        functions = profile.by_function(program)
        found.append((out, {name: functions[name] for name in functions
                            if name not in ("?", *skipped)}))
    require(found[0][0] == found[1][0], f"AArch64 prints {found[0][0]}, x86-64 {found[1][0]}")
    wrong = [f"{name}: AArch64 {found[0][1].get(name)}, x86-64 {found[1][1].get(name)}"
             for name in sorted({*found[0][1], *found[1][1]})
             if found[0][1].get(name) != found[1][1].get(name)]
    require(found[0][1] and not wrong, "\n".join(wrong))
    return [f"{len(found[0][1])} functions, {sum(v[2] for v in found[0][1].values())} accesses"]


class on:
    """With another target and its runtime."""

    def __init__(self, target, archive):
        self.values = target, archive

    def __enter__(self):
        self.values, (harness.TARGET, runtime_programs.ARCHIVE) = \
            (harness.TARGET, runtime_programs.ARCHIVE), self.values

    def __exit__(self, *_):
        harness.TARGET, runtime_programs.ARCHIVE = self.values


def count_at_random(folder, compiler, seed, cxx):
    """What a program made at random prints on each processor, and its objects by function."""
    name, counting = compiler
    if cxx:
        name = name.replace("clang", "clang++").replace("gcc", "g++")
    results = []
    for target, archive in ((harness.TARGET, runtime_programs.ARCHIVE), (None, HOST_ARCHIVE)):
        where = os.path.join(folder, f"{seed}-{'target' if target else 'host'}")
        os.mkdir(where)
        with on(target, archive):
            program = os.path.join(where, "program")
            run([tool(name), *FRAMES, "-O0", "-w", counting, "-c",
                 *random_programs.write_parts(where, seed, cxx)], where)
            run([tool(name), "one.o", "two.o", runtime_programs.ARCHIVE, "-pthread", "-no-pie",
                 "-Wl,--build-id", "-o", program], where)
            out = run([program], where).stdout
        functions = raw_profile.Profile(one_file(where)).by_function(program)
        results.append((out, {site: functions[site] for site in functions if "site_" in site}))
    return results


def random_on_both(folder, compiler):
    """Not optimised, so that both compilers make the same accesses of the source."""
    accesses = 0
    for seed in range(random_programs.FIRST, random_programs.FIRST + RANDOM_PROGRAMS):
        (out, found), (also_out, truth) = count_at_random(folder, compiler, seed,
                                                          random_programs.is_cxx(seed))
        require(out == also_out, f"seed {seed}: AArch64 prints {out}, x86-64 {also_out}")
        wrong = [f"seed {seed}: {site}: AArch64 {found.get(site)}, x86-64 {truth.get(site)}"
                 for site in sorted({*found, *truth}) if found.get(site) != truth.get(site)]
        require(truth and not wrong, "\n".join(wrong))
        accesses += sum(values[2] for values in truth.values())
    return [f"{RANDOM_PROGRAMS} programs, {accesses} accesses"]


def merged(folder):
    """Profiles of both processors merge where source positions agree."""
    raws, programs = [], []
    for target, archive in ((harness.TARGET, runtime_programs.ARCHIVE), (None, HOST_ARCHIVE)):
        where = os.path.join(folder, "target" if target else "host")
        os.mkdir(where)
        with on(target, archive):
            programs.append(build(where, "random_access.c", "clang-22", "archive"))
            run([programs[-1], "3", "1", "2000"], where)
        raws.append(one_file(where))
    texts = []
    for i, (raw, program) in enumerate(zip(raws, programs)):
        texts.append(os.path.join(folder, f"{i}.profdata"))
        run([runtime_programs.PGOKIT, "merge", raw, "-b", program, "-o", texts[-1],
             "--full-schema"], folder)
    both = os.path.join(folder, "both.profdata")
    run([runtime_programs.PGOKIT, "merge", *texts, "-o", both, "--full-schema"], folder)

    def objects(path):
        shown = json.loads(run([runtime_programs.PGOKIT, "show", "--json", path], folder).stdout)
        found = {}
        for context in shown["contexts"]:
            name = context["stack"][0].get("function", context["stack"][0].get("guid"))
            site = found.setdefault(name, [0, 0, 0])
            for at, field in enumerate(("AllocCount", "TotalSize", "TotalAccessCount")):
                site[at] += context["mib"].get(field, 0)
        return len(shown["contexts"]), found

    contexts, one = objects(texts[0])
    others, other = objects(texts[1])
    sum_contexts, together = objects(both)
    sites = [name for name in one if name in other]
    require(len(sites) >= 11, f"{sorted(one)} {sorted(other)}")
    wrong = [f"{name}: {one[name]} and {other[name]} become {together[name]}" for name in sites
             if together[name] != [a + b for a, b in zip(one[name], other[name])]]
    require(not wrong, "\n".join(wrong))
    require(sum_contexts < contexts + others, f"{contexts} and {others} become {sum_contexts}")
    return [f"{contexts} and {others} contexts become {sum_contexts}"]


def signed_returns(folder, compiler):
    """Return addresses that code signs are recorded without their signature."""
    program = build(folder, "random_access.c", compiler, "archive",
                    flags=["-mbranch-protection=standard"])
    code = run(["aarch64-linux-gnu-objdump", "-d", program], folder).stdout
    require(re.search(r"\bpaciasp\b", code) and re.search(r"\bautiasp\b|\bretaa\b", code),
            "the program does not sign")
    out = run([program, "5", "2", "3000"], folder).stdout
    profile = raw_profile.Profile(one_file(folder))
    require_exact(program, out, profile)
    pcs = {pc for context in profile.contexts for pc in context}
    require(max(pcs) < 1 << 48, f"{max(pcs):x}")


def big_endian(folder):
    """Refused where the sources are set up, with a word about it."""
    cross_file = os.path.join(folder, "big.ini")
    with open(harness.TARGET.cross_file, encoding="utf-8") as file:
        text = file.read()
    with open(cross_file, "w", encoding="utf-8") as file:
        file.write(text.replace("endian = 'little'", "endian = 'big'"))
    result = run(["meson", "setup", os.path.join(folder, "build"), cross.TREE, "--cross-file",
                  cross_file], folder, status=None)
    require(result.returncode and "big-endian" in result.stdout + result.stderr,
            result.stdout[-1000:])


def cases_of(cases):
    e, p, o = heap_exact, heap_processes, opened_libraries
    for seed, (compiler, link, version) in enumerate([
            ("clang-14", "archive", 4), ("clang-22", "archive", 3), ("clang-22", "static", 5),
            ("clang-22", "shared", 5), ("gcc", "archive", 5), ("gcc", "static", 5),
            ("gcc", "shared", 5)]):
        cases.run(f"exact: {compiler}, {link}, raw version {version}", exact, compiler, link,
                  version, seed, 4)
    for bits, page in ((36, 4), (39, 4), (39, 16), (39, 64)):
        kernel = f"pages of {page} KiB, addresses of {bits} bits"
        cases.run(f"{kernel}: exact", on_kernel, bits, page << 10, exact, "clang-22", "archive", 5,
                  11, 4)
        cases.run(f"{kernel}: dumps", on_kernel, bits, page << 10, p.dumping, "dump", 2)
        cases.run(f"{kernel}: killed", on_kernel, bits, page << 10, p.dying, "clang-22", "archive")
        # The emulator of larger pages returns from signals on a page of 4 KiB, keeps what a process
        # asks to be wiped where it forks, and takes seconds to start threads that are killed.
        if page == 4:
            cases.run(f"{kernel}: stacks", on_kernel, bits, page << 10, e.stacks, "clang-22", 3, [])
            cases.run(f"{kernel}: fork", on_kernel, bits, page << 10, p.forking)
            cases.run(f"{kernel}: killed threads", on_kernel, bits, page << 10, p.killing)
    cases.run("many threads: tables without locks", races)
    cases.run("many threads: exact", exact, "clang-22", "archive", 5, 12, 16)
    for compiler in ("clang-22", "gcc"):
        cases.run(f"return addresses that are signed: {compiler}", signed_returns, compiler)
        cases.run(f"the same as on x86-64: {compiler}", same_as_x86_64, "random_access.c",
                  compiler, ["7", "1", "3000"])
        cases.run(f"library calls: {compiler}", e.library_calls, compiler, [])
    for compiler in (("clang-22", "-fmemory-profile"), ("gcc", "-fsanitize=thread")):
        cases.run(f"random programs count as on x86-64: {compiler[0]}", random_on_both, compiler)
    random_programs.add_cases(cases, RANDOM_PROGRAMS)
    cases.run("results of memory functions", e.memory_functions, "clang-22", "archive")
    for compiler, link in ("clang-22", "archive"), ("clang-22", "static"), ("gcc", "shared"):
        cases.run(f"leaks: {compiler}, {link}", heap_leaks.exact, compiler, link, False)
    cases.run("profiles of both processors merge", merged)
    cases.run("C++: new, delete, exceptions, a library opened late", e.cplusplus)
    cases.run("handlers, exceptions and formats that allocate", e.handlers)
    cases.run("histograms, raw version 5", e.histograms, 5)
    for seed, (compiler, flags) in enumerate([
            ("gcc", []), ("gcc", ["-fomit-frame-pointer"]),
            ("gcc", ["-mbranch-protection=standard"]),
            ("clang-22", []), ("clang-22", ["-fomit-frame-pointer"]), ("clang-14", ["-O1"])]):
        cases.run(f"stacks: {' '.join([compiler, *flags])}", e.stacks, compiler, seed, flags)
    cases.run("fork: each process counts its own", p.forking)
    cases.run("fork: twenty deep, each process counts its own", p.descending)
    cases.run("writing beyond small objects", p.overrunning)
    cases.run("dumps: an object alive at a dump counts once", p.dumping, "dump", 2)
    cases.run("reset: finished dumps are left out", p.dumping, "reset", 0)
    cases.run("reset: a renamed file keeps its dump alone", p.renaming)
    cases.run("no dump at exit", p.not_at_exit)
    cases.run("killed: accesses are in the file", p.dying, "clang-22", "archive")
    cases.run("dumps every second", p.triggered, "dump_every=1", 3, 0, 7)
    cases.run("signal handlers allocate anywhere", p.signalling)
    cases.run("killed threads leave a sound profile", p.killing)
    cases.run("killed at any moment", p.early_kills)
    for linkage in ("linked", runtime_programs.ARCHIVE), ("beside", runtime_programs.SHARED):
        cases.run(f"library of RTLD_DEEPBIND frees our object: {linkage[0]}", o.deepbind, linkage,
                  "deep")
        cases.run(f"library found by the RUNPATH of its caller: {linkage[0]}",
                  o.runpath_of_the_caller, linkage)
    cases.run("code that runs before all other", p.before_all, "archive")
    cases.run("big-endian is refused", big_endian)


if __name__ == "__main__":
    CASES = Cases()
    with tempfile.TemporaryDirectory(prefix="pgokit-aarch64-") as FOLDER:
        try:
            harness.TARGET = cross.Aarch64(FOLDER)
            BUILT = harness.TARGET.build(*TARGETS)
        except (Skip, Failure) as why:
            def give(_, reason=why):
                raise reason
            CASES.run("the heap profiler runtime for AArch64", give)
            CASES.finish()
        sys.argv[2:4] = [os.path.join(BUILT, target) for target in TARGETS[:2]]
        import json
        import random_programs
        import raw_profile
        import runtime_programs
        import heap_exact
        import heap_leaks
        import heap_processes
        import heap_races
        import opened_libraries
        from runtime_programs import FRAMES, build, check_sound, one_file, require_exact
        cases_of(CASES)
    CASES.finish()
