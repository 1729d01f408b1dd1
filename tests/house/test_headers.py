#!/usr/bin/env python3
"""Each public header compiles alone, and twice, in C17 and in C++17, without a warning.

usage: test_headers.py INCLUDE-FOLDER C-COMPILER...
"""

import pathlib
import shutil
import subprocess
import sys

from tap import Report

# Plain gcc has no C++; clang-22, which the tests need anyway, has.
CXX_CHOICE = ["c++", "g++", "clang++", "clang++-22", "clang++-19"]


def compile_alone(compiler, flags, include, header):
    source = f'#include "{header}"\n#include "{header}"\nextern int header_test;\n'
    command = [*compiler, *flags, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
               "-I", str(include), "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [" ".join(command), done.stderr]


def main():
    include, c_compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    cxx_compiler = next((found for name in CXX_CHOICE if (found := shutil.which(name))), None)
    report = Report()
    for path in sorted(include.rglob("*.h")):
        header = path.relative_to(include)
        report.case(f"{header} in C17",
                    compile_alone(c_compiler, ["-std=c17", "-x", "c"], include, header))
        report.case(f"{header} in C++17",
                    compile_alone([cxx_compiler], ["-std=c++17", "-x", "c++"], include, header)
                    if cxx_compiler else ["no C++ compiler found"])
    report.end()


main()
