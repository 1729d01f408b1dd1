#!/usr/bin/env python3
"""How verbs find their files and the kind of them: names, pipes, lists of names, strangers.

usage: operands.py PGOKIT
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))

from tap import Report  # noqa: E402

GOLDEN = HERE.parent / "golden" / "indexed"
PROFILE, OTHER = GOLDEN / "llvm22-v4.profdata", GOLDEN / "llvm19-v3.profdata"


class Cli:
    def __init__(self, pgokit, folder):
        self.pgokit, self.folder = os.path.abspath(pgokit), folder

    def __call__(self, *args, **kwargs):
        return subprocess.run([self.pgokit, *map(str, args)], cwd=self.folder, check=False,
                              capture_output=True, **kwargs)

    def merged(self, *args, **kwargs):
        """The bytes of the merged profile, or what was said instead."""
        done = self("merge", *args, "-o", "out", **kwargs)
        return (self.folder / "out").read_bytes() if done.returncode == 0 else done.stderr


def expect(what, found, wanted):
    return [] if found == wanted else [f"{what}: found {found!r}", f"expected {wanted!r}"]


def says(done, *words):
    text = done.stderr.decode()
    problems = expect("exit status", done.returncode, 2)
    return problems + [f"no '{w}' in: {text}" for w in words if w not in text]


def bash(cli, script):
    return subprocess.run(["bash", "-c", script, "bash", cli.pgokit, PROFILE, OTHER],
                          cwd=cli.folder, check=False, capture_output=True)


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        cli = Cli(sys.argv[1], pathlib.Path(folder))
        both = cli.merged(PROFILE, OTHER)

        report.case("a list of names", expect(
            "merge", cli.merged("--files-from", "-", input=f"{PROFILE}\n\n{OTHER}\n".encode()),
            both))
        (cli.folder / "names").write_text(f"{OTHER}\n")
        report.case("a list of names beside names", expect(
            "merge", cli.merged(PROFILE, "--files-from=names"), both))
        (cli.folder / "-q").write_bytes(OTHER.read_bytes())
        (cli.folder / "names").write_text("-q")
        report.case("a listed name that looks like an option", expect(
            "merge", cli.merged(PROFILE, "--files-from=names"), both))
        report.case("a list that is not there", says(
            cli("merge", "--files-from", "nowhere", "-o", "out"), "nowhere: cannot open"))
        report.case("an empty list", says(
            cli("merge", "--files-from", os.devnull, "-o", "out"), "nothing to merge"))

        shown = cli("show", "--json", PROFILE).stdout
        piped = subprocess.run(["cat", str(PROFILE)], check=True, capture_output=True).stdout
        report.case("a pipe", expect(
            "bytes", cli.merged("-", OTHER, input=piped), both))
        report.case("redirected standard input", expect(
            "exit status", cli("check", "-", stdin=open(PROFILE, "rb")).returncode, 0))
        report.case("a pipe of the shell", expect(
            "what is shown", bash(cli, '"$1" show --json <(cat "$2")').stdout.split(b"{", 2)[2],
            shown.split(b"{", 2)[2]))
        report.case("several pipes of the shell", expect(
            "stderr", bash(cli, '"$1" check <(cat "$2") <(cat "$3")').stderr, b""))

        (cli.folder / "text").write_text("Once upon a time\n")
        report.case("a file of no known format", says(
            cli("show", "text"), "text", "pgokit formats"))
        report.case("no file", says(cli("show", "gone"), "gone", "cannot open"))
        report.case("no operand", says(cli("show"), "show takes one file"))
    report.end()


if __name__ == "__main__":
    main()
