#!/usr/bin/env python3
"""Recordings in the layouts of perf 3.3 to 5.10: where they map the kernel, how they say what file
was mapped and when a program began, and build ids whose size they do not say. Each is read as the
same recording of a new perf, and its mappings are those that the perf of this machine lists.
"""

import os
import re
import sys

from gen_find import ALONE, Recorded
from peers import Skip, good, main, require, run, tool, write
from perf_writer import BRANCH, HW_INDEX, ID, IDENTIFIER, IP, PERIOD, TID, TIME, Event, Recording

TEXT = 0xFFFFFFFF81000000  # of the kernel
MODULES = 0xFFFFFFFFA0000000
KERNEL_FROM_ZERO = (0, MODULES - 1, TEXT)
KERNEL_HIDDEN = (0, MODULES - 1, 0)  # from users: kernel.kptr_restrict
KERNEL = (TEXT, MODULES - TEXT - 1, TEXT)


class Release:
    """What files of a release of perf, and of the kernel of its time, have."""

    def __init__(self, version, attr_size, kernel, newer_mappings, ids, branch_type):
        self.version, self.attr_size, self.kernel = version, attr_size, kernel
        self.newer_mappings = newer_mappings  # MMAP2, and a mark of comm records for exec
        self.ids, self.branch_type = ids, branch_type


RELEASES = (
    Release("3.3.0", 80, KERNEL_FROM_ZERO, False, 0, 8),
    Release("3.10.0", 96, KERNEL_HIDDEN, False, ID, 8),
    Release("3.16.7", 96, KERNEL, True, IDENTIFIER, 8),
    Release("4.4.302", 112, KERNEL, True, IDENTIFIER, 8),
    Release("5.10.0", 120, KERNEL, True, IDENTIFIER, 8 | HW_INDEX),
)
NEW = Release("6.1.0", 128, KERNEL, True, IDENTIFIER, 8 | HW_INDEX)
BUILD_IDS = {8: "0x0123456789abcdef", 16: "0x0123456789abcdef0123456789abcdef", 20: "sha1"}


def loop_of(app):
    """The branch of the program that leads back: from, to."""
    listing = good(tool("objdump"), "-d", "--disassemble=work", app.exe)
    jumps = re.findall(r"^ +([0-9a-f]+):\t.*\tj\w+ +([0-9a-f]+)", listing, re.MULTILINE)
    return next((int(at, 16), int(to, 16)) for at, to in jumps if int(to, 16) < int(at, 16))


def recording(app, release, branches=True):
    """The program in process 77, and kernel and library beside it."""
    loop = loop_of(app)
    fields = IP | TID | TIME | PERIOD | release.ids | (BRANCH if branches else 0)
    r = Recording(Event(fields, branch_type=release.branch_type if branches else 0),
                  version=release.version, attr_size=release.attr_size)
    mmap = r.mmap if release.newer_mappings else r.mmap1
    r.mmap1(-1, *release.kernel, "[kernel.kallsyms]_text")
    r.mmap1(-1, MODULES, 0x3DFFF, 0, "/lib/modules/3.3.0/kernel/net/ipv6/ipv6.ko")
    r.comm(77, "app", by_exec=release.newer_mappings)
    size = -(-app.size // 4096) * 4096
    r.sample(pid=77, tid=77, ip=TEXT + 64, mode=1)
    r.sample(pid=77, tid=77, ip=app.start + size + 64)  # where nothing was mapped
    mmap(77, app.start, size, app.offset, app.exe)
    mmap(77, 0x7F0000000000, 0x10000, 0, "/lib/libc-2.31.so")
    for number in range(100):
        ip = app.work[number % len(app.work)]
        r.sample(pid=77, tid=77, ip=ip, branches=[loop] * 4 if branches else ())
        r.sample(pid=77, tid=77, ip=TEXT + number, mode=1)
    if release is NEW:
        r.build_id(app.id, app.exe)
    else:
        r.add(68, b"")  # the end of a round
        r.build_id(app.id, app.exe, with_size=False)
    path = os.path.join(app.folder, f"{release.version}-{len(app.id)}-{branches}.data")
    r.write_file(path)
    return path


def used(result):
    found = re.search(r"used +([\d,]+)", result.errors)
    return int(found[1].replace(",", "")) if found else 0


def as_new(app, release, *options, branches=True):
    """The same profile as of a recording that a new perf would have made."""
    old, new = (app.gen(recording(app, r, branches), *options) for r in (release, NEW))
    require(new.code == 0 and "work" in new.text, str(new))
    require(old.code == 0 and old.text == new.text and used(old) == used(new) >= 100,
            f"{release.version}, {len(app.id)} bytes: {old}\n{new}")
    return old


def every_release(work):
    """The kernel that begins at address 0 hides no sample of the program."""
    app = Recorded(work)
    for release in RELEASES:
        for branches in (True, False):
            as_new(app, release, "-b", app.exe, branches=branches)


def short_build_ids(work):
    """Zeros that fill up a build id are none of it; the program is also found by such an id."""
    for size, given in BUILD_IDS.items():
        app = Recorded(work, f"-Wl,--build-id={given}")
        require(len(app.id) == size, f"{app.id.hex()} does not have {size} bytes")
        for release in RELEASES:
            as_new(app, release, "-b", app.exe)
            as_new(app, release)


def in_a_cache_by_a_short_build_id(work):
    app = Recorded(work, f"-Wl,--build-id={BUILD_IDS[8]}")
    path, hexes = recording(app, RELEASES[-1]), app.id.hex()
    place = app.put("top", ".build-id", hexes[:2], hexes[2:], "elf")
    result = app.gen(path, env={"PERF_BUILDID_DIR": os.path.join(app.folder, "top")})
    require(result.code == 0 and place in result.errors, str(result))


def other_builds_stay_others(work):
    """Not what has the same first bytes and then others; nor is it said that it was not mapped."""
    app = Recorded(work, f"-Wl,--build-id={BUILD_IDS[16]}")
    path = recording(app, RELEASES[0])
    for given in (BUILD_IDS[8], BUILD_IDS[16] + "0123", BUILD_IDS[16][:-2] + "ee"):
        other = Recorded(work, f"-Wl,--build-id={given}")
        result = app.gen(path, "-b", other.exe)
        require(result.code == 2 and f"build id {app.id.hex()}, the given file has "
                f"{other.id.hex()}" in result.errors and "was not mapped" not in result.errors,
                str(result))


def long_build_ids(work):
    """perf keeps 20 bytes of the 32 that some linkers make."""
    app = Recorded(work, "-Wl,--build-id=0x" + "5a" * 32)
    for release in (RELEASES[0], NEW):
        path = recording(app, release)
        for options in (("-b", app.exe), ()):
            result = app.gen(path, *options)
            require(result.code == 0 and "work" in result.text, str(result))


def as_perf_script_prints_it(work):
    """Also as a text, where the address 0 is written without 0x."""
    app = Recorded(work)
    path = recording(app, RELEASES[0])
    done = run(tool("perf"), "script", "-i", path, "--show-mmap-events", "-F", "pid,ip,brstack")
    if done.code:
        raise Skip("missing perf that reads files of perf 3.3")
    require("[0(0xffffffff9fffffff) @ 0xffffffff81000000]: x [kernel" in done.text, done.text)
    text = write(path + ".txt", done.text.encode())
    result, given = (app.gen(each, "-b", app.exe) for each in (text, path))
    require(result.code == 0 and result.text == given.text, f"{result}\n{given}")
    require("unread" not in result.errors, str(result))


def as_perf_reads_them(work):
    """perf lists the same samples and mappings."""
    app = Recorded(work)
    perf = tool("perf")
    for release in RELEASES:
        path = recording(app, release)
        done = run(perf, "script", "-i", path, "--show-mmap-events", "-F", "ip")
        require(done.code == 0, str(done))
        require(done.text.count("PERF_RECORD_MMAP") == 4 and
                len(re.findall(r"^ +[0-9a-f]+ *$", done.text, re.MULTILINE)) == 202, done.text)


def of_the_kernel(work):
    """A kernel that is said to begin at address 0 lies where its first symbol is."""
    folder = work.temp("kernel")
    os.makedirs(folder, exist_ok=True)
    exe = os.path.join(folder, "vmlinux")
    write(exe + ".c", b"int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n;"
                      b" return s; }\nvoid _start(void) { work(3); for (;;); }\n")
    good(tool("gcc"), "-g", "-O1", "-nostdlib", "-static", "-mcmodel=kernel", "-fno-pic", "-no-pie",
         f"-Wl,-Ttext=0x{TEXT:x}", exe + ".c", "-o", exe)
    listing = good(tool("objdump"), "-d", "--disassemble=work", exe)
    code = [int(word, 16) for word in re.findall(r"^ *([0-9a-f]{16}|[0-9a-f]+):\t", listing,
                                                 re.MULTILINE)]
    moved, texts = 0x2000000, []
    for start, size, offset in ((TEXT + moved, 0x1000000, TEXT + moved),
                                (0, MODULES - 1, TEXT + moved)):
        r = Recording(Event(IP | TID | TIME | PERIOD))
        r.mmap1(-1, start, size, offset, "[kernel.kallsyms]_text")
        for number in range(100):
            r.sample(pid=77, tid=77, ip=code[number % len(code)] + moved, mode=1)
        path = os.path.join(folder, "perf.data")
        r.write_file(path)
        result = run(work.pgokit, "gen", path, "--kernel", "-b", exe, "--to", "text", "-o", "-",
                     env=ALONE)
        require(result.code == 0 and "work" in result.text, str(result))
        texts.append(result.text)
    require(texts[0] == texts[1], "\n".join(texts))


def add_cases(work, tap):
    for fn in (every_release, short_build_ids, in_a_cache_by_a_short_build_id,
               other_builds_stay_others, long_build_ids, as_perf_script_prints_it,
               as_perf_reads_them, of_the_kernel):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
