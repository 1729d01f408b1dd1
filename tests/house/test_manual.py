#!/usr/bin/env python3
"""The manual pages are sound, and pgokit(1) names every verb.

usage: test_manual.py SOURCE-FOLDER PGOKIT [PAGE]...
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from tap import Report

ROW = re.compile(r"^\| \[([\w-]+)\]\(pgokit-\1\.md\) \| (.*) \|$", re.MULTILINE)
VERB = re.compile(r"^  ([\w-]+) +(.*)$", re.MULTILINE)
# A table of many columns needs a wider terminal than 80 columns, and no wider than the last, at
# which lintian looks.
WIDTHS = ("80", "100", "120")


def run(*command, **env):
    return subprocess.run(command, text=True, capture_output=True, check=False,
                          env=dict(os.environ, LC_ALL="C.UTF-8", **env))


def check_overview(report, source, pgokit):
    page = (source / "docs/man/pgokit.md").read_text(encoding="utf-8")
    verbs = VERB.findall(run(pgokit, "--help").stdout)
    report.case("pgokit(1) has the verbs of pgokit --help, with its words",
                [] if verbs and ROW.findall(page) == verbs
                else [f"on the page {row}" for row in ROW.findall(page) if row not in verbs]
                + [f"in the help {verb}" for verb in verbs if verb not in ROW.findall(page)]
                or ["no verbs, or in another order"])


def repeated_rows(page):
    """Rows that a table of the page has more than once."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    for table in re.findall(r"^\.TS\n(.*?)^\.TE$", text, re.MULTILINE | re.DOTALL):
        rows = re.findall(r"^T\{\n(.*?)^T\}$", table, re.MULTILINE | re.DOTALL)
        for row in sorted({row for row in rows if rows.count(row) > 1}):
            yield f"{pathlib.Path(page).name}: {' '.join(row.split())}"


def lint(page):
    """What mandoc warns of; its remarks on style are for those who write such pages by hand."""
    done = run("mandoc", "-T", "lint", "-W", "warning", page)
    return (done.stdout + done.stderr).splitlines()


def complaints_of_man(page):
    found = []
    for width in WIDTHS:
        done = run("man", "--warnings", "-E", "UTF-8", "-l", page, MANWIDTH=width)
        if done.returncode or "NAME" not in done.stdout:
            found.append(f"exit code {done.returncode}, {len(done.stdout)} characters")
        # man(1) says in three ways that a table is too wide. Where pages of paper would end is of
        # no matter to a terminal.
        known = "will not fit on one page"
        if width != WIDTHS[-1]:
            known += "|table wider than line|warning: file '|can(no|')t break"
        found += [line for line in done.stderr.splitlines() if not re.search(known, line)]
    return found


def main():
    source, pgokit, *pages = sys.argv[1:]
    report = Report()
    check_overview(report, pathlib.Path(source), pgokit)
    written = {path.stem for path in pathlib.Path(source, "docs/man").glob("*.md")}
    name = "every page of docs/man becomes a manual page"
    if pages:
        made = {pathlib.Path(page).stem for page in pages}
        report.case(name, [f"only one of both: {page}" for page in sorted(made ^ written)])
    else:
        report.skip(name, "missing pandoc")
    name = "no table has a row twice"
    if pages:
        report.case(name, [problem for page in pages for problem in repeated_rows(page)])
    else:
        report.skip(name, "missing pandoc")
    for tool, problems in (("mandoc", lint), ("man", complaints_of_man)):
        name = f"{tool} has nothing to complain of"
        if not pages or not shutil.which(tool):
            report.skip(name, f"missing {'pandoc' if not pages else tool}")
        else:
            report.case(name, [f"{pathlib.Path(page).name}: {problem}"
                               for page in pages for problem in problems(page)])
    report.end()


main()
