"""Runs test suites of real programs plain and with libpgokit_alloc.

  scripts/soak allocator BUILD [--only NAME]...

Each suite runs plain, with the allocator, with all objects in groups by a hash of the call, and
with a plan for the program of its processes that holds most.

Where a test fails each time with the allocator, the suite runs plain once more, and what fails
there, too, does not count. The exit status is 1 if a test passes both times plain. Of tcl's suite
$TCL_FILES run, or those that exercise an allocator most.
"""

import os
import pathlib
import subprocess
import tempfile

import suites

ROUNDS = 5  # of short suites: what the allocator does is not random
LARGE = 8  # profiles that a plan is tried with
# The suite runs four times and more, and once under the heap profiler. Left out are files that
# compute for long with few objects (regexp*, clock, expr*), and those about other systems.
TCL_FILES = ("append basic binary case chan cmdAH cmdIL concat dict encoding error eval event exec "
             "execute fCmd fileName for foreach format history incr indexObj info init interp io "
             "ioCmd ioTrans iogt join lindex link linsert list listObj llength lmap lrange "
             "lreplace lsearch lset main misc msgcat namespace notify nre obj oo ooNext2 opt "
             "package parse pid pkgMkIndex proc reg rename resolver result safe scan set source "
             "split stack string stringObj subst switch tailcall tcltest thread timer tm trace "
             "unixFCmd unixFile unixForkEvent unixInit unixNotfy unknown unload uplevel upvar utf "
             "util var while zlib")


def plan_of(suite, folder, source, build):
    """A plan for a program of the suite, if it would bring something: the profiles of its processes
    are tried by size."""
    with tempfile.TemporaryDirectory(prefix="pgokit-soak-") as kept:
        os.chmod(kept, 0o1777)  # some programs run as another user than root
        suites.shell(suite.run, folder, source,
                   LD_PRELOAD=str(build / "runtime" / "libpgokit_heap.so"),
                   PGOKIT_HEAP_OPTIONS=f"log_path={kept}/heap")
        profiles = sorted(pathlib.Path(kept).iterdir(), key=lambda path: -path.stat().st_size)
        plan = folder / "app.plan"
        for profile in profiles[:LARGE]:
            done = subprocess.run([build / "tools" / "pgokit", "plan", profile, "-q", "-o", plan],
                                  check=False, capture_output=True)
            if done.returncode == 0:
                os.chmod(plan, 0o644)
                return plan
    return None


def try_suite(name, suite, data, build):
    """True: no test fails with the allocator alone."""
    folder, source, plain = suites.run_plain(name, suite, data)
    kinds = {"no plan": {}, "hash": {"PGOKIT_ALLOC_HASH": "15"}}
    plan = plan_of(suite, folder, source, build)
    if plan:
        # Some suites compare what is on standard error.
        kinds["plan"] = {"PGOKIT_ALLOC_PLAN": str(plan), "PGOKIT_ALLOC_PLAN_OF_OTHERS": "1"}
    else:
        print("  there is nothing that a plan would bring", flush=True)
    good = True
    for kind, env in kinds.items():
        def once(again, kind=kind, env=env):
            _, text = suites.shell(suite.run, folder, source,
                                 LD_PRELOAD=str(build / "allocator" / "libpgokit_alloc.so"), **env)
            (folder / f"{kind}.{again}.log").write_text(text)
            return suites.names_of(suite, text), True
        passed, again = suites.repeat(plain, once)
        if not plain <= passed:
            # The machine may have become busier since the first run.
            _, text = suites.shell(suite.run, folder, source)
            (folder / f"plain after {kind}.log").write_text(text)
            for test in sorted(plain - passed - suites.names_of(suite, text)):
                print(f"    fails plain, too, when it is run again: {test}", flush=True)
                plain.remove(test)
        suites.report(kind, plain, passed, again)
        good &= suites.none_lost(plain, passed, "fails with the allocator")
    return good


def add_options(parser):
    suites.add_only(parser, suites.SUITES)


def soak(args):
    """True: no suite has a test that fails with the allocator alone."""
    os.environ.setdefault("ROUNDS", str(ROUNDS))
    os.environ.setdefault("TCL_FILES", TCL_FILES)
    chosen, data = suites.chosen(args.only)
    return all([try_suite(name, suite, data, args.build) for name, suite in chosen.items()])
