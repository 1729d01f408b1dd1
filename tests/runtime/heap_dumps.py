#!/usr/bin/env python3
"""Dumps of a program that goes on: what they write, what kills leave, and what may stand in their
way. programs/dumped.c says how often it did what."""

import os
import random
import re
import resource
import shutil
import struct
import subprocess
import time

import harness
import profiles
import raw_profile
from harness import Cases, Failure, Skip, require, run, started, tool
from runtime_programs import HERE, PGOKIT, build, check_sound, one_file

KILLS = int(os.environ.get("PGOKIT_TEST_KILLS", "60"))


class Stepped:
    """The program, which makes a round and a dump whenever it is told to."""

    def __init__(self, folder, depth=0, threads=0, options="", wrapper=(), before=None):
        self.folder, self.program = folder, build(folder, "dumped.c", "clang-22", "archive")
        counters = os.path.join(folder, "counters")
        argv = [*wrapper, self.program, counters, str(threads), str(depth), "step"]
        self.child = subprocess.Popen(started(argv), cwd=folder, stdin=subprocess.PIPE, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env=dict(os.environ, PGOKIT_HEAP_OPTIONS=options),
                                      preexec_fn=before)
        self.dumps = 0
        first = self.child.stdout.readline()
        if not first:
            said = self.child.communicate()[1]
            if self.child.returncode == 77:
                raise Skip("seccomp is not allowed here")
            raise Failure(f"did not start: {said}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()

    def step(self, times=1, what="dump", all_=True):
        for _ in range(times):
            self.child.stdin.write(what + "\n")
            self.child.stdin.flush()
            answer = self.child.stdout.readline()
            require(answer == "dump\n" or answer == "no dump\n" and not all_, f"no dump: {answer}")
            self.dumps += answer == "dump\n"

    def end(self):
        """What it said."""
        said = self.child.communicate()[1]
        require(self.child.returncode == 0, f"exit status {self.child.returncode}: {said}")
        return said

    def written(self):
        """Bytes that the process has asked the system to write."""
        try:
            with open(f"/proc/{self.child.pid}/io", encoding="ascii") as file:
                return int(re.search(r"^wchar: (\d+)$", file.read(), re.M)[1])
        except OSError as reason:
            raise Skip(f"no /proc/PID/io: {reason}") from None


def counted(path, program):
    """Objects of kept() and of freed(): in dumps, in sheets, and alive at a kill."""
    profile = raw_profile.Profile(path)
    found = profile.by_function(program)
    alive = profile.by_function(program, profile.alive()) if profile.allocated else {}
    return (found.get("kept", [0])[0] + alive.get("kept", [0])[0],
            found.get("freed", [0])[0] + alive.get("freed", [0])[0]), profile


def require_rounds(path, program, rounds):
    objects, profile = counted(path, program)
    require(objects == (rounds, 3 * rounds), f"{objects} in {rounds} rounds")
    check_sound(path)
    return profile


def own_bytes(path):
    """What dumps take without what lies after them."""
    total, at = 0, 0
    with open(path, "rb") as file:
        data = file.read()
    while at < len(data):
        _, _, all_, _, mibs, stacks = struct.unpack_from("<6Q", data, at)
        total += stacks + 8 + raw_profile.Notes(data, at, mibs).facts["stack_bytes"]
        at += all_
    return total


def not_quadratic(folder, wrapper=()):
    """Dumps of one size: 32 of them write no more than twice what 16 do and a little."""
    if wrapper:
        run([tool("gcc"), "-O2", os.path.join(HERE, "programs", "confined.c"), "-o",
             os.path.join(folder, "confined")], folder)
    with Stepped(folder, 11, 0, "", wrapper) as program:
        program.step()
        written = [program.written()]
        for _ in range(2):
            program.step(16)
            written.append(program.written())
        program.end()
        path = one_file(folder)
        profile = require_rounds(path, program.program, 33)
    first, second = written[1] - written[0], written[2] - written[1]
    size, own, blocks = os.path.getsize(path), own_bytes(path), os.stat(path).st_blocks * 512
    notes = [f"16 dumps wrote {first} bytes, the next 16 {second}; {profile.dumps} dumps of {own} "
             f"bytes together, the file has {size} and takes {blocks}"]
    require(not profile.interrupted and profile.dumps == 34, f"{profile.dumps} dumps")
    require(second < 1.6 * first, notes[0])  # with all dumps written again it would be 2.9 times
    require(size <= 2 * own + 65536, notes[0])
    return notes


def many_small(folder):
    """The file is not long for the sheets that there were."""
    with Stepped(folder) as program:
        program.step(120)
        path = one_file(folder)
        running = os.path.getsize(path)
        require(running < 2 * own_bytes(path) + (8 << 20), f"{running} bytes while it runs")
        program.end()
        require_rounds(path, program.program, 120)
        require(os.path.getsize(path) < 2 * own_bytes(path) + 65536, f"{os.path.getsize(path)}")


def killed(folder):
    """Each object is there once: in a dump, in a sheet, or alive."""
    program = build(folder, "dumped.c", "clang-22", "archive")
    at_random, within, dumps = random.Random(3), 0, 0
    counters = os.path.join(folder, "counters")
    for round_ in range(KILLS):
        for path in (*raw_profile.files(folder), counters):
            if os.path.exists(path):
                os.unlink(path)
        threads, depth = str(round_ % 3), str((0, 6, 11)[round_ // 3 % 3])
        with subprocess.Popen(started([program, counters, threads, depth]), cwd=folder,
                              stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            time.sleep(at_random.random() / 10)
            child.kill()
        with open(counters, "rb") as file:
            entered, ended, dumping = struct.unpack("<3Q", file.read())
        path, = [name for name in raw_profile.files(folder) if not name.endswith(".part")]
        (kept, freed), profile = counted(path, program)
        where = f"kill {round_}: kept {kept}, freed {freed}, rounds {entered}, {ended}, {dumping}"
        require(ended <= kept <= entered and 3 * ended <= freed <= 3 * entered, where)
        require(not dumping or (kept, freed) == (entered, 3 * entered), where)
        within += dumping
        dumps += ended
        if round_ % 10 == 0:
            check_sound(path)
    if shutil.which("llvm-profdata-22") and not harness.TARGET:  # it knows x86-64 alone
        run(["llvm-profdata-22", "show", "--memory", path, f"--profiled-binary={program}"], folder)
    return [f"{KILLS} kills, {within} of them within a dump, {dumps} dumps, "
            f"{profile.dumps} in the last file"]


def given_another_name(folder):
    """The next dump begins a file of the name that was asked for, with the dumps of before."""
    new, old = os.path.join(folder, "new.profraw"), os.path.join(folder, "old.profraw")
    with Stepped(folder, 4, 1, f"out={new}") as program:
        program.step(3)
        os.rename(new, old)
        program.step(3)
        require_rounds(new, program.program, 6)
        check_sound(old)
        os.unlink(new)
        program.step(2)
        program.end()
        profile = require_rounds(new, program.program, 8)
        require(not profile.interrupted, "interrupted")


def forking(folder):
    """A child has a file of its own, and its parent goes on in its own."""
    with Stepped(folder, 4, 0) as program:
        program.step(3)
        program.step(3, "fork")
        program.end()
        files = raw_profile.files(folder)
        require(len(files) == 4, f"{files}")
        of_parent = [path for path in files if path.endswith(f".{program.child.pid}")]
        require_rounds(of_parent[0], program.program, 6)
        for path in set(files) - set(of_parent):
            found = raw_profile.Profile(path).by_function(program.program)
            require(found["in_child"][0] == 5 and "kept" not in found, f"{path}: {found}")


def limited(folder):
    """The file may not be longer: recording stops, no signal comes, and what is there is sound."""
    limit = 3 << 20
    limits = (limit, limit)
    with Stepped(folder, 11, 0, "",
                 before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)) as program:
        program.step(12, all_=False)
        said = program.end()
    require("file size limit" in said, said)
    path = one_file(folder)
    (kept, freed), _ = counted(path, program.program)
    done = program.dumps
    require(2 <= done <= kept <= done + 1 and 3 * done <= freed <= 3 * done + 3,
            f"{kept}, {freed} in {done} rounds")
    check_sound(path)
    require(os.path.getsize(path) <= limit, f"{os.path.getsize(path)} bytes")


def full_disk(folder):
    if os.geteuid():
        raise Skip("takes root to mount a file system")
    mount = os.path.join(folder, "mounted")
    os.mkdir(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", mount],
                      check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip("cannot mount here")
    path = os.path.join(mount, "p.profraw")
    try:
        with Stepped(folder, 11, 0, f"out={path}") as program:
            program.step(12)
            said = program.end()
        require("no space left" in said, said)
        (kept, freed), profile = counted(path, program.program)
        require((kept, freed) == (12, 36) and profile.dumps > 3, f"{kept}, {freed}")
        check_sound(path)
        require(os.listdir(mount) == ["p.profraw"], f"{os.listdir(mount)}")
    finally:
        subprocess.run(["umount", mount], check=False)


def read_before(folder):
    """Who has read where the sheets are finds them there after the dump, too."""
    with Stepped(folder, 0) as program:
        program.step(3)
        with open(one_file(folder), "rb") as file:
            before = bytearray(file.read())
            program.step()
            file.seek(0)
            now = file.read()
        at = 0  # of what was read then: where the dumps and the sheet are
        while at < len(before):
            size, = struct.unpack_from("<Q", before, at + 16)
            last, at = at, at + size
        begins = slice(last + 24, last + 56)  # offsets, and the number of segments
        require(now[begins] == before[begins], "the sheet of before is gone")


def read_by_llvm(folder, release, version):
    """llvm-profdata reads the same records as pgokit from a file whose dumps cover others."""
    profdata = tool(f"llvm-profdata-{release}")
    with Stepped(folder, 13, 0, f"raw_version={version}") as program:
        program.step()
        program.step(5, "small")
        program.end()
        raw, name = one_file(folder), program.program
    size, own = os.path.getsize(raw), own_bytes(raw)
    require(size > own + 65536, f"nothing is covered: {size} bytes, {own} of dumps")
    theirs = profiles.parse_show(run([profdata, "show", "--memory", raw,
                                      f"--profiled-binary={name}"], folder).stdout)
    # As for compilers: without names of the libraries' frames, as llvm-profdata has them.
    run([PGOKIT, "merge", "--partial", raw, "-b", name, "-o", "ours.pgk"], folder)
    ours = profiles.parse_json(run([PGOKIT, "show", "ours.pgk", "--json"],
                                   folder).stdout)
    require(theirs, "llvm-profdata gives no record")
    difference = profiles.first_difference(theirs, ours, profiles.COMPARED, False)
    require(not difference, difference)


def main():
    cases = Cases()
    cases.run("bytes written grow with the dumps", not_quadratic)
    cases.run("bytes written grow with the dumps: no holes in files", not_quadratic,
              ["./confined", "old-kernel"])
    cases.run("many small dumps", many_small)
    cases.run("killed in dumps", killed)
    cases.run("another name, and none, between dumps", given_another_name)
    cases.run("forks between dumps", forking)
    cases.run("file size limit between dumps", limited)
    cases.run("disk that gets full between dumps", full_disk)
    cases.run("a reader that began before the dump", read_before)
    for release, version in ((19, 4), (22, 5), (23, 5)):
        cases.run(f"covered sheets, read by llvm-profdata-{release}, raw version {version}",
                  read_by_llvm, release, version)
    cases.finish()


if __name__ == "__main__":
    main()
