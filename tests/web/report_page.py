#!/usr/bin/env python3
"""The page of a heap profile in a real browser: what it shows is what the profile holds.

usage: report_page.py PGOKIT [CASE...]      a case as it is printed
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]

from browser import Failure, find_chromium  # noqa: E402
from cases import (FIGURES, expect, expect_fit, expect_names, expect_placeholder,  # noqa: E402
                   expect_use, expect_whole_graph, expect_whole_labels, require, run)
import shop  # noqa: E402

GOLDEN = HERE.parent / "golden"
# What the table shows of a row: the context's number on the page and its texts.
ROWS = """Array.from(document.querySelectorAll('#contexts tbody tr'), (r) => [
    r.querySelector('button').textContent, ...Array.from(r.querySelectorAll('td'),
    (d) => d.textContent)])"""
TYPES = """Array.from(document.querySelectorAll('#types tbody tr'), (r) => [
    r.querySelector('button').title, ...Array.from(r.querySelectorAll('td'),
    (d) => d.textContent)])"""
TEXTS = """Object.fromEntries(Array.from(document.querySelectorAll('[data-figure]'),
    (t) => [t.dataset.figure, t.querySelector('.value').textContent]))"""


class Suite:
    pgokit = os.path.abspath(sys.argv[1])

    def __init__(self, folder, browser):
        self.folder, self.browser = folder, browser
        self.before = shop.Profile(self.pgokit, folder, "before")
        self.slow = shop.Profile(self.pgokit, folder, "slow", "-DSLOW")

    def run(self, *args):
        return subprocess.run([self.pgokit, *map(str, args)], check=True, capture_output=True,
                              text=True, cwd=self.folder).stdout

    def report(self, profile, *args):
        """The page of a profile, as a file."""
        page = self.folder / "report.html"
        self.run("report", profile.path, "-b", profile.binary, "-q", "-o", page, *args)
        return page

    def json(self, profile):
        return json.loads(self.run("show", "--json", profile.path, "-b", profile.binary))

    def open(self, *args, profile=None, **window):
        return self.browser.open(self.report(profile or self.before, *args), **window)

    # ---- cases ----

    def loads_without_a_complaint(self):
        for dark in (False, True):
            page = self.open(dark=dark)
            expect(page.problems(), [], "problems")
            expect(page.evaluate("document.title"), "before.profdata – pgokit report", "title")

    def a_plan_shows_what_its_groups_held(self):
        apart = shop.Profile(self.pgokit, self.folder, "apart", arguments=["300"],  # ms to live
                             source=HERE.parent / "allocator" / "programs" / "compiler_hints.cpp")
        plan, stats, report = (self.folder / name for name in ("app.plan", "stats", "plan.html"))
        explained = self.run("plan", apart.raw, "-b", apart.binary, "-o", plan, "--explain")
        stats.write_text("pgokit_alloc: group 1: 1048576 bytes of objects in 2097152 bytes of "
                         "pages (50 %), 4096 bytes of empty pages\n", encoding="utf-8")
        self.run("report", apart.raw, "-b", apart.binary, "--plan", plan, "--alloc-stats", stats,
                 "-q", "-o", report)
        page = self.browser.open(report)
        expect(page.problems(), [], "problems")
        groups = page.evaluate("Array.from(document.querySelectorAll('#plan tbody tr'), (r) => "
                               "[r.dataset.group, r.textContent])")
        expect([number for number, _ in groups],
               [*(str(n + 1) for n in range(explained.count("\ngroup "))), "0"], "groups")
        for text in ("1.00 MiB", "2.00 MiB 50.0 %", "4.00 KiB"):
            require(text in groups[0][1], f"{text} in {groups[0][1]}")
        require("make" in groups[0][1], f"make in {groups[0][1]}")
        expected = [line.removeprefix("expected: ") for line in explained.splitlines()
                    if line.startswith("expected: ")]
        expect(page.evaluate("Array.from(document.querySelectorAll('#plan [data-expected]'), "
                             "(l) => l.textContent)"), expected, "what is expected")
        require("pages touched per pass" in expected[0] and "with the plan" in expected[0],
                expected[0])
        require("compiler_hints.cpp:" in groups[0][1], f"a line in {groups[0][1]}")
        require("_Z" not in "".join(text for _, text in groups), "linkage names")
        expect_names(page)
        expect_fit(self.browser.open(report, width=390), 390)

    def figures_are_those_of_show(self):
        data, page = self.json(self.before), self.open()
        figures = page.evaluate(FIGURES)
        for key in ("TotalSize", "AllocCount", "TotalAccessCount", "TotalLifetime"):
            expect(figures[key], data["totals"][key], key)
        for name, label in data["totals"]["labels"].items():
            expect(figures.get(name, 0), label["TotalSize"], name)
        advice = page.evaluate("Array.from(document.querySelectorAll('[data-advice]'), "
                               "(a) => [a.dataset.advice, Number(a.dataset.exact)])")
        expect(advice, [[a["rule"], a["bytes"]] for a in data["advice"]], "advice")
        require({"short-lived", "too-large"} <= {name for name, _ in advice},
                f"advice on what the program does wrong: {advice}")

    def leaks_are_in_the_overview(self):
        program = self.folder / "lost"
        subprocess.run([shop.find_compiler(), "-x", "c", "-g", "-O1", "-fno-omit-frame-pointer",
                        HERE / "programs" / "lost.c", "-o", program], check=True)
        totals = {}
        for lost in (0, 90):
            path = f"lost-{lost}.heap"
            self.run("record", "heap", "-q", "--leak-check", "-o", path, "--", program, lost)
            totals[lost] = json.loads(self.run("show", "--json", "-q", path))["totals"]
        require(totals[90]["UnreachableCount"] > 80, f"lost: {totals[90]}")
        page = self.browser.open(self.report_of("lost-90.heap"))
        expect(page.problems(), [], "problems")
        expect(page.evaluate(FIGURES)["UnreachableSize"], totals[90]["UnreachableSize"], "tile")
        tile = "document.querySelector('[data-figure=UnreachableSize]').textContent"
        objects = f"{totals[90]['UnreachableCount']} objects"
        require(f"in {objects} at exit" in page.evaluate(tile), page.evaluate(tile))
        verdict = "document.querySelector('#verdict').textContent"
        require(f"no pointer led to {objects} (" in page.evaluate(verdict), page.evaluate(verdict))
        self.run("report", "lost-0.heap", "--base", "lost-90.heap", "-q", "-o", "mended.html")
        page = self.browser.open(self.folder / "mended.html")
        now = totals[0]["UnreachableSize"]
        expect(page.evaluate(FIGURES)["UnreachableSize"], now, "tile of the mended one")
        said = page.evaluate(verdict)
        require("Unreachable at exit: " in said and said.endswith(f" {now} B now."), said)
        self.run("record", "heap", "-q", "-o", "unchecked.heap", "--", program, 90)
        page = self.browser.open(self.report_of("unchecked.heap"))
        require("UnreachableSize" not in page.evaluate(FIGURES), "without a leak check")

    def figures_read_as_on_the_terminal(self):
        page, table = self.open(), self.run("show", self.before.path, "-b", self.before.binary)
        texts = page.evaluate(TEXTS)
        for label, key in (("allocated", "TotalSize"), ("objects", "AllocCount"),
                           ("average life", "TotalLifetime")):
            line = next(line for line in table.splitlines() if line.strip().startswith(label))
            require(texts[key] in line, f"{texts[key]!r} not in {line!r}")

    def table_holds_every_context(self):
        data, page = self.json(self.before), self.open()
        rows = page.evaluate(ROWS)
        expect(page.evaluate("document.querySelector('#contexts-found').textContent"),
               f"{data['totals']['contexts']} contexts", "count")
        expect(sum(int(row[2].replace(",", "")) for row in rows), data["totals"]["AllocCount"],
               "objects of all rows")

    def table_sorts_by_a_column(self):
        data, page = self.json(self.before), self.open()
        page.click("#contexts thead th:nth-child(3) button")
        objects = [int(row[2].replace(",", "")) for row in page.evaluate(ROWS)]
        counts = sorted((c["mib"]["AllocCount"] for c in data["contexts"]), reverse=True)
        expect(objects, counts[:len(objects)], "objects, falling")
        expect(page.evaluate("document.querySelector('#contexts thead th:nth-child(3)').ariaSort"),
               "descending", "what a screen reader says")
        page.click("#contexts thead th:nth-child(3) button")
        objects = [int(row[2].replace(",", "")) for row in page.evaluate(ROWS)]
        expect(objects, sorted(counts)[:len(objects)], "objects, rising")

    def views_switch(self):
        data, page = self.json(self.before), self.open()
        width = """(() => { const w = (e) => e.getBoundingClientRect().width;
            const box = Array.from(document.querySelectorAll('.box')).find(
                (b) => b.ariaLabel.startsWith('print_labels'));
            return box ? w(box) / w(document.querySelector('.boxes')) : 0; })()"""
        field = {"bytes": "TotalSize", "count": "AllocCount", "accesses": "TotalAccessCount"}
        for weight, key in field.items():
            page.click(f"input[value={weight}] + span")
            mine = sum(c["mib"][key] for c in data["contexts"]
                       if any("print_labels" in f.get("function", "") for f in c["stack"]))
            share = mine / data["totals"][key]
            require(abs(page.evaluate(width) - share) < 0.005,
                    f"{weight}: width {page.evaluate(width)}, share {share}")

    def search_finds_a_context(self):
        page = self.open()
        page.type("#search", "MAKE_label")
        page.wait("document.querySelector('#contexts-found').textContent.startsWith('1 of ')")
        expect([row[0] for row in page.evaluate(ROWS)], ["make_label"], "rows")
        page.evaluate("document.querySelector('#search').select()")
        page.type("#search", "no such function")
        page.wait("document.querySelector('#contexts-found').textContent.startsWith('0 of ')")

    def click_opens_the_panel(self):
        page = self.open("--source", HERE)
        page.type("#search", "make_orders")
        page.wait("document.querySelectorAll('#contexts tbody tr').length === 1")
        page.click("#contexts tbody button")
        page.wait("document.querySelector('#panel')")
        text = page.evaluate("document.querySelector('#panel').textContent")
        require("make_orders" in text and "main" in text, f"call stack in {text[:500]!r}")
        require("return new Order[n];" in text, "the source line")
        require("62.5 KiB" in text, "its bytes: 1000 orders of 64 B")
        page.press("Escape")
        page.wait("!document.querySelector('#panel')")
        expect(page.evaluate("document.activeElement.textContent"), "make_orders",
               "where the focus returns to")

    def sources_can_be_left_out(self):
        self.open("--source", HERE)
        data = self.report(self.before, "--source", HERE, "--no-source")
        page = self.browser.open(data)
        page.click("#contexts tbody button")
        page.wait("document.querySelector('#panel')")
        expect(page.evaluate("document.querySelectorAll('#panel pre').length"), 0, "excerpts")

    def flame_graph_goes_in_and_back(self):
        data, page = self.json(self.before), self.open()
        page.evaluate("Array.from(document.querySelectorAll('.box')).find((b) => "
                      "b.ariaLabel.startsWith('print_labels')).id = 'target'")
        page.click("#target")
        inside = sum(any("print_labels" in f.get("function", "") for f in c["stack"])
                     for c in data["contexts"])
        page.wait("document.querySelector('#contexts-found').textContent"
                  f".startsWith('{inside} of')")
        # If the key meets the page before the graph has the focus, it takes the choice back, too.
        page.press("Escape")
        page.settle()
        if page.evaluate("Boolean(document.querySelector('.chip'))"):
            page.click(".chip")
        page.wait(f"document.querySelector('#contexts-found').textContent === "
                  f"'{data['totals']['contexts']} contexts'")

    def flame_graph_works_by_keys(self):
        page = self.open()
        page.evaluate("document.querySelector('.boxes').focus()")
        active = "document.getElementById(document.querySelector('.boxes')" \
                 ".getAttribute('aria-activedescendant')).ariaLabel"
        require(page.evaluate(active).startswith("whole program"), "starts at the root")
        page.press("ArrowDown")
        page.wait(f"{active}.startsWith('main')")
        page.press("ArrowDown")
        page.wait(f"!{active}.startsWith('main')")
        first = page.evaluate(active)
        page.press("Enter")
        page.wait("document.querySelector('.chip') && document.querySelector('.box.faded')")
        page.wait("document.querySelector('#panel')")
        page.press("Escape")
        page.wait("!document.querySelector('#panel')")
        expect(page.evaluate(active), first,
               "the box that was entered")
        page.press("Escape")
        page.wait("!document.querySelector('.box.faded')")

    def scatter_opens_what_it_points_at(self):
        page = self.open()
        page.evaluate("document.querySelector('.plot').scrollIntoView({block: 'center'})")
        page.settle()
        # Clicks are at whole pixels, while the pointer can be between.
        left, top = page.evaluate("(() => { const b = document.querySelector('.plot canvas')"
                                  ".getBoundingClientRect(); return [Math.ceil(b.x), "
                                  "Math.ceil(b.y)]; })()")
        for x, y in ((x, y) for y in range(20, 320, 20) for x in range(60, 460, 20)):
            page.hover(left + x, top + y)
            page.settle()
            if page.evaluate("Boolean(document.querySelector('.tip'))"):
                break
        else:
            raise Failure("no circle anywhere")
        name = page.evaluate("document.querySelector('.tip strong').textContent").split(" ")[0]
        for kind in ("mousePressed", "mouseReleased"):
            page.call("Input.dispatchMouseEvent", type=kind, x=left + x, y=top + y, button="left",
                      clickCount=1)
        page.wait("document.querySelector('#panel')")
        title = page.evaluate("document.querySelector('#panel-title').textContent")
        require(title.startswith(name.split("<")[0]), f"{title!r} opened, {name!r} pointed at")

    def advice_has_an_example(self):
        """Lines of a diff, which stay closed until they are asked for."""
        page = self.open()
        names = page.evaluate("Array.from(document.querySelectorAll('[data-advice]'), "
                              "(a) => [a.dataset.advice, a.querySelectorAll('.example .added')"
                              ".length, a.querySelector('.example').open])")
        require(names and all(added and not is_open for _, added, is_open in names), f"{names}")

    def advice_opens_its_context(self):
        page = self.open()
        page.click("[data-advice=too-large] .link")
        page.wait("document.querySelector('#panel')")
        expect(page.evaluate("document.querySelector('#panel-title').textContent"),
               "reserve_too_much", "what is too large")

    def histogram_is_drawn(self):
        profile = shop.Profile(self.pgokit, self.folder, "histogram", *shop.HISTOGRAM)
        profile.path = profile.raw  # indexed profiles hold no histograms
        page, data = self.open(profile=profile), self.json(profile)
        expect(page.problems(), [], "problems")
        page.type("#search", "make_orders")
        page.wait("document.querySelectorAll('#contexts tbody tr').length === 1")
        page.click("#contexts tbody button")
        page.wait("document.querySelector('#panel .histogram')")
        words = next(c["histogram"] for c in data["contexts"]
                     if any("make_orders" in f.get("function", "") for f in c["stack"]))
        text = page.evaluate("document.querySelector('#panel figcaption').textContent")
        require("never accessed" in text and len(words) > 100, text)
        bars = page.evaluate("document.querySelectorAll('.bars span').length")
        require(0 < bars <= 128, f"{bars} bars")

    def names_are_text(self):
        page = self.open("--source", self.folder,
                         profile=shop.evil_profile(self.pgokit, self.folder))
        page.evaluate("Array.from(document.querySelectorAll('#contexts tbody button'))"
                      ".find((b) => b.textContent.includes('onerror')).click()")
        page.wait("document.querySelector('#panel')")
        text = page.evaluate("document.querySelector('#panel').textContent")
        require(shop.EVIL_NAME in text, f"the name of the function in {text[:300]!r}")
        require("</script><img src=x onerror=window.evil=1>.cpp" in text, "the name of the file")
        expect(page.evaluate("document.images.length"), 0, "images")
        expect(page.evaluate("typeof window.evil"), "undefined", "what the name tried to set")
        expect(page.problems(), [], "problems")
        html = (self.folder / "report.html").read_text(encoding="utf-8")
        require("onerror=" not in html, "the name stands in the markup")

    def policy_refuses_other_scripts(self):
        page = self.open()
        policy = page.evaluate("document.querySelector('meta[http-equiv]').content")
        require("default-src 'none'" in policy and "unsafe" not in policy, policy)
        page.evaluate("(() => { const s = document.createElement('script');"
                      "s.textContent = 'window.injected = 1'; document.body.append(s);"
                      "const i = new Image(); i.src = 'https://example.org/x.png'; })()")
        expect(page.evaluate("typeof window.injected"), "undefined", "a script from elsewhere")
        page.wait("true")
        said = " ".join(page.problems())
        require("Content Security Policy" in said, f"the browser says: {said!r}")
        expect(page.evaluate("(() => { try { return eval('1') } catch { return 'refused' } })()",
                             allowUnsafeEvalBlockedByCSP=False), "refused", "eval")

    def themes_differ(self):
        paper = "getComputedStyle(document.documentElement).backgroundColor"
        dark, page = self.open(dark=True).evaluate(paper), self.open()
        require(page.evaluate(paper) != dark, "the system's choice")
        page.evaluate("(() => { const s = document.querySelector('.theme select'); "
                      "s.value = 'dark'; s.dispatchEvent(new Event('change', {bubbles: true}));"
                      "})()")
        page.settle()
        expect(page.evaluate(paper), dark, "the reader's choice")

    def fits_a_phone(self):
        for width in (320, 390):
            for base in ((), ("--base", self.before.path, "-b", self.before.binary)):
                page = self.open(*base, profile=self.slow, width=width, height=844)
                expect_fit(page, width)
                expect_placeholder(page)
                page.click("#contexts tbody button")
                page.wait("document.querySelector('#panel')")
                expect_fit(page, width)
                expect(page.problems(), [], "problems")

    def uses_a_wide_screen(self):
        page = self.open(width=2560, height=1400)
        expect_use(page, 2560)
        expect_placeholder(page)
        page.click("#contexts tbody button")
        page.wait("document.querySelector('#panel')")
        page.settle()
        edges = page.evaluate("[Math.max(...Array.from(document.querySelectorAll('main .card'), "
                              "(c) => c.getBoundingClientRect().right)), "
                              "document.querySelector('#panel').getBoundingClientRect().left]")
        require(edges[0] <= edges[1], f"the panel lies on the page: {edges}")

    def flame_graph_is_whole(self):
        for base in ((), ("--base", self.before.path, "-b", self.before.binary)):
            expect_whole_graph(self.open(*base, profile=self.slow))

    def labels_of_plots_are_whole(self):
        """With the last label at the end of the axis, and small densities."""
        path, text = self.folder / "wide.yaml", (GOLDEN / "yaml" / "llvm22.yaml").read_text()
        for field, old, new in (("AllocCount: ", 3, 1000), ("TotalLifetime: ", 0, 1),
                                ("TotalSize: ", 84, 84_000_000)):
            text, found = re.subn(f"({field} *){old}\n", rf"\g<1>{new}\n", text, count=1)
            expect(found, 1, f"{field}of the golden file")
        path.write_text(text, encoding="utf-8")
        page = self.browser.open(self.report_of(path))
        labels = page.evaluate("Array.from(document.querySelectorAll('.scatter text'), "
                               "(t) => t.textContent)")
        require({"100 s", "1e-6", "0.001"} <= set(labels), f"labels of the axes: {labels}")
        expect_whole_labels(page)
        expect_whole_labels(self.browser.open(self.report_of(
            GOLDEN / "heap-raw" / "handmade-by-context.profraw")))

    def everything_has_a_name(self):
        page = self.open()
        page.click("#contexts tbody button")
        page.wait("document.querySelector('#panel')")
        require(expect_names(page).count("treeitem") > 3, "a tree")

    def contexts_beyond_the_limit_are_summed_up(self):
        data, page = self.json(self.before), self.open("--contexts", "3")
        expect(len(page.evaluate(ROWS)), 3, "rows")
        text = page.evaluate("document.querySelector('#rest').textContent")
        left = data["totals"]["contexts"] - 3
        require(f": {left} context{'s' if left > 1 else ''}, together" in text, text)
        expect(page.evaluate(FIGURES)["TotalSize"], data["totals"]["TotalSize"],
               "the headline is of all")

    def difference_shows_the_regression(self):
        page = self.open("--base", self.before.path, "-b", self.before.binary, profile=self.slow)
        expect(page.problems(), [], "problems")
        data = json.loads(self.run("diff", "--json", self.before.path, self.slow.path, "-b",
                                   self.before.binary, "-b", self.slow.binary))
        first = page.evaluate(ROWS)[0]
        expect(first[0], "cache_that_nobody_asked_for", "the largest change")
        expect(first[1:4], ["8.00 MiB", "0 B", "+8.00 MiB"], "its figures")
        self.falling_changes(page, "#contexts td:nth-child(4)")
        tags = page.evaluate("Array.from(document.querySelectorAll('#contexts tbody tr')).map("
                             "(r) => [r.querySelector('button').textContent,"
                             " r.querySelector('.tag')?.textContent])")
        expect(dict(map(tuple, tags))["cache_that_nobody_asked_for"], "new", "its tag")
        news = sum(c["change"] == "new" for c in data["contexts"])
        verdict = page.evaluate("document.querySelector('#verdict').textContent")
        require(f"{news} new" in verdict, f"{news} new contexts, the page says: {verdict}")
        grown = data["now"]["TotalSize"] / data["before"]["TotalSize"] * 100 - 100
        require(f"+{grown:.1f} %" in verdict, f"grown by {grown:.1f} %: {verdict}")

    def what_shrank_most_comes_first(self):
        """Of a difference the other way round: changes that are negative, and then none."""
        page = self.open("--base", self.slow.path, "-b", self.slow.binary)
        expect(page.evaluate(ROWS)[0][3], "-8.00 MiB", "the largest change")
        for cells in ("#contexts td:nth-child(4)", "#functions td:nth-child(3)"):
            self.falling_changes(page, cells)

    def falling_changes(self, page, cells):
        """Changes fall, whichever their sign; of rows with the same, those with more come first."""
        rows = page.evaluate(f"Array.from(document.querySelectorAll('{cells}'), (d) => [Number("
                             "d.dataset.exact), Number(d.parentNode.querySelector('td').dataset"
                             ".exact)])")
        changes = [(-abs(change), -size) for change, size in rows]
        require(len(rows) > 2 and rows[0][0] and changes == sorted(changes), f"{cells}: {rows}")

    def equal_profiles_do_not_differ(self):
        page = self.open("--base", self.before.path)
        verdict = page.evaluate("document.querySelector('#verdict').textContent")
        require("none changed" in verdict and "100.0 %" in verdict, verdict)

    def what_was_left_at_exit_is_compared(self):
        once, twice = HERE.parent / "golden/heap-raw/handmade-over-time.profraw", "twice.pgk"
        self.run("merge", "-q", "--partial", f"{once}@2", "-o", twice)
        page = self.folder / "report.html"
        for base, now, says in ((once, twice, ["20 B", "40 B"]), (self.before.path, once, [])):
            self.run("report", now, "--base", base, "-q", "-o", page)
            verdict = self.browser.open(page).evaluate(
                "document.querySelector('#verdict').textContent")
            expect(re.findall(r"Left at exit: (.*?) before, (.*?) now\.", verdict),
                   [tuple(says)] if says else [], verdict)

    def types_are_those_of_show(self):
        """Their sums in the table, of contexts beyond the limit, too; a click, the search and the
        panel know them."""
        data, page = self.json(self.before), self.open("--contexts", "2")
        expect(page.problems(), [], "problems")
        wanted = {}
        for context in data["contexts"]:
            sums = wanted.setdefault(context.get("type", "(type not known)"), [0, 0])
            sums[0] += context["mib"]["AllocCount"]
            sums[1] += 1
        require(len(wanted) > 1, f"types of the program: {wanted}")
        rows = page.evaluate(TYPES)
        # Accesses, accesses per byte and lifetime stand between objects and contexts.
        expect({row[0]: [int(row[2].replace(",", "")), int(row[-1])] for row in rows}, wanted,
               "objects and contexts by type")
        known = next(name for name in wanted if "basic_string" in name)
        page = self.open()
        page.evaluate("Array.from(document.querySelectorAll('#types tbody button')).find("
                      "(b) => b.title.includes('basic_string')).click()")
        page.wait("document.querySelectorAll('#contexts tbody tr').length === "
                  f"{wanted[known][1]}")
        page.click("#contexts tbody button")
        page.wait("document.querySelector('#panel')")
        expect(page.evaluate("document.querySelector('#panel #type code').textContent"), known,
               "the type in the panel")
        page.press("Escape")
        page.click(".chip")
        page.type("#search", "basic_string<char")
        page.wait("document.querySelectorAll('#types tbody tr').length < "
                  f"{len(wanted)}")

    def types_of_a_difference_have_the_change(self):
        def bytes_of(profile):
            sums = collections.Counter()
            for context in self.json(profile)["contexts"]:
                sums[context.get("type", "(type not known)")] += context["mib"]["TotalSize"]
            return sums
        page = self.open("--base", self.before.path, "-b", self.before.binary, profile=self.slow)
        before, now = bytes_of(self.before), bytes_of(self.slow)
        found = page.evaluate("Array.from(document.querySelectorAll('#types tbody tr'), (r) => ["
                              "r.querySelector('button').title, ...Array.from("
                              "r.querySelectorAll('td'), (d) => Number(d.dataset.exact))])")
        expect({row[0]: row[1:4] for row in found},
               {name: [now[name], before[name], now[name] - before[name]]
                for name in before | now}, "bytes, before, and change of types")
        changes = [abs(row[3]) for row in found]
        require(changes[0] >= 8 << 20 and changes == sorted(changes, reverse=True),
                f"largest changes first: {changes}")
        diff = json.loads(self.run("diff", "-q", "--json", self.before.path, self.slow.path, "-b",
                                   self.before.binary, "-b", self.slow.binary))
        none = {"TotalSize": 0}
        expect({t.get("type", "(type not known)"): t.get("now", none)["TotalSize"] -
                t.get("before", none)["TotalSize"] for t in diff["types"]},
               {row[0]: row[3] for row in found if row[3]}, "the same in the terminal")

    def flame_graph_by_type(self):
        data, page = self.json(self.before), self.open()
        page.click("input[name=by-type] + span")
        page.wait("Array.from(document.querySelectorAll('.box')).some("
                  "(b) => b.ariaLabel.startsWith('(type not known)'))")
        share = """(() => { const w = (e) => e.getBoundingClientRect().width;
            return w(Array.from(document.querySelectorAll('.box')).find((b) =>
                b.ariaLabel.startsWith('(type not known)'))) /
                w(document.querySelector('.boxes')); })()"""
        unknown = sum(c["mib"]["TotalSize"] for c in data["contexts"] if "type" not in c)
        wanted = unknown / data["totals"]["TotalSize"]
        require(abs(page.evaluate(share) - wanted) < 0.005,
                f"width {page.evaluate(share)}, share {wanted}")
        expect(page.evaluate("Array.from(document.querySelectorAll('.box')).filter("
                             "(b) => b.ariaLabel.startsWith('main,')).length"),
               len({c.get("type") for c in data["contexts"]}), "a box of main below each type")

    def types_are_not_offered_where_none_is_known(self):
        page = self.browser.open(self.report_of(GOLDEN / "heap-raw" / "clang22.profraw"))
        expect(page.evaluate("document.querySelectorAll('#types, input[name=by-type]').length"),
               0, "what shows types")

    def profile_without_access_counts(self):
        page = self.browser.open(self.report_of(GOLDEN / "indexed" / "llvm19-v2.profdata"))
        expect(page.problems(), [], "problems")

    def raw_profile_without_names(self):
        page = self.browser.open(self.report_of(GOLDEN / "heap-raw" / "clang22.profraw"))
        expect(page.problems(), [], "problems")
        page.click("#contexts tbody button")
        page.wait("document.querySelector('#panel')")
        require("0x" in page.evaluate("document.querySelector('#panel').textContent"), "addresses")

    def curve_is_that_of_the_profile(self):
        """The curve, with the peak put in, in pixels of a frame that bytes and objects share."""
        path = GOLDEN / "heap-raw" / "handmade-over-time.profraw"
        times = json.loads(self.run("show", "--json", "-q", path))["over_time"]
        page = self.browser.open(self.report_of(path))
        expect(page.problems(), [], "problems")
        peak = (times["peak_ms"], times["peak_bytes"], times["peak_objects"])
        wanted = sorted([(p["ms"], p["bytes"], p["objects"]) for p in times["points"]] + [peak])
        for column, shown in ((1, "bytes"), (2, "objects")):
            page.click(f"input[value={shown}] + span")
            page.settle()
            drawn = page.evaluate("document.querySelector('.timeline .curve')"
                                  ".getAttribute('points')")
            drawn = [tuple(map(float, pair.split(","))) for pair in drawn.split()]
            expect(len(drawn), len(wanted), f"points of {shown}")
            low = drawn[0][1]  # nothing was alive at first
            scale = (low - min(y for _, y in drawn)) / max(row[column] for row in wanted)
            width = (drawn[-1][0] - drawn[0][0]) / wanted[-1][0]
            for (x, y), row in zip(drawn, wanted):
                require(abs(low - y - row[column] * scale) < 0.2 and
                        abs(x - drawn[0][0] - row[0] * width) < 0.2, f"{shown}: {row} at {x}, {y}")
        said = page.evaluate("document.querySelector('.timeline svg').ariaLabel")
        expect(said, "At the peak, after 400 ms: 164 B in 3 objects. At the end, after 2.00 s: "
               "20 B in 1 object.", "what a screen reader says")
        page.evaluate("document.querySelector('.timeline').scrollIntoView({block: 'center'})")
        x, y = page.evaluate("(() => { const b = document.querySelector('.timeline .plot')"
                             ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + 90]; })()")
        page.hover(x, y)
        page.wait("document.querySelector('.tip')")
        tip = page.evaluate("document.querySelector('.tip').textContent")
        require("after 900 ms" in tip and "64 B alive in 2 objects" in tip, tip)

    def areas_are_what_contexts_held(self):
        """On top of each other, in pixels of the curve's frame: told at two points, at the peak and
        at the end, and until the next one with the curve, so that no slope is made up between them;
        names open contexts, and none or others can be chosen."""
        path = GOLDEN / "heap-raw" / "handmade-by-context.profraw"
        page = self.browser.open(f"{self.report_of(path)}#over=context")
        expect(page.problems(), [], "problems")
        drawn = page.evaluate("Array.from(document.querySelectorAll('.timeline polygon.held'), "
                              "(a) => a.getAttribute('points'))")
        areas = [[tuple(map(float, pair.split(","))) for pair in area.split()] for area in drawn]
        left, low = areas[0][-1]
        right, top = areas[0][len(areas[0]) // 2][0], min(y for _, y in areas[1])
        # The larger context, and both: told after 120 and 400 ms, 900 ms and 2 s. The point at the
        # peak is there twice.
        held = [(120, 100, 128), (400, 100 * 164 / 128, 164), (400, 100 * 164 / 128, 164),
                (400, 100, 164), (900, 100 * 64 / 164, 64), (900, 0, 64), (1500, 0, 84),
                (2000, 0, 20), (2000, 0, 20)]
        require(len(areas) == 2, f"{len(areas)} areas")
        for column, area in enumerate(areas, 1):
            require(len(area) == 2 * len(held), f"{area}")
            for (x, y), row in zip(area, held):
                wanted = (left + (row[0] - 120) * (right - left) / (2000 - 120),
                          low - row[column] * (low - top) / 164)
                require(abs(x - wanted[0]) < 0.2 and abs(y - wanted[1]) < 0.2,
                        f"{row} drawn as {x}, {y}, not {wanted}")
        names = page.evaluate("Array.from(document.querySelectorAll('.held-legend li'), "
                              "(li) => Number(li.dataset.exact))")
        expect(names, [100, 64], "the most that contexts held")
        page.click(".held-legend li button")
        page.wait("document.querySelector('#panel')")
        page.evaluate("(() => { const s = document.querySelector('#held-first'); "
                      "s.value = -1; s.dispatchEvent(new Event('change', {bubbles: true})); })()")
        page.settle()
        expect(page.evaluate("document.querySelectorAll('.timeline polygon.held').length"), 0,
               "areas when none are chosen")

    def a_range_of_time_is_followed(self):
        """Averages by hand: of the curve from 164 B after 400 ms over 64 and 84 B down to 20 B, and
        of two contexts, whose parts of it are known after 400 and 900 ms."""
        path = GOLDEN / "heap-raw" / "handmade-by-context.profraw"
        page = self.browser.open(self.report_of(path))
        held = "Array.from(document.querySelectorAll('#contexts td:nth-child(2)'), " \
               "(d) => Number(d.dataset.exact))"
        first, later = 500 * (1 + 64 / 164) / 2, 600 * (64 + 84) / 2 + 500 * (84 + 20) / 2
        told = "document.querySelector('#range').dataset"
        page.evaluate("document.querySelector('.timeline').scrollIntoView({block: 'center'})")
        curve = page.evaluate("document.querySelector('.timeline .curve').getAttribute('points')")
        xs = [float(pair.split(",")[0]) for pair in curve.split()]
        left, y = page.evaluate("(() => { const b = document.querySelector('.timeline .plot')"
                                ".getBoundingClientRect(); return [b.x, b.y + 90]; })()")
        scale = (xs[-1] - xs[0]) / (2000 - 120)
        at = {ms: left + xs[0] + (ms - 120) * scale for ms in (420, 880)}
        page.drag(at[420], at[880], y)
        page.wait("document.querySelector('#range')")
        expect(page.evaluate(f"[{told}.from, {told}.to]"), ["400", "900"], "ends, at points")
        wanted = [first * 100 / 500, first * 64 / 500]
        self.near(page.evaluate(held), wanted, "averages from 400 to 900 ms")
        self.near([float(page.evaluate(f"{told}.average"))], [(164 + 64) / 2], "of the curve")
        page.click("#from-peak")
        page.wait(f"{told}.to === '2000'")
        whole = (500 * (164 + 64) / 2 + later) / 1600
        wanted = [(first * 64 + later) / 1600, first * 100 / 1600]
        self.near(page.evaluate(held), wanted, "averages from the peak on")
        self.near([sum(wanted)], [whole], "all that was alive is known")
        self.near([page.evaluate("Array.from(document.querySelectorAll('#functions td:nth-child(2)'"
                                 "), (d) => Number(d.dataset.exact)).reduce((a, b) => a + b)")],
                  [whole], "self of all functions")
        expect(page.evaluate("document.querySelector('.flame input:checked').value"), "range",
               "what widths are")
        state = page.evaluate("location.hash")
        page.evaluate("history.back()")
        page.wait(f"{told}.to === '900'")
        page.evaluate("history.back()")
        page.wait("!document.querySelector('#range')")
        again = self.browser.open(f"{self.folder / 'golden.html'}{state}")
        self.near(again.evaluate(held), wanted, "of the address")
        expect_names(again)
        again.evaluate("(() => { const s = document.querySelector('#range-to'); s.value = 3; "
                       "s.dispatchEvent(new Event('change', {bubbles: true})); })()")
        again.wait(f"{told}.to !== '2000'")
        again.resize(320, 700)
        expect_fit(again, 320)
        again.resize(1400, 900)
        again.click("#whole-time")
        again.wait("!document.querySelector('#range') && !document.querySelector('.chip')")
        expect(again.problems(), [], "problems")
        page = self.browser.open(f"{self.folder / 'golden.html'}#from=410&to=420&unit=range")
        expect([page.evaluate("document.querySelector('#range')"), page.problems()], [None, []],
               "a range within two points")

    def a_difference_has_both_curves(self):
        path = GOLDEN / "heap-raw" / "handmade-by-context.profraw"
        other = GOLDEN / "heap-raw" / "handmade-over-time.profraw"
        html = self.folder / "curves.html"
        self.run("report", path, "--base", other, "-q", "-o", html)
        page = self.browser.open(html)
        expect(page.problems(), [], "problems")
        curves = [json.loads(self.run("show", "--json", "-q", p))["over_time"] for p in
                  (other, path)]
        drawn = page.evaluate("Array.from(document.querySelectorAll('.timeline .curve'), "
                              "(c) => c.getAttribute('points').split(' ').length)")
        expect(drawn, [len(c["points"]) + 1 for c in curves], "points of before and now")
        tops = page.evaluate("Array.from(document.querySelectorAll('.timeline .curve'), (c) => "
                             "Math.min(...c.getAttribute('points').split(' ').map((p) => "
                             "Number(p.split(',')[1]))))")
        high = [max(p["bytes"] for p in c["points"] + [{"bytes": c["peak_bytes"]}])
                for c in curves]
        expect(tops[0] == tops[1], high[0] == high[1], "equally high")
        areas = "document.querySelectorAll('.timeline polygon.held').length"
        require(page.evaluate(areas) > 0, "areas of now")
        page.click("input[name=side][value=before] + span")
        page.settle()
        expect(page.problems(), [], "problems")

    def widths_at_the_peak_and_at_exit(self):
        page = self.browser.open(self.report_of(GOLDEN / "heap-raw" / "handmade-over-time.profraw"))
        whole = "document.querySelector('.box').ariaLabel"
        for weight, text in (("peak", "164 B"), ("exit", "20 B"), ("bytes", "184 B")):
            page.click(f".flame input[value={weight}] + span")
            page.wait(f"{whole}.includes('whole program, {text}')")
        label = "document.querySelector('.flame input[value=exit] + span').textContent"
        expect(page.evaluate(label), "Left at exit", "what the end of a process is called")
        golden = GOLDEN / "heap-raw" / "handmade-over-time-killed.profraw"
        page = self.browser.open(self.report_of(golden) + "#unit=exit")
        expect(page.evaluate(label), "Last known", "and of one that was killed")
        require("at exit" not in page.evaluate("document.body.innerText").lower(), "on the page")
        require("last known" in self.run("show", golden, "-q"), "as in the terminal")
        page = self.open()
        expect(page.evaluate("document.querySelectorAll('.timeline, input[value=peak], "
                             "input[value=exit]').length"), 0, "of a profile that does not know")

    def estimates_have_intervals(self):
        golden = GOLDEN / "heap-raw" / "handmade-sampled.profraw"
        page = self.browser.open(self.report_of(golden))
        expect(page.problems(), [], "problems")
        text = page.evaluate("document.querySelector('#sampled').textContent")
        require("14 objects, one in at most 4.00 KiB, and 9 accesses" in text, text)
        require("whether 1 context with 13.5 % of the bytes is cold" in text, text)
        tile = "document.querySelector('[data-figure=%s]').textContent"
        require("59.8 KiBcounted" in page.evaluate(tile % "TotalSize"), "what was counted")
        require("Undecided13.5 %" in page.evaluate(tile % "undecided"), "what is open")
        rows = page.evaluate("Array.from(document.querySelectorAll('#contexts .limits'), "
                             "(s) => s.textContent)")
        expect(rows, [" (24.9 KiB to 84.0 KiB)", " (912 to 3,073)", " (246 B to 29.0 KiB)",
                      " (2 to 1,012)"], "intervals of the table, as in the terminal")
        shown = self.run("show", golden, "-q")
        require(all(row in shown for row in rows), shown)
        page.click("[data-context='1']")
        page.settle()
        text = page.evaluate("document.querySelector('#samples').textContent")
        require(text.startswith("Estimated from 2 objects and 0 accesses: 8.10 KiB (246 B to"),
                text)
        page = self.open()
        expect(page.evaluate("document.querySelectorAll('#sampled, .limits').length"), 0,
               "of an exact profile")

    def near(self, found, wanted, what):
        require(len(found) == len(wanted) and
                all(abs(a - b) < 1e-6 * b for a, b in zip(found, wanted)),
                f"{what}: found {found}, expected {wanted}")

    def report_of(self, path):
        page = self.folder / "golden.html"
        self.run("report", path, "-q", "-o", page)
        return str(page)

    def same_bytes_for_the_same_profile(self):
        first = self.report(self.before).read_bytes()
        expect(self.report(self.before).read_bytes() == first, True, "equal bytes")


HELPERS = ("run", "report", "json", "open", "near", "report_of", "falling_changes")
MISSING = [what for what, found in (("chromium", find_chromium()),
                                    ("clang++-22", shop.find_compiler())) if not found]
sys.exit(run(Suite, HELPERS, MISSING, sys.argv[2:]))
