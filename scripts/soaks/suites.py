"""Test suites of real programs from Debian's sources, how they are built and how often they run."""

import collections
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# `build` and `run` are for the shell, in a folder of the suite; $SOURCE is where the sources are.
# Where `compiled`, `build` obeys CC, CXX, CFLAGS, CXXFLAGS and LDFLAGS.
# Short suites are run many times, or $ROUNDS times where that is set, as what is tried is random.
# Of tcl's suite $TCL_FILES run, if it is set, without the ending .test.
# `passed` matches a test that has passed, and its name is the first group. `interrupted` has the
# first words of tests that fail if any signal often interrupts calls that wait, as ticks of real
# time do.
Suite = collections.namedtuple("Suite", "package what build run passed interrupted compiled",
                               defaults=[(), True])
PYTHON = pathlib.Path("/usr/bin/python3").resolve().name
TRIES = 3
LIMIT_S = 3600
END_S = 10  # in which what a suite has started may end after it
PR_SET_CHILD_SUBREAPER = 36

SUITES = {
    "tcl": Suite(
        "tcl8.6", "an interpreter; threads, timers, child processes",
        "$SOURCE/unix/configure --disable-shared && make -j2 tcltest",
        "files=; for i in ${TCL_FILES:-'*'}; do files=\"$files $i.test\"; done; "
        "make test-tcl TESTFLAGS=\"-verbose p -file '$files' -notfile 'http* socket*'\"",
        r"^\+\+\+\+ (\S+) PASSED"),
    "libuv": Suite(
        "libuv1", "threads, signals, child processes",
        "cmake -DCMAKE_BUILD_TYPE=Release $SOURCE && make -j2 uv_run_tests_a",
        "UV_RUN_AS_ROOT=1 ./uv_run_tests_a", r"^ok \d+ - (\w+)$",
        # Time in a call that is interrupted is lost, and no longer idle; a wait for events that is
        # interrupted ends without any, and is another round of the loop. closed_fd_events then
        # leaves a process behind (spawn_helper4), which it ends only where it passes.
        ["metrics_idle_time", "metrics_idle_time_thread", "closed_fd_events",
         "tcp_unexpected_read"]),
    "programs": Suite(
        None, "python3, node, java, redis, postgres and clang as they are installed",
        "true", "$SOURCE/same_output.sh", r"^PASS: (.*)", compiled=False),
    "libsigsegv": Suite(
        "libsigsegv", "handlers of faults, full stacks, alternate stacks",
        "$SOURCE/configure --disable-shared && make && make check TESTS=",
        "for i in $(seq ${ROUNDS:-30}); do make check || exit; done", r"^PASS: (\S+)"),
    "jsoncpp": Suite(
        "libjsoncpp", "C++ with exceptions",
        "${CXX:-g++} ${CXXFLAGS:--O2} -std=c++17 -I$SOURCE/include -I$SOURCE/src/test_lib_json "
        "-o tests $SOURCE/src/lib_json/*.cpp $SOURCE/src/test_lib_json/*.cpp $LDFLAGS",
        "for i in $(seq ${ROUNDS:-200}); do ./tests || exit; done",
        r"^Testing (.*): OK"),
    "muparser": Suite(
        "muparser", "C++ with exceptions",
        "cmake -DCMAKE_BUILD_TYPE=Release -DENABLE_OPENMP=OFF $SOURCE && make -j2 t_ParserTest",
        "for i in $(seq ${ROUNDS:-30}); do ./t_ParserTest || exit; done",
        r"^(.*)(?:\.\.\.| )passed"),
    "pcre2": Suite(
        "pcre2", "a JIT compiler",
        "$SOURCE/configure --enable-jit --enable-pcre2-16 --enable-pcre2-32 --disable-shared && "
        "make -j2 pcre2test pcre2_jit_test",
        "./pcre2_jit_test; srcdir=$SOURCE $SOURCE/RunTest",
        r"^((?:Test \w+: [^\n]*(?:\n  OK[^\n]*)+)|Successful test ratio: 100%)"),
    "python": Suite(
        PYTHON, "an interpreter; signals, threads, child processes",
        "ln -sfn $SOURCE/Lib/test test",
        f"PYTHONPATH=$PWD /usr/bin/{PYTHON} -m test -v -i '*test_4_daemon_threads' "
        "test_signal test_threading test_threadsignals test_thread test_subprocess "
        "test_exceptions test_faulthandler test_fork1 test_re test_coroutines test_generators "
        "test_queue",
        r"^(test\w* \([\w.]+\))(?:\n(?!test)[^\n]*)? \.\.\. ok$",
        # They pause() until their own signal comes, or write() all to a pipe in one call.
        ["test_itimer_real", "test_communicate_pipe_buf", "test_siginterrupt_on",
         "test_without_siginterrupt"],
        compiled=False),
    # Of the 400 modules of CPython's own suite, which takes hours, those whose code allocates in
    # different ways. Objects of up to 512 bytes come from malloc here, as all others do; otherwise
    # malloc sees hardly any.
    "python_objects": Suite(
        PYTHON, "an interpreter, all of whose objects come from malloc",
        "ln -sfn $SOURCE/Lib/test test",
        f"PYTHONPATH=$PWD PYTHONMALLOC=malloc /usr/bin/{PYTHON} -m test -v "
        "test_gc test_weakref test_weakset test_dict test_ordered_dict test_list test_tuple "
        "test_set test_deque test_heapq test_array test_bytes test_unicode test_format test_long "
        "test_complex test_fractions test_struct test_memoryview test_mmap test_json test_pickle "
        "test_copy test_itertools test_functools test_enum test_dataclasses test_descr "
        "test_sqlite3 test_xml_etree_c test_pyexpat test_zlib test_hashlib test_contextlib "
        "test_sched test_fork1 test_thread test_queue test_re",
        r"^(test\w* \([\w.]+\))(?:\n(?!test)[^\n]*)? \.\.\. ok$", compiled=False),
}


def folder_of(data, name):
    folder = data / "soak" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def source_of(data, package):
    if not package:
        return ROOT / "tests" / "recorder"
    [found] = [path for path in (data / "sources").glob(f"{package}-[0-9]*") if path.is_dir()]
    return found


def children():
    """Those of this process that have not ended."""
    found = [int(process) for task in pathlib.Path("/proc/self/task").iterdir()
             for process in (task / "children").read_text(encoding="ascii").split()]
    return [process for process in found if not os.waitpid(process, os.WNOHANG)[0]]


def end_children():
    """Ends what is still there some time after a suite, and says so."""
    until = time.monotonic() + END_S
    while children() and time.monotonic() < until:
        time.sleep(0.1)
    while left := children():  # those of the ended ones come after them
        for process in left:
            words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            print(f"  left behind, and ended: {b' '.join(words).decode(errors='replace')}",
                  flush=True)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def take_interrupts():
    """What a shell starts in the background ignores SIGINT, which suites send themselves."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def shell(command, folder, source, **env):
    """Status and output; leaves no process behind."""
    # What has lost its parent becomes a child of this process.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        try:
            done = subprocess.run(["sh", "-c", command], cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.STDOUT, check=False,
                                  timeout=LIMIT_S, preexec_fn=take_interrupts,
                                  env={**os.environ, "LC_ALL": "C.UTF-8", "SOURCE": str(source),
                                       **env})
        finally:
            end_children()
        out.seek(0)
        return done.returncode, out.read()


def build(suite, folder, source, **env):
    if (folder / "built").exists():
        return
    status, text = shell(suite.build, folder, source, **env)
    (folder / "build.log").write_text(text)
    if status:
        raise SystemExit(f"{suite.package} cannot be built:\n{text[-3000:]}")
    (folder / "built").touch()


def names_of(suite, text):
    return {" ".join(match[1].split()) for match in re.finditer(suite.passed, text, re.M)}


def run_plain(name, suite, data):
    """Builds the suite and runs it: its folder, its sources, and the names of tests that pass."""
    folder, source = folder_of(data, name), source_of(data, suite.package)
    build(suite, folder, source)
    _, text = shell(suite.run, folder, source)
    (folder / "plain.log").write_text(text)
    plain = names_of(suite, text)
    if not plain:
        raise SystemExit(f"{name}: no test passed; see {folder}/plain.log")
    print(f"{name}: {suite.what}; {len(plain)} tests pass plain", flush=True)
    return folder, source, plain


def repeat(wanted, once):
    """Names of the tests that pass in one of up to three runs, and the number of runs. `once` takes
    the number of a run, and gives the names that pass and whether it ended well otherwise."""
    passed, again, well = set(), 0, False
    while again < TRIES and not (well and wanted <= passed):
        again += 1
        found, well = once(again)
        passed |= found
    return passed, again


def report(kind, wanted, passed, again, more=""):
    """A line of how many of the wanted tests have passed."""
    print(f"  {kind}: {len(wanted & passed)} of {len(wanted)} pass"
          + (f" in {again} runs" if again > 1 else "") + more, flush=True)


def none_lost(wanted, passed, fails):
    """True, or a line for each of the wanted tests that has not passed."""
    for test in sorted(wanted - passed):
        print(f"    {fails}: {test}", flush=True)
    return wanted <= passed


def add_only(parser, names):
    parser.add_argument("--only", action="append", choices=names, help="this suite alone")


def fetch(packages):
    """Sources of Debian's packages; the folder of data that they are in."""
    data = pathlib.Path(os.environ.get("PGOKIT_BENCH_DATA") or ROOT / "build" / "bench-data")
    data = data.absolute()
    subprocess.run([ROOT / "bench" / "fetch-sources", data, *sorted(set(packages))], check=True)
    return data


def chosen(names):
    """Fetches the sources of these suites, or of all: suites by name, and the folder of data."""
    suites = {name: SUITES[name] for name in names or SUITES}
    return suites, fetch(suite.package for suite in suites.values() if suite.package)
