#!/usr/bin/env python3
"""Call stacks that gen writes for viewers and for Go's compiler: all samples are in them, and gen
makes of them what it makes of the recording.
"""

import difflib
import os
import re
import sys

from gen_inferred import chains_alone
from peers import Skip, good, main, read, require, run, tool, write
from profilers import Recording, otlp_sums, pprof_functions
from stepped import FRAMES, LINES, recorded

FLAGS = ("-O2", "-g", LINES, FRAMES, "-Wl,--build-id")
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")


def profile(work, path, exe):
    return good(work.pgokit, "gen", "-q", path, "-b", exe, "--format", "text", "-o", "-")


def nothing_is_lost(work):
    """Samples and addresses come back from pprof and OTLP; folded stacks have all samples."""
    exe, trace = recorded(work, 22, *FLAGS, every=53, samples=3000)
    text = chains_alone(trace)
    count = sum(Recording(read(text).decode()).stacks.values())
    truth = profile(work, text, exe)
    for name in ("pprof", "otlp"):
        out = f"{exe}.{name}"
        good(work.pgokit, "gen", "-q", text, "-b", exe, "--format", name, "-o", out)
        said = profile(work, out, exe)
        require(said == truth, name + "".join(difflib.unified_diff(
            truth.splitlines(True), said.splitlines(True), n=0)))
    functions, sums = pprof_functions(read(f"{exe}.pprof"))
    require(sums == [count], f"{sums}, not {count}")
    require(functions["main"][0].endswith("walks.cpp") and functions["main"][1] > 1,
            str(functions["main"]))
    require(otlp_sums(read(f"{exe}.otlp"))["samples"][0] == count, "otlp")
    folded = good(work.pgokit, "gen", "-q", text, "-b", exe, "--format", "folded", "-o", "-")
    require(sum(int(line.split()[-1]) for line in folded.splitlines()) == count, folded[-400:])
    require(any(re.match(r".*;main;", line) for line in folded.splitlines()), folded[-400:])


def go_reads_it(work):
    """go tool pprof finds the functions with the samples."""
    exe, trace = recorded(work, 22, *FLAGS, every=53, samples=3000)
    text, out = chains_alone(trace), exe + ".pb.gz"
    good(work.pgokit, "gen", "-q", text, "-b", exe, "--format", "pprof", "-o", out)
    said = good(tool("go"), "tool", "pprof", "-top", "-symbolize=none", out,
                env={"HOME": work.temp("home"), "PPROF_TMPDIR": work.temp("pprof")})
    total = sum(Recording(read(text).decode()).stacks.values())
    require(f"of {total} total" in said and "choose" in said, said)


GO = r"""
package main

import "os"

type shape interface{ area(n int) int }
type square struct{ side int }
type circle struct{ radius int }

func (s square) area(n int) int { return s.side*n + n%7 }
func (c circle) area(n int) int { return c.radius*n*3 ^ n }

//go:noinline
func sum(shapes []shape, n int) int {
	all := 0
	for i := 0; i < n; i++ {
		all += shapes[i%len(shapes)].area(i)
	}
	return all
}

func main() {
	shapes := []shape{square{2}, square{3}, square{4}, circle{1}}
	all := 0
	for i := 0; i < 3000+len(os.Args); i++ {
		all += sum(shapes, 100000)
	}
	println(all)
}
"""


def go_program(work):
    """A Go program and a recording of it."""
    folder = work.temp("go")
    env = {"GOCACHE": os.path.join(folder, "cache"), "GOPATH": folder, "HOME": folder,
           "GOFLAGS": "", "GO111MODULE": "off"}
    write(os.path.join(folder, "main.go"), GO.encode())
    good(tool("go"), "build", "-o", "app", "main.go", cwd=folder, env=env, timeout=900)
    run(tool("perf"), "record", "-q", "-g", "-e", "cpu-clock:u", "-F", "1000", "-o", "data",
        "./app", cwd=folder)
    if not os.path.exists(os.path.join(folder, "data")):
        raise Skip("perf may not record here")
    return folder, env


def default_pgo(work):
    """For go build -pgo: names of Go's linker, files and first lines; new releases inline by it."""
    folder, env = go_program(work)
    good(work.pgokit, "gen", "-q", "data", "--format", "pprof", "-o", "default.pgo", cwd=folder)
    functions, _ = pprof_functions(read(os.path.join(folder, "default.pgo")))
    lines = {name: line for line, text in enumerate(GO.splitlines(), 1)
             for name in re.findall(r"^func (sum|main)\(", text)}
    for name, line in lines.items():
        require(f"main.{name}" in functions, str(functions))
        file, first = functions[f"main.{name}"]
        require(os.path.basename(file) == "main.go", file)
        # Go before 1.21 has no first lines in its debug information.
        require(first in (0, line), f"{name} at {first}, not {line}")
    version = re.search(r"go1\.(\d+)", good(tool("go"), "version"))[1]
    if int(version) < 21:
        return
    require(functions["main.sum"][1] == lines["sum"], str(functions))
    result = run(tool("go"), "build", "-a", "-pgo=default.pgo", "-gcflags=-m=2", "-o", "fast",
                 "main.go", cwd=folder, env=env, timeout=900)
    require(result.code == 0 and "devirtualiz" in result.errors, str(result))


def reports(work):
    """Heap and sample profiles as OTLP have the sums that they have as pprof."""
    for path in ("heap-raw/clang14-pie.profraw", "sample/create_gcov-1.afdo"):
        path = os.path.join(GOLDEN, path)
        out = os.path.join(work.temp("report"), "out")
        good(work.pgokit, "report", "-q", path, "--format", "pprof", "-o", f"{out}.pb.gz")
        good(work.pgokit, "report", "-q", path, "--format", "otlp", "-o", f"{out}.otlp")
        _, sums = pprof_functions(read(f"{out}.pb.gz"))
        found = otlp_sums(read(f"{out}.otlp"))
        require([total for total, _ in found.values()] == sums, f"{path}: {found} {sums}")
        require(any(n for _, n in found.values()), str(found))


def refuses(work):
    """A folder as output, and a format without stacks."""
    exe, trace = recorded(work, 22, *FLAGS, every=53, samples=3000)
    result = run(work.pgokit, "gen", trace, "-b", exe, "--format", "pprof", "-o",
                 work.temp("out") + "/")
    require(result.code == 2 and "Name the file" in result.errors, str(result))
    result = run(work.pgokit, "gen", trace, "-b", exe, "--format", "html", "-o", os.devnull)
    require(result.code == 2, str(result))


def add_cases(work, tap):
    work.recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    for fn in (nothing_is_lost, go_reads_it, default_pgo, reports, refuses):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
