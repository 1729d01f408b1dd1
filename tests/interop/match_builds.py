#!/usr/bin/env python3
"""`pgokit match`: contexts of a heap profile are found in builds by other compilers, with other
inlining, and of changed sources; what is not there is not found.
"""

import json
import os
import re
import sys

from peers import (FRAME_POINTERS, at_hand, good, main, need_linkers, program_text, require,
                   run, tool, write)

PROFILED = 22  # the release of clang that records
LLD = "-fuse-ld=/usr/bin/ld.lld-22"

GRID = program_text("match_grid.c")

SHAPES = program_text("match_shapes.c")
OTHER = program_text("match_other.c")

PICK = program_text("match_pick.c")

BOX = program_text("match_box.hpp")
MADE = program_text("match_box.cpp")
BOXES = program_text("match_boxes.cpp")

FLAGS = ["-O2", "-g", "-Wl,--build-id", "-w"]
PLAIN = [*FRAME_POINTERS, "-fno-optimize-sibling-calls", "-fno-inline"]
FOUND = {"exact", "other inlining", "line 0", "moved", "rerouted"}


def compilers():
    """Those of releases, and gcc; each with its name."""
    found = [(f"clang-{r}", tool("clang", r)) for r in at_hand(14, 16, 19, 22)]
    return [*found, ("gcc", tool("gcc-12"))]


class Source:
    """A program of several files, some of whose text may be changed."""

    def __init__(self, work, **files):
        self.work, self.files = work, files

    def changed(self, name, old, new):
        require(old in self.files[name], f"{old!r} is not in {name}")
        return Source(self.work, **{**self.files, name: self.files[name].replace(old, new, 1)})

    def build(self, compiler, *flags, names=None):
        folder = self.work.temp("build")
        need_linkers(flags)
        paths = []
        for name, text in self.files.items():
            name = (names or {}).get(name, name)
            paths.append(name if "." in name else f"{name}.c")
            write(f"{folder}/{paths[-1]}", text.encode())
        compiled = [path for path in paths if path.endswith(".c")]
        good(compiler, *FLAGS, *flags, *compiled, "-o", f"{folder}/prog", cwd=folder)
        return f"{folder}/prog"

    def profile(self, *flags):
        exe = self.build(tool("clang", PROFILED), *FRAME_POINTERS, "-fno-optimize-sibling-calls",
                         "-fmemory-profile", *flags)
        log = exe + ".log"
        good(exe, env={"MEMPROF_OPTIONS": f"print_text=0:log_path={log}"})
        out = exe + ".profdata"
        raw = good("sh", "-c", f"ls {log}.*").split()
        good(self.work.pgokit, "merge", "-q", *raw, "-b", exe, "-o", out)
        return out


def match(work, profile, exe, *options):
    return json.loads(good(work.pgokit, "match", profile, "-b", exe, "--json", *options))


def levels(found):
    return sorted(set(found["contexts"]))


def require_levels(found, allowed):
    require(set(found["contexts"]) <= set(allowed),
            f"levels {levels(found)}, not of {sorted(allowed)}\n{json.dumps(found, indent=1)}")


def grid(work, compiler):
    """3 x 3 of where B is inlined, in the profiled build and in the other one."""
    source = Source(work, grid=GRID)
    defines = {"nowhere": [], "into A": ["-DIN_A=1"], "into C": ["-DIN_C=1"]}
    builds = {name: source.build(compiler, "-fno-inline", *d) for name, d in defines.items()}
    same = compiler == tool("clang", PROFILED)
    for how, d in defines.items():
        profile = source.profile("-fno-inline", *d)
        for now, exe in builds.items():
            found = match(work, profile, exe)
            require(len(found["contexts"]) == 2, f"{found['contexts']}")
            require(found["found_percent"] == 100, f"profiled {how}, built {now}: {found}")
            if same:
                require((levels(found) == ["exact"]) == (how == now),
                        f"profiled {how}, built {now}: {levels(found)}")


def shapes(work):
    return Source(work, shapes=SHAPES, other=OTHER)


def unchanged(work, compiler, *flags):
    found = match(work, shapes(work).profile("-fno-inline"), shapes(work).build(compiler, *flags))
    require(len(found["contexts"]) >= 6, f"{found['contexts']}")
    require_levels(found, FOUND)


def merged_calls(work):
    """The two calls become one, without a line, in the build; or were, in the profile."""
    clang = tool("clang", PROFILED)
    source = shapes(work)
    apart, together = ["-O0"], ["-O2", "-fno-inline"]
    for before, now in ((apart, together), (together, apart)):
        found = match(work, source.profile(*before), source.build(clang, *now, *PLAIN))
        require(found["found_percent"] == 100 and "line 0" in levels(found),
                f"{before} {now}: {levels(found)}")


def moved(work, compiler):
    """Lines come before calls, columns change, a file gets another name."""
    source = shapes(work).changed("shapes", "    char *p = mk(n);\n",
                                  "    sum += n;\n    sum += 2;\n      char *p =  mk(n);\n")
    source = source.changed("shapes", "int other(int n);", "int other(int n);\n\n\n")
    source = source.changed("other", "    char *p = mk(n + 1);", "\n  char *p  =   mk(n + 1);")
    found = match(work, shapes(work).profile("-fno-inline"),
                  source.build(compiler, *PLAIN, names={"shapes": "renamed"}))
    require_levels(found, FOUND)
    require("moved" in levels(found), f"{levels(found)}")
    change = next(c for c in found["changes"] if c["level"] == "moved" and c["caller"] == "other")
    require(change["build"]["line_offset"] == change["profile"]["line_offset"] + 1, f"{change}")


def twins(work):
    """Statics of one name are told apart by their callers, also if they are alike."""
    clang = tool("clang", PROFILED)
    profile = shapes(work).profile("-fno-inline")
    found = match(work, profile, shapes(work).build(clang, *PLAIN))
    require(levels(found) == ["exact"], f"{found}")
    source = shapes(work).changed("other", "    char *p = malloc(n);",
                                  "    n++;\n    char *p = malloc(n);")
    found = match(work, profile, source.build(clang, *PLAIN))
    require(sorted(set(found["contexts"])) == ["exact", "moved"] and
            found["contexts"].count("moved") == 1, f"{found}")


def rerouted(work):
    """A function comes between, goes, or gets another name."""
    clang = tool("clang", PROFILED)
    profile = shapes(work).profile("-fno-inline")
    between = shapes(work).changed(
        "shapes", "__attribute__((noinline)) void unrolled",
        "static __attribute__((noinline)) char *more(int n) { return mk(n); }\n"
        "__attribute__((noinline)) void unrolled").changed(
        "shapes", "p[i] = mk(32)", "p[i] = more(32)")
    renamed = Source(work, shapes=SHAPES.replace("sibling(", "brother("), other=OTHER)
    gone = shapes(work).changed("shapes", "free(sibling(24))", "free(mk(24))")
    gone = gone.changed("shapes", SHAPES[SHAPES.index("__attribute__((noinline)) char *sibling"):
                                         SHAPES.index("__attribute__((noinline)) char *twice")], "")
    for what, source in (("between", between), ("renamed", renamed), ("gone", gone)):
        found = match(work, profile, source.build(clang, *PLAIN))
        require_levels(found, {"exact", "rerouted", "moved"} if what == "gone"
                       else {"exact", "rerouted"})
        require(found["contexts"].count("rerouted") == 1, f"{what}: {found['contexts']}")


def not_found(work):
    """What nothing tells apart, and what is not there, is not called found."""
    clang = tool("clang", PROFILED)
    profile = shapes(work).profile("-fno-inline")
    cases = {
        "ambiguous": shapes(work).changed(
            "shapes", "    return mk(n);", "\n    free(mk(n + 1));\n\n    return mk(n);"),
        "functions only": shapes(work).changed("shapes", "    return mk(n);", "    return argv0;")
        .changed("shapes", "volatile long sum;", "volatile long sum;\nstatic char *argv0;"),
        "gone": shapes(work).changed("shapes", "    free(sibling(24));\n", "").changed(
            "shapes", SHAPES[SHAPES.index("__attribute__((noinline)) char *sibling"):
                             SHAPES.index("__attribute__((noinline)) char *twice")], ""),
    }
    for level, source in cases.items():
        exe = source.build(clang, *PLAIN)
        found = match(work, profile, exe)
        require(found["contexts"].count(level) == 1 and found["found_percent"] < 100,
                f"{level}: {found['contexts']}")
        result = run(work.pgokit, "match", profile, "-b", exe, "--min-match", "100%")
        require(result.code == 3 and "limit reached" in result.errors, f"{result}")


def profiled_build(work):
    """The profiled build tells calls apart that the profile alone does not."""
    clang = tool("clang", PROFILED)
    source = Source(work, pick=PICK)
    profile = source.profile("-fno-inline")
    source = source.changed("pick", "    if (argc > 5)", "    sum++;\n    if (argc > 5)")
    source = source.changed("pick", "    if (argc < 5)",
                            "    sum++;\n\n    sum++;\n    if (argc < 5)")
    exe = source.build(clang, *PLAIN)
    require(levels(match(work, profile, exe)) == ["ambiguous"], "the profile alone suffices")
    found = match(work, profile, exe, "--profiled-binary", profile.removesuffix(".profdata"))
    require(levels(found) == ["moved"], f"{found}")
    require(found["changes"][0]["build"]["line_offset"] == 11, f"{found}")


def constructors(work):
    """gcc and clang name bodies of a constructor, and calls of it, differently; of functions of
    internal linkage gcc has the identifier alone."""
    source = Source(work, **{"match_box.hpp": BOX, "made": MADE, "boxes": BOXES})
    flags = ["-x", "c++", "-fno-exceptions"]
    profile = source.profile(*flags)
    for _, compiler in compilers():
        found = match(work, profile, source.build(compiler, *flags))
        require(len(found["contexts"]) >= 4, f"{found['contexts']}")
        require_levels(found, FOUND)


def suffixes(work):
    """Names that compilers give to copies and parts of functions."""
    profile = shapes(work).profile("-fno-inline")
    clang = tool("clang", PROFILED)
    for compiler, flags in ((clang, ["-flto=thin", LLD]), (clang, ["-O3"]),
                            (tool("gcc-12"), ["-O3"]), (tool("gcc-12"), ["-flto", "-O2"]),
                            (clang, ["-funique-internal-linkage-names"]),
                            (clang, ["-gdwarf-4"]), (clang, ["-O0"]),
                            (tool("gcc-12"), ["-gdwarf-4"])):
        found = match(work, profile, shapes(work).build(compiler, *flags))
        require_levels(found, FOUND - {"rerouted"})
    profile = shapes(work).profile("-fno-inline", "-funique-internal-linkage-names")
    found = match(work, profile, shapes(work).build(clang, *PLAIN,
                                                    "-funique-internal-linkage-names"))
    require(levels(found) == ["exact"], f"{levels(found)}")


def rebased(work):
    """In terms of the new source all that was found is exact; what was lost is counted."""
    clang = tool("clang", PROFILED)
    profile = shapes(work).profile("-fno-inline")
    old = profile.removesuffix(".profdata")
    out = old + ".rebased"
    result = run(work.pgokit, "convert", "-q", profile, "--rebase-to", old, "-o", out)
    require(result.code == 1 and result.errors.count("\n") == 1 and  # files tell statics apart
            "same name in other files" in result.errors, f"{result}")
    require_levels(match(work, out, old), {"exact", "line 0"})
    source = shapes(work).changed("shapes", "    char *p = mk(n);\n",
                                  "    sum += n;\n    sum += 2;\n      char *p =  mk(n);\n")
    exe = source.build(clang, *PLAIN)
    told = run(work.pgokit, "convert", "-q", profile, "--rebase-to", exe, "-b", old, "--explain",
               "--to", "partial", "-o", out).out.decode()
    require("moved" in told and "-> shapes.c:" in told, f"{told}")
    found = match(work, out, exe)
    require_levels(found, {"exact", "line 0"})
    require(found["totals"]["bytes"] == match(work, profile, exe)["totals"]["bytes"], f"{found}")
    gone = shapes(work).changed("shapes", "    return mk(n);", "    return argv0;")
    gone = gone.changed("shapes", "volatile long sum;",
                        "volatile long sum;\nstatic char *argv0;").build(clang, *PLAIN)
    result = run(work.pgokit, "convert", profile, "--rebase-to", gone, "-o", out)
    require(result.code == 1 and "lost: 1 contexts" in result.errors, f"{result}")
    good(clang, *FLAGS[:2], f"-fmemory-profile-use={out}", "-c", f"{os.path.dirname(old)}/shapes.c",
         "-o", f"{out}.o")


def next_release(work):
    """Lines move, a function gets another name, and another comes between."""
    source = Source(work, other=OTHER, shapes=SHAPES.replace("sibling(", "brother("))
    source = source.changed("shapes", "    char *p = mk(n);\n",
                            "    sum += n;\n    sum += 2;\n      char *p =  mk(n);\n")
    source = source.changed("shapes", "p[i] = mk(32)", "p[i] = more(32)")
    return source.changed("shapes", "__attribute__((noinline)) void unrolled",
                          "static __attribute__((noinline)) char *more(int n) { return mk(n); }\n"
                          "__attribute__((noinline)) void unrolled")


def compared(work):
    """Across a change of the source contexts are what they were; without builds some are new."""
    old, new = (source.profile("-fno-inline") for source in (shapes(work), next_release(work)))
    exes = [path.removesuffix(".profdata") for path in (old, new)]

    def changes(*options):
        data = json.loads(good(work.pgokit, "diff", "--json", old, new, *options))
        return sorted({(c["change"], c["moved"]) for c in data["contexts"]}), data["overlap"]
    require(("new", False) in changes()[0], f"{changes()}")
    both = ["-b", exes[0], "-b", exes[1]]
    for options in (both, ["-b", exes[1], "-b", exes[0]], ["--on", exes[1]],
                    ["-b", exes[0], "--on", exes[1]]):
        found, overlap = changes(*options)
        require(found == [("same", False)] and overlap > 0.999, f"{options}: {found}")
    told = run(work.pgokit, "diff", old, new, *both)
    require(told.code == 0 and "100.0 % of the bytes have a place in" in told.errors, f"{told}")
    quiet = run(work.pgokit, "diff", "-q", old, new, *both)
    require(quiet.code == 0 and not quiet.errors, f"{quiet}")
    # What is gone stays in the sums.
    gone = shapes(work).changed("shapes", "    free(sibling(24));\n", "").profile("-fno-inline")
    data = json.loads(good(work.pgokit, "diff", "--json", old, gone, "--on",
                           gone.removesuffix(".profdata")))
    require([c["before"]["TotalSize"] for c in data["contexts"] if c["change"] == "gone"] == [24],
            f"{data}")
    require(data["before"]["TotalSize"] == data["now"]["TotalSize"] + 24, f"{data}")
    # Without debug information: a note for -b, which may be there for names; a refusal for --on.
    stripped = f"{exes[1]}.stripped"
    good("strip", "-o", stripped, exes[1])
    told = run(work.pgokit, "diff", old, new, "-b", exes[0], "-b", stripped)
    refusal = run(work.pgokit, "diff", old, new, "-b", exes[0], "--on", stripped)
    require(refusal.code == 2 and "compile and link with -g" in refusal.errors.lower(),
            f"{refusal}")
    require(told.code == refusal.code or "not compared across changes" in told.errors, f"{told}")


def shown(work):
    """A report has functions and lines as the newer build has them, and what is not there not."""
    profile = shapes(work).profile("-fno-inline")
    old = profile.removesuffix(".profdata")
    exe = next_release(work).build(tool("clang", PROFILED), *PLAIN)
    told = run(work.pgokit, "report", profile, "-b", old, "--on", exe, "--format", "folded")
    stacks = told.out.decode().splitlines()
    require(told.code == 0 and "100.0 % of the bytes have a place in" in told.errors, f"{told}")
    require("main;brother;mk 24" in stacks and "main;unrolled;more;mk 128" in stacks and
            not any("sibling" in s for s in stacks), f"{stacks}")
    gone = shapes(work).changed("shapes", "    free(sibling(24));\n", "").build(
        tool("clang", PROFILED), *PLAIN)
    stacks = good(work.pgokit, "report", profile, "--on", gone, "--format", "folded").splitlines()
    require(len(stacks) == 5 and not any("sibling" in s for s in stacks), f"{stacks}")
    page = f"{old}.html"
    good(work.pgokit, "report", "-q", profile, "--base", profile, "--on", exe, "-o", page)
    require(os.path.getsize(page) > 10000, "no page")


def refused(work):
    clang = tool("clang", PROFILED)
    source = shapes(work)
    profile = source.profile("-fno-inline")
    stripped = source.build(clang, "-s")
    another = Source(work, another="int f(void) { return 0; }\n"
                     "int main(void) { return f(); }\n").build(clang, "-O0")
    for exe, words in ((stripped, "compile and link with -g"), (another, "profile of this program"),
                       (__file__, "an ELF file")):
        result = run(work.pgokit, "match", profile, "-b", exe)
        require(result.code == 2 and result.errors.count("\n") == 1 and
                re.search(words, result.errors, re.IGNORECASE), f"{words}: {result}")


def aarch64(work):
    """Places of the source are the same on other processors."""
    from peers import AARCH64, need_aarch64
    need_aarch64()
    exe = shapes(work).build(tool("clang", PROFILED), AARCH64, LLD)
    require_levels(match(work, shapes(work).profile("-fno-inline"), exe), FOUND)


def add_cases(work, tap):
    tool("clang", PROFILED)
    for name, compiler in compilers():
        tap.add(f"a function inlined nowhere, into one caller, into another: {name}", grid, work,
                compiler)
        for flags in (["-O1"], ["-O2"], ["-O3"], ["-O2", "-fno-inline"]):
            tap.add(f"unchanged source, {name} {' '.join(flags)}", unchanged, work, compiler,
                    *flags)
        tap.add(f"moved lines and columns, renamed file: {name}", moved, work, compiler)
    tap.add("merged calls have no line", merged_calls, work)
    tap.add("statics of one name in two files", twins, work)
    tap.add("a function more, less, or of another name", rerouted, work)
    tap.add("what is not found", not_found, work)
    tap.add("the profiled build", profiled_build, work)
    tap.add("constructors, and functions of internal linkage", constructors, work)
    tap.add("suffixes of names, older DWARF, no optimisation", suffixes, work)
    tap.add("rebased to a changed source", rebased, work)
    tap.add("compared across a change of the source", compared, work)
    tap.add("shown at the lines of a newer source", shown, work)
    tap.add("refused", refused, work)
    tap.add("another processor", aarch64, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
