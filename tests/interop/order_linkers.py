#!/usr/bin/env python3
"""Orders of functions from recordings: each linker takes its form, functions lie as listed, the
program computes the same, and calls are at least as near as ld.lld's own cache-directed sort of the
same calls makes them."""

import collections
import os
import random
import sys
import threading

import sample_program
import sample_texts
from gen_inferred import instructions_alone
from peers import Failure, Skip, good, main, need_linkers, read, require, run, tool, write

ROOMS = ("base", "records", "sample", "sampleio")
LINKERS = {
    "order": ("/usr/bin/ld.lld-22", "--no-warn-symbol-ordering,--symbol-ordering-file="),
    "order-gold": ("gold", "--section-ordering-file="),
    "order-ld": ("bfd", "-T,"),
}


class Recorded:
    """A program of many functions in sections of their own, and what ran in it."""

    def __init__(self, work):
        self.folder = work.temp("order")
        need_linkers(["-fuse-ld=/usr/bin/ld.lld-22"])
        names = [s for room in ROOMS for s in sample_program.sources(room)
                 if not s.endswith("sample_rename.c")]
        names += [f"{sample_program.ROOT}/{source}" for source in sample_program.MAIN]
        self.objects = sample_program.compile_all(self.folder, names, "-ffunction-sections",
                                                  "-fPIE")
        self.input = f"{self.folder}/in.txt"
        write(self.input, sample_texts.text(0, "nested").encode())
        self.program = self.link("program", "/usr/bin/ld.lld-22")
        self.trace = self.program + ".trace"
        good(work.recorder, "-g", "-e", "211", "-n", "1500", self.trace, self.program, self.input)

    def link(self, name, linker, *options):
        out = f"{self.folder}/{name}"
        good(tool("clang", 22), f"-fuse-ld={linker}", "-pie", *options, *self.objects,
             "-Wl,--gc-sections", *sample_program.LIBRARIES, "-o", out)
        return out


RECORDING = threading.Lock()


def recorded(work):
    """Made once for all cases, which run at the same time; a failure is one of each."""
    with RECORDING:
        if not hasattr(work, "recorded"):
            try:
                work.recorded = Recorded(work)
            except (Failure, Skip) as why:
                work.recorded = why
    if isinstance(work.recorded, Exception):
        raise work.recorded
    return work.recorded


def functions_of(program):
    """Address, size and name of each; of equal addresses all."""
    lines = [line.split() for line in good("nm", "-S", "--defined-only", program).splitlines()]
    return sorted((int(words[0], 16), int(words[1], 16), words[3]) for words in lines
                  if len(words) == 4 and words[2] in "tTwW")


def order(work, form, *options):
    r = recorded(work)
    out = f"{r.folder}/{form}.txt"
    good(work.pgokit, "gen", r.trace, "-b", r.program, "--format", form, "-o", out, *options)
    return out


def listed(work):
    return read(order(work, "order")).decode().split()


# ---- what linkers do with it ----

def linked(work, form):
    r, (linker, option) = recorded(work), LINKERS[form]
    need_linkers([f"-fuse-ld={linker}"])
    names = listed(work)
    program = r.link(form, linker, f"-Wl,{option}{order(work, form)}")
    at = collections.defaultdict(list)
    for address, size, name in functions_of(program):
        at[name].append((address, size))
    places = [at[name][0] for name in names if len(at[name]) == 1]
    require(len(places) > 30, f"{len(places)} of {len(names)} functions are in the program")
    require(places == sorted(places), "functions do not lie as listed")
    low, high = places[0][0], places[-1][0]
    inside = [name for name in at if len(at[name]) == 1 and low <= at[name][0][0] <= high]
    require(set(inside) <= set(names), f"others lie between: {set(inside) - set(names)}")
    require(good(program, r.input) == good(r.program, r.input), "it computes something else")
    return f"{len(places)} functions in {high - low:,} bytes"


# ---- how near calls are ----

def calls_of(work):
    """(from, offset, to): count, by names that stand for one function alone."""
    r = recorded(work)
    good(work.pgokit, "gen", "-q", "--format", "preaggregated", r.trace, "-b", r.program, "-o",
         f"{r.folder}/counts")
    places = functions_of(r.program)
    often = collections.Counter(name for _, _, name in places)
    found = collections.Counter()
    for line in read(f"{r.folder}/counts").decode().splitlines():
        kind, *words = line.split()
        if kind != "B":
            continue
        source, target = int(words[0], 16), int(words[1], 16)
        callers = [(a, n) for a, size, n in places if a <= source < a + size]
        callees = [n for a, _, n in places if a == target]
        if callers and callees and callers[0][1] != callees[0] and \
                often[callers[0][1]] == often[callees[0]] == 1:
            found[callers[0][1], source - callers[0][0], callees[0]] += int(words[2])
    require(len(found) > 40, f"{len(found)} calls")
    return found


def nearness(program, calls):
    at = {name: address for address, _, name in functions_of(program)}
    return sum(count * max(abs(at[a] + offset - at[b]), 0.1) ** -0.25
               for (a, offset, b), count in calls.items() if a in at and b in at)


def as_near(work):
    r, calls = recorded(work), calls_of(work)
    graph = collections.Counter()
    for (a, _, b), count in calls.items():
        graph[a, b] += count
    write(f"{r.folder}/graph", "".join(f"{a} {b} {n}\n" for (a, b), n in graph.items()).encode())
    linker = LINKERS["order"][0]
    theirs = r.link("theirs", linker, f"-Wl,--call-graph-ordering-file={r.folder}/graph",
                    "-Wl,--call-graph-profile-sort=cdsort,--no-warn-symbol-ordering")
    mine = r.link("mine", linker, f"-Wl,{LINKERS['order'][1]}{order(work, 'order')}")
    plain, of_theirs, of_mine = (nearness(p, calls) for p in (r.program, theirs, mine))
    require(of_mine >= of_theirs, f"{of_mine:.0f}, of ld.lld {of_theirs:.0f}")
    require(of_mine > plain, f"{of_mine:.0f}, as linked without an order {plain:.0f}")
    return (f"{of_mine / plain:.2f} times as near as without an order, "
            f"{of_mine / of_theirs:.2f} times as ld.lld's")


# ---- other input ----

def from_samples(work):
    """Without branch stacks calls are inferred."""
    r = recorded(work)
    alone = instructions_alone(r.trace)
    out = f"{alone}.order"
    good(work.pgokit, "gen", alone, "-b", r.program, "--format", "order", "-o", out)
    both = set(read(out).decode().split()) & set(listed(work))
    require(len(both) > 25, f"{len(both)} functions of both")


def from_profile(work):
    """Functions of a sample profile, placed nearer to what they call than in any other order. It
    has no offsets of calls, and a program as it is linked has near what one file has, so that is no
    measure."""
    r, calls = recorded(work), calls_of(work)
    profile, out = f"{r.folder}/profile.afdo", f"{r.folder}/profile.order"
    good(work.pgokit, "gen", "-q", r.trace, "-b", r.program, "-o", profile)
    good(work.pgokit, "order", "-q", profile, "-b", r.program, "-o", out)
    both = set(read(out).decode().split()) & set(listed(work))
    require(len(both) > 25, f"{len(both)} functions of both")
    def linked_by(name, names):
        write(f"{r.folder}/{name}.list", "".join(f"{one}\n" for one in names).encode())
        option = f"-Wl,{LINKERS['order'][1]}{r.folder}/{name}.list"
        return nearness(r.link(name, LINKERS["order"][0], option), calls)

    names, dice = read(out).decode().split(), random.Random(7)
    near = linked_by("by-profile", names)
    others = [linked_by(f"any-{i}", dice.sample(names, len(names))) for i in range(3)]
    usual = sum(others) / len(others)
    require(near > 1.1 * usual, f"{near:.0f}, in other orders {others}")
    result = run(work.pgokit, "order", profile)
    require(result.code == 2 and "-b" in result.errors, str(result))
    return f"{near / usual:.2f} times as near as in other orders"


def calls_for_lld(work):
    """ld.lld makes an order of the calls."""
    r, calls = recorded(work), calls_of(work)
    program = r.link("by-calls", LINKERS["order"][0],
                     f"-Wl,--call-graph-ordering-file={order(work, 'order-calls')}",
                     "-Wl,--no-warn-symbol-ordering")
    near, plain = nearness(program, calls), nearness(r.program, calls)
    require(near > 1.1 * plain, f"{near:.0f}, as linked without an order {plain:.0f}")
    require(good(program, r.input) == good(r.program, r.input), "it computes something else")
    return f"{near / plain:.2f} times as near as without an order"


def refused(work):
    r = recorded(work)
    good("strip", r.program, "-o", f"{r.folder}/stripped")
    result = run(work.pgokit, "gen", r.trace, "-b", f"{r.folder}/stripped", "--map",
                 f"program={r.folder}/stripped", "--format", "order", "-o", f"{r.folder}/none")
    require(result.code == 2 and "a symbol table" in result.errors,
            str(result))
    require(not os.path.exists(f"{r.folder}/none"), "half a file")


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    for form in LINKERS:
        tap.add(f"linked by {os.path.basename(LINKERS[form][0])}", linked, work, form)
    tap.add("calls as near as ld.lld makes them", as_near, work)
    tap.add("samples without branches", from_samples, work)
    tap.add("a sample profile", from_profile, work)
    tap.add("calls, which ld.lld orders", calls_for_lld, work)
    tap.add("a stripped program", refused, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
