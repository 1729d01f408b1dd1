"""Writes perf.data files of hardware that test machines lack: branch stacks, loads with
addresses, AMD IBS, ARM SPE. The layout is that of docs/formats/perf-data.md; `perf report -D`
of the installed perf must read them, too.
"""

import random
import struct

MAGIC = b"PERFILE2"
IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCH = (
    1 << i for i in range(12)
)
REGS_USER, STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION = (1 << i for i in range(12, 18))
REGS_INTR, PHYS = 1 << 18, 1 << 19
HW_INDEX = 1 << 17  # of branch types
SAMPLE_ID_ALL = 1 << 18  # of flags
CONTEXT_USER = (1 << 64) - 512
BUILD_ID, VERSION, ARCH, CPUID, EVENT_DESC, PMU_MAPPINGS, AUXTRACE = 2, 5, 6, 9, 12, 16, 18
RAW_PMU = 4


def pad(data):
    return data + bytes(-len(data) % 8)


def string(text):
    data = text.encode() + b"\0"
    data += bytes(-len(data) % 64)
    return struct.pack("<I", len(data)) + data


class Event:
    def __init__(
        self,
        sample_type,
        name="cycles:u",
        pmu=RAW_PMU,
        branch_type=0,
        period=1000,
        regs=0,
        precise=0,
        ids=(1,),
    ):
        self.sample_type, self.name, self.pmu, self.branch_type = (
            sample_type,
            name,
            pmu,
            branch_type,
        )
        self.period, self.regs, self.precise, self.ids = period, regs, precise, ids

    def attr(self, size=128):
        """Flags that came with later sizes are left out with them."""
        newer = 1 << 23 if size >= 104 else 0
        flags = SAMPLE_ID_ALL | 1 << 8 | 1 << 9 | 1 << 13 | newer | self.precise << 15
        head = struct.pack(
            "<IIQQQQQII", self.pmu, size, 0, self.period, self.sample_type, 4, flags, 0, 0
        )
        return (
            head
            + struct.pack("<QQQQIIQII", 0, 0, self.branch_type, self.regs, 0, 0, self.regs, 0, 0)
            + bytes(16)
        )[:size]


class Recording:
    """Records of one recording; `samples` are the truth about them."""

    def __init__(self, *events, cpu="GenuineIntel,6,167,1", pmus=((RAW_PMU, "cpu"),),
                 version="6.1", attr_size=128):
        self.events, self.cpu, self.pmus = events, cpu, pmus
        self.version, self.attr_size, self.build_ids = version, attr_size, []
        self.records, self.samples, self.time, self.traces = [], [], 1000, []

    def add(self, kind, body, misc=0, trailing=b""):
        assert len(body) % 8 == 0, len(body)
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body + trailing)

    def trailer(self, pid, tid):
        kind, data = self.events[0].sample_type, b""
        for bit, word in (
            (TID, struct.pack("<II", pid, tid)),
            (TIME, struct.pack("<Q", self.time)),
            (ID, struct.pack("<Q", self.events[0].ids[0])),
            (STREAM, bytes(8)),
            (CPU, bytes(8)),
            (IDENTIFIER, struct.pack("<Q", self.events[0].ids[0])),
        ):
            data += word if kind & bit else b""
        self.time += 1
        return data

    def mmap(self, pid, start, size, offset, path, prot=5, build_id=b""):
        self.add(
            10,
            struct.pack("<iiQQQ", pid, pid, start, size, offset)
            + (struct.pack("<B3x20s", len(build_id), build_id) if build_id else bytes(24))
            + struct.pack("<II", prot, 2)
            + pad(path.encode() + b"\0")
            + self.trailer(pid, pid),
            misc=2 | (1 << 14 if build_id else 0),
        )

    def mmap1(self, pid, start, size, offset, path):
        """As the kernel before 3.16 says it, and perf of its own symbols."""
        self.add(
            1,
            struct.pack("<iiQQQ", pid, 0 if pid < 0 else pid, start, size, offset)
            + pad(path.encode() + b"\0")
            + self.trailer(pid & 0xFFFFFFFF, pid & 0xFFFFFFFF),
            misc=1 if pid < 0 else 2,
        )

    def build_id(self, build_id, path, with_size=True):
        """In the table behind the data; perf before 5.11 does not say the size."""
        name = path.encode() + bytes(64 - len(path) % 64)
        size = struct.pack("<B3x", len(build_id)) if with_size else bytes(4)
        misc = 2 | (1 << 15 if with_size else 0)
        self.build_ids.append(struct.pack("<IHHi20s", 0, misc, 36 + len(name), -1, build_id)
                              + size + name)

    def comm(self, pid, name, by_exec=False):
        self.add(
            3,
            struct.pack("<II", pid, pid) + pad(name.encode() + b"\0") + self.trailer(pid, pid),
            misc=0x2000 if by_exec else 0,
        )

    def fork(self, pid, parent):
        self.add(
            7, struct.pack("<IIIIQ", pid, parent, pid, parent, self.time) + self.trailer(pid, pid)
        )

    def sample(self, event=0, mode=2, **truth):
        e = self.events[event]
        s = {
            "pid": 77,
            "tid": 77,
            "time": self.time,
            "ip": 0,
            "addr": 0,
            "period": e.period,
            "chain": (),
            "branches": (),
            "data_src": 0,
            "raw": b"",
            **truth,
        }
        self.time += 1
        number = struct.pack("<Q", e.ids[0])
        regs = struct.pack("<Q", 2) + bytes(8 * bin(e.regs).count("1"))
        fields = (
            (IDENTIFIER, number),
            (IP, struct.pack("<Q", s["ip"])),
            (TID, struct.pack("<II", s["pid"], s["tid"])),
            (TIME, struct.pack("<Q", s["time"])),
            (ADDR, struct.pack("<Q", s["addr"])),
            (ID, number),
            (STREAM, bytes(8)),
            (CPU, bytes(8)),
            (PERIOD, struct.pack("<Q", s["period"])),
            (READ, bytes(8) + number),
            (CHAIN, struct.pack(f"<{1 + len(s['chain'])}Q", len(s["chain"]), *s["chain"])),
            (RAW, struct.pack("<I", len(s["raw"])) + s["raw"]),
            (
                BRANCH,
                struct.pack("<Q", len(s["branches"]))
                + (bytes(8) if e.branch_type & HW_INDEX else b"")
                + b"".join(struct.pack("<QQQ", f, t, 2) for f, t in s["branches"]),
            ),
            (REGS_USER, regs),
            (STACK_USER, struct.pack("<QQQ", 8, 0, 8)),
            (WEIGHT, struct.pack("<Q", 9)),
            (DATA_SRC, struct.pack("<Q", s["data_src"])),
            (TRANSACTION, bytes(8)),
            (REGS_INTR, regs),
            (PHYS, bytes(8)),
        )
        self.add(9, b"".join(data for bit, data in fields if e.sample_type & bit), misc=mode)
        self.samples.append(dict(s, event=event, mode=mode))

    def spe_trace(self, packets):
        """AUXTRACE_INFO and one AUXTRACE with its bytes behind it."""
        self.add(70, struct.pack("<IIQQ", 4, 0, 8, 1))
        self.traces.append(sum(map(len, self.records)))
        packets = pad(packets)
        self.add(71, struct.pack("<QQQIIII", len(packets), 0, 0, 0, 77, 0, 0), trailing=packets)

    def write_file(self, path, finished=True):
        head, attrs = 104, b""
        ids = b"".join(struct.pack(f"<{len(e.ids)}Q", *e.ids) for e in self.events)
        at = head
        for e in self.events:
            attrs += e.attr(self.attr_size) + struct.pack("<QQ", at, 8 * len(e.ids))
            at += 8 * len(e.ids)
        data_at = head + len(ids) + len(attrs)
        data = b"".join(self.records)
        features = [(BUILD_ID, b"".join(self.build_ids))] if self.build_ids else []
        features += [
            (VERSION, string(self.version)),
            (ARCH, string("x86_64")),
            (CPUID, string(self.cpu)),
            (
                EVENT_DESC,
                struct.pack("<II", len(self.events), self.attr_size)
                + b"".join(
                    e.attr(self.attr_size)
                    + struct.pack("<I", len(e.ids))
                    + string(e.name)
                    + struct.pack(f"<{len(e.ids)}Q", *e.ids)
                    for e in self.events
                ),
            ),
            (
                PMU_MAPPINGS,
                struct.pack("<I", len(self.pmus))
                + b"".join(
                    struct.pack("<I", number) + string(name) for number, name in self.pmus
                ),
            ),
        ]
        if self.traces:
            features.append(
                (
                    AUXTRACE,
                    struct.pack("<Q", len(self.traces))
                    + b"".join(struct.pack("<QQ", data_at + t, 48) for t in self.traces),
                )
            )
        bits, table, contents = 0, b"", b""
        behind = data_at + len(data) + 16 * len(features)
        for bit, content in features:
            bits |= 1 << bit
            table += struct.pack("<QQ", behind + len(contents), len(content))
            contents += content
        header = MAGIC + struct.pack(
            "<QQQQQQQQ",
            head,
            self.attr_size + 16,
            head + len(ids),
            len(attrs),
            data_at,
            len(data) if finished else 0,
            0,
            0,
        )
        header += struct.pack("<QQQQ", bits if finished else 0, 0, 0, 0)
        with open(path, "wb") as out:
            out.write(header + ids + attrs + data)
            if finished:
                out.write(table + contents)

    def write_pipe(self, path):
        data = MAGIC + struct.pack("<Q", 16)
        for e in self.events:
            body = e.attr() + struct.pack(f"<{len(e.ids)}Q", *e.ids)
            data += struct.pack("<IHH", 64, 0, 8 + len(body)) + body
        with open(path, "wb") as out:
            out.write(data + b"".join(self.records))


def address(seed):
    return 0x400000 + seed.randrange(1 << 20)


def random_recording(seed):
    """Two events with any fields, a few processes, some hundred samples."""
    seed = random.Random(seed)
    optional = (
        ADDR,
        CHAIN,
        RAW,
        BRANCH,
        REGS_USER,
        STACK_USER,
        WEIGHT,
        DATA_SRC,
        TRANSACTION,
        REGS_INTR,
        PHYS,
    )
    common = IP | TID | TIME | PERIOD | IDENTIFIER | seed.choice((0, ID))
    for bit in (CPU, STREAM, READ):  # in which perf wants all events to agree
        common |= seed.choice((0, bit))
    events = [
        Event(
            common | sum(b for b in optional if seed.random() < 0.5),
            name,
            branch_type=seed.choice((8, 8 | HW_INDEX)),
            regs=0xFF,
            ids=ids,
        )
        for name, ids in (("cycles:u", (11,)), ("mem-loads:P", (12, 13)))
    ]
    r = Recording(*events)
    for pid in (77, 78):
        r.comm(pid, "program", by_exec=True)
        r.mmap(pid, 0x400000, 0x100000, 0, "/opt/program")
    for _ in range(200):
        event = seed.randrange(2)
        has = events[event].sample_type
        truth = {
            "ip": address(seed),
            "pid": seed.choice((77, 78)),
            "period": seed.randrange(1, 9999),
        }
        truth["tid"] = truth["pid"]
        if has & ADDR:
            truth["addr"] = address(seed)
        if has & CHAIN:
            truth["chain"] = (
                CONTEXT_USER,
                truth["ip"],
                *(address(seed) for _ in range(seed.randrange(5))),
            )
        if has & BRANCH:
            truth["branches"] = tuple(
                (address(seed), address(seed)) for _ in range(seed.randrange(33))
            )
        if has & RAW:
            truth["raw"] = bytes(4 + 8 * seed.randrange(4))
        if has & DATA_SRC:
            truth["data_src"] = 0x68100142
        r.sample(event, **truth)
    return r


def ibs_raw(pc, addr, load=True, valid=True, target=0):
    """What the kernel copies of the registers of IBS, with the branch target."""
    return struct.pack(
        "<IQQQQQQQQ",
        1 << 5,
        3 << 17,
        pc,
        1 << 37 | 1 << 35 if target else 0,
        0,
        (1 if load else 2) | (1 << 17 if valid else 0),
        addr,
        0,
        target,
    )


def spe_packet(header, payload, size=8):
    return bytes([header]) + payload.to_bytes(size, "little")


def spe_record(pc, **parts):
    data = spe_packet(0xB0, pc)
    if "addr" in parts:
        data += spe_packet(0x49, parts.get("store", 0), 1) + spe_packet(0xB2, parts["addr"])
    if "target" in parts:
        data += spe_packet(0x4A, 1, 1) + spe_packet(0x52, parts.get("events", 2), 2)
        data += spe_packet(0xB1, parts["target"])
    return data + spe_packet(0x99, 12, 2) + spe_packet(0x71, 5)
