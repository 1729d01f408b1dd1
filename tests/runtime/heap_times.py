#!/usr/bin/env python3
"""The heap over time: the series, the peak and what is alive at the end, against a trace that the
program keeps of itself."""

import json
import os
import signal
import struct

import raw_profile
from harness import Cases, require, run
from runtime_programs import PGOKIT, build, check_sound, one_file

SITES = 4
STEP = struct.Struct(f"<{2 + 2 * SITES}Q")


class Trace:
    """For each number of allocations the states that the program was in until the next one."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.steps = list(STEP.iter_unpack(file.read()))
        self.states = {}
        for step in self.steps:
            self.states.setdefault(step[0], set()).add(step[1:])

    def peak(self, steps):
        return max(alive(step) for step in steps)


def alive(step):
    return sum(step[2 + SITES:])


def of_sites(profile, program, lives):
    """Lives by the number of the site that they begin with; others are of the C library's start."""
    by_pcs = {profile.pcs[stack]: values for stack, values in lives.items()}
    found = {name: [sum(v) for v in zip(*(values for pcs, values in by_pcs.items() if name ==
                    function_of(profile, program, pcs)))] for name in
             {function_of(profile, program, pcs) for pcs in by_pcs}}
    others = set(found) - {f"site_{i}" for i in range(SITES)}
    require(not others, f"contexts of {others}: {found}")
    return [found.get(f"site_{i}", [0] * 5) for i in range(SITES)]


def function_of(profile, program, pcs):
    bias = profile.segments[0][2]
    return next((name for name, start, end in raw_profile.symbols(program)
                 if start <= pcs[0] - bias < end), "?")


def require_points(trace, points):
    require(10 <= len(points) <= 1024, f"{len(points)} points")
    for ms, bytes_, objects, made, allocations in points:
        states = trace.states[allocations]
        fits = [state for state in states if state[0] == made and
                sum(state[1:1 + SITES]) == objects and sum(state[1 + SITES:]) == bytes_]
        require(fits, f"{ms} ms, {allocations} allocations: {bytes_} B in {objects} objects is "
                f"none of {states}")


def states_of(trace, point):
    return {state[1 + SITES:] for state in trace.states[point[4]] if state[0] == point[3]}


def require_breakdowns(trace, profile, program, times):
    """Each eighth point has one, which is what the program's sites then held."""
    points = {point[0]: point for point in times.points}
    expected = [point[0] for point in times.points[7::8] if point[1]]
    require([ms for ms, _ in times.breakdowns] == expected,
            f"breakdowns at {[ms for ms, _ in times.breakdowns]}, not {expected}")
    for ms, shares in times.breakdowns:
        lives = {stack: [held] for stack, held in shares.items()}
        held = tuple(life[0] for life in of_sites(profile, program, lives))
        require(held in states_of(trace, points[ms]),
                f"{ms} ms: {held} is none of {states_of(trace, points[ms])}")


def require_peak(trace, steps, times, lives):
    """At most one percent below the true one; and the snapshot is a state that the program was
    in."""
    true = trace.peak(steps)
    require(true / 1.0101 <= times.bytes <= true, f"peak {times.bytes} B, truly {true} B")
    snapshot = tuple(life[1] for life in lives) + tuple(life[0] for life in lives)
    require(any(step[2:] == snapshot for step in steps), f"no state of the program: {snapshot}")
    require(sum(snapshot[SITES:]) == times.bytes and sum(snapshot[:SITES]) == times.objects,
            f"{snapshot} at a peak of {times.bytes} B in {times.objects} objects")


def require_end(step, lives):
    found = tuple(life[3] for life in lives) + tuple(life[2] for life in lives)
    require(found == step[2:], f"at the end {found}, truly {step[2:]}")


def require_shown(path, trace, profile):
    """What pgokit makes of the file: dumps and sheets are put together."""
    shown = json.loads(run([PGOKIT, "show", "-q", "--json", path], "/").stdout)
    over_time, mibs = shown["over_time"], [c["mib"] for c in shown["contexts"]]
    highest = max(profile.over_time, key=lambda times: times.bytes)
    require((over_time["peak_bytes"], over_time["peak_objects"]) ==
            (highest.bytes, highest.objects), f"peak shown as {over_time['peak_bytes']} B")
    require(sum(m["PeakSize"] for m in mibs) == highest.bytes and
            sum(m["PeakCount"] for m in mibs) == highest.objects, f"peak of contexts: {mibs}")
    end = trace.steps[-1]
    require((sum(m["ExitSize"] for m in mibs), sum(m["ExitCount"] for m in mibs)) ==
            (alive(end), sum(end[2:2 + SITES])), f"at exit of contexts: {mibs}")
    points = [(p["ms"], p["bytes"], p["objects"], p["allocated_bytes"], p["allocated_objects"])
              for p in over_time["points"]]
    require_points(trace, points)
    shares = list(zip(*(over_time["shares"][key] for key in ("point", "context", "bytes"))))
    written = {ms: sorted(held.values()) for times in profile.over_time
               for ms, held in times.breakdowns}
    require({points[i][0]: sorted(held for at, _, held in shares if at == i)
             for i in {at for at, _, _ in shares}} == written, "shares of another program")
    for i in {at for at, _, _ in shares}:
        held = sorted(held for at, _, held in shares if at == i)
        require(held in [sorted(filter(None, state)) for state in states_of(trace, points[i])],
                f"{points[i]}: {held}")


def traced(folder, compiler, linkage, how):
    program = build(folder, "waves.c", compiler, linkage)
    for seed in "1", "2", "3":
        path = os.path.join(folder, "trace")
        run([program, seed, path, how], folder,
            status=-signal.SIGKILL if how == "kill" else 0)
        trace, profile = Trace(path), raw_profile.Profile(one_file(folder))
        half = len(trace.steps) // 2
        parts = [trace.steps[:half + 1], trace.steps[half + 1:]] if how == "dump" else [trace.steps]
        require(len(profile.over_time) == len(parts), f"{len(profile.over_time)} parts")
        for steps, times in zip(parts, profile.over_time):
            lives = of_sites(profile, program, times.lives)
            require_points(trace, times.points)
            require_breakdowns(trace, profile, program, times)
            require_peak(trace, steps, times, lives)
            require_end(steps[-1], lives)
        check_sound(one_file(folder))
        require_shown(one_file(folder), trace, profile)
        os.unlink(one_file(folder))


def profiled(folder, source):
    """A program, which has run, and its profile."""
    program = build(folder, source, "clang-22", "archive")
    run([program], folder)
    return program, raw_profile.Profile(one_file(folder))


def kept(folder):
    """What is in the first dump and lives on is alive at the end of the last one, too."""
    program, profile = profiled(folder, "kept_on.c")
    ends = [[life[2:4] for life in of_sites(profile, program, times.lives)[:2]]
            for times in profile.over_time]
    require(ends == [[[1000, 10], [0, 0]], [[900, 9], [50, 1]], [[800, 8], [50, 1]]],
            f"alive at the end of each dump: {ends}")
    shown = json.loads(run([PGOKIT, "show", "-q", "--json", one_file(folder)], "/").stdout)
    left = [c["mib"]["ExitSize"] for c in shown["contexts"] if c["mib"]["ExitSize"]]
    require(sum(left) == 850 and 50 in left, f"at exit: {left}")


def temporary(folder):
    """Freed before the next allocation, as one of the two objects of site_1 is."""
    program, profile = profiled(folder, "freed_at_once.c")
    lives = of_sites(profile, program, profile.over_time[-1].lives)
    counts = sorted(life[4] for life in profile.over_time[-1].lives.values() if life[4])
    require(counts == [1000, 1000] and lives[0][4] == 1000, f"temporary: {lives}")


def highest(folder):
    """A point of the series that two threads made, by less than a step of the peak each, is not
    above the peak, which is that of the contexts."""
    program = build(folder, "grown_by_two.c", "clang-22", "archive")
    run([program], folder)
    shown = json.loads(run([PGOKIT, "show", "-q", "--json", one_file(folder)], "/").stdout)
    times = shown["over_time"]
    top = max(point["bytes"] for point in times["points"])
    require(1001000 <= top <= times["peak_bytes"],
            f"{top} B at a point, {times['peak_bytes']} B at the peak")
    of_contexts = sum(c["mib"]["PeakSize"] for c in shown["contexts"])
    require(of_contexts == times["peak_bytes"], f"{of_contexts} B of contexts at the peak")


def function_of_first(shown, advice):
    return shown["contexts"][advice["contexts"][0]]["stack"][0]["function"]


def advised(folder):
    """What nobody freed, what is alone while it lives, and what only lives for a moment, each by
    one rule; nothing is leaked by a program that was killed."""
    program = build(folder, "kept.c", "clang-22", "archive")
    for arguments, status, leaks in ([], 0, True), (["kill"], -9, False):
        run([program, *arguments], folder, status=status)
        shown = json.loads(run([PGOKIT, "show", "-q", "--json", one_file(folder), "-b", program],
                               "/").stdout)
        found = {a["rule"]: (a["bytes"], function_of_first(shown, a)) for a in shown["advice"]}
        require(found["temporary"] == (300000, "make_temporary"), f"{found}")
        require(found["short-lived"][1] == "make_brief", f"{found}")
        require(found.get("leaked") == ((64000, "keep") if leaks else None), f"{found}")
        text = run([PGOKIT, "show", "-q", one_file(folder), "-b", program], "/").stdout
        require(("are never freed" in text) == leaks, text)
        os.unlink(one_file(folder))


def short_lived(folder):
    """The share of short-lived bytes is that of the addresses, whatever names make one of them."""
    program = build(folder, "same_name.c", "clang-22", "shared", flags=["-g0"])
    run([program], folder)
    path, found = one_file(folder), []
    for moved in False, True:
        if moved:
            os.rename(program, program + ".moved")
        shown = json.loads(run([PGOKIT, "show", "-q", "--json", path], "/").stdout)
        totals = shown["totals"]
        advised = sum(a["bytes"] for a in shown["advice"] if a["rule"] == "short-lived")
        found.append((totals["contexts"], totals["labels"]["short-lived"]["TotalSize"], advised))
    require([row[1:] for row in found] == [(5000000, 5000000)] * 2, f"{found}")
    require(found[0][0] < found[1][0], f"all have names of their own: {found}")


def main():
    cases = Cases()
    for compiler, linkage in ("clang-22", "archive"), ("gcc", "shared"):
        for how in "exit", "dump", "kill", "exec":
            cases.run(f"{how}: {compiler}, {linkage}", traced, compiler, linkage, how)
    cases.run("thinned", traced, "clang-22", "archive", "long")
    cases.run("no point is above the peak of two threads", highest)
    cases.run("alive over several dumps", kept)
    cases.run("temporary objects", temporary)
    cases.run("advice on what is left and what is temporary", advised)
    cases.run("short-lived bytes with names and without", short_lived)
    cases.finish()


main()
