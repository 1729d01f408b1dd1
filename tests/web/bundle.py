#!/usr/bin/env python3
"""The bundle in the tree is what its sources and its lock file give.

usage: bundle.py WEB-FOLDER WORK-FOLDER

Packages are fetched from the npm registry as the lock file says; without node, or without the
registry, there is nothing to compare with.
"""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))

from tap import Report  # noqa: E402

UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")
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


def main():
    web, work = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    if not shutil.which("node") or not shutil.which("npm"):
        print("1..1\nok 1 - the bundle # SKIP missing node or npm")
        return
    copy_sources(web, work)
    installed = run(work, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    if installed.returncode and any(code in installed.stderr for code in UNREACHABLE):
        print("1..1\nok 1 - the bundle # SKIP missing the npm registry")
        return
    report = Report()
    report.case("the packages of the lock file are to be had", problems(installed))
    if installed.returncode == 0:
        report.case("the sources have sound types", problems(run(work, "npx", "tsc", "--noEmit")))
        built = run(work, "node", "build.mjs", "report.html")
        report.case("the sources can be bundled", problems(built))
        same = built.returncode == 0 and \
            (work / "report.html").read_bytes() == (web / "bundle" / "report.html").read_bytes()
        report.case("the bundle in the tree is that of the sources",
                    [] if same else ["run `npm ci && npm run build` in web/ and commit the bundle"])
    report.end()


main()
