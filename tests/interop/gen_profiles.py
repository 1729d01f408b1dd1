#!/usr/bin/env python3
"""Profiles of programs that were single-stepped: `pgokit gen` writes what llvm-profgen 22 writes,
in every mode, for programs of several clang releases.
"""

import os
import re
import sys

from peers import Failure, at_hand, good, main, require, run, tool, write
from stepped import FRAMES, LINES, LLD, PROBES, built, recorded

FLOW_SENSITIVE = "-enable-fs-discriminator=1"


class Build:
    def __init__(self, release, *flags):
        self.release, self.flags = release, list(flags)

    @property
    def name(self):
        words = [os.path.basename(f) if f.startswith("-fuse-ld=/") else f for f in self.flags]
        return f"clang {self.release} {' '.join(words)}"


# llvm-profgen puts a callee under the discriminator of its call as it stands, but all that ran in
# it under the base part, which is what compilers look for. Both are one where discriminators are
# flow-sensitive, or there are none; else split_contexts says what may differ.
RAW = ["--csspgo-preinliner=0", "--gen-cs-nested-profile=0", "--csprof-merge-cold-context=0"]
MODES = {
    "plain": ([], [], []),
    "lines": ([], ["--use-dwarf-correlation"], ["--mode", "autofdo"]),
    "contexts": ([], RAW, ["--no-preinline", "--contexts", "--keep-cold"]),
    "contexts, without tail calls": (
        [PROBES], [*RAW, "--infer-missing-frames=0"],
        ["--no-preinline", "--contexts", "--keep-cold", "--no-tail-calls"]),
    "contexts, cold ones merged": (
        [PROBES], RAW[:2], ["--no-preinline", "--contexts"]),
    "contexts, cold ones merged to two frames": (
        [PROBES], [*RAW[:2], "--csprof-max-cold-context-depth=2"],
        ["--no-preinline", "--contexts", "--cold-depth", "2"]),
    "contexts, cold ones left out": (
        [PROBES], [*RAW[:2], "--trim-cold-profile"],
        ["--no-preinline", "--contexts", "--trim-cold"]),
    "contexts nested": ([PROBES], [RAW[0], RAW[2]], ["--no-preinline", "--keep-cold"]),
    "pre-inlined contexts": ([PROBES], [RAW[1]], ["--contexts"]),
    "pre-inlined": ([PROBES], [], []),
    "pre-inlined, cold ones left out": ([PROBES], ["--trim-cold-profile"], ["--trim-cold"]),
}
# Callers are left out here, or cannot be told in a rare sample.
LEFT_OUT = {"pre-inlined, cold ones left out", "contexts nested"}

BUILDS = [
    *[Build(r, o, kind, FRAMES) for r in (14, 19, 22) for o in ("-O1", "-O2", "-O3")
      for kind in (PROBES, LINES)],
    *[Build(r, "-O2", FRAMES) for r in (14, 19, 22)],
    # Static, because the recorder runs it beside the C library of this machine.
    *[Build(23, o, PROBES, FRAMES, "-static") for o in ("-O1", "-O2")],
    *[Build(22, "-O2", kind, FRAMES, "-no-pie") for kind in (PROBES, LINES)],
    Build(22, "-O2", PROBES, FRAMES, "-fPIE", "-pie", LLD),
    Build(22, "-O2", PROBES, FRAMES, "-g0"),
    Build(22, "-O2", LINES, FRAMES, "-mllvm", FLOW_SENSITIVE),
    Build(19, "-O2", LINES, FRAMES, "-mllvm", "-hot-cold-split=true"),
    Build(22, "-O2", PROBES),
]


def build(work, b):
    return built(work, b.release, "-g", *b.flags)


def record(work, b):
    return recorded(work, b.release, "-g", *b.flags)


def without_chains(trace):
    """The branches alone; llvm-profgen leaves samples out of which it takes the chain for wrong,
    even where it is told to ignore it."""
    out = trace + ".plain"
    with open(trace, encoding="utf-8") as f, open(out, "w", encoding="utf-8") as g:
        g.writelines(line for line in f if line.strip() and not line.startswith("\t"))
    return out


def ours(work, exe, trace, *options):
    return good(work.pgokit, "gen", "-q", trace, "-b", exe, "--format", "text", "-o", "-",
                *options, timeout=120)


def theirs(exe, trace, *options, release=22):
    out = exe + ".profile"
    result = run(tool("llvm-profgen", release), f"--perfscript={trace}", f"--binary={exe}",
                 "--format=text", "-o", out, *options, timeout=300)
    require(result.code == 0, str(result))
    with open(out, encoding="utf-8") as f:
        return f.read()


def equal(mine, peer):
    if mine == peer:
        return
    a, b = mine.split("\n"), peer.split("\n")
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            context = "\n".join("    " + line[:200] for line in a[max(0, number - 4):number - 1])
            raise Failure(f"line {number} of {len(a)}, llvm-profgen {len(b)}\n{context}\n"
                          f"  pgokit       {x[:300]!r}\n  llvm-profgen {y[:300]!r}")
    raise Failure(f"{len(a)} lines, llvm-profgen {len(b)}")


def without_marks(text):
    """Without the attributes of functions: llvm-profgen keeps those that spoke of a context when
    the caller is left out and the context becomes the function's own profile."""
    return re.sub(r"^ !Attributes: \d+\n", "", text, flags=re.M)


def base(number):
    """The base part of a discriminator."""
    if number & 1:
        return 0
    number >>= 1
    return (number >> 1) & 0xfe0 | number & 0x1f if number & 0x20 else number & 0x1f


def based_call(call):
    number = base(int(call[2]))
    return f":{call[1]}.{number} @ {call[3]}]" if number else f":{call[1]} @ {call[3]}]"


class Context:
    def __init__(self):
        self.total = self.head = 0
        self.lines = {} # place: (count, {callee: count})


def contexts(text):
    found = {}
    for line in text.splitlines():
        if line.startswith("["):
            key, total, head = line.rsplit(":", 2)
            now = found[key] = Context()
            now.total, now.head = int(total), int(head)
        elif not line.startswith(" !"):
            place, count, *callees = line.split()
            targets = dict((c.rsplit(":", 1)[0], int(c.rsplit(":", 1)[1])) for c in callees)
            now.lines[place.rstrip(":")] = (int(count), targets)
    return found


def split_contexts(mine, other):
    """Where calls have discriminators, llvm-profgen's contexts of callees fall apart: entries
    under one number, all else under another, and for want of entries it makes some up in the
    caller. Nothing else may differ."""
    mine, other = contexts(mine), contexts(other)
    whole, raised = {}, {}
    for key, c in other.items():
        based = re.sub(r":(\d+)\.(\d+) @ ([^@]*)]$", based_call, key)
        if key in mine or based not in mine:
            whole[key] = c
            continue
        require(not c.total and not c.lines, f"{key} is of {based}, but it has counts")
        if based in other:
            other[based].head += c.head
            # And so on outwards, as far as callers were not entered by a branch, either.
            caller = based
            while " @ " in caller and (caller == based or not other[caller].head):
                caller, _, callee = caller[:-1].rpartition(" @ ")
                caller, _, place = caller.rpartition(":")
                caller += "]"
                raised.setdefault(caller, set()).add((place, callee))
                if caller not in other:
                    break
        else:
            whole[based] = c
    require(set(whole) == set(mine), f"contexts: {set(whole) ^ set(mine)}")
    for key, c in mine.items():
        may = raised.get(key, set())
        o = whole[key]
        require(c.head == o.head and (c.total == o.total or may), f"{key}: {c.head}, {o.head}")
        require(set(c.lines) == set(o.lines), f"{key}: {set(c.lines) ^ set(o.lines)}")
        for place, (count, targets) in c.lines.items():
            callees = {callee for at, callee in may if at == place}
            theirs, their_targets = o.lines[place]
            require(count == theirs or (callees and count < theirs), f"{key} {place}")
            require(all(their_targets.get(t) == n or t in callees for t, n in targets.items()) and
                    set(targets) == set(their_targets), f"{key} {place}: {targets}")


def same_profiles(work, b):
    exe, trace = record(work, b)
    release = max(22, b.release)
    plain = without_chains(trace)
    by_probes = PROBES in b.flags
    failures = []
    for name, (needs, peer, own) in MODES.items():
        if any(flag not in b.flags for flag in needs):
            continue
        if name == "lines" and "-g0" in b.flags:
            continue
        used = plain if name in ("plain", "lines") else trace
        try:
            mine = ours(work, exe, used, *own)
            other = theirs(exe, used, *peer, release=release)
            if name in LEFT_OUT:
                mine, other = without_marks(mine), without_marks(other)
            if name == "contexts" and LINES in b.flags and FLOW_SENSITIVE not in b.flags:
                split_contexts(mine, other)
            else:
                equal(mine, other)
        except Failure as e:
            failures.append(f"{name}: {e}")
    require(not failures, "\n".join(failures))


def same_raw(work, kind, contexts, *flags):
    """Address counts are those of llvm-profgen, and give the profile of the recording."""
    exe, trace = record(work, Build(22, "-O2", kind, FRAMES, *flags))
    used = trace if contexts else without_chains(trace)
    raw = good(work.pgokit, "gen", "-q", used, "-b", exe, "--raw", "-o", "-")
    equal(raw, theirs(exe, used, "--skip-symbolization"))
    path = write(exe + ".raw", raw.encode())
    equal(ours(work, exe, path), ours(work, exe, used))
    if not contexts: # llvm-profgen 22 cannot read its own contexts by probes
        equal(ours(work, exe, path), theirs_of_raw(exe, path))
    elif kind != PROBES: # and does not tell any more what was inlined
        options = MODES["contexts"]
        mine, other = ours(work, exe, path, *options[2]), theirs_of_raw(exe, path, *options[1])
        equal(without_marks(mine), without_marks(other))
    for pack, end in ((["gzip", "-k"], ".gz"), (["zstd", "-q"], ".zst")):
        good(tool(pack[0]), *pack[1:], path, trace)
        equal(ours(work, exe, path + end), ours(work, exe, used))
        if contexts:
            equal(ours(work, exe, trace + end), ours(work, exe, used))
        os.remove(path + end)
        os.remove(trace + end)


def read_by_each_release(work, kind):
    """What only LLVM 22 reads, the flag of vtables, is not set where no type was met."""
    exe, trace = record(work, Build(14, "-O2", kind, FRAMES))
    out = exe + ".afdo"
    good(work.pgokit, "gen", "-q", trace, "-b", exe, "-o", out)
    for release in at_hand(14, 16, 19, 22, 23):
        good(tool("llvm-profdata", release), "show", "--sample", out)


def symbol_list(work, kind):
    """All functions of the program, by GUIDs in compressed sections, too."""
    exe, trace = record(work, Build(22, "-O2", kind, FRAMES))
    trace = without_chains(trace)
    out, peer = exe + ".afdo", exe + ".theirs"
    good(tool("llvm-profgen", 22), f"--perfscript={trace}", f"--binary={exe}", "-o", peer,
         "--populate-profile-symbol-list", "--use-md5")
    listed = []
    for path, options in ((peer, None), (out, ["--md5"]), (out, ["--md5", "--compress"])):
        if options is not None:
            good(work.pgokit, "gen", "-q", trace, "-b", exe, "-o", path, "--symbols", *options)
        listed.append(good(tool("llvm-profdata", 22), "show", "--sample", "--show-prof-sym-list",
                           path))
    require("main" in listed[0].split(), "llvm-profgen lists nothing")
    require(listed[0] == listed[1] == listed[2], "another list or other counts")


def theirs_of_raw(exe, path, *options):
    out = path + ".profile"
    good(tool("llvm-profgen", 22), f"--unsymbolized-profile={path}", f"--binary={exe}",
         "--format=text", "-o", out, *options)
    with open(out, encoding="utf-8") as f:
        return f.read()


def add_cases(work, tap):
    for kind in (LINES, PROBES):
        tap.add(f"address counts, {kind}", same_raw, work, kind, False)
    tap.add(f"address counts with contexts, {PROBES}", same_raw, work, PROBES, True)
    tap.add(f"address counts with contexts, {LINES}", same_raw, work, LINES, True, "-mllvm",
            FLOW_SENSITIVE)
    for kind in (LINES, PROBES):
        tap.add(f"list of symbols, {kind}", symbol_list, work, kind)
        tap.add(f"read by each release, {kind}", read_by_each_release, work, kind)
    for b in BUILDS:
        tap.add(f"profiles of {b.name}", same_profiles, work, b)


if __name__ == "__main__":
    sys.exit(main(add_cases))
