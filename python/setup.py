"""Makes the wheel, of the tree (scripts/wheel): pgokit/_cffi.py comes from the C headers."""

import pathlib
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent


class BuildWithDeclarations(build_py):
    def run(self):
        super().run()
        subprocess.run([sys.executable, HERE / "make_cffi.py", HERE.parent / "include",
                        pathlib.Path(self.build_lib, "pgokit", "_cffi.py")], check=True)


setup(cmdclass={"build_py": BuildWithDeclarations})
