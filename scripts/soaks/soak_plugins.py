"""Runs test suites of real programs that are built with the plugins that count accesses.

  scripts/soak plugins BUILD [--only NAME]... [--cc COMPILER]...

A COMPILER is a name with its release, clang-22 and gcc-12 by default. Each suite is built
plain and with the flags that `pgokit config` prints, and clang's verifier or gcc's checks look at
what the plugin made. Both run, and the accesses that were counted are printed. The exit status is 1
if a test fails each time with the plugin, or if nothing was counted.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile

import raw_profile
import suites

ROUNDS = 2  # of short suites: what a plugin makes is not random
NAMES = [name for name, suite in suites.SUITES.items() if suite.compiled]
READ = 200  # profiles whose counts are added up, the largest


def config(build, compiler, what):
    """What pgokit config prints for it."""
    done = subprocess.run([build / "tools" / "pgokit", "config", *what, "heap", "--shared",
                           "--cc", compiler], check=True, capture_output=True, text=True)
    if "--cflags" in what and "by the plugin for" not in done.stderr:
        raise SystemExit(f"{compiler}: {done.stderr.strip()}")
    return done.stdout.strip()


def settings(build, compiler, counted):
    """What make, configure and cmake are told."""
    family, release = compiler.split("-")
    cxx = f"{'g++' if family == 'gcc' else 'clang++'}-{release}"
    missing = [name for name in (compiler, cxx) if not shutil.which(name)]
    if missing:
        raise SystemExit(f"missing {', '.join(missing)}")
    flags, link = "-O2", ""
    if counted:
        check = "-fchecking" if family == "gcc" else "-mllvm -pgokit-heap-verify"
        flags = f"-O2 {config(build, compiler, ['--cflags'])} {check}"
        link = config(build, compiler, ["--ldflags", "--libs"])
    return {"CC": compiler, "CXX": cxx, "CFLAGS": flags, "CXXFLAGS": flags, "LDFLAGS": link}


def made(suite, data, source, build, compiler, counted):
    """The folder of a suite that has been built so, anew if it is counted: plugins change."""
    kind = "counted" if counted else "plain"
    folder = suites.folder_of(data, f"{suite.package}-{compiler}-{kind}")
    if counted:
        shutil.rmtree(folder)
        folder.mkdir()
    suites.build(suite, folder, source, **settings(build, compiler, counted))
    return folder


def accesses_of(folder):
    """Profiles that the suite wrote, and accesses of the largest of them."""
    paths = sorted(folder.iterdir(), key=lambda path: -path.stat().st_size)
    profiles = [raw_profile.Profile(path) for path in paths[:READ] if path.stat().st_size]
    return len(paths), sum(row[2] for profile in profiles for row in profile.contexts.values())


def try_with(suite, data, build, compiler):
    """True: no test fails with the plugin alone, and something was counted."""
    source = suites.source_of(data, suite.package)
    folder = made(suite, data, source, build, compiler, False)
    _, text = suites.shell(suite.run, folder, source)
    (folder / "run.log").write_text(text)
    plain = suites.names_of(suite, text)
    if not plain:
        raise SystemExit(f"no test passed; see {folder}/run.log")
    folder = made(suite, data, source, build, compiler, True)
    counts = []

    def once(again):
        with tempfile.TemporaryDirectory(prefix="pgokit-soak-") as kept:
            os.chmod(kept, 0o1777)  # some programs run as another user than root
            _, text = suites.shell(suite.run, folder, source,
                                 PGOKIT_HEAP_OPTIONS=f"log_path={kept}/heap")
            counts[:] = accesses_of(pathlib.Path(kept))
        (folder / f"run.{again}.log").write_text(text)
        return suites.names_of(suite, text), True
    passed, again = suites.repeat(plain, once)
    profiles, counted = counts
    suites.report(compiler, plain, passed, again, f"; {profiles} profiles, {counted:,} accesses")
    return suites.none_lost(plain, passed, "fails with the plugin") and counted > 0


def add_options(parser):
    suites.add_only(parser, NAMES)
    parser.add_argument("--cc", action="append", help="this compiler alone")


def soak(args):
    """True: each suite counts accesses, and has no test that fails with the plugin alone."""
    os.environ.setdefault("ROUNDS", str(ROUNDS))
    chosen, data = suites.chosen(args.only or NAMES)
    good = True
    for name, suite in chosen.items():
        print(f"{name}: {suite.what}", flush=True)
        for compiler in args.cc or ("clang-22", "gcc-12"):
            good &= try_with(suite, data, args.build, compiler)
    return good
