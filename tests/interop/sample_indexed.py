#!/usr/bin/env python3
"""Indexed tables, symbols as GUIDs and composite profiles: random profiles written by pgokit, by
the encoder here, which shares nothing with it, and by llvm-profdata of LLVM 24 where there is one.

All are the same bytes. What is read of them is the same text, whole or one function at a time, and
damage is refused. docs/formats/sample-binary.md describes the bytes.
"""

import hashlib
import json
import os
import random
import struct
import sys

from peers import main, peer, read, require, run, write

SEEDS = 6
MAGIC = 0x5350524F46343204
SUMMARY, NAMES, SYMBOLS, OFFSETS, METADATA, CONTEXTS, COMPOSITE_OFFSETS = range(1, 8)
PROFILES, COMPOSITE = 32, 33
CUTOFFS = (10000, 100000, 200000, 300000, 400000, 500000, 600000, 700000, 800000, 900000, 950000,
           990000, 999000, 999900, 999990, 999999)


def uleb(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def guid(name):
    return struct.unpack("<Q", hashlib.md5(name.encode()).digest()[:8])[0]


def eytzinger(keys):
    """The sorted keys, level by level of a search tree."""
    keys = set(keys)
    rising, out = iter(sorted(keys)), [0] * len(keys)

    def fill(k):
        if k < len(out):
            fill(2 * k + 1)
            out[k] = next(rising)
            fill(2 * k + 2)
    fill(0)
    return out


# ---- profiles ----

class Function:
    def __init__(self, name):
        self.name, self.total, self.head = name, 0, 0
        self.lines, self.calls, self.inlinees = {}, {}, {}

    def text(self, depth=0, place=""):
        pad = " " * depth
        out = [f"{pad}{place}{self.name}:{self.total}" + ("" if depth else f":{self.head}")]
        for loc in sorted(self.lines):
            calls = sorted(self.calls.get(loc, {}).items(), key=lambda c: (-c[1], c[0]))
            out.append(f"{pad} {spelled(loc)}: {self.lines[loc]}"
                       + "".join(f" {name}:{count}" for name, count in calls))
        for (loc, _), inlinee in sorted(self.inlinees.items()):
            out += inlinee.text(depth + 1, f"{spelled(loc)}: ")
        return out

    def walk(self):
        yield self
        for inlinee in self.inlinees.values():
            yield from inlinee.walk()

    def names(self):
        for node in self.walk():
            yield node.name
            for calls in node.calls.values():
                yield from calls


def spelled(loc):
    return f"{loc[0]}.{loc[1]}" if loc[1] else str(loc[0])


def fill(rng, function, names, depth):
    for _ in range(rng.randrange(0, 5)):
        loc = (rng.randrange(300), rng.choice([0, 0, 0, 1, 70000]))
        function.lines[loc] = rng.choice([0, 1, 127, 128, rng.randrange(10**9)])
        function.calls[loc] = {rng.choice(names): rng.randrange(1, 1000)
                               for _ in range(rng.randrange(0, 3))}
    while depth < 3 and rng.random() < 0.4:
        name, loc = rng.choice(names), (rng.randrange(300), 0)
        inlinee = function.inlinees[(loc, name)] = Function(name)
        fill(rng, inlinee, names, depth + 1)
        inlinee.total = rng.choice([0, rng.randrange(10**6)])
    return function


def profile(seed):
    rng = random.Random(seed)
    names = [f"_ZN{len(f'f{i}')}f{i}Ev" if i % 3 else f"f{i}" for i in range(1 + 9 * seed)]
    tops = rng.sample(names, (len(names) + 1) // 2)
    functions = [fill(rng, Function(name), names, 0) for name in tops]
    for function in functions:
        function.total = rng.choice([0, rng.randrange(10**9)])
        function.head = rng.choice([0, rng.randrange(10**4)])
    return sorted(functions, key=lambda f: (-f.total, f.name))


# ---- the encoder ----

def summary(functions):
    """Lines of all records, inlined or not, and heads of the functions themselves."""
    counts = [c for f in functions for node in f.walk() for c in node.lines.values()]
    total = sum(counts)
    out = [total, max(counts, default=0), max((f.head for f in functions), default=0), len(counts),
           len(functions)]
    rows, seen, at = [], 0, 0
    falling = sorted(counts, reverse=True)
    for cutoff in CUTOFFS:
        wanted = total * cutoff // 1000000
        while at < len(falling) and (seen < wanted or not at):
            group = falling[at]
            while at < len(falling) and falling[at] == group:
                seen += group
                at += 1
            if seen >= wanted:
                break
        rows.append((cutoff, falling[at - 1] if at else 0, at))
    return b"".join(map(uleb, out)) + uleb(len(rows)) + b"".join(
        uleb(x) for row in rows for x in row)


class Encoder:
    def __init__(self, functions, indexed, split, composite, symbols=None):
        self.functions, self.indexed, self.composite = functions, indexed, composite
        self.symbols, self.split = symbols, split
        nested = [f for f in functions if f.inlinees or not split]
        flat = [f for f in functions if split and not f.inlinees]
        self.halves = [nested, flat] if split else [nested]
        names = sorted({name for f in functions for name in f.names()})
        if indexed:
            spans = [{guid(f.name) for f in half} for half in (nested, flat)]
            spans.append({guid(n) for n in names} - spans[0] - spans[1])
            self.spans = [eytzinger(span) for span in spans]
            place = {g: i for i, g in enumerate(sum(self.spans, []))}
            self.index = {name: place[guid(name)] for name in names}
        else:
            self.index = {name: i for i, name in enumerate(names)}
        self.strings = names

    def name_table(self):
        if not self.indexed:
            return uleb(len(self.strings)) + b"".join(n.encode() + b"\0" for n in self.strings)
        return b"".join(uleb(len(s)) for s in self.spans) + b"".join(
            struct.pack("<Q", g) for span in self.spans for g in span)

    def lines(self, f):
        out = uleb(f.total) + uleb(len(f.lines))
        for loc in sorted(f.lines):
            calls = sorted(f.calls.get(loc, {}).items(), key=lambda c: (-c[1], c[0]))
            out += b"".join(map(uleb, (*loc, f.lines[loc], len(calls))))
            out += b"".join(uleb(self.index[name]) + uleb(count) for name, count in calls)
        return out

    def record(self, f, top):
        out = b""
        if not self.composite:
            out += (uleb(f.head) if top else b"") + uleb(self.index[f.name]) + self.lines(f)
        else:
            block = (uleb(f.head) if top else b"") + self.lines(f)
            out += uleb(self.index[f.name])
            any_ = f.total or f.lines or top and f.head
            out += uleb(1) + uleb(0) + uleb(len(block)) + block if any_ else uleb(0)
        out += uleb(len(f.inlinees))
        for (loc, _), inlinee in sorted(f.inlinees.items()):
            out += uleb(loc[0]) + uleb(loc[1]) + self.record(inlinee, False)
        return out

    def profiles(self, half):
        out, offsets = b"", {}
        for f in half:
            offsets[f.name] = len(out)
            out += self.record(f, True)
        return out, offsets

    def offsets(self, offsets, flat):
        if not self.indexed:
            return uleb(len(offsets)) + b"".join(uleb(self.index[n]) + uleb(off)
                                                 for n, off in offsets.items())
        of = {guid(name): off for name, off in offsets.items()}
        return b"".join(struct.pack("<I", of[g]) for g in self.spans[1 if flat else 0])

    def file(self):
        """Sections in order of the table, which is not that of the file."""
        profiles = COMPOSITE if self.composite else PROFILES
        offsets = COMPOSITE_OFFSETS if self.composite else OFFSETS
        on = 2 << 32 if self.indexed else 0
        symbols = b""
        if self.symbols is not None:
            symbols = b"".join(struct.pack("<Q", g) for g in eytzinger(map(guid, self.symbols)))
        first = [(SUMMARY, 0, summary(self.functions)),
                 (NAMES, 0xB << 32 if self.indexed else 0, self.name_table())]
        last = [(SYMBOLS, 1 << 32 if self.symbols is not None else 0, symbols), (METADATA, 0, b"")]
        if not self.split:
            body, at = self.profiles(self.halves[0])
            table = [*first, (CONTEXTS, 0, b"\0"), (offsets, on, self.offsets(at, False)),
                     (profiles, 0, body), *last]
            order = [0, 1, 2, 4, 5, 3, 6]
        else:
            table = first[:]
            for flat, half in enumerate(self.halves):
                body, at = self.profiles(half)
                table += [(offsets, on | 2 * flat, self.offsets(at, flat)),
                          (profiles, 2 * flat, body)]
            table += last
            order = [0, 1, 3, 2, 5, 4, 6, 7]
        head = uleb(MAGIC) + uleb(105 if self.composite else 103) + struct.pack("<Q", len(table))
        off, places, out = len(head) + 32 * len(table), {}, b""
        for i in order:
            places[i] = off + len(out)
            out += table[i][2]
        for i, (kind, flags, data) in enumerate(table):
            head += struct.pack("<4Q", kind, flags, places[i], len(data))
        return head + out


FORMS = [("indexed", ["--indexed-tables"], ["--use-md5", "--md5-indexed-tables"],
          {"indexed": True}),
         ("indexed and split", ["--indexed-tables", "--split-layout"],
          ["--use-md5", "--md5-indexed-tables", "--split-layout"],
          {"indexed": True, "split": True}),
         ("composite", ["--composite"], ["--extbinary-composite-prof"], {"composite": True}),
         ("all", ["--to", "llvm24", "--composite", "--symbols", "symbols"],
          ["--use-md5", "--md5-indexed-tables", "--extbinary-composite-prof",
           "--md5-prof-sym-list", "--prof-sym-list=symbols"],
          {"indexed": True, "composite": True, "symbols": ["cold", "f0", "f2", "warm"]})]


class Folder:
    """Where a case writes, and the program under test."""

    def __init__(self, work):
        self.path, self.pgokit = work.temp("indexed"), work.pgokit

    def at(self, name):
        return os.path.join(self.path, name)

    def convert(self, name, to, *options):
        done = run(self.pgokit, "convert", "-q", name, "-o", to, *options, cwd=self.path)
        require(done.code in (0, 1), str(done))

    def made(self, seed):
        functions = profile(seed)
        text = "\n".join(line for f in functions for line in f.text()) + "\n"
        write(self.at("a.txt"), text.encode())
        write(self.at("symbols"), b"cold\nf0\nf2\nwarm\n")
        return functions

    def same(self, a, b, what):
        require(read(self.at(a)) == read(self.at(b)), f"{what}: {a} and {b} differ")


def of_the_oracle(folder):
    for seed in range(1, SEEDS + 1):
        functions = folder.made(seed)
        for name, ours, _, form in FORMS:
            folder.convert("a.txt", "ours", *ours)
            encoder = Encoder(functions, **{"indexed": False, "split": False, "composite": False,
                                            **form})
            expected, got = encoder.file(), read(folder.at("ours"))
            at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), -1)
            require(got == expected, f"{name}, seed {seed}: {len(got)} bytes instead of "
                                     f"{len(expected)}, which differ from {at} on")


def of_llvm(folder):
    profdata = peer("llvm-profdata-24")
    for seed in range(1, SEEDS + 1):
        folder.made(seed)
        for name, ours, theirs, _ in FORMS:
            folder.convert("a.txt", "ours", *ours)
            done = run(profdata, "merge", "--sample", "--extbinary", *theirs, "a.txt", "-o",
                       "theirs", cwd=folder.path)
            require(done.code == 0, str(done))
            folder.same("ours", "theirs", f"{name}, seed {seed}")
            done = run(profdata, "merge", "--sample", "--text", "ours", "-o", "theirs.txt",
                       cwd=folder.path)
            require(done.code == 0, str(done))
            folder.convert("ours", "ours.txt", "--to", "text")
            folder.same("ours.txt", "theirs.txt", f"{name}, seed {seed}")


def functions_of(folder, *options):
    done = run(folder.pgokit, "show", "--json", *options, cwd=folder.path)
    require(done.code == 0, str(done))
    return json.loads(done.out)["functions"]


def one_by_one(folder):
    for seed in (2, 5):
        folder.made(seed)
        for name, ours, _, _ in FORMS:
            folder.convert("a.txt", "ours", *ours)
            whole = functions_of(folder, "ours")
            require(whole, "no functions in the JSON")
            for function in whole[:8]:
                asked = function.get("name") or str(int(function["guid"], 16))
                alone = functions_of(folder, "ours", "--function", asked)
                require(len(alone) == 1 and alone[0] == function, f"{name}: {asked} is {alone}")


def both_forms_in_one_file(folder):
    functions = folder.made(3)
    half = len(functions) // 2
    usual = Encoder(functions, False, False, False)
    composite = Encoder(functions, False, False, True)
    table = [(SUMMARY, summary(functions)), (NAMES, usual.name_table()),
             (PROFILES, b"".join(usual.record(f, True) for f in functions[:half])),
             (COMPOSITE, b"".join(composite.record(f, True) for f in functions[half:]))]
    head = uleb(MAGIC) + uleb(105) + struct.pack("<Q", len(table))
    off = len(head) + 32 * len(table)
    for kind, data in table:
        head += struct.pack("<4Q", kind, 0, off, len(data))
        off += len(data)
    write(folder.at("mixed"), head + b"".join(data for _, data in table))
    folder.convert("a.txt", "expected.txt", "--to", "text")
    folder.convert("mixed", "mixed.txt", "--to", "text")
    folder.same("mixed.txt", "expected.txt", "functions of both")


def merged(folder):
    folder.made(4)
    folder.convert("a.txt", "indexed", "--to", "llvm24")
    folder.convert("a.txt", "composite", "--composite", "--md5")
    folder.convert("a.txt", "md5", "--md5")
    for out, inputs in (("two-forms", ("indexed", "composite")), ("one-form", ("md5", "md5"))):
        done = run(folder.pgokit, "merge", "-q", *inputs, "-o", out, "--md5", cwd=folder.path)
        require(done.code == 0, str(done))
    folder.same("two-forms", "one-form", "merged")


CASES = [("the bytes are those of the encoder here", of_the_oracle),
         ("llvm-profdata 24 writes the same and reads the same", of_llvm),
         ("a function found by the index is that of the whole file", one_by_one),
         ("usual and composite profiles in one file", both_forms_in_one_file),
         ("merging goes through all forms", merged)]


def add_cases(work, tap):
    for name, case in CASES:
        tap.add(name, lambda case=case: case(Folder(work)))


if __name__ == "__main__":
    sys.exit(main(add_cases))
