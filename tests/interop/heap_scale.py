#!/usr/bin/env python3
"""Many profiles: threads, weights, shards, lists of names, compressed files, the symbol cache,
sysroots, pruning, and runs that are interrupted. What comes out must not depend on any of it.
"""

import glob
import gzip
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import profiles
from heap_releases import OF_YAML
from peers import HERE, Variant, at_hand, good, main, read, require, run, tool, write

PIE_22 = Variant(22, "-O2", "-pie", "-fpie")
HISTOGRAM_22 = Variant(22, "-O2", "-no-pie", histogram=True)
HISTOGRAM_19 = Variant(19, "-O2", "-no-pie", histogram=True)
RELEASE_14 = Variant(14, "-O2", "-no-pie")


class Inputs:
    """Raw profiles of several programs and releases, with histograms, with fields that are not
    known; an indexed one, a YAML one, and one with a data access profile."""

    def __init__(self, work):
        programs = [work.build("classes.cpp", PIE_22), work.build("lifetimes.cpp", HISTOGRAM_22),
                    work.build("segments.c", HISTOGRAM_19), work.build("plain.c", RELEASE_14)]
        folder = work.temp("inputs")
        self.binaries = [a for p in programs for a in ("-b", p.exe)]
        indexed, yaml = f"{folder}/old.profdata", f"{folder}/old.yaml"
        good(work.pgokit, "merge", programs[0].raw, *self.binaries[:2], "-o", indexed,
             "--full-schema", "--to", "llvm22")
        good(work.pgokit, "merge", programs[1].raw, *self.binaries[2:4], "-o", yaml, "--to",
             "yaml")
        data_access = os.path.join(HERE, "..", "golden", "yaml", "data_access.yaml")
        self.paths = [p.raw for p in programs] + [indexed, yaml, data_access]


def merged(work, folder, inputs, *options, before=None, env=None):
    out = f"{folder}/out.profdata"
    result = run(work.pgokit, "merge", *inputs, *options, "-o", out, before=before, env=env)
    require(result.code in (0, 1), str(result))
    return read(out)


TARGETS = (("--to", "llvm22", "--full-schema"), ("--to", "any"), ("--to", "llvm16"),
           ("--to", "yaml"))


def any_order_any_threads(work):
    inputs, folder = Inputs(work), work.temp("threads")
    rng, paths = random.Random(4), [p for p in inputs.paths for _ in range(3)]
    for target in TARGETS:
        expected = merged(work, folder, paths, *inputs.binaries, *target, "-j1")
        for threads in (1, 2, 3, 7, 50):
            rng.shuffle(paths)
            got = merged(work, folder, paths, *inputs.binaries, *target, f"-j{threads}")
            require(got == expected, f"{' '.join(target)}: other bytes with {threads} threads")
    return f"{len(paths)} inputs, {len(expected)} bytes"


def weights(work):
    inputs, folder = Inputs(work), work.temp("weights")
    for target in TARGETS:
        copies = merged(work, folder, inputs.paths * 3 + inputs.paths[:1], *inputs.binaries,
                        *target)
        weighted = [f"{p}@3" for p in inputs.paths[1:]] + [inputs.paths[0] + "@4"]
        require(merged(work, folder, weighted, *inputs.binaries, *target) == copies,
                f"{' '.join(target)}: weights differ from copies")
    # A file whose name looks like one with a weight.
    odd = write(f"{folder}/run@2", read(inputs.paths[0]))
    write(f"{folder}/run", read(inputs.paths[1]))
    one = merged(work, folder, inputs.paths[:1], *inputs.binaries)
    two = merged(work, folder, inputs.paths[:1] * 2, *inputs.binaries)
    require(merged(work, folder, [odd], *inputs.binaries) == one, "run@2 is a file")
    require(merged(work, folder, [odd + "@2"], *inputs.binaries) == two, "run@2@2 counts twice")
    write(f"{folder}/names", f"{inputs.paths[0]}@2\n".encode())
    require(merged(work, folder, ["--files-from", f"{folder}/names"], *inputs.binaries) == two,
            "a weight in a list of names")


def bad_weights(work):
    program, folder = work.build("classes.cpp", PIE_22), work.temp("bad-weights")
    for suffix in ("@0", "@-1", "@2x", "@", "@4294967296", "@99999999999999999999"):
        result = run(work.pgokit, "merge", program.raw + suffix, "-b", program.exe, "-o",
                     f"{folder}/out")
        require(result.code == 2 and "weight" in result.errors and program.raw in result.errors,
                f"{suffix}\n{result}")
    result = run(work.pgokit, "merge", f"{folder}/gone@3", "-b", program.exe, "-o",
                 f"{folder}/out")
    require(result.code == 2 and f"{folder}/gone: cannot open" in result.errors, str(result))
    require(not os.listdir(folder), "left something behind")


# ---- shards ----

def shards(work, with_binaries):
    """Merging partial profiles of shards is merging all, for any way of sharding, with binaries
    given to the shards or to the end only, also where shards of shards are merged."""
    inputs, folder = Inputs(work), work.temp("shards")
    rng, paths = random.Random(7), inputs.paths * 2
    given = inputs.binaries if with_binaries else []
    for target in TARGETS:
        expected = merged(work, folder, paths, *inputs.binaries, *target)
        for way in range(3):
            rng.shuffle(paths)
            parts = [paths[i::3 + way] for i in range(3 + way)]
            made = []
            for i, part in enumerate(parts):
                made.append(f"{folder}/{i}.pgk" + (".zst" if way == 1 else ""))
                run_ok(work, "merge", *part, *given, "--partial", "-o", made[-1])
            run_ok(work, "merge", *made[:2], *given, "--partial", "-o", f"{folder}/two.pgk")
            rest = [f"{folder}/two.pgk", *made[2:]]
            got = merged(work, folder, rest, *inputs.binaries, *target)
            require(got == expected, f"{' '.join(target)}: other bytes, way {way}")
    return f"{len(paths)} inputs"


def run_ok(work, *args):
    """A command that is done, perhaps with a warning."""
    result = run(work.pgokit, *args)
    require(result.code in (0, 1), str(result))
    return result


def partial_bytes(work):
    """Equal content gives equal partial profiles; they are a format like others."""
    inputs, folder = Inputs(work), work.temp("partial")
    for given in ([], inputs.binaries):
        made = []
        for i, paths in enumerate((inputs.paths, inputs.paths[::-1])):
            made.append(f"{folder}/{i}.pgk")
            run_ok(work, "merge", *paths, *given, "--partial", "-o", made[-1], f"-j{1 + 2 * i}")
        require(read(made[0]) == read(made[1]), "the order of inputs shows")
    text = good(work.pgokit, "check", *made)
    require(text.count("sound: partial heap profile, version ") == 2, text)
    shown = profiles.parse_json(good(work.pgokit, "show", made[0], "--json", *inputs.binaries))
    require(len(shown.stacks()) > 100, f"{len(shown.stacks())} stacks")
    for option in (["--min-bytes", "1"], ["--to", "llvm22"], ["--full-schema"]):
        result = run(work.pgokit, "merge", made[0], "--partial", *option, "-o", f"{folder}/out")
        require(result.code == 2 and "part" in result.errors, str(result))
    raw = profiles.parse_json(good(work.pgokit, "show", inputs.paths[1], "--json",
                                   *inputs.binaries))
    return f"{len(shown.stacks())} contexts; of one raw profile {len(raw.stacks())}"


# ---- compressed files ----

def compressed(work):
    inputs, folder = Inputs(work), work.temp("compressed")
    expected = merged(work, folder, inputs.paths, *inputs.binaries)
    small, zipped = [], []
    for path in inputs.paths:
        zipped.append(write(f"{folder}/{len(zipped)}.gz", gzip.compress(read(path))))
        small.append(f"{folder}/{len(small)}.zst")
        good(tool("zstd"), "-q", path, "-o", small[-1])
    require(merged(work, folder, small, *inputs.binaries) == expected, "zstd")
    require(merged(work, folder, zipped, *inputs.binaries) == expected, "gzip")
    out = f"{folder}/out.profdata.zst"
    run_ok(work, "merge", *inputs.paths, *inputs.binaries, "-o", out)
    require(read(out)[:4] == b"\x28\xb5\x2f\xfd" and len(read(out)) < len(expected),
            "not compressed")
    good(tool("zstd"), "-q", "-t", out)
    require(subprocess.run([tool("zstd"), "-dc", out], check=True,
                           capture_output=True).stdout == expected, "other content")
    text = good(work.pgokit, "check", out)
    require("sound: indexed profile" in text, text)
    # A binary may be compressed, too.
    binary = f"{folder}/prog.zst"
    good(tool("zstd"), "-q", inputs.binaries[1], "-o", binary)
    require(merged(work, folder, inputs.paths[:1], "-b", binary) ==
            merged(work, folder, inputs.paths[:1], *inputs.binaries[:2]), "a compressed binary")


def damaged_compressed(work):
    program, folder = work.build("classes.cpp", PIE_22), work.temp("damaged")
    for data, end in ((subprocess.run([tool("zstd"), "-qc", program.raw], check=True,
                                      capture_output=True).stdout, "zst"),
                      (gzip.compress(read(program.raw)), "gz")):
        path = f"{folder}/cut.{end}"
        for n in (len(data) - 1, len(data) // 2, 20, 5):
            write(path, data[:n])
            result = run(work.pgokit, "merge", path, "-b", program.exe, "-o", f"{folder}/out")
            require(result.code == 2 and path in result.errors and
                    re.search(r"at offset 0x[0-9a-f]+", result.errors), str(result))
        write(path, data[:100] + bytes([data[100] ^ 0xff]) + data[101:])
        result = run(work.pgokit, "check", path)
        require(result.code == 2 and path in result.errors, str(result))


# ---- the symbol cache ----

def cache(work):
    inputs, folder = Inputs(work), work.temp("cache")
    env = {"XDG_CACHE_HOME": f"{folder}/cache"}
    expected = merged(work, folder, inputs.paths, *inputs.binaries, "--no-cache", env=env)
    require(not os.path.exists(env["XDG_CACHE_HOME"]), "--no-cache wrote a cache")
    require(merged(work, folder, inputs.paths[:1], *inputs.binaries, env=env) ==
            merged(work, folder, inputs.paths[:1], *inputs.binaries, "--no-cache"), "one input")
    for what in ("partly warm", "warm"):
        require(merged(work, folder, inputs.paths, *inputs.binaries, env=env) == expected, what)
    entries = glob.glob(f"{folder}/cache/pgokit/*.symbols")
    require(len(entries) == 4, f"{len(entries)} entries of 4 binaries")
    for damage in (lambda b: b"", lambda b: b[:len(b) // 2], lambda b: b"x" * len(b),
                   lambda b: b[:200] + b"\xff" * 16 + b[216:]):
        for path in entries:
            write(path, damage(read(path)))
        require(merged(work, folder, inputs.paths, *inputs.binaries, env=env) == expected,
                "damaged entries")
    good_entries = [read(path) for path in entries]
    require(all(len(b) > 64 for b in good_entries), "not rewritten")
    os.chmod(f"{folder}/cache/pgokit", 0o500)
    require(merged(work, folder, inputs.paths, *inputs.binaries, env=env) == expected,
            "a folder that cannot be written to")
    os.chmod(f"{folder}/cache/pgokit", 0o700)
    env = {"XDG_CACHE_HOME": write(f"{folder}/file", b"")}
    require(merged(work, folder, inputs.paths, *inputs.binaries, env=env) == expected,
            "a file in place of the folder")


def concurrent_runs(work):
    inputs, folder = Inputs(work), work.temp("concurrent")
    expected = merged(work, folder, inputs.paths, *inputs.binaries, "--no-cache")
    env = dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache")
    for _ in range(3):
        runs = [subprocess.Popen([work.pgokit, "merge", "-q", *inputs.paths[i % 3:],
                                  *inputs.paths[:i % 3], *inputs.binaries, "-o",
                                  f"{folder}/{i}.profdata"], env=env, stderr=subprocess.DEVNULL)
                for i in range(6)]
        for i, child in enumerate(runs):
            require(child.wait() in (0, 1), f"run {i} failed")
            require(read(f"{folder}/{i}.profdata") == expected, f"run {i} differs")
        for path in glob.glob(f"{folder}/cache/pgokit/*"):
            require(path.endswith(".symbols"), f"left {path}")
            if random.random() < 0.5:
                os.unlink(path)


# ---- sysroots ----

def sysroot(work):
    """A program whose libraries nobody gave: found by build id below a copy of the root."""
    program, folder = work.modules(PIE_22), work.temp("sysroot")
    parts = [program.exe, program.path("lib.so"), program.path("plugin.so")]
    given = [a for p in parts for a in ("-b", p)]
    expected = merged(work, folder, [program.raw], *given)
    alone = merged(work, folder, [program.raw], "-b", program.exe)
    require(alone != expected, "the libraries make no difference")
    os.makedirs(f"{folder}/root/usr/lib/deep")
    os.makedirs(f"{folder}/root/bin")
    shutil.copy(parts[0], f"{folder}/root/bin/other-name")
    for part in parts[1:]:
        shutil.copy(part, f"{folder}/root/usr/lib/deep/")
    require(merged(work, folder, [program.raw], "--sysroot", f"{folder}/root") == expected,
            "all from the sysroot")
    require(merged(work, folder, [program.raw], "-b", program.exe, "--sysroot",
                   f"{folder}/root") == expected, "libraries from the sysroot")
    # Stripped there, with debug files where systems keep them.
    debug = f"{folder}/root/usr/lib/debug/.build-id"
    for part in glob.glob(f"{folder}/root/usr/lib/deep/*"):
        ident = re.search(r"Build ID: ([0-9a-f]+)", good(tool("readelf"), "-n", part))[1]
        os.makedirs(f"{debug}/{ident[:2]}", exist_ok=True)
        good(tool("objcopy"), "--only-keep-debug", part, f"{debug}/{ident[:2]}/{ident[2:]}.debug")
        good(tool("strip"), part)
    require(merged(work, folder, [program.raw], "--sysroot", f"{folder}/root") == expected,
            "stripped libraries with debug files")
    require(merged(work, folder, [program.raw], "-b", program.exe, "--debug-dir",
                   os.path.dirname(debug)) == expected, "libraries from a debug folder")
    result = run(work.pgokit, "merge", program.raw, "--sysroot", folder + "/nothing", "-o",
                 f"{folder}/out")
    require(result.code == 2 and "build id" in result.errors, str(result))


# ---- pruning ----

def contexts_of(work, path, *options):
    return profiles.parse_json(good(work.pgokit, "show", path, "--json", *options)).stacks()


def pruned(work, folder, program, *options):
    out = f"{folder}/pruned.profdata"
    result = run_ok(work, "merge", program.raw, "-b", program.exe, "-o", out, "--full-schema",
                    "--to", "llvm22", *options)
    notes = re.findall(r"pruned ([\d,]+) of ([\d,]+) contexts \(.* of .*, [\d.]+ %\)",
                       result.errors)
    require(len(notes) == (1 if options else 0), str(result))
    left = contexts_of(work, out)
    return left, [int(n.replace(",", "")) for n in notes[0]] if notes else [0, len(left)]


def prune(work):
    program, folder = work.build("classes.cpp", PIE_22), work.temp("prune")
    whole, _ = pruned(work, folder, program)
    sizes = sorted(b["TotalSize"] for b in whole.values())
    limit = sizes[len(sizes) // 2]
    left, (dropped, all_) = pruned(work, folder, program, "--min-bytes", str(limit))
    expected = {s: b for s, b in whole.items() if b["TotalSize"] >= limit}
    require(set(left) == set(expected), "--min-bytes: other contexts")
    require((dropped, all_) == (len(whole) - len(left), len(whole)), "--min-bytes: other counts")
    require(all(left[s]["TotalSize"] == b["TotalSize"] for s, b in expected.items()), "sizes")

    counts = sorted(b["AllocCount"] for b in whole.values())
    limit = counts[-1]
    left, _ = pruned(work, folder, program, "--min-count", str(limit))
    require(set(left) == {s for s, b in whole.items() if b["AllocCount"] >= limit}, "--min-count")

    left, _ = pruned(work, folder, program, "--max-depth", "3")
    require(sum(b["TotalSize"] for b in left.values()) == sum(sizes), "--max-depth loses bytes")
    require(len(left) <= len(whole) and max(map(len, left)) < max(map(len, whole)),
            "--max-depth cuts nothing")
    # The tools of both releases read it, with the same records.
    for release in at_hand(*OF_YAML):
        shown = profiles.parse_yaml(good(tool("llvm-profdata", release), "show", "--memory",
                                         f"{folder}/pruned.profdata"))
        require(set(shown.stacks()) == set(left), f"llvm-profdata-{release}: other contexts")

    left, (dropped, _) = pruned(work, folder, program, "--drop-unknown-leaf")
    require(set(left) == set(whole) and not dropped, "all leaves are functions of the program")
    other = work.build("plain.c", PIE_22)
    result = run(work.pgokit, "merge", f"{folder}/pruned.profdata", "-b", other.exe, "-o",
                 f"{folder}/out", "--drop-unknown-leaf")
    require(result.code == 2 and "none that is left" in result.errors, str(result))
    for option, label in (("--cold-only", "cold"), ("--hot-only", "hot")):
        result = run(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", f"{folder}/out",
                     option)
        require(result.code == 0 or "none that is left" in result.errors, f"{label}\n{result}")
    result = run(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", f"{folder}/out",
                 "--min-bytes", "1q")
    require(result.code == 2 and "--min-bytes" in result.errors, str(result))
    return f"{len(whole)} contexts"


# ---- runs that end early ----

def interrupted(work, number):
    """A signal while a pipe keeps the merge waiting, and at many moments of the run: the old
    output stays or the new one is whole; nothing else is left; the cache is sound."""
    inputs, folder = Inputs(work), work.temp("interrupted")
    env = dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache", LC_ALL="C")
    whole = merged(work, folder, inputs.paths, *inputs.binaries)
    os.makedirs(f"{folder}/to")
    out, old, rng = f"{folder}/to/out.profdata", b"what was there before\n", random.Random(number)
    argv = [work.pgokit, "merge", "-q", *inputs.paths, *inputs.binaries, "-o", out]
    start = time.monotonic()
    subprocess.run(argv, check=False, env=env, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    killed = 0
    for _ in range(25):
        shutil.rmtree(f"{folder}/cache", ignore_errors=True)
        write(out, old)
        child = subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, seconds))
        child.send_signal(number)
        code = child.wait(timeout=60)
        require(code in (0, 1, -number), f"exit code {code}")
        killed += code == -number
        require(os.listdir(f"{folder}/to") == ["out.profdata"], f"left {os.listdir(folder)}")
        require(read(out) == (old if code < 0 else whole) or read(out) == whole,
                "neither the old file nor the new one")
        for path in glob.glob(f"{folder}/cache/pgokit/*") + glob.glob(f"{folder}/cache/pgokit/.*"):
            require(path.endswith(".symbols"), f"left {path}")
        subprocess.run(argv, check=False, env=env, stderr=subprocess.DEVNULL)
        require(read(out) == whole, "the cache it left gives other answers")
    require(killed, "no run was interrupted")
    return f"{killed} of 25 runs were interrupted"


def one_file_at_a_time(work):
    """Inputs are closed as they are read: 300 of them with 40 descriptors."""
    program, folder = work.build("classes.cpp", PIE_22), work.temp("descriptors")
    paths = []
    for i in range(300):
        paths.append(f"{folder}/{i}.memprofraw")
        os.link(program.raw, paths[-1])
    write(f"{folder}/names", "".join(p + "\n" for p in paths).encode())
    expected = merged(work, folder, [program.raw + "@300"], "-b", program.exe)
    got = merged(work, folder, ["--files-from", f"{folder}/names"], "-b", program.exe,
                 before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
    require(got == expected, "300 files are not one of weight 300")
    # One that is bad is named, whatever the number of threads.
    bad = paths[217]
    os.unlink(bad)
    write(bad, read(program.raw)[:1000])
    messages = set()
    for threads in (1, 2, 8):
        result = run(work.pgokit, "merge", *paths, "-b", program.exe, "-o", f"{folder}/out",
                     f"-j{threads}")
        require(result.code == 2 and bad in result.errors, str(result))
        messages.add(result.errors)
    require(len(messages) == 1, f"{len(messages)} messages")


def add_cases(work, tap):
    for release in (14, 19, 22):
        tool("clang", release)
    tool("llvm-profdata", 22)
    tap.add("any order, any number of threads", any_order_any_threads, work)
    tap.add("weights are copies", weights, work)
    tap.add("weights that are none", bad_weights, work)
    tap.add("partial profiles of shards, binaries at the end", shards, work, False)
    tap.add("partial profiles of shards, binaries everywhere", shards, work, True)
    tap.add("partial profiles as files", partial_bytes, work)
    tap.add("compressed files", compressed, work)
    tap.add("damaged compressed files", damaged_compressed, work)
    tap.add("the symbol cache", cache, work)
    tap.add("runs that share a symbol cache", concurrent_runs, work)
    tap.add("binaries from a sysroot", sysroot, work)
    tap.add("pruning", prune, work)
    for number in (signal.SIGINT, signal.SIGTERM):
        tap.add(f"interrupted by {number.name}", interrupted, work, number)
    tap.add("many files, few descriptors", one_file_at_a_time, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
