#!/usr/bin/env python3
"""Recordings that are not of the given program, without build ids to tell: of another build, of a
file with another name now, of other files only.
"""

import json
import os
import shutil
import sys

from gen_profiles import without_chains
from peers import good, main, read, require, run, write
from stepped import FRAMES, LINES, built, recorded

FLAGS = ("-g", LINES, FRAMES, "-Wl,--build-id=none")


def profile(work, exe, trace, *options):
    return good(work.pgokit, "gen", "-q", trace, "-b", exe, "--to", "text", "-o", "-", *options)


def another_build(work, contexts):
    """The report says how much does not fit, and what; the exit status is 1."""
    right, trace = recorded(work, 22, "-O2", *FLAGS)
    wrong = built(work, 22, "-O1", *FLAGS)
    used = trace if contexts else without_chains(trace)
    result = run(work.pgokit, "gen", used, "-b", wrong, "-o", wrong + ".afdo", "-v")
    require(result.code == 1, str(result))
    for words in ("does not fit the program", "does not branch", "impossible ranges",
                  "in an instruction"):
        require(words in result.errors, f"'{words}' is not said\n{result}")
    quiet = run(work.pgokit, "gen", used, "-b", wrong, "-o", wrong + ".afdo", "-q")
    require(quiet.code == 1 and "does not fit" in quiet.errors, str(quiet))
    report = json.loads(run(work.pgokit, "gen", used, "-b", wrong, "-o", os.devnull,
                            "--json").text)
    require(report["unfit"] > report["used"] / 2, str(report))
    report = json.loads(good(work.pgokit, "gen", used, "-b", right, "-o", os.devnull, "--json"))
    require(report["unfit"] == 0 and report["ranges_bad"] == 0, str(report))


def instructions_of_another_build(work):
    """So it is where counts are inferred from samples of instructions alone."""
    right, trace = recorded(work, 22, "-O2", *FLAGS)
    wrong = built(work, 22, "-O1", *FLAGS)
    lines = [line for line in read(trace).split(b"\n") if b"PERF_RECORD" in line]
    for line in read(trace).split(b"\n"):
        if b"/0x" in line:
            lines.append(line.split()[-1].split(b"/")[1][2:].rjust(17))
    path = write(trace + ".hits", b"\n".join(lines) + b"\n")
    result = run(work.pgokit, "gen", path, "-b", wrong, "-o", os.devnull)
    require(result.code == 1 and "does not fit the program" in result.errors, str(result))
    good(work.pgokit, "gen", path, "-b", right, "-o", os.devnull)


def renamed(work):
    """--map takes the path that was recorded, or its last part; (deleted) is no part of a name."""
    exe, trace = recorded(work, 22, "-O2", *FLAGS)
    whole = profile(work, exe, trace)
    gone = write(trace + ".gone", read(trace).replace(f" {exe}\n".encode(),
                                                      f" {exe} (deleted)\n".encode()))
    require(b"(deleted)" in read(gone), "nothing was deleted")
    require(profile(work, exe, gone) == whole, "(deleted) is taken for a part of the name")
    other = os.path.join(os.path.dirname(exe), "release=1.2")
    shutil.copy(exe, other)
    for name in (exe, os.path.basename(exe)):
        for path in (trace, gone):
            found = good(work.pgokit, "gen", "-q", path, "--map", f"{name}={other}", "--to",
                         "text", "-o", "-")
            require(found == whole, f"--map {name}: another profile")
    result = run(work.pgokit, "gen", trace, "-b", exe, "--map", "nothing", "-o", os.devnull)
    require(result.code == 2 and "RECORDED=FILE" in result.errors, str(result))


def none_of_use(work):
    """The files that were recorded are named, each by its last part, which is what --map takes."""
    exe, trace = recorded(work, 22, "-O2", *FLAGS)
    other = os.path.join(os.path.dirname(exe), "another")
    shutil.copy(exe, other)
    result = run(work.pgokit, "gen", trace, "-b", other, "-o", exe + ".afdo")
    require(result.code == 2, str(result))
    for words in (f"{os.path.basename(exe)} (", "--map RECORDED=FILE"):
        require(words in result.errors, f"'{words}' is not said\n{result}")


def at_a_fixed_address(work):
    """A program that was linked to an address is used there if only other files are mapped, and
    that is said."""
    exe, trace = recorded(work, 22, "-O2", *FLAGS, "-no-pie")
    others = write(trace + ".others", b"".join(
        line + b"\n" for line in read(trace).split(b"\n") if not line.endswith(exe.encode())))
    result = run(work.pgokit, "gen", "-q", others, "-b", exe, "--to", "text", "-o", "-")
    require(result.code == 0 and "fixed address" in result.errors, str(result))
    require(result.text == profile(work, exe, trace), "another profile")


def add_cases(work, tap):
    for contexts in (False, True):
        tap.add(f"branches of another build, {'with' if contexts else 'without'} contexts",
                another_build, work, contexts)
    for fn in (instructions_of_another_build, renamed, none_of_use, at_a_fixed_address):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
