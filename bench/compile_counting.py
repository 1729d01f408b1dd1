"""How long a function of many cases takes to compile with counting of accesses: clang's own pass
beside the plugin for clang, and gcc alone beside the plugin for gcc.

A function of 1,000 to 50,000 cases, each with one to three volatile accesses, is the unit on which
work that grows faster than the unit shows first. The larger two sizes take minutes and belong to
--full.
Required: the plugin for clang takes at most 1.15 times the processor time of -fmemory-profile.
"""

import os
import shutil
import subprocess

CASES, LONG_CASES = (1000, 8000), (20000, 50000)
BOUND = {"cpu": 1.15}


def source(folder, cases):
    path = os.path.join(folder, f"cases_{cases}.c")
    with open(path, "w", encoding="utf-8") as f:
        f.write("__attribute__((noinline)) int step(volatile int *p, int x) { switch (x) {\n")
        for i in range(cases):
            more = f"p[{i * 7 % 64}]++;" if i % 3 else ""
            f.write(f"case {i}: p[{i % 64}] = {i}; {more} break;\n")
        f.write("} return p[0]; }\n")
    return path


def plugin_flags(bench, compiler):
    found = subprocess.run([bench.pgokit, "config", "-q", "--cflags", "heap", "--cc", compiler],
                           check=True, stdout=subprocess.PIPE, text=True)
    return [flag for flag in found.stdout.split() if flag.startswith(("-fplugin=", "-fpass-plugin=",
                                                                      "-Xclang"))]


def cases(bench):
    """Yields (name, peer's command, our command, required ratios, labels)."""
    folder = os.path.join(bench.data, "compile_counting")
    os.makedirs(folder, exist_ok=True)
    rows = [("clang-22", ["-fmemory-profile"], BOUND), ("gcc-12", [], {})]
    for compiler, own, required in rows:
        if not shutil.which(compiler):
            print(f"\n{compiler} is missing: left out")
            continue
        plugin = plugin_flags(bench, compiler)
        labels = (" ".join([compiler, *own]), "with pgokit's plugin")
        for n in CASES + (LONG_CASES if bench.full else ()):
            for level in ("-O0", "-O2"):
                compile_ = [compiler, level, "-g", "-c", source(folder, n), "-o",
                            bench.out("cases.o")]
                yield (f"compile a function of {n} cases, {compiler} {level}",
                       [*compile_, *own], [*compile_, *plugin], required, labels)
