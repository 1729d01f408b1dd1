"""Reads raw heap profiles of version 3 to 5 as far as the tests of the runtime need it."""

import functools
import glob
import operator
import os
import struct
import subprocess

MAGIC = 0xff6d70726f667281
NOTES = 0x45544f4e544b4750
INTERRUPTED, LIBRARY_ACCESSES, THREADS, MERGED, UNREACHABLE = 1, 2, 4, 8, 16
CUT_STACK = 1 << 31
FACTS, ALLOCATED, LIVES, SERIES, BREAKDOWNS, PROCESS, PATHS = range(1, 8)
FACT_NAMES = ("flags dropped stack_bytes own_ns own_bytes start_time peak_ms peak_bytes "
              "peak_objects epoch made_bytes made_objects sample_bytes").split()
SHARES = 24


class Notes:
    """What pgokit's runtime adds to the dump at `at`, whose MIBs are at `mibs` from there on:
    docs/formats/interrupted-heap.md. Without notes there are no parts."""

    def __init__(self, data, at, mibs):
        self.data, self.at, self.parts = data, at, {}
        parts, version, magic = struct.unpack_from("<3Q", data, at + mibs - 24)
        if magic != NOTES:
            return
        if version != 1:
            raise ValueError(f"notes of version {version}")
        for i in range(parts):
            tag, _, version, *place = struct.unpack_from(
                "<2HI3Q", data, at + mibs - 24 - 32 * (parts - i))
            self.parts[tag] = place
        self.facts = dict(zip(FACT_NAMES, next(self.records(FACTS, "<13Q"))))

    def __bool__(self):
        return bool(self.parts)

    def off(self, tag):
        return self.parts[tag][0] if tag in self.parts else 0

    def bytes_of(self, tag):
        off, size, records = self.parts.get(tag, (0, 0, 0))
        return self.data[self.at + off:self.at + off + size * records]

    def records(self, tag, form):
        off, size, records = self.parts.get(tag, (0, 0, 0))
        for i in range(records):
            yield struct.unpack_from(form, self.data, self.at + off + size * i)


class Profile:
    """Contexts of all dumps of a file: (program counters) -> [count, size, accesses, min, max]."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.histograms = {}
        self.contexts, self.dumps, self.interrupted, self.segments = {}, 0, False, []
        self.pcs, self.allocated, self.closed, self.dropped = {}, {}, {}, 0
        self.over_time, self.epoch = [], 0
        self.touched, self.merged = {}, False
        at, self.mibs = 0, []
        while at < len(data):
            at = self.read_dump(data, at)
        for stack, values, elements in self.mibs:
            self.add_mib(self.pcs[stack], values, elements)
        if at != len(data):
            raise ValueError(f"{path}: dumps end at {at}, the file at {len(data)}")

    def read_dump(self, data, at):
        magic, version, total, segments, mibs, stacks = struct.unpack_from("<6Q", data, at)
        if magic != MAGIC or not total or at + total > len(data):
            raise ValueError(f"no sound dump at {at}: {magic:#x}, {total} bytes")
        self.dumps += 1
        count, = struct.unpack_from("<Q", data, at + segments)
        self.segments = [struct.unpack_from("<3Q", data, at + segments + 8 + 64 * i)
                         for i in range(count)]
        notes = Notes(data, at, mibs)
        sheet = notes.off(ALLOCATED)
        if notes:
            self.read_notes(notes)
        pcs, where = self.pcs, at + stacks + 8  # a stack is where its thread used it first
        for _ in range(struct.unpack_from("<Q", data, at + stacks)[0]):
            stack, n = struct.unpack_from("<2Q", data, where)
            pcs[stack] = struct.unpack_from(f"<{n}Q", data, where + 16)
            where += 16 + 8 * n
        where = at + mibs + 8
        size = {3: 132, 4: 144, 5: 144}[version]
        for _ in range(struct.unpack_from("<Q", data, at + mibs)[0]):
            stack, = struct.unpack_from("<Q", data, where)
            mib = where + 8
            objects, accesses, least, most, bytes_ = struct.unpack_from("<I4Q", data, mib)
            if sheet:
                old = self.closed.get(stack, (0, 0))
                self.closed[stack] = old[0] + objects, old[1] + bytes_
            where, values = mib + size, None
            if size == 144:
                elements, = struct.unpack_from("<I", data, mib + 132)
                wide = version == 4
                values = struct.unpack_from(f"<{elements}{'Q' if wide else 'H'}", data, where)
                values = [v if wide else (v & 0xfff) << (v >> 12) for v in values]
                where += elements * (8 if wide else 2)
            self.mibs.append((stack, (objects, bytes_, accesses, least, most), values))
        return at + total

    def add_mib(self, pcs, values, elements):
        """Once all stacks are known: that of a MIB may be in a sheet that comes after it."""
        objects, bytes_, accesses, least, most = values
        old = self.contexts.get(pcs, [0, 0, 0, least, most])
        self.contexts[pcs] = [old[0] + objects, old[1] + bytes_, old[2] + accesses,
                              min(old[3], least), max(old[4], most)]
        if elements is not None:
            self.histograms[pcs] = elements

    def add_touched(self, stack, values):
        """Of a stack id: bytes touched and not, per cent of the least and the most touched
        object."""
        if any(values[:2]):
            self.touched[stack] = add_up(self.touched[stack], values) \
                if stack in self.touched else list(values)

    def touched_by_function(self, program):
        """As by_function."""
        found = {}
        for stack, values in self.touched.items():
            pcs = self.pcs.get(stack)
            name = function_of(program, pcs, self.segments[0][2]) if pcs else "?"
            found[name] = add_up(found[name], values) if name in found else values
        return found

    def read_notes(self, notes):
        facts, sheet = notes.facts, notes.off(ALLOCATED)
        self.interrupted |= bool(facts["flags"] & INTERRUPTED)
        self.dropped = facts["dropped"]
        self.merged |= bool(facts["flags"] & MERGED)
        if not sheet or notes.off(SERIES):
            self.over_time.append(OverTime(facts))
        now = self.over_time[-1]
        for point in notes.records(SERIES, "<5Q"):
            if not now.points or point[0] > now.points[-1][0]:
                now.points.append(point)
        for stack, *values in notes.records(LIVES, "<12Q"):
            now.lives[stack] = values[:5]
            self.add_touched(stack, values[5:9])
        for ms, shares, *values in notes.records(BREAKDOWNS, f"<{2 + 2 * SHARES}Q"):
            if shares:
                now.breakdowns.append((ms, dict(zip(values[:2 * shares:2],
                                                    values[1:2 * shares:2]))))
        for bytes_, _, objects, _, stack, *values in notes.records(ALLOCATED, "<2Q3II2Q2IQ4Q"):
            stack &= ~CUT_STACK
            old = self.allocated.get(stack, (0, 0))
            self.allocated[stack] = old[0] + objects, old[1] + bytes_
            now.add_allocated(stack, values[:6])
            self.add_touched(stack, values[6:])

    def alive(self):
        """What was allocated in sheets and not freed: (program counters) -> (objects, bytes)."""
        closed = self.closed.get
        left = {self.pcs[stack]: (objects - closed(stack, (0, 0))[0],
                                  bytes_ - closed(stack, (0, 0))[1])
                for stack, (objects, bytes_) in self.allocated.items()}
        return {pcs: sums for pcs, sums in left.items() if sums[0]}

    def by_function(self, program, contexts=None):
        """Sums per innermost function of the program that is in its symbol table."""
        found = {}
        for pcs, values in (self.contexts if contexts is None else contexts).items():
            name = function_of(program, pcs, self.segments[0][2])
            found[name] = add(found[name], values) if name in found else values
        return found


class OverTime:
    """What a dump, or the sheets together, has of the heap over time. A life is bytes and objects
    at the peak, bytes and objects at the end, and temporary objects."""

    def __init__(self, facts):
        self.ms, self.bytes, self.objects = (facts[name] for name in (
            "peak_ms", "peak_bytes", "peak_objects"))
        self.epoch, self.points, self.lives, self.breakdowns = facts["epoch"], [], {}, []

    def add_allocated(self, stack, values):
        epoch, alive, peak, alive_objects, peak_objects, temporary = values
        if epoch != self.epoch:
            peak, peak_objects = alive, alive_objects
        old = self.lives.get(stack, [0] * 5)
        new = [peak, peak_objects, alive, alive_objects, temporary]
        width = [64, 32, 64, 32, 64]
        self.lives[stack] = [(a + b) % (1 << bits) for a, b, bits in zip(old, new, width)]


def add(a, b):
    """Objects, bytes and accesses are summed up, the least and the most of an object is kept."""
    together = [operator.add, operator.add, operator.add, min, max]
    return type(a)(function(x, y) for function, x, y in zip(together, a, b))


def add_up(a, b):
    """What was touched of two contexts."""
    return [a[0] + b[0], a[1] + b[1], min(a[2], b[2]), max(a[3], b[3])]


def function_of(program, pcs, bias):
    return next((function for pc in pcs[:1] for function, start, end in symbols(program)
                 if start <= pc - bias < end), "?")


def symbols(program):
    return symbols_of_build(program, os.stat(program).st_mtime_ns)


@functools.cache
def symbols_of_build(program, _):
    lines = subprocess.run(["nm", "-S", "--defined-only", program], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    rows = [line.split() for line in lines]
    return [(row[3], int(row[0], 16), int(row[0], 16) + int(row[1], 16))
            for row in rows if len(row) == 4 and row[2] in "tT"]


def files(folder):
    return sorted(glob.glob(os.path.join(folder, "*profraw*")))
