#!/usr/bin/env python3
"""pgokit match, plan and merge of a recorded heap where nobody gave the program: it is found by its
build id, also where -b is a newer build of it, and what is said where it is not.

usage: found_programs.py PGOKIT
"""

import os
import re
import shutil
import sys

from harness import Cases, Skip, program_text, require, run, tool

PGOKIT = os.path.abspath(sys.argv[1])
SOURCE = program_text("passing_lasting.c")
# No server, and no cache but those that a case makes.
ALONE = {"DEBUGINFOD_URLS": "", "DEBUGINFOD_CACHE_PATH": "/nonexistent/cache",
         "PERF_BUILDID_DIR": "/nonexistent/debug", "PERF_CONFIG": "/dev/null",
         "XDG_CACHE_HOME": "/nonexistent/xdg"}


def build(folder, source):
    with open(os.path.join(folder, "app.c"), "w", encoding="utf-8") as file:
        file.write(source)
    run([tool("gcc"), "-g", "-O1", "-Wl,--build-id", "app.c", "-o", "app"], folder)
    return re.search(r"Build ID: (\w+)", run([tool("readelf"), "-n", "app"], folder).stdout)[1]


def cache(folder, program, build_id):
    """What perf would have kept."""
    place = os.path.join(folder, "cache/.build-id", build_id[:2], build_id[2:], "elf")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    shutil.copy(os.path.join(folder, program), place)
    return place


class Recorded:
    """app.profraw of a build that is old/app now, and a newer build, app."""

    def __init__(self, folder):
        self.folder = folder
        self.id = build(folder, SOURCE)
        run([PGOKIT, "record", "heap", "-o", "app.profraw", "--", "./app"], folder)
        os.mkdir(os.path.join(folder, "old"))
        shutil.move(os.path.join(folder, "app"), os.path.join(folder, "old/app"))
        build(folder, "/* moved down by a line */\n" + SOURCE)

    def cache(self):
        return cache(self.folder, "old/app", self.id)

    def pgokit(self, *words, status=0, cached=True):
        env = dict(ALONE, **{"PERF_BUILDID_DIR": f"{self.folder}/cache"} if cached else {})
        return run([PGOKIT, *words], self.folder, env=env, status=status)


def match_with_the_profiled_build(folder):
    app = Recorded(folder)
    place = app.cache()
    told = app.pgokit("match", "app.profraw")
    require("100.0 % of the bytes found" in told.stdout and place in told.stdout, told.stdout)
    require(place in told.stderr, told.stderr)


def match_with_a_newer_build(folder):
    app = Recorded(folder)
    place = app.cache()
    given = app.pgokit("match", "app.profraw", "-b", "app", "--profiled-binary", "old/app")
    found = app.pgokit("match", "app.profraw", "-b", "app")
    require(found.stdout == given.stdout and "100.0 % of the bytes" in given.stdout, found.stdout)
    require(f"profiled is {place}\n" in found.stderr, found.stderr)
    gone = app.pgokit("match", "app.profraw", "-b", "app", status=2, cached=False)
    require(app.id in gone.stderr and "--profiled-binary" in gone.stderr, gone.stderr)


def plan_for_a_newer_build(folder):
    """Whether there is anything to plan depends on how fast the program ran: both say the same."""
    app = Recorded(folder)
    app.cache()
    given = app.pgokit("plan", "-q", "app.profraw", "-b", "app", "--profiled-binary", "old/app",
                       "-o", "given", status=None)
    found = app.pgokit("plan", "-q", "app.profraw", "-b", "app", "-o", "found", status=None)
    require((given.returncode, given.stderr) == (found.returncode, found.stderr),
            f"{given.stderr}\n{found.stderr}")
    plans = [os.path.join(folder, name) for name in ("given", "found")]
    written = [open(plan, "rb").read() if os.path.exists(plan) else None for plan in plans]
    require(written[0] == written[1], "another plan")
    gone = app.pgokit("plan", "app.profraw", "-b", "app", "-o", "gone", status=2, cached=False)
    require("--profiled-binary" in gone.stderr and not os.path.exists(f"{folder}/gone"),
            gone.stderr)


def plan_is_explained_by_names(folder):
    app = Recorded(folder)
    app.cache()
    told = app.pgokit("plan", "app.profraw", "--explain", status=None)
    require(told.returncode or "lasting (app.c:5) < main" in told.stdout,
            f"no names: {told.stdout}")
    without = app.pgokit("plan", "app.profraw", "--explain", cached=False, status=None)
    require(without.returncode == told.returncode and "lasting" not in without.stdout,
            f"{without.returncode}: {without.stdout}")


def same_file_in_a_cache(folder):
    """A copy that has no more names than the file at its path is not taken, and not talked of."""
    build_id = build(folder, SOURCE)
    run([tool("strip"), "--strip-debug", "app"], folder)
    place = cache(folder, "app", build_id)
    env = {**ALONE, "PERF_BUILDID_DIR": f"{folder}/cache"}
    told = run([PGOKIT, "record", "heap", "-o", "app.profraw", "--", "./app"], folder, env=env)
    shown = run([PGOKIT, "show", "app.profraw"], folder, env=env)
    require("lasting" in shown.stdout, shown.stdout)
    for said in (told.stderr, shown.stderr):
        require(place not in said and "no debug information" not in said, said)


def not_found(folder):
    """Which build ids, where they were looked for, and what to do."""
    app = Recorded(folder)
    for words in (("match", "app.profraw"), ("merge", "app.profraw", "-o", "out")):
        told = app.pgokit(*words, status=2, cached=False).stderr
        for text in (app.id, "/usr/lib/debug", "debuginfod and perf", "DEBUGINFOD_URLS", "(-b "):
            require(text in told, f"{words}: '{text}' is not said: {told}")


def there_without_names(folder):
    """A program at its path that names nothing is not missing: what it lacks is said, and what
    would bring it. Another build is not taken for it."""
    build(folder, SOURCE)
    app, env = os.path.join(folder, "app"), ALONE
    for flags, lacks, remedy in (
            (["--strip-debug"], "no debug information", "compile it with -g"),
            ([], "neither symbols nor debug information", "before it was stripped")):
        run([tool("strip"), *flags, "app"], folder)
        run([PGOKIT, "record", "heap", "-o", "app.profraw", "--", app], folder, env=env)
        told = run([PGOKIT, "match", "app.profraw"], folder, env=env, status=2).stderr
        require(f"{app} is the one, but has {lacks}; " in told and remedy in told, told)
        require("not found" not in told, told)
    told = run([PGOKIT, "merge", "app.profraw", "-o", "out"], folder, env=env, status=2).stderr
    require(f"{app} is the one, but has {lacks}; " in told, told)
    told = run([PGOKIT, "show", "app.profraw"], folder, env=env).stderr
    require(re.search(rf"found \d of \d programs.*; {app} is there, but has {lacks}\n", told),
            told)
    build(folder, "/* moved down by a line */\n" + SOURCE)
    run([tool("strip"), "app"], folder)
    told = run([PGOKIT, "match", "app.profraw"], folder, env=env, status=2).stderr
    require("is the one" not in told and "it was not found" in told, told)


def package_of_a_program(folder):
    """Of a stripped program of the system it is named what has its symbols."""
    program = "/usr/bin/sort"
    run([PGOKIT, "record", "heap", "-o", "sort.profraw", "--", program, "/dev/null"], folder,
        env=ALONE)
    if re.search(r"\.symtab|\.debug_info", run(["readelf", "-SW", program], folder).stdout):
        raise Skip("missing: a program of the system without names")
    told = run([PGOKIT, "match", "sort.profraw"], folder, env=ALONE, status=None)
    if not told.returncode:
        raise Skip("missing: a program of the system whose debug symbols are not installed")
    require(re.search(r"/usr/bin/sort is the one, but has .*debug information; "
                      r"(export DEBUGINFOD_URLS=\S+, or )?install \S+-dbgsym", told.stderr),
            told.stderr)


def main():
    cases = Cases()
    cases.run("match with the build that was profiled", match_with_the_profiled_build)
    cases.run("match with a newer build", match_with_a_newer_build)
    cases.run("plan for a newer build", plan_for_a_newer_build)
    cases.run("a plan is explained by names", plan_is_explained_by_names)
    cases.run("the same file in a cache", same_file_in_a_cache)
    cases.run("what is said where it is not found", not_found)
    cases.run("what is said where it is there without names", there_without_names)
    cases.run("the package of its debug symbols", package_of_a_program)
    cases.finish()


main()
