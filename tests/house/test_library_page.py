#!/usr/bin/env python3
"""docs/library.md links to all examples, and shows some of them as they are.

usage: test_library_page.py SOURCE-FOLDER
"""

import pathlib
import re
import sys

from tap import Report

SHOWN = re.compile(r"^\[examples/(\w+\.c)\]\(\.\./examples/\1\):\n\n```c\n(.*?)^```$",
                   re.MULTILINE | re.DOTALL)


def main():
    source = pathlib.Path(sys.argv[1])
    page = (source / "docs/library.md").read_text(encoding="utf-8")
    shown = dict(SHOWN.findall(page))
    report = Report()
    examples = sorted(path.name for path in (source / "examples").glob("*.c"))
    report.case("every example is on the page",
                [name for name in examples if f"[{name}](../examples/{name})" not in page])
    report.case("every piece of C on the page is an example",
                [] if page.count("```c\n") == len(shown) else ["a piece without its file"])
    for name, text in sorted(shown.items()):
        path = source / "examples" / name
        same = path.exists() and path.read_text(encoding="utf-8") == text
        report.case(f"{name} is shown as it is", [] if same else [f"{path} reads otherwise"])
    report.end()


main()
