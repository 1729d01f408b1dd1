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
    "heap": (("heap-raw/*.profraw", "indexed/*.profdata", "yaml/*.yaml", "partial/*.pgk",
              "heaptrack/*.heaptrack", "heaptrack/*.gz", "pprof/*.pb*", "allocator-heap/*.heap"),
             ("any", *(f"llvm{release}" for release in range(16, 24)), "yaml", "raw",
              *(f"raw --format-version {version}" for version in range(1, 6)),
              *(f"any --memprof-version {version}" for version in range(5)),
              "any --compiler-fields")),
    "samples": (("sample/*.afdo", "sample/*.prof"),
                ("extbinary", "extbinary --compress --split-layout", "extbinary --vtables",
                 "extbinary --format-version 104", "text", "text --vtables", "binary",
                 *(f"gcc{release}" for release in range(11, 17)))),
}
# What another file, format or version may show differently.
OF_THE_FILE = ("file", "format", "version", "index_version", "memprof_version")
# What the GUID of a function stands for: binaries have it.
OF_GUIDS = ("function", "file", "line")
# What follows from the contexts, in numbers of them.
OF_CONTEXTS = ("advice", "records")


def by_stack(what):
    """A heap profile in no order, and without the size of histograms, which have their line."""
    for context in what["contexts"]:
        context["mib"].pop("AccessHistogramSize", None)
        for frame in context["stack"]:
            for key in OF_GUIDS if "guid" in frame else ():
                frame.pop(key, None)
    what["contexts"].sort(key=lambda context: json.dumps([context["stack"], context["mib"]]))
    return {key: value for key, value in what.items() if key not in OF_CONTEXTS}


def shown(work, path):
    what = json.loads(good(work.pgokit, "show", "--json", path))
    what = {key: value for key, value in what.items() if key not in OF_THE_FILE}
    return by_stack(what) if isinstance(what.get("contexts"), list) else what


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


def fields_are_listed(result, before, after):
    """Each field that contexts have no more, or have now, or have other values of, has a line."""
    was_there, is_there, same = places(before), places(after), 0
    for place in was_there.keys() & is_there.keys():
        same += 1
        for field in was_there[place].keys() | is_there[place].keys():
            was, now = was_there[place].get(field), is_there[place].get(field)
            require(was == now or field in result.errors,
                    f"{field} was {was}, is {now}, which is not listed:\n{result}")
    require(same or " context" in result.errors or "module" in result.errors,
            f"no context is the same:\n{result}")


def places(what):
    """The numbers of each context by the places of its stack, without names."""
    keys = "guid", "line_offset", "column", "address"
    return {json.dumps([[frame.get(key) for key in keys] for frame in context["stack"]]):
            context["mib"] for context in what["contexts"]}


def inputs(work, kind):
    found = sorted(path for files in KINDS[kind][0] for path in glob.glob(f"{GOLDEN}/{files}"))
    if kind == "heap":
        found += mixed_knowledge(work)
    return found


def mixed_knowledge(work):
    """Profiles whose contexts do not all know the same fields."""
    folder, mixed = work.temp("mixed"), []
    for i, pair in enumerate((("partial/functions.pgk", "allocator-heap/gperftools2.heap"),
                              ("partial/functions.pgk", "pprof/go119-all.pb"),
                              ("indexed/llvm22-v4.profdata", "partial/functions.pgk"))):
        mixed.append(f"{folder}/mixed{i}.pgk")
        good(work.pgokit, "merge", "-q", "--partial", *(f"{GOLDEN}/{name}" for name in pair),
             "-o", mixed[-1])
    return mixed


def convert_lists_losses(work, kind, target):
    out, whole, lossy = f"{work.temp('losses')}/out", 0, 0
    for path in inputs(work, kind):
        result = run(work.pgokit, "convert", path, "--to", *target.split(), "-q", "-o", out)
        if result.code == 2:
            require(" found " in result.errors or "ive " in result.errors, str(result))
            continue
        require(result.code in (0, 1), str(result))
        before, after = shown(work, path), shown(work, out)
        if result.code == 0:
            require(before == after, f"{result}\nnot the same:\n{first_difference(before, after)}")
            whole += 1
        else:
            require("warning" in result.errors, f"does not say what is lost:\n{result}")
            if kind == "heap":
                fields_are_listed(result, before, after)
            lossy += 1
    require(whole + lossy > 3, f"{whole} whole, {lossy} with losses")
    return f"{whole} whole, {lossy} with losses"


def add_cases(work, tap):
    for kind, (_, targets) in KINDS.items():
        for target in targets:
            tap.add(f"{kind} to {target}", convert_lists_losses, work, kind, target)


if __name__ == "__main__":
    sys.exit(main(add_cases))
