#!/usr/bin/env python3
"""Seeds of fuzzing: each belongs to a target, and is named by why it is kept or lies in an archive.

usage: test_seeds.py SCRIPTS/SEEDS CORPUS-FOLDER TARGET...
"""

import pathlib
import re
import subprocess
import sys

from tap import Report

TELLS_NOTHING = re.compile(r"[0-9a-f]{40}$")


def strangers(corpus, targets):
    names = {path.name.removesuffix(".tar.xz") for path in corpus.iterdir()}
    return [f"{name}: fuzz/meson.build has no such target" for name in sorted(names - targets)]


def unnamed(corpus):
    return [f"{path}: name it by what it shows, or run `scripts/seeds add "
            f"{path.parent}.tar.xz {path}` and remove it"
            for path in sorted(corpus.glob("*/*")) if TELLS_NOTHING.search(path.name)]


def made_otherwise(script, corpus):
    done = subprocess.run([script, "check", *sorted(corpus.glob("*.tar.xz"))], text=True,
                          stderr=subprocess.PIPE, check=False)
    return [done.stderr] if done.returncode else []


def main():
    script, corpus, targets = sys.argv[1], pathlib.Path(sys.argv[2]), set(sys.argv[3:])
    report = Report()
    report.case("seeds belong to a target", strangers(corpus, targets))
    report.case("names of single seeds tell why they are kept", unnamed(corpus))
    report.case("archives hold seeds by their content, without times and owners",
                made_otherwise(script, corpus))
    report.end()


if __name__ == "__main__":
    main()
