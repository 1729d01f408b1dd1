"""Sample profiles for gcc: create_gcov 0.19, which scripts/peers brings, against pgokit, of walks
through Lua as perf.data. Of a program with DWARF 5, gcc's default, create_gcov makes an empty
profile."""

import os
import subprocess

import gen
import peer_tools
from runtime import programs


def lua(bench):
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, "lua5.4"], check=True)
    made = os.path.join(bench.data, "gen-gcc")
    os.makedirs(made, exist_ok=True)
    program, out = programs.lua(bench.data, made), os.path.join(made, "lua-gcc")
    if not os.path.exists(out):
        subprocess.run(["gcc", "-O2", "-gdwarf-4", *program.flags, *program.sources,
                        *program.libraries, "-Wl,--build-id", "-o", out + ".new"], check=True)
        os.rename(out + ".new", out)
    return out


def cases(bench):
    """Yields (name, peer's command, our command, required ratios, labels)."""
    create_gcov = peer_tools.brought("create_gcov")
    if not create_gcov:
        return
    binary = lua(bench)
    for samples, required in ((10000, gen.TEN_TIMES), (200000, gen.MANY)):
        recording = gen.walk(bench, binary, samples, "-d")
        yield (f"{samples:,} samples, for gcc 14",
               [create_gcov, f"--profile={recording}", f"--binary={binary}", "-gcov_version=2",
                "--gcov=" + bench.out("theirs.gcov")],
               [bench.pgokit, "gen", "-q", recording, "-b", binary, "--to", "gcc14",
                "-o", bench.out("ours.gcov")], required, ("create_gcov 0.19", "pgokit"))
