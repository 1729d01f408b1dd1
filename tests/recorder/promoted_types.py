#!/usr/bin/env python3
"""Types of objects over three rounds of compiling and recording: what a compiler promotes by type
is not loaded any more, and its counts come of the comparisons in the code. Clang promotes what a
profile of instrumented code says, whose types are replaced by those that were recorded; or, with
our plugin, what the sample profiles of the rounds before say. What is recorded is random, but where
the program is traced step by step: there all types are promoted, and only comparisons tell of them.

usage: promoted_types.py PGOKIT LIBRARY TRACER [PLUGIN]
"""

import glob
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
from harness import Cases, Skip, require, run, tool  # noqa: E402

PGOKIT, LIBRARY, TRACER = (os.path.abspath(path) for path in sys.argv[1:4])
PLUGIN = sys.argv[4] if len(sys.argv) > 4 else None
SOURCES = ["promoted_main.cpp", "promoted_types.cpp"]
SITES = ["_Z7area_ofP5Shapei", "_Z8areas_ofPP5Shapei", "_Z7name_ofP5Namedi", "_Z7tone_ofP4Tonei"]
AREA = {"_ZTVN12_GLOBAL__N_15LocalE": "_ZN12_GLOBAL__N_15Local4areaEi",
        "_ZTV6Square": "_ZN6Square4areaEi", "_ZTV6ScaledILi7EE": "_ZN6ScaledILi7EE4areaEi",
        "_ZTV4Both": "_ZN4Both4areaEi"}
NAME = {"_ZTV5Label": "_ZN5Label4nameEi", "_ZTV4Both": "_ZThn16_N4Both4nameEi"}
HIGH, LOW = "_ZN12_GLOBAL__N_14High4toneEi", "_ZN12_GLOBAL__N_13Low4toneEi"
TONE = {"_ZTVN12_GLOBAL__N_14HighE": HIGH, "_ZTVN12_GLOBAL__N_13LowE": LOW}
CALLED = dict(zip(SITES, (AREA, AREA, NAME, TONE)))
ROUNDS, POINTS = 3, 0.05
FLAGS = ["-O2", "-g", "-fdebug-info-for-profiling", "-fuse-ld=lld"]
LINKED = ["-flto=thin", "-fwhole-program-vtables", "-fno-split-lto-unit",
          "-Wl,--lto-whole-program-visibility"]
USE = ["-mllvm", "-enable-vtable-profile-use", "-Wl,-mllvm,-enable-vtable-profile-use"]
FORMS = {"position-independent": ["-fPIE", "-pie"], "at a fixed address": ["-fno-pie", "-no-pie"]}
SHORT, LONG, TRACED = "10000", "8000000", "2000"
# Four types of a call, so that none is left to loads.
ALL_TYPES = [word for option in ("-icp-max-prom=4", "-icp-max-annotations=4")
             for word in ("-mllvm", option, "-Wl,-mllvm," + option)]


def compile_program(folder, out, *options):
    run([tool("clang++-22"), *FLAGS, *options, *SOURCES, "-o", out], folder)


def instrumented_profile(folder):
    """As text: counts, callees, and the numbers of types, but for the names of these."""
    compile_program(folder, "counted", "-fprofile-generate", "-mllvm",
                    "-enable-vtable-value-profiling")
    run(["./counted", SHORT], folder, env={"LLVM_PROFILE_FILE": "counted.profraw"})
    return run([tool("llvm-profdata-22"), "merge", "--text", "counted.profraw"],
               folder).stdout.split("\n\n")


def name_in_ir(name):
    if "_GLOBAL__N_" not in name:
        return name
    return f"promoted_{'types' if 'Local' in name else 'main'}.cpp;{name}"


def with_types(records, types):
    """The profile with these shares of types at the one virtual call of each site. Clang promotes
    by type where the types of a callee make up its count, so callees get the same."""
    for record in records:
        site = next((s for s in SITES if s in record.split("\n")), None)
        if site:
            head, kinds, sites = record.partition("# Num Value Kinds:\n")
            require(re.search("IPVK_IndirectCallTarget(.|\n)*IPVK_VTableTarget", sites), record)
            found = sorted(shares(types[site]).items(), key=lambda row: -row[1])
            rows = [(table, round(part * int(SHORT))) for table, part in found]
            record = head + kinds + "2\n"
            for kind, name_of in (0, CALLED[site].get), (2, lambda table: table):
                lines = [f"{name_in_ir(name_of(table))}:{n}" for table, n in rows]
                record += "\n".join([str(kind), "1", str(len(lines)), *lines]) + "\n"
        yield record + "\n"


def record_types(folder, program, *options):
    """Types and callees of each site, and the report."""
    for old in glob.glob(os.path.join(folder, "app.counts*")):
        os.unlink(old)
    run([PGOKIT, "record", "branches", "-q", "--loads", "--real-time", "-F", "1000", "-o",
         "app.counts", "--", program, LONG], folder,
        env={"PGOKIT_RUNTIME": os.path.dirname(LIBRARY)})
    return generate(folder, program, *options)


def trace_types(folder, program):
    """The same of a program that is traced: branches of known instructions, and no loads."""
    run([TRACER, "-e", "101", "-n", "20000", "app.counts.traced", program, TRACED], folder)
    return generate(folder, program)


def generate(folder, program, *options):
    recorded = glob.glob(os.path.join(folder, "app.counts.*"))
    report = run([PGOKIT, "gen", *recorded, "-b", program, "--vtables", "--to", "text",
                  "--json", "-o", "app.txt", *options], folder).stdout
    types, callees, site = {}, {}, None
    with open(os.path.join(folder, "app.txt"), encoding="ascii") as file:
        for line in file:
            if not line.startswith(" "):
                site = line.split(":")[0]
            elif site in SITES and (found := re.match(r" [\d.]+: vtables (.*)$", line)):
                types.setdefault(site, {}).update(pairs(found[1]))
            elif site in SITES and (found := re.match(r" [\d.]+: \d+ (.*:.*)$", line)):
                callees.setdefault(site, {}).update(pairs(found[1]))
    return types, callees, json.loads(report)


def pairs(text):
    return {name: int(n) for name, n in (word.rsplit(":", 1) for word in text.split())}


def shares(counts):
    total = sum(counts.values())
    return {name: n / total for name, n in counts.items()}


def check_shares(first, later, what, sites=SITES):
    for site in sites:
        require(later.get(site), f"{what}: no types at {site}: {later}")
        old, new = shares(first[site]), shares(later[site])
        for name in {*old, *new}:
            require(abs(old.get(name, 0) - new.get(name, 0)) <= POINTS,
                    f"{what}: {name} at {site} has {new.get(name, 0):.3f}, first it had "
                    f"{old.get(name, 0):.3f}")


def check_callees(callees, what):
    """Those that are promoted, but not inlined, stay callees of the line."""
    high, low = (callees.get(SITES[3], {}).get(name, 0) for name in (HIGH, LOW))
    require(high and low and abs(high / (high + low) - 0.6) < POINTS, f"{what}: {callees}")


def promoted_in(remarks):
    return re.findall(r"compare \d+ vtable\(s\): \{(\w+)", remarks)


def sources_in(folder):
    for name in [*SOURCES, "promoted.h"]:
        shutil.copy(os.path.join(HERE, "programs", name), folder)


def rounds(folder, form):
    sources_in(folder)
    profile = instrumented_profile(folder)
    compile_program(folder, "app", *LINKED, *FORMS[form])
    first, first_callees, report = record_types(folder, "./app")
    check_callees(first_callees, "first")
    require(not report["recovered_types"] and not report["type_tests"], str(report))
    types, notes = first, []
    for number in range(1, ROUNDS + 1):
        with open(os.path.join(folder, "types.proftext"), "w", encoding="utf-8") as file:
            file.write("\n".join(with_types(profile, types)))
        run([tool("llvm-profdata-22"), "merge", "types.proftext", "-o", "types.profdata"], folder)
        built = run([tool("clang++-22"), *FLAGS, *LINKED, *USE, *FORMS[form], *SOURCES, "-o", "app",
                     "-fprofile-use=types.profdata", "-Rpass=pgo-icall-prom"], folder)
        promoted = promoted_in(built.stdout + built.stderr) # of lld, and of clang
        require(len(promoted) >= 8, f"round {number}: promoted {promoted}\n{built.stdout}")
        types, callees, report = record_types(folder, "./app")
        what = f"round {number}"
        check_shares(first, types, what)
        check_callees(callees, what)
        without, _, left = generate(folder, "./app", "--no-recovered-types")
        require(not left["recovered_types"], str(left))
        for site in SITES[:3]: # the last one is promoted by its callees, when it is compiled
            gone = [t for t in first[site] if t in promoted and t not in without.get(site, {})]
            require(gone, f"{what}: nothing is missing at {site} without recovery: {without}")
        notes.append(f"{what}: {report['recovered_types']} of "
                     f"{report['recovered_types'] + report['vtable_samples']} types recovered, "
                     f"{report['type_tests']} comparisons, {len(promoted)} promoted")
    return notes


def rounds_of_samples(folder):
    """Each build has the sample profile of the one before. The compiler does not see the table of a
    local class of another module, so loads go on to tell of that one."""
    if not PLUGIN:
        raise Skip("no plugin for clang 22 in this build")
    sources_in(folder)
    compile_program(folder, "app", *LINKED)
    first, _, _ = record_types(folder, "./app")
    notes = []
    for number in range(1, ROUNDS + 1):
        os.rename(os.path.join(folder, "app.txt"), os.path.join(folder, "types.prof"))
        flags = run([PGOKIT, "config", "-q", "--cflags", "--ldflags", "use", "--cc", "clang-22",
                     "--profile", "types.prof"], folder).stdout.split()
        built = run([tool("clang++-22"), *FLAGS, *flags, *SOURCES, "-o", "app",
                     "-Rpass=pgo-icall-prom"], folder)
        promoted = set(promoted_in(built.stdout + built.stderr))
        what = f"round {number}"
        require(promoted, f"{what}: nothing is promoted\n{built.stdout}")
        types, _, report = record_types(folder, "./app")
        shutil.copy(os.path.join(folder, "app.txt"), os.path.join(folder, "kept.txt"))
        check_shares(first, types, what)
        without, _, _ = generate(folder, "./app", "--no-recovered-types")
        gone = [t for site in SITES for t in first[site]
                if t in promoted and t not in without.get(site, {})]
        require(gone, f"{what}: nothing is missing without recovery: {without}")
        os.rename(os.path.join(folder, "kept.txt"), os.path.join(folder, "app.txt"))
        notes.append(f"{what}: {report['recovered_types']} of "
                     f"{report['recovered_types'] + report['vtable_samples']} types recovered, "
                     f"promoted {' '.join(sorted(promoted))}, missing else {len(gone)}")
    return notes


def types_counted(folder):
    """Of each site, by clang's own counters. Its profiles as text have no names of types."""
    found = {}
    for site in SITES:
        text = run([tool("llvm-profdata-22"), "show", "--show-vtables", "--function=" + site,
                    "counted.profraw"], folder).stdout
        found[site] = {name: int(n) for name, n in
                       re.findall(r"\[ +0, (?:[\w.]+;)?(_ZTV\w+), +(\d+) \]", text)}
    return found


def check_traced(folder, first, what):
    """Shares of types are those of the counters; without comparisons there are none."""
    types, _, report = trace_types(folder, "./app")
    check_shares(first, types, what, SITES[:3])
    require(not report["vtable_samples"], f"{what}: {report}")
    without, _, left = generate(folder, "./app", "--no-recovered-types")
    require(not without and not left["recovered_types"], f"{what}: {without} without recovery")
    note = f"{what}: {report['recovered_types']} types of {report['type_tests']} comparisons"
    return types, note


def traced_rounds(folder):
    """Clang promotes what its own counters say, then what was recovered of that build, and on."""
    sources_in(folder)
    profile, notes = instrumented_profile(folder), []
    first = types_counted(folder)
    require(shares(first[SITES[2]])["_ZTV5Label"] == 0.7, str(first))
    counters = "counted.profraw"
    for number in range(1, ROUNDS + 1):
        run([tool("llvm-profdata-22"), "merge", counters, "-o", "types.profdata"], folder)
        compile_program(folder, "app", *LINKED, *USE, *ALL_TYPES, "-fprofile-use=types.profdata")
        types, note = check_traced(folder, first, f"counters, round {number}")
        notes.append(note)
        counters = "types.proftext"
        with open(os.path.join(folder, counters), "w", encoding="utf-8") as file:
            file.write("\n".join(with_types(profile, {**first, **types})))
    return notes


def main():
    cases = Cases()
    cases.run("three rounds, traced step by step", traced_rounds)
    for form in FORMS:
        cases.run(f"three rounds, {form}", rounds, form)
    cases.run("three rounds of sample profiles and the plugin", rounds_of_samples)
    cases.finish()


if __name__ == "__main__":
    main()
