"""CPU profiles as other profilers write them, made of the text of a recording: an encoder of its
own, by the public schemas of pprof and of OpenTelemetry.
"""

import gzip
import json
import re

MAPPED = re.compile(r"PERF_RECORD_MMAP2?\b.*\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+)"
                    r".*: (\S+) (.*)$")


class Recording:
    """Executable mappings (start, size, offset, path) and stacks, leaf first, with their counts."""

    def __init__(self, text):
        self.mappings, self.stacks, chain = [], {}, []
        for line in text.splitlines() + [""]:
            found = MAPPED.search(line)
            if found:
                if "x" in found[4]:
                    self.mappings.append((int(found[1], 16), int(found[2], 16),
                                          int(found[3], 16), found[5]))
            elif line.strip() and "PERF_RECORD" not in line:
                chain.append(int(line.split()[0], 16))
            elif chain:
                self.stacks[tuple(chain)] = self.stacks.get(tuple(chain), 0) + 1
                chain = []

    def mapping_of(self, addr):
        """Position among the mappings; None: of no file."""
        for i, (start, size, _, _) in enumerate(self.mappings):
            if start <= addr < start + size:
                return i
        return None


# ---- messages ----

def varint(value):
    out = b""
    value &= (1 << 64) - 1
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def word(field, value):
    return varint(field << 3 | 1) + value.to_bytes(8, "little")


def part(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field, values):
    return part(field, b"".join(varint(v) for v in values))


def words(field, values):
    return part(field, b"".join(v.to_bytes(8, "little") for v in values))


class Texts:
    """A table whose first text is the empty one."""

    def __init__(self):
        self.at = {"": 0}

    def __call__(self, text):
        return self.at.setdefault(text, len(self.at))

    def list(self):
        return [text.encode() for text in self.at]


# ---- pprof ----

def pprof(recording, build_ids, *, in_calls=True, types=(("samples", "count"),
                                                         ("cpu", "nanoseconds")), named=False,
          values=lambda count: (count, count * 10_000_000), labels=(), time_ns=0, numbers=(),
          linked=None):
    """The bytes of a file. Callers lie within their calls, unless told otherwise; with `linked`, a
    function of mapping and address, addresses are the linker's. With `named`, places have names of
    functions and lines alone."""
    text, out, locations = Texts(), b"", {}
    for name, unit in types:
        out += part(1, number(1, text(name)) + number(2, text(unit)))
    for stack, count in recording.stacks.items():
        ids = []
        for depth, addr in enumerate(stack):
            at = addr - (1 if depth and in_calls else 0)
            ids.append(locations.setdefault((recording.mapping_of(at), at), len(locations) + 1))
        sample = packed(1, ids) + packed(2, values(count))
        for key, value in labels:
            sample += part(3, number(1, text(key)) + number(2, text(value)))
        for key, value in numbers:
            sample += part(3, number(1, text(key)) + number(3, value))
        out += part(2, sample)
    for i, (start, size, offset, path) in enumerate(recording.mappings):
        where = b"" if linked else number(2, start) + number(3, start + size) + number(4, offset)
        out += part(3, number(1, i + 1) + where + number(5, text(path)) +
                    number(6, text(build_ids.get(path, ""))))
    for (mapping, addr), ident in locations.items():
        shown = linked(mapping, addr) if linked and mapping is not None else addr
        if not named:
            out += part(4, number(1, ident) + number(2, 0 if mapping is None else mapping + 1) +
                        number(3, shown))
            continue
        out += part(4, number(1, ident) + part(4, number(1, ident) + number(2, 7)))
        out += part(5, number(1, ident) + number(2, text(f"function_{addr:x}")))
    out += number(9, time_ns) + part(11, number(1, text("cpu")) + number(2, text("nanoseconds")))
    out += number(12, 10_000_000)
    return gzip.compress(b"".join([out] + [part(6, t) for t in text.list()]), mtime=0)


# ---- OpenTelemetry ----

class Tables:
    """What samples of OTLP refer to, whatever form it is written in."""

    def __init__(self, recording, build_ids, labels, linked=None):
        self.text, self.attributes = Texts(), [("", "")]
        self.mappings, self.locations = [(0, 0, 0, "", [])], [(0, 0)]
        self.stacks, self.samples = [[]], []
        for start, size, offset, path in recording.mappings:
            ids = [self.attribute("process.executable.build_id.gnu", build_ids[path])
                   ] if path in build_ids else []
            self.mappings.append((start, start + size, offset, path, ids))
        known = {}
        attributes = [self.attribute(key, value) for key, value in labels]
        for stack, count in recording.stacks.items():
            self.stacks.append([])
            for depth, addr in enumerate(stack):
                at = addr - (1 if depth else 0)
                mapping = recording.mapping_of(at)
                shown = linked(mapping, at) if linked and mapping is not None else at
                key = (0 if mapping is None else mapping + 1, shown)
                if key not in known:
                    known[key] = len(self.locations)
                    self.locations.append(key)
                self.stacks[-1].append(known[key])
            self.samples.append((len(self.stacks) - 1, count, attributes))
        for _, _, _, path, _ in self.mappings:
            self.text(path)
        for key, _ in self.attributes:
            self.text(key)
        for name in ("samples", "count", "cpu", "nanoseconds"):
            self.text(name)

    def attribute(self, key, value):
        if (key, value) not in self.attributes:
            self.attributes.append((key, value))
        return self.attributes.index((key, value))

    def type(self, name, unit):
        return number(1, self.text(name)) + number(2, self.text(unit))


# Numbers of fields that moved: of a sample's stack, values, attributes and times.
LAYOUTS = {"1.7": (None, 3, 4, 6), "1.9": (1, 2, 3, 5), "1.10": (1, 4, 2, 5)}


def otlp(recording, build_ids, layout="1.10", *, labels=(), resource=(), time_ns=0, times=False,
         linked=None, other_type=None):
    """A message. With `times`, each sample has its times instead of a value."""
    t = Tables(recording, build_ids, labels, linked)
    stack_field, value_field, attribute_field, time_field = LAYOUTS[layout]
    old, indices, profile = layout == "1.7", [], b""
    for stack, count, attributes in t.samples:
        if old:
            sample = number(1, len(indices)) + number(2, len(t.stacks[stack]))
            indices += t.stacks[stack]
        else:
            sample = number(stack_field, stack)
        sample += packed(attribute_field, attributes) if attributes else b""
        stamps = [time_ns + i for i in range(count)]
        if not times:
            sample += packed(value_field, [count])
        elif old:
            sample += packed(time_field, stamps)
        else:
            sample += words(time_field, stamps)
        profile += part(2, sample)
    kind = t.type("samples", "count") if not other_type else t.type(*other_type)
    period = t.type("cpu", "nanoseconds")
    if old:
        profile += packed(3, indices) + number(4, time_ns) + part(6, period)
        profile += number(7, 10_000_000)
    else:
        profile += word(3, time_ns) + part(5, period) + number(6, 10_000_000)
    profile = part(1, kind) + profile
    any_text = lambda value: part(2, part(1, value.encode()))
    info = b"".join(part(1, part(1, key.encode()) + any_text(value)) for key, value in resource)
    tables = b""
    for start, limit, offset, path, ids in t.mappings:
        where = b"" if linked else number(1, start) + number(2, limit) + number(3, offset)
        tables += part(1, where + number(4, t.text(path)) + packed(5, ids))
    for mapping, addr in t.locations:
        tables += part(2, number(1, mapping) + number(2, addr))
    for key, value in t.attributes:
        named = part(1, key.encode()) if old else number(1, t.text(key))
        tables += part(6, named + any_text(value))
    if not old:
        for stack in t.stacks:
            tables += part(7, packed(1, stack))
    tables += b"".join(part(5, text) for text in t.text.list())
    return part(1, part(1, info) + part(2, part(2, profile))) + part(2, tables)


def otlp_json(recording, build_ids, *, labels=(), resource=(), time_ns=0, linked=None):
    """A line as the file exporter of a collector writes it."""
    t = Tables(recording, build_ids, labels, linked)
    index = lambda text: t.text(text)
    any_text = lambda key, value: {"key": key, "value": {"stringValue": value}}
    kind = lambda name, unit: {"typeStrindex": index(name), "unitStrindex": index(unit)}
    profile = {"sampleType": kind("samples", "count"),
               "samples": [{"stackIndex": stack, "values": [str(count)],
                            "attributeIndices": attributes}
                           for stack, count, attributes in t.samples],
               "timeUnixNano": str(time_ns), "periodType": kind("cpu", "nanoseconds"),
               "period": "10000000"}
    tables = {"mappingTable": [({} if linked else
                                {"memoryStart": str(start), "memoryLimit": str(limit),
                                 "fileOffset": str(offset)}) |
                               {"filenameStrindex": index(path), "attributeIndices": ids}
                               for start, limit, offset, path, ids in t.mappings],
              "locationTable": [{"mappingIndex": mapping, "address": str(addr)}
                                for mapping, addr in t.locations],
              "attributeTable": [{"keyStrindex": index(key), "value": {"stringValue": value}}
                                 for key, value in t.attributes],
              "stackTable": [{"locationIndices": stack} for stack in t.stacks],
              "stringTable": [text.decode() for text in t.text.list()]}
    return json.dumps({"resourceProfiles": [
        {"resource": {"attributes": [any_text(*pair) for pair in resource]},
         "scopeProfiles": [{"scope": {}, "profiles": [profile]}]}],
        "dictionary": tables}).encode() + b"\n"


def with_length(message):
    """As the file exporter of a collector writes messages."""
    return len(message).to_bytes(4, "big") + message


# ---- viewers ----

def places(recording, stack, linked):
    """Mapping, and distance from where its file was loaded, of a stack, leaf first; None: of no
    file."""
    for depth, addr in enumerate(stack):
        at = addr - (1 if depth else 0)
        mapping = recording.mapping_of(at)
        yield None if mapping is None else (mapping, linked(mapping, at))


def folded(recording, linked, frame="{}+0x{:x}"):
    """Folded stacks whose frames are places in files."""
    lines = []
    for stack, count in recording.stacks.items():
        names = ["[unknown]" if place is None else
                 frame.format(recording.mappings[place[0]][3], place[1])
                 for place in places(recording, stack, linked)]
        lines.append(f"{';'.join(reversed(names))} {count}\n")
    return "".join(lines).encode()


def speedscope(recording, linked):
    """As speedscope keeps sampled profiles."""
    frames, samples = {}, []
    for stack in recording.stacks:
        names = ["[unknown]" if place is None else
                 f"{recording.mappings[place[0]][3]}+0x{place[1]:x}"
                 for place in places(recording, stack, linked)]
        samples.append([frames.setdefault(name, len(frames)) for name in reversed(names)])
    profile = {"type": "sampled", "name": "all", "unit": "none", "startValue": 0,
               "endValue": sum(recording.stacks.values()), "samples": samples,
               "weights": list(recording.stacks.values())}
    return json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
                       "shared": {"frames": [{"name": name} for name in frames]},
                       "profiles": [profile]}).encode()


def firefox(recording, build_ids, linked, shared=False):
    """As samply writes a profile for Firefox's profiler; tables are shared by threads, or not."""
    frames, stacks, samples = {}, {}, []
    for stack in recording.stacks:
        prefix = None
        for place in reversed(list(places(recording, stack, linked))):
            frame = frames.setdefault(place, len(frames))
            prefix = stacks.setdefault((prefix, frame), len(stacks))
        samples.append(prefix)
    libs = [{"name": path.rsplit("/", 1)[-1], "path": path, "codeId": build_ids.get(path)}
            for _, _, _, path in recording.mappings]
    tables = {"frameTable": {"length": len(frames),
                             "address": [-1 if p is None else p[1] for p in frames],
                             "func": list(range(len(frames)))},
              "funcTable": {"resource": [-1 if p is None else p[0] for p in frames]},
              "resourceTable": {"lib": list(range(len(libs)))},
              "stackTable": {"prefix": [prefix for prefix, _ in stacks],
                             "frame": [frame for _, frame in stacks]}}
    thread = {"pid": "7", "processName": "app",
              "samples": {"stack": samples + [samples[0]], "weightType": "samples",
                          "weight": list(recording.stacks.values()) + [99],
                          "threadCPUDelta": [1] * len(samples) + [0]}}
    whole = {"meta": {"interval": 1}, "libs": libs,
             "threads": [thread if shared else thread | tables]}
    return json.dumps(whole | ({"shared": tables} if shared else {})).encode()


# ---- reading ----

def fields(message):
    """Numbers and contents of the fields of a message: a number, or bytes."""
    at = 0

    def take():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        tag = take()
        if tag & 7 == 0:
            yield tag >> 3, take()
        elif tag & 7 == 1:
            yield tag >> 3, int.from_bytes(message[at:at + 8], "little")
            at += 8
        else:
            size = take()
            yield tag >> 3, message[at:at + size]
            at += size


def unpacked(content):
    """The numbers of a packed field."""
    return [value for _, value in fields(b"".join(
        b"\x08" + piece for piece in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", content)))]


def pprof_functions(content):
    """By name: file and first line; and the sums of the values of all samples."""
    message = gzip.decompress(content)
    texts = [value.decode() for field, value in fields(message) if field == 6]
    functions, sums = {}, None
    for field, value in fields(message):
        if field == 5:
            f = dict(fields(value))
            functions[texts[f[2]]] = (texts[f.get(4, 0)], f.get(5, 0))
        if field == 2:
            values = unpacked(dict(fields(value))[2])
            sums = [a + b for a, b in zip(sums or [0] * len(values), values)]
    return functions, sums


def otlp_sums(message):
    """By type of value: the sum of all samples, and how many have a stack with locations."""
    tables = dict(fields(message))[2]
    texts = [value.decode() for field, value in fields(tables) if field == 5]
    stacks = [value for field, value in fields(tables) if field == 7]
    found = {}
    resource = dict(fields(message))[1]
    for _, profile in fields(dict(fields(resource))[2]):
        total = with_stack = 0
        for field, value in fields(profile):
            if field == 1:
                name = texts[dict(fields(value))[1]]
            if field == 2:
                sample = dict(fields(value))
                total += sum(unpacked(sample[4]))
                with_stack += bool(stacks[sample.get(1, 0)])
        found[name] = (total, with_stack)
    return found
