"""Programs that were recorded step by step. Each is built and recorded once for all tests; a case
gets a copy of its own, and the recording has the path of the copy.
"""

import glob
import os
import shutil

from peers import PROGRAMS, good, need_linkers, read, tool, write

WALKS = ("walks.cpp", "walks_other.cpp")
LLD = "-fuse-ld=/usr/bin/ld.lld-22"
PROBES = "-fpseudo-probe-for-profiling"
LINES = "-fdebug-info-for-profiling"
FRAMES = "-fno-omit-frame-pointer"


def made(folder, release, *flags, sources=WALKS):
    """A program in a folder."""
    need_linkers(flags)
    exe = os.path.join(folder, sources[0].split(".")[0])
    paths = [os.path.join(PROGRAMS, name) for name in sources]
    good(tool("clang++", release), *flags, *paths, "-o", exe, timeout=300)
    return exe


def kept(work, release, flags, sources):
    """The program that all tests share."""
    stat = os.stat(os.path.realpath(tool("clang++", release)))
    paths = [os.path.join(PROGRAMS, name) for name in sources]
    texts = [read(path) for path in paths + sorted(glob.glob(os.path.join(PROGRAMS, "*.h")))]
    key = (release, flags, texts, stat.st_size, stat.st_mtime_ns)
    folder = work.shared("stepped", key, lambda to: made(to, release, *flags, sources=sources))
    return os.path.join(folder, sources[0].split(".")[0])


def copy_of(work, program):
    copied = os.path.join(work.temp("stepped"), os.path.basename(program))
    shutil.copy(program, copied)
    return copied


def built(work, release, *flags, sources=WALKS):
    return copy_of(work, kept(work, release, flags, sources))


def recorded(work, release, *flags, sources=WALKS, every=211, samples=1500, rounds=100000,
             chains=True):
    """A program, and a sample of each so many branches of a run of so many rounds."""
    program = kept(work, release, flags, sources)
    recorder = os.path.abspath(os.environ["BRANCH_TRACE"])
    key = (program, every, samples, rounds, chains, os.stat(recorder).st_mtime_ns)

    def make(folder):
        good(recorder, *(["-g"] if chains else []), "-e", str(every), "-n", str(samples),
             os.path.join(folder, "trace"), program, str(rounds), timeout=300)
    trace = read(os.path.join(work.shared("trace", key, make), "trace"))
    copied = copy_of(work, program)
    return copied, write(copied + ".trace",
                         trace.replace(f" {program}\n".encode(), f" {copied}\n".encode()))
