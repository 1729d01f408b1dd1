#!/usr/bin/env python3
"""What is installed works: an example program, with the shared and with the static library.

usage: test_install.py BUILD-FOLDER SOURCE C-COMPILER...
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from tap import Report


class Failed(Exception):
    pass


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

    def compile_and_run(self, compiler, source, *more_flags):
        flags = self.pkg_config("--cflags", "--libs", "pgokit") + list(more_flags)
        program = self.root / "program"
        run(*compiler, "-Wall", "-Wextra", "-Werror", source, *flags, "-o", program)
        message = run(program, "no-such-profile", "no-such-binary", expect=1, env=self.env)
        if "no-such-profile" not in message:
            raise Failed(f"the message does not name the file: {message}")

    def run_pgokit(self):
        program = next(self.root.rglob("bin/pgokit"))
        if not re.match(r"pgokit \d+\.\d+\.\d+$", run(program, "--version")):
            raise Failed("pgokit --version prints something else")


def main():
    build, source, *compiler = sys.argv[1:]
    report = Report()

    def case(name, function, *args):
        try:
            result = function(*args)
        except (Failed, StopIteration) as failure:
            report.case(name, [failure or "a file is missing"])
            return None
        report.case(name, [])
        return result

    with tempfile.TemporaryDirectory() as folder:
        installed = case("it installs", Installed, build, pathlib.Path(folder))
        if installed:
            case("pgokit runs", installed.run_pgokit)
            case("a program with the shared library", installed.compile_and_run, compiler, source)
            for shared in installed.library_folder.glob("libpgokit.so*"):
                shared.unlink()
            case("a program with the static library", installed.compile_and_run, compiler, source,
                 *installed.private_libraries())
    report.end()


main()
