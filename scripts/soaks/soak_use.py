"""Runs test suites of real C++ programs that clang builds by profiles of these suites, through the
plugin for the use of profiles (docs/design/profile-use.md). And jq, which is C and has no types: it
sorts and groups what it reads, and each line that it prints is a test.

  scripts/soak use BUILD [--only NAME]...

Clang 22 and its plugin are needed. Each program is built with ThinLTO:

  plain     without a profile; its suite is recorded by `pgokit record branches --loads`
  counted   with the flags of `pgokit config heap`; its suite records heap profiles
  used      with both profiles, and LLVM's verifier behind the plugin and in the link. Every object
            that is accessed rarely counts as cold, however short it lives, and the others as hot

The modules of `plain` are also given hints by LLVM's own pass, and by the plugin with the same
thresholds and -pgokit-use-as-llvm: the marks of calls must be the same.

The suite of `used` runs as it is, with an allocator that takes hints, and with one that leaves them
in call stacks, which the heap profiler records. Each context that came with a hint is looked up in
the heap profile, where it must be what the hint says (tests/interop/hinted_contexts.py).

The exit status is 1 if a test fails each time with profiles used, if a process ends otherwise than
plain, if marks differ, if more than one object in 200 has a hint that is wrong, or if nothing of a
profile has been used.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import hinted_contexts as hinted
import suites

os.environ.setdefault("USE_PLUGINS", "")  # of the tests that have `marks`
from use_heap import marks  # noqa: E402

RELEASE = "22"
# Without jumps to other functions, so that call stacks are whole.
FLAGS = "-O2 -g -w -fdebug-info-for-profiling -fno-optimize-sibling-calls"
THIN = "-flto=thin"
AS_BUILT = ("cmake -DCMAKE_BUILD_TYPE= -DCMAKE_AR=$(command -v llvm-ar-{0}) "
            "-DCMAKE_RANLIB=$(command -v llvm-ranlib-{0})".format(RELEASE))
# Nearly all calls that allocate get a hint, so that as much code as can be is changed.
THRESHOLDS = ["-pgokit-use-cold-lifetime=0", "-pgokit-use-cold-share=0.5",
              "-pgokit-use-hot-density=1"]
VERIFY = "-pgokit-use-verify"
MOST_WRONG = 0.005  # of the objects with a hint, as the link makes them
ROUNDS = ("10", "80", "320")  # of a suite while it is recorded, where it takes a number

# A suite whose build takes $CXX, $CXXFLAGS and $LDFLAGS, or $CC and $CFLAGS, the program that its
# tests are in, and whether it has virtual calls.
Program = collections.namedtuple("Program", "suite binary types", defaults=[True])

PROGRAMS = {
    "jsoncpp": Program(suites.Suite(
        "libjsoncpp", "a parser and writer, with exceptions",
        "for f in $SOURCE/src/lib_json/*.cpp $SOURCE/src/test_lib_json/*.cpp; do $CXX $CXXFLAGS "
        "-std=c++17 -I$SOURCE/include -I$SOURCE/src/test_lib_json -c $f || exit; done; "
        "$CXX $CXXFLAGS $LDFLAGS *.o -o tests",
        "for i in $(seq ${ROUNDS:-3}); do ./tests || exit; done", r"^Testing (.*): OK"), "tests"),
    "muparserx": Program(suites.Suite(
        "muparserx", "virtual calls and reference counts, with exceptions",
        AS_BUILT + " $SOURCE && make -j2 example",
        "for i in $(seq ${ROUNDS:-3}); do echo quit | ./example || exit; done",
        r"^(.*?)\.*\s*passed"), "example"),
    "ninja": Program(suites.Suite(
        "ninja-build", "virtual calls, files, child processes",
        AS_BUILT + " $SOURCE && make -j2 ninja_test",
        "for i in $(seq ${ROUNDS:-3}); do ./ninja_test || exit; done",
        r"^\[\d+/\d+\] (\S+)$(?!\n\*\*\*)"), "ninja_test"),
    "jq": Program(suites.Suite(
        "jq", "an interpreter in C",
        "mkdir src; echo '#define JQ_VERSION \"1.6\"' > src/version.h; "
        "sed 's/\\\\/&&/g; s/\"/\\\\\"/g; s/.*/\"&\\\\n\"/' $SOURCE/src/builtin.jq "
        "> src/builtin.inc; "
        "for f in $SOURCE/src/*.c; do case $f in */inject_errors.c) ;; *) "
        "$CC $CFLAGS -D_GNU_SOURCE -DIEEE_8087=1 -I. -DHAVE_ALLOCA_H=1 -c $f || exit;; esac; done; "
        "$CC $CFLAGS $LDFLAGS *.o -lm -pthread -o jq",
        "[ -f in.json ] || ./jq -n '[range(60000) | {id: ., town: \"town \\(. * 7919 % 100)\", "
        "tags: [.]}]' > in.json; ./jq -c 'group_by(.town)[] | [.[0].town, length]' in.json; "
        "./jq -c 'sort_by(-.id)[:50][]' in.json",
        r"^(.+)$"), "jq", False),
}


class Builder:
    def __init__(self, name, data, build):
        self.name, self.program, self.build = name, PROGRAMS[name], build
        self.folder = suites.folder_of(data, "use") / name
        self.source = suites.source_of(data, self.program.suite.package)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def pgokit(self, *argv):
        done = subprocess.run([self.build / "tools" / "pgokit", *argv], check=False, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode not in (0, 1):  # 1: done, and something said
            raise SystemExit(f"pgokit {' '.join(map(str, argv))}: {done.stderr}")
        return done.stdout.strip()

    def config(self, kind, *options):
        return self.pgokit("config", "-q", *options, kind, "--cc", "clang-" + RELEASE)

    def make(self, variant, compile_flags, link_flags):
        """The folder of a build."""
        folder = self.folder / variant
        folder.mkdir()
        flags = f"{FLAGS} {compile_flags}"
        suites.build(self.program.suite, folder, self.source, CC="clang-" + RELEASE, CFLAGS=flags,
                   CXX="clang++-" + RELEASE, CXXFLAGS=flags, LDFLAGS=link_flags)
        return folder

    def run(self, folder, log, **env):
        """Exit status, and names of the tests that pass."""
        status, text = suites.shell(self.program.suite.run, folder, self.source, **env)
        (self.folder / f"{log}.log").write_text(text)
        return status, suites.names_of(self.program.suite, text)

    def heap_profile(self):
        counted = self.make("counted", self.config("heap", "--cflags"),
                            self.config("heap", "--ldflags", "--libs"))
        profile = self.folder / "heap.memprofdata"
        with tempfile.TemporaryDirectory(prefix="pgokit-soak-") as kept:
            # Deep stacks of tests would make the link tell thousands of contexts apart.
            self.run(counted, "counted", ROUNDS="1",
                     PGOKIT_HEAP_OPTIONS=f"log_path={kept}/heap:depth=6")
            # Programs that the suite starts have no profiles that fit.
            self.pgokit("merge", "-q", *sorted(pathlib.Path(kept).iterdir()), "-b",
                        counted / self.program.binary, "-o", profile)
        return profile

    def marks_differ(self, plain, profile):
        """How many calls LLVM's own pass marks in the modules of a build, and in how many of them
        the plugin's marks are others."""
        plugin = self.build / "compiler" / "use" / f"pgokit_use_clang_{RELEASE}.so"
        calls = differ = 0
        for module in plain.rglob("*.o"):
            opt = [f"opt-{RELEASE}", module, "-S", "-o", "-"]
            llvm, ours = (marks(subprocess.run([*opt, *options], check=True, text=True,
                                               stdout=subprocess.PIPE).stdout) for options in (
                [f"-passes=memprof-use<profile-filename={profile}>",
                 "-memprof-ave-lifetime-cold-threshold=0",
                 "-memprof-lifetime-access-density-cold-threshold=100"],
                [f"-load={plugin}", f"-load-pass-plugin={plugin}", "-pgokit-use-as-llvm",
                 "-passes=pgokit-use-heap,verify", f"-pgokit-use={profile}",
                 "-pgokit-use-cold-lifetime=0", "-pgokit-use-cold-density=100"]))
            calls += sum(n for (_, attribute, contexts), n in llvm.items()
                         if attribute or contexts)
            differ += llvm != ours
        return calls, differ

    def types(self, plain):
        """A sample profile; short suites are recorded for longer until a type is met."""
        profile, recorder = self.folder / "app.afdo", self.build / "recorder"
        for rounds in ROUNDS:
            with tempfile.TemporaryDirectory(prefix="pgokit-soak-") as kept:
                options = f"out={kept}/%e.%p:frequency=1000:real_time=1:loads=1"
                self.run(plain, "recorded", ROUNDS=rounds, PGOKIT_BRANCHES_OPTIONS=options,
                         LD_PRELOAD=str(recorder / "libpgokit_branches.so"))
                counts = [path for path in pathlib.Path(kept).iterdir() if path.suffix != ".part"]
                if json.loads(self.pgokit("gen", "-q", *counts, "-b", plain / self.program.binary,
                                          "--vtables", "--json", "-o", profile))["vtable_samples"]:
                    return profile
        raise SystemExit(f"{self.name}: no virtual call has been recorded")

    def used(self, profiles):
        """The folder of a build by profiles, and what of each it says it used."""
        records = self.folder / "records"
        config = [word for path in profiles for word in ("--profile", path)] + ["--report", records]
        verify = ["-fverify-intermediate-code"]
        for option in [VERIFY, *THRESHOLDS]:
            verify += ["-mllvm", option]
        folder = self.make("used", " ".join([self.config("use", "--cflags", *config), THIN,
                                             *verify]),
                           f"{THIN} {self.config('use', '--ldflags', *config)}")
        return folder, [json.loads(self.pgokit("match", "-q", path, "--used", records, "--json"))
                        for path in profiles]

    def hints_by_context(self, used, profile):
        """What became of the hints of a build: looked up in the profile that they are of."""
        binary = self.program.binary
        with tempfile.TemporaryDirectory(prefix="pgokit-soak-") as folder:
            library = hinted.make_library("clang-" + RELEASE, folder)
            kept = pathlib.Path(folder) / "kept"
            kept.mkdir()
            self.run(used, "used.recorded", ROUNDS="1", **hinted.environment(
                library, self.build / "runtime" / "libpgokit_heap.so", kept))
            recorded, binaries = pathlib.Path(folder) / "used.memprofdata", [used / binary, library]
            named = [word for path in binaries for word in ("-b", path)]
            self.pgokit("merge", "-q", *sorted(kept.iterdir()), *named, "-o", recorded)
            pgokit = self.build / "tools" / "pgokit"
            tree = hinted.profile_tree(pgokit, profile, self.folder / "counted" / binary,
                                       hinted.limits_of(THRESHOLDS))
            return hinted.compare(pgokit, tree, recorded, binaries)


def told(kind, report):
    weight = {"hints": "bytes", "types": "objects"}[kind]
    share = sum(row[weight] for row in report["outcomes"] if row["used"])
    return (f"{kind}: {report['calls']['given']} calls in compiles, {report['calls']['in_links']} "
            f"in links; {share:,} of {report['totals'][weight]:,} {weight}")


def tell_hints(found):
    """True: most are what the profile says."""
    contexts = found.contexts
    for (hint, verdict), n in sorted(contexts.items()):
        objects = found.objects[hint, verdict]
        print(f"  contexts with the hint {hint}, {verdict}: {n:,} of {objects:,} objects",
              flush=True)
    for (hint, verdict), stacks in sorted(found.examples.items()):
        for stack in stacks if verdict == "wrong" else []:
            print(f"    wrong, {hint}: {hinted.words(stack)}")
    for hint in ("cold", "hot"):
        size = sum(n for (is_class, _), n in found.bytes.items() if is_class == hint)
        print(f"  {hint}: {found.bytes[hint, hint]:,} of {size:,} bytes have the hint", flush=True)
    objects = found.objects
    wrong = sum(n for (_, verdict), n in objects.items() if verdict == "wrong")
    return 0 < sum(objects.values()) and wrong <= MOST_WRONG * sum(objects.values())


def try_program(builder):
    """True: every test passes as it does plain, and both profiles have been used."""
    plain = builder.make("plain", THIN, f"{THIN} -fuse-ld=lld")
    status, wanted = builder.run(plain, "plain")
    if not wanted:
        raise SystemExit(f"{builder.name}: no test passed; see {builder.folder}/plain.log")
    print(f"{builder.name}: {builder.program.suite.what}; {len(wanted)} tests pass plain",
          flush=True)
    heap = builder.heap_profile()
    calls, differ = builder.marks_differ(plain, heap)
    print(f"  marks: {calls} calls by LLVM's pass, {differ} modules with others by the plugin",
          flush=True)
    profiles = [heap, builder.types(plain)] if builder.program.types else [heap]
    folder, reports = builder.used(profiles)
    good = not differ and all(report["calls"]["given"] for report in reports)
    for kind, report in zip(("hints", "types"), reports):
        print("  " + told(kind, report), flush=True)
    for kind, env in {"no allocator": {}, "allocator": {
            "LD_PRELOAD": str(builder.build / "allocator" / "libpgokit_alloc.so")}}.items():
        ends = []

        def once(again, kind=kind, env=env, ends=ends):
            ended, found = builder.run(folder, f"used.{kind}.{again}", **env)
            ends.append(ended)
            return found, ended == status
        passed, again = suites.repeat(wanted, once)
        suites.report(kind, wanted, passed, again,
                      f"; exit status {ends[-1]}, plain {status}" if ends[-1] != status else "")
        good &= suites.none_lost(wanted, passed, "fails with profiles used") and ends[-1] == status
    return tell_hints(builder.hints_by_context(folder, heap)) and good


def add_options(parser):
    parser.add_argument("--only", action="append", choices=PROGRAMS, help="this program alone")


def soak(args):
    """True: every program that is built by profiles does what it does plain."""
    names = args.only or list(PROGRAMS)
    data = suites.fetch(PROGRAMS[name].suite.package for name in names)
    return all([try_program(Builder(name, data, args.build)) for name in names])
