#!/usr/bin/env python3
"""What the branch recorder counts is true, and pgokit record branches does what its page says.

usage: record_branches.py PGOKIT LIBRARY ARCHIVE STATIC_ARCHIVE
"""

import bisect
import math
import os
import re
import signal
import subprocess
import time

from recorder_harness import (FAST, LIBRARY, PGOKIT, build, build_with, functions_of, preloaded,
                              record, recordings, types_of)
import musl
from harness import Cases, require, run, tool
from recording import Recording

# Warnings of llvm-profgen that are not about what was recorded.
OF_LLVM_ITSELF = re.compile(r".*(PGO is estimated|failed to determine function entry).*\n")


def counts(folder):
    program = build(folder, "kinds.cpp")
    plain = run([program, "6000"], folder).stdout
    told = record(folder, program, "6000", options=[*FAST, "--keep"])
    require(told.stdout == plain, told.stdout)
    require(re.search(r"[1-9][\d,]* windows with [\d,]+ branches", told.stderr), told.stderr)
    require(f"next: pgokit gen branches.counts -b {program} -o kinds.afdo\n" in told.stderr,
            told.stderr)
    got = functions_of(folder, "branches.counts", binary=program)
    for name in ("compare", "main", "area"):
        require(any(name in function for function in got), f"{name} is not in {got}")
    kept = [name for name in os.listdir(folder) if re.fullmatch(r"branches\.counts\.\d+", name)]
    require(functions_of(folder, *kept, binary=program) == got, "the recording says otherwise")
    run([PGOKIT, "gen", *kept, "-o", "found.text", "--to", "text"], folder)
    with open(os.path.join(folder, "found.text"), "rb") as found, \
            open(os.path.join(folder, "out.text"), "rb") as given:
        require(found.read() == given.read(), "the program is found, and its profile is another")
    seen = functions_of(folder, *kept, binary=program, options=["--no-scale"])
    scale = round(50e6 / 2000 / 512)
    of_text = functions_of(folder, "branches.counts", binary=program, options=["--no-scale"])
    require(of_text == seen, f"{seen} seen, by the text {of_text}")
    require({name: n * scale for name, n in seen.items()} == got, f"{seen} times {scale}: {got}")


def ticks_are_where_the_time_is(folder):
    """Each window that was counted has a tick; nearly all come in the loop."""
    program = build(folder, "one_hot_loop.c")
    record(folder, program, options=[*FAST, "--keep"])
    [kept] = recordings(folder, "branches.counts.")
    ticks = kept.ticks
    windows = kept.counters["WINDOWS"]
    require(0.98 * windows <= sum(t.count for t in ticks) <= windows, f"{ticks} of {windows}")
    [main] = [(int(addr, 16), int(size, 16)) for addr, size, _, name in
              (line.split() for line in run(["nm", "-S", program], folder).stdout.splitlines()
               if len(line.split()) == 4) if name == "main"]
    in_main = sum(t.count for t in ticks if os.path.basename(kept.modules[t.module].path) ==
                  os.path.basename(program) and main[0] <= t.first < sum(main))
    require(in_main > 0.9 * windows, f"{in_main} of {windows} in main")


def counts_as_windows_saw_them(folder):
    program = build(folder, "kinds.cpp")
    record(folder, program, "3000", options=[*FAST, "--keep", "--no-scale"])
    kept = [name for name in os.listdir(folder) if re.fullmatch(r"branches\.counts\.\d+", name)]
    seen = functions_of(folder, *kept, binary=program, options=["--no-scale"])
    require(functions_of(folder, "branches.counts", binary=program) == seen, seen)


def said_of(folder, *inputs, binary, options=()):
    """Density, and whether more is to be recorded."""
    said = run([PGOKIT, "gen", *inputs, *options, "-b", binary, "-o", "out.afdo"], folder).stderr
    return float(re.search(r"density +([\d.]+) samples a line", said)[1]), \
        "more samples would help" in said, said


def one_hot_loop_is_recorded_long_enough(folder):
    """Counts have one common divisor, which is no scale; the text has it. Recordings at two rates
    have no divisor at all, and what they saw adds up."""
    program = build(folder, "one_hot_loop.c")
    seen = []
    for rate in ("400", "1700"):
        record(folder, program, options=["--real-time", "-F", rate, "-o", rate, "--keep"])
        [kept] = [name for name in os.listdir(folder) if name.startswith(rate + ".")]
        plain = said_of(folder, kept, binary=program, options=["--no-scale"])[0]
        for name in (rate, kept):
            density, more, said = said_of(folder, name, binary=program)
            require(abs(density / plain - 1) < 0.01 and density > 100 and not more,
                    f"{plain} a line was seen\n{said}")
            require("samples a line in main\n" in said and
                    f"multiplied by {round(50e6 / int(rate) / 512)}\n" in said, said)
        seen.append(plain)
    for names in (("400", "1700"), ("1700", "400")):
        density, _, said = said_of(folder, *names, binary=program)
        require(abs(density / sum(seen) - 1) < 0.01, f"{seen} a line were seen\n{said}")
    return [f"{seen} samples a line, together {density}"]


def a_function_that_gold_folded_is_entered(folder):
    """Its entries, calls of it and its lines have one name, with contexts and without."""
    tool("ld.gold")
    program = build(folder, "folded_functions.c", "-fno-ipa-icf", "-ffunction-sections",
                    "-fuse-ld=gold", "-Wl,--icf=all")
    addresses = re.findall(r"^(\w+) T (?:first|second)$", run([tool("nm"), program], folder).stdout,
                           re.M)
    require(len(addresses) == 2 and len(set(addresses)) == 1, f"not folded: {addresses}")
    for more, mode in (((), ()), (("--callchain",), ("--mode", "cs-autofdo", "--contexts"))):
        record(folder, program, options=["--real-time", "-F", "2000", "-n", "4000", *more])
        text = run([PGOKIT, "gen", "branches.counts", "-b", program, "-o", "-", "--to", "text",
                    *mode], folder).stdout
        heads = re.findall(r"^\[?(?:main:\S+ @ )?(first|second)\]?:(\d+):(\d+)$", text, re.M)
        names = {name for name, _, _ in heads}
        require(len(names) == 1 and sum(int(entries) for _, _, entries in heads) > 0 and
                set(re.findall(r" (first|second):\d", text)) <= names, text)


def too_few_samples_are_said_to_be(folder):
    """Of a recording at a low rate, also together with one that is told in other counts."""
    program = build(folder, "one_hot_loop.c")
    for rate in ("20", "30"):
        record(folder, program, options=["--real-time", "-F", rate, "-n", "2", "-o", rate],
               env={"PGOKIT_BRANCHES_OPTIONS": "stretch=0"})
    density, more, said = said_of(folder, "20", "30", binary=program)
    require(density < 50 and more, said)
    times = float(re.search(r"record ([\d.,]+) times", said)[1].replace(",", ""))
    require(1.1 <= times and abs(times / (50 / density) - 1) < 0.2, said)


def only_counts_stay(folder):
    program = build(folder, "kinds.cpp")
    record(folder, program, "3000", options=[*FAST, "-o", "app.counts"])
    require(sorted(os.listdir(folder)) == ["app.counts", "kinds"], os.listdir(folder))


def llvm_reads(folder):
    profgen = tool("llvm-profgen-22")
    program = build(folder, "kinds.cpp")
    record(folder, program, "6000", options=FAST)
    told = run([profgen, "--unsymbolized-profile=branches.counts", f"--binary={program}",
                "--format=text", "-o", "llvm.text"], folder)
    require("warning" not in OF_LLVM_ITSELF.sub("", told.stderr), told.stderr)


def samples_into_pipe(folder):
    """A pipe that nobody reads lies under the name of the samples: the program goes on."""
    program = build(folder, "kinds.cpp")
    script = f"mkfifo {folder}/r.$$.perf; exec env LD_PRELOAD={LIBRARY} {program} 6000"
    plain = run([program, "6000"], folder)
    told = run(["sh", "-c", script], folder, timeout=120, env={
        "PGOKIT_BRANCHES_OPTIONS": f"out={folder}/r.%p:frequency=2000:perf=1"})
    require(told.stdout == plain.stdout, told.stdout)
    require(told.stderr.count("\n") == 1 and "not a regular file" in told.stderr, told.stderr)


def samples_of_perf(folder):
    """perf, llvm-profgen and gen read them; llvm-profgen does not warn of what is in them."""
    profgen, perf = tool("llvm-profgen-22"), tool("perf")
    program = build(folder, "kinds.cpp")
    told = record(folder, program, "6000", options=[*FAST, "--perf", "--keep"])
    [name] = [name for name in os.listdir(folder) if name.endswith(".perf")]
    require(f"{name}\n" in told.stderr, told.stderr)
    [recording] = [Recording(os.path.join(folder, other)) for other in os.listdir(folder)
                   if other + ".perf" == name]
    text = run([perf, "script", "-i", name, "-F", "brstack"], folder).stdout
    stacks = [line.split() for line in text.splitlines() if line.strip()]
    require(max(map(len, stacks)) == 32, "stacks of 32")
    require(sum(map(len, stacks)) == recording.counters["BRANCHES"],
            f"{sum(map(len, stacks))} branches of {recording.counters['BRANCHES']}")
    told = run([profgen, f"--perfdata={name}", f"--binary={program}", "--format=text", "-o",
                "llvm.text"], folder)
    require("warning" not in OF_LLVM_ITSELF.sub("", told.stderr), told.stderr)
    ours = functions_of(folder, name, binary=program)
    with open(os.path.join(folder, "llvm.text"), encoding="utf-8") as file:
        theirs = {line.split(":")[0]: int(line.split(":")[1]) for line in file
                  if re.match(r"^[^ \n]", line)}
    require(ours == theirs and len(ours) > 3, f"{ours}\n{theirs}")
    return [f"{len(stacks)} samples with {sum(map(len, stacks))} branches"]


def contexts_of(text):
    """Body samples by context."""
    return {match[1]: int(match[2]) for match in re.finditer(r"^\[(.*)\]:(\d+):\d+$", text, re.M)}


def calling_contexts(folder):
    """Two callers, 4 : 1, and a third one through the C library; without frame pointers."""
    program = build(folder, "callers.c", "-fomit-frame-pointer")
    record(folder, program, "3000000", options=[*FAST, "--callchain", "--keep"])
    [kept] = [name for name in os.listdir(folder) if name.startswith("branches.counts.")]
    [recording] = recordings(folder, "branches.counts.")
    command = [PGOKIT, "gen", "-b", program, "-o", "-", "--to", "text", "--mode", "cs-autofdo",
               "--contexts"]
    text = run([*command, "branches.counts"], folder).stdout
    require(run([*command, kept], folder).stdout == text, "the recording says otherwise")
    found = contexts_of(text)
    often, seldom = (found.get(f"main:{line} @ {name}:2 @ between:2 @ work", 0)
                     for line, name in ((5, "first"), (7, "second")))
    require(seldom and abs(often / seldom / 4 - 1) < 0.05, text)
    require(sum(n for name, n in found.items() if name.endswith("work")) - often - seldom
            < 0.02 * often, text)
    require("compare" in found, text)
    require(len(recording.calls) > 4, recording.calls)
    run([PGOKIT, "gen", kept, "-b", program, "-o", "plain", "--ignore-stack"], folder)
    return [f"{often} and {seldom}: {often / seldom:.3f} : 1"]


def contexts_by_probes(folder):
    program = build_with(folder, "clang-22", "callers.c", "-fpseudo-probe-for-profiling")
    record(folder, program, "3000000", options=[*FAST, "--callchain"])
    text = run([PGOKIT, "gen", "branches.counts", "-b", program, "-o", "-", "--to", "text",
                "--mode", "cs", "--contexts"], folder).stdout
    names = [" @ ".join(re.findall(r"(main|first|second|between|work)(?=[:j]|$)",
                                   re.sub(r"\.__uniq\.\d+", "", name)))
             for name in contexts_of(text)]
    require("main @ first @ between @ work" in names and "main @ second @ between @ work" in names,
            text)


def types_of(text):
    """Sums of the counts of vtables."""
    found = {}
    for name, count in re.findall(r" (_ZTV\w+):(\d+)", text):
        found[name] = found.get(name, 0) + int(count)
    return found


def loads_tell_types(folder):
    program = build(folder, "kinds.cpp")
    told = record(folder, program, "20000", options=[*FAST, "--loads"])
    require(re.search(r"[1-9][\d,]* loads from data", told.stderr), told.stderr)
    [kept] = [name for name in os.listdir(folder) if name.startswith("branches.counts.")]
    require(re.search(rf"next: pgokit gen .*{kept} -b \S+ -o kinds.afdo --vtables", told.stderr),
            told.stderr)
    text = run([PGOKIT, "gen", kept, "-b", program, "--vtables", "-o", "-", "--to", "text"],
               folder).stdout
    found = types_of(text)
    require(set(found) == {"_ZTV6Square", "_ZTV5Round"}, found)
    said = run([PGOKIT, "gen", kept, "-b", program, "--vtables", "-o", "out.afdo"], folder).stderr
    share = float(re.search(r"loads of vtables +[\d,]+ \(([\d.]+) %\)", said)[1])
    require(0 < share <= 100, said)  # counted by windows as all loads are, and not as multiplied
    ratio = found["_ZTV6Square"] / found["_ZTV5Round"]
    require(abs(ratio / 3 - 1) < 0.05, f"{found}: {ratio:.3f} : 1")
    return [f"{found['_ZTV6Square']} and {found['_ZTV5Round']}: {ratio:.3f} : 1"]


def loads_are_real(folder):
    """Each is of an instruction that reads memory, from what the file has loaded."""
    program = build(folder, "stress.cpp", "-mno-red-zone")
    preloaded(folder, "real_time=1:frequency=2000:loads=1", [program, "2000"])
    checked, faults = 0, []
    for recording in recordings(folder, "r."):
        code = {i: Code(m.path) for i, m in enumerate(recording.modules)
                if os.path.exists(m.path)}
        spans = {i: segments_of(c.path) for i, c in code.items()}
        for source, pc, target, addr, _ in recording.loads:
            if source not in code or target not in code:
                continue
            checked += 1
            text = code[source].text.get(pc, "")
            if "(" not in text and not re.search(r"\b0x[0-9a-f]+(,|$)", text):
                faults.append(f"{pc:x} reads no memory: {text}")
            if not any(low <= addr < high for low, high in spans[target]):
                faults.append(f"{addr:x} is not in {code[target].path}")
    require(checked > 100, f"{checked} loads only")
    require(not faults, f"{len(faults)} of {checked}: {faults[:10]}")
    return [f"{checked} loads"]


def segments_of(path):
    text = run([tool("readelf"), "-lW", path], ".").stdout
    rows = re.findall(r"^\s+LOAD\s+\S+ (\S+) \S+ \S+ (\S+) ", text, re.M)
    return [(int(addr, 16), int(addr, 16) + int(size, 16)) for addr, size in rows]


def children(folder):
    program = build(folder, "kinds.cpp")
    told = record(folder, "sh", "-c", f"{program} 2000 && {program} 2000",
                  options=[*FAST, "-b", program, "--keep"])
    require("next: pgokit gen branches.counts" in told.stderr, told.stderr)
    both = [r for r in recordings(folder, "branches.counts.")
            if any(m.path == program for m in r.modules)]
    require(len(both) == 2, f"{len(both)} recordings of the program")


def children_of_fork(folder):
    """Each has a file of its own, whose modules are its own."""
    program = build(folder, "stress.cpp", "-mno-red-zone")
    preloaded(folder, "real_time=1:frequency=5000", [program, "1000", "vectors", "fork"])
    names = [name for name in os.listdir(folder) if name.startswith("r.")]
    require(len(names) > 2, names)
    got = functions_of(folder, *names, binary=program)
    require(any("work" in name for name in got), got)
    of_program = [r for r in recordings(folder, "r.") if any(m.path == program for m in r.modules)]
    require(len(of_program) > 1, f"{len(of_program)} of {len(names)} recordings have the program")


def of_another_build(folder):
    program = build(folder, "kinds.cpp")
    other = os.path.join(folder, "other")
    os.mkdir(other)
    other = build(other, "kinds.cpp", "-fno-inline")
    record(folder, program, "3000", options=[*FAST, "--keep"])
    kept = [name for name in os.listdir(folder) if name.startswith("branches.counts.")]
    told = run([PGOKIT, "gen", *kept, "-b", other, "-o", "x"], folder, status=2)
    require("build id" in told.stderr, told.stderr)


def opens_a_page(folder):
    program = build(folder, "kinds.cpp")
    told = record(folder, program, "100000", options=[*FAST, "--open"],
                  env={"DISPLAY": "", "WAYLAND_DISPLAY": ""}).stderr
    page = re.search(r"^page: (/.*/branches\.counts\.html)$", told, re.M)[1]
    with open(page, encoding="utf-8") as file:
        require(file.read(15).lower() == "<!doctype html>", page)
    require("area" in run([PGOKIT, "show", "branches.counts.afdo"], folder).stdout, told)


def killed(folder):
    program = build(folder, "kinds.cpp")
    env = {**os.environ, "LD_PRELOAD": LIBRARY, "PGOKIT_BRANCHES_OPTIONS":
           f"out={folder}/r.%p:real_time=1:frequency=2000"}
    with subprocess.Popen([program, "6000", "stop"], env=env, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    got = functions_of(folder, f"r.{child.pid}", binary=program)
    require(any("compare" in name for name in got), got)


def says_what_ran(folder):
    """Program, host, arguments unless they are not wanted, and when it started."""
    program = build(folder, "one_hot_loop.c")
    for options, arguments in (((), [program, "600000000", "secret"]),
                               (("--no-cmdline",), [])):
        before = time.time() * 1000
        record(folder, program, "600000000", "secret", options=[*FAST, "--keep", *options])
        found, = recordings(folder, "branches.counts.")
        want = [os.path.realpath(program), os.uname().nodename, *arguments, ""]
        require(found.process_text.decode() == "\0".join(want), found.process_text)
        require(before - 1000 < found.start_ms < time.time() * 1000 + 1000, found.start_ms)
        os.remove(next(os.path.join(folder, name) for name in os.listdir(folder)
                       if name.startswith("branches.counts.")))


def too_short(folder):
    """The status is the program's, and counts of a former run do not stay as if they were new."""
    for output in ([], ["-o", "own.counts"]):
        path = os.path.join(folder, output[-1] if output else "branches.counts")
        with open(path, "w", encoding="utf-8") as file:
            file.write("of a former run")
        for status in (3, 0):
            told = record(folder, "sh", "-c", f"exit {status}", options=output, status=status)
            require("warning: nothing was recorded" in told.stderr and
                    "--real-time" in told.stderr, told.stderr)
            require(("of a former run was removed" in told.stderr) == (status == 3), told.stderr)
        require(not os.listdir(folder), os.listdir(folder))


def without_symbols(folder):
    """What ran is known, but not by functions: the recording stays, and the status is the
    program's."""
    program = build(folder, "one_hot_loop.c")
    run([tool("strip"), program], folder)
    with open(os.path.join(folder, "branches.counts"), "w", encoding="utf-8") as file:
        file.write("of a former run")
    told = record(folder, program, options=FAST)
    require("symbol table" in told.stderr and "former run was removed" in told.stderr, told.stderr)
    names = sorted(set(os.listdir(folder)) - {"one_hot_loop"})
    require(len(names) == 1 and names[0].startswith("branches.counts."), names)


def without_debug_information(folder):
    """There are counts, of which gen makes no profile: what is said next leads to one."""
    program = build(folder, "one_hot_loop.c")
    run([tool("strip"), "--strip-debug", program], folder)
    told = record(folder, program, options=FAST).stderr
    require(f"next: compile {program} with -g and record it again: " in told and
            "next: pgokit gen" not in told, told)
    said = run([PGOKIT, "gen", "branches.counts", "-b", program, "-o", "none"], folder, status=2)
    require(".debug_info: found none" in said.stderr, said.stderr)
    program = build(folder, "one_hot_loop.c")
    told = record(folder, program, options=FAST).stderr
    require(f"next: pgokit gen branches.counts -b {program}" in told, told)


def static_program(folder):
    program = build(folder, "kinds.cpp", "-static")
    told = record(folder, program, status=126)
    require("statically linked" in told.stderr, told.stderr)


def all_code_is_in_a_library_or_a_child(folder):
    """The status is the program's, and the file with the most branches is counted and named."""
    program = build(folder, "one_hot_loop.c")
    told = record(folder, "sh", "-c", f"{program}; exit 0", options=FAST)
    require(f"the counts are of {program}, which has most" in told.stderr and
            f"-b {program}" in told.stderr, told.stderr)
    require("main" in functions_of(folder, "branches.counts", binary=program), "main")
    with open(os.path.join(folder, "loop.c"), "w", encoding="utf-8") as source:
        source.write("unsigned long loop(unsigned long n) { unsigned long s = 1;"
                     " while (n--) s = s * 31 + n; return s; }\n")
    with open(os.path.join(folder, "calls.c"), "w", encoding="utf-8") as source:
        source.write("unsigned long loop(unsigned long);\n"
                     "int main(void) { return loop(600000000) == 7; }\n")
    library, program = (os.path.join(folder, name) for name in ("libloop.so", "calls"))
    run([tool("gcc"), "-O2", "-g", "-shared", "-fPIC", "loop.c", "-o", library], folder)
    run([tool("gcc"), "-O2", "-g", "calls.c", library, "-o", program], folder)
    told = record(folder, program, options=FAST)
    require(f"the counts are of {library}, which has most" in told.stderr, told.stderr)
    require("loop" in functions_of(folder, "branches.counts", binary=library), "loop")
    # So does gen of the recording, where nobody says which file, be the program stripped or not.
    run([tool("strip"), program], folder)
    record(folder, program, options=[*FAST, "--keep"])
    kept = [name for name in os.listdir(folder) if re.fullmatch(r"branches\.counts\.\d+", name)]
    found = run([PGOKIT, "gen", *kept, "--to", "text", "-o", "-"], folder)
    require(re.search(rf"the counts of \S+ are of {library}, which has [\d.]+ %", found.stderr) and
            "loop:" in found.stdout, f"{found.stderr}{found.stdout}")
    told = record(folder, program, options=[*FAST, "-b", program, "-o", "none"])
    require("none of use" in told.stderr and "counts are of" not in told.stderr, told.stderr)
    require(not os.path.exists(os.path.join(folder, "none")), "counts of nothing")


def status_is_the_programs(folder):
    record(folder, "sh", "-c", "exit 42", status=42)
    record(folder, "sh", "-c", "kill -SEGV $$", status=139)


def output_is_an_input(folder):
    for name in ("binary", "input", "branches.counts", "tool"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(os.path.join(folder, name), 0o755)
    path = {"PATH": f"{folder}:{os.environ['PATH']}"}
    for words in (["-b", "binary", "-o", "binary", "--", "true"],
                  ["--debug-binary", "binary", "-o", "binary", "--", "true"],
                  ["-o", "input", "--", "cat", "input"],
                  ["-o", "input", "--", "dd", "if=input"],
                  ["-o", ".", "--", "cat", "branches.counts"],
                  ["--", "cat", "branches.counts"], ["-o", "tool", "--", "tool"]):
        said = run([PGOKIT, "record", "branches", *words], folder, path, status=2).stderr
        require("is the same file as the input" in said, said)
    for name in ("binary", "input", "branches.counts", "tool"):
        require(os.path.getsize(os.path.join(folder, name)) == 10, f"{name} has changed")
    os.unlink(os.path.join(folder, "branches.counts"))
    run([PGOKIT, "record", "branches", "-o", ".", "--", "ls", "."], folder)


class Code:
    """Instructions of a file, as objdump has them."""

    LINE = re.compile(r"\s*([0-9a-f]+):\t(.*)")
    PREFIX = re.compile(r"^(?:(?:bnd|notrack|repz|repnz|rep|addr32|data16|rex\.\w+|cs|ds) +)+")
    BRANCH = re.compile(r"j|call|ret|loop")
    ENDS = re.compile(r"jmp|call|ret|hlt|ud2")

    def __init__(self, path):
        self.path = path
        text = subprocess.run([tool("objdump"), "-d", "-w", "--no-show-raw-insn", path], check=True,
                              capture_output=True, text=True).stdout
        self.text = {}
        for line in text.splitlines():
            match = self.LINE.match(line)
            if match:
                self.text[int(match[1], 16)] = self.PREFIX.sub("", match[2])
        self.addrs = sorted(self.text)

    def fault_of_branch(self, source, target, same_file):
        words = self.text.get(source, "").split()
        if not words or not self.BRANCH.match(words[0]):
            return f"{source:x} does not branch: {words}"
        direct = re.fullmatch(r"[0-9a-f]+", words[1]) if len(words) > 1 else None
        if direct and words[0] != "ret" and (int(words[1], 16) != target or not same_file):
            return f"{source:x} does not lead to {target:x}: {words}"
        if same_file and target not in self.text:
            return f"{source:x} leads to {target:x}, which is no instruction"
        return None

    def fault_of_range(self, first, last):
        start, end = bisect.bisect_left(self.addrs, first), bisect.bisect_left(self.addrs, last)
        if first not in self.text or last not in self.text or start > end:
            return f"{first:x}-{last:x} is not from instruction to instruction"
        for addr in self.addrs[start:end]:
            if self.ENDS.match(self.text[addr]):
                return f"{first:x}-{last:x} runs over {self.text[addr]}"
        return None


def every_branch_is_real(folder):
    program = build(folder, "stress.cpp", "-mno-red-zone")
    preloaded(folder, "real_time=1:frequency=2000",
              [program, "2000", "exceptions", "threads", "signals", "longjmp", "vectors", "stacks"])
    checked, faults = 0, []
    for recording in recordings(folder, "r."):
        for number, module in enumerate(recording.modules):
            if not os.path.exists(module.path):
                continue
            code = Code(module.path)
            for source, addr, target, to, _ in recording.branches:
                if source == number:
                    faults.append(code.fault_of_branch(addr, to, target == number))
            for source, first, _, last, _ in recording.ranges:
                if source == number:
                    faults.append(code.fault_of_range(first, last))
        checked += len(recording.branches) + len(recording.ranges)
    faults = [fault for fault in faults if fault]
    require(not faults, "\n".join(faults[:20]))
    require(checked > 500, f"{checked} branches and ranges only")
    return [f"{checked} different branches and ranges"]


class Exact:
    """What ran how often, and who called whom, as callgrind has counted it."""

    def __init__(self, folder, argv):
        out = os.path.join(folder, "exact")
        run([tool("valgrind"), "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no",
             "--compress-strings=no", f"--callgrind-out-file={out}", *argv], folder, timeout=600)
        self.ran, self.calls = {}, {}  # {function: {address: count}}, {(source, target): count}
        inside = called_inside = function = call = None
        with open(out, encoding="utf-8") as lines:
            for line in lines:
                key, _, value = line.strip().partition("=")
                if key == "ob":
                    inside = value == argv[0]
                elif key == "fn":
                    function, called_inside = value, inside
                elif key == "cob":
                    called_inside = value == argv[0]
                elif key == "calls":
                    count, target = value.split()[:2]
                    call = (int(target, 16), int(count), called_inside)
                    called_inside = inside
                elif line.startswith("0x") and inside:
                    addr, _, cost = line.split()[:3]
                    self.add(function, int(addr, 16), int(cost), call)
                    call = None
                elif line.startswith("0x"):
                    call = None

    def add(self, function, addr, cost, call):
        if not call:
            counts = self.ran.setdefault(function, {})
            counts[addr] = counts.get(addr, 0) + cost
        elif call[2]:
            self.calls[addr, call[0]] = self.calls.get((addr, call[0]), 0) + call[1]


def overlap(one, other):
    """Of two distributions, 1: they are the same."""
    a, b = sum(one.values()), sum(other.values())
    return sum(min(n / a, other.get(key, 0) / b) for key, n in one.items()) if a and b else 0


def add_counts(recording, code, ran, branches):
    """How often each instruction of the program ran, and each branch in it was taken."""
    number = [m.path for m in recording.modules].index(code.path)
    for module, first, _, last, count in recording.ranges:
        if module == number:
            for addr in code.addrs[bisect.bisect_left(code.addrs, first):
                                   bisect.bisect_right(code.addrs, last)]:
                ran[addr] = ran.get(addr, 0) + count
    for module, source, other, target, count in recording.branches:
        if module == other == number:
            branches[source, target] = branches.get((source, target), 0) + count


def counts_are_true(folder):
    """3,000 windows of 512 on average against exact counts."""
    program = build(folder, "kinds.cpp", "-no-pie")
    exact = Exact(folder, [program, "10000"])
    code, ran, calls, windows = Code(program), {}, {}, 0
    while windows < 3000:
        preloaded(folder, "real_time=1:frequency=4000", [program, "10000"])
        [recording] = recordings(folder, "r.")
        require(recording.counters["WINDOWS"] > 20, "hardly a window in a run")
        windows += recording.counters["WINDOWS"]
        add_counts(recording, code, ran, calls)
        os.remove(os.path.join(folder, f"r.{recording.process}"))
    calls = {call: count for call, count in calls.items() if call in exact.calls}
    total = sum(sum(counts.values()) for counts in exact.ran.values())
    within = sum(sum(counts.values()) / total *
                 overlap(counts, {addr: ran.get(addr, 0) for addr in counts})
                 for counts in exact.ran.values())
    called = overlap(exact.calls, calls)
    require(within >= 0.93, f"overlap within functions {within:.3f}")
    require(called >= 0.90, f"overlap of calls {called:.3f}")
    return [f"{windows} windows: overlap within functions {within:.3f}, "
            f"of calls {called:.3f}"]


def quick_and_slow(folder, program, options, runs):
    """Branches that were seen in two functions that take equally many."""
    code, branches, found = Code(program), {}, {}
    for _ in range(runs):
        preloaded(folder, "real_time=1:frequency=2000" + options, [program, "400"])
        [recording] = recordings(folder, "r.")
        add_counts(recording, code, {}, branches)
        os.remove(os.path.join(folder, f"r.{recording.process}"))
    symbols = re.findall(r"^(\w+) (\w+) t (quick|slow)$",
                         run([tool("nm"), "-S", program], folder).stdout, re.M)
    for start, size, name in symbols:
        start, size = int(start, 16), int(size, 16)
        found[name] = sum(count for (source, _), count in branches.items()
                          if start <= source < start + size)
    return found["slow"] / found["quick"] if found["quick"] else math.inf


def slow_code_is_not_seen_more_often(folder):
    """Of two functions with the same branches, one has a division and a load in each turn. Single
    runs, of few long windows in the quick one, gave 0.4 to 1.8 on a busy machine."""
    program = build(folder, "quick_slow.c", "-no-pie")
    by_time = quick_and_slow(folder, program, ":stretch=0", 1)
    ratio = quick_and_slow(folder, program, "", 10)
    require(by_time > 4, f"{by_time:.2f} : 1 by time, which shows nothing")
    require(0.5 < ratio < 2, f"{ratio:.2f} : 1, and {by_time:.2f} : 1 by time")
    return [f"{ratio:.2f} : 1, and {by_time:.2f} : 1 by time"]


def main():
    cases = Cases()
    cases.run("counts of a program", counts)
    cases.run("counts as windows saw them", counts_as_windows_saw_them)
    cases.run("ticks are where the time is", ticks_are_where_the_time_is)
    cases.run("one hot loop is recorded long enough", one_hot_loop_is_recorded_long_enough)
    cases.run("a function that gold folded is entered", a_function_that_gold_folded_is_entered)
    cases.run("too few samples are said to be", too_few_samples_are_said_to_be)
    cases.run("--open", opens_a_page)
    cases.run("only the counts stay", only_counts_stay)
    cases.run("llvm-profgen reads the counts", llvm_reads)
    cases.run("samples of perf", samples_of_perf)
    cases.run("a recording says what ran", says_what_ran)
    cases.run("a pipe in the place of samples", samples_into_pipe)
    cases.run("calling contexts", calling_contexts)
    cases.run("calling contexts by probes", contexts_by_probes)
    cases.run("loads tell types of objects", loads_tell_types)
    cases.run("loads are real", loads_are_real)
    cases.run("children", children)
    cases.run("children of fork", children_of_fork)
    cases.run("children of musl end with 127", musl.children, PGOKIT, "record", "branches", "-q",
              "--")
    cases.run("a recording of another build", of_another_build)
    cases.run("a killed program leaves its counts", killed)
    cases.run("a program that is too short", too_short)
    cases.run("a program without symbols", without_symbols)
    cases.run("a program without debug information", without_debug_information)
    cases.run("static program", static_program)
    cases.run("all code is in a library or a child", all_code_is_in_a_library_or_a_child)
    cases.run("exit status of the program", status_is_the_programs)
    cases.run("an input is never an output", output_is_an_input)
    cases.run("every branch is real", every_branch_is_real)
    cases.run("counts are true", counts_are_true)
    cases.run("slow code is not seen more often", slow_code_is_not_seen_more_often)
    cases.finish()


main()
