#!/usr/bin/env python3
"""The plugins, built for compilers of newer releases of Debian, which scripts/peers brings, and by
them: they count exactly as those for the compilers of this Debian do.

usage: newer_plugins.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS

The plugin that uses profiles has the build's libpgokit in it, and runs the tests of tests/interop.

PGOKIT_TEST_PROGRAMS=1000 in the environment tries so many random programs by clang."""

import concurrent.futures
import functools
import os
import re
import shutil
import sys
import tempfile

import heap_plugin
import heap_plugin_gcc
import heap_types
import random_programs
from harness import Cases, Failure, Skip, peers, run, tool
from runtime_programs import HERE, PGOKIT

TREE = os.path.dirname(os.path.dirname(HERE))
COMPILER = os.path.join(TREE, "compiler")
BUILT = os.path.dirname(os.path.dirname(PGOKIT))
GCC = ("13", "14", "15", "16")
CLANG = tuple(map(str, peers.NEWEST_RELEASES))
PROGRAMS = int(os.environ.get("PGOKIT_TEST_PROGRAMS", "5"))
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]


def need(compiler, path, package):
    """A header of the release that the compiler is of."""
    if run([*peers.beside(compiler), "test", "-e", path], "/", status=None).returncode:
        raise Skip(f"no {package} beside {compiler}: {peers.why_not_brought()}")


def sources(*rooms):
    return sorted(os.path.join(COMPILER, room, name) for room in rooms
                  for name in os.listdir(os.path.join(COMPILER, room))
                  if name.endswith((".c", ".cc")))


def compile_all(folder, cc, cxx, includes, rooms):
    """Objects are not optimised: that takes longer than what the tests do with the plugin."""
    def compiled(source):
        how = [cxx, "-std=c++17", "-fno-rtti", '-DPGK_VERSION="test"']
        if source.endswith(".c"):
            how = [cc, "-std=c17", "-D_GNU_SOURCE"]
        out = os.path.join(folder, os.path.basename(source) + ".o")
        run([*how, *WARNINGS, "-fPIC", "-fvisibility=hidden", "-I" + os.path.join(COMPILER, "plan"),
             "-I" + os.path.join(TREE, "include"), "-isystem", includes, "-c", source, "-o", out],
            folder)
        return out
    with concurrent.futures.ThreadPoolExecutor(peers.JOBS) as pool:
        return list(pool.map(compiled, sources(*rooms)))


def linked(folder, linker, objects, name, *libraries):
    path = os.path.join(folder, name)
    run([linker, "-shared", *objects, *libraries, "-o", path], folder)
    return path


def gcc_plugin(folder, release):
    cc, cxx = tool(f"gcc-{release}"), tool(f"g++-{release}")
    includes = run([cc, "-print-file-name=plugin"], folder).stdout.strip() + "/include"
    need(cc, includes + "/gcc-plugin.h", f"gcc-{release}-plugin-dev")
    objects = compile_all(folder, cc, cxx, includes, ["gcc"])
    return linked(folder, cxx, objects, f"pgokit_heap_gcc_{release}.so")


def clang_objects(folder, release, *rooms):
    cc, cxx = tool(f"clang-{release}"), tool(f"clang++-{release}")
    includes = run([tool(f"llvm-config-{release}"), "--includedir"], folder).stdout.strip()
    need(cc, includes + "/llvm-c/Core.h", f"llvm-{release}-dev")
    return compile_all(folder, cc, cxx, includes, rooms)


def clang_plugin(folder, release):
    objects = clang_objects(folder, release, "clang", "plan")
    return linked(folder, tool(f"clang++-{release}"), objects, f"pgokit_heap_clang_{release}.so")


def use_plugin(folder, release):
    """What the library uses has the same names in newer releases."""
    objects = clang_objects(folder, release, "use")
    return linked(folder, tool("g++"), objects, f"pgokit_use_clang_{release}.so",
                  os.path.join(BUILT, "lib", "libpgokit.a"), "-lelf", "-lmd", "-lz", "-lzstd",
                  "-lyaml", "-Wl,--exclude-libs,ALL")


def use_profiles(folder, kept, release, script):
    """By the cases of another test."""
    plugin = outcome(kept, use_plugin, release)
    if not isinstance(plugin, str):
        raise plugin
    for name in ("libpgokit_alloc.so", "libpgokit_alloc.a"):
        shutil.copy(os.path.join(BUILT, "allocator", name), os.path.dirname(plugin))
    out = run([sys.executable, os.path.join(TREE, "tests", "interop", script), PGOKIT,
               os.path.join(folder, "work"), "--only", f"clang {release}"], folder,
              {"USE_PLUGINS": f"{release}={plugin}", "PGOKIT_RUNTIME": os.path.dirname(plugin),
               "BRANCH_TRACE": "unused"}, status=None).stdout
    if re.search("^not ok", out, re.M) or not re.search("^ok", out, re.M):
        raise Failure(out)
    return [line for line in out.splitlines() if "# SKIP" in line]


@functools.lru_cache(maxsize=None)
def outcome(folder, build, release):
    """Of the first attempt: the path, or why there is none."""
    try:
        return build(tempfile.mkdtemp(dir=folder), release)
    except (Skip, Failure) as reason:
        return reason


def use(_, kept, build, release):
    """Other tests find the plugin where the build's are."""
    result = outcome(kept, build, release)
    if not isinstance(result, str):
        raise result
    heap_plugin.PLUGINS[release] = random_programs.PLUGINS[release] = result
    heap_plugin_gcc.PLUGINS[release] = result
    family = "gcc" if build is gcc_plugin else "clang"
    heap_types.PLUGINS[f"{family}-{release}"] = result
    return []


def of_gcc(cases, _, release):
    gcc, cxx = f"gcc-{release}", f"g++-{release}"
    here = heap_plugin_gcc
    cases.run(f"{gcc}: exact, -O2", here.exact, release, ["-O2", "-fPIE"])
    cases.run(f"{gcc}: exact, -O3, each access alone", here.exact, release, ["-O3"],
              ["coalesce=0"])
    cases.run(f"{gcc}: exact, link-time optimisation", here.exact_by_link_time, release)
    for flags in (["-O0"], ["-O2"], ["-O3", "-mavx2"]):
        cases.run(f"{gcc} {' '.join(flags)}: each kind of access", here.each_kind, release, flags)
    for flags in (["-O1"], ["-O3", "-fnon-call-exceptions"]):
        cases.run(f"{cxx} {' '.join(flags)}: exceptions, longjmp, ends of objects",
                  here.left_in_the_middle, release, flags)
    cases.run(f"{gcc}: histograms", here.histograms, release)
    of_types(cases, gcc)


def of_clang(cases, kept, release):
    clang, here = f"clang-{release}", heap_plugin
    for level in ("O1", "O2", "O3"):
        for name, options in (("", ()), (", each access by itself", (here.EACH,))):
            cases.run(f"{clang}: exact, -{level}{name}", here.exact, release, level, *options)
    cases.run(f"{clang}: exact, ThinLTO", here.exact_after_thin_lto, release)
    cases.run(f"{clang}: names as of -fmemory-profile", here.same_interface, release)
    cases.run(f"{clang}: code on edges is of no other function's source", here.places_in_source,
              release)
    for flags in (["-O0"], ["-O1"], ["-O3", "-mavx2"]):
        cases.run(f"{clang} {' '.join(flags)}: as -fmemory-profile counts", here.as_llvm, release,
                  flags)
    cases.run(f"{clang}: histograms as of -fmemory-profile", here.histograms, release)
    of_types(cases, clang)
    for script in ("use_types.py", "use_heap.py"):
        cases.run(f"{clang}: the use of profiles, {script}", use_profiles, kept, release,
                  script)
    random_programs.RELEASES = (release,)
    random_programs.add_cases(cases, PROGRAMS)


def of_types(cases, compiler):
    for flags in (["-O0"], ["-O2"]):
        cases.run(f"{compiler} {flags[0]}: types of a C program", heap_types.types_of_c, compiler,
                  flags)
        cases.run(f"{compiler} {flags[0]}: types of a C++ program", heap_types.types_of_cxx,
                  compiler, flags)


def main():
    cases = Cases()
    with tempfile.TemporaryDirectory(prefix="pgokit-plugins-") as kept:
        for releases, build, add in ((GCC, gcc_plugin, of_gcc), (CLANG, clang_plugin, of_clang)):
            for release in releases:
                compiler = add.__name__.removeprefix("of_") + "-" + release
                cases.run(f"{compiler}: the plugin is built", use, kept, build, release)
                if isinstance(outcome(kept, build, release), str):
                    add(cases, kept, release)
    cases.finish()


main()
