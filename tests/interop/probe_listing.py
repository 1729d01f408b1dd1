#!/usr/bin/env python3
"""Programs with pseudo probes of several clang releases: `pgokit disasm --format llvm` prints
what llvm-profgen 22 prints, byte for byte, with probes and with source locations.
"""

import json
import os
import re
import shutil
import sys

from peers import (AARCH64, HERE, PROGRAMS, Failure, Skip, good, main, need_aarch64, need_linkers,
                   read, require, run, tool)

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
    *[Build(r, o) for r in (14, 16, 19, 22, 23) for o in ("-O0", "-O1", "-O2", "-O3", "-Os")],
    *[Build(r, o, sources=C) for r in (14, 19, 22, 23) for o in ("-O0", "-O2", "-O3")],
    *[Build(r, "-O2", "-no-pie", "-ffunction-sections", "-Wl,--gc-sections")
      for r in (14, 19, 22)],
    *[Build(r, "-O2", "-static") for r in (14, 19, 22)],
    *[Build(r, "-O2", "-fPIE", "-pie", LLD) for r in (14, 19, 22)],
    *[Build(22, "-O2", lto, LLD) for lto in ("-flto", "-flto=thin")],
    *[Build(r, "-O2", lto, f"-fuse-ld=/usr/lib/llvm-{r}/bin/ld.lld")
      for r in (14, 19) for lto in ("-flto", "-flto=thin")],
    *[Build(r, "-O2", "-static-pie") for r in (14, 19, 22)],
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
    need_linkers(b.flags)
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


def listings(work, exe, ours, theirs, release=22):
    """Both listings, which must be equal."""
    peer = run(tool("llvm-profgen", release), "--show-disassembly-only", f"--binary={exe}", "-o",
               os.devnull, *theirs, timeout=300)
    require(peer.code == 0, str(peer))
    mine = run(work.pgokit, "disasm", exe, "--format", "llvm", *ours, timeout=300)
    require(mine.code == 0, str(mine))
    if mine.out != peer.out:
        raise Failure(first_difference(mine.out, peer.out))
    return mine.out


def equal(work, b):
    exe, release = build(work, b), max(22, b.release)
    out = listings(work, exe, ["--probes"], ["--show-pseudo-probe"], release)
    require(out.count(b" [Probe]:") > 5, "hardly any probes: what was compared?")
    listings(work, exe, [], [], release)
    listings(work, exe, ["--source"], ["--show-source-locations"], release)
    listings(work, exe, ["--probes", "--source"],
             ["--show-pseudo-probe", "--show-source-locations"], release)
    out = listings(work, exe, ["--probes", "-f", "main"],
                   ["--show-pseudo-probe", "--disassemble-functions=main"], release)
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
    good(tool("clang", 22), AARCH64, "-g", level, "-ffreestanding",
         "-nostdlib", "-static", "-fpseudo-probe-for-profiling", LLD, source, "-o", exe)
    out = listings(work, exe, ["--probes"], ["--show-pseudo-probe"])
    require(out.count(b" [Probe]:") > 10, "hardly any probes")
    listings(work, exe, ["--source"], ["--show-source-locations"])


def cross_program(work, *flags):
    """AArch64, a whole C++ program with its libraries' code."""
    need_aarch64()
    exe = build(work, Build(22, AARCH64, *flags, LLD))
    out = listings(work, exe, ["--probes"], ["--show-pseudo-probe"])
    require(out.count(b" [Probe]:") > 50, "hardly any probes")
    listings(work, exe, ["--probes", "--source"],
             ["--show-pseudo-probe", "--show-source-locations"])
    good(work.pgokit, "check", exe)


def system_instructions(work):
    """AArch64, all of them, with a general register and with none."""
    folder = work.temp("system-arm64")
    source, exe = os.path.join(folder, "a.s"), os.path.join(folder, "prog")
    words = [base | register for base in range(0xd5000000, 0xd5400000, 32) for register in (2, 31)]
    with open(source, "w", encoding="ascii") as f:
        f.write(".globl _start\n.type _start, %function\n_start:\n")
        f.writelines(f".inst {word:#x}\n" for word in words)
        f.write("ret\n.size _start, . - _start\n")
    tool("/usr/bin/ld.lld-22")
    good(tool("clang", 22), AARCH64, "-nostdlib", "-static", LLD, source, "-o", exe)
    out = listings(work, exe, [], [])
    require(out.count(b"\n") > len(words), "hardly any instructions")


def table_of_names(work):
    """The table of these instructions is what the script makes of LLVM's names."""
    root = os.path.dirname(os.path.dirname(HERE))
    made = good(os.path.join(root, "scripts", "arm64-names"), tool("llvm-mc", 22))
    with open(os.path.join(root, "lib", "insn", "arm64_system.def"), encoding="ascii") as f:
        require(made == f.read(), "differs from what scripts/arm64-names prints: run it")


def stripped(work):
    """Without symbols nothing has an address; that is said, not guessed."""
    exe = build(work, Build(22, "-O2", sources=C))
    good("strip", exe)
    result = run(work.pgokit, "disasm", exe, "--probes", "-f", "main")
    require(result.code == 2 and "no symbol main" in result.errors, str(result))
    result = run(work.pgokit, "disasm", exe)
    require(result.code == 1 and "is stripped" in result.errors, str(result))
    result = run(work.pgokit, "check", exe)
    require(result.code == 2 and "no symbol whose name has GUID" in result.errors, str(result))


def names(work):
    """Functions by the name that a programmer writes, with or without code of their own."""
    exe = build(work, Build(22, "-O2"))
    nodes = shown(work, exe)["nodes"]
    roots = {n["function"] for n in nodes if "parent" not in n}
    inlined = sorted({n["function"] for n in nodes} - roots)
    require(inlined, "nothing is inlined only")
    result = run(work.pgokit, "disasm", exe, "-f", inlined[0])
    require(result.code == 2 and f"{inlined[0]} has no code of its own: it is inlined, " in
            result.errors, str(result))
    result = run(work.pgokit, "disasm", exe, "-f", "main", "-f", "nothing_like_it")
    require(result.code == 2 and "no symbol nothing_like_it" in result.errors, str(result))
    tagged = good(work.pgokit, "disasm", exe, "-f", "tagged_name")
    with_source = good(work.pgokit, "disasm", exe, "-f", "tagged_name", "--source")
    require("probes.cpp:" in with_source and "return n > 7 ? n / 3 : n;" in with_source,
            with_source)
    require(tagged.startswith("tagged_name[abi:cxx11](int)  0x"), tagged[:200])


def stubs(work, *flags):
    """Calls of other libraries have the names that objdump gives to the linkage table."""
    if AARCH64 in flags:
        need_aarch64()
    exe = build(work, Build(22, "-O1", *flags))
    objdump = tool("llvm-objdump", 22) if AARCH64 in flags else "objdump"
    text = good(objdump, "-d", "--no-show-raw-insn", exe)
    theirs = set(re.findall(r"(?:call|bl|jmp|b)\w*\s+(?:0x)?([0-9a-f]+) <([^>+]*)@plt>", text))
    ours = set()
    for function in json.loads(good(work.pgokit, "disasm", exe, "--json"))["functions"]:
        require(not function["section"].startswith(".plt"), f"a stub is listed: {function}")
        for insn in function["instructions"]:
            if insn.get("target_symbol", {}).get("plt"):
                require(insn["target_symbol"]["offset"] == 0, str(insn))
                ours.add((insn["target"].removeprefix("0x"), insn["target_symbol"]["name"]))
    require(len(theirs) > 5, "hardly any calls of libraries")
    require(ours >= theirs, f"without a name: {sorted(theirs - ours)}")
    require({n for _, n in ours} == {n for _, n in theirs}, f"{sorted(ours)}, not {sorted(theirs)}")
    require("<printf@plt>" in good(work.pgokit, "disasm", exe, "-f", "main"), "no name in main")


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


def shown(work, exe):
    return json.loads(good(work.pgokit, "show", exe, "--probes", "--json"))


def profile(work, exe):
    """A sample profile in which two thirds of each function's probes are hot, the rest cold."""
    show = shown(work, exe)
    hashes = {d["name"]: int(d["hash"], 16) for d in show["descriptors"]}
    probes = {}
    for node in show["nodes"]:
        if "parent" not in node:
            probes.setdefault(node["function"], set()).update(p["index"] for p in node["probes"])
    lines = []
    for function, indexes in probes.items():
        hot = sorted(indexes)[:max(1, len(indexes) * 2 // 3)]
        lines.append(f"{function}:{1000 * len(hot)}:1000")
        lines += [f" {i}: {1000 if i in hot else 0}" for i in sorted(indexes)]
        lines.append(f" !CFGChecksum: {hashes[function]}")
    return "\n".join(lines) + "\n"


def split(work, release):
    """Cold blocks in sections of their own. Clang 22 cannot assemble such code with probes."""
    plain = build(work, Build(release, "-O0"))
    text = os.path.join(os.path.dirname(plain), "profile.txt")
    with open(text, "w", encoding="ascii") as f:
        f.write(profile(work, plain))
    exe = build(work, Build(release, "-O2", f"-fprofile-sample-use={text}", "-w",
                            "-fsplit-machine-functions", LLD))
    require(b".cold" in read(exe), "no function was split")
    listings(work, exe, ["--probes"], ["--show-pseudo-probe"])


def mixed(work, older, newer):
    """Objects of two releases, of which only the older has absolute addresses. llvm-profgen
    misplaces the functions of the newer ones; every probe lies in its function's symbol."""
    folder = work.temp("probes-mixed")
    objects = []
    for release, source in ((older, CXX[0]), (newer, CXX[1])):
        objects.append(os.path.join(folder, f"{release}.o"))
        good(tool("clang++", release), "-g", "-O2", "-fpseudo-probe-for-profiling", "-c",
             os.path.join(PROGRAMS, source), "-o", objects[-1])
    for order in (objects, objects[::-1]):
        exe = os.path.join(folder, "prog")
        good(tool("clang++", newer), *order, "-o", exe)
        symbols = {}
        for line in good("nm", "-S", exe).splitlines():
            if len(words := line.split()) == 4:
                symbols[words[3]] = (int(words[0], 16), int(words[0], 16) + int(words[1], 16))
        nodes, roots, good_places = shown(work, exe)["nodes"], [], 0
        for node in nodes:
            roots.append(roots[node["parent"]] if "parent" in node else node["function"])
            low, high = symbols.get(roots[-1], (0, 0))
            good_places += all(low <= int(p["address"], 16) <= high for p in node["probes"])
        # What is left of a function that was inlined elsewhere is a root in another function.
        require(good_places > len(nodes) * 0.9 > 15,
                f"only {good_places} of {len(nodes)} copies are in their functions")


def add_cases(work, tap):
    tool("llvm-profgen", 22)
    for b in BUILDS:
        tap.add(b.name, equal, work, b)
    for level in ("-O0", "-O1", "-O2", "-O3", "-Os"):
        tap.add(f"AArch64 clang 22 {level}", cross, work, level)
    for flags in (["-O2"], ["-O2", "-static"], ["-O3", "-flto"]):
        tap.add(f"AArch64 C++ clang 22 {' '.join(flags)}", cross_program, work, *flags)
    tap.add("AArch64 system instructions", system_instructions, work)
    tap.add("table of AArch64 system instructions", table_of_names, work)
    for release in (14, 16, 19):
        tap.add(f"clang {release} -fsplit-machine-functions", split, work, release)
    for newer in (19, 22):
        tap.add(f"objects of clang 14 and {newer}", mixed, work, 14, newer)
    tap.add("stripped", stripped, work)
    tap.add("names of functions", names, work)
    for flags in (["-fPIE"], ["-fPIE", LLD], ["-fcf-protection=full", "-Wl,-z,ibtplt"],
                  [AARCH64, LLD],
                  [AARCH64, "-mbranch-protection=standard", LLD]):
        tap.add(f"names of stubs {' '.join(flags)}", stubs, work, *flags)
    tap.add("functions removed by gold", removed_by_gold, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
