"""A target that programs are compiled for and emulated, as scripts/cross brings it."""

import contextlib
import os
import shutil
import subprocess

from harness import Failure, Skip

TREE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# Not below XDG_CACHE_HOME, which the tests set to a folder that does not exist.
BROUGHT = os.environ.get("PGOKIT_CROSS") or os.path.expanduser("~/.cache/pgokit/cross")
MACHINE_OF_ELF = slice(18, 20)
AARCH64 = b"\xb7\0"


class Aarch64:
    """Little-endian AArch64 with the libraries of Debian for arm64. Compilers are scripts in a
    folder that give the real ones their options."""

    def __init__(self, folder):
        self.root = os.path.join(BROUGHT, "aarch64")
        self.cross_file = os.path.join(BROUGHT, "aarch64.ini")
        self.emulator = [os.path.join(BROUGHT, "bin", "qemu-aarch64")]
        self.folder = folder
        for path in (self.root, self.cross_file, self.emulator[0]):
            if not os.path.exists(path):
                raise Skip(f"no {path}: scripts/cross brings it")
        if not shutil.which("aarch64-linux-gnu-gcc"):
            raise Skip("missing aarch64-linux-gnu-gcc")

    def started(self, argv):
        try:
            with open(argv[0], "rb") as file:
                ours = file.read(20)[MACHINE_OF_ELF] == AARCH64
        except OSError:
            ours = False
        return [*self.emulator, "-L", self.root, *argv] if ours else argv

    @contextlib.contextmanager
    def kernel(self, bits, page):
        """As on a kernel with addresses of so many bits and pages of so many bytes. Only an older
        emulator knows pages of other sizes than this machine's, and that one is slow with what is
        reserved in larger spaces of addresses."""
        emulator = self.emulator[0] + ("-pages" if page != 4096 else "")
        if not os.path.exists(emulator):
            raise Skip(f"no {emulator}: scripts/cross brings it")
        before = self.emulator
        self.emulator = [emulator, "-R", hex(1 << bits),
                         *(["-p", str(page)] if page != 4096 else [])]
        try:
            yield
        finally:
            self.emulator = before

    def compiler(self, name):
        """A command that compiles for the target, or None if the name is of no compiler."""
        kind = name.split("-")[0]
        if kind not in ("gcc", "g++", "clang", "clang++"):
            return None
        if kind in ("gcc", "g++"):
            real, options = shutil.which(f"aarch64-linux-gnu-{kind}"), ""
        else:
            real = shutil.which(name)
            options = "--target=aarch64-linux-gnu -fuse-ld=lld -Wno-unused-command-line-argument "
        if not real:
            raise Skip(f"missing {name} or what it takes to compile for AArch64")
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec {real} {options}--sysroot={self.root} "$@"\n')
            os.chmod(path, 0o755)
        return path

    def build(self, *targets):
        """The folder of a cross build of the tree with these targets."""
        build = os.path.join(self.folder, "build")
        for command in ([shutil.which("meson"), "setup", build, TREE, "--cross-file",
                         self.cross_file, "--buildtype=release", "-Dwerror=true",
                         "-Dtests=disabled", "-Dplugins=disabled", "-Dman=disabled"],
                        [shutil.which("ninja"), "-C", build, *targets]):
            result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                    text=True, check=False)
            if result.returncode:
                raise Failure(f"$ {' '.join(command)}\n{result.stdout[-4000:]}{result.stderr}")
        return build
