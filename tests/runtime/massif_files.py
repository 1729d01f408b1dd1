#!/usr/bin/env python3
"""Files of the real massif, read by pgokit: against what the program does, and ms_print.

usage: massif_files.py PGOKIT
"""

import json
import os
import re
import sys

from harness import Cases, require, run, tool

PGOKIT = os.path.abspath(sys.argv[1])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "heaptrack.cc")
# Objects of known sizes at a peak that cannot be missed, and frames that stay.
KEEPER = """
#include <stdlib.h>
void *kept[300];
__attribute__((noinline)) static void *large(void) { return malloc(5000); }
__attribute__((noinline)) static void *small(void) { return malloc(20); }
int main(void)
{
    for (int i = 0; i < 200; i++)
        kept[i] = large();
    for (int i = 200; i < 300; i++)
        kept[i] = small();
    for (int i = 0; i < 300; i++)
        free(kept[i]);
    return 0;
}
"""


def massif(folder, *options, source=SOURCE, compiler="g++"):
    run([tool(compiler), "-g", "-O1", source, "-o", "app"], folder)
    run([tool("valgrind"), "--tool=massif", "--massif-out-file=track", *options, "./app"], folder)


def keeper(folder, *options):
    source = os.path.join(folder, "keeper.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(KEEPER)
    massif(folder, "--peak-inaccuracy=0", *options, source=source, compiler="gcc")


def shown(folder, path):
    return json.loads(run([PGOKIT, "show", "-q", "--json", path], folder).stdout)


def peak_is_the_programs(folder):
    keeper(folder, "--threshold=0")
    found = {context["stack"][0]["function"]: context["mib"]["PeakSize"]
             for context in shown(folder, "track")["contexts"] if "PeakSize" in context["mib"]}
    require(found == {"large": 200 * 5000, "small": 100 * 20}, f"{found}")


def threshold_adds_up(folder):
    keeper(folder)
    found = {context["stack"][-1]["function"]: context["mib"]["PeakSize"]
             for context in shown(folder, "track")["contexts"] if "PeakSize" in context["mib"]}
    require(found == {"main": 200 * 5000, "[places below massif's threshold]": 100 * 20},
            f"{found}")


def frames_are_the_programs(folder):
    massif(folder, "--threshold=0", "--detailed-freq=1")
    found = set()
    for context in shown(folder, "track")["contexts"]:
        frames = [(f["function"], f.get("line"), f["inline"]) for f in context["stack"]]
        if ("main", 33, False) in frames:
            found.add(tuple(frames[:2]))
    require(found == {(("inlined", 8, True), ("make(unsigned long)", 13, False))}, f"{found}")


def sums_are_those_of_ms_print(folder):
    massif(folder, "--time-unit=ms")
    profile = shown(folder, "track")
    said = run([tool("ms_print"), "track"], folder).stdout
    rows = re.findall(
        r"(?m)^ *\d+ +([\d,]+) +[\d,]+ +([\d,]+) +[\d,]+ +[\d,]+$", said)
    curve = {int(ms.replace(",", "")): int(held.replace(",", "")) for ms, held in rows}
    points = profile["over_time"]["points"]
    require(len(rows) > 2 and len(points) == len(curve), f"{len(rows)} rows, {points}")
    number = int(re.search(r"(\d+) \(peak\)", said)[1])
    peak = int(rows[number][1].replace(",", ""))
    sums = sum(c["mib"].get("PeakSize", 0) for c in profile["contexts"])
    require(profile["over_time"]["peak_bytes"] == peak == sums, f"{peak}, {sums}")


def without_times(folder):
    massif(folder)
    profile = shown(folder, "track")
    require("over_time" not in profile and profile["contexts"], f"{profile}")
    require(all("AllocCount" not in c["mib"] for c in profile["contexts"]), "objects")


def views(folder):
    massif(folder, "--time-unit=ms", "--demangle=no", "--threshold=0", "--detailed-freq=1")
    require("contexts" in run([PGOKIT, "diff", "track", "track"], folder).stdout, "diff")
    run([PGOKIT, "report", "-q", "track", "-o", "page.html"], folder)
    run([PGOKIT, "plan", "-q", "track", "-b", "app", "-o", "app.plan"], folder, status=None)
    run([PGOKIT, "convert", "-q", "track", "--to", "massif", "-o", "again"], folder, status=None)
    require(shown(folder, "again")["over_time"]["peak_bytes"] ==
            shown(folder, "track")["over_time"]["peak_bytes"], "written again")
    run([PGOKIT, "merge", "-q", "track", "track", "--partial", "-o", "twice"], folder)
    twice = sum(c["mib"].get("PeakSize", 0) for c in shown(folder, "twice")["contexts"])
    once = sum(c["mib"].get("PeakSize", 0) for c in shown(folder, "track")["contexts"])
    require(once and twice == 2 * once, f"{once}, {twice}")


def main():
    cases = Cases()
    cases.run("what was alive at the peak is what the program held", peak_is_the_programs)
    cases.run("what is below the threshold is added up", threshold_adds_up)
    cases.run("frames are those of the program", frames_are_the_programs)
    cases.run("the curve and the peak are those of ms_print", sums_are_those_of_ms_print)
    cases.run("instructions give no curve", without_times)
    cases.run("profiles are compared, shown, planned by, written and merged", views)
    cases.finish()


main()
