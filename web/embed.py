#!/usr/bin/env python3
"""Makes C source of the page's template, split where the data go.

usage: embed.py TEMPLATE OUTPUT
"""

import sys

PLACE = b"<!--pgokit-data-->"
ROW = 24


def array(name, data):
    rows = [",".join(map(str, data[at:at + ROW])) for at in range(0, len(data), ROW)]
    return (f"const unsigned char {name}[] = {{\n" + ",\n".join(rows) + "\n};\n"
            f"const size_t {name}_size = sizeof {name};\n")


def main():
    template, output = sys.argv[1:]
    with open(template, "rb") as file:
        parts = file.read().split(PLACE)
    if len(parts) != 2:
        sys.exit(f"{template}: {len(parts) - 1} places for data, expected 1")
    with open(output, "w", encoding="ascii") as file:
        file.write('/* Made by web/embed.py. */\n#include "page_pack.h"\n\n'
                   + array("pgk_page_head", parts[0]) + array("pgk_page_tail", parts[1]))


main()
