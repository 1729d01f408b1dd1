#!/usr/bin/env python3
"""Fails if a program allocates more bytes than it did, by more than so many per cent:

    growth_gate.py before.memprof now.memprof 5
"""

import sys

import pgokit

before, now = (pgokit.HeapProfile.read(path) for path in sys.argv[1:3])
change = now.compare(before)
print(f"{change.growth_percent:+.1f} % bytes, {change.objects_growth_percent:+.1f} % objects; "
      f"{change.overlap:.0%} of the bytes by the same call stacks")
sys.exit(change.growth_percent > float(sys.argv[3]))
