#!/usr/bin/env python3
"""pgokit pgo: builds, records, builds again, measures; and stops where something is wrong.

usage: pgo.py PGOKIT LIBRARY
"""

import base64
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
from harness import Cases, Skip, program_text, require, run, tool  # noqa: E402

PGOKIT = os.path.abspath(sys.argv[1])
SOURCE = program_text("often_seldom.c", os.path.join(HERE, "programs"))
BUILD = "$CC $CFLAGS $LDFLAGS app.c -o app"
ADDED = "$PGOKIT_PGO_CLANG $PGOKIT_PGO_GCC"  # by the links in front of PATH


def pgo(folder, *options, status=0, build=BUILD, command="./app 400000000", source=SOURCE,
        env=None):
    with open(os.path.join(folder, "app.c"), "w", encoding="ascii") as file:
        file.write(source)
    return run([PGOKIT, "pgo", "--build", build, "--run", command, "--runs", "1", *options],
               folder, status=status, env=env)


def read(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as file:
        return file.read()


def way(folder, compiler, option):
    tool(compiler)
    done = pgo(folder, "--cc", compiler, "-n", "2", "-o", "my.afdo", "--measure", "./app 1000000",
               "--json", "-", "--summary", "table.md")
    require(os.path.getsize(os.path.join(folder, "my.afdo")) > 100, "the profile is empty")
    require(re.search(r"^processor time of 2 turns of both builds, in random order:\n"
                      r"  plain +\d\.\d{3} s \(.* s\)\n"
                      r"  profile +\d\.\d{3} s \(.* s\)\n"
                      r"  speed +[+-]\d+\.\d % \(too few turns to be sure at 95 %\)\n"
                      r"(  instructions +[+-]\d+\.\d %\n)?"
                      r"  code +\d+ bytes \([+-]\d\.\d %\)\n"
                      r"  not kept: a run takes only 0\.0\d\d s", done.stderr, re.M),
            done.stderr)
    result = json.loads(done.stdout)
    row = result["rows"][0]
    require(not result["kept"] and row["verdict"] == "not sure" and row["low_percent"] is None
            and len(row["turns"]) == 2 and 0 < row["seconds"] < 1
            and result["compiler"] == compiler and result["measured"] == "./app 1000000"
            and row["bytes"] < 4096, done.stdout)
    table = read(folder, "table.md")
    require(re.search(r"^\| profile \| 0\.\d{3} s \| \d+ \| [+-]\d\.\d % "
                      r"\| .* \(not sure\) \| 2 \| not kept: ", table, re.M), table)
    log = read(folder, "my.afdo.log")
    require("ran 400000000\n" in log and "ran 1000000\n" not in log and "ran" not in done.stdout,
            f"the output of recorded runs is in the log, that of measured runs nowhere:\n{log}")
    require("my.afdo.log" in done.stderr and "trained on" not in done.stderr, done.stderr)
    require("next: pgokit" not in done.stderr and "next: gcc" not in done.stderr and
            "next: clang" not in done.stderr, f"what pgo does by itself is said: {done.stderr}")
    require("builds with the profile" in done.stderr, done.stderr)
    again = run(["sh", "-c", "echo $CFLAGS"], folder, env={"CFLAGS": "x"})
    require(again.stdout == "x\n", "the environment of others")
    told = pgo(folder, "--cc", compiler, "-n", "0", build=f"echo $CC $CXX $CFLAGS {ADDED} >> flags;"
               + BUILD)
    require("processor time" not in told.stdout and "the programs are built" in told.stderr,
            told.stdout)
    require(re.search(f"in your own build, .* CFLAGS='.*{option}{folder}/pgo.afdo.*'$",
                      told.stderr),
            told.stderr)
    with open(os.path.join(folder, "flags"), encoding="ascii") as file:
        first, second = file.read().splitlines()
    require(option not in first and option + folder in second and " -O2 -g" in first
            and f"{compiler} " in first and "--build-id" in second, f"{first}\n{second}")


def own_flags(folder):
    tool("clang-22")
    out = run([PGOKIT, "pgo", "--build", "echo $CXX: $CFLAGS: $CXXFLAGS: $LDFLAGS", "--run",
               "true", "-v"], folder, status=2, env={"CC": "clang-22", "CFLAGS": "-O3",
                                               "CXXFLAGS": "-O1", "LDFLAGS": "-s"})
    require(re.search(r"^clang\+\+-22: -O3: -O1: -s$", out.stdout, re.M), out.stdout)
    out = run([PGOKIT, "pgo", "--build", "echo $CXX: $CFLAGS: $CXXFLAGS: $LDFLAGS", "--run",
               "true", "-v"], folder, status=2, env={"CC": shutil.which("clang-22"),
                                                     "CFLAGS": "-O3", "CXXFLAGS": "-O1",
                                                     "LDFLAGS": "-s"})
    require(re.search(r"clang\+\+-22: -O3 -g.*: -O1 -g.*: -s -Wl,--build-id$", out.stdout, re.M),
            out.stdout)


WASTE = """static void __attribute__((constructor)) waste(void)
{
    for (volatile long i = 0; i < 150000000; i++)
        ;
}
"""
LARGE = '__asm__(".text\\n.fill 9000, 1, 0x90");\n'


def only_where(has_profile, text, folder):
    """A build that has this in addition with a profile, or without one."""
    with open(os.path.join(folder, "more.h"), "w", encoding="ascii") as file:
        file.write(text)
    plain, more = BUILD, BUILD.replace("$CFLAGS", "$CFLAGS -include more.h")
    if not has_profile:
        plain, more = more, plain
    return f"case $PGOKIT_PGO_CLANG in *-sample-use=*) {more};; *) {plain};; esac"


OPTIONS = ["--cc", "clang-22", "--measure", "./app 20000000"]
SHORT = "./app 100000000"


def symbols_of(folder):
    return run(["nm", "app"], folder).stdout


def slower(folder):
    """Surely, with every form; the build without a profile is in place again."""
    tool("clang-22")
    build = only_where(True, WASTE, folder)
    done = pgo(folder, *OPTIONS, build=build, command=SHORT)
    require(done.stdout.count("  not kept: slower: ") == 2 and "\nthe build without the profile is "
            "in place again\nnext: " in done.stdout, done.stdout)
    require(" often" in symbols_of(folder) and " waste" not in symbols_of(folder), done.stdout)
    require("in your own build" not in done.stderr, done.stderr)
    done = pgo(folder, *OPTIONS, "--min-gain", "0%", "--max-time=1", status=3, build=build,
               command=SHORT)
    require(done.stdout.count("processor time of") == 2, done.stdout)


def faster(folder):
    """Six turns are enough to be sure, and nothing else is tried; but a limit may refuse it."""
    tool("clang-22")
    build = only_where(False, WASTE, folder)
    done = pgo(folder, *OPTIONS, "--json", "r.json", build=build, command=SHORT)
    require(done.stdout.startswith("processor time of 6 turns") and
            done.stdout.endswith("\n  kept\n"), done.stdout)
    require(" waste" not in symbols_of(folder) and "in your own build" in done.stderr, done.stderr)
    result = json.loads(read(folder, "r.json"))
    row = result["rows"][0]
    require(result["kept"] and len(result["rows"]) == 1 and row["verdict"] == "faster"
            and 50 < row["low_percent"] <= row["gain_percent"] <= row["high_percent"]
            and row["seconds"] < row["seconds_before"], row)
    done = pgo(folder, *OPTIONS, "--min-gain", "100000", status=3, build=build, command=SHORT)
    require("below the 100000 % of --min-gain" in done.stdout and " waste" in symbols_of(folder),
            done.stdout)


def grown(folder):
    """Refused by its size before it is measured, unless that is allowed; then by its speed."""
    tool("clang-22")
    build = only_where(True, LARGE, folder)
    done = pgo(folder, *OPTIONS, status=3, build=build, command=SHORT)
    require("processor time" not in done.stdout and
            len(re.findall(r"not kept: its code is \d{4}\.\d % larger .* 2 % of --max-growth",
                           done.stdout)) == 2, done.stdout)
    require(re.search(r"^next: allow it: --max-growth \d+$", done.stdout, re.M), done.stdout)
    done = pgo(folder, *OPTIONS, "--max-growth", "10000", "-n", "1", build=build, command=SHORT)
    require("processor time of 1 turn of both" in done.stdout, done.stdout)


def layers(folder):
    """Each form on top of what was kept is tried; one cannot be built, which ends nothing."""
    tool("clang-22")
    done = pgo(folder, *OPTIONS, "--layers", "-n", "6", "--max-growth=900", "--json", "r.json",
               "--page", "page.html", build="case $PGOKIT_PGO_CLANG in *-flto*) exit 7;; *)"
                     + only_where(False, WASTE, folder) + ";; esac", command=SHORT)
    rows = {row["name"]: row for row in json.loads(read(folder, "r.json"))["rows"]}
    require(list(rows)[0] == "profile" and list(rows)[-5:] == [
        "thin LTO", "aligned functions", "heap hints", "order of functions", "llvm-bolt"],
            done.stdout)
    require(rows["thin LTO"]["why"] == "it cannot be built so"
            and rows["thin LTO"]["verdict"] == "not measured", rows["thin LTO"])
    aligned, hinted, ordered, bolted = (rows[name] for name in list(rows)[-4:])
    plugin = glob.glob(os.path.join(os.path.dirname(PGOKIT), "..", "compiler", "use", "*_22.so"))
    require(bool(hinted["turns"]) == bool(plugin) == os.path.exists(
        os.path.join(folder, "pgo.afdo.memprofdata")), hinted)
    require(aligned["before"] != "plain" and aligned["bytes"] > rows["profile"]["bytes"], aligned)
    require(ordered["turns"] and "recording" not in (ordered["why"] or ""), ordered)
    script = read(folder, "pgo.afdo.ld")
    require("*(.text.hot.often)" in script, script)
    if shutil.which("llvm-bolt-22") or shutil.which("llvm-bolt"):
        require(bolted["turns"] and bolted["bytes"] > ordered["bytes"], bolted)
    else:
        require(bolted["why"] == "llvm-bolt is not installed", bolted)
    # The plain build, the best one for the order, one for llvm-bolt; and what is best after that.
    recorded = 2 + bool(bolted["turns"]) + any(row["kept"] for row in (ordered, bolted))
    require(done.stderr.count("records branches in the program") == recorded, done.stderr)
    require(data_of(folder, "page.html")["after"]["ticks"] > 0, done.stderr)


MADE_FASTER = program_text("made_faster.c", os.path.join(HERE, "programs"))


def data_of(folder, page):
    """What is on the page, which is one file of a bounded size."""
    text = read_bytes(os.path.join(folder, page)).decode()
    require(len(text) < 300_000 and text.startswith("<!doctype html>")
            and text.count("<script") == 2 and " src=" not in text, f"{len(text)} bytes")
    packed = re.search(r'id="data">([\w+/=]+)</script>', text).group(1)
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def by_name(data):
    columns = data["functions"]
    return {name: {key: values[at] for key, values in columns.items()}
            for at, name in enumerate(columns["name"])}


def page(folder):
    """What is faster, and each reason that the program has for it."""
    tool("gcc-12")
    build = ("case $PGOKIT_PGO_GCC in *-fauto-profile=*) more=;; *) more=-DPLAIN;; esac; "
             "$CC $CFLAGS $more $LDFLAGS app.c -o app")
    options = ("--cc", "gcc-12", "--page", "page.html", "--json", "r.json", "--max-growth", "90",
               "--measure", "./app 4000000")
    done = pgo(folder, *options, build=build, command="./app 40000000", source=MADE_FASTER)
    require("what became faster and why is on the page page.html\n" in done.stderr and
            done.stderr.count("records branches in the program") == 2, done.stderr)
    data = data_of(folder, "page.html")
    require(data["kind"] == "gain" and data["title"] == "app", data["title"])
    trial = json.loads(read(folder, "r.json"))
    require(data["trial"] == trial and trial["kept"], data["trial"])
    now = trial["rows"][0]["seconds_before"]
    require(abs(data["seconds"][0] - now) < 2e-6, data["seconds"]) # which JSON has rounded
    for row in trial["rows"]:
        now /= 1 + row["gain_percent"] / 100 if row["kept"] else 1
    require(abs(data["seconds"][1] / now - 1) < 1e-3, data["seconds"])
    functions, before, after = by_name(data), data["before"]["ticks"], data["after"]["ticks"]
    wasted, mixed_, second = (functions[name] for name in ("wasted", "mixed", "second"))
    require(wasted["ticks_before"] > 0.2 * before and wasted["bytes_before"] and
            not wasted["ticks"] and not wasted["bytes"], wasted)
    require(mixed_["ticks_before"] > 0.2 * before and not mixed_["away_before"] and
            mixed_["bytes_before"] and not mixed_["bytes"] and
            mixed_["away"] == mixed_["ticks"] > 0.5 * after, mixed_)
    require(second["cold"] == 16 and second["bytes"] > 16 and not second["cold_before"], second)
    places = [[functions[name][key] for name in ("first", "second")]
              for key in ("place_before", "place")]
    require(places[0][0] < places[0][1] and places[1][0] > places[1][1], places)
    require(functions["first"]["moved"] + functions["second"]["moved"] > 0, functions)
    for key, ticks, at in (("ticks_before", before, 1), ("ticks", after, 2)):
        require(sum(data["functions"][key]) + data["rest"][key]
                + sum(other[at] for other in data["others"]) == ticks, f"{key} of {ticks}: {data}")
    calls = {call[:3] for call in zip(*(data["inlined"][key] for key in
                                        ("callee", "caller", "new")))}
    require(calls == {("mixed", "first", 1), ("mixed", "second", 1)}, calls)


def page_of_nothing(folder):
    """Nothing is kept: the page says why, and where the time is."""
    tool("gcc-12")
    done = pgo(folder, "--cc", "gcc-12", "-n", "1", "--page", "-", "--max-growth", "900")
    require(done.stdout.startswith("<!doctype html>") and "not kept" in done.stderr and
            done.stderr.count("records branches") == 1, done.stderr)
    with open(os.path.join(folder, "page.html"), "w", encoding="utf-8") as file:
        file.write(done.stdout)
    data = data_of(folder, "page.html")
    require(not data["trial"]["kept"] and data["trial"]["rows"][0]["why"] and
            "after" not in data and not data["inlined"]["callee"], data["trial"])
    often = by_name(data)["often"]
    require(often["ticks_before"] and often["bytes_before"] and not often["moved"], often)
    done = pgo(folder, "--cc", "gcc-12", "-n", "1", "--page", "none/page.html", status=2)
    require("none/page.html" in done.stderr, done.stderr)


ARRAYS = """#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    long turns = atol(argv[1]);
    int n = 4000 + argc, *a = malloc(n * sizeof *a), s = 0;
    for (int i = 0; i < n; i++)
        a[i] = i % 101;
    for (long t = 0; t < turns / 4000; t++)
        for (int i = 0; i < n - t % 3; i++)
            s += a[i] > 50 ? a[i] : 3;
    printf("%d\\n", s);
    return 0;
}
"""


def vectors(folder):
    """What gcc 12 would lose by the passes that are turned off, the second form gains."""
    tool("gcc-12")
    done = pgo(folder, "--cc", "gcc-12", "--align", "--json", "r.json", "--measure",
               "./app 100000000", "-n", "6", source=ARRAYS)
    result = json.loads(read(folder, "r.json"))
    row = result["rows"][-1]
    require(result["kept"] and row["name"] == "profile, vectors" and row["low_percent"] > 20, row)
    require(re.search("CFLAGS='.* -falign-functions=64 -fauto-profile=.* -fno-tracer",
                      done.stderr) and "very-cheap" not in done.stderr, done.stderr)


def failed_build(folder):
    """Its last lines are shown, all are in the log; or all are shown."""
    tool("gcc-12")
    build = "seq 1000 1999; exit 3"
    done = pgo(folder, "--cc", "gcc-12", build=build, status=2)
    require("1979" not in done.stderr and "1980\n" in done.stderr and "1999\n" in done.stderr and
            not done.stdout and done.stderr.endswith("printed is in pgo.afdo.log\n"), done.stderr)
    require(read(folder, "pgo.afdo.log").startswith("1000\n"), "the log")
    os.remove(os.path.join(folder, "pgo.afdo.log"))
    done = pgo(folder, "--cc", "gcc-12", "-v", build=build, status=2)
    require(done.stdout.startswith("1000\n") and "1998" not in done.stderr, done.stderr)
    require("pgo.afdo.log" not in os.listdir(folder), os.listdir(folder))


def several_files(folder):
    """A library and a program; the library is where the time goes."""
    tool("gcc-12")
    build = ("$CC $CFLAGS -fPIC -shared -Dmain=work $LDFLAGS app.c -o libwork.so && "
             "echo 'int work(int, char **); int main(int c, char **v) { return work(c, v); }' "
             "> m.c && $CC $CFLAGS m.c -o app $LDFLAGS -L. -lwork -Wl,-rpath,$PWD")
    pgo(folder, "--cc", "gcc-12", "-n", "0", build=build)
    shown = run([PGOKIT, "show", "pgo.afdo"], folder).stdout
    require("often" in shown, shown)


def stops(folder):
    gcc = tool("gcc-12")
    tool("clang-22")
    cases = (("the build failed with exit status 3", {"build": "exit 3"}, []),
             ("the build made no program", {"build": "true"}, []),
             ("after the build, nothing is not a program", {}, ["-b", "nothing"]),
             ("Does it use $CC and $CFLAGS", {"build": f"{gcc} app.c -o app"}, []),
             ("the recorded command failed with exit status 1", {"command": "false"}, []),
             ("the recorded command was ended by signal 9", {"command": "kill -9 $$"}, []),
             ("nothing was recorded", {"command": "true"}, []),
             ("did not make ./app again",
              {"build": f"[ -e made ] || {{ {BUILD} && touch made; }}"}, []),
             ("the same programs as the one without", {"build": f"{gcc} -g app.c -o app"}, []),
             ("the build uses clang-22, not gcc-12", {"build": "clang-22 app.c -o app"}, []),
             ("in CFLAGS, which cannot hold", {}, ["-o", "my pgo.afdo"]),
             ("the compiler 'nosuch' does not answer", {}, ["--cc", "nosuch"]))
    for message, how, options in cases:
        program = os.path.join(folder, "app")
        if os.path.exists(program):
            os.remove(program)
        done = pgo(folder, "--cc", "gcc-12", "-n", "0", *options, status=2, **how)
        require(message in done.stderr, f"expected: {message}\n{done.stderr}")
        require("processor time of" not in done.stdout, done.stdout)


def short_runs(folder):
    """Of some ms, alone and many in one run: ticks of the kernel would miss most of them."""
    tool("gcc-12")
    for command, runs, said in (("./app 2000000", "30", "by the time on the clock, as its"),
                                # Where the kernel has ticks enough, these need no other way.
                                ("seq 100 | xargs -P 4 -I{} ./app 1000000", "2", "recorded 2")):
        done = pgo(folder, "--cc", "gcc-12", "-n", "0", "--runs", runs, command=command)
        require(said in done.stderr, done.stderr)
        samples = re.search(r"samples +([\d,]+)", done.stderr).group(1)
        require(int(samples.replace(",", "")) > 50, done.stderr)


def linked_statically(folder):
    """The recorder is in it to record, and in neither build that is measured; nor in a shell."""
    tool("gcc-12")
    done = pgo(folder, "--cc", "gcc-12", "-n", "1", build=BUILD + " -static",
               command="sh -c './app 300000000; true'")
    require(done.stderr.count("is linked statically, so the recorder is linked into it") == 1,
            done.stderr)
    require("often" in run([PGOKIT, "show", "pgo.afdo"], folder).stdout, "the profile")
    require("pgbr_" not in run(["nm", "app"], folder).stdout, "the recorder stays in the program")


SERVER = """
int main(void)
{
    char asked[64];
    long n;
    for (;;) {
        FILE *f = fopen("requests", "r");
        while (f && fgets(asked, sizeof asked, f))
            for (n = atol(asked); n > 0; n--)
                sink += n % 64 ? often(n) : seldom(n);
        if (f)
            fclose(f);
    }
}
"""


def service(folder):
    """Ended after its time, also where a shell has started it; measured by its own time."""
    tool("gcc-12")
    os.mkfifo(os.path.join(folder, "requests"))
    source = SOURCE[:SOURCE.index("int main")] + SERVER
    options = ("--cc", "gcc-12", "--for", "1s", "-n", "1")
    command = "(sleep 0.1; echo 200000000 >requests) & ./app; true"
    done = pgo(folder, *options, source=source, command=command)
    require("is not measured without --measure" in done.stderr and not done.stdout, done.stderr)
    shown = run([PGOKIT, "show", "pgo.afdo"], folder).stdout
    require("often" in shown, shown)
    client = "echo 100000000 >requests; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"
    done = pgo(folder, *options, "--measure", client + "; echo 1 >requests", source=source,
               command=command.replace("200000000", "100000000"))
    took = float(re.search(r"plain +(\d\.\d+) s", done.stdout).group(1))
    require(took > 0.05, f"the time is that of the client: {done.stdout}")
    for command, said in (("exit 4", "ended after 0.0 s, before the 1 s of --for"),
                          ("sleep 0.2; kill -SEGV $$", "was ended by signal 11")):
        done = pgo(folder, *options, source=source, command=command, status=2)
        require(said in done.stderr, done.stderr)


def other_exit(folder):
    tool("gcc-12")
    command = "./app 100000000; exit 20"
    done = pgo(folder, "--cc", "gcc-12", "-n", "0", command=command, status=2)
    require("give --expect-exit 20\n" in done.stderr, done.stderr)
    done = pgo(folder, "--cc", "gcc-12", "-n", "1", "--expect-exit", "10,20", command=command)
    require("speed" in done.stdout, done.stdout)
    require("measures what it was trained on" in done.stderr, done.stderr)
    for option in ("--expect-exit=x", "--expect-exit=1,", "--expect-exit=256", "--for=1x"):
        require("not '" in pgo(folder, option, status=2).stderr, option)


def left_processes(folder):
    tool("gcc-12")
    done = pgo(folder, "--cc", "gcc-12", "-n", "0", command="./app 100000000; sleep 200 &")
    require("1 process still ran after the command, and was ended" in done.stderr, done.stderr)


def mixed(folder):
    """C by gcc in a build whose C++ is by clang: one profile, for what compiles most."""
    tool("gcc-12")
    tool("clang-22")
    build = ("clang-22 -O2 -c app.c && cp app.c b.c && clang-22 -O2 -Dmain=b -Dsink=d "
             "-c b.c && echo 'int c(void) { return 1; }' >c.c && gcc-12 -O2 -c c.c && "
             "clang-22 app.o b.o c.o -o app")
    done = pgo(folder, "-n", "0", build=build, command="./app 100000000", env={"CC": "clang-22"})
    require("the build also uses gcc-12, 1 of 4 times" in done.stderr, done.stderr)
    require(done.stderr.count("builds without") == 1, done.stderr)


WRAPPED = """set -e
mkdir -p own/bin
export PATH=$PWD/own/bin:$PATH
printf '%s' '-O2 -c' >rsp
$1 @rsp app.c -o app.o
$1 -E app.c >/dev/null
$1 -S -O2 app.c -o other.s
$1 -c other.s -o other.o
$1 app.o -o app "-DTEXT=a b"
strip app
"""


def called_oddly(folder):
    """Response files, an assembler, another folder in front of PATH, ccache, a call of strip."""
    tool("gcc-12")
    ways = ["gcc-12"] + (["ccache gcc-12"] if shutil.which("ccache") else [])
    if os.path.exists("/usr/lib/ccache/gcc-12"):
        ways.append("env PATH=/usr/lib/ccache:$PATH gcc-12")
    for way_ in ways:
        done = pgo(folder, "--cc", "gcc-12", "-n", "0",
                   build=WRAPPED.replace("$1", way_), command="./app 100000000")
        require("the programs are built with the profile" in done.stderr, done.stderr)
        require("often" in run([PGOKIT, "show", "pgo.afdo"], folder).stdout, "the profile")


# Each step waits or fails when it is its turn; the build is the first one or the second.
STOP = """at() {
    [ "$STOP" != "$1" ] || { touch at; eval "$HOW"; }
}
"""
STEPS = {
    "--clean": STOP + "rm -f app; at clean",
    "--build": STOP + """case $PGOKIT_PGO_GCC in *-profile=*) n=second;; *) n=first;; esac
$CC -g $CFLAGS $LDFLAGS app.c -o app || exit; at $n""",
    "--run": STOP + "at run; ./app 100000000",
    "--measure": STOP + "at measure; ./app 1000",
}


def start_steps(folder, step, how, **more):
    argv = [PGOKIT, "pgo", "--cc", "gcc-12", "--runs", "1", "-n", "1"]
    for option, text in STEPS.items():
        argv += [option, text]
    environment = {**os.environ, "TMPDIR": os.path.join(folder, "folders"), "STOP": step,
                   "HOW": how}
    return subprocess.Popen(argv, cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, start_new_session=True, **more)


def check_as_before(folder, step, former, said):
    """Of the processes that ran there none is left, and the program is the one that was there."""
    program = os.path.join(folder, "app")
    if former:
        with open(program, "rb") as file:
            require(file.read() == former, f"another program after {step}: {said}")
        require("that were here before are in place again" in said, said)
        require(os.stat(program).st_mtime == 1e9, "it has another date, so make would not link")
    elif step in ("run", "second", "measure"):
        require("fprofile" not in said and b"-fauto-profile" not in read_bytes(program), said)
    left = [name for name in os.listdir(folder) if "pgokit" in name]
    require(not left and not os.listdir(os.path.join(folder, "folders")), f"{step}: {left}")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            require(os.readlink(f"/proc/{pid}/cwd") != folder, f"{step}: {pid} still runs")
        except OSError:
            continue


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def stopped(folder, former, step, how, sig, to_all):
    """One stop; how: what runs then, a signal that ends it, for pgokit or its whole group."""
    at = os.path.join(folder, "at")
    program = os.path.join(folder, "app")
    for path in (at, program):
        if os.path.exists(path):
            os.remove(path)
    if former:
        with open(program, "wb") as file:
            file.write(former)
        os.chmod(program, 0o751)
        os.utime(program, (1e9, 1e9))
    with start_steps(folder, step, how) as child:
        if sig:
            end = time.monotonic() + 60
            while not os.path.exists(at):
                require(time.monotonic() < end and child.poll() is None, f"it ends before {step}")
                time.sleep(0.01)
            (os.killpg if to_all else os.kill)(child.pid, sig)
        said = child.stderr.read()
        child.wait(60)
    require(child.returncode == (-sig if sig else 2), f"{child.returncode} at {step}: {said}")
    require(not sig or said.count("interrupted") == 1 and "failed" not in said, said)
    check_as_before(folder, step, former, said)


def interrupted(folder):
    """In each step, by a signal to pgokit alone, by Ctrl-C and by a command that fails."""
    tool("gcc-12")
    folder = os.path.realpath(folder)
    os.mkdir(os.path.join(folder, "folders"))
    with open(os.path.join(folder, "app.c"), "w", encoding="ascii") as file:
        file.write(SOURCE)
    run(["gcc-12", "app.c", "-o", "app"], folder)
    former = read_bytes(os.path.join(folder, "app"))
    deaf = "sh -c 'sleep 100 & wait'"
    for step in ("clean", "first", "run", "second", "measure"):
        stopped(folder, former, step, deaf, signal.SIGTERM, False)
    stopped(folder, former, "first", deaf, signal.SIGINT, True)
    stopped(folder, None, "second", "sleep 100", signal.SIGINT, True)
    stopped(folder, None, "measure", deaf, signal.SIGHUP, False)
    for step in ("clean", "run", "second", "measure"):
        stopped(folder, former if step != "run" else None, step, "exit 3", None, False)


def full_disk(folder):
    """Neither that of the sources nor that of temporary files loses a program or keeps a part."""
    tool("gcc-12")
    if os.geteuid() or run(["unshare", "-m", "true"], folder, status=None).returncode:
        raise Skip("a file system of its own takes root")
    script = """mount -t tmpfs -o size=$1k tmpfs small && mkdir small/$2 && cd small &&
cp ../app.c . && cp /bin/true app && head -c 30000 /dev/zero >>app && sha256sum app >sum &&
[ $2 = tree ] || export TMPDIR=$PWD/tmp
STOP= $PGOKIT pgo --cc gcc-12 --build "$BUILD" --run './app 100000000' --runs 1 -n 1 -v
echo "status $?"; sha256sum -c sum; ls . tmp"""
    os.mkdir(os.path.join(folder, "small"))
    with open(os.path.join(folder, "app.c"), "w", encoding="ascii") as file:
        file.write(SOURCE)
    for size, kind in ((100, "tree"), (160, "tmp")):
        build = "$CC $CFLAGS $LDFLAGS app.c -o app && head -c 40000 /dev/urandom >>app"
        done = run(["unshare", "-m", "sh", "-c", script, "sh", str(size), kind], folder,
                   status=None, env={"PGOKIT": PGOKIT, "BUILD": build})
        require("status 2" in done.stdout and "app: OK" in done.stdout and
                "No space left" in done.stderr, f"{kind}: {done.stdout}{done.stderr}")
        require("pgokit-" not in done.stdout and ".pgokit" not in done.stdout, done.stdout)


MAKEFILE = """app: app.o
\tCOMPILER -o $@ app.o
app.o: app.c
\tCOMPILER -O2 -c app.c
clean:
\trm -f app app.o
"""
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(app C)\nadd_executable(app app.c)\n"
MESON = "project('app', 'c')\nexecutable('app', 'app.c')\n"
CONFIGURE = """#!/bin/sh
printf 'app: app.c\\n\\t%s -o app app.c\\nclean:\\n\\trm -f app\\n' "$CC $CFLAGS" >Makefile
"""


def by_its_files(folder, name, text, program, *tools):
    """Built as the folder's files say; flags come by the names of compilers where no other way."""
    for needed in ("clang-22", *tools):
        tool(needed)
    for file, content in ((name, text), ("app.c", SOURCE)):
        with open(os.path.join(folder, file), "w", encoding="ascii") as out:
            out.write(content)
    os.chmod(os.path.join(folder, name), 0o755)
    done = run([PGOKIT, "pgo", "--run", f"{program} 400000000", "--runs", "1", "-n", "0", *(
        () if "gcc" in text else ("--cc", "clang-22"))], folder)
    require("builds with the profile" in done.stderr, done.stderr)
    shown = run([PGOKIT, "show", "pgo.afdo"], folder).stdout
    require("often" in shown, shown)
    return [line for line in done.stderr.splitlines() if "the build uses" in line]


def hard_coded(folder):
    """A Makefile that names another compiler than ours, and no variable."""
    tool("gcc-12")
    said = by_its_files(folder, "Makefile", MAKEFILE.replace("COMPILER", "gcc-12"), "./app")
    require(len(said) == 1 and "uses gcc-12, so the profile is for that" in said[0], said)


def asks_for_debug(folder):
    """A Makefile that asks for debug information, and has an option of LLVM, as pgo has one."""
    by_its_files(folder, "Makefile", MAKEFILE.replace("COMPILER", "$(CC) -g -mllvm -enable-chr"),
                 "./app")


def without_clean(folder):
    """All is built anew all the same, and what the Makefile strips keeps its symbols."""
    text = MAKEFILE.replace("COMPILER -o", "$(CC) -s -o").replace("COMPILER", "$(CC)")
    by_its_files(folder, "Makefile", text[:text.index("clean:")], "./app")


def made_once(folder):
    """make makes nothing anew that is newer than its source; of a user's own objects none goes."""
    tool("gcc-12")
    put(folder, Makefile="app: app.o\n\t$(CC) app.o -o app\n",
        **{"theirs.o": "!<arch>\n" + " " * 60})
    done = pgo(folder, "--cc", "gcc-12", "-n", "0", build="make")
    require("removes what the build before made" in done.stderr, done.stderr)
    require(os.path.exists(os.path.join(folder, "theirs.o")), os.listdir(folder))


def cargo(folder):
    if not shutil.which("cargo") or run(["cargo", "--version"], folder, status=None).returncode:
        raise Skip("there is no cargo here")
    os.mkdir(os.path.join(folder, "src"))
    with open(os.path.join(folder, "src", "main.rs"), "w", encoding="ascii") as file:
        file.write(RUST)
    manifest = '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2018"\n'
    with open(os.path.join(folder, "Cargo.toml"), "w", encoding="ascii") as file:
        file.write(manifest)
    done = run([PGOKIT, "pgo", "--run", "./target/release/app 3000000", "--runs", "1", "-n", "0"],
               folder)
    require("-Zprofile-sample-use=" in done.stderr, done.stderr)
    shown = run([PGOKIT, "show", "pgo.afdo"], folder).stdout
    require("steps" in shown or "main" in shown, shown)


def put(folder, **files):
    for name, text in files.items():
        path = os.path.join(folder, name.replace("__", "/").replace("_", "."))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, 0o755)


def workspace(folder):
    """A member of a workspace, whose programs are in the folder of that; maturin, which calls
    cargo."""
    if not shutil.which("cargo") or run(["cargo", "--version"], folder, status=None).returncode:
        raise Skip("there is no cargo here")
    crate = '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2018"\n'
    python = '[build-system]\nrequires = ["maturin"]\nbuild-backend = "maturin"\n'
    put(folder, Cargo_toml='[workspace]\nmembers = ["app"]\n[profile.release]\nstrip = true\n',
        app__src__main_rs=RUST, app__Cargo_toml=crate, app__pyproject_toml=python,
        bin__maturin='#!/bin/sh\n[ "$1 $2" = "build --release" ] && exec cargo build --release\n')
    member = os.path.join(folder, "app")
    done = run([PGOKIT, "pgo", "--run", "../target/release/app 2000000", "--runs", "1", "-n",
                "0"], member, env={"PATH": f"{folder}/bin:{os.environ['PATH']}"})
    require("builds with the profile: maturin, as a release" in done.stderr, done.stderr)
    shown = run([PGOKIT, "show", "pgo.afdo"], member).stdout
    require("steps" in shown or "main" in shown, shown)


RULES = """#!/usr/bin/make -f
build-arch:
\techo "$$CFLAGS/$$DEB_CFLAGS_APPEND/$$DEB_LDFLAGS_APPEND/$$DEB_BUILD_OPTIONS" >>said
\t$(GCC) -O2 $$DEB_CFLAGS_APPEND $$DEB_LDFLAGS_APPEND -o app app.c
clean:
\trm -f app *.log
"""


def debian_rules(folder):
    tool("gcc-12")
    put(folder, debian__rules=RULES, app_c=SOURCE, build__x="")  # which make takes for a target
    options = r"noddebs nocheck nodoc nopgo nostrip parallel=\d+$"
    # By its name, which needs no flags in variables; and by its path.
    for gcc, first_flags in (("gcc-12", r".*///"),
                             (shutil.which("gcc-12"),
                              r".*/-g -gno-record-gcc-switches/-Wl,--build-id/")):
        done = run([PGOKIT, "pgo", "--cc", "gcc-12", "--run", "./app 300000000", "--runs", "1",
                    "-n", "0"], folder, env={"DEB_BUILD_OPTIONS": "noddebs", "GCC": gcc})
        require("DEB_CFLAGS_APPEND='-g -gno-record-gcc-switches -fauto-profile=" in done.stderr,
                done.stderr)
        by_path = gcc != "gcc-12"
        require(("no compiler in PATH" in done.stderr) == by_path, done.stderr)
        log = read(folder, "pgo.afdo.log")
        require(log.count("-O2 $DEB_CFLAGS_APPEND") == 2 + by_path, f"the log was removed: {log}")
        *_, first, second = read(folder, "said").splitlines()
        require(re.match(first_flags + options, first)
                and ("-fauto-profile" in second) == by_path, f"{first}\n{second}")


def goes_on(folder):
    """After pgo the tree builds on by itself: nothing in it names what was there for a time."""
    tool("clang-22")
    tool("cmake")
    put(folder, CMakeLists_txt=CMAKE + "add_executable(more app.c)\n"
        "set_target_properties(more PROPERTIES EXCLUDE_FROM_ALL 1)\n", app_c=SOURCE)
    home = os.path.join(folder, "home")
    run([PGOKIT, "pgo", "--cc", "clang-22", "--record", "-o", "app.afdo", "--run",
         "./pgo-build/app 300000000", "--runs", "1"], folder, env={"HOME": home})
    run([PGOKIT, "pgo", "--cc", "clang-22", "--use", "app.afdo"], folder, env={"HOME": home})
    run(["cmake", "--build", "pgo-build", "--target", "more"], folder, env={"HOME": home})
    links = os.path.join(home, ".cache", "pgokit", "compilers")
    plain = run(["clang-22", "--version"], folder)
    linked = run(["clang-22", "--version"], folder,
                 env={"HOME": home, "PATH": f"{links}:{os.environ['PATH']}"})
    require(plain.stdout == linked.stdout, linked.stdout)
    run([PGOKIT, "pgo", "--cc", "clang-22", "--use", "app.afdo"], folder,
        env={"HOME": "/proc/nowhere", "XDG_CACHE_HOME": ""})  # no cache can be made
    require(not [name for name in os.listdir(folder) if "pgokit" in name], os.listdir(folder))


def other_folders(folder):
    """What is no project yet, or a build folder of one, and what to do then."""
    tool("gcc-12")
    for files, said in (
            ({"a__configure_ac": "", "a__autogen_sh": ""},
             "only configure.ac is there: type ./autogen.sh"),
            ({"b__configure_ac": ""}, "only configure.ac is there: type autoreconf -fi first"),
            ({"c__CMakeCache_txt": "X:INTERNAL=1\nCMAKE_HOME_DIRECTORY:INTERNAL=/src/app\n",
              "c__Makefile": ""}, "in the folder of the sources, /src/app, where it builds"),
            ({"d__meson-private__x": ""}, "this folder is one that Meson builds in")):
        put(folder, **files)
        here = os.path.join(folder, next(iter(files))[0])
        done = run([PGOKIT, "pgo", "--run", "true"], here, status=2)
        require(said in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    put(folder, e__configure="exit 1", e__Makefile="clean:\n")
    done = run([PGOKIT, "pgo", "--run", "true"], os.path.join(folder, "e"), status=2)
    require("can also be built by make: give --build 'make -j$(nproc)' --clean 'make clean'\n"
            in done.stderr, done.stderr)
    put(folder, configure=CONFIGURE, app_c=SOURCE, config_status="#!/bin/sh\n"
        "echo \"'--with x' 'CFLAGS=-O0' 'CC=tcc' '--y'\"\n")
    os.rename(os.path.join(folder, "configure"), os.path.join(folder, "was"))
    put(folder, configure='#!/bin/sh\necho "$#: $*" >args\nexec sh ./was\n')
    run([PGOKIT, "pgo", "--cc", "gcc-12", "--run", "./app 300000000", "--runs", "1", "-n", "0"],
        folder)
    require(read(folder, "args") == "2: --with x --y\n", read(folder, "args"))


RUST = """fn steps(mut n: u64) -> u64 {
    let mut count = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        count += 1;
    }
    count
}
fn main() {
    let most: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    println!("{}", (1..most).map(steps).max().unwrap());
}
"""


def main():
    cases = Cases()
    cases.run("by a Makefile that names no compiler", by_its_files, "Makefile",
              MAKEFILE.replace("COMPILER", "$(CC)"), "./app")
    cases.run("by a Makefile that names gcc", hard_coded)
    cases.run("by a Makefile that asks for debug information", asks_for_debug)
    cases.run("by a Makefile that strips and has no clean", without_clean)
    cases.run("a build that makes nothing twice", made_once)
    cases.run("by CMakeLists.txt", by_its_files, "CMakeLists.txt", CMAKE, "./pgo-build/app",
              "cmake")
    cases.run("by meson.build", by_its_files, "meson.build", MESON, "./pgo-build/app", "meson",
              "ninja")
    cases.run("by configure", by_its_files, "configure", CONFIGURE, "./app")
    cases.run("by Cargo.toml", cargo)
    cases.run("by maturin in a member of a workspace", workspace)
    cases.run("by debian/rules", debian_rules)
    cases.run("a build that goes on after it", goes_on)
    cases.run("folders that are no project", other_folders)
    cases.run("clang-22", way, "clang-22", "-fprofile-sample-use=")
    cases.run("gcc-12", way, "gcc-12", "-fauto-profile=")
    cases.run("flags of the user", own_flags)
    cases.run("slower with the profile", slower)
    cases.run("faster with it", faster)
    cases.run("larger with it", grown)
    cases.run("layers", layers)
    cases.run("the page", page)
    cases.run("the page where nothing is kept", page_of_nothing)
    cases.run("loops over arrays by gcc 12", vectors)
    cases.run("a build that fails", failed_build)
    cases.run("a program and a library", several_files)
    cases.run("where it stops", stops)
    cases.run("short programs", short_runs)
    cases.run("a static program behind a shell", linked_statically)
    cases.run("a service", service)
    cases.run("another exit status", other_exit)
    cases.run("processes that outlive the command", left_processes)
    cases.run("several compilers", mixed)
    cases.run("compilers that are called oddly", called_oddly)
    cases.run("interrupted", interrupted)
    cases.run("a full disk", full_disk)
    cases.finish()


main()
