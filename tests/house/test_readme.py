#!/usr/bin/env python3
"""README.md, docs/formats and the manual pages say what the program says, and what it takes.

usage: test_readme.py [--write] README PGOKIT

With --write, puts the table of formats into docs/formats/README.md, that of other tools into
docs/compat.md, and the tables of options into docs/man.
"""

import pathlib
import re
import subprocess
import sys

from tap import Report

TABLE = re.compile(r"(<!-- formats -->\n)(.*?)(<!-- /formats -->)", re.DOTALL)
NAMES = re.compile(r"(<!-- names -->\n)(.*?)(<!-- /names -->)", re.DOTALL)
# A table of options stands on one page; pages of other verbs that have these options link to it.
OPTIONS = re.compile(r"(<!-- options ([\w ]+) -->\n)(.*?)(<!-- /options -->)", re.DOTALL)
SCREEN = re.compile(r"<!-- screen -->\n(.*?)<!-- /screen -->", re.DOTALL)
VERB = re.compile(r"^  ([\w-]+) {2,}", re.MULTILINE)
MOST_LINES = 150  # of README.md, which is read before anything else
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
# Options that a row of the help explains: "  -o, --output FILE", "  --cold-only, --hot-only".
ROW = re.compile(r"^ +(?:-\w, )?((?:--[a-z][a-z0-9-]+(?:[ =][A-Z@:\[\].]+)*(?:, )?)+)",
                 re.MULTILINE)
COMMON_OPTIONS = {"--binary", "--color", "--debug-binary", "--debug-dir", "--dwp", "--help",
                  "--jobs", "--no-cache", "--no-debuginfod", "--no-pager", "--quiet", "--sysroot"}


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def offered(pgokit, *words):
    return [line.split("\t")[0] for line in output(pgokit, "complete", "--", *words).splitlines()]


def options_taken(pgokit, verb):
    """Those of the tables that command lines are parsed by, as shells are told of them."""
    kinds = offered(pgokit, verb, "") if verb in ("record", "history") else []
    return {word for words in [[verb, kind] for kind in kinds] or [[verb]]
            for word in offered(pgokit, *words, "-") if word.startswith("--")}


def wrong_options(pgokit, verb, page, places):
    """Options that the verb takes and one of help and page does not tell of, and the reverse."""
    taken, text = options_taken(pgokit, verb), output(pgokit, verb, "--help")
    rows = {name for row in ROW.findall(text) for name in OPTION.findall(row)}
    told = {"the help": set(OPTION.findall(text)),
            page.name: set(OPTION.findall(linked_text(page, option_tables(pgokit, verb), places)))
            | COMMON_OPTIONS}
    return sorted(f"{verb} takes {name}, which {place} does not tell of"
                  for place, names in told.items() for name in taken - names) + \
        sorted(f"the help explains {name}, which {verb} does not take" for name in rows - taken)


def option_tables(pgokit, *verb):
    """The text of each table by its key."""
    return {match[2]: match[3]
            for match in OPTIONS.finditer(output(pgokit, "help", "--markdown", *verb))}


def write_option_tables(pages, tables):
    for page in pages:
        text = page.read_text(encoding="utf-8")
        page.write_text(OPTIONS.sub(
            lambda match: match[1] + tables.get(match[2], match[3]) + match[4], text),
            encoding="utf-8")


def places_of_tables(pages):
    """The pages with each table, as (page, text)."""
    places = {}
    for page in pages:
        for match in OPTIONS.finditer(page.read_text(encoding="utf-8")):
            places.setdefault(match[2], []).append((page, match[3]))
    return places


def wrong_tables(tables, places):
    for key in sorted(tables.keys() | places.keys()):
        found = places.get(key, [])
        if len(found) != 1:
            yield f"'<!-- options {key} -->' stands on {len(found)} pages, expected one"
        elif found[0][1] != tables.get(key):
            yield f"{found[0][0].name}: the table '{key}' is not what the rows say; " \
                "tests/house/test_readme.py --write README.md PGOKIT changes it"


def unknown_targets(pgokit, names):
    """Options that a command line of another tool becomes, which the verb does not take so."""
    for part in re.split(r"^## ", names, flags=re.MULTILINE)[1:]:
        runs = re.search(r"Runs `pgokit (\w[\w-]*)", part)
        if not runs:
            continue
        rows = "".join(option_tables(pgokit, runs[1]).values())
        for row in re.findall(r"^\| `.*` \| (.*) \|$", part, re.MULTILINE):
            for name, value in re.findall(r"(?:^|; )(--[a-z][a-z0-9-]+)(=?)", row):
                if not re.search(f"`{name}{'[ [=]+[A-Z]' if value else '`'}", rows):
                    yield f"{part.splitlines()[0]}: {name}{value} is no option of {runs[1]}"


def linked_text(page, keys, places):
    """The page with the tables of the verb that stand on pages that it links to."""
    text = page.read_text(encoding="utf-8")
    return text + "".join(found for key in keys for other, found in places.get(key, [])
                          if f"({other.name}" in text)


def differing_options(pgokit, verb, page, places):
    """Options that only one of help text and manual page tells of."""
    helped = set(OPTION.findall(output(pgokit, verb, "--help")))
    if not page.exists():
        return [f"there is no {page.name}"]
    page_text = linked_text(page, option_tables(pgokit, verb), places)
    paged = set(OPTION.findall(page_text)) - COMMON_OPTIONS
    return sorted(f"only in the help: {name}" for name in helped - paged - COMMON_OPTIONS) + \
        sorted(f"only on the page: {name}" for name in paged - helped)


def main():
    write = "--write" in sys.argv
    readme, pgokit = [arg for arg in sys.argv[1:] if arg != "--write"]
    docs = pathlib.Path(readme).parent / "docs"
    text = pathlib.Path(readme).read_text(encoding="utf-8")
    formats_page, names_page = docs / "formats" / "README.md", docs / "compat.md"
    formats = formats_page.read_text(encoding="utf-8")
    names = names_page.read_text(encoding="utf-8")
    expected = output(pgokit, "formats", "--markdown")
    pages, tables = sorted((docs / "man").glob("*.md")), option_tables(pgokit)
    expected_names = output(pgokit, "compat", "--markdown")
    if write:
        formats = TABLE.sub(lambda match: match[1] + expected + match[3], formats)
        formats_page.write_text(formats, encoding="utf-8")
        names = NAMES.sub(lambda match: match[1] + expected_names + match[3], names)
        names_page.write_text(names, encoding="utf-8")
        write_option_tables(pages, tables)

    report = Report()
    table, screen = TABLE.search(formats), SCREEN.search(text)
    lines = text.count("\n")
    report.case("the table of formats is what `pgokit formats --markdown` prints",
                [] if table and table[2] == expected else
                ["docs/formats/README.md should have:", expected])
    report.case("README.md has at most 150 lines",
                [] if lines <= MOST_LINES else [f"it has {lines} lines"])
    report.case("docs/compat.md has what `pgokit compat --markdown` prints",
                [] if NAMES.search(names)[2] == expected_names else
                ["tests/house/test_readme.py --write README.md PGOKIT changes it"])
    wrong = list(unknown_targets(pgokit, NAMES.search(names)[2]))
    report.case("command lines of other tools become options that pgokit takes", wrong)
    report.case("there is a screen of `pgokit show`",
                [] if screen and "pgokit show" in screen[1] else ["nothing between the markers"])
    places = places_of_tables(pages)
    report.case("each table of options stands on one manual page, as `pgokit help --markdown` "
                "prints it", list(wrong_tables(tables, places)))
    for verb in VERB.findall(output(pgokit, "--help")):
        page = docs / "man" / f"pgokit-{verb}.md"
        report.case(f"the help of pgokit {verb} fits a terminal of 80 columns",
                    [line for line in output(pgokit, verb, "--help").splitlines()
                     if len(line) > 80])
        report.case(f"options of pgokit {verb} and of its page",
                    differing_options(pgokit, verb, page, places))
        if verb != "help":
            report.case(f"options that pgokit {verb} takes, its help and its page",
                        wrong_options(pgokit, verb, page, places))
    report.end()


main()
