#!/usr/bin/env python3
"""What `pgokit gen` says to recordings and programs that do not fit, and how it keeps processes
apart.
"""

import json
import os
import sys

from gen_types import mappings
from peers import good, main, read, require, run, tool, write
from perf_writer import BRANCH, IP, TID, TIME, Event, Recording
from stepped import FRAMES, LINES, recorded


def build(work, *flags):
    return recorded(work, 22, "-O2", *flags, FRAMES, "-fPIE", "-pie", "-Wl,--build-id",
                    sources=("types.cpp",), every=53, samples=300, chains=False)


def refused(work, words, *args):
    """It fails with a sentence that holds all words, and leaves no file."""
    out = os.path.join(work.temp("out"), "profile")
    result = run(work.pgokit, "gen", *args, "-o", out)
    require(result.code == 2, str(result))
    for word in words:
        require(word in result.errors, f"'{word}' is not said\n{result}")
    require(not os.path.exists(out), "a file was left")


def empty_input(work):
    exe, trace = build(work, "-g", LINES)
    refused(work, ["empty"], write(trace + ".empty", b""), "-b", exe)


def no_branches(work):
    exe, trace = build(work, "-g", LINES)
    text = b"\n".join(line for line in read(trace).split(b"\n") if b"PERF_RECORD" in line)
    refused(work, ["branch", "perf record -b"], write(trace + ".maps", text + b"\n"), "-b", exe)


def no_debug_information(work):
    exe, trace = build(work, "-g0")
    refused(work, ["debug", "-g"], trace, "-b", exe)


def stripped(work):
    exe, trace = build(work, "-g", LINES)
    good(tool("strip"), "-s", exe)
    refused(work, ["symbol"], trace, "-b", exe)


def no_probes(work):
    exe, trace = build(work, "-g", LINES)
    refused(work, ["probe"], trace, "-b", exe, "--mode", "probe")


def branches_of(exe, trace):
    """(from, to) pairs of a text, as link-time addresses."""
    base = None
    for line in read(trace).decode().splitlines():
        if "MMAP2" in line and line.endswith(exe):
            base = int(line.split("[0x")[1].split("(")[0], 16) - 0x1000
        elif "/" in line and "MMAP2" not in line and base is not None:
            entries = [w.split("/")[:2] for w in line.split() if "/" in w]
            yield [(int(f, 16) - base, int(t, 16) - base) for f, t in entries]


def as_perf_data(exe, trace, path, bases):
    r = Recording(Event(IP | TID | TIME | BRANCH, name="branches:u"))
    for pid, base in bases.items():
        for start, size, offset, executable in mappings(exe):
            r.mmap(pid, start - 0x555500000000 + base, size, offset, exe,
                   prot=5 if executable else 1)
    pids = list(bases)
    for number, pairs in enumerate(branches_of(exe, trace)):
        pid = pids[number % len(pids)]
        base = bases[pid]
        inside = [(f + base, t + base) for f, t in pairs if 0 <= f < 1 << 20 and 0 <= t < 1 << 20]
        if inside:
            r.sample(pid=pid, tid=pid, ip=inside[0][1], branches=inside)
    r.write_file(path)
    return path


def profile(work, exe, *inputs, **kw):
    return good(work.pgokit, "gen", "-q", *inputs, "-b", exe, "--format", "text", "-o", "-",
                *kw.get("options", ()))


def two_processes(work):
    """Two processes of one program at different addresses count as one at one address."""
    exe, trace = build(work, "-g", LINES)
    one = as_perf_data(exe, trace, exe + ".one", {7: 0x555500000000})
    two = as_perf_data(exe, trace, exe + ".two", {7: 0x555500000000, 8: 0x777700000000})
    alone, both = profile(work, exe, one), profile(work, exe, two)
    require(alone == both and "_Z11calls_firstP4Basei" in alone, f"{alone}\n---\n{both}")
    first = profile(work, exe, two, options=["--pid", "7"])
    require(first != both and first.count("\n") > 5, "--pid leaves nothing out")


def other_build_id(work):
    """Both build ids are named."""
    exe, trace = build(work, "-g", LINES)
    other, _ = build(work, "-g", LINES, "-DOTHER=1", "-O1")
    text = good(tool("readelf"), "-n", exe)
    ours = text.split("Build ID: ")[1].split()[0]
    theirs = good(tool("readelf"), "-n", other).split("Build ID: ")[1].split()[0]
    lines = [line.replace(b" 00:00 0 0]", b" <" + ours.encode() + b">]") if line.endswith(b"/types")
             else line for line in read(trace).split(b"\n")]
    of_exe = write(trace + ".ids", b"\n".join(lines))
    refused(work, [ours, theirs], of_exe, "-b", other)
    result = run(work.pgokit, "gen", "--json", "--skip-other-builds", of_exe, trace, "-b", other,
                 "-o", exe + ".afdo")
    require(result.code != 2 and '"other_builds": 1' in result.text, str(result))
    refused(work, ["recordings of other builds left out"], of_exe, "--skip-other-builds", "-b",
            other)


def address_counts(work):
    """What is wrong with a file of counters is named with its line; nothing is half read."""
    exe, trace = build(work, "-g", LINES)
    raw = good(work.pgokit, "gen", "-q", trace, "-b", exe, "--raw", "-o", "-").encode()
    lines = raw.split(b"\n")
    for keep in range(1, len(lines) - 1):
        whole = write(exe + ".cut", b"\n".join(lines[:keep]) + b"\n")
        refused(work, [f"line {keep + 1}", "end of the file"] if keep > 1 else ["found"],
                whole, "-b", exe)
    ranges = int(lines[0])
    for number, text in ((2, b"10-zz:1"), (2, b"-10-20:5"), (2, b"10-20:-5"), (1, b"-3"),
                         (2, lines[1] + b"0" * 20), (ranges + 2, b"x"), (ranges + 3, b"1-2:3"),
                         (2, b"ffffffffffff-ffffffffffffff:999999999")):
        bad = lines[:number - 1] + [text] + lines[number:]
        refused(work, ["found"] if number < 3 else [f"line {number}", text.decode()],
                write(exe + ".bad", b"\n".join(bad)), "-b", exe)
    refused(work, ["more lines", f"line {len(lines)}"],
            write(exe + ".more", raw + b"1-2:3\n"), "-b", exe)
    other, _ = build(work, "-g", LINES, "-O0", "-DPAD=1")
    refused(work, ["another program", "-b"], write(exe + ".raw", raw), "-b", other)
    refused(work, ["FUNCTION:LINE", "line 1"],
            write(exe + ".names", b"[main @ foo]\n  0\n  0\n"), "-b", exe)


def broken_lines(work):
    """Lines that cannot be read are counted, with the first as an example; the rest counts."""
    exe, trace = build(work, "-g", LINES)
    text = read(trace)
    half = write(trace + ".half", text[:len(text) * 2 // 3])
    good(work.pgokit, "gen", "-q", half, "-b", exe, "-o", os.devnull)
    broken = write(trace + ".broken", b"what is this\n" + text + b" 0x12/0xzz/P 0x1\n -0x12/0x7\n")
    result = run(work.pgokit, "gen", broken, "-b", exe, "-o", os.devnull)
    require(result.code == 0, str(result))
    for word in ("unreadable lines", "line 1", "what is this"):
        require(word in result.errors, f"'{word}' is not said\n{result}")
    refused(work, ["no event of perf"], write(trace + ".none", b"what is this\n" * 9), "-b", exe)


def backward_ranges(work):
    """Code cannot have run backwards, nor through a return: counted as impossible."""
    exe, trace = build(work, "-g", LINES)
    maps = [line for line in read(trace).split(b"\n") if b"PERF_RECORD" in line]
    samples = [line for line in read(trace).split(b"\n") if b"/0x" in line]
    swapped = []
    for line in samples:
        entries = [w for w in line.split() if b"/" in w]
        swapped.append(b" 0 " + b" ".join(reversed(entries)))
    path = write(trace + ".backward", b"\n".join(maps + swapped) + b"\n")
    result = run(work.pgokit, "gen", path, "-b", exe, "-o", os.devnull, "--json")
    require(result.code == 1, str(result))
    report = json.loads(result.text)
    require(report["ranges_bad"] > report["ranges"] / 2, str(report))


def cut_off(work):
    """A file that ends anywhere is refused or read up to there, never worse."""
    exe, trace = build(work, "-g", LINES)
    data = read(as_perf_data(exe, trace, exe + ".data", {7: 0x555500000000}))
    for size in range(0, len(data), max(1, len(data) // 60)):
        result = run(work.pgokit, "gen", "-q", write(exe + ".cut", data[:size]), "-b", exe, "-o",
                     os.devnull)
        require(result.code in (0, 1, 2), str(result))
    garbage = bytearray(data)
    for at in range(104, len(garbage), 97):
        garbage[at] ^= 0x55
    result = run(work.pgokit, "gen", "-q", write(exe + ".bad", bytes(garbage)), "-b", exe, "-o",
                 os.devnull)
    require(result.code in (0, 1, 2), str(result))
    require(len(data) > 1000, "nothing was cut")


def add_cases(work, tap):
    for fn in (empty_input, no_branches, no_debug_information, stripped, no_probes, two_processes,
               other_build_id, address_counts, broken_lines,
               backward_ranges, cut_off):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
