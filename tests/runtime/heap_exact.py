#!/usr/bin/env python3
"""The heap profiler runtime counts exactly: accesses, stacks, ways of linking, preload."""

import json
import os
import re
import subprocess
import sys

import raw_profile
from harness import PATIENCE, Cases, Skip, peers, require, run, tool, wait_until
from runtime_programs import (ARCHIVE, EXPORTS, FRAMES, HERE, PGOKIT, SHARED, build, check_sound,
                              one_file, require_exact)

sys.path.append(os.path.join(HERE, "..", "interop"))
import profiles  # noqa: E402


# ---- exactness ----

def exact(folder, compiler, link, version, seed, threads):
    program = build(folder, "random_access.c", compiler, link)
    started = peers.beside(tool(compiler))
    out = run([*started, program, str(seed), str(threads), "20000"], folder,
              {"PGOKIT_HEAP_OPTIONS": f"raw_version={version}",
               "LD_LIBRARY_PATH": f"{folder}/taken"}).stdout
    path = one_file(folder)
    check_sound(path)
    require_exact(program, out, raw_profile.Profile(path))


def library_calls(folder, compiler, flags):
    program = build(folder, "library_calls.c", compiler, "archive",
                    flags=["-fno-builtin", "-Wno-error", *flags])
    out = run([program], folder).stdout
    profile = raw_profile.Profile(one_file(folder))
    require_exact(program, out, profile, 94)
    no_own_functions(program, profile)


def memory_functions(folder, compiler, link):
    """The compiler writes none of the calls out, so that all of them are the runtime's."""
    program = build(folder, "memory_functions.c", compiler, link, flags=["-fno-builtin"])
    out = run([program], folder).stdout
    require(int(out.split()[0]) > 80000 and "checks, 0 wrong" in out, out)


def beside_dhat(folder):
    """valgrind sees every access of the plain program. It counts bytes, not accesses, and a
    reallocated block as the one it was."""
    tool("valgrind")
    arguments = ["3", "1", "20000", "bytes"]
    program = build(folder, "random_access.c", "clang-22", "archive")
    run([program, *arguments], folder)
    found = raw_profile.Profile(one_file(folder)).by_function(program)
    plain = os.path.join(folder, "plain")
    run([tool("clang-22"), *FRAMES, os.path.join(HERE, "programs", "random_access.c"), "-pthread",
         "-o", plain], folder)
    run(["valgrind", "-q", "--tool=dhat", "--dhat-out-file=dhat", plain, *arguments], folder)
    with open(os.path.join(folder, "dhat"), encoding="utf-8") as file:
        dhat = json.load(file)
    theirs = {}
    for point in dhat["pps"]:
        frames = " ".join(dhat["ftbl"][i] for i in point["fs"])
        site = re.search(r"\bsite_\d+\b", frames)
        if site:
            sums = theirs.setdefault(site[0], [0, 0, 0])
            for i, value in enumerate((point["tbk"], point["tb"], point["rb"] + point["wb"])):
                sums[i] += value
    ours = {name: found[name][:3] for name in found if name.startswith("site_")}
    require(len(ours) == 11 and ours == theirs, f"ours {ours}, valgrind's {theirs}")
    return [f"{sum(v[0] for v in ours.values())} objects, {sum(v[2] for v in ours.values())} "
            "accesses: the same"]


def beside_llvm(folder):
    """No test of ours: what LLVM's runtime counts in the same program."""
    program = build(folder, "random_access.c", "clang-22", "llvm")
    out = run([program, "1", "1", "20000"], folder).stdout
    total = sum(int(line.split()[3]) for line in out.splitlines())
    profile = raw_profile.Profile(one_file(folder))
    functions = raw_profile.symbols(program)
    sites = [(name, start, end) for name, start, end in functions if name.startswith("site_")]
    counted = sum(values[2] for pcs, values in profile.contexts.items()
                  if any(start <= pc < end for pc in pcs for _, start, end in sites))
    return [f"accesses executed: {total}; counted by LLVM's runtime: {counted} "
            f"({counted / total:.2f} times)"]


def read_by_llvm(folder, release, version):
    """llvm-profdata reads the same records from the file as pgokit does."""
    profdata = tool(f"llvm-profdata-{release}")
    program = build(folder, "random_access.c", f"clang-{release}", "archive")
    started = peers.beside(tool(f"clang-{release}"))
    run([*started, program, "4", "2", "20000"], folder,
        {"PGOKIT_HEAP_OPTIONS": f"raw_version={version}"})
    raw = one_file(folder)
    theirs = profiles.parse_show(run([profdata, "show", "--memory", raw,
                                      f"--profiled-binary={program}"], folder).stdout)
    # As for compilers: without names of the libraries' frames, as llvm-profdata has them.
    run([PGOKIT, "merge", "--partial", raw, "-b", program, "-o", "ours.pgk"], folder)
    ours = profiles.parse_json(run([PGOKIT, "show", "ours.pgk", "--json"],
                                   folder).stdout)
    require(theirs, "llvm-profdata gives no record")
    difference = profiles.first_difference(theirs, ours, profiles.COMPARED, False)
    require(not difference, difference)


# ---- ways of linking ----

def exports(_):
    with open(EXPORTS, encoding="utf-8") as file:
        wanted = set(file.read().split())
    # dlopen is a member of its own in the archive, and asks another one for its mode. Only what is
    # preloaded has to be left out of the environment of programs that are started.
    in_archive = wanted - {"dlmopen", "posix_spawn", "posix_spawnp"} | {"pgg_open_mode"}
    for wanted, argv in ((wanted, ["nm", "-D", "--defined-only", SHARED]),
                         (in_archive, ["nm", "-g", "--defined-only", ARCHIVE])):
        listing = run(argv, "/").stdout.splitlines()
        found = {line.split()[-1] for line in listing if len(line.split()) == 3}
        require(found == wanted, f"{argv[-1]}: more {sorted(found - wanted)}, "
                                 f"less {sorted(wanted - found)}")


def own_functions():
    """Names of the runtime's functions that no program calls."""
    with open(EXPORTS, encoding="utf-8") as file:
        exported = set(file.read().split())
    names = {name.removesuffix(".localalias")
             for name, _, _ in raw_profile.symbols(ARCHIVE)} - exported
    require("print_new" in names, "names of the archive are not known")
    return names


def no_own_functions(program, profile):
    pcs = {pc - profile.segments[0][2] for context in profile.contexts for pc in context}
    found = {name for name, start, end in raw_profile.symbols(program)
             if any(start <= pc < end for pc in pcs)}
    require("main" in found, f"{found}")
    own = found & own_functions()
    require(not own, f"in contexts: {sorted(own)}")


def inside_library(folder, compiler, link):
    """Stacks have no frame of the runtime, also where it was called between main and malloc."""
    program = build(folder, "inside_library.c", compiler, link)
    run([program], folder)
    path = one_file(folder)
    profile = raw_profile.Profile(path)
    if link == "shared":
        shown = json.loads(run([PGOKIT, "show", "--json", path, "-b", program], folder).stdout)
        frames = [frame for context in shown["contexts"] for frame in context["stack"]]
        files = {os.path.basename(frame.get("file", "")) for frame in frames}
        require(not any(file.startswith("runtime_") for file in files), f"{files}")
        names = {frame.get("function") for frame in frames}
    else:
        pcs = {pc - profile.segments[0][2] for context in profile.contexts for pc in context}
        names = {name for name, start, end in raw_profile.symbols(program)
                 if any(start <= pc < end for pc in pcs)}
        own = {name for name, _, _ in raw_profile.symbols(ARCHIVE)}
        require(not names & own, f"in contexts: {sorted(names & own)}")
    require({"main", "by_number", "by_assembly"} <= names, f"{names}")


def by_symbol(folder):
    """A function of assembly is shown by its symbol, in no record, and in no profile for compilers:
    these are the same as those without it."""
    program = build(folder, "inside_library.c", "clang-22", "archive")
    run([program], folder)
    path = one_file(folder)
    shown = json.loads(run([PGOKIT, "show", "--json", path, "-b", program], folder).stdout)
    stacks = [context["stack"] for context in shown["contexts"]
              if any(frame.get("function") == "by_assembly" for frame in context["stack"])]
    require(len(stacks) == 1, f"{stacks}")
    marked = [frame["function"] for frame in stacks[0] if frame.get("by_symbol")]
    require(marked[0] == "by_assembly" and "main" not in marked, f"{stacks}")
    require(stacks[0][1]["function"] == "main", f"{stacks}")
    records = {record["function"] for record in shown["records"]}
    require("main" in records and not records & set(marked), f"{records}")
    run([PGOKIT, "merge", "-q", path, "-b", program, "-o", "written.profdata"], folder)
    written = run([PGOKIT, "show", "--json", "written.profdata", "-b", program], folder).stdout
    require('"main"' in written and "by_assembly" not in written and "by_symbol" not in written,
            written)
    guid = next(frame["guid"] for frame in stacks[0] if frame.get("by_symbol"))
    require(guid not in written, f"{guid} in {written}")


def vectors(folder, compiler, of_vectors, of_loop):
    """gcc does not say whether 32 bytes are a vector or a struct, so it counts both as a copy."""
    program = build(folder, "vectors.c", compiler, "archive", flags=["-O3", "-mavx2"])
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        if " avx2 " not in file.read():
            raise Skip("missing avx2")
    run([program], folder)
    found = raw_profile.Profile(one_file(folder)).by_function(program)
    counts = [found[name][2] for name in ("stored", "copied", "counted")]
    require(counts == [of_vectors, 8, of_loop], f"{found}")


def handlers(folder):
    """Contexts begin where the program called, and name no function that it does not know."""
    program = os.path.join(folder, "program")
    run([tool("clang++-22"), *FRAMES, "-fmemory-profile", "-c",
         os.path.join(HERE, "programs", "handlers.cpp"), "-o", program + ".o"], folder)
    run([tool("clang++-22"), program + ".o", ARCHIVE, "-o", program, "-no-pie", "-pthread",
         "-Wl,--build-id"], folder)
    out = run([program], folder).stdout
    require(out == "3 3\n", out)
    profile = raw_profile.Profile(one_file(folder))
    no_own_functions(program, profile)
    found = profile.by_function(program)
    require(found["handler"][:2] == [3, 231] and found["printed"] == [2, 1013, 132, 4, 128],
            f"{found}")


def preload(folder, *argv):
    """The program does what it does without us."""
    tool(argv[0])
    results = []
    for name, env in (("plain", {}), ("profiled", {"LD_PRELOAD": SHARED, "PGOKIT_HEAP_OPTIONS":
                                                   f"out={folder}/%p.profraw"})):
        where = os.path.join(folder, name)
        os.mkdir(where)
        results.append(run(argv, where, dict(env, TZ="UTC", GIT_CONFIG_GLOBAL="/dev/null")))
    plain, profiled = results
    require(plain.stdout == profiled.stdout, f"other output: {profiled.stdout[-500:]}")
    require(profiled.stderr == plain.stderr, profiled.stderr)
    return preloaded_profiles(folder)


def preloaded_profiles(folder):
    found = raw_profile.files(folder)
    require(found, "no profile")
    objects = sum(values[0] for path in found
                  for values in raw_profile.Profile(path).contexts.values())
    require("library functions only" in check_sound(*found), "no word about the accesses")
    return [f"{len(found)} files, {objects} objects"]


SQL = """create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
insert into t select i, 'text ' || (i * 7919 % 10007) from n;
create index tb on t(b);
select count(*), sum(a), min(b), max(b) from t where b like 'text 1%';
delete from t where a % 3 = 0;
select group_concat(b) from (select b from t order by b, a limit 20);
pragma integrity_check;
"""

PYTHON = """
import collections, hashlib, json, re, subprocess, sys, threading
data = [{"n": i, "s": "x" * (i % 97), "l": list(range(i % 13))} for i in range(20000)]
text = json.dumps(data)
print(hashlib.sha256(text.encode()).hexdigest(), json.loads(text) == data)
print(collections.Counter(re.findall(r"x{3,9}", text)).most_common(3))
out = []
threads = [threading.Thread(target=lambda: out.append(sum(len(str(i)) for i in range(20000))))
           for _ in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
print(out)
print(subprocess.run([sys.executable, "-c", "print(sum(range(1000)))"],
                     stdout=subprocess.PIPE).stdout)
try:
    raise KeyError("x" * 1000)
except KeyError as e:
    print(len(str(e)))
"""

GIT = """set -e
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
git init -q -b main .; git config user.name n; git config user.email e
for i in 1 2 3 4 5; do seq $((i * 1000)) >f$i; git add .; git commit -q -m "commit $i"; done
git checkout -q -b side HEAD~2; echo x >g; git add g; git commit -q -m g; git merge -q -m m main
git log --oneline --graph --stat; git gc -q; git fsck --no-progress; git diff HEAD~1 --stat
git grep -c 99 | head; git rev-parse HEAD
"""

BASH = """
declare -A m; for i in {1..3000}; do m[k$((i % 50))]+=x$i; done
for k in $(printf '%s\\n' "${!m[@]}" | sort); do echo "$k ${#m[$k]}"; done | md5sum
f() { local a=("$@"); ((${#a[@]} > 200)) || f "${a[@]}" x y; echo -n .; }; f 1 2; echo
trap 'echo trapped' USR1; kill -USR1 $$; wait; (exit 3); echo $?
for i in 1 2 3; do echo $(echo $i | cat) & done | sort; cat <(seq 3) <(seq 4 6)
"""


def compiling(folder):
    """gcc's cc1, as, ld and collect2, with what they run."""
    source = os.path.join(HERE, "programs", "random_access.c")
    for name, env in (("plain", {}), ("profiled", {"LD_PRELOAD": SHARED, "PGOKIT_HEAP_OPTIONS":
                                                   f"out={folder}/%e.%p.profraw"})):
        run([tool("gcc"), "-O2", "-g", source, "-o", name, "-pthread", "-frandom-seed=1"],
            folder, env)
    with open(os.path.join(folder, "plain"), "rb") as one, \
            open(os.path.join(folder, "profiled"), "rb") as other:
        require(one.read() == other.read(), "another program comes out")
    require(any("cc1." in path for path in raw_profile.files(folder)), "no profile of cc1")
    return preloaded_profiles(folder)


def redis(folder):
    tool("redis-cli")
    answers = []
    script = "".join(f"set key:{i} {'v' * (i % 300)}\nlpush list:{i % 7} {i}\n"
                     f"zadd z {i * 37 % 101} m{i}\nhset h{i % 5} f{i} {i}\n" for i in range(400))
    script += ("eval 'local s = 0; for i = 1, 1000 do s = s + i end; return s' 0\n"
               "lrange list:3 0 -1\nzrange z 0 -1 withscores\nhlen h1\ndbsize\nsave\n"
               "get key:299\nunlink key:1 key:2 z\ndbsize\nflushall\ndbsize\n")
    for name, env in (("plain", {}), ("profiled", {"LD_PRELOAD": SHARED, "PGOKIT_HEAP_OPTIONS":
                                                   f"out={folder}/redis.%p.profraw"})):
        where = os.path.join(folder, name)
        os.mkdir(where)
        with subprocess.Popen([tool("redis-server"), "--port", "0", "--unixsocket", "s", "--dir",
                               where], cwd=where, env=dict(os.environ, **env),
                              stdout=subprocess.DEVNULL) as server:
            wait_until(lambda at=os.path.join(where, "s"): os.path.exists(at),
                       "that redis-server listens")
            out = subprocess.run(["redis-cli", "-s", "s"], cwd=where, input=script, text=True,
                                 stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout
            subprocess.run(["redis-cli", "-s", "s", "shutdown", "nosave"], cwd=where, check=True,
                           timeout=PATIENCE)
            require(server.wait(PATIENCE) == 0, f"{name}: exit {server.returncode}")
        answers.append(out)
    require(answers[0] == answers[1] and "500500" in answers[0], "other answers")
    return preloaded_profiles(folder)


def cplusplus(folder):
    program = os.path.join(folder, "program")
    library = os.path.join(folder, "late.so")
    flags = [*FRAMES, "-fmemory-profile"]
    source = os.path.join(HERE, "programs", "objects.cpp")
    run([tool("clang++-22"), *flags, "-c", source, "-o", program + ".o"], folder)
    run([tool("clang-22"), *flags, "-fPIC", "-shared", "-fno-memory-profile", "-o", library,
         late_object(folder, flags)], folder)
    run([tool("clang++-22"), program + ".o", ARCHIVE, "-o", program, "-no-pie", "-pthread", "-ldl",
         "-Wl,--build-id", "-rdynamic"], folder)
    run([program, library], folder)
    path = one_file(folder)
    profile = raw_profile.Profile(path)
    found = profile.by_function(program)
    require(found.get("plain_new") == [2, 80, 2, 1, 1], f"{found}")
    require(found.get("wide_new") == [1, 256, 1, 1, 1], f"{found}")
    late = [values for values in profile.contexts.values() if values[:3] == [1, 33, 25]]
    require(len(late) == 1, f"the library's object: {list(profile.contexts.values())}")
    check_sound(path)


def late_object(folder, flags):
    out = os.path.join(folder, "late.o")
    run([tool("clang-22"), *flags, "-fPIC", "-c", os.path.join(HERE, "programs", "late_library.c"),
         "-o", out], folder)
    return out


def histograms(folder, version):
    program = build(folder, "process.c", "clang-22", "archive",
                    flags=["-mllvm", "-memprof-histogram", "-mllvm", "-memprof-use-callbacks"])
    child = run([program, "fork"], folder,
                {"PGOKIT_HEAP_OPTIONS": f"raw_version={version}"}).stdout.strip()
    path = next(path for path in raw_profile.files(folder) if not path.endswith("." + child))
    profile = raw_profile.Profile(path)
    pcs = next(pcs for pcs, values in profile.contexts.items() if values[:3] == [1, 24, 2])
    require(profile.histograms[pcs] == [2, 0, 0], f"{profile.histograms}")
    check_sound(path)


# ---- stacks ----

def stacks(folder, compiler, seed, flags):
    """Every stack is the one that the C library's own unwinder sees, but for the place in the
    function that calls both."""
    program = os.path.join(folder, "program")
    programs = os.path.join(HERE, "programs")
    for i, size in enumerate((40, 4000)):
        run([tool(compiler), "-O2", "-fPIC", "-shared", f"-DFRAME_BYTES={size}",
             os.path.join(programs, "visited_library.c"), "-o", f"{program}.so.{i}"], folder)
    run([tool(compiler), "-O2", "-g", *flags, os.path.join(programs, "stacks.c"), "-o", program,
         "-no-pie", "-pthread", "-Wl,--build-id"], folder)
    out = run([program, str(seed), "1500", f"{program}.so"], folder,
              {"LD_PRELOAD": SHARED, "PGOKIT_HEAP_OPTIONS": f"out={folder}/p.profraw:depth=64"})
    require(not out.stderr, out.stderr)
    (start, end), = [row[1:] for row in raw_profile.symbols(program) if row[0] == "leaf"]
    contexts = raw_profile.Profile(os.path.join(folder, "p.profraw")).contexts
    found = {}
    for pcs, values in contexts.items():  # the calls of an unrolled loop are of one stack
        if pcs and start <= pcs[0] < end:
            found[pcs[1:]] = found.get(pcs[1:], 0) + values[0]
    # A return address is recorded as one less; where a signal came in, the address as it is.
    wrong, truth = [], {}
    for line in out.stdout.splitlines():
        pcs = tuple(int(pc, 16) for pc in line.split())[1:]
        truth[pcs] = truth.get(pcs, 0) + 1
    for pcs, objects in truth.items():
        matches = [mine for mine in found if len(mine) == len(pcs) and
                   all(theirs - ours in (0, 1) for ours, theirs in zip(mine, pcs))]
        if sum(found[mine] for mine in matches) != objects:
            wrong.append("no " + " ".join(f"{pc:x}" for pc in pcs))
    require(not wrong, "\n".join(wrong[:5]) + f"\n{len(wrong)} of {len(truth)} stacks")
    require(sum(found.values()) == sum(truth.values()), "stacks that nobody had")
    return [f"{len(truth)} stacks"]


def main():
    cases = Cases()
    for seed, (compiler, link, version) in enumerate([
            ("clang-13", "archive", 5), ("clang-14", "archive", 5), ("clang-16", "archive", 4),
            ("clang-19", "archive", 3), ("clang-22", "archive", 5), ("clang-22", "static", 5),
            ("clang-22", "shared", 5), ("clang-23", "archive", 5), ("clang-23", "shared", 5),
            ("clang-22", "overruled", 5), ("clang-22", "resources", 5), ("clang-16", "takeover", 5),
            ("gcc", "archive", 5), ("gcc", "static", 5), ("gcc", "shared", 5)]):
        for threads in (1, 4):
            cases.run(f"exact: {compiler}, {link}, raw version {version}, {threads} threads",
                      exact, compiler, link, version, seed, threads)
    for compiler, flags in (("clang-22", []), ("gcc", []), ("gcc", ["-D_FORTIFY_SOURCE=2"])):
        cases.run(f"library calls: {' '.join([compiler, *flags])}", library_calls, compiler, flags)
    for compiler, link in (("clang-22", "archive"), ("clang-22", "static"), ("gcc", "shared")):
        cases.run(f"results of memory functions: {compiler}, {link}", memory_functions, compiler,
                  link)
    for compiler, link in (("clang-22", "archive"), ("clang-22", "static"), ("clang-22", "shared"),
                           ("gcc", "archive"), ("gcc", "shared")):
        cases.run(f"no frame of the runtime: {compiler}, {link}", inside_library, compiler, link)
    cases.run("named by a symbol only", by_symbol)
    cases.run("valgrind's counts per site", beside_dhat)
    cases.run("LLVM's runtime beside ours", beside_llvm)
    for release, version in ((19, 4), (22, 5), (23, 5)):
        cases.run(f"read by llvm-profdata-{release}, raw version {version}", read_by_llvm, release,
                  version)
    cases.run("exported symbols", exports)
    cases.run("C++: new, delete, exceptions, a library opened late", cplusplus)
    cases.run("vectors and structs: clang-22", vectors, "clang-22", 9, 9)
    cases.run("vectors and structs: gcc", vectors, "gcc", 36, 72)
    cases.run("handlers, exceptions and formats that allocate", handlers)
    cases.run("histograms, raw version 4", histograms, 4)
    cases.run("histograms, raw version 5", histograms, 5)
    cases.run("preload: true", preload, "true")
    cases.run("preload: bash", preload, "bash", "-c", BASH)
    cases.run("preload: python3", preload, "python3", "-c", PYTHON)
    cases.run("preload: sqlite3", preload, "sqlite3", ":memory:", SQL)
    cases.run("preload: git", preload, "sh", "-c", GIT)
    cases.run("preload: gcc", compiling)
    cases.run("preload: redis-server", redis)
    for seed, (compiler, flags) in enumerate([
            ("gcc", []), ("gcc", ["-fno-omit-frame-pointer"]),
            ("gcc", ["-O3", "-mavx2"]), ("clang-22", []), ("clang-14", ["-O1"])]):
        cases.run(f"stacks: {' '.join([compiler, *flags])}", stacks, compiler, seed, flags)
    cases.finish()


if __name__ == "__main__":
    main()
