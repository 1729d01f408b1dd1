#!/usr/bin/env python3
"""Hints of heap profiles, from a recording through clang to the groups of libpgokit_alloc: clang's
own for operator new, and those of the plugin for C and C++.

usage: alloc_hints.py PGOKIT LIBPGOKIT_ALLOC.so

USE_PLUGINS in the environment has RELEASE=PLUGIN for each plugin that was built. Prints TAP.
"""

import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
from harness import Cases, Skip, require, run, tool  # noqa: E402

PGOKIT, SHARED = map(os.path.abspath, sys.argv[1:3])
PLUGINS = dict(word.split("=", 1) for word in os.environ["USE_PLUGINS"].split())
SOURCE = os.path.join(HERE, "programs", "compiler_hints.cpp")
OBJECTS, BYTES = 4000, 256 # of each kind, and of their size class
PROFILED = ["-O2", "-gmlt", "-fdebug-info-for-profiling", "-fno-omit-frame-pointer",
            "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls", "-fno-pie", "-no-pie",
            "-Wl,-z,noseparate-code", "-Wl,--build-id"]
LINK = ["-mllvm", "-enable-memprof-context-disambiguation", "-mllvm", "-supports-hot-cold-new",
        "-mllvm", "-optimize-hot-cold-new"]


def compilers(release, cpp):
    if not shutil.which(f"ld.lld-{release}"):
        raise Skip(f"missing lld-{release}")
    return [tool(f"clang++-{release}" if cpp else f"clang-{release}"), f"-fuse-ld=lld-{release}"]


def recorded(folder, release, cpp):
    """The profile, and where objects of each kind are apart: a density of accesses between those
    of the cold and the others, and one below the hot. How fast this machine is decides them."""
    compiler, linker = compilers(release, cpp)
    language = [] if cpp else ["-x", "c"]
    run([compiler, linker, *PROFILED, *language, "-fmemory-profile=recorded", SOURCE, "-o",
         "profiled"], folder)
    run([os.path.join(folder, "profiled"), "300"], folder)
    raw = os.listdir(os.path.join(folder, "recorded"))
    run([PGOKIT, "merge", "-q", "-b", "profiled", "-o", "heap.memprofdata",
         *(os.path.join("recorded", name) for name in raw)], folder)
    text = run([tool(f"llvm-profdata-{release}"), "show", "--memory", "heap.memprofdata"],
               folder).stdout
    rarely, often, most = sorted(int(n) / OBJECTS / 100 for n in re.findall(
        r"TotalLifetimeAccessDensity: *(\d+)", text))
    require(rarely * 4 < often and often * 4 < most, text)
    return "heap.memprofdata", often / 2, int((often * most) ** 0.5)


def groups(folder, program, preload=False):
    """Bytes of objects in each group, at the end of a program."""
    env = {"PGOKIT_ALLOC_STATS": "1", **({"LD_PRELOAD": SHARED} if preload else {})}
    said = run([os.path.join(folder, program)], folder, env=env).stderr
    found = dict(re.findall(r"pgokit_alloc: (\w+): (\d+) bytes of objects", said))
    # What jemalloc rounds up to whole pages is a little more than the objects.
    return {name for name, n in found.items() if OBJECTS <= int(n) // BYTES <= OBJECTS + 100}


def reaches(folder, expected, program, **kw):
    found = groups(folder, program, **kw)
    require(found == expected, f"objects are in {found}, not in {expected}")


def by_clang(folder, release, lto):
    """Clones of make() exist in links with LTO alone; the call of make_most() needs none."""
    profile, cold, hot = recorded(folder, release, True)
    compiler, linker = compilers(release, True)
    use = ["-O2", "-gmlt", "-fdebug-info-for-profiling", f"-fmemory-profile-use={profile}",
           "-mllvm", "-memprof-ave-lifetime-cold-threshold=0",
           "-mllvm", f"-memprof-lifetime-access-density-cold-threshold={cold}",
           "-mllvm", "-memprof-use-hot-hints",
           "-mllvm", f"-memprof-min-ave-lifetime-access-density-hot-threshold={hot}"]
    library = [f"-L{os.path.dirname(SHARED)}", "-lpgokit_alloc",
               f"-Wl,-rpath,{os.path.dirname(SHARED)}"]
    if lto:
        # Else a call whose contexts differ is given a hint before there are clones.
        use += [f"-flto={lto}", "-mllvm", "-memprof-ambiguous-attributes=false"]
        run([compiler, *use, "-c", SOURCE, "-o", "program.o"], folder)
        run([compiler, linker, "-O2", f"-flto={lto}", "program.o", *library,
             *("-Wl," + word for word in LINK), "-o", "program"], folder)
    else:
        run([compiler, linker, *use, "-mllvm", "-optimize-hot-cold-new", SOURCE, *library, "-o",
             "program"], folder)
    reaches(folder, {"cold", "hot"} if lto else {"hot"}, "program")


def by_plugin(folder, release, cpp, lto):
    """The program knows nothing of the allocator, which is preloaded."""
    if not PLUGINS:
        raise Skip("no plugins in this build, as in those with a sanitizer")
    if release not in PLUGINS:
        raise Skip(f"missing llvm-{release}-dev: no plugin for clang {release} has been built")
    profile, _, hot = recorded(folder, release, cpp)
    compiler, linker = compilers(release, cpp)
    lto = [f"-flto={lto}"] if lto else []
    flags = {what: run([PGOKIT, "config", "-q", what, "use", "--cc", f"clang-{release}",
                        "--profile", profile], folder).stdout.split()
             for what in ("--cflags", "--ldflags")}
    run([compiler, "-O2", "-gmlt", *lto, *flags["--cflags"], "-mllvm",
         f"-pgokit-use-hot-density={hot}", *([] if cpp else ["-x", "c"]), "-c", SOURCE, "-o",
         "program.o"], folder)
    run([compiler, "-O2", *lto, "program.o", *flags["--ldflags"], linker, "-o", "program"], folder)
    run([os.path.join(folder, "program")], folder)
    reaches(folder, {"cold", "hot"} if lto else {"hot"}, "program", preload=True)


def main():
    cases = Cases()
    for lto in ("", "thin", "full"):
        how = f"LTO ({lto})" if lto else "no LTO"
        cases.run(f"clang's hints for operator new reach groups, {how}", by_clang, "22", lto)
        for cpp in (False, True):
            cases.run(f"hints of the plugin for {'C++' if cpp else 'C'} reach groups, {how}",
                      by_plugin, "22", cpp, lto)
    cases.finish()


main()
