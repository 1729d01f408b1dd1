#!/usr/bin/env python3
"""Objects that no pointer leads to at the end: what the leak check says of a program that knows it,
and what views and other forms make of that.

usage: heap_leaks.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS"""

import functools
import json
import os
import signal
import subprocess
import tempfile

import raw_profile
from harness import Cases, Failure, Skip, require, run, tool
from runtime_programs import FRAMES, HERE, PGOKIT, SHARED, build, check_sound

# Bytes of the objects that a function has lost; of all others none is.
LOST = {"lost_alone": [100], "lost_ring": [48, 48], "lost_chain": [48, 144],
        "lost_large": [8 << 20], "lost_hidden": [60]}
KEPT = {"kept_list", "kept_inside", "kept_of_none", "kept_aligned", "kept_by_huge", "kept_grown",
        "kept_locked", "kept_of_thread", "kept_of_library", "kept_waiting", "kept_argument",
        "kept_by_caller", "kept_mapped"}
TRIES = 3
SIZE, COUNT = FIELDS = ("UnreachableSize", "UnreachableCount")
CHECK = {"PGOKIT_HEAP_OPTIONS": "leak_check=1"}


def made(folder, compiler, linkage):
    if linkage in ("archive", "shared", "static"):
        program = build(folder, "leaks.c", compiler, linkage)
    else:
        program = os.path.join(folder, "program")
        run([tool(compiler), *FRAMES, os.path.join(HERE, "programs", "leaks.c"), "-o", program,
             "-pthread"], folder)
    if linkage != "static":
        run([tool(compiler), *FRAMES, "-shared", "-fPIC",
             os.path.join(HERE, "programs", "leaks_library.c"), "-o",
             os.path.join(folder, "kept.so")], folder)
    return program


def shown(*arguments):
    return json.loads(run([PGOKIT, "show", "-q", "--json", *arguments], "/").stdout)


def by_function(found):
    """Of all functions with objects: objects and bytes that are unreachable, and all objects."""
    sums = {}
    for context in found["contexts"]:
        name = next((frame["function"] for frame in context["stack"]
                     if frame.get("function", "").startswith(("lost_", "kept_"))), None)
        mib = context["mib"]
        require(SIZE in mib, f"{name}: nothing is known of {context}")
        here = mib[COUNT], mib[SIZE], mib["AllocCount"]
        sums[name] = [a + b for a, b in zip(sums.get(name, [0] * 3), here)]
    return sums


class Reached(Failure):
    """Some of what is lost is not said to be."""


def with_luck(case):
    """A word that was left somewhere may look like a pointer to what is lost, by where objects come
    to lie in a run. Then there is another run; nothing else may be wrong in any."""
    @functools.wraps(case)
    def tried(folder, *arguments):
        for _ in range(TRIES - 1):
            try:
                return case(tempfile.mkdtemp(dir=folder), *arguments)
            except Reached:
                pass
        return case(folder, *arguments)
    return tried


def require_lost(found, kept):
    sums = by_function(found)
    for name, (objects, size, _) in sums.items():
        require(name in LOST or not objects, f"{name}: {objects} objects with {size} B are said to "
                "be unreachable")
    require(kept <= sums.keys(), f"nothing of {kept - sums.keys()}")
    for name, sizes in LOST.items():
        objects, size, made_objects = sums.get(name, [0] * 3)
        require(made_objects == len(sizes) and objects <= len(sizes) and size <= sum(sizes),
                f"{name}: {sums.get(name)}")
        if objects < len(sizes):
            raise Reached(f"{name}: {sums[name]}")
    totals = found["totals"]
    require([totals[SIZE], totals[COUNT]] == [sum(map(sum, LOST.values())),
                                              sum(map(len, LOST.values()))], f"{totals}")


def profiles(folder, program, how):
    run([program, how], folder, CHECK)
    paths = raw_profile.files(folder)
    check_sound(*paths)
    return paths


@with_luck
def exact(folder, compiler, linkage, kernel=True):
    """An emulator's /proc does not show a program's pages, so its mappings are no roots there."""
    program = made(folder, compiler, linkage)
    path, = profiles(folder, program, "exit" if kernel else "exit-unmapped")
    require_lost(shown(path, "-b", program), KEPT
                 - ({"kept_of_library"} if linkage == "static" else set())
                 - (set() if kernel else {"kept_mapped"}))


@with_luck
def preloaded(folder):
    program = made(folder, "gcc", "plain")
    run([PGOKIT, "record", "heap", "-q", "--leak-check", "-o", "own.profraw", "--", program,
         "exit"], folder)
    path, = raw_profile.files(folder)
    require_lost(shown(path, "-b", program), KEPT)
    said = run([PGOKIT, "show", "-q", path, "-b", program, "--sort", "unreachable", "--top", "1"],
               folder).stdout
    for text in ("  unreachable      8.00 MiB in 7 objects, at exit", "lost_large",
                 "unreachable 8.00 MiB in 1 object", "Free the objects after their last use"):
        require(text in said, f"'{text}' is not in:\n{said}")


@with_luck
def of_child(folder):
    """It inherits what its parent has lost, and kept."""
    program = made(folder, "gcc", "plain")
    run([program, "fork"], folder, dict(CHECK, LD_PRELOAD=SHARED))
    paths = raw_profile.files(folder)
    require(len(paths) == 2, f"{paths}")
    for path in paths:
        found = shown(path, "-b", program)
        parent = any("kept_list" in json.dumps(context["stack"]) for context in found["contexts"])
        require_lost(found, KEPT if parent else {"kept_of_thread", "kept_by_caller"})


def other_forms(folder):
    """Processes add up, own forms keep it, those of LLVM lose it and say so."""
    program = made(folder, "gcc", "archive")
    paths = profiles(folder, program, "fork")
    each = [shown(path, "-b", program)["totals"] for path in paths]
    both = [sum(totals[field] for totals in each) for field in FIELDS]
    require(len(each) == 2 and all(totals[COUNT] for totals in each), f"{each}")
    partial, source, indexed = (os.path.join(folder, name)
                                for name in ("both.pgk", "names.pgk", "both.profdata"))
    run([PGOKIT, "merge", "-q", "--partial", *paths, "-b", program, "-o", partial], folder)
    run([PGOKIT, "convert", "-q", "--to", "partial", partial, "-b", program, "-o", source], folder)
    for form in partial, source:
        totals = shown(form)["totals"]
        require([totals.get(field) for field in FIELDS] == both, f"{form}: {totals}")
    done = run([PGOKIT, "convert", "--to", "llvm22", source, "-o", indexed], folder, status=1)
    require("UnreachableSize, UnreachableCount" in done.stderr, done.stderr)
    require(SIZE not in shown(indexed)["totals"], f"{shown(indexed)['totals']}")


def waiting(folder, compiler, linkage):
    """What returned functions left on the stack of a thread that waits in a system call."""
    program = made(folder, compiler, linkage)
    if subprocess.run([program, "waiting"], cwd=folder, env={**os.environ, **CHECK},
                      check=False).returncode == 77:
        raise Skip("the system does not tell which system call a thread waits in")
    path, = raw_profile.files(folder)
    sums = by_function(shown(path, "-b", program))
    require(sums.get("lost_below") == [1, 66, 1], f"{sums}")
    require(sums.get("kept_above") == [0, 0, 2], f"{sums}")


def unknown(folder):
    """Without the check, and where the process was killed before its end."""
    program = made(folder, "gcc", "plain")
    run([program, "exit"], folder, {"LD_PRELOAD": SHARED})
    path, = raw_profile.files(folder)
    require(SIZE not in shown(path, "-b", program)["totals"], "it is known without a check")
    done = run([PGOKIT, "record", "heap", "-q", "--leak-check", "-o", "killed", "--", "perl", "-e",
                "kill KILL, $$"], folder, status=128 + signal.SIGKILL)
    require("no leaks were looked for" in done.stderr, done.stderr)
    done = run([PGOKIT, "record", "heap", "-q", "--leak-check", "-o", "ended", "--", program,
                "exit"], folder)
    require("no leaks" not in done.stderr, done.stderr)


def main():
    cases = Cases()
    for compiler, linkage in (("clang-22", "archive"), ("clang-22", "shared"),
                              ("clang-22", "static"), ("gcc", "archive")):
        cases.run(f"{compiler}, {linkage}", exact, compiler, linkage)
    for compiler, linkage in (("clang-22", "archive"), ("gcc", "shared")):
        cases.run(f"stale pointers of a thread that waits: {compiler}, {linkage}", waiting,
                  compiler, linkage)
    cases.run("preloaded", preloaded)
    cases.run("child", of_child)
    cases.run("other forms", other_forms)
    cases.run("without a check", unknown)
    cases.finish()


if __name__ == "__main__":
    main()
