#!/usr/bin/env python3
"""The plugin for gcc: exact counts, and no more than once for each access.

usage: heap_plugin_gcc.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS [RELEASE=PLUGIN]..."""

import os
import sys

import raw_profile
from harness import Cases, Skip, built_by, require, run, tool
from runtime_programs import (ARCHIVE, FRAMES, HERE, PGOKIT, check_sound, one_file,
                              require_exact)

PLUGINS = dict(argument.split("=", 1) for argument in sys.argv[5:])
RELEASES = sorted(PLUGINS) or ("12",)


def plugin_flags(release, *options):
    if release not in PLUGINS:
        raise Skip(f"missing gcc-{release}-plugin-dev: no plugin for gcc {release} has been built")
    name = os.path.basename(PLUGINS[release]).removesuffix(".so")
    return ["-fplugin=" + PLUGINS[release], "-fchecking",
            *[f"-fplugin-arg-{name}-{option}" for option in options]]


def built(folder, release, source, flags, link=(), compiler="gcc"):
    path = os.path.join(folder, "program")
    gcc = tool(f"{compiler}-{release}")
    run([gcc, *FRAMES, *flags, "-c", os.path.join(HERE, "programs", source), "-o", path + ".o"],
        folder)
    run([gcc, path + ".o", *link, "-o", path, "-no-pie", "-Wl,--build-id", ARCHIVE, "-pthread"],
        folder)
    built_by(path, gcc)
    return path


def recorded(program, *arguments):
    """The profile of a run, and what it printed."""
    folder = os.path.dirname(program)
    for path in raw_profile.files(folder):
        os.remove(path)
    out = run([program, *arguments], folder).stdout
    return raw_profile.Profile(one_file(folder)), out


def exact(folder, release, flags, options=(), link=()):
    program = built(folder, release, "random_access.c", [*plugin_flags(release, *options), *flags],
                    link)
    profile, out = recorded(program, "7", "1", "20000")
    check_sound(one_file(folder))
    require_exact(program, out, profile)


def exact_by_link_time(folder, release):
    lto = ["-O2", "-flto"]
    exact(folder, release, lto, link=[*plugin_flags(release), *lto])


def by_config(folder, release):
    """What pgokit config prints."""
    plugin_flags(release)
    config = [PGOKIT, "config", "--cflags", "heap", "--cc", f"g++-{release}"]
    told = run(config, folder)
    require(f"counted by the plugin for gcc {release}: {PLUGINS[release]}" in told.stderr,
            told.stderr)
    program = built(folder, release, "random_access.c", told.stdout.split())
    profile, out = recorded(program, "7", "1", "20000")
    require_exact(program, out, profile)
    more = run([*config, "--histogram"], folder).stdout.split()
    require(set(more) - set(told.stdout.split()) == set(plugin_flags(release, "histogram")[2:]),
            f"{more}")


def each_kind(folder, release, flags):
    """Each function of the program accesses an object of its own, as often as it says."""
    for options in ((), ("coalesce=0",)):
        program = built(folder, release, "kinds.c", [*plugin_flags(release, *options), *flags])
        profile, out = recorded(program)
        require_exact(program, out, profile, sites=out.count("\n"))


def left_in_the_middle(folder, release, flags):
    for options in ((), ("coalesce=0",)):
        program = built(folder, release, "leaving.cpp", [*plugin_flags(release, *options), *flags],
                        compiler="g++")
        profile, out = recorded(program)
        require_exact(program, out, profile, sites=3)


def histograms(folder, release):
    program = built(folder, release, "kinds.c", plugin_flags(release, "histogram"))
    profile, out = recorded(program)
    found = profile.by_function(program, profile.histograms)
    truth = {line.split()[0]: int(line.split()[3]) for line in out.splitlines()}
    wrong = {name: (list(found.get(name, [])), want) for name, want in truth.items()
             if sum(map(int, found.get(name, [0]))) != want}
    require(not wrong, f"{wrong}")


def options_that_are_not_known(folder, release):
    source = os.path.join(HERE, "programs", "kinds.c")
    for option in ("histograms", "coalesce=2", "coalesce", "file="):
        out = run([tool(f"gcc-{release}"), *plugin_flags(release, option), "-c", source, "-o",
                   os.path.join(folder, "x.o")], folder, status=1).stderr
        require("is not known" in out and "coalesce=0" in out, out)


def main():
    cases = Cases()
    for release in RELEASES:
        for flags in (["-O1"], ["-O2", "-fPIE"], ["-O3", "-fno-pie"], ["-Os"]):
            cases.run(f"exact, gcc-{release} {' '.join(flags)}", exact, release, flags)
        cases.run(f"exact, gcc-{release} -O2, each access alone", exact, release, ["-O2"],
                  ["coalesce=0"])
        cases.run(f"exact, gcc-{release} link-time optimisation", exact_by_link_time, release)
        cases.run(f"gcc-{release}: as pgokit config says", by_config, release)
        for flags in (["-O0"], ["-O2"], ["-O3", "-mavx2"]):
            cases.run(f"gcc-{release} {' '.join(flags)}: each kind of access", each_kind, release,
                      flags)
        for flags in (["-O0"], ["-O1"], ["-O2"], ["-O3", "-fnon-call-exceptions"]):
            cases.run(f"g++-{release} {' '.join(flags)}: exceptions, longjmp, ends of objects",
                      left_in_the_middle, release, flags)
        cases.run(f"gcc-{release}: histograms", histograms, release)
        cases.run(f"gcc-{release}: unknown options are refused", options_that_are_not_known,
                  release)
    cases.finish()


if __name__ == "__main__":
    main()
