#!/usr/bin/env python3
"""Sample profiles for gcc 12 to 16: each release takes what is written for it and makes of it what
was meant, and refuses what is written for another; create_gcov's files are read.
"""

import glob
import json
import os
import re
import sys

import gcc_samples
from gcc_samples import function
from peers import Skip, good, main, peer, program_text, read, require, run, tool, write

RELEASES = (12, 13, 14, 15, 16)
VERSION = {12: 2, 13: 2, 14: 2, 15: 2, 16: 3}

PROGRAM = program_text("counted_calls.c")
# f in two clones, and a part of it whose head is none of the function's; no head is known of apply.
# Of the discriminators of apply's loop each release has its own numbers.
TEXT = """\
f:2000:0
 1: 600
 2: 600
 2.1: 180
 2.2: 420
f.constprop.0:1400:0
 1: 400
 2: 400
 2.1: 120
 2.2: 280
f.part.0:10:10
 3: 10
apply:30000:0
 0: 10
 1: 10
 2: 10000
 2.1: 10000
 2.2: 10000
 2.3: 10000
 3: 10000 times:9000 mixed:1000
 3.1: 10000 times:9000 mixed:1000
 3.2: 10000 times:9000 mixed:1000
 3.3: 10000 times:9000 mixed:1000
 4: 10
times:9000:9000
 0: 9000
"""


def program(work):
    folder = work.temp("gcc")
    write(f"{folder}/t.c", PROGRAM.encode())
    write(f"{folder}/p.txt", TEXT.encode())
    return folder


def written_for(work, folder, release):
    """The profile for a release: its path."""
    path = f"{folder}/{release}.afdo"
    result = run(work.pgokit, "convert", f"{folder}/p.txt", "--to", f"gcc{release}", "-o", path)
    has_discriminators = b" 2.1: " in read(f"{folder}/p.txt")
    require(result.code == 1 and "samples of 2 stand under it" in result.errors and
            ("no discriminators" in result.errors) == (release < 13 and has_discriminators),
            str(result))
    return path


def compiled(folder, release, profile, *options):
    return run(peer(f"gcc-{release}"), "-O2", "-g", f"-fauto-profile={profile}", *options,
               "-fdump-ipa-afdo-blocks-details", "-fdump-tree-optimized", "-c", f"{folder}/t.c",
               "-o", f"{folder}/t.o", "-dumpdir", f"{folder}/", cwd=folder)


def sections(folder):
    """{function: section} of the object."""
    symbols = good(tool("objdump"), "-t", f"{folder}/t.o")
    return {name: section for section, name in
            re.findall(r"F (\S+)\s+[0-9a-f]+ (?:\.hidden )?(\w+)$", symbols, re.M)}


def count_behind(dump, statement):
    """The count on the edge out of the block of a statement, in the final listing of a dump."""
    behind = dump.rpartition(statement + "\n")[2]
    found = re.search(r";;    succ:.*?count:(\d+)", behind)
    require(statement in dump and found, f"no {statement} in\n{dump[-3000:]}")
    return int(found[1])


def taken(work, release):
    folder = program(work)
    result = compiled(folder, release, written_for(work, folder, release))
    require(result.code == 0 and not result.errors, str(result))
    dump = read(glob.glob(f"{folder}/*i.afdo")[0]).decode()
    calls_x, calls_y = count_behind(dump, "  x ();"), count_behind(dump, "  y ();")
    # gcc 12 knows no discriminators, so that both have the count of the line.
    ratio = 1 if release == 12 else 7 / 3
    require(abs(calls_y / calls_x - ratio) < 0.01, f"x {calls_x}, y {calls_y}")
    require(calls_x > 0, "the counts are lost")
    at = sections(folder)
    require(at["apply"] == ".text.hot", f"{at}")
    require(at["never"] == (".text.unlikely" if release == 16 else ".text"), f"{at}")
    optimized = read(glob.glob(f"{folder}/*t.optimized")[0]).decode()
    require("== times" in optimized, "the indirect call is not compared with its target")
    return f"x {calls_x}, y {calls_y}"


def only_its_own(work, release):
    folder = program(work)
    for other in RELEASES:
        result = compiled(folder, release, written_for(work, folder, other))
        fits = VERSION[other] == VERSION[release]
        require((result.code == 0) == fits, f"for gcc {other}: {result}")
        require(fits or "does not match" in result.errors, str(result))
        told = good(work.pgokit, "check", f"{folder}/{other}.afdo").rpartition("read by ")[2]
        numbers = [int(n) for n in re.findall(r"\d+", told)]
        require((numbers[0] <= release <= numbers[-1]) == fits, told)


def as_bytes(work):
    """What is written, by a decoder of its own."""
    folder = program(work)
    files = {r: gcc_samples.decode(read(written_for(work, folder, r))) for r in RELEASES}
    for release, p in files.items():
        functions = p["functions"]
        require(p["version"] == VERSION[release], f"{release}: version {p['version']}")
        require(set(functions) == {"f", "apply", "times"}, f"{release}: {set(functions)}")
        f, apply = functions["f"], functions["apply"]
        if release == 12:
            require(f["lines"] == {(1, 0): (1000, {}), (2, 0): (1000, {}), (3, 0): (10, {})},
                    f"{f}")
            require(f["head"] == 1000 and apply["head"] == 10, "heads are not raised")
            require(apply["lines"][3, 0] == (10000, {"times": 36000, "mixed": 4000}), f"{apply}")
        else:
            require(f["lines"][2, 1] == (300, {}) and f["lines"][2, 2] == (700, {}), f"{f}")
            require(f["head"] == 0 and apply["head"] == 0, "heads are raised")
    for release in (13, 14):
        require(files[release] == files[15], f"gcc {release} and 15 differ")
    p = files[16]
    require(p["functions"] == files[15]["functions"], "gcc 15 and 16 differ")
    require((p["summary"], p["rows"]) == gcc_samples.summarise(list(p["functions"].values())),
            f"{p['summary']} {p['rows']}")


def origins(work):
    """Files and times come through, are merged by name, and gcc 16 takes them."""
    folder = program(work)
    lines = {(1, 0): 1000, (2, 0): 1000, (2, 1): 300, (2, 2): 700}
    early = [function("f", 0, lines, file="t.c", timestamp=90),
             function("times", 5, {(0, 0): 5}, file="a.c", timestamp=500)]
    late = [function("f", 0, lines, file="t.c", timestamp=7000),
            function("times", 5, {(0, 0): 5}, file="b.c", timestamp=400),
            function("apply", 1, {(0, 0): 1})]
    for name, functions in (("early", early), ("late", late)):
        write(f"{folder}/{name}", gcc_samples.encode(functions, 3))
        result = run(work.pgokit, "convert", f"{folder}/{name}", "--to", "gcc16", "-o",
                     f"{folder}/same")
        require(result.code == 0 and not result.errors, str(result))
    result = run(work.pgokit, "convert", f"{folder}/early", "--to", "gcc15", "-o",
                 f"{folder}/lost")
    require(result.code == 1 and "source files and times of functions" in result.errors,
            str(result))
    for order in (("early", "late"), ("late", "early")):
        good(work.pgokit, "merge", *(f"{folder}/{name}" for name in order), "--to", "gcc16", "-o",
             f"{folder}/both")
        p = gcc_samples.decode(read(f"{folder}/both"))
        require(p["names"] == {"": None, "f": "t.c", "times": None, "apply": None}, f"{p['names']}")
        times = {name: f["timestamp"] for name, f in p["functions"].items()}
        # One without a time comes last, as gcc takes 0 for the first.
        require(times == {"f": 90, "times": 400, "apply": 401}, f"{times}")
    for i, name in enumerate(("early", "late")):
        good(work.pgokit, "merge", "--partial", f"{folder}/{name}", "-o", f"{folder}/part{i}")
    good(work.pgokit, "merge", f"{folder}/part0", f"{folder}/part1", "--to", "gcc16", "-o",
         f"{folder}/shards")
    require(read(f"{folder}/shards") == read(f"{folder}/both"), "in shards it is another")
    require(compiled(folder, 16, f"{folder}/both").code == 0, "gcc 16 does not take it")
    require(sections(folder)["f"] == ".text.hot", f"{sections(folder)}")


def as_create_gcov_wrote(work):
    """Names in words under numbers of releases that want bytes."""
    folder = program(work)
    ours = written_for(work, folder, 15)
    functions = list(gcc_samples.decode(read(ours))["functions"].values())
    want = good(work.pgokit, "convert", ours, "--to", "text", "-o", "-")
    for version in (gcc_samples.LLVM, 1, 2, 3):
        path = write(f"{folder}/words", gcc_samples.encode(functions, version, words=True))
        require(good(work.pgokit, "convert", path, "--to", "text", "-o", "-") == want,
                f"version {version} reads as another")
        told = good(work.pgokit, "check", path)
        require(("no release of gcc" in told) == (version in (2, 3)), told)


def for_gcc_11(work):
    """Version 1, where discriminators do not matter, is version 2 with names in words."""
    folder = program(work)
    write(f"{folder}/p.txt", re.sub(r" \d\.\d.*\n", "", TEXT).encode())
    functions = list(gcc_samples.decode(read(written_for(work, folder, 15)))["functions"].values())
    require(read(written_for(work, folder, 11)) == gcc_samples.encode(functions, 1, words=True),
            "other bytes")
    require("read by gcc 5 to 11" in good(work.pgokit, "check", f"{folder}/11.afdo"), "readers")


CLONED = program_text("cloned_in_parts.c")


def heads_of(text):
    return {name: int(head) for name, head in re.findall(r"^(\w+):\d+:(\d+)", text, re.M)}


def create_gcov(work):
    """Of one recording: its files are read whatever number they have, and where it has counts, gen
    has, too. Functions were entered as often, also as clones."""
    folder = work.temp("create-gcov")
    peer("create_gcov")
    recorder = os.environ.get("BRANCH_TRACE")
    if not recorder:
        raise Skip("the program that records branches was not given")
    write(f"{folder}/t.c", (PROGRAM + CLONED).encode())
    exe = f"{folder}/t"
    good(tool("gcc-12"), "-O2", "-gdwarf-4", "-no-pie", "-Wl,--build-id", f"{folder}/t.c", "-o",
         exe)
    require("cloned.constprop.0.cold" in good(tool("nm"), exe), "there is no clone in two parts")
    good(recorder, "-e", "97", "-n", "2000", f"{exe}.trace", exe)
    good(work.pgokit, "gen", "-q", f"{exe}.trace", "-b", exe, "--raw", "-o", f"{exe}.raw")
    write(f"{exe}.counts", counts_for_create_gcov(read(f"{exe}.raw").decode()).encode())
    texts = set()
    for version in (1, 2, 3):
        theirs = f"{folder}/{version}.afdo"
        good(peer("create_gcov"), f"--binary={exe}", f"--profile={exe}.counts", "--profiler=text",
             f"--gcov={theirs}", f"-gcov_version={version}")
        texts.add(good(work.pgokit, "convert", theirs, "--to", "text", "-o", "-"))
    require(len(texts) == 1, "the versions read differently")
    theirs = texts.pop()
    good(work.pgokit, "gen", "-q", f"{exe}.trace", "-b", exe, "--to", "gcc15", "-o", f"{exe}.afdo")
    ours = good(work.pgokit, "convert", f"{exe}.afdo", "--to", "text", "-o", "-")
    functions = set(re.findall(r"^(\w+):\d+:", theirs, re.M))
    require({"f", "times", "main"} <= functions <= set(re.findall(r"^(\w+):\d+:", ours, re.M)),
            f"theirs {theirs}, ours\n{ours}")
    # create_gcov counts jumps to the cold part, too, which calls bad.
    more, entered = heads_of(theirs)["cloned"], heads_of(ours)["cloned"]
    require(0 < entered <= more <= entered + heads_of(ours)["bad"],
            f"entries: theirs {heads_of(theirs)}, ours {heads_of(ours)}")
    # Both have the same discriminators, which are not made up of parts as LLVM's.
    require(lines_of(theirs, "f") == lines_of(ours, "f") and len(lines_of(ours, "f")) > 3,
            f"theirs {theirs}, ours\n{ours}")
    for release in RELEASES:
        result = run(work.pgokit, "convert", "-q", f"{folder}/3.afdo", "--to", f"gcc{release}",
                     "-o", f"{folder}/ours")
        require(result.code == bool(result.errors) and
                (release < 13) == ("no discriminators" in result.errors), str(result))
        gcc_samples.decode(read(f"{folder}/ours"))
    with_contexts = run(work.pgokit, "gen", "-q", f"{exe}.trace", "-b", exe, "--mode", "cs-autofdo",
                        "--contexts", "--to", "gcc16", "-o", f"{exe}.afdo")
    require(with_contexts.code == 1 and "calling contexts are not in the output"
            in with_contexts.errors, str(with_contexts))
    return f"{len(functions)} functions"


def first_runs(work):
    """Functions of a recorded program have the order in which they ran; two recordings have clocks
    of their own."""
    folder = work.temp("phases")
    run(tool("gcc"), "-g", "-O2", "-o", f"{folder}/p",
        os.path.join(work.programs, "three_phases.c"))
    for name in ("a", "b"):
        run(tool("perf"), "record", "-q", "-e", "cpu-clock:u", "-F", "5000", "-o",
            f"{folder}/{name}", "--", f"{folder}/p", "30000000")
        if not os.path.exists(f"{folder}/{name}"):
            raise Skip("perf may not record here")
    good(work.pgokit, "gen", "-q", f"{folder}/a", f"{folder}/b", "-b", f"{folder}/p", "--to",
         "gcc16", "-o", f"{folder}/16")
    shown = json.loads(good(work.pgokit, "show", "--json", f"{folder}/16"))
    times = {f["name"]: f["first_run"] for f in shown["functions"]}
    require({"first", "second", "third"} <= set(times), f"functions without time: {shown}")
    order = sorted(("third", "second", "first"), key=times.get)
    require(order == ["first", "second", "third"], f"the times are {times}")
    require(times["third"] < 60e9, f"times are not those since the start: {times}")
    good(work.pgokit, "gen", "-q", f"{folder}/a", "-b", f"{folder}/p", "--to", "gcc15", "-o",
         f"{folder}/15")
    return ", ".join(f"{name} at {times[name] / 1e6:.0f} ms" for name in order)


def lines_of(text, function):
    """Places in a function that have counts."""
    body = re.search(rf"^{function}:.*\n((?: .*\n)*)", text, re.M)[1]
    return {place for place, count in re.findall(r"^ ([\d.]+): (\d+)", body, re.M) if int(count)}


def counts_for_create_gcov(raw):
    """The text of ranges and branches with the empty list of addresses that create_gcov expects
    between, and with offsets in the file, where the code is in its second page."""
    lines = raw.split("\n")
    n = int(lines[0])
    ranges, branches = lines[1:1 + n], lines[2 + n:2 + n + int(lines[1 + n])]

    def moved(line):
        places, _, count = line.partition(":")
        sep = "->" if "->" in places else "-"
        return sep.join(f"{(int(p, 16) + 0x1000) % (1 << 64):x}"
                        for p in places.split(sep)) + ":" + count
    return "\n".join([str(n), *map(moved, ranges), "0", str(len(branches)),
                      *map(moved, branches)]) + "\n"


def add_cases(work, tap):
    for release in RELEASES:
        tap.add(f"gcc {release} takes it", taken, work, release)
        tap.add(f"gcc {release} takes its own alone", only_its_own, work, release)
    tap.add("bytes", as_bytes, work)
    tap.add("files and times", origins, work)
    tap.add("times of first runs", first_runs, work)
    tap.add("names in words", as_create_gcov_wrote, work)
    tap.add("for gcc 11", for_gcc_11, work)
    tap.add("create_gcov", create_gcov, work)


sys.exit(main(add_cases))
