"""Optional: counters by an independent decoder, instrprof_decode.py, which lies outside this tree,
in oracle/ of a folder "shared" beside it or of $PGOKIT_SHARED."""

import glob
import os
import sys

from instr_profiles import same_text
from peers import HERE, Skip, good, main

GOLDEN = os.path.join(HERE, os.pardir, "golden")
ROOT = os.path.abspath(os.path.join(HERE, os.pardir, os.pardir))


def oracle():
    shared = os.environ.get("PGOKIT_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
    path = os.path.join(shared, "oracle", "instrprof_decode.py")
    if not os.path.exists(path):
        raise Skip("optional: no independent decoder beside this tree")
    return path


def decoded(work, path):
    same_text(good(sys.executable, oracle(), "--keep-vtable-symbols", path),
              good(work.pgokit, "show", "--raw", path), os.path.basename(path))


def summarised(work, path):
    """The summary in a file that we write, computed again."""
    folder = work.temp("summary")
    for index in (5, 7, 9, 11, 12, 13):
        out = f"{folder}/{index}"
        good(work.pgokit, "merge", "-q", path, "--index-version", str(index), "-o", out)
        good(sys.executable, oracle(), "--summary", out)


def add_cases(work, tap):
    for path in sorted(glob.glob(f"{GOLDEN}/instr-*/*.prof*")):
        if not path.endswith(".txt"):
            tap.add(f"decoded: {os.path.basename(path)}", decoded, work, path)
    for path in sorted(glob.glob(f"{GOLDEN}/instr-raw/*-ir.profraw")):
        tap.add(f"summary: {os.path.basename(path)}", summarised, work, path)


if __name__ == "__main__":
    sys.exit(main(add_cases))
