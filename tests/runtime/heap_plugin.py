#!/usr/bin/env python3
"""The plugin for clang: objects as those of -fmemory-profile, and exact counts.

usage: heap_plugin.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS [RELEASE=PLUGIN]..."""

import os
import sys

import raw_profile
from harness import Cases, Skip, built_by, require, run, tool
from runtime_programs import (ARCHIVE, FRAMES, HERE, PGOKIT, check_sound, one_file,
                              require_exact)

PLUGINS = dict(argument.split("=", 1) for argument in sys.argv[5:])
RELEASES = ("14", "16", "19", "22")
# Of newer releases only.
EACH = "-pgokit-heap-coalesce=0"
NEAR = "-pgokit-heap-coalesce=1"
LATER = {"__memprof_histogram", "__memprof_default_options_str"}


def plugin_flags(release, *options):
    """-load lets the compiler know the options of the plugin before it reads them."""
    if release not in PLUGINS:
        raise Skip(f"missing llvm-{release}-dev: no plugin for clang {release} has been built")
    flags = ["-Xclang", "-load", "-Xclang", PLUGINS[release],
             "-Xclang", "-fpass-plugin=" + PLUGINS[release]]
    for option in ("-pgokit-heap-verify", *options):
        flags += ["-mllvm", option]
    return flags


def compiled(folder, source, release, flags, name="program"):
    path = os.path.join(folder, name + ".o")
    run([tool(f"clang-{release}"), *FRAMES, *flags, "-c", os.path.join(HERE, "programs", source),
         "-o", path], folder)
    return path


def linked(release, objects, flags=()):
    """Position independent or not by chance of the release's default: -no-pie, for symbols."""
    path = objects[0].removesuffix(".o")
    compiler = tool(f"clang-{release}")
    run([compiler, *objects, *flags, "-o", path, "-no-pie", "-Wl,--build-id", ARCHIVE, "-pthread"],
        os.path.dirname(path))
    built_by(path, compiler)
    return path


def recorded(program, *arguments):
    """The profile of a run, and what it printed."""
    folder = os.path.dirname(program)
    for path in raw_profile.files(folder):
        os.remove(path)
    out = run([program, *arguments], folder).stdout
    return raw_profile.Profile(one_file(folder)), out


def exact(folder, release, level, *options):
    flags = ["-" + level, "-fPIE" if level == "O3" else "-fno-pie"]
    program = linked(release, [compiled(folder, "random_access.c", release,
                                        [*plugin_flags(release, *options), *flags])])
    profile, out = recorded(program, level[1], "1", "20000")
    check_sound(one_file(folder))
    require_exact(program, out, profile)


def exact_after_thin_lto(folder, release):
    tool(f"ld.lld-{release}")
    lto = ["-O2", "-flto=thin", f"-fuse-ld=lld-{release}"]
    program = linked(release, [compiled(folder, "random_access.c", release,
                                        [*plugin_flags(release), *lto])], lto)
    profile, out = recorded(program, "5", "1", "20000")
    require_exact(program, out, profile)


def named_symbols(path):
    rows = [line.split()[-2:] for line in run(["nm", path], "/").stdout.splitlines()]
    return {(kind, name) for kind, name in rows if "memprof" in name and name not in LATER}


def same_interface(folder, release):
    """Defined and used as by LLVM's pass, and the same text in the profile's name."""
    ours = compiled(folder, "masked.c", release, plugin_flags(release, EACH), "ours")
    llvm = compiled(folder, "masked.c", release, ["-fmemory-profile"], "llvm")
    require(named_symbols(ours) == named_symbols(llvm),
            f"ours {named_symbols(ours)}, LLVM's {named_symbols(llvm)}")
    for option, name in (("", b"memprof.profraw"), ("-pgokit-heap-file=else/where", b"else/where")):
        path = compiled(folder, "masked.c", release,
                        plugin_flags(release, *[option] if option else []))
        with open(path, "rb") as file:
            require(name + b"\0" in file.read(), f"{path} does not have {name}")


def once(folder, release):
    """Build systems repeat flags. Each repetition registers the pass again."""
    flags = plugin_flags(release)
    found = []
    for times in (1, 3):
        with open(compiled(folder, "random_access.c", release, flags * times), "rb") as file:
            found.append(file.read())
    require(found[0] == found[1], "an object differs if the plugin is named three times")


def counts(folder, release, flags, source="masked.c"):
    program = linked(release, [compiled(folder, source, release, flags)])
    profile, _ = recorded(program)
    return {name: values for name, values in profile.by_function(program).items() if name != "?"}


def as_llvm(folder, release, flags):
    """Vectors with and without masks, copies and fills."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        if "-mavx2" in flags and " avx2 " not in file.read():
            raise Skip("missing avx2")
    llvm = counts(folder, release, ["-fmemory-profile", *flags])
    for options in ((), (EACH,)):
        ours = counts(folder, release, [*plugin_flags(release, *options), *flags])
        require(len(llvm) >= 3 and ours == llvm, f"{options}: ours {ours}, LLVM's {llvm}")


def histograms(folder, release):
    found = {}
    for how, flags in (("ours", plugin_flags(release)), ("llvm", ["-fmemory-profile"])):
        if how == "llvm" and release == "19":
            flags += ["-mllvm", "-memprof-use-callbacks"]
        program = linked(release, [compiled(folder, "masked.c", release,
                                            [*flags, "-mllvm", "-memprof-histogram"], how)])
        profile, _ = recorded(program)
        by_function = profile.by_function(program, profile.histograms)
        found[how] = {name: [int(value) for value in values]
                      for name, values in by_function.items()}
    require(found["ours"] == found["llvm"] and any(map(sum, found["ours"].values())), f"{found}")


def places_in_source(folder, release):
    """Code on edges is of no place in the source, least of all in the function before."""
    compiled(folder, "edges.c", release, plugin_flags(release))


def tallies(folder, release):
    """Fewer updates than accesses only if counts are merged, the more so the more may be merged."""
    found = {}
    teller = compiled(folder, "tally.c", release, [], "teller")
    for options in ((), (EACH,), (NEAR,)):
        program = linked(release, [compiled(folder, "masked.c", release,
                                            plugin_flags(release, "-pgokit-heap-tally", *options)),
                                   teller])
        found[options] = [int(word) for word in run([program], folder).stderr.split()]
        for path in raw_profile.files(folder):
            os.remove(path)
    merged, each, near = found[()], found[(EACH,)], found[(NEAR,)]
    require(each[0] == each[1] > 1000 and merged[0] < merged[1] / 2, f"{found}")
    require(merged[0] < near[0] < near[1], f"{found}")
    return [f"{merged[0]} updates for {merged[1]} accesses; near ones merged: {near[0]}; each by "
            f"itself: {each[0]}"]


def by_config(folder, release):
    """What pgokit config prints; other options of the plugin may follow."""
    plugin_flags(release)
    told = run([PGOKIT, "config", "--cflags", "heap", "--cc", f"clang++-{release}"], folder)
    libraries = [word for word in told.stdout.split() if word.startswith(("-l", "-L"))]
    require(not libraries, f"libtool takes {libraries} for libraries")
    require(f"counted by the plugin for clang {release}: {PLUGINS[release]}" in told.stderr,
            told.stderr)
    program = linked(release, [compiled(folder, "random_access.c", release,
                                        [*told.stdout.split(), "-mllvm", "-pgokit-heap-verify"])])
    profile, out = recorded(program, "7", "1", "20000")
    require_exact(program, out, profile)


def many_cases(n):
    """A function of very many cases: of one object in each, and of an object of the case's own."""
    yield "#include <stdlib.h>\n#include <stdio.h>\n"
    yield "__attribute__((noinline)) static int step(volatile int *p, int *q, int x) {\n"
    yield "switch (x) {\n"
    for i in range(n):
        more = f"p[{i * 7 % 64}]++;" if i % 3 else ""
        end = "break" if i % 5 else "return q[1]"
        yield f"case {i}: p[{i % 64}] = {i}; {more} q[{i % 8}] ^= {i + 1}; {end};\n"
    yield "} return p[0]; }\n"
    yield """__attribute__((noinline)) void *cases(void) { return malloc(256); }
__attribute__((noinline)) void *plain(void) { return malloc(64); }
int main(void) { void *p = cases(), *q = plain(); int sum = 0;
for (int i = 0; i < %d; i++) sum += step(p, q, i); free(p); free(q); return sum == 7; }
""" % n


def exact_of_many_cases(folder, release, level):
    n = 2000
    path = os.path.join(folder, "many.c")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(many_cases(n))
    run([tool(f"clang-{release}"), *FRAMES, "-" + level, *plugin_flags(release), "-c", path, "-o",
         os.path.join(folder, "many.o")], folder)
    program = linked(release, [os.path.join(folder, "many.o")])
    profile, _ = recorded(program)
    found = profile.by_function(program)
    returns = len(range(0, n, 5))
    # One store, two by ++, p[0] at the end; q is read and written, and q[1] read at a return.
    expected = {"cases": n + 2 * (n - len(range(0, n, 3))) + n - returns}
    if level == "O0":
        expected["plain"] = 2 * n + returns
    else:  # q[1] that was just written is not read again
        expected["plain"] = 2 * n + len([i for i in range(0, n, 5) if i % 8 != 1])
    counted = {name: int(found[name][2]) for name in expected}
    require(counted == expected, f"counted {counted}, truth {expected}")


def main():
    cases = Cases()
    for release in RELEASES:
        for level in ("O1", "O2", "O3"):
            cases.run(f"exact, clang-{release} -{level}", exact, release, level)
            cases.run(f"exact, clang-{release} -{level}, each access by itself", exact, release,
                      level, EACH)
        for level in ("O0", "O2"):
            cases.run(f"clang-{release} -{level}: a function of 2000 cases is counted exactly",
                      exact_of_many_cases, release, level)
        cases.run(f"exact, clang-{release} ThinLTO", exact_after_thin_lto, release)
        cases.run(f"clang-{release}: names as of -fmemory-profile", same_interface, release)
        cases.run(f"clang-{release}: named three times, the plugin counts once", once, release)
        cases.run(f"clang-{release}: as pgokit config says", by_config, release)
        cases.run(f"clang-{release}: code on edges is of no other function's source",
                  places_in_source, release)
        cases.run(f"clang-{release}: updates are fewer than accesses", tallies, release)
        for flags in (["-O0"], ["-O1"], ["-O3", "-mavx2"]):
            cases.run(f"clang-{release} {' '.join(flags)}: as -fmemory-profile counts", as_llvm,
                      release, flags)
    for release in ("19", "22"):
        cases.run(f"clang-{release}: histograms as of -fmemory-profile", histograms, release)
    cases.finish()


if __name__ == "__main__":
    main()
