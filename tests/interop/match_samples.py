#!/usr/bin/env python3
"""`pgokit match` of sample profiles and counters: lines, probes and hashes are found in builds by
other compilers, with other inlining, and of changed sources; what has changed is named.
"""

import json
import os
import sys

from peers import at_hand, good, main, need_linkers, program_text, require, run, tool, write

SOURCE = program_text("match_leaves.c")
ANOTHER = "int f(void) { return 0; }\nint main(void) { return f(); }\n"
FLAGS = ["-O2", "-g", "-w"]
LINES = ["-fdebug-info-for-profiling"]
PROBES = ["-fpseudo-probe-for-profiling"]
FOUND = {"exact", "other inlining", "line 0", "moved", "rerouted"}


def build(work, compiler, *flags, source=SOURCE, name="prog.c"):
    folder = work.temp("build")
    need_linkers(flags)
    write(f"{folder}/{name}", source.encode())
    good(compiler, *FLAGS, *flags, name, "-o", f"{folder}/prog", cwd=folder)
    return f"{folder}/prog"


def clang():
    return tool("clang", 22)


def recorded(work, exe):
    """Its own profile, of all of its branches."""
    good(work.recorder, "-e", "7", "-n", "40000", f"{exe}.trace", exe, "50", timeout=300)
    good(work.pgokit, "gen", "-q", f"{exe}.trace", "-b", exe, "-o", f"{exe}.afdo")
    return f"{exe}.afdo"


def match(work, profile, exe, *options):
    return json.loads(good(work.pgokit, "match", profile, "-b", exe, "--json", *options))


def samples(found, level):
    return next(row["samples"] for row in found["levels"] if row["level"] == level)


def levels(found):
    return {row["level"] for row in found["levels"] if row["places"]}


def changed(text, *pairs):
    for old, new in pairs:
        require(old in text, f"{old!r} is not in the source")
        text = text.replace(old, new, 1)
    return text


MOVED = [("    int r = leaf(n);", "    sum += 3;\n\n    int r = leaf(n);"),
         ("    int r = work(n);", "\n    int r = work(n);")]


BRANCH = ("    sum += r;", "    if (n == 7)\n        puts(\"seven\");\n    sum += r;")


def same_source(work, compiler, *flags):
    """Another compiler and other options: every sample has its place."""
    profile = recorded(work, build(work, clang(), *LINES))
    found = match(work, profile, build(work, compiler, *flags))
    require(found["found_percent"] >= 99.5 and levels(found) <= FOUND, f"{found}")


def itself(work):
    exe = build(work, clang(), *LINES)
    found = match(work, recorded(work, exe), exe)
    require(found["found_percent"] == 100 and levels(found) <= {"exact", "line 0"}, f"{found}")


def contexts(work):
    """Contexts come through calls, each of which is looked for."""
    exe = build(work, clang(), *LINES, "-fno-omit-frame-pointer")
    good(work.recorder, "-g", "-e", "7", "-n", "40000", f"{exe}.trace", exe, "50", timeout=300)
    good(work.pgokit, "gen", "-q", f"{exe}.trace", "-b", exe, "--contexts", "--no-preinline",
         "--keep-cold", "-o", f"{exe}.cs")
    found = match(work, f"{exe}.cs", exe)
    require(found["found_percent"] == 100, f"{found}")
    gone = changed(SOURCE, ("    return r + work(n + 1);", "    return r;"))
    found = match(work, f"{exe}.cs", build(work, clang(), *LINES, source=gone))
    require(samples(found, "functions only") > 0, f"{found}")
    require(any(c.get("callee") == "work" for c in found["changes"]), f"{found}")


def moved(work, compiler):
    """Lines in front of calls: what stands around them goes with them."""
    profile = recorded(work, build(work, clang(), *LINES))
    exe = build(work, compiler, source=changed(SOURCE, *MOVED))
    found = match(work, profile, exe)
    require(samples(found, "moved") > 0 and found["found_percent"] > 90, f"{found}")
    change = next(c for c in found["changes"] if c["function"] == "work" and "callee" in c)
    require(change["callee"] == "leaf" and change["build"]["line_offset"] ==
            change["profile"]["line_offset"] + 2, f"{change}")
    found = match(work, profile, exe, "--profiled-binary", profile.removesuffix(".afdo"))
    require(found["found_percent"] > 90, f"{found}")


def as_text(work, profile):
    return good(work.pgokit, "convert", "-q", profile, "--to", "text", "-o", "-")


def rebased(work, flags, options):
    """To the same build: the same profile. To the changed one: at its lines, of which clang takes
    what it took of the old profile and source."""
    exe = build(work, clang(), *LINES, *flags)
    good(work.recorder, "-g", "-e", "7", "-n", "40000", f"{exe}.trace", exe, "50", timeout=300)
    profile, out = f"{exe}.afdo", f"{exe}.rebased"
    good(work.pgokit, "gen", "-q", f"{exe}.trace", "-b", exe, *options, "-o", profile)
    good(work.pgokit, "convert", "-q", profile, "--rebase-to", exe, "-o", out)
    require(as_text(work, profile) == as_text(work, out), "another profile of the same build")
    now = build(work, clang(), *LINES, source=changed(SOURCE, *MOVED))
    told = run(work.pgokit, "convert", profile, "--rebase-to", now, "-b", exe, "--explain", "-o",
               out)
    require(told.code in (0, 1) and b"moved" in told.out and b"leaf" in told.out, f"{told}")
    require(told.code == 0 or "lost: " in told.errors, f"{told}")
    found = match(work, out, now)
    require(found["totals"]["samples"] > 0.95 * match(work, profile, exe)["totals"]["samples"],
            f"{told}")
    require(found["found_percent"] == 100, f"{found}")
    for change in found["changes"]: # but for discriminators
        require(change["level"] != "moved" or
                change["profile"]["line_offset"] == change["build"]["line_offset"], f"{change}")
    good(clang(), *FLAGS, *LINES, f"-fprofile-sample-use={out}", "-c", "prog.c", "-o", "used.o",
         cwd=os.path.dirname(now))


def reported(work):
    """A report is of the lines that the newer source has."""
    profile = recorded(work, build(work, clang(), *LINES))
    exe = build(work, clang(), *LINES, source=changed(SOURCE, *MOVED))
    out = f"{exe}.afdo"
    run(work.pgokit, "convert", "-q", profile, "--rebase-to", exe, "-o", out)
    told = run(work.pgokit, "report", profile, "--on", exe, "--format", "json", "-o", "-")
    require(told.code == 0 and "of the samples have a place in" in told.errors, f"{told}")
    require(told.out.decode() == good(work.pgokit, "report", out, "--format", "json", "-o", "-"),
            "not the rebased profile")
    page = f"{exe}.html"
    good(work.pgokit, "report", "-q", profile, "--base", profile, "--on", exe, "-o", page)
    require(os.path.getsize(page) > 10000, "no page")


def renamed(work, marks):
    """A function by a name that is alike, or another one that calls the same; what is neither is
    gone."""
    profile = recorded(work, build(work, clang(), *marks))
    for name, accepted in (("worker", True), ("labour", False)):
        exe = build(work, clang(), *marks, source=SOURCE.replace("work(", f"{name}("))
        told = run(work.pgokit, "convert", profile, "--rebase-to", exe, "--explain", "-o",
                   f"{exe}.afdo")
        require((f"now {name}".encode() in told.out) == accepted, f"{told}")
        lines = as_text(work, f"{exe}.afdo").splitlines()
        require(any(x.startswith(f"{name}:") for x in lines) == accepted and
                not any(x.startswith("work:") for x in lines), f"{lines}")
        found = match(work, profile, exe)
        require(bool(samples(found, "rerouted")) == accepted, f"{found}")
    # Callees tell as well: a name that is not alike at all.
    double = changed(SOURCE, ("    r -= leaf(n / 2);", "    r -= leaf(n / 2) + twice(n);"),
                     ("__attribute__((noinline)) int work",
                      "__attribute__((noinline)) int twice(int n) { return 2 * n + (int)sum; }\n"
                      "__attribute__((noinline)) int work"))
    profile = recorded(work, build(work, clang(), *marks, source=double))
    exe = build(work, clang(), *marks, source=double.replace("work(", "labour("))
    require(samples(match(work, profile, exe), "rerouted") > 0, "labour")


def rebase_with_losses(work):
    profile = recorded(work, build(work, clang(), *LINES))
    exe = build(work, clang(), source=SOURCE.replace("work(", "labour("))
    result = run(work.pgokit, "convert", profile, "--rebase-to", exe, "-o", f"{exe}.afdo")
    require(result.code == 1 and "lost: " in result.errors, f"{result}")
    lines = as_text(work, f"{exe}.afdo").splitlines()
    require(lines and not any(x.startswith("work:") for x in lines), f"{lines}")


def gone(work):
    """A function that is not there, and a limit that says so."""
    profile = recorded(work, build(work, clang(), *LINES))
    exe = build(work, clang(), source=SOURCE.replace("work(", "labour("))
    found = match(work, profile, exe)
    require(samples(found, "gone") > 0, f"{found}")
    result = run(work.pgokit, "match", profile, "-b", exe, "--min-match", "90%")
    require(result.code == 3 and "limit reached" in result.errors, f"{result}")
    result = run(work.pgokit, "match", profile, "-b", exe, "--min-match", "90%", "--format",
                 "markdown")
    require(result.code == 3 and b"| gone |" in result.out, f"{result}")


def probes(work):
    """Checksums of functions; what changed moves with its calls; statics get another name with
    their file."""
    exe = build(work, clang(), *PROBES)
    profile = recorded(work, exe)
    found = match(work, profile, exe)
    require(levels(found) == {"exact"}, f"{found}")
    found = match(work, profile, build(work, clang(), *PROBES, "-Wl,--strip-debug",
                                       source=changed(SOURCE, BRANCH)))
    names = {c["function"] for c in found["changes"]}
    require(names == {"work"} and samples(found, "exact") > 0, f"{found}")
    require(levels(found) <= {"exact", "moved", "ambiguous"} and found["found_percent"] > 90,
            f"{found}")
    last = next(c for c in found["changes"] if "callee" in c and
                c["profile"]["line_offset"] == 5) # of the second call of leaf
    require(last["build"]["line_offset"] > 5, f"{last}")
    other = changed(SOURCE, ("    int r = leaf(n);", "    int r = n < 9 ? n : 3;"),
                    ("    r -= leaf(n / 2);", "    r -= n / 2;"))
    found = match(work, profile, build(work, clang(), *PROBES, source=other))
    require(samples(found, "functions only") > 0, f"{found}")
    found = match(work, profile, build(work, clang(), *PROBES, name="renamed.c"))
    require(levels(found) == {"exact", "rerouted"}, f"{found}")


def rebased_probes(work, flags, options):
    """To the same build: the same profile. To a changed one: it fits as if it were of it, and
    clang, to which the old one is stale, takes it (it does not say so of contexts)."""
    exe = build(work, clang(), *PROBES, *flags)
    good(work.recorder, "-g", "-e", "7", "-n", "40000", f"{exe}.trace", exe, "50", timeout=300)
    profile, out = f"{exe}.afdo", f"{exe}.rebased"
    good(work.pgokit, "gen", "-q", f"{exe}.trace", "-b", exe, *options, "-o", profile)
    good(work.pgokit, "convert", "-q", profile, "--rebase-to", exe, "-o", out)
    require(as_text(work, profile) == as_text(work, out), "another profile of the same build")
    now = build(work, clang(), *PROBES, *flags, source=changed(SOURCE, BRANCH), name="new.c")
    told = run(work.pgokit, "convert", profile, "--rebase-to", now, "-b", exe, "--explain", "-o",
               out)
    require(told.code in (0, 1) and b"of checksum 0x" in told.out, f"{told}")
    found = match(work, out, now)
    require(levels(found) == {"exact"}, f"{found}")
    require(found["totals"]["samples"] > 0.95 * match(work, profile, exe)["totals"]["samples"],
            f"{told}")
    for used, stale in ((profile, True), (out, False)):
        result = run(clang(), *FLAGS, *PROBES, *flags, f"-fprofile-sample-use={used}",
                     "-mllvm", "-report-profile-staleness", "-c", "new.c", "-o", "used.o",
                     cwd=os.path.dirname(now))
        fits = result.errors.startswith("(0/")
        require(result.code == 0 and (fits != stale or "--contexts" in options),
                f"{used}: {result}")


def counters(work, release, flag):
    """Hashes of an instrumented build; another build has none to compare."""
    exe = build(work, tool("clang", release), flag)
    good(exe, env={"LLVM_PROFILE_FILE": f"{exe}.profraw"})
    found = match(work, f"{exe}.profraw", exe)
    require(levels(found) == {"exact"}, f"{found}")
    other = changed(SOURCE, BRANCH)
    found = match(work, f"{exe}.profraw", build(work, tool("clang", release), flag,
                                                source=other))
    require([c["function"] for c in found["changes"]] == ["work"] and
            levels(found) == {"exact", "functions only"}, f"{found}")
    result = run(work.pgokit, "match", f"{exe}.profraw", "-b", build(work, clang()))
    require(result.code == 2 and "an instrumented build" in result.errors, f"{result}")
    # Records that were cut.
    section, cut = f"{exe}.section", f"{exe}.cut"
    good(tool("objcopy"), f"--dump-section=__llvm_prf_data={section}", exe, cut)
    with open(section, "r+b") as file:
        file.truncate(os.path.getsize(section) - 8)
    good(tool("objcopy"), f"--update-section=__llvm_prf_data={section}", exe, cut)
    result = run(work.pgokit, "match", f"{exe}.profraw", "-b", cut)
    require(result.code == 2 and result.errors.count("\n") == 1 and
            "__llvm_prf_data: field records at offset 0x" in result.errors, f"{result}")


def as_counters(work, profile):
    """Text has no build ids, which convert counts as a loss."""
    return good(work.pgokit, "merge", "-q", profile, "--to", "text", "-o", "-").splitlines()


def rebased_counters(work, release, flag):
    """Functions with their hashes, statics of a file with another name among them, and one that
    was renamed; what changed is lost."""
    clang_of_old = tool("clang", release)
    exe = build(work, clang_of_old, flag)
    good(exe, "50", env={"LLVM_PROFILE_FILE": f"{exe}.profraw"})
    profile, out = f"{exe}.profdata", f"{exe}.rebased"
    good(work.pgokit, "merge", "-q", f"{exe}.profraw", "-o", profile)
    good(work.pgokit, "convert", "-q", profile, "--rebase-to", exe, "-o", out)
    require(good(work.pgokit, "show", "--json", profile) ==
            good(work.pgokit, "show", "--json", out), "another profile of the same build")
    now = build(work, clang_of_old, flag, name="renamed.c",
                source=changed(SOURCE, BRANCH))
    told = run(work.pgokit, "convert", profile, "--rebase-to", now, "--explain", "-o", out)
    statics = flag == "-fprofile-instr-generate" # else leaf is inlined before
    require(told.code == 1 and "lost: 1 functions" in told.errors and
            f"{statics:d} of them by other names" in told.errors, f"{told}")
    require((b"now renamed.c:leaf" in told.out) == statics, f"{told}")
    found = match(work, out, now)
    require(levels(found) == {"exact"} and "work" not in as_counters(work, out), f"{found}")
    require(not statics or "renamed.c:leaf" in as_counters(work, out), f"{found}")
    told = run(work.pgokit, "convert", profile, "--rebase-to", build(work, clang()), "-o", out)
    require(told.code == 2 and "an instrumented build" in told.errors, f"{told}")


def refused(work):
    """One sentence each: nothing to compare with, or another program."""
    profile = recorded(work, build(work, clang(), *LINES))
    by_probes = recorded(work, build(work, clang(), *PROBES))
    another = build(work, clang(), "-O0", source=ANOTHER)
    for what, exe, words in ((profile, build(work, clang(), "-s"), "with -g"),
                             (profile, another, "a profile of this program"),
                             (profile, __file__, "an ELF file"),
                             (by_probes, build(work, clang()), "-fpseudo-probe-for-profiling"),
                             (by_probes, build(work, clang(), *PROBES, source=ANOTHER),
                              "a profile of this program")):
        result = run(work.pgokit, "match", what, "-b", exe)
        require(result.code == 2 and result.errors.count("\n") == 1 and words in result.errors,
                f"{words}: {result}")


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    clang()
    tap.add("the profiled build itself", itself, work)
    tap.add("contexts", contexts, work)
    for name, compiler in [*((f"clang {r}", tool("clang", r)) for r in at_hand(14, 16, 19, 22)),
                           ("gcc", tool("gcc-12"))]:
        for level in ("-O1", "-O3"):
            tap.add(f"unchanged source, {name} {level}", same_source, work, compiler, level)
        tap.add(f"moved lines, {name}", moved, work, compiler)
    tap.add("a function that is gone", gone, work)
    tap.add("rebased lines", rebased, work, [], ["--no-preinline"])
    tap.add("rebased contexts", rebased, work, ["-fno-omit-frame-pointer"],
            ["--contexts", "--no-preinline", "--keep-cold"])
    tap.add("rebased, with losses", rebase_with_losses, work)
    for name, marks in (("lines", LINES), ("probes", PROBES)):
        tap.add(f"a renamed function, by {name}", renamed, work, marks)
    tap.add("reported at the lines of a newer source", reported, work)
    tap.add("probes", probes, work)
    tap.add("rebased probes", rebased_probes, work, [], ["--no-preinline"])
    tap.add("rebased contexts of probes", rebased_probes, work, ["-fno-omit-frame-pointer"],
            ["--contexts", "--no-preinline", "--keep-cold"])
    for release in at_hand(14, 16, 19, 22):
        for flag in ("-fprofile-generate", "-fprofile-instr-generate"):
            tap.add(f"counters, clang {release} {flag}", counters, work, release, flag)
            tap.add(f"rebased counters, clang {release} {flag}", rebased_counters, work, release,
                    flag)
    tap.add("refused", refused, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
