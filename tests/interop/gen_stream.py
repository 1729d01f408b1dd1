#!/usr/bin/env python3
"""pgokit gen from the pipe of perf record: the same profile as of a file, in memory that does not
grow with the samples.
"""

import os
import re
import struct
import subprocess
import sys

import perf_writer
from peers import Skip, main, read, require, run, tool, write

SOURCE = """
__attribute__((noinline)) int warm(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += i * i ^ n;
  return s;
}
__attribute__((noinline)) int cold(int n) {
  int s = 1;
  for (int i = 1; i < n; i++) s = s * i % 1000003;
  return s;
}
int main(void) {
  volatile int x = 0;
  for (int i = 0; i < 200000; i++) { x += warm(1000); if (i % 3 == 0) x += cold(1000); }
  return 0;
}
"""
FINISHED_ROUND = struct.pack("<IHH", 68, 0, 8)
BASE, PER_ROUND = 0x400000, 20000


class Program:
    def __init__(self, work):
        self.pgokit, self.folder = work.pgokit, work.temp("stream")
        write(self.at("loop.c"), SOURCE.encode())
        done = run(tool("gcc"), "-O2", "-g", "-no-pie", "loop.c", "-o", "loop", cwd=self.folder)
        require(done.code == 0, str(done))
        listing = run(tool("objdump"), "-d", "loop", cwd=self.folder).out.decode()
        self.code = {name: [int(at, 16) for at in re.findall(r"^ +([0-9a-f]+):", body, re.M)]
                     for name, body in re.findall(r"<(\w+)>:\n((?: .*\n)+)", listing)}

    def at(self, name):
        return os.path.join(self.folder, name)

    def recording(self):
        kind = perf_writer.IP | perf_writer.TID | perf_writer.TIME | perf_writer.PERIOD
        return perf_writer.Recording(perf_writer.Event(kind, name="cpu-clock:u", pmu=1))

    def mapped(self, recording, pid=77):
        recording.comm(pid, "loop", by_exec=True)
        recording.mmap(pid, BASE, 0x10000, 0, self.at("loop"))

    def round(self, recording, n):
        """Samples of both functions, three of four in the first one's instructions."""
        for i in range(n):
            places = self.code["cold" if i % 4 == 3 else "warm"]
            recording.sample(ip=places[i * 7 % len(places)], chain=())

    def pipe(self, recording, blocks):
        """The bytes of a pipe: what the recording has in each of `blocks`, ended by a round."""
        recording.write_pipe(self.at("head"))
        whole = read(self.at("head"))
        return whole[:len(whole) - sum(map(len, recording.records))] + b"".join(blocks)

    def gen(self, source, out, data=None):
        """Of a file, or of standard input with `data`, an iterable of bytes: the exit code, what
        was said, and the peak of resident memory in KiB."""
        with open(self.at(out + ".err"), "w+b") as err:
            child = subprocess.Popen(
                [self.pgokit, "gen", "-b", "loop", source, "--to", "text", "-o", out,
                 "--no-next"], cwd=self.folder, stderr=err, stdout=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL if data is None else subprocess.PIPE)
            try:
                for piece in data or ():
                    child.stdin.write(piece)
            except BrokenPipeError:
                pass
            finally:
                if child.stdin:
                    child.stdin.close()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            return child.returncode, err.read().decode(), usage.ru_maxrss


def same_as_a_file(program, data, what):
    write(program.at("whole"), data)
    code, said, _ = program.gen("whole", "of-file")
    require(code == 0, f"{what}: {said}")
    for step in (len(data), 4096, 977):
        pieces = (data[i:i + step] for i in range(0, len(data), step))
        code, said, _ = program.gen("-", "of-pipe", pieces)
        require(code == 0, f"{what}, {step} bytes at a time: {said}")
        require(read(program.at("of-file")) == read(program.at("of-pipe")),
                f"{what}, {step} bytes at a time: another profile")
    require(b"warm" in read(program.at("of-pipe")), f"{what}: no samples of the program")


def synthetic(program):
    """Rounds, none of them, and mappings that come a round after the samples."""
    first, second = program.recording(), program.recording()
    program.mapped(first)
    program.round(first, 300)
    program.round(second, 200)
    a, b = b"".join(first.records), b"".join(second.records)
    same_as_a_file(program, program.pipe(first, [a, FINISHED_ROUND, b, FINISHED_ROUND]), "rounds")
    same_as_a_file(program, program.pipe(first, [a, b]), "no rounds")
    late = program.recording()
    program.round(late, 50)
    samples = b"".join(late.records)
    late.records = []
    program.mapped(late)
    same_as_a_file(program, program.pipe(late, [samples, FINISHED_ROUND, *late.records,
                                                FINISHED_ROUND, b, FINISHED_ROUND]),
                   "a mapping that comes a round late")


def memory_stays(program):
    """Fifty times the samples take no more memory."""
    peaks = []
    recording = program.recording()
    program.mapped(recording)
    head = b"".join(recording.records)
    recording.records = []
    program.round(recording, PER_ROUND)
    block = b"".join(recording.records) + FINISHED_ROUND
    start = program.pipe(recording, [head])
    for rounds in (4, 200):
        code, said, peak = program.gen("-", "flat", [start, *[block] * rounds])
        require(code == 0, said)
        require(f"{rounds * PER_ROUND:,}" in said, f"not all samples: {said}")
        peaks.append(peak)
    grown = peaks[1] - peaks[0]
    require(grown < 2048, f"{peaks[0]} KiB at first, {peaks[1]} KiB for {200 // 4} times the "
                          f"samples ({200 * len(block) >> 20} MiB)")
    return (f"{peaks[0]} KiB, and {peaks[1]} KiB for 4,000,000 samples "
            f"({200 * len(block) >> 20} MiB)")


def cut_or_damaged(program):
    recording = program.recording()
    program.mapped(recording)
    program.round(recording, 20)
    data = program.pipe(recording, [*recording.records, FINISHED_ROUND])
    for end in range(17, len(data) - 8, 61):
        code, said, _ = program.gen("-", "cut", [data[:end]])
        whole = any(sum(map(len, recording.records[:i])) == end - len(data) + 8
                    + sum(map(len, recording.records)) for i in range(len(recording.records)))
        require(code in (2, 3) or whole, f"cut at {end}: {code}: {said}")
        require(code in (0, 1) or not os.path.exists(program.at("cut")), f"cut at {end}: output")
        require("offset" in said or code in (0, 1, 2), said)
        if os.path.exists(program.at("cut")):
            os.remove(program.at("cut"))
    bad = data[:200] + struct.pack("<IHH", 9, 0, 3) + data[200:]
    code, said, _ = program.gen("-", "cut", [bad])
    require(code in (2, 3), f"damaged: {said}")


def live(program):
    """As perf writes it, with a program that runs meanwhile."""
    perf = tool("perf")
    with open(program.at("perf.err"), "wb") as err, open(program.at("seen"), "wb") as seen:
        record = subprocess.Popen([perf, "record", "-q", "-e", "cpu-clock", "-F", "2000", "-o", "-",
                                   "--", program.at("loop")], cwd=program.folder,
                                  stdout=subprocess.PIPE, stderr=err)

        def pieces():
            while piece := record.stdout.read(65536):
                seen.write(piece)
                yield piece
        code, said, _ = program.gen("-", "of-pipe", pieces())
        record.stdout.close()
        record.wait()
    if not os.path.getsize(program.at("seen")):
        raise Skip(f"perf may not record here: {read(program.at('perf.err'))[-200:]!r}")
    require(code == 0, said)
    code, said, _ = program.gen("seen", "of-file")
    require(code == 0, said)
    require(read(program.at("of-file")) == read(program.at("of-pipe")), "another profile")


CASES = [("a pipe gives the profile that a file does", synthetic),
         ("memory does not grow with samples", memory_stays),
         ("pipes that are cut or damaged are refused", cut_or_damaged),
         ("a program that runs meanwhile", live)]


def add_cases(work, tap):
    for name, case in CASES:
        tap.add(name, lambda case=case: case(Program(work)))


if __name__ == "__main__":
    sys.exit(main(add_cases))
