#!/usr/bin/env python3
"""The heap sampler in real processes.

usage: sampled_heap.py PGOKIT LIBPGOKIT_SAMPLED_HEAP.so

Prints TAP. PGOKIT_TEST_KILLS=1000 in the environment kills so many programs.
"""

import bisect
import collections
import math
import os
import random
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
import raw_profile  # noqa: E402
from harness import Cases, Skip, require, run, tool, wait_until  # noqa: E402

PGOKIT, SHARED = map(os.path.abspath, sys.argv[1:3])
PROGRAMS = os.path.join(HERE, "programs")
SAMPLES, SAMPLED = 9, 64
# All samples, whatever they cost, and no windows, which would take as much again.
ALL = "budget=1000:accesses=0"
KILLS = int(os.environ.get("PGOKIT_TEST_KILLS", "60"))
Site = collections.namedtuple("Site", "objects bytes samples count_variance size_variance "
                                      "accesses access_variance", defaults=(0, 0))


def build(folder, name, *flags, compiler=None):
    source = os.path.join(PROGRAMS, name)
    program = os.path.join(folder, name.rsplit(".", 1)[0])
    compiler = compiler or ("g++" if name.endswith(".cpp") else "gcc")
    run([tool(compiler), "-O1", "-g", "-Wl,--build-id", "-no-pie", *flags, source, "-o", program,
         "-pthread", "-ldl"], folder)
    return program


def sampled(folder, argv, out="heap.raw", before="", options="", **kw):
    """The result of the program with the sampler in front of its allocator."""
    preload = " ".join(filter(None, [SHARED, before]))
    return run(argv, folder, env={
        "LD_PRELOAD": preload,
        "PGOKIT_SAMPLED_HEAP_OPTIONS": f"out={os.path.join(folder, out)}:{options}"}, **kw)


def functions_of(program):
    listing = run([tool("nm"), program], "/").stdout
    rows = sorted((int(words[0], 16), words[2]) for words in map(str.split, listing.splitlines())
                  if len(words) == 3 and words[1] in "tT")
    return [row[0] for row in rows], [row[1] for row in rows]


class Profile:
    """Facts, and sums by the function of the program that called the allocator."""

    def __init__(self, path, program):
        with open(path, "rb") as file:
            data = file.read()
        mibs, = raw_profile.struct.unpack_from("<Q", data, 32)
        notes = raw_profile.Notes(data, 0, mibs)
        self.facts = notes.facts
        profile = raw_profile.Profile(path)
        starts, names = functions_of(program)
        samples = {row[0]: row[1:] for row in notes.records(SAMPLES, "<6Q")}
        self.sites, self.samples = {}, samples
        for stack, pcs in profile.pcs.items():
            name = names[bisect.bisect(starts, pcs[0]) - 1] if pcs and starts and \
                starts[0] <= pcs[0] < starts[-1] + 4096 else "?"
            mib = profile.contexts[pcs]
            old = self.sites.get(name, Site(0, 0, 0, 0, 0))
            row = samples[stack]
            self.sites[name] = Site(old.objects + mib[0], old.bytes + mib[1],
                                    old.samples + row[0], old.count_variance + row[2],
                                    old.size_variance + row[3], old.accesses + mib[2],
                                    old.access_variance + row[4])


def truth_of(out):
    rows = [line.split() for line in out.splitlines()]
    return {name: (int(objects), int(size)) for name, objects, size in rows}


# ---- what is exact, and what is estimated ----

def is_exact_in_total(folder, threads):
    """All that was allocated is counted: what the program knows, and what it and the C library
    allocate besides is little."""
    program = build(folder, "sites.c")
    out = sampled(folder, [program, "30000", str(threads)], options="sample=20000").stdout
    truth = truth_of(out)
    facts = Profile(os.path.join(folder, "heap.raw"), program).facts
    require(facts["flags"] & SAMPLED and not facts["flags"] & raw_profile.INTERRUPTED,
            f"flags {facts['flags']}")
    objects, size = (sum(values) for values in zip(*truth.values()))
    require(0 <= facts["made_objects"] - objects <= 30 + 4 * threads,
            f"{facts['made_objects']} objects, the program made {objects}")
    require(0 <= facts["made_bytes"] - size <= (80 + threads) << 10,
            f"{facts['made_bytes']} bytes, the program made {size}")


def is_in_interval(folder, distance):
    """About 95 of 100 intervals of 95 % hold what the program knows, over many seeds, and the
    mean over all of them is right."""
    program = build(folder, "sites.c")
    seeds, right, cases = 20, 0, 0
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for seed in range(1, seeds + 1):
        out = sampled(folder, [program, "6000", "1"],
                      options=f"sample={distance}:{ALL}:seed={seed}").stdout
        truth = truth_of(out)
        sites = Profile(os.path.join(folder, "heap.raw"), program).sites
        for name, exact in truth.items():
            site = sites.get(name, Site(0, 0, 0, 0, 0))
            for i, (value, variance) in enumerate(((site.objects, site.count_variance),
                                                   (site.bytes, site.size_variance))):
                sums[name][i] += value
                sums[name][2 + i] += variance
                if site.samples >= 30:
                    cases += 1
                    right += abs(value - exact[i]) <= 1.96 * math.sqrt(variance) + 1
    require(cases > 100, f"{cases} cases only")
    require(right >= 0.89 * cases, f"{right} of {cases} intervals hold the exact figure")
    for name, exact in truth.items():
        for i, what in enumerate(("objects", "bytes")):
            off = abs(sums[name][i] / seeds - exact[i])
            allowed = 4.5 * math.sqrt(sums[name][2 + i]) / seeds + 0.002 * exact[i] + 1
            require(off <= allowed,
                    f"{name}: {sums[name][i] / seeds:.0f} {what} in the mean, exactly {exact[i]}; "
                    f"at most {allowed:.0f} off")
    return [f"{right} of {cases} intervals hold the exact figure"]


# ---- that programs work ----

def stress(folder, options, before="", flags=(), how=()):
    program = build(folder, "stress.cpp", "-std=c++17", *flags)
    for seed in (1, 2):
        result = sampled(folder, [program, "4", "30000", str(seed), *how], before=before,
                         options=options)
        require(result.stdout == "ok\n" and not result.stderr, result.stdout + result.stderr)
    if "enabled=0" not in options:
        run([PGOKIT, "check", "heap.raw"], folder)


def library(name):
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"):
        for version in ("", ".2", ".4", ".2.0", ".2.1", ".3"):
            path = os.path.join(folder, f"lib{name}.so{version}")
            if os.path.exists(path):
                return path
    raise Skip(f"missing lib{name}")


def stress_before(folder, name):
    stress(folder, f"sample=500:limit=64:{ALL}", before=library(name),
           how=["plain"])


def stress_linked(folder, name):
    stress(folder, f"sample=500:limit=64:{ALL}", flags=["-Wl,--no-as-needed", library(name)],
           how=["plain"])


def runs_processes(folder, options):
    """fork, vfork, exec, threads that fork, _exit: as without, and each process has a profile of
    its own."""
    program = build(folder, "processes.c")
    plain = run([program], folder).stdout
    result = sampled(folder, [program], out="p.%p.raw", options=options)
    require(result.stdout == plain, f"{result.stdout} is not {plain}")
    require(not result.stderr, result.stderr)
    files = [name for name in os.listdir(folder) if name.endswith(".raw")]
    require(len(files) >= 4, f"profiles: {files}")
    run([PGOKIT, "check", *files], folder)


def is_full(folder):
    """When the range is full, a line says so and the program goes on."""
    program = build(folder, "sites.c")
    result = sampled(folder, [program, "60000", "2"], options=f"sample=16:{ALL}:limit=1")
    require(result.stderr.count("\n") <= 1, result.stderr)
    run([PGOKIT, "check", "heap.raw"], folder)


def leaves_own_malloc_alone(folder):
    program = build(folder, "own_malloc.c", "-rdynamic", "-fno-builtin")
    plain = run([program], folder).stdout
    result = sampled(folder, [program], options=f"sample=100:{ALL}")
    require(result.stdout == plain, result.stdout)
    require("malloc belongs to: the program itself" in result.stderr, result.stderr)


def switches(folder):
    """A signal switches it on, and another one writes the profile of a program that runs on."""
    program = build(folder, "sites.c")
    path = os.path.join(folder, "heap.raw")
    env = dict(os.environ, LD_PRELOAD=SHARED, PGOKIT_SAMPLED_HEAP_OPTIONS=f"out={path}:enabled=0:"
               "sample=2000:switch_signal=12:dump_signal=10:budget=100")
    with subprocess.Popen([program, "1000000000"], env=env, cwd=folder,
                          stdout=subprocess.DEVNULL) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.3)
        off = os.path.exists(path)
        process.send_signal(signal.SIGUSR2)

        def written():
            process.send_signal(signal.SIGUSR1)
            return os.path.exists(path)

        wait_until(written, "a profile after the switch")
        process.kill()
    require(not off, "there were samples before the switch")
    facts = Profile(path, program).facts
    require(facts["flags"] & raw_profile.INTERRUPTED, f"flags {facts['flags']}")
    require(facts["made_objects"] > 1000, "what was made before the switch is not counted")


def is_limited(folder, limit):
    """Less address space or memory is a smaller range, or none and a line that says so."""
    program = build(folder, "sites.c")
    command = ["bash", "-c", f"ulimit {limit}; LD_PRELOAD={SHARED} exec {program} 20000"]
    plain = run(["bash", "-c", f"ulimit {limit}; exec {program} 20000"], folder)
    result = run(command, folder, env={
        "PGOKIT_SAMPLED_HEAP_OPTIONS": f"out={folder}/heap.raw:sample=2000:{ALL}"})
    require(result.stdout == plain.stdout, result.stderr)
    if result.stderr:
        require("nothing is sampled: no addresses" in result.stderr, result.stderr)
    else:
        run([PGOKIT, "check", "heap.raw"], folder)
    require(limit == "-v 30000" or not result.stderr, result.stderr)


def survives_kills(folder):
    """A kill at any moment leaves a sound profile, or none if there was no time for one."""
    program = build(folder, "sites.c")
    random.seed(5)
    found = 0
    for i in range(KILLS):
        path = os.path.join(folder, f"k{i}.raw")
        env = dict(os.environ, LD_PRELOAD=SHARED,
                   PGOKIT_SAMPLED_HEAP_OPTIONS=f"out={path}:sample=2000:dump_signal=10")
        with subprocess.Popen([program, "100000000", "2"], env=env, cwd=folder,
                              stdout=subprocess.DEVNULL) as process:
            end = time.monotonic() + random.uniform(0.05, 0.15)
            time.sleep(0.03)
            while time.monotonic() < end:
                process.send_signal(signal.SIGUSR1)
                time.sleep(random.uniform(0, 0.002))
            process.kill()
        if os.path.exists(path):
            found += 1
            out = run([PGOKIT, "check", path], folder).stdout
            require("sound" in out, out)
            os.unlink(path)
    require(found > KILLS // 2, f"{found} of {KILLS} killed programs left a profile")
    return [f"{found} of {KILLS} killed programs left a profile, all of them sound"]


def is_refused(folder):
    """Wrong memory ends the program with a line, as with the C library."""
    program = build(folder, "wrong.c")
    for what in ("double", "inside"):
        result = sampled(folder, [program, what], options=f"sample=1:{ALL}", status=None)
        require(result.returncode == -signal.SIGABRT and "heap sampler: free()" in result.stderr,
                f"{what}: status {result.returncode}, {result.stderr}")


def has_probes(folder):
    """The notes say where the probes are, and what is in which register there."""
    out = run([tool("readelf"), "-nW", SHARED], folder).stdout
    found = re.findall(r"Provider: (\w+)\s+Name: (\w+)\s+Location: (0x\w+), Base: (0x\w+), "
                       r"Semaphore: (0x0+)\s+Arguments: (.*)", out)
    operand = r"8@(%r\w+|x\d+)"
    arguments = {"alloc": " ".join([operand] * 3), "free": operand}
    require({row[1] for row in found} == set(arguments), f"probes: {found}\n{out}")
    base = [line.split() for line in run([tool("readelf"), "-SW", SHARED], folder).stdout
            .replace("[ ", "[").splitlines() if " .stapsdt.base " in line]
    require(len(base) == 1, "no section .stapsdt.base")
    for provider, name, location, of_base, _, text in found:
        require(provider == "otel_memory" and re.fullmatch(arguments[name], text.strip()),
                f"{provider}:{name}({text})")
        require(int(of_base, 16) == int(base[0][3], 16), f"base {of_base}, the section {base}")
        code = run([tool("objdump"), "-d", f"--start-address={location}",
                    f"--stop-address={int(location, 16) + 1:#x}", SHARED], folder).stdout
        require("nop" in code, code)


REAL = [
    ["python3", "-c", "import json; print(len(json.dumps([{'a': i} for i in range(20000)])))"],
    ["perl", "-e", "my %h; $h{$_} = $_ x 3 for 1..20000; print scalar(keys %h)"],
    ["git", "--version"],
    ["bash", "-c", "for i in {1..2000}; do x=$x$i; done; echo ${#x}; (echo child)"],
    ["awk", "BEGIN { for (i = 0; i < 50000; i++) a[i] = i \"x\"; print length(a) }"],
    ["sed", "-n", "1,5p", "/etc/services"],
    ["sort", "/etc/services"],
    ["grep", "-c", "tcp", "/etc/services"],
    ["find", "/usr/share/doc", "-maxdepth", "1", "-name", "lib*a*"],
    ["tar", "cf", "-", "/etc/services"],
    ["sqlite3", ":memory:", "create table t(a); with recursive c(x) as (select 1 union all select "
     "x+1 from c where x<20000) insert into t select x from c; select sum(a) from t;"],
    ["xz", "-c", "/etc/services"],
    ["gzip", "-c", "/etc/services"],
    ["jq", "-n", "[range(20000)] | map(tostring) | length"],
    ["xmllint", "--version"],
    ["lua5.4", "-e", "t={} for i=1,50000 do t[i]={i} end print(#t)"],
    ["gcc", "-x", "c", "-O2", "-S", "-o", "-", os.path.join(PROGRAMS, "sites.c")],
    ["g++", "-x", "c++", "-std=c++17", "-fsyntax-only", os.path.join(PROGRAMS, "stress.cpp")],
    ["bc", "-q", "/dev/null"],
    ["openssl", "dgst", "-sha256", "/etc/services"],
    ["make", "--version"],
    ["ls", "-lR", "/usr/include/linux"],
    ["dpkg", "-l", "libc6"],
    ["file", "/bin/ls"],
]


# What a window stands for is only known so far, which is the same for all sites of a program.
STANDS_FOR = 0.3


def counts_accesses(folder, threads):
    """Loads and stores of each site are within their interval, on a program that knows them."""
    program = build(folder, "uses.c")
    out = sampled(folder, [program, "1200", str(threads)], options="sample=2000:budget=100").stdout
    profile = Profile(os.path.join(folder, "heap.raw"), program)
    notes = []
    for name, _, loads, stores in map(str.split, out.splitlines()):
        exact, site = int(loads) + int(stores), profile.sites[name]
        half = 1.96 * math.sqrt(site.access_variance)
        notes.append(f"{name}: {site.accesses / exact:.3f} of the accesses, +- {half / exact:.3f}")
        if name == "seldom":  # a few windows see it, or none
            require(site.accesses < 5 * exact, f"{name}: exactly {exact}\n" + notes[-1])
            continue
        require(abs(site.accesses - exact) <= 2 * half + STANDS_FOR * exact,
                f"{name}: exactly {exact}\n" + notes[-1])
        require(half < 0.5 * exact, f"{name} is unsure\n" + notes[-1])
    return notes


def is_as_without(folder, argv, options):
    program = tool(argv[0])
    env = {"LC_ALL": "C"}
    plain = run([program, *argv[1:]], folder, env=env, status=None)
    env["LC_ALL"] = "C"
    result = run([program, *argv[1:]], folder, status=None, env={
        **env, "LD_PRELOAD": SHARED,
        "PGOKIT_SAMPLED_HEAP_OPTIONS": f"out={folder}/%e.%p.raw:{options}"})
    require(result.returncode == plain.returncode, f"status {result.returncode}: {result.stderr}")
    require(result.stdout == plain.stdout, "another output")
    require(result.stderr == plain.stderr, result.stderr)
    files = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".raw")]
    if files:
        run([PGOKIT, "check", *files], folder)


def is_read_by_others(folder):
    """LLVM's tool reads the profile, and pgokit shows and merges it."""
    program = build(folder, "sites.c")
    sampled(folder, [program, "20000"], options="sample=10000")
    for argv in (["show", "heap.raw", "-b", program], ["merge", "heap.raw", "-b", program, "-o",
                                                         "heap.profdata"],
                 ["report", "heap.raw", "-b", program, "-o", "heap.html"]):
        run([PGOKIT, *argv], folder)
    llvm = tool("llvm-profdata-22")
    out = run([llvm, "show", "--memory", "--profiled-binary", program, "heap.raw"], folder).stdout
    for name in ("small", "mixed", "large"):
        require(f"Function: {name}" in out or name in out, f"{name} is missing:\n{out[:2000]}")


def main():
    cases = Cases()
    for threads in (0, 3):
        cases.run(f"totals are exact, with {threads} more threads", is_exact_in_total, threads)
    for distance in (3000, 30000):
        cases.run(f"estimates of one sample for {distance} B", is_in_interval, distance)
    for threads in (1, 3):
        cases.run(f"accesses, with {threads} threads", counts_accesses, threads)
    for options in (f"sample=1:limit=400:{ALL}", f"sample=300:limit=64:{ALL}",
                    "sample=20000:budget=200", "sample=2000:budget=30", "enabled=0"):
        cases.run(f"stress with {options}", stress, options)
    for name in ("jemalloc", "tcmalloc_minimal", "mimalloc"):
        cases.run(f"stress before {name}", stress_before, name)
        cases.run(f"stress, linked with {name}", stress_linked, name)
    for options in (f"sample=2000:{ALL}", "sample=2000:budget=100"):
        cases.run(f"processes, {options}", runs_processes, options)
    cases.run("a full range", is_full)
    cases.run("a malloc of the program's own", leaves_own_malloc_alone)
    cases.run("signals", switches)
    for limit in ("-v 4000000", "-v 400000", "-v 30000", "-d 100000"):
        cases.run(f"ulimit {limit}", is_limited, limit)
    cases.run(f"{KILLS} kills", survives_kills)
    cases.run("frees of what is no object", is_refused)
    cases.run("readers", is_read_by_others)
    cases.run("probes", has_probes)
    for argv in REAL:
        for options in (f"sample=3000:{ALL}", "budget=100"):
            cases.run(f"{argv[0]} is as without, {options}", is_as_without, argv, options)
    cases.finish()


main()
