#!/usr/bin/env python3
"""pgokit mcp and the client libraries of the protocol's own project, of old revisions and new.

usage: clients.py PGOKIT WORK-FOLDER

Where npm or its registry is missing, the case is skipped.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "house")]

from tap import Report  # noqa: E402

PGOKIT = os.path.abspath(sys.argv[1])
GOLDEN = HERE.parent / "golden"
TOOLS = ["list_profiles", "summarise", "top", "tree", "function", "advice", "diff", "match",
         "history"]
INVALID_PARAMS = -32602


def run(folder, *command):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "NO_UPDATE_NOTIFIER": "1"})


def first_line(text):
    return (text.strip().splitlines() or ["no reason given"])[0]


def why_not(work):
    """Installs the libraries; why it cannot, or None."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "missing node or npm"
    major = run(work, "node", "-p", "process.versions.node.split('.')[0]").stdout
    if int(major) < 20:
        return f"node {major.strip()} is older than 20"
    for name in ("package.json", "package-lock.json", "clients.mjs"):
        shutil.copy(HERE / name, work / name)
    done = run(work, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    return f"no packages of npm: {first_line(done.stderr)}" if done.returncode else None


def problems_of(seen):
    problems = []

    def expect(what, found, expected):
        if found != expected:
            problems.append(f"{what}: found {found!r}, expected {expected!r}")

    answers = seen["answers"]
    expect("server", seen["server"]["name"], "pgokit")
    expect("instructions", "list_profiles" in seen["instructions"], True)
    expect("tools", seen["tools"], TOOLS)
    expect("list", answers["list"]["failed"], False)
    expect("first page", "heap-raw/clang19.profraw: raw heap profile" in answers["list"]["text"],
           True)
    expect("second page", "instr-raw/" in answers["list"]["next"] and
           "allocator-heap/" not in answers["list"]["next"], True)
    expect("function", "main" in answers["function"]["text"], True)
    expect("outside", (answers["outside"]["failed"], '".." leads' in answers["outside"]["text"]),
           (True, True))
    expect("no such tool", seen["refused"], INVALID_PARAMS)
    return problems


def main():
    report = Report()
    work = pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    probe = subprocess.run([PGOKIT, "mcp", GOLDEN], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, check=False)
    reason = "built without jansson" if "built without mcp" in probe.stderr else why_not(work)
    names = {"sdk": "the first SDK", "client": "the client library as it comes",
             "pinned": "the client library by the revision without initialize",
             "auto": "the client library that asks which revisions there are"}
    if reason:
        for name in names.values():
            report.skip(name, reason)
        report.end()
    done = run(work, "node", "clients.mjs", PGOKIT, str(GOLDEN))
    seen = json.loads(done.stdout) if not done.returncode else {}
    for key, name in names.items():
        report.case(name, problems_of(seen[key]) if key in seen else [done.stdout, done.stderr])
    report.end()


main()
