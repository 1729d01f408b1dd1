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
COUNTERS = GOLDEN.parent / "instr-raw" / "clang22-ir.profraw"


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


def heap_beside_counters(report, cli):
    def merge(out, *args):
        return cli("merge", *args, "--to", "llvm22", "-o", out)

    def shown(*args):
        """What heap data holds, whatever shares the file with it."""
        text = cli(*args).stdout.decode()
        return text[text.index("  contexts"):]

    merge("both", COUNTERS, f"{PROFILE}@3")
    merge("thrice", PROFILE, PROFILE, PROFILE)
    report.case("a weight of heap data beside counters", expect(
        "heap data", shown("show", "both"), shown("show", "thrice")))
    report.case("versions of heap data beside counters", expect(
        "in the first line", b"MemProf V4" in cli("show", "both").stdout.split(b"\n")[0], True))
    merge("pruned", COUNTERS, PROFILE, "--min-bytes", "90")
    merge("pruned-heap", PROFILE, "--min-bytes", "90")
    report.case("pruning heap data beside counters", expect(
        "heap data", shown("show", "pruned"), shown("show", "pruned-heap")) + expect(
        "anything pruned", shown("show", "pruned") != shown("show", "both"), True))
    report.case("pruning counters", says(
        merge("out", COUNTERS, "--min-bytes", "90"), "no heap data to prune"))
    report.case("a part with counters", says(
        cli("merge", COUNTERS, PROFILE, "--partial", "-o", "out"), "partial", "counters"))
    report.case("heap data in an index version before it", says(
        cli("merge", COUNTERS, PROFILE, "--to", "llvm14", "-o", "out"), "found 7", "8 to 13"))
    report.case("a page of heap data beside counters", expect(
        "exit status", cli("report", "both", "-o", "page.html").returncode, 0))
    report.case("a page of counters alone", says(
        cli("report", COUNTERS, "-o", "page.html"), "does not work on instrumentation profiles"))
    # The offset of the table of functions: no reader can tell any more whether there are any.
    damaged = bytearray((cli.folder / "thrice").read_bytes())
    damaged[32:40] = b"\xff" * 8
    (cli.folder / "damaged").write_bytes(damaged)
    report.case("a damaged heap profile is one still", expect(
        "exit status", cli("check", "--repair", "saved", "damaged").returncode, 1) + expect(
        "heap data", shown("show", "saved"), shown("show", "thrice")))


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
        heap_beside_counters(report, cli)
        report.case("no operand", says(cli("show"), "show takes one file"))
    report.end()


if __name__ == "__main__":
    main()
