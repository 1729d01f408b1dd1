#!/usr/bin/env python3
"""The wheel is made without a network, and works by itself.

usage: python_wheel.py PGOKIT LIBRARY SOURCE-FOLDER BUILD-FOLDER
"""

import os
import pathlib
import subprocess
import sys
import zipfile

from python_harness import GOLDEN, SOURCE, Cases, Skip, require, run


def interpreter():
    """The first python3 may be one that Debian's modules are not for."""
    for python in (sys.executable, "/usr/bin/python3"):
        needs = [python, "-c", "import build, cffi, setuptools, wheel"]
        if os.path.exists(python) and not subprocess.run(needs, check=False, cwd="/",
                                                         stderr=subprocess.DEVNULL).returncode:
            return python
    raise Skip("missing python3-build, python3-wheel, python3-setuptools or python3-cffi")


def wheel_works(folder):
    python = interpreter()
    # PYTHONPATH leads to the module in the build folder, which is not to be found here.
    run([str(SOURCE / "scripts/wheel"), folder], folder, env={"PYTHONPATH": "", "PYTHON": python})
    wheel = next(pathlib.Path(folder).glob("*.whl"))
    require(wheel.name.endswith("-py3-none-any.whl"), wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(os.path.join(folder, "site"))
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA")))
    require(b"Requires-Dist: cffi" in metadata and b"Name: pgokit" in metadata, f"{metadata!r}")
    for name in ("py.typed", "_cffi.py", "_cffi.pyi", "__init__.py"):
        require(f"pgokit/{name}" in names, f"{name} is not in {names}")
    code = ("import pgokit, sys; "
            "print(pgokit.__file__, pgokit.HeapProfile.read(sys.argv[1]).total())")
    site = os.path.join(folder, "site")
    done = run([python, "-c", code, str(GOLDEN / "partial/two-contexts.pgk")], folder,
               env={"PYTHONPATH": site})
    require(done.stdout == f"{site}/pgokit/__init__.py 184\n", done.stdout)
    left = [path for path in (SOURCE / "python").rglob("*") if path.suffix == ".egg-info"]
    require(not left, f"making it leaves {left} in the tree")


def main():
    cases = Cases()
    cases.run("it is made, and reads a profile", wheel_works)
    cases.finish()


main()
