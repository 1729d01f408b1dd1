#!/usr/bin/env python3
"""Recordings are read as perf reads them: every sample, mapping and task of files that perf
records here, and of files with hardware data that the tests write.

usage: perf_files.py PERFDUMP FOLDER
"""

import os
import re
import subprocess
import tempfile

import perf_writer as writer
from peers import Failure, Skip, main, require, run, tool

SAMPLE = re.compile(
    r"(\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(IP, 0x([0-9a-f]+)\): (-?\d+)/(-?\d+): "
    r"(0x[0-9a-f]+|0) period: (\d+) addr: (0x[0-9a-f]+|0)"
)
CHAIN_ENTRY = re.compile(r"\.\.\.\.\. +\d+: ([0-9a-f]{16})$")
BRANCH_ENTRY = re.compile(r"\.\.\.\.\. +\d+: ([0-9a-f]{16}) -> ([0-9a-f]{16})")
DATA_SOURCE = re.compile(r" \. data_src: 0x([0-9a-f]+)")
MAPPING = re.compile(
    r"PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ "
    r"(0x[0-9a-f]+|0).*?\]: ([rwxsp-]+) (.*)"
)
OURS = re.compile(
    r"sample event (\d+) pid (-?\d+) tid (-?\d+) time (\d+) count 1 ip 0x([0-9a-f]+) "
    r"addr 0x([0-9a-f]+) period (\d+) mode (\d+) data_src 0x([0-9a-f]+)"
    r"(?: chain ([0-9a-f ]+?))?(?: branches ([0-9a-f/ ]+?))?(?: ibs .*)?$",
    re.M,
)
OUR_MAPPING = re.compile(
    r"mapping pid (-?\d+) at 0x([0-9a-f]+)\+0x([0-9a-f]+) offset 0x([0-9a-f]+) "
    r"prot (\d) time \d+ path (.*) build-id"
)


def hexes(text):
    return tuple(int(x, 16) for x in (text or "").split())


def pairs(text):
    return tuple(tuple(int(x, 16) for x in p.split("/")) for p in (text or "").split())


def ours(dump, path):
    """Samples and mappings as we read them."""
    done = run(dump, path)
    require(done.code == 0, f"not read: {done}")
    samples = [
        (
            int(m[4]),
            int(m[2]),
            int(m[3]),
            int(m[5], 16),
            int(m[6], 16),
            int(m[7]),
            hexes(m[10]),
            pairs(m[11]),
            int(m[9], 16),
        )
        for m in OURS.finditer(done.text)
    ]
    mappings = [
        (int(m[1]), int(m[2], 16), int(m[3], 16), int(m[4], 16), m[6])
        for m in OUR_MAPPING.finditer(done.text)
    ]
    return sorted(samples), sorted(mappings)


def perfs(path):
    """The same by `perf script -D`, which dumps all that it reads."""
    done = subprocess.run(
        [tool("perf"), "script", "-D", "-i", path], capture_output=True, check=False
    )
    require(done.returncode == 0, done.stderr.decode()[-500:])
    samples, mappings, chain, branches, section, source = [], [], [], [], None, [0]
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        if m := SAMPLE.search(line):
            chain, branches, section, source = [], [], None, [0]
            samples.append(
                (
                    int(m[1]),
                    int(m[3]),
                    int(m[4]),
                    int(m[5], 16),
                    int(m[7], 16),
                    int(m[6]),
                    chain,
                    branches,
                    source,
                )
            )
        elif m := MAPPING.search(line):
            pid = -2 if int(m[1]) == -1 else int(m[1])
            mappings.append((pid, int(m[2], 16), int(m[3], 16), int(m[4], 16), m[6]))
        elif m := DATA_SOURCE.match(line):
            source[0] = int(m[1], 16)
        elif "chain: nr:" in line or "branch stack: nr:" in line:
            section = chain if "chain" in line else branches
        elif section is chain and (m := CHAIN_ENTRY.match(line)):
            chain.append(int(m[1], 16))
        elif section is branches and (m := BRANCH_ENTRY.match(line)):
            branches.append((int(m[1], 16), int(m[2], 16)))
    return (
        sorted((*s[:6], tuple(s[6]), tuple(s[7]), s[8][0]) for s in samples),
        sorted(mappings),
    )


def first_difference(name, a, b):
    require(len(a) == len(b), f"{len(a)} {name}, perf has {len(b)}")
    for x, y in zip(a, b):
        require(x == y, f"{name}: {x}\nperf: {y}")


def compare_with_perf(dump, path):
    samples, mappings = ours(dump, path)
    require(samples, "no samples")
    perf_samples, perf_mappings = perfs(path)
    first_difference("samples", samples, perf_samples)
    first_difference("mappings", mappings, perf_mappings)


def record(folder, name, *args, workload="ls -R /usr/share >/dev/null"):
    path = os.path.join(folder, name)
    done = run(tool("perf"), "record", "-q", "-o", path, *args, "--", "sh", "-c", workload)
    if not os.path.exists(path):
        raise Skip(f"perf may not record here: {done.errors.strip()[-200:]}")
    return path


RECORDINGS = {
    "samples": ("-e", "cpu-clock", "-F", "5000"),
    "call chains": ("-e", "cpu-clock", "-F", "5000", "-g"),
    "data addresses": ("-e", "cpu-clock", "-F", "5000", "-d"),
    "two events": ("-e", "cpu-clock,task-clock", "-c", "200000", "-g", "-d"),
    "a group of events": ("-e", "{cpu-clock,page-faults}", "-c", "100000"),
    "compressed": ("-e", "cpu-clock", "-F", "5000", "-g", "-z"),
    "compressed much": ("-e", "cpu-clock,page-faults", "-c", "30000", "-g", "-d", "-z22"),
    "build ids of mappings": ("-e", "cpu-clock", "-F", "5000", "--buildid-mmap"),
    "all processors": ("-e", "cpu-clock", "-F", "2000", "-a", "-g"),
    "stack and registers": ("-e", "cpu-clock", "-F", "1000", "--call-graph", "dwarf,1024"),
    "weights and periods": ("-e", "cpu-clock", "-F", "3000", "-W", "--phys-data", "-P"),
    "without buildid table": ("-e", "cpu-clock", "-F", "5000", "-B", "-N"),
}


def recorded(work, dump, name):
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        compare_with_perf(dump, record(folder, "perf.data", *RECORDINGS[name]))


def piped(work, dump):
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        path = os.path.join(folder, "perf.pipe")
        with open(path, "wb") as out:
            done = run(
                tool("perf"),
                "record",
                "-q",
                "-o",
                "-",
                "-e",
                "cpu-clock",
                "-g",
                "--",
                "sh",
                "-c",
                "ls -R /usr/share >/dev/null",
                stdout=out,
            )
        if not os.path.getsize(path):
            raise Skip(f"perf may not record here: {done.errors.strip()[-200:]}")
        compare_with_perf(dump, path)


def truth(recording):
    return sorted(
        (
            s["time"],
            s["pid"],
            s["tid"],
            s["ip"],
            s["addr"],
            s["period"],
            s["chain"],
            s["branches"],
            s["data_src"],
        )
        for s in recording.samples
    )


def random_file(work, dump, seed, pipe):
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        path = os.path.join(folder, "perf.data")
        recording = writer.random_recording(seed)
        (recording.write_pipe if pipe else recording.write_file)(path)
        first_difference("samples", ours(dump, path)[0], truth(recording))
        compare_with_perf(dump, path)


def interrupted(work, dump):
    """perf was killed: its header does not know the size of the data."""
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        path = os.path.join(folder, "perf.data")
        recording = writer.random_recording(5)
        recording.write_file(path, finished=False)
        with open(path, "ab") as out:
            out.write(b"\x09\0\0\0\x02\0\x50\0 half a sample")
        first_difference("samples", ours(dump, path)[0], truth(recording))
        require("interrupted" in run(dump, path).text, "is not said to be interrupted")


def ibs(work, dump):
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        path = os.path.join(folder, "perf.data")
        r = writer.Recording(
            writer.Event(writer.IP | writer.TID | writer.TIME | writer.RAW, "ibs_op//", pmu=9),
            cpu="AuthenticAMD,25,1,1",
            pmus=((9, "ibs_op"), (8, "ibs_fetch")),
        )
        r.comm(77, "program")
        r.sample(ip=0x401000, raw=writer.ibs_raw(0x401003, 0x7F001234))
        r.sample(ip=0x401010, raw=writer.ibs_raw(0x401014, 0x99, valid=False, target=0x401100))
        r.write_file(path)
        text = run(dump, path).text
        require("ibs pc 0x401003 addr 0x7f001234 target 0x0 load" in text, text)
        require("ibs pc 0x401014 addr 0x0 target 0x401100 load" in text, text)
        require("pmu ibs_op" in text, text)
        compare_with_perf(dump, path)
        require(
            "IbsOpRip:\t0000000000401003" in run(tool("perf"), "report", "-D", "-i", path).text,
            "perf does not show the registers",
        )


def spe(work, dump):
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        path = os.path.join(folder, "perf.data")
        r = writer.Recording(
            writer.Event(writer.IP | writer.TID | writer.TIME, "arm_spe_0//", pmu=9),
            cpu="0x00000000410fd0c0",
            pmus=((9, "arm_spe_0"),),
        )
        r.comm(77, "program")
        r.sample(ip=0x1000)
        r.spe_trace(
            writer.spe_record(0x401000, addr=0x500010)
            + bytes(3)
            + writer.spe_record(0x401020, addr=0x00F0000000000008 | 0xAB << 56, store=1)
            + writer.spe_record(0x401040, target=0x401080)
            + writer.spe_record(0x401060, target=0x401080, events=1 << 6)
        )
        r.write_file(path)
        found = [line for line in run(dump, path).text.splitlines() if line.startswith("spe ")]
        require(
            found
            == [
                "spe pc 0x401000 addr 0x500010 target 0x0 load",
                "spe pc 0x401020 addr 0xfff0000000000008 target 0x0 store",
                "spe pc 0x401040 addr 0x0 target 0x401080 branch",
                "spe pc 0x401060 addr 0x0 target 0x0 branch",
            ],
            "\n".join(found),
        )
        says = run(tool("perf"), "report", "-D", "-i", path).text
        for packet in ("PC 0x401000", "VA 0x500010", "TGT 0x401080"):
            require(packet in says, f"perf does not show {packet}")


def script_text(work, dump):
    """Text of perf script says the same as the file it was made of."""
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        data, text = os.path.join(folder, "perf.data"), os.path.join(folder, "perf.txt")
        event = writer.Event(writer.IP | writer.TID | writer.TIME | writer.BRANCH, branch_type=9)
        r = writer.Recording(event)
        r.comm(77, "program")
        r.mmap(77, 0x400000, 0x100000, 0, "/opt/program")
        for i in range(50):
            r.sample(
                ip=0x400100 + i,
                branches=tuple((0x400200 + i + j, 0x400300 + j) for j in range(1 + i % 32)),
            )
        r.write_file(data)
        with open(text, "wb") as out:
            run(
                tool("perf"),
                "script",
                "-F",
                "ip,brstack",
                "--show-mmap-event",
                "-i",
                data,
                stdout=out,
            )
        samples, mappings = ours(dump, text)
        first_difference("samples", [s[7] for s in samples], [s["branches"] for s in r.samples])
        first_difference("mappings", mappings, ours(dump, data)[1])


def dump_text(work, dump):
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        data, text = os.path.join(folder, "perf.data"), os.path.join(folder, "dump.txt")
        recording = writer.Recording(
            writer.Event(writer.IP | writer.TID | writer.TIME | writer.ADDR | writer.PERIOD)
        )
        recording.comm(77, "program")
        recording.mmap(77, 0x400000, 0x100000, 0, "/opt/program")
        for i in range(1, 50):
            recording.sample(ip=0x400100 + i, addr=0x500000 + 8 * i, period=i)
        recording.write_file(data)
        with open(text, "wb") as out:
            run(tool("perf"), "report", "-D", "-i", data, stdout=out)
        samples, mappings = ours(dump, text)
        first_difference(
            "samples", sorted(s[1:6] for s in samples), sorted(s[1:6] for s in truth(recording))
        )
        first_difference("mappings", mappings, ours(dump, data)[1])


def cut(work, dump):
    """A file that ends anywhere is read to there with a message, or refused; never a crash."""
    with tempfile.TemporaryDirectory(dir=work.folder) as folder:
        whole, path = os.path.join(folder, "whole"), os.path.join(folder, "cut")
        r = writer.Recording(writer.Event(writer.IP | writer.TID | writer.TIME | writer.CHAIN))
        r.comm(77, "program")
        r.mmap(77, 0x400000, 0x1000, 0, "/opt/program")
        r.sample(ip=0x400100, chain=(writer.CONTEXT_USER, 0x400100))
        r.write_file(whole)
        with open(whole, "rb") as f:
            data = f.read()
        for size in range(len(data)):
            with open(path, "wb") as out:
                out.write(data[:size])
            done = run(dump, path)
            if done.code != 2 or "offset" not in done.errors:
                raise Failure(f"cut at {size}: {done}")


def add_cases(work, tap):
    dump = work.pgokit
    for name in RECORDINGS:
        tap.add(f"recorded: {name}", recorded, work, dump, name)
    tap.add("recorded: pipe", piped, work, dump)
    for seed in range(12):
        tap.add(f"written: random {seed}", random_file, work, dump, seed, False)
    for seed in range(12, 16):
        tap.add(f"written: random pipe {seed}", random_file, work, dump, seed, True)
    tap.add("written: interrupted", interrupted, work, dump)
    tap.add("written: AMD IBS", ibs, work, dump)
    tap.add("written: ARM SPE", spe, work, dump)
    tap.add("text of perf script", script_text, work, dump)
    tap.add("text of perf report -D", dump_text, work, dump)
    tap.add("cut at every byte", cut, work, dump)


if __name__ == "__main__":
    raise SystemExit(main(add_cases))
