#!/usr/bin/env python3
"""Fails if a function that is to run without malloc allocates, itself or through what it calls:

    PROGRAM=./app FUNCTION=draw_frame python3 -m unittest test_allocations

The program is neither built nor changed for it: `pgokit record heap` preloads the profiler. It
needs debug information or symbols.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

import pgokit

PROGRAM = os.environ.get("PROGRAM", "./app")
FUNCTION = os.environ.get("FUNCTION", "draw_frame")


class Allocations(unittest.TestCase):
    def test_function_does_not_allocate(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            recording = pathlib.Path(folder, "app.profraw")
            subprocess.run(["pgokit", "record", "heap", "-o", recording, "--", PROGRAM], check=True)
            profile = pgokit.HeapProfile.read(recording, binaries=[PROGRAM])
        offenders = [f"{context['AllocCount']} objects, {context['TotalSize']} B: "
                     + " < ".join(frame.function for frame in context.frames)
                     for context in profile.allocations_of(FUNCTION)]
        self.assertEqual(offenders, [], f"{FUNCTION} allocates")


if __name__ == "__main__":
    unittest.main()
