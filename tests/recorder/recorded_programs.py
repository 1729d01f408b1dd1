#!/usr/bin/env python3
"""Programs under the branch recorder, preloaded or linked: they behave as without it.

usage: recorded_programs.py PGOKIT LIBRARY ARCHIVE STATIC_ARCHIVE
"""

import os
import re
import signal
import subprocess
import sys
import time

from recorder_harness import (ARCHIVE, FAST, LIBRARY, PGOKIT, PROGRAMS, STATIC_ARCHIVE, build,
                              build_linked, functions_of, preloaded, record, recording_itself,
                              recordings, types_of)
from harness import Cases, Skip, require, run, tool
from recording import Recording

STRESS_SECONDS = int(os.environ.get("PGOKIT_TEST_STRESS", "0"))
RATES = ("frequency=250", "frequency=2000:loads=1", "frequency=5000",
         "frequency=2000:callchain=1:perf=1", "frequency=5000:stretch=50000",
         "frequency=2000:loads=1:stretch=50000", "frequency=2000:callchain=1:stretch=50000")
HIGHEST_RATES = ("frequency=10000", "frequency=10000:loads=1",
                 "frequency=10000:callchain=1:perf=1", "frequency=10000:stretch=50000",
                 "frequency=10000:loads=1:stretch=50000")


def exported_calls(folder, *library):
    program = build(folder, "switched.c", *library)
    recording_itself(folder, "enabled=0:real_time=1:frequency=2000", [program, "20000000"])
    got = functions_of(folder, *[n for n in os.listdir(folder) if n.startswith("r.")],
                       binary=program)
    require("recorded" in got and "left_out" not in got, got)


def linked(folder):
    """Recorded by the environment, and by pgokit record, which preloads the recorder, too."""
    program = build(folder, "kinds.cpp")
    plain = run([program, "6000"], folder).stdout
    program = build_linked(folder, "kinds.cpp")
    told = recording_itself(folder, "real_time=1:frequency=2000", [program, "6000"])
    require(told.stdout == plain, told.stdout)
    [recording] = [name for name in os.listdir(folder) if name.startswith("r.")]
    got = functions_of(folder, recording, binary=program)
    require(any("compare" in name for name in got), got)
    require(not any(name.startswith(("pgbr_", "pgg_")) for name in got), got)
    told = record(folder, program, "6000", options=[*FAST, "--keep"])
    require(told.stdout == plain, told.stdout)
    [recording] = recordings(folder, "branches.counts.")
    require(recording.counters["WINDOWS"] > 20, recording.ended())


def linked_and_preloaded(folder):
    """The preloaded recorder has windows before that of the program takes over."""
    early = os.path.join(PROGRAMS, "begins_early.c")
    program = build_linked(folder, "kinds.cpp", "-Wno-prio-ctor-dtor", early)
    preloaded(folder, "real_time=1:frequency=2000:perf=1", [program, "6000"])
    names = sorted(name for name in os.listdir(folder) if name.startswith("r."))
    require(len(names) == 2 and names[1] == names[0] + ".perf", names)
    recording = Recording(os.path.join(folder, names[0]))
    require(recording.counters["WINDOWS"] > 20, recording.ended())
    got = functions_of(folder, names[0], binary=program)
    require(any("compare" in name for name in got), got)
    require(not any("early" in name for name in got), got)


def section_of(program, name):
    """Where it starts and stops."""
    listing = run([tool("readelf"), "-SW", program], ".").stdout
    start, size = re.search(rf" {name} +PROGBITS +(\w+) \w+ (\w+)", listing).groups()
    return range(int(start, 16), int(start, 16) + int(size, 16))


def linked_stress(folder):
    """Nothing of the recorder runs in a window, and nothing goes on behind it."""
    plain = run([build(folder, "stress.cpp", "-mno-red-zone"), "2000"], folder).stdout
    program = build_linked(folder, "stress.cpp", "-mno-red-zone")
    own, ended, windows = section_of(program, "pgbr_code"), 0, 0
    require(len(own) > 10000, f"{own} is hardly the recorder")
    told = recording_itself(folder, "real_time=1:frequency=5000", [program, "2000"])
    require(told.stdout == plain, f"{told.stdout}\nwithout:\n{plain}")
    for recording in recordings(folder, "r."):
        numbers = [i for i, module in enumerate(recording.modules) if module.path == program]
        ended += recording.counters["OWN_CODE"]
        of_own = [pair for pair in recording.branches + recording.ranges
                  if pair.module in numbers and pair.first in own]
        require(not of_own, of_own)
        windows += recording.counters["WINDOWS"]
    require(ended, "no window ended where the program calls the recorder")
    return [f"{windows} windows, {ended} of which ended where the program calls the recorder"]


def linked_statically(folder, *static):
    """It records, functions of the C library that it stands in front of work, and so do threads."""
    plain = run([build(folder, "stress.cpp", "-mno-red-zone"), "1000"], folder).stdout
    program = build_linked(folder, "stress.cpp", "-mno-red-zone", *static, archive=STATIC_ARCHIVE)
    told = recording_itself(folder, "real_time=1:frequency=5000", [program, "1000"])
    require(told.stdout == plain, f"{told.stdout}\nwithout:\n{plain}")
    windows = sum(r.counters["WINDOWS"] for r in recordings(folder, "r."))
    require(windows > 100, f"{windows} windows")
    names = [name for name in os.listdir(folder) if name.startswith("r.")]
    got = functions_of(folder, *names, binary=program)
    require(any("work" in name for name in got), got)
    require(not any(name.startswith(("pgbr_", "pgg_")) for name in got), got)
    return [f"{windows} windows"]


def loads_of_static_program(folder):
    """Its data belong to it, although the C library only knows where its code is."""
    program = build_linked(folder, "kinds.cpp", "-static", archive=STATIC_ARCHIVE)
    recording_itself(folder, "real_time=1:frequency=2000:loads=1", [program, "20000"])
    names = [name for name in os.listdir(folder) if name.startswith("r.")]
    text = run([PGOKIT, "gen", *names, "-b", program, "--vtables", "-o", "-", "--to", "text"],
               folder).stdout
    require(set(types_of(text)) == {"_ZTV6Square", "_ZTV5Round"}, types_of(text))


def waits_statically(folder):
    """Signals that a static program waits for reach it, and the recorder's does not."""
    program = build_linked(folder, "waits.c", "-static", archive=STATIC_ARCHIVE)
    told = recording_itself(folder, "real_time=1:frequency=5000", [program])
    require(told.stdout == "10 12 10 12\n", told.stdout)


def other_archive(folder):
    """A link that is refused, instead of a program that fails."""
    for archive, static, missing in ((ARCHIVE, ["-static"], "__tls_get_addr"),
                                     (STATIC_ARCHIVE, [], "__sigwait")):
        argv = [tool("gcc"), *static, os.path.join(PROGRAMS, "switched.c"), archive, "-o", "out"]
        told = run(argv, folder, status=1)
        require(f"undefined reference to `{missing}'" in told.stderr, told.stderr)


def more_rights(folder):
    """The environment names no file that is written with them, and nothing is recorded."""
    if os.getuid():
        raise Skip("only root can make a program that runs as another user")
    plain = run([build(folder, "kinds.cpp"), "3000"], folder).stdout
    program = build_linked(folder, "kinds.cpp")
    os.chmod(folder, 0o777)
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o4755)
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        raise Skip("the file system gives no rights to programs")
    kept = os.path.join(folder, "kept")
    os.mkdir(kept)
    os.chmod(kept, 0o777)
    told = run([program, "3000"], folder, env={"PGOKIT_BRANCHES_OPTIONS":
                                               f"out={kept}/r:real_time=1:frequency=2000"})
    require(told.stdout == plain, told.stdout)
    require("recording nothing: the program has rights that who started it does not have"
            in told.stderr, told.stderr)
    require(sorted(os.listdir(folder)) == ["kept", "kinds"] and not os.listdir(kept),
            os.listdir(folder) + os.listdir(kept))


def filtered(folder, function):
    """Under a filter the recorder makes no system calls, as they may be what it kills for."""
    program = build(folder, "filtered.c")
    plain = run([program, function], folder, status=None)
    if plain.returncode == 3:
        raise Skip("seccomp is not allowed here")
    told = preloaded(folder, "real_time=1:frequency=2000", [program, function])
    require(told.stdout == plain.stdout, told.stdout)
    require("recording stops: the process puts itself under a filter" in told.stderr, told.stderr)
    [recording] = recordings(folder, "r.")
    require(recording.counters["WINDOWS"] > 5, recording.ended())


def uses_the_recorders_signal(folder, how, sig):
    """A program whose own timer sends the recorder's signal gets it, and is recorded."""
    program = build(folder, "own_signal.c")
    plain = run([program, how, str(sig)], folder).stdout
    result = run([PGOKIT, "record", "branches", "-F", "1000", "--", program, how, str(sig)], folder)
    require(result.stdout == plain and "0 strange" in plain, f"{plain}{result.stdout}")
    require(re.search(r"pgokit: \d+ windows", result.stderr) and "stops" not in result.stderr,
            result.stderr)


def sets_up_all_signals(folder):
    """As Go does, with all of them but 32 to 34."""
    go = tool("go")
    with open(os.path.join(PROGRAMS, "all_signals.go"), encoding="utf-8") as source:
        with open(os.path.join(folder, "main.go"), "w", encoding="utf-8") as file:
            file.write(source.read())
    run([go, "build", "-o", "all_signals", "main.go"], folder,
        {"GO111MODULE": "off", "GOCACHE": os.path.join(folder, "cache"), "HOME": folder,
         "CGO_ENABLED": "1", "GOFLAGS": ""})
    plain = run(["./all_signals"], folder).stdout
    for more in ([], ["cpu.pprof"]):  # Go's own profiler has a timer for each thread, and SIGPROF
        result = run([PGOKIT, "record", "branches", "-F", "1000", "--", "./all_signals", *more],
                     folder)
        require(result.stdout == plain, f"{plain}{result.stdout}")
        require(re.search(r"pgokit: \d+ windows", result.stderr) and "stops" not in result.stderr,
                result.stderr)
    require(os.path.getsize(os.path.join(folder, "cpu.pprof")) > 0, "Go's profile is empty")


def switched_by_signal(folder):
    program = build(folder, "stress.cpp", "-mno-red-zone")
    env = {**os.environ, "LD_PRELOAD": LIBRARY, "PGOKIT_BRANCHES_OPTIONS":
           f"out={folder}/r.%p:enabled=0:switch_signal=12:real_time=1:frequency=1000"}
    with subprocess.Popen([program, "100000", "exceptions"], env=env,
                          stdout=subprocess.DEVNULL) as child:
        seen = []
        for _ in range(2):
            time.sleep(0.5)
            child.send_signal(12)
            seen.append(os.listdir(folder))
            time.sleep(0.5)
        [recording] = [n for n in os.listdir(folder) if n.startswith("r.")]
        before = Recording(os.path.join(folder, recording)).counters["TICKS"]
        time.sleep(0.5)
        after = Recording(os.path.join(folder, recording)).counters["TICKS"]
        child.kill()
    require(seen[0] == ["stress"], seen)
    require(before > 20, f"{before} ticks")
    require(after == before, f"{after - before} ticks while it is off")


def switched_on_while_idle(folder):
    """The time may be over while no thread runs; then the signal switches on, not off."""
    env = {**os.environ, "LD_PRELOAD": LIBRARY, "PGOKIT_BRANCHES_OPTIONS":
           f"out={folder}/r.%p:enabled=0:switch_signal=62:seconds=1:frequency=1000"}
    script = """if True:
        import sys, time
        def spin(seconds):
            end = time.process_time() + seconds
            while time.process_time() < end: pass
        for step in range(2):
            print("ready", flush=True)
            sys.stdin.readline()
            spin(0.3)
            print("done", flush=True)
            time.sleep(1.2)
        """
    ticks = []
    with subprocess.Popen([sys.executable, "-c", script], env=env, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        for _ in range(2):
            child.stdout.readline()
            child.send_signal(62)
            child.stdin.write("go\n")
            child.stdin.flush()
            child.stdout.readline()
            ticks.append(Recording(os.path.join(folder, f"r.{child.pid}")).counters["TICKS"])
    require(0 < ticks[0] < ticks[1], ticks)


def switched_on_for_a_time(folder):
    program = build(folder, "stress.cpp", "-mno-red-zone")
    env = {**os.environ, "LD_PRELOAD": LIBRARY, "PGOKIT_BRANCHES_OPTIONS":
           f"out={folder}/r.%p:enabled=0:switch_signal=62:seconds=1:real_time=1:frequency=500"}
    with subprocess.Popen([program, "100000", "exceptions"], env=env,
                          stdout=subprocess.DEVNULL) as child:
        ticks = []
        for _ in range(2):
            time.sleep(0.5)
            child.send_signal(62)
            for _ in range(2):
                time.sleep(1.5)
                ticks.append(Recording(os.path.join(folder, f"r.{child.pid}")).counters["TICKS"])
        child.kill()
    require(20 < ticks[0] == ticks[1] < ticks[2] == ticks[3], ticks)


def stress_once(folder, program, rounds, options, plain):
    told = preloaded(folder, f"real_time=1:{options}", [program, rounds])
    require(told.stdout == plain, f"with {options}:\n{told.stdout}\nwithout:\n{plain}")
    windows = 0
    for name in os.listdir(folder):
        if name.startswith("r.") and not name.endswith(".perf"):
            windows += Recording(os.path.join(folder, name)).counters["WINDOWS"]
            os.remove(os.path.join(folder, name))
    return windows


def stress(folder):
    program = build(folder, "stress.cpp", "-mno-red-zone")
    plain = run([program, "2000"], folder).stdout
    require("handlers that saw copies: 0" in plain, plain)
    end, windows, runs = time.monotonic() + STRESS_SECONDS, 0, 0
    while not runs or time.monotonic() < end:
        for options in HIGHEST_RATES if STRESS_SECONDS else RATES:
            windows += stress_once(folder, program, "2000", options, plain)
            runs += 1
    require(windows > 300, f"{windows} windows only")
    return [f"{windows} windows in {runs} runs"]


def another_build_of_a_library(folder):
    """It is loaded where the one before was, and has its own code."""
    for number in (0, 1):
        source = os.path.join(folder, f"number{number}.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(f"int number(void) {{ return {number}; }}\n")
        run([tool("gcc"), "-O2", "-shared", "-fPIC", source, "-o",
             os.path.join(folder, f"number{number}.so")], folder)
    argv = [build(folder, "reloaded.c"), "6000", "./number0.so", "./number1.so"]
    require(run(argv, folder).stdout == "in the same place, 0 wrong\n", "another place")
    told = preloaded(folder, "real_time=1:frequency=5000:stretch=50000", argv)
    require(told.stdout == "in the same place, 0 wrong\n", told.stdout)
    [recording] = recordings(folder, "r.")
    require(recording.counters["WINDOWS"] > 20, recording.ended())


def odd_instructions(folder):
    """10,000 windows that begin at random places among instructions that are seldom met."""
    program = build(folder, "odd.c", "-no-pie", "-mno-red-zone")
    plain = run([program, "2000000"], folder).stdout
    windows = runs = 0
    while windows < 10000 or runs < 6:
        options = (f"frequency=10000:branches={(2, 32, 100)[runs % 3]}:loads={runs % 2}"
                   f":stretch={(0, 20000)[runs // 3 % 2]}")
        windows += stress_once(folder, program, "2000000", options, plain)
        runs += 1
        require(runs < 100, f"{windows} windows in {runs} runs")
    return [f"{windows} windows in {runs} runs"]


def descriptors(folder):
    """A program has those that it has without it, also when the file of counts has grown."""
    script = """if True:
        import json, os, re, time
        h, data, end = 7, [], time.process_time() + 0.5
        while time.process_time() < end:
            data = json.loads(json.dumps([{"n": i} for i in range(300)]))
            h += len(re.findall("[1-3]+", str(data)))
        print(sorted(os.listdir("/proc/self/fd"), key=int))
        """
    plain = run([sys.executable, "-c", script], folder).stdout
    told = preloaded(folder, "real_time=1:frequency=5000", [sys.executable, "-c", script])
    require(told.stdout == plain, f"{told.stdout} without it: {plain}")
    [name] = [name for name in os.listdir(folder) if name.startswith("r.")]
    [recording] = recordings(folder, "r.")
    size = os.path.getsize(os.path.join(folder, name))
    require(len(recording.branches) + len(recording.ranges) > 2048, "the file has not grown")
    require(size < (1 << 20), f"{size} bytes are more than what is in it")


def programs(folder):
    """What is installed everywhere does the same with it."""
    text = os.path.join(folder, "text")
    with open(text, "w", encoding="utf-8") as out:
        out.writelines(f"{i * 7919 % 10007} line {i % 97}\n" for i in range(60000))
    notes = []
    for argv in (["sort", "-n", text], ["xz", "-k", "-c", text], ["gzip", "-c", text],
                 ["perl", "-e", "my %h; $h{$_ % 1000} .= 'x' for 1..300000; print scalar %h"],
                 ["python3", "-c", "import json; print(len(json.dumps(list(range(300000)))))"],
                 ["bash", "-c", "for i in $(seq 100); do x=$(echo $i | cat); done; echo $x"],
                 ["gcc", "-O2", "-S", "-o", "-", os.path.join(PROGRAMS, "switched.c")]):
        argv = [tool(argv[0]), *argv[1:]]
        plain = subprocess.run(argv, cwd=folder, capture_output=True, check=True).stdout
        env = {**os.environ, "LD_PRELOAD": LIBRARY, "PGOKIT_BRANCHES_OPTIONS":
               f"out={folder}/r.%e.%p:real_time=1:frequency=1000"}
        got = subprocess.run(argv, cwd=folder, capture_output=True, check=True, env=env,
                             timeout=120).stdout
        require(got == plain, f"{argv[0]} prints something else")
        notes.append(os.path.basename(argv[0]))
    return notes


def main():
    cases = Cases()
    folder = os.path.dirname(LIBRARY)
    cases.run("on and off by calls", exported_calls, f"-L{folder}", "-lpgokit_branches",
              f"-Wl,-rpath,{folder}")
    cases.run("on and off by calls of a program with the archive", exported_calls, ARCHIVE)
    cases.run("linked into the program", linked)
    cases.run("linked into the program and preloaded", linked_and_preloaded)
    cases.run("linked into the program: stress", linked_stress)
    cases.run("linked statically", linked_statically, "-static")
    cases.run("linked statically, at any address", linked_statically, "-static-pie")
    cases.run("loads of a static program", loads_of_static_program)
    cases.run("a static program that waits for signals", waits_statically)
    cases.run("the archive for the other kind of link", other_archive)
    cases.run("a program with more rights", more_rights)
    for function in "prctl", "syscall":
        cases.run(f"a filter of system calls by {function}", filtered, function)
    cases.run("a program has a handler of SIGPROF", uses_the_recorders_signal, "setitimer",
              signal.SIGPROF.value)
    for how in ("handler", "sigwait", "sigwaitinfo", "sigtimedwait", "signalfd"):
        cases.run(f"a program uses the recorder's signal: {how}", uses_the_recorders_signal, how,
                  61)
    cases.run("a program of Go uses the recorder's signal", sets_up_all_signals)
    cases.run("on and off by a signal", switched_by_signal)
    cases.run("on again after a time without a tick", switched_on_while_idle)
    cases.run("on for a time, twice", switched_on_for_a_time)
    cases.run("descriptors of the program", descriptors)
    cases.run("programs print the same", programs)
    cases.run("another build of a library in the same place", another_build_of_a_library)
    cases.run("odd instructions", odd_instructions)
    cases.run("stress", stress)
    cases.finish()


main()
