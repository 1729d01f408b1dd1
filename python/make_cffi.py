#!/usr/bin/env python3
"""Makes pgokit/_cffi.py, which tells cffi of the functions and types in include/pgokit.

usage: make_cffi.py INCLUDE-FOLDER OUTPUT [DEPFILE [C-COMPILER...]]

The headers are what the compiler's preprocessor makes of them, so that there is no second list of
functions that could differ. What is made has no machine code and no offsets: cffi reads the types
again where the module is imported, and calls the library by its names (cffi's ABI mode).
"""

import contextlib
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys

MARKER = re.compile(r'# \d+ "(.*?)"')
# Streams in memory, for what the library prints.
OF_LIBC = """
FILE *open_memstream(char **text, size_t *size);
int fclose(FILE *stream);
void free(void *memory);
"""


def declarations(include, compiler):
    """What the public headers declare, without what they include from the system."""
    text = subprocess.run([*compiler, "-E", "-x", "c", "-I", str(include), "-"], check=True,
                          input="#include <pgokit/pgokit.h>\n", stdout=subprocess.PIPE,
                          encoding="utf-8").stdout
    lines, ours = [], False
    folder = os.path.realpath(include / "pgokit")
    for line in text.splitlines():
        if marker := MARKER.match(line):
            ours = os.path.dirname(os.path.realpath(marker[1])) == folder
        elif ours and line.strip() and not line.startswith("#"):
            lines.append(line)
    return "\n".join(lines) + "\n"


def main():
    import cffi  # pylint: disable=import-outside-toplevel; tests take the declarations alone

    include, output, *rest = sys.argv[1:]
    compiler = rest[1:] or shlex.split(os.environ.get("CC", "cc"))
    ffi = cffi.FFI()
    ffi.set_source("pgokit._cffi", None)
    ffi.cdef(declarations(pathlib.Path(include), compiler) + OF_LIBC)
    with contextlib.redirect_stdout(io.StringIO()):  # cffi prints what it makes
        ffi.emit_python_code(output)
    if rest:
        headers = " ".join(str(path) for path in sorted(pathlib.Path(include).rglob("*.h")))
        pathlib.Path(rest[0]).write_text(f"{output}: {headers}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
