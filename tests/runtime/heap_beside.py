#!/usr/bin/env python3
"""The plugins that count accesses beside other instrumentation of the compiler: what cannot be in
one program is refused by name when compiling, and what can does its work and leaves counts exact.

usage: heap_beside.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS [COMPILER=PLUGIN]..."""

import glob
import os
import re
import sys

import raw_profile
from harness import Cases, Skip, built_by, require, run, tool
from runtime_programs import ARCHIVE, FRAMES, HERE, one_file

PLUGINS = dict(argument.split("=", 1) for argument in sys.argv[5:])
COMPILERS = ("clang-14", "clang-16", "clang-19", "clang-22", "gcc-12")
REFUSED = {"gcc": ("address", "thread", "leak", "undefined,address"),
           "clang": ("address", "thread", "memory", "hwaddress", "kernel-address",
                     "undefined,thread", "fuzzer", "fuzzer-no-link")}
NEW = {"clang-22": ("type", "numerical")}


def plugin_flags(compiler):
    if compiler not in PLUGINS:
        raise Skip(f"missing headers of {compiler}: no plugin for it has been built")
    return [("-fplugin=" if compiler.startswith("gcc") else "-fpass-plugin=") + PLUGINS[compiler]]


def compiled(folder, compiler, flags, name="beside", status=0):
    """The path of an object, and what the compiler said."""
    path = os.path.join(folder, name + ".o")
    said = run([tool(compiler), *FRAMES, *flags, "-c",
                os.path.join(HERE, "programs", "beside.c"), "-o", path], folder, status=status)
    return path, said.stderr


def program(folder, compiler, flags, count=True, name="beside"):
    how = plugin_flags(compiler) if count else []
    path, _ = compiled(folder, compiler, [*how, *flags], name)
    out = path.removesuffix(".o")
    archive = [ARCHIVE] if count else []
    run([tool(compiler), path, *flags, "-o", out, "-no-pie", "-Wl,--build-id", *archive,
         "-pthread"], folder)
    built_by(out, tool(compiler))
    return out


def require_ten_of_each(path):
    found = raw_profile.Profile(one_file(os.path.dirname(path))).by_function(path)["input"]
    n, size, accesses, least, most = map(int, found)
    require((n, size, accesses, least, most) == (100, 6400, 1000, 10, 10),
            f"objects, bytes, accesses, least, most of them: {found}")


def refused(folder, compiler, option):
    how = plugin_flags(compiler)
    path, said = compiled(folder, compiler, [*how, "-fsanitize=" + option], status=1)
    errors = [line for line in said.splitlines() if "error: " in line]
    name = option.rsplit(",", maxsplit=1)[-1]
    if compiler.startswith("clang"):
        name = name.removeprefix("kernel-").removesuffix("-no-link")
    require(len(errors) == 1 and f"-fsanitize={name}" in errors[0] and
            "leave out that option or the plugin" in errors[0], said)
    require(not os.path.exists(path), "there is an object")


def counts_beside(folder, compiler, flags):
    path = program(folder, compiler, flags)
    run([path], folder, {"LLVM_PROFILE_FILE": "counters"})
    require_ten_of_each(path)


def undefined(folder, compiler):
    """An overflow is reported as without the plugin."""
    reports = []
    options = {"UBSAN_OPTIONS": ""}  # newer releases of meson let reports end programs
    for count in (False, True):
        path = program(folder, compiler, ["-fsanitize=undefined"], count)
        reports.append(run([path, "overflow"], folder, options).stderr)
    require_ten_of_each(path)
    require("signed integer overflow" in reports[0] and reports[0] == reports[1],
            f"plain:\n{reports[0]}counted:\n{reports[1]}")


def blocks_traced(folder, compiler):
    flags = ["-fsanitize-coverage=trace-pc", "-DTRACED"]
    said = [run([program(folder, compiler, flags, count)], folder).stdout
            for count in (False, True)]
    require_ten_of_each(os.path.join(folder, "beside"))
    require(said[0] == said[1] and not said[0].startswith("0 "), f"{said}")


def lines_counted(folder, compiler):
    """Counts of lines, as gcov shows them, are those of a build without the plugin."""
    release = compiler.rsplit("-", maxsplit=1)[-1]
    gcov = [tool("gcov-" + release)] if compiler.startswith("gcc") else [
        tool("llvm-cov-" + release), "gcov"]
    shown = []
    for name, count in (("plain", False), ("counted", True)):
        inside = os.path.join(folder, name)
        os.mkdir(inside)
        run([program(inside, compiler, ["--coverage", "-O0"], count)], inside)
        [data] = glob.glob(inside + "/*.gcda")
        text = run([*gcov, "-t", os.path.basename(data)], inside).stdout
        shown.append(re.findall(r"^ *(\S+): *(\d+):", text, re.M))
    require_ten_of_each(os.path.join(folder, "counted", "beside"))
    require(shown[0] == shown[1] and any(count == "900" for count, _ in shown[0]),
            f"plain {shown[0]}\ncounted {shown[1]}")


def leaks_by_clang(folder, compiler):
    """No mark in a unit says that a link will have the leak sanitizer; but that fails."""
    path, _ = compiled(folder, compiler, plugin_flags(compiler))
    said = run([tool(compiler), path, "-fsanitize=leak", "-o", os.path.join(folder, "beside"),
                ARCHIVE, "-pthread"], folder, status=None)
    require(said.returncode != 0 and "multiple definition" in said.stderr, said.stderr)


def main():
    cases = Cases()
    for compiler in COMPILERS:
        family = compiler.split("-", maxsplit=1)[0]
        for option in (*REFUSED[family], *NEW.get(compiler, ())):
            cases.run(f"{compiler} -fsanitize={option} is refused when compiling", refused,
                      compiler, option)
        cases.run(f"{compiler} -fsanitize=undefined reports, and counts are exact", undefined,
                  compiler)
        cases.run(f"{compiler}: coverage of blocks as kcov has it", blocks_traced, compiler)
        cases.run(f"{compiler}: gcov counts lines as without the plugin", lines_counted, compiler)
        for flag in ("-pg", "-fprofile-generate"):
            cases.run(f"{compiler} {flag}: counts are exact", counts_beside, compiler, [flag])
        if family == "clang":
            for flags in (["-fsanitize-coverage=trace-pc-guard"], ["-fxray-instrument"],
                          ["-fprofile-instr-generate", "-fcoverage-mapping"],
                          ["-fsanitize=safe-stack"]):
                cases.run(f"{compiler} {flags[0]}: counts are exact", counts_beside, compiler,
                          flags)
            cases.run(f"{compiler} -fsanitize=leak does not link", leaks_by_clang, compiler)
    cases.finish()


if __name__ == "__main__":
    main()
