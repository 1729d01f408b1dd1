#!/usr/bin/env python3
"""Ten questions that people ask of a page (docs/report.md lists them). A reader answers each by
three clicks or fewer, and the answer is that of `pgokit show --json`. Going to the search and
typing there counts as a click.

usage: questions_page.py PGOKIT [CASE...]      a case as it is printed
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]

from browser import find_chromium  # noqa: E402
from cases import expect, require, run  # noqa: E402
import shop  # noqa: E402

PROGRAMS = HERE / "programs"
COMPILER = next(filter(None, map(shutil.which, ("clang-22", "gcc", "cc"))), None)
FLAGS = ["-g", "-O1", "-fno-optimize-sibling-calls", "-fno-omit-frame-pointer", "-Wl,--build-id"]
CLICKS = 3
SAMPLES = """\
main:9000:10
 1: 100
 7: parse:8000
  2: 3000
  5: lex:4000
   1: 4000 read:90
lex:500:5
 1: 500
read:700:90
 3: 700
"""


class Reader:
    """Looks at a page, and counts the clicks that it takes."""

    def __init__(self, page):
        self.page, self.clicks = page, 0

    def click(self, selector):
        self.clicks += 1
        self.page.click(selector)
        self.page.settle()

    def search(self, text):
        self.clicks += 1
        self.page.type("#search", text)
        self.page.settle()

    def text(self, selector):
        self.page.wait(f"document.querySelector('{selector}')")
        return self.page.evaluate(f"document.querySelector('{selector}').textContent")

    def done(self):
        require(self.clicks <= CLICKS, f"{self.clicks} clicks")
        expect(self.page.problems(), [], "problems")


class Suite:
    pgokit = os.path.abspath(sys.argv[1])

    def __init__(self, folder, browser):
        self.folder, self.browser = folder, browser
        build = [COMPILER, *FLAGS]
        subprocess.run([*build, "-shared", "-fPIC", PROGRAMS / "shelf.c", "-o", "libshelf.so"],
                       check=True, cwd=folder, capture_output=True)
        subprocess.run([*build, PROGRAMS / "questions.c", "-L.", "-lshelf", "-Wl,-rpath,$ORIGIN",
                        "-o", "questions"], check=True, cwd=folder, capture_output=True)
        self.run("record", "heap", "-q", "-o", "app.heap", "--", "./questions")
        self.contexts = json.loads(self.run("show", "--json", "-q", "app.heap"))["contexts"]
        self.run("report", "app.heap", "-q", "-o", "app.html")
        (folder / "app.prof").write_text(SAMPLES, encoding="ascii")
        self.run("report", "app.prof", "-q", "-o", "samples.html")
        self.before = shop.Profile(self.pgokit, folder, "before")
        self.slow = shop.Profile(self.pgokit, folder, "slow", "-DSLOW")

    def run(self, *args):
        return subprocess.run([self.pgokit, *map(str, args)], check=True, capture_output=True,
                              text=True, cwd=self.folder).stdout

    def read(self, name="app.html"):
        return Reader(self.browser.open(self.folder / name))

    def most(self, field, of=lambda c: c["stack"][0]["function"]):
        """The name with the largest sum."""
        sums = collections.Counter()
        for context in self.contexts:
            sums[of(context)] += context["mib"][field]
        return sums.most_common(1)[0][0]

    # ---- cases ----

    def which_function_allocates_most(self):
        reader, wanted = self.read(), self.most("TotalSize")
        expect(reader.text("#functions tbody button"), wanted, "the first row")
        reader.done()

    def who_calls_it(self):
        reader, wanted = self.read(), self.most("TotalSize")
        callers = collections.Counter()
        for context in self.contexts:
            names = [f["function"] for f in context["stack"]]
            if wanted in names:
                callers[names[names.index(wanted) + 1]] += context["mib"]["TotalSize"]
        reader.click("#functions tbody button")
        expect(reader.text("#callers button"), callers.most_common(1)[0][0], "the first caller")
        reader.done()

    def which_library_allocates_most(self):
        reader = self.read()
        reader.click("input[name=group][value=library] + span")
        sums = collections.Counter()
        for context in self.contexts:
            sums[context["stack"][0]["function"].startswith("shelf")] += \
                context["mib"]["TotalSize"]
        wanted = "libshelf.so" if sums[True] > sums[False] else "questions"
        expect(reader.text("#functions tbody button"), wanted, "the first row")
        reader.done()

    def at_which_line(self):
        reader = self.read()
        reader.search("remember")
        reader.click("#hit-0")
        source = (PROGRAMS / "questions.c").read_text(encoding="ascii").splitlines()
        line = next(i for i, text in enumerate(source, 1) if "entry = malloc" in text)
        expect(reader.text("#lines li[data-exact] .where"), str(line), "the line")
        require("malloc(sizeof *entry)" in reader.text("#lines li[data-exact] code"), "its text")
        reader.done()

    def what_is_held_at_the_peak(self):
        reader, wanted = self.read(), self.most("PeakSize")
        reader.click(".flame input[value=peak] + span")
        expect(reader.text("#functions tbody button"), wanted, "the first row")
        reader.done()

    def since_when(self):
        """Of a process that was recorded at more points: what was held up to the peak."""
        path = HERE.parent / "golden" / "heap-raw" / "handmade-by-context.profraw"
        self.run("report", path, "-q", "-o", "golden.html")
        reader = self.read("golden.html")
        reader.click("#to-peak")
        ends = reader.page.evaluate("(({from, to}) => [from, to])("
                                    "document.querySelector('#range').dataset)")
        expect(ends, ["0", "400"], "from the start to the peak")
        # It is known from 120 ms on, and grows with the curve from 128 to 164 B.
        held = float(reader.page.evaluate("document.querySelector('#contexts td').dataset.exact"))
        wanted = 100 * (1 + 164 / 128) / 2 * (400 - 120) / 400
        require(abs(held - wanted) < 1e-6, f"what held most then: {held}, expected {wanted}")
        reader.done()

    def what_leaks(self):
        reader = self.read()
        reader.click("[data-advice=leaked] ul button")
        expect(reader.text("#panel-title"), "remember", "who allocated what is not freed")
        require("free(s->buffer)" in reader.text("[data-advice=leaked] .example"), "the example")
        reader.done()

    def which_type_takes_most(self):
        before = self.before
        self.run("report", before.path, "-b", before.binary, "-q", "-o", "types.html")
        sums = collections.Counter()
        for context in json.loads(self.run("show", "--json", before.path, "-b",
                                           before.binary))["contexts"]:
            sums[context.get("type", "(type not known)")] += context["mib"]["TotalSize"]
        reader = self.read("types.html")
        expect(reader.page.evaluate("document.querySelector('#types tbody button').title"),
               sums.most_common(1)[0][0], "the first row")
        reader.done()

    def what_changed(self):
        before, slow = self.before, self.slow
        self.run("report", slow.path, "--base", before.path, "-b", before.binary, "-b",
                 slow.binary, "-q", "-o", "diff.html")
        reader = self.read("diff.html")
        expect(reader.text("#contexts tbody button"), "cache_that_nobody_asked_for", "the first")
        reader.click("#contexts tbody button")
        require("Before: 0 B" in reader.text("#panel"), "what it was before")
        reader.done()

    def where_is_the_time_spent(self):
        """Of a sample profile: the hottest function, inlined or not, its caller and its line."""
        reader = self.read("samples.html")
        reader.search("lex")
        reader.click("#hit-0")
        expect([reader.text("#total"), reader.text("#callers button")], ["4,500", "parse"],
               "its samples, and where it is inlined")
        expect(reader.text("#panel .inside .where"), "+1", "its line")
        reader.done()


HELPERS = ("run", "read", "most")
MISSING = [what for what, found in (("chromium", find_chromium()), ("a C compiler", COMPILER),
                                    ("clang++-22", shop.find_compiler())) if not found]
sys.exit(run(Suite, HELPERS, MISSING, sys.argv[2:]))
