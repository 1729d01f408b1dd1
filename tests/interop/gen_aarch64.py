#!/usr/bin/env python3
"""Recordings of an AArch64 program that ran in an emulator, instruction by instruction: branch
stacks as BRBE has them, call chains by frame pointers, SPE, addresses alone.

What frame pointers tell is compared with the calls that were open, branch stacks with what
llvm-profgen makes of them, and what a processor tells in other ways with branch stacks, here and of
the same source on x86-64.
"""

import copy
import os
import re
import sys
import threading

import arm_trace
from gen_profiles import FRAMES, LINES, LLD, PROBES, equal, theirs
from peers import AARCH64, PROGRAMS, good, main, require, tool
from perf_writer import BRANCH, CHAIN, CONTEXT_USER, IP, TID, TIME, Event, Recording, spe_packet

SOURCE = os.path.join(PROGRAMS, "ways.c")
CONTEXTS = ["--no-preinline", "--contexts", "--keep-cold"]
STEPS, ROUNDS = 20000, "400"
COMPILERS = {
    "clang, lines": ["clang", LINES, "-O2"],
    "clang, probes": ["clang", LINES, PROBES, "-O2"],
    "clang, lines, signed": ["clang", LINES, "-O1", "-mbranch-protection=standard"],
    "gcc": ["gcc", "-O2"],
}
PID = 77


def build(work, how):
    root = arm_trace.need()
    compiler, *flags = COMPILERS[how]
    exe = os.path.join(work.temp("aarch64"), "ways")
    command = ["aarch64-linux-gnu-gcc"] if compiler == "gcc" else [tool("clang", 22), AARCH64, LLD]
    good(tool(command[0]), *command[1:], f"--sysroot={root}", "-static", "-no-pie", "-g", FRAMES,
         *flags, SOURCE, "-o", exe)
    return exe


class Once:
    """The program and its trace, which cases share."""

    def __init__(self):
        self.lock, self.found = threading.Lock(), None

    def get(self, work, how):
        with self.lock:
            if not self.found:
                exe = build(work, how)
                self.found = exe, arm_trace.trace(exe, ROUNDS, steps=STEPS)
            return self.found


TRACES = {how: Once() for how in COMPILERS}


def traced(work, how):
    """The program, its trace, and what names of a case's own files begin with."""
    return *TRACES[how].get(work, how), os.path.join(work.temp("recorded"), "ways")


def gen(work, exe, recording, *options):
    return good(work.pgokit, "gen", "-q", recording, "-b", exe, "--format", "text", "-o", "-",
                *options)


def totals(text):
    """Of functions, or of contexts."""
    found = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"(\[.*\]|[^ :\[]+):(\d+):\d+", line):
            found[match[1]] = int(match[2])
    return found


def chains_of_frames(work, how):
    """The contexts of the calls that were open, though a frame pointer tells the caller only where
    the code has a frame. How deep a recursion is may be told one too low."""
    exe, trace, out = traced(work, how)
    by_frames = totals(gen(work, exe, trace.write(out + ".frames", "frames"), *CONTEXTS))
    truth = totals(gen(work, exe, trace.write(out + ".calls", "calls"), *CONTEXTS))
    require(len(truth) > 15 and any(name.startswith("[main") for name in truth), str(truth))
    require(set(by_frames) == set(truth), f"{set(by_frames) ^ set(truth)}")
    wrong = {name: (by_frames[name], count) for name, count in truth.items()
             if by_frames[name] != count and "deeper" not in name}
    require(not wrong, str(wrong))
    require(sum(by_frames.values()) == sum(truth.values()), "other sums")


def as_llvm(work, how):
    exe, trace, out = traced(work, how)
    plain = trace.write(out + ".plain")
    text = gen(work, exe, plain)
    require(len(totals(text)) >= 6, text)
    equal(text, theirs(exe, plain))


def mapped(exe, event, pmus=((4, "cpu"),)):
    recording = Recording(event, pmus=pmus)
    recording.comm(PID, "ways", True)
    for start, size, offset in re.findall(r"\[0x(\w+)\(0x(\w+)\) @ 0x(\w+)",
                                          arm_trace.mappings(exe)):
        recording.mmap(PID, int(start, 16), int(size, 16), int(offset, 16), exe)
    return recording


def in_perf_data(work, how):
    """The same as of the text. Where the processor knows one end only, the other is 0."""
    exe, trace, out = traced(work, how)
    recording = mapped(exe, Event(IP | TID | TIME | CHAIN | BRANCH, "branches:u"))
    trace = copy.deepcopy(trace)
    for sample in trace.samples[100::50]:
        sample[1][-1] = (0, sample[1][-1][1])
    for ip, branches, frames, _ in trace.samples:
        recording.sample(ip=ip, branches=branches, chain=(CONTEXT_USER, ip, *frames))
    recording.write_file(out + ".data")
    text = trace.write(out + ".frames", "frames")
    for options in (CONTEXTS, ["--ignore-stack"]):
        equal(gen(work, exe, out + ".data", *options), gen(work, exe, text, *options))


def similar(out, one, other, least):
    for name, text in (("one", one), ("other", other)):
        with open(f"{out}.{name}", "w", encoding="utf-8") as file:
            file.write(text)
    text = good(tool("llvm-profdata", 22), "overlap", "--sample", out + ".one", out + ".other")
    share = float(next(line for line in text.splitlines()
                       if "Whole program profile similarity" in line).split(":")[1].strip(" %\t"))
    require(share > least, f"similar by {share} %\n{text}")
    return f"similar by {share} %"


def addresses_alone(work, how):
    exe, trace, out = traced(work, how)
    truth = gen(work, exe, trace.write(out + ".plain"))
    with open(out + ".addresses", "w", encoding="utf-8") as file:
        file.write(trace.text + "".join(f"{ip:16x}\n" for ip, *_ in trace.samples))
    return similar(out, gen(work, exe, out + ".addresses"), truth, 80)


def operation(pc, *packets):
    return spe_packet(0x65, PID, 4) + spe_packet(0xB0, pc) + b"".join(packets) + spe_packet(0x71, 5)


def as_spe(work, how):
    """A taken branch with the target of the one before it says which code ran in between."""
    exe, trace, out = traced(work, how)
    recording, packets = mapped(exe, Event(IP | TID | TIME, "arm_spe_0//", pmu=12),
                                ((12, "arm_spe_0"),)), b""
    for _, branches, *_ in trace.samples:
        (source, target), (_, before) = branches[:2]
        packets += operation(source, spe_packet(0x4A, 1, 1), spe_packet(0x52, 2, 2),
                             spe_packet(0xB1, target), spe_packet(0xB4, before))
    recording.spe_trace(packets)
    recording.write_file(out + ".spe")
    return similar(out, gen(work, exe, out + ".spe"), gen(work, exe, trace.write(out + ".plain")),
                   75)


def without_the_branch_before(work, what):
    """Processors without it tell of operations of all kinds, or of branches alone."""
    exe, trace, out = traced(work, "clang, lines")
    recording, packets = mapped(exe, Event(IP | TID | TIME, "arm_spe_0//", pmu=12),
                                ((12, "arm_spe_0"),)), b""
    for ip, branches, *_ in trace.samples:
        source, target = branches[0]
        packets += operation(source, spe_packet(0x4A, 1, 1), spe_packet(0x52, 2, 2),
                             spe_packet(0xB1, target)) if what == "branches" else b""
        packets += operation(ip, spe_packet(0x48, 0, 1)) if what != "branches" else b""
    recording.spe_trace(packets)
    recording.write_file(out + ".spe")
    text = gen(work, exe, out + ".spe")
    if what == "branches":
        line = next(line for line in text[text.index("walk:"):].splitlines() if " leaf:" in line)
        calls = dict(re.findall(r" (\w+):(\d+)", line))
        require(set(calls) == {"choose", "deeper", "early", "leaf"} and
                all(int(count) > 1 for count in calls.values()), line)
    return similar(out, text, gen(work, exe, trace.write(out + ".plain")), 60)


def as_on_x86_64(work):
    """The same source, recorded there by single steps, too."""
    exe, trace, out = traced(work, "clang, lines")
    here = gen(work, exe, trace.write(out + ".plain"))
    host = out + "-host"
    good(tool("clang", 22), "-no-pie", "-g", "-O2", LINES, FRAMES, SOURCE, "-o", host)
    good(work.recorder, "-e", "7", "-n", str(len(trace.samples)), host + ".trace", host, ROUNDS,
         timeout=300)
    there = gen(work, host, host + ".trace")
    require(set(totals(here)) >= {"choose", "deeper", "early", "leaf", "rarely", "walk"}, here)
    return similar(out, here, there, 60)


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    for how in COMPILERS:
        if "probes" not in how: # contexts need those of calls, of which there are none on AArch64
            tap.add(f"contexts by frame pointers, {how}", chains_of_frames, work, how)
        tap.add(f"branch stacks as llvm-profgen, {how}", as_llvm, work, how)
    tap.add("branch stacks in perf.data", in_perf_data, work, "clang, lines")
    for how in ("clang, lines", "gcc"):
        tap.add(f"addresses alone, {how}", addresses_alone, work, how)
        tap.add(f"SPE with the branch before, {how}", as_spe, work, how)
    for what in ("all operations", "branches"):
        tap.add(f"SPE of {what}", without_the_branch_before, work, what)
    tap.add("nearly as on x86-64", as_on_x86_64, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
