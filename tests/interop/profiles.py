"""Heap profiles as the interop tests see them: plain decoders and encoders, written for
clarity, of raw files, of what llvm-profdata and pgokit print, and of LLVM's YAML.

Function records are compared in a normal form: contexts with equal call stacks added up
and call sites as a set, because LLVM leaves both apart.
"""

import json
import re
import struct

# name, bytes, rule for two blocks of one context in one process, rule otherwise
FIELDS = [
    ("AllocCount", 4, "sum", "sum"), ("TotalAccessCount", 8, "sum", "sum"),
    ("MinAccessCount", 8, "min", "min"), ("MaxAccessCount", 8, "max", "max"),
    ("TotalSize", 8, "sum", "sum"), ("MinSize", 4, "min", "min"), ("MaxSize", 4, "max", "max"),
    ("AllocTimestamp", 4, "later", "min"), ("DeallocTimestamp", 4, "later", "max"),
    ("TotalLifetime", 8, "sum", "sum"), ("MinLifetime", 4, "min", "min"),
    ("MaxLifetime", 4, "max", "max"), ("AllocCpuId", 4, "later", "same"),
    ("DeallocCpuId", 4, "later", "same"), ("NumMigratedCpu", 4, "first", "sum"),
    ("NumLifetimeOverlaps", 4, "overlap", "sum"), ("NumSameAllocCpu", 4, "alloc cpu", "sum"),
    ("NumSameDeallocCpu", 4, "dealloc cpu", "sum"), ("DataTypeId", 8, "first", "same"),
    ("TotalAccessDensity", 8, "sum", "sum"), ("MinAccessDensity", 4, "min", "min"),
    ("MaxAccessDensity", 4, "max", "max"), ("TotalLifetimeAccessDensity", 8, "sum", "sum"),
    ("MinLifetimeAccessDensity", 4, "min", "min"), ("MaxLifetimeAccessDensity", 4, "max", "max"),
    ("AccessHistogramSize", 4, "max", "max"), ("AccessHistogram", 8, "none", "none"),
]
# The last one is an address of the profiled process.
COMPARED = [f[0] for f in FIELDS[:-1]]
HOT_COLD = ["AllocCount", "TotalSize", "TotalLifetime", "TotalLifetimeAccessDensity"]
UNKNOWN = {"AllocCpuId": 0xFFFFFFFF, "DeallocCpuId": 0xFFFFFFFF, "DataTypeId": 0}
BLOCK_BYTES = 144
MAGIC = 0xFF6D70726F667281


def merge_blocks(a, b, same_process):
    """`b` into `a`; `b` is the later one if both are of one process."""
    out = dict(a)
    for name, _, inside, across in FIELDS:
        if name not in a or name not in b:
            continue
        rule = inside if same_process else across
        if rule == "sum":
            out[name] = a[name] + b[name]
        elif rule == "min":
            out[name] = min(a[name], b[name])
        elif rule == "max":
            out[name] = max(a[name], b[name])
        elif rule == "later":
            out[name] = b[name]
        elif rule == "same":
            out[name] = a[name] if a[name] == b[name] else UNKNOWN[name]
        elif rule == "overlap":
            out[name] = a[name] + (b["AllocTimestamp"] < a["DeallocTimestamp"])
        elif rule == "alloc cpu":
            out[name] = a[name] + (b["AllocCpuId"] == a["AllocCpuId"])
        elif rule == "dealloc cpu":
            out[name] = a[name] + (b["DeallocCpuId"] == a["DeallocCpuId"])
    x, y = a.get("hist") or [], b.get("hist") or []
    if x or y:
        n = max(len(x), len(y))
        x, y = x + [0] * (n - len(x)), y + [0] * (n - len(y))
        out["hist"] = [i + j for i, j in zip(x, y)]
    return out


# ---- raw files, versions 2 to 5 ----

class Dump:
    def __init__(self, version, segments, blocks, stacks):
        self.version, self.segments, self.blocks, self.stacks = version, segments, blocks, stacks


def decode_count(v):
    return (v & 0xFFF) << (v >> 12)


def encode_count(c):
    c, exponent = min(c, 4095 << 15), 0
    while c > 4095:
        c, exponent = (c + 1) >> 1, exponent + 1
    return exponent << 12 | c


def fields_of(version):
    return FIELDS if version >= 4 else FIELDS[:-2]


def decode_raw(data):
    """The dumps of a file; blocks and stacks are lists of (stack id, value)."""
    dumps, pos = [], 0
    while pos < len(data):
        magic, version, total, seg, mib, stack = struct.unpack_from("<6Q", data, pos)
        assert magic == MAGIC and 2 <= version <= 5
        p = pos + seg
        n, = struct.unpack_from("<Q", data, p)
        size = 64 if version >= 3 else 56
        segments = [data[p + 8 + size * i:p + 8 + size * (i + 1)] for i in range(n)]
        p = pos + mib
        n, = struct.unpack_from("<Q", data, p)
        p += 8
        blocks = []
        for _ in range(n):
            stack_id, = struct.unpack_from("<Q", data, p)
            p += 8
            block = {}
            for name, size, _, _ in fields_of(version):
                block[name] = int.from_bytes(data[p:p + size], "little")
                p += size
            count = block.get("AccessHistogramSize", 0)
            if version == 4:
                block["hist"] = list(struct.unpack_from(f"<{count}Q", data, p))
                p += 8 * count
            elif version == 5:
                block["hist"] = [decode_count(v)
                                 for v in struct.unpack_from(f"<{count}H", data, p)]
                p += 2 * count
            blocks.append((stack_id, block))
        p = pos + stack
        n, = struct.unpack_from("<Q", data, p)
        p += 8
        stacks = []
        for _ in range(n):
            stack_id, count = struct.unpack_from("<2Q", data, p)
            stacks.append((stack_id, struct.unpack_from(f"<{count}Q", data, p + 16)))
            p += 16 + 8 * count
        dumps.append(Dump(version, segments, blocks, stacks))
        pos += total
    return dumps


def encode_raw(dumps):
    out = b""
    for d in dumps:
        def padded(section):
            return section + bytes(-len(section) % 8)
        seg = padded(struct.pack("<Q", len(d.segments)) + b"".join(d.segments))
        mib = struct.pack("<Q", len(d.blocks))
        for stack_id, block in d.blocks:
            mib += struct.pack("<Q", stack_id)
            for name, size, _, _ in fields_of(d.version):
                value = 0 if name == "AccessHistogram" else block[name]
                mib += (value % (1 << 8 * size)).to_bytes(size, "little")
            hist = block.get("hist") or []
            if d.version == 4:
                mib += struct.pack(f"<{len(hist)}Q", *hist)
            elif d.version == 5:
                mib += struct.pack(f"<{len(hist)}H", *map(encode_count, hist))
        mib = padded(mib)
        stack = struct.pack("<Q", len(d.stacks))
        for stack_id, pcs in d.stacks:
            stack += struct.pack(f"<2Q{len(pcs)}Q", stack_id, len(pcs), *pcs)
        total = 48 + len(seg) + len(mib) + len(stack)
        out += struct.pack("<6Q", MAGIC, d.version, total, 48, 48 + len(seg),
                           48 + len(seg) + len(mib)) + seg + mib + stack
    return out


def merge_dumps(dumps):
    """One dump that stands for all dumps of a file."""
    blocks, stacks = {}, {}
    for d in dumps:
        for stack_id, block in d.blocks:
            old = blocks.get(stack_id)
            blocks[stack_id] = merge_blocks(old, block, True) if old else block
        stacks.update(d.stacks)
    return Dump(dumps[-1].version, dumps[0].segments, list(blocks.items()), list(stacks.items()))


# ---- function records ----

class Record:
    def __init__(self):
        self.allocs = {}  # call stack -> block
        self.calls = {}   # inline chain -> set of callees


class Records:
    """GUID -> Record. A frame is (function GUID, line offset, column, inline)."""

    def __init__(self):
        self.by_guid = {}
        self.names = {}
        self.contexts = 0

    def record(self, guid):
        return self.by_guid.setdefault(guid, Record())

    def add_alloc(self, guid, stack, block):
        record = self.record(guid)
        stack = tuple(stack)
        old = record.allocs.get(stack)
        record.allocs[stack] = merge_blocks(old, block, False) if old else block
        self.contexts += 1

    def add_call(self, guid, chain, callees=()):
        self.record(guid).calls.setdefault(tuple(chain), set()).update(callees)

    def add(self, other):
        for guid, record in other.by_guid.items():
            for stack, block in record.allocs.items():
                self.add_alloc(guid, stack, block)
            for chain, callees in record.calls.items():
                self.add_call(guid, chain, callees)
        self.names.update(other.names)

    def low_lines(self):
        """As pgokit writes them to LLVM's formats: with the 16 bits of a line offset that
        compilers compare. llvm-profdata writes 32, which never match beyond that."""
        def low(stack):
            return tuple((guid, line & 0xFFFF, column, inline)
                         for guid, line, column, inline in stack)
        out = Records()
        out.names = self.names
        for guid, record in self.by_guid.items():
            out.record(guid)
            for stack, block in record.allocs.items():
                out.add_alloc(guid, low(stack), block)
            for chain, callees in record.calls.items():
                out.add_call(guid, low(chain), callees)
        return out

    def far_lines(self):
        """Frames whose line offset no compiler compares to its end."""
        return len({frame for r in self.by_guid.values() for stack in [*r.allocs, *r.calls]
                    for frame in stack if frame[1] > 0xFFFF})

    def merged_contexts(self):
        """Contexts that were added up because their stacks are equal."""
        return self.contexts - sum(len(r.allocs) for r in self.by_guid.values())

    def stacks(self):
        """Call stack -> block, over all records."""
        return {s: b for r in self.by_guid.values() for s, b in r.allocs.items()}

    def frame_text(self, frame):
        guid, line, column, inline = frame
        return f"{self.names.get(guid, hex(guid))}+{line}:{column}{' inline' if inline else ''}"

    def stack_text(self, stack):
        return " < ".join(map(self.frame_text, stack))


def first_difference(expected, got, fields=COMPARED, histogram=False):
    """A text, or None if both say the same in the given fields."""
    names = Records()
    names.names = {**got.names, **expected.names}
    for guid in sorted(set(expected.by_guid) | set(got.by_guid)):
        where = f"record {guid:#x} {names.names.get(guid, '')}"
        if guid not in got.by_guid:
            return f"{where}: lost"
        if guid not in expected.by_guid:
            return f"{where}: unexpected"
        a, b = expected.by_guid[guid], got.by_guid[guid]
        for kind, x, y in (("alloc site", a.allocs, b.allocs), ("call site", a.calls, b.calls)):
            for stack in sorted(set(x) - set(y)):
                return f"{where}: {kind} lost: {names.stack_text(stack)}" + (
                    near(names, stack, set(y) - set(x)))
            for stack in sorted(set(y) - set(x)):
                return f"{where}: {kind} unexpected: {names.stack_text(stack)}"
        for stack, block in a.allocs.items():
            at = f"{where}: {names.stack_text(stack)}"
            other = b.allocs[stack]
            for name in fields:
                if block.get(name) != other.get(name):
                    return f"{at}: {name}: expected {block.get(name)}, got {other.get(name)}"
            if histogram and (block.get("hist") or []) != (other.get("hist") or []):
                return f"{at}: histogram: expected {block.get('hist')}, got {other.get('hist')}"
        for chain, callees in a.calls.items():
            if callees != b.calls[chain]:
                return f"{where}: callees: expected {callees}, got {b.calls[chain]}"
    return None


def near(names, stack, others):
    """The candidate that shares most frames, to see what differs."""
    def common(other):
        return sum(f == g for f, g in zip(stack, other)) + sum(
            f == g for f, g in zip(stack[::-1], other[::-1]))
    best = max(others, key=common, default=None)
    return f"\n  instead of it: {names.stack_text(best)}" if best else ""


# ---- what tools print ----

def parse_show(text):
    """`llvm-profdata show --memory RAW`. It prints call sites frame by frame; an inline
    chain ends at the first frame that is not inline."""
    out = Records()
    guid, stack, block, chain, frame, part = None, [], None, [], {}, ""

    def end_frame():
        if len(frame) == 4:
            f = (frame["Function"], frame["LineOffset"], frame["Column"], bool(frame["Inline"]))
            if part == "calls":
                chain.append(f)
                if not f[3]:
                    out.add_call(guid, chain)
                    chain.clear()
            else:
                stack.append(f)
            frame.clear()

    def end_alloc():
        nonlocal block
        if block is not None:
            out.add_alloc(guid, stack, block)
            stack.clear()
        block = None

    in_records = False
    for line in text.splitlines():
        key, _, value = line.strip().partition(":")
        value = value.strip()
        if line == "  Records:":
            in_records = True
        elif not in_records:
            continue
        elif key == "FunctionGUID":
            end_alloc()
            guid = int(value)
            out.record(guid)
        elif key == "AllocSites":
            part = "allocs"
        elif key == "CallSites":
            end_alloc()
            part = "calls"
        elif key == "Callstack":
            end_alloc()
        elif key == "MemInfoBlock":
            block = {}
        elif key in ("Function", "LineOffset", "Column", "Inline"):
            frame[key] = int(value)
            end_frame()
        elif key == "SymbolName":
            out.names[frame["Function"]] = value
        elif key == "AccessHistogramValues":
            block["hist"] = [int(v) for v in value.split()]
        elif block is not None and key and value:
            block[key] = int(value, 0)
    end_alloc()
    assert not chain
    return out


YAML_FRAME = re.compile(r"- \{ Function: (0x[0-9a-f]+), LineOffset: (\d+), Column: (\d+), "
                        r"IsInlineFrame: (true|false) \}")


def parse_yaml(text):
    """`llvm-profdata-22 show --memory INDEXED`."""
    text = re.sub(r",\s*\n\s*", ", ", text)
    out = Records()
    guid, frames, block, call, callees = None, [], None, False, []

    def end_site():
        nonlocal block, call, frames, callees
        if call:
            out.add_call(guid, frames, callees)
        elif block is not None:
            out.add_alloc(guid, frames, block)
        frames, block, call, callees = [], None, False, []

    for line in text.splitlines():
        line = line.strip()
        if line.startswith("DataAccessProfiles"):
            break
        if m := YAML_FRAME.match(line):
            frames.append((int(m[1], 16), int(m[2]), int(m[3]), m[4] == "true"))
        elif line.startswith("- GUID:"):
            end_site()
            guid = int(line.split()[-1], 16)
            out.record(guid)
        elif line.startswith("- Callstack:"):
            end_site()
        elif line.startswith("- Frames:"):
            end_site()
            call = True
        elif line.startswith("MemInfoBlock:"):
            block = {}
        elif line.startswith("CalleeGuids:"):
            callees = [int(v, 16) for v in re.findall(r"0x[0-9a-f]+", line)]
        elif block is not None and re.fullmatch(r"\w+: +\d+", line):
            key, _, value = line.partition(":")
            block[key] = int(value)
    end_site()
    return out


def json_frame(f):
    return (int(f["guid"], 16), f["line_offset"], f["column"], f["inline"])


def named(stack):
    """Without addresses that no binary names, and code that has a symbol only: LLVM drops both."""
    return [frame for frame in stack if "guid" in frame and not frame.get("by_symbol")]


def parse_json(text):
    """`pgokit show --json`."""
    doc = json.loads(text)
    assert doc["schema"] == "pgokit-heap-1", doc["schema"]
    out = Records()
    for record in doc["records"]:
        guid = int(record["guid"], 16)
        out.record(guid)
        for index in record["alloc_sites"]:
            context = doc["contexts"][index]
            block = dict(context["mib"])
            if "type" in context:
                block["DataTypeId"] = 0 # found by the names of functions, which are no such file's
            if "histogram" in context:
                block["hist"] = context["histogram"]
            out.add_alloc(guid, map(json_frame, named(context["stack"])), block)
        for site in record["call_sites"]:
            out.add_call(guid, map(json_frame, site["frames"]),
                         [int(c, 16) for c in site.get("callees", [])])
    for context in doc["contexts"]:
        for f in context["stack"]:
            if "function" in f and "guid" in f:
                out.names[int(f["guid"], 16)] = f["function"]
    return out


def to_yaml(records, fields=COMPARED):
    """Input for `llvm-profdata-22 merge`: [(guid, [(stack, block)], [(chain, callees)])]."""
    def frame(f):
        return (f"- {{ Function: {f[0]:#x}, LineOffset: {f[1]}, Column: {f[2]}, "
                f"IsInlineFrame: {'true' if f[3] else 'false'} }}\n")
    out = ["---\nHeapProfileRecords:\n"]
    for guid, allocs, calls in records:
        out.append(f"  - GUID: {guid:#x}\n")
        if allocs:
            out.append("    AllocSites:\n")
        for stack, block in allocs:
            out.append("      - Callstack:\n")
            out += ["          " + frame(f) for f in stack]
            out.append("        MemInfoBlock:\n")
            out += [f"          {n}: {block[n]}\n" for n in fields if n in block]
        if calls:
            out.append("    CallSites:\n")
        for chain, callees in calls:
            out.append("      - Frames:\n")
            out += ["          " + frame(f) for f in chain]
            if callees:
                out.append(f"        CalleeGuids: [ {', '.join(f'{c:#x}' for c in callees)} ]\n")
    return "".join(out) + "...\n"


def plain(records):
    """A Records as to_yaml takes it, sorted."""
    return [(guid, sorted(r.allocs.items(), key=lambda x: x[0]),
             sorted((c, sorted(k)) for c, k in r.calls.items()))
            for guid, r in sorted(records.by_guid.items())]
