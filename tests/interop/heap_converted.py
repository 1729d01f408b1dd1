"""What is converted: recordings of each runtime and of ours become each raw version, each MemProf
version, YAML and a partial profile. What comes out says the same, and where a release of LLVM
accepts it that release says so, too.
"""

import glob
import os
import re

import profiles
from heap_fixtures import HISTOGRAM_22, MODES, OWN, RECORDED, Made, same
from heap_releases import INDEX, MEMPROF, OF_YAML, READERS, RELEASES, accepts, reads_raw
from peers import FRAME_POINTERS, at_hand, beside, good, read, require, run, tool, write

# Fields that raw versions have, of those that their writers fill in rightly.
NOT_IN = {1: ["DataTypeId", "MaxAccessCount", "MaxSize"] + [f for f in profiles.COMPARED
                                                            if "Density" in f]}
TEXT_FIELDS = ["AllocCount", "TotalSize", "MinSize"]


def fields_of(written_by, version):
    fields = [f for f in profiles.COMPARED if f != "AccessHistogramSize"]
    for v in (written_by, version):
        fields = [f for f in fields if f not in NOT_IN.get(v, [])]
    return fields


def raw_options(version):
    return "--to", "raw", "--format-version", str(version)


def named_as_for_compilers(f, writer, mode):
    """A recording without names of the libraries' frames, which show finds by the paths in it."""
    return f.shown(f.converted(f.recording(writer, mode), "--to", "partial"))


def blocks_of_version_1(data):
    """The count behind the header and the segments."""
    segments = int.from_bytes(data[48:56], "little")
    return int.from_bytes(data[56 + 56 * segments:][:8], "little")


def raw_versions(f, writer, mode):
    """Converted to each raw version, and back."""
    r = f.recording(writer, mode)
    folder = f.temp("raw")
    expected = named_as_for_compilers(f, writer, mode)
    require(len(expected.stacks()) > 3, "the program has no contexts")
    asked = 0
    for version in range(1, 6):
        out = f.converted(r, *raw_options(version))
        again, back = f"{folder}/again", f"{folder}/back"
        fields = fields_of(r.version, version)
        same(f"version {version}", expected, f.show(out, r.exe), fields)
        f.convert(out, again, *raw_options(version), exe=r.exe)
        require(read(out) == read(again), f"version {version}: written again it differs")
        f.convert(out, back, *raw_options(r.version), exe=r.exe)
        same(f"by way of version {version}", expected, f.show(back, r.exe), fields)
        for release in at_hand(*reads_raw(version)):
            if release == 16 and mode == "PIE":
                continue # which llvm-profdata-16 refuses
            same(f"version {version} read by llvm-profdata-{release}", expected,
                 f.llvm_shows(release, out, r.exe), fields)
            asked += 1
    # Release 14 only counts, and reads no other version.
    first = f.converted(r, *raw_options(1))
    require(read(f.converted(r, "--to", "llvm14")) == read(first), "--to llvm14 is not version 1")
    counted = good(tool("llvm-profdata", 14), "show", "--memory", first)
    blocks = blocks_of_version_1(read(first))
    require(f"NumMIBInfo: {blocks}\n" in counted, f"{blocks} MIBs\n{counted}")
    return f"{len(expected.stacks())} contexts, {asked + 1} readings of LLVM"


def indexed_versions(f, writer, mode, turn):
    """Converted to each MemProf version and target. Which pairs of versions a release accepts does
    not depend on the recording: heap_taken asks for each. Here each release prints each MemProf
    version, in another index version for each recording, and what a target names."""
    r = f.recording(writer, mode)
    expected = named_as_for_compilers(f, writer, mode).low_lines()
    fields = fields_of(r.version, 5)
    asked = 0

    def ask(release, path, what):
        if release not in OF_YAML:
            require(f.llvm_takes(release, path).code == 0, f"{what}: llvm-profdata-{release}")
        else:
            same(f"{what} read by llvm-profdata-{release}", expected, f.llvm_reads(release, path),
                 fields)
        return 1

    for memprof in MEMPROF:
        for index in INDEX:
            if memprof < 2 and index >= 13:
                continue
            made = Made(memprof, index, False)
            out = f.converted(r, *made.options)
            same(f"V{memprof} in {index}", expected, f.show(out, r.exe), fields)
        for release in at_hand(*READERS):
            read_by_it = [index for index in INDEX if accepts(release, memprof, index)]
            if read_by_it:
                index = read_by_it[turn % len(read_by_it)]
                asked += ask(release, f.converted(r, *Made(memprof, index, False).options),
                             f"V{memprof} in {index}")
    for release in range(15, 24):
        out = f.converted(r, "--to", f"llvm{release}")
        same(f"--to llvm{release}", expected, f.show(out, r.exe), fields)
        if release in at_hand(*READERS):
            asked += ask(release, out, f"--to llvm{release}")
    return f"{asked} questions to LLVM"


def ways_round(f, writer, mode):
    """By way of YAML, a partial profile and any MemProf version comes the same file."""
    r = f.recording(writer, mode)
    folder = f.temp("round")
    direct, out, part = f.converted(r, "--to", "llvm22"), f"{folder}/out", f"{folder}/part"
    for name, options in (("yaml", ["--to", "yaml"]), ("partial", ["--to", "partial"]),
                          ("V2", ["--to", "llvm19", "--memprof-version", "2"]),
                          ("V3", ["--to", "llvm19"])):
        if name[0] == "V":
            f.convert(direct, f"{folder}/{name}", *options, exe=r.exe)
        else:
            os.symlink(f.converted(r, *options), f"{folder}/{name}")
        f.convert(f"{folder}/{name}", out, "--to", "llvm22")
        require(read(direct) == read(out), f"by way of {name} it differs")
    good(f.pgokit, "merge", r.raw, "-b", r.exe, "--partial", "-o", part)
    f.convert(part, out, "--to", "llvm22")
    require(read(direct) == read(out), "by way of a partial profile it differs")
    good(f.pgokit, "merge", part, "--partial", "-o", out)
    require(read(part) == read(out), "a partial profile written again differs")
    # And what is converted merges like what it was made of.
    expected = f.merge(f"{folder}/merged", [r.raw, r.raw], [r.exe])
    for version in range(1 if r.version == 1 else 2, 6):
        raw = f.converted(r, *raw_options(version))
        require(f.merge(out, [raw, raw], [r.exe]) == expected,
                f"raw version {version} merges to another file")


def printed(f, writer, mode, form, options):
    """The text of a runtime tells the stacks, objects and bytes of the raw profile."""
    folder = f.temp("printed")
    if writer == 13:
        exe, _ = f.by_hand("printed", 13, (*FRAME_POINTERS, *MODES[mode]), RECORDED, runs=False)
    else:
        exe = f.recording(writer, mode).exe
    good(*beside(tool("clang++", writer)), exe,
         env={"MEMPROF_OPTIONS": f"print_text=1:log_path={folder}/text{options}"})
    texts = glob.glob(f"{folder}/text.*")
    require(len(texts) == 1, f"recorded {texts}")
    got = f.show(texts[0], exe)
    # The raw profile of clang 13 does not exist: what the same source gives with clang 14.
    r = f.recording(*((14, "no PIE") if writer == 13 else (writer, mode)))
    expected = f.shown(r.raw, r.exe)
    if writer == 13:
        wanted = sorted((b["AllocCount"], b["TotalSize"]) for b in expected.stacks().values())
        blocks = sorted((b["AllocCount"], b["TotalSize"]) for b in got.stacks().values())
        require(wanted == blocks, f"objects and bytes of the contexts: {blocks}, not {wanted}")
    else:
        same(form, expected, got, TEXT_FIELDS)
    # It becomes all else, with what it lacks said.
    for what, target, lacks, wanted in (("indexed", "llvm22", "density", got.low_lines()),
                                        ("raw", "raw", "AllocTimestamp", got)):
        said = f.convert(texts[0], f"{folder}/{what}", "--to", target, exe=exe)
        require(lacks in said, said)
        same(what, wanted, f.show(f"{folder}/{what}", exe), TEXT_FIELDS)
    return f"{len(got.stacks())} contexts"


def refusals(f):
    """What cannot be converted is refused in a sentence, and nothing is written."""
    r = f.recording(22, "PIE")
    folder = f.temp("refusals")
    out = f"{folder}/out"
    f.convert(r.raw, f"{folder}/named", "--to", "llvm22", exe=r.exe)
    for what, argv in (
            ("frames that are places in functions", [f"{folder}/named", "--to", "raw"]),
            ("give the binary that was run (-b", [r.raw, "--to", "llvm22"]),
            ("binary that was run is needed to translate them",
             [r.raw, "--to", "raw", "--format-version", "2"]),
            ("--format-version is for --to raw", [r.raw, "--format-version", "2"]),
            ("convert takes one file", [r.raw, r.raw, "--to", "raw"]),
            ("not 'llvm99'", [r.raw, "--to", "llvm99"])):
        result = run(f.pgokit, "convert", *argv, "-o", out)
        require(result.code == 2 and what in " ".join(result.errors.split()),
                f"expected '{what}'\n{result}")
        require(not os.path.exists(out), "something was written")


def histograms(f):
    """Histograms go along where there is room, rounded in version 5; elsewhere that is said."""
    program = f.build("plain.c", HISTOGRAM_22)
    folder = f.temp("histograms")
    expected = f.show(program.raw, program.exe)
    for version in (4, 5):
        said = f.convert(program.raw, f"{folder}/v{version}", "--to", "raw",
                         "--format-version", str(version), exe=program.exe, lossless=True)
        require(not said, said)
        got = f.show(f"{folder}/v{version}", program.exe)
        same(f"version {version}", expected, got, histogram=True)
        if version == 5:
            same("llvm-profdata-22", expected, f.llvm_shows(22, f"{folder}/v5", program.exe),
                 histogram=True)
    for options in (["--to", "raw", "--format-version", "3"], ["--to", "llvm22"], ["--to", "yaml"]):
        said = f.convert(program.raw, f"{folder}/out", *options, exe=program.exe)
        require("the access histograms of" in said, f"{options}: {said}")


STATICS = ("same_statics.c", "same_statics_other.c")


def statics(f, *sources):
    return f.by_hand("statics", 22, ("-O2", "-fno-omit-frame-pointer", "-no-pie",
                                     "-fno-optimize-sibling-calls"), *sources)


def keeps_its_file(f):
    """A static function has its file and line in an indexed profile, although another one has its
    name, such as one of a library that is linked: only one has code where the stacks are."""
    folder = f.temp("one-of-two")
    exe, raw = statics(f, STATICS[0], "same_static_plain.c")
    f.convert(raw, f"{folder}/indexed", "--to", "llvm22", exe=exe)
    shown = good(f.pgokit, "show", f"{folder}/indexed", "-b", exe)
    require(re.search(r"^ +make +\S*same_statics\.c:\d", shown, re.M), shown)


def same_names(f):
    """Two static functions of one name: two contexts with names, one GUID in LLVM's formats, which
    is said."""
    folder = f.temp("statics")
    exe, raw = statics(f, *STATICS)
    said = f.convert(raw, f"{folder}/partial", "--to", "partial", exe=exe)
    text = good(f.pgokit, "show", f"{folder}/partial", "--raw")
    require(all(re.search(rf"make  \S*/{re.escape(name)}:", text) for name in STATICS), text)
    require("same name" not in said, said)
    said = f.convert(raw, f"{folder}/indexed", "--to", "llvm22", exe=exe)
    require("what distinguishes 1 function from others of the same name" in said, said)
    records = f.llvm_reads(22, f"{folder}/indexed")
    sizes = sorted(b["TotalSize"] for b in records.stacks().values())
    require(sizes == [10, 20], f"TotalSize of the contexts: {sizes}")
    # So says merge, also of partial profiles.
    merged = []
    for inputs in ([raw, "-b", exe], [f"{folder}/partial"]):
        result = run(f.pgokit, "merge", *inputs, "-o", f"{folder}/merged")
        require(result.code == 0 and "1 function has the name of a function in another file, as "
                "'make'" in result.errors, str(result))
        merged.append(read(f"{folder}/merged"))
    require(merged[0] == merged[1], "another file by a partial one")
    # With one record for both, no file is better than the wrong one.
    shown = good(f.pgokit, "show", f"{folder}/indexed", "-b", exe)
    require(len(re.findall(r"^ +make +line \+\d", shown, re.M)) == 2 and "main" in shown, shown)


def unrolled(f):
    """Copies of one call are one context; llvm-profdata has one for each address."""
    exe, raw = f.by_hand("unrolled", 22, ("-O2", "-fno-omit-frame-pointer", "-no-pie"),
                         "unrolled.cpp")
    theirs = f.llvm_shows(22, raw, exe)
    require(theirs.contexts == 4, f"llvm-profdata-22: {theirs.contexts} contexts")
    ours = f.show(raw, exe)
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


def data_access(f):
    """Data access profiles: the bytes of llvm-profdata-22, added up when merged."""
    folder = f.temp("data")
    write(f"{folder}/in.yaml", DATA_ACCESS.encode())
    llvm = tool("llvm-profdata", 22)
    good(llvm, "merge", f"{folder}/in.yaml", "-o", f"{folder}/theirs", "--memprof-version=4")
    good(f.pgokit, "merge", f"{folder}/in.yaml", "--to", "llvm22", "-o", f"{folder}/ours")
    require(read(f"{folder}/ours") == read(f"{folder}/theirs"), "the bytes differ from LLVM's")
    f.convert(f"{folder}/theirs", f"{folder}/out.yaml", "--to", "yaml", lossless=True)
    text = read(f"{folder}/out.yaml").decode()
    printed_by_llvm = good(llvm, "show", "--memory", f"{folder}/theirs")
    start = "DataAccessProfiles:"
    require(text[text.index(start):] == printed_by_llvm[printed_by_llvm.index(start):],
            f"as YAML:\n{text}")
    good(f.pgokit, "merge", f"{folder}/ours", f"{folder}/in.yaml", "--to", "llvm22", "-o",
         f"{folder}/twice")
    text = good(llvm, "show", "--memory", f"{folder}/twice")
    counts = [text.count(f"AccessCount:     {n}\n") for n in (200, 40)]
    require(counts == [2, 1], text)
    f.convert(f"{folder}/theirs", f"{folder}/partial", "--to", "partial", lossless=True)
    good(f.pgokit, "merge", f"{folder}/partial", "--to", "llvm22", "-o", f"{folder}/back")
    require(read(f"{folder}/back") == read(f"{folder}/theirs"), "by way of a partial profile")
    said = f.convert(f"{folder}/ours", f"{folder}/v3", "--to", "llvm19")
    require("the data access profile: 3 symbols and literals" in said, said)
    result = run(f.pgokit, "merge", f"{folder}/ours", "-o", f"{folder}/v3")
    require(result.code == 1 and "data access profile is not written" in result.errors, str(result))


def repair(f):
    """Files that were cut are repaired, in a form that LLVM reads."""
    r = f.recording(22, "no PIE")
    folder = f.temp("repair")
    whole = read(r.raw)
    stacks = int.from_bytes(whole[40:48], "little")
    cut = f"{folder}/cut.profraw"
    for size in (len(whole) - 8, (stacks + len(whole)) // 2):
        write(cut, whole[:size])
        refused = run(f.pgokit, "check", cut)
        require(refused.code == 2, str(refused))
        result = run(f.pgokit, "check", "--repair", f"{folder}/saved", cut)
        require(result.code == 1 and "lost: dump 1:" in result.errors, str(result))
        saved = f.show(f"{folder}/saved", r.exe)
        same("saved", saved, f.llvm_shows(22, f"{folder}/saved", r.exe), profiles.COMPARED)
        all_of_it = f.show(r.raw, r.exe).stacks()
        for stack, block in saved.stacks().items():
            require(all_of_it[stack]["TotalSize"] >= block["TotalSize"], "more than there was")
    # Zeros that a kill can leave are no loss.
    write(cut, whole + bytes(4096))
    text = good(f.pgokit, "check", "--repair", f"{folder}/saved", cut)
    require("nothing is lost" in text, text)
    same("zeros cut", f.show(r.raw, r.exe), f.show(f"{folder}/saved", r.exe),
         profiles.COMPARED)
    # An indexed file without its end: all records are there, its hash table is not.
    f.convert(r.raw, f"{folder}/indexed", "--to", "llvm22", exe=r.exe)
    whole = read(f"{folder}/indexed")
    write(cut, whole[:-40])
    result = run(f.pgokit, "check", "--repair", f"{folder}/saved", cut)
    require(result.code == 1, str(result))
    require(read(f"{folder}/saved") == whole, "the repaired file is not the whole one")


def rows(f, tap):
    recordings = [(writer, mode) for writer in (*RELEASES, *OWN) for mode in MODES]
    for turn, (writer, mode) in enumerate(recordings):
        name = f"{writer if writer in OWN else f'clang-{writer}'}, {mode}"
        tap.add(f"raw versions: {name}", raw_versions, f, writer, mode)
        tap.add(f"indexed versions: {name}", indexed_versions, f, writer, mode, turn)
        tap.add(f"ways round: {name}", ways_round, f, writer, mode)
    forms = {"symbolised": "", "addresses": ":symbolize=0", "terse": ":print_terse=1",
             "terse addresses": ":print_terse=1:symbolize=0"}
    for form, options in forms.items():
        for writer in (13, *RELEASES):
            for mode in MODES:
                tap.add(f"printed, {form}: clang-{writer}, {mode}", printed, f, writer, mode, form,
                        options)
    tap.add("refused conversions", refusals, f)
    tap.add("histograms", histograms, f)
    tap.add("static functions of one name", same_names, f)
    tap.add("a static function keeps its file beside another one of its name", keeps_its_file, f)
    tap.add("copies of a call", unrolled, f)
    tap.add("data access profiles", data_access, f)
    tap.add("repaired files", repair, f)
