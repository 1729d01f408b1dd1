"""Counted programs: built by each release with each kind of instrumentation and run with several
arguments; and comparing what pgokit and llvm-profdata make of the profiles."""

import os
import shutil

from peers import PROGRAMS, beside, fingerprint, good, locked, read, require, run, tool, write

SOURCE = "counted.cpp"
RUNS = (10, 100, 1000)

# kind: (flags, releases)
KINDS = {
    "ir": (["-fprofile-generate"], (14, 16, 19, 22, 23)),
    "fe": (["-fprofile-instr-generate"], (14, 16, 19, 22, 23)),
    "mcdc": (["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"], (19, 22, 23)),
    "vtables": (["-fprofile-generate", "-mllvm", "-enable-vtable-value-profiling"], (19, 22, 23)),
    "temporal": (["-fprofile-generate", "-mllvm", "-pgo-temporal-instrumentation"], (22, 23)),
    "entry": (["-fprofile-generate", "-mllvm", "-pgo-function-entry-coverage"], (22, 23)),
    "blocks": (["-fprofile-generate", "-mllvm", "-pgo-block-coverage"], (22, 23)),
    "loops": (["-fprofile-generate", "-mllvm", "-pgo-instrument-loop-entries"], (22, 23)),
    # Of 23 alone: what is counted differs from 22, by the same hashes.
    "bytes": (["-fprofile-instr-generate", "-mllvm", "-enable-single-byte-coverage=true"], (23,)),
    "csir": (["-fcs-profile-generate"], (14, 16, 19, 22, 23)),
}


def profdata(release):
    return tool("llvm-profdata", release)


def keep(release):
    """So that llvm-profdata, too, keeps the names of virtual tables."""
    return ["--keep-vtable-symbols"] if release >= 19 else []


class Counted:
    def __init__(self, kind, release, folder):
        self.kind, self.release, self.folder = kind, release, folder
        self.exe = os.path.join(folder, "prog")
        self.raws = [os.path.join(folder, f"{n}.profraw") for n in RUNS]
        self.source = os.path.join(PROGRAMS, SOURCE)
        self.first = os.path.join(folder, "first.profdata")  # csir: of the first round

    def __str__(self):
        return f"{self.kind} of clang {self.release}"


def counted(work, kind, release):
    """The program with its profiles, cached."""
    compiler, flags = tool("clang++", release), list(KINDS[kind][0])
    source = os.path.join(PROGRAMS, SOURCE)
    key = fingerprint("counted", kind, read(source), os.stat(os.path.realpath(compiler)).st_size)
    program = Counted(kind, release, os.path.join(work.cache, f"counted-{release}-{key}"))
    with locked(program.folder + ".lock"):
        if os.path.exists(os.path.join(program.folder, "done")):
            return program
        shutil.rmtree(program.folder, ignore_errors=True)
        os.makedirs(program.folder)
        if kind == "csir":
            plain = counted(work, "ir", release)
            good(profdata(release), "merge", *plain.raws, "-o", program.first)
            flags += ["-fprofile-use=" + program.first, "-O2"]
        good(compiler, "-O1", *flags, "-Wl,--build-id", source, "-o", program.exe, timeout=300)
        for n, raw in zip(RUNS, program.raws):
            good(*beside(compiler), program.exe, str(n), env={"LLVM_PROFILE_FILE": raw})
            require(os.path.exists(raw), f"{program}: no profile was written")
        write(os.path.join(program.folder, "done"), b"")
    return program


def many_branches(folder):
    """A C program whose functions have so many branches that hashes of theirs fill all bits. By its
    argument it runs more or less of them, but never all."""
    source = os.path.join(folder, "branches.c")
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <stdlib.h>\n")
        for i in range(24):
            body = "".join(f"if (a > {k} && b) r += a; while (b-- > {k}) r--; "
                           for k in range(3 + i % 7))
            f.write(f"int f{i}(int a, int b) {{ int r = {i}; {body} return r; }}\n")
        f.write("int main(int argc, char **argv)\n{\n"
                "    int sum = f0(1, 2) + f23(3, 4), n = argc > 1 ? atoi(argv[1]) : 0;\n")
        for i in range(1, 20):
            f.write(f"    if (n > {i % 12}) sum += f{i}(n, {i});\n")
        f.write("    return sum > 1000;\n}\n")
    return source


def each(kinds=KINDS):
    return [(kind, release) for kind in kinds for release in KINDS[kind][1]]


def merge(work, out, *args, code=0):
    result = run(work.pgokit, "merge", *args, "-o", out)
    require(result.code == code, f"exit code {code} expected\n{result}")
    return result


def text(release, *inputs):
    """What llvm-profdata makes of the inputs as text. One thread, because values depend on the
    number of threads."""
    return good(profdata(release), "merge", "--text", *keep(release), "-j", "1", *inputs, "-o", "-")


def first_difference(theirs, ours, what):
    a, b = theirs.splitlines(), ours.splitlines()
    for i, (x, y) in enumerate(zip(a + [""] * len(b), b + [""] * len(a))):
        if x != y:
            return f"{what}: line {i + 1}: theirs {x!r}, ours {y!r}"
    return f"{what}: differ"


def same_text(theirs, ours, what):
    require(theirs == ours, first_difference(theirs, ours, what))
