"""What the tests of the branch recorder share: programs, recordings, and what is made of them."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
from harness import run, tool  # noqa: E402
from recording import Recording  # noqa: E402

PGOKIT, LIBRARY, ARCHIVE, STATIC_ARCHIVE = map(os.path.abspath, sys.argv[1:5])
PROGRAMS = os.path.join(HERE, "programs")
FAST = ["--real-time", "-F", "2000"]


def build(folder, source, *more):
    return build_with(folder, "g++" if source.endswith("cpp") else "gcc", source, *more)


def build_with(folder, compiler, source, *more):
    out = os.path.join(folder, source.split(".")[0])
    run([tool(compiler), "-O2", "-g", os.path.join(PROGRAMS, source), "-o", out,
         "-Wl,--build-id", "-pthread", "-ldl", *more], folder)
    return out


def build_linked(folder, source, *more, archive=ARCHIVE):
    """With the recorder in it, whether the program calls it or not."""
    return build(folder, source, "-Wl,-u,pgokit_branches_start", archive, *more)


def recording_itself(folder, options, argv, **kw):
    """Runs a program that has the recorder in it; the recordings are r.PROCESS."""
    return run(argv, folder, env={"PGOKIT_BRANCHES_OPTIONS": f"out={folder}/r.%p:{options}"}, **kw)


def record(folder, *command, options=(), **kw):
    return run([PGOKIT, "record", "branches", *options, "--", *command], folder, **kw)


def recordings(folder, start):
    return [Recording(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
            if name.startswith(start)]


def preloaded(folder, options, argv, **kw):
    """Runs a program with the library alone; the recordings are r.PROCESS."""
    return run(argv, folder, env={"LD_PRELOAD": LIBRARY, "PGOKIT_BRANCHES_OPTIONS":
                                  f"out={folder}/r.%p:{options}"}, **kw)


def functions_of(folder, *inputs, binary, options=()):
    run([PGOKIT, "gen", *inputs, *options, "-b", binary, "-o", "out.text", "--to", "text"], folder)
    with open(os.path.join(folder, "out.text"), encoding="utf-8") as text:
        return {line.split(":")[0]: int(line.split(":")[1]) for line in text
                if re.match(r"^[^ \n]", line)}


def types_of(text):
    """Sums of the counts of vtables."""
    found = {}
    for name, count in re.findall(r" (_ZTV\w+):(\d+)", text):
        found[name] = found.get(name, 0) + int(count)
    return found
