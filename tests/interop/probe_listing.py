#!/usr/bin/env python3
"""Programs with pseudo probes of several clang releases: `pgokit disasm --format llvm` prints
what llvm-profgen 22 prints, byte for byte, with probes and with source locations.
"""

import os
import shutil
import sys

from peers import PROGRAMS, Failure, Skip, good, main, require, run, tool

LLD = "-fuse-ld=/usr/bin/ld.lld-22"
CXX = ["probes.cpp", "probes_other.cpp"]
C = ["probes_c.c"]
MODERN = ["-std=c++20", "-DPROBES_COROUTINES"]


class Build:
    def __init__(self, release, *flags, sources=None):
        self.release, self.flags = release, list(flags)
        self.sources = sources or CXX

    @property
    def name(self):
        words = [os.path.basename(f) if f.startswith("-fuse-ld=/") else f for f in self.flags]
        language = "C" if self.sources is C else "C++"
        return f"clang {self.release} {language} {' '.join(words)}"


BUILDS = [
    *[Build(r, o) for r in (14, 16, 19, 22) for o in ("-O0", "-O1", "-O2", "-O3", "-Os")],
    *[Build(r, o, sources=C) for r in (14, 19, 22) for o in ("-O0", "-O2", "-O3")],
    *[Build(r, "-O2", "-no-pie", "-ffunction-sections", "-Wl,--gc-sections")
      for r in (14, 19, 22)],
    *[Build(r, "-O2", "-static") for r in (14, 19, 22)],
    *[Build(r, "-O2", "-fPIE", "-pie", LLD) for r in (14, 19, 22)],
    *[Build(22, "-O2", lto, LLD) for lto in ("-flto", "-flto=thin")],
    *[Build(r, "-O2", "-flto=thin", f"-fuse-ld=/usr/lib/llvm-{r}/bin/ld.lld") for r in (14, 19)],
    Build(22, "-O2", "-ffunction-sections", "-Wl,--gc-sections,--icf=all", LLD),
    Build(22, "-O2", "-fuse-ld=mold"),
    *[Build(r, "-O2", *MODERN) for r in (19, 22)],
    Build(22, "-O1", *MODERN, "-ffunction-sections", LLD),
    *[Build(r, "-O3", "-march=x86-64-v3", sources=C) for r in (14, 19, 22)],
    Build(22, "-O3", "-march=x86-64-v4", "-mprefer-vector-width=512", sources=C),
    Build(22, "-O2", "-mllvm", "-enable-fs-discriminator=1", "-fdebug-info-for-profiling"),
    Build(22, "-O2", "-fcf-protection=full", "-fno-exceptions", sources=C),
    Build(22, "-O2", "-fpatchable-function-entry=9", "-fstack-protector-all", sources=C),
    Build(14, "-O1", "-fbasic-block-sections=all", LLD, sources=C),
    Build(19, "-O1", "-fbasic-block-sections=all", LLD, sources=C),
    *[Build(r, "-O2", "-mllvm", "-hot-cold-split=true", sources=CXX) for r in (19, 22)],
]


def build(work, b):
    folder = work.temp("probes")
    compiler = tool("clang" if b.sources is C else "clang++", b.release)
    for flag in b.flags:
        if flag.startswith("-fuse-ld="):
            tool(flag.removeprefix("-fuse-ld="))
    exe = os.path.join(folder, "prog")
    good(compiler, "-g", "-fpseudo-probe-for-profiling", *b.flags,
         *[os.path.join(PROGRAMS, s) for s in b.sources], "-o", exe, timeout=300)
    return exe


def first_difference(ours, theirs):
    for number, (a, b) in enumerate(zip(ours.split(b"\n"), theirs.split(b"\n")), 1):
        if a != b:
            return (f"line {number}\n  pgokit       {a[:300].decode(errors='replace')!r}\n"
                    f"  llvm-profgen {b[:300].decode(errors='replace')!r}")
    return f"{len(ours)} bytes, llvm-profgen {len(theirs)}"


def listings(work, exe, ours, theirs):
    """Both listings, which must be equal."""
    peer = run(tool("llvm-profgen", 22), "--show-disassembly-only", f"--binary={exe}", "-o",
               os.devnull, *theirs, timeout=300)
    require(peer.code == 0, str(peer))
    mine = run(work.pgokit, "disasm", exe, "--format", "llvm", *ours, timeout=300)
    require(mine.code == 0, str(mine))
    if mine.out != peer.out:
        raise Failure(first_difference(mine.out, peer.out))
    return mine.out


def equal(work, b):
    exe = build(work, b)
    out = listings(work, exe, ["--probes"], ["--show-pseudo-probe"])
    require(out.count(b" [Probe]:") > 10, "hardly any probes: what was compared?")
    listings(work, exe, [], [])
    listings(work, exe, ["--source"], ["--show-source-locations"])
    listings(work, exe, ["--probes", "--source"],
             ["--show-pseudo-probe", "--show-source-locations"])
    out = listings(work, exe, ["--probes", "-f", "main"],
                   ["--show-pseudo-probe", "--disassemble-functions=main"])
    require(b"FUNC: main Index: 1 " in out, "no entry probe of main")
    good(work.pgokit, "check", exe)


def cross(work, level):
    """AArch64, without a C library."""
    folder = work.temp("probes-arm64")
    source = os.path.join(folder, "a.c")
    with open(os.path.join(PROGRAMS, "probes_c.c"), encoding="ascii") as f:
        text = f.read()
    # No headers of that machine are needed for the functions themselves.
    text = text[text.index("static double norm"):text.index("_Thread_local")]
    with open(source, "w", encoding="ascii") as f:
        f.write(text + "double _start(double *v, const char *s, long n)\n"
                       "{\n    return norm(v, 99) + hash(s) + power(n, 7);\n}\n")
    exe = os.path.join(folder, "prog")
    tool("/usr/bin/ld.lld-22")
    good(tool("clang", 22), "--target=aarch64-linux-gnu", "-g", level, "-ffreestanding",
         "-nostdlib", "-static", "-fpseudo-probe-for-profiling", LLD, source, "-o", exe)
    out = listings(work, exe, ["--probes"], ["--show-pseudo-probe"])
    require(out.count(b" [Probe]:") > 10, "hardly any probes")
    listings(work, exe, ["--source"], ["--show-source-locations"])


def stripped(work):
    """Without symbols nothing has an address; that is said, not guessed."""
    exe = build(work, Build(22, "-O2", sources=C))
    good("strip", exe)
    result = run(work.pgokit, "disasm", exe, "--probes", "-f", "main")
    require(result.code == 2 and "no symbol main" in result.errors, str(result))
    result = run(work.pgokit, "check", exe)
    require(result.code == 2 and "no symbol whose name has GUID" in result.errors, str(result))


def removed_by_gold(work):
    """gold keeps the probes of functions that it removes; they must not turn up elsewhere."""
    if not shutil.which("ld.gold"):
        raise Skip("missing ld.gold")
    exe = build(work, Build(22, "-O2", "-ffunction-sections", "-Wl,--gc-sections",
                            "-fuse-ld=gold"))
    listing = good(work.pgokit, "disasm", exe, "--format", "llvm", "--probes")
    require("FUNC: main Index: 1 " in listing, "no probes at all")
    require(" [Probe]:\tFUNC: _Z13dead_functioni Index: 1 " not in listing,
            "a probe of a function that is not there")
    result = run(work.pgokit, "show", exe)
    require(result.code == 1 and "without code" in result.text, str(result))


def add_cases(work, tap):
    tool("llvm-profgen", 22)
    for b in BUILDS:
        tap.add(b.name, equal, work, b)
    for level in ("-O0", "-O1", "-O2", "-O3", "-Os"):
        tap.add(f"AArch64 clang 22 {level}", cross, work, level)
    tap.add("stripped", stripped, work)
    tap.add("functions removed by gold", removed_by_gold, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
