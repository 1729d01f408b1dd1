"""What a profile is worth: Lua from Debian's sources, built plain (-O2), and with profiles of its
own runs.

Branch stacks of a run come from single-stepping it (tests/tools/branch_trace: a sample of 32
branches every 211 instructions), once turned into a profile by llvm-profgen-22 and once by
pgokit; the third profile is what `perf record -e cpu-clock:u` can record on any machine, without
branches.
Required: with branches faster than plain; as fast with our profile as with llvm-profgen's, which is
certain where the code is the same. Times are the fastest of 15 runs in turn at least: what disturbs
a run of a third of a second only makes it longer.
"""

import concurrent.futures
import os
import shutil
import subprocess

import measure
from runtime import programs

FLAGS = ["-fdebug-info-for-profiling"]
SAMPLES, EVERY = 30000, 211
LEAST_RUNS, NOISE = 15, 1.02
SMALL, LARGE = ["4", "1"], ["12", "100"] # rounds and size: to be traced, to be measured


def build(bench, made, variant, *flags):
    program = programs.lua(bench.data, made)
    folder = os.path.join(made, "lua-" + variant)
    shutil.rmtree(folder, ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = programs.compile_all(pool, program, folder, [*FLAGS, *flags])
    out = os.path.join(folder, "lua")
    programs.link(program, objects, out, [])
    return out


def once(path, argv):
    """Runs what makes a file, unless it is there."""
    if not os.path.exists(path):
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return path


def code_of(program):
    out = program + ".text"
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.text", program, out], check=True)
    with open(out, "rb") as f:
        return f.read()


def say(what, ratio, limit):
    print(f"  {what} {ratio:.3f}, required below {limit:.2f}: "
          + ("pass" if ratio < limit else "MISS"))


def run(bench, runs):
    """Yields (program, variant, Cost)."""
    script = os.path.join(bench.here, "mixed.lua")
    tracer = os.path.join(os.path.dirname(os.path.dirname(bench.pgokit)), "tests", "branch_trace")
    if not os.path.exists(tracer):
        print("\ngen_use is left out: it needs a build folder with -Dtests=enabled")
        return
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, "lua5.4"], check=True)
    made = os.path.join(bench.data, "gen-use")
    os.makedirs(made, exist_ok=True)
    plain = build(bench, made, "plain")
    trace = once(os.path.join(made, "branches"),
                 [tracer, "-e", str(EVERY), "-n", str(SAMPLES), os.path.join(made, "branches"),
                  plain, script, *SMALL])
    clock = once(os.path.join(made, "clock"),
                 ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "5000", "-o",
                  os.path.join(made, "clock"), plain, script, *LARGE])
    profiles = {name: os.path.join(made, name + ".afdo") for name in ("theirs", "ours", "clock")}
    subprocess.run(["llvm-profgen-22", f"--perfscript={trace}", f"--binary={plain}", "-o",
                    profiles["theirs"]], check=True)
    for name, recording in (("ours", trace), ("clock", clock)):
        subprocess.run([bench.pgokit, "gen", "-q", recording, "-b", plain, "-o", profiles[name]],
                       check=True)
    built = {"-O2": plain}
    for name, profile in profiles.items():
        built[name] = build(bench, made, name, "-fprofile-sample-use=" + profile)
    labels = {"-O2": "-O2", "theirs": "llvm-profgen-22", "ours": "pgokit",
              "clock": "pgokit, by clock"}
    costs = measure.in_turn([[path, script, *LARGE] for path in built.values()],
                            max(runs, LEAST_RUNS))
    print("\nLua built with a profile of its own runs")
    print(f"  {'':<20}{'CPU s':>10}{'fastest':>10}{'of -O2':>10}")
    for name, cost in zip(built, costs):
        print(f"  {labels[name]:<20}{cost.cpu_s:>10.3f}{cost.fastest_cpu_s:>10.3f}"
              f"{cost.fastest_cpu_s / costs[0].fastest_cpu_s:>10.3f}")
        yield "lua", labels[name], cost
    fastest = {name: cost.fastest_cpu_s for name, cost in zip(built, costs)}
    say("pgokit to -O2", fastest["ours"] / fastest["-O2"], 1)
    if code_of(built["ours"]) == code_of(built["theirs"]):
        print("  pgokit to llvm-profgen-22: the same code: pass")
    else:
        say("pgokit to llvm-profgen-22", fastest["ours"] / fastest["theirs"], NOISE)
