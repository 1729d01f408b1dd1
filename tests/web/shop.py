"""Profiles to report on, recorded from programs/shop.cpp: before and after a regression, one with
histograms, and one whose function and file names try to be markup."""

import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent / "programs" / "shop.cpp"
EVIL_NAME = "</script><img src=x onerror=window.evil=1>"
FLAGS = ["-g", "-O1", "-fmemory-profile", "-fno-omit-frame-pointer", "-fdebug-prefix-map=.=.",
         "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls", "-Wl,--build-id"]
HISTOGRAM = ["-mllvm", "-memprof-histogram", "-mllvm", "-memprof-use-callbacks=true"]


def find_compiler():
    return shutil.which("clang++-22")


class Profile:
    """A program and the indexed profile of one run of it."""

    def __init__(self, pgokit, folder, name, *flags, source=SOURCE, arguments=()):
        self.binary, self.path = folder / name, folder / f"{name}.profdata"
        subprocess.run([find_compiler(), *FLAGS, *flags, source, "-o", self.binary], check=True,
                       cwd=folder)
        options = f"print_text=0:log_path={folder}/{name}.raw"
        subprocess.run([self.binary, *arguments], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL,
                       env={**os.environ, "MEMPROF_OPTIONS": options})
        [self.raw] = folder.glob(f"{name}.raw.*")
        subprocess.run([pgokit, "merge", "-q", self.raw, "-b", self.binary, "--full-schema", "-o",
                        self.path], check=True)


def evil_profile(pgokit, folder):
    """The path of the source, too, is a name from outside."""
    below = folder / "<"
    below.mkdir(exist_ok=True)
    source = below / "script><img src=x onerror=window.evil=1>.cpp"
    shutil.copy(SOURCE, source)
    return Profile(pgokit, folder, "evil", "-DEVIL_NAME", source=source)
