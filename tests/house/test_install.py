#!/usr/bin/env python3
"""What is installed works: the examples, with the shared and one of them with the static library.

usage: test_install.py BUILD-FOLDER SOURCE-FOLDER C-COMPILER...
"""

import configparser
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from private_view import run_in_view
from tap import Report


@dataclasses.dataclass
class Run:
    """Of an example. {out} is a file to write; {heap}, {counters}, {samples} are of others."""

    arguments: str
    prints: str = ""
    shown: str = ""  # a part of what pgokit show prints of {out}
    given: str = ""  # standard input
    status: int = 0


TWO_CONTEXTS = "golden/partial/two-contexts.pgk"
TEMPORAL = "golden/instr-indexed/llvm22-temporal.profdata"
EXAMPLES = {
    "build_counters": [Run("{out}", shown="draw")],
    "build_heap": [Run("{out}", shown="4.00 MiB")],
    "build_samples": [Run("{out}", shown="parse", given="main 4 120\nparse 1 80\nparse 2 15\n")],
    "compare_samples": [Run("golden/sample/llvm22-text.prof {samples}", " ->   0.0 %  main\n")],
    "compare_training": [Run("{counters} {counters}", "100.0 % of the counts agree\n"),
                         Run("golden/instr-indexed/llvm14-ir.profdata "
                             "golden/instr-indexed/llvm22-ir.profdata",
                             "other code: _Z4condiii\n")],
    "contexts_csv": [Run("{heap}", ',"make_bufm <- load <- main"\n')],
    "cost_of_function": [Run("{heap} load TotalSize", "load: TotalSize 4194304 B of 4194304\n"),
                         Run("{heap} store TotalSize", "store: TotalSize 0 B of 4194304\n")],
    "divergent_code": [Run("golden/instr-indexed/llvm23-uniform.profdata",
                           "helper: 1 of 2 parts\nkernel: 4 of 10 parts\n")],
    "drop_function": [Run("golden/sample/llvm22-text.prof inline1 {out}", shown="3,132"),
                      Run("golden/sample-gcc/gcc3-origins.afdo f {out} gcc16",
                          shown="version 3")],
    "first_calls": [Run(TEMPORAL, "trace 1, runs: 1\n  main\n  _Z5callsi\n")],
    "heap_growth": [Run("{heap} {heap} 5", "+0.0 % bytes"),
                    Run(f"{TWO_CONTEXTS} {{heap}} 5", "; 0 % of the bytes", status=1)],
    "heap_over_time": [Run("{heap}", "after 900 ms 4.00 MiB, 4.00 MiB of them by _Z9make_bufm\n")],
    "heaviest_context": [Run(TWO_CONTEXTS, " B\n"), Run("{heap}", "  load(char const*):7\n")],
    "hot_variables": [Run("golden/yaml/data_access.yaml",
                          "       100  noaccess\n       100  zz  (x:1\n"
                          "        20  literal 0000000000018a92\n")],
    "largest_growth": [Run("{history} heap web", " %  v2\nmost in v2: +")],
    "list_stale": [Run(f"{TWO_CONTEXTS} {{program}}", "main calls an allocator (100 B)\n"),
                   Run("{moved} {program}", "functions only: main line 9000 (7 samples)\n")],
    "make_samples": [Run("{counts} {program} {out}", "1 functions of ", shown="main")],
    "merge_counters": [Run("{out} golden/instr-text/llvm22-mcdc.proftext "
                           "golden/instr-text/llvm22-mcdc.proftext", " functions\n",
                           shown="functions")],
    "never_sampled": [Run("golden/sample/llvm22-symbols-partial.afdo", "alpha\nzeta\n")],
    "order_sections": [Run(TEMPORAL, ".text.main\n.text._Z5callsi\n.text._ZL3addii\n")],
    "recorded_process": [Run("golden/heap-raw/handmade-by-context.profraw", ": ./two 'x y', 2023"),
                         Run("../fuzz/corpus/branches/branches_and_loads",
                             ": an unknown program, at an unknown time on an unknown machine\n")],
    "rename_function": [Run("{heap} _Z4loadPKc _ZN2io4loadEPKc {out}",
                            shown="function 0xcd9d5afb6d80abe0")],
    "report_page": [Run(f"{TWO_CONTEXTS} {{out}}", "contexts")],
    "used_classes": [Run("{counters}", "        1000  vtable for Line\n")],
    "walk_samples": [Run("golden/counts/foo2.prof",
                         "foo2: 1204650 samples, entered by 1200\n")],
    "which_build": [Run("{counters}", "counted by the optimiser\n5e1c9a4077d208bf\n")],
}


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def plain(**more):
    """The environment of somebody who has set nothing up."""
    ours = ("PKG_CONFIG_PATH", "PKG_CONFIG_SYSROOT_DIR", "LD_LIBRARY_PATH", "PYTHONPATH",
            "PGOKIT_LIBRARY", "DESTDIR")
    return {name: value for name, value in os.environ.items() if name not in ours} | more


def run(*command, expect=0, **kw):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **kw)
    if done.returncode != expect:
        raise Failed(f"$ {' '.join(map(str, command))}\nexit code {done.returncode}\n"
                     f"{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Installed:
    def __init__(self, build, root):
        run("meson", "install", "-C", build, "--no-rebuild", "--destdir", root)
        self.root = root
        self.library_folder = next(root.rglob("libpgokit.a")).parent
        self.env = dict(os.environ, PKG_CONFIG_PATH=self.library_folder / "pkgconfig",
                        PKG_CONFIG_SYSROOT_DIR=root, LD_LIBRARY_PATH=self.library_folder)

    def pkg_config(self, *arguments):
        return run("pkg-config", *arguments, env=self.env).split()

    def private_libraries(self):
        """What libpgokit.a needs. Not --static, which wants static elfutils and theirs, too."""
        names = self.pkg_config("--print-requires-private", "pgokit")
        text = (self.library_folder / "pkgconfig" / "pgokit.pc").read_text(encoding="utf-8")
        return self.pkg_config("--libs", *names) + re.search(r"Libs.private:(.*)", text)[1].split()

    def pgokit(self, *arguments, **kw):
        return run(next(self.root.rglob("bin/pgokit")), *arguments, **kw)

    def compile(self, compiler, source, *more_flags):
        flags = self.pkg_config("--cflags", "--libs", "pgokit") + list(more_flags)
        program = self.root / "program"
        run(*compiler, "-g", "-Wall", "-Wextra", "-Werror", source, *flags, "-o", program)
        return program

    def count_main(self, program):
        """Counts by addresses, which begin at the page of the code: main was entered 100 times."""
        path = self.root / "counts"
        main = int(re.search(r"^(\w+) T main$", run("nm", program), re.MULTILINE)[1], 16)
        code = re.search(r"LOAD +\w+ 0x(\w+) .* R E ", run("readelf", "-lW", program))[1]
        at = main - int(code, 16) // 4096 * 4096
        path.write_text(f"1\n{at:x}-{at:x}:100\n0\n", encoding="utf-8")
        return path

    def compile_and_fail(self, compiler, source, *more_flags):
        program = self.compile(compiler, source, *more_flags)
        message = run(program, "no-such-profile", "no-such-binary", expect=1, env=self.env)
        if "no-such-profile" not in message:
            raise Failed(f"the message does not name the file: {message}")

    def made_by(self, compiler, example, given=""):
        """What an example writes, for others to read."""
        path = self.root / example.stem
        if not path.exists():
            run(self.compile(compiler, example), path, input=given, env=self.env)
        return path

    def history_of(self, heap):
        """A history in which the second profile has more bytes."""
        path = self.root / "history"
        small = pathlib.Path(__file__).parents[1] / TWO_CONTEXTS
        for day, profile in enumerate((small, heap), 1):
            self.pgokit("history", "add", path, profile, "--release", f"v{day}", "--host-class",
                        "web", "--time", f"2026-01-0{day}")
        return path

    def files_for(self, compiler, folder):
        moved = self.root / "moved"
        moved.write_text("main:107:1\n 1: 100\n 9000: 7\n", encoding="utf-8")
        heap = self.made_by(compiler, folder / "build_heap.c")
        return {"out": self.root / "written", "moved": moved, "heap": heap,
                "history": self.history_of(heap),
                "counters": self.made_by(compiler, folder / "build_counters.c"),
                "samples": self.made_by(compiler, folder / "build_samples.c", "parse 1 80\n")}

    def run_example(self, compiler, source):
        files = self.files_for(compiler, source.parent)
        program = self.compile(compiler, source)
        files.update(program=program, counts=self.count_main(program))
        for case in EXAMPLES[source.stem]:
            files["out"].unlink(missing_ok=True)
            said = run(program, *case.arguments.format(**files).split(), input=case.given,
                       env=self.env, cwd=source.parents[1] / "tests", expect=case.status)
            if case.prints not in said:
                raise Failed(f"it does not print {case.prints!r}: {said}")
            if "{out}" in case.arguments and not files["out"].stat().st_size:
                raise Failed("it has written nothing")
            if case.shown and case.shown not in self.pgokit("show", files["out"]):
                raise Failed(f"pgokit show does not print {case.shown!r} of its output")

    def run_pgokit(self):
        if not re.match(r"pgokit \d+\.\d+\.\d+$", self.pgokit("--version")):
            raise Failed("pgokit --version prints something else")

    def run_fleet(self):
        """It finds its module where that is installed."""
        fleet = next(self.root.rglob("bin/pgokit-fleet"))
        if "SOURCE" not in run("python3", fleet, "merge", "--help"):
            raise Failed("pgokit-fleet merge --help prints something else")

    def show_manual(self):
        """man(1) shows the installed page; without it or the page, the text of --help comes."""
        page = next(self.root.rglob("man1/pgokit-merge.1"), None)
        shown = self.pgokit("help", "merge", env=dict(os.environ, MANPAGER="cat", LC_ALL="C"))
        wanted = "pgokit-merge - adds up" if page and shutil.which("man") else "usage: pgokit merge"
        if wanted not in shown:
            raise Failed(f"it does not print {wanted!r}: {shown[:300]}")

    def find_completions(self):
        for name in ("bash-completion/completions/pgokit", "zsh/site-functions/_pgokit",
                     "fish/vendor_completions.d/pgokit.fish"):
            if not next(self.root.rglob(f"share/{name}"), None):
                raise Failed(f"there is no share/{name}")

    # ---- the module for Python ----

    def import_module(self, python, heap):
        """Where it is installed, Python looks, and it finds the library of its prefix."""
        module = next(self.root.rglob("pgokit/_library.py")).parent
        folder = module.parent
        code = "import pgokit, sys; print(pgokit.HeapProfile.read(sys.argv[1]).total())"
        said = run(python, "-c", code, heap, cwd="/", env=plain(PYTHONPATH=folder))
        if said != "184\n":
            raise Failed(f"it prints {said}")
        looked = run(python, "-c", "import sys; print(*sys.path, sep='\\n')", cwd="/", env=plain())
        inside = f"/{folder.relative_to(self.root)}"
        if inside.startswith("/usr/local/") and python == "/usr/bin/python3" and \
                inside not in looked.splitlines():
            raise Failed(f"{python} does not look in {inside}: {looked}")

    # ---- examples/build-systems/library ----

    def check_formats(self, program):
        if "raw heap profile\n" not in run(program, env=self.env):
            raise Failed(f"{program} does not list the formats")

    def copy_of(self, example, name):
        return shutil.copytree(example, self.root / name)

    def example_of_cmake(self, example):
        folder, prefix = self.copy_of(example, "by-cmake"), self.library_folder.parent
        run("cmake", "-S", folder, "-B", folder / "built", f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", folder / "built")
        self.check_formats(folder / "built/formats")

    def example_of_make(self, example):
        folder = self.copy_of(example, "by-make")
        run("make", "-C", folder, env=self.env)
        self.check_formats(folder / "formats")

    def example_of_meson(self, example):
        folder = self.copy_of(example, "by-meson")
        run("meson", "setup", folder / "built", folder, "--wrap-mode=nofallback", env=self.env)
        run("ninja", "-C", folder / "built", env=self.env)
        self.check_formats(folder / "built/formats")

    def wrap_of_meson(self, example, source):
        """Where the library is not installed, the wrap file's release is; it is only set up. Its
        file for pkg-config, with the prefix of the library that is installed, serves for rpath."""
        folder = self.copy_of(example, "by-wrap")
        wrap = configparser.ConfigParser()
        wrap.read(folder / "subprojects/pgokit.wrap")
        (folder / "subprojects" / wrap["wrap-file"]["directory"]).symlink_to(source)
        said = run("meson", "setup", folder / "built", folder, "--wrap-mode=forcefallback",
                   "-Dpgokit:tests=disabled", "-Dpgokit:plugins=disabled", "-Dpgokit:man=disabled",
                   "-Dpgokit:rpath=true")
        targets = run("ninja", "-C", folder / "built", "-t", "targets", "all")
        if "formats:" not in targets or "libpgokit.so" not in targets:
            raise Failed(f"the library is not built with the program: {said}")
        flags = run("pkg-config", f"--define-variable=prefix={self.library_folder.parent}",
                    f"--define-variable=libdir={self.library_folder}", "--cflags", "--libs",
                    "pgokit", env=plain(PKG_CONFIG_PATH=folder / "built/meson-private")).split()
        run("cc", example / "formats.c", *flags, "-o", folder / "formats")
        if "raw heap profile\n" not in run(folder / "formats", env=plain()):
            raise Failed("with -Drpath=true a program does not find the library")

    def example_of_bazel(self, example):
        """Loads the rules. Building needs those of C, which bazel fetches from the network."""
        folder = self.copy_of(example, "by-bazel")
        place = folder / "WORKSPACE"
        place.write_text(place.read_text(encoding="utf-8").replace(
            '"/usr"', f'"{self.library_folder.parent}"'), encoding="utf-8")
        found = run("bazel", "--batch", f"--output_user_root={self.root / 'bazel'}", "query",
                    "--output=label_kind", "//... + @pgokit//...", cwd=folder)
        for rule in ("cc_binary rule //:formats", "cc_library rule @pgokit//:pgokit"):
            if rule not in found:
                raise Failed(f"no {rule}: {found}")

    def run_names(self):
        links = sorted(next(self.root.rglob("libexec")).glob("pgokit/*"))
        names = {line.split()[0] for line in self.pgokit("compat").splitlines()}
        if {link.name for link in links} != names:
            raise Failed(f"links of {links}, but names {names}")
        for link in links:
            if f", as {link.name}\n" not in run(link, "--version"):
                raise Failed(f"{link} is not pgokit under another name")


def option_of(build, name):
    options = json.loads(run("meson", "introspect", build, "--buildoptions"))
    return next(o["value"] for o in options if o["name"] == name)


def install_for_all(build, source, python, compiler):
    """As `make install` by root does, on a system that is left as it was."""
    prefix = option_of(build, "prefix")
    if prefix != "/usr/local":
        raise Skipped(f"the prefix is {prefix}")
    install = 'meson install -C "$0" --no-rebuild --quiet && exec "$1"'
    done, reason = run_in_view("sh", "-c", install, pathlib.Path(build).resolve(),
                               source / "scripts/try-installed",
                               env=plain(PYTHON=python or "", CC=" ".join(compiler)))
    if not done:
        raise Skipped(reason)
    if done.returncode or "installed: the command, the library" not in done.stdout:
        raise Failed(done.stdout + done.stderr)


def main():
    build, source, *compiler = sys.argv[1:]
    examples = sorted(pathlib.Path(source).glob("examples/*.c"))
    report = Report()

    def case(name, function, *args):
        try:
            result = function(*args)
        except Skipped as reason:
            report.skip(name, reason)
            return None
        except (Failed, KeyError, OSError, StopIteration) as failure:
            report.case(name, [failure or "a file is missing"])
            return None
        report.case(name, [])
        return result

    with tempfile.TemporaryDirectory() as folder:
        installed = case("it installs", Installed, build, pathlib.Path(folder))
        if installed:
            case("pgokit runs", installed.run_pgokit)
            case("pgokit-fleet runs", installed.run_fleet)
            case("pgokit help shows a manual page", installed.show_manual)
            case("shells find their completion", installed.find_completions)
            heap = pathlib.Path(source).resolve() / "tests" / TWO_CONTEXTS
            python = os.environ.get("PGOKIT_PYTHON")
            if python:
                case("Python imports the module", installed.import_module, python, heap)
            else:
                report.skip("Python imports the module", "missing python3-cffi")
            library = pathlib.Path(source).resolve() / "examples/build-systems/library"
            for tool, function in (("make", installed.example_of_make),
                                   ("cmake", installed.example_of_cmake),
                                   ("meson", installed.example_of_meson),
                                   ("bazel", installed.example_of_bazel)):
                name = f"the example of {tool}"
                if shutil.which(tool):
                    case(name, function, library)
                else:
                    report.skip(name, f"no {tool}" if tool == "bazel" else f"missing {tool}")
            case("the wrap file of Meson", installed.wrap_of_meson, library,
                 pathlib.Path(source).resolve())
            if option_of(build, "compat"):
                case("names of other tools", installed.run_names)
            for example in examples:
                case(f"{example.name} with the shared library", installed.run_example, compiler,
                     example)
            case("installed for all, nothing need be set", install_for_all, build,
                 pathlib.Path(source).resolve(), python, compiler)
            case("a program says what is wrong", installed.compile_and_fail, compiler,
                 examples[0].with_name("heaviest_context.c"))
            for shared in installed.library_folder.glob("libpgokit.so*"):
                shared.unlink()
            case("a program with the static library", installed.compile_and_fail, compiler,
                 examples[0].with_name("heaviest_context.c"), *installed.private_libraries())
    report.end()


main()
