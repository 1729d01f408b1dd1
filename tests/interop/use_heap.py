#!/usr/bin/env python3
"""Hints of heap profiles at calls that allocate, by the plugin for clang: the functions that are
called, contexts in builds with other inlining, marks as those of LLVM's own pass, and profiles that
cannot be used.

USE_PLUGINS in the environment has RELEASE=PLUGIN for each plugin that was built,
PGOKIT_HEAP_LIBRARY the heap profiler that can be preloaded, if it was built.
"""

import collections
import os
import re
import sys

import hinted_contexts
from peers import PROGRAMS, Skip, Variant, good, main, read, require, run, tool, write
from use_types import PLUGINS, RELEASES, guid, outcomes, plugin, used

COLD, WARM = (16, 16000, 0), (16, 16000, 10_000_000) # objects, ms of life, density of accesses
PLACES = {} # read once


def place(source, function, call, inlined=False):
    """(name, line offset, column, inlined) of a call in a function of a program."""
    name = os.path.join(PROGRAMS, source)
    lines = PLACES.setdefault(name, read(name).decode().splitlines())
    first = next(i for i, line in enumerate(lines) if re.search(rf"\b{function}\(.*\)$", line))
    at = next(i for i in range(first + 1, len(lines)) if call in lines[i])
    return function, at - first, lines[at].index(call) + 1, inlined


def profile_of(work, contexts, mangle=lambda name: name):
    """An indexed profile of contexts: a stack of places, leaf first, and what its objects are."""
    records = collections.defaultdict(list)
    for frames, (objects, life, density) in contexts:
        rows = "".join(f"          - {{ Function: {guid(mangle(f)):#x}, LineOffset: {line}, "
                       f"Column: {column}, IsInlineFrame: {str(inlined).lower()} }}\n"
                       for f, line, column, inlined in frames)
        site = (f"      - Callstack:\n{rows}        MemInfoBlock:\n"
                f"          AllocCount: {objects}\n          TotalSize: {64 * objects}\n"
                f"          TotalLifetime: {life}\n"
                f"          TotalLifetimeAccessDensity: {density}\n")
        for function, _, _, inlined in frames:
            records[guid(mangle(function))].append(site)
            if not inlined:
                break
    text = "---\nHeapProfileRecords:\n" + "".join(
        f"  - GUID: {key:#x}\n    AllocSites:\n{''.join(sites)}" for key, sites in records.items())
    folder = work.temp("profile")
    path = os.path.join(folder, "heap.memprofdata")
    written = write(os.path.join(folder, "heap.yaml"), text.encode())
    good(work.pgokit, "merge", "-q", written, "-o", path)
    return path


def config(work, release, profile, *options):
    plugin(release)
    return good(work.pgokit, "config", "-q", *options, "use", "--cc", f"clang-{release}",
                "--profile", profile).split()


def recorder(work, release):
    path = os.path.join(work.temp("recorder"), "hints.so")
    good(tool("clang", release), "-O1", "-w", "-fPIC", "-shared",
         os.path.join(PROGRAMS, "hint_recorder.c"), "-o", path)
    return path


def build_hinted(work, release, source, profile, *flags, report=()):
    tool("ld.lld", release)
    folder = work.temp("hinted")
    cpp = source.endswith(".cpp") or "c++" in flags
    compiler = tool("clang++" if cpp else "clang", release)
    objects, exe = os.path.join(folder, "program.o"), os.path.join(folder, "program")
    good(compiler, *flags, *config(work, release, profile, "--cflags", *report), "-mllvm",
         "-pgokit-use-verify", "-c", os.path.join(PROGRAMS, source), "-o", objects)
    good(compiler, *[flag for flag in flags if flag.startswith(("-O", "-flto"))], objects,
         *config(work, release, profile, "--ldflags", *report), "-o", exe)
    return exe


def hinted(work, release, source, profile, *flags, report=()):
    """Counts by function and hint, with an allocator that knows hints; without, nothing changes."""
    exe = build_hinted(work, release, source, profile, *flags, report=report)
    plain = run(exe)
    result = run(exe, env={"LD_PRELOAD": recorder(work, release)})
    require(plain.code == result.code == 0 and plain.text == result.text and not plain.err,
            f"{plain}\n{result}")
    return {(name, int(hint)): int(n) for name, hint, n in
            (line.split() for line in result.errors.splitlines())}


# ---- functions ----

def functions_of_c(work, release, level):
    source = "use_each.c"
    calls = {"cold_malloc": "malloc", "cold_calloc": "calloc", "cold_realloc": "realloc",
             "cold_aligned": "aligned_alloc", "cold_strdup": "strdup", "warm_malloc": "malloc"}
    contexts = [([place(source, f, call + "("), place(source, "main", f + "(")],
                 WARM if f.startswith("warm") else COLD) for f, call in calls.items()]
    found = hinted(work, release, source, profile_of(work, contexts), level)
    require(found == {(f"pgokit_{call}_hint", 1): 8 for f, call in calls.items()
                      if f.startswith("cold")}, f"{found}")


NEW = {"one": "_Znwm", "many": "_Znam", "one_or_none": "_ZnwmRKSt9nothrow_t",
       "many_or_none": "_ZnamRKSt9nothrow_t", "wide": "_ZnwmSt11align_val_t"}
MANGLED = {"one": "_Z3onei", "many": "_Z4manyi", "one_or_none": "_Z11one_or_nonev",
           "many_or_none": "_Z12many_or_nonei", "wide": "_Z4widev", "by_name": "_Z7by_namei",
           "main": "main"}


def functions_of_cpp(work, release, level):
    source = "use_each.cpp"
    contexts = [([place(source, f, "::operator" if f == "by_name" else "new "),
                  place(source, "main", f + "(")], COLD) for f in [*NEW, "by_name"]]
    contexts.append(([place(source, "main", "printf")], WARM))
    profile = profile_of(work, contexts, MANGLED.__getitem__)
    found = hinted(work, release, source, profile, level, "-std=c++17")
    require(found == {(f"{name}12__hot_cold_t", 1): 9 if f == "one" else 8
                      for f, name in NEW.items()}, f"{found}")


# ---- contexts ----

def grid_profile(work, language, inlined):
    names = {"A": "_Z1Ai", "B": "_ZL1Bi", "C": "_Z1Ci", "main": "main"}
    contexts = [([place("use_grid.c", "B", "NEW", f == inlined), place("use_grid.c", f, "B("),
                  place("use_grid.c", "main", f + "(")], COLD if f == "C" else WARM)
                for f in "AC"]
    return profile_of(work, contexts, names.__getitem__ if language == "c++" else lambda n: n)


def grid(work, release, language):
    """Where B was inlined in the build that was profiled, and where it is in the new one."""
    hint = "_Znam12__hot_cold_t" if language == "c++" else "pgokit_malloc_hint"
    for profiled in ("none", "A", "C"):
        profile = grid_profile(work, language, profiled)
        for built in ("none", "A", "C"):
            records = work.temp("records")
            found = hinted(work, release, "use_grid.c", profile, "-O2", "-fno-inline", "-flto=thin",
                           "-x", language, *([f"-DIN_{built}"] if built != "none" else []),
                           report=("--report", records))
            require(found == {(hint, 1): 16}, f"profiled {profiled}, built {built}: {found}")
            told = used(work, records, profile)
            require(outcomes(told, "bytes") == {"hinted": 1024, "accessed": 1024} and
                    told["used_percent"] == 100, f"profiled {profiled}, built {built}: {told}")


CALLERS = {"keep": "make", "store": "keep", "deep": "store", "deeper": "deep", "cold_1": "store",
           "cold_2": "store", "cold_3": "deep", "cold_4": "deeper", "warm_1": "store",
           "warm_2": "store", "warm_3": "deep", "warm_4": "deeper", "warm_5": "keep"}


def without_line(source, function):
    """The place of a call that optimisation left without a line."""
    name = os.path.join(PROGRAMS, source)
    lines = read(name).decode().splitlines()
    first = next(i for i, line in enumerate(lines) if re.search(rf"\b{function}\(.*\)$", line))
    return function, 0xffff - first, 0, False


def callers_profile(work, language):
    source, contexts = "use_callers.c", []
    for name in CALLERS:
        stack, at = [], name
        while at in CALLERS:
            stack.insert(0, place(source, at, CALLERS[at] + "("))
            at = CALLERS[at]
        if name.startswith(("cold", "warm")):
            contexts.append(([place(source, "make", "NEW"), *stack, place(source, "main", "all[i")],
                             WARM if name.startswith("warm") else COLD))
    # Calls without a line, which are not those that have one.
    [deep] = [stack for stack, _ in contexts if stack[-2][0] == "cold_3"]
    for i, (name, *_) in enumerate(deep[1:-2], 1):
        contexts.append(([*deep[:i], without_line(source, name), ("gone", 1, 1, False)], COLD))
    return profile_of(work, contexts, lambda name: name if name == "main" or language == "c"
                      else f"_Z{len(name)}{name}i")


def by_context(work, release, language):
    """Each hint is what the profile says of the context of the object that came with it."""
    runtime = os.environ.get("PGOKIT_HEAP_LIBRARY")
    if not runtime:
        raise Skip("no heap profiler in this build")
    profile, kept = callers_profile(work, language), work.temp("recorded")
    exe = build_hinted(work, release, "use_callers.c", profile, "-O2", "-fno-inline", "-g",
                       "-flto=thin", "-x", language)
    library = hinted_contexts.make_library(tool("clang", release), work.temp("library"))
    good(exe, env=hinted_contexts.environment(library, runtime, kept))
    [recorded] = os.listdir(kept)
    tree = hinted_contexts.profile_tree(work.pgokit, profile, exe, hinted_contexts.Limits())
    found = hinted_contexts.compare(work.pgokit, tree, os.path.join(kept, recorded),
                                    [exe, library])
    told = "\n".join(f"{key}: {hinted_contexts.words(stack)}"
                     for key, stacks in found.examples.items() for stack in stacks)
    require(found.contexts == {("cold", "right"): 4, ("cold", "alike"): 1} and
            found.objects == {("cold", "right"): 64, ("cold", "alike"): 16},
            f"{found.contexts}\n{told}")
    require(found.bytes["cold", "cold"] and not found.bytes["cold", None], f"{found.bytes}")


def all_contexts(work):
    """Also those that LLVM takes for granted, unless the user wants it so: a link may give objects
    that are not cold the copies of functions for cold ones otherwise."""
    profile, counts = callers_profile(work, "c++"), []
    for options in ([], ["-mllvm", "-memprof-keep-all-not-cold-contexts=false"]):
        text = good(tool("clang", 22), "-O2", "-fno-inline", "-g", "-flto=thin", "-S", "-x", "c++",
                    *config(work, 22, profile, "--cflags"), *options,
                    os.path.join(PROGRAMS, "use_callers.c"), "-o", "-")
        counts.append(len(re.findall(r'!"notcold"', text)))
    require(counts[1] < counts[0] == sum(name.startswith("warm") for name in CALLERS), f"{counts}")


# ---- as LLVM ----

def expanded(nodes, text):
    """Metadata with what it refers to in place."""
    return re.sub(r"!(\d+)", lambda m: expanded(nodes, nodes[m[1]]), text)


def marks(text):
    """Of each call that allocates: its function, what it calls, the attribute and the contexts."""
    nodes = dict(re.findall(r"^!(\d+) = (?:distinct )?(!\{.*\})$", text, re.M))
    groups = {number: value for number, value in
              re.findall(r'^attributes #(\d+) = \{.*"memprof"="(\w+)"', text, re.M)}
    found = collections.Counter()
    for body in re.findall(r"^define .*?^\}", text, re.M | re.S):
        name = re.search(r"@(\S+?)\(", body)[1]
        for call in re.findall(r"(?:call|invoke) .*@_Zn[wa]m.*(?:\n +to label.*)?", body):
            number = re.search(r"#(\d+)", call)
            contexts = re.search(r"!memprof !(\d+)", call)
            found[name, groups.get(number[1]) if number else None,
                  expanded(nodes, nodes[contexts[1]]) if contexts else None] += 1
    return found


def as_llvm(work, source):
    """On the same module, with the thresholds of both set alike."""
    program = work.build(source, Variant(22, "-O1"))
    folder = work.temp("as-llvm")
    profile, module = os.path.join(folder, "heap.memprofdata"), os.path.join(folder, "module.bc")
    good(work.pgokit, "merge", "-q", program.raw, "-b", program.exe, "-o", profile)
    good(tool("clang++", 22), "-O2", "-g", "-fdebug-info-for-profiling", "-flto=thin", "-c",
         os.path.join(PROGRAMS, source), "-o", module)
    opt = [tool("opt", 22), module, "-S", "-o", "-"]
    llvm = marks(good(*opt, f"-passes=memprof-use<profile-filename={profile}>",
                      "-memprof-ave-lifetime-cold-threshold=0",
                      "-memprof-lifetime-access-density-cold-threshold=100"))
    ours = [*opt, "-load=" + plugin(22), "-load-pass-plugin=" + plugin(22),
            "-passes=pgokit-use-heap,verify", "-pgokit-use=" + profile,
            "-pgokit-use-cold-lifetime=0", "-pgokit-use-cold-density=100"]
    marked = sum(n for (_, attribute, _), n in llvm.items() if attribute)
    require(marked, "LLVM marks nothing: the test shows nothing")
    found = marks(good(*ours, "-pgokit-use-as-llvm"))
    require(found == llvm, f"ours {found - llvm}, LLVM's {llvm - found}")
    beyond = sum(n for (_, attribute, _), n in marks(good(*ours)).items() if attribute)
    require(beyond >= marked, f"{beyond} calls are marked, by LLVM {marked}")
    return f"{marked} calls marked, and {beyond} where places count"


# ---- reading a part ----

def as_whole(work, profile):
    """The same profile in a version of which no part can be read."""
    path = os.path.join(work.temp("whole"), "heap.memprofdata")
    good(work.pgokit, "convert", "-q", profile, "--memprof-version", "2", "-o", path)
    return path


def part_as_whole(work, release):
    """A module is the same whether what concerns it is read of a profile, or all."""
    for language in ("c", "c++"):
        for profiled in ("none", "A", "C"):
            profile = grid_profile(work, language, profiled)
            for built in ("none", "A", "C"):
                modules = [good(tool("clang", release), "-O2", "-fno-inline", "-flto=thin", "-S",
                                "-x", language, *([f"-DIN_{built}"] if built != "none" else []),
                                *config(work, release, one, "--cflags"),
                                os.path.join(PROGRAMS, "use_grid.c"), "-o", "-")
                           for one in (profile, as_whole(work, profile))]
                require("memprof" in modules[0] and modules[0] == modules[1],
                        f"{language}, profiled {profiled}, built {built}")


def part_of_program(work, source):
    program = work.build(source, Variant(22, "-O1"))
    folder = work.temp("part")
    profile = os.path.join(folder, "heap.memprofdata")
    good(work.pgokit, "merge", "-q", program.raw, "-b", program.exe, "-o", profile)
    modules = [good(tool("clang++", 22), "-O2", "-g", "-flto=thin", "-S",
                    *config(work, 22, one, "--cflags"), os.path.join(PROGRAMS, source), "-o", "-")
               for one in (profile, as_whole(work, profile))]
    require(re.search(r'!callsite|"memprof"=', modules[0]) and modules[0] == modules[1], source)


# ---- profiles that cannot be used ----

def one_warning(work, release, profile, text):
    folder = work.temp("warning")
    module = os.path.join(folder, "module.o")
    flags = [flag for flag in config(work, release, grid_profile(work, "c", "none"), "--cflags")
             if not flag.startswith("-pgokit-use=")]
    flags.remove("-mllvm")
    command = [tool("clang", release), "-O2", *flags, "-c", os.path.join(PROGRAMS, "use_each.c"),
               "-o", module]
    result = run(*command, "-mllvm", "-pgokit-use=" + profile)
    require(result.code == 0 and len(re.findall("warning:", result.errors)) == 1 and
            text in result.errors, str(result))
    with_plugin = read(module)
    good(*command)
    require(with_plugin == read(module), "the module is another one")


def unfit(work, release):
    profile = grid_profile(work, "c", "none")
    folder = work.temp("unfit")
    data = read(profile)
    cut = write(os.path.join(folder, "cut"), data[:len(data) // 2])
    one_warning(work, release, cut, cut)
    other = profile_of(work, [([("other", 3, 4, False), ("main", 99, 9, False)], COLD)])
    one_warning(work, release, other, "no function of this program")
    raw = work.build("counted.cpp", Variant(22)).raw
    one_warning(work, release, raw, "pgokit merge -b PROGRAM")


def repeated(work, release):
    """Build systems repeat flags; the functions of the module are made once."""
    profile, objects = grid_profile(work, "c", "none"), []
    path = os.path.join(work.temp("repeated"), "module.o")
    flags = config(work, release, profile, "--cflags")
    for times in (1, 3):
        good(tool("clang", release), "-O2", *flags * times, "-DIN_C", "-c",
             os.path.join(PROGRAMS, "use_grid.c"), "-o", path)
        objects.append(read(path))
    require(b"pgokit_malloc_hint" in objects[0] and objects[0] == objects[1], "modules differ")


def remarks(work, release):
    for flags, pattern in (
            (["-Rpass=pgokit", "-DIN_C"], r"allocates cold objects: 1 context, 1024 bytes"),
            (["-Rpass-missed=pgokit", "-fno-inline"],
             r"1024 of 2048 bytes are cold, and the others are told apart only by")):
        result = run(tool("clang", release), "-O2", *flags,
                     *config(work, release, grid_profile(work, "c", "none"), "--cflags"),
                     "-c", os.path.join(PROGRAMS, "use_grid.c"), "-o", os.devnull)
        require(result.code == 0 and re.search(pattern, result.errors), str(result))


def report(work, release):
    """Why bytes have no hint, in agreement with the remarks."""
    source, records = "use_each.c", work.temp("records")
    contexts = [([place(source, "cold_malloc", "malloc("), place(source, "main", "cold_malloc(")],
                 COLD), ([("cold_calloc", 77, 1, False)], COLD), ([("gone", 1, 1, False)], COLD),
                ([place(source, "cold_strdup", "strdup(")], (16, 16, 0)),
                ([place(source, "warm_malloc", "malloc(")], WARM)]
    profile = profile_of(work, contexts)
    result = run(tool("clang", release), "-O2", "-fno-inline", "-Rpass=pgokit",
                 "-Rpass-missed=pgokit",
                 *config(work, release, profile, "--cflags", "--report", records), "-c",
                 os.path.join(PROGRAMS, source), "-o", os.devnull)
    told = used(work, records, profile)
    require(outcomes(told, "bytes") == {"hinted": 1024, "no such call": 1024, "no function": 1024,
                                        "short-lived": 1024, "accessed": 1024}, f"{told}")
    require(told["calls"]["given"] == len(re.findall("remark:", result.errors)) == 1,
            f"{result} {told}")
    limit = run(work.pgokit, "match", "-q", profile, "--used", records, "--min-match", "50%")
    require(limit.code == 3 and "33.3 % of the profile are used" in limit.errors, str(limit))


def report_of_callers(work, release):
    """Callers that differ, without a link that tells them apart."""
    records, profile = work.temp("records"), grid_profile(work, "c", "none")
    result = run(tool("clang", release), "-O2", "-fno-inline", "-Rpass-missed=pgokit",
                 *config(work, release, profile, "--cflags", "--report", records), "-c",
                 os.path.join(PROGRAMS, "use_grid.c"), "-o", os.devnull)
    told = used(work, records, profile)
    require(outcomes(told, "bytes") == {"callers differ": 1024, "accessed": 1024}, f"{told}")
    require(told["calls"]["missed"] == len(re.findall("remark:", result.errors)) == 1,
            f"{result} {told}")


def add_cases(work, tap):
    for release in RELEASES:
        for level in ("-O0", "-O2"):
            tap.add(f"clang {release}: functions of C, {level}", functions_of_c, work, release,
                    level)
            tap.add(f"clang {release}: operators of C++, {level}", functions_of_cpp, work, release,
                    level)
        for language in ("c", "c++"):
            tap.add(f"clang {release}: contexts wherever they are inlined, {language}", grid, work,
                    release, language)
            tap.add(f"clang {release}: hints by context, {language}", by_context, work, release,
                    language)
        for case in (unfit, repeated, remarks, report, report_of_callers, part_as_whole):
            tap.add(f"clang {release}: {case.__name__}", case, work, release)
    if "22" in PLUGINS:
        tap.add("all contexts are kept", all_contexts, work)
        for source in ("classes.cpp", "lifetimes.cpp", "threads.cpp", "virtuals.cpp"):
            tap.add(f"marks as LLVM's, {source}", as_llvm, work, source)
            tap.add(f"a part as the whole, {source}", part_of_program, work, source)


if __name__ == "__main__":
    sys.exit(main(add_cases))
