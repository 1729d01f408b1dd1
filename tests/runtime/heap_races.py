#!/usr/bin/env python3
"""The tables of the heap profiler runtime under the thread sanitizer. The test builds the runtime
itself, by one compiler."""

import glob
import os

import raw_profile
from harness import Cases, require, run, tool
from runtime_programs import EXPORTS, FRAMES, HERE, one_file


def build_races(folder, *flags):
    runtime = os.path.dirname(EXPORTS)
    guest = os.path.join(runtime, "..", "guest")
    parts = ["access", "alloc", "answer", "breakdown", "cost", "depot", "dump", "heap", "mapped",
             "finished", "notes", "options", "pprof", "reach", "reach_maps", "series", "sheets",
             "socket", "start", "store", "table", "thread", "totals", "trigger"]
    run([tool("clang-22"), "-g", "-O1", *flags, *FRAMES[2:],
         f"-I{guest}", f"-I{runtime}", f"-I{runtime}/../lib/records",
         "-Wl,--defsym=pgg_own_code=0", "-Wl,--defsym=pgg_own_code_end=0",
         os.path.join(HERE, "programs", "races.c"),
         *[f"{runtime}/runtime_{part}.c" for part in parts],
         *sorted(set(glob.glob(os.path.join(guest, "*.c"))) -
                 set(glob.glob(os.path.join(guest, "*_linked.c")))), "-D_GNU_SOURCE",
         "-Wl,--wrap=pgg_map,--wrap=pgg_unmap", "-pthread", "-o", "races"], folder, timeout=600)
    return os.path.join(folder, "races")


def check_races(folder, out):
    require(not out.stderr, out.stderr[:3000])
    profile = raw_profile.Profile(one_file(folder))
    counted = sum(values[0] for values in profile.contexts.values())
    require(counted == int(out.stdout), f"{counted} objects of {out.stdout}")
    require(len(profile.contexts) == 256, f"{len(profile.contexts)} contexts")
    return [f"{counted} objects, {len(profile.contexts)} contexts, {profile.dumps} dumps"]


def races(folder):
    program = build_races(folder, "-fsanitize=thread", "-mcx16")
    # The sanitizer's own start-up does not know the address-space layout of every kernel.
    run(["setarch", "-R", "true"], folder)
    return check_races(folder, run(["setarch", "-R", program, "5"], folder,
                                   {"TSAN_OPTIONS": "exitcode=66"}))


def main():
    cases = Cases()
    cases.run("thread sanitizer on the runtime's tables", races)
    cases.finish()


if __name__ == "__main__":
    main()
