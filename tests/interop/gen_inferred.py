#!/usr/bin/env python3
"""Profiles without branch stacks: addresses of instructions alone give nearly the counts that the
branches of the same runs give, in which flow balances; and clang takes them.
"""

import json
import os
import re
import sys

from gen_profiles import without_chains
from peers import PROGRAMS, Skip, good, main, read, require, run, tool, write
from stepped import FRAMES, LINES, PROBES, WALKS, built, recorded

FLAGS = ("-O2", "-g", "-static", FRAMES)
VIRTUALS = ("-O2", "-g", LINES, FRAMES)
ROUNDS = {"every": 101, "samples": 6000, "rounds": 3000}


def instructions_alone(trace):
    """What `perf script -F ip --show-mmap-events` prints of the same samples."""
    out, newest = trace + ".ips", None
    with open(trace, encoding="utf-8") as f, open(out, "w", encoding="utf-8") as g:
        for line in f:
            if "PERF_RECORD" in line:
                g.write(line)
            elif line.startswith("\t") and not newest:
                newest = line.strip()
            elif "/" in line:
                g.write(f"{newest:>16}\n")
                newest = None
    return out


def gen(work, exe, recording, *options):
    out = recording + ".afdo"
    report = good(work.pgokit, "gen", recording, "-b", exe, "-o", out, "--json", *options)
    return out, json.loads(report)


def compiled(work, kind, profile):
    """The program by a profile."""
    exe = os.path.join(work.temp("compiled"), "walks")
    good(tool("clang++", 22), *FLAGS, kind, profile,
         *(os.path.join(PROGRAMS, name) for name in WALKS), "-o", exe)
    return exe


def near_the_truth(work, kind, mode):
    exe, trace = recorded(work, 22, *FLAGS, kind, every=53, samples=6000)
    truth, _ = gen(work, exe, without_chains(trace), "--mode", mode)
    inferred, report = gen(work, exe, instructions_alone(trace), "--mode", mode)
    require(report["inferred"] > 3000 and not report["ranges_bad"], str(report))
    text = good(tool("llvm-profdata", 22), "overlap", "--sample", truth, inferred)
    share = float(next(line for line in text.splitlines()
                       if "Whole program profile similarity" in line).split(":")[1].strip(" %\t"))
    # 73 to 76 % mostly; a few samples more or less can decide which of two ways all the flow takes.
    require(share > 50, f"similar by {share} % only\n{text}")
    good(compiled(work, kind, f"-fprofile-sample-use={inferred}"), "1000")


def balances(work):
    """A function's line counts of one straight block are equal, and a branch's two ways add up."""
    folder = work.temp("balance")
    source = os.path.join(PROGRAMS, "even_blocks.c")
    exe = os.path.join(folder, "ways")
    good(tool("clang", 22), "-O1", "-g", LINES, FRAMES, "-static", source, "-o", exe)
    trace = exe + ".trace"
    # The start of a static program alone can take more than 56,000 branches.
    good(work.recorder, "-g", "-e", "7", "-n", "40000", trace, exe, timeout=300)
    ips = instructions_alone(trace)
    text = good(work.pgokit, "gen", "-q", ips, "-b", exe, "--format", "text", "-o", "-")
    lines = {}
    for line in text[text.index("ways:"):].splitlines()[1:]:
        if not line.startswith(" "):
            break
        where, count = line.split()[:2]
        lines[where.rstrip(":")] = int(count)
    often, rarely = lines["3"], lines["5"]
    require(often + rarely == lines["1"] == lines["6"], text)
    require(5 * rarely < often < 9 * rarely, text)


def recorded_here(work):
    """What `perf record` can do on any machine, by its clock."""
    exe = built(work, 22, *FLAGS, LINES)
    data = exe + ".data"
    run(tool("perf"), "record", "-q", "-e", "cpu-clock:u", "-F", "10000", "-o", data, "--", exe,
        "3000000")
    if not os.path.exists(data):
        raise Skip("perf may not record here")
    profile, report = gen(work, exe, data)
    if report["inferred"] < 100:
        raise Skip(f"perf recorded too few samples: {report['samples']}")
    require(report["functions"] > 2, str(report))
    compiled(work, LINES, f"-fprofile-sample-use={profile}")


def huge_counts(work):
    """Aggregated samples with counts near 2^64 do no harm."""
    exe, trace = recorded(work, 22, *FLAGS, LINES, every=53, samples=6000)
    lines = []
    with open(instructions_alone(trace), encoding="utf-8") as f:
        for line in f:
            lines += [line] if "PERF" in line else [f"{2**64 - 1}\n", line]
    with open(trace + ".huge", "w", encoding="utf-8") as f:
        f.writelines(lines)
    text = good(work.pgokit, "gen", "-q", trace + ".huge", "-b", exe, "--format", "text", "-o", "-")
    counts = [int(line.split()[1]) for line in text.splitlines() if line.startswith(" ")
              and line.split()[1].isdigit()]
    require(counts and max(counts) < 1 << 60, text)


def chains_alone(trace):
    """What `perf script -F ip --show-mmap-events` prints of samples with call chains."""
    out = trace + ".chains"
    with open(trace, encoding="utf-8") as f, open(out, "w", encoding="utf-8") as g:
        g.writelines(line if "PERF_RECORD" in line or line.startswith("\t") else "\n"
                     for line in f)
    return out


def whom_indirect_calls_enter(work, kind, mode):
    """Call chains tell it, without branches; a callee that takes long is not called more often."""
    folder = work.temp("targets")
    source, exe = os.path.join(PROGRAMS, "often_rarely.cpp"), os.path.join(folder, "shapes")
    good(tool("clang++", 22), "-O1", "-g", kind, FRAMES, "-mno-omit-leaf-frame-pointer",
         "-fno-optimize-sibling-calls", source, "-o", exe)
    trace = exe + ".trace"
    good(work.recorder, "-g", "-e", "7", "-n", "6000", trace, exe, timeout=300)
    chains = chains_alone(trace)
    text = good(work.pgokit, "gen", "-q", chains, "-b", exe, "--mode", mode, "--format", "text",
                "-o", "-")
    line = next(x for x in text[text.index("_Z3askPK5Shapei:"):].splitlines() if "area" in x)
    found = dict(word.rsplit(":", 1) for word in line.split()[2:])
    often, rarely = int(found["_ZNK5Often4areaEi"]), int(found["_ZNK6Rarely4areaEi"])
    require(2 * rarely < often < 4 * rarely, text)
    count = int(line.split()[1])
    require(abs(count - often - rarely) <= count / 100, text)
    text = good(work.pgokit, "gen", "-q", chains, "-b", exe, "--mode", mode, "--format", "text",
                "--ignore-stack", "-o", "-")
    line = next(x for x in text[text.index("_Z3askPK5Shapei:"):].splitlines() if "area" in x)
    found = dict(word.rsplit(":", 1) for word in line.split()[2:])
    often, rarely = int(found["_ZNK5Often4areaEi"]), int(found["_ZNK6Rarely4areaEi"])
    require(2 * rarely < often < 4 * rarely, text)


def pointers_to_functions_need_call_chains(work):
    """No table tells which functions a pointer may hold."""
    folder = work.temp("pointers")
    source, exe = os.path.join(PROGRAMS, "called_pointers.c"), os.path.join(folder, "pointers")
    good(tool("clang", 22), "-O1", "-g", LINES, FRAMES, source, "-o", exe)
    trace = exe + ".trace"
    good(work.recorder, "-g", "-e", "7", "-n", "3000", trace, exe, timeout=300)
    text = good(work.pgokit, "gen", "-q", instructions_alone(trace), "-b", exe, "--format", "text",
                "-o", "-")
    require(not re.search(r" one:\d", text) and "one:" in text, text)


def targets_of(path):
    """{(function, line, target): count}, copies of a function put together."""
    found, function = {}, ""
    text = good(tool("llvm-profdata", 22), "merge", "--sample", "--text", path, "-o", "-")
    for line in text.splitlines():
        if not line.startswith(" "):
            function = line.split(":")[0]
            continue
        words = line.split()
        for word in words[2:]:
            target, count = word.rsplit(":", 1)
            key = function, len(line) - len(line.lstrip()), words[0], target
            found[key] = found.get(key, 0) + int(count)
    return found


def share_in_common(a, b):
    return sum(min(n / sum(a.values()), b.get(k, 0) / sum(b.values())) for k, n in a.items())


def virtual_calls_without_call_chains(work, *flags):
    """Tables of virtual functions tell whom a call can enter, entries how often each was."""
    exe, trace = recorded(work, 22, *VIRTUALS, *flags, sources=("virtuals.cpp",), **ROUNDS)
    truth, _ = gen(work, exe, without_chains(trace))
    alone, report = gen(work, exe, instructions_alone(trace))
    chains, _ = gen(work, exe, chains_alone(trace))
    exact = targets_of(truth)
    require(len(exact) > 8, str(exact))
    for path, least in ((alone, 0.15), (chains, 0.7)):
        found = targets_of(path)
        share = share_in_common(exact, found) if found else 0
        require(share > least, f"{share:.2f}\n{exact}\n{found}")
        wrong = {k: n for k, n in found.items() if k not in exact}
        require(sum(wrong.values()) < 0.1 * sum(found.values()), f"{wrong}\n{exact}")
    require(0 < report["settled"] <= report["settling"], str(report))


def how_much_is_settled(work):
    """Few samples settle little, and the report says how many more would."""
    exe, trace = recorded(work, 22, *VIRTUALS, sources=("virtuals.cpp",), **ROUNDS)
    ips = instructions_alone(trace)
    lines = read(ips).splitlines(keepends=True)
    maps = [line for line in lines if b"PERF" in line]
    samples = [line for line in lines if b"PERF" not in line]
    few = write(ips + ".few", b"".join(maps + samples[::20]))
    _, much = gen(work, exe, ips)
    _, little = gen(work, exe, few)
    require(much["settled"] > little["settled"] and little["record_more"] > 5 * much["record_more"],
            f"{much}\n{little}")
    said = run(work.pgokit, "gen", few, "-b", exe, "-o", few + ".afdo").errors
    more = little["record_more"]
    times = f"{more:.1f}" if more < 10 else int(more + 0.5)
    require(f"record {times} times as long" in said, said)


def contexts_need_call_chains(work):
    exe, trace = recorded(work, 22, *FLAGS, LINES, every=53, samples=6000)
    result = run(work.pgokit, "gen", instructions_alone(trace), "-b", exe, "--mode", "cs", "-o",
                 os.devnull)
    require(result.code == 2 and "call chains" in result.errors, str(result))


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    tap.add("lines are near the truth", near_the_truth, work, LINES, "autofdo")
    tap.add("probes are near the truth", near_the_truth, work, PROBES, "probe")
    tap.add("whom indirect calls enter, lines", whom_indirect_calls_enter, work, LINES, "autofdo")
    tap.add("whom indirect calls enter, probes", whom_indirect_calls_enter, work, PROBES, "probe")
    tap.add("virtual calls without call chains", virtual_calls_without_call_chains, work)
    tap.add("virtual calls of a program at fixed addresses", virtual_calls_without_call_chains,
            work, "-no-pie")
    for fn in (pointers_to_functions_need_call_chains, how_much_is_settled, balances, recorded_here,
               huge_counts, contexts_need_call_chains):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
