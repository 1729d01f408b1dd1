#!/usr/bin/env python3
"""Prints the twenty call stacks that allocate most bytes as CSV, for spreadsheets and data frames:

    contexts_csv.py memprof.profraw.4711 >contexts.csv
"""

import csv
import sys

import pgokit

rows = csv.writer(sys.stdout)
rows.writerow(["bytes", "objects", "function", "place", "called by"])
for context in pgokit.HeapProfile.read(sys.argv[1]).top(20):
    frame = context.frames[0]
    callers = " < ".join(caller.function for caller in context.frames[1:])
    rows.writerow([context["TotalSize"], context["AllocCount"], frame.function, frame.place,
                   callers])
