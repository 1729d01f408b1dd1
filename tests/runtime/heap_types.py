#!/usr/bin/env python3
"""Types of objects, as the plugins for compilers tell them and pgokit show finds them.

usage: heap_types.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS [COMPILER=PLUGIN]..."""

import json
import os
import sys

import raw_profile
from harness import Cases, Skip, built_by, require, run, tool
from runtime_programs import ARCHIVE, FRAMES, HERE, PGOKIT, one_file

PLUGINS = dict(argument.split("=", 1) for argument in sys.argv[5:])
COMPILERS = ("clang-14", "clang-16", "clang-19", "clang-22", "gcc-12")
SECTION = ".debug_pgokit_types"

# By the size of the object; None: not known.
C_TYPES = {101: "node", 102: "box", 103: "char", 104: "node", 105: None, 106: "node", 107: "box",
           12: "char", 109: "node*", 401: None, 110: "node", 113: "box", 114: "node"}
CXX_TYPES = {201: "shop::Item<201>", 202: "shop::Item<202>", 406: "shop::Cart::Line",
             205: "shop::Item<205>", 301: "char", 207: "shop::Item<207>",
             208: "shop::Item<208>"}


def program(folder, compiler, source, flags, plugin=True):
    if compiler not in PLUGINS:
        raise Skip(f"missing headers of {compiler}: no plugin for it has been built")
    is_gcc = compiler.startswith("gcc")
    how = [("-fplugin=" if is_gcc else "-fpass-plugin=") + PLUGINS[compiler]]
    if not plugin:
        how = ["-fmemory-profile"]
    if source.endswith(".cc"):
        compiler = compiler.replace("clang", "clang++").replace("gcc", "g++")
    compiler = tool(compiler)
    out = os.path.join(folder, "program")
    # What is compiled comes before the archive, so that the link takes its constructor.
    run([compiler, *FRAMES, *flags, *how, "-c", os.path.join(HERE, "programs", source), "-o",
         out + ".o"], folder)
    link = [*flags, *how] if is_gcc else flags
    run([compiler, *link, out + ".o", "-o", out, "-Wl,--build-id", ARCHIVE, "-pthread"], folder)
    built_by(out, compiler)
    return out


def profile_of(path):
    run([path], os.path.dirname(path))
    return one_file(os.path.dirname(path))


def types_by_size(profile, path=None):
    binaries = ["-b", path] if path else []
    shown = run([PGOKIT, "show", "--json", profile, *binaries], "/").stdout
    found = {}
    for context in json.loads(shown)["contexts"]:
        size = context["mib"]["MinSize"]
        require((context["mib"]["DataTypeId"] != 0) == ("type" in context), f"{context}")
        found.setdefault(size, set()).add(context.get("type"))
    return found


def compare(found, expected):
    for size, name in expected.items():
        require(found.get(size) == {name}, f"of {size} bytes: {found.get(size)}, not {name}")


def types_of_c(folder, compiler, flags):
    path = program(folder, compiler, "typed.c", flags)
    compare(types_by_size(profile_of(path), path), C_TYPES)


def types_of_cxx(folder, compiler, flags):
    path = program(folder, compiler, "typed.cc", flags)
    found = types_by_size(profile_of(path), path)
    require(any("_Rb_tree_node<" in str(name) and "shop::Item<400>" in name
                for names in found.values() for name in names), f"no node of the map: {found}")
    expected = dict(CXX_TYPES)
    if "-O0" in flags:
        # Older headers leave it to the library, which has no debug information.
        expected.pop(301)
    compare(found, expected)


def library_without_plugin(folder, compiler):
    """What C++'s library allocates tells its type by the names of functions."""
    path = program(folder, compiler, "typed.cc", (), plugin=False)
    found = types_by_size(profile_of(path), path)
    require(found[205] == {"shop::Item<205>"} and found[301] == {"char"}, f"{found}")
    require(found[201] == {None}, f"{found[201]}: nobody told")


def in_debug_file(folder, compiler):
    """The rows go where the debug information goes."""
    path = program(folder, compiler, "typed.c", ())
    profile = profile_of(path)
    run([tool("objcopy"), "--only-keep-debug", path, path + ".debug"], folder)
    run([tool("strip"), "-g", path], folder)
    require(SECTION not in run([tool("readelf"), "-SW", path], folder).stdout, "not stripped")
    shown = run([PGOKIT, "show", "--json", profile, "-b", path, "--debug-binary",
                 path + ".debug"], "/").stdout
    require('"type":"node*"' in shown.replace(": ", ":"), "no types")


def kept_in_indexed(folder, compiler):
    """An indexed profile keeps the numbers of types; binaries name them."""
    path = program(folder, compiler, "typed.c", ())
    merged = os.path.join(folder, "all.profdata")
    run([PGOKIT, "merge", "--full-schema", profile_of(path), "-b", path, "-o", merged], folder)
    types = run([PGOKIT, "show", "--types", merged], "/").stdout
    require("type 0x" in types and "node" not in types, types)
    compare(types_by_size(merged, path), C_TYPES)
    types = run([PGOKIT, "show", "--types", merged, "-b", path], "/").stdout
    require(types.split()[1:3] == ["4", "types;"] and "\n" in types, types)


def kept_in_own_forms(folder, compiler):
    """Partial profiles name types without any binary, and so does a merge of them."""
    path = program(folder, compiler, "typed.c", ())
    out = [os.path.join(folder, name)
           for name in ("one.pgk", "two.pgk", "both.pgk", "converted.pgk")]
    profile = profile_of(path)
    for name in out[:2]:
        run([PGOKIT, "merge", "--partial", profile, "-b", path, "-o", name], folder)
    run([PGOKIT, "merge", "--partial", *out[:2], "-o", out[2]], folder)
    run([PGOKIT, "convert", "--to", "partial", profile, "-b", path, "-o", out[3]], folder)
    os.rename(path, path + ".gone")
    for name in out:
        compare(types_by_size(name), C_TYPES)


def same_code(folder, compiler):
    """The rows are all that debug information adds: what is executed stays the same."""
    text = []
    for flags in (("-g",), ("-g0",)):
        path = program(folder, compiler, "typed.c", flags)
        run([tool("objcopy"), "-O", "binary", "--only-section=.text", path + ".o",
             path + ".text"], folder)
        with open(path + ".text", "rb") as file:
            text.append(file.read())
    require(text[0] and text[0] == text[1], "the code differs")
    require(not raw_profile.files(folder), "a profile before any run")


def main():
    cases = Cases()
    for compiler in COMPILERS:
        lto = ["-flto=thin", f"-fuse-ld=lld-{compiler[6:]}"]
        if compiler.startswith("gcc"):
            lto = ["-flto"]
        for flags in (["-O0"], ["-O2"], ["-O3", *lto]):
            text = f"{compiler} {' '.join(flags[:2])}"
            cases.run(f"{text}: types of a C program", types_of_c, compiler, flags)
            cases.run(f"{text}: types of a C++ program", types_of_cxx, compiler, flags)
        if compiler.startswith("clang"):
            cases.run(f"{compiler}: types of C++'s library without the plugin",
                      library_without_plugin, compiler)
        cases.run(f"{compiler}: types from a separate debug file", in_debug_file, compiler)
        cases.run(f"{compiler}: types in an indexed profile", kept_in_indexed, compiler)
        cases.run(f"{compiler}: types in our own forms, without the binary", kept_in_own_forms,
                  compiler)
        cases.run(f"{compiler}: the same code without debug information", same_code, compiler)
    cases.finish()


if __name__ == "__main__":
    main()
