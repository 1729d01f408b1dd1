#!/usr/bin/env python3
"""pgokit pgo --record, --use and --flags: one profile that is kept with the source serves every
compiler and machine, gives the same bytes anywhere, and is refused where it does not fit.

usage: pgo_committed.py PGOKIT LIBRARY
"""

import os
import re
import shutil
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "runtime"))
from harness import Cases, Skip, program_text, require, run, tool  # noqa: E402

PGOKIT = os.path.abspath(sys.argv[1])
SOURCE = program_text("often_seldom.c", os.path.join(HERE, "programs"))
BUILD = "echo >> builds; $CC $CFLAGS -ffile-prefix-map=$PWD=. $LDFLAGS app.c -o app"
RUN = "./app 100000000"
# A recording takes longer than a build: each compiler's is made once.
RECORDED = {}


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        file.write(text)


def content(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def builds(folder):
    return len(content(folder, "builds"))


def pgo(folder, *options, status=0, build=BUILD, env=None):
    return run([PGOKIT, "pgo", "--build", build, *options], folder, status=status, env=env)


def record(folder, compiler, *options, status=0, source=SOURCE):
    write(folder, "app.c", source)
    return pgo(folder, "--record", "--cc", tool(compiler), "--run", RUN, "--runs", "1", *options,
               status=status)


def kept(folder, compiler="clang-22"):
    """A folder with the source and a profile in it."""
    if compiler not in RECORDED:
        record(folder, compiler, "-o", "pgo/app.afdo")
        RECORDED[compiler] = content(folder, "pgo/app.afdo")
        os.remove(os.path.join(folder, "builds"))
    write(folder, "app.c", SOURCE)
    os.makedirs(os.path.join(folder, "pgo"), exist_ok=True)
    with open(os.path.join(folder, "pgo", "app.afdo"), "wb") as file:
        file.write(RECORDED[compiler])


def use(folder, compiler, *options, profile="pgo/app.afdo", **how):
    return pgo(folder, "--use", profile, "--cc", tool(compiler), *options, **how)


def as_text(folder, name):
    return run([PGOKIT, "convert", name, "--to", "text", "-o", "-"], folder).stdout


def recorded_once(folder, compiler):
    """One build, one file, and nothing of the folder or the machine in it."""
    done = record(folder, compiler, "-o", "pgo/app.afdo")
    require(builds(folder) == 1, f"{builds(folder)} builds")
    require(sorted(os.listdir(folder)) == ["app", "app.c", "builds", "pgo", "pgo.afdo.log"],
            os.listdir(folder))
    require(os.listdir(os.path.join(folder, "pgo")) == ["app.afdo"], "files by the profile")
    require(re.search(r"pgo/app\.afdo: \d functions, \d+ B$", done.stderr, re.M), done.stderr)
    text = as_text(folder, "pgo/app.afdo")
    require("often:" in text and "main:" in text, text)
    require(not re.search(rf"/|\.c\b|{re.escape(os.uname().nodename)}", text), text)
    run([PGOKIT, "convert", "pgo/app.afdo", "--compress", "-o", "again.afdo"], folder)
    require(content(folder, "pgo/app.afdo") == content(folder, "again.afdo"), "written twice")


# What clang's inliner defers in code that is compiled for profiles: `middle` takes `leaf`, unless
# `top` is to take the whole of `middle`, three times.
DEFERRED = """
static unsigned leaf(unsigned x) {""" + "".join(
    f" x ^= x * {i * 7 + 3}u + (x >> {i % 5 + 1});" for i in range(12)) + """ return x; }
static unsigned middle(unsigned x)
{ x += x << 1; x += x << 2; return x & 1 ? leaf(x) : leaf(x + 1); }
unsigned top(unsigned x) { x = middle(x); x = middle(x); return middle(x); }
"""


def code_of(folder, name):
    run(["objcopy", "-O", "binary", "-j", ".text", name, name + ".text"], folder)
    return content(folder, name + ".text")


def own_code(folder, compiler):
    """What is recorded, and compared with, is the program as the project builds it."""
    record(folder, compiler, "-o", "pgo/app.afdo", source=SOURCE + DEFERRED)
    run([compiler, "-O2", "app.c", "-o", "plain"], folder)
    require(code_of(folder, "app") == code_of(folder, "plain"), "flags of pgo changed the code")


def same_bytes(folder, by, compiler):
    """In two folders with two folders for temporary files, on one build each."""
    made = []
    for name, prefix in (("one", ""), ("two", "{}/")):
        place = os.path.join(folder, name)
        os.makedirs(os.path.join(place, "tmp"))
        kept(place, by)
        done = use(place, compiler, profile=prefix.format(place) + "pgo/app.afdo",
                   env={"TMPDIR": os.path.join(place, "tmp")})
        require(" % of the samples of " in done.stderr, done.stderr)
        require(not os.listdir(os.path.join(place, "tmp")), "something is left")
        require(builds(place) == 1, f"{builds(place)} builds")
        require(content(place, "pgo/app.afdo") == RECORDED[by], "the profile was changed")
        made.append(content(place, "app"))
    require(made[0] == made[1], "the programs differ")
    without = os.path.join(folder, "one")
    flags = "-gline-tables-only" if "clang" in compiler else "-g"
    run([tool(compiler), "-O2", *flags.split(), "app.c", "-o", "without"], without)
    code = [run(["objdump", "-d", "--no-show-raw-insn", name], without).stdout.split("file format")
            [1] for name in ("app", "without")]
    require(code[0] != code[1], "the profile changed nothing")


def other_files(folder):
    """A library that the build only copies, and that nothing is known of, is left out."""
    kept(folder)
    write(folder, "other.c", "int other(int a) { return a; }\n")
    run([tool("gcc-12"), "-shared", "-fPIC", "other.c", "-o", "other"], folder)
    done = use(folder, "clang-22", "--min-match", "99", build=f"cp other other.so; {BUILD}")
    require("100.0 % of the samples of" in done.stderr, done.stderr)
    done = use(folder, "clang-22", status=2, build="echo >> builds; cp other other.so; "
               "$CC $CFLAGS -c app.c")
    require("Compile and link with -g" in done.stderr, done.stderr)


def same_code_twice(folder):
    """As in a library that is made with static linkage and without: all calls are known."""
    kept(folder)
    done = use(folder, "clang-22", build="$CC $CFLAGS -c app.c && $CC app.o -o app && "
                                         "$CC app.o -Wl,-z,now -o again")
    require(" % of the samples of " in done.stderr, done.stderr)


def text_form(folder):
    """Functions by name; the programs are those of the other form."""
    kept(folder)
    use(folder, "clang-22")
    program = content(folder, "app")
    run([PGOKIT, "convert", "pgo/app.afdo", "--to", "text", "--by-name", "-o", "app.txt"], folder)
    use(folder, "clang-22", profile="app.txt")
    require(content(folder, "app") == program, "another program")
    record(folder, "clang-22", "--text", "-o", "new.txt")
    names = re.findall(rb"^(\w+):\d+:\d+$", content(folder, "new.txt"), re.M)
    require(len(names) == 3 and names == sorted(names), names)


def limited(folder):
    done = record(folder, "clang-22", "--text", "-o", "app.txt")
    size = os.path.getsize(os.path.join(folder, "app.txt"))
    done = record(folder, "clang-22", "--text", "-o", "app.txt", "--max-size", str(size - 20))
    require(os.path.getsize(os.path.join(folder, "app.txt")) <= size - 20, "it does not fit")
    found = re.search(r"note: 1 cold function is left out .*; ([\d.]+) % of the samples",
                      done.stderr)
    require(found and 50 < float(found.group(1)) < 100, done.stderr)
    require(b"often:" in content(folder, "app.txt"), "the hottest is gone")
    done = record(folder, "clang-22", "-o", "app.afdo", "--max-size", "10", status=2)
    require("app.afdo" not in os.listdir(folder) and "Raise the limit" in done.stderr, done.stderr)


# A new function, and new lines before the loop.
MOVED = SOURCE.replace("int main(", "int unrelated(int a)\n{\n    return a + 1;\n}\nint main(")
MOVED = MOVED.replace("    for (", "    if (n == 7)\n        puts(\"seven\");\n\n    for (")


def moved_source(folder):
    kept(folder)
    write(folder, "app.c", MOVED)
    done = use(folder, "clang-22", "--min-match", "99%", status=3)
    require(re.search(r"limit reached: [\d.]+ % of the samples match the source, and --min-match 99"
                      r" was given; record anew, or give --rebase\n", done.stderr), done.stderr)
    require(content(folder, "pgo/app.afdo") == RECORDED["clang-22"] and builds(folder) == 1,
            "something more was done")
    done = use(folder, "clang-22", "--rebase", "--min-match", "99")
    require(re.search(r"[\d.]+ % of the samples go to where the source has their lines now\n",
                      done.stderr), done.stderr)
    require(builds(folder) == 3, f"{builds(folder)} builds")
    program = content(folder, "app")
    done = use(folder, "clang-22", "--rebase", "--min-match", "99")
    require(builds(folder) == 4 and "go to where" not in done.stderr, done.stderr)
    require(content(folder, "app") == program, "another program by the profile that was written")


def for_scripts(folder):
    """--flags: the compiler's own form, and the flags that name it."""
    kept(folder)
    for compiler, flag, form in (("clang-22", "-fprofile-sample-use=", "extensible"),
                                 ("gcc-12", "-fauto-profile=", "GCC")):
        done = run([PGOKIT, "pgo", "--use", "pgo/app.afdo", "--flags", "--cc", tool(compiler), "-o",
                    "for.cc"], folder)
        require(flag + os.path.join(folder, "for.cc") in done.stdout.split() and not done.stderr,
                done.stdout + done.stderr)
        require(form in run([PGOKIT, "check", "for.cc"], folder).stdout, "the form")
        run([tool(compiler), "-O2", *done.stdout.split(), "-Wl,--build-id",
             f"-ffile-prefix-map={folder}=.", "app.c", "-o", "by_flags"], folder)
        use(folder, compiler)
        require(content(folder, "app") == content(folder, "by_flags"), "another program")


def other_targets(folder):
    """By cross compilers, also those that a Makefile names; what is of 32 bits is not matched."""
    kept(folder)
    tried = 0
    for compiler in ("aarch64-linux-gnu-gcc", "musl-gcc"):
        if not shutil.which(compiler):
            continue
        tried += 1
        done = use(folder, compiler)
        require(" % of the samples of " in done.stderr, done.stderr)
        os.remove(os.path.join(folder, "app"))
        done = pgo(folder, "--use", "pgo/app.afdo", "--cc", "gcc-12",
                   build=f"{compiler} app.c -o app")
        require(" % of the samples of " in done.stderr, done.stderr)
    if tried == 0:
        raise Skip("missing aarch64-linux-gnu-gcc and musl-gcc")
    write(folder, "part.c", SOURCE)
    done = use(folder, "gcc-12", build="$CC $CFLAGS -m32 -ffreestanding -c -xc /dev/null -o app")
    require("whether the profile matches the source is not known" in done.stderr, done.stderr)
    done = use(folder, "gcc-12", "--min-match", "50", status=2,
               build="$CC $CFLAGS -m32 -c -xc /dev/null -o app")
    require("there is nothing to match the profile with" in done.stderr, done.stderr)


CRATE = '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2018"\n[profile.release]\n' \
        'codegen-units = 4\n[dependencies]\nsteps = { path = "steps" }\n'
STEPS = """pub fn steps(mut n: u64) -> u64 {
    let mut count = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        count += 1;
    }
    count
}
"""
RUST_MAIN = 'fn main() { println!("{}", (1..3000000u64).map(steps::steps).max().unwrap()); }\n'


def cargo(folder):
    """The path of the profile is in the hash of a crate, and not in a program of crates."""
    if not shutil.which("cargo") or run(["cargo", "--version"], folder, status=None).returncode:
        raise Skip("there is no cargo here")
    for crate in ("src", "steps/src", "tmp"):
        os.makedirs(os.path.join(folder, crate))
    write(folder, "Cargo.toml", CRATE)
    write(folder, "steps/Cargo.toml", CRATE.split("[profile")[0].replace("app", "steps"))
    write(folder, "src/main.rs", RUST_MAIN)
    write(folder, "steps/src/lib.rs", STEPS)
    run([PGOKIT, "pgo", "--record", "-o", "app.txt", "--text", "--runs", "1", "--run",
         "./target/release/app"], folder)
    made = []
    for env in ({}, {"TMPDIR": os.path.join(folder, "tmp")}):
        done = run([PGOKIT, "pgo", "--use", "app.txt", "--min-match", "90"], folder, env=env)
        made.append(content(folder, "target/release/app"))
    require("% of the samples of app.txt match" in done.stderr, done.stderr)
    require(made[0] == made[1], "the programs differ")


def refused(folder):
    kept(folder)
    write(folder, "empty.txt", "")
    write(folder, "other.txt", "nothing_here:100:1\n 1: 100\n")
    write(folder, "garbage", "\x01\x02\x03 no profile\n")
    cases = (("nosuch.afdo: cannot open: No such file", ["--use", "nosuch.afdo"], BUILD),
             ("garbage: ", ["--use", "garbage"], BUILD),
             ("pgo: cannot read: Is a directory", ["--use", "pgo"], BUILD),
             ("no function of other.txt is in what the build made", ["--use", "other.txt"], BUILD),
             ("no compiler read the profile", ["--use", "pgo/app.afdo"], "true"),
             ("the build with the profile failed with exit status 7", ["--use", "pgo/app.afdo"],
              "exit 7"),
             ("No space left", ["--use", "pgo/app.afdo", "--flags", "-o", "/dev/full"], BUILD))
    for message, options, build in cases:
        done = pgo(folder, "--cc", tool("gcc-12"), *options, build=build, status=2)
        require(message in done.stderr, f"expected: {message}\n{done.stderr}")
    require(stat.S_ISCHR(os.stat("/dev/full").st_mode), "/dev/full was replaced")
    done = record(folder, "gcc-12", "-o", "/dev/full", status=2)
    require("No space left" in done.stderr, done.stderr)
    if os.geteuid() != 0:
        os.chmod(os.path.join(folder, "pgo/app.afdo"), 0)
        done = pgo(folder, "--use", "pgo/app.afdo", status=2)
        require("Permission denied" in done.stderr, done.stderr)


def main():
    cases = Cases()
    for compiler in ("clang-22", "gcc-12"):
        cases.run(f"recorded once by {compiler}", recorded_once, compiler)
        cases.run(f"code of {compiler} is the project's own", own_code, compiler)
    for compiler in ("clang-14", "clang-19", "clang-22", "clang-23", "gcc-12", "gcc-14", "gcc-16"):
        cases.run(f"clang's profile by {compiler}", same_bytes, "clang-22", compiler)
    for compiler in ("clang-22", "gcc-12"):
        cases.run(f"gcc's profile by {compiler}", same_bytes, "gcc-12", compiler)
    cases.run("files of others", other_files)
    cases.run("the same code in two programs", same_code_twice)
    cases.run("text", text_form)
    cases.run("a limit of the size", limited)
    cases.run("a source that has moved", moved_source)
    cases.run("flags for scripts", for_scripts)
    cases.run("other targets", other_targets)
    cases.run("crates", cargo)
    cases.run("where it stops", refused)
    cases.finish()


main()
