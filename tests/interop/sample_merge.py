#!/usr/bin/env python3
"""Merging sample profiles through files: the order of files, the way they are put together
and the number of threads leave no trace; n copies are one file of weight n; counts stop at
2^64 - 1.
"""

import itertools
import re
import sys

import sample_texts
from peers import good, main, read, require, run, write

SEEDS = 3
HIGHEST = (1 << 64) - 1
FORMS = {"text": ["--to", "text"], "extbinary": []}


class Merger:
    def __init__(self, work, form, vtables):
        self.work, self.folder = work, work.temp("sample-merge")
        self.options = FORMS[form] + (["--vtables"] if vtables else [])
        self.files = 0

    def new_path(self):
        self.files += 1
        return f"{self.folder}/{self.files}"

    def text(self, text):
        return write(self.new_path(), text.encode())

    def merge(self, *inputs, options=()):
        path = self.new_path()
        good(self.work.pgokit, "merge", *inputs, *self.options, *options, "-o", path)
        return path

    def same(self, expected, path, what):
        require(read(expected) == read(path), f"{what}: {expected} and {path} differ")


def laws(work, form, kind, vtables):
    merges = 0
    for seed in range(SEEDS):
        m = Merger(work, form, vtables)
        a, b, c = (m.text(sample_texts.text(seed, kind, vtables, variant))
                   for variant in range(3))
        whole = m.merge(a, b, c)
        require(len({read(m.merge(x)) for x in (a, b, c)}) == 3, "the files are the same")
        for order in itertools.permutations((a, b, c)):
            m.same(whole, m.merge(*order), f"seed {seed}: order of files")
        for threads in ("1", "2", "5"):
            m.same(whole, m.merge(a, b, c, options=["-j", threads]),
                   f"seed {seed}: {threads} threads")
        m.same(whole, m.merge(m.merge(a, b), c), f"seed {seed}: (a + b) + c")
        m.same(whole, m.merge(a, m.merge(b, c)), f"seed {seed}: a + (b + c)")
        m.same(m.merge(a, a, a, b), m.merge(f"{a}@3", b), f"seed {seed}: weight 3")
        merges += m.files - 3
    return f"{merges} merges"


def guids(work, kind):
    """GUIDs in one file and names in the other: the diff is that of two files of names, but for
    functions that only the file of GUIDs has.
    """
    m = Merger(work, "text", False)
    a, b = (m.text(sample_texts.text(4, kind, False, variant)) for variant in range(2))
    hashed = m.new_path()
    good(work.pgokit, "convert", a, "--md5", "-o", hashed)

    def totals(*files):
        return good(work.pgokit, "diff", *files).partition("\n\n")[0]
    require(totals(a, b) == totals(hashed, b), "base of GUIDs")
    require(totals(b, a) == totals(b, hashed), "test of GUIDs")
    require("similarity      100.000 %" in good(work.pgokit, "diff", hashed, a), "not the same")


def saturation(work, form):
    m = Merger(work, form, True)
    one = m.text(f"main:{HIGHEST}:{HIGHEST}\n 1: {HIGHEST} foo:{HIGHEST}\n"
                 f" 1: vtables _ZTV1A:{HIGHEST} \n 2: inner:{HIGHEST}\n  1: {HIGHEST}\n")
    m.same(m.merge(one), m.merge(one, one), "a sum")
    m.same(m.merge(one), m.merge(f"{one}@7"), "a product")


def shards(work, form, kind):
    """Builds whose functions differ in checksum: which one stays is known only in the end, so parts
    have to keep them all.
    """
    m = Merger(work, form, True)

    def rebuilt(text, build):
        return re.sub(r"(!CFGChecksum: )(\d+)",
                      lambda found: f"{found[1]}{int(found[2]) + build % 2}", text)
    files = [m.text(rebuilt(sample_texts.text(6, kind, True, variant), variant))
             for variant in range(5)]

    def merged(*inputs, options, code):
        path = m.new_path()
        done = run(work.pgokit, "merge", *inputs, *options, "-o", path)
        require(done.code == code, f"{done}")
        return path

    def whole_of(*inputs):
        return merged(*inputs, options=m.options, code=1 if "probe" in kind else 0)

    def part(*inputs):
        return merged(*inputs, options=["--partial"], code=0)
    whole = whole_of(*files)
    a, b, c, d, e = files
    for inputs in ([part(a, b), part(c, d, e)], [part(part(e, b), d), c, a],
                   [part(part(c), part(a, part(d, e)), b)]):
        m.same(whole, whole_of(*inputs), f"{kind}: shards")
    require(read(part(*files)) == read(part(part(d, c), b, part(a, e))), "bytes of a part")
    packed = part(a, b) + ".zst"
    good(work.pgokit, "merge", a, b, "--partial", "-o", packed)
    m.same(whole, whole_of(packed, c, d, e), f"{kind}: a compressed part")
    done = run(work.pgokit, "merge", a, "--partial", "--md5", "-o", m.new_path())
    require(done.code == 2 and "--partial" in done.errors, f"{done}")


def limits(work):
    """Exit status 3 for a difference that is as large as a limit; none passes no limit."""
    m = Merger(work, "text", False)
    small = m.text("a:100:1\n 1: 100\n")
    large = m.text("a:100:1\n 1: 100\nb:20:1\n 1: 20\n")
    for before, now, limit, expected in (
            (small, large, "growth=20%", 3), (small, large, "growth=21%", 0),
            (small, large, "new=20%", 3), (small, large, "new=21%", 0),
            (small, large, "moved=16%", 3), (small, large, "moved=17%", 0),
            (large, small, "growth=0%", 0), (large, small, "new=0%", 0),
            (large, small, "moved=0%", 3), (large, large, "moved=0%", 0),
            (small, large, "objects=1%", 2), (small, large, "moved=1", 2)):
        for more in ([], ["--json"]):
            done = run(work.pgokit, "diff", before, now, "--fail-on", limit, *more)
            require(done.code == expected, f"{limit}: {done}")
            require(("limit reached" in done.errors) == (expected == 3), f"{limit}: {done}")


def add_cases(work, tap):
    tap.add("limits of diff", limits, work)
    for form in FORMS:
        for kind in sample_texts.KINDS:
            tap.add(f"shards, {form}, {kind}", shards, work, form, kind)
    for kind in sample_texts.KINDS:
        tap.add(f"diff of GUIDs and names, {kind}", guids, work, kind)
    for form in FORMS:
        for kind in sample_texts.KINDS:
            for vtables in (False, True):
                label = f"laws of merging, {form}, {kind}{' with vtables' if vtables else ''}"
                tap.add(label, laws, work, form, kind, vtables)
        tap.add(f"saturation, {form}", saturation, work, form)


sys.exit(main(add_cases))
