#!/usr/bin/env python3
"""Programs under libpgokit_alloc: with a plan, without one, and with one that is damaged.

usage: alloc_programs.py PGOKIT LIBPGOKIT_ALLOC.so LIBPGOKIT_ALLOC.a

Prints TAP.
"""

import os
import platform
import random
import re
import shutil
import signal
import struct
import sys

import plan_bytes

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
import musl  # noqa: E402
from harness import Cases, Skip, require, run, tool  # noqa: E402

PGOKIT, SHARED, STATIC = map(os.path.abspath, sys.argv[1:4])
PROGRAMS = os.path.join(HERE, "programs")
FLAGS = ["-O2", "-g", "-fomit-frame-pointer", "-Wl,--build-id"]


def build(folder, name="groups", flags=(), libraries=()):
    source = os.path.join(PROGRAMS, name + ".c")
    program = os.path.join(folder, name)
    run([tool("gcc"), *FLAGS, *flags, source, "-o", program, "-pthread", "-ldl", *libraries],
        folder)
    return program


def record(folder, argv, output="heap.profraw"):
    run([PGOKIT, "record", "heap", "-q", "-o", output, "--", *argv], folder)
    return output


def plan_of(folder, program, *more, mode="record"):
    record(folder, [program, mode, *more])
    run([PGOKIT, "plan", "heap.profraw", "-b", program, "-o", "app.plan"], folder)
    return os.path.join(folder, "app.plan")


def with_plan(folder, plan, argv, **kw):
    options = ["--plan", plan] if plan else []
    return run([PGOKIT, "run", *options, "--", *argv], folder, **kw)


def shared_pages(folder, plan, argv):
    result = with_plan(folder, plan, argv)
    require(not result.stderr, result.stderr)
    return int(result.stdout)


def splits(folder, flags):
    program = build(folder, flags=flags)
    plan = plan_of(folder, program)
    without = shared_pages(folder, None, [program, "pages"])
    split = shared_pages(folder, plan, [program, "pages"])
    require(without > 100, f"without a plan {without} pages are shared: the test shows nothing")
    require(split == 0, f"{split} pages are shared, without the plan {without}")
    return [f"{without} shared pages, with the plan none"]


def fits_another_build(folder, compiler, flags):
    """The profile of one build makes the plan of another one, which never ran."""
    old = os.path.join(folder, "old")
    os.rename(build(folder), old)
    record(folder, [old, "record"])
    new = os.path.join(folder, "new")
    run([tool(compiler), "-g", "-Wl,--build-id", *flags, os.path.join(PROGRAMS, "groups.c"), "-o",
         new, "-pthread", "-ldl"], folder)
    run([PGOKIT, "plan", "heap.profraw", "--profiled-binary", old, "-b", new, "-o", "app.plan"],
        folder)
    without = shared_pages(folder, None, [new, "pages"])
    split = shared_pages(folder, os.path.join(folder, "app.plan"), [new, "pages"])
    require(without > 100 and split == 0, f"{split} pages are shared, without the plan {without}")


def explains(folder):
    program = build(folder)
    record(folder, [program, "record"])
    text = run([PGOKIT, "plan", "heap.profraw", "-b", program, "--explain"], folder).stdout
    for function in ("take < take_kept < record", "take < take_passing < record"):
        require(function.split(" < record")[0] in re.sub(r" \([^)]*\)", "", text),
                f"{function} is not in\n{text}")
    require(re.search(r"take_kept \(\w+\.c\w*:\d+\)", text), f"no line of take_kept in\n{text}")
    require("expected: pages touched per pass over the objects of a group" in text, text)
    require("expected: pages still held at the end" in text, text)
    require("ms to look at calls in" in text, text)


def held(out):
    live, left = map(int, out.split())
    return left / live


def frees_after_bursts(folder):
    """Eight kinds of bursts by one function: too many objects for a plan by time alone."""
    program = build(folder, "bursts")
    record(folder, [program, "10000"])
    text = run([PGOKIT, "plan", "heap.profraw", "-b", program, "-o", "app.plan", "--explain"],
               folder).stdout
    require("decided by memory: at 1 call that allocates" in text and "by time" not in text, text)
    without, planned = (held(with_plan(folder, plan, [program, "100000"]).stdout)
                        for plan in (None, os.path.join(folder, "app.plan")))
    require(without > 3 and planned < 2, f"{planned:.2f} times what is alive stays held with the "
            f"plan, without it {without:.2f}")
    return [f"{planned:.2f} times what is alive, without the plan {without:.2f}"]


def staggers(folder):
    program = build(folder)
    result = with_plan(folder, plan_of(folder, program), [program, "stagger"])
    require(not result.stderr, result.stderr)


def survives(folder, mode, flags=()):
    program = build(folder, flags=flags)
    plan = plan_of(folder, program)
    for used in (None, plan):
        result = with_plan(folder, used, [program, mode], timeout=300)
        require(not result.stderr, result.stderr)


def finds_libraries(folder):
    program, library = build(folder), os.path.join(folder, "liblibrary.so")
    run([tool("gcc"), *FLAGS, "-shared", "-fPIC", os.path.join(PROGRAMS, "library.c"), "-o",
         library], folder)
    plan = plan_of(folder, program, library, mode="library")
    without = shared_pages(folder, None, [program, "library", library])
    result = with_plan(folder, plan, [program, "library", library])
    split = int(result.stdout)
    # The library is all that the plan is for.
    says = result.stderr.splitlines()
    require(all("any loaded module" in line for line in says) and len(says) < 2, result.stderr)
    # The first object of each kind may be allocated before the library is known.
    require(without > 100 and split <= 2, f"{split} pages are shared, without the plan {without}")


def links_statically(folder):
    program = build(folder, flags=["-static"], libraries=[STATIC])
    for mode in ("pages", "resize", "align", "threads", "forks"):
        run([program, mode], folder, timeout=300)
    result = run([PGOKIT, "run", "--", program, "pages"], folder, status=126)
    require("statically linked" in result.stderr, result.stderr)


def hints(folder):
    source, program = os.path.join(PROGRAMS, "hints.cpp"), os.path.join(folder, "hints")
    run([tool("g++"), "-std=c++17", "-O2", source, "-o", program, STATIC, "-pthread"], folder)
    out = run([program], folder).stdout
    require(out == "0 1\n", f"hints of several kinds share pages, or sizes are wrong: {out}")


def says_once(folder, program, plan):
    result = with_plan(folder, plan, [program, "pages"])
    require(result.stderr.count("\n") == 1 and result.stderr.startswith("pgokit_alloc: "),
            f"not one line: {result.stderr}")
    return result


def refuses(folder):
    program = build(folder)
    plan = plan_of(folder, program)
    with open(plan, "rb") as file:
        good = file.read()
    bad = os.path.join(folder, "bad.plan")

    def written(data):
        with open(bad, "wb") as file:
            file.write(data)
        return bad

    for cut in (0, 1, 7, 8, 31, 32, 33, len(good) - 1):
        result = says_once(folder, program, written(good[:cut]))
        require("no plan is used" in result.stderr, result.stderr)
    says_once(folder, program, written(good + b"\0" * 8))
    says_once(folder, program, written(b"#!/bin/sh\n" * 100))
    dice = random.Random(23)
    for _ in range(60):
        data = bytearray(good)
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        says_once(folder, program, written(bytes(data)))
    # A sum that is right does not make a number right.
    for offset, value in ((len(good) - 8, 0xffffffff), (len(good) - 2, 0xffff)):
        data = bytearray(good)
        data[offset:offset + 2] = struct.pack("<Q", value)[:2]
        data[24:32] = struct.pack("<Q", plan_bytes.checksum(data))
        says_once(folder, program, written(bytes(data)))
    with_plan(folder, plan, [program, "pages"])


def odd_files(folder):
    """What is no plan at all, with the words of the line."""
    def path(name, make):
        make(os.path.join(folder, name))
        return os.path.join(folder, name)

    def large(name):
        with open(name, "wb") as file:
            file.truncate(5 << 20)

    yield path("pipe", os.mkfifo), "not a regular file"
    yield path("folder", os.mkdir), "not a regular file"
    yield "/dev/zero", "not a regular file"
    yield path("large", large), "larger than such a file can be"
    yield path("empty", lambda name: open(name, "wb").close()), "it is empty"
    yield os.path.join(folder, "nowhere"), "no such file"


def never_waits(folder):
    program = build(folder)
    for plan, words in odd_files(folder):
        result = run([program, "pages"], folder, timeout=60,
                     env={"LD_PRELOAD": SHARED, "PGOKIT_ALLOC_PLAN": plan})
        require(result.stderr.startswith("pgokit_alloc: no plan is used: ") and
                result.stderr.count("\n") == 1 and words in result.stderr,
                f"{plan}: {result.stderr}")


def plan_of_other_user(folder):
    if os.geteuid():
        raise Skip("takes root to give a file to another user")
    program = build(folder)
    plan = plan_of(folder, program)
    os.chmod(folder, 0o755)
    library = shutil.copy(SHARED, folder)  # the tree may be where others cannot look
    for owner, runs_as, used in ((0, 0, True), (0, 1, True), (1, 1, True), (1, 0, False),
                                 (2, 1, False)):
        os.chown(plan, owner, owner)
        result = run([program, "pages"], folder, user=runs_as,
                     env={"LD_PRELOAD": library, "PGOKIT_ALLOC_PLAN": plan})
        require("another user" in result.stderr if not used else not result.stderr,
                f"a plan of {owner}, run by {runs_as}: {result.stderr}")


def ends_as_glibc(folder):
    """Where glibc ends a program, and some more; with objects of groups, too."""
    program = build(folder, "heap_errors", ["-w"])
    plain = run([program, "twice", "40"], folder, status=None)
    require(plain.returncode == -signal.SIGABRT, f"glibc: {plain.returncode}")
    errors = [("twice", n) for n in ("0", "1", "40", "1000", "5000", "14336", "300000", "9000000")]
    errors += [("inside", n, off) for n, off in (("40", "16"), ("40", "1"), ("100", "16"),
                                                 ("5000", "4096"), ("300000", "64"),
                                                 ("300000", "4096"))]
    errors += [("later",), ("stack",), ("wild",), ("moved",)]
    for more in ({}, {"PGOKIT_ALLOC_HASH": "15"}):
        env = {"LD_PRELOAD": SHARED, **more}
        for error in errors:
            told = run([program, *error], folder, status=-signal.SIGABRT, env=env)
            require(not told.stdout and told.stderr.count("\n") == 1 and
                    told.stderr.startswith("pgokit_alloc: "), f"{error}: {told.stderr}")
        told = run([program, "untouched"], folder, env=env)
        require(told.stdout == "survived\n" and not told.stderr, told.stderr)


def counts_few_instructions(folder):
    """Most objects come from jemalloc's cache without a call of jemalloc."""
    if platform.machine() != "x86_64":
        raise Skip("instructions are counted on x86-64")
    program = build(folder, "heap_errors", ["-w"])
    # valgrind 3.19 gives up at the debug information of newer compilers.
    library = os.path.join(folder, os.path.basename(SHARED))
    run([tool("objcopy"), "--strip-debug", SHARED, library], folder)

    def counted(pairs, size):
        out = run([tool("valgrind"), "--tool=callgrind", "--callgrind-out-file=/dev/null", program,
                   "pairs", str(pairs), size], folder, env={"LD_PRELOAD": library}).stderr
        return int(re.search(r"Collected : (\d+)", out).group(1))
    notes = []
    for size in ("16", "64", "256", "1024"):
        cost = (counted(22000, size) - counted(2000, size)) / 20000
        notes.append(f"{size} bytes: {cost:.1f} instructions")
        require(cost <= 125, notes[-1])
    return notes


def says_what_is_there(folder):
    program = build(folder, "heap_errors", ["-w"])
    told = run([program, "honest"], folder, env={"LD_PRELOAD": SHARED})
    require("<malloc version=" in told.stdout and "bytes of objects in" in told.stderr,
            told.stdout + told.stderr)


def tells_stale(folder):
    program = build(folder)
    plan = plan_of(folder, program)
    build(folder, flags=["-O1"])
    result = says_once(folder, program, plan)
    require("different build" in result.stderr, result.stderr)
    quiet = with_plan(folder, plan, [program, "pages"], env={"PGOKIT_ALLOC_PLAN_OF_OTHERS": "1"})
    require(not quiet.stderr, quiet.stderr)


def counts_groups(folder):
    program = build(folder)
    plan = plan_of(folder, program)
    result = run([PGOKIT, "run", "--plan", plan, "--stats", "--", program, "pages"], folder)
    lines = result.stderr.splitlines()
    require(len(lines) == 2 and all("bytes of objects" in line for line in lines), result.stderr)
    require(all(" had " in line for line in lines), result.stderr)
    number = str(int(signal.SIGUSR2))
    result = run([PGOKIT, "run", "--plan", plan, "--stats-signal", number, "--", program, "ask"],
                 folder)
    lines = result.stderr.splitlines()
    require(len(lines) == 2 and not any(": 0 bytes" in line for line in lines), result.stderr)
    for wrong in ("0", "9", "x", "100"):
        env = dict(os.environ, LD_PRELOAD=SHARED, PGOKIT_ALLOC_STATS_SIGNAL=wrong)
        lines = run([program, "pages"], folder, env=env).stderr
        require(lines == "pgokit_alloc: PGOKIT_ALLOC_STATS_SIGNAL is the number of a signal that "
                f"can be handled: {wrong}\n", lines)


def swap_free():
    with open("/proc/meminfo", encoding="utf-8") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("SwapFree:")), 0)


def pages_out(folder):
    """Objects keep what is in them; where there is swap, it has most of the pages."""
    program = build(folder)
    env = dict(os.environ, LD_PRELOAD=SHARED, PGOKIT_ALLOC_PAGE_OUT="1")
    room = swap_free() > 1 << 17
    swapped = int(run([program, "cold"], folder, env=env).stdout)
    require(swapped > 1 << 15 or not room, f"{swapped} KiB in swap")
    return [f"{swapped} KiB of 64 MiB in swap"]


def huge_pages(folder):
    """The kernel notes what it was advised."""
    if not os.path.exists("/sys/kernel/mm/transparent_hugepage"):
        raise Skip("this kernel has no huge pages")
    program = build(folder)
    env = {"LD_PRELOAD": SHARED, "PGOKIT_ALLOC_PLAN": plan_of(folder, program)}
    for wanted, noted in (("", "0 0 0 0"), ("0", "0 0 0 0"), ("1", "1 0 0 0"), ("all", "1 0 1 1")):
        found = run([program, "huge"], folder, env={**env, "PGOKIT_ALLOC_HUGE_PAGES": wanted})
        require(found.stdout == noted + "\n", f"{wanted}: {found.stdout} instead of {noted}")


def hashes(folder):
    program = build(folder)
    env = dict(os.environ, LD_PRELOAD=SHARED, PGOKIT_ALLOC_STATS="1")
    for mode in ("pages", "resize", "threads"):
        lines = run([program, mode], folder, env=dict(env, PGOKIT_ALLOC_HASH="15")).stderr
        require(lines and all("bytes of objects" in line for line in lines.splitlines()), lines)
    for wrong in ("0", "16", "x", "99999999999"):
        lines = run([program, "pages"], folder, env=dict(env, PGOKIT_ALLOC_HASH=wrong)).stderr
        require(lines == "pgokit_alloc: PGOKIT_ALLOC_HASH is a number from 1 to 15\n", lines)


def main():
    cases = Cases()
    cases.run("a plan keeps two kinds of objects apart", splits, [])
    cases.run("also in code with frame pointers", splits, ["-fno-omit-frame-pointer"])
    cases.run("kinds that only the eighth call tells apart", splits, ["-DDEPTH=5"])
    cases.run("the same over frame pointers", splits, ["-DDEPTH=5", "-fno-omit-frame-pointer"])
    cases.run("the same with frames that change", splits, ["-DDEPTH=5", "-DVARY"])
    cases.run("nothing breaks: deep stacks of threads", survives, "threads", ["-DDEPTH=5"])
    cases.run("a plan for another build of gcc", fits_another_build, "gcc", ["-O1"])
    cases.run("a plan for a build of clang", fits_another_build, "clang-14", ["-O2"])
    cases.run("groups begin at addresses that do not look alike", staggers)
    cases.run("--explain names contexts and what to expect", explains)
    cases.run("bursts of many kinds by one function hold few pages", frees_after_bursts)
    for mode in ("resize", "align", "threads", "forks"):
        cases.run(f"nothing breaks: {mode}", survives, mode)
    cases.run("a library that is loaded later has its groups", finds_libraries)
    cases.run("linked statically", links_statically)
    cases.run("children of musl end with 127", musl.children, PGOKIT, "run", "--")
    cases.run("hints of compilers reach groups", hints)
    cases.run("a damaged plan is refused with one line", refuses)
    cases.run("what is freed twice, or from its middle, ends the program", ends_as_glibc)
    cases.run("malloc and free take few instructions", counts_few_instructions)
    cases.run("malloc fails where there is no memory, and mallinfo tells what there is",
              says_what_is_there)
    cases.run("a pipe as plan: the program starts, with one line", never_waits)
    cases.run("a plan of another user is refused", plan_of_other_user)
    cases.run("a plan for another build is refused with one line", tells_stale)
    cases.run("cold objects come back from swap", pages_out)
    cases.run("hot groups are for huge pages", huge_pages)
    cases.run("calls are dealt out without a plan", hashes)
    cases.run("what groups hold, at the end and on a signal", counts_groups)
    cases.finish()


main()
