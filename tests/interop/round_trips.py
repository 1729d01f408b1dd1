"""What each target holds: each golden file is converted to each target, and back to a form that
holds all of its kind; the JSON of both ends is compared. What differs is in docs/targets.md, and
convert says so when it writes the target. --write brings the page up to date."""

import concurrent.futures
import os
import re
import sys

from peers import JOBS, good, main, require, run
from silent_losses import KINDS, first_difference, inputs, places, shown

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "docs", "targets.md")
# The command that writes a form that holds all of its kind.
BACK = {
    "counters": ("convert", "--to", "llvm23"),
    "heap": ("merge", "--partial"),
    "samples": ("convert", "--to", "extbinary", "--vtables"),
}
# Sums of what is below them.
SUMS = ("totals", "summary", "records", "advice")


def differing(a, b, place=""):
    """Names of the fields in which two values differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted({*a, *b} - set(SUMS)):
            yield from differing(a.get(key), b.get(key), f"{place}.{key}" if place else key)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for x, y in zip(a, b):
            yield from differing(x, y, place)
    elif a != b:
        yield place


def lost_fields(kind, before, after):
    if kind != "heap":
        return set(differing(before, after))
    here, there = places(before), places(after)
    lost = {field for place in here.keys() & there.keys()
            for field in differing(here[place], there[place])}
    if here.keys() != there.keys():
        lost.add("stacks of contexts")
    rest = [{key: value for key, value in what.items() if key != "contexts"}
            for what in (before, after)]
    lost |= set(differing(*rest))
    return lost


class Row:
    """Of a target: how many files come back whole, with losses, are refused; and in how many files
    each field is lost."""

    def __init__(self):
        self.whole, self.lossy, self.refused, self.fields = 0, 0, 0, {}

    def cells(self):
        fields = ", ".join(f"`{name}` {n}" for name, n in sorted(self.fields.items()))
        return f"{self.whole} | {self.lossy} | {self.refused} | {fields or 'nothing'} |"


def add_file(work, kind, target, path, row):
    folder = work.temp("trip")
    out, back = f"{folder}/out", f"{folder}/back"
    result = run(work.pgokit, "convert", path, "--to", *target.split(), "-q", "-o", out)
    if result.code == 2:
        require(" found " in result.errors or "ive " in result.errors, str(result))
        row.refused += 1
        return
    verb, *options = BACK[kind]
    returned = run(work.pgokit, verb, out, *options, "-q", "-o", back)
    require(returned.code in (0, 1), f"{target} is not read back:\n{returned}")
    before, after = shown(work, path), shown(work, back)
    lost = lost_fields(kind, before, after)
    said = "warning" in result.errors or "warning" in returned.errors
    require(not lost or said, f"{result}\n{returned}\nlost without a line: {sorted(lost)}\n"
                              f"{first_difference(before, after)}")
    if lost:
        row.lossy += 1
    else:
        row.whole += 1
    for field in lost:
        row.fields[field] = row.fields.get(field, 0) + 1


def make_row(work, kind, target):
    row = Row()
    for path in inputs(work, kind):
        add_file(work, kind, target, path, row)
    return row


def line_of(target, row):
    return f"| `{target}` | {row.cells()}"


def compare(work, kind, target, lines):
    line = line_of(target, make_row(work, kind, target))
    require(line in lines[kind], f"docs/targets.md does not have\n{line}\n"
                                 "--write brings it up to date")
    return line


def read_lines():
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    return {kind: re.search(rf"<!-- {kind} -->\n(.*?)<!-- /{kind} -->", text, re.S)[1].split("\n")
            for kind in KINDS}


def no_other_rows(lines):
    for kind, (_, targets) in KINDS.items():
        rows = [line for line in lines[kind] if line.startswith("| `")]
        require(len(rows) == len(targets), f"{kind}: {len(rows)} rows for {len(targets)} targets")


def add_cases(work, tap):
    lines = read_lines()
    tap.add("each row of docs/targets.md is of a target", no_other_rows, lines)
    for kind, (_, targets) in KINDS.items():
        for target in targets:
            tap.add(f"{kind} to {target} and back", compare, work, kind, target, lines)


def write_page(work, _tap):
    good(work.pgokit, "--version")
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    for kind, (_, targets) in KINDS.items():
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            rows = list(pool.map(lambda t, k=kind: make_row(work, k, t), targets))
        table = ["| target | whole | with losses | refused | fields that differ, in files |",
                 "|---|---|---|---|---|",
                 *(line_of(target, row) for target, row in zip(targets, rows))]
        text = re.sub(rf"(<!-- {kind} -->\n).*?(<!-- /{kind} -->)",
                      lambda m, t=table: m[1] + "\n".join(t) + "\n" + m[2], text, flags=re.S)
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    if "--write" in sys.argv:
        sys.argv.remove("--write")
        main(write_page)
        sys.exit(0)
    sys.exit(main(add_cases))
