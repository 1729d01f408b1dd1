#!/usr/bin/env python3
"""Prints the ten call stacks that allocate most bytes, as a table:

    top_contexts.py memprof.profraw.4711 ./app

A raw profile holds addresses and needs the program that was run, which is also found by its build
id where perf, debuginfod or /usr/lib/debug have it; other profiles have names.
"""

import sys

import pgokit


def main() -> int:
    path, *binaries = sys.argv[1:]
    try:
        profile = pgokit.HeapProfile.read(path, binaries=binaries or None)
    except pgokit.Error as error:
        print(error, file=sys.stderr)
        return 1
    total = profile.total() or 1
    print(f"{'bytes':>14} {'share':>6} {'objects':>10}  function, called by")
    for context in profile.top(10):
        size = context["TotalSize"]
        calls = " < ".join(f"{frame.function} ({frame.place})" if frame.place else frame.function
                           for frame in context.frames[:3])
        print(f"{size:14,} {size / total:6.1%} {context['AllocCount']:10,}  {calls}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
