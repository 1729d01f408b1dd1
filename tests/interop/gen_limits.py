#!/usr/bin/env python3
"""What is hot, how deep contexts are, and profiles that are generated from profiles: `pgokit gen`
writes what llvm-profgen 22 writes with the same limits.
"""

import os
import sys

from gen_profiles import (FLOW_SENSITIVE, FRAMES, LINES, PROBES, RAW, Build, Failure, build,
                          contexts, equal, ours, record, theirs, without_chains)
from peers import good, main, require, run, tool, write

KEPT = ["--no-preinline", "--contexts", "--keep-cold"]
MERGED, OWN_MERGED = RAW[:2], KEPT[:2]
BUILDS = [*[Build(r, "-O2", PROBES, FRAMES) for r in (14, 19, 22)],
          Build(22, "-O2", LINES, FRAMES, "-mllvm", FLOW_SENSITIVE)]


def thresholds(work, b):
    exe, trace = record(work, b)
    plain = without_chains(trace)
    for n in ("20", "100", "1000"):
        hot, cold = ["--profile-summary-hot-count=" + n], ["--profile-summary-cold-count=" + n]
        equal(ours(work, exe, trace, *OWN_MERGED, "--hot-count", n),
              theirs(exe, trace, *MERGED, *hot))
        equal(ours(work, exe, trace, *OWN_MERGED, "--hot-count", n, "--trim-cold"),
              theirs(exe, trace, *MERGED, *hot, "--trim-cold-profile"))
        equal(ours(work, exe, plain, "--cold-count", n, "--trim-cold"),
              theirs(exe, plain, *cold, "--trim-cold-profile"))
        if PROBES in b.flags: # else see entries_are_kept
            equal(ours(work, exe, trace, "--cold-count", n), theirs(exe, trace, *cold))
    # Shares between the rows of a summary are rounded up to the next row.
    for n in ("500000", "850000", "940000", "999999"):
        hot, cold = ["--profile-summary-cutoff-hot=" + n], ["--profile-summary-cutoff-cold=" + n]
        equal(ours(work, exe, trace, *OWN_MERGED, "--hot-share", n),
              theirs(exe, trace, *MERGED, *hot))
        equal(ours(work, exe, plain, "--cold-share", n, "--trim-cold"),
              theirs(exe, plain, *cold, "--trim-cold-profile"))
        if PROBES in b.flags:
            equal(ours(work, exe, trace, "--cold-share", n), theirs(exe, trace, *cold))


def heads(text):
    return sum(c.head for c in contexts(text).values())


def entries_are_kept(work):
    """The pre-inliner of llvm-profgen loses entries of a function that calls itself through another
    one, if the context has nothing but entries; its total and lines are right."""
    exe, trace = record(work, Build(22, "-O2", LINES, FRAMES, "-mllvm", FLOW_SENSITIVE))
    entered = heads(ours(work, exe, trace, *KEPT))
    for n in ("20", "100", "1000"):
        mine = ours(work, exe, trace, "--contexts", "--cold-count", n)
        other = theirs(exe, trace, RAW[1], "--profile-summary-cold-count=" + n)
        require(heads(mine) == entered, f"{heads(mine)} entries of {entered}")
        require(heads(other) <= entered, "llvm-profgen has more")
        mine, other = contexts(mine), contexts(other)
        require(set(mine) == set(other), f"{set(mine) ^ set(other)}")
        for key, c in mine.items():
            require((c.total, c.lines) == (other[key].total, other[key].lines), key)


def last_frames(key, n):
    return "[" + " @ ".join(key[1:-1].split(" @ ")[-n:]) + "]"


def caller_of(key):
    """The context that called this one, and where."""
    caller, _, callee = key[1:-1].rpartition(" @ ")
    caller, _, place = caller.rpartition(":")
    return f"[{caller}]", (place, callee)


def fold_deep(other, frames):
    """llvm-profgen counts entries of a callee under a context that is one frame too deep. Moves
    them to where all else of the context is, and returns what it made up in callers for want of
    them."""
    raised, unentered = {}, []
    for key in list(other):
        cut = last_frames(key, frames)
        if cut == key:
            continue
        deep = other.pop(key)
        require(not deep.total and not deep.lines, f"{key} has more than entries")
        if cut not in other:
            other[cut] = deep
            continue
        if not other[cut].head:
            unentered.append(cut)
        other[cut].head += deep.head
    for key in unentered:
        while " @ " in key:
            key, call = caller_of(key)
            raised.setdefault(key, set()).add(call)
            if key in other and other[key].head and key not in unentered:
                break
    return raised


def same_but_raised(mine, other, frames):
    mine, other = contexts(mine), contexts(other)
    raised = fold_deep(other, frames)
    for key in set(mine) | set(other):
        calls = raised.get(key, set())
        places, sides = {place for place, _ in calls}, []
        for side in (mine, other):
            c = side.get(key)
            lines = {} if c is None else {p: x for p, x in c.lines.items() if p not in places}
            sides.append((0 if c is None else c.head, lines,
                          None if calls or c is None else c.total))
        require(sides[0] == sides[1], f"{key}: {sides}")


def same_raw(work, exe, trace, own, peer):
    equal(ours(work, exe, trace, "--raw", *own),
          theirs(exe, trace, "--skip-symbolization", *peer))


def depths(work, b):
    exe, trace = record(work, b)
    for n in range(4):
        peer, own = [f"--csprof-max-context-depth={n}"], ["--context-depth", str(n + 1)]
        mine = ours(work, exe, trace, *KEPT, *own)
        deepest = max(key.count(" @ ") for key in contexts(mine))
        require(deepest == n, f"contexts have up to {deepest + 1} frames")
        if PROBES in b.flags:
            equal(mine, theirs(exe, trace, *RAW, *peer))
            equal(ours(work, exe, trace, *own), theirs(exe, trace, *peer))
        else:
            same_but_raised(mine, theirs(exe, trace, *RAW, *peer), n + 1)
        same_raw(work, exe, trace, own, peer)
        peer = [f"--csprof-max-unsymbolized-context-depth={n}"]
        own = ["--stack-depth", str(n + 1)]
        equal(ours(work, exe, trace, *KEPT, *own), theirs(exe, trace, *RAW, *peer))
        same_raw(work, exe, trace, own, peer)


def recursion(work, b):
    exe, trace = record(work, b)
    found = set()
    for n in range(4):
        peer, own = [f"--compress-recursion={n}"], ["--recursion", str(n)]
        mine = ours(work, exe, trace, *KEPT, *own)
        found.add(mine)
        equal(mine, theirs(exe, trace, *RAW, *peer))
        same_raw(work, exe, trace, own, peer)
    require(len(found) > 1, "the program has no recursion")


def theirs_of_profile(exe, path, *options):
    out = path + ".again"
    good(tool("llvm-profgen", 22), f"--llvm-sample-profile={path}", f"--binary={exe}",
         "--format=text", "-o", out, *options, timeout=300)
    with open(out, encoding="utf-8") as f:
        return f.read()


FROM_PROFILE = [
    (RAW, KEPT),
    (MERGED, OWN_MERGED),
    ([*MERGED, "--csprof-max-cold-context-depth=2"], [*OWN_MERGED, "--cold-depth", "2"]),
    ([*MERGED, "--trim-cold-profile"], [*OWN_MERGED, "--trim-cold"]),
    ([RAW[1]], ["--contexts"]),
    ([], []),
    (["--trim-cold-profile"], ["--trim-cold"]),
]


def from_profile(work, b):
    """A profile with all contexts becomes what the recording would; others are trimmed."""
    exe, trace = record(work, b)
    whole = write(exe + ".whole", ours(work, exe, trace, *KEPT).encode())
    cold = [(["--profile-summary-cold-count=50"], ["--cold-count", "50"])]
    for peer, own in FROM_PROFILE + (cold if PROBES in b.flags else []):
        mine = ours(work, exe, whole, *own)
        equal(mine, theirs_of_profile(exe, whole, *peer))
        equal(mine, ours(work, exe, trace, *own))
    for name, used in (("nested", trace), ("plain", without_chains(trace))):
        path = write(f"{exe}.{name}", ours(work, exe, used).encode())
        for peer, own in ([], []), (["--trim-cold-profile"], ["--trim-cold"]):
            equal(ours(work, exe, path, *own), theirs_of_profile(exe, path, *peer))


def any_encoding(work):
    """The encoding of the profile does not matter; names that are hashes are looked up."""
    exe, trace = record(work, Build(22, "-O2", PROBES, FRAMES))
    wanted = ours(work, exe, trace)
    for options in (["--to", "text"], ["--to", "extbinary"], ["--to", "extbinary", "--md5"],
                    ["--to", "extbinary", "--compress"]):
        path = exe + ".whole"
        good(work.pgokit, "gen", "-q", trace, "-b", exe, "-o", path, *KEPT, *options)
        equal(ours(work, exe, path), wanted)
    half = write(exe + ".half", ours(work, exe, trace, *KEPT).encode())
    twice = good(work.pgokit, "merge", "-q", half, half, "--to", "text", "-o", "-")
    both = good(work.pgokit, "gen", "-q", half, half, "-b", exe, "--to", "text", "-o", "-", *KEPT)
    equal(both, twice)


def refused(work):
    exe, trace = record(work, Build(22, "-O2", PROBES, FRAMES))
    whole = write(exe + ".whole", ours(work, exe, trace, *KEPT).encode())
    other = build(work, Build(22, "-O2", PROBES, FRAMES))
    good(tool("strip"), "-s", other)
    cases = [(["-b", exe, trace], "a recording"), (["-b", exe, "--raw"], "counts of addresses"),
             (["-b", exe, "--context-depth", "2"], "depth of contexts"),
             (["-b", exe, "--pid", "3"], "choice of samples"),
             (["-b", "/bin/true"], "functions"), (["-b", other], "symbol"),
             (["-b", exe, "--trim-cold", "--hot-count", str(2**63), *OWN_MERGED], "only cold ones")]
    for options, word in cases:
        out = exe + ".refused"
        result = run(work.pgokit, "gen", whole, *options, "-o", out)
        require(result.code == 2 and word in result.errors, f"'{word}' is not said\n{result}")
        require(not os.path.exists(out), "a file was left")


def all_of(work, b):
    failures = []
    for case in (thresholds, depths, recursion, from_profile):
        try:
            case(work, b)
        except Failure as e:
            failures.append(f"{case.__name__}: {e}")
    require(not failures, "\n".join(failures))


def add_cases(work, tap):
    for b in BUILDS:
        tap.add(f"limits and profiles of {b.name}", all_of, work, b)
    tap.add("entries are kept", entries_are_kept, work)
    tap.add("any encoding", any_encoding, work)
    tap.add("refused", refused, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
