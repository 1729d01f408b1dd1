#!/usr/bin/env python3
"""Random sample profiles through pgokit and through llvm-profdata-22: text and extensible
binary are the same bytes, but for what LLVM leaves to the order of its hash tables: entries of
the function metadata, and attributes of what several contexts become.
"""

import re
import struct
import sys

import sample_texts
from peers import main, read, require, run, tool, write

SEEDS = 3
METADATA = 5
COMPRESSED = 1


def sections(data):
    count = struct.unpack_from("<Q", data, 10)[0]
    for i in range(count):
        kind, flags, off, size = struct.unpack_from("<4Q", data, 18 + 32 * i)
        yield kind, flags, size, data[off:off + size]


def same_binary(ours, theirs):
    a, b = list(sections(ours)), list(sections(theirs))
    require(len(a) == len(b), f"{len(a)} sections, LLVM has {len(b)}")
    for x, y in zip(a, b):
        require(x[:2] == y[:2], f"section {x[:2]}, LLVM has {y[:2]}")
        if x[0] != METADATA:
            require(x[3] == y[3], f"section {x[0]} differs: {x[2]} bytes, LLVM has {y[2]}")
        elif not x[1] & COMPRESSED:
            require(sorted(x[3]) == sorted(y[3]), "function metadata differs")


def same_text(ours, theirs):
    require(ours == theirs, f"pgokit:\n{ours.decode(errors='replace')}\n"
                            f"LLVM:\n{theirs.decode(errors='replace')}")


def without_attributes(text):
    return re.sub(rb"\n !Attributes: .*", b"", text)


def same_nested(ours, theirs):
    same_text(without_attributes(ours), without_attributes(theirs))


TEXT = ["--to", "text"], ["--text"]
# name, options of ours and of LLVM, inputs, comparison, kinds that it applies to
CASES = [
    ("text", *TEXT, "ab", same_text, None),
    ("extbinary", [], [], "ab", same_binary, None),
    ("md5", ["--md5"], ["--use-md5"], "a", same_binary, None),
    ("compressed", ["--compress"], ["--compress-all-sections"], "a", same_binary, None),
    ("partial", ["--gen-partial"], ["--gen-partial-profile"], "a", same_binary, None),
    ("flow-sensitive", ["--fs"], ["-profile-isfs"], "ab", same_binary, ("flat", "nested")),
    ("first pass", [*TEXT[0], "--fs", "--fs-pass", "pass1"],
     [*TEXT[1], "-profile-isfs", "-fs-discriminator-pass=Pass1"], "ab", same_text,
     ("flat", "nested")),
    ("split layout", ["--split-layout"], ["--split-layout"], "a", same_binary,
     ("flat", "nested", "probe")),
    ("raw binary", ["--to", "binary"], ["--binary"], "ab", same_text, ("flat", "nested")),
    ("weights", TEXT[0], TEXT[1], "ab3", same_text, None),
    ("size limit", [*TEXT[0], "--size-limit", "1500"], [*TEXT[1], "--output-size-limit=1500"], "a",
     same_text, None),
    ("filters", [*TEXT[0], "--function", "a", "--no-function", "main"],
     [*TEXT[1], "--function=a", "--no-function=main"], "a", same_text, None),
    ("flat layout", [*TEXT[0], "--layout", "flat"],
     [*TEXT[1], "--convert-sample-profile-layout=flat"], "ab", same_text,
     ("flat", "nested", "cs", "preinlined")),
    ("nested layout", [*TEXT[0], "--layout", "nested"],
     [*TEXT[1], "--convert-sample-profile-layout=nest"], "ab", same_nested,
     ("cs", "cs-probe", "preinlined")),
    ("trimmed", [*TEXT[0], "--trim-cold"], [*TEXT[1], "--sample-trim-cold-context"], "a",
     same_text, ("cs", "cs-probe", "preinlined")),
    ("cold merged", [*TEXT[0], "--merge-cold", "--cold-depth", "2"],
     [*TEXT[1], "--sample-merge-cold-context", "--sample-frame-depth-for-cold-context=2"], "a",
     same_text, ("cs", "cs-probe", "preinlined")),
]


def inputs(work, kind, vtables, seed):
    folder = work.temp("sample")
    paths = {}
    for variant, name in enumerate("ab"):
        paths[name] = f"{folder}/{name}.txt"
        write(paths[name], sample_texts.text(seed, kind, vtables, variant).encode())
    return folder, paths


def compare(work, case, kind, vtables):
    _, ours, theirs, which, same, _ = case
    llvm = tool("llvm-profdata", 22)
    done = refused = 0
    for seed in range(SEEDS):
        folder, paths = inputs(work, kind, vtables, seed)
        mine = [paths[c] for c in which if c in paths]
        other = list(mine)
        if "3" in which:
            mine[-1] += "@3"
            other[-1] = f"--weighted-input=3,{other[-1]}"
        a = run(work.pgokit, "merge", *mine, *ours, *(["--vtables"] if vtables else []),
                "-o", f"{folder}/ours")
        b = run(llvm, "merge", "--sample", *theirs, *other, "-o", f"{folder}/theirs",
                *(["-extbinary-write-vtable-type-prof"] if vtables else []))
        require((a.code == 2) == (b.code != 0), f"seed {seed}\n{a}\n{b}")
        if b.code:
            refused += 1
            continue
        same(read(f"{folder}/ours"), read(f"{folder}/theirs"))
        done += 1
    require(done, "nothing was compared")
    return f"{done} profiles the same, {refused} refused by both"


def numbers(text):
    return re.findall(r"-?\d+(?:\.\d+)?", text.replace(",", ""))


def overlap(work, kind):
    """Similarity, sample overlap and unique shares, as printed, to the digit."""
    llvm = tool("llvm-profdata", 22)
    for seed in range(SEEDS):
        _, paths = inputs(work, kind, False, seed)
        b = run(llvm, "overlap", "--sample", paths["a"], paths["b"])
        a = run(work.pgokit, "diff", paths["a"], paths["b"], "--top", "1")
        require(a.code == 0 and b.code == 0, f"{a}\n{b}")
        lines = b.out.decode().splitlines()

        def value(start):
            return next(line.split(":")[-1].strip() for line in lines
                        if line.strip().startswith(start)).rstrip("%")
        mine = a.out.decode().splitlines()
        found = [numbers(mine[0])[0], *numbers(mine[1])]
        expected = [value("Whole program profile similarity"),
                    value("Whole program sample overlap"),
                    value("percentage of samples unique in base"),
                    value("percentage of samples unique in test")]
        require(found == expected, f"seed {seed}: {found}, LLVM has {expected}")
        for row, what in ((2, ("overlap functions", "functions unique in base",
                               "functions unique in test")),
                          (3, ("overlap hot functions", "hot functions unique in base",
                               "hot functions unique in test")),
                          (4, ("overlap hot blocks", "hot blocks unique in base",
                               "hot blocks unique in test"))):
            require(numbers(mine[row])[1:] == [value(w) for w in what],
                    f"seed {seed}: {mine[row]}\n{b.out.decode()}")
    return f"{SEEDS} pairs the same"


def add_cases(work, tap):
    for case in CASES:
        for kind in case[5] or sample_texts.KINDS:
            for vtables in (False, True):
                # LLVM leaves to chance which copy of a function keeps its vtables in a flat
                # layout, and prints those of a line with inlinees twice in a nested one.
                if vtables and case[0] in ("flat layout", "nested layout", "raw binary"):
                    continue
                label = f"{case[0]}, {kind}{' with vtables' if vtables else ''}"
                tap.add(label, compare, work, case, kind, vtables)
    for kind in sample_texts.KINDS:
        tap.add(f"overlap, {kind}", overlap, work, kind)


sys.exit(main(add_cases))
