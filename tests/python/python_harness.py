"""What the tests of the Python module share."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runtime"))

from harness import Cases, Failure, Skip, require, run, tool  # noqa: E402

PGOKIT = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[3])
GOLDEN = SOURCE / "tests/golden"

__all__ = ["Cases", "Failure", "GOLDEN", "PGOKIT", "SOURCE", "Skip", "golden", "require", "run",
           "said", "tool"]


def golden(folder):
    """The files of a folder of golden files, without their twins."""
    found = sorted(path for path in (GOLDEN / folder).iterdir() if path.suffix != ".txt")
    require(found, f"no golden files in {folder}")
    return found


def said(*command):
    """What pgokit prints, with whatever exit status."""
    return subprocess.run([PGOKIT, *map(str, command)], capture_output=True, check=False,
                          timeout=600)
