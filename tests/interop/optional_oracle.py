#!/usr/bin/env python3
"""Optional: pgokit's files as an independent decoder sees them. The decoder, memprof_decode.py,
lies outside this tree, in oracle/ of a folder "shared" beside it or of $PGOKIT_SHARED.
"""

import importlib.util
import itertools
import os
import sys

import profiles
from peers import HERE, Skip, Variant, good, main, read, require

PIE_22 = Variant(22, "-O2", "-pie", "-fpie")
HISTOGRAM_19 = Variant(19, "-O2", "-no-pie", histogram=True)
# Raw versions 1 and 2. LLVM's tools refuse version 1, and programs that are PIE with both.
OLD = [Variant(14, "-O2", "-no-pie"), Variant(14, "-O2", "-pie", "-fpie"),
       Variant(16, "-O2", "-no-pie"), Variant(16, "-O2", "-pie", "-fpie")]
# The fields each version has and sets: version 1 has wrong maxima and a random DataTypeId.
KNOWN = {1: [f for f in profiles.COMPARED[:18] if f not in ("MaxSize", "MaxAccessCount")],
         2: profiles.COMPARED[:-1]}


def load_oracle():
    shared = os.environ.get("PGOKIT_SHARED") or os.path.join(HERE, "../../../shared")
    path = os.path.join(shared, "oracle", "memprof_decode.py")
    if not os.path.exists(path):
        raise Skip("optional: no independent decoder beside this tree")
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("memprof_decode", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def frame(f):
    return (f.function, f.line, f.column, bool(f.inline))


def records_of(decoded):
    """The oracle's {guid: (allocs, calls)}."""
    out = profiles.Records()
    for guid, (allocs, calls) in decoded.items():
        out.record(guid)
        for stack, mib in allocs:
            block = {k: v for k, v in mib.items() if not k.startswith("_")}
            if mib.get("_hist"):
                block["hist"] = mib["_hist"]
            out.add_alloc(guid, map(frame, stack), block)
        for chain, callees in calls:
            out.add_call(guid, map(frame, chain), callees or ())
    return out


def indexed(oracle, work, source, variant, memprof, index, full):
    program = work.build(source, variant)
    out = f"{work.temp('oracle')}/out.profdata"
    good(work.pgokit, "merge", program.raw, "-b", program.exe, "-o", out, "--memprof-version",
         str(memprof), "--index-version", str(index), *(["--full-schema"] if full else []))
    data = read(out)
    decoded = oracle.decode_indexed(data)
    require(decoded.version == index and decoded.memprof.version == memprof,
            f"versions {decoded.version}, {decoded.memprof.version}")
    ours = profiles.parse_json(good(work.pgokit, "show", out, "--json"))
    fields = profiles.COMPARED if full else profiles.HOT_COLD
    difference = profiles.first_difference(records_of(decoded.memprof.records), ours, fields)
    require(not difference, difference)
    newer = index == 13 or memprof == 4
    parts = oracle.reencode_check(data, oracle.frame_hash_new if newer else oracle.frame_hash_old)
    wrong = [name for name, holds in parts.items() if holds is False]
    require(not wrong, f"the oracle encodes this otherwise: {', '.join(wrong)}")


def raw(oracle, work, source, variant):
    program = work.build(source, variant)
    symbolizer = "/usr/lib/llvm-22/bin/llvm-symbolizer"
    decoded = oracle.raw_to_records(oracle.decode_raw(read(program.raw)), program.exe,
                                    symbolizer if os.path.exists(symbolizer) else None)
    ours = profiles.parse_json(good(work.pgokit, "show", program.raw, "-b", program.exe, "--json"))
    difference = profiles.first_difference(records_of(decoded.recs), ours,
                                           KNOWN.get(decoded.version, profiles.COMPARED),
                                           histogram=True)
    require(not difference, difference)


def add_cases(work, tap):
    oracle = load_oracle()
    for source, memprof, index, full in itertools.product(
            ("plain.c", "classes.cpp"), (0, 1, 2, 3, 4), (8, 11, 12, 13), (False, True)):
        if memprof < 2 and (index == 13 or not full):
            continue
        tap.add(f"{source} V{memprof} index {index} {'full' if full else 'hot/cold'}", indexed,
                oracle, work, source, PIE_22, memprof, index, full)
    for source in ("plain.c", "classes.cpp", "dumps.c", "threads.cpp"):
        for variant in (PIE_22, HISTOGRAM_19, *OLD):
            tap.add(f"{source} {variant.name}", raw, oracle, work, source, variant)


if __name__ == "__main__":
    sys.exit(main(add_cases))
