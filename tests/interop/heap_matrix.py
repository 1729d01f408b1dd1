#!/usr/bin/env python3
"""Every writer of heap profiles against every reader.

For the runtimes of clang 13 (which only prints), 14, 16, 19, 22 and 23, and for ours: what pgokit
reads is converted to each raw version, each MemProf version, YAML and a partial profile. What comes
out says the same, and where a release of LLVM accepts it that release says so, too.
"""

import glob
import os
import re
import sys

import profiles
from heap_releases import (INDEX, MEMPROF, OF_YAML, READERS, RELEASES, accepts, reads_raw,
                           use_options)
from peers import Skip, Variant, at_hand, beside, good, main, read, require, run, tool

SOURCE = "lifetimes.cpp"
MODES = {"PIE": ("-O2", "-pie", "-fpie"), "no PIE": ("-O2", "-no-pie")}
# Fields that raw versions have, of those that their writers fill in rightly.
NOT_IN = {1: ["DataTypeId", "MaxAccessCount", "MaxSize"] + [f for f in profiles.COMPARED
                                                            if "Density" in f]}
TEXT_FIELDS = ["AllocCount", "TotalSize", "MinSize"]
# Our runtime, in programs of a release of clang.
OWN = {"pgokit": 22, "pgokit with clang-23": 23}


def fields_of(written_by, version):
    fields = [f for f in profiles.COMPARED if f != "AccessHistogramSize"]
    for v in (written_by, version):
        fields = [f for f in fields if f not in NOT_IN.get(v, [])]
    return fields


class Recording:
    def __init__(self, exe, raw, version):
        self.exe, self.raw, self.version = exe, raw, version


def record(work, writer, mode):
    if writer in OWN:
        return own_runtime(work, mode, OWN[writer])
    program = work.build(SOURCE, Variant(writer, *MODES[mode]))
    version = int.from_bytes(read(program.raw)[8:16], "little")
    return Recording(program.exe, program.raw, version)


def own_runtime(work, mode, release):
    """Ours, in a program of that release's clang."""
    archive = os.environ.get("PGOKIT_HEAP_ARCHIVE", "")
    if not os.path.exists(archive):
        raise Skip("the heap profiler runtime is not built here")
    folder = work.temp("own")
    flags = ["-g", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer",
             "-fno-optimize-sibling-calls", *MODES[mode]]
    source = os.path.join(work.programs, SOURCE)
    compiler = tool("clang++", release)
    good(compiler, *flags, "-fmemory-profile", "-c", source, "-o", f"{folder}/prog.o")
    good(compiler, f"{folder}/prog.o", "-o", f"{folder}/prog", *flags, archive, "-pthread",
         "-Wl,--build-id")
    good(*beside(compiler), f"{folder}/prog", env={"MEMPROF_OPTIONS": f"log_path={folder}/own",
                                "PGOKIT_HEAP_OPTIONS": f"log_path={folder}/own"}, cwd=folder)
    files = [f for f in glob.glob(f"{folder}/*") if os.path.basename(f).startswith(
        ("own", "memprof.profraw"))]
    require(len(files) == 1, f"recorded {files}")
    return Recording(f"{folder}/prog", files[0],
                     int.from_bytes(read(files[0])[8:16], "little"))


def convert(work, source, out, *options, exe=None, lossless=False):
    """Converts; what is lost is on standard error, with exit status 1."""
    result = run(work.pgokit, "convert", source, *(["-b", exe] if exe else []), "-o", out, *options)
    require(result.code in ((0,) if lossless else (0, 1)), str(result))
    require((result.code == 1) == ("lost: " in result.errors), str(result))
    return result.errors


def shown(work, path, exe):
    return profiles.parse_json(good(work.pgokit, "show", path, "-b", exe, "--json"))


def named_as_for_compilers(work, r, folder):
    """A recording without names of the libraries' frames, which show finds by the paths in it."""
    out = f"{folder}/named.pgk"
    convert(work, r.raw, out, "--to", "partial", exe=r.exe)
    return profiles.parse_json(good(work.pgokit, "show", out, "--json"))


def same(what, expected, got, fields):
    difference = profiles.first_difference(expected, got, fields)
    require(not difference, f"{what}: {difference}")


def llvm_shows(release, path, exe):
    return profiles.parse_show(good(tool("llvm-profdata", release), "show", "--memory", path,
                                    "--profiled-binary", exe))


def blocks_of_version_1(data):
    """The count behind the header and the segments."""
    segments = int.from_bytes(data[48:56], "little")
    return int.from_bytes(data[56 + 56 * segments:][:8], "little")


def raw_versions(work, writer, mode):
    """Converted to each raw version, and back."""
    r = record(work, writer, mode)
    folder = work.temp("raw")
    expected = named_as_for_compilers(work, r, folder)
    require(len(expected.stacks()) > 3, "the program has no contexts")
    asked = 0
    for version in range(1, 6):
        out, again = f"{folder}/v{version}", f"{folder}/v{version}-again"
        convert(work, r.raw, out, "--to", "raw", "--format-version", str(version), exe=r.exe)
        fields = fields_of(r.version, version)
        same(f"version {version}", expected, shown(work, out, r.exe), fields)
        convert(work, out, again, "--to", "raw", "--format-version", str(version), exe=r.exe)
        require(read(out) == read(again), f"version {version}: written again it differs")
        back = f"{folder}/v{version}-back"
        convert(work, out, back, "--to", "raw", "--format-version", str(r.version), exe=r.exe)
        same(f"by way of version {version}", expected, shown(work, back, r.exe), fields)
        for release in at_hand(*reads_raw(version)):
            if release == 16 and mode == "PIE":
                continue # which llvm-profdata-16 refuses
            same(f"version {version} read by llvm-profdata-{release}", expected,
                 llvm_shows(release, out, r.exe), fields)
            asked += 1
    # Release 14 only counts, and reads no other version.
    convert(work, r.raw, f"{folder}/llvm14", "--to", "llvm14", exe=r.exe)
    require(read(f"{folder}/llvm14") == read(f"{folder}/v1"), "--to llvm14 is not version 1")
    counted = good(tool("llvm-profdata", 14), "show", "--memory", f"{folder}/v1")
    blocks = blocks_of_version_1(read(f"{folder}/v1"))
    require(f"NumMIBInfo: {blocks}\n" in counted, f"{blocks} MIBs\n{counted}")
    return f"{len(expected.stacks())} contexts, {asked + 1} readings of LLVM"


def indexed_versions(work, writer, mode):
    """Converted to each MemProf version and target; what each release accepts it shows."""
    r = record(work, writer, mode)
    folder = work.temp("indexed")
    expected = named_as_for_compilers(work, r, folder).low_lines()
    fields = fields_of(r.version, 5)
    asked = 0
    for memprof in MEMPROF:
        for index in INDEX:
            if memprof < 2 and index >= 13:
                continue
            out = f"{folder}/v{memprof}-{index}"
            convert(work, r.raw, out, "--memprof-version", str(memprof), "--index-version",
                    str(index), exe=r.exe)
            same(f"V{memprof} in {index}", expected, shown(work, out, r.exe), fields)
            # heap_accept has what each release refuses.
            for release in at_hand(*READERS):
                if not accepts(release, memprof, index):
                    continue
                asked += 1
                printing = ["--memory"] if release in OF_YAML else []
                text = good(tool("llvm-profdata", release), "show", *printing, out)
                if printing:
                    same(f"V{memprof} in {index} read by llvm-profdata-{release}", expected,
                         profiles.parse_yaml(text), fields)
    for release in range(15, 24):
        out = f"{folder}/llvm{release}"
        convert(work, r.raw, out, "--to", f"llvm{release}", exe=r.exe)
        same(f"--to llvm{release}", expected, shown(work, out, r.exe), fields)
        if release in at_hand(*READERS):
            good(tool("llvm-profdata", release), "show", out)
    return f"{asked} questions to LLVM"


def ways_round(work, writer, mode):
    """By way of YAML, a partial profile and any MemProf version comes the same file."""
    r = record(work, writer, mode)
    folder = work.temp("round")
    direct = f"{folder}/direct"
    convert(work, r.raw, direct, "--to", "llvm22", exe=r.exe)
    for name, options in (("yaml", ["--to", "yaml"]), ("partial", ["--to", "partial"]),
                          ("V2", ["--to", "llvm19", "--memprof-version", "2"]),
                          ("V3", ["--to", "llvm19"])):
        convert(work, direct if name[0] == "V" else r.raw, f"{folder}/{name}", *options, exe=r.exe)
        convert(work, f"{folder}/{name}", f"{folder}/{name}-22", "--to", "llvm22")
        require(read(direct) == read(f"{folder}/{name}-22"), f"by way of {name} it differs")
    part = f"{folder}/part"
    good(work.pgokit, "merge", r.raw, "-b", r.exe, "--partial", "-o", part)
    convert(work, part, f"{part}-22", "--to", "llvm22")
    require(read(direct) == read(f"{part}-22"), "by way of a partial profile it differs")
    good(work.pgokit, "merge", part, "--partial", "-o", f"{part}-again")
    require(read(part) == read(f"{part}-again"), "a partial profile written again differs")
    # And what is converted merges like what it was made of.
    for version in range(1 if r.version == 1 else 2, 6):
        convert(work, r.raw, f"{folder}/raw", "--to", "raw", "--format-version", str(version),
                exe=r.exe)
        files = []
        for source in (r.raw, f"{folder}/raw"):
            files.append(f"{folder}/merged{len(files)}")
            good(work.pgokit, "merge", source, source, "-b", r.exe, "-o", files[-1])
        require(read(files[0]) == read(files[1]), f"raw version {version} merges to another file")


def compilers(work, writer):
    """Each compiler annotates calls from the profile that was converted for it."""
    r = record(work, writer, "no PIE")
    folder = work.temp("compilers")
    source = os.path.join(work.programs, SOURCE)
    counts = []
    for release in at_hand(*READERS):
        out = f"{folder}/llvm{release}"
        convert(work, r.raw, out, "--to", f"llvm{release}", exe=r.exe)
        good(tool("clang++", release), "-O2", "-g", "-fno-optimize-sibling-calls", "-S",
             "-emit-llvm", "-Wno-backend-plugin", "-Wno-profile-instr-unprofiled",
             *use_options(release, out), source, "-o", f"{folder}/{release}.ll")
        text = read(f"{folder}/{release}.ll").decode()
        count = text.count('"memprof"=') + text.count("!memprof")
        require(count > 0, f"clang-{release} annotates nothing")
        counts.append(f"clang-{release} {count}")
    return "annotations: " + ", ".join(counts)


def printed(work, writer, mode, form, options):
    """The text of a runtime tells the stacks, objects and bytes of the raw profile."""
    folder = work.temp("printed")
    if writer == 13:
        compiler = tool("clang++", 13)
        exe = f"{folder}/prog"
        good(compiler, "-g", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer",
             "-fno-optimize-sibling-calls", "-fmemory-profile", "-Wl,--build-id", *MODES[mode],
             os.path.join(work.programs, SOURCE), "-o", exe)
    else:
        exe = record(work, writer, mode).exe
        compiler = tool("clang++", writer)
    good(*beside(compiler), exe,
         env={"MEMPROF_OPTIONS": f"print_text=1:log_path={folder}/text{options}"})
    texts = glob.glob(f"{folder}/text.*")
    require(len(texts) == 1, f"recorded {texts}")
    got = shown(work, texts[0], exe)
    if writer == 13:
        # Its raw profile does not exist: what the same source gives with clang 14.
        expected = shown(work, record(work, 14, "no PIE").raw, record(work, 14, "no PIE").exe)
        wanted = sorted((b["AllocCount"], b["TotalSize"]) for b in expected.stacks().values())
        blocks = sorted((b["AllocCount"], b["TotalSize"]) for b in got.stacks().values())
        require(wanted == blocks, f"objects and bytes of the contexts: {blocks}, not {wanted}")
    else:
        r = record(work, writer, mode)
        same(form, shown(work, r.raw, r.exe), got, TEXT_FIELDS)
    # It becomes all else, with what it lacks said.
    said = convert(work, texts[0], f"{folder}/out", "--to", "llvm22", exe=exe)
    require("density" in said, said)
    same("indexed", got.low_lines(), shown(work, f"{folder}/out", exe), TEXT_FIELDS)
    said = convert(work, texts[0], f"{folder}/raw", "--to", "raw", exe=exe)
    require("AllocTimestamp" in said, said)
    same("raw", got, shown(work, f"{folder}/raw", exe), TEXT_FIELDS)
    return f"{len(got.stacks())} contexts"


def refusals(work):
    """What cannot be converted is refused in a sentence, and nothing is written."""
    r = record(work, 22, "PIE")
    folder = work.temp("refusals")
    out = f"{folder}/out"
    convert(work, r.raw, f"{folder}/named", "--to", "llvm22", exe=r.exe)
    for what, argv in (
            ("frames that are places in functions", [f"{folder}/named", "--to", "raw"]),
            ("give the binary that was run (-b", [r.raw, "--to", "llvm22"]),
            ("binary that was run is needed to translate them",
             [r.raw, "--to", "raw", "--format-version", "2"]),
            ("--format-version is for --to raw", [r.raw, "--format-version", "2"]),
            ("convert takes one file", [r.raw, r.raw, "--to", "raw"]),
            ("not 'llvm24'", [r.raw, "--to", "llvm24"])):
        result = run(work.pgokit, "convert", *argv, "-o", out)
        require(result.code == 2 and what in " ".join(result.errors.split()),
                f"expected '{what}'\n{result}")
        require(not os.path.exists(out), "something was written")


def histograms(work):
    """Histograms go along where there is room, rounded in version 5; elsewhere that is said."""
    program = work.build("plain.c", Variant(22, "-O2", "-no-pie", histogram=True))
    folder = work.temp("histograms")
    expected = shown(work, program.raw, program.exe)
    for version in (4, 5):
        said = convert(work, program.raw, f"{folder}/v{version}", "--to", "raw",
                       "--format-version", str(version), exe=program.exe, lossless=True)
        require(not said, said)
        got = shown(work, f"{folder}/v{version}", program.exe)
        difference = profiles.first_difference(expected, got, histogram=True)
        require(not difference, difference)
        if version == 5:
            difference = profiles.first_difference(
                expected, llvm_shows(22, f"{folder}/v5", program.exe), histogram=True)
            require(not difference, f"llvm-profdata-22: {difference}")
    for options in (["--to", "raw", "--format-version", "3"], ["--to", "llvm22"], ["--to", "yaml"]):
        said = convert(work, program.raw, f"{folder}/out", *options, exe=program.exe)
        require("the access histograms of" in said, f"{options}: {said}")


def far_lines(work, release):
    """Calls whose line differs from their function's by more than 16 bits can say: clang finds them
    with our file, and never with that of llvm-profdata. So it is with line 0, for which
    clang 22 notes another place in the binary than it looks for."""
    folder = work.temp("far")
    source = os.path.join(work.programs, "far_lines.cpp")
    compiler, exe = tool("clang++", release), f"{folder}/far"
    good(compiler, "-g", "-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
         "-no-pie", "-fmemory-profile", "-Wl,--build-id", source, "-o", exe)
    good(*beside(compiler), exe, env={"MEMPROF_OPTIONS": f"print_text=0:log_path={folder}/raw"})
    raw, = glob.glob(f"{folder}/raw.*")
    good(tool("llvm-profdata", release), "merge", raw, f"--profiled-binary={exe}", "-o",
         f"{folder}/theirs", *(["--memprof-version=3"] if release > 16 else []))
    good(work.pgokit, "merge", raw, "-b", exe, "--to", f"llvm{release}", "-o", f"{folder}/ours")
    found = {}
    for name in ("theirs", "ours"):
        good(compiler, "-g", "-O2", "-S", "-emit-llvm", "-Wno-backend-plugin",
             "-Wno-profile-instr-unprofiled", *use_options(release, f"{folder}/{name}"), source,
             "-o", f"{folder}/{name}.ll")
        found[name] = annotated(read(f"{folder}/{name}.ll").decode())
    expected = {10, 20, 30, 40} if release < 22 else {10, 20, 30}
    require(found["ours"] == expected, f"annotated with our file: {found['ours']}")
    require(found["theirs"] == {10}, f"annotated with LLVM's file: {found['theirs']}")
    return f"of 4 calls with llvm-profdata 1, with pgokit {len(expected)}"


def annotated(text):
    """Sizes of the allocations whose call has a memprof attribute."""
    groups = {line.split()[1] for line in text.splitlines()
              if line.startswith("attributes #") and '"memprof"=' in line}
    out = set()
    for line in text.splitlines():
        if "@_Znam(i64" in line and "call" in line:
            size = int(line.split("@_Znam(i64 noundef ")[1].split(")")[0])
            group = line.split(") ")[-1].split(",")[0].strip()
            if group in groups:
                out.add(size)
    return out


STATICS = ("same_statics.c", "same_statics_other.c")


def build_statics(work, folder, *sources):
    exe = f"{folder}/prog"
    good(tool("clang", 22), "-g", "-O2", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
         "-no-pie", "-fmemory-profile", "-Wl,--build-id",
         *(os.path.join(work.programs, name) for name in sources), "-o", exe)
    good(exe, env={"MEMPROF_OPTIONS": f"print_text=0:log_path={folder}/raw"})
    raw, = glob.glob(f"{folder}/raw.*")
    return exe, raw


def keeps_its_file(work):
    """A static function has its file and line in an indexed profile, although another one has its
    name, such as one of a library that is linked: only one has code where the stacks are."""
    folder = work.temp("one-of-two")
    exe, raw = build_statics(work, folder, STATICS[0], "same_static_plain.c")
    convert(work, raw, f"{folder}/indexed", "--to", "llvm22", exe=exe)
    shown = good(work.pgokit, "show", f"{folder}/indexed", "-b", exe)
    require(re.search(r"^ +make +\S*same_statics\.c:\d", shown, re.M), shown)


def same_names(work):
    """Two static functions of one name: two contexts with names, one GUID in LLVM's formats, which
    is said."""
    folder = work.temp("statics")
    exe, raw = build_statics(work, folder, *STATICS)
    said = convert(work, raw, f"{folder}/partial", "--to", "partial", exe=exe)
    text = good(work.pgokit, "show", f"{folder}/partial", "--raw")
    require(all(re.search(rf"make  \S*/{re.escape(name)}:", text) for name in STATICS), text)
    require("same name" not in said, said)
    said = convert(work, raw, f"{folder}/indexed", "--to", "llvm22", exe=exe)
    require("what distinguishes 1 function from others of the same name" in said, said)
    records = profiles.parse_yaml(good(tool("llvm-profdata", 22), "show", "--memory",
                                       f"{folder}/indexed"))
    sizes = sorted(b["TotalSize"] for b in records.stacks().values())
    require(sizes == [10, 20], f"TotalSize of the contexts: {sizes}")
    # With one record for both, no file is better than the wrong one.
    shown = good(work.pgokit, "show", f"{folder}/indexed", "-b", exe)
    require(len(re.findall(r"^ +make +line \+\d", shown, re.M)) == 2 and "main" in shown, shown)


def unrolled(work):
    """Copies of one call are one context; llvm-profdata has one for each address."""
    folder = work.temp("unrolled")
    exe = f"{folder}/prog"
    good(tool("clang++", 22), "-g", "-O2", "-fno-omit-frame-pointer", "-no-pie",
         "-fmemory-profile", "-Wl,--build-id", os.path.join(work.programs, "unrolled.cpp"),
         "-o", exe)
    good(exe, env={"MEMPROF_OPTIONS": f"print_text=0:log_path={folder}/raw"})
    raw, = glob.glob(f"{folder}/raw.*")
    theirs = llvm_shows(22, raw, exe)
    require(theirs.contexts == 4, f"llvm-profdata-22: {theirs.contexts} contexts")
    ours = shown(work, raw, exe)
    require(ours.contexts == 1, f"pgokit: {ours.contexts} contexts")
    block, = ours.stacks().values()
    require(block["AllocCount"] == 4 and block["TotalSize"] == 32, str(block))
    return "llvm-profdata-22 4 contexts of 1 object, pgokit 1 of 4"


DATA_ACCESS = """---
HeapProfileRecords:
  - GUID:            0x1111
    AllocSites:
      - Callstack:
          - { Function: 0x1111, LineOffset: 1, Column: 2, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount:      3
          TotalSize:       300
          TotalLifetime:   900000
          TotalLifetimeAccessDensity: 1
DataAccessProfiles:
  SampledRecords:
    - Symbol:          table
      AccessCount:     100
      Locations:
        - FileName:        '/src/a.h'
          Line:            12
        - FileName:        '/src/a.h'
          Line:            123
    - Symbol:          zz
      AccessCount:     100
    - Hash:            101010
      AccessCount:     20
  KnownColdSymbols:
    - bar
    - foo
  KnownColdStrHashes: [ 999, 1001 ]
...
"""


def data_access(work):
    """Data access profiles: the bytes of llvm-profdata-22, added up when merged."""
    folder = work.temp("data")
    with open(f"{folder}/in.yaml", "w", encoding="utf-8") as f:
        f.write(DATA_ACCESS)
    llvm = tool("llvm-profdata", 22)
    good(llvm, "merge", f"{folder}/in.yaml", "-o", f"{folder}/theirs", "--memprof-version=4")
    good(work.pgokit, "merge", f"{folder}/in.yaml", "--to", "llvm22", "-o", f"{folder}/ours")
    require(read(f"{folder}/ours") == read(f"{folder}/theirs"), "the bytes differ from LLVM's")
    convert(work, f"{folder}/theirs", f"{folder}/out.yaml", "--to", "yaml", lossless=True)
    text = read(f"{folder}/out.yaml").decode()
    printed_by_llvm = good(llvm, "show", "--memory", f"{folder}/theirs")
    start = "DataAccessProfiles:"
    require(text[text.index(start):] == printed_by_llvm[printed_by_llvm.index(start):],
            f"as YAML:\n{text}")
    good(work.pgokit, "merge", f"{folder}/ours", f"{folder}/in.yaml", "--to", "llvm22", "-o",
         f"{folder}/twice")
    text = good(llvm, "show", "--memory", f"{folder}/twice")
    counts = [text.count(f"AccessCount:     {n}\n") for n in (200, 40)]
    require(counts == [2, 1], text)
    convert(work, f"{folder}/theirs", f"{folder}/partial", "--to", "partial", lossless=True)
    good(work.pgokit, "merge", f"{folder}/partial", "--to", "llvm22", "-o", f"{folder}/back")
    require(read(f"{folder}/back") == read(f"{folder}/theirs"), "by way of a partial profile")
    said = convert(work, f"{folder}/ours", f"{folder}/v3", "--to", "llvm19")
    require("the data access profile: 3 symbols and literals" in said, said)
    result = run(work.pgokit, "merge", f"{folder}/ours", "-o", f"{folder}/v3")
    require(result.code == 1 and "data access profile is not written" in result.errors, str(result))


def repair(work):
    """Files that were cut are repaired, in a form that LLVM reads."""
    r = record(work, 22, "no PIE")
    folder = work.temp("repair")
    whole = read(r.raw)
    stacks = int.from_bytes(whole[40:48], "little")
    cut = f"{folder}/cut.profraw"
    for size in (len(whole) - 8, (stacks + len(whole)) // 2):
        with open(cut, "wb") as f:
            f.write(whole[:size])
        refused = run(work.pgokit, "check", cut)
        require(refused.code == 2, str(refused))
        result = run(work.pgokit, "check", "--repair", f"{folder}/saved", cut)
        require(result.code == 1 and "lost: dump 1:" in result.errors, str(result))
        saved = shown(work, f"{folder}/saved", r.exe)
        same("saved", saved, llvm_shows(22, f"{folder}/saved", r.exe), profiles.COMPARED)
        all_of_it = shown(work, r.raw, r.exe).stacks()
        for stack, block in saved.stacks().items():
            require(all_of_it[stack]["TotalSize"] >= block["TotalSize"], "more than there was")
    # Zeros that a kill can leave are no loss.
    with open(cut, "wb") as f:
        f.write(whole + bytes(4096))
    text = good(work.pgokit, "check", "--repair", f"{folder}/saved", cut)
    require("nothing is lost" in text, text)
    same("zeros cut", shown(work, r.raw, r.exe), shown(work, f"{folder}/saved", r.exe),
         profiles.COMPARED)
    # An indexed file without its end: all records are there, its hash table is not.
    convert(work, r.raw, f"{folder}/indexed", "--to", "llvm22", exe=r.exe)
    whole = read(f"{folder}/indexed")
    with open(cut, "wb") as f:
        f.write(whole[:-40])
    result = run(work.pgokit, "check", "--repair", f"{folder}/saved", cut)
    require(result.code == 1, str(result))
    require(read(f"{folder}/saved") == whole, "the repaired file is not the whole one")


def add_cases(work, tap):
    for release in at_hand(*RELEASES):
        tool("clang", release)
        tool("llvm-profdata", release)
    for writer in (*RELEASES, *OWN):
        for mode in MODES:
            name = f"{writer if writer in OWN else f'clang-{writer}'}, {mode}"
            tap.add(f"raw versions: {name}", raw_versions, work, writer, mode)
            tap.add(f"indexed versions: {name}", indexed_versions, work, writer, mode)
            tap.add(f"ways round: {name}", ways_round, work, writer, mode)
        tap.add(f"compilers use what is converted: {writer}", compilers, work, writer)
    forms = {"symbolised": "", "addresses": ":symbolize=0", "terse": ":print_terse=1",
             "terse addresses": ":print_terse=1:symbolize=0"}
    for form, options in forms.items():
        for writer in (13, *RELEASES):
            for mode in MODES:
                tap.add(f"printed, {form}: clang-{writer}, {mode}", printed, work, writer, mode,
                        form, options)
    tap.add("refused conversions", refusals, work)
    tap.add("histograms", histograms, work)
    for release in READERS:
        tap.add(f"far lines: clang-{release}", far_lines, work, release)
    tap.add("static functions of one name", same_names, work)
    tap.add("a static function keeps its file beside another one of its name", keeps_its_file, work)
    tap.add("copies of a call", unrolled, work)
    tap.add("data access profiles", data_access, work)
    tap.add("repaired files", repair, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
