"""What recording costs a program of some 45,000 contexts whose stacks hardly ever repeat: octave,
preloaded, against itself alone. With it, the profiler's own memory for each context, as the profile
states it."""

import json
import os
import shutil
import struct
import subprocess
import sys

import measure

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "runtime"))
import raw_profile  # noqa: E402 (the tests' own reader)

REQUIRED_CPU = 3      # times plain
REQUIRED_BYTES = 600  # a context


def own_bytes(path):
    with open(path, "rb") as file:
        data = file.read()
    mibs, = struct.unpack_from("<Q", data, 32)
    return raw_profile.Notes(data, 0, mibs).facts["own_bytes"]


def run(bench, runs):
    """Prints all; returns (case, tool, cost) for each thing measured."""
    octave = shutil.which("octave-cli")
    if not octave:
        print("\nheap_contexts: not measured, octave-cli is missing; "
              "scripts/deps bench installs it")
        return []
    profile = bench.out("octave.memprofraw")
    plain = [octave, "--norc", os.path.join(HERE, "runtime", "many_contexts.m")]
    library = os.path.join(bench.build, "runtime", "libpgokit_heap.so")
    recorded = ["env", f"PGOKIT_HEAP_OPTIONS=out={profile}", f"LD_PRELOAD={library}", *plain]
    alone, ours = measure.in_turn([plain, recorded], runs)
    shown = subprocess.run([bench.pgokit, "show", "--json", profile], check=True,
                           capture_output=True, text=True).stdout
    totals = json.loads(shown)["totals"]
    times = ours.cpu_s / alone.cpu_s
    each = own_bytes(profile) / totals["contexts"]
    print(f"\noctave, {totals['contexts']:,} contexts, {totals['AllocCount']:,} objects\n"
          f"  plain   {alone.cpu_s:>6.2f} s CPU time, peak {alone.peak_mib:.1f} MiB\n"
          f"  pgokit  {ours.cpu_s:>6.2f} s CPU time, peak {ours.peak_mib:.1f} MiB\n"
          f"  {times:.2f} times plain, required {REQUIRED_CPU}: "
          f"{'pass' if times <= REQUIRED_CPU else 'MISS'}\n"
          f"  {each:.0f} bytes of own memory a context, with the file, the dump at the end and "
          f"counters, required {REQUIRED_BYTES}: {'pass' if each <= REQUIRED_BYTES else 'MISS'}")
    return [("octave", "plain", alone), ("octave", "pgokit", ours)]
