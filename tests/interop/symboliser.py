#!/usr/bin/env python3
"""Source frames of addresses: what the symboliser says of every byte of code equals what
llvm-symbolizer-22 and a plain reference on libdw say, for programs in C and C++ built by
gcc and clang in many ways. The first argument is the program symdump.
"""

import itertools
import json
import os
import shutil
import struct
import sys

from peers import PROGRAMS, Failure, good, main, need_linkers, read, require, tool, write

GCC = "gcc"
LLD_22 = "-fuse-ld=/usr/bin/ld.lld-22"
LINK_FLAGS = ("-Wl,", "-fuse-ld", "-pie", "-no-pie")
SOURCES = {"cpp": ["frames.cpp", "frames_other.cpp"], "c": ["frames_c.c"]}


class Build:
    """How a program is built; `steps` are functions that change it afterwards and return
    folders to look for debug files in. It is compared with libdw if `plain`, and with
    llvm-symbolizer if `llvm`."""

    def __init__(self, compiler, *flags, language="cpp", steps=(), plain=True, llvm=True):
        self.compiler, self.flags, self.language = compiler, list(flags), language
        self.steps, self.plain, self.llvm = steps, plain, llvm

    @property
    def name(self):
        compiler = self.compiler if self.compiler == GCC else f"clang-{self.compiler}"
        words = [os.path.basename(f) if f.startswith("-fuse-ld=/") else f.lstrip("-")
                 for f in self.flags]
        steps = [f.__name__.replace("_", " ") for f in self.steps]
        return " ".join([self.language, compiler] + words + steps).replace("#", "")

    def driver(self):
        if self.compiler == GCC:
            return tool("g++" if self.language == "cpp" else "gcc")
        return tool("clang++" if self.language == "cpp" else "clang", self.compiler)


# ---- what is done to a program after linking ----

def stripped(exe):
    """Debug information moves to a file beside the program, found by .gnu_debuglink."""
    debug = exe + ".debug"
    good("objcopy", "--only-keep-debug", exe, debug)
    good("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", exe, cwd=os.path.dirname(exe))
    return []


def stripped_into_hidden_folder(exe):
    stripped(exe)
    folder = os.path.join(os.path.dirname(exe), ".debug")
    os.makedirs(folder)
    shutil.move(exe + ".debug", folder)
    return []


def build_id(exe):
    text = good("readelf", "-n", exe)
    return text.split("Build ID:")[1].split()[0]


def stripped_into_build_id_folder(exe):
    digits = build_id(exe)
    root = os.path.join(os.path.dirname(exe), "debug-root")
    folder = os.path.join(root, ".build-id", digits[:2])
    os.makedirs(folder)
    good("objcopy", "--only-keep-debug", exe, os.path.join(folder, digits[2:] + ".debug"))
    good("objcopy", "--strip-all", exe)
    return [root]


def packaged(exe):
    """Split units collected in a .dwp, the .dwo files gone."""
    folder = os.path.dirname(exe)
    dwos = [f for f in os.listdir(folder) if f.endswith(".dwo")]
    good(tool("llvm-dwp", 22), "-e", exe, "-o", exe + ".dwp")
    for f in dwos:
        os.remove(os.path.join(folder, f))
    return []


def packaged_by_binutils(exe):
    folder = os.path.dirname(exe)
    dwos = [f for f in os.listdir(folder) if f.endswith(".dwo")]
    good(tool("dwp"), *dwos, "-o", exe + ".dwp", cwd=folder)
    for f in dwos:
        os.remove(os.path.join(folder, f))
    return []


def compressed_with_zstd(exe):
    good(tool("llvm-objcopy", 22), "--compress-debug-sections=zstd", exe)
    return []


def compressed_the_old_way(exe):
    good("objcopy", "--compress-debug-sections=zlib-gnu", exe)
    return []


def shortened(exe):
    """dwz moves what units have in common into partial units."""
    good(tool("dwz"), exe)
    return []


def shortened_together(exe):
    """dwz moves what two programs have in common into a third file."""
    dwz = tool("dwz")
    shutil.copy(exe, exe + "2")
    good(dwz, "-m", "common.debug", "-M", "common.debug", "prog", "prog2",
         cwd=os.path.dirname(exe))
    require("gnu_debugaltlink" in good("readelf", "-SW", exe), "dwz made no common file")
    return []


BUILDS = [
    # Compilers, levels and versions.
    *[Build(c, o, d) for c in (GCC, 14, 16, 19, 22)
      for o, d in (("-O0", "-gdwarf-5"), ("-O1", "-gdwarf-4"), ("-O2", "-gdwarf-5"),
                   ("-O3", "-gdwarf-4"))],
    Build(GCC, "-O2", "-gdwarf-3"), Build(22, "-O2", "-gdwarf-3"),
    Build(GCC, "-O2", "-gdwarf-2"), Build(22, "-O2", "-gdwarf-2"),
    # libdw 0.192 finds no line of destructors in these.
    *[Build(22, "-O2", d, "-gdwarf64", plain=False) for d in ("-gdwarf-5", "-gdwarf-4")],
    *[Build(c, o, "-g", language="c") for c in (GCC, 14, 22) for o in ("-O0", "-O2")],
    Build(GCC, "-O2", "-g", "-freorder-blocks-and-partition"),
    Build(GCC, "-O3", "-g", "-fno-reorder-functions", "-gno-column-info"),
    Build(22, "-O2", "-g", "-fdebug-info-for-profiling"),
    Build(22, "-O1", "-g", "-fbasic-block-sections=all", LLD_22),
    Build(22, "-O2", "-gmlt"),
    Build(22, "-O2", "-g", "-gdwarf-aranges", "-gno-column-info"),
    Build(22, "-O2", "-g", "-flto=thin", LLD_22), Build(GCC, "-O2", "-g", "-flto"),
    # Type units.
    Build(GCC, "-O2", "-gdwarf-4", "-fdebug-types-section"),
    Build(GCC, "-O2", "-gdwarf-5", "-fdebug-types-section"),
    Build(22, "-O1", "-gdwarf-4", "-fdebug-types-section"),
    Build(22, "-O1", "-gdwarf-5", "-fdebug-types-section"),
    # Linkers, dropped and folded functions.
    *[Build(c, "-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections", f"-fuse-ld={ld}", pie)
      for c, ld, pie in ((GCC, "bfd", "-pie"), (GCC, "gold", "-no-pie"), (22, "bfd", "-no-pie"),
                         (22, "gold", "-pie"), (22, "mold", "-pie"), (GCC, "mold", "-no-pie"),
                         (19, "lld", "-pie"))],
    Build(22, "-O1", "-gdwarf-4", "-ffunction-sections", "-Wl,--gc-sections", LLD_22, "-no-pie"),
    Build(22, "-O1", "-gdwarf-5", "-ffunction-sections", "-Wl,--gc-sections", LLD_22, "-pie"),
    # Of folded functions libdw takes other lines.
    *[Build(c, "-O2", d, "-ffunction-sections", "-Wl,--icf=all", ld, plain=False)
      for c, d, ld in ((22, "-gdwarf-5", LLD_22), (22, "-gdwarf-4", LLD_22),
                       (GCC, "-gdwarf-5", "-fuse-ld=gold"))],
    # Split and packed.
    *[Build(c, "-O2", d, "-gsplit-dwarf") for c in (GCC, 14, 19, 22)
      for d in ("-gdwarf-4", "-gdwarf-5")],
    Build(22, "-O2", "-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section"),
    Build(GCC, "-O2", "-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section", plain=False),
    Build(GCC, "-O2", "-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"),
    Build(22, "-O2", "-gdwarf-5", "-gsplit-dwarf", "-gz"),
    Build(22, "-O2", "-gdwarf-5", "-gsplit-dwarf", steps=[packaged], plain=False),
    Build(22, "-O2", "-gdwarf-4", "-gsplit-dwarf", steps=[packaged], plain=False),
    Build(GCC, "-O2", "-gdwarf-4", "-gsplit-dwarf", steps=[packaged_by_binutils], plain=False),
    Build(22, "-O2", "-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section", steps=[packaged],
          plain=False),
    Build(22, "-O2", "-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section", steps=[packaged],
          plain=False),
    # Compressed.
    Build(GCC, "-O2", "-g", "-gz"), Build(22, "-O2", "-g", "-gz", "-fuse-ld=mold"),
    Build(22, "-O2", "-g", "-Wl,--compress-debug-sections=zstd", LLD_22, plain=False),
    Build(22, "-O2", "-g", steps=[compressed_with_zstd], plain=False),
    Build(GCC, "-O2", "-g", steps=[compressed_the_old_way], llvm=False),
    # Debug information elsewhere.
    Build(22, "-O2", "-g", "-Wl,--build-id", steps=[stripped], plain=False),
    Build(GCC, "-O2", "-g", "-Wl,--build-id", steps=[stripped], plain=False),
    Build(22, "-O2", "-g", "-Wl,--build-id=none", steps=[stripped], plain=False),
    Build(22, "-O2", "-g", "-Wl,--build-id", steps=[stripped_into_hidden_folder], plain=False),
    Build(22, "-O2", "-g", "-Wl,--build-id", steps=[stripped_into_build_id_folder], plain=False),
    Build(GCC, "-O2", "-gdwarf-5", "-gsplit-dwarf", "-Wl,--build-id", steps=[stripped],
          plain=False),
    Build(GCC, "-O2", "-gdwarf-4", steps=[shortened]),
    Build(GCC, "-O2", "-gdwarf-5", steps=[shortened]),
    Build(GCC, "-O2", "-gdwarf-4", steps=[shortened_together], llvm=False),
    Build(GCC, "-O2", "-gdwarf-5", steps=[shortened_together], llvm=False),
]


# ---- the three answers ----

def sections(data):
    """(name, type, address, offset, size, header offset) of each section."""
    table, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQ", data, table + 64 * i) for i in range(count)]
    base = rows[names][4]
    for i, (name, kind, _, addr, offset, size) in enumerate(rows):
        end = data.index(b"\0", base + name)
        yield data[base + name:end].decode(), kind, addr, offset, size, table + 64 * i


def code_addresses(exe):
    for name, _, addr, _, size, _ in sections(read(exe)):
        if name == ".text":
            return range(addr - 2, addr + size + 2)
    raise AssertionError("no .text")


def without_symbols(exe):
    """A copy whose symbol tables are hidden: with them llvm-symbolizer replaces names."""
    data = bytearray(read(exe))
    for _, kind, _, _, _, header in sections(bytes(data)):
        if kind in (2, 11):
            struct.pack_into("<I", data, header + 4, 1)
    write(exe + ".nosym", data)
    if os.path.exists(exe + ".dwp"):
        shutil.copy(exe + ".dwp", exe + ".nosym.dwp")
    return exe + ".nosym"


def frame(function, file, line, column, discriminator, decl_file, decl_line):
    return (function or "-", file or "-", line, column, discriminator, decl_file or "-", decl_line)


def ours(symdump, exe, addresses, *options):
    """What symdump prints: lines "0xADDRESS", each followed by its frames."""
    answer = {}
    for line in good_with_input(symdump, *options, exe,
                                text="\n".join(map(hex, addresses))).splitlines():
        if not line.startswith(" "):
            frames = answer[int(line, 16)] = []
            continue
        f = line.strip().split("|")
        require(len(f) == 7, line)
        f = [x if x != "?" else None for x in f]
        frames.append(frame(f[0], f[1], int(f[2]), int(f[3]), int(f[4]), f[5], int(f[6])))
    return answer


def good_with_input(*argv, text):
    path = os.path.join(os.path.dirname(argv[-1]), "addresses")
    if argv[0].endswith("symdump"):
        path += ".symdump" + "".join(c for c in "".join(argv[1:-1]) if c.isalpha())
    write(path, text.encode())
    return good("sh", "-c", 'input=$1; shift; exec "$@" <"$input"', "sh", path, *argv)


def llvms(exe, addresses, debug_dirs):
    text = good_with_input(tool("llvm-symbolizer", 22), "--functions=linkage", "--no-demangle",
                           "--relativenames", "--inlines", "--output-style=JSON",
                           *[f"--debug-file-directory={d}" for d in debug_dirs],
                           "--obj", without_symbols(exe), text="\n".join(map(hex, addresses)))
    answer = {}
    for line in text.splitlines():
        entry = json.loads(line)
        frames = [frame(s["FunctionName"], s["FileName"], s["Line"], s["Column"],
                        s["Discriminator"], s["StartFileName"], s["StartLine"])
                  for s in entry["Symbol"]]
        # An address without a function still gets its line from llvm-symbolizer.
        if len(frames) == 1 and frames[0][0] == "-":
            frames = []
        answer[int(entry["Address"], 16)] = frames
    return answer


def compare(what, expected, got, key=lambda f, other: f):
    for addr, frames in expected.items():
        pairs = list(itertools.zip_longest(frames, got[addr]))
        a = [key(x, y) for x, y in pairs if x]
        b = [key(y, x) for x, y in pairs if y]
        if a != b:
            show = "\n  ".join
            raise Failure(f"{addr:#x}: {what}\n  {show(map(str, a))}\nbut symdump\n  "
                          f"{show(map(str, b))}")


def known(f, other):
    """llvm-symbolizer loses a DW_AT_decl_file that is an implicit constant, as gcc has it."""
    return f if other and other[5] != "-" else f[:5] + ("-", f[6])


def short(f, _):
    """What libdw says in other words: folders, and names of files without lines."""
    function, file, line, column, _, _, decl_line = f
    return (function, os.path.basename(file) if line else "-", line, column, decl_line)


def check(work, build):
    folder = work.temp("frames")
    exe = os.path.join(folder, "prog")
    sources = SOURCES[build.language]
    for f in sources + ["frames.h"]:
        shutil.copy(os.path.join(PROGRAMS, f), folder)
    compiler = build.driver()
    need_linkers(build.flags)
    objects = []
    for f in sources: # one by one: the names of .dwo files follow
        out = f.rsplit(".", 1)[0] + ".o"
        flags = [x for x in build.flags if not x.startswith(LINK_FLAGS)]
        pie = ["-fno-pie"] if "-no-pie" in build.flags else ["-fpie"]
        good(compiler, *flags, *pie, "-w", "-c", f, "-o", out, cwd=folder)
        objects.append(out)
    link = build.flags if any(x.startswith(("-pie", "-no-pie")) for x in build.flags) \
        else build.flags + ["-pie"]
    good(compiler, *link, *objects, "-o", "prog", cwd=folder)
    debug_dirs = [d for step in build.steps for d in step(exe)]
    addresses = code_addresses(exe)
    options = [f"-d{d}" for d in debug_dirs]
    got = ours(work.pgokit, exe, addresses, "-t1", *options)
    require(sum(map(bool, got.values())) > 100, "hardly any address has a frame")
    if build.llvm:
        compare("llvm-symbolizer says", llvms(exe, addresses, debug_dirs), got, known)
    if build.plain:
        compare("libdw says", ours(work.pgokit, exe, addresses, "-p"), got, short)
    require(ours(work.pgokit, exe, addresses, "-t4", *options) == got,
            "four threads give another answer")
    functions = {line.split("|")[0]
                 for line in good(work.pgokit, "-f", *options, exe).splitlines()}
    missing = {f[0] for frames in got.values() for f in frames} - functions - {"-"}
    require(not missing, f"the list of functions lacks {sorted(missing)[:5]}")
    return f"{len(got)} addresses, {sum(map(len, got.values()))} frames"


def add_cases(work, tap):
    names = set()
    for build in BUILDS:
        require(build.name not in names, f"{build.name} twice")
        names.add(build.name)
        tap.add(build.name, check, work, build)


if __name__ == "__main__":
    sys.exit(main(add_cases))
