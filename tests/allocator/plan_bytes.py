"""Bytes of a plan's file, of which tests change some (docs/formats/placement-plan.md)."""

import struct

HEADER, SUM_AT = 32, 24


def checksum(data):
    """Of all behind the header."""
    total = 0xcbf29ce484222325
    for (word,) in struct.iter_unpack("<Q", data[HEADER:len(data) - len(data) % 8]):
        total = (total ^ word) * 0x100000001b3 & (1 << 64) - 1
    return total
