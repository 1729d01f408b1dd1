#!/usr/bin/env python3
"""LLVM's own tests of llvm-profdata and llvm-profgen, and those of llvm-cov that merge, run under
pgokit's links of these names, with the FileCheck of LLVM.

scripts/peers takes the tests from Debian's source packages; none of them is in this tree. A command
is a RUN line that calls one of the two tools; it passes if it and the lines after it that check its
output succeed. docs/llvm-tests.md lists each command that does not, with the reason, and the
numbers of each release. What differs and is not listed there fails, and so does what is listed
and does not differ any more; --write brings the page up to date.
"""

import concurrent.futures
import glob
import os
import re
import shutil
import sys
import tarfile

from lit_lines import LitTest, run_lines, said
from peers import BROUGHT, JOBS, NEWEST_RELEASES, Failure, Skip, main, require, tool

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "docs", "llvm-tests.md")
RELEASES = (19, 22, 23)
OURS = ("llvm-profdata", "llvm-profgen")
SUITES = ("llvm-profdata", "llvm-profgen", "llvm-cov")
HELPERS = ("FileCheck", "not", "split-file", "llvm-cov", "llvm-objcopy", "llvm-readelf", "llvm-dwp",
           "llvm-objdump", "yaml2obj", "llc", "count", "llvm-mc")
LEAST = 0.98  # of the commands pass
KINDS = (".test", ".proftext", ".ll", ".s", ".c", ".cpp", ".m", ".h", ".yaml")
CALLS_OURS = re.compile(r"(?<![\w/.%=-])llvm-prof(?:data|gen)(?![\w/.=-])")
REFUSED = re.compile(r"pgokit: .*(is not supported:|is no option that pgokit knows|not in pgokit)")


# ---- the page ----

class Page:
    """What docs/llvm-tests.md says: {(test, release): set of lines}, {test: reason}, and by release
    the rows of numbers."""

    ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| (.+) \|$", re.M)
    NUMBERS = re.compile(r"^\| (\d+) \((\S+)\) \| (.+) \|$", re.M)

    def __init__(self):
        with open(PAGE, encoding="utf-8") as f:
            self.text = f.read()
        self.lines, self.reasons, self.numbers = {}, {}, {}
        for name, commands, reason in self.ROW.findall(self.text):
            self.reasons[name] = reason
            for part in commands.split(";"):
                release, _, numbers = part.strip().partition(": ")
                self.lines[name, int(release)] = {int(n) for n in numbers.split(", ")}
        for release, version, numbers in self.NUMBERS.findall(self.text):
            self.numbers[int(release)] = (version, [int(n) for n in numbers.split(" | ")])

    def of(self, release):
        return {(name, line) for (name, r), lines in self.lines.items() if r == release
                for line in lines}

    def rewrite(self, found):
        """`found`: {release: Outcome}; what is said of other releases stays."""
        lines = {key: value for key, value in self.lines.items() if key[1] not in found}
        for release, outcome in found.items():
            self.numbers[release] = (outcome.version, outcome.numbers())
            for name, line in outcome.differs:
                lines.setdefault((name, release), set()).add(line)
        rows = ["| test | commands, by line | why |", "|---|---|---|"]
        for name in sorted({name for name, _ in lines}):
            commands = "; ".join(f"{r}: {', '.join(map(str, sorted(lines[name, r])))}"
                                 for r in RELEASES if (name, r) in lines)
            rows.append(f"| `{name}` | {commands} | {self.reasons.get(name, 'UNKNOWN')} |")
        numbers = ["| release | commands | pass | differ | refused | not run by LLVM itself |",
                   "|---|---|---|---|---|---|"]
        for release, (version, counts) in sorted(self.numbers.items()):
            numbers.append(f"| {release} ({version}) | {' | '.join(map(str, counts))} |")
        for mark, table in (("numbers", numbers), ("differences", rows)):
            self.text = re.sub(rf"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)",
                               lambda m, table=table: m[1] + "\n".join(table) + "\n" + m[2],
                               self.text, flags=re.S)
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(self.text)


# ---- running ----

class Outcome:
    """Of one release: its version, and for each command that does not pass (test, line) what it
    said."""

    def __init__(self, version):
        self.version, self.commands, self.others = version, 0, 0
        self.differs, self.refused = {}, set()

    def add(self, commands, others, differs):
        self.commands += commands
        self.others += others
        self.differs.update(differs)
        self.refused |= {key for key, text in differs.items() if REFUSED.search(text)}

    def numbers(self):
        refused = len(self.refused)
        return [self.commands, self.commands - len(self.differs), len(self.differs) - refused,
                refused, self.others]


def tests_of(release, folder):
    """Unpacks the tests; the version of the sources, and the tests."""
    archive = os.path.join(BROUGHT, f"llvm-tests-{release}.tar.xz")
    if not os.path.exists(archive) and release == max(RELEASES):
        # The newest source package is not on every mirror. The tests before it are mostly the same;
        # those that the newest tools do not pass do not count.
        archive = os.path.join(BROUGHT, f"llvm-tests-{RELEASES[-2]}.tar.xz")
    if not os.path.exists(archive):
        raise Skip(f"no tests of LLVM {release}: scripts/peers has not brought them")
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    root = glob.glob(f"{folder}/llvm-toolchain-*")[0]
    tests = []
    for suite in SUITES:
        for path in sorted(glob.glob(f"{root}/llvm/test/tools/{suite}/**/*", recursive=True)):
            if "/Inputs/" not in path and path.endswith(KINDS):
                name = os.path.relpath(path, f"{root}/llvm/test/tools")
                tests.append(LitTest(path, name))
    tests = [t for t in tests if any(CALLS_OURS.search(command) for _, command in t.lines)]
    return root.rpartition("_")[2], tests


class Runner:
    """Tools of a release, and the folder in which its tests run."""

    def __init__(self, work, release):
        self.folder = work.temp(f"tests-{release}")
        # Those that only look at output are the same in all releases; these start fast.
        near = 22 if release in NEWEST_RELEASES else release
        self.theirs = {name: tool(name, near) for name in HELPERS}
        self.theirs.update({name: tool(name, release) for name in OURS})
        bin_folder = os.path.join(self.folder, "bin")
        os.makedirs(bin_folder)
        self.ours = dict(self.theirs)
        for name in OURS:
            self.ours[name] = os.path.join(bin_folder, f"{name}-{release}")
            os.symlink(work.pgokit, self.ours[name])

    def run_with(self, test, label, first, second=None):
        """(folder, statuses) of all lines."""
        folder = os.path.join(self.folder, label, test.name.replace("/", "_"))
        os.makedirs(folder)
        commands = []
        for _, command in test.lines:
            again = second if second and CALLS_OURS.search(command) else None
            commands.append((test.expanded(command, folder, first),
                             test.expanded(command, folder, again) if again else None))
        return folder, run_lines(commands, folder)

    def judge(self, test):
        """Number of commands, of those that LLVM itself does not pass, and {(test, line): said}."""
        owners = owners_of(test)
        commands = sum(owner == i for i, owner in enumerate(owners))
        if test.why_not:
            return 0, commands, {}
        folder, statuses = self.run_with(test, "ours", self.ours, self.theirs)
        if not any(statuses):
            shutil.rmtree(folder)
            return commands, 0, {}
        _, wanted = self.run_with(test, "theirs", self.theirs)
        failed_there = {owners[i] for i, status in enumerate(wanted) if status}
        differs = {}
        for i, status in enumerate(statuses):
            if status and owners[i] not in failed_there:
                key = (test.name, test.lines[owners[i]][0])
                differs[key] = differs.get(key, "") + said(folder, i)
        return commands - len(failed_there), len(failed_there), differs


def owners_of(test):
    """For each line the command that it belongs to: the last one of our tools before it, or the
    first one."""
    calls = [i for i, (_, command) in enumerate(test.lines) if CALLS_OURS.search(command)]
    return [max((c for c in calls if c <= i), default=calls[0]) for i in range(len(test.lines))]


def run_release(work, release):
    runner = Runner(work, release)
    version, tests = tests_of(release, os.path.join(runner.folder, "sources"))
    outcome = Outcome(version)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for result in pool.map(runner.judge, tests):
            outcome.add(*result)
    return outcome


def compare(work, release, page):
    outcome, listed = run_release(work, release), page.of(release)
    problems = [f"{name}:{line} is not listed:\n{text[-700:]}"
                for (name, line), text in outcome.differs.items() if (name, line) not in listed]
    problems += [f"{name}:{line} is listed, but does not differ any more"
                 for name, line in sorted(listed - set(outcome.differs))]
    version, numbers = page.numbers.get(release, ("", []))
    if version and version != outcome.version:
        # Other tests than those of the page; lines may have moved.
        raise Skip(f"tests of {outcome.version}; docs/llvm-tests.md is about {version}")
    if numbers != outcome.numbers():
        problems.append(f"numbers {outcome.numbers()}, but docs/llvm-tests.md has {numbers}")
    passed = outcome.numbers()[1]
    if passed < LEAST * outcome.commands:
        problems.append(f"only {passed} of {outcome.commands} commands pass")
    if problems:
        raise Failure("\n".join(problems + ["--write brings docs/llvm-tests.md up to date"]))
    return f"{outcome.commands} commands: {passed} pass, the others are documented"


def reasons(page):
    unknown = [name for name, reason in page.reasons.items() if reason == "UNKNOWN"]
    require(not unknown, f"docs/llvm-tests.md lacks a reason for {unknown}")


def wanted_releases():
    """All; in continuous integration, whose time is short, one."""
    if os.environ.get("PGOKIT_LLVM_TESTS"):
        return [int(word) for word in os.environ["PGOKIT_LLVM_TESTS"].split()]
    return [22] if os.environ.get("CI") == "true" else list(RELEASES)


def add_cases(work, tap):
    page = Page()
    tap.add("each difference has a reason", reasons, page)
    for release in wanted_releases():
        tap.add(f"tests of LLVM {release}", compare, work, release, page)


def write_page(work, _tap):
    found = {}
    for release in wanted_releases():
        try:
            found[release] = run_release(work, release)
        except Skip as e:
            print(f"# {e}")
    Page().rewrite(found)
    for release, outcome in found.items():
        print(f"# {release}: {outcome.numbers()}")
        for (name, line), text in outcome.differs.items():
            first = next((t for t in text.splitlines() if "pgokit:" in t or "error:" in t), "")
            print(f"# {name}:{line}: {first[:200]}")


if "--write" in sys.argv:
    sys.argv.remove("--write")
    main(write_page)
    sys.exit(0)
sys.exit(main(add_cases))
