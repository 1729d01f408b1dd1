#!/usr/bin/env python3
"""The page of `pgokit pgo` in a real browser: what it shows is what was measured and recorded.

usage: gain_page.py PGOKIT [CASE...]      a case as it is printed
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]

from browser import find_chromium  # noqa: E402
from cases import (FIGURES, WIDTHS, expect, expect_fit, expect_names,  # noqa: E402
                   expect_placeholder, require, run)

PROGRAM = HERE.parent / "recorder" / "programs" / "made_faster.c"
BUILD = """case $PGOKIT_PGO_GCC in *-fauto-profile=*) more=;; *) more=-DPLAIN;; esac
$CC $CFLAGS $more $LDFLAGS app.c -o app"""
EVIL = "</script><img src=x onerror=window.evil=1>"
TEXTS = "Array.from(document.querySelectorAll({!r}), (e) => e.textContent)"
CELLS = """Object.fromEntries(Array.from(document.querySelectorAll('#gain-functions tbody tr'),
    (r) => [r.querySelector('button').textContent,
            Array.from(r.querySelectorAll('td'), (d) => d.textContent)]))"""
TAGS = """Object.fromEntries(Array.from(document.querySelectorAll('#gain-functions tbody tr'),
    (r) => [r.querySelector('button').textContent,
            Array.from(r.querySelectorAll('.tag'), (t) => t.textContent)]))"""


class Suite:
    pgokit = os.path.abspath(sys.argv[1])

    def __init__(self, folder, browser):
        self.folder, self.browser = folder, browser
        self.kept = self.make("kept")
        self.refused = self.make("refused", "--min-gain", "100000", status=3)

    def make(self, name, *options, status=0):
        """Another build command, so that its text stands on the page."""
        folder = self.folder / name
        folder.mkdir()
        shutil.copy(PROGRAM, folder / "app.c")
        done = subprocess.run(
            [self.pgokit, "pgo", "--cc", "gcc-12", "--build", f": '{EVIL}'; {BUILD}", "--run",
             "./app 30000000", "--runs", "1", "--measure", "./app 4000000", "--max-growth", "90",
             "--page", "page.html", "--json", "r.json", *options],
            cwd=folder, capture_output=True, text=True, check=False)
        expect(done.returncode, status, done.stderr)
        return folder

    def open(self, folder, **window):
        return self.browser.open(folder / "page.html", **window)

    def trial(self, folder):
        return json.loads((folder / "r.json").read_text())

    # ---- cases ----

    def loads_without_a_complaint(self):
        for folder in (self.kept, self.refused):
            for dark in (False, True):
                page = self.open(folder, dark=dark)
                expect(page.problems(), [], "problems")
                expect(page.evaluate("document.title"), "app – pgokit report", "title")
                expect(page.evaluate("window.evil ?? 0"), 0, "markup of a command")
                require(EVIL in page.evaluate("document.body.textContent"), "the build command")

    def rows_are_those_of_the_json(self):
        trial, page = self.trial(self.kept), self.open(self.kept)
        row, kept = trial["rows"][0], [row for row in trial["rows"] if row["kept"]]
        figures, now = page.evaluate(FIGURES), row["seconds_before"]
        for better in kept:
            now /= 1 + better["gain_percent"] / 100
        require(abs(figures["seconds"] / now - 1) < 1e-3, figures)
        expect(figures["bytes"], kept[-1]["bytes"], "bytes of code")
        expect(len(page.evaluate(TEXTS.format("#forms tbody tr"))), 1 + len(trial["rows"]), "rows")
        text = page.evaluate("document.querySelector('[data-form]').textContent")
        require(text.startswith("profile") and f"+{row['gain_percent']:.1f} %" in text
                and "kept" in text, text)
        expect(page.evaluate("document.querySelectorAll('#forms circle').length"),
               sum(len(row["turns"]) for row in trial["rows"]), "dots")
        require("faster. Kept: profile" in page.evaluate(
            "document.getElementById('verdict').textContent"), "the verdict")

    def functions_say_what_became_of_them(self):
        page = self.open(self.kept)
        cells, tags = page.evaluate(CELLS), page.evaluate(TAGS)
        expect(list(cells)[0], "wasted", "what saves most")
        require(cells["wasted"][0].startswith("\u2212") and cells["wasted"][2] == ""
                and cells["wasted"][4] == "none", cells["wasted"])
        expect(tags["wasted"], ["no code of its own"], "wasted")
        expect(tags["mixed"], ["no code of its own", "inlined"], "mixed")
        require("cold part" in tags["second"], tags)
        expect(page.evaluate(TEXTS.format("#inlined li b")), ["mixed", "mixed"], "inlined")
        require(page.evaluate(TEXTS.format("#moved li")), "what moved")
        require("moved" in tags["first"] + tags["second"], tags)
        expect(page.evaluate(TEXTS.format("#split li button")), ["second"], "split off")
        expect(page.evaluate("document.querySelector('#not-inlined')"), None, "no longer inlined")

    def a_function_has_a_panel(self):
        page = self.open(self.kept)
        page.evaluate("Array.from(document.querySelectorAll('#gain-functions tbody button'))"
                      ".find((b) => b.textContent === 'mixed').click()")
        page.wait("document.querySelector('#panel')")
        text = page.evaluate("document.querySelector('#panel').innerText")
        require("Inlined now" in text and "in second" in text and "in first" in text, text)
        page.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
        page.wait("!document.querySelector('#panel')")

    def the_search_narrows(self):
        page = self.open(self.kept)
        page.evaluate("""(() => { const box = document.getElementById('search');
            box.value = 'WAST'; box.dispatchEvent(new Event('input', {bubbles: true})); })()""")
        page.wait("document.querySelectorAll('#gain-functions tbody tr').length === 1")
        expect(list(page.evaluate(CELLS)), ["wasted"], "found")

    def what_was_refused_says_why(self):
        page, trial = self.open(self.refused), self.trial(self.refused)
        text = page.evaluate("document.body.innerText")
        require(trial["rows"][0]["why"] in text and "stays in place" in text, text)
        cells = page.evaluate(CELLS)
        require(len(cells["wasted"]) == 2 and cells["wasted"][0], cells["wasted"])
        expect(page.evaluate("document.querySelector('#inlined, #moved, #split')"), None, "changes")

    def all_fits_and_has_names(self):
        for folder in (self.kept, self.refused):
            for width in WIDTHS:
                page = self.open(folder)
                page.resize(width, 900, mobile=True)
                expect_fit(page, width)
                expect_names(page)
                expect_placeholder(page)


HELPERS = ("make", "open", "trial")
MISSING = [what for what, found in (("chromium", find_chromium()),
                                    ("gcc-12", shutil.which("gcc-12"))) if not found]
sys.exit(run(Suite, HELPERS, MISSING, sys.argv[2:]))
