"""Writes raw counters of version 11 by docs/formats/instr-raw.md, of either byte order and pointer
size: with uniform counters, which only programs on GPUs write."""

import hashlib


class Function:
    def __init__(self, name, counts, uniform=None, bitmap=b"", wave_size=0):
        self.name, self.counts, self.uniform = name, counts, uniform
        self.bitmap, self.wave_size = bitmap, wave_size

    @property
    def id(self):
        return int.from_bytes(hashlib.md5(self.name.encode()).digest()[:8], "little")


IR = 1 << 56
HASH = 7


def raw(functions, order="little", pointer=8, flags=IR):
    """`uniform` of a function has as many counters as `counts`; all functions have some or none."""
    def number(value, size):
        return (value % (1 << 8 * size)).to_bytes(size, order)

    uniform = any(f.uniform is not None for f in functions)
    size = 72 if pointer == 8 else 56
    counters_delta, bitmap_delta, uniform_delta = 0x1000, 0x2000, 0x3000 if uniform else 0
    records = counters = bitmap = uniforms = b""
    for i, f in enumerate(functions):
        start = i * size
        record = number(f.id, 8) + number(HASH, 8)
        record += number(counters_delta + len(counters) - start, pointer)
        record += number(uniform_delta + len(uniforms) - start if uniform else 0, pointer)
        record += number(bitmap_delta + len(bitmap) - start if f.bitmap else 0, pointer)
        record += number(0, pointer) * 2  # address, values
        record += number(len(f.counts), 4) + bytes(6) + number(f.wave_size, 2)
        record += number(len(f.bitmap), 4)
        records += record + bytes(size - len(record))
        counters += b"".join(number(c, 8) for c in f.counts)
        bitmap += f.bitmap
        if uniform:
            uniforms += b"".join(number(c, 8) for c in f.uniform)
    names = "\1".join(f.name for f in functions).encode()
    names = bytes([len(names) & 0x7f | 0x80, len(names) >> 7, 0]) + names
    magic = 0xff6c70726f667281 if pointer == 8 else 0xff6c70726f665281
    words = [magic, 11 | flags, 0, len(functions), 0, len(counters) // 8, 0, len(bitmap),
             -len(bitmap) % 8, len(uniforms) // 8, 0, uniform_delta, len(names), counters_delta,
             bitmap_delta, 0, 0, 0, 2]
    return (b"".join(number(w, 8) for w in words) + records + counters + bitmap +
            bytes(-len(bitmap) % 8) + uniforms + names + bytes(-len(names) % 8))
