"""Sample profiles like those of a large C++ program: llvm-profdata-22 against pgokit."""

import os
import shutil
import subprocess
import sys

FILES, FUNCTIONS, MANY_FUNCTIONS = 20, 20000, 200000


def generate(bench, name, *options):
    """The text of that name, made once."""
    folder = os.path.join(bench.data, "sample")
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        subprocess.run([sys.executable, os.path.join(bench.here, "gen_sample.py"), *options,
                        "-o", path + ".new"], check=True)
        os.rename(path + ".new", path)
    return path


def encoded(peer, text, *options):
    """The text as llvm-profdata's extensible binary."""
    path = text.removesuffix(".txt") + ".afdo"
    if not os.path.exists(path):
        subprocess.run([peer, "merge", "--sample", *options, text, "-o", path + ".new"],
                       check=True, stderr=subprocess.DEVNULL)
        os.rename(path + ".new", path)
    return path


def runs(bench, peer, kind, *options):
    for run in range(FILES):
        vtables = "-vtables" if "--vtables" in options else ""
        text = generate(bench, f"{kind}{vtables}-{run}.txt", "--kind", kind, "--run", str(run),
                        "--functions", str(FUNCTIONS), *options)
        write = ["-extbinary-write-vtable-type-prof"] if vtables else []
        yield text, encoded(peer, text, *write)


def merge_case(bench, peer, name, inputs, required, peer_options=(), options=()):
    return (name,
            [peer, "merge", "--sample", *peer_options, *inputs, "-o", bench.out("peer")],
            [bench.pgokit, "merge", *options, *inputs, "-o", bench.out("ours")], required)


def cases(bench):
    """Yields (name, peer's command, our command, required ratios)."""
    peer = shutil.which("llvm-profdata-22")
    if not peer:
        raise SystemExit("bench: llvm-profdata-22 is missing; scripts/deps bench installs it")
    flat = list(runs(bench, peer, "flat"))
    contexts = list(runs(bench, peer, "contexts"))
    what = f"{FILES} files of {FUNCTIONS} functions"
    yield merge_case(bench, peer, f"merge {what}", [b for _, b in flat],
                     {"cpu": 1 / 15, "peak": 1 / 5})
    yield merge_case(bench, peer, f"merge {what}, context-sensitive", [b for _, b in contexts],
                     {"cpu": 1 / 15})
    yield merge_case(bench, peer, f"text to extensible binary, {FUNCTIONS} functions",
                     [flat[0][0]], {"cpu": 1 / 10})
    if bench.full:
        probes = list(runs(bench, peer, "probes"))
        vtables = list(runs(bench, peer, "flat", "--vtables"))
        yield merge_case(bench, peer, f"merge {what} with probes", [b for _, b in probes], {})
        yield merge_case(bench, peer, f"merge {what} with vtables", [b for _, b in vtables], {},
                         ["-extbinary-write-vtable-type-prof"], ["--vtables"])
    many = encoded(peer, generate(bench, "flat-many.txt", "--functions", str(MANY_FUNCTIONS)))
    with open(many.removesuffix(".afdo") + ".txt", encoding="ascii") as f:
        function = next(f).rsplit(":", 2)[0]
    yield (f"show one function of {MANY_FUNCTIONS}",
           [peer, "show", "--sample", f"--function={function}", many],
           [bench.pgokit, "show", many, "--function", function], {})
