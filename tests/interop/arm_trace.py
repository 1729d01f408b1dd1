"""Runs a program of AArch64 in an emulator, instruction by instruction, and writes what perf script
would of branch stacks and call chains, as tests/tools/branch_trace.c does for programs of this
machine. The emulator is qemu-user, spoken to by the remote protocol of gdb."""

import contextlib
import os
import socket
import struct
import subprocess
import tempfile
import time

from peers import Failure, Skip, require, run, tool

BROUGHT = os.environ.get("PGOKIT_CROSS") or os.path.expanduser("~/.cache/pgokit/cross")
EMULATOR = os.path.join(BROUGHT, "bin", "qemu-aarch64")
ROOT = os.path.join(BROUGHT, "aarch64")
FRAME_POINTER, LINK, PC = 29, 30, 32
STACK, CHAIN, PATIENCE = 32, 64, 600


def need():
    """The emulator, and the folder of the libraries to link with."""
    for path in (EMULATOR, ROOT):
        if not os.path.exists(path):
            raise Skip(f"no {path}: scripts/cross brings it")
    return ROOT


class Debugger:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError):
                self.socket.connect(path)
                break
            require(time.monotonic() < end, "the emulator does not answer")
            time.sleep(0.02)
        self.socket.settimeout(PATIENCE)
        self.file = self.socket.makefile("rb")
        # Registers can be asked for one by one by who knows their description.
        self.ask("qSupported:xmlRegisters=aarch64")
        self.ask("qXfer:features:read:target.xml:0,ffb")

    def ask(self, text):
        packet = text.encode()
        self.socket.sendall(b"$%s#%02x" % (packet, sum(packet) % 256))
        while self.file.read(1) != b"$":
            pass
        answer = bytearray()
        while (byte := self.file.read(1)) != b"#":
            if not byte:
                raise Failure("the emulator has ended")
            answer += byte
        self.file.read(2)
        self.socket.sendall(b"+")
        return answer.decode("latin-1")

    def register(self, number):
        return struct.unpack("<Q", bytes.fromhex(self.ask(f"p{number:x}"))[:8])[0]

    def memory(self, address, size):
        """None where nothing is mapped."""
        answer = self.ask(f"m{address:x},{size:x}")
        return None if answer.startswith("E") else bytes.fromhex(answer)


class Trace:
    """What ran, as samples of (instruction, branches newest first, chain by frame pointers, calls
    that are open, innermost first)."""

    def __init__(self):
        self.samples, self.text = [], ""

    def write(self, path, chains=None):
        """chains: "frames" for those by frame pointers, "calls" for the calls that are open."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
            for ip, branches, frames, calls in self.samples:
                above = frames if chains == "frames" else [call + 4 for call in calls]
                if chains:
                    file.write("\n" + "".join(f"\t{at:16x}\n" for at in [ip, *above]))
                else:
                    file.write(f" {ip:16x}")
                for source, target in branches:
                    file.write(f" 0x{source:x}/0x{target:x}/P/-/-/0/ ")
                file.write("\n")
        return path


def chain_of(debugger):
    chain, at, last = [], debugger.register(FRAME_POINTER), 0
    while len(chain) < CHAIN and at > last:
        pair = debugger.memory(at, 16)
        if not pair:
            break
        last, (at, back) = at, struct.unpack("<QQ", pair)
        if not back:
            break
        chain.append(back & (1 << 48) - 1) # the kernel takes off what signs it
    return chain


def mappings(exe):
    """Of a program at a fixed address, in perf's words."""
    out = ""
    for line in run(tool("readelf"), "-lW", exe).text.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:8]:
            offset, start, size = (int(words[i], 16) for i in (1, 2, 5))
            low, high = start & ~0xfff, start + size + 0xfff & ~0xfff
            out += (f"PERF_RECORD_MMAP2 1/1: [0x{low:x}(0x{high - low:x}) @ "
                    f"0x{offset & ~0xfff:x} 00:00 0 0]: r-xp {exe}\n")
    return out


def trace(exe, *arguments, every=7, steps=40000, start="main"):
    """The instructions of a static program from a function on, until that returns, or so many."""
    symbols = {words[2]: int(words[0], 16) for words in
               map(str.split, run(tool("nm"), exe).text.splitlines()) if len(words) == 3}
    result = Trace()
    result.text = mappings(exe)
    with tempfile.TemporaryDirectory(prefix="pgokit-gdb-") as folder:
        path = os.path.join(folder, "socket")
        with subprocess.Popen([EMULATOR, "-g", path, exe, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                follow(Debugger(path), symbols[start], every, steps, result)
            finally:
                process.kill()
    return result


def follow(debugger, start, every, steps, result):
    debugger.ask(f"Z0,{start:x},4")
    debugger.ask("c")
    debugger.ask(f"z0,{start:x},4")
    pc, words, branches, calls = debugger.register(PC), {}, [], []
    require(pc == start, f"stopped at {pc:x}, not at {start:x}")
    end = debugger.register(LINK)
    for step in range(1, steps + 1):
        debugger.ask("s")
        before, pc = pc, debugger.register(PC)
        if pc == end:
            return
        if pc != before + 4:
            if before not in words:
                words[before] = struct.unpack("<I", debugger.memory(before, 4))[0]
            word = words[before]
            branches = [(before, pc), *branches[:STACK - 1]]
            if word >> 26 == 0b100101 or word & 0xfffffc1f == 0xd63f0000: # bl, blr
                calls = [before, *calls]
            elif word & 0xfffffc1f == 0xd65f0000: # ret
                calls = calls[1:]
        if step % every == 0 and len(branches) >= 2:
            result.samples.append((pc, branches, chain_of(debugger), calls))
