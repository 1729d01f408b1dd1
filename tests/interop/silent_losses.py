"""No loss is silent: of each golden file, what convert writes for each target shows the same, or
convert lists what is lost and ends with 1. What it refuses, it refuses by a sentence."""

import glob
import json
import os
import sys

from peers import HERE, good, main, require, run

GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
# kind: (files, targets)
KINDS = {
    "counters": (("instr-raw/*.profraw", "instr-indexed/*.profdata", "instr-text/*.proftext"),
                 ("any", *(f"llvm{release}" for release in range(14, 24)), "text", "raw",
                  *(f"raw --format-version {version}" for version in range(8, 12)))),
    "samples": (("sample/*.afdo", "sample/*.prof"),
                ("extbinary", "extbinary --compress --split-layout", "extbinary --vtables",
                 "extbinary --format-version 104", "text", "text --vtables", "binary",
                 *(f"gcc{release}" for release in range(11, 17)))),
}
# What another file, format or version may show differently.
OF_THE_FILE = ("file", "format", "version")


def shown(work, path):
    what = json.loads(good(work.pgokit, "show", "--json", path))
    return {key: value for key, value in what.items() if key not in OF_THE_FILE}


def first_difference(a, b, place=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted({*a, *b}):
            if a.get(key) != b.get(key):
                return first_difference(a.get(key), b.get(key), f"{place}.{key}")
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return first_difference(x, y, f"{place}[{i}]")
    return f"{place}: was {str(a)[:200]}, is {str(b)[:200]}"


def convert_lists_losses(work, kind, target):
    out, whole, lossy = f"{work.temp('losses')}/out", 0, 0
    for path in sorted(path for files in KINDS[kind][0] for path in glob.glob(f"{GOLDEN}/{files}")):
        result = run(work.pgokit, "convert", path, "--to", *target.split(), "-q", "-o", out)
        if result.code == 2:
            require(" found " in result.errors or "Give " in result.errors, str(result))
            continue
        require(result.code in (0, 1), str(result))
        before, after = shown(work, path), shown(work, out)
        if result.code == 0:
            require(before == after, f"{result}\nnot the same:\n{first_difference(before, after)}")
            whole += 1
        else:
            require("warning" in result.errors, f"does not say what is lost:\n{result}")
            lossy += 1
    require(whole + lossy > 5, f"{whole} whole, {lossy} with losses")
    return f"{whole} whole, {lossy} with losses"


def add_cases(work, tap):
    for kind, (_, targets) in KINDS.items():
        for target in targets:
            tap.add(f"{kind} to {target}", convert_lists_losses, work, kind, target)


if __name__ == "__main__":
    sys.exit(main(add_cases))
