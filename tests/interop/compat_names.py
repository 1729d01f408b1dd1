#!/usr/bin/env python3
"""Names of other tools: a command line gives, under a link to pgokit, what it gives with the tool
itself, which then reads it.
"""

import glob
import os
import re
import shutil
import sys

import gcc_samples
from gcov_gcc import dump
from instr_profiles import RUNS, counted, profdata
from peers import (Skip, at_hand, beside, good, main, peer, program_text, read, require, run, tool,
                   write)

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
RELEASES = (14, 16, 19, 22, 23)


class Names:
    """Links to pgokit in a folder of one case."""

    def __init__(self, work):
        self.pgokit, self.folder = work.pgokit, work.temp("names")

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name):
        link = self.path(os.path.join("bin", name))
        if not os.path.exists(link):
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(self.pgokit, link)
        return link


# ---- llvm-profdata ----

def same_merge(names, release, *arguments):
    """Both tools merge so, and the real one says that both files hold the same."""
    results = []
    for name, command in (("theirs", profdata(release)),
                          ("ours", names.tool(f"llvm-profdata-{release}"))):
        path = names.path(f"{name}.merged")
        good(command, "merge", *arguments, "-o", path)
        data = read(path)
        kind = ["-sample"] if "sample" in "".join(arguments) else []
        text = [] if "text" in "".join(arguments) else ["-text"]
        good(profdata(release), "merge", *kind, *text, path, "-o", path + ".text")
        results.append((data, read(path + ".text")))
    (their_bytes, their_text), (our_bytes, our_text) = results
    require(our_text == their_text, f"{arguments}: another profile")
    return our_bytes == their_bytes


def counters(work, release):
    names, program = Names(work), counted(work, "ir", release)
    raws = program.raws
    folder = names.path("raws")
    os.makedirs(folder)
    for n, raw in zip(RUNS, raws):
        shutil.copy(raw, f"{folder}/{n}.profraw")
    lists = write(names.path("list"), f"# of two runs\n 3,{raws[0]}\n\n{raws[1]}\n".encode())
    renames = write(names.path("renames"), b"# functions\n_Z4condiii _Z4testiii\nmain _Z4testiii\n")
    response = write(names.path("words"), f"-sparse '{raws[0]}'\n \"{raws[1]}\"".encode())
    ways = [
        raws, ["-sparse", *raws], ["--sparse=true", "-num-threads=0", *raws],
        ["-instr", *raws, "-j", "2"], ["-text", *raws], ["--failure-mode=all", *raws, lists],
        [f"-weighted-input=3,{raws[0]}", "--weighted-input", f"1,{raws[1]}"],
        ["-f", lists], [f"--input-files={lists}", raws[2]], [folder],
        ["-remapping-file", renames, *raws], ["-r", renames, raws[0]], [f"@{response}"],
    ]
    equal = [same_merge(names, release, *way) for way in ways]
    return f"{sum(equal)} of {len(equal)} ways give the same bytes"


def sample_ways(work, release):
    names = Names(work)
    text = write(names.path("a.prof"), good(
        profdata(release), "merge", "-sample", "-text",
        f"{GOLDEN}/sample/llvm14-ext.afdo", "-o", "-").encode())
    other = f"{GOLDEN}/sample/llvm16-binary.afdo"
    renames = write(names.path("renames"), b"_Z3bari _Z3fooi\ndeep deeper\n")
    response = write(names.path("words"), b"-use-md5\\=0 \n -extbinary")
    for way in (["-extbinary"], ["-binary"], ["-text"], [], ["-use-md5=0"],
                ["-extbinary", "-compress-all-sections"], ["--extbinary", "--gen-partial-profile"],
                [f"-weighted-input=5,{text}"], [f"-remapping-file={renames}"], [f"@{response}"]):
        same_merge(names, release, "-sample", *way, text, other)


def shown(work, release):
    """What is printed as a profile has the same bytes."""
    names, program = Names(work), counted(work, "ir", release)
    both = names.path("both")
    good(profdata(release), "merge", *program.raws, "-o", both)
    ours = names.tool(f"llvm-profdata-{release}")
    good(ours, "show", "--all-functions", both, "-o", names.path("out"))
    ways = [["--covered"], []]
    if release >= 22:  # earlier ones list what has equal counts in another order
        ways += [["--topn=3"], ["-text"], ["--counts", "--ic-targets", "--memop-sizes"]]
    for way in ways:
        command = ["show", "--all-functions", *way, both]
        # Older releases say less of the instrumentation.
        theirs, mine = (re.sub(r"^Instrumentation level: .*\n", "", good(t, *command), flags=re.M)
                        for t in (profdata(release), ours))
        require(theirs == mine, f"{way}:\n{mine}\n{theirs}")
    require(len(re.findall(r"^    Hash: 0x", read(names.path("out")).decode(), re.M)) > 5,
            "too few functions")
    for command in (["show", "--topn=3", "--covered"], ["show"],
                    ["show", "--function=main", "--counts"], ["overlap", both]):
        require(good(ours, *command, both), f"{command} prints nothing")


def summaries(work, release):
    """Of counters the same bytes; of sample profiles behind the functions."""
    names, compared = Names(work), 0
    ours = names.tool(f"llvm-profdata-{release}")
    for path in (*glob.glob(f"{GOLDEN}/instr-indexed/*.profdata"),
                 *glob.glob(f"{GOLDEN}/instr-text/*.proftext"),
                 *glob.glob(f"{GOLDEN}/sample/llvm*.afdo")):
        kind = ["--sample"] if "/sample/" in path else []
        for way in ([], ["--showcs"], ["--detailed-summary-cutoffs=999999,1,123457,1000000"]):
            command = ["show", "--detailed-summary", *way, *kind, path]
            theirs = run(profdata(release), *command)
            if theirs.code:
                continue  # a newer one's, or compact binary
            mine, want = good(ours, *command), theirs.text
            if kind:
                mine, want = (text[text.index("Total functions:"):] for text in (mine, want))
            require(mine == want, f"{command}:\n{mine}\n{want}")
            compared += 1
    require(compared > 60, f"only {compared}")
    return f"{compared} summaries"


def without_comments(text):
    return "".join(re.findall(r"^(?!#).*\n", text, re.M))


def heap(work):
    """YAML of heap data, by show and by merging."""
    names = Names(work)
    for release in (22, 23):
        path = f"{GOLDEN}/indexed/llvm{release}-v4.profdata"
        mine = good(names.tool("llvm-profdata"), "show", "--memory", path)
        if release in at_hand(22, 23):
            theirs = good(profdata(release), "show", "--memory", path)
            require(mine == theirs, f"of {release}:\n{mine}\n{theirs}")
    raw = f"{GOLDEN}/heap-raw/clang22.profraw"
    result = run(names.tool("llvm-profdata-22"), "merge", raw, "-o", names.path("x"))
    require(result.code == 2 and "binar" in result.errors, str(result))


def order(work):
    names = Names(work)
    path = f"{GOLDEN}/instr-indexed/llvm22-temporal.profdata"
    good(names.tool("llvm-profdata-22"), "order", path, "-o", names.path("order"))
    theirs = good(profdata(22), "order", path)
    require(without_comments(read(names.path("order")).decode()) == without_comments(theirs),
            "another order")


def chosen_release(work):
    """The release of the name or the environment decides who reads the file."""
    names = Names(work)
    for made_by, name, env, reader in ((14, "llvm-profdata-14", {}, 14),
                                       (14, "llvm-profdata-16", {}, 16),
                                       (14, "llvm-profdata", {}, 14),
                                       (14, "llvm-profdata", {"PGOKIT_TO_LLVM": "any"}, 19),
                                       (19, "llvm-profdata", {}, 19),
                                       (22, "llvm-profdata", {}, 19),
                                       (22, "llvm-profdata", {"PGOKIT_TO_LLVM": "llvm14"}, 14)):
        program = counted(work, "ir", made_by)
        out = names.path("out")
        good(names.tool(name), "merge", *program.raws, "-o", out, env=env)
        good(profdata(reader), "show", out)
        index = read(out)[8]
        want = {14: 7, 16: 9, 19: 12}[reader]
        require(index == want, f"{name} {env}: index {index}, not {want}")


# The rules by which CPython's makefile builds with a profile of clang.
CPYTHON = """
LLVM_PROF_FILE = LLVM_PROFILE_FILE="code-%p.profclangr"
LLVM_PROF_MERGER = llvm-profdata merge -output=code.profclangd *.profclangr
t2: profile-run-stamp
\t$(CC) -O2 -fprofile-instr-use=code.profclangd t.c -o t2
profile-run-stamp:
\t$(CC) -O2 -fprofile-instr-generate t.c -o t
\t$(LLVM_PROF_FILE) $(IN) ./t
\t$(LLVM_PROF_FILE) $(IN) ./t x
\t$(LLVM_PROF_MERGER)
\ttouch $@
"""


def cpython_makefile(work, release):
    """The script names no release, so that the file has to suit the compiler that counted."""
    names, clang = Names(work), tool("clang", release)
    names.tool("llvm-profdata")
    write(names.path("t.c"), SOURCE.replace("ROUNDS", "1000").encode())
    write(names.path("Makefile"), CPYTHON.encode())
    result = run("make", f"CC={clang} -Wall -Werror", f"IN={' '.join(beside(clang))}",
                 cwd=names.folder, env={"PATH": f"{names.path('bin')}:{os.environ['PATH']}"})
    require(result.code == 0 and "warning" not in result.errors, str(result))
    both = good(profdata(release), "merge", "-text", *glob.glob(names.path("*.profclangr")), "-o",
                "-")
    require(good(profdata(release), "merge", "-text", names.path("code.profclangd"), "-o", "-") ==
            both, "another profile")


def build_scripts(work, release):
    """The command lines by which build systems merge: cargo-pgo and rustc's book (a folder), LLVM's
    own perf-helper.py (files one by one), Chromium's merge of thousands by a list."""
    names, raws = Names(work), counted(work, "ir", release).raws
    folder = names.path("profiles/deep")
    os.makedirs(folder)
    paths = []
    for i in range(2000):
        paths.append(f"{folder}/default_{i}.profraw")
        if i:
            os.link(paths[0], paths[-1])
        else:
            shutil.copy(raws[0], paths[-1])
    lists = write(names.path("list"), "\n".join(paths).encode())
    few = [shutil.copy(raw, names.path(f"{i}.profraw")) for i, raw in enumerate(raws)]
    for way in ([names.path("profiles")], few, ["--sparse", "-f", lists],
                ["-sparse", "-num-threads=2", f"-input-files={lists}"]):
        same_merge(names, release, *way)


RUST = """fn f(n: u64) -> u64 { if n % 3 == 0 { n / 3 } else { n * 2 } }
fn main() {
    let n: u64 = std::env::args().count() as u64 * 1000;
    println!("{}", (0..n).map(f).sum::<u64>());
}
"""


def rustc_flow(work):
    """The commands of rustc's book and of cargo-pgo, with a link instead of llvm-profdata; warnings
    of the compiler about the profile are errors."""
    rustc, names = shutil.which("rustc"), Names(work)
    if not rustc or run(rustc, "--version").code:
        raise Skip("no rustc on this machine")
    write(names.path("t.rs"), RUST.encode())
    made = run(rustc, "-O", f"-Cprofile-generate={names.path('pgo')}", "t.rs", "-o", "t",
               cwd=names.folder)
    if made.code:
        raise Skip(f"rustc cannot count here: {made.errors.strip()[:200]}")
    good(names.path("t"))
    good(names.tool("llvm-profdata"), "merge", "-o", names.path("merged.profdata"),
         names.path("pgo"))
    used = run(rustc, "-O", f"-Cprofile-use={names.path('merged.profdata')}", "-Cllvm-args="
               "-pgo-warn-missing-function", "t.rs", "-o", "t2", cwd=names.folder)
    require(used.code == 0 and "warning" not in used.errors, str(used))
    require(good(names.path("t2")) == good(names.path("t")), "another result")


def damaged(work):
    """One input of a crashed program does not end a script that llvm-profdata would not end."""
    names, program = Names(work), counted(work, "ir", 22)
    empty = write(names.path("empty.profraw"), b"")
    cut = write(names.path("cut.profraw"), read(program.raws[0])[:200])
    good(profdata(22), "merge", empty, *program.raws, "-o", names.path("theirs"))
    result = run(names.tool("llvm-profdata-22"), "merge", empty, *program.raws, "-o",
                 names.path("ours"))
    require(result.code == 0 and "is empty" in result.errors, str(result))
    require(read(names.path("theirs")) == read(names.path("ours")), "another profile")
    for mode, code in (("any", False), ("all", True), ("warn", True)):
        for tool_path in (profdata(22), names.tool("llvm-profdata-22")):
            done = run(tool_path, "merge", f"-failure-mode={mode}", cut, *program.raws, "-o",
                       names.path("out"))
            require((done.code == 0) == code, str(done))


# ---- recordings ----

SOURCE = program_text("compat_loop.c")


def built(names, compiler, rounds, *options):
    write(names.path("t.c"), SOURCE.encode())
    good(compiler, "-O2", "-no-pie", "-Wl,--build-id", f"-DROUNDS={rounds}", *options, "t.c", "-o",
         "t", cwd=names.folder)
    return names.path("t")


def traced(names, exe):
    """The program's branches, as perf script prints them."""
    recorder = os.environ.get("BRANCH_TRACE")
    if not recorder:
        raise Skip("the program that records branches was not given")
    # Enough for the start of a static program, which comes first.
    good(recorder, "-e", "97", "-n", "10000", names.path("trace"), exe)
    return names.path("trace")


def sampled(names, exe):
    """A recording of perf without branches, which any machine can make."""
    data = names.path("perf.data")
    result = run(tool("perf"), "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", data, exe)
    if result.code:
        raise Skip(f"perf cannot record here: {result.errors.strip()[:200]}")
    return data


def profgen(work):
    names = Names(work)
    exe = built(names, tool("clang-22"), 3000, "-g", "-fdebug-info-for-profiling")
    trace = traced(names, exe)
    ours = names.tool("llvm-profgen-22")
    for theirs_way, ours_way in (
            (["--format=text", f"--perfscript={trace}"], ["-format", "text", "-ps", trace]),
            (["--format=text", f"--perfscript={trace}", "--ignore-stack-samples"],
             ["--format=text", f"--perfscript={trace}", "--ignore-stack-samples=true"]),
            ([f"--perfscript={trace}", "--skip-symbolization"],
             [f"--perfscript={trace}", "--skip-symbolization", "--use-offset"])):
        good(tool("llvm-profgen-22"), f"--binary={exe}", *theirs_way, "-o", names.path("theirs"))
        good(ours, f"--binary={exe}", *ours_way, "-o", names.path("ours"))
        require(read(names.path("theirs")) == read(names.path("ours")), f"{ours_way} differs")
    # Counts of addresses as input, and binary output.
    for command, out in ((tool("llvm-profgen-22"), "theirs"), (ours, "ours2")):
        good(command, f"--unsymbolized-profile={names.path('theirs')}", "--binary", exe, "--output",
             names.path(out + ".afdo"))
    same = [good(profdata(22), "merge", "-sample", "-text", names.path(f), "-o", "-")
            for f in ("theirs.afdo", "ours2.afdo")]
    require(same[0] == same[1], "of counts of addresses it differs")
    options = ["--show-disassembly-only", "--show-source-locations", f"--binary={exe}"]
    require(good(ours, *options) == good(tool("llvm-profgen-22"), *options, "--output=/dev/null",
                                         f"--perfscript={trace}"), "the disassembly differs")


# How gcc's own makefiles call both tools, in gcc/c/Make-lang.in.
MAKEFILE = """
PERF_DATA = perf.data
CREATE_GCOV = CREATOR
PROFILE_MERGER = MERGE_WITH
exeext =
all.fda: t.fda t2.fda
\t$(PROFILE_MERGER) $(shell ls -ha t*.fda) --output_file all.fda -gcov_version VERSION
t.fda: ./t$(exeext) ./$(PERF_DATA)
\t$(CREATE_GCOV) -binary ./t$(exeext) -gcov t.fda -profile ./$(PERF_DATA) -gcov_version VERSION
t2.fda: t.fda
\tcp t.fda t2.fda
"""


def gcc_makefile(work, release, creator="create_gcov", merger="profile_merger"):
    """As `make autoprofiledbootstrap` of gcc calls create_gcov, or what gcc 17 is to have under the
    same variable; gcc then takes the profile."""
    names = Names(work)
    gcc = peer(f"gcc-{release}")
    exe = built(names, gcc, 30000, "-gdwarf-4", "-static")
    os.rename(traced(names, exe), names.path("perf.data"))
    for name in (creator, merger, "dump_gcov"):
        names.tool(name)
    # The number that makefiles of gcc 12 name is that of older releases.
    version, env = (3, {}) if release == 16 else (2, {})
    if release == 12:
        version, env = 1, {"PGOKIT_TO_GCC": "gcc12"}
    rules = MAKEFILE.replace("VERSION", str(version))
    rules = rules.replace("CREATOR", creator).replace("MERGE_WITH", merger)
    write(names.path("Makefile"), rules.encode())
    path = f"{names.path('bin')}:{os.environ['PATH']}"
    result = run("make", cwd=names.folder, env={"PATH": path, **env})
    require(result.code == 0, str(result))
    one, both = (gcc_samples.decode(read(names.path(f))) for f in ("t.fda", "all.fda"))
    require(one["version"] == (3 if release == 16 else 2), f"version {one['version']}")
    require({"f", "main"} <= set(both["functions"]) == set(one["functions"]), f"{both}")
    for name, f in one["functions"].items():
        require(both["functions"][name]["head"] == 2 * f["head"], f"{name} is not doubled")
    done = run(gcc, "-O2", "-fauto-profile=all.fda", "-Wauto-profile" if release == 16 else "-Wall",
               "-DROUNDS=3000", "-fdump-ipa-afdo", "-S", "t.c", "-o", "t.s", cwd=names.folder)
    require(done.code == 0 and "profile" not in done.errors, str(done))
    require(re.search(r"\.text\.hot", read(names.path("t.s")).decode()), "nothing is hot")
    require("f total:" in good(names.tool("dump_gcov"), "all.fda", cwd=names.folder) or
            re.search(r"^f:\d+:", good(names.tool("dump_gcov"), "all.fda", cwd=names.folder), re.M),
            "dump_gcov does not print f")


def beside_create_gcov(work):
    """Of one recording, the same functions and the same lines have samples."""
    names = Names(work)
    theirs = peer("create_gcov")
    exe = built(names, tool("gcc-12"), 300000000, "-gdwarf-4")
    data = sampled(names, exe)
    texts = []
    for command, out in ((theirs, "theirs"), (names.tool("create_gcov"), "ours")):
        good(command, f"--binary={exe}", f"--profile={data}", f"--gcov={names.path(out)}",
             "--use_lbr=false", "-gcov_version=2")
        texts.append(good(names.tool("dump_gcov"), "-gcov_version=2", names.path(out)))
    functions = [set(re.findall(r"^(\w+):\d+:", text, re.M)) for text in texts]
    require({"f", "main"} <= functions[0] <= functions[1], f"{functions}")
    # What the tools of AutoFDO take of ours, and we of theirs: files in their strings.
    good(names.tool("profile_merger"), "-gcov_version", "3", f"--output_file={names.path('all')}",
         names.path("theirs"), names.path("ours"))
    require(gcc_samples.decode(read(names.path("all")))["version"] == 3, "another version")


def for_clang(work):
    names = Names(work)
    exe = built(names, tool("clang-22"), 3000, "-g", "-fdebug-info-for-profiling")
    trace = traced(names, exe)
    good(names.tool("llvm-profgen"), f"--binary={exe}", f"--perfscript={trace}", "--format=text",
         "-o", names.path("want"))
    for form in ("text", "binary", "extbinary"):
        good(names.tool("create_llvm_prof"), f"--binary={exe}", f"--profile={trace}",
             f"--out={names.path(form)}", f"--format={form}")
        good(names.tool("profile_merger"), "--is_llvm", f"--format={form}",
             f"--output_file={names.path('all')}", names.path(form))
        for path in (form, "all"):
            text = good(profdata(22), "merge", "-sample", "-text", names.path(path), "-o", "-")
            require(text == good(profdata(22), "merge", "-sample", "-text", names.path("want"),
                                 "-o", "-"), f"{form} differs")
    good(tool("clang-22"), "-O2", f"-fprofile-sample-use={names.path('all')}", "-DROUNDS=1", "-c",
         "t.c", "-o", "t.o", cwd=names.folder)


# ---- gcov-tool ----

def gcov_tool(work, release):
    """With counts of arcs only, as gcov-tool dies of lists with a weight."""
    names = Names(work)
    theirs, ours = peer(f"gcov-tool-{release}"), names.tool(f"gcov-tool-{release}")
    built(names, peer(f"gcc-{release}"), 300, "-fprofile-arcs", "-static", "-o", "t", "-dumpbase",
          "t")
    for run_name in "ab":
        os.makedirs(names.path(run_name))
        for _ in range(2 if run_name == "b" else 1):
            run(names.path("t"), cwd=names.folder)
        shutil.move(glob.glob(names.path("*.gcda"))[0], names.path(f"{run_name}/t.gcda"))
    a, b = names.path("a"), names.path("b")
    for i, way in enumerate((["merge", a, b, "-o"], ["merge", "-w", "2,3", a, b, "-o"],
                             ["merge", "--weight=1,1", "-v", a, b, "--output"],
                             ["rewrite", a, "-o"], ["rewrite", "-s", "3", a, "-o"],
                             ["rewrite", "-s", "0.25", a, "-o"],
                             ["rewrite", "--scale=1/4", a, "-o"])):
        sums = []
        for name, command in (("theirs", theirs), ("ours", ours)):
            out = names.path(f"{name}{i}")
            good(command, *way, out)
            found = glob.glob(f"{out}/**/*.gcda", recursive=True)
            require([os.path.relpath(f, out) for f in found] == ["t.gcda"], f"{found}")
            sums.append([row for row in dump(found[0], release) if row[1]])
        # The number of runs is an exception.
        counts = [[row for row in s if not row[0].startswith("SUMMARY")] for s in sums]
        require(counts[0] and counts[0] == counts[1], f"{way}: theirs {sums[0]}\nours {sums[1]}")
    largest = {}
    for way in (["rewrite", "-n", "12345", a], ["merge", "-w", "0.5,0.25", a, b]):
        good(ours, *way, "-o", names.path("out"))
        largest[way[0]] = max(max(row[1]) for row in dump(names.path("out/t.gcda"), release)
                              if row[0] == "arcs")
    both = max(max(row[1]) for row in dump(f"{names.path('ours1')}/t.gcda", release)
               if row[0] == "arcs")
    require(largest["rewrite"] == 12345 and 0 < largest["merge"] < both / 3, f"{largest} {both}")


def add_cases(work, tap):
    for release in at_hand(*RELEASES):
        tap.add(f"llvm-profdata {release} merge", counters, work, release)
        tap.add(f"llvm-profdata {release} merge -sample", sample_ways, work, release)
        tap.add(f"llvm-profdata {release} show", shown, work, release)
        tap.add(f"the makefile of CPython, clang {release}", cpython_makefile, work, release)
    for release in at_hand(19, 22):
        tap.add(f"command lines of build systems, LLVM {release}", build_scripts, work, release)
    for release in at_hand(22, 23):
        tap.add(f"llvm-profdata {release} show --detailed-summary", summaries, work, release)
    tap.add("llvm-profdata show --memory", heap, work)
    tap.add("llvm-profdata order", order, work)
    tap.add("the release in a name", chosen_release, work)
    tap.add("rustc -Cprofile-use", rustc_flow, work)
    tap.add("damaged inputs", damaged, work)
    tap.add("llvm-profgen", profgen, work)
    for release in (12, 14, 16):
        tap.add(f"the makefile of gcc {release}", gcc_makefile, work, release)
    tap.add("the makefile of gcc 16 with afdo_create", gcc_makefile, work, 16, "afdo_create",
            "afdo_merge")
    tap.add("create_gcov", beside_create_gcov, work)
    tap.add("create_llvm_prof", for_clang, work)
    for release in (12, 14, 16):
        tap.add(f"gcov-tool {release}", gcov_tool, work, release)


sys.exit(main(add_cases))
