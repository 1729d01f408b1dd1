"""What is accepted: each pair of MemProf and index version is read or refused by each release of
LLVM as expected, and compilers annotate the same allocation calls with our file as with LLVM's
own file of the same raw profile.
"""

import itertools
import os
import re

import profiles
from heap_fixtures import ANNOTATION, NO_PIE, OWN, PIE, RECORDED, Made
from heap_releases import INDEX, MEMPROF, READERS, RELEASES, accepts, reads_all, use_options
from peers import at_hand, good, read, require, run, tool, write

# ---- accepted and refused ----


def acceptance(f, made):
    program = f.build("segments.c", PIE[19])
    if made.memprof < 2 and made.index >= 13:
        out = f"{f.temp('accept')}/no"
        result = run(f.pgokit, "merge", program.raw, "-b", program.exe, "-o", out, *made.options)
        require(result.code == 2 and not os.path.exists(out),
                f"wrote what no release reads\n{result}")
        return "refused, as no release reads it"
    path = f.merged(program.raw, program.exe, *made.options)
    if not made.full:
        checked = good(f.pgokit, "check", path)
        for release in RELEASES:
            # A release that reads the file is named, one that does not is not.
            first, last = re.search(r"LLVM (\d+)(?: \w+ (\d+))?$", checked).groups()
            named = int(first) <= release <= int(last or first)
            require(named == accepts(release, made.memprof, made.index),
                    f"pgokit check on readers, LLVM {release}: {checked}")
    said = []
    for release in at_hand(*RELEASES):
        taken = accepts(release, made.memprof, made.index)
        shown = f.llvm_takes(release, path)
        require((shown.code == 0) == taken, f"llvm-profdata-{release} show\n{shown}")
        if release in READERS:
            used = compiles(f, release, path)
            require((used.code == 0) == taken,
                    f"clang-{release} {use_options(release, path)[0]}\n{used}")
        said.append(f"{release}: {'yes' if shown.code == 0 else 'no'}")
    return ", ".join(said)


def compiles(f, release, path):
    """Does the compiler take the file? MemProf V0 and V1 have one schema, so two rows may ask."""
    return f.once(("compiles", release, read(path)), lambda: run(
        tool("clang", release), "-O2", "-g", "-c", "-o", f.new_path(), *use_options(release, path),
        "-Wno-backend-plugin", "-Wno-profile-instr-unprofiled", f"{f.programs}/segments.c"))


def targets(f, target, readers):
    """What --to promises."""
    program = f.build("segments.c", PIE[19])
    path = f.merged(program.raw, program.exe, "--to", target)
    for release in at_hand(*RELEASES):
        shown = f.llvm_takes(release, path)
        require((shown.code == 0) == (release in readers), str(shown))


# ---- annotated alike ----

LIFE = {
    "every other context cold": lambda i: i % 2 == 0,
    "one in three cold": lambda i: i % 3 == 0,
    "all cold": lambda i: True,
    "none cold": lambda i: False,
}
MIXED = ("every other context cold", "one in three cold")


def aged(f, program, life):
    """A raw profile in which the contexts that `life` picks by position lived for ten
    minutes untouched, all others were used a lot: so that the compiler finds both."""
    def make():
        dumps = profiles.decode_raw(read(program.raw))
        for d in dumps:
            for i, (_, block) in enumerate(d.blocks):
                n = block["AllocCount"]
                if LIFE[life](i):
                    block.update(TotalLifetime=600000 * n, TotalLifetimeAccessDensity=0)
                else:
                    block.update(TotalLifetime=10 * n, TotalLifetimeAccessDensity=50000 * n)
        return write(f.new_path(), profiles.encode_raw(dumps))
    return f.once(("aged", program.raw, life), make)


def llvm_file(f, program, raw, release):
    """LLVM's own indexed file that `release` of the compiler reads."""
    made_by = program.variant.release
    merger = max(22, release) if release >= 22 or made_by >= 22 else release
    options = {
        (16, 16): [],
        (22, 22): ["--memprof-version=4"],
        (23, 23): ["--memprof-version=4"],
        (19, 22): ["--memprof-version=3", "--write-prev-version"],
        (19, 19): ["--memprof-version=3"],
    }[(release, merger)]
    return f.made_by_llvm(merger, raw, program.exe, *options)


def added_up(f, program, raw):
    """LLVM's file of the records with equal call stacks added up, and with the line offsets that
    compilers can match: via YAML. Says whether that differs from what llvm-profdata writes."""
    def make():
        records = f.llvm_shows(22, raw, program.exe)
        low = records.low_lines()
        text = write(f.new_path(), profiles.to_yaml(profiles.plain(low)).encode())
        out = f.new_path()
        good(tool("llvm-profdata", 22), "merge", text, "-o", out, "--memprof-version=3",
             "--write-prev-version")
        return out, low.merged_contexts(), records.far_lines()
    return f.once(("added up", raw), make)


def annotations(f, source, variant, release, life):
    program = f.build(source, variant)
    raw = aged(f, program, life)
    # LLVM 16 leaves equal call stacks apart and has no YAML to bring them together.
    theirs, equal, far = added_up(f, program, raw) if release > 16 else (None, 0, 0)
    if not equal and not far:
        theirs = llvm_file(f, program, raw, release)
    files = {f"llvm{release}": ["--to", f"llvm{release}"]}
    # How a profile is written does not depend on the lives in it.
    if release > 16 and life in MIXED:
        files.update({"any": [], "v2": Made(2, 11, False).options, "full schema":
                      ["--full-schema"]})
    expected = f.annotated(release, source, theirs)
    count = len(ANNOTATION.findall(expected))
    require(count > 0 or life == "none cold", "LLVM's own file annotates nothing")
    for name, options in files.items():
        got = f.annotated(release, source, f.merged(raw, program.exe, *options))
        if got != expected:
            raise_difference(name, expected, got)
    return f"{count} annotated calls and attributes" + (
        f", {equal} contexts added up" if equal else "") + (
        f", {far} line offsets of more than 16 bits" if far else "")


def raise_difference(name, expected, got):
    for a, b in itertools.zip_longest(expected.splitlines(), got.splitlines()):
        require(a == b, f"{name}: the compiler's output differs\nLLVM's: {a}\nours:   {b}")


def pass_alone(f, release):
    """The pass on its own, on code that no other pass has touched."""
    program = f.build(RECORDED, PIE[release])
    raw = aged(f, program, "one in three cold")
    plain = f.bitcode(release, RECORDED)
    theirs, ours = (
        good(tool("opt", release), f"-passes=memprof-use<profile-filename={path}>", "-S", plain)
        for path in (llvm_file(f, program, raw, release),
                     f.merged(raw, program.exe, "--to", f"llvm{release}")))
    if theirs != ours:
        raise_difference("opt", theirs, ours)
    count = len(ANNOTATION.findall(ours))
    require(count > 0, "nothing is annotated")
    return f"{count} annotated calls and attributes"


def compilers(f, writer):
    """Each compiler annotates calls from the profile that was converted for it."""
    recording = f.recording(writer, "no PIE")
    counts = []
    for release in at_hand(*READERS):
        out = f.converted(recording, "--to", f"llvm{release}")
        text = f.annotated(release, RECORDED, out)
        count = text.count('"memprof"=') + text.count("!memprof")
        require(count > 0, f"clang-{release} annotates nothing")
        counts.append(f"clang-{release} {count}")
    return "annotations: " + ", ".join(counts)


def far_lines(f, release):
    """Calls whose line differs from their function's by more than 16 bits can say: clang finds them
    with our file, and never with that of llvm-profdata. So it is with line 0, for which
    clang 22 notes another place in the binary than it looks for."""
    folder, source = f.temp("far"), "far_lines.cpp"
    exe, raw = f.by_hand("far", release, ("-O2", "-fno-omit-frame-pointer",
                                          "-fno-optimize-sibling-calls", "-no-pie"), source)
    paths = {"theirs": f.made_by_llvm(release, raw, exe,
                                      *(["--memprof-version=3"] if release > 16 else [])),
             "ours": f.merged(raw, exe, "--to", f"llvm{release}")}
    found = {}
    for name, path in paths.items():
        out = f"{folder}/{name}.ll"
        good(tool("clang++", release), "-g", "-O2", "-S", "-emit-llvm", "-Wno-backend-plugin",
             "-Wno-profile-instr-unprofiled", *use_options(release, path),
             f"{f.programs}/{source}", "-o", out)
        found[name] = annotated_sizes(read(out).decode())
    expected = {10, 20, 30, 40} if release < 22 else {10, 20, 30}
    require(found["ours"] == expected, f"annotated with our file: {found['ours']}")
    require(found["theirs"] == {10}, f"annotated with LLVM's file: {found['theirs']}")
    return f"of 4 calls with llvm-profdata 1, with pgokit {len(expected)}"


def annotated_sizes(text):
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


def rows(f, tap):
    for made in itertools.starmap(Made, itertools.chain(
            itertools.product(MEMPROF, INDEX, (False,)),
            # The index version does not change how a schema is read.
            itertools.product(MEMPROF, (9, 12, 13, 14), (True,)))):
        tap.add(f"MemProf V{made.memprof}, index {made.index}, {made.schema} schema", acceptance,
                f, made)
    for target, readers in (("any", reads_all(3)), ("llvm16", reads_all(0)),
                            ("llvm19", reads_all(3)), ("llvm22", reads_all(4)), ("llvm23", (23,))):
        tap.add(f"--to {target}", targets, f, target, readers)
    for release, variant in ((16, NO_PIE[16]), (19, PIE[19]), (22, PIE[22]), (19, PIE[22]),
                             (22, PIE[19]), (23, PIE[23]), (22, PIE[23]), (23, PIE[22])):
        for source in ("lifetimes.cpp", "plain.c", "classes.cpp"):
            for life in LIFE if source == "lifetimes.cpp" else ("every other context cold",):
                tap.add(f"clang-{release} annotates {source} of clang-{variant.release}, {life}",
                        annotations, f, source, variant, release, life)
    for release in reads_all(3):
        tap.add(f"opt-{release} memprof-use", pass_alone, f, release)


def compiler_rows(f, tap):
    for writer in (*RELEASES, *OWN):
        tap.add(f"compilers use what is converted: {writer}", compilers, f, writer)
    for release in READERS:
        tap.add(f"far lines: clang-{release}", far_lines, f, release)
