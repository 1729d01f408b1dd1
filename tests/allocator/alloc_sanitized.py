#!/usr/bin/env python3
"""libpgokit_alloc compiled with sanitizers: programs with a plan, without one, with hashed groups
and with plans that are damaged.

usage: alloc_sanitized.py PGOKIT SOURCE_ROOT

A sanitizer's runtime has a malloc of its own. So the functions of the allocator, and the calls of
the programs, have other names here. jemalloc and the programs are not instrumented.
GUEST_FLAGS in the environment is how the allocator is compiled. Prints TAP.
"""

import glob
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
import plan_bytes  # noqa: E402
from harness import Cases, Skip, require, run, tool  # noqa: E402

PGOKIT, ROOT = map(os.path.abspath, sys.argv[1:3])
# Those of a build by clang have one that gcc does not know, which compiles here.
GUEST_FLAGS = [flag for flag in os.environ["GUEST_FLAGS"].split() if flag != "-fno-slp-vectorize"]
PROGRAMS = os.path.join(HERE, "programs")
# That of threads is left out: it does not see the system calls by which a thread that ends gives
# its memory to the next one, and takes that for races.
KINDS = {"address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]}
ENV = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
       "UBSAN_OPTIONS": "print_stacktrace=1"}
MODES = ("pages", "resize", "align", "threads", "forks")
DAMAGED = 100


def compile_all(folder, sources, includes, kind):
    """Some at a time; objects in the order of the sources."""
    objects, running = [], []
    for source in sources:
        objects.append(os.path.join(folder, os.path.basename(source)[:-2] + ".o"))
        running.append(subprocess.Popen(
            [tool("gcc"), "-g1", "-std=gnu17", "-D_GNU_SOURCE", "-fvisibility=hidden", *GUEST_FLAGS,
             *KINDS[kind], *(f"-I{ROOT}/{room}" for room in includes), "-c", source, "-o",
             objects[-1]]))
        if len(running) == 2:
            require(running.pop(0).wait() == 0, source)
    require(all(child.wait() == 0 for child in running), "a compile fails")
    return objects


def allocator(folder, kind):
    """The allocator's object, with other names for what programs call."""
    archives = []
    for room, includes in (("guest", ["guest"]),
                           ("allocator", ["guest", "allocator", "lib/records"])):
        sources = sorted(glob.glob(f"{ROOT}/{room}/*.c"))
        archives.append(os.path.join(folder, room + ".a"))
        run(["ar", "rcs", archives[-1], *compile_all(folder, sources, includes, kind)], folder)
    exports, out = f"{ROOT}/allocator/exports.txt", os.path.join(folder, kind + ".o")
    jemalloc = run([tool("gcc"), "-print-file-name=libjemalloc_pic.a"], folder).stdout.strip()
    run([f"{ROOT}/runtime/combine", out, exports, jemalloc, "pgal_je_", *archives], folder,
        env={name.upper(): name for name in ("ar", "ld", "nm", "objcopy")})
    # Not dlopen: these programs are linked with the allocator and open nothing that brings another.
    defined = run(["nm", "-P", "--extern-only", "--defined-only", out], folder).stdout
    with open(folder + "/names", "w", encoding="utf-8") as renamed:
        renamed.writelines(f"{name} sanitized_{name}\n"
                           for name in (line.split()[0] for line in defined.splitlines()))
    run(["objcopy", f"--redefine-syms={folder}/names", out], folder)
    return out


def build(folder, kind, name="groups.c", *flags):
    """A program as it is, which can be recorded, and one with the sanitized allocator."""
    source, program = os.path.join(PROGRAMS, name), os.path.join(folder, name + ".o")
    compiler = [tool("g++"), "-std=c++17"] if name.endswith(".cpp") else [tool("gcc")]
    run([*compiler, "-O2", "-g", "-w", "-fomit-frame-pointer", *flags, "-c", source, "-o", program],
        folder)
    plain, sanitized = (os.path.join(folder, name) for name in ("plain", "sanitized"))
    if name.endswith(".c"):
        run([*compiler, "-Wl,--build-id", program, "-o", plain, "-pthread", "-ldl"], folder)
    run(["objcopy", f"--redefine-syms={BUILT[kind]}/names", program], folder)
    run([*compiler, *KINDS[kind], "-Wl,--build-id", program, f"{BUILT[kind]}/{kind}.o", "-o",
         sanitized, "-pthread", "-ldl"], folder)
    # A kernel may lay addresses out as a sanitizer cannot use them.
    tried = run([sanitized, "pages"], folder, env=ENV, status=None)
    if "unexpected memory mapping" in tried.stderr:
        raise Skip("this kernel's addresses are not for the sanitizer")
    return plain, sanitized


def plan_of(folder, plain, sanitized):
    """The plan of the plain program's profile, for the sanitized build of it."""
    run([PGOKIT, "record", "heap", "-q", "-o", "heap.profraw", "--", plain, "record"], folder)
    run([PGOKIT, "plan", "heap.profraw", "--profiled-binary", plain, "-b", sanitized, "-o",
         "app.plan"], folder)
    return os.path.join(folder, "app.plan")


def quiet(folder, argv, **env):
    result = run(argv, folder, env={**ENV, **env})
    require(not result.stderr, result.stderr)
    return result.stdout


def programs(folder, kind, *flags):
    plain, sanitized = build(folder, kind, "groups.c", *flags)
    plan = plan_of(folder, plain, sanitized)
    split = quiet(folder, [sanitized, "pages"], PGOKIT_ALLOC_PLAN=plan)
    require(split == "0\n", f"{split} pages are shared with the plan, which was not used, then")
    for mode in MODES:
        quiet(folder, [sanitized, mode])
        quiet(folder, [sanitized, mode], PGOKIT_ALLOC_PLAN=plan)
        quiet(folder, [sanitized, mode], PGOKIT_ALLOC_HASH="15")


def hints(folder, kind):
    _, sanitized = build(folder, kind, "hints.cpp")
    out = quiet(folder, [sanitized], PGOKIT_ALLOC_PAGE_OUT="1")
    require(out == "0 1\n", f"hints of several kinds share pages, or sizes are wrong: {out}")


def damaged_plans(folder, kind):
    """Bytes are changed, and the sum is made right again: what is not refused is followed."""
    plain, sanitized = build(folder, kind)
    with open(plan_of(folder, plain, sanitized), "rb") as file:
        good = file.read()
    dice, bad, refused = random.Random(7), os.path.join(folder, "bad.plan"), 0
    for _ in range(DAMAGED):
        data = bytearray(good)
        for _ in range(dice.randrange(1, 4)):
            at = dice.randrange(12, len(data))
            data[at] = dice.choice((0, 1, 0x7f, 0xff, dice.randrange(256)))
        struct.pack_into("<Q", data, plan_bytes.SUM_AT, plan_bytes.checksum(data))
        with open(bad, "wb") as file:
            file.write(data[:dice.choice((len(data), len(data), dice.randrange(len(data))))])
        said = run([sanitized, "pages"], folder, env={**ENV, "PGOKIT_ALLOC_PLAN": bad}).stderr
        require(said.count("\n") < 2 and (not said or said.startswith("pgokit_alloc: ")), said)
        refused += bool(said)
    require(0 < refused, "none of the plans was refused")
    return [f"{refused} of {DAMAGED} damaged plans were refused"]


def main():
    cases = Cases()
    cases.run("a program with each plan and without", programs, "address")
    cases.run("deep stacks", programs, "address", "-DDEPTH=5")
    cases.run("deep stacks whose frames change", programs, "address", "-DDEPTH=5", "-DVARY")
    cases.run("hints", hints, "address")
    cases.run("damaged plans", damaged_plans, "address")
    cases.finish()


with tempfile.TemporaryDirectory(prefix="pgokit-sanitized-") as top:
    BUILT = {name: os.path.join(top, name) for name in KINDS}
    for name, where in BUILT.items():
        os.mkdir(where)
        allocator(where, name)
    main()
