"""What the tests of the runtime share: running programs, and cases that print TAP."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import peers  # noqa: E402

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
# A target of this name is compiled for by compilers of this machine, and its programs run in an
# emulator; cross.py sets it up.
TARGET = None


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failure(text)


def program_text(name, folder=PROGRAMS):
    with open(os.path.join(folder, name), encoding="ascii") as file:
        return file.read()


# Compilers and tools that scripts/peers brings, where this Debian does not have them.
NEWER = re.compile(r"(gcc|g\+\+)-1[3-6]|.*-(" + "|".join(map(str, peers.NEWEST_RELEASES)) + ")")


def tool(name):
    if NEWER.fullmatch(name):
        try:
            return peers.peer(name)
        except peers.Skip as reason:
            raise Skip(str(reason)) from None
    found = TARGET and TARGET.compiler(name) or shutil.which(name)
    if not found:
        raise Skip(f"missing {name}")
    return found


BESIDE = {}


def built_by(program, compiler):
    """Where the compiler is one of a newer Debian, the program runs with the libraries of that."""
    BESIDE[program] = peers.beside(compiler)


def started(argv):
    """The command that runs a program where it is of the target, or of a newer Debian."""
    return TARGET.started(argv) if TARGET else [*BESIDE.get(argv[0], []), *argv]


# Nothing here takes minutes but on a machine that does much else: this ends what hangs.
PATIENCE = 600


def wait_until(right, what):
    """Until the function says so."""
    end = time.monotonic() + PATIENCE
    while not right():
        require(time.monotonic() < end, f"{what} did not happen in {PATIENCE} s")
        time.sleep(0.02)


def run(argv, cwd, env=None, status=0, timeout=PATIENCE, **kw):
    """Fails if the exit status is another one; None: any will do."""
    result = subprocess.run(started(argv), cwd=cwd, env=dict(os.environ, **(env or {})),
                            timeout=timeout,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            errors="replace", check=False, **kw)
    if status is not None:
        require(result.returncode == status, f"$ {' '.join(argv)}\nexit status "
                f"{result.returncode}\n{result.stdout}{result.stderr}")
    return result


class Cases:
    """Each in a folder of its own. What a function returns is printed as notes."""

    def __init__(self):
        self.count = self.failures = 0

    def run(self, name, function, *args):
        self.count += 1
        with tempfile.TemporaryDirectory(prefix="pgokit-runtime-") as folder:
            notes = []
            try:
                notes = function(folder, *args) or []
                print(f"ok {self.count} - {name}")
            except Skip as reason:
                print(f"ok {self.count} - {name} # SKIP {reason}")
            except (Failure, OSError, ValueError, subprocess.TimeoutExpired) as reason:
                self.failures += 1
                notes = str(reason).splitlines()
                print(f"not ok {self.count} - {name}")
        for note in notes:
            print(f"# {note}")
        sys.stdout.flush()

    def finish(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failures else 0)
