"""Runs test suites of real programs plain and under the branch recorder at 1,000 ticks a second.

  scripts/soak recorder BUILD [--only NAME]...

Each suite runs plain, then with ticks of processor time (as many as the kernel's clock has, of the
1,000), then with ticks of real time (--real-time).

The exit status is 1 if a test fails each time under the recorder, or if a program prints something
else.
"""

import collections
import os
import pathlib
import tempfile

import suites
from recording import Recording

TICKS = {"processor": "frequency=1000", "real": "frequency=1000:real_time=1"}


def sum_up(folder):
    """Counters of all recordings in a folder, by whether they are work or why there was no window,
    or a shorter one."""
    work, why = collections.Counter(), collections.Counter()
    for path in folder.iterdir():
        if path.suffix == ".part":
            continue
        recording = Recording(path)
        work.update(recording.counters)
        why.update(recording.ended())
    return work, why


def under_recorder(suite, library, options, folder, source):
    """(names of tests that passed, output, counters of work, why windows ended early)"""
    with tempfile.TemporaryDirectory(prefix="pgokit-soak-") as kept:
        os.chmod(kept, 0o1777)  # some programs run as another user than root
        _, text = suites.shell(suite.run, folder, source, LD_PRELOAD=str(library),
                             PGOKIT_BRANCHES_OPTIONS=f"out={kept}/%e.%p:{options}")
        return suites.names_of(suite, text), text, *sum_up(pathlib.Path(kept))


def try_suite(name, suite, data, library):
    """True: no test fails under the recorder alone."""
    folder, source, plain = suites.run_plain(name, suite, data)
    good = True
    for clock, options in TICKS.items():
        wanted = {test for test in plain
                  if clock != "real" or test.split()[0] not in suite.interrupted}
        counted = []

        def once(again, clock=clock, options=options, counted=counted):
            found, text, *counted[:] = under_recorder(suite, library, options, folder, source)
            (folder / f"{clock}.{again}.log").write_text(text)
            return found, True
        passed, again = suites.repeat(wanted, once)
        work, why = counted
        reasons = ", ".join(f"{reason.lower()} {n:,}" for reason, n in why.most_common(5))
        suites.report(f"{clock} time", wanted, passed, again,
                      f"; {work['TICKS']:,} ticks, {work['WINDOWS']:,} windows with "
                      f"{work['BRANCHES']:,} branches; none or shorter: {reasons}")
        good &= suites.none_lost(wanted, passed, "fails under the recorder")
    return good


def add_options(parser):
    suites.add_only(parser, suites.SUITES)


def soak(args):
    """True: no suite has a test that fails under the recorder alone."""
    library = args.build / "recorder" / "libpgokit_branches.so"
    chosen, data = suites.chosen(args.only)
    return all([try_suite(name, suite, data, library) for name, suite in chosen.items()])
