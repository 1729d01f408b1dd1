#!/usr/bin/env python3
"""Says in a raw profile of LLVM's runtime how the heap was over time, as pgokit's does.

over_time.py RAW OUT          a finished dump
over_time.py RAW OUT killed   a sheet of a killed process
over_time.py RAW OUT by-context   a finished dump that also says what contexts held at some points,
                             and what ran

RAW has one dump of version 5 with two contexts. docs/formats/interrupted-heap.md
"""
import math
import struct
import sys

NOTES_MAGIC, NOTES_VERSION = 0x45544F4E544B4750, 1
INTERRUPTED, SAMPLED = 1, 64
FACTS, ALLOCATED, LIVES, SERIES, BREAKDOWNS, PROCESS, PATHS, CUT, SAMPLES = range(1, 10)  # tags
TEXTS = [(PROCESS, b"/opt/two\0box\0./two\0x y\0"), (PATHS, b"\0\0\0/opt/two\0\5libm.so\0")]
START_MS = 1700000000000
SHARES = 24
MIB_SIZE, TOTAL_SIZE = 8 + 144, 28
POINTS = [(0, 0, 0, 0, 0), (40, 100, 1, 100, 1), (120, 128, 2, 128, 2), (400, 164, 3, 164, 3),
          (900, 64, 2, 164, 3), (1500, 84, 3, 184, 4), (2000, 20, 1, 184, 4)]
PEAK, EPOCH = (400, 164, 3), 7
# At these times, of each context, the smaller one first.
HELD = [(120, 28, 100), (900, 64, 0)]
# Of each context, the smaller one first: bytes and objects at the peak, at exit, temporary.
CONTEXTS = [(64, 2, 20, 1, 1), (100, 1, 0, 0, 0)]
# Of each context, the smaller one first: objects drawn, their size, accesses seen, what one of
# these stands for. One sample comes in so many bytes on average.
SAMPLE_BYTES = 4096
DRAWN = [(12, 28, 9, 1000), (2, 100, 0, 1000)]
MADE_BYTES, MADE_OBJECTS = 61234, 1900


def sampled(raw, at, context, samples, size, hits, weight):
    """Puts estimates into the MIB at `at`; the record that says how sure they are."""
    p = 1 - math.exp(-size / SAMPLE_BYTES)
    visit = hits * weight / p
    struct.pack_into("<IQ", raw, at, round(samples / p), round(visit))
    struct.pack_into("<Q", raw, at + TOTAL_SIZE, round(samples * size / p))
    struct.pack_into("<2I", raw, at + TOTAL_SIZE + 8, size, size)
    lost = samples * (1 - p) / p ** 2
    return struct.pack("<6Q", context, samples, hits, round(lost), round(lost * size ** 2),
                       round(visit ** 2 / max(hits, 1)))


def main():
    raw = open(sys.argv[1], "rb").read()
    killed = sys.argv[3:] == ["killed"]
    by_context = sys.argv[3:] == ["by-context"]
    is_sampled = sys.argv[3:] == ["sampled"]
    magic, version, size, segments, mibs, stacks = struct.unpack_from("<6Q", raw)
    assert version == 5 and size == len(raw)
    count, = struct.unpack_from("<Q", raw, mibs)
    blocks = [(struct.unpack_from("<Q", raw, at + 8 + TOTAL_SIZE)[0],
               struct.unpack_from("<Q", raw, at)[0])
              for at in range(mibs + 8, mibs + 8 + count * MIB_SIZE, MIB_SIZE)]
    assert [size for size, _ in sorted(blocks)] == [84, 100]
    gap = b"".join(struct.pack("<5Q", *p) for p in POINTS)
    parts = [(SERIES, 0, mibs, 40, len(POINTS))]
    contexts_off = mibs + len(gap)
    for (closed, context), (peak, peak_n, end, end_n, temporary) in zip(sorted(blocks), CONTEXTS):
        if killed:
            # Allocated is what the MIB closed, and what is alive.
            gap += struct.pack("<2Q4I2Q2I5Q", closed + end, 1500 * end_n,
                               (3 if closed == 84 else 1) + end_n, 1500, context, EPOCH, end, peak,
                               end_n, peak_n, temporary, 0, 0, 0, 0)
        else:
            gap += struct.pack("<12Q", context, peak, peak_n, end, end_n, temporary,
                               0, 0, 0, 0, 0, 0)
    parts.append((ALLOCATED, 1, contexts_off, 96, count) if killed else
                 (LIVES, 0, contexts_off, 96, count))
    if by_context:
        parts.append((BREAKDOWNS, 0, mibs + len(gap), 16 + 16 * SHARES, len(HELD)))
        for ms, *held in HELD:
            shares = [(context, more) for (_, context), more in zip(sorted(blocks), held) if more]
            words = [ms, len(shares), *(word for share in shares for word in share)]
            gap += struct.pack(f"<{2 + 2 * SHARES}Q", *words, *[0] * (2 + 2 * SHARES - len(words)))
        for tag, text in TEXTS:
            parts.append((tag, 0, mibs + len(gap), 1, len(text)))
            gap += text
    if is_sampled:
        parts.append((SAMPLES, 0, mibs + len(gap), 48, count))
        raw = bytearray(raw)
        for at in range(mibs + 8, mibs + 8 + count * MIB_SIZE, MIB_SIZE):
            context, = struct.unpack_from("<Q", raw, at)
            which = [c for _, c in sorted(blocks)].index(context)
            gap += sampled(raw, at + 8, context, *DRAWN[which])
    parts.append((FACTS, 1, mibs + len(gap), 104 if is_sampled else 80, 1))
    gap += struct.pack("<10Q", INTERRUPTED if killed else SAMPLED if is_sampled else 0, 0, 0, 0, 0,
                       START_MS if by_context else 0, *PEAK,
                       EPOCH if killed else 0)
    if is_sampled:
        gap += struct.pack("<3Q", MADE_BYTES, MADE_OBJECTS, SAMPLE_BYTES)
    for tag, needed, off, record, records in parts:
        gap += struct.pack("<2HI3Q", tag, needed, 1, off, record, records)
    gap += struct.pack("<3Q", len(parts), NOTES_VERSION, NOTES_MAGIC)
    head = struct.pack("<6Q", magic, version, size + len(gap), segments, mibs + len(gap),
                       stacks + len(gap))
    open(sys.argv[2], "wb").write(head + raw[48:mibs] + gap + raw[mibs:])


main()
