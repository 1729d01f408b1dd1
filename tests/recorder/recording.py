"""Reads files of the branch recorder, as docs/formats/branch-recording.md has them."""

import pathlib
import re
import struct
from collections import namedtuple

Module = namedtuple("Module", "start end build_id path")
Pair = namedtuple("Pair", "module first to_module last count")  # addresses of the files
PLACE = (1 << 48) - 1
NAMES = pathlib.Path(__file__).parents[2] / "lib" / "records" / "branch_recording.def"


def counter_names():
    return re.findall(r"^PGK_BRANCH_COUNTER\((\w+), (\w+)", NAMES.read_text(), re.MULTILINE)


class Recording:
    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        (magic, self.version, self.process, modules_off, modules, entries_off, entries,
         self.frequency, self.window, n) = struct.unpack_from("<8sII7Q", data)
        assert magic == b"PGKBRANC", magic
        values = struct.unpack_from(f"<{n}Q", data, 72)
        self.start_ms, size = struct.unpack_from("<2Q", data, 2048)
        self.process_text = data[2064:2064 + size]
        self.kinds = dict(counter_names())
        self.counters = dict(zip(self.kinds, values))
        self.modules = []
        for i in range(modules):
            start, end, size, build_id, path = struct.unpack_from("<QQQ32s24x432s", data,
                                                                  modules_off + 512 * i)
            self.modules.append(Module(start, end, build_id[:size].hex(),
                                       path.split(b"\0")[0].decode()))
        by_kind = (self.branches, self.ranges, self.loads, self.calls,
                   self.ticks) = [], [], [], [], []
        for i in range(entries):
            first, last, count, kind = struct.unpack_from("<QQQI", data, entries_off + 32 * i)
            pair = Pair((first >> 48) - 1, first & PLACE, (last >> 48) - 1, last & PLACE, count)
            by_kind[kind].append(pair)

    def ended(self):
        """Why windows did not begin, or ended early: name and number."""
        return {name: n for name, n in self.counters.items() if n and self.kinds[name] != "WORK"}
