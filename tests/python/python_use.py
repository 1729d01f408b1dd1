#!/usr/bin/env python3
"""Using the Python module: memory, threads, types, messages, and the examples of its page.

usage: python_use.py PGOKIT LIBRARY SOURCE-FOLDER BUILD-FOLDER
"""

import csv
import ctypes
import gc
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import pgokit
from python_harness import GOLDEN, PGOKIT, SOURCE, Cases, Skip, require, run, said, tool

HEAP = GOLDEN / "partial/two-contexts.pgk"
SAMPLES = GOLDEN / "sample/llvm22-plain.afdo"
COUNTERS = GOLDEN / "instr-indexed/llvm22-vtables.profdata"
SHOWN = re.compile(r"^\[examples/python/(\w+\.py)\]\(\.\./examples/python/\1\):\n\n```python\n(.*?)"
                   r"^```$", re.MULTILINE | re.DOTALL)


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def allocated_bytes():
    """By malloc, whatever asked for it."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        raise Skip("this C library does not count what is allocated")
    libc.mallinfo2.restype = Mallinfo
    gc.collect()
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def read_walk_and_fail(folder):
    """One of everything."""
    heap = pgokit.read(HEAP)
    contexts = [(dict(context), context.frames, context.type_name) for context in heap]
    heap.merge(heap.copy(), 2)
    heap.prune(max_depth=1)
    heap.write(pathlib.Path(folder, "out"))
    samples = pgokit.SampleProfile.read_all([SAMPLES, (SAMPLES, 2)])
    nodes = [(node.lines, node.targets, node.inlinees) for node in samples]
    counters = list(pgokit.read(COUNTERS))
    for path in (GOLDEN / "reject/indexed-cut-in-records.profdata", "/no/such/file"):
        try:
            pgokit.read(path)
        except pgokit.Error:
            pass
    heap.compare(pgokit.HeapProfile.read(HEAP))
    samples.compare(pgokit.SampleProfile.read(SAMPLES))
    builder = pgokit.SampleBuilder()
    builder.function("main").inlinee(3, "parse").line(1, 5)
    nodes += list(builder.finish())
    pgokit.HeapProfile().add([pgokit.Frame.of("main", "a.c", 3)], {"TotalSize": 5})
    with pgokit.Binaries() as binaries:
        require(binaries.paths == [], "binaries from nowhere")
    return len(contexts) + len(nodes) + len(counters)


def memory_is_freed(folder):
    """What is leaked is leaked in each of the batches; the interpreter's own tables grow in one."""
    for _ in range(20):
        read_walk_and_fail(folder)
    grown = []
    for _ in range(4):
        before = allocated_bytes()
        for _ in range(50):
            read_walk_and_fail(folder)
        grown.append(allocated_bytes() - before)
    require(min(grown) < 10000, f"each 50 rounds left {grown} B")


def parts_keep_their_profile(_folder):
    context = next(iter(pgokit.HeapProfile.read(HEAP)))
    node = next(iter(pgokit.SampleProfile.read(SAMPLES)))
    gc.collect()
    require(context["AllocCount"] > 0 and context.frames[0].function == "main", f"{context}")
    require(node.total > 0 and node.lines, f"{node}")


def stale_and_closed(_folder):
    profile = pgokit.HeapProfile.read(HEAP)
    context = next(iter(profile))
    profile.merge(pgokit.HeapProfile.read(HEAP))
    node = None
    with pgokit.SampleProfile.read(SAMPLES) as samples:
        node = next(iter(samples))
    profile.close()
    profile.close()
    for use in (lambda: context["TotalSize"], lambda: node.total, lambda: len(profile),
                lambda: profile.write("/no/where"), lambda: samples.summary()):
        try:
            use()
        except ValueError as error:
            require("closed" in str(error), str(error))
        else:
            require(False, "it can be used")
    try:
        pgokit.HeapProfile.read(HEAP, binaries=str(HEAP))
        require(False, "a path is taken for a list of paths")
    except TypeError:
        pass


def threads_wait_for_one_another(_folder):
    """Readers and writers of the same profiles, both ways round; sums are exact."""
    one, other, source = (pgokit.HeapProfile.read(HEAP) for _ in range(3))
    each, problems = 20, []

    def work(into, beside):
        try:
            for _ in range(each):
                into.merge(source)
                beside.copy()
                into.total()
        except ValueError as error:  # what another thread changed meanwhile
            require("changed" in str(error), str(error))
        except Exception as error:  # pylint: disable=broad-except
            problems.append(repr(error))

    def merge_only(into):
        for _ in range(each):
            into.merge(source)

    mixed = [threading.Thread(target=work, args=pair) for pair in ((one, other), (other, one)) * 2]
    plain = pgokit.HeapProfile()
    adding = [threading.Thread(target=merge_only, args=(plain,)) for _ in range(4)]
    for thread in mixed + adding:
        thread.start()
    for thread in mixed + adding:
        thread.join()
    require(not problems, f"{problems}")
    require(plain.total() == 4 * each * source.total(), f"{plain.total()} B")


def warnings_go_to_logging(folder):
    """And not to standard error."""
    code = ("import logging, pgokit, sys\n"
            "logging.basicConfig(stream=sys.stdout, level=logging.DEBUG,\n"
            "                    format='%(name)s %(levelname)s %(message)s')\n"
            "set_of = pgokit.Binaries([sys.argv[1]], symbols_suffice=True)\n"
            "profile = pgokit.HeapProfile.read(sys.argv[2], binaries=set_of)\n")
    build_app(folder)
    run([tool("strip"), "-g", "app"], folder)
    run([PGOKIT, "record", "heap", "-o", "app.profraw", "--", "./app"], folder)
    done = run([sys.executable, "-c", code, "./app", "app.profraw"], folder)
    require(done.stdout.startswith("pgokit ") and not done.stderr, f"{done.stdout}, {done.stderr}")


def no_library(_folder):
    """Says what to do."""
    done = subprocess.run([sys.executable, "-c", "import pgokit"], capture_output=True, text=True,
                          check=False, env=dict(os.environ, PGOKIT_LIBRARY="/no/libpgokit.so"))
    require(done.returncode and "ImportError" in done.stderr and
            "set PGOKIT_LIBRARY" in done.stderr, done.stderr)


def types_are_strict(_folder):
    if not shutil.which("mypy"):
        raise Skip("missing mypy")
    run(["mypy", "--strict", "--cache-dir=/dev/null", str(SOURCE / "python/pgokit"),
         *map(str, sorted((SOURCE / "examples/python").glob("*.py")))], str(SOURCE),
        env={"MYPYPATH": str(SOURCE / "python")})


def page_shows_the_examples(_folder):
    shown = dict(SHOWN.findall((SOURCE / "docs/python.md").read_text(encoding="utf-8")))
    examples = sorted((SOURCE / "examples/python").glob("*.py"))
    require(sorted(shown) == [path.name for path in examples], f"{sorted(shown)} are shown")
    for path in examples:
        require(shown[path.name] == path.read_text(encoding="utf-8"), f"{path} reads otherwise")


def build_app(folder):
    shutil.copy(SOURCE / "tests/python/programs/python_app.c", os.path.join(folder, "app.c"))
    run([tool("gcc"), "-g", "-O1", "-fno-optimize-sibling-calls", "app.c", "-o", "app"], folder)


def example(name, folder, *arguments, status=0, given=None, **env):
    path = f"{pathlib.Path(PGOKIT).parent}:{os.environ['PATH']}"
    program = [sys.executable, str(SOURCE / "examples/python" / name)]
    if given is not None:
        program = ["sh", "-c", 'printf %s "$0" | "$@"', given, *program]
    return run([*program, *arguments], folder, status=status, env=dict(env, PATH=path))


def top_contexts(folder):
    """On a heap that was just recorded, where the program is given and where it is not."""
    build_app(folder)
    if said("record", "heap", "--help").returncode:
        raise Skip("pgokit record does not run here")
    run([PGOKIT, "record", "heap", "-o", "app.profraw", "--", "./app"], folder)
    lines = example("top_contexts.py", folder, "app.profraw", "./app").stdout.splitlines()
    require(re.match(r" +123,456 +\d+\.\d% +1  scratch \(app\.c:4:\d+\) < main \(app\.c:13:\d+\)",
                     lines[1]), "\n".join(lines))
    done = example("top_contexts.py", folder, "no.profraw", status=1)
    require("no.profraw" in done.stderr and "Traceback" not in done.stderr, done.stderr)


def contexts_as_csv(folder):
    rows = list(csv.reader(example("contexts_csv.py", folder, str(HEAP)).stdout.splitlines()))
    require(rows[0] == ["bytes", "objects", "function", "place", "called by"], f"{rows[0]}")
    wanted = [["100", "1", "main", "two_contexts.c:26:12", ""],
              ["84", "3", "main", "two_contexts.c:18:19", ""]]
    require(rows[1:] == wanted, f"{rows[1:]}")


def samples_of_ones_own(folder):
    given = "main 4 120\nparse 1 80\nparse 2 15\n"
    example("samples_from_scratch.py", folder, "app.afdo", given=given)
    run([PGOKIT, "convert", "-q", "app.afdo", "--to", "text", "-o", "app.txt"], folder)
    text = pathlib.Path(folder, "app.txt").read_text(encoding="utf-8")
    require(text == "main:120:0\n 4: 120\nparse:95:0\n 1: 80\n 2: 15\n", text)


def gate_for_growth(folder):
    twice = pathlib.Path(folder, "twice")
    pgokit.merge([(HEAP, 2)]).write(twice, "partial")
    same = example("growth_gate.py", folder, str(HEAP), str(HEAP), "5")
    require(same.stdout == "+0.0 % bytes, +0.0 % objects; 100% of the bytes by the same call "
            "stacks\n", same.stdout)
    done = example("growth_gate.py", folder, str(HEAP), str(twice), "5", status=1)
    require(done.stdout.startswith("+100.0 % bytes, +100.0 % objects"), done.stdout)
    example("growth_gate.py", folder, str(HEAP), str(twice), "100")


def unnamed_frames_stay(folder):
    """Below a library that has no name for its function; and what compilers get is the same as by
    pgokit merge."""
    gcc, programs = tool("gcc"), SOURCE / "tests/python/programs"
    run([gcc, "-O1", "-s", "-fPIC", "-shared", "-Wl,--build-id",
         str(programs / "python_library.c"), "-o", "libinside.so"], folder)
    run([gcc, "-g", "-O1", str(programs / "python_outside.c"), "./libinside.so", "-o", "outside"],
        folder)
    if said("record", "heap", "--help").returncode:
        raise Skip("pgokit record does not run here")
    run([PGOKIT, "record", "heap", "-o", "p.profraw", "--", "./outside"], folder)
    profile = pgokit.HeapProfile.read(pathlib.Path(folder, "p.profraw"))
    context, = [context for context in profile if context["TotalSize"] == 1234]
    names = [frame.function for frame in context.frames]
    require(re.fullmatch(r"make \[libinside\.so\]\+0x[0-9a-f]+ through main", " ".join(names[:4])),
            f"{names}")
    require(os.path.samefile(context.frames[1].module_path,
                             os.path.join(folder, "libinside.so")), f"{context.frames}")
    require(any(library.module_path.endswith("/libinside.so") and library.frames == 1
                for library in profile.unnamed), f"{profile.unnamed}")
    require(len(profile.prune(max_depth=2)) <= len(profile), "pruned")
    merged = pgokit.HeapProfile.read_all([pathlib.Path(folder, "p.profraw")])
    merged.write(pathlib.Path(folder, "got"))
    run([PGOKIT, "merge", "-q", "--full-schema", "p.profraw", "-o", "wanted"], folder)
    require(pathlib.Path(folder, "got").read_bytes() == pathlib.Path(folder, "wanted").read_bytes(),
            "other bytes than of pgokit merge")


def function_that_must_not_allocate(folder):
    build_app(folder)
    names = {"PROGRAM": "./app", "FUNCTION": "draw_frame"}
    example("test_allocations.py", folder, **names)
    done = example("test_allocations.py", folder, status=1, ALLOCATE="1", **names)
    require("7 objects, 7000 B: scratch < draw_frame < main" in done.stderr, done.stderr)


def main():
    cases = Cases()
    cases.run("memory is freed", memory_is_freed)
    cases.run("contexts and functions keep their profile", parts_keep_their_profile)
    cases.run("what is closed or has changed says so", stale_and_closed)
    cases.run("threads wait for one another", threads_wait_for_one_another)
    cases.run("messages go to the logger", warnings_go_to_logging)
    cases.run("without the library the import says what to do", no_library)
    cases.run("types", types_are_strict)
    cases.run("the page shows the examples as they are", page_shows_the_examples)
    cases.run("example: the ten heaviest contexts", top_contexts)
    cases.run("example: contexts as CSV", contexts_as_csv)
    cases.run("example: a sample profile from scratch", samples_of_ones_own)
    cases.run("example: a gate for growth", gate_for_growth)
    cases.run("frames without a name stay in their stacks", unnamed_frames_stay)
    cases.run("example: a function that must not allocate", function_that_must_not_allocate)
    cases.finish()


main()
