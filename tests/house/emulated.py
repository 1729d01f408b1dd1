"""Programs that a build has made for another processor. For tests of such programs meson names the
command of the emulator in MESON_EXE_WRAPPER; there is none for programs of this machine."""

import os
import shlex

EMULATOR = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))


def started(program):
    """The command that runs it."""
    return [*EMULATOR, program]


def put(program, path):
    """Puts it at a path as a command, which sees the name that it is called by."""
    if not EMULATOR:
        os.symlink(program, path)
        return
    emulator, *options = map(shlex.quote, [*EMULATOR, os.path.realpath(program)])
    with open(path, "w", encoding="utf-8") as script:
        script.write(f'#!/bin/sh\nexec {emulator} -0 "${{0##*/}}" {" ".join(options)} "$@"\n')
    os.chmod(path, 0o755)
