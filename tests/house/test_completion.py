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
    ("pgokit show --sort lifet", "pgokit show --sort lifetime "),
    ("pgokit show --sort=lifet", "pgokit show --sort=lifetime "),
    ("pgokit report --format speed", "pgokit report --format speedscope "),
    ("pgokit merge --to=ya", "pgokit merge --to=yaml "),
    ("pgokit diff --color=alw", "pgokit diff --color=always "),
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
        kinds = [row[0] for row in offered(pgokit, verb, "")] \
            if verb in ("record", "history") else []
        for words in [[verb, kind] for kind in kinds] or [[verb]]:
            options = offered(pgokit, *words, "-")
            if ["--help"] not in [row[:1] for row in options]:
                yield f"{words}: no --help"
            for row in options:
                if len(row) != 2 or not row[1]:
                    yield f"{words}: nothing explains {row[0]}"


GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
OPERANDS = [  # of every kind
    *([str(GOLDEN / name)] for name in (
        "indexed/llvm22-v4.profdata", "instr-indexed/llvm22-ir.profdata",
        "sample/llvm22-plain.afdo",
        "gcov/gcc12.gcda", "probe/foo2-clang22")),
    ["heap"],
]


def values_of(pgokit, words):
    """Options that take words or few numbers, with these."""
    for row in offered(pgokit, *words, "--"):
        values = [value[0] for value in offered(pgokit, *words, row[0] + "=")]
        if values and values != [":files"]:
            yield row[0], values


def refused(pgokit, verb, given):
    """Whether that value is wrong with files of every kind."""
    value = given.partition("=")[2]
    for operands in OPERANDS:
        done = subprocess.run([pgokit, *verb, given, "--no-pager", *operands],
                              capture_output=True, text=True, errors="replace", check=False,
                              timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        if f"not '{value}'" not in done.stderr and "has no option" not in done.stderr:
            return None
    return f"{' '.join(verb)} {given}: {done.stderr}"


def wrong_values(pgokit):
    """What is offered is taken, and what is nearly that is answered with it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for verb in ("show", "report", "diff", "merge", "convert", "match", "gen", "disasm"):
            for option, values in values_of(pgokit, [verb]):
                for value in values:
                    if not value.startswith(option + "="):
                        yield f"{verb} {option}=: offers {value}"
                    if message := refused(pgokit, [verb], value):
                        yield message
        os.chdir("/")


def options_without_values(pgokit):
    """Options whose values are words, as far as the help lists them, and that offer none."""
    for verb, option in (("show", "--sort"), ("merge", "--to"), ("convert", "--to"),
                         ("gen", "--to"), ("gen", "--format"), ("gen", "--mode"),
                         ("report", "--format"), ("report", "--weight"), ("diff", "--format"),
                         ("match", "--format"), ("disasm", "--format"), ("merge", "--layout"),
                         ("merge", "--fs-pass"), ("merge", "--canonical"),
                         ("merge", "--failure-mode"), ("merge", "--run-names"),
                         ("pgo", "--cc"), ("config", "--cc"), ("check", "--color")):
        if not offered(pgokit, verb, option + "="):
            yield f"{verb} {option}"


def main():
    source, pgokit = sys.argv[1:]
    scripts = pathlib.Path(source, "tools/completion").resolve()
    pgokit = str(pathlib.Path(pgokit).resolve())
    report = Report()
    report.case("every verb and option is offered with what it does", list(unexplained(pgokit)))
    report.case("options with words for values offer these", list(options_without_values(pgokit)))
    report.case("every value that is offered is taken", list(wrong_values(pgokit)))
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
