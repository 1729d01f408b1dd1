#!/usr/bin/env python3
"""The bundle in the tree is what its sources and its lock file give.

usage: bundle.py WEB-FOLDER WORK-FOLDER

The bundle names the hash of the files that it was made of, which is compared in any case. Where
node is there and the npm registry gives the packages of the lock file, the bundle is made anew
and compared byte by byte.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))

from tap import Report  # noqa: E402

SOURCES = re.compile(rb'<meta name="pgokit-sources" content="([0-9a-f]{64})">')
ADVICE = "run `npm ci && npm run build` in web/ and commit the bundle"
NAMES = ("package.json", "package-lock.json", "tsconfig.json", "build.mjs", "src")


def run(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "NO_UPDATE_NOTIFIER": "1"})


def problems(done):
    return [] if done.returncode == 0 else [f"exit status {done.returncode}", done.stdout,
                                            done.stderr]


def copy_sources(web, work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name in NAMES:
        copy = shutil.copytree if (web / name).is_dir() else shutil.copy
        copy(web / name, work / name)


def sources_hash(web):
    """As web/build.mjs sums it up."""
    names = sorted([name for name in NAMES if name != "src"] +
                   [f"src/{path.name}" for path in (web / "src").iterdir()])
    total = hashlib.sha256()
    for name in names:
        data = (web / name).read_bytes()
        total.update(f"{name}\n{len(data)}\n".encode() + data)
    return total.hexdigest()


def make_anew(report, web, work):
    """Bundles the sources and compares; not where packages cannot be had."""
    if not shutil.which("node") or not shutil.which("npm"):
        report.skip("the bundle made anew", "missing node or npm")
        return
    copy_sources(web, work)
    installed = run(work, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    if installed.returncode:
        why = (installed.stderr.strip().splitlines() or ["no reason given"])[0]
        report.skip("the bundle made anew", f"no packages of npm: {why}")
        return
    report.case("the sources have sound types", problems(run(work, "npx", "tsc", "--noEmit")))
    built = run(work, "node", "build.mjs", "report.html")
    report.case("the sources can be bundled", problems(built))
    same = built.returncode == 0 and \
        (work / "report.html").read_bytes() == (web / "bundle" / "report.html").read_bytes()
    report.case("the bundle in the tree is that of the sources", [] if same else [ADVICE])


def main():
    web, work = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    report = Report()
    named = SOURCES.search((web / "bundle" / "report.html").read_bytes())
    same = named and named[1].decode() == sources_hash(web)
    report.case("the bundle names the hash of its sources", [] if same else [ADVICE])
    make_anew(report, web, work)
    report.end()


main()
