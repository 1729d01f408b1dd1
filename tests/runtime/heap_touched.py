#!/usr/bin/env python3
"""How much of objects is ever touched: what profiles tell of a program that knows it, what views
and other forms make of it, and where it is not known.

usage: heap_touched.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS [RELEASE=PLUGIN]..."""

import json
import os
import re
import signal
import sys

import raw_profile
from harness import Cases, Skip, require, run, tool
from runtime_programs import ARCHIVE, FRAMES, HERE, PGOKIT, SHARED, build, check_sound

PLUGINS = dict(argument.split("=", 1) for argument in sys.argv[5:])
LARGE, USED, HEADER = 1 << 20, 90000, 16
FIELDS = ("TouchedSize", "UntouchedSize", "MinTouched", "MaxTouched")


def of_large(objects, block=64):
    """An object begins 16 bytes into a block of 64."""
    into = HEADER % block
    touched = -(-(into + USED) // block) * block - into
    share = touched * 100 // LARGE
    return [objects * touched, objects * (LARGE - touched), share, share]


SMALL = [50 * 24, 50 * 24, 0, 100]


def profiled(program, how, status=0, env=None):
    folder = os.path.dirname(program)
    for path in raw_profile.files(folder):
        os.remove(path)
    run([program, how], folder, env, status=status)
    paths = raw_profile.files(folder)
    check_sound(*paths)
    return paths


def shown(*arguments):
    """By function of the allocation: the four fields of all contexts that know them; else None."""
    told = json.loads(run([PGOKIT, "show", "-q", "--json", *arguments], "/").stdout)
    found = {}
    for context in told["contexts"]:
        name = next((frame["function"] for frame in context["stack"] if "function" in frame), "?")
        values = [context["mib"][field] for field in FIELDS if field in context["mib"]]
        old = found.get(name)
        found[name] = raw_profile.add_up(old, values) if old and values else old or values or None
    return found


def exact(folder, compiler, linkage):
    program = build(folder, "sparse.c", compiler, linkage)
    for how, status in ("exit", 0), ("dump", 0), ("kill", -signal.SIGKILL):
        path, = profiled(program, how, status)
        truth = {"large": of_large(2 if how == "kill" else 3), "small": SMALL}
        found = raw_profile.Profile(path).touched_by_function(program)
        require({name: found.get(name) for name in truth} == truth, f"{how}: {found}, not {truth}")
        found = shown(path, "-b", program)
        require({name: found.get(name) for name in truth} == truth, f"{how}: shown as {found}")


def words(folder):
    """With histograms a block has 8 bytes."""
    program = build(folder, "sparse.c", "clang-22", "archive", flags=["-mllvm",
                                                                     "-memprof-histogram"])
    path, = profiled(program, "exit")
    found = raw_profile.Profile(path).touched_by_function(program)
    require(found["large"] == of_large(3, 8), f"{found}")
    require(found["small"] == [50 * 8, 100 * 24 - 50 * 8, 0, 33], f"{found}")


def merged(folder):
    """Of two processes, through partial profiles and others; LLVM's files lose it and say so."""
    program = build(folder, "sparse.c", "clang-22", "archive")
    paths = profiled(program, "fork")
    truth = {"large": of_large(3), "small": SMALL}
    require(len(paths) == 2, f"{paths}")
    twice = {"large": of_large(6), "small": [2 * SMALL[0], 2 * SMALL[1], *SMALL[2:]]}
    one, partial, source, indexed = (os.path.join(folder, name)
                                     for name in ("1.pgk", "a.pgk", "a.pgks", "a.pgd"))
    run([PGOKIT, "merge", "-q", "--partial", *paths, "-b", program, "-o", one], folder)
    require(shown(one, "-b", program) == truth, f"partial: {shown(one, '-b', program)}")
    run([PGOKIT, "merge", "-q", "--partial", one, paths[0], paths[1], "-o", partial], folder)
    require(shown(partial, "-b", program) == twice, f"twice: {shown(partial, '-b', program)}")
    run([PGOKIT, "convert", "-q", "--to", "partial", partial, "-b", program, "-o", source], folder)
    require(shown(source) == twice, f"converted: {shown(source)}")
    done = run([PGOKIT, "convert", "--to", "llvm22", source, "-o", indexed], folder, status=1)
    require("TouchedSize, UntouchedSize, MinTouched, MaxTouched" in done.stderr, done.stderr)
    require(not any(shown(indexed).values()), f"{shown(indexed)}")


def advised(folder):
    program = build(folder, "sparse.c", "clang-22", "archive")
    path, = profiled(program, "exit")
    text = run([PGOKIT, "show", "-q", path, "-b", program], "/").stdout
    touched, untouched, share, _ = of_large(3)
    percent = 100 * (touched + SMALL[0]) / (3 * LARGE + 100 * 24)
    require(re.search(rf"\n  ever touched     \S+ KiB of 3.00 MiB \({percent:.1f} %\)", text), text)
    require(f"ever touched {100 * touched / (3 * LARGE):.1f} %\n" in text, text)
    require("ever touched 50.0 %, of single objects 0 to 100 %\n" in text, text)
    require(f"Of all 3.00 MiB there, {share + 0.6:.1f} % is ever touched at most" in text, text)
    told = json.loads(run([PGOKIT, "show", "-q", "--json", path, "-b", program], "/").stdout)
    bytes_ = {advice["rule"]: advice["bytes"] for advice in told["advice"]}
    require(bytes_["too-large"] == untouched + SMALL[1], f"{bytes_}")
    page = os.path.join(folder, "page.html")
    run([PGOKIT, "report", "-q", path, "-b", program, "-o", page], folder)
    require(os.path.getsize(page) > 10000, "a page")


def by_plugin(folder, release):
    """Walks over all of an object hide what was touched if they are counted as one; then nothing is
    told. What is near is told."""
    if release not in PLUGINS:
        raise Skip(f"missing llvm-{release}-dev: no plugin for clang {release} has been built")
    for level in "0", "1", "2":
        program = os.path.join(folder, "program")
        run([tool(f"clang-{release}"), *FRAMES, "-Xclang", "-load", "-Xclang", PLUGINS[release],
             "-fpass-plugin=" + PLUGINS[release], "-mllvm", "-pgokit-heap-coalesce=" + level,
             os.path.join(HERE, "programs", "sparse.c"), "-o", program, "-no-pie", "-pthread",
             "-Wl,--build-id", ARCHIVE], folder)
        path, = profiled(program, "exit")
        truth = {"large": of_large(3), "small": SMALL}
        if level == "2":
            truth = dict.fromkeys(truth)
        require(shown(path, "-b", program) == truth, f"{level}: {shown(path, '-b', program)}")


def by_library_calls(folder):
    """An unmodified program: nothing is said of what it touches, because that is not counted."""
    program = os.path.join(folder, "program")
    run([tool("gcc"), *FRAMES, os.path.join(HERE, "programs", "sparse.c"), "-o", program], folder)
    path, = profiled(program, "exit", env={"LD_PRELOAD": SHARED})
    text = run([PGOKIT, "show", "-q", path, "-b", program], "/").stdout
    require("objects" in text and "ever touched" not in text, text)


def main():
    cases = Cases()
    for compiler, linkage in ("clang-22", "archive"), ("clang-14", "shared"), ("gcc", "static"):
        cases.run(f"exact: {compiler}, {linkage}", exact, compiler, linkage)
    cases.run("words with histograms", words)
    cases.run("merged and converted", merged)
    cases.run("shown and advised", advised)
    for release in "14", "22":
        cases.run(f"plugin for clang {release}", by_plugin, release)
    cases.run("not told where library functions count alone", by_library_calls)
    cases.finish()


main()
