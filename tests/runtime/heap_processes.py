#!/usr/bin/env python3
"""The heap profiler runtime in processes that fork, dump, are killed, and in places where it
cannot write."""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time

import harness
import raw_profile
from harness import PROGRAMS, Cases, Skip, require, run, started, tool
from runtime_programs import (ARCHIVE, EXPORTS, FRAMES, HERE, PGOKIT, SHARED, build, check_sound,
                              one_file, require_exact)

KILLS = int(os.environ.get("PGOKIT_TEST_KILLS", "30"))


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


def descending(folder):
    """What an object's process is has fewer bits in small objects than in others."""
    program = build(folder, "process.c", "clang-22", "archive")
    run([program, "descend", "20"], folder)
    files = raw_profile.files(folder)
    require(len(files) == 21, f"profiles: {files}")
    found = [raw_profile.Profile(path).by_function(program) for path in files]
    require(all(one.get("in_child", [0])[0] == 3 for one in found), f"own objects: {found}")
    require(sorted(one["in_parent"][0] for one in found if "in_parent" in one) == [21],
            f"inherited objects: {found}")


def overrunning(folder):
    """What a program writes beyond its objects does not bring it down."""
    program = build(folder, "process.c", "clang-22", "archive")
    run([program, "overrun"], folder)
    path = one_file(folder)
    check_sound(path)
    require(raw_profile.Profile(path).by_function(program)["after"][0] == 1, "after is not told")


def children_keep_their_memory(folder):
    """The file of the parent leaves a hole in the child, where memory of the child may come to lie:
    its own file must not be put on top of it."""
    program = build(folder, "served.c", "clang-22", "archive")
    for _ in range(60):
        run([program, "0", "fork"], folder)
    check_sound(*raw_profile.files(folder))


def options_without_proc(folder):
    """Options count without /proc: preloaded, linked, static, started by the linker."""
    hide = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]
    if subprocess.run([*hide, "true"], check=False, capture_output=True).returncode:
        raise Skip("missing rights to hide /proc")
    source = os.path.join(HERE, "programs", "grown.c")
    linker = "/lib64/ld-linux-x86-64.so.2"
    for name, flags in {"plain": [], "linked": [ARCHIVE, "-pthread"],
                        "static": [ARCHIVE, "-pthread", "-static"]}.items():
        run([tool("gcc"), "-O1", "-w", source, *flags, "-o", name], folder)
    for name, argv in {"plain": ["./plain"], "linked": ["./linked"], "static": ["./static"],
                       "started": [linker, "./plain"]}.items():
        env = {"LD_PRELOAD": SHARED} if "./plain" in argv else {}
        given = [f"{key}={value}" for key, value in env.items()]
        run([*hide, "env", f"PGOKIT_HEAP=out={name}.raw", *given, *argv, "grow"], folder)
        require(os.path.exists(os.path.join(folder, f"{name}.raw")), f"{name}: no profile")


def removed_folder(folder):
    """A profile that is lost with its folder is said to be, and the program ends as ever."""
    program = "import shutil, sys; shutil.rmtree('gone'); print('went on'); sys.exit(3)"
    os.mkdir(os.path.join(folder, "gone"))
    result = run([tool("/usr/bin/python3"), "-c", program], folder,
                 {"LD_PRELOAD": SHARED, "PGOKIT_HEAP": "out=gone/p.profraw"}, status=3)
    require(result.stdout == "went on\n" and not os.path.exists(os.path.join(folder, "gone")) and
            "the profile is lost" in result.stderr and "gone/p.profraw" in result.stderr,
            result.stderr)


def heap_errors(folder):
    """What the C library stops is stopped, with a line and a profile; its own memory is not."""
    program = os.path.join(folder, "errors")
    run([tool("gcc"), "-O1", "-w", os.path.join(HERE, "programs", "errors.c"), "-o", program],
        folder)
    wrong = []
    for how, line in {"double": "free(): double free detected",
                      "many": "free(): double free detected",
                      "large": "free(): double free detected",
                      "interior": "free(): invalid pointer", "page": "free(): invalid pointer",
                      "stack": "free",  # what glibc says depends on what lies there
                      "resized": "realloc(): invalid pointer", "theirs": None}.items():
        plain = run([program, how], folder, status=None)
        # What lies before the middle of an object decides whether glibc sees it or crashes.
        require(plain.returncode in (-signal.SIGABRT, -signal.SIGSEGV) or not line or
                how == "large", f"plain {how}: {plain.returncode}")
        result = run([program, how], folder, {"LD_PRELOAD": SHARED}, status=None)
        ended = result.returncode == -signal.SIGABRT and line in result.stderr if line else \
            result.returncode == 0 and result.stdout == "went on\n"
        if not ended or (how != "stack" and "pgokit heap profiler: " not in result.stderr):
            wrong.append(f"{how}: {result.returncode} {result.stdout} {result.stderr}")
    require(not wrong, "\n".join(wrong))
    check_sound(*raw_profile.files(folder))


def growing(folder):
    """Buffers grow by realloc where they are, or with their pages: no copies, no faults."""
    program = os.path.join(folder, "grown")
    source = os.path.join(HERE, "programs", "grown.c")
    run([tool("gcc"), "-O1", "-w", source, "-o", program], folder)
    preloaded = {"LD_PRELOAD": SHARED}
    faults, most = map(int, run([program, "grow"], folder).stdout.split())
    ours_faults, ours_most = map(int, run([program, "grow"], folder, preloaded).stdout.split())
    require(ours_faults < 2 * faults and ours_most < 1.2 * most,
            f"{ours_faults} faults and {ours_most} KiB, plain {faults} and {most}")
    most = int(run([program, "sparse"], folder, preloaded).stdout.split()[1])
    require(most < 64 << 10, f"two bytes of 40 GiB took {most} KiB")
    run([program, "random"], folder, preloaded)
    check_sound(*raw_profile.files(folder))


def dumping(folder, what, objects_before):
    program = build(folder, "process.c", "clang-22", "archive")
    run([program, what], folder)
    profile = raw_profile.Profile(one_file(folder))
    found = profile.by_function(program)
    require(found.get("before", [0])[0] == objects_before and found["after"][0] == 3, str(found))
    check_sound(one_file(folder))


def renaming(folder):
    """A file that got another name keeps its dump, and nothing of what comes after a reset."""
    program = build(folder, "process.c", "clang-22", "archive")
    new, old = os.path.join(folder, "new.profraw"), os.path.join(folder, "old.profraw")
    run([program, "rename", new, old], folder, {"PGOKIT_HEAP_OPTIONS": f"out={new}"})
    first, second = raw_profile.Profile(old), raw_profile.Profile(new)
    require(not first.interrupted and not second.interrupted, "interrupted")
    require(set(first.by_function(program)) - {"?"} == {"before", "in_main"},
            f"renamed: {first.by_function(program)}")
    found = second.by_function(program)
    require(set(found) - {"?"} == {"after"} and found["after"][0] == 2, f"after the reset: {found}")
    check_sound(old, new)


def dying(folder, compiler, linkage):
    """Accesses of what was freed are in the file, and it says that they are counted."""
    program = build(folder, "process.c", compiler, linkage)
    run([program, "die"], folder, status=-signal.SIGKILL)
    path = one_file(folder)
    told = check_sound(path)
    require("library functions only" not in told, told)
    document = json.loads(run([PGOKIT, "show", path, "-b", program, "--json"], "/").stdout)
    mib = next(context["mib"] for context in document["contexts"]
               if context["stack"][0]["function"] == "before")
    require(mib.get("TotalAccessCount") == 3, f"{mib}")


def not_at_exit(folder):
    """Without a dump at the end there is what was dumped before, or no file."""
    program = build(folder, "process.c", "clang-22", "archive")
    options = {"PGOKIT_HEAP_OPTIONS": "dump_at_exit=0"}
    run([program, "tail"], folder, options)
    require(not raw_profile.files(folder), f"{raw_profile.files(folder)}")
    run([program, "dump"], folder, options)
    profile = raw_profile.Profile(one_file(folder))
    found = profile.by_function(program)
    require(not profile.interrupted and found["before"][0] == 2 and found["after"][0] == 2,
            f"{found}")
    check_sound(one_file(folder))


def interface(folder, linkage):
    """The sanitizers' common interface, which the program tries itself."""
    program = build(folder, "interface.c", "clang-22", linkage)
    result = run([program], folder)
    require(re.search(r"#0 0x[0-9a-f]+", result.stderr), f"no stack: {result.stderr}")
    run([program, "hooks"], folder)
    overriding = build(folder, "interface.c", "clang-22", linkage, "overriding", ["-DOVERRIDE"])
    run([overriding, "hooks"], folder)


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


def triggered(folder, options, timed, mebibytes, dumps):
    """The program itself waits for the dumps that time brings: a busy machine makes it wait longer,
    and nothing else."""
    program = build(folder, "process.c", "clang-22", "archive")
    path = os.path.join(folder, "p.profraw")
    told = run([program, "triggers", str(timed), str(mebibytes), path], folder,
               {"PGOKIT_HEAP_OPTIONS": f"dump_signal=12:out={path}:{options}"}).stdout
    n, ms = map(int, told.split())
    profile = raw_profile.Profile(one_file(folder))
    found = profile.by_function(program)
    require(found["before"] == [1, 24, 1, 1, 1] and found["after"][0] == 3, f"{found}")
    require(found.get("in_main", [0])[0] == n, f"{found}, allocated {n}")
    require(found.get("in_child", [0])[0] == mebibytes, f"{found}")
    require(profile.dumps >= dumps, f"{profile.dumps} dumps")
    if timed:
        require(profile.dumps <= dumps + 1 + ms / 1000, f"{profile.dumps} dumps in {ms} ms")
    check_sound(one_file(folder))
    return [f"{profile.dumps} dumps in {ms} ms"]


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
        with subprocess.Popen(started([program, "churn", "4"]), cwd=folder,
                              stdout=subprocess.PIPE) as child:
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
    if shutil.which("llvm-profdata-22") and not harness.TARGET:  # it knows x86-64 alone
        run(["llvm-profdata-22", "show", "--memory", path, f"--profiled-binary={program}"], folder)
    return [f"{KILLS} kills"]


def early_kills(folder):
    """At any moment, start and growth of the file included."""
    program = build(folder, "random_access.c", "clang-22", "archive")
    at_random = random.Random(2)
    for round_ in range(KILLS):
        for path in raw_profile.files(folder):
            os.unlink(path)
        with subprocess.Popen(started([program, str(round_), "4", "1000000"]), cwd=folder,
                              stdout=subprocess.DEVNULL) as child:
            time.sleep(at_random.random() / 20)
            child.kill()
        for path in raw_profile.files(folder):
            if not path.endswith(".part"):
                raw_profile.Profile(path)


def before_all(folder, linkage):
    """A function that is called before the runtime's own is counted like any other."""
    program = build(folder, "early.c", "clang-22", linkage)
    run([program], folder)
    found = raw_profile.Profile(one_file(folder)).by_function(program)
    require(found.get("early") == [1, 40, 11, 11, 11], f"{found}")


# ---- what goes wrong ----

def leaving(folder, what):
    """A program that changes where it is, or what it may do: the profile is whole all the same."""
    program = build(folder, "process.c", "clang-22", "archive")
    alike = os.path.join(folder, "alike")
    os.makedirs(alike + folder)
    result = run([program, what], folder, status=None)
    if result.returncode == 77:
        raise Skip(f"{what} is not allowed here")
    require(result.returncode == 0 and not result.stderr, f"{result}")
    profile = raw_profile.Profile(one_file(folder))
    require(not profile.interrupted, "the profile says it was interrupted")
    found = profile.by_function(program)
    require(found["before"] == [1, 24, 2, 2, 2] and found["after"] == [1, 24, 1, 1, 1], str(found))
    require(found["in_main"][0] == (5 if what == "closing" else 1) * 1024, str(found))
    check_sound(one_file(folder))
    require(not os.listdir(alike + folder), "files below a root directory that came later")


def child_elsewhere(folder):
    """A child with another root directory says where its profile is, or why there is none."""
    program = build(folder, "process.c", "clang-22", "archive")
    alike, empty = os.path.join(folder, "alike"), os.path.join(folder, "empty")
    os.makedirs(alike + folder)
    os.mkdir(empty)
    if os.geteuid():
        raise Skip("takes root to change the root directory")
    for root, words in ((alike, "profile below the root directory"),
                        (empty, "no profile: cannot create")):
        result = run([program, "chroot-child", root], folder)
        require(result.stderr.count("\n") == 1 and words in result.stderr, f"{result}")
        require(not raw_profile.Profile(one_file(folder)).interrupted, "the parent's")
        os.unlink(one_file(folder))
    found = raw_profile.Profile(one_file(alike + folder)).by_function(program)
    require(found["in_child"][0] == 1, f"{found}")
    require(not os.listdir(empty), "directories made below a root directory")


def moved(folder):
    """Frees on another CPU are a reason for advice only where there are several threads."""
    program = build(folder, "process.c", "clang-22", "archive")
    for threads in ("1", "2"):
        result = run([program, "moved", threads], folder, status=None)
        if result.returncode == 77:
            raise Skip("missing a second processor")
        require(result.returncode == 0, f"{result}")
        shown = run([PGOKIT, "show", one_file(folder), "-b", program], folder).stdout
        require(("freed on another CPU than" in shown) == (threads == "2"), f"{threads}: {shown}")
        os.unlink(one_file(folder))


def strictly_confined(folder):
    """It ends without a word, and what it did is in the file."""
    program = build(folder, "process.c", "clang-22", "archive")
    result = run([program, "strict"], folder, status=None)
    if result.returncode == 77:
        raise Skip("seccomp is not allowed here")
    require(result.returncode == 0 and not result.stderr, f"{result}")
    found = raw_profile.Profile(one_file(folder)).by_function(program)
    require(found["before"][0] == 1000 and found["after"][0] == 1000, f"{found}")
    check_sound(one_file(folder))


def child_of_confined(folder):
    """No file may be opened for it, which is said."""
    source, program = os.path.join(PROGRAMS, "under_seccomp.c"), os.path.join(folder, "child")
    run([tool("gcc"), "-O1", "-fno-builtin", source, "-o", program], folder)
    if run([program], folder, status=None).returncode == 77:
        raise Skip("seccomp is not allowed here")
    unprofiled(folder, [program], "", "seccomp", env={"LD_PRELOAD": SHARED})
    require(not raw_profile.Profile(one_file(folder)).interrupted, "the parent's")


def unprofiled(folder, argv, options, words, before=None, env=None):
    """The program goes on, and one line says why it is not profiled."""
    result = run(argv, folder, dict(env or {}, PGOKIT_HEAP_OPTIONS=options), preexec_fn=before)
    require(result.stdout.strip(), "the program did not go on")
    lines = result.stderr.splitlines()
    require(len(lines) == 1 and words in lines[0], f"not one line with '{words}': {result.stderr}")


def no_profile(folder, options, words, before=None):
    """Instrumented and preloaded."""
    program = build(folder, "random_access.c", "clang-22", "archive")
    unprofiled(folder, [program, "1", "2", "1000"], options, words, before)
    unprofiled(folder, ["/bin/echo", "on"], options, words, before, {"LD_PRELOAD": SHARED})


def link_to_file(name):
    os.symlink("other", name)


def part_taken(folder, make, words):
    make(os.path.join(folder, "p.profraw.part"))
    unprofiled(folder, ["/bin/echo", "on"], f"out={folder}/p.profraw", words, None,
               {"LD_PRELOAD": SHARED})
    require(not os.path.exists(os.path.join(folder, "other")), "what the link points to was made")


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
    if run([wrapper, what, "true"], folder, status=None).returncode == 77:
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
    hiding = run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc"], folder, status=None)
    if hiding.returncode != 0:
        raise Skip("cannot mount anything on /proc: " + hiding.stderr.strip().replace("\n", " "))
    program = build(folder, "random_access.c", "clang-22", "archive")
    script = f"mount -t tmpfs none /proc && exec {program} 1 2 20000"
    result = run(["unshare", "-m", "sh", "-c", script], folder, status=None)
    require(result.returncode == 0 and not result.stderr, f"{result}")
    require_exact(program, result.stdout, raw_profile.Profile(one_file(folder)))
    result = run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs none /proc && LD_PRELOAD={SHARED} "
                  f"PGOKIT_HEAP_OPTIONS=out={folder}/%e.%p exec sqlite3 :memory: 'select 1'"],
                 folder, status=None)
    require(result.stdout == "1\n" and not result.stderr, f"{result}")


def little_address_space(folder):
    """Less than the counters of all memory take: they are mapped as they are written."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    for link in "archive", "static", "shared":
        program = build(folder, "random_access.c", "clang-22", link)
        out = run([program, "1", "4", "20000"], folder, preexec_fn=limit)
        require(not out.stderr, out.stderr)
        require_exact(program, out.stdout, raw_profile.Profile(one_file(folder)))
        os.unlink(one_file(folder))
    program = build(folder, "process.c", "clang-22", "archive")
    out = run([program, "fault"], folder, preexec_fn=limit)
    require(out.stdout == "handled, handled, as before\n" and not out.stderr, f"{out}")
    found = raw_profile.Profile(one_file(folder)).by_function(program)["faulty"]
    require(tuple(found[:3]) == (1, 24, 2), f"accesses around a fault: {found}")
    os.unlink(one_file(folder))
    out = run([program, "crash"], folder, status=-signal.SIGSEGV, preexec_fn=limit)
    require(raw_profile.Profile(one_file(folder)).interrupted, "a crash")
    os.unlink(one_file(folder))
    run(["/bin/echo", "on"], folder, {"LD_PRELOAD": SHARED}, preexec_fn=limit)
    check_sound(one_file(folder))


def no_memory(folder):
    """The program sees it from malloc; objects that no context could be made for are told."""
    program = build(folder, "process.c", "clang-22", "archive")
    result = run([program, "starve"], folder)
    require(not result.stderr, result.stderr)
    profile = raw_profile.Profile(one_file(folder))
    found = profile.by_function(program)
    made = int(result.stdout)
    require(found["before"][0] == 1 and found["after"][0] == 1, f"{found}")
    require(made > 1000 and found["starved"][0] + profile.dropped == made,
            f"{found}, {profile.dropped} dropped, {made} made")
    check_sound(one_file(folder))
    return [f"{made} objects, {profile.dropped} without a context"]


def preloaded_twice(folder):
    """The runtime that is in the program records, and that one alone."""
    program = build(folder, "random_access.c", "clang-22", "archive")
    out = run([program, "1", "2", "20000"], folder, {"LD_PRELOAD": SHARED})
    require(out.stderr.endswith("malloc belongs to: the program itself\n"), out.stderr)
    require_exact(program, out.stdout, raw_profile.Profile(one_file(folder)))
    os.unlink(one_file(folder))
    run([tool("clang-22"), program + ".o", "-o", program, "-no-pie", "-Wl,--build-id", ARCHIVE,
         "-pthread", "-Wl,--export-dynamic-symbol=__memprof_*"], folder)
    out = run([program, "1", "2", "20000"], folder, {"LD_PRELOAD": SHARED})
    require(not out.stderr, out.stderr)
    require_exact(program, out.stdout, raw_profile.Profile(one_file(folder)))


def allocator(folder):
    """A library that has one."""
    source = os.path.join(PROGRAMS, "allocator_library.c")
    library = os.path.join(folder, "other.so")
    run([tool("gcc"), "-shared", "-fPIC", source, "-o", library], folder)
    return library


def other_allocator(folder):
    """One in front of ours takes all calls."""
    library = allocator(folder)
    unprofiled(folder, ["/bin/echo", "on"], "", "malloc belongs to",
               env={"LD_PRELOAD": f"{library} {SHARED}"})
    require(not raw_profile.files(folder), "a profile all the same")


def objects_of_other_allocator(folder):
    """What functions of the C library return is freed where malloc is: chromium was trapped."""
    source, program = os.path.join(PROGRAMS, "own_allocator.c"), os.path.join(folder, "own")
    run([tool("gcc"), "-O1", "-fno-builtin", source, "-o", program], folder)
    unprofiled(folder, [program], "", "malloc belongs to: the program itself",
               env={"LD_PRELOAD": SHARED})


def fixed_address(folder):
    """A program at a fixed address that takes malloc's address has an entry of its own for it,
    which the library took for another allocator. One that is really there is still seen."""
    source, program = os.path.join(PROGRAMS, "taken_address.c"), os.path.join(folder, "fixed")
    run([tool("gcc"), "-O1", "-fno-pie", "-no-pie", source, "-o", program], folder)
    symbols = run(["readelf", "-W", "--dyn-syms", program], folder).stdout
    require(re.search(r": 0*[1-9a-f]\w* .* UND malloc@", symbols), f"no such entry: {symbols}")
    out = run([program], folder, {"LD_PRELOAD": SHARED})
    require(not out.stderr, out.stderr)
    profile = raw_profile.Profile(one_file(folder))
    require(any(values[0] == 1000 for values in profile.contexts.values()), f"{profile.contexts}")
    os.unlink(one_file(folder))
    library = allocator(folder)
    unprofiled(folder, [program], "", "malloc belongs to",
               env={"LD_PRELOAD": f"{library} {SHARED}"})
    require(not raw_profile.files(folder), "a profile all the same")


def asks_for_its_stack(folder):
    """pthread_getattr_np allocates under the lock of the thread, and the first allocation of a
    thread asked it for the stack: java waited for itself for ever."""
    source, program = os.path.join(PROGRAMS, "asks_for_stack.c"), os.path.join(folder, "asks")
    run([tool("gcc"), "-O1", "-fno-builtin", source, "-o", program, "-pthread"], folder)
    for options in ("", "depth=1", "frame_pointers=1"):
        run([program], folder, {"LD_PRELOAD": SHARED, "PGOKIT_HEAP_OPTIONS": options})
        profile = raw_profile.Profile(one_file(folder))
        require(sum(values[0] for values in profile.contexts.values()) >= 10000,
                f"{options}: {profile.contexts}")
        os.unlink(one_file(folder))


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
    cases = Cases()
    cases.run("fork: each process counts its own", forking)
    cases.run("fork: twenty deep, each process counts its own", descending)
    cases.run("fork: children keep their memory", children_keep_their_memory)
    cases.run("PGOKIT_HEAP without /proc", options_without_proc)
    cases.run("the folder of a profile is removed", removed_folder)
    cases.run("heap errors go on under the profiler", heap_errors)
    cases.run("realloc copies large buffers each time", growing)
    cases.run("writing beyond small objects", overrunning)
    cases.run("dumps: an object alive at a dump counts once", dumping, "dump", 2)
    cases.run("reset: finished dumps are left out", dumping, "reset", 0)
    cases.run("reset: a renamed file keeps its dump alone", renaming)
    cases.run("no dump at exit", not_at_exit)
    for compiler, linkage in (("clang-22", "archive"), ("clang-22", "shared"), ("gcc", "archive")):
        cases.run(f"killed: accesses are in the file: {compiler}, {linkage}", dying, compiler,
                  linkage)
    for linkage in ("archive", "shared"):
        cases.run(f"the sanitizers' common interface: {linkage}", interface, linkage)
    cases.run("exec: the profile is completed", executing)
    cases.run("dumps on a signal", triggered, "", 0, 0, 4)
    cases.run("dumps every second", triggered, "dump_every=1", 3, 0, 7)
    cases.run("dumps when memory grows", triggered, "dump_memory=8", 0, 60, 8)
    cases.run("signal handlers allocate anywhere", signalling)
    cases.run("killed threads leave a sound profile", killing)
    cases.run("killed at any moment", early_kills)
    for linkage in ("archive", "static", "shared"):
        cases.run(f"code that runs before all other: {linkage}", before_all, linkage)
    for what in ("chdir", "chroot", "chroot-alike", "sandbox", "closing", "allow-prctl",
                 "allow-syscall", "no-ticks"):
        cases.run(f"a program that goes away from its profile: {what}", leaving, what)
    cases.run("moved to another CPU", moved)
    cases.run("a child with another root directory", child_elsewhere)
    cases.run("nothing but reading and writing is allowed", strictly_confined)
    cases.run("the child of a program that has put itself under a filter", child_of_confined)
    cases.run("no such place", no_profile, "out=/proc/none/p.profraw", "no such file or directory")
    cases.run("a device in its place", no_profile, "out=/dev/full", "is not a regular file")
    cases.run("a directory in its place", no_profile, "out=/", "is a directory")
    for make, words in ((os.mkfifo, "not a regular file"), (link_to_file, "symbolic link")):
        cases.run(f"{words} under the name that it is made by", part_taken, make, words)
    cases.run("full disk", mounted, "size=64k", "p.profraw", "no space left")
    cases.run("disk that gets full", late_full_disk)
    cases.run("read-only file system", mounted, "ro", "p.profraw", "read-only")
    cases.run("file size limit", no_profile, "", "file size limit",
              lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
    cases.run("no descriptors", no_descriptors)
    cases.run("seccomp: no file can be made", confined, "no-create")
    cases.run("seccomp: an old kernel", confined, "old-kernel")
    cases.run("no /proc", without_proc)
    cases.run("little address space", little_address_space)
    cases.run("out of memory", no_memory)
    cases.run("preloaded into a program that has the runtime", preloaded_twice)
    cases.run("preloaded behind another allocator", other_allocator)
    cases.run("preloaded into a program with an allocator of its own", objects_of_other_allocator)
    cases.run("preloaded into a program at a fixed address that takes malloc's address",
              fixed_address)
    cases.run("a thread that asks for its stack before it allocates", asks_for_its_stack)
    cases.run("options", options)
    cases.run("switched off", off)
    cases.finish()


if __name__ == "__main__":
    main()
