"""What the heap matrix asks about, made once for all its rows: programs in each way of building
them, recordings by each runtime, the profiles that pgokit and each release of LLVM make of them,
and what each release prints of these.
"""

import collections
import concurrent.futures
import glob
import hashlib
import os
import re
import threading

import profiles
from heap_releases import RELEASES, use_options
from peers import FRAME_POINTERS, Skip, Variant, Work, beside, good, read, require, run, tool

LLD_22 = "-fuse-ld=/usr/bin/ld.lld-22"
MODES = {"PIE": ("-O2", "-pie", "-fpie"), "no PIE": ("-O2", "-no-pie")}
PIE = {release: Variant(release, *MODES["PIE"]) for release in RELEASES}
NO_PIE = {release: Variant(release, *MODES["no PIE"]) for release in RELEASES}
HISTOGRAM_22 = Variant(22, "-O2", "-no-pie", histogram=True)
HISTOGRAM_19 = Variant(19, "-O2", "-pie", "-fpie", histogram=True)
NO_COLUMNS = Variant(22, "-O3", "-pie", "-fpie", "-gno-column-info", "-fdebug-types-section", "-gz")
WITH_LLD = Variant(22, "-O2", "-pie", "-fpie", "-gdwarf-5", LLD_22)
BUILDS = [
    Variant(19, "-O0", "-no-pie", "-gdwarf-5"),
    PIE[19],
    Variant(19, "-O2", "-no-pie", "-gdwarf-4", "-fuse-ld=lld"),
    Variant(19, "-O1", "-pie", "-fpie", "-gno-column-info"),
    HISTOGRAM_19,
    Variant(22, "-O0", "-pie", "-fpie", "-gdwarf-5"),
    WITH_LLD,
    Variant(22, "-O2", "-no-pie", "-gdwarf-4", "-fuse-ld=mold", "-funique-internal-linkage-names"),
    NO_COLUMNS,
    Variant(22, "-O2", "-no-pie", "-gsplit-dwarf", "-fuse-ld=gold"),
    Variant(22, "-O2", "-pie", "-fpie", "-gline-tables-only", "-fdebug-info-for-profiling"),
    HISTOGRAM_22,
]
MODULES = "modules.cpp module_library.cpp module_plugin.cpp"
# Our runtime, in programs of a release of clang.
OWN = {"pgokit": 22, "pgokit with clang-23": 23}
RECORDED = "lifetimes.cpp"
ANNOTATION = re.compile(r'!memprof|!callsite|"memprof"=')


class Made(collections.namedtuple("Made", "memprof index full")):
    """An indexed profile by its versions and schema."""

    @property
    def options(self):
        return ("--memprof-version", str(self.memprof), "--index-version", str(self.index),
                *(["--full-schema"] if self.full else []))

    @property
    def schema(self):
        return "full" if self.full else "hot/cold"


Recording = collections.namedtuple("Recording", "exe raw version")


def binaries(*paths):
    return [word for path in paths for word in ("-b", path)]


def same(what, expected, got, fields=profiles.COMPARED, histogram=False):
    difference = profiles.first_difference(expected, got, fields, histogram)
    require(not difference, f"{what}: {difference}")


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", good(tool("readelf"), "-n", path))[1]


def digest(path):
    return hashlib.sha256(read(path)).digest()


class Fixtures(Work):
    """The work folder of the matrix, with what is made once. What `once` gives is shared by rows
    that run at the same time: they read it, and change copies."""

    def __init__(self, pgokit, folder):
        super().__init__(pgokit, folder)
        self.lock, self.known, self.numbers = threading.Lock(), {}, 0
        self.made_in = self.temp("made")

    def once(self, key, make):
        """What `make` returns or raises, for the first row that asks and all others."""
        with self.lock:
            future = self.known.get(key)
            first = future is None
            if first:
                future = self.known[key] = concurrent.futures.Future()
        if first:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
        return future.result()

    def new_path(self):
        with self.lock:
            self.numbers += 1
            return f"{self.made_in}/{self.numbers}"

    # ---- programs ----

    def build(self, source, variant, more=(), record=True):
        return self.once(("build", source, variant, tuple(more), record), lambda: super(
            Fixtures, self).build(source, variant, more, record))

    def one_module(self, variant):
        return self.build(MODULES, variant, more=("-DONE_MODULE",))

    def by_hand(self, label, release, flags, *sources, runs=True):
        """A program of clang with these flags alone: its path and, if it runs, its profile."""
        def make():
            folder = self.temp(label)
            compiler = tool("clang++" if sources[0].endswith(".cpp") else "clang", release)
            good(compiler, "-g", "-fmemory-profile", "-Wl,--build-id", *flags,
                 *(os.path.join(self.programs, source) for source in sources), "-o",
                 f"{folder}/prog", cwd=folder)
            if not runs:
                return f"{folder}/prog", None
            good(*beside(compiler), f"{folder}/prog",
                 env={"MEMPROF_OPTIONS": f"print_text=0:log_path={folder}/raw"})
            raw, = glob.glob(f"{folder}/raw.*")
            return f"{folder}/prog", raw
        return self.once(("by hand", release, flags, sources), make)

    def recording(self, writer, mode):
        """Of the same source by a release's runtime, or by ours."""
        if writer in OWN:
            return self.once(("own", writer, mode), lambda: self.own_runtime(OWN[writer], mode))
        program = self.build(RECORDED, (PIE if mode == "PIE" else NO_PIE)[writer])
        return Recording(program.exe, program.raw,
                         int.from_bytes(read(program.raw)[8:16], "little"))

    def own_runtime(self, release, mode):
        archive = os.environ.get("PGOKIT_HEAP_ARCHIVE", "")
        if not os.path.exists(archive):
            raise Skip("the heap profiler runtime is not built here")
        folder = self.temp("own")
        flags = ["-g", *FRAME_POINTERS, *MODES[mode]]
        compiler = tool("clang++", release)
        good(compiler, *flags, "-fmemory-profile", "-c", f"{self.programs}/{RECORDED}", "-o",
             f"{folder}/prog.o")
        good(compiler, f"{folder}/prog.o", "-o", f"{folder}/prog", *flags, archive, "-pthread",
             "-Wl,--build-id")
        good(*beside(compiler), f"{folder}/prog", cwd=folder,
             env={"MEMPROF_OPTIONS": f"log_path={folder}/own",
                  "PGOKIT_HEAP_OPTIONS": f"log_path={folder}/own"})
        files = [f for f in glob.glob(f"{folder}/*")
                 if os.path.basename(f).startswith(("own", "memprof.profraw"))]
        require(len(files) == 1, f"recorded {files}")
        return Recording(f"{folder}/prog", files[0],
                         int.from_bytes(read(files[0])[8:16], "little"))

    # ---- profiles ----

    def merge(self, out, inputs, with_binaries, *options):
        good(self.pgokit, "merge", *inputs, *binaries(*with_binaries), "-o", out, *options)
        return read(out)

    def merged(self, raw, exe, *options):
        """The path of the indexed profile of one raw profile."""
        def make():
            out = self.new_path()
            self.merge(out, [raw], [exe], *options)
            return out
        return self.once(("merged", raw, exe, options), make)

    def convert(self, source, out, *options, exe=None, lossless=False):
        """Converts; what is lost is on standard error, with exit status 1."""
        result = run(self.pgokit, "convert", source, *(binaries(exe) if exe else []), "-o", out,
                     *options)
        require(result.code in ((0,) if lossless else (0, 1)), str(result))
        require((result.code == 1) == ("lost: " in result.errors), str(result))
        return result.errors

    def converted(self, recording, *options):
        def make():
            out = self.new_path()
            self.convert(recording.raw, out, *options, exe=recording.exe)
            return out
        return self.once(("converted", recording, options), make)

    def made_by_llvm(self, release, raw, exe, *options):
        def make():
            out = self.new_path()
            good(tool("llvm-profdata", release), "merge", raw, f"--profiled-binary={exe}", "-o",
                 out, *options)
            return out
        return self.once(("made by llvm", release, raw, exe, options), make)

    # ---- what they say ----

    def show(self, path, *with_binaries, options=()):
        return profiles.parse_json(good(self.pgokit, "show", path, "--json", *options,
                                        *binaries(*with_binaries)))

    def shown(self, path, *with_binaries):
        """Of a file that nobody writes again."""
        return self.once(("shown", path, with_binaries), lambda: self.show(path, *with_binaries))

    def llvm_shows(self, release, raw, exe):
        """Records of a raw profile. llvm-profdata crashes on several dumps with histograms."""
        return self.once(("llvm shows", release, digest(raw), exe), lambda: profiles.parse_show(
            good(tool("llvm-profdata", release), "show", "--memory", raw, "--profiled-binary",
                 exe)))

    def llvm_prints(self, release, path):
        """Records of an indexed profile, which any row may have made with the same bytes."""
        return self.once(("llvm prints", release, digest(path)), lambda: good(
            tool("llvm-profdata", release), "show", "--memory", path))

    def llvm_reads(self, release, path):
        return self.once(("llvm reads", release, digest(path)), lambda: profiles.parse_yaml(
            self.llvm_prints(release, path)))

    def llvm_takes(self, release, path):
        """The result of asking a release for what is in an indexed profile."""
        return self.once(("llvm takes", release, digest(path)), lambda: run(
            tool("llvm-profdata", release), "show", path))

    # ---- compilers ----

    def bitcode(self, release, source):
        """A source before any pass: reading it again takes a quarter of what compiling takes."""
        def make():
            out = self.new_path() + ".bc"
            good(tool("clang++" if source.endswith(".cpp") else "clang", release), "-O2", "-g",
                 "-fno-optimize-sibling-calls", "-c", "-emit-llvm", "-Xclang",
                 "-disable-llvm-passes", f"{self.programs}/{source}", "-o", out)
            return out
        return self.once(("bitcode", release, source), make)

    def annotated(self, release, source, profile):
        """What the compiler makes of it by a profile."""
        def make():
            plain, out = self.bitcode(release, source), self.new_path()
            good(tool("clang++", release), "-O2", "-g", "-fno-optimize-sibling-calls", "-S",
                 "-emit-llvm", "-Wno-backend-plugin", "-Wno-profile-instr-unprofiled",
                 *use_options(release, profile), plain, "-o", out)
            return read(out).decode()
        return self.once(("annotated", release, source, digest(profile)), make)
