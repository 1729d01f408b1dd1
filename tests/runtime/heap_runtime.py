#!/usr/bin/env python3
"""The heap profiler runtime in real processes: exact counts, ways of linking, fork, signals,
dumps, kills, and what happens when a profile cannot be written.

usage: heap_runtime.py PGOKIT ARCHIVE SHARED-LIBRARY EXPORTS
"""

import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import raw_profile  # noqa: E402

PGOKIT, ARCHIVE, SHARED, EXPORTS = map(os.path.abspath, sys.argv[1:5])
FRAMES = ["-g", "-O2", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer",
          "-fno-optimize-sibling-calls"]
KILLS = int(os.environ.get("PGOKIT_TEST_KILLS", "30"))
cases = failures = 0


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Failure(text)


def tool(name):
    found = shutil.which(name)
    if not found:
        raise Skip(f"missing {name}")
    return found


def run(argv, cwd, env=None, check=True, timeout=120, before=None):
    result = subprocess.run(argv, cwd=cwd, env=dict(os.environ, **(env or {})), timeout=timeout,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors="replace",
                            check=False, preexec_fn=before)
    if check:
        require(result.returncode == 0, f"{argv}: exit {result.returncode}\n{result.stderr}")
    return result


def case(name, function, *args):
    global cases, failures
    cases += 1
    with tempfile.TemporaryDirectory(prefix="pgokit-runtime-") as folder:
        try:
            notes = function(folder, *args) or []
            print(f"ok {cases} - {name}")
        except Skip as reason:
            notes = []
            print(f"ok {cases} - {name} # SKIP {reason}")
        except (Failure, ValueError, subprocess.TimeoutExpired) as reason:
            failures += 1
            notes = str(reason).splitlines()
            print(f"not ok {cases} - {name}")
    for note in notes:
        print(f"# {note}")
    sys.stdout.flush()


def build(folder, source, compiler, link, name="program", flags=()):
    """Compiles with instrumentation and links with our runtime, or with LLVM's own."""
    out = os.path.join(folder, name)
    count = ["-fsanitize=thread"] if compiler.startswith("gcc") else ["-fmemory-profile"]
    run([tool(compiler), *FRAMES, *count, *flags, "-c", os.path.join(HERE, "programs", source),
         "-o", out + ".o"], folder)
    how = {"archive": [ARCHIVE, "-pthread"],
           "static": ["-static", ARCHIVE, "-pthread"],
           "shared": [SHARED, "-pthread", f"-Wl,-rpath,{os.path.dirname(SHARED)}"],
           "overruled": ["-fmemory-profile", "-fno-memory-profile", ARCHIVE, "-pthread"],
           "resources": ["-fmemory-profile", f"-resource-dir={folder}/resources"],
           "takeover": ["-fmemory-profile", "-shared-libsan", "-pthread"],
           "llvm": ["-fmemory-profile", "-pthread"]}[link]
    stand_in(folder, link)
    run([tool(compiler), out + ".o", "-o", out, "-no-pie", "-Wl,--build-id", *how], folder)
    return out


def stand_in(folder, link):
    """Our runtime under the names of LLVM's."""
    if link == "resources":
        libraries = os.path.join(folder, "resources", "lib", "linux")
        os.makedirs(libraries)
        os.symlink(ARCHIVE, os.path.join(libraries, "libclang_rt.memprof-x86_64.a"))
    if link == "takeover":
        os.mkdir(os.path.join(folder, "taken"))
        os.symlink(SHARED, os.path.join(folder, "taken", "libclang_rt.memprof-x86_64.so"))


def one_file(folder):
    found = raw_profile.files(folder)
    require(len(found) == 1, f"profiles: {found}")
    return found[0]


def check_sound(*paths):
    return run([PGOKIT, "check", *paths], "/").stdout


# ---- exactness ----

def exact(folder, compiler, link, version, seed, threads):
    program = build(folder, "random_access.c", compiler, link)
    out = run([program, str(seed), str(threads), "20000"], folder,
              {"PGOKIT_HEAP_OPTIONS": f"raw_version={version}",
               "LD_LIBRARY_PATH": f"{folder}/taken"}).stdout
    path = one_file(folder)
    check_sound(path)
    require_exact(program, out, raw_profile.Profile(path))


def require_exact(program, out, profile, sites=12):
    """The profile has what the program says of itself."""
    truth = {}
    for line in out.splitlines():
        name, *values = line.split()
        truth[name] = [int(value) for value in values]
    require(len(truth) == sites, f"the program said {out}")
    require(not profile.interrupted, "a finished profile says it was interrupted")
    found = profile.by_function(program)
    wrong = [f"{name}: counted {found.get(name)}, truth {truth[name]}"
             for name in truth if found.get(name) != truth[name]]
    require(not wrong, "\n".join(wrong))


def library_calls(folder, compiler, flags):
    program = build(folder, "library_calls.c", compiler, "archive",
                    flags=["-fno-builtin", "-Wno-error", *flags])
    out = run([program], folder).stdout
    require_exact(program, out, raw_profile.Profile(one_file(folder)), 69)


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


# ---- ways of linking ----

def exports(_):
    with open(EXPORTS, encoding="utf-8") as file:
        wanted = set(file.read().split())
    for argv in (["nm", "-D", "--defined-only", SHARED], ["nm", "-g", "--defined-only", ARCHIVE]):
        listing = run(argv, "/").stdout.splitlines()
        found = {line.split()[-1] for line in listing if len(line.split()) == 3}
        require(found == wanted, f"{argv[-1]}: more {sorted(found - wanted)}, "
                                 f"less {sorted(wanted - found)}")


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
            for _ in range(200):
                if os.path.exists(os.path.join(where, "s")):
                    break
                time.sleep(0.05)
            out = subprocess.run(["redis-cli", "-s", "s"], cwd=where, input=script, text=True,
                                 stdout=subprocess.PIPE, check=True, timeout=100).stdout
            subprocess.run(["redis-cli", "-s", "s", "shutdown", "nosave"], cwd=where, check=True,
                           timeout=100)
            require(server.wait(60) == 0, f"{name}: exit {server.returncode}")
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
    found = {pcs[1:]: values[0] for pcs, values in contexts.items()
             if pcs and start <= pcs[0] < end}
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


# ---- processes ----

def forking(folder):
    program = build(folder, "process.c", "clang-22", "archive")
    child = run([program, "fork"], folder).stdout.strip()
    files = raw_profile.files(folder)
    require(len(files) == 2, f"profiles: {files}")
    of_child = [path for path in files if path.endswith("." + child)]
    require(of_child, f"no profile of process {child} in {files}")
    of_parent = [path for path in files if path not in of_child]
    mine = raw_profile.Profile(of_child[0]).by_function(program)
    theirs = raw_profile.Profile(of_parent[0]).by_function(program)
    require(mine.get("in_child", [0])[0] == 10 and "in_parent" not in mine, f"child: {mine}")
    require(theirs.get("in_parent") == [1, 24, 2, 2, 2] and "in_child" not in theirs,
            f"parent: {theirs}")


def dumping(folder, what, objects_before):
    program = build(folder, "process.c", "clang-22", "archive")
    run([program, what], folder)
    profile = raw_profile.Profile(one_file(folder))
    found = profile.by_function(program)
    require(found.get("before", [0])[0] == objects_before and found["after"][0] == 3, str(found))
    check_sound(one_file(folder))


def executing(folder):
    """What was recorded is complete before another program comes, and goes on if none does."""
    program = build(folder, "process.c", "clang-22", "archive")
    run([program, "exec"], folder)
    files = raw_profile.files(folder)
    require(len(files) == 2 and files[1] == files[0] + ".2", f"profiles: {files}")
    first, second = [raw_profile.Profile(path) for path in files]
    require(not first.interrupted and not second.interrupted, "interrupted")
    found = first.by_function(program)
    require(found["before"][:3] == [2, 48, 1] and found["after"][0] == 1 and
            found["in_parent"] == [1, 24, 2, 2, 2], f"{found}")
    require(second.by_function(program)["in_child"][0] == 1, "the second program")
    check_sound(*files)


def triggered(folder, options, seconds, mebibytes, dumps):
    program = build(folder, "process.c", "clang-22", "archive")
    n = int(run([program, "triggers", str(seconds), str(mebibytes)], folder,
                {"PGOKIT_HEAP_OPTIONS": "dump_signal=12:" + options}).stdout)
    profile = raw_profile.Profile(one_file(folder))
    found = profile.by_function(program)
    require(found["before"] == [1, 24, 1, 1, 1] and found["after"][0] == 3, f"{found}")
    require(found.get("in_main", [0])[0] == n, f"{found}, allocated {n}")
    require(found.get("in_child", [0])[0] == mebibytes, f"{found}")
    require(profile.dumps >= dumps, f"{profile.dumps} dumps")
    check_sound(one_file(folder))


def races(folder):
    runtime = os.path.dirname(EXPORTS)
    parts = ["access", "alloc", "cost", "depot", "dump", "file", "frames", "modules", "options", "start",
             "store", "sys", "table", "thread", "trigger", "walk"]
    run([tool("clang-22"), "-g", "-O1", "-fsanitize=thread", "-fno-omit-frame-pointer",
         f"-I{runtime}", f"-I{runtime}/../lib/records", os.path.join(HERE, "programs", "races.c"),
         *[f"{runtime}/runtime_{part}.c" for part in parts], "-D_GNU_SOURCE", "-mcx16",
         "-Wl,--wrap=pgrt_map,--wrap=pgrt_unmap", "-pthread", "-o", "races"], folder)
    # The sanitizer's own start-up does not know the address-space layout of every kernel.
    run(["setarch", "-R", "true"], folder)
    out = run(["setarch", "-R", "./races", "5"], folder, {"TSAN_OPTIONS": "exitcode=66"})
    require(not out.stderr, out.stderr[:3000])
    profile = raw_profile.Profile(one_file(folder))
    counted = sum(values[0] for values in profile.contexts.values())
    require(counted == int(out.stdout), f"{counted} objects of {out.stdout}")
    require(len(profile.contexts) == 256, f"{len(profile.contexts)} contexts")
    return [f"{counted} objects, {len(profile.contexts)} contexts, {profile.dumps} dumps"]


def signalling(folder):
    program = build(folder, "process.c", "clang-22", "archive")
    run([program, "signals"], folder)
    found = raw_profile.Profile(one_file(folder)).by_function(program)
    require(found["in_main"][0] == found["in_main"][2], f"{found}")


def alive_after_kill(profile, program, threads):
    """What process.c says that is alive; one object in flight for each thread."""
    found = profile.by_function(program, profile.alive())
    in_flight = found.pop("in_main", (0, 0))[0]
    found.pop("?", None)  # of the C library
    require(found == {"before": (5, 120), "in_child": (5 * threads, 120 * threads)} and
            in_flight <= threads, f"alive: {found}, {in_flight} in flight")


def known_to_pgokit(path, program):
    """The size of what was alive is known, and the accesses are not."""
    document = json.loads(run([PGOKIT, "show", path, "-b", program, "--json"], "/").stdout)
    mib = next(context["mib"] for context in document["contexts"]
               if context["stack"][0]["function"] == "before")
    require(mib["AllocCount"] == 5 and mib["TotalSize"] == 120 and mib["TotalLifetime"] > 0 and
            "TotalAccessCount" not in mib, f"{mib}")


def killing(folder):
    program = build(folder, "process.c", "clang-22", "archive")
    at_random = random.Random(1)
    for round_ in range(KILLS):
        for path in raw_profile.files(folder):
            os.unlink(path)
        with subprocess.Popen([program, "churn", "4"], cwd=folder, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            time.sleep(at_random.random() / 50)
            child.kill()
        path = one_file(folder)
        profile = raw_profile.Profile(path)
        require(profile.interrupted, f"round {round_}: not marked as interrupted")
        found = profile.by_function(program)
        require(found.get("in_main", [0])[0] >= 4000, f"round {round_}: {found}")
        require(found["in_parent"][0] == 5, f"round {round_}: alive at a dump: {found}")
        require(found["in_child"][:2] == [8, 192], f"round {round_}: handed over: {found}")
        alive_after_kill(profile, program, 4)
    told = check_sound(path)
    require(re.search("interrupted with (2[5-9]|3[0-9]) objects alive", told), told)
    known_to_pgokit(path, program)
    if shutil.which("llvm-profdata-22"):
        run(["llvm-profdata-22", "show", "--memory", path, f"--profiled-binary={program}"], folder)
    return [f"{KILLS} kills"]


def early_kills(folder):
    """At any moment, start and growth of the file included."""
    program = build(folder, "random_access.c", "clang-22", "archive")
    at_random = random.Random(2)
    for round_ in range(KILLS):
        for path in raw_profile.files(folder):
            os.unlink(path)
        with subprocess.Popen([program, str(round_), "4", "1000000"], cwd=folder,
                              stdout=subprocess.DEVNULL) as child:
            time.sleep(at_random.random() / 20)
            child.kill()
        for path in raw_profile.files(folder):
            if not path.endswith(".part"):
                raw_profile.Profile(path)


# ---- what goes wrong ----

def leaving(folder, what):
    """A program that changes where it is, or what it may do: the profile is whole all the same."""
    program = build(folder, "process.c", "clang-22", "archive")
    result = run([program, what], folder, check=False)
    if result.returncode == 77:
        raise Skip(f"{what} is not allowed here")
    require(result.returncode == 0 and not result.stderr, f"{result}")
    profile = raw_profile.Profile(one_file(folder))
    require(not profile.interrupted, "the profile says it was interrupted")
    found = profile.by_function(program)
    require(found["before"] == [1, 24, 2, 2, 2] and found["after"] == [1, 24, 1, 1, 1], str(found))
    require(found["in_main"][0] == (5 if what == "closing" else 1) * 1024, str(found))
    check_sound(one_file(folder))


def unprofiled(folder, argv, options, words, before=None, env=None):
    """The program goes on, and one line says why it is not profiled."""
    result = run(argv, folder, dict(env or {}, PGOKIT_HEAP_OPTIONS=options), before=before)
    require(result.stdout.strip(), "the program did not go on")
    lines = result.stderr.splitlines()
    require(len(lines) == 1 and words in lines[0], f"not one line with '{words}': {result.stderr}")


def no_profile(folder, options, words, before=None):
    """Instrumented and preloaded."""
    program = build(folder, "random_access.c", "clang-22", "archive")
    unprofiled(folder, [program, "1", "2", "1000"], options, words, before)
    unprofiled(folder, ["/bin/echo", "on"], options, words, before, {"LD_PRELOAD": SHARED})


def mounted(folder, options, name, words):
    if os.geteuid():
        raise Skip("takes root to mount a file system")
    mount = os.path.join(folder, "mounted")
    os.mkdir(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", mount],
                      check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip("cannot mount here")
    try:
        no_profile(folder, f"out={mount}/{name}", words)
    finally:
        subprocess.run(["umount", mount], check=False)


def late_full_disk(folder):
    """There is room to begin with."""
    if os.geteuid():
        raise Skip("takes root to mount a file system")
    mount = os.path.join(folder, "mounted")
    os.mkdir(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", mount],
                      check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip("cannot mount here")
    try:
        program = build(folder, "process.c", "clang-22", "archive")
        result = run([program, "chdir"], folder, {"PGOKIT_HEAP_OPTIONS": f"out={mount}/profraw"})
        require(result.stderr.count("\n") == 1 and "no space left" in result.stderr, f"{result}")
        check_sound(os.path.join(mount, "profraw"))
    finally:
        subprocess.run(["umount", mount], check=False)


def confined(folder, what):
    wrapper = os.path.join(folder, "confined")
    run([tool("gcc"), "-O2", os.path.join(HERE, "programs", "confined.c"), "-o", wrapper], folder)
    program = build(folder, "random_access.c", "clang-22", "archive")
    if run([wrapper, what, "true"], folder, check=False).returncode == 77:
        raise Skip("seccomp is not allowed here")
    argv = [wrapper, what, program, "1", "4", "20000"]
    if what == "no-create":
        unprofiled(folder, argv, "", "operation not permitted")
        unprofiled(folder, [wrapper, what, "/bin/echo", "on"], "", "operation not permitted",
                   env={"LD_PRELOAD": SHARED})
        return
    out = run(argv, folder)
    require(not out.stderr, out.stderr)
    require_exact(program, out.stdout, raw_profile.Profile(one_file(folder)))


def no_descriptors(folder):
    # Dynamically linked programs do not even start then.
    program = build(folder, "random_access.c", "clang-22", "static")
    unprofiled(folder, [program, "1", "2", "1000"], "", "too many open files",
               lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)))


def without_proc(folder):
    program = build(folder, "random_access.c", "clang-22", "archive")
    script = f"mount -t tmpfs none /proc && exec {program} 1 2 20000"
    result = run(["unshare", "-m", "sh", "-c", script], folder, check=False)
    if "unshare failed" in result.stderr or "permission denied" in result.stderr:
        raise Skip("cannot mount here")
    require(result.returncode == 0 and not result.stderr, f"{result}")
    require_exact(program, result.stdout, raw_profile.Profile(one_file(folder)))
    result = run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs none /proc && LD_PRELOAD={SHARED} "
                  f"PGOKIT_HEAP_OPTIONS=out={folder}/%e.%p exec sqlite3 :memory: 'select 1'"],
                 folder, check=False)
    require(result.stdout == "1\n" and not result.stderr, f"{result}")


def no_address_space(folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    program = build(folder, "random_access.c", "clang-22", "archive")
    result = run([program, "1", "1", "10"], folder, check=False, before=limit)
    require(result.returncode == 1 and "ulimit -v" in result.stderr,
            f"instrumented: exit {result.returncode}, {result.stderr}")
    unprofiled(folder, ["/bin/echo", "on"], "", "ulimit -v", limit, {"LD_PRELOAD": SHARED})


def preloaded_twice(folder):
    """The runtime that is in the program records, and that one alone."""
    program = build(folder, "random_access.c", "clang-22", "archive")
    out = run([program, "1", "2", "20000"], folder, {"LD_PRELOAD": SHARED})
    require(out.stderr.endswith(f"malloc is that of: {program}\n"), out.stderr)
    require_exact(program, out.stdout, raw_profile.Profile(one_file(folder)))


def other_allocator(folder):
    """One in front of ours takes all calls."""
    source, library = os.path.join(folder, "other.c"), os.path.join(folder, "other.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write("void *__libc_malloc(unsigned long), __libc_free(void *);\n"
                   "void *malloc(unsigned long n) { return __libc_malloc(n); }\n"
                   "void free(void *p) { __libc_free(p); }\n")
    run([tool("gcc"), "-shared", "-fPIC", source, "-o", library], folder)
    unprofiled(folder, ["/bin/echo", "on"], "", "malloc is that of",
               env={"LD_PRELOAD": f"{library} {SHARED}"})
    require(not raw_profile.files(folder), "a profile all the same")


def options(folder):
    """The help has every row of the table, in the page for people too; names have their parts."""
    program = build(folder, "random_access.c", "clang-22", "archive")
    help_ = run([program, "1", "1", "10"], folder, {"PGOKIT_HEAP_OPTIONS": "help=1:depth=0x10"})
    runtime = os.path.dirname(EXPORTS)
    with open(os.path.join(runtime, "options.def"), encoding="utf-8") as file:
        rows = re.findall(r"^PGRT_(?:NUMBER|STRING)\((\w+)", file.read(), re.M)
    with open(os.path.join(runtime, "../docs/man/libpgokit_heap.md"), encoding="utf-8") as file:
        page = file.read()
    printed = re.findall(r"^pgokit heap profiler: (\w+) \(", help_.stderr, re.M)
    require(len(rows) > 8 and printed == rows, f"table {rows}, printed {printed}")
    require("depth (16):" in help_.stderr, help_.stderr)
    missing = [row for row in rows if row != "help" and f"| `{row}` |" not in page]
    require(not missing, f"not in the page: {missing}")
    for path in raw_profile.files(folder):
        os.unlink(path)
    before = int(time.time())
    run([program, "1", "1", "10"], folder,
        {"PGOKIT_HEAP_OPTIONS": "out=new/%e-%h-%t-%%-%p.profraw"})
    name = os.listdir(os.path.join(folder, "new"))[0]
    parts = re.fullmatch(rf"program-{re.escape(os.uname().nodename)}-(\d+)-%-(\d+)\.profraw", name)
    require(parts and before <= int(parts[1]) <= time.time(), name)
    run([program, "1", "1", "10"], folder,
        {"MEMPROF_OPTIONS": "log_path=llvm:malloc_context_size=1"})
    profile = raw_profile.Profile(next(os.path.join(folder, name) for name in os.listdir(folder)
                                       if re.fullmatch(r"llvm\.\d+", name)))
    require({len(pcs) for pcs in profile.contexts} == {1}, "deeper than one frame")


def off(folder):
    program = build(folder, "random_access.c", "clang-22", "archive")
    run([program, "1", "2", "1000"], folder, {"PGOKIT_HEAP_OPTIONS": "enabled=0"})
    require(not raw_profile.files(folder), "a profile all the same")


def main():
    for seed, (compiler, link, version) in enumerate([
            ("clang-13", "archive", 5), ("clang-14", "archive", 5), ("clang-16", "archive", 4),
            ("clang-19", "archive", 3), ("clang-22", "archive", 5), ("clang-22", "static", 5),
            ("clang-22", "shared", 5),
            ("clang-22", "overruled", 5), ("clang-22", "resources", 5), ("clang-16", "takeover", 5),
            ("gcc", "archive", 5), ("gcc", "static", 5), ("gcc", "shared", 5)]):
        for threads in (1, 4):
            case(f"exact: {compiler}, {link}, raw version {version}, {threads} threads",
                 exact, compiler, link, version, seed, threads)
    for compiler, flags in (("clang-22", []), ("gcc", []), ("gcc", ["-D_FORTIFY_SOURCE=2"])):
        case(f"library calls: {' '.join([compiler, *flags])}", library_calls, compiler, flags)
    for compiler, link in (("clang-22", "archive"), ("clang-22", "static"), ("gcc", "shared")):
        case(f"results of memory functions: {compiler}, {link}", memory_functions, compiler, link)
    case("valgrind's counts per site", beside_dhat)
    case("LLVM's runtime beside ours", beside_llvm)
    case("exported symbols", exports)
    case("C++: new, delete, exceptions, a library opened late", cplusplus)
    case("histograms, raw version 4", histograms, 4)
    case("histograms, raw version 5", histograms, 5)
    case("preload: true", preload, "true")
    case("preload: bash", preload, "bash", "-c", BASH)
    case("preload: python3", preload, "python3", "-c", PYTHON)
    case("preload: sqlite3", preload, "sqlite3", ":memory:", SQL)
    case("preload: git", preload, "sh", "-c", GIT)
    case("preload: gcc", compiling)
    case("preload: redis-server", redis)
    for seed, (compiler, flags) in enumerate([
            ("gcc", []), ("gcc", ["-fno-omit-frame-pointer"]),
            ("gcc", ["-O3", "-mavx2"]), ("clang-22", []), ("clang-14", ["-O1"])]):
        case(f"stacks: {' '.join([compiler, *flags])}", stacks, compiler, seed, flags)
    case("fork: each process counts its own", forking)
    case("dumps: an object alive at a dump counts once", dumping, "dump", 2)
    case("reset: finished dumps are left out", dumping, "reset", 0)
    case("exec: the profile is completed", executing)
    case("dumps on a signal", triggered, "", 0, 0, 4)
    case("dumps every second", triggered, "dump_every=1", 3, 0, 6)
    case("dumps when memory grows", triggered, "dump_memory=8", 0, 60, 8)
    case("thread sanitizer on the runtime's tables", races)
    case("signal handlers allocate anywhere", signalling)
    case("killed threads leave a sound profile", killing)
    case("killed at any moment", early_kills)
    for what in ("chdir", "chroot", "sandbox", "closing"):
        case(f"a program that goes away from its profile: {what}", leaving, what)
    case("no such place", no_profile, "out=/proc/none/p.profraw", "no such directory")
    case("a device in its place", no_profile, "out=/dev/full", "is no file")
    case("a directory in its place", no_profile, "out=/", "is a directory")
    case("full disk", mounted, "size=64k", "p.profraw", "no space left")
    case("disk that gets full", late_full_disk)
    case("read-only file system", mounted, "ro", "p.profraw", "read-only")
    case("file size limit", no_profile, "", "file size limit",
         lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
    case("no descriptors", no_descriptors)
    case("seccomp: no file can be made", confined, "no-create")
    case("seccomp: an old kernel", confined, "old-kernel")
    case("no /proc", without_proc)
    case("no address space", no_address_space)
    case("preloaded into a program that has the runtime", preloaded_twice)
    case("preloaded behind another allocator", other_allocator)
    case("options", options)
    case("switched off", off)
    print(f"1..{cases}")
    sys.exit(1 if failures else 0)


main()
