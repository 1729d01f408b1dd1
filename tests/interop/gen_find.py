#!/usr/bin/env python3
"""pgokit gen without -b: the program that was recorded is found where it was, or by its build id in
caches, and what is said where it is not, or where the recording is of several.
"""

import os
import re
import shutil
import sys

from peers import good, main, program_text, read, require, run, tool, write
from perf_writer import IP, TID, TIME, Event, Recording

SOURCE = program_text("one_loop.c")
# No server, and no cache but those that a case makes.
ALONE = {"DEBUGINFOD_URLS": "", "DEBUGINFOD_CACHE_PATH": "/nonexistent/cache",
         "PERF_BUILDID_DIR": "/nonexistent/debug", "PERF_CONFIG": "/dev/null",
         "XDG_CACHE_HOME": "/nonexistent/xdg"}


class Recorded:
    """A program, and samples of it in process 77 if nothing else is said."""

    def __init__(self, work, *flags, name="app", source=SOURCE):
        self.pgokit, self.folder = work.pgokit, work.temp("find")
        os.makedirs(self.folder, exist_ok=True)
        self.exe = os.path.join(self.folder, name)
        write(self.exe + ".c", source.encode())
        good(tool("gcc"), "-g", "-O1", "-no-pie", "-Wl,--build-id", *flags, self.exe + ".c", "-o",
             self.exe)
        notes = good(tool("readelf"), "-n", self.exe)
        found = re.search(r"Build ID: ([0-9a-f]+)", notes)
        self.id = bytes.fromhex(found[1]) if found else b""
        code = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+\s+0x(\w+) 0x\w+ +R E",
                         good(tool("readelf"), "-lW", self.exe))
        self.offset, self.start, self.size = (int(word, 16) for word in code.groups())
        listing = good(tool("objdump"), "-d", "--disassemble=work", self.exe)
        self.work = [int(word, 16) for word in re.findall(r"^ +([0-9a-f]+):\t", listing,
                                                          re.MULTILINE)]

    def new(self):
        return Recording(Event(IP | TID | TIME, name="cpu-clock:u"))

    def map_into(self, recording, pid, with_id=True, path=None):
        recording.mmap(pid, self.start, -(-self.size // 4096) * 4096, self.offset,
                       path or self.exe, build_id=self.id if with_id else b"")

    def sampled(self, recording, pid, times=100):
        for number in range(times):
            recording.sample(pid=pid, tid=pid, ip=self.work[number % len(self.work)])

    def recording(self, **how):
        recording = self.new()
        recording.comm(77, "app", by_exec=True)
        self.map_into(recording, 77, **how)
        self.sampled(recording, 77)
        return self.written(recording)

    def written(self, recording):
        path = os.path.join(self.folder, "perf.data")
        recording.write_file(path)
        return path

    def gen(self, path, *options, env=()):
        return run(self.pgokit, "gen", path, "--to", "text", "-o", "-", *options,
                   env={**ALONE, **dict(env)})

    def same_as_given(self, path, result, exe=None):
        given = self.gen(path, "-q", "-b", exe or self.exe)
        require(given.code == 0 and "work" in given.text, str(given))
        require(result.code == 0 and result.text == given.text, f"{result}\n{given}")

    def put(self, *parts):
        """The program is no more where it was but there."""
        place = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.move(self.exe, place)
        return place


def where_it_was(work):
    """With a note that says which, unless it is quiet."""
    app = Recorded(work)
    path = app.recording()
    result = app.gen(path)
    app.same_as_given(path, result)
    require(f"the program of {path} is {app.exe}\n" in result.errors, str(result))
    require("build id" not in result.errors, str(result))
    require(not app.gen(path, "-q").errors, "it says something with -q")


def without_a_build_id(work):
    """The file at the path is taken, and that it cannot be checked is said."""
    app = Recorded(work, "-Wl,--build-id=none")
    path = app.recording(with_id=False)
    result = app.gen(path)
    app.same_as_given(path, result)
    require("cannot be checked" in result.errors, str(result))


def in_caches(work):
    """That of perf, that of debuginfod, and a copy of the root folder."""
    for parts, env, options in (
            ((".build-id", "{0}", "{1}", "elf"), "PERF_BUILDID_DIR", ()),
            (("{0}{1}", "executable"), "DEBUGINFOD_CACHE_PATH", ()),
            (("usr", "bin", "app"), None, ("--sysroot",))):
        app = Recorded(work)
        path, hexes = app.recording(), app.id.hex()
        top = os.path.join(app.folder, "top")
        place = app.put("top", *(part.format(hexes[:2], hexes[2:]) for part in parts))
        result = app.gen(path, *options, *([top] if options else []),
                         env={env: top} if env else {})
        require(place in result.errors, f"{place} is not named: {result}")
        app.same_as_given(path, result, place)


def another_build(work):
    """It is not taken, and neither is an output that is there replaced."""
    app = Recorded(work)
    path, old = app.recording(), os.path.join(app.folder, "out.afdo")
    write(old, b"old")
    good(tool("gcc"), "-g", "-O2", "-no-pie", "-Wl,--build-id", app.exe + ".c", "-o", app.exe)
    result = run(app.pgokit, "gen", path, "-o", old, env=ALONE)
    require(result.code == 2 and read(old) == b"old", str(result))
    for words in (f"found {app.exe}, build id {app.id.hex()}, and another build is there now",
                  "caches of perf or debuginfod", "with -b", "DEBUGINFOD_URLS"):
        require(words in result.errors, f"'{words}' is not said\n{result}")


def nowhere(work):
    app = Recorded(work)
    path = app.recording()
    os.unlink(app.exe)
    result = app.gen(path)
    require(result.code == 2 and f"{app.id.hex()}, and it is not there" in result.errors,
            str(result))
    gone = app.recording(path=app.exe + " (deleted)")
    require("(deleted), build id" in app.gen(gone).errors, "what was deleted is not named")


def given_wins(work):
    """What is given is used, also where it is not what was recorded."""
    app, other = Recorded(work), Recorded(work, "-O2", name="other")
    result = app.gen(app.recording(), "-b", other.exe)
    require("note: the program" not in result.errors and "app" not in result.text, str(result))


def several_programs(work):
    """One with nine tenths of the samples is the program; else options choose."""
    app, other = Recorded(work), Recorded(work, "-O2", name="other")

    def recording(more):
        r = app.new()
        for pid, program, times in ((77, app, 100), (78, other, more)):
            r.comm(pid, os.path.basename(program.exe), by_exec=True)
            program.map_into(r, pid)
            program.sampled(r, pid, times)
        return app.written(r)

    few = app.gen(recording(10))
    require(few.code == 0 and f"is {app.exe}\n" in few.errors, str(few))
    path = recording(80)
    many = app.gen(path)
    require(many.code == 2 and "found app (55.6 %), other (44.4 %)" in many.errors and
            "--pid" in many.errors, str(many))
    for options, program in ((("--pid", "78"), other), (("--comm", "app"), app)):
        result = app.gen(path, *options)
        require(result.code == 0 and f"is {program.exe}\n" in result.errors, str(result))


def started_by_another(work):
    """A shell that becomes the program, and a child that goes on as its parent is."""
    shell, app = Recorded(work, "-O2", name="shell"), Recorded(work)
    r = app.new()
    r.comm(77, "shell", by_exec=True)
    shell.map_into(r, 77)
    shell.sampled(r, 77, 3)
    r.comm(77, "app", by_exec=True)
    app.map_into(r, 77)
    app.sampled(r, 77, 50)
    r.fork(79, 77)
    app.sampled(r, 79, 50)
    result = app.gen(app.written(r))
    require(result.code == 0 and f"is {app.exe}\n" in result.errors, str(result))


def libraries_are_named(work):
    """Those with samples and debug information; [vdso] and what has none are not."""
    app = Recorded(work)
    library = os.path.join(app.folder, "libhelp.so")
    write(library + ".c", b"int help(int n) { return n * 3; }\n")
    good(tool("gcc"), "-g", "-shared", "-fPIC", library + ".c", "-o", library)
    r = app.new()
    app.map_into(r, 77)
    r.mmap(77, 0x7f0000000000, 0x10000, 0, library)
    r.mmap(77, 0x7f0000100000, 0x1000, 0, "[vdso]")
    app.sampled(r, 77, 60)
    for start, times in ((0x7f0000001000, 30), (0x7f0000100000, 10)):
        for _ in range(times):
            r.sample(pid=77, tid=77, ip=start)
    result = app.gen(app.written(r))
    require(f"in {library} (30.0 %); to count them" in result.errors and
            "vdso" not in result.errors, str(result))


def a_library_that_has_most(work):
    """Of an interpreter, or what only calls a library; one without lines is of no use."""
    app = Recorded(work)
    library = os.path.join(app.folder, "libhelp.so")
    write(library + ".c", b"int help(int n) { int s = 0; while (n--) s ^= n * 3; return s; }\n")
    good(tool("gcc"), "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id", library + ".c", "-o",
         library)
    symbols = good(tool("nm"), library)
    at = int(re.search(r"^(\w+) T help$", symbols, re.MULTILINE)[1], 16)
    code = re.search(r"LOAD +0x(\w+) 0x(\w+) 0x\w+\s+0x(\w+) 0x\w+ +R E",
                     good(tool("readelf"), "-lW", library))
    offset, start, _ = (int(word, 16) for word in code.groups())
    for of_program, chosen in ((5, library), (15, app.exe)):
        r = app.new()
        app.map_into(r, 77)
        r.mmap(77, 0x7f0000000000, 0x1000, offset, library)
        r.mmap(77, 0x7f0000100000, 0x1000, 0, "/nonexistent/libbare.so")
        app.sampled(r, 77, of_program)
        for place, times in ((0x7f0000000000 + at - start, 35), (0x7f0000100000, 60)):
            for _ in range(times):
                r.sample(pid=77, tid=77, ip=place)
        result = app.gen(app.written(r))
        if chosen == library:
            require(f"are of {library}, which has 35.0 %" in result.errors and
                    "help" in result.text, str(result))
        else:
            require(f"is {app.exe}\n" in result.errors, str(result))


def names_no_program(work):
    app = Recorded(work)
    lines = write(os.path.join(app.folder, "lines"),
                  b"".join(b"app 77 1.0: 1 cpu-clock:u: %x\n" % at for at in app.work))
    for path in (lines, "-"):
        result = app.gen(path)
        require(result.code == 2 and "give it with -b" in result.errors, f"{path}: {result}")


def add_cases(work, tap):
    for fn in (where_it_was, without_a_build_id, in_caches, another_build, nowhere, given_wins,
               several_programs, started_by_another, libraries_are_named,
               a_library_that_has_most, names_no_program):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
