#!/usr/bin/env python3
"""Prints the folder below PREFIX, and relative to it, from which this Python imports modules;
nothing if there is none.

usage: find_folder.py PREFIX

Debian's Python has one for /usr (lib/python3/dist-packages) and another one for /usr/local
(lib/python3.N/dist-packages).
"""

import os
import site
import sys


def main():
    prefix = os.path.normpath(sys.argv[1])
    for folder in site.getsitepackages():
        relative = os.path.relpath(folder, prefix)
        if relative.startswith("lib"):  # /usr/local is below /usr, and is another prefix
            print(relative)
            break


if __name__ == "__main__":
    main()
