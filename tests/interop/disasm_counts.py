#!/usr/bin/env python3
"""`pgokit disasm --profile`: the counts beside probes and instructions are those that are in
the profile that llvm-profgen 22 made for the program, no more and no less.
"""

import json
import os
import re
import sys

from peers import PROGRAMS, Skip, good, main, read, require, run, tool

FUNCTIONS = ["main", "_Z3sumPKllPK5Shape", "_ZNK6Square4areaEl", "_ZNK6Circle4areaEl"]


def build(work, release, *flags):
    folder = work.temp("counts")
    source, exe = os.path.join(PROGRAMS, "listed_shapes.cpp"), os.path.join(folder, "prog")
    good(tool("clang++", release), "-g", "-O2", *flags, source, "-o", exe)
    return exe


def listing(work, exe, *options):
    return json.loads(good(work.pgokit, "disasm", exe, "--json", *options))


def counters(work, exe):
    """Counts of ranges and branches as llvm-profgen keeps them, of each stretch of straight code
    in some functions; no two stretches that follow one another have the same."""
    functions = listing(work, exe)["functions"]
    entry = {f["name"]: int(f["address"], 16) for f in functions}
    ranges, branches = [], []
    for f in functions:
        if f["name"] not in FUNCTIONS:
            continue
        weight = 10 ** (FUNCTIONS.index(f["name"]) + 2)
        insns = f["instructions"]
        targets = {i["target"] for i in insns if "target" in i}
        start = insns[0]["address"]
        for i, after in zip(insns, [*insns[1:], None]):
            if not (after is None or "kind" in i or after["address"] in targets):
                continue
            ranges.append((int(start, 16), int(i["address"], 16), weight + len(ranges)))
            if i.get("kind") == "call":
                callees = ([int(i["target"], 16)] if "target" in i else
                           [entry[name] for name in FUNCTIONS[2:]])
                branches += [(int(i["address"], 16), to, 7 + n) for n, to in enumerate(callees)]
            start = after and after["address"]
    lines = [str(len(ranges)), *(f"{a:x}-{b:x}:{n}" for a, b, n in ranges),
             str(len(branches)), *(f"{a:x}->{b:x}:{n}" for a, b, n in branches)]
    return "\n".join(lines) + "\n"


def profile(work, exe, release=22):
    """What llvm-profgen makes of it, as text."""
    folder = os.path.dirname(exe)
    raw, out = os.path.join(folder, "raw.txt"), os.path.join(folder, "profile.txt")
    with open(raw, "w", encoding="ascii") as f:
        f.write(counters(work, exe))
    good(tool("llvm-profgen", release), f"--binary={exe}", f"--unsymbolized-profile={raw}",
         f"--output={out}", "--format=text", "--use-offset=0")
    return out


def places(path):
    """Counts of a text profile by (function, place, function, ..., place), and its targets."""
    counts, targets, stack = {}, {}, []
    for line in read(path).decode().splitlines():
        depth = len(line) - len(line.lstrip(" "))
        if line.lstrip().startswith("!"):
            continue
        if depth == 0:
            stack = [line.rsplit(":", 2)[0]]
            continue
        place, rest = line.strip().split(": ", 1)
        stack = stack[:2 * depth - 1] + [place]
        if re.match(r"\d+( |$)", rest):
            count, *calls = rest.split()
            counts[tuple(stack)] = int(count)
            targets[tuple(stack)] = {c.rsplit(":", 1)[0]: int(c.rsplit(":", 1)[1]) for c in calls}
        else:
            stack.append(rest.rsplit(":", 1)[0])
    return counts, targets


def probe_key(probe):
    key = []
    for caller in probe.get("inlined", []):
        key += [caller["function"], str(caller["site"])]
    return (*key, probe["function"], str(probe["index"]))


def base(d):
    """The first part of a discriminator."""
    if d & 1:
        return 0
    d >>= 1
    return (d >> 1 & 0xfe0) | (d & 0x1f) if d & 0x20 else d & 0x1f


def line_key(frames):
    key = []
    for f in reversed(frames):
        discriminator = base(f.get("discriminator", 0))
        offset = (f["line"] - f["decl_line"]) & 0xffff
        key += [f["function"], f"{offset}.{discriminator}" if discriminator else str(offset)]
    return tuple(key)


def compare(work, exe, text, found):
    """found: (key, row with counts) of what is shown."""
    counts, targets = places(text)
    seen = set()
    for key, row in found:
        want = counts.get(key)
        require(row.get("samples") == want, f"{key}: {row.get('samples')}, profile {want}")
        require({t["name"]: t["samples"] for t in row.get("targets", [])} == targets.get(key, {}),
                f"{key}: {row.get('targets')}, profile {targets.get(key)}")
        seen.add(key)
    # What was profiled is in the program, and so must be shown.
    require(len(counts) > 20, "hardly any counts: what was compared?")
    require(any(targets.values()), "no call targets")
    require(set(counts) <= seen, f"never shown: {sorted(set(counts) - seen)[:3]}")
    totals = {f["name"]: f.get("samples")
              for f in listing(work, exe, "--profile", text)["functions"]}
    for line in read(text).decode().splitlines():
        if not line.startswith(" "):
            name, total, _ = line.rsplit(":", 2)
            require(totals.get(name) == int(total), f"{name}: {totals.get(name)} of {total}")


def by_probes(work, release):
    exe = build(work, release, "-fpseudo-probe-for-profiling", "-fno-unique-internal-linkage-names")
    text = profile(work, exe, max(22, release))
    shown = listing(work, exe, "--profile", text)
    probes = [p for f in shown["functions"] for i in f["instructions"]
              for p in i.get("probes", [])]
    require(shown["profile"]["places"] == "probes", str(shown["profile"]))
    compare(work, exe, text, [(probe_key(p), p) for p in probes])
    require(not any("stale" in p for p in probes), "the code is what was profiled")
    return exe, text


def by_lines(work, release):
    exe = build(work, release, "-fdebug-info-for-profiling")
    text = profile(work, exe, max(22, release))
    shown = listing(work, exe, "--profile", text, "--source")
    insns = [i for f in shown["functions"] for i in f["instructions"]]
    require(shown["profile"]["places"] == "lines", str(shown["profile"]))
    compare(work, exe, text, [(line_key(i["source"]), i) for i in insns if i["source"]])


def stale(work):
    """Other code since: said once per function, and by the exit status."""
    exe, text = by_probes(work, 22)
    changed = re.sub(r"( !CFGChecksum: )\d+\n(?=main|_Z|$)", r"\g<1>12345\n", read(text).decode())
    with open(text, "w", encoding="ascii") as f:
        f.write(changed)
    result = run(work.pgokit, "disasm", exe, "--profile", text, "-f", "sum")
    require(result.code == 1 and "other code" in result.errors, str(result))
    require(result.text.count("# sum: the profile is of other code (checksum 0x3039, ") == 1,
            result.text)


def hottest(work):
    exe, text = by_probes(work, 22)
    every = [f for f in listing(work, exe, "--profile", text)["functions"] if "samples" in f]
    want = sorted(every, key=lambda f: -f["samples"])[:2]
    top = listing(work, exe, "--profile", text, "--top", "2")["functions"]
    require(top == want, f"{[f['name'] for f in top]}, not {[f['name'] for f in want]}")


def contexts(work):
    """A copy that was inlined has the counts of its context, a function those of all."""
    exe, plain = by_probes(work, 22)
    counts, _ = places(plain)
    inlined = next(key for key in counts if len(key) == 4)
    function, index = inlined[2], inlined[3]
    text = os.path.join(os.path.dirname(exe), "contexts.txt")
    with open(text, "w", encoding="ascii") as f:
        f.write(f"[{inlined[0]}:{inlined[1]} @ {function}]:5:0\n {index}: 5\n !CFGChecksum: 1\n"
                f"[{FUNCTIONS[0]}:99 @ {function}]:70:0\n {index}: 70\n !CFGChecksum: 1\n"
                f"[a:1 @ {FUNCTIONS[1]}]:30:0\n 1: 30\n !CFGChecksum: 1\n"
                f"[b:1 @ {FUNCTIONS[1]}]:4:0\n 1: 4\n !CFGChecksum: 1\n")
    result = run(work.pgokit, "disasm", exe, "--json", "--profile", text)
    require(result.code == 1, "no function has the checksum 1")
    functions = json.loads(result.text)["functions"]
    found = {probe_key(p): p.get("samples") for f in functions for i in f["instructions"]
             for p in i.get("probes", [])}
    require(found[inlined] == 5, f"{inlined}: {found[inlined]}")
    require(found[(FUNCTIONS[1], "1")] == 34, str(found[(FUNCTIONS[1], "1")]))
    total = next(f for f in functions if f["name"] == FUNCTIONS[1])
    require((total["samples"], total["profiles"]) == (34, 2), str(total)[:200])


def add_cases(work, tap):
    tool("llvm-profgen", 22)
    if os.uname().machine != "x86_64":
        raise Skip("missing an x86-64 machine")
    for release in (14, 19, 22, 23):
        tap.add(f"probes of clang {release}", by_probes, work, release)
        tap.add(f"lines of clang {release}", by_lines, work, release)
    tap.add("checksums that differ", stale, work)
    tap.add("the hottest functions", hottest, work)
    tap.add("contexts", contexts, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
