"""What compilers make of our files: the same objects as by their own tool's, of counters and of
heap data in one file, and by front-end profiles of other releases."""

import os
import sys

from instr_profiles import counted, many_branches, merge, profdata
from peers import PROGRAMS, Variant, beside, good, main, read, require, run, tool

USE = {"ir": "-fprofile-use=", "fe": "-fprofile-instr-use=", "csir": "-fprofile-use=",
       "vtables": "-fprofile-use="}


def compile_with(release, source, out, *flags):
    good(tool("clang++", release), "-O2", "-c", *flags, source, "-o", out, timeout=300)
    return read(out)


def objects(work, kind, release, target):
    """Of the file for this release, and of the one for any."""
    program = counted(work, kind, release)
    folder = work.temp("objects")
    inputs = program.raws + ([program.first] if kind == "csir" else [])
    good(profdata(release), "merge", "-j", "1", *inputs, "-o", f"{folder}/theirs.profdata")
    merge(work, f"{folder}/ours.profdata", "--to", target, *inputs)
    # The same name for both, should it be in the object.
    made = []
    for name in ("theirs", "ours"):
        os.replace(f"{folder}/{name}.profdata", f"{folder}/use.profdata")
        made.append(compile_with(release, program.source, f"{folder}/{name}.o",
                                 USE[kind] + f"{folder}/use.profdata"))
    plain = compile_with(release, program.source, f"{folder}/plain.o")
    require(made[0] == made[1], "the objects differ")
    require(made[0] != plain, "the profile has no effect")


def both(work, source):
    """The proposal's aim: one file for counters and heap data, used for both."""
    folder = work.temp("both")
    path = os.path.join(PROGRAMS, source)
    compiler = tool("clang++" if source.endswith(".cpp") else "clang", 22)
    heap = work.build(source, Variant(22, "-O1"))
    good(compiler, "-g", "-O2", "-fprofile-generate", path, "-o", f"{folder}/counted")
    good(f"{folder}/counted", env={"LLVM_PROFILE_FILE": f"{folder}/counts.profraw"})
    one = f"{folder}/both.profdata"
    merge(work, one, f"{folder}/counts.profraw", heap.raw, "-b", heap.exe, "--to", "llvm22")

    def ir(*flags):
        good(compiler, "-g", "-O2", *flags, "-S", "-emit-llvm", path, "-o", f"{folder}/out.ll")
        return read(f"{folder}/out.ll").decode()

    used = ir(f"-fprofile-use={one}", f"-fmemory-profile-use={one}")
    for word in ("function_entry_count", "branch_weights", "memprof"):
        require(word in used, f"no {word} in the compiler's output")
    # Each half is what files of one kind give.
    merge(work, f"{folder}/counts.profdata", f"{folder}/counts.profraw", "--to", "llvm22")
    merge(work, f"{folder}/heap.profdata", heap.raw, "-b", heap.exe, "--to", "llvm22")
    apart = ir(f"-fprofile-use={folder}/counts.profdata",
               f"-fmemory-profile-use={folder}/heap.profdata")
    require(used == apart, "one file gives another code than two files")

    # Nothing is lost when the file is merged again, with either kind.
    merge(work, f"{folder}/again", one, f"{folder}/counts.profraw", "--to", "llvm22")
    merge(work, f"{folder}/more", f"{folder}/again", heap.raw, "-b", heap.exe, "--to", "llvm22")
    for name in ("again", "more"):
        memory = good(tool("llvm-profdata", 22), "show", "--memory", f"{folder}/{name}")
        require("AllocSites:" in memory, f"{name}: no heap data\n{memory[:300]}")
        counts = good(tool("llvm-profdata", 22), "show", "--all-functions", f"{folder}/{name}")
        require("Total functions: 0" not in counts, f"{name}: no counters\n{counts[:300]}")
    require("heap data" in good(work.pgokit, "show", one), "show is silent on heap data")
    compared = good(work.pgokit, "diff", one, f"{folder}/more")
    for words in ("of the counters", "heap data", "objects"):
        require(words in compared, f"diff does not say '{words}':\n{compared}")
    require("heap contexts" in good(work.pgokit, "check", one), "check is silent on heap data")
    # Whichever comes first on the command line.
    merge(work, f"{folder}/other", heap.raw, f"{folder}/counts.profraw", "-b", heap.exe, "--to",
          "llvm22")
    require(read(one) == read(f"{folder}/other"), "the order of kinds shows")


def front_end_warnings(work, made_by, used_by, target):
    """The compiler's complaints about functions that the profile does not fit."""
    folder = work.temp("front-end")
    source = many_branches(folder)
    compiler = tool("clang", made_by)
    good(compiler, "-fprofile-instr-generate", source, "-o", f"{folder}/prog")
    run(*beside(compiler), f"{folder}/prog", env={"LLVM_PROFILE_FILE": f"{folder}/raw"})
    merge(work, f"{folder}/use.profdata", "--to", target, f"{folder}/raw")
    result = run(tool("clang", used_by), "-O1", "-c", f"-fprofile-instr-use={folder}/use.profdata",
                 "-Wprofile-instr-out-of-date", "-Wprofile-instr-unprofiled", source, "-o",
                 f"{folder}/out.o")
    require(result.code == 0, str(result))
    return result.errors


def front_end(work, made_by, used_by, target):
    errors = front_end_warnings(work, made_by, used_by, target)
    require("profile" not in errors, errors[-800:])


def add_cases(work, tap):
    for kind, releases in (("ir", (14, 16, 19, 22, 23)), ("fe", (14, 16, 19, 22, 23)),
                           ("csir", (14, 16, 19, 22, 23)), ("vtables", (19, 22, 23))):
        for release in releases:
            tap.add(f"objects: {kind} of clang {release}", objects, work, kind, release,
                    f"llvm{release}")
    for release in (19, 22, 23):
        tap.add(f"objects: ir of clang {release}, for any", objects, work, "ir", release, "any")
    tap.add("objects: ir of clang 16, for llvm14", objects, work, "ir", 16, "llvm14")
    tap.add("counters and heap data in one file", both, work, "classes.cpp")
    for made_by, used_by, target in ((14, 22, "llvm22"), (19, 22, "llvm22"), (19, 22, "any"),
                                     (22, 22, "any"), (19, 19, "any"), (16, 19, "any"),
                                     (14, 23, "llvm23"), (19, 23, "any"), (22, 23, "llvm22"),
                                     (22, 23, "llvm23"), (23, 22, "any"), (23, 22, "llvm22"),
                                     (23, 23, "any"), (23, 23, "llvm23"),
                                     (16, 14, "llvm14")):
        tap.add(f"front-end profile of {made_by} for clang {used_by}, --to {target}", front_end,
                work, made_by, used_by, target)


if __name__ == "__main__":
    sys.exit(main(add_cases))
