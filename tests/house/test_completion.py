#!/usr/bin/env python3
"""The completion of bash, zsh and fish, in these shells, and the words that pgokit offers them.

usage: test_completion.py SOURCE-FOLDER PGOKIT
"""

import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

from tap import Report

LIMIT_S = 60
# What is typed, and what the line becomes.
LINES = (
    ("pgokit merg", "pgokit merge "),
    ("pgokit merge --memp", "pgokit merge --memprof-version "),
    ("pgokit record hea", "pgokit record heap "),
    ("pgokit record heap --sock", "pgokit record heap --socket "),
    ("pgokit show some-pro", "pgokit show some-profile "),
    ("pgokit merge --output=some-pro", "pgokit merge --output=some-profile "),
    ("pgokit record branches -- some-pro", "pgokit record branches -- some-profile "),
)
SHELLS = {
    "bash": (["bash", "--norc"], "source '{0}/pgokit.bash'"),
    "zsh": (["zsh", "-f"], "fpath=('{0}' $fpath); autoload -U compinit; compinit -u -D"),
}


class Terminal:
    """A shell at a terminal of its own."""

    def __init__(self, command, folder, env):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execvpe(command[0], command, env)
        self.seen = b""

    def wait_for(self, text):
        until = time.monotonic() + LIMIT_S
        while text.encode() not in self.seen:
            if not select.select([self.fd], [], [], max(0, until - time.monotonic()))[0]:
                return False
            try:
                self.seen += os.read(self.fd, 4096)
            except OSError:
                return text.encode() in self.seen
        return True

    def type(self, text):
        self.seen = b""
        os.write(self.fd, text.encode())

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def environment(pgokit, folder):
    path = f"{pathlib.Path(pgokit).parent}:{os.environ['PATH']}"
    return dict(os.environ, PATH=path, HOME=folder, TERM="dumb", PS1="> ", LC_ALL="C.UTF-8")


def lines_at_terminal(shell, scripts, pgokit, folder):
    command, load = SHELLS[shell]
    terminal = Terminal(command, folder, environment(pgokit, folder))
    try:
        # Two halves, so that the echo of the command is not taken for its output.
        terminal.type(load.format(scripts) + "; echo rea''dy\n")
        if not terminal.wait_for("ready"):
            yield f"{shell} does not start: {terminal.seen!r}"
            return
        for typed, expected in LINES:
            # The line is printed instead of run; what is typed is not in it.
            terminal.type(f"{typed}\t\x01print''f '<%s>' \"\x05\"; echo do''ne\n")
            terminal.wait_for("done")
            if f"<{expected}".rstrip() not in terminal.seen.decode("utf-8", "replace"):
                yield f"'{typed}' becomes {terminal.seen!r}, not '{expected}'"
    finally:
        terminal.close()


def lines_of_fish(scripts, pgokit, folder):
    for typed, expected in LINES:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {scripts}/pgokit.fish; complete -C '{typed}'"],
            capture_output=True, text=True, check=False, timeout=LIMIT_S, cwd=folder,
            env=environment(pgokit, folder))
        words = [line.split("\t")[0] for line in done.stdout.splitlines()]
        if expected.split()[-1] not in words:
            yield f"'{typed}' may become {words}, not '{expected.split()[-1]}': {done.stderr}"


def offered(pgokit, *words):
    done = subprocess.run([pgokit, "complete", "--", *words], capture_output=True, text=True,
                          check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def unexplained(pgokit):
    for verb, explained in offered(pgokit, ""):
        if not explained:
            yield verb
        if verb.startswith("-") or verb == "help":
            continue
        kinds = [row[0] for row in offered(pgokit, verb, "")] if verb == "record" else []
        for words in [[verb, kind] for kind in kinds] or [[verb]]:
            options = offered(pgokit, *words, "-")
            if ["--help"] not in [row[:1] for row in options]:
                yield f"{words}: no --help"
            for row in options:
                if len(row) != 2 or not row[1]:
                    yield f"{words}: nothing explains {row[0]}"


def main():
    source, pgokit = sys.argv[1:]
    scripts = pathlib.Path(source, "tools/completion").resolve()
    pgokit = str(pathlib.Path(pgokit).resolve())
    report = Report()
    report.case("every verb and option is offered with what it does", list(unexplained(pgokit)))
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "some-profile").touch()
        for shell in (*SHELLS, "fish"):
            name = f"{shell} completes verbs, options and files"
            if not shutil.which(shell):
                report.skip(name, f"missing {shell}")
            elif shell == "fish":
                report.case(name, list(lines_of_fish(scripts, pgokit, folder)))
            elif not os.path.exists("/dev/pts/ptmx"):
                report.skip(name, "there is no /dev/pts here")
            else:
                report.case(name, list(lines_at_terminal(shell, scripts, pgokit, folder)))
    report.end()


main()
