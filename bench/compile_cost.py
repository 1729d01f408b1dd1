"""What a profile costs each compile: one small function, with clang alone, with clang's own use of
the profile, and with the plugin.

The profiles are large ones of programs of which the file is a small part: 35,000 contexts of
allocations with 4 to 15 frames, and 20,000 functions with two types each. Both are drawn by chance
and always the same.
Required: at most 50 ms more than without a profile. Counts of instructions, which do not depend on
what else the machine does, stand beside the times.
"""

import os
import random
import re
import shutil
import subprocess

import measure

CONTEXTS, FUNCTIONS, CALLERS = 35000, 20000, 3000
LEAST_RUNS, BOUND_MS = 15, 50
CLANG = "clang++-22"
SOURCE = """#include <cstdlib>
struct Shape { virtual long area(long); virtual ~Shape(); };
char *make(unsigned long n)
{
    return static_cast<char *>(malloc(n));
}
long area(Shape *shape, long n)
{
    long sum = make(n) != nullptr;
    for (long i = 0; i < n; i++)
        sum += shape->area(i);
    return sum;
}
"""


def name(number):
    text = f"function{number}"
    return f"_Z{len(text)}{text}v"


def heap_text():
    """The form of YAML; every thousandth context is of the file's own function."""
    draw = random.Random(22)
    yield "---\nHeapProfileRecords:\n"
    for i in range(CONTEXTS):
        own = i % 1000 == 0
        leaf = "_Z4makem" if own else name(draw.randrange(CALLERS))
        depth = draw.randrange(4, 16)
        line = 2 if own else draw.randrange(200)
        frames = [(leaf, line, 31 if own else draw.randrange(80))]
        frames += [(name(draw.randrange(CALLERS)), draw.randrange(200), draw.randrange(80))
                   for _ in range(depth - 1)]
        yield f"  - GUID: {leaf}\n    AllocSites:\n      - Callstack:\n"
        for function, offset, column in frames:
            yield (f"          - {{ Function: {function}, LineOffset: {offset}, "
                   f"Column: {column}, IsInlineFrame: false }}\n")
        yield (f"        MemInfoBlock: {{ AllocCount: 10, TotalSize: {draw.randrange(1, 10**6)}, "
               f"TotalLifetime: {draw.randrange(10**5)}, "
               f"TotalLifetimeAccessDensity: {draw.choice((0, draw.randrange(10**6)))} }}\n")
    yield "...\n"


def sample_text():
    draw = random.Random(22)
    for i in range(FUNCTIONS):
        function = "_Z4areaP5Shapel" if i == FUNCTIONS // 2 else name(i)
        yield f"{function}:3000:10\n 1: 1000\n"
        yield f" 4: 2000 {name(draw.randrange(FUNCTIONS))}:2000\n"
        yield (f" 4: vtables _ZTV5Class{draw.randrange(1000)}:{draw.randrange(1, 1000)} "
               f"_ZTV4Type{draw.randrange(1000)}:{draw.randrange(1, 1000)}\n")


def profile(bench, folder, file, text, *options):
    """The bytes that compilers read, made of text."""
    path, source = os.path.join(folder, file), os.path.join(folder, file + ".text")
    if not os.path.exists(path):
        with open(source, "w", encoding="utf-8") as f:
            f.writelines(text)
        subprocess.run([bench.pgokit, "merge", "-q", *options, source, "-o", path], check=True)
    return path


def flags(bench, path):
    found = subprocess.run([bench.pgokit, "config", "-q", "--cflags", "use", "--cc", "clang-22",
                            "--profile", path], check=True, stdout=subprocess.PIPE, text=True)
    return found.stdout.split()


def without_own(given):
    """What the plugin alone is told."""
    return [flag for flag in given if not flag.startswith(("-fprofile-sample-use",
                                                            "-fmemory-profile-use"))]


def instructions(argv):
    """Millions that a compile executes; None without valgrind. clang compiles in its own process
    (-fintegrated-cc1), so that they are all counted."""
    if not shutil.which("valgrind"):
        return None
    told = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           *argv], check=True, stderr=subprocess.PIPE, text=True).stderr
    return int(re.search(r"refs: +([\d,]+)", told)[1].replace(",", "")) / 1e6


def run(bench, runs):
    """Yields (case, tool, Cost)."""
    folder = os.path.join(bench.data, "compile_cost")
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "small.cpp")
    with open(source, "w", encoding="utf-8") as f:
        f.write(SOURCE)
    heap = profile(bench, folder, "heap.profdata", heap_text())
    sample = profile(bench, folder, "types.afdo", sample_text(), "--vtables")
    compile_ = [CLANG, "-fintegrated-cc1", "-O2", "-g", "-c", source, "-o",
                os.path.join(folder, "small.o")]
    ways = {"no profile": [],
            "heap, clang's own": ["-fmemory-profile-use=" + heap],
            "heap, plugin": without_own(flags(bench, heap)),
            "types, clang's own": ["-fprofile-sample-use=" + sample],
            "types, plugin": without_own(flags(bench, sample)),
            "types, both": flags(bench, sample)}
    commands = [[*compile_, *given] for given in ways.values()]
    costs = measure.in_turn(commands, max(runs, LEAST_RUNS))
    print(f"\na compile of one small function, {CONTEXTS} contexts, {FUNCTIONS} functions\n"
          f"  {'':<22}{'CPU ms':>8}{'over none':>11}{'Minstr':>9}{'over none':>11}")
    counts = [instructions(command) for command in commands]
    for way, cost, count in zip(ways, costs, counts):
        ms = 1000 * cost.fastest_cpu_s
        more = ms - 1000 * costs[0].fastest_cpu_s
        counted = f"{count:>9.0f}{count - counts[0]:>11.0f}" if count else f"{'':>20}"
        say = "" if "plugin" not in way else "  pass" if more <= BOUND_MS else "  MISS"
        print(f"  {way:<22}{ms:>8.0f}{more:>11.0f}{counted}{say}")
        yield "small function", way, cost
