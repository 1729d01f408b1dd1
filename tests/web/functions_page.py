#!/usr/bin/env python3
"""Functions, libraries, threads and types on the page of a heap profile: what each allocates, who
calls it, what the search finds, and what the address keeps. Figures are compared with sums over
the contexts of `pgokit show --json`.

usage: functions_page.py PGOKIT [CASE...]      a case as it is printed
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
from cases import expect, expect_fit, expect_names, require, run  # noqa: E402
import shop  # noqa: E402

PROGRAMS = HERE / "programs"
COMPILER = next(filter(None, map(shutil.which, ("clang-22", "gcc", "cc"))), None)
FLAGS = ["-g", "-O1", "-fno-optimize-sibling-calls", "-fno-omit-frame-pointer", "-Wl,--build-id"]
OWN = {"even", "odd", "descend", "fill", "main", "shelf_take", "shelf_call"}
# Name of a row, and the numbers of its columns.
ROWS = """Array.from(document.querySelectorAll('#functions tbody tr'), (r) => [
    r.querySelector('button').textContent, ...Array.from(r.querySelectorAll('td'),
    (d) => Number(d.dataset.exact))])"""
PANEL = "document.querySelector('#panel-title')?.textContent"
COUNT = "document.querySelector('#hits-found').textContent"
CRUMBS = "Array.from(document.querySelectorAll('.crumbs li'), (l) => l.textContent)"


def around(list_id):
    """Names and numbers of a list of the panel."""
    return (f"Array.from(document.querySelectorAll('#{list_id} li'), (l) => [l.querySelector("
            "'button, .meter + span').textContent, Number(l.dataset.exact)])")


def option(number):
    return f"document.querySelector('#hit-{number}').textContent"


class Sums:
    """Of contexts, by function, as they are defined: a context counts once for a function."""

    def __init__(self, contexts, field, only=None):
        self.own, self.all = collections.Counter(), collections.Counter()
        self.callers, self.callees = (collections.defaultdict(collections.Counter)
                                      for _ in range(2))
        for context in contexts:
            names, value = [f["function"] for f in context["stack"]], context["mib"][field]
            if only and only not in names:
                continue
            self.own[names[0]] += value
            for name in set(names):
                self.all[name] += value
            for inner, outer in {pair for pair in zip(names, names[1:]) if pair[0] != pair[1]}:
                self.callers[inner][outer] += value
                self.callees[outer][inner] += value


class Suite:
    pgokit = os.path.abspath(sys.argv[1])

    def __init__(self, folder, browser):
        self.folder, self.browser = folder, browser
        build = [COMPILER, *FLAGS]
        subprocess.run([*build, "-shared", "-fPIC", PROGRAMS / "shelf.c", "-o", "libshelf.so"],
                       check=True, cwd=folder, capture_output=True)
        subprocess.run([*build, PROGRAMS / "nested.c", "-L.", "-lshelf", "-Wl,-rpath,$ORIGIN",
                        "-o", "nested"], check=True, cwd=folder, capture_output=True)
        self.run("record", "heap", "-q", "-o", "nested.heap", "--", "./nested")
        self.contexts = json.loads(self.run("show", "--json", "-q", "nested.heap"))["contexts"]
        self.run("report", "nested.heap", "-q", "-o", "nested.html")
        subprocess.run([shop.find_compiler(), *FLAGS, "-pthread", PROGRAMS / "threads.cpp", "-o",
                        "threads"], check=True, cwd=folder, capture_output=True)
        self.run("record", "heap", "-q", "-o", "threads.heap", "--", "./threads")
        self.threaded = json.loads(self.run("show", "--json", "-q", "threads.heap"))["contexts"]
        self.run("report", "threads.heap", "-q", "-o", "threads.html")

    def run(self, *args):
        return subprocess.run([self.pgokit, *map(str, args)], check=True, capture_output=True,
                              text=True, cwd=self.folder).stdout

    def open(self, state="", name="nested", **window):
        return self.browser.open(f"{self.folder / name}.html{state and '#' + state}", **window)

    def rows(self, page):
        return {row[0]: row[1:] for row in page.evaluate(ROWS)}

    def zoom(self, page, name):
        """Into the first box of a function."""
        page.evaluate("Array.from(document.querySelectorAll('.box[role=treeitem]')).find((b) => "
                      f"b.ariaLabel.startsWith('{name},')).id = 'target'")
        page.click("#target")

    # ---- cases ----

    def self_and_total_are_those_of_contexts(self):
        for unit, field, other in (("", "TotalSize", "AllocCount"),
                                   ("unit=count", "AllocCount", "TotalSize")):
            page, sums = self.open(unit), Sums(self.contexts, field)
            others, rows = Sums(self.contexts, other), self.rows(page)
            require(OWN <= set(rows), f"functions of the program in {sorted(rows)}")
            whole = sum(context["mib"][field] for context in self.contexts)
            for name in OWN:
                wanted = [sums.own[name], sums.all[name], sums.all[name] / whole, others.all[name]]
                found = rows[name]
                require(all(abs(a - b) < 1e-9 for a, b in zip(found, wanted)),
                        f"{name} by {field}: found {found}, expected {wanted}")
            expect(page.problems(), [], "problems")
        require(sums.all["descend"] == 5, "the program calls itself five deep")

    def callers_and_callees_are_those_of_contexts(self):
        sums = Sums(self.contexts, "TotalSize")
        for name in sorted(OWN):
            page = self.open(f"chosen={name}&frames=all")
            page.wait(f"{PANEL} === '{name}'")
            callers, callees = (dict(map(tuple, page.evaluate(around(list_id))))
                                for list_id in ("callers", "callees"))
            wanted = dict(sums.callees[name])
            if sums.own[name]:
                wanted["(none: allocated in it)"] = sums.own[name]
            expect(callers, dict(sums.callers[name]), f"callers of {name}")
            expect(callees, wanted, f"callees of {name}")
        expect(sums.callers["even"].keys(), {"main", "odd"}, "what the program does")

    def a_function_narrows_the_page(self):
        page, through = self.open(), Sums(self.contexts, "AllocCount", "odd")
        page.evaluate("Array.from(document.querySelectorAll('#functions tbody button')).find("
                      "(b) => b.textContent === 'odd').click()")
        page.wait(f"{PANEL} === 'odd'")
        n = through.all["odd"]
        page.wait(f"document.querySelectorAll('#contexts tbody tr').length === {n}")
        faded = page.evaluate("Array.from(document.querySelectorAll('.flame .box.unmatched'), "
                              "(b) => b.ariaLabel.split(',')[0])")
        require("fill" in faded and "descend" in faded and "odd" not in faded, f"faded: {faded}")
        page.evaluate("Array.from(document.querySelectorAll('#callers button')).find("
                      "(b) => b.textContent === 'main').click()")
        page.wait(f"{PANEL} === 'main'")
        page.press("Escape")
        page.wait("!document.querySelector('#panel')")
        page.wait("document.querySelector('#functions tr.selected button')"
                  ".textContent === 'main'")
        page.click("#contexts .chip")
        page.wait("!document.querySelector('.chip') && "
                  "!document.querySelector('#functions tr.selected')")
        expect(page.problems(), [], "problems")

    def lines_of_a_function_have_sums_and_text(self):
        page, source = self.open("chosen=even"), (PROGRAMS / "nested.c").read_text(encoding="ascii")
        page.wait(f"{PANEL} === 'even'")
        text, sums = source.splitlines(), collections.Counter()
        for context in self.contexts:
            lines = {f["line"] for f in context["stack"] if f["function"] == "even"}
            for line in lines:
                sums[line] += context["mib"]["TotalSize"]
        found = page.evaluate("Array.from(document.querySelectorAll('#lines [data-exact]'), (l) => "
                              "[l.querySelector('.where').textContent, Number(l.dataset.exact), "
                              "l.querySelector('code').textContent])")
        expect(found, [[str(line), sums[line], text[line - 1]] for line in sorted(sums)], "lines")
        require(len(found) == 2, "it allocates in one line and calls in another")

    def accesses_of_library_functions_are_not_drawn(self):
        page = self.open()
        require(json.loads(self.run("show", "--json", "-q", "nested.heap"))["contexts"][0]["mib"]
                .get("TotalAccessCount") is not None, "the profile has such accesses")
        expect(page.evaluate("[...document.querySelectorAll('.box, .swatch')].filter((b) => "
                             "/heat-[0-9]/.test(b.className)).length"), 0, "boxes with heat")
        expect(page.evaluate("document.querySelectorAll('.scatter, input[value=accesses], "
                             "[data-figure=TotalAccessCount]').length"), 0, "what shows accesses")
        text = page.evaluate("document.body.innerText")
        require("Accesses/B" not in text and "library functions alone" in text, text[-400:])
        page.click("#contexts tbody button")
        page.wait("document.querySelector('#panel .spread')")
        require("Accesses" not in page.evaluate("document.querySelector('#panel .spread')"
                                                ".textContent"), "the panel")

    def libraries_have_their_functions(self):
        page = self.open()
        page.click("input[value=library] + span")
        page.wait("document.querySelector('#functions h2').textContent === 'Libraries'")
        sums, rows = Sums(self.contexts, "TotalSize"), self.rows(page)
        taken = sums.own["shelf_take"]
        through = sums.all["shelf_take"] + sums.all["shelf_call"]
        expect(rows["libshelf.so"][:2], [taken, through], "the library's self and total")
        expect(rows["nested"][0], sum(sums.own[name] for name in OWN) - taken, "the program's self")
        page.evaluate("Array.from(document.querySelectorAll('#functions tbody button')).find("
                      "(b) => b.textContent === 'libshelf.so').click()")
        page.wait(f"{PANEL} === 'libshelf.so'")
        expect(page.evaluate(around("callers")), [["nested", through]], "who calls the library")
        expect(sorted(page.evaluate(around("callees"))),
               [["(none: allocated in it)", taken], ["nested", through - taken]],
               "whom it calls")

    def of_kind(self, of, field):
        """Sums of the contexts of a program with threads, by what a function says of each."""
        sums = collections.Counter()
        for context in self.threaded:
            sums[of(context)] += context["mib"][field]
        return dict(sums)

    def threads_have_what_they_allocate(self):
        """They are named by the functions that they run, also below those of std::thread."""
        def runs(context):
            names = {f.get("function") for f in context["stack"]}
            return next((name for name in ("cook", "serve") if name in names), "main thread")
        for unit, field, other in (("", "TotalSize", "AllocCount"),
                                   ("&unit=count", "AllocCount", "TotalSize")):
            page = self.open(f"group=thread{unit}", name="threads")
            found = {name: [row[0], row[2]] for name, row in self.rows(page).items()}
            sums, others = self.of_kind(runs, field), self.of_kind(runs, other)
            expect(found, {name: [sums[name], others[name]] for name in sums}, f"by {field}")
            expect(page.problems(), [], "problems")
        expect(sums["serve"], 1, "what the program does")
        page.evaluate("Array.from(document.querySelectorAll('#functions tbody button')).find("
                      "(b) => b.textContent === 'cook').click()")
        page.wait(f"{PANEL} === 'cook'")
        expect(sorted(page.evaluate(around("allocating"))), [["take_note", 2], ["take_order", 100]],
               "functions that allocate in it")
        expect(page.evaluate("document.querySelectorAll('#contexts tbody tr').length"), 2,
               "contexts of the thread")
        page.evaluate("Array.from(document.querySelectorAll('#allocating button')).find("
                      "(b) => b.textContent === 'take_note').click()")
        page.wait(f"{PANEL} === 'take_note'")
        expect(page.evaluate("document.querySelector('#functions h2').textContent"), "Functions",
               "a function is chosen")
        page.evaluate("history.back()")
        page.wait(f"{PANEL} === 'cook'")

    def types_have_what_they_take(self):
        page = self.open("group=type", name="threads")
        found = {name: row[0] for name, row in self.rows(page).items()}
        sums = self.of_kind(lambda c: c.get("type", "(type not known)"), "TotalSize")
        require({"Order", "Note"} <= set(sums), f"types: {sums}")
        expect(found, sums, "types")
        page.type("#search", "not")
        page.wait(f"{COUNT}.startsWith('1 type, ')")
        page.click("#hit-0")
        page.wait(f"{PANEL} === 'Note'")
        expect(page.evaluate(around("allocating")), [["take_note", sums["Note"]]],
               "functions that allocate it")
        state = page.evaluate("location.hash").lstrip("#")
        again = self.open(state, name="threads")
        again.wait(f"{PANEL} === 'Note'")
        expect(list(self.rows(again)), ["Note"], "rows of the address")
        again.click("input[name=group][value=thread] + span")
        again.wait("document.querySelector('#functions h2').textContent === 'Threads'")
        expect(again.evaluate("Boolean(document.querySelector('#panel'))"), False, "a panel")
        expect(again.problems(), [], "problems")

    def areas_are_of_threads_and_types(self):
        page = self.open("over=thread", name="threads")
        expect(page.evaluate("Array.from(document.querySelectorAll('#held-by option'), "
                             "(o) => o.value)"),
               ["function", "library", "thread", "type", "context"], "choices")
        names = page.evaluate("Array.from(document.querySelectorAll('.held-legend li button'), "
                              "(b) => b.textContent)")
        expect(sorted(names), ["cook", "main thread", "serve"], "areas")

    def what_the_file_does_not_know_is_not_offered(self):
        choices = "Array.from(document.querySelectorAll('input[name=group]'), (i) => i.value)"
        expect(self.open().evaluate(choices), ["function", "library"],
               "choices of a program with one thread")
        expect(self.open(name="threads").evaluate(choices),
               ["function", "library", "thread", "type"], "choices of a program with several")
        golden = HERE.parent / "golden" / "indexed" / "llvm19-v2.profdata"
        self.run("report", golden, "-q", "-o", "plain.html")
        page = self.browser.open(self.folder / "plain.html")
        expect(page.evaluate(choices), [], "choices")
        require(page.evaluate(ROWS), "functions there")

    def search_goes_through_its_hits(self):
        page = self.open()
        expect(page.evaluate(COUNT), "", "hits of nothing")
        page.type("#search", "SHELF_")
        page.wait(f"{COUNT}.startsWith('2 functions, ')")
        require(page.evaluate(COUNT).endswith(" 6 contexts"), page.evaluate(COUNT))
        expect(sorted(self.rows(page)), ["shelf_call", "shelf_take"], "rows")
        # The largest first: shelf_call.
        require(page.evaluate(option(0)).startswith("shelf_call"), page.evaluate(option(0)))
        require("libshelf.so" in page.evaluate(option(0)), "where it is")
        page.press("ArrowDown")
        page.press("ArrowDown")
        page.settle()
        expect(page.evaluate("document.querySelector('#search').getAttribute("
                             "'aria-activedescendant')"), "hit-1", "what a screen reader is at")
        page.press("Enter")
        page.wait(f"{PANEL} === 'shelf_take'")
        expect(page.evaluate("document.activeElement.id"), "search", "where the focus stays")
        page.press("Enter")
        page.wait(f"{PANEL} === 'shelf_call'")
        expect_names(page)
        page.press("Escape")
        page.wait("document.querySelector('#hits').hidden && document.querySelector('#panel')")
        page.press("Escape")
        page.wait("!document.querySelector('#panel')")
        page.evaluate("document.querySelector('#search').select()")
        page.type("#search", "no such function")
        page.wait(f"{COUNT} === '0 functions, 0 contexts'")
        page.press("Enter")
        expect(page.problems(), [], "problems")

    def a_click_chooses_a_hit(self):
        page = self.open()
        page.type("#search", "descend")
        page.wait("document.querySelector('#hit-0')")
        page.click("#hit-0")
        page.wait(f"{PANEL} === 'descend'")
        expect(page.evaluate("document.querySelector('#hits').hidden"), True, "hits are put away")

    def address_keeps_what_is_chosen(self):
        page = self.open()
        page.click("input[value=count] + span")
        page.click("#functions thead th:nth-child(3) button")
        page.type("#search", "e")
        page.evaluate("Array.from(document.querySelectorAll('#functions tbody button')).find("
                      "(b) => b.textContent === 'even').click()")
        page.wait(f"{PANEL} === 'even'")
        state, rows = page.evaluate("location.hash").lstrip("#"), page.evaluate(ROWS)
        require(rows == sorted(rows, key=lambda row: -row[2]), f"falling by total: {rows}")
        again = self.open(state)
        again.wait(f"{PANEL} === 'even'")
        expect(again.evaluate(ROWS), rows, "rows of the address")
        expect(again.evaluate("document.querySelector('#search').value"), "e", "search")
        expect(again.evaluate("document.querySelector('input[name=weight]:checked').value"),
               "count", "unit")
        expect(again.problems(), [], "problems")

    def back_is_the_function_before(self):
        page = self.open()
        for name in ("even", "odd"):
            page.evaluate("Array.from(document.querySelectorAll('#functions tbody button')).find("
                          f"(b) => b.textContent === '{name}').click()")
            page.wait(f"{PANEL} === '{name}'")
        page.evaluate("history.back()")
        page.wait(f"{PANEL} === 'even'")
        page.evaluate("history.back()")
        page.wait("!document.querySelector('#panel')")

    def zoom_is_in_the_address(self):
        """A box that is entered is named above the graph with those above it; each of them, the
        address and the browser's way back lead to it."""
        page = self.open()
        stacks = ["/".join(f["function"] for f in c["stack"]) + "/" for c in self.contexts]
        inside = sum("/even/main/" in f"/{stack}" for stack in stacks)
        self.zoom(page, "even")
        page.wait(f"{CRUMBS}.at(-1) === 'even'")
        path, state = page.evaluate(CRUMBS), page.evaluate("location.hash").lstrip("#")
        require(path[0] == "Whole program" and path[-2] == "main", f"path: {path}")
        found = "document.querySelector('#contexts-found').textContent"
        require(page.evaluate(found).startswith(f"{inside} of "), page.evaluate(found))
        again = self.open(state)
        expect(again.evaluate(CRUMBS), path, "path of the address")
        require(again.evaluate(found).startswith(f"{inside} of "), "contexts of the address")
        again.evaluate("Array.from(document.querySelectorAll('.crumbs button')).at(-1).click()")
        again.wait(f"{CRUMBS}.at(-1) === 'main'")
        again.evaluate("history.back()")
        again.wait(f"{CRUMBS}.at(-1) === 'even'")
        again.click(".crumbs button")
        again.wait("!document.querySelector('.crumbs') && !document.querySelector('.chip')")
        again.evaluate("history.back()")
        again.wait(f"{CRUMBS}.at(-1) === 'even'")
        expect(again.problems(), [], "problems")

    def zoom_ends_with_its_tree(self):
        page = self.open()
        self.zoom(page, "descend")
        page.wait(f"{CRUMBS}.at(-1) === 'descend'")
        page.click("input[name=bottom-up] + span")
        page.wait("!document.querySelector('.crumbs') && location.hash === '#flame=bottom-up'")
        page = self.open("zoom=999999")
        expect([page.evaluate("document.querySelector('.crumbs')"), page.problems()], [None, []],
               "of a box that is not there")

    def what_the_address_asks_for_may_not_exist(self):
        page = self.open("chosen=nothing&unit=apples&sort=colour&context=99999&group=planet")
        expect(page.problems(), [], "problems")
        expect(page.evaluate("Boolean(document.querySelector('#panel'))"), False, "a panel")
        require(OWN <= set(self.rows(page)), "functions")

    def works_by_keys(self):
        page = self.open()
        page.evaluate("document.querySelector('#functions tbody button').focus()")
        first = page.evaluate("document.activeElement.textContent")
        page.press("Enter")
        page.wait(f"{PANEL} === '{first}'")
        expect(page.evaluate("document.activeElement.id"), "panel-title", "where the focus goes")
        expect_names(page)
        page.press("Escape")
        page.wait("!document.querySelector('#panel')")
        expect(page.evaluate("document.activeElement.textContent"), first,
               "where it returns to")

    def fits_320_pixels(self):
        expect_fit(self.open("group=thread&chosen=cook", name="threads", width=320, height=700),
                   320)
        page = self.open(width=320, height=700)
        expect_fit(page, 320)
        frame = "document.querySelector('#functions .table-frame')"
        expect(page.evaluate(f"{frame}.scrollWidth - {frame}.clientWidth"), 0,
               "of the table that is beyond its frame")
        page.type("#search", "e")
        page.wait("document.querySelector('#hit-0')")
        expect_fit(page, 320)
        page.click("#hit-0")
        page.wait("document.querySelector('#panel')")
        expect_fit(page, 320)

    def a_difference_has_the_change(self):
        self.run("report", "nested.heap", "--base", "nested.heap", "-q", "-o", "same.html")
        page = self.browser.open(self.folder / "same.html")
        expect({row[1] for row in self.rows(page).values()}, {0}, "change of the totals")
        before = shop.Profile(self.pgokit, self.folder, "before")
        slow = shop.Profile(self.pgokit, self.folder, "slow", "-DSLOW")
        self.run("report", slow.path, "--base", before.path, "-b", before.binary, "-b",
                 slow.binary, "-q", "-o", "diff.html")
        page = self.browser.open(self.folder / "diff.html")
        rows = self.rows(page)
        new = rows["cache_that_nobody_asked_for"]
        expect([new[0], new[1], new[2]], [8 << 20] * 3, "total, change and self")
        expect(rows["make_orders"][1], 0, "change of what is as it was")
        expect(list(rows)[0], "main", "most changed of all")
        expect(page.problems(), [], "problems")


    def areas_are_of_functions_and_libraries(self):
        """At the peak it is known of every context what it held, and all of the program's is held
        then: the most of each is the self of the profile, in bytes at the peak."""
        sums = Sums(self.contexts, "PeakSize")
        for by, wanted in (("function", dict(sums.own)),
                           ("library", {"libshelf.so": sums.own["shelf_take"]}),
                           ("context", None)):
            page = self.open()
            page.evaluate("(() => { const s = document.querySelector('#held-by'); "
                          f"s.value = '{by}'; s.dispatchEvent(new Event('change', "
                          "{bubbles: true})); })()")
            page.wait(f"document.querySelector('#held-by').value === '{by}'")
            page.settle()
            areas = page.evaluate("Array.from(document.querySelectorAll('.held-legend li'), (l) => "
                                  "[l.querySelector('button').textContent, "
                                  "Number(l.dataset.exact)])")
            if not wanted:
                expect(len(areas), 8, "contexts at once")
                continue
            for name in OWN & set(wanted) | {name for name in wanted if name == "libshelf.so"}:
                if wanted[name]:
                    expect(dict(map(tuple, areas)).get(name), wanted[name], f"{by} {name}")
            page.evaluate("document.querySelector('.held-legend li button').click()")
            page.wait(f"{PANEL} === '{areas[0][0]}'")
            expect(page.problems(), [], "problems")

    def areas_follow_what_is_chosen(self):
        page = self.open("chosen=shelf_take&over=function")
        page.wait(f"{PANEL} === 'shelf_take'")
        expect(page.evaluate("Array.from(document.querySelectorAll('.held-legend li button'), "
                             "(b) => b.textContent)"), ["shelf_take"], "areas")


    def flame_graph_bottom_up(self):
        """Its first row has what each function allocates itself, and below it the callers."""
        page, sums = self.open(), Sums(self.contexts, "TotalSize")
        page.click("input[name=bottom-up] + span")
        page.wait("location.hash === '#flame=bottom-up'")
        page.settle()
        boxes = page.evaluate("""Array.from(document.querySelectorAll('.flame [role=treeitem]'),
            (b) => [b.ariaLevel, b.ariaLabel.split(',')[0], parseFloat(b.style.width)])""")
        whole = sum(context["mib"]["TotalSize"] for context in self.contexts)
        first = {name: width for level, name, width in boxes if level == "2"}
        expect(sorted(first), sorted(name for name in OWN if sums.own[name] > 0.002 * whole),
               "first row")
        for name, width in first.items():
            require(abs(width - 100 * sums.own[name] / whole) < 0.01, f"{name}: {width} %")
        callers = Sums([c for c in self.contexts if c["stack"][0]["function"] == "fill"],
                       "TotalSize").callers["fill"]
        width = first["fill"] * callers["shelf_call"] / sums.own["fill"]
        require(["3", "shelf_call"] in [box[:2] for box in boxes] and
                any(abs(box[2] - width) < 0.01 for box in boxes if box[1] == "shelf_call"),
                f"shelf_call below fill: {boxes}")


HELPERS = ("run", "open", "rows", "zoom", "of_kind")
MISSING = [what for what, found in (("chromium", find_chromium()), ("a C compiler", COMPILER),
                                    ("clang++-22", shop.find_compiler())) if not found]
sys.exit(run(Suite, HELPERS, MISSING, sys.argv[2:]))
