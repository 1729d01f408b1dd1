"""Programs with the heap profiler runtime in them, and what their profiles say.

The tests that take this in are called as NAME.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS."""

import os
import sys

import raw_profile
from harness import require, run, tool

HERE = os.path.dirname(os.path.abspath(__file__))
PGOKIT, ARCHIVE, SHARED, EXPORTS = map(os.path.abspath, sys.argv[1:5])
FRAMES = ["-g", "-O2", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer",
          "-fno-optimize-sibling-calls"]


def build(folder, source, compiler, link, name="program", flags=()):
    """Compiles with instrumentation and links with our runtime, or with LLVM's own."""
    out = os.path.join(folder, name)
    count = ["-fsanitize=thread"] if compiler.startswith("gcc") else ["-fmemory-profile"]
    run([tool(compiler), *FRAMES, *count, *flags, "-c", os.path.join(HERE, "programs", source),
         "-o", out + ".o"], folder)
    how = {"archive": [ARCHIVE, "-pthread"],
           "static": ["-static", ARCHIVE, "-pthread"],
           "shared": [SHARED, "-pthread", f"-Wl,-rpath,{os.path.dirname(SHARED)}"],
           "overruled": ["-fmemory-profile", "-fno-memory-profile", ARCHIVE, "-pthread"],
           "resources": ["-fmemory-profile", f"-resource-dir={folder}/resources"],
           "takeover": ["-fmemory-profile", "-shared-libsan", "-pthread"],
           "llvm": ["-fmemory-profile", "-pthread"]}[link]
    stand_in(folder, link)
    run([tool(compiler), out + ".o", "-o", out, "-no-pie", "-Wl,--build-id", *how], folder)
    return out


def stand_in(folder, link):
    """Our runtime under the names of LLVM's."""
    if link == "resources":
        libraries = os.path.join(folder, "resources", "lib", "linux")
        os.makedirs(libraries)
        os.symlink(ARCHIVE, os.path.join(libraries, "libclang_rt.memprof-x86_64.a"))
    if link == "takeover":
        os.mkdir(os.path.join(folder, "taken"))
        os.symlink(SHARED, os.path.join(folder, "taken", "libclang_rt.memprof-x86_64.so"))


def one_file(folder):
    found = raw_profile.files(folder)
    require(len(found) == 1, f"profiles: {found}")
    return found[0]


def check_sound(*paths):
    return run([PGOKIT, "check", *paths], "/").stdout


def require_exact(program, out, profile, sites=12):
    """The profile has what the program says of itself."""
    truth = {}
    for line in out.splitlines():
        name, *values = line.split()
        truth[name] = [int(value) for value in values]
    require(len(truth) == sites, f"the program said {out}")
    require(not profile.interrupted, "a finished profile says it was interrupted")
    found, touched = profile.by_function(program), profile.touched_by_function(program)
    wrong = []
    for name, values in truth.items():
        counted = list(found.get(name, []))
        if len(values) > 5 and profile.merged:
            values = values[:5]
        elif len(values) > 5:  # the program knows what was touched, too
            counted += touched.get(name, [])
        if counted != values:
            wrong.append(f"{name}: counted {counted}, truth {values}")
    require(not wrong, "\n".join(wrong))
