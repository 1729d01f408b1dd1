#!/usr/bin/env python3
"""The page of a sample profile in a real browser: what it shows is what the profile holds.

usage: sample_page.py PGOKIT [CASE...]      a case as it is printed
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]

from browser import find_chromium  # noqa: E402
from cases import (FIGURES, WIDTHS, expect, expect_fit, expect_names,  # noqa: E402
                   expect_placeholder, expect_use, expect_whole_graph, require, run)

GOLDEN = HERE.parent / "golden" / "sample"
EVIL = "</script><img src=x onerror=window.evil=1>"

# A function with two inlinees, one in the other, calls of several functions and types.
BEFORE = """\
main:3000:10
 1: 100
 4: 400
 9: 700 _Z5parsev:500 _Z4ransv:200
 9: vtables _ZTV4Base:300 _ZTV7Derived:100
 10: helper:1000
  1: 900
  2.3: 30
  3: deep:60
   1: 60 _Z5parsev:60
_Z5parsev:2000:500
 1: 1000
 2: 1000
_Z4ransv:900:200
 1: 900
steady:800:8
 1: 800
dropped:400:4
 1: 400
"""
# parse is hotter, rans cooler, one function gone and one new.
AFTER = BEFORE.replace("_Z5parsev:2000:500\n 1: 1000\n 2: 1000", "_Z5parsev:8000:2000\n"
                       " 1: 4000\n 2: 4000") \
    .replace("_Z4ransv:900:200\n 1: 900", "_Z4ransv:300:60\n 1: 300") \
    .replace("dropped:400:4\n 1: 400", "added:1500:15\n 1: 1500")
HOSTILE = f"""\
{EVIL}main:3000:10
 1: 100
 9: 700 {EVIL}callee:500 other:200
 9: vtables {EVIL}type:300
 10: {EVIL}inlinee:1000
  1: 900
"""
PROGRAM_PROFILE = """\
main:300:3
 2: 300
parse:200:3
 1: 200
elsewhere:100:1
 1: 100
"""
# Rows of the table: the name and the texts of the cells.
ROWS = """Array.from(document.querySelectorAll('#functions tbody tr'), (r) => [
    r.querySelector('button').textContent, ...Array.from(r.querySelectorAll('td'),
    (d) => d.textContent)])"""
PANEL = "document.querySelector('#panel-title')?.textContent"
BOXES = """Array.from(document.querySelectorAll('.box[role=treeitem]'), (b) => b.ariaLabel)"""
TAGS = """Object.fromEntries(Array.from(document.querySelectorAll('#functions tbody tr'), (r) =>
    [r.querySelector('button').textContent, r.querySelector('.tag')?.textContent ?? '']))"""


def number(text):
    return int(text.replace(",", ""))


def percent(share):
    return f"{100 * share:.1f} %"


def own(node):
    """Samples of a function's lines in JSON, without inlinees."""
    return sum(line.get("samples", 0) for line in node["lines"])


def inside(node):
    return own(node) + sum(map(inside, node.get("inlinees", [])))


def around(list_id):
    """Names and numbers of a list of the panel."""
    return (f"Array.from(document.querySelectorAll('#{list_id} li'), (l) => [l.querySelector("
            "'button, .meter + span').textContent, Number(l.dataset.exact)])")


class Suite:
    pgokit = os.path.abspath(sys.argv[1])

    def __init__(self, folder, browser):
        self.folder, self.browser = folder, browser
        self.before = self.write("before.prof", BEFORE)
        self.after = self.write("after.prof", AFTER)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *args):
        return subprocess.run([self.pgokit, *map(str, args)], check=True, capture_output=True,
                              text=True, cwd=self.folder).stdout

    def json(self, path, *args):
        return json.loads(self.run("show", "--json", path, *args))

    def open(self, profile, *args, **window):
        page = self.folder / "report.html"
        self.run("report", profile, "-q", "-o", page, *args)
        return self.browser.open(page, **window)

    def open_row(self, page, name):
        """The panel of the first function whose name has this in it."""
        page.evaluate("Array.from(document.querySelectorAll('#functions tbody button'))"
                      f".find((b) => b.textContent.includes({json.dumps(name)})).click()")
        page.wait("document.querySelector('#panel')")
        return page.evaluate("document.querySelector('#panel').innerText")

    def terminal_lines(self, *args):
        """Lines with samples as pgokit show has them."""
        text = self.run("show", "--lines", *args)
        found = re.findall(r"^ +(\S+:\d+|[+-]\d+|no line) +(\d+)$", text, re.MULTILINE)
        return [list(line) for line in found]

    # ---- cases ----

    def every_encoding_loads_without_a_complaint(self):
        for path in [self.before, *sorted(GOLDEN.glob("*.afdo")), *sorted(GOLDEN.glob("*.prof"))]:
            page = self.open(path)
            expect(page.problems(), [], f"problems with {path.name}")
            expect(page.evaluate("document.title"), f"{path.name} – pgokit report", "title")
            figures, data = page.evaluate(FIGURES), self.json(path)
            expect(figures["total_count"], data["summary"]["total_count"], path.name)
            expect(figures["functions"], len(data["functions"]), path.name)
            expect(figures["heads"], sum(f["head"] for f in data["functions"]), path.name)

    def dark_theme_loads_without_a_complaint(self):
        expect(self.open(self.before, dark=True).problems(), [], "problems")

    def functions_are_those_of_show(self):
        data, page = self.json(self.before), self.open(self.before)
        names = {"_Z5parsev": "parse", "_Z4ransv": "rans"}
        whole, sum_so_far, wanted = data["summary"]["total_count"], 0, []
        for f in sorted(data["functions"], key=inside, reverse=True):
            sum_so_far += inside(f)
            wanted.append([names.get(f["name"], f["name"]), f"{inside(f):,}", f"{own(f):,}",
                           percent(inside(f) / whole), percent(sum_so_far / whole),
                           f"{f['head']:,}"])
        expect([row[:6] for row in page.evaluate(ROWS)], wanted, "rows")

    def header_functions_and_lines_add_up(self):
        """All are samples of lines, on the page and in the terminal."""
        for path in [self.before, *sorted(GOLDEN.glob("llvm22*.afdo"))]:
            page = self.open(path)
            whole = page.evaluate(FIGURES)["total_count"]
            rows = page.evaluate(ROWS)
            expect(sum(number(row[1]) for row in rows), whole, f"functions of {path.name}")
            require(rows[-1][4] == "100.0 %" or not whole, f"{path.name}: {rows[-1]}")
            boxes = page.evaluate(BOXES)
            if boxes:
                expect(boxes[0], f"whole program, {whole:,} sample{'s' if whole != 1 else ''}, "
                       "100.0 %", path.name)
            table = self.run("show", path, "--top", "100000").splitlines()
            shown = [line.split() for line in table if " %  " in line]
            expect(sum(number(line[0]) for line in shown), whole, f"show {path.name}")
            require(abs(sum(float(line[1]) for line in shown) - 100) < 0.06 * len(shown) or
                    not whole, f"shares of show {path.name}: {shown}")

    def shares_are_those_of_the_terminal(self):
        page, table = self.open(self.before), self.run("show", self.before)
        for row in page.evaluate(ROWS):
            line = next(line for line in table.splitlines() if line.endswith(f"  {row[0]}"))
            require(row[3] in line and row[1] in line, f"{row} and {line!r}")

    def hot_is_what_the_summary_says(self):
        data, page = self.json(self.before), self.open(self.before)
        cutoffs = {c["ppm"]: c for c in data["summary"]["cutoffs"]}
        expect(page.evaluate(FIGURES)["hot_count"], cutoffs[990000]["min_count"], "hot")
        rows = page.evaluate("Array.from(document.querySelectorAll('.cutoffs tbody tr'), (r) => "
                             "Array.from(r.children, (c) => c.textContent))")
        require(len(rows) > 3, rows)
        for share, _, lines, least in rows:
            ppm = round(float(share.replace("hot", "").rstrip(" %")) * 10000)
            expect([number(lines), number(least.removeprefix("≥ "))],
                   [cutoffs[ppm]["num_counts"], cutoffs[ppm]["min_count"]], f"{share} of samples")

    def table_sorts_by_any_column(self):
        page = self.open(self.before)
        for column, key in enumerate(("Samples", "Self", "Share", "Cumulative", "At head",
                                       "Hottest")):
            for rising in (False, True):
                button = f"#functions thead th:nth-child({column + 2}) button"
                if key != "Samples" or rising:
                    page.click(button)
                page.wait(f"document.querySelector('{button}').parentElement.ariaSort === "
                          f"'{'ascending' if rising else 'descending'}'")
                values = [float(row[column + 1].replace(",", "").rstrip(" %"))
                          for row in page.evaluate(ROWS)]
                expect(values, sorted(values, reverse=not rising), f"{key}, rising: {rising}")

    def search_finds_functions_and_what_is_inlined(self):
        for query, wanted in (("parse", ["parse"]), ("_Z4rans", ["rans"]), ("deep", ["main"]),
                              ("nothing like it", [])):
            page = self.open(self.before)
            page.type("#search", query)
            page.wait(f"document.querySelector('#functions-found').textContent.startsWith("
                      f"'{len(wanted)} of 5')")
            expect([row[0] for row in page.evaluate(ROWS)], wanted, query)

    def click_opens_the_panel(self):
        page = self.open(self.before)
        page.click("#functions tbody button")
        page.wait("document.querySelector('#panel')")
        expect(page.evaluate("document.querySelector('#panel-title').textContent"), "main",
               "title")
        places = page.evaluate("Array.from(document.querySelectorAll('#panel .where'), (w) => ["
                               "w.textContent, w.closest('.at, summary').querySelector('.many')"
                               ".textContent])")
        expect(places, [["+1", "100"], ["+4", "400"], ["+9", "700"], ["+10", "990"], ["+1", "900"],
                        ["+2", "30"], ["+3", "60"], ["+1", "60"]], "lines and inlined code")
        page.evaluate("Array.from(document.querySelectorAll('#panel summary')).find((s) => "
                      "s.textContent.includes('deep')).click()")
        page.wait("document.querySelectorAll('#panel .where').length === 7")
        expect(page.evaluate("document.activeElement.id"), "panel-title", "the focus")
        page.press("Escape")
        page.wait("!document.querySelector('#panel')")
        expect(page.problems(), [], "problems")

    def calls_and_types_have_shares(self):
        page = self.open(self.before)
        text = page.evaluate("document.querySelector('.sites').innerText")
        for wanted in ("1 place", "main+9", "700 calls", "71.4 %", "parse", "28.6 %", "rans",
                       "75.0 %", "Base", "25.0 %", "Derived"):
            require(wanted in text, f"{wanted!r} in {text!r}")
        page.click(".sites button")
        page.wait("document.querySelector('#panel')")
        text = page.evaluate("document.querySelector('#panel').innerText")
        require("71.4 %" in text and "75.0 %" in text, text)

    def inlined_code_is_a_flame_graph(self):
        page = self.open(self.before)
        expect(page.evaluate(BOXES)[:4],
               ["whole program, 6,290 samples, 100.0 %", "main, 2,190 samples, 34.8 %",
                "parse, 2,000 samples, 31.8 %", "rans, 900 samples, 14.3 %"], "boxes")
        require("helper, 990 samples, 15.7 %" in page.evaluate(BOXES), "the inlined function")
        page.evaluate("Array.from(document.querySelectorAll('.box')).find((b) => "
                      "b.ariaLabel?.startsWith('parse')).id = 'target'")
        page.click("#target")
        page.wait("document.querySelector('#functions-found').textContent.startsWith('1 of 5')")
        page.wait("document.querySelector('#panel')")
        page.press("Escape")
        page.wait("!document.querySelector('#panel')")

    def panel_has_callers_and_callees(self):
        """Of a function with its copies: samples where it is inlined, and calls."""
        page = self.open(self.before)
        self.open_row(page, "main")
        expect(page.evaluate("['#self', '#total'].map((s) => Number("
                             "document.querySelector(s).dataset.exact))"),
               [1200, 2190], "self and total")
        expect(page.evaluate(around("callees")), [["helper", 990]], "what is inlined into main")
        expect(page.evaluate(around("callees-calls")), [["parse", 500], ["rans", 200]],
               "what it calls")
        page.evaluate("Array.from(document.querySelectorAll('#callees button')).find("
                      "(b) => b.textContent === 'helper').click()")
        page.wait(f"{PANEL} === 'helper'")
        expect(page.evaluate(around("callers")), [["main", 990]], "where helper is inlined")
        require("inlined wherever it was sampled" in page.evaluate(
            "document.querySelector('#panel').textContent"), "that it has no profile of its own")
        page.evaluate("Array.from(document.querySelectorAll('#callees button')).find("
                      "(b) => b.textContent === 'deep').click()")
        page.wait(f"{PANEL} === 'deep'")
        expect(page.evaluate(around("callees-calls")), [["parse", 60]], "what deep calls")
        page.evaluate("document.querySelector('#callees-calls button').click()")
        page.wait(f"{PANEL} === 'parse'")
        expect(page.evaluate(around("callers-calls")), [["main", 500], ["deep", 60]],
               "who calls parse")
        page.evaluate("history.back()")
        page.wait(f"{PANEL} === 'deep'")
        expect(page.problems(), [], "problems")

    def functions_have_all_their_copies(self):
        """Also those that are inlined everywhere; self adds up to all samples."""
        page, data = self.open(self.before), self.json(self.before)
        page.click("input[name=group][value=function] + span")
        page.wait("location.hash === '#group=function'")
        page.settle()
        names = {"_Z5parsev": "parse", "_Z4ransv": "rans"}
        wanted = {}

        def add(node):
            name = names.get(node["name"], node["name"])
            sums = wanted.setdefault(name, [0, 0])
            wanted[name] = [sums[0] + own(node), sums[1] + inside(node)]
            for inlinee in node.get("inlinees", []):
                add(inlinee)
        for function in data["functions"]:
            add(function)
        rows = page.evaluate(ROWS)
        expect({row[0]: [number(row[1]), number(row[2])] for row in rows}, wanted, "rows")
        expect(sum(number(row[1]) for row in rows), page.evaluate(FIGURES)["total_count"], "self")
        require(rows == sorted(rows, key=lambda row: -number(row[1])), "falling by self")
        page.evaluate("Array.from(document.querySelectorAll('#functions tbody button')).find("
                      "(b) => b.textContent === 'helper').click()")
        page.wait(f"{PANEL} === 'helper'")
        expect(page.problems(), [], "problems")

    def search_goes_through_its_hits(self):
        page = self.open(self.before)
        count = "document.querySelector('#hits-found').textContent"
        page.type("#search", "e")
        page.wait(f"{count} === '5 functions'")
        expect(page.evaluate("Array.from(document.querySelectorAll('#hits .name'), "
                             "(n) => n.textContent)"),
               ["parse", "helper", "steady", "dropped", "deep"], "hits, most samples first")
        page.press("ArrowDown")
        page.press("ArrowDown")
        page.press("Enter")
        page.wait(f"{PANEL} === 'helper'")
        expect(page.evaluate("document.activeElement.id"), "search", "where the focus stays")
        page.press("Enter")
        page.wait(f"{PANEL} === 'steady'")
        expect(page.problems(), [], "problems")

    def address_keeps_what_is_chosen(self):
        page = self.open(self.before)
        page.click("#functions thead th:nth-child(3) button")
        page.type("#search", "e")
        page.evaluate("Array.from(document.querySelectorAll('.box')).find((b) => "
                      "b.ariaLabel?.startsWith('helper')).id = 'target'")
        page.click("#target")
        page.wait(f"{PANEL} === 'main'")
        path = "Array.from(document.querySelectorAll('.crumbs li'), (l) => l.textContent)"
        expect(page.evaluate(path), ["Whole program", "main", "helper"], "path")
        state, rows = page.evaluate("location.hash"), page.evaluate(ROWS)
        again = self.browser.open(f"{self.folder / 'report.html'}{state}")
        again.wait(f"{PANEL} === 'main'")
        expect([again.evaluate(path), again.evaluate(ROWS),
                again.evaluate("document.querySelector('#search').value")],
               [["Whole program", "main", "helper"], rows, "e"], "what the address keeps")
        again.click(".crumbs button")
        again.wait("!document.querySelector('.crumbs')")
        again.evaluate("history.back()")
        again.wait(f"{path}.at(-1) === 'helper'")
        again = self.browser.open(f"{self.folder / 'report.html'}#chosen=nothing&zoom=99999&row=7"
                                  "&sort=colour")
        expect([again.evaluate("Boolean(document.querySelector('#panel'))"), again.problems()],
               [False, []], "what is not there")

    def parts_of_a_line_are_one_line(self):
        """Discriminators are no fractions, and lines before the function's first one are kept in
        16 bits."""
        page = self.open(self.write("parts.prof", "odd:900:1\n 65493: 5\n 25: 100\n 25.1: 300 "
                                    "f:200\n 25.7: 60 f:50\n"))
        self.open_row(page, "odd")
        places = page.evaluate("Array.from(document.querySelectorAll('#panel .at'), (a) => ["
                               "a.querySelector('.where').textContent, "
                               "a.querySelector('.many').textContent])")
        expect(places, [["\u221243", "5"], ["+25", "460"]], "lines")
        require("f: 250" in page.evaluate("document.querySelector('#panel').innerText"),
                "calls of the line")
        expect(self.terminal_lines("parts.prof"), [["-43", "5"], ["+25", "460"]],
               "lines of show")

    def lines_stand_beside_the_text_of_the_file(self):
        """Where the program's debug information says where functions are, inlined ones, too."""
        source, binary = HERE / "programs" / "lines.c", self.folder / "lines"
        subprocess.run([shutil.which("clang-22"), "-O1", "-g", source, "-o", binary], check=True,
                       capture_output=True, cwd=self.folder)
        profile = self.write("lines.prof", "work:1000:10\n 65527: 7\n 65534: 3\n 2: 100\n"
                             " 3: 400\n 4: mix:500\n  2: 500\n")
        text = source.read_text(encoding="ascii").splitlines()
        page = self.open(profile, "-b", binary)
        self.open_row(page, "work")
        start = 1 + next(i for i, line in enumerate(text) if "int work" in line)
        inlined = 1 + next(i for i, line in enumerate(text) if "int mix" in line)
        wanted = [[str(line), count, text[line - 1]] for line, count in (
            (start - 2, "3"), (start + 2, "100"), (start + 3, "400"), (inlined + 2, "500"))]
        counted = page.evaluate("Array.from(document.querySelectorAll('#panel .at'), (a) => ["
                                "'.where', '.many', 'code'].map((s) => "
                                "a.querySelector(s)?.textContent))")
        # Compilers give code that belongs to no line the line 0.
        expect(counted, [["none", "7", None], *wanted], "lines, samples and text")
        # The inlined line stands below its call there, as it is unfolded here.
        shown = [[f"lines.c:{line}", count] for line, count, _ in wanted]
        expect(self.terminal_lines(profile, "-b", binary), [["no line", "7"], *shown],
               "lines of show")
        between = page.evaluate("Array.from(document.querySelectorAll('#panel .source-line'), "
                                "(l) => [l.querySelector('.where').textContent, "
                                "l.querySelector('code').textContent])")
        require([str(start), text[start - 1]] in between, f"lines between: {between}")
        require(f"lines.c:{start}" in page.evaluate("document.querySelector('.where-from')"
                                                    ".textContent"), "where the function is")
        expect(page.evaluate("document.querySelector('#panel summary .where').textContent"),
               str(start + 4), "the line of the inlined call")
        expect(page.problems(), [], "problems")
        page = self.open(profile, "-b", binary, "--no-source")
        self.open_row(page, "work")
        expect(page.evaluate("document.querySelectorAll('#panel code').length"), 0, "texts")
        page = self.open(profile)
        text = self.open_row(page, "work")
        require("+3" in text and "-b BINARY" in text, text)

    def contexts_are_a_flame_graph(self):
        path = GOLDEN / "llvm22-contexts.afdo"
        page = self.open(path)
        expect(page.problems(), [], "problems")
        expect(page.evaluate(BOXES), ["whole program, 8 samples, 100.0 %",
                                      "main, 8 samples, 100.0 %", "foo, 5 samples, 62.5 %"],
               "boxes")
        text = self.open_row(page, "foo")
        require("Called from" in text and "main:3" in text, text)

    def flat_profile_has_no_flame_graph(self):
        page = self.open(self.write("flat.prof", "a:10:1\n 1: 10\nb:5:1\n 1: 5\n"))
        expect(page.evaluate("document.querySelectorAll('.flame').length"), 0, "graphs")
        expect([row[0] for row in page.evaluate(ROWS)], ["a", "b"], "functions")
        expect(page.problems(), [], "problems")

    def probes_are_called_probes(self):
        page = self.open(GOLDEN / "llvm22-probes-split.afdo")
        text = page.evaluate("document.body.innerText")
        require("by probes" in text and "Hottest probe" in text, text[:600])
        require("Probes and inlined code" in self.open_row(page, "main"), "the panel")

    def coverage_is_of_the_program(self):
        compiler = shutil.which("clang-22")
        source = pathlib.Path(__file__).resolve().parent / "programs/parse_never.c"
        binary = self.folder / "program"
        subprocess.run([compiler, "-O1", "-g", "-nostartfiles", "-Wl,-emain", source, "-o",
                        binary], check=True, capture_output=True)
        page = self.open(self.write("program.prof", PROGRAM_PROFILE), "-b", binary)
        expect(page.evaluate(FIGURES)["coverage"], 2, "functions with a profile")
        tile = page.evaluate("document.querySelector('[data-figure=coverage]').innerText")
        require("66.7 %" in tile and "3 functions" in tile, tile)
        text = page.evaluate("document.querySelector('.spread-card').innerText")
        require("1 function of the profile with 16.7 % of the samples" in text, text)

    def figure_of_density(self):
        """Of the functions that have 99 % of the samples, the sparsest one's samples per line."""
        def lines(node):
            own = [line["samples"] for line in node["lines"] if "samples" in line]
            return own + [v for inlinee in node.get("inlinees", []) for v in lines(inlinee)]
        functions = [lines(f) for f in self.json(self.before)["functions"]]
        functions.sort(key=lambda v: sum(v) / len(v), reverse=True)
        whole, reached, density = sum(map(sum, functions)), 0, 0
        for values in functions:
            if reached >= whole * 0.99:
                break
            reached += sum(values)
            density = sum(values) / len(values)
        expect(self.open(self.before).evaluate(FIGURES)["density"], density, "density")

    def functions_beyond_the_limit_are_summed_up(self):
        page = self.open(self.before, "--contexts", "2")
        expect([row[0] for row in page.evaluate(ROWS)], ["main", "parse"], "rows")
        text = page.evaluate("document.querySelector('#rest').textContent")
        for wanted in ("3 functions", "2,100 samples", "33.4 %", "14.3 %"):
            require(wanted in text, f"{wanted!r} in {text!r}")
        expect(page.evaluate(FIGURES)["functions"], 5, "the headline is of all")

    def large_profile_is_folded_and_opens(self):
        """20,000 functions of 10 lines: more than the page has room for."""
        text = "".join(f"f{i}:{1000 + 10 * i}:1\n" +
                       "".join(f" {line}: {1 + i * line}\n" for line in range(1, 11))
                       for i in range(20000))
        page = self.open(self.write("large.prof", text), "--contexts", "5000")
        expect(page.problems(), [], "problems")
        require("15,000 functions" in page.evaluate("document.querySelector('#rest').innerText"),
                "what is left out")
        size = (self.folder / "report.html").stat().st_size
        require(size < 2e6 + 5000 * 100, f"{size} bytes")
        page = self.open(self.folder / "large.prof")
        text = page.evaluate("document.querySelector('#left-out').innerText")
        require("80,000 counts of lines" in text, text)
        size = (self.folder / "report.html").stat().st_size
        require(size < 2e6 + 20000 * 100, f"{size} bytes")

    def difference_shows_the_regression(self):
        page = self.open(self.after, "--base", self.before)
        expect(page.problems(), [], "problems")
        data = json.loads(self.run("diff", "--json", self.before, self.after))
        expect(page.evaluate(TAGS), {"parse": "hotter", "added": "new", "main": "cooler",
                                     "dropped": "gone", "rans": "cooler", "steady": "cooler"},
               "changes")
        verdict = page.evaluate("document.querySelector('#verdict').textContent")
        for wanted in (percent(data["similarity"]), percent(data["sample_overlap"]), "1 new",
                       "1 gone", "1 hotter", "3 cooler"):
            require(wanted in verdict, f"{wanted!r} in {verdict!r}")
        names = {"_Z5parsev": "parse", "_Z4ransv": "rans"}
        rows = {row[0]: row[1:] for row in page.evaluate(ROWS)}
        for c in data["changes"]:
            moved = 100 * (c["test_share"] - c["base_share"])
            wanted = [f"{'+' if moved > 0 else '−'}{abs(moved):.2f} %",
                      percent(c["test_share"]), percent(c["base_share"]),
                      f"{c['test_samples']:,}", f"{c['base_samples']:,}"]
            row = rows[names.get(c["function"], c["function"])]
            expect(row[:5], wanted, c["function"])
            alike = float(row[5].rstrip(" %"))
            require(abs(alike - 100 * c["similarity"]) < 0.051, f"alike {alike}: {c}")
        expect(page.evaluate(ROWS)[0][0], "parse", "what moved most")
        require("Before: 2,000 samples" in self.open_row(page, "parse"), "the panel")
        self.open_row(page, "dropped")
        require("Only the older profile" in page.evaluate(
            "document.querySelector('#panel').innerText"), "the panel of a function that is gone")

    def difference_of_contexts(self):
        path = GOLDEN / "llvm22-contexts.afdo"
        twice = self.folder / "twice.afdo"
        self.run("merge", f"{path}@2", "-o", twice)
        page = self.open(twice, "--base", path)
        expect(page.problems(), [], "problems")
        verdict = page.evaluate("document.querySelector('#verdict').textContent")
        require("100.0 % alike" in verdict and "none changed" in verdict, verdict)

    def names_are_text(self):
        hostile = self.write("hostile.prof", HOSTILE)
        for args in ((hostile,), (hostile, "--base", self.before)):
            page = self.open(*args)
            text = self.open_row(page, "onerror")
            for what in ("main", "callee", "type", "inlinee"):
                require(f"{EVIL}{what}" in text, f"{what} in {text!r}")
            expect(page.evaluate("document.images.length"), 0, "images")
            expect(page.evaluate("typeof window.evil"), "undefined", "what the name tried to set")
            expect(page.problems(), [], "problems")
            html = (self.folder / "report.html").read_text(encoding="utf-8")
            require("onerror=" not in html, "the name stands in the markup")

    def fits_a_phone(self):
        for args in ((self.before,), (self.after, "--base", self.before)):
            for width in (320, 390):
                page = self.open(*args, width=width, height=844)
                expect_fit(page, width)
                expect_placeholder(page)
                self.open_row(page, "main")
                expect_fit(page, width)
                expect(page.problems(), [], "problems")

    def flame_graph_is_whole(self):
        """Also where the last function is narrower than a letter."""
        narrow = self.write("narrow.prof", BEFORE + "rare:20:1\n 1: 20\n")
        page = self.open(narrow)
        require(any(b.startswith("rare,") for b in page.evaluate(BOXES)), "the narrow box")
        expect_whole_graph(page)

    def a_deep_flame_graph_scrolls_one_way(self):
        """Down to its last row, and never to a side."""
        levels = 40
        inlined = "".join(f"{' ' * n}{n}: step{n}:900\n" for n in range(1, levels))
        deep = self.write("deep.prof", f"main:900:1\n{inlined}{' ' * levels}1: 900\n"
                          "rare:2:1\n 1: 2\n")
        for width in WIDTHS:
            page = self.open(deep)
            page.resize(width, 900, mobile=False)
            page.evaluate("document.querySelector('.boxes-frame').scrollTo(9999, 9999)")
            page.settle()
            found = page.evaluate("""(() => {
                const frame = document.querySelector('.boxes-frame');
                const boxes = Array.from(document.querySelectorAll('.box'));
                const last = boxes.find((b) => b.ariaLabel?.startsWith('step39,'));
                return [frame.scrollHeight > frame.clientHeight, frame.scrollLeft,
                    frame.offsetHeight - frame.clientHeight,
                    last.getBoundingClientRect().bottom <=
                        frame.getBoundingClientRect().bottom]; })()""")
            expect(found, [True, 0, 0, True], f"at {width}: rows to scroll by, none of columns")

    def uses_a_wide_screen(self):
        page = self.open(self.before, width=2560, height=1400)
        expect_use(page, 2560)
        expect_placeholder(page)

    def everything_has_a_name(self):
        page = self.open(self.before)
        self.open_row(page, "main")
        require(expect_names(page).count("treeitem") > 5, "a tree")

    def works_by_keys(self):
        page = self.open(self.before)
        page.press("/")
        page.wait("document.activeElement.id === 'search'")
        page.evaluate("document.querySelector('.boxes').focus()")
        active = "document.getElementById(document.querySelector('.boxes')" \
                 ".getAttribute('aria-activedescendant')).ariaLabel"
        for key, wanted in (("ArrowDown", "main"), ("ArrowRight", "parse"), ("ArrowLeft", "main"),
                            ("ArrowDown", "helper"), ("Enter", "helper")):
            page.press(key)
            page.wait(f"{active}.startsWith('{wanted}')")
        page.wait("document.querySelector('#panel')")
        page.press("Escape")
        page.wait("!document.querySelector('#panel')")

    def same_bytes_for_the_same_profile(self):
        first, second = self.folder / "first.html", self.folder / "second.html"
        for path in (first, second):
            self.run("report", self.after, "--base", self.before, "-q", "-o", path)
        require(first.read_bytes() == second.read_bytes(), "equal bytes")


HELPERS = ("write", "run", "json", "open", "open_row", "terminal_lines")
MISSING = [what for what, found in (("chromium", find_chromium()),
                                    ("clang-22", shutil.which("clang-22"))) if not found]
sys.exit(run(Suite, HELPERS, MISSING, sys.argv[2:]))
