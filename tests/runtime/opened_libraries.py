#!/usr/bin/env python3
"""Programs that open libraries, with the heap profiler or the allocator in place of malloc.

usage: opened_libraries.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS ALLOCATOR-ARCHIVE ALLOCATOR

Prints TAP."""

import json
import os
import shutil
import sys

import runtime_programs
from harness import PROGRAMS, Cases, Skip, require, run, tool

SAID = "without RTLD_DEEPBIND"


def compiled(folder, source, out, *flags):
    run([tool("gcc"), "-O2", "-w", os.path.join(PROGRAMS, source), "-o", out, *flags], folder)
    return os.path.join(folder, out)


def library(folder, out, *flags):
    return compiled(folder, "opened_library.c", out, "-shared", "-fPIC",
                    "-fno-optimize-sibling-calls", *flags)


def opened(folder, linkage, *arguments, more=None):
    """What a program says that has the guest in it, or beside it, or preloaded."""
    where, guest = linkage
    linked = {"linked": [guest, "-pthread"], "preloaded": [],
              "beside": [guest, f"-Wl,-rpath,{os.path.dirname(guest)}"]}[where]
    program = compiled(folder, "opened.c", "opened", *linked)
    env = {"LD_PRELOAD": guest} if where == "preloaded" else {}
    return run([program, *arguments], folder, {**env, **(more or {})})


def said_once(result, times):
    require(result.stderr.count(SAID) == times, f"said {result.stderr!r}")


def deepbind(folder, linkage, how, *flags):
    """The library frees what the program made, and the other way round."""
    made = library(folder, "opened.so", *flags)
    result = opened(folder, linkage, how, made)
    require(result.stdout == "2000\n", result.stdout)
    said_once(result, 1)


def own_malloc(folder, linkage):
    made = library(folder, "opened.so", "-DOWN", "-Wl,-Bsymbolic", "-fno-builtin")
    result = opened(folder, linkage, "deep", made)
    require(result.stdout == "2000\n", result.stdout)


def own_namespace(folder, linkage):
    """All of it has the C library of the namespace, which is left as it is."""
    result = opened(folder, linkage, "apart", library(folder, "opened.so"))
    require(result.stdout == "1000\n", result.stdout)
    said_once(result, 0)


def runpath_of_the_caller(folder, linkage):
    """The C library looks for the inner library where the outer one says, by its return address."""
    os.mkdir(os.path.join(folder, "inner"))
    library(folder, "inner/libinner.so")
    outer = library(folder, "outer.so", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/inner")
    result = opened(folder, linkage, "inner", outer, "libinner.so")
    require(result.stdout == "2000\n", result.stdout)
    said_once(result, 1)


def named_by_paths(folder, linkage):
    """A library that is opened while the program runs, by a path that is not absolute: the profile
    says where it is, so that its functions have names without an option."""
    library(folder, "opened.so")
    opened(folder, linkage, "deep", "./opened.so", more={"PGOKIT_HEAP": "out=p.profraw"})
    shown = json.loads(run([runtime_programs.PGOKIT, "show", "--json", "p.profraw"],
                           folder).stdout)
    named = {frame.get("function") for context in shown["contexts"] for frame in context["stack"]}
    require("take" in named, f"{named}")


def php(folder, linkage):
    if not shutil.which("php"):
        raise Skip("missing php")
    with open(os.path.join(folder, "script.php"), "w", encoding="utf-8") as script:
        script.write("<?php echo array_sum(range(1, 100)), \"\\n\";\n")
    result = run(["php", "script.php"], folder, {"LD_PRELOAD": linkage[1]})
    require(result.stdout == "5050\n", result.stdout)


def main():
    cases = Cases()
    archive, shared = map(os.path.abspath, sys.argv[5:7])
    for name, linkage in {
            "heap profiler preloaded": ("preloaded", runtime_programs.SHARED),
            "heap profiler linked": ("linked", runtime_programs.ARCHIVE),
            "heap profiler linked as a library": ("beside", runtime_programs.SHARED),
            "allocator preloaded": ("preloaded", shared),
            "allocator linked": ("linked", archive)}.items():
        cases.run(f"library of RTLD_DEEPBIND frees our object: {name}", deepbind, linkage, "deep")
        if linkage[0] != "linked":  # which has dlopen only
            cases.run(f"the same by dlmopen: {name}", deepbind, linkage, "base")
        if linkage[0] == "preloaded":
            cases.run(f"php with its modules: {name}", php, linkage)
        cases.run(f"library of RTLD_DEEPBIND with free@GLIBC_2.2.5: {name}", deepbind, linkage,
                  "deep", "-DOLD")
        cases.run(f"library with malloc of its own, -Bsymbolic: {name}", own_malloc, linkage)
        if name.startswith("heap"):
            cases.run(f"an opened library is named without an option: {name}", named_by_paths,
                      linkage)
        cases.run(f"library in a namespace of its own: {name}", own_namespace, linkage)
        cases.run(f"library found by the RUNPATH of its caller: {name}", runpath_of_the_caller,
                  linkage)
    cases.finish()


if __name__ == "__main__":
    main()
