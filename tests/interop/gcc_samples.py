"""Sample profiles of gcc as bytes: a decoder and an encoder of their own, so that pgokit's files
are not only read by pgokit. docs/formats/sample-gcc.md

A profile is {"version", "summary", "files", "names", "functions"}; a function {"name", "head",
"timestamp", "lines": {(line, discriminator): (count, {target: count})}, "calls": [(place,
function)]}.
"""

import struct

SUMMARY, NAMES, FUNCTIONS, MODULES = 0xA8000000, 0xAA000000, 0xAC000000, 0xAE000000
NO_FILE = 0xFFFFFFFF
CUTOFFS = (10000, *range(100000, 1000000, 100000), 950000, 990000, 999000, 999900, 999990, 999999)
LLVM = 0x3430372A


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def string(self):
        length = self.take("I")
        text = self.take(f"{length}s")
        assert text.count(b"\0") == 1 and text.endswith(b"\0"), text
        return text[:-1].decode()

    def tag(self, want):
        found, _ = self.take("II")
        assert found == want, hex(found)


def place(number):
    return number >> 16, number & 0xFFFF


def instance(b, names):
    name, n_lines, n_calls = b.take("III")
    lines, calls = {}, []
    for _ in range(n_lines):
        at, n_targets, count = b.take("IIQ")
        targets = {}
        for _ in range(n_targets):
            kind, target, calls_of = b.take("IQQ")
            assert kind == 7
            targets[names[target]] = calls_of
        assert place(at) not in lines, "one place twice"
        lines[place(at)] = (count, targets)
    for _ in range(n_calls):
        at = place(b.take("I"))
        calls.append((at, instance(b, names)))
    return {"name": names[name], "lines": lines, "calls": calls}


def decode(data):
    """Versions 2 and 3, as compilers take them; anything else fails."""
    b, p = Bytes(data), {"files": [], "summary": None}
    magic, p["version"], _ = b.take("4sII")
    assert magic == b"adcg" and p["version"] in (2, 3)
    newest = p["version"] == 3
    if newest:
        tag, *p["summary"], rows = b.take("I6Q")
        assert tag == SUMMARY and rows == len(CUTOFFS)
        p["rows"] = [b.take("IQQ") for _ in range(rows)]
    b.tag(NAMES)
    if newest:
        p["files"] = [b.string() for _ in range(b.take("I"))]
    names, p["names"] = [], {}
    for _ in range(b.take("I")):
        names.append(b.string())
        file = b.take("I") if newest else NO_FILE
        p["names"][names[-1]] = None if file == NO_FILE else p["files"][file]
    assert len(set(names)) == len(names) and names[0] == "", names
    b.tag(FUNCTIONS)
    p["functions"] = {}
    for _ in range(b.take("I")):
        head = b.take("Q")
        stamp = b.take("Q") if newest else 0
        f = instance(b, names)
        assert f["name"] and f["name"] not in p["functions"], f"{f['name']} twice"
        p["functions"][f["name"]] = {"head": head, "timestamp": stamp, **f}
    b.tag(MODULES)
    assert b.take("I") == 0 and b.at == len(data)
    return p


def counts_of(f):
    return [count for count, _ in f["lines"].values()] + [
        count for _, call in f["calls"] for count in counts_of(call)]


def summarise(functions):
    """(the five numbers, the rows) as create_gcov has them: each line is a count."""
    counts = sorted((c for f in functions for c in counts_of(f)), reverse=True)
    total, rows, at, reached = sum(counts), [], 0, 0
    for cutoff in CUTOFFS:
        while reached < total * cutoff // 1000000:
            same = [c for c in counts[at:] if c == counts[at]]
            reached += sum(same)
            at += len(same)
        rows.append((cutoff, counts[at - 1] if at else 0, at))
    return [total, max(counts), max(f["head"] for f in functions), len(counts),
            len(functions)], rows


def names_of(f):
    yield f["name"]
    for _, targets in f["lines"].values():
        yield from targets
    for _, call in f["calls"]:
        yield from names_of(call)


def encode(functions, version, words=False):
    """`functions` as decode has them, each maybe with a "file"; `words`: strings as releases before
    12 had them, and the layout without a summary."""
    newest = version == 3 and not words
    out = bytearray(struct.pack("<4sII", b"adcg", version, 0))
    files = sorted({f["file"] for f in functions if f.get("file")})
    file_of = {f["name"]: files.index(f["file"]) for f in functions if f.get("file")}
    names = ["", *sorted({n for f in functions for n in names_of(f)} - {""})]

    def string(text):
        data = text.encode() + b"\0"
        if words:
            data += bytes(-len(data) % 4)
        out.extend(struct.pack("<I", len(data) // (4 if words else 1)) + data)

    def put(f):
        out.extend(struct.pack("<III", names.index(f["name"]), len(f["lines"]), len(f["calls"])))
        for (line, discriminator), (count, targets) in f["lines"].items():
            out.extend(struct.pack("<IIQ", line << 16 | discriminator, len(targets), count))
            for name, calls in targets.items():
                out.extend(struct.pack("<IQQ", 7, names.index(name), calls))
        for (line, discriminator), call in f["calls"]:
            out.extend(struct.pack("<I", line << 16 | discriminator))
            put(call)

    if newest:
        numbers, rows = summarise(functions)
        out.extend(struct.pack("<I6Q", SUMMARY, *numbers, len(rows)))
        for row in rows:
            out.extend(struct.pack("<IQQ", *row))
    out.extend(struct.pack("<II", NAMES, 0))
    if newest:
        out.extend(struct.pack("<I", len(files)))
        for file in files:
            string(file)
    out.extend(struct.pack("<I", len(names)))
    for name in names:
        string(name)
        if newest:
            out.extend(struct.pack("<I", file_of.get(name, NO_FILE)))
    out.extend(struct.pack("<III", FUNCTIONS, 0, len(functions)))
    for f in functions:
        out.extend(struct.pack("<Q", f["head"]))
        if newest:
            out.extend(struct.pack("<Q", f.get("timestamp", 0)))
        put(f)
    out.extend(struct.pack("<III", MODULES, 0, 0))
    return bytes(out)


def function(name, head, lines, calls=(), **more):
    """Lines {(line, discriminator): count, or (count, targets)}."""
    whole = {at: c if isinstance(c, tuple) else (c, {}) for at, c in lines.items()}
    return {"name": name, "head": head, "lines": whole, "calls": list(calls), **more}
