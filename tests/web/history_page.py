#!/usr/bin/env python3
"""The page of a history in a real browser: what it shows is what the history holds.

usage: history_page.py PGOKIT [CASE...]      a case as it is printed
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]

from browser import find_chromium  # noqa: E402
from cases import FIGURES, expect, expect_fit, expect_names, require, run  # noqa: E402

PGOKIT = pathlib.Path(sys.argv[1]).resolve()
GOLDEN = HERE.parent / "golden"
EVIL = "</script><img src=x onerror=window.evil=1>"
ROWS = """Array.from(document.querySelectorAll('#profiles tbody tr'), (r) => [
    r.querySelector('button').textContent,
    ...Array.from(r.querySelectorAll('td'), (d) => d.textContent.trim())])"""
MOVERS = """Array.from(document.querySelectorAll('.movers li'), (l) => [
    l.querySelector('.many').textContent, l.querySelector('.name').textContent])"""
# Of main, parse and rans, by release.
WEIGHTS = ((100, 800, 100), (100, 700, 200), (100, 2800, 100), (100, 900, 0))


class Suite:
    def __init__(self, folder, browser):
        self.folder, self.browser = folder, browser
        self.store = folder / "store"
        for i, (main, parse, rans) in enumerate(WEIGHTS, 1):
            path = folder / f"{i}.prof"
            path.write_text(f"main:{main}:1\n 1: {main}\n_Z5parsev:{parse}:1\n 1: {parse}\n" +
                            (f"_Z4ransv:{rans}:1\n 1: {rans}\n" if rans else ""))
            self.add(path, "--release", f"v{i}", "--host-class", "web", "--time", f"2026-0{i}-01",
                     *(["--gain", str(4 + i)] if i != 2 else []),
                     *(["--page", f"https://ci.example.org/{i}"] if i == 1 else []))
        self.page_at = folder / "history.html"

    def add(self, *words):
        subprocess.run([PGOKIT, "history", "add", "-q", self.store, *words], check=True)

    def open(self, *options, **window):
        subprocess.run([PGOKIT, "history", "page", self.store, "-o", self.page_at, *options],
                       check=True)
        return self.browser.open(self.page_at, **window)

    def figures_are_those_of_show(self):
        page = self.open()
        shown = json.loads(subprocess.run([PGOKIT, "history", "show", self.store, "--json"],
                                          check=True, capture_output=True).stdout)["profiles"]
        rows = page.evaluate(ROWS)
        expect([row[0] for row in rows], ["v4", "v3", "v2", "v1"], "versions, the newest first")
        expect([row[1] for row in rows], [p["time"][:16].replace("T", " ")
                                          for p in reversed(shown)], "times")
        expect([row[2] for row in rows], [f"{p['weight']:,}" for p in reversed(shown)], "samples")
        expect([row[3] for row in rows], ["\u221266.7 %", "+200.0 %", "0.0 %", ""], "changes")
        expect([row[4] for row in rows], ["+8.0 %", "+7.0 %", "", "+5.0 %"], "gains")
        expect(page.evaluate(FIGURES), {"weight": 1000, "gain": 8}, "figures of the last")
        require("0.0 %" in page.evaluate("document.querySelector('.verdict').textContent") or
                "As many" in page.evaluate("document.querySelector('.verdict').textContent"),
                "the verdict")
        expect(page.problems(), [], "problems")

    def movers_are_those_since_the_one_before(self):
        page = self.open()
        expect(sorted(page.evaluate(MOVERS)), [["+6.67 %", "main"], ["\u22123.33 %", "parse"],
                                               ["\u22123.33 %", "rans"]], "movers of v4")
        page.evaluate("Array.from(document.querySelectorAll('#profiles button')).find("
                      "(b) => b.textContent === 'v2').click()")
        page.settle()
        expect(page.evaluate(MOVERS), [["+10.00 %", "rans"], ["\u221210.00 %", "parse"]],
               "movers of v2")
        require("v2 since v1" in page.evaluate("document.querySelector('.movers').innerText"),
                "whose movers they are")
        expect(page.evaluate(FIGURES)["weight"], 1000, "figure of v2")
        expect(page.evaluate("document.querySelector('[aria-selected=true] button').textContent"),
               "v2", "the chosen row")
        expect(page.problems(), [], "problems")

    def links_lead_to_pages(self):
        """Of the newest, beside the page; or where a profile was said to have one."""
        page = self.open("--pages", "2")
        links = page.evaluate("Array.from(document.querySelectorAll('#profiles a'), "
                              "(a) => a.getAttribute('href'))")
        expect(links, ["history-pages/4.html", "history-pages/3.html",
                       "https://ci.example.org/1"], "links")
        other = self.browser.open(self.folder / links[0])
        expect(other.evaluate(FIGURES)["total_count"], 1000, "what the linked page shows")
        left = sorted(p.name for p in (self.folder / "history-pages").iterdir())
        expect(left, ["3.html", "4.html"], "files")

    def a_click_on_a_plot_chooses(self):
        page = self.open(width=1400)
        page.evaluate("document.querySelector('.history-plot .plot').dispatchEvent(new MouseEvent("
                      "'click', {bubbles: true, clientX: 60, clientY: 300}))")
        page.settle()
        expect(page.evaluate("document.querySelector('[aria-selected=true] button').textContent"),
               "v1", "the first one")
        lines = page.evaluate("document.querySelectorAll('.series-gain polyline').length")
        expect(lines, 2, "pieces of the gain, which v2 lacks")

    def windows_of_any_width_and_colour(self):
        for width in (400, 1420, 2560):
            for dark in (False, True):
                page = self.open(width=width, height=900, dark=dark)
                page.resize(width, 900, mobile=width < 600)
                expect_fit(page, page.evaluate("document.documentElement.clientWidth"))
                ink, paper = page.evaluate("[getComputedStyle(document.body).color, "
                                           "getComputedStyle(document.documentElement)"
                                           ".backgroundColor]")
                require(ink != paper, f"ink {ink} on {paper}")
        expect_names(page)
        expect(page.problems(), [], "problems")

    def names_are_no_markup(self):
        path = self.folder / "evil.prof"
        path.write_text(f"{EVIL}main:30:1\n 1: 30\n")
        for i in range(2):
            path.write_text(f"{EVIL}main:30:1\n 1: {30 + i}\nf{i}:30:1\n 1: 30\n")
            self.add(path, "--release", f"{EVIL}{i}", "--host-class", EVIL, "--time",
                     f"2027-01-0{i + 1}", "--page", "javascript:window.evil=2")
        page = self.open()
        page.settle()
        expect(page.evaluate("window.evil"), None, "what markup in a name has run")
        expect(page.evaluate("document.querySelectorAll('#profiles a, #app img').length"), 0,
               "links to scripts, and images")
        require(EVIL in page.evaluate("document.querySelector('#profiles').textContent"),
                "the name itself")
        expect(page.problems(), [], "problems")

    def classes_are_apart(self):
        self.add(GOLDEN / "heap-raw" / "handmade-over-time.profraw", "--time", "2028-01-01")
        page = self.open()
        expect(page.evaluate(FIGURES), {"weight": 184, "peak": 164, "exit": 20, "objects": 4},
               "figures of the heap profile")
        page.evaluate("(() => { const s = document.querySelector('#class'); s.value = 'sample web';"
                      "s.dispatchEvent(new Event('change', {bubbles: true})); })()")
        page.settle()
        expect(len(page.evaluate(ROWS)), 4, "samples of the class")
        expect(page.problems(), [], "problems")

    def an_empty_history_says_so(self):
        page = self.open("--since", "2090-01-01")
        require("No profile" in page.evaluate("document.body.innerText"), "what it says")
        expect(page.problems(), [], "problems")


def main():
    probe = subprocess.run([PGOKIT, "history", "show", HERE], capture_output=True, text=True,
                           check=False)
    missing = [name for name, there in (("chromium", find_chromium()),
                                        ("SQLite", "without SQLite" not in probe.stderr))
               if not there]
    sys.exit(run(Suite, {"add", "open"}, missing, sys.argv[2:]))


main()
