#!/usr/bin/env python3
"""The heap matrix: what each release of LLVM writes and reads of heap profiles, against pgokit. Its
rows are the releases (heap_releases), what is made by them and by pgokit (heap_fixtures), and what
is asked about it, in a module for each question. Each test program takes a part of the questions:

    heap_matrix.py PART PGOKIT FOLDER
"""

import sys

import heap_converted
import heap_merged
import heap_refused
import heap_same
import heap_taken
from heap_fixtures import Fixtures
from heap_releases import RELEASES
from peers import at_hand, main, tool

# Each part takes a minute of processor time or less.
PARTS = {
    "records": (heap_same.record_rows,),
    "taken": (heap_taken.rows,),
    "converted": (heap_converted.rows, heap_taken.compiler_rows, heap_same.byte_rows),
    "refused": (heap_refused.rows, heap_merged.rows, heap_same.older_rows),
}


def add_cases(f, tap):
    for release in at_hand(*RELEASES):
        tool("clang", release)
        tool("llvm-profdata", release)
    tool("readelf")
    for rows in PARTS[part]:
        rows(f, tap)


if __name__ == "__main__":
    part = sys.argv.pop(1)
    sys.exit(main(add_cases, Fixtures))
