#!/usr/bin/env python3
"""Types of objects from samples of loads: a virtual function that is called through two classes,
three times as often through one. The loads come as text of perf report -D, as perf.data with
addresses, as AMD IBS raw data and as ARM SPE; profiles are by lines, by probes and with calling
contexts.
"""

import functools
import json
import os
import re
import sys

import stepped
from gen_profiles import equal
from peers import PROGRAMS, good, main, read, require, run, tool
from perf_writer import (ADDR, BRANCH, CHAIN, CONTEXT_USER, DATA_SRC, IP, PERIOD, RAW, TID, TIME,
                         Event, Recording, ibs_raw, spe_record)
from stepped import FRAMES, LINES, PROBES

BASE, PID, LOAD, SLOT = 0x555500000000, 77, 0x68100142, 16
SITES = ["_Z11calls_firstP4Basei", "_Z12calls_secondP4Basei"]
OFTEN, RARELY = 300, 100


def build(work, kind):
    return stepped.recorded(work, 22, "-O2", "-g", kind, FRAMES, "-fPIE", "-pie",
                            sources=("types.cpp",), every=53)


@functools.lru_cache(maxsize=None)
def symbols(exe):
    found = {}
    for line in good(tool("nm"), "-S", exe).splitlines():
        words = line.split()
        if len(words) == 4:
            found[words[3]] = int(words[0], 16)
    return found


@functools.lru_cache(maxsize=None)
def call_of(exe, function):
    """The indirect call in a function, which loads from the vtable."""
    text = good(tool("objdump"), "-d", "--no-show-raw-insn", f"--disassemble={function}", exe)
    return int(re.search(r"^\s*([0-9a-f]+):\s+(?:call|jmp)q?\s+\*", text, re.M).group(1), 16)


@functools.lru_cache(maxsize=None)
def segments(exe):
    """(file offset, address, size, executable) of what is loaded."""
    text = good(tool("readelf"), "-lW", exe)
    rows = re.findall(r"^\s+LOAD\s+(\S+) (\S+) \S+ (\S+) \S+ (...)", text, re.M)
    return [(int(o, 16), int(a, 16), int(n, 16), "E" in flags) for o, a, n, flags in rows]


def mappings(exe, base=BASE):
    for offset, addr, size, executable in segments(exe):
        low = addr & ~4095
        yield base + low, (addr + size - low + 4095) & ~4095, offset & ~4095, executable


def loads(exe):
    """(instruction, data address), three of one class for each of the other."""
    names = symbols(exe)
    for function in SITES:
        call = call_of(exe, function)
        for i in range(OFTEN + RARELY):
            table = names["_ZTV5Often" if i % 4 else "_ZTV6Rarely"]
            yield BASE + call, BASE + table + SLOT + 16


def as_text(exe, path, base=BASE, data_only=False):
    with open(path, "w", encoding="utf-8") as f:
        end = 0
        for start, size, offset, executable in mappings(exe, base):
            if data_only and (executable or start < end):
                continue
            end = start + size
            f.write(f"0 0x1 [0x60]: PERF_RECORD_MMAP2 {PID}/{PID}: [{start:#x}({size:#x}) @ "
                    f"{offset:#x} 08:01 1 0]: {'r-xp' if executable else 'r--p'} {exe}\n")
        for ip, addr in loads(exe):
            f.write(f"1 0x2 [0x60]: PERF_RECORD_SAMPLE(IP, 0x4002): {PID}/{PID}: "
                    f"{ip - BASE + base:#x} period: 100 addr: {addr - BASE + base:#x}\n")


def recording(exe, event, pmus=(), others=()):
    r = Recording(event, pmus=((4, "cpu"), *pmus))
    for path, base in ((exe, BASE), *others):
        for start, size, offset, executable in mappings(path, base):
            r.mmap(PID, start, size, offset, path, prot=5 if executable else 1)
    return r


def as_perf_data(exe, path):
    r = recording(exe, Event(IP | TID | TIME | ADDR | PERIOD | DATA_SRC, name="loads:upp"))
    for ip, addr in loads(exe):
        r.sample(ip=ip, addr=addr, data_src=LOAD)
    r.write_file(path)


def return_address(exe, callee):
    """Behind the call in main."""
    text = good(tool("objdump"), "-d", "--no-show-raw-insn", "--disassemble=main", exe)
    found = re.search(rf"call\S*\s+[0-9a-f]+ <{callee}>\n\s*([0-9a-f]+):", text)
    return BASE + int(found.group(1), 16)


def as_chains(exe, path):
    """With call chains, so that types belong to a calling context."""
    r = recording(exe, Event(IP | TID | TIME | ADDR | PERIOD | CHAIN | DATA_SRC, name="loads:upp"))
    callers = [return_address(exe, site) for site in SITES]
    for number, (ip, addr) in enumerate(loads(exe)):
        caller = callers[number // (OFTEN + RARELY)]
        r.sample(ip=ip, addr=addr, data_src=LOAD, chain=(CONTEXT_USER, ip, caller))
    r.write_file(path)


def as_ibs(exe, path):
    r = recording(exe, Event(IP | TID | TIME | PERIOD | RAW, name="ibs_op//", pmu=11),
                  pmus=((11, "ibs_op"),))
    for ip, addr in loads(exe):
        r.sample(ip=ip, raw=ibs_raw(ip, addr))
    r.write_file(path)


def as_spe(exe, path):
    r = recording(exe, Event(IP | TID | TIME, name="arm_spe_0//", pmu=12),
                  pmus=((12, "arm_spe_0"),))
    r.spe_trace(b"".join(spe_record(ip, addr=addr) for ip, addr in loads(exe)))
    r.write_file(path)


FORMS = {"perf report -D": as_text, "perf.data": as_perf_data, "call chains": as_chains,
         "IBS": as_ibs, "SPE": as_spe}
MODES = {
    "lines": (LINES, ["--mode", "autofdo"]),
    "probes": (PROBES, ["--mode", "probe"]),
    "contexts by probes": (PROBES, ["--mode", "cs"]),
    "contexts by lines": (LINES, ["--mode", "cs"]),
    "contexts kept": (PROBES, ["--mode", "cs", "--contexts"]),
}


def counts(text):
    """Function (or context) to its vtable counts."""
    found, stack = {}, []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        words = line.split()
        if depth == 0 or (depth <= len(stack) and re.match(r" *[\d.]+: [^\d\s]\S*:\d+$", line)
                          and "vtables" not in line):
            name = re.sub(r":\d+(:\d+)?$", "", line.split(" @ ")[-1].split(": ")[-1].strip())
            stack = stack[:depth] + [name.strip("[]")]
        if "vtables" in words:
            pairs = [w.rsplit(":", 1) for w in words[words.index("vtables") + 1:]]
            table = found.setdefault(stack[depth - 1], {})
            for name, count in pairs:
                table[name] = table.get(name, 0) + int(count)
    return found


def check(text, what):
    found = counts(text)
    for site in SITES:
        require(found.get(site) == {"_ZTV5Often": OFTEN, "_ZTV6Rarely": RARELY},
                f"{what}: types at {site}: {found.get(site)}; all: {found}")


def types(work, form, mode):
    kind, options = MODES[mode]
    exe, trace = build(work, kind)
    recorded = exe + ".loads"
    FORMS[form](exe, recorded)
    out = exe + ".profile"
    command = [work.pgokit, "gen", "-q", trace, recorded, "-b", exe, "--vtables", *options]
    check(good(*command, "--format", "text", "-o", "-"), "text")
    good(*command, "-o", out)
    check(good(tool("llvm-profdata", 22), "merge", "--sample", "--text",
               out, "-o", "-"), "llvm-profdata")


def same_as_llvm(work):
    """The profile of llvm-profgen, which takes a text of perf report -D, for profiles by lines.
    It knows a vtable's file by mappings of data alone, and refuses those that overlap."""
    exe, trace = build(work, LINES)
    with open(trace, encoding="utf-8") as f:
        text = [line for line in f if line.strip() and not line.startswith("\t")]
    base = next(int(re.search(r"\[(0x[0-9a-f]+)\(", line)[1], 16) - low
                for line in text if "PERF_RECORD" in line and line.endswith(exe + "\n")
                for _, low, _, executable in segments(exe) if executable and "r-xp" in line)
    base &= ~4095
    plain, recorded, theirs_of = exe + ".branches", exe + ".loads", exe + ".data-loads"
    as_text(exe, recorded, base)
    as_text(exe, theirs_of, base, True)
    with open(plain, "w", encoding="utf-8") as f:
        f.writelines(text)
    good(tool("llvm-profgen", 22), f"--perfscript={plain}", f"--binary={exe}",
         f"--data-access-perftrace={theirs_of}", "--format=text", "-o", exe + ".theirs")
    with open(exe + ".theirs", encoding="utf-8") as f:
        theirs = f.read()
    check(theirs, "llvm-profgen")
    equal(good(work.pgokit, "gen", "-q", plain, recorded, "-b", exe, "--mode", "autofdo",
               "--vtables", "--format", "text", "-o", "-"), theirs)


LIBRARY_BASE = 0x7FFF10000000


def build_shared(work, kind, samples="1500", rounds="100000"):
    folder = work.temp("shared")
    exe, library = os.path.join(folder, "types"), os.path.join(folder, "libtypes.so")
    source = os.path.join(PROGRAMS, "types_shared.cpp")
    common = [tool("clang++", 22), "-O2", "-g", kind, FRAMES, source]
    good(*common, "-DLIBRARY", "-fPIC", "-shared", "-o", library)
    good(*common, "-fPIE", "-pie", library, f"-Wl,-rpath,{folder}", "-o", exe)
    trace = exe + ".trace"
    good(work.recorder, "-g", "-e", "53", "-n", samples, trace, exe, rounds, timeout=300)
    return exe, library, trace


def types_of_library(work, mode):
    """Vtables of a shared library, one of them local; half of the loads are not aligned."""
    kind, options = MODES[mode]
    exe, library, trace = build_shared(work, kind)
    tables = {name[4:]: at for name, at in symbols(library).items() if name.startswith("_ZTV")}
    often = next(name for name in tables if name.endswith("5Often"))
    rarely = next(name for name in tables if "Rarely" in name)
    r = recording(exe, Event(IP | TID | TIME | ADDR | PERIOD | DATA_SRC, name="loads:upp"),
                  others=((library, LIBRARY_BASE),))
    for function in SITES:
        ip = BASE + call_of(exe, function)
        for i in range(OFTEN + RARELY):
            table = tables[often if i % 4 else rarely]
            r.sample(ip=ip, addr=LIBRARY_BASE + table + SLOT + 16 + i % 8, data_src=LOAD)
        r.sample(ip=ip, addr=LIBRARY_BASE + symbols(library)["_Z4makeb"], data_src=LOAD)
    loads_file = exe + ".loads"
    r.write_file(loads_file)
    text = good(work.pgokit, "gen", "-q", trace, loads_file, "-b", exe, "-b", library, *options,
                "--vtables", "--format", "text", "-o", "-")
    found = counts(text)
    for site in SITES:
        require(found.get(site) == {"_ZTV" + often: OFTEN, "_ZTV" + rarely: RARELY},
                f"types at {site}: {found.get(site)}\n{text}")


def of_each(work, mode):
    """A program and its library in one pass: the profile of each is what it is alone, and types of
    the library are told in the program's."""
    kind, options = MODES[mode]
    exe, library, trace = build_shared(work, kind, "200", "2000")
    both, folder = ["-b", exe, "-b", library], os.path.dirname(exe) + "/each/"
    good(work.pgokit, "gen", "-q", trace, *both, *options, "--format", "text", "-o", folder)
    require(sorted(os.listdir(folder)) == ["libtypes.so.afdo", "types.afdo"],
            str(os.listdir(folder)))
    for path in (exe, library):
        alone = good(work.pgokit, "gen", "-q", trace, "-b", path, *options, "--format", "text",
                     "-o", "-")
        with open(folder + os.path.basename(path) + ".afdo", encoding="utf-8") as f:
            equal(f.read(), alone)
    often = next(name for name in symbols(library) if name.endswith("5Often") and "_ZTV" in name)
    loads_file = exe + ".loads"
    r = recording(exe, Event(IP | TID | TIME | ADDR | PERIOD | DATA_SRC, name="loads:upp"),
                  others=((library, LIBRARY_BASE),))
    for _ in range(OFTEN):
        r.sample(ip=BASE + call_of(exe, SITES[0]), data_src=LOAD,
                 addr=LIBRARY_BASE + symbols(library)[often] + SLOT + 16)
    r.write_file(loads_file)
    good(work.pgokit, "gen", "-q", trace, loads_file, *both, *options, "--vtables", "--format",
         "text", "-o", folder)
    with open(folder + "types.afdo", encoding="utf-8") as f:
        found = counts(f.read())
    require(found.get(SITES[0]) == {often: OFTEN}, f"types: {found}")


def scaled(work):
    """With both periods known, counts of types are in units of those of branches."""
    exe, trace = build(work, LINES)
    recorded, branches = exe + ".loads", exe + ".branches"
    r = recording(exe, Event(IP | TID | TIME | ADDR | PERIOD | DATA_SRC, name="loads:upp"))
    for ip, addr in loads(exe):
        r.sample(ip=ip, addr=addr, data_src=LOAD, period=1000)
    r.write_file(recorded)
    call = BASE + call_of(exe, SITES[0])
    r = recording(exe, Event(IP | TID | TIME | PERIOD | BRANCH, name="branches:u"))
    for _ in range(50):
        r.sample(ip=call, branches=((call, call), (call, call)), period=500)
    r.write_file(branches)
    command = [work.pgokit, "gen", recorded, "-b", exe, "--mode", "autofdo", "--vtables"]
    out = exe + ".profile"
    report = json.loads(good(*command, branches, "--vtable-scale", "--json", "-o", out))
    require(report["vtable_scale"] == 4, str(report)) # 2 branches in 500, 1 load in 1000
    require(report["vtable_samples"] == 2 * (OFTEN + RARELY), str(report))
    text = good(*command, "-q", branches, "--vtable-scale", "--format", "text", "-o", "-")
    require(counts(text)[SITES[1]] == {"_ZTV5Often": 4 * OFTEN, "_ZTV6Rarely": 4 * RARELY}, text)
    result = run(*command, trace, "--vtable-scale", "-o", os.devnull)
    require(result.code == 2 and "period" in result.errors, str(result))


def only_for_readers_that_take_them(work):
    """Types make a file that clang 14 and 19 refuse, so they are written where they were asked for,
    and it is said that they were left out."""
    exe, trace = build(work, LINES)
    recorded, out = exe + ".loads", exe + ".profile"
    as_perf_data(exe, recorded)
    command = [work.pgokit, "gen", "-q", trace, recorded, "-b", exe, "--mode", "autofdo"]
    result = run(*command, "-o", out)
    require(result.code == 1 and "types" in result.errors and "--vtables" in result.errors,
            str(result))
    for release in (14, 16, 19, 22):
        good(tool("llvm-profdata", release), "show", "--sample", out)
        good(tool("clang++", release), "-O2", "-g", LINES, f"-fprofile-sample-use={out}", "-c",
             os.path.join(PROGRAMS, "types.cpp"), "-o", os.devnull)
    good(*command, "--no-vtables", "-o", out + ".none")
    require(read(out) == read(out + ".none"), "other bytes than without types")
    refused = run(*command, "-o", out + ".text", "--to", "text")
    require(refused.code == 2 and "--vtables" in refused.errors and
            not os.path.exists(out + ".text"), str(refused))
    good(*command, "--vtables", "-o", out)
    require("_ZTV5Often" in good(tool("llvm-profdata", 22), "merge", "--sample", "--text",
                                 out, "-o", "-"), "no types")


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    for mode in ("lines", "probes", "contexts by probes", "contexts by lines"):
        tap.add(f"types of a shared library, {mode}", types_of_library, work, mode)
    for mode in ("lines", "contexts by probes"):
        tap.add(f"a profile of each binary, {mode}", of_each, work, mode)
    tap.add("types scaled to branches", scaled, work)
    tap.add("types only for readers that take them", only_for_readers_that_take_them, work)
    tap.add("types as llvm-profgen counts them", same_as_llvm, work)
    for form in FORMS:
        tap.add(f"types of {form} by lines", types, work, form, "lines")
    for mode in list(MODES)[1:]:
        tap.add(f"types of call chains, {mode}", types, work, "call chains", mode)


if __name__ == "__main__":
    sys.exit(main(add_cases))
