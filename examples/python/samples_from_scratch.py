#!/usr/bin/env python3
r"""Makes a sample profile for clang -fprofile-sample-use from samples of one's own. A line of the
input is a function, lines after its first line, and how often that place was sampled:

    printf 'main 4 120\nparse 1 80\nparse 2 15\n' | samples_from_scratch.py app.afdo
"""

import sys

import pgokit

builder = pgokit.SampleBuilder()
for row in sys.stdin:
    function, line, samples = row.split()
    builder.function(function).line(int(line), int(samples))
builder.finish().write(sys.argv[1])
