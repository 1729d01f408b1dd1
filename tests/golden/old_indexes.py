#!/usr/bin/env python3
"""Writes instr-indexed/index1.profdata to index4.profdata: what llvm-profdata of LLVM 3.5 to 3.9
wrote, as docs/formats/instr-indexed.md describes it. No tool of today writes these versions.

usage: old_indexes.py FOLDER
"""
import hashlib
import os
import struct
import sys

MAGIC = b"\xfflprofi\x81"
MD5_HASHES = 0
# (name, hash, counters); from version 2 on a name may have several hashes.
FUNCTIONS = [("main", 0x400, [1, 20, 3]), ("leaf", 0x18, [20]), ("never", 7, [0, 0])]
OTHER_HASH = ("leaf", 0x19, [5, 4])
# Millionths of all counts, the smallest of them, how many; of the functions above.
CUTOFFS = [(500000, 20, 2), (999999, 1, 6)]


def u64(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def record(version, function_hash, counts):
    """Of version 1 the size of the data says how many counters there are."""
    no_values = struct.pack("<II", 8, 0) if version > 2 else b""
    return (u64(function_hash) + (u64(len(counts)) if version > 1 else b"") + u64(*counts) +
            no_values)


def summary(functions):
    counts = [c for _, _, all_counts in functions for c in all_counts]
    inner = [c for _, _, all_counts in functions for c in all_counts[1:]]
    fields = [len(functions), len(counts), max(c[0] for _, _, c in functions), max(counts),
              max(inner), sum(counts)]
    return u64(len(fields), len(CUTOFFS), *fields, *(n for row in CUTOFFS for n in row))


def profile(version):
    functions = FUNCTIONS + ([OTHER_HASH] if version > 1 else [])
    data = {}
    for name, function_hash, counts in functions:
        data[name] = data.get(name, b"") + record(version, function_hash, counts)
    table = summary(functions) if version > 3 else b""
    n_buckets, buckets = 4, {}
    for name, value in data.items():
        key = struct.unpack("<Q", hashlib.md5(name.encode()).digest()[:8])[0]
        buckets.setdefault(key % n_buckets, []).append((key, name.encode(), value))
    start, offsets = len(MAGIC) + 4 * 8, [0] * n_buckets
    for number, items in sorted(buckets.items()):
        offsets[number] = start + len(table)
        table += struct.pack("<H", len(items))
        for key, name, value in items:
            table += u64(key, len(name), len(value)) + name + value
    table += bytes(-(start + len(table)) % 8)
    head = MAGIC + u64(version, 0, MD5_HASHES, start + len(table))
    return head + table + u64(n_buckets, len(data), *offsets)


for v in range(1, 5):
    with open(os.path.join(sys.argv[1], f"index{v}.profdata"), "wb") as f:
        f.write(profile(v))
