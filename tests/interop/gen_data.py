#!/usr/bin/env python3
"""Data access profiles: of samples of loads, `pgokit gen --data` says which variables and string
literals are hot and cold, and clang puts them into sections of their own. The loads come as
perf.data with addresses, as AMD IBS raw data and as ARM SPE, of a program whose data are mapped in
the recording or not.
"""

import functools
import os
import re
import sys

from gen_types import BASE, LOAD, PID, mappings
from peers import AARCH64, PROGRAMS, Skip, good, main, need_aarch64, peer, read, require, run, tool
from perf_writer import (ADDR, DATA_SRC, IP, PERIOD, RAW, TID, TIME, Event, Recording, ibs_raw,
                         spe_record)

SOURCE = os.path.join(PROGRAMS, "data_objects.c")
COUNTS = {"hot_data": 300, "hot_zero": 200, "hot_local": 100, "hot_constant": 50}
LINES = {"hot_data": 3, "hot_zero": 4, "hot_local": 5, "hot_constant": 6}
OF_LITERAL = 25
COLD = {"cold_data", "cold_zero", "cold_constant"}


def build(work, *options):
    folder = work.temp("data")
    good(tool("clang", 22), *options, "-O2", "-g", "-fPIE", "-pie", "-fuse-ld=lld",
         SOURCE, "-o", f"{folder}/data")
    return f"{folder}/data"


def places(exe):
    found = {}
    for line in good(tool("nm"), exe).splitlines():
        words = line.split()
        if len(words) == 3:
            found[words[2]] = int(words[0], 16)
    return found


@functools.lru_cache(maxsize=None)
def literal_at(exe, text):
    """Address of a string in .rodata."""
    rows = re.findall(r"\] (\.rodata\S*) +PROGBITS +(\S+) (\S+) (\S+)",
                      good(tool("readelf"), "-SW", exe))
    for _, addr, offset, size in rows:
        data = read(exe)[int(offset, 16):int(offset, 16) + int(size, 16)]
        if text in data:
            return int(addr, 16) + data.index(text)
    raise Skip("missing a linker that keeps literals in .rodata")


def accesses(exe):
    found = places(exe)
    for name, count in COUNTS.items():
        for i in range(count):
            yield found["work"], found[name] + 4 * (i % 4 if name != "hot_data" else 0) \
                if name in ("hot_zero", "hot_constant") else found[name]
    for i in range(OF_LITERAL):
        yield found["work"], literal_at(exe, b"hot words\0") + i % 9
    yield found["work"], 0x7fff00001000 - BASE # the stack


def record(exe, event, pmus=(), data=True):
    r = Recording(event, pmus=((4, "cpu"), *pmus))
    for start, size, offset, executable in mappings(exe):
        if executable or data:
            r.mmap(PID, start, size, offset, exe, prot=5 if executable else 1)
    return r


def as_perf(exe, data=True):
    r = record(exe, Event(IP | TID | TIME | ADDR | PERIOD | DATA_SRC), data=data)
    for ip, addr in accesses(exe):
        r.sample(ip=BASE + ip, addr=BASE + addr, data_src=LOAD)
    r.write_file(exe + ".data")
    return exe + ".data"


def without_data_mappings(exe):
    return as_perf(exe, data=False)


def as_ibs(exe):
    r = record(exe, Event(IP | TID | TIME | PERIOD | RAW, "ibs_op//", pmu=11), [(11, "ibs_op")])
    for ip, addr in accesses(exe):
        r.sample(ip=BASE + ip, raw=ibs_raw(BASE + ip, BASE + addr))
    r.write_file(exe + ".ibs")
    return exe + ".ibs"


def as_spe(exe):
    r = record(exe, Event(IP | TID | TIME, "arm_spe_0//", pmu=12), [(12, "arm_spe_0")])
    r.spe_trace(b"".join(spe_record(BASE + ip, addr=BASE + addr) for ip, addr in accesses(exe)))
    r.write_file(exe + ".spe")
    return exe + ".spe"


FORMS = {"perf.data": as_perf, "no mappings of data": without_data_mappings, "AMD IBS": as_ibs,
         "ARM SPE": as_spe}


def profile(work, exe, form):
    out = exe + ".memprofdata"
    good(work.pgokit, "gen", "-q", FORMS[form](exe), "-b", exe, "--data", "-o", out)
    return out


def right_counts(work, form, *options):
    if options:
        need_aarch64()
    exe = build(work, *options)
    text = good(tool("llvm-profdata", 22), "show", "--memory", profile(work, exe, form))
    counts = dict(re.findall(r"Symbol: +(\S+)\n +AccessCount: +(\d+)", text))
    require({k: int(v) for k, v in counts.items()} == COUNTS, text)
    lines = re.findall(r"Symbol: +(\S+)\n +AccessCount: +\d+\n +Locations:\n"
                       r" +- FileName: +'?(\S+?)'?\n +Line: +(\d+)\n", text)
    require({name: int(line) for name, file, line in lines if file == SOURCE} == LINES, text)
    literals = re.findall(r"Hash: +(\d+)\n +AccessCount: +(\d+)", text)
    require([int(n) for _, n in literals] == [OF_LITERAL], text)
    cold = set(re.findall(r"^ +- ([A-Za-z_]\S*)$", text, re.M))
    require(COLD <= cold and not cold & set(COUNTS), text)


def sections_of(work, release):
    """Where clang puts data, by the symbols of its object; and literals by its sections."""
    clang = tool("clang", 22) if release == 22 else peer(f"clang-{release}")
    exe = build(work)
    out = exe + ".o"
    literals = ["-mllvm", "-memprof-annotate-string-literal-section-prefix"]
    good(clang, "-O2", f"-fmemory-profile-use={profile(work, exe, 'perf.data')}",
         "-fpartition-static-data-sections", *(literals if release > 22 else []), "-c",
         SOURCE, "-o", out)
    text = good(tool("readelf"), "-sSW", out)
    names = dict(re.findall(r"^ +\[ *(\d+)\] (\.\S+)", text, re.M))
    where = {name: names.get(number, "") for number, name in
             re.findall(r"OBJECT +\w+ +\w+ +(\d+) (\w+)", text)}
    for name in COUNTS:
        require(".hot." in where[name], f"{name} is in {where[name]}")
    for name in COLD:
        require(".unlikely." in where[name], f"{name} is in {where[name]}")
    if release > 22:
        require({".rodata.str1.1.hot.", ".rodata.str1.1.unlikely."} <= set(names.values()), text)


def refused(work):
    exe = build(work)
    r = record(exe, Event(IP | TID | TIME))
    r.sample(ip=BASE + places(exe)["work"])
    r.write_file(exe + ".none")
    result = run(work.pgokit, "gen", exe + ".none", "-b", exe, "--data", "-o", exe + ".out")
    require(result.code == 2 and "accesses of static data" in result.errors, str(result))
    require(not os.path.exists(exe + ".out"), "it wrote a file")


def add_cases(work, tap):
    for form in FORMS:
        tap.add(f"accesses of data, {form}", right_counts, work, form)
    for form in ("perf.data", "ARM SPE"):
        tap.add(f"accesses of data, AArch64, {form}", right_counts, work, form, AARCH64)
    for release in (22, 23):
        tap.add(f"sections of data, clang {release}", sections_of, work, release)
    tap.add("no accesses", refused, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
