#!/usr/bin/env python3
"""pgokit record and pgokit config as a user types them: compilers, build systems, programs
that cannot be recorded, signals, children.

usage: record.py PGOKIT BUILD-FOLDER
"""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import musl
import raw_profile
from harness import PATIENCE, Cases, Skip, require, run, tool, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PGOKIT, BUILD = map(os.path.abspath, sys.argv[1:3])
INVENTORY = os.path.join(ROOT, "examples", "build-systems", "inventory.c")
# What the program does: 1000 items of 24 bytes, three stores and three loads each; and the
# buffer of stdio.
EXPECTED = "1,001 objects (27.4 KiB), 6,000 accesses; "


def record(folder, *command, options=(), **kw):
    return run([PGOKIT, "record", "heap", *options, "--", *command], folder, **kw)


def config(*arguments):
    return run([PGOKIT, "config", "heap", *arguments], "/").stdout.split()


def texts_of(path):
    """Bytes that the notes of all dumps of a profile have of the process, and of paths."""
    with open(path, "rb") as file:
        data = file.read()
    at, process, paths = 0, b"", b""
    while at < len(data):
        size, _, mibs = struct.unpack_from("<3Q", data, at + 16)
        notes = raw_profile.Notes(data, at, mibs)
        process += notes.bytes_of(raw_profile.PROCESS)
        paths += notes.bytes_of(raw_profile.PATHS)
        at += size
    return process, paths


def says_what_ran(folder):
    """Program, arguments, host, time, and where modules were; without arguments if not wanted."""
    echo = os.path.realpath(tool("echo"))
    before = time.time() * 1000
    for n, options in enumerate([[], ["--no-cmdline"]]):
        name = os.path.join(folder, f"{n}.profraw")
        record(folder, echo, "a b", "secret", options=["-o", name, *options])
        shown = json.loads(run([PGOKIT, "show", "--json", name], folder).stdout)
        recording = shown["recording"]
        require(before - 1000 <= recording.pop("start_ms") <= time.time() * 1000 + 1000, before)
        want = {"program": echo, "host": os.uname().nodename}
        if not n:
            want["command_line"] = f"{echo} 'a b' secret"
        require(recording == want, f"{recording}, expected {want}")
        require((b"secret" in texts_of(name)[0]) == (not n), f"{options}")
        text = run([PGOKIT, "show", name], folder).stdout
        require(f"program          {want.get('command_line', echo)}\n" in text and
                f" UTC on {want['host']}\n" in text, text)


def unnamed_library(folder):
    """A program with debug information, which calls a library that has no names inside."""
    source = os.path.join(folder, "inside.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <stdlib.h>\n"
                   "static __attribute__((noinline)) void *hidden(void *(*f)(void))"
                   " { char *p = f(); *p = 1; return p; }\n"
                   "void *through(void *(*f)(void)) { char *p = hidden(f); *p = 2; return p; }\n")
    library = os.path.join(folder, "libinside.so")
    run([tool("gcc"), "-O1", "-fPIC", "-shared", "-Wl,--build-id", source, "-o", library], folder)
    run([tool("strip"), library], folder)
    source = os.path.join(folder, "outside.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <stdlib.h>\nvoid *through(void *(*f)(void));\n"
                   "static __attribute__((noinline)) void *make(void)"
                   " { char *p = malloc(1234); *p = 1; return p; }\n"
                   "int main(int n, char **v) { free(through(make)); return 0; }\n")
    program = os.path.join(folder, "outside")
    run([tool("gcc"), "-g", "-O1", source, library, "-Wl,--build-id", "-Wl,-rpath,$ORIGIN", "-o",
         program], folder)
    return program, library


def frames_of(folder, *arguments):
    """Of the context of 1234 bytes: names, or module and address of what has none."""
    shown = json.loads(run([PGOKIT, "show", "--json", *arguments], folder).stdout)
    stack, = [context["stack"] for context in shown["contexts"]
              if context["mib"]["TotalSize"] == 1234]
    return [frame.get("function") or os.path.basename(frame.get("module", "?"))
            for frame in stack]


def check_names(folder):
    """Files that are where they were give names; what has none stays in its place, and one line
    says of which libraries it is."""
    program, library = unnamed_library(folder)
    raw = os.path.join(folder, "p.profraw")
    record(folder, program, options=["-o", raw])
    frames = frames_of(folder, raw)
    require(frames[:4] == ["make", "libinside.so", "through", "main"], frames)
    shown = run([PGOKIT, "show", raw], folder)
    require(re.search(r"\n +make +outside\.c:\d+\n"
                      r" +\[libinside\.so\]\+0x[0-9a-f]+ \(near through\)\n +through\n"
                      r" +main +outside\.c:\d+\n", shown.stdout), shown.stdout)
    build_id = re.search(r"Build ID: ([0-9a-f]+)",
                         run(["readelf", "-n", library], folder).stdout)[1]
    require(re.search(r"\d+ frames? not named: .*libinside\.so \(build id " + build_id +
                      r"\).*; install the package of their debug symbols", shown.stderr),
            shown.stderr)
    page = os.path.join(folder, "page.html")
    require("libinside.so" in run([PGOKIT, "report", raw, "-o", page], folder).stderr, "report")
    same = run([PGOKIT, "diff", raw, raw], folder).stdout
    require("100.0 % of the bytes are allocated in the same places" in same, same)
    folded = run([PGOKIT, "report", "--format", "folded", raw, "-o", "-"], folder).stdout
    require("main;through;[libinside.so]+0x" in folded, folded)
    # For the compiler only what has a name is kept, and the rest is listed.
    merged = run([PGOKIT, "merge", raw, "-o", "p.profdata"], folder)
    require("libinside.so (build id" in merged.stderr, merged.stderr)
    frames = frames_of(folder, "p.profdata", "-b", program)
    require(len(frames) >= 3 and frames[0] == "make" and frames[2] == "main", frames)
    return program, raw


def package_of_debug_symbols(folder):
    """Of a program of Debian it is named which package would give names."""
    package = subprocess.run(["dpkg", "-S", os.path.realpath("/usr/bin/sort")], check=False,
                             capture_output=True, text=True).stdout.partition(":")[0]
    if not package:
        raise Skip("missing: the files of dpkg")
    raw = os.path.join(folder, "p.profraw")
    record(folder, "/usr/bin/sort", INVENTORY, options=["-o", raw])
    said = run([PGOKIT, "show", raw], folder).stderr
    require("not named: " not in said or f" install {package}-dbgsym" in said, said)
    require("not named: sort (build id" in said, said)
    # The program is found though no function main can be seen, and what compilers lack is listed.
    said = subprocess.run([PGOKIT, "merge", raw, "-o", "p.profdata"], check=False, cwd=folder,
                          capture_output=True, text=True).stderr
    require("not named: sort (build id" in said or "no debug information for them" in said, said)


def debug_archive(folder):
    """Without it among the sources of apt, the note names the server of Debian first."""
    raw = os.path.join(folder, "p.profraw")
    record(folder, "/usr/bin/sort", INVENTORY, options=["-o", raw])
    if not re.search(r"-dbgsym|not named", run([PGOKIT, "show", raw], folder).stderr):
        raise Skip("missing: a program of Debian without names")
    os.makedirs(os.path.join(folder, "apt", "sources.list.d"))
    release = write(folder, "os-release", 'NAME="Some system"\nID=debian\n')

    def said(file, text):
        path = write(folder, os.path.join("apt", file), text)
        told = subprocess.run(
            [tool("unshare"), "-rm", "sh", "-c", f"mount --bind apt /etc/apt && "
             f"mount --bind {release} /etc/os-release && exec {PGOKIT} show {raw}"],
            cwd=folder, check=False, capture_output=True, text=True)
        os.unlink(path)
        if told.returncode:
            raise Skip(f"missing: rights to mount: {told.stderr}")
        return told.stderr

    server = "; export DEBUGINFOD_URLS=https://debuginfod.debian.net, or install "
    source = "deb http://deb.debian.org/debian-debug trixie-debug main\n"
    for file, text, has in (("sources.list", "deb http://deb.debian.org/debian trixie main\n", 0),
                            ("sources.list", "# " + source, 0), ("sources.list", source, 1),
                            ("sources.list.d/a.list", source, 1),
                            ("sources.list.d/a.save", source, 0),
                            ("sources.list.d/a.sources", "Types: deb\nSuites: trixie-debug\n", 1)):
        found = said(file, text)
        require((server in found) == (not has) and ("debug archive" in found) == (not has) and
                ("or name a server of debuginfod" in found) == bool(has), f"{file}, {text}{found}")
    write(folder, "os-release", "ID=other\n")
    require(server not in said("sources.list", ""), "another system")


def names_without_an_option(folder):
    check_names(folder)


def names_of_another_build(folder):
    """A file that was built anew since gives no names."""
    program, raw = check_names(folder)
    run([tool("gcc"), "-g", "-O2", "-DOTHER", os.path.join(folder, "outside.c"),
         os.path.join(folder, "libinside.so"), "-Wl,--build-id=0x1234", "-o", program], folder)
    frames = frames_of(folder, raw)
    require(frames[:4] == ["outside", "libinside.so", "through", "outside"], frames)


def leaking(folder, leaked, kept):
    """A program of which 100 objects are leaked or not, and a few are kept, and its profile."""
    source, program = (os.path.join(folder, name) for name in ("leaking.c", "leaking"))
    raw = os.path.join(folder, f"{leaked}-{kept}.profraw")
    with open(source, "w", encoding="utf-8") as file:
        file.write("""
            #include <stdlib.h>
            void *volatile kept;
            __attribute__((noinline)) static void *take(size_t n) { return kept = malloc(n); }
            int main(void) {
                for (int i = 0; i < 100; i++) {
                    void *p = take(1000);
                    if (i >= LEAKED) free(p);
                }
                return !take(KEPT);
            }
            """)
    run([tool("gcc"), "-g", "-O1", f"-DLEAKED={leaked}", f"-DKEPT={kept}", source, "-o", program],
        folder)
    record(folder, program, options=["-o", raw])
    return program, raw


def mended_leak(folder):
    """A program that frees what it leaked allocates as much as before."""
    program, before = leaking(folder, 100, 10)
    old = os.path.join(folder, "old")
    shutil.copy(program, old)
    _, now = leaking(folder, 0, 10)
    builds = ["-b", old, "-b", program]

    def compare(*arguments, status=0):
        return run([PGOKIT, "diff", *arguments, *builds], folder, status=status)
    mended = compare(before, now)
    require(re.search(r"\n +allocated +(\S+ \S+) +\1  \+0.0 %\n", mended.stdout), mended.stdout)
    require(re.search(r"\n +at exit +97.7 KiB +10 B  -100.0 %\n", mended.stdout), mended.stdout)
    require("Left at exit\n\n#1   -97.7 KiB  97.7 KiB -> 0 B  100 -> 0 objects\n      take "
            in mended.stdout, mended.stdout)
    require("warning" not in mended.stderr, mended.stderr)
    compare(before, now, "--fail-on", "exit=0%", "--fail-on", "peak=0%")
    leaks = compare(now, before, "--fail-on", "exit=5%", "--fail-on", "growth=0%", status=3)
    require("bytes alive at exit grew" in leaks.stderr and "allocated" not in leaks.stderr,
            leaks.stderr)
    run([PGOKIT, "merge", "-q", before, "-b", old, "-o", "before.profdata"], folder)
    unknown = compare("before.profdata", now, "--fail-on", "exit=5%", status=2)
    require("exit=5% cannot be checked, because before.profdata does not" in unknown.stderr,
            unknown.stderr)


def compared_after_a_rebuild(folder):
    """Warnings are of files that neither profile needs, and of a program that was not found."""
    program, before = leaking(folder, 0, 10)
    old = os.path.join(folder, "old")
    shutil.copy(program, old)
    _, now = leaking(folder, 0, 20)
    page = os.path.join(folder, "page.html")
    verbs = (["diff", before, now], ["report", now, "--base", before, "-o", page])
    for verb in verbs:
        said = run([PGOKIT, *verb, "-b", old, "-b", program], folder).stderr
        require("warning" not in said, said)
        said = run([PGOKIT, *verb, "-b", old, "-b", program, "-b", tool("true")], folder).stderr
        require(re.findall(r"warning: (\S+) was not loaded in any run", said) == [tool("true")],
                said)
        said = run([PGOKIT, *verb], folder).stderr
        require(re.findall(r"warning: (\S+): its program leaking \(build id \w+\) was not found, "
                           r".*; with -b, give the file that was run", said) == [before], said)
        said = run([PGOKIT, *verb, "-b", old], folder).stderr
        require("warning" not in said, said)
    same = run([PGOKIT, "diff", before, before], folder)
    require("warning" not in same.stderr, same.stderr)


def long_texts_are_cut(folder):
    """At most 4 KiB of a file are texts, whatever the process has for arguments and libraries."""
    name = os.path.join(folder, "p.profraw")
    libraries = []
    for i in range(60):
        libraries.append(os.path.join(folder, f"{i}" + "x" * 100 + ".so"))
        if not i:
            source = os.path.join(folder, "none.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write("void none(void) {}\n")
            run([tool("gcc"), "-shared", "-fPIC", source, "-o", libraries[0]], folder)
        else:
            shutil.copy(libraries[0], libraries[i])
    env = {"LD_PRELOAD": ":".join(libraries)}
    record(folder, "/bin/echo", *["long"] * 2000, options=["-o", name], env=env)
    process, paths = texts_of(name)
    require(len(process) == 1024 and process.endswith(b"...\0"), f"{process}")
    require(2000 < len(paths) <= 4032 - 1024, f"{len(paths)} bytes")
    run([PGOKIT, "check", name], folder)


# ---- building ----

def build(folder, compiler, link=(), source=INVENTORY, more=(), name="inventory"):
    """As the manual page says: compile, link, both with what `pgokit config` prints."""
    cc = ["--cc", compiler]
    out = os.path.join(folder, name)
    run([tool(compiler), "-O1", *config("--cflags", *cc), *more, "-c", source, "-o", out + ".o"],
        folder)
    run([tool(compiler), "-O1", *config("--cflags", *cc), out + ".o",
         *config("--ldflags", "--libs", *cc, *[word for word in link if word != "-static"]),
         *static_words(compiler, link), "-o", out], folder)
    return out


def static_words(compiler, link):
    """gcc links no code of -fsanitize=thread statically if it is told so in the link, too."""
    if "-static" not in link:
        return []
    return ["-static"] + ([] if "clang" in compiler else ["-fno-sanitize=thread"])


def profile_of(folder, told):
    found = re.findall(r"pgokit show (\S+) -b (\S+)", told)
    require(len(found) == 1, told)
    return [os.path.join(folder, name) for name in found[0]]


def check_items(folder, file, *binaries):
    """The profile's context of new_item holds what the program does."""
    shown = run([PGOKIT, "show", "--json", file, *binaries], folder).stdout
    found = [context["mib"] for context in json.loads(shown)["contexts"]
             if "new_item" in context["stack"][0].get("function", "")]
    require(len(found) == 1, shown)
    mib = found[0]
    require([mib["AllocCount"], mib["TotalSize"], mib["TotalAccessCount"]] == [1000, 24000, 6000],
            shown)


def through(folder, program):
    """record, then what it says to type next."""
    told = record(folder, program).stderr
    require("library functions" not in told, told)
    require(re.search(r"\n  of that, malloc and free with recording: at most [\d.]+ [mµ]?s"
                      r"( \(\d+ %\))?; tables and counters: [\d.]+ [KM]iB\n", told), told)
    raw, binary = profile_of(folder, told)
    shown = run([PGOKIT, "show", raw, "-b", binary], folder).stdout
    require("new_item" in shown and "inventory.c" in shown, shown)
    check_items(folder, raw, "-b", binary)
    merge = re.search(r"^ *pgokit (merge .*)$", told, re.M)[1].split()
    run([PGOKIT, *merge, "--full-schema"], folder)
    check_items(folder, merge[-1], "-b", binary)


def compiled(folder, compiler, *link):
    source = INVENTORY
    if "++" in compiler:
        source = os.path.join(folder, "inventory.cpp")
        with open(INVENTORY, encoding="utf-8") as c, open(source, "w", encoding="utf-8") as cpp:
            cpp.write(c.read().replace("(struct item *)malloc(sizeof *item)", "new struct item")
                      .replace("free(shelf[i])", "delete shelf[i]"))
    through(folder, build(folder, compiler, link, source))


def one_command(folder, compiler, *how):
    """Compile and link at once; some compilers link as needed by default."""
    out = os.path.join(folder, "inventory")
    run([tool(compiler), "-Wl,--as-needed",
         *config("--cflags", "--ldflags", "--libs", "--cc", compiler, *how), INVENTORY, "-o", out],
        folder)
    through(folder, out)


def histogram(folder, compiler):
    flags = config("--cflags", "--histogram", "--cc", compiler)
    program = build(folder, compiler, more=flags)
    told = record(folder, program, options=["--histogram"]).stderr
    raw, _ = profile_of(folder, told)
    fields = run([PGOKIT, "show", "--raw", raw], folder).stdout
    require(re.search(r"AccessHistogram:? *\[?2000,? *2000,? *2000\b", fields), fields)


def stripped(folder):
    program = build(folder, "clang-22")
    run([tool("strip"), program], folder)
    told = record(folder, program).stderr
    require(EXPECTED in told, told)
    told = record(folder, program, options=["--histogram"], status=126).stderr
    require("stripped" in told, told)


def package_folder(folder):
    """Our packages as if installed: with a prefix that leads to the build folder."""
    packages = os.path.join(folder, "pkgconfig")
    os.mkdir(packages)
    for name in ("pgokit-heap.pc", "pgokit-heap-gcc.pc"):
        with open(os.path.join(BUILD, "meson-private", name), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(packages, name), "w", encoding="utf-8") as file:
            text = re.sub(r"(?m)^libdir=.*", f"libdir={BUILD}/runtime", text)
            file.write(text.replace("-B${libdir}/pgokit ", "-B${libdir} "))
    return {"PKG_CONFIG_PATH": packages}


def pkg_config(folder, package, compiler):
    environment = package_folder(folder)
    words = run([tool("pkg-config"), "--cflags", "--libs", package], folder,
                env=environment).stdout.split()
    run([tool(compiler), INVENTORY, *words, "-o", "inventory"], folder)
    through(folder, os.path.join(folder, "inventory"))


def cmake(folder, compiler):
    example = os.path.dirname(INVENTORY)
    tools = os.path.dirname(PGOKIT)
    run([tool("cmake"), "-S", example, "-B", "built", "-DPROFILE_HEAP=ON", f"-Dpgokit_DIR={tools}"],
        folder, env={"CC": tool(compiler), "PATH": f"{tools}:{os.environ['PATH']}"})
    run([tool("cmake"), "--build", "built"], folder)
    through(folder, os.path.join(folder, "built", "inventory"))


def meson(folder, compiler):
    example = os.path.dirname(INVENTORY)
    environment = dict(package_folder(folder), CC=tool(compiler))
    run([tool("meson"), "setup", "built", example, "-Dprofile_heap=true"], folder,
        env=environment)
    run([tool("ninja"), "-C", "built"], folder)
    through(folder, os.path.join(folder, "built", "inventory"))


def installed(folder):
    root = os.path.join(folder, "root")
    run([tool("meson"), "install", "-C", BUILD, "--no-rebuild", "--destdir", root], folder)
    program = next(os.path.join(at, "pgokit") for at, _, names in os.walk(root)
                   if at.endswith("/bin") and "pgokit" in names)
    own = {"PGOKIT_RUNTIME": ""}
    flags = run([program, "config", "--cflags", "--libs", "heap", "--cc", "clang"], folder,
                env=own).stdout.split()
    require(any(word.startswith(root) for word in flags), str(flags))
    run([tool("clang-22"), *flags, INVENTORY, "-o", "inventory"], folder)
    told = run([program, "record", "heap", "./inventory"], folder, env=own).stderr
    require(EXPECTED in told, told)
    run([tool("gcc"), INVENTORY, "-o", "plain"], folder)
    told = run([program, "record", "heap", "./plain"], folder, env=own).stderr
    require("by library functions alone" in told, told)


# ---- running ----

def plain(folder, name="plain", *flags):
    out = os.path.join(folder, name)
    run([tool("gcc"), "-g", *flags, INVENTORY, "-o", out], folder)
    return out


def preloaded(folder):
    """What it says to type next needs no binary: the profile says where it is."""
    told = record(folder, plain(folder)).stderr
    require("1,001 objects" in told and "by library functions alone" in told, told)
    show, merge = re.findall(r"^ *pgokit (\w+ .*)$", told, re.M)
    require("-b" not in show.split() + merge.split(), told)
    require("new_item" in run([PGOKIT, *show.split()], folder).stdout, told)
    run([PGOKIT, *merge.split()], folder)
    require("new_item" in run([PGOKIT, "show", merge.split()[-1], "-b", "plain"], folder).stdout,
            told)


def stacks_that_were_cut(folder):
    """One with more frames than are kept is counted everywhere, one with just as many is whole."""
    program, raw = os.path.join(folder, "deep"), os.path.join(folder, "p.profraw")
    run([tool("gcc"), "-g", "-O1", "-fno-optimize-sibling-calls",
         os.path.join(HERE, "programs", "deep.c"), "-o", program], folder)

    def recorded(calls, *options):
        """Bytes of the stacks that were cut, of two, and frames of the deep one."""
        record(folder, program, str(calls), options=["-o", raw, *options])
        shown = json.loads(run([PGOKIT, "show", "--json", raw], folder).stdout)
        deep, = [c for c in shown["contexts"] if c["mib"]["TotalSize"] == 10]
        flat, = [c for c in shown["contexts"] if c["mib"]["TotalSize"] == 20]
        require(flat["mib"]["CutSize"] == 0, f"{flat}")
        require(shown["totals"]["CutSize"] == deep["mib"]["CutSize"], f"{shown['totals']}")
        return deep["mib"]["CutSize"], len(deep["stack"])

    cut, frames = recorded(100)
    require(cut == 0 and frames > 101, f"{cut} of {frames}")
    require(recorded(100, "--depth", str(frames)) == (0, frames), "it has just as many")
    require("cut" not in run([PGOKIT, "check", raw], folder).stdout, "check")
    require(recorded(100, "--depth", str(frames - 1)) == (10, frames - 1), "it has one more")
    require(recorded(300) == (10, 255), "more than can be kept")
    shown = run([PGOKIT, "show", raw], folder).stdout
    require(re.search(r"\n  stacks cut +1 context, 10 B \(", shown), shown)
    require(re.search(r"down +deep\.c:\d+\n +\.\.\. this frame 25\d times more\n"
                      r" +\.\.\. the stack goes on", shown), shown)
    require("1 with stacks that were cut" in run([PGOKIT, "check", raw], folder).stdout, "check")
    alone = os.path.join(folder, "alone.profraw")
    run([program, "200"], folder,
        env={"LD_PRELOAD": os.path.join(BUILD, "runtime", "libpgokit_heap.so"),
             "PGOKIT_HEAP_OPTIONS": f"out={alone}"})
    require("cut" not in run([PGOKIT, "check", alone], folder).stdout, "the runtime alone cuts")
    partial = os.path.join(folder, "p.pgk")
    for words in (["merge", raw, "-o", "p.profdata"], ["merge", "--partial", raw, "-o", partial],
                  ["report", raw, "-o", "p.html"]):
        said = run([PGOKIT, *words], folder).stderr
        require("the stacks of 1 context (10 B) were cut" in said, said)
    require(re.search(r"\n  stacks cut +1 context", run([PGOKIT, "show", partial], folder).stdout),
            "a partial profile")
    # Of a process that is killed the same is known.
    record(folder, program, "300", "kill", options=["-o", raw], status=128 + signal.SIGKILL)
    shown = run([PGOKIT, "show", raw], folder).stdout
    require(re.search(r"\n  stacks cut +1 context, 10 B \(", shown), shown)


def without_debug_information(folder):
    """As what is not rebuilt mostly is: names of symbols, then none at all."""
    program = plain(folder, "plain", "-fno-inline")
    run([tool("strip"), "--strip-debug", program], folder)
    told = record(folder, program).stderr
    raw, binary = re.search(r"^ *pgokit show (\S+)$", told, re.M)[1], program
    shown = run([PGOKIT, "show", raw, "-b", binary], folder)
    require("no debug information" in shown.stderr, shown.stderr)
    require(re.search(r"^ +new_item$", shown.stdout, re.M), shown.stdout)
    merged = run([PGOKIT, "merge", raw, "-b", binary, "--full-schema", "-o", "plain.profdata"],
                 folder)
    shown = run([PGOKIT, "show", "plain.profdata", "-b", binary], folder).stdout
    require("accesses         not known" in shown and "never used" not in shown, shown)
    require("new_item" in shown, f"{shown}{merged.stderr}")
    run([tool("strip"), program], folder)
    shown = run([PGOKIT, "show", raw, "-b", binary], folder)
    require("frames not named: plain (build id" in shown.stderr and "[plain]+0x" in shown.stdout,
            f"{shown.stdout}{shown.stderr}")
    run([PGOKIT, "merge", raw, "-b", binary, "-o", "none.profdata"], folder, status=2)


def llvm_shared(folder):
    """A program of clang -shared-libsan gets our runtime in place of LLVM's."""
    source = [tool("clang-22"), "-g", "-fmemory-profile", "-fno-omit-frame-pointer",
              "-mno-omit-leaf-frame-pointer", INVENTORY, "-o", "inventory"]
    library = run([tool("clang-22"), "-print-file-name=libclang_rt.memprof-x86_64.so"],
                  folder).stdout.strip()
    run([*source, "-shared-libsan", f"-Wl,-rpath,{os.path.dirname(library)}"], folder)
    told = record(folder, "./inventory").stderr
    require(EXPECTED in told, told)
    os.unlink(os.path.join(folder, "inventory"))
    run(source, folder)
    told = record(folder, "./inventory").stderr
    require("linked with LLVM's runtime" in told and "1,001 objects" in told, told)
    told = record(folder, "./inventory", options=["-o", "named"], status=125).stderr
    require("NAME.%p" in told, told)


def wrapped(folder):
    """A program with the runtime in it, started by a shell without: both are recorded."""
    program = build(folder, "clang-22")
    told = record(folder, "sh", "-c", f"{program} && {program}; exit 7", status=7).stderr
    require(told.count(EXPECTED) == 2, told)
    require("exit status 7" in told and "files in all" in told, told)


def children(folder):
    told = record(folder, "bash", "-c", "for i in 1 2 3; do ls >/dev/null; done; true",
                  options=["-o", "runs/%e.%p"]).stderr
    names = os.listdir(os.path.join(folder, "runs"))
    require(len([name for name in names if name.startswith("ls.")]) == 3, str(names))
    require(told.count("runs/ls.") >= 3, told)
    told = record(folder, "bash", "-c", "ls >/dev/null; ls >/dev/null; true",
                  options=["-o", "fixed"]).stderr
    require(re.search(r"\bfixed \(bash\): ", told) and
            len(re.findall(r"fixed\.\d+ \(\w+\): ", told)) == 2, told)


WORKER = """#include <stdlib.h>
__attribute__((noinline)) char *make_block(void) { char *p = malloc(1 << 20); *p = 1; return p; }
int main(void) { for (int i = 0; i < 200; i++) free(make_block()); return 0; }
"""


def worker(folder, *flags):
    """It allocates more than whatever starts it."""
    source = write(folder, "worker.c", WORKER)
    out = os.path.join(folder, "worker")
    run([tool("gcc"), "-g", "-O1", "-fno-builtin", *flags, source, "-o", out], folder)
    return out


def launched_by(folder, name, command):
    """What is printed to type next, as it is."""
    place = os.path.join(folder, name)
    os.mkdir(place)
    told = record(place, *command).stderr
    first = told.partition("recorded:\n")[2].splitlines()[0]
    require(re.match(r"  memprof\.profraw\.[\d.]+ \(worker\): ", first), told)
    show, merge = re.findall(r"^ *pgokit (\w+ .*)$", told, re.M)
    require(show.split()[1] == first.split()[0], told)
    require("make_block" in run([PGOKIT, *show.split()], place).stdout, told)
    run([PGOKIT, *merge.split()], place)
    require("worker.profdata" in os.listdir(place), told)
    newest = run([PGOKIT, "show"], place)
    require(re.search(f"{re.escape(show.split()[1])} is the (newest recording|largest of the "
                      r"\d+ recordings of the newest run) here\n", newest.stderr), newest.stderr)
    require("make_block" in newest.stdout, newest.stdout)


def launchers(folder):
    """The program that they start is named, shown and merged, not env, the shell or make."""
    program = worker(folder)
    makefile = write(folder, "Makefile", f"all:\n\t{program}\n")
    script = write(folder, "start", f"#!/bin/sh\n{program}\ntrue\n")
    for name, command in {
            "env": ["env", "A=1", program],
            "sh": ["sh", "-c", f"{program}; true"],
            "script": [script],
            "make": [tool("make"), "-s", "-f", makefile],
            "python": [sys.executable, "-c", f"import subprocess; subprocess.run(['{program}'])"],
            "forest": ["bash", "-c", f"for i in 1 2 3; do {program} & ls >/dev/null; done; wait"],
    }.items():
        launched_by(folder, name, command)


def largest_of_the_newest_run(folder):
    """What gcc starts and not gcc, whose file is newer; but no larger one of a former run."""
    write(folder, "unit.c", "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")
    record(folder, worker(folder), options=["-o", "former.profraw"])
    gcc = [tool("gcc"), "-O2", "unit.c", "-o", "unit"]
    record(folder, *gcc, options=["-o", "%e.%p.profraw"])
    shown = run([PGOKIT, "show"], folder)
    require(re.match(r"pgokit: note: cc1\.\d+\.profraw is the largest of the \d recordings of the "
                     r"newest run here\n", shown.stderr), shown.stderr)
    require(shown.stdout.startswith("cc1."), shown.stdout)
    record(folder, "echo", options=["-o", "last.profraw"])
    shown = run([PGOKIT, "show"], folder)
    require("note: last.profraw is the newest recording here" in shown.stderr, shown.stderr)
    refused_folder = run([PGOKIT, "show", "."], folder, status=2).stderr
    require("Its newest recording: pgokit show last.profraw;" in refused_folder, refused_folder)


def report_fits_a_terminal(folder):
    """But for commands, which are to be copied."""
    program = worker(folder)
    told = run([tool("script"), "-qec", f"stty cols 80; {PGOKIT} record heap -- env {program}",
                "/dev/null"], folder, env={"TERM": "dumb"}).stdout.replace("\r", "").splitlines()
    require("recorded:" in told and any(line.startswith("  pgokit merge ") for line in told), told)
    long = [line for line in told if len(line) > 80 and not line.startswith("  pgokit ")]
    require(not long, long)


def stripped_of_names(folder):
    """What merge could make no profile of becomes a page."""
    program = worker(folder, "-s")
    told = record(folder, program).stderr
    show, report = re.findall(r"^ *pgokit (\w+ .*)$", told, re.M)
    require(re.fullmatch(r"report memprof\.profraw\.\d+ -o worker\.html", report), told)
    require("[worker]+0x" in run([PGOKIT, *show.split()], folder).stdout, told)
    run([PGOKIT, *report.split()], folder)
    require("worker.html" in os.listdir(folder), told)


def started_by_a_link(folder):
    """The program is called as it was started, by path or in PATH, and not as its file."""
    program = worker(folder)
    os.rename(program, os.path.join(folder, "check"))
    os.symlink("check", os.path.join(folder, "served"))
    for command in (["./served"], ["served"], ["sh", "-c", "served; true"]):
        told = record(folder, *command,
                      env={"PATH": f"{folder}:{os.environ['PATH']}"}).stderr
        require(" (served): " in told and "(check)" not in told, told)
        require("-o served.profdata\n" in told, told)
    # What says that it is another program is called by its file.
    told = record(folder, "bash", "-c", "exec -a served ./check").stderr
    require(" (check): " in told and "-o check.profdata\n" in told, told)


def launched_and_built_for_it(folder):
    """The binary is that of the largest profile."""
    program = build(folder, "clang-22")
    told = record(folder, "env", program).stderr
    require(re.search(r"pgokit show \S+ -b inventory$", told, re.M), told)
    check_items(folder, *re.search(r"show (\S+) (-b) (\S+)", told).groups())


def opens_a_page(folder):
    """With a display by xdg-open, elsewhere its path is said; the program's status stays."""
    program = worker(folder)
    told = record(folder, "sh", "-c", f"{program}; exit 3", options=["--open"], status=3,
                  env={"DISPLAY": "", "WAYLAND_DISPLAY": ""}).stderr
    page = re.search(r"^page: (/.*\.html)$", told, re.M)[1]
    with open(page, encoding="utf-8") as file:
        require(file.read(15).lower() == "<!doctype html>", page)
    opener = write(folder, "xdg-open", '#!/bin/sh\necho "$1 $LD_PRELOAD" >opened.tmp\n'
                                       'mv opened.tmp opened\n')
    told = record(folder, program, options=["--open", "-o", "named"],
                  env={"DISPLAY": ":9", "PATH": f"{os.path.dirname(opener)}:{os.environ['PATH']}"})
    page = os.path.realpath(os.path.join(folder, "named.html"))
    require(f"page (opens now): {page}\n" in told.stderr, told.stderr)
    opened = os.path.join(folder, "opened")
    wait_until(lambda: os.path.exists(opened), "xdg-open")
    with open(opened, encoding="utf-8") as file:
        require(file.read() == f"{page} \n", opened)


def execs_under_both(folder):
    """The profile of a program that becomes another one is complete, whoever else looks on."""
    name = write(folder, "exec.c", "#include <stdlib.h>\n#include <unistd.h>\nint main(void)\n{\n"
                 "    return !malloc(10) || execl(\"/bin/true\", \"true\", NULL);\n}\n")
    run([tool("gcc"), "-O0", name, "-o", "execs"], folder)
    heap = [PGOKIT, "record", "heap", "-o", "%e.heap", "--"]
    branches = [PGOKIT, "record", "branches", "--"]
    for order in (heap + branches, branches + heap):
        run([*order, "./execs"], folder, status=None)
        shown = run([PGOKIT, "show", "execs.heap"], folder).stdout
        require("1 context" in shown and "interrupted" not in shown, shown)
        os.unlink(os.path.join(folder, "execs.heap"))


def options(folder):
    program = build(folder, "clang-22")
    environment = {"PGOKIT_HEAP_OPTIONS": "depth=7:out='own name'"}
    told = record(folder, program, env=environment, options=["--raw-version", "3"]).stderr
    require("'own name'" in told, told)
    checked = run([PGOKIT, "check", "own name"], folder).stdout
    require("version 3" in checked, checked)
    record(folder, program, env=environment, options=["-o", "mine", "--depth", "1", "-q"])
    shown = run([PGOKIT, "show", "--json", "mine"], folder).stdout
    depths = {sum(not frame.get("inline") for frame in context["stack"])
              for context in json.loads(shown)["contexts"]}
    require(depths == {1}, shown)
    require(not record(folder, program, options=["-q"]).stderr, "quiet, but it talks")
    told = record(folder, plain(folder), options=["--histogram"], status=126).stderr
    require("was not built to count by place" in told, told)


def old_files_stay_out(folder):
    program = build(folder, "clang-22")
    record(folder, program)
    record(folder, program)
    told = record(folder, program).stderr
    require(told.count(EXPECTED) == 1 and "files in all" not in told, told)


def nothing_recorded(folder):
    """The status is the program's, and no profile of a former run is left as if it were new."""
    raw = os.path.join(folder, "p.profraw")
    record(folder, "sh", "-c", "exit 4", options=["-o", raw], status=4)
    told = record(folder, "sh", "-c", "exit 4", options=["-o", raw], status=4,
                  env={"PGOKIT_HEAP_OPTIONS": "enabled=0"}).stderr
    require("warning: nothing was recorded" in told and "former run was removed" in told, told)
    require(not os.listdir(folder), os.listdir(folder))


def status_of(folder, what, status, text):
    told = record(folder, "sh", "-c", what, status=status).stderr
    require(text in told, told)


def forwards_signals(folder):
    """SIGTERM to pgokit alone reaches the program, which ends as it likes."""
    what = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen([PGOKIT, "record", "heap", "--", "sh", "-c", what], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.readline()
        child.terminate()
        told = child.communicate(timeout=PATIENCE)[1]
    require(child.returncode == 5 and "exit status 5" in told, f"{child.returncode}: {told}")


def ignored_children(folder):
    """Started with SIGCHLD ignored, as some daemons start programs."""
    told = record(folder, "sh", "-c", "exit 9", status=9,
                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)).stderr
    require("exit status 9" in told, told)


def interrupt_of_terminal(folder):
    """^C goes to both: the program ends, pgokit still tells."""
    what = "echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen([PGOKIT, "record", "heap", "--", "sh", "-c", what], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as child:
        child.stdout.readline()
        os.killpg(child.pid, signal.SIGINT)
        told = child.communicate(timeout=PATIENCE)[1]
    require(child.returncode == 130 and "signal 2" in told, f"{child.returncode}: {told}")


# ---- what cannot be recorded ----

def refused(folder, argv, status, *words, **kw):
    told = record(folder, *argv, status=status, **kw).stderr
    require(all(word in told for word in words), told)
    require(len(told.strip().splitlines()) == 1, told)


def write(folder, name, text, mode=0o755):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def unrecordable(folder):
    refused(folder, ["./nothing"], 127, "No such file")
    refused(folder, ["no-such-program-anywhere"], 127, "PATH")
    refused(folder, [folder], 126, "it is not a regular file")
    refused(folder, [write(folder, "data", "x\n", 0o644)], 126, "not executable")
    refused(folder, [write(folder, "text", "echo hello, world\n")], 126, "ELF",
            "sh SCRIPT")
    refused(folder, [write(folder, "script", "#!/no/such/shell\n")], 126, "/no/such/shell")
    refused(folder, [plain(folder)], 125, "PGOKIT_RUNTIME", env={"PGOKIT_RUNTIME": folder})


def static_program(folder):
    refused(folder, [plain(folder, "static", "-static")], 126, "statically linked",
            "pgokit config")


def program_of_32_bits(folder):
    image = bytearray(64)
    image[:20] = b"\x7fELF\x01\x01\x01" + bytes(9) + b"\x02\0\x03\0"
    path = os.path.join(folder, "old")
    with open(path, "wb") as file:
        file.write(image)
    os.chmod(path, 0o755)
    refused(folder, ["./old"], 126, "32-bit", "64-bit")


def setuid_program(folder):
    if os.geteuid():
        raise Skip("takes root to make a program of another user")
    program = plain(folder)
    os.chown(program, 12345, 12345)
    os.chmod(program, 0o4755)
    refused(folder, ["./plain"], 126, "setuid", "pgokit config")


def script(folder):
    """The interpreter is what gets recorded."""
    path = write(folder, "script", "#! /bin/bash -e\nx=$(echo hello)\necho $x\n")
    result = record(folder, path)
    require(result.stdout == "hello\n", result.stdout)
    require("by library functions alone" in result.stderr, result.stderr)
    require(re.search(r"-o bash\.(profdata|html)\n", result.stderr), result.stderr)


def module(folder, compiler):
    """As projects do it that link programs and modules with the same flags."""
    write(folder, "module.c", "#include <stdlib.h>\nint *made(void);\nint *made(void)\n{\n"
          "    int *p = malloc(40);\n    p[3] = 1;\n    return p;\n}\n")
    write(folder, "main.c", "#include <stdlib.h>\nint *made(void);\nint main(void)\n{\n"
          "    int *p = made(), seen = p[3];\n    free(p);\n    return seen != 1;\n}\n")
    cflags = config("--cflags", "--cc", compiler)
    ldflags = config("--ldflags", "--libs", "--shared", "--cc", compiler)
    run([tool(compiler), "-O1", *cflags, "-fPIC", "-shared", "module.c", *ldflags, "-o",
         "libmodule.so"], folder)
    run([tool(compiler), "-O1", *cflags, "main.c", "./libmodule.so", *ldflags, "-o", "main"],
        folder)
    libraries = run(["readelf", "-d", "libmodule.so", "main"], folder).stdout
    require("tsan" not in libraries and "clang_rt" not in libraries, libraries)
    told = record(folder, "./main").stderr
    file = profile_of(folder, told)[0]
    shown = json.loads(run([PGOKIT, "show", "--json", file, "-b", "main", "-b", "libmodule.so"],
                           folder).stdout)
    found = [context["mib"]["TotalAccessCount"] for context in shown["contexts"]
             if context["stack"][0].get("function") == "made"]
    require(found == [2], f"{shown}")


def wrong_usage(folder):
    for arguments, word in [(["record"], "kind"),
                            (["record", "heap"], "no program: name it after --"),
                            (["record", "cpu", "x"], "cpu"), (["config", "heap"], "--cflags"),
                            (["config", "--libs"], "heap"),
                            (["record", "heap", "--depth", "0", "--", "true"], "--depth"),
                            (["config", "--cflags", "heap", "--cc", "clang-12"], "13"),
                            (["config", "--cflags", "heap", "--cc", "icc"], "icc"),
                            (["config", "--cflags", "--histogram", "heap", "--cc", "gcc"], "19")]:
        told = run([PGOKIT, *arguments], folder, status=2).stderr
        require(word in told and told.startswith("pgokit: "), told)


def main():
    cases = Cases()
    for compiler in ("gcc", "g++", "clang-14", "clang++-14", "clang-16", "clang++-16", "clang-19",
                     "clang++-19", "clang-22", "clang++-22"):
        cases.run(f"config, record, show, merge: {compiler}", compiled, compiler)
    for compiler in ("gcc", "clang-14", "clang-22"):
        cases.run(f"shared runtime: {compiler}", compiled, compiler, "--shared")
        cases.run(f"static program: {compiler}", compiled, compiler, "-static")
        cases.run(f"modules linked with the flags of programs: {compiler}", module, compiler)
    for compiler in ("gcc", "clang-22"):
        cases.run(f"compile and link at once: {compiler}", one_command, compiler)
    for compiler in ("gcc-12", "clang-22"):
        cases.run(f"shared runtime before objects: {compiler}", one_command, compiler, "--shared")
    cases.run("histogram: clang-19", histogram, "clang-19")
    cases.run("histogram: clang-22", histogram, "clang-22")
    cases.run("stripped program with the runtime in it", stripped)
    cases.run("pkg-config: clang-22", pkg_config, "pgokit-heap", "clang-22")
    cases.run("pkg-config: gcc", pkg_config, "pgokit-heap-gcc", "gcc")
    for compiler in ("gcc", "clang-22"):
        cases.run(f"CMake example: {compiler}", cmake, compiler)
        cases.run(f"Meson example: {compiler}", meson, compiler)
    cases.run("a profile says what ran", says_what_ran)
    cases.run("the package of debug symbols", package_of_debug_symbols)
    cases.run("Debian's debug archive", debug_archive)
    cases.run("names without an option", names_without_an_option)
    cases.run("stacks that were cut", stacks_that_were_cut)
    cases.run("a program that was built anew gives no names", names_of_another_build)
    cases.run("a leak that was mended", mended_leak)
    cases.run("profiles of two builds compared", compared_after_a_rebuild)
    cases.run("long command lines and many libraries are cut", long_texts_are_cut)
    cases.run("installed", installed)
    cases.run("program not rebuilt", preloaded)
    cases.run("program neither rebuilt nor with debug information", without_debug_information)
    cases.run("programs with LLVM's runtime", llvm_shared)
    cases.run("program with the runtime, started by a shell", wrapped)
    cases.run("children: one file each", children)
    cases.run("programs that others start", launchers)
    cases.run("the largest of the newest run", largest_of_the_newest_run)
    cases.run("the report fits a terminal", report_fits_a_terminal)
    cases.run("a program without names", stripped_of_names)
    cases.run("a program that a link starts", started_by_a_link)
    cases.run("a program built for it that another starts", launched_and_built_for_it)
    cases.run("--open", opens_a_page)
    cases.run("exec under the heap profiler and the branch recorder", execs_under_both)
    cases.run("options", options)
    cases.run("files of earlier runs stay out", old_files_stay_out)
    cases.run("nothing was recorded", nothing_recorded)
    cases.run("exit status of the program", status_of, "exit 42", 42, "exit status 42")
    cases.run("killed by a signal", status_of, "kill -SEGV $$", 139, "signal 11")
    cases.run("signals are passed on", forwards_signals)
    cases.run("SIGCHLD ignored", ignored_children)
    cases.run("interrupt of the terminal", interrupt_of_terminal)
    cases.run("script", script)
    cases.run("programs that cannot be recorded", unrecordable)
    cases.run("static program without the runtime", static_program)
    cases.run("children of musl end with 127", musl.children, PGOKIT, "record", "heap", "--")
    for verb in (["record", "heap"], ["record", "branches"], ["run"]):
        cases.run(f"{' '.join(verb)} of a program of musl: one sentence", musl.refused, PGOKIT,
                  *verb, "--")
    cases.run("program of 32 bits", program_of_32_bits)
    cases.run("setuid program", setuid_program)
    cases.run("wrong usage", wrong_usage)
    cases.finish()


main()
