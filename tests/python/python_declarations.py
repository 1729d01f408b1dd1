#!/usr/bin/env python3
"""What the Python module knows of the library is what the headers say: every exported function, and
types and constants as a C compiler has them.

usage: python_declarations.py PGOKIT LIBRARY SOURCE-FOLDER BUILD-FOLDER
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))

import pgokit  # noqa: E402
from tap import Report  # noqa: E402

SOURCE = pathlib.Path(sys.argv[3])


def functions():
    """Each function of the map can be called by its name."""
    mapped = re.findall(r"\b(pgk_\w+);", (SOURCE / "lib/libpgokit.map").read_text(encoding="utf-8"))
    problems = [] if len(mapped) > 100 else ["the map has hardly a function"]
    for name in mapped:
        try:
            if pgokit.ffi.typeof(getattr(pgokit.lib, name)).kind != "function":
                problems.append(f"{name} is no function")
        except AttributeError as failure:
            problems.append(str(failure))
    return problems


def asserts():
    """C that only compiles if the headers say the same."""
    _, structs, unions = pgokit.ffi.list_types()
    lines = ["#include <pgokit/pgokit.h>", "#include <stddef.h>"]
    seen = 0
    for name in structs:
        kind = pgokit.ffi.typeof(f"struct {name}")
        try:
            size = pgokit.ffi.sizeof(kind)  # also makes cffi look at the fields
        except pgokit.ffi.error:
            continue  # a handle, of which only the library knows more
        seen += 1
        lines.append(f'_Static_assert(sizeof(struct {name}) == {size}, "");')
        for field, at in kind.fields:
            lines.append(f"_Static_assert(offsetof(struct {name}, {field}) == {at.offset} && "
                         f"sizeof(((struct {name} *)0)->{field}) == "
                         f"{pgokit.ffi.sizeof(at.type)}, \"{field}\");")
    return lines, seen, unions


def enumerators():
    text = "\n".join(path.read_text(encoding="utf-8")
                     for path in (SOURCE / "include/pgokit").glob("*.h"))
    lines, seen = [], 0
    for name in sorted(set(re.findall(r"^enum (\w+) \{", text, re.MULTILINE))):
        for constant, value in pgokit.ffi.typeof(f"enum {name}").relements.items():
            seen += 1
            lines.append(f"_Static_assert({constant} == ({value}), \"{name}\");")
    return lines, seen


def layout():
    if not shutil.which("gcc"):
        return ["there is no gcc"]
    lines, structs, unions = asserts()
    more, constants = enumerators()
    if structs < 50 or constants < 100 or unions:
        return [f"{structs} structs, {constants} constants, unions {unions}: not what is expected"]
    done = subprocess.run(
        ["gcc", "-std=gnu17", "-fsyntax-only", "-I", SOURCE / "include", "-x", "c", "-"],
        input="\n".join(lines + more) + "\n", capture_output=True, text=True, check=False)
    return done.stderr.splitlines() if done.returncode else []


def made_anew():
    """A header that changes changes what is made, and does so without the old one."""
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(shutil.copytree(SOURCE / "include", pathlib.Path(folder, "include")))
        header = include / "pgokit/human.h"
        text = header.read_text(encoding="utf-8")
        header.write_text(text.replace("#pragma GCC visibility pop",
                                       "int pgk_human_added(int);\n#pragma GCC visibility pop"),
                          encoding="utf-8")
        output = pathlib.Path(folder, "made.py")
        subprocess.run([sys.executable, SOURCE / "python/make_cffi.py", include, output],
                       check=True, env=dict(os.environ, CC=shlex.quote("gcc")))
        made = output.read_text(encoding="utf-8")
        return [] if "pgk_human_added" in made and "pgk_human_count" in made else ["not in it"]


def same_version():
    version = re.search(r"version: '(.*?)'", (SOURCE / "meson.build").read_text(encoding="utf-8"))
    return [] if version[1] == pgokit.__version__ else [f"{version[1]} and {pgokit.__version__}"]


def main():
    report = Report()
    report.case("every function of the library can be called", functions())
    report.case("structs and constants are as a C compiler has them", layout())
    report.case("declarations follow the headers", made_anew())
    report.case("the module has the library's version", same_version())
    report.end()


main()
