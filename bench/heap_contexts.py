"""What recording costs programs of some 40,000 contexts whose stacks hardly ever repeat: octave and
inkscape, preloaded, against themselves alone. With it, the profiler's own memory for each context,
as the profile states it."""

import math
import os
import shutil
import struct
import sys

import measure

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "runtime"))
import raw_profile  # noqa: E402 (the tests' own reader)

REQUIRED_CPU = 3      # times plain
REQUIRED_BYTES = 600  # a context of octave, whose objects are small
SHAPES = 400


def own_bytes(path):
    with open(path, "rb") as file:
        data = file.read()
    mibs, = struct.unpack_from("<Q", data, 32)
    return raw_profile.Notes(data, 0, mibs).facts["own_bytes"]


def shape(i):
    x, y = i * 37 % 800, i * 91 % 800
    lines = " ".join(f"L {x + 30 * math.cos(k):.2f} {y + 30 * math.sin(k * 1.7):.2f}"
                     for k in range(12))
    soft = ' filter="url(#soft)"' if i % 16 == 0 else ""
    return (f'<g transform="rotate({i % 360} {x} {y})" opacity="{0.3 + i % 7 / 10:.1f}">'
            f'<path d="M {x} {y} {lines} C {x} {y + 9} {x + 9} {y} {x + 20} {y + 20} Z" '
            f'fill="url(#g{i % (SHAPES // 8)})"{soft}/>'
            f'<text x="{x}" y="{y}" font-size="{6 + i % 9}">shape {i}</text></g>')


def drawing():
    colours = "".join(f'<linearGradient id="g{i}">'
                      f'<stop offset="0" stop-color="#{i * 997 % 4096:03x}"/>'
                      f'<stop offset="1" stop-color="#{i * 331 % 4096:03x}"/></linearGradient>'
                      for i in range(SHAPES // 8))
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="800" height="800">'
            f'<defs>{colours}<filter id="soft"><feGaussianBlur stdDeviation="2"/></filter></defs>'
            + "".join(map(shape, range(SHAPES))) + "</svg>\n")


def octave(bench):
    del bench
    return ["octave-cli", "--norc", os.path.join(HERE, "runtime", "many_contexts.m")]


def inkscape(bench):
    path = bench.out("drawing.svg")
    with open(path, "w", encoding="utf-8") as file:
        file.write(drawing())
    return ["env", f"HOME={bench.scratch}", "inkscape", "--export-type=png",
            f"--export-filename={bench.out('drawing.png')}", path]


# By program: its command, and the bytes a context that are required.
PROGRAMS = {"octave-cli": (octave, REQUIRED_BYTES), "inkscape": (inkscape, None)}


def measured(bench, runs, program):
    command, required = PROGRAMS[program]
    profile = bench.out(f"{program}.memprofraw")
    plain = command(bench)
    library = os.path.join(bench.build, "runtime", "libpgokit_heap.so")
    recorded = ["env", f"PGOKIT_HEAP_OPTIONS=out={profile}", f"LD_PRELOAD={library}", *plain]
    alone, ours = measure.in_turn([plain, recorded], runs)
    counted = raw_profile.Profile(profile).contexts  # show names some of them alike
    objects = sum(values[0] for values in counted.values())
    times = ours.cpu_s / alone.cpu_s
    each = own_bytes(profile) / len(counted)
    bound = "" if required is None else \
        f", required {required}: {'pass' if each <= required else 'MISS'}"
    print(f"\n{program}, {len(counted):,} contexts, {objects:,} objects\n"
          f"  plain   {alone.cpu_s:>6.2f} s CPU time, peak {alone.peak_mib:.1f} MiB\n"
          f"  pgokit  {ours.cpu_s:>6.2f} s CPU time, peak {ours.peak_mib:.1f} MiB\n"
          f"  {times:.2f} times plain, required {REQUIRED_CPU}: "
          f"{'pass' if times <= REQUIRED_CPU else 'MISS'}\n"
          f"  {each:.0f} bytes of own memory a context, with the file, the dump at the end and "
          f"counters{bound}")
    return [(program, "plain", alone), (program, "pgokit", ours)]


def run(bench, runs):
    """Prints all; returns (case, tool, cost) for each thing measured."""
    costs = []
    for program in PROGRAMS:
        if shutil.which(program):
            costs += measured(bench, runs, program)
        else:
            print(f"\nheap_contexts: not measured, {program} is missing; "
                  "scripts/deps bench installs it")
    return costs
