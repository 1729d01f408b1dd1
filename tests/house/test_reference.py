#!/usr/bin/env python3
"""Doxygen makes a reference of the public headers without a warning: nothing is undocumented.

usage: test_reference.py SOURCE-FOLDER
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tap import Report


def undocumented_enumerators(folder):
    """Of which Doxygen does not warn."""
    for page in sorted(pathlib.Path(folder).rglob("*_8h.xml")):
        for value in xml.etree.ElementTree.parse(page).iter("enumvalue"):
            texts = (value.find("briefdescription"), value.find("detaileddescription"))
            if not "".join("".join(text.itertext()) for text in texts).strip():
                yield f"{value.find('name').text} has no comment"


def main():
    source = pathlib.Path(sys.argv[1])
    name = "every member of the public headers is documented"
    report = Report()
    if not shutil.which("doxygen"):
        report.skip(name, "missing doxygen")
        report.end()
        return
    config = (source / "docs/Doxyfile").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["doxygen", "-"], cwd=source, text=True, capture_output=True,
                              check=False, input=f"{config}\nOUTPUT_DIRECTORY = {folder}\n")
        problems = [line.removeprefix(f"{source}/")
                    for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        if done.returncode or not list(pathlib.Path(folder).rglob("index.html")):
            problems.append(f"doxygen wrote no pages, exit code {done.returncode}")
        problems += undocumented_enumerators(folder)
    report.case(name, problems)
    report.end()


main()
