"""What is refused: bad input and bad output. One sentence on stderr that names the file, for a
format error with offset and field, exit code 2, nothing written and nothing lost.
"""

import os
import random
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import time

import profiles
from heap_fixtures import HISTOGRAM_19, HISTOGRAM_22, PIE, Made, build_id
from peers import Skip, Variant, good, read, require, run, tool, write

PLACE = re.compile(r"at offset 0x[0-9a-f]+ \(\d+\)")
PEAK_KIB = 300 << 10  # far above what a small file needs, far below what a wild count asks for
OLD = b"what was there before\n"


def listing(folder):
    return {name: (os.lstat(f"{folder}/{name}").st_ino, os.lstat(f"{folder}/{name}").st_mtime_ns)
            for name in os.listdir(folder)}


def one_sentence(result, *names):
    """Exit code 2 and exactly one line on stderr with these texts in it."""
    require(result.code == 2, f"exit code {result.code}, not 2\n{result}")
    text = result.errors
    require(text.endswith("\n") and text.count("\n") == 1 and text.startswith("pgokit: "),
            f"not one sentence\n{result}")
    for name in names:
        require(str(name) in text, f"does not name {name}\n{result}")
    require(result.peak_kib < PEAK_KIB or sanitized(result.argv[0]),
            f"took {result.peak_kib >> 10} MiB\n{result}")


def sanitized(path, known={}):
    if path not in known:
        known[path] = b"__asan_init" in read(path) or b"__tsan_init" in read(path)
    return known[path]


def refused(f, folder, *args, names=(), place=False):
    """A `pgokit merge ARGS -o OUT` that fails and leaves OUT, which exists, alone."""
    out = f"{folder}/out.profdata"
    if not os.path.exists(out):
        write(out, OLD)
    before = listing(folder)
    result = run(f.pgokit, "merge", *args, "-o", out, timeout=60)
    one_sentence(result, *names)
    require(not place or PLACE.search(result.errors), f"does not say where\n{result}")
    require(read(out) == OLD and listing(folder) == before, f"the output folder changed\n{result}")
    return result


def no_output(f, folder, *args):
    """The same, where no output was there before."""
    os.makedirs(f"{folder}/empty", exist_ok=True)
    result = run(f.pgokit, "merge", *args, "-o", f"{folder}/empty/new.profdata")
    one_sentence(result)
    require(not os.listdir(f"{folder}/empty"), f"left something behind\n{result}")


LEFT_OUT = re.compile(r"pgokit: warning: left out: (\S+?): ")


def left_out(f, folder, paths, *binary):
    """path -> the line that refuses it, by one merge that leaves damaged inputs out. What shows
    only once all are read ends the merge; it is then made again without that input."""
    said, left, out = {}, list(paths), f"{folder}/left-out.profdata"
    while left:
        result = run(f.pgokit, "merge", "--failure-mode", "all", *left, *binary, "-o", out)
        require(result.peak_kib < PEAK_KIB or sanitized(f.pgokit),
                f"took {result.peak_kib >> 10} MiB\n{result}")
        lines = result.errors.splitlines()
        found = {m[1]: line for line in lines if (m := LEFT_OUT.match(line))}
        if result.code != 2:
            require(result.code == (1 if found else 0), f"exit code {result.code}\n{result}")
            os.unlink(out)
            return {**found, **said}
        require(not os.path.exists(out), f"an output in spite of the failure\n{result}")
        bad = [path for path in left if path in lines[-1]]
        require(len(bad) == 1 and bad[0] not in found, f"does not name an input\n{result}")
        said[bad[0]] = lines[-1]
        left.remove(bad[0])
    return said


def all_refused(f, folder, damaged, whole, *binary, field=False):
    """Each of the damaged contents is refused, with its place, beside a whole file that is not."""
    inputs = f"{folder}/inputs"
    os.mkdir(inputs)
    paths = [write(f"{inputs}/{i:05}.damaged", data) for i, data in enumerate(damaged)]
    whole = write(f"{inputs}/whole", whole)
    said = left_out(f, folder, [*paths, whole], *binary)
    require(whole not in said, f"the whole file: {said.get(whole)}")
    for path, data in zip(paths, damaged):
        require(path in said, f"{path} is taken: {data.hex()}")
        require((PLACE.search(said[path]) or len(data) < 8) and
                ("field " in said[path] or not field), f"does not say where\n{said[path]}")
    shutil.rmtree(inputs)


# ---- small files ----

def small_raw(f, version):
    """A raw profile of a few hundred bytes: one module, two contexts."""
    variant = {3: PIE[19], 4: HISTOGRAM_19, 5: HISTOGRAM_22}[version]
    program = f.build("segments.c", variant)
    dump = profiles.decode_raw(read(program.raw))[0]
    stacks = dict(dump.stacks)
    dump.version = version
    dump.segments = dump.segments[:1]
    # The largest blocks: a long histogram would only make the file longer.
    dump.blocks = sorted(dump.blocks, key=lambda b: len(b[1].get("hist") or []))[:2]
    dump.stacks = [(i, stacks[i]) for i, _ in dump.blocks]
    return program, profiles.encode_raw([dump])


def small_indexed(f, folder, memprof):
    program, data = small_raw(f, 5)
    raw, out = write(f"{folder}/small.memprofraw", data), f.new_path()
    data = f.merge(out, [raw], [program.exe], *Made(memprof, 13, False).options)
    os.unlink(raw)
    return data


def usable(f, version):
    """The small file itself is fine, so that what is refused below is the damage."""
    program, data = small_raw(f, version)
    folder = f.temp("usable")
    raw = write(f"{folder}/small.memprofraw", data)
    good(f.pgokit, "merge", raw, "-b", program.exe, "-o", f"{folder}/out.profdata")
    good(f.pgokit, "check", raw, f"{folder}/out.profdata")
    return f"{len(data)} bytes"


def cut_everywhere(f, data, path, *binary):
    """All lengths in one merge, and some each in a merge of its own."""
    folder = os.path.dirname(path)
    all_refused(f, folder, [data[:n] for n in range(1, len(data))], data, *binary)
    for n in sorted({*range(10), *range(16, len(data), 16), len(data) - 1}):
        write(path, data[:n])
        refused(f, folder, path, *binary, names=[path], place=n >= 8)
    one_sentence(run(f.pgokit, "check", path), path)
    one_sentence(run(f.pgokit, "show", path, *binary), path)
    no_output(f, folder, path, *binary)
    return f"{len(data)} lengths"


def truncated_raw(f, version):
    program, data = small_raw(f, version)
    return cut_everywhere(f, data, f"{f.temp('truncated')}/cut.memprofraw", "-b",
                          program.exe)


def truncated_indexed(f, memprof):
    folder = f.temp("truncated")
    return cut_everywhere(f, small_indexed(f, folder, memprof), f"{folder}/cut.profdata")


# ---- wild numbers ----

WILD = (2**64 - 1, 2**63, 2**61 + 1, 2**58 + 1, 2**32, 2**31 + 7, 123456789)


def count_fields(data):
    """(name, offset, bytes) of each number in a raw file that says how much follows, and of
    each that says where."""
    _, version, _, seg, mib, stack = struct.unpack_from("<6Q", data, 0)
    fields = [("total size", 16, 8), ("segment offset", 24, 8), ("MIB offset", 32, 8),
              ("stack offset", 40, 8), ("segment count", seg, 8), ("MIB count", mib, 8),
              ("stack count", stack, 8), ("pc count", stack + 16, 8)]
    if version >= 3:
        fields.append(("build id size", seg + 8 + 24, 8))
    if version >= 4:
        fields.append(("AccessHistogramSize", mib + 8 + 8 + 132, 4))
    return fields


def wild_raw(f, version):
    program, data = small_raw(f, version)
    damaged = [data[:at] + value.to_bytes(size, "little") + data[at + size:]
               for name, at, size in count_fields(data) for value in WILD
               if value < 1 << 8 * size]
    return all_wild(f, damaged, data, "-b", program.exe, field=True)


def all_wild(f, damaged, whole, *binary, field=False):
    folder = f.temp("wild")
    all_refused(f, folder, damaged, whole, *binary, field=field)
    path = f"{folder}/wild"
    for data in damaged[::8]:  # one value of each field, another one for the next
        write(path, data)
        refused(f, folder, path, *binary, names=[path], place=True)
    return f"{len(damaged)} values"


def wild_indexed(f, memprof):
    """Each 8 bytes of the header and of the MemProf section's head, one after the other."""
    data = small_indexed(f, f.temp("wild"), memprof)
    section, = struct.unpack_from("<Q", data, 40)
    # The number of schema fields and the item counts of the tables behind it.
    head = {2: 48, 3: 32, 4: 92}[memprof]
    table, = struct.unpack_from("<Q", data, section + (8 if memprof == 2 else 24))
    places = [8, 32, 40, *(section + 8 * i for i in range({2: 6, 3: 4, 4: 4}[memprof])),
              section + head, table, table + 8]
    # Without this bit of the version there is no heap profile to read.
    damaged = [data[:at] + struct.pack("<Q", value | (1 << 62 if at == 8 else 0)) + data[at + 8:]
               for at in places for value in WILD]
    return all_wild(f, damaged, data)


def wrong_start(f):
    """Magic and version."""
    program, data = small_raw(f, 5)
    folder = f.temp("magic")
    path = f"{folder}/bad.memprofraw"
    for bad in (b"\0" * 8 + data[8:], b"\x82" + data[1:], data[:7] + b"\xfe" + data[8:],
                b"hello, this is not a profile at all\n" * 20,
                b"---\nHeapProfileRecords:\n"):
        write(path, bad)
        refused(f, folder, path, "-b", program.exe, names=[path])
        one_sentence(run(f.pgokit, "check", path), path)
    for version in (0, 6, 7, 1000, 2**32 + 5, 2**63 + 5):
        write(path, data[:8] + struct.pack("<Q", version) + data[16:])
        refused(f, folder, path, "-b", program.exe, names=[path, "version"])
    # The second dump of a file, which LLVM does not look at.
    write(path, data + b"\0" + data[1:])
    refused(f, folder, path, "-b", program.exe, names=[path], place=True)
    write(path, data + bytes(8))
    refused(f, folder, path, "-b", program.exe, names=[path], place=True)


# ---- inputs that are no files to read ----

def unreadable(f):
    program = f.build("segments.c", PIE[22])
    folder = f.temp("unreadable")
    empty = write(f"{folder}/empty", b"")
    no_files = f"{folder}/no-files"
    os.mkdir(no_files)
    cases = [(f"{folder}/nothing-here", "No such file"), (no_files, no_files), (empty, empty),
             ("/dev/null", "/dev/null")]
    if os.geteuid() != 0:
        locked = write(f"{folder}/locked", read(program.raw))
        os.chmod(locked, 0)
        cases.append((locked, "Permission denied"))
    for path, text in cases:
        # A merge reads what is in a folder.
        read_text = "without any profile" if path == no_files else text
        refused(f, folder, path, "-b", program.exe, names=[path, read_text])
        for verb in ("show", "check"):
            one_sentence(run(f.pgokit, verb, path), path, text)
        # As the binary, and after a good input.
        refused(f, folder, program.raw, "-b", path, names=[path, text])
        refused(f, folder, program.raw, path, "-b", program.exe, names=[path, read_text])


def many_bad_files(f):
    """`check` names each unsound file and goes on."""
    program = f.build("segments.c", PIE[22])
    folder = f.temp("many")
    bad = [write(f"{folder}/{i}.memprofraw", read(program.raw)[:100 * i]) for i in (1, 2)]
    result = run(f.pgokit, "check", bad[0], program.raw, bad[1])
    lines = result.errors.splitlines()
    require(result.code == 2 and len(lines) == 2 and bad[0] in lines[0] and bad[1] in lines[1],
            str(result))
    require(program.raw in result.text and bad[0] not in result.text, str(result))


# ---- binaries ----

def wrong_binary(f):
    """Both files and both build ids."""
    a, b = f.build("segments.c", PIE[22]), f.build("plain.c", PIE[22])
    names = [a.raw, b.exe, build_id(a.exe), build_id(b.exe)]
    refused(f, f.temp("wrong"), a.raw, "-b", b.exe, names=names)
    one_sentence(run(f.pgokit, "show", a.raw, "-b", b.exe), *names)


def no_binary(f):
    program = f.build("segments.c", PIE[22])
    result = refused(f, f.temp("none"), program.raw)
    require("-b" in result.errors, f"does not say what to do\n{result}")


def no_build_id(f):
    """A profile with build ids and a binary without one."""
    program = f.build("segments.c", PIE[22])
    other = f.build("segments.c", Variant(22, "-O2", "-pie", "-fpie", "-Wl,--build-id=none"))
    refused(f, f.temp("no-id"), program.raw, "-b", other.exe,
            names=[program.raw, other.exe, build_id(program.exe), "none"])


def no_debug_info(f):
    folder = f.temp("no-debug")
    for variant in (Variant(22, "-O2", "-pie", "-fpie", "-g0"),
                    Variant(22, "-O2", "-no-pie", "-gline-tables-only")):
        program = f.build("segments.c", variant)
        result = refused(f, folder, program.raw, "-b", program.exe, names=[program.exe])
        require("-g" in result.errors, f"does not say what to do\n{result}")


def not_elf(f):
    program = f.build("segments.c", PIE[22])
    folder = f.temp("not-elf")
    path = f"{folder}/prog"
    exe = read(program.exe)
    for bad in (b"#!/bin/sh\necho no\n", read(program.raw), b"\x7fELF", exe[:4] + b"\x01" + exe[5:],
                exe[:16] + b"\1\0" + exe[18:], b"!<arch>\n", exe[:5] + b"\x02" + exe[6:]):
        write(path, bad)
        refused(f, folder, program.raw, "-b", path, names=[path])


def truncated_binary(f):
    """Cut anywhere, a binary is refused or, where only symbols are lost, still right."""
    program = f.build("segments.c", PIE[22])
    folder = f.temp("cut-binary")
    path = f"{folder}/prog"
    exe = read(program.exe)
    lengths = sorted(set(list(range(0, 4096, 61)) + [len(exe) * i // 150 for i in range(150)]))
    for n in lengths:
        write(path, exe[:n])
        refused(f, folder, program.raw, "-b", path, names=[path])
    return f"{len(lengths)} lengths"


# ---- outputs ----

def unwritable(f):
    program = f.build("segments.c", PIE[22])
    folder = f.temp("unwritable")
    plain = write(f"{folder}/plain", OLD)
    os.mkdir(f"{folder}/sub")
    cases = [(f"{plain}/out.profdata", "Not a directory"), (f"{folder}/sub", "directory"),
             (f"{folder}/not/there", "No such file"), (f"{folder}/{'x' * 300}", "too long"),
             ("/proc/version", "/proc/version")]
    if os.geteuid() != 0:
        os.mkdir(f"{folder}/locked", 0o555)
        cases.append((f"{folder}/locked/out.profdata", "Permission denied"))
    before = listing(folder)
    for out, text in cases:
        result = run(f.pgokit, "merge", program.raw, "-b", program.exe, "-o", out)
        one_sentence(result, out, text)
        require(listing(folder) == before and read(plain) == OLD, f"{folder} changed\n{result}")


def full_device(f):
    program = f.build("segments.c", PIE[22])
    device = os.stat("/dev/full")
    merge = [f.pgokit, "merge", program.raw, "-b", program.exe, "-o"]
    one_sentence(run(*merge, "/dev/full"), "/dev/full", "No space left")
    now = os.stat("/dev/full")
    require(stat.S_ISCHR(now.st_mode) and now.st_ino == device.st_ino, "/dev/full was replaced")
    for argv in (merge + ["-"], [f.pgokit, "show", program.raw, "-b", program.exe],
                 [f.pgokit, "show", program.raw, "-b", program.exe, "--json"],
                 [f.pgokit, "show", program.raw, "--raw"], [f.pgokit, "check", program.raw],
                 [f.pgokit, "formats"], [f.pgokit, "--help"],
                 [f.pgokit, "merge", "--help"]):
        with open("/dev/full", "wb") as full:
            one_sentence(run(*argv, stdout=full), "standard output", "No space left")


def file_size_limit(f):
    """As a full disk, for anybody: the system refuses to write on."""
    program = f.build("classes.cpp", PIE[22])
    folder = f.temp("limit")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    for old in (None, OLD):
        out = f"{folder}/out.profdata"
        if old:
            write(out, old)
        before = listing(folder)
        result = run(f.pgokit, "merge", program.raw, "-b", program.exe, "-o", out,
                     "--full-schema", before=limit)
        one_sentence(result, out, "too large")
        require(listing(folder) == before, f"{folder} changed\n{result}")


def full_disk(f):
    program = f.build("classes.cpp", PIE[22])
    folder = f.temp("disk")
    unshare = tool("unshare")
    script = """
mount -t tmpfs -o size=64k none "$1" || exit 99
head -c 49152 /dev/zero >"$1/filler"
printf old >"$1/out.profdata"
"$2" merge "$3" -b "$4" -o "$1/out.profdata" --full-schema --to llvm22
code=$?
[ "$(cat "$1/out.profdata")" = old ] || exit 98
[ "$(ls -A "$1" | tr '\\n' ' ')" = "filler out.profdata " ] || exit 97
exit $code
"""
    result = run(unshare, "-m", *([] if os.geteuid() == 0 else ["-r"]), "sh", "-c", script, "sh",
                 folder, f.pgokit, program.raw, program.exe)
    if result.code == 99 or "unshare" in result.errors:
        raise Skip("mounting a small file system is not allowed here")
    one_sentence(result, f"{folder}/out.profdata", "No space left")


TEMPORARY = re.compile(r"\.out\.profdata\.pgokit-\d+-\d+\.tmp")


def killed(f):
    """Killed at any moment: the old output or the new one is there, whole. No handler
    runs, so a file that has no name yet vanishes, but one that was just given its
    temporary name may stay; it must not look like an output."""
    program = f.build("classes.cpp", PIE[22])
    folder = f.temp("killed")
    out = f"{folder}/out.profdata"
    merge = [f.pgokit, "merge", program.raw, "-b", program.exe, "-o", out]
    start = time.monotonic()
    good(*merge)
    whole = time.monotonic() - start
    new = read(out)
    kept = replaced = 0
    for i in range(40):
        write(out, OLD)
        child = subprocess.Popen(merge, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * i / 30)
        child.kill()
        child.wait()
        for name in os.listdir(folder):
            require(name == "out.profdata" or TEMPORARY.fullmatch(name), f"left {name}")
        now = read(out)
        require(now in (OLD, new), "half an output")
        kept, replaced = kept + (now == OLD), replaced + (now == new)
    require(kept > 0, "never killed in time")
    return f"{kept} times the old output, {replaced} times the new one"


# ---- random damage ----

def mutate(data, rng):
    """A few random changes: bits, bytes, words with a special value, swapped pieces."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind in (2, 3):
            size = 8 if kind == 2 else 4
            at -= at % size
            value = rng.choice((0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, len(data),
                                rng.getrandbits(64))) % (1 << 8 * size)
            data[at:at + size] = value.to_bytes(size, "little")
        elif kind == 4:
            n = rng.randrange(1, 32)
            data[at:at + n] = data[rng.randrange(len(data)):][:n]
        else:
            del data[at:at + rng.randrange(1, 16)]
            if not data:
                data = bytearray(b"\0")
    return bytes(data)


def survives(f, what, seed, count):
    """Damaged files are taken or refused, properly in either case: by one merge and one check of
    all, and some of them each by commands of their own."""
    rng = random.Random(seed)
    folder = f.temp("damage")
    program = f.build("plain.c", HISTOGRAM_22 if what == 5 else PIE[19])
    if isinstance(what, int):
        dumps = profiles.decode_raw(read(program.raw))
        for d in dumps:
            d.version = what
            d.blocks, d.stacks = d.blocks[:12], d.stacks[:12]
        whole = profiles.encode_raw(dumps)
        binary = ["-b", program.exe]
    else:
        made = Made(4 if what == "YAML" else int(what[1]), 12, seed % 2)
        path = f.merged(program.raw, program.exe, *made.options)
        whole = f.llvm_prints(22, path).encode() if what == "YAML" else read(path)
        binary = []
    os.mkdir(f"{folder}/out")
    out = f"{folder}/out/out.profdata"
    paths = [write(f"{folder}/{i:05}.damaged", mutate(whole, rng)) for i in range(count)]
    refusals = left_out(f, folder, [*paths, write(f"{folder}/whole", whole)], *binary)
    checked = run(f.pgokit, "check", *paths, timeout=60)
    require(checked.code in (0, 1, 2), str(checked))
    for path in paths[::8]:
        result = run(f.pgokit, "merge", path, *binary, "-o", out, timeout=60)
        require((result.code == 2) == (path in refusals),
                f"alone and with others it is not the same: {refusals.get(path)}\n{result}")
        shown = run(f.pgokit, "show", path, "--json", timeout=60)
        for said in (result, shown):
            require(said.code in (0, 1, 2), str(said))
            if said.code == 2:
                one_sentence(said)
        require(os.path.exists(out) == (result.code != 2), f"output and exit code\n{result}")
        if os.path.exists(out):
            good(f.pgokit, "check", out)
            os.unlink(out)
        require(not os.listdir(f"{folder}/out"), f"left {os.listdir(f'{folder}/out')}")
    return f"{count - len(refusals)} of {count} taken"


def rows(f, tap):
    for version in (3, 4, 5):
        tap.add(f"raw v{version}: the small file is fine", usable, f, version)
        tap.add(f"raw v{version}: cut at every byte", truncated_raw, f, version)
        tap.add(f"raw v{version}: wild counts, sizes and offsets", wild_raw, f, version)
    for memprof in (2, 3, 4):
        tap.add(f"indexed V{memprof}: cut at every byte", truncated_indexed, f, memprof)
        tap.add(f"indexed V{memprof}: wild counts, sizes and offsets", wild_indexed, f, memprof)
    tap.add("wrong magic or version", wrong_start, f)
    tap.add("missing, empty or unreadable input", unreadable, f)
    tap.add("check goes on after an unsound file", many_bad_files, f)
    tap.add("the binary of another program", wrong_binary, f)
    tap.add("no binary", no_binary, f)
    tap.add("a binary without build id that is not the program", no_build_id, f)
    tap.add("a binary without debug information", no_debug_info, f)
    tap.add("a binary that is none", not_elf, f)
    tap.add("a binary cut short", truncated_binary, f)
    tap.add("an output that cannot be made", unwritable, f)
    tap.add("a full device", full_device, f)
    tap.add("a limit on file sizes", file_size_limit, f)
    tap.add("a full disk", full_disk, f)
    tap.add("killed while writing", killed, f)
    for seed in range(4):
        for what in (3, 4, 5, "V0", "V1", "V2", "V3", "V4", "YAML"):
            name = f"raw v{what}" if isinstance(what, int) else f"indexed {what}"
            tap.add(f"{name}: random damage {seed}", survives, f, what, seed, 85)
