"""Runs programs of Debian plain and under the heap profiler, which was not built into them.

  scripts/soak heap BUILD [--install] [--under heap,allocator,branches,sampled] [--only NAME]...

Each program that is installed runs twice in folders of the same name, the second time under
`pgokit record heap`. Output, exit status and files must be the same, and `pgokit show` must be able
to read each profile. The programs and their command lines are in tests/runtime/preload_programs.py.
--install first installs the packages of those that are missing; one that this Debian does not have
is left out. With --under they also run under `pgokit run`, `pgokit record branches` and `pgokit
record heap --sample`, and the table has a column for each.

Prints a table. The exit status is 1 if a program did something else under the profiler.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import preload_programs

# Of programs whose package has another name.
PACKAGES = {
    "7zr": "p7zip", "apache2": "apache2-bin", "clang++-14": "clang-14",
    "convert-im6.q16": "imagemagick", "dig": "bind9-dnsutils", "dot": "graphviz",
    "emacs": "emacs-nox", "gnuplot": "gnuplot-nox", "gs": "ghostscript", "guile": "guile-3.0",
    "hg": "mercurial", "identify-im6.q16": "imagemagick", "ksh93": "ksh93u+m", "ldd": "libc-bin",
    "mariadb": "mariadb-client", "nginx": "nginx-light", "node": "nodejs", "ocaml": "ocaml-nox",
    "octave-cli": "octave", "pdflatex": "texlive-latex-base", "pdftotext": "poppler-utils",
    "php": "php-cli", "Rscript": "r-base-core", "rsvg-convert": "librsvg2-bin",
    "svn": "subversion", "swipl": "swi-prolog-nox", "tclsh": "tcl", "tex": "texlive-binaries",
    "ts": "moreutils",
}
NOT_INSTALLED = re.compile(r"clang|lld|mold|llvm|chromium|meson|valgrind|java|go$")


def commands():
    """By the name of the program, in the order of the test."""
    lines = [line for part in (preload_programs.ALWAYS, preload_programs.WHERE_PRESENT)
             for line in preload_programs.rows(part)]
    return [preload_programs.name_of(line) for line in lines]


def install(names):
    missing = {PACKAGES.get(name, name) for name in names
               if not shutil.which(name) and not NOT_INSTALLED.match(name)}
    missing.add(f"lib{pathlib.Path('/usr/bin/python3').resolve().name}-testsuite")
    known = [name for name in sorted(missing)
             if not subprocess.run(["apt-cache", "show", name], check=False,
                                   capture_output=True).returncode]
    if known:
        subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *known],
                       check=True, env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))


def tried(build, wanted, under):
    """(program, result, notes) of each."""
    done = subprocess.run([sys.executable, preload_programs.__file__, build / "tools/pgokit",
                           *wanted], stdout=subprocess.PIPE, text=True, check=False,
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", UNDER=under))
    rows = []
    for line in done.stdout.splitlines():
        case = re.match(r"(not ok|ok) \d+ - (.*?)(?: # SKIP (.*))?$", line)
        if case:
            result = "skipped" if case[3] else "same" if case[1] == "ok" else "DIFFERS"
            rows.append((case[2], result, [case[3]] if case[3] else []))
        elif line.startswith("# ") and rows:
            rows[-1][2].append(line[2:])
    return rows


def add_options(parser):
    parser.add_argument("--install", action="store_true", help="install what is missing")
    parser.add_argument("--only", action="append", metavar="NAME", help="this program")
    parser.add_argument("--under", default="heap",
                        help="heap, allocator, branches, sampled: some of them")


def soak(options):
    """True: programs ran, and did the same under the profiler."""
    names = options.only or commands()
    if options.install:
        install(names)
    columns = [tried(options.build, options.only or ["--all"], under)
               for under in options.under.split(",")]
    print(f"{'program':24}", *(f"{under:10}" for under in options.under.split(",")))
    wrong, ran = [], 0
    for row in zip(*columns):
        name = row[0][0]
        notes = [f"{under}: {note}" for under, (_, result, found)
                 in zip(options.under.split(","), row) if result != "same" for note in found]
        print(f"{name:24}", *(f"{result:10}" for _, result, _ in row), "; ".join(notes))
        ran += any(result != "skipped" for _, result, _ in row)
        if any(result == "DIFFERS" for _, result, _ in row):
            wrong.append(name)
    absent = sorted({name for name in names if not shutil.which(name)})
    print(f"\n{ran} command lines of {len({row[0] for row in columns[0]})} programs, "
          f"{ran - len(wrong)} the same")
    if wrong:
        print(f"not the same: {' '.join(wrong)}")
    if absent:
        print(f"not installed: {' '.join(absent)}")
    return ran and not wrong
