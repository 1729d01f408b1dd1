#!/usr/bin/env python3
"""CPU profiles of other profilers: gen makes of them what it makes of the text of the same samples,
by bytes, whatever their form; filters and folders choose among them; other files are refused.
"""

import gzip
import json
import os
import re
import shutil
import sys

from gen_inferred import chains_alone
from peers import good, main, read, require, run, tool, write
from profilers import (LAYOUTS, Recording, firefox, folded, otlp, otlp_json, pprof, speedscope,
                       with_length)
from stepped import FRAMES, LINES, recorded

FLAGS = ("-O2", "-g", LINES, FRAMES, "-Wl,--build-id")
NOON = 1_770_000_000_000_000_000  # ns


def build_id(exe):
    return re.search(r"Build ID: ([0-9a-f]+)", good("readelf", "-n", exe))[1]


def linker_address(exe):
    """From an address of a mapping to the linker's, of a program whose segments lie as in the
    file."""
    segments = [[int(x, 16) for x in line.split()[1:5]]
                for line in good("readelf", "-lW", exe).splitlines() if " LOAD " in line]

    def of(recording):
        def address(mapping, addr):
            start, _, offset, _ = recording.mappings[mapping]
            at = addr - start + offset
            for file_offset, vaddr, _, size in segments:
                if file_offset <= at < file_offset + size:
                    return at - file_offset + vaddr
            return at
        return address
    return of


def made(work):
    """A program, the text of its samples, these, and build ids by path."""
    exe, trace = recorded(work, 22, *FLAGS, every=53, samples=3000)
    text = chains_alone(trace)
    return exe, text, Recording(read(text).decode()), {exe: build_id(exe)}


def refused(*argv, env=None):
    result = run(*argv, env=env)
    require(result.code == 2, str(result))
    return result.errors


def profile(work, *argv):
    return good(work.pgokit, "gen", "-q", *argv, "--format", "text", "-o", "-")


def same_as_text(work):
    """Every form, by mappings of the process and by the linker's addresses."""
    exe, text, samples, ids = made(work)
    truth = profile(work, text, "-b", exe)
    require(truth.count("\n") > 20, truth)
    linked = linker_address(exe)(samples)
    files = {"a.pb.gz": pprof(samples, ids),
             "exact.pb.gz": pprof(samples, ids, in_calls=False),
             "plain.pb": gzip.decompress(pprof(samples, ids)),
             "linked.pb.gz": pprof(samples, ids, linked=linked),
             "cpu.pb.gz": pprof(samples, ids, types=(("cpu", "nanoseconds"),),
                                values=lambda count: (count * 10_000_000,)),
             "a.jsonl": otlp_json(samples, ids),
             "linked.jsonl": otlp_json(samples, ids, linked=linked),
             "lengths.pb": with_length(otlp(samples, ids)),
             "plain.folded": folded(samples, linked),
             "bracket.folded": folded(samples, linked, "[{}(+0x{:x})]"),
             "a.speedscope.json": speedscope(samples, linked),
             "threads.json": firefox(samples, ids, linked),
             "shared.json": firefox(samples, ids, linked, shared=True)}
    for layout in LAYOUTS:
        files[f"otlp-{layout}.pb"] = otlp(samples, ids, layout)
        files[f"labels-{layout}.pb"] = otlp(samples, ids, layout, labels=[("thread.name", "x")])
        files[f"times-{layout}.pb"] = otlp(samples, ids, layout, times=True, time_ns=NOON,
                                           labels=[("thread.name", "x"), ("host", "y")])
    for name, content in files.items():
        path = write(os.path.join(work.temp("forms"), name), content)
        for argv in ((path, "-b", exe), (path,)):
            said = profile(work, *argv)
            require(said == truth, f"{name}: {argv}\n{said[:600]}\ninstead of\n{truth[:600]}")


def contexts(work):
    """Call chains give the same contexts in each form."""
    exe, text, samples, ids = made(work)
    truth = profile(work, text, "-b", exe, "--mode", "cs", "--contexts", "--no-preinline")
    require(truth.count("[main") > 3, truth)
    path = write(exe + ".pb.gz", pprof(samples, ids))
    said = profile(work, path, "-b", exe, "--mode", "cs", "--contexts", "--no-preinline")
    require(said.count("[main") >= truth.count("[main"), said)
    lines = [text for text in said.splitlines() if text.startswith("[main")]
    missing = [line.split("]")[0] for line in truth.splitlines()
               if line.startswith("[main") and not any(x.startswith(line.split("]")[0])
                                                       for x in lines)]
    require(not missing, "\n".join(missing))


def report(work, *argv):
    return json.loads(good(work.pgokit, "gen", *argv, "-o", os.devnull, "--json"))


def filters(work):
    """Labels and times choose samples; what is left out is counted, and an empty rest refused."""
    exe, _, samples, ids = made(work)
    folder = work.temp("filters")
    count = sum(samples.stacks.values())
    cart, other = [("service.name", "cart")], [("service.name", "checkout")]
    write(os.path.join(folder, "a.pb.gz"), pprof(samples, ids, labels=cart, time_ns=NOON))
    os.makedirs(os.path.join(folder, "deep"))
    write(os.path.join(folder, "deep", "b.pb"),
          otlp(samples, ids, resource=other, time_ns=NOON + 3600 * 10**9))
    write(os.path.join(folder, "notes.txt"), b"nothing to read\n")
    all_of = report(work, folder, "-b", exe)
    require(all_of["samples"] == 2 * count and all_of["files"] == 2 and
            all_of["other_files"] == 1, str(all_of))
    one = report(work, folder, "--label", "service.name=cart")
    require(one["other_label"] == count and one["samples"] == 2 * count, str(one))
    late = report(work, folder, "--since", "2026-02-02T02:50")
    early = report(work, folder, "--until", str(NOON // 10**9 + 60), "--build-id", ids[exe])
    require(late["other_label"] == count == early["other_label"], f"{late} {early}")
    said = refused(work.pgokit, "gen", folder, "-b", exe, "-o", os.devnull,
                   "--label", "service.name=none")
    require("not of service.name none" in said and "--label" in said, said)


def found_by_build_id(work):
    """A program that is not at its path is found by its build id, and named where it is not."""
    exe, _, samples, ids = made(work)
    path = write(exe + ".pb.gz", pprof(samples, ids))
    truth = profile(work, path, "-b", exe)
    root = work.temp("sysroot")
    moved = os.path.join(root, "srv", "builds", "app")
    os.makedirs(os.path.dirname(moved))
    shutil.move(exe, moved)
    require(profile(work, path, "--sysroot", root) == truth, "the moved program")
    no_cache = work.temp("home")
    said = refused(work.pgokit, "gen", path, "-o", os.devnull,
                   env={"HOME": no_cache, "XDG_CACHE_HOME": no_cache})
    require(ids[exe] in said and "DEBUGINFOD_URLS" in said, said)


def many_files(work):
    """Files are read one at a time: memory does not grow with their number."""
    exe, _, samples, ids = made(work)
    folder = work.temp("many")
    content = pprof(samples, ids)
    for i in range(200):
        write(os.path.join(folder, f"{i}.pb.gz"), content)
    some = os.path.join(work.temp("some"), "a.pb.gz")
    write(some, content)

    def peak(path):
        log = os.path.join(work.temp("log"), "time")
        run("/usr/bin/time", "-f", "%M", "-o", log, work.pgokit, "gen", "-q", path, "-b", exe,
            "-o", os.devnull)
        return int(read(log).decode().split()[-1])
    one, all_of = peak(some), peak(folder)
    require(all_of < 1.5 * one + 2000, f"{one} KiB for one file, {all_of} KiB for 200")
    whole = report(work, folder, "-b", exe)
    require(whole["samples"] == 200 * sum(samples.stacks.values()), str(whole))


def refuses(work):
    """What is damaged, or counts no time on processors, with the place in the file."""
    exe, _, samples, ids = made(work)
    folder = work.temp("refuse")
    plain = gzip.decompress(pprof(samples, ids))
    cases = {
        "wall.pb.gz": (pprof(samples, ids, types=(("wall", "nanoseconds"), ("alloc", "bytes"))),
                       "found wall/nanoseconds, alloc/bytes"),
        "off.pb": (otlp(samples, ids, other_type=("off_cpu", "nanoseconds")),
                   "found off_cpu/nanoseconds"),
        "negative.pb.gz": (pprof(samples, ids, values=lambda count: (-count, 0)),
                           "a number that is not negative"),
        "short.pb.gz": (pprof(samples, ids, values=lambda count: (count,)),
                        "one for each sample_type"),
        "cut.pb": (2 * with_length(otlp(samples, ids)) + b"\0\0\1\0\n", "message"),
        "cut.jsonl": (otlp_json(samples, ids)[:-30], "JSON"),
        "index.jsonl": (otlp_json(samples, ids).replace(b'"locationIndices": [1',
                                                        b'"locationIndices": [99999'),
                        "location 99999"),
        "prefix.json": (firefox(samples, ids, linker_address(exe)(samples)).replace(
            b'"prefix": [null', b'"prefix": [3'), "stackTable"),
        "frame.speedscope.json": (speedscope(samples, linker_address(exe)(samples)).replace(
            b'"samples": [[', b'"samples": [[99999, '), "99999"),
        "cut.folded": (folded(samples, linker_address(exe)(samples))[:-3] + b"\n", "count"),
        "same.pb": (plain + plain, "an id that no other one has"),
    }
    for name, (content, expected) in cases.items():
        path = write(os.path.join(folder, name), content)
        said = refused(work.pgokit, "gen", path, "-b", exe, "-o", os.path.join(folder, "out"))
        require(expected in said and "offset" in said and name in said, f"{name}: {said}")
        require(not os.path.exists(os.path.join(folder, "out")), name)
    path = write(os.path.join(folder, "names.pb.gz"), pprof(samples, ids, named=True))
    said = refused(work.pgokit, "gen", path, "-b", exe, "-o", os.devnull)
    require("hardly an address" in said, said)
    empty = os.path.join(folder, "empty")
    os.makedirs(empty)
    said = refused(work.pgokit, "gen", empty, "-b", exe, "-o", os.devnull)
    require("none of them a recording" in said, said)


GO = r"""
package main

import (
	"os"
	"runtime/pprof"
)

//go:noinline
func inner(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i * i % 7
	}
	return sum
}

//go:noinline
func outer(n int) int { return inner(n) + 1 }

func main() {
	file, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(file)
	sum := 0
	for i := 0; i < 4000; i++ {
		sum += outer(100000)
	}
	pprof.StopCPUProfile()
	file.Close()
	println(sum)
}
"""


def of_go(work):
    """A profile of Go's own, and the function that ran."""
    folder = work.temp("go")
    write(os.path.join(folder, "main.go"), GO.encode())
    env = {"GOCACHE": os.path.join(folder, "cache"), "GO111MODULE": "off", "GOFLAGS": "",
           "GOPATH": folder, "HOME": folder, "PATH": os.environ["PATH"]}
    good(tool("go"), "build", "-o", "app", "main.go", cwd=folder, env=env, timeout=900)
    good("./app", "cpu.pb.gz", cwd=folder)
    said = good(work.pgokit, "gen", "-q", "cpu.pb.gz", "-b", "app", "--format", "text", "-o", "-",
                cwd=folder)
    require("main.inner:" in said, said)


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    for fn in (same_as_text, contexts, filters, found_by_build_id, many_files, refuses, of_go):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
