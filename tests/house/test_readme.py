#!/usr/bin/env python3
"""README.md says what the program says.

usage: test_readme.py [--write] README PGOKIT

With --write, puts the table of formats into README.
"""

import re
import subprocess
import sys

from tap import Report

TABLE = re.compile(r"(<!-- formats -->\n)(.*?)(<!-- /formats -->)", re.DOTALL)
SCREEN = re.compile(r"<!-- screen -->\n(.*?)<!-- /screen -->", re.DOTALL)


def main():
    write = "--write" in sys.argv
    readme, pgokit = [arg for arg in sys.argv[1:] if arg != "--write"]
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    expected = subprocess.run([pgokit, "formats", "--markdown"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    if write:
        text = TABLE.sub(lambda match: match[1] + expected + match[3], text)
        with open(readme, "w", encoding="utf-8") as file:
            file.write(text)

    report = Report()
    table, screen = TABLE.search(text), SCREEN.search(text)
    report.case("the table of formats is what `pgokit formats --markdown` prints",
                [] if table and table[2] == expected else ["README.md should have:", expected])
    report.case("there is a screen of `pgokit show`",
                [] if screen and "pgokit show" in screen[1] else ["nothing between the markers"])
    report.end()


main()
