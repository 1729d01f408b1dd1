#!/usr/bin/env python3
"""What each dump of a program that goes on writes, and its CPU time.

  bench/runtime/dumps.py [--depth 17] [--dumps 12] [--idle] LIBRARY...

Each LIBRARY is a libpgokit_heap.so; several are compared. The program has 2^DEPTH contexts with one
object each, which it makes anew for each dump, or with --idle once. "MB" is what the process asks
the system to write, "dirtied" what of it was not about to be written anyway; in the end there is
what the file takes.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def measured(library, options, folder):
    """Of each dump: bytes asked, bytes dirtied, microseconds; and what the file is."""
    program, path = f"{folder}/program", f"{folder}/p.profraw"
    subprocess.run(["cc", "-O1", "-fno-optimize-sibling-calls", "-fno-builtin",
                    HERE / "dump_rounds.c", "-o", program, "-ldl"], check=True)
    argv = [program, str(options.depth), str(options.dumps), *(["idle"] if options.idle else [])]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, cwd=folder,
                          env={"LD_PRELOAD": os.path.abspath(library),
                               "PGOKIT_HEAP_OPTIONS": f"out={path}", "PATH": os.environ["PATH"]})
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    found = os.stat(path)
    return rows, found.st_size, found.st_blocks * 512


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", nargs="+")
    parser.add_argument("--depth", type=int, default=17)
    parser.add_argument("--dumps", type=int, default=12)
    parser.add_argument("--idle", action="store_true", help="nothing happens between dumps")
    options = parser.parse_args()
    results = []
    for library in options.library:
        # Not in a folder in memory, where nothing is to be written.
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
            results.append(measured(library, options, folder))
    print("dump" + f"{'MB':>12}{'dirtied':>10}{'CPU ms':>10}" * len(results))
    for n in range(options.dumps):
        cells = [f"{row[n][0] / 1e6:12.1f}{row[n][1] / 1e6:10.1f}{row[n][2] / 1e3:10.0f}"
                 for row, _, _ in results]
        print(f"{n + 1:4}" + "".join(cells))
    sums = [[sum(column) for column in zip(*rows)] for rows, _, _ in results]
    print(" all" + "".join(f"{a / 1e6:12.1f}{d / 1e6:10.1f}{us / 1e3:10.0f}" for a, d, us in sums))
    for library, (_, size, blocks) in zip(options.library, results):
        print(f"{library}: the file has {size / 1e6:.1f} MB and takes {blocks / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
