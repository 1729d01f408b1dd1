#!/usr/bin/env python3
"""Tests of the command line: VERB/NAME.test holds commands and what they must print.

usage: run.py PGOKIT [--rebase] [VERB/NAME...]

    # What it is about, for people.
    pgokit show --top 2 golden/indexed/llvm22-v4.profdata
    --- status 0
    --- stdout
    ...
      objects          7
    ...
    --- stderr

Up to the first line of dashes it is a script for bash, which runs in an empty folder; `golden` is
tests/golden, `pgokit` the program under test. A part that is left out is status 0, or no output.
A script that runs programs of the system says so in a comment, `# Needs programs of its
processor.`, and is left out where pgokit is built for another one: an emulator starts each command
in a quarter of a second, so one case in four is run there. In a part whose line ends with
`glob`, `*` stands for any characters, and a line `...` for any number of lines. With --rebase what
was found is written into the file, except where a glob still fits.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))

import emulated  # noqa: E402
from tap import Report  # noqa: E402

PART = re.compile(r"^--- (?:status (?P<status>\d+)|(?P<stream>stdout|stderr)(?P<glob> glob)?)\n",
                  re.MULTILINE)
STREAMS = ("stdout", "stderr")


class Expected:
    """The parts of a .test file."""

    def __init__(self, text):
        self.status, self.text = 0, dict.fromkeys(STREAMS, "")
        self.globs = set()
        parts = list(PART.finditer(text))
        self.script = text[:parts[0].start()] if parts else text
        for part, following in zip(parts, [*parts[1:], None]):
            if part["status"]:
                self.status = int(part["status"])
                continue
            self.text[part["stream"]] = text[part.end():following.start() if following else None]
            if part["glob"]:
                self.globs.add(part["stream"])

    def fits(self, stream, found):
        if stream not in self.globs:
            return found == self.text[stream]
        pattern = "".join(
            r"(?:.*\n)*" if line == "...\n" else ".*".join(map(re.escape, line.split("*")))
            for line in self.text[stream].splitlines(keepends=True))
        return re.fullmatch(pattern, found) is not None


def run(pgokit, script):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "bin").mkdir()
        emulated.put(pgokit, place / "bin/pgokit")
        work = place / "work"
        work.mkdir()
        (work / "golden").symlink_to(HERE.parent / "golden")
        of_output = ("COLUMNS", "LINES", "NO_COLOR", "PAGER", "PGOKIT_PAGER", "LESS", "LV")
        kept = {name: value for name, value in os.environ.items() if name not in of_output}
        environment = {**kept, "PATH": f"{place}/bin:{os.environ['PATH']}", "LC_ALL": "C",
                       "XDG_CACHE_HOME": "/nonexistent", "PERF_BUILDID_DIR": "/nonexistent",
                       "DEBUGINFOD_CACHE_PATH": "/nonexistent", "DEBUGINFOD_URLS": "",
                       "TERM": "dumb"}
        done = subprocess.run(["bash", "-c", script], cwd=work, env=environment, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        return done.returncode, {stream: getattr(done, stream).decode("utf-8", "replace")
                                 for stream in STREAMS}


def problems_of(expected, status, found):
    problems = []
    if status != expected.status:
        problems.append(f"exit status {status}, expected {expected.status}")
    for stream in STREAMS:
        if not expected.fits(stream, found[stream]):
            problems += [f"--- {stream}, found:", found[stream] or "(nothing)",
                         f"--- {stream}, expected:", expected.text[stream] or "(nothing)"]
    return problems


def rebased(expected, status, found):
    """The text of the file with what was found. A last line without an end cannot be written."""
    text = expected.script
    if status:
        text += f"--- status {status}\n"
    for stream in STREAMS:
        if stream in expected.globs and expected.fits(stream, found[stream]):
            text += f"--- {stream} glob\n{expected.text[stream]}"
        elif found[stream]:
            text += f"--- {stream}\n{found[stream]}"
    return text if text.endswith("\n") else text + "\n"


def main():
    pgokit = shutil.which(sys.argv[1])
    names = [name for name in sys.argv[2:] if name != "--rebase"]
    files = [HERE / f"{name.removesuffix('.test')}.test" for name in names]
    report = Report()
    for file in files or sorted(HERE.glob("*/*.test"))[::4 if emulated.EMULATOR else 1]:
        expected, name = (Expected(file.read_text(encoding="utf-8")),
                          str(file.relative_to(HERE).with_suffix("")))
        if emulated.EMULATOR and "# Needs programs of its processor.\n" in expected.script:
            report.skip(name, "no program of this processor")
            continue
        status, found = run(os.path.abspath(pgokit), expected.script)
        problems = problems_of(expected, status, found)
        if problems and "--rebase" in sys.argv[2:]:
            file.write_text(rebased(expected, status, found), encoding="utf-8")
            problems = []
        report.case(name, problems)
    report.end()


if __name__ == "__main__":
    main()
