#!/usr/bin/env python3
"""Rooms use what the table of lib/meson.build lets them see, and the map says what the table says.

usage: test_rooms.py [--write] ROOT LIBRARY TOOLS [--room NAME SEES IS ARCHIVE...]...

LIBRARY is the shared library, TOOLS the folder with the objects of the command line. SEES are names
with blanks between them; IS says what the room is for. A room has no archive if it is of header
files only, or not built on this machine. With --write, puts the map into CONTRIBUTING.md.
"""

import collections
import functools
import pathlib
import re
import subprocess
import sys

from tap import Report

MAP = re.compile(r"(<!-- rooms -->\n)(.*?)(<!-- /rooms -->)", re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SOURCES = {".c", ".h", ".def"}
# Names of the tree; the runtime also defines some of the C library, which all use.
OURS = re.compile(r"pgk_|pgg_|pgrt_|pgbr_|pgc_")

Room = collections.namedtuple("Room", "name sees purpose archives folder")


def parse(root, arguments):
    """The rooms in the order of the table, by name."""
    rooms, row = {}, None
    for argument in arguments:
        if argument == "--room":
            row = []
            continue
        row.append(argument)
        if len(row) >= 3:
            name, sees, purpose, *archives = row
            folder = root / "lib" / name
            rooms[name] = Room(name, [seen.removeprefix("lib/") for seen in sees.split()], purpose,
                               archives, folder if folder.is_dir() else root / name)
    return rooms


def symbols(*files):
    """Names that files define, and names that they use and do not define."""
    listing = subprocess.run(["nm", "-P", "--extern-only", *map(str, files)], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    defined, used = set(), set()
    for line in listing.splitlines():
        words = line.split()
        if len(words) >= 2 and len(words[1]) == 1 and OURS.match(words[0]):
            (used if words[1] in "Uwv" else defined).add(words[0])
    return defined, used - defined


class Includes:
    """Which files a file includes, with what those include; files have names of their own."""

    def __init__(self, rooms):
        self.room_of, self.text_of = {}, {}
        for room in rooms.values():
            for path in room.folder.iterdir():
                if path.suffix in SOURCES:
                    self.room_of[path.name] = room.name
                    self.text_of[path.name] = path.read_text(encoding="utf-8")

    @functools.cache
    def direct(self, name):
        return [included for path in INCLUDE.findall(self.text_of[name])
                if (included := pathlib.PurePath(path).name) in self.text_of]

    def rooms_of(self, room):
        """Rooms whose files those of a room include, themselves or through others: file of each."""
        seen, rooms = set(), {}
        left = [name for name, home in self.room_of.items() if home == room]
        while left:
            name = left.pop()
            for included in self.direct(name):
                rooms.setdefault(self.room_of[included], f"{name} includes {included}")
                if included not in seen:
                    seen.add(included)
                    left.append(included)
        rooms.pop(room, None)
        return rooms


def check_room(room, names, includes):
    """What a room uses and must not, and what it may use and does not. `names` has for each room
    what is defined and used in it."""
    problems, needed = [], set()
    defined_here, used_here = names.get(room.name, (set(), set()))
    for other, (defined, _) in names.items():
        reached = (used_here & defined) - defined_here
        if other == room.name or not reached:
            continue
        needed.add(other)
        if other not in room.sees:
            problems += [f"{room.name} must not see {other}, and uses {name} of it"
                         for name in sorted(reached)]
    for other, how in includes.rooms_of(room.name).items():
        needed.add(other)
        if other not in room.sees:
            problems.append(f"{room.name} must not see {other}, and {how}")
    if room.archives:
        problems += [f"{room.name} may see {other}, and uses nothing of it: take it out of the "
                     "table" for other in room.sees if other not in needed]
    return problems


def check_order(rooms):
    before, problems = set(), []
    for room in rooms.values():
        problems += [f"{room.name} sees {seen}, which does not stand before it in the table"
                     for seen in room.sees if seen not in before]
        before.add(room.name)
    return problems


def check_tools(library, tools):
    """The command line is a program like that of any user of the library."""
    exported = subprocess.run(["nm", "-D", "-P", "--defined-only", library], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    public = {line.split()[0].split("@")[0] for line in exported.splitlines()}
    _, used = symbols(*sorted(tools.glob("*.o")))
    hidden = sorted(name for name in used if name not in public)
    return [f"tools use {name}, which no header of include/pgokit declares" for name in hidden] + \
        ([] if used else [f"{tools} has no objects"])


def drawn(rooms):
    lines = ["| room | sees | what it is for |", "|---|---|---|"]
    for room in rooms.values():
        where = "lib/" if room.folder.parent.name == "lib" else ""
        lines.append(f"| `{where}{room.name}` | {', '.join(room.sees) or 'nothing'} "
                     f"| {room.purpose} |")
    return "\n".join(lines) + "\n"


def main():
    write = "--write" in sys.argv
    root, library, tools, *rest = [argument for argument in sys.argv[1:] if argument != "--write"]
    root, tools = pathlib.Path(root), pathlib.Path(tools)
    rooms = parse(root, rest)
    contributing = root / "CONTRIBUTING.md"
    text = contributing.read_text(encoding="utf-8")
    expected = drawn(rooms)
    if write:
        text = MAP.sub(lambda match: match[1] + expected + match[3], text)
        contributing.write_text(text, encoding="utf-8")

    names = {room.name: symbols(*room.archives) for room in rooms.values() if room.archives}
    includes = Includes(rooms)
    report = Report()
    report.case("rooms see only what stands before them in the table", check_order(rooms))
    for room in rooms.values():
        report.case(f"{room.name} uses what the table lets it see, and all of that",
                    check_room(room, names, includes))
    report.case("tools use the public headers only", check_tools(library, tools))
    drawing = MAP.search(text)
    report.case("the map of CONTRIBUTING.md is that of the table",
                [] if drawing and drawing[2] == expected else ["CONTRIBUTING.md should have:",
                                                               expected])
    report.end()


main()
