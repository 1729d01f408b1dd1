"""What the interop tests share: finding peer tools, building and recording the programs
in programs/, running commands, and reporting in TAP.

A tool that is not there skips its cases with a reason that starts with "missing", which
scripts/run-tests counts as a failure where CI=true. Tools of newer releases of Debian, which
scripts/peers brings, may be away: archives move, and not every machine may enter their roots.
"""

import argparse
import concurrent.futures
import contextlib
import fcntl
import functools
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
JOBS = max(2, os.cpu_count() or 2)


class Failure(Exception):
    """A case does not hold; the text says what differs."""


class Skip(Exception):
    """A case cannot be decided here; the text says why."""


def require(condition, text):
    if not condition:
        raise Failure(text)


# ---- tools ----

# Where scripts/peers keeps what it brings: not below XDG_CACHE_HOME, which the tests set to a
# folder that does not exist.
BROUGHT = os.environ.get("PGOKIT_PEERS") or os.path.expanduser("~/.cache/pgokit/peers")
# Releases of LLVM of which only scripts/peers has tools.
NEWEST_RELEASES = (23,)


def peer(name):
    """Path of a tool of a newer Debian: of this machine, or a command of scripts/peers."""
    if found := shutil.which(name):
        return found
    found = shutil.which(name, path=os.path.join(BROUGHT, "bin"))
    if not found:
        raise Skip(f"no {name}: {why_not_brought()}")
    if refusal := entering_fails(entry_of(found)):
        raise Skip(f"no {name}: its root cannot be entered: {refusal}")
    return found


def entry_of(command):
    """What a command of scripts/peers enters its root with: .../bin/in-RELEASE."""
    with open(command, encoding="utf-8") as script:
        return next(line.split('"')[1] for line in script if line.startswith("exec "))


@functools.lru_cache(maxsize=None)
def entering_fails(entry):
    result = subprocess.run([entry, "true"], stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, check=False)
    return result.stderr.strip() if result.returncode else ""


def why_not_brought():
    try:
        with open(os.path.join(BROUGHT, "reasons"), encoding="utf-8") as reasons:
            return "; ".join(reasons.read().split("\n")[:-1]) or "scripts/peers brings none"
    except OSError:
        return "scripts/peers has not been run"


def beside(compiler):
    """What to put before a command line to run a program that the compiler built: programs of a
    newer Debian need its C library."""
    return [entry_of(compiler)] if compiler.startswith(os.path.join(BROUGHT, "bin", "")) else []


def tool(name, release=None):
    """Path of `name-release` or of `name` in the folder of that LLVM release."""
    full = f"{name}-{release}" if release else name
    if release in NEWEST_RELEASES:
        return peer(full)
    places = [full]
    if release:
        places.append(f"/usr/lib/llvm-{release}/bin/{name}")
    for place in places:
        found = shutil.which(place)
        if found:
            return found
    raise Skip(f"missing {full}")


def need_linkers(flags):
    """Skips where a linker that the flags name is missing."""
    for flag in flags:
        if flag.startswith("-fuse-ld="):
            name = flag.removeprefix("-fuse-ld=")
            tool(name if "/" in name else f"ld.{name}")


def at_hand(*releases):
    """Those releases of LLVM that this machine has; older ones may not be missing."""
    def there(release):
        try:
            return bool(tool("llvm-profdata", release))
        except Skip:
            return release not in NEWEST_RELEASES
    return [release for release in releases if there(release)]


AARCH64 = "--target=aarch64-linux-gnu"


def need_aarch64():
    """C++ programs can be built for it."""
    if not os.path.exists("/usr/aarch64-linux-gnu/include/c++"):
        raise Skip("missing g++-aarch64-linux-gnu")


class Result:
    def __init__(self, argv, code, out, err, peak_kib):
        self.argv, self.code, self.out, self.err, self.peak_kib = argv, code, out, err, peak_kib

    @property
    def text(self):
        return self.out.decode("utf-8", "replace")

    @property
    def errors(self):
        return self.err.decode("utf-8", "replace")

    def __str__(self):
        return (f"$ {' '.join(self.argv)}\nexit code {self.code}\n"
                f"{self.text[-1500:]}{self.errors[-3000:]}")


def run(*argv, env=None, cwd=None, timeout=300, stdout=None, before=None):
    """Runs a command; `stdout` may be an open file, `before` runs in the child."""
    argv = [os.fspath(a) for a in argv]
    full_env = dict(os.environ, LC_ALL="C", **(env or {}))
    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stdout or out, stderr=err,
                                 env=full_env, cwd=cwd, preexec_fn=before)
        timer = kill_after(child, timeout)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        timed_out = timer()
        out.seek(0)
        err.seek(0)
        result = Result(argv, child.returncode, out.read(), err.read(), usage.ru_maxrss)
    require(not timed_out, f"still running after {timeout} s: {' '.join(argv)}")
    return result


def kill_after(child, timeout):
    """Kills the child after `timeout` seconds; calling the result tells whether it did."""
    fired = []

    def fire():
        fired.append(True)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, 9)

    timer = threading.Timer(timeout, fire)
    timer.daemon = True
    timer.start()

    def stop():
        timer.cancel()
        return bool(fired)

    return stop


def good(*argv, **kw):
    """Runs a command that must succeed; its standard output as text."""
    result = run(*argv, **kw)
    require(result.code == 0, str(result))
    return result.text


def read(path):
    with open(path, "rb") as f:
        return f.read()


def program_text(name):
    """A program of programs/."""
    return read(os.path.join(PROGRAMS, name)).decode()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


# ---- programs ----

FRAME_POINTERS = ["-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer",
                  "-fno-optimize-sibling-calls"]
HISTOGRAM = ["-mllvm", "-memprof-histogram", "-mllvm", "-memprof-use-callbacks=true"]


class Variant:
    """How a program is built: a compiler release and its flags."""

    def __init__(self, release, *flags, histogram=False):
        self.release, self.flags, self.histogram = release, list(flags), histogram

    @property
    def name(self):
        words = [f.replace("-fuse-ld=", "ld=").lstrip("-").replace("Wl,", "") for f in self.flags]
        words = [os.path.basename(w) if w.startswith("ld=/") else w for w in words]
        return " ".join([f"clang-{self.release}"] + words + ["histogram"] * self.histogram)

    def compiler(self, source):
        return tool("clang++" if source.endswith(".cpp") else "clang", self.release)


class Program:
    """A built and recorded program; everything of it lies in `folder`. `start` is the command line
    to run it."""

    def __init__(self, name, variant, folder, compiler):
        self.name, self.variant, self.folder = name, variant, folder
        self.exe = os.path.join(folder, "prog")
        self.raw = os.path.join(folder, "prog.memprofraw")
        self.start = [*beside(compiler), self.exe]

    def path(self, name):
        return os.path.join(self.folder, name)


def fingerprint(*parts):
    h = hashlib.sha256()
    for part in parts:
        h.update(repr(part).encode())
    return h.hexdigest()[:12]


@contextlib.contextmanager
def locked(path):
    """One process or thread at a time."""
    with open(path, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


class Work:
    """The work folder of a test and the built programs in it, which tests share."""

    def __init__(self, pgokit, folder):
        self.pgokit = pgokit
        self.programs = PROGRAMS
        self.cache = os.path.join(folder, "programs")
        os.makedirs(self.cache, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix=os.path.basename(sys.argv[0])[:-3] + "-", dir=folder)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def temp(self, label):
        """A fresh folder for one case."""
        return tempfile.mkdtemp(prefix=label + "-", dir=self.folder)

    def shared(self, label, key, make):
        """A folder that is filled once for all tests, by `make`; `key` decides what is in it."""
        folder = os.path.join(self.cache, f"{label}-{fingerprint(key)}")
        with locked(folder + ".lock"):
            if not os.path.exists(os.path.join(folder, "done")):
                shutil.rmtree(folder, ignore_errors=True)
                os.makedirs(folder)
                make(folder)
                write(os.path.join(folder, "done"), b"")
        return folder

    def build(self, source, variant, more=(), record=True):
        """Builds programs/<source> (several, separated by blanks, are linked together)
        and runs it once; cached by sources, flags and compiler."""
        sources = [os.path.join(PROGRAMS, s) for s in source.split()]
        compiler = variant.compiler(sources[0])
        need_linkers(variant.flags)
        flags = ["-g", *FRAME_POINTERS, "-fmemory-profile", "-Wl,--build-id", *variant.flags,
                 *(HISTOGRAM if variant.histogram else []), *more]
        stat = os.stat(os.path.realpath(compiler))
        headers = sorted(glob.glob(os.path.join(PROGRAMS, "*.h")))
        key = (flags, [read(s) for s in sources + headers], stat.st_size, stat.st_mtime_ns, record)
        name = os.path.basename(sources[0]).rsplit(".", 1)[0]

        def make(folder):
            program = Program(name, variant, folder, compiler)
            good(compiler, *flags, *sources, "-o", program.exe, cwd=folder, timeout=300)
            if record:
                self.record(program)
        return Program(name, variant, self.shared(name, key, make), compiler)

    @staticmethod
    def record(program, *args, env=None):
        options = f"print_text=0:log_path={program.folder}/recorded"
        result = run(*program.start, *args, env={"MEMPROF_OPTIONS": options, **(env or {})})
        files = glob.glob(program.path("recorded.*"))
        require(result.code == 0 and len(files) == 1, f"recorded {len(files)} profiles\n{result}")
        os.rename(files[0], program.raw)

    def modules(self, variant):
        """A program with a shared library and a plug-in; libraries are lib.so, plugin.so."""
        names = ["modules.cpp", "module_library.cpp", "module_plugin.cpp"]
        sources = [os.path.join(PROGRAMS, n) for n in names]
        compiler = variant.compiler(sources[0])
        flags = ["-g", *FRAME_POINTERS, "-fmemory-profile", "-Wl,--build-id", *variant.flags,
                 *(HISTOGRAM if variant.histogram else [])]
        stat = os.stat(os.path.realpath(compiler))
        key = ("modules", flags, [read(s) for s in sources], stat.st_mtime_ns)
        # A library takes the runtime of the program; it must not bring its own.
        shared = [f for f in flags
                  if f not in ("-pie", "-no-pie", "-fpie", "-fno-pie", "-fmemory-profile")]

        def make(folder):
            for source, out, more in ((sources[1], "lib.so", []),
                                      (sources[2], "plugin.so", ["lib.so"])):
                good(compiler, *shared, "-fmemory-profile", "-fPIC", "-c", source, "-o", out + ".o",
                     cwd=folder)
                good(compiler, *shared, "-shared", out + ".o", *more, "-o", out,
                     "-Wl,-rpath,$ORIGIN", cwd=folder)
            good(compiler, *flags, sources[0], "lib.so", "-ldl", "-Wl,-rpath,$ORIGIN", "-o", "prog",
                 cwd=folder)
            program = Program("modules", variant, folder, compiler)
            self.record(program, program.path("plugin.so"))
        return Program("modules", variant, self.shared("modules-so", key, make), compiler)


# ---- reporting ----

class Tap:
    """Runs cases, several at a time, and reports them in the order they were added."""

    def __init__(self):
        self.cases = []

    def add(self, name, fn, *args):
        self.cases.append((name, fn, args))

    def run(self, jobs=JOBS):
        print(f"1..{len(self.cases)}", flush=True)
        failed = 0
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(fn, *args) for _, fn, args in self.cases]
            for i, ((name, _, _), future) in enumerate(zip(self.cases, futures), 1):
                try:
                    note = future.result()
                    line, detail = f"ok {i} - {name}", note if isinstance(note, str) else ""
                except Skip as e:
                    line, detail = f"ok {i} - {name} # SKIP {e}", ""
                except Failure as e:
                    failed += 1
                    line, detail = f"not ok {i} - {name}", str(e)
                except Exception:
                    failed += 1
                    line, detail = f"not ok {i} - {name}", traceback.format_exc(limit=-4)
                print(line)
                for text in detail.splitlines():
                    print("# " + text)
                sys.stdout.flush()
        return 1 if failed else 0


def main(add_cases, kind=Work):
    """A test program: add_cases(work, tap) adds its cases; `kind` is the class of the work."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pgokit", help="the program under test")
    parser.add_argument("folder", help="work folder; built programs stay there")
    parser.add_argument("--only", default="", help="run only cases with this text in their name")
    parser.add_argument("--keep", action="store_true", help="keep what the cases wrote")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    work = kind(os.path.abspath(args.pgokit), os.path.abspath(args.folder))
    tap = Tap()
    try:
        try:
            add_cases(work, tap)
        except Skip as e:
            # One skipped case: a plan without cases would count as a passed one.
            tap.cases = []
            reason = str(e)

            def skip():
                raise Skip(reason)
            tap.add("all cases", skip)
        tap.cases = [c for c in tap.cases if args.only in c[0]]
        status = tap.run()
    finally:
        if args.keep:
            print(f"# kept {work.folder}")
        else:
            work.close()
    return status
