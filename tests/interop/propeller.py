#!/usr/bin/env python3
"""Lists of blocks for clang and of symbols for ld.lld: pgokit reads the block address map of every
release of clang as llvm-readobj does; a program that is built again by the lists has its blocks and
functions where they say, computes the same, and takes fewer jumps; and orders of blocks are worth
at least what those of llvm-bolt are, by the same counts."""

import collections
import concurrent.futures
import json
import os
import re
import sys

import sample_program
import sample_texts
from peers import (HERE, JOBS, Failure, Skip, good, main, need_linkers, peer, read, require, run,
                   tool, write)

RELEASES = (14, 16, 19, 22, 23)
BUILT_AGAIN = (14, 22, 23) # the least, the usual, and the newest
ROOMS = ("base", "records", "sample", "sampleio")
LINKER = "/usr/bin/ld.lld-22"
FLAGS = ["-O2", "-g1", "-std=gnu17", "-D_GNU_SOURCE", "-w", "-fPIE", "-ffunction-sections"]


def map_flag(release):
    return "-fbasic-block-address-map" if release >= 19 else "-fbasic-block-sections=labels"


class Built:
    """A program of many functions by one release of clang, and a recording of it."""

    def __init__(self, work, release):
        self.work, self.release = work, release
        self.clang = tool("clang", release) if release < 23 else peer(f"clang-{release}")
        self.folder = work.temp(f"propeller{release}")
        need_linkers([f"-fuse-ld={LINKER}"])
        self.sources = [s for room in ROOMS for s in sample_program.sources(room)
                        if not s.endswith("sample_rename.c")]
        self.sources += [f"{sample_program.ROOT}/{source}" for source in sample_program.MAIN]
        self.input = f"{self.folder}/in.txt"
        write(self.input, sample_texts.text(0, "nested").encode())
        self.program = self.build("program", [map_flag(release)])
        self.trace = self.record(self.program)

    def build(self, name, flags, linking=()):
        folder = f"{self.folder}/{name}.objects"
        os.mkdir(folder)
        includes = [f for f in sample_program.FLAGS if f.startswith("-I")]
        flags = [*FLAGS, *includes, *flags]

        def compile_one(source):
            out = f"{folder}/{os.path.basename(source)}.o"
            if self.release >= 23: # its root has no headers of libraries
                good(tool("clang", 22), *flags[:len(FLAGS)], *includes, "-E", source, "-o",
                     out + ".c")
                source = out + ".c"
            good(self.clang, *flags, "-c", source, "-o", out)
            return out
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            objects = list(pool.map(compile_one, self.sources))
        out = f"{self.folder}/{name}"
        good(tool("clang", 22), f"-fuse-ld={LINKER}", "-pie", *objects, "-Wl,--gc-sections",
             "-Wl,--emit-relocs", *linking, *sample_program.LIBRARIES, "-o", out)
        return out

    def record(self, program):
        good(self.work.recorder, "-g", "-e", "211", "-n", "1500", program + ".trace", program,
             self.input)
        return program + ".trace"


def built(work, release):
    """Made once for all cases; a failure is one of each."""
    if release not in work.built:
        try:
            work.built[release] = Built(work, release)
        except (Failure, Skip) as why:
            work.built[release] = why
    if isinstance(work.built[release], Exception):
        raise work.built[release]
    return work.built[release]


# ---- the map ----

FLAG_NAMES = ("HasReturn", "HasTailCall", "IsEHPad", "CanFallThrough", "HasIndirectBranch")


def map_by_llvm(release, program):
    """Lines as blockdump prints them; without ids, blocks are numbered in each function."""
    text = good(peer(f"llvm-readobj-{release}"), "--bb-addr-map", program)
    lines, entry, base, block, number = [], 0, 0, None, 0
    for line in text.splitlines():
        key, _, value = line.strip().partition(": ")
        if key == "At":
            entry = base = int(value, 16)
            number = 0
        elif key == "Base Address":
            base = int(value, 16)
            entry = entry or base
        elif key == "ID":
            number = int(value)
        elif key == "Offset":
            block = [base + int(value, 16), 0, 0]
        elif key == "Size":
            block[1] = int(value, 16)
        elif key in FLAG_NAMES:
            block[2] |= (value == "Yes") << FLAG_NAMES.index(key)
            if key == FLAG_NAMES[4] or (key == FLAG_NAMES[3] and release < 17):
                lines.append(f"{entry:x} {number} {block[0]:x} {block[1]} {block[2]}")
                number += 1
    return lines


def same_map(work, release):
    b = built(work, release)
    mine = good(os.environ["BLOCK_DUMP"], b.program).splitlines()
    theirs = map_by_llvm(release, b.program)
    wrong = [f"{a} | {t}" for a, t in zip(mine, theirs) if a != t]
    require(len(mine) == len(theirs) > 2000 and not wrong,
            f"{len(mine)} blocks, of llvm-readobj {len(theirs)}\n" + "\n".join(wrong[:10]))
    return f"{len(mine):,} blocks"


# ---- the program built again ----

def gen(work, program, trace, name="list"):
    out = f"{os.path.dirname(program)}/{name}"
    result = good(work.pgokit, "gen", trace, "-b", program, "--format", "propeller", "-o", out,
                  "--json")
    share = {k: int(re.search(rf'"{k}": (\d+)', result).group(1))
             for k in ("ways", "ways_taken", "ways_taken_ordered", "score", "score_ordered")}
    return out, share


def lists_of(path):
    """(names, blocks) of each function, in either version."""
    functions, names = [], None
    for line in read(path).decode().splitlines():
        if line.startswith("!!") or line.startswith("c "):
            functions.append((names, [int(word) for word in line.lstrip("!c ").split()]))
        elif line.startswith("!") or line.startswith("f "):
            names = re.split("[/ ]", line[1:].strip())
        else:
            require(line == "v1" and not functions, line)
    return functions


def places(program):
    at = collections.defaultdict(list)
    for line in good("nm", "--defined-only", program).splitlines():
        address, _, name = line.split()
        at[name].append(int(address, 16))
    return at


def check_symbols(path, program):
    at = places(program)
    lie = [at[n][0] for n in read(path).decode().split() if len(at[n]) == 1]
    require(len(lie) > 40 and lie == sorted(lie), "functions do not lie as listed")
    return len(lie)


def check_blocks(lists, program):
    """Where the new build's map says its blocks are; only maps with ids tell."""
    at = places(program)
    blocks = collections.defaultdict(list)
    for line in good(os.environ["BLOCK_DUMP"], program).splitlines():
        entry, number, low = line.split()[:3]
        blocks[int(entry, 16)].append((int(low, 16), int(number)))
    for names, expected in lists:
        found = [[i for _, i in sorted(blocks[a])] for n in names for a in at[n]]
        require(any(f[:len(expected)] == expected or expected == [
            i for _, i in blocks[at[names[0]][0]]][:len(expected)] for f in found),
                f"{names}: {expected[:20]}, but lie {[f[:20] for f in found]}")


def built_again(work, release):
    b = built(work, release)
    path, share = gen(work, b.program, b.trace)
    lists = lists_of(path)
    require(len(lists) > 30, read(path).decode())
    again = b.build("again", [f"-fbasic-block-sections=list={path}",
                              *([map_flag(release)] if release >= 19 else [])],
                    [f"-Wl,--no-warn-symbol-ordering,--symbol-ordering-file={path}.order"])
    require(good(again, b.input) == good(b.program, b.input), "it computes something else")
    listed = check_symbols(f"{path}.order", again)
    at = places(again)
    require(sum(f"{names[0]}.cold" in at for names, _ in lists) > 15,
            "few functions have cold parts")
    text = f"{len(lists)} functions, {listed} symbols"
    if release < 19: # the new build cannot have a map
        return text
    check_blocks(lists, again)
    _, now = gen(work, again, b.record(again), "again.list")
    before, after = (s["ways_taken"] / s["ways"] for s in (share, now))
    require(after < 0.75 * before, f"{before:.3f} of ways were by taken jumps, and {after:.3f} are")
    require(share["score_ordered"] > share["score"], str(share))
    return f"{text}; ways by taken jumps: {100 * before:.1f} %, then {100 * after:.1f} %"


# ---- what orders are worth ----

class Dumped:
    """Functions as llvm-bolt prints them after a pass: layout, ways with counts, offsets."""

    def __init__(self):
        self.layout, self.ways, self.offsets, self.size = [], {}, {}, 0


def functions_of(text):
    passes, function, block = collections.defaultdict(dict), None, None
    for line in text.splitlines():
        if match := re.match(r'Binary Function "(.*)" after (.*) \{', line):
            function, block = Dumped(), None
            passes[match[2]][match[1]] = function
        elif line.startswith("End of Function") or function is None:
            function = block = None
        elif match := re.match(r"  BB Layout\s+: (.*)", line):
            function.layout = match[1].split(", ")
        elif match := re.match(r"  Size\s+: (0x[0-9a-f]+)", line):
            function.size = int(match[1], 16)
        elif match := re.match(r"(\.\S+) \(\d+ instructions", line):
            block = match[1]
        elif block and (match := re.match(r"\s+([0-9a-f]{8}): ", line)):
            function.offsets.setdefault(block, int(match[1], 16))
        elif block and line.startswith("  Successors: "):
            function.ways[block] = [(to, int(n)) for to, n in re.findall(
                r"(\.\S+) \(mispreds: \d+, count: (\d+)\)", line)]
    return passes


def as_input(before, after):
    """For block_orders; None if the function says nothing."""
    if set(before.layout) != set(after.layout) or set(before.layout) != set(before.offsets):
        return None
    number = {b: i for i, b in enumerate(before.layout)}
    ends = [before.offsets[b] for b in before.layout[1:]] + [before.size]
    jumps = collections.Counter()
    for source, ways in after.ways.items():
        for to, count in ways:
            if count and to in number:
                jumps[number[source], number[to]] += count
    ran = sorted({0, *[i for jump in jumps for i in jump]})
    place = {i: k for k, i in enumerate(ran)}
    if len(ran) < 3:
        return None
    lines = ["f"]
    for i in ran:
        count = sum(n for (_, to), n in jumps.items() if to == i)
        lines.append(f"b {ends[i] - before.offsets[before.layout[i]]} {max(count, 1)}")
    lines += [f"j {place[a]} {place[b]} {n}" for (a, b), n in sorted(jumps.items())]
    lines.append("o " + " ".join(str(place[number[b]]) for b in after.layout if number[b] in place))
    return "\n".join(lines) + "\n"


def worth(work, program, trace):
    good(work.pgokit, "gen", "-q", trace, "-b", program, "--format", "bolt", "-o",
         f"{program}.fdata")
    text = run(peer("llvm-bolt-22"), program, f"-data={program}.fdata", "-o", f"{program}.bolted",
               "-reorder-blocks=ext-tsp", "-print-profile", "-print-reordered")
    passes = functions_of(text.text + text.errors)
    before = next(v for k, v in passes.items() if "profile" in k)
    after = next(v for k, v in passes.items() if "reorder" in k)
    inputs = [as_input(before[name], f) for name, f in after.items() if name in before]
    path = f"{program}.graphs"
    write(path, "".join(i for i in inputs if i).encode())
    scores = [[float(word) for word in line.split()]
              for line in good(os.environ["BLOCK_ORDERS"], path).splitlines()]
    return len(scores), sum(s[0] for s in scores), sum(s[1] for s in scores)


def worth_as_much(work):
    """The orders of some programs: by clang and gcc, recorded and walked through."""
    b = built(work, 22)
    rows = [worth(work, b.program, b.trace)]
    for name, compiler in (("clang", tool("clang++", 22)), ("gcc", tool("g++"))):
        folder = work.temp(f"worth-{name}")
        for source in ("walks", "bolt", "classes", "frames_c"):
            found = [f"{HERE}/programs/{source}{suffix}" for suffix in (".cpp", ".c")]
            found = [f for f in found if os.path.exists(f)]
            if source == "walks":
                found.append(f"{HERE}/programs/walks_other.cpp")
            out = f"{folder}/{source}"
            if run(compiler, "-O2", "-g", "-w", "-Wl,--emit-relocs", *found, "-o", out).code:
                continue
            good(work.walker, "-n", "3000", out, out + ".walk")
            rows.append(worth(work, out, out + ".walk"))
    functions, theirs, mine = (sum(row[i] for row in rows) for i in range(3))
    require(len(rows) > 4 and functions > 25, str(rows))
    require(mine >= theirs, f"{mine:.0f}, of llvm-bolt {theirs:.0f}: {rows}")
    wrong = [row for row in rows if row[2] < 0.999 * row[1]]
    require(not wrong, f"less than llvm-bolt's: {wrong}")
    share = mine / theirs
    return f"{functions} functions of {len(rows)} programs: {share:.5f} of llvm-bolt's score"


# ---- how code lies ----

def layout_of(work, program, trace, *options):
    return json.loads(good(work.pgokit, "show", program, "--layout", trace, "--json", *options))


def lies(work):
    """The same figures by the map and by instructions, nearly; and of text and JSON."""
    b = built(work, 22)
    mapped = layout_of(work, b.program, b.trace)
    plain = f"{work.temp('without')}/program" # the recording has this name
    good("objcopy", "--remove-section=.llvm_bb_addr_map", b.program, plain)
    cut = layout_of(work, plain, b.trace)
    require(mapped["mapped"] and not cut["mapped"], str(cut))
    _, gen_figures = gen(work, b.program, b.trace, "as.list")
    require(mapped["ways"] == gen_figures["ways"] and
            mapped["now"]["taken"] == gen_figures["ways_taken"] and
            mapped["blocks_ordered"]["score"] == gen_figures["score_ordered"], str(mapped))
    for a, c in ((mapped, cut), (cut, mapped)):
        require(a["functions"] <= 1.2 * c["functions"] and a["ways"] <= 1.15 * c["ways"] and
                a["now"]["lines_99"] <= 1.1 * c["now"]["lines_99"] + 2 and
                a["blocks_ordered"]["taken"] <= 1.15 * c["blocks_ordered"]["taken"],
                f"{mapped}\n{cut}")
    for l in (mapped, cut):
        now, functions, blocks = l["now"], l["functions_ordered"], l["blocks_ordered"]
        require(blocks["lines_99"] <= now["lines_99"] and blocks["pages_99"] <= now["pages_99"] and
                functions["pages_90"] <= now["pages_90"], str(l))
        require(blocks["taken"] < 0.75 * now["taken"] and blocks["score"] > now["score"], str(l))
        require(now["lines_90"] <= now["lines_99"] <= l["code_bytes"] / 64, str(l))
        require(l["pays"] == "nothing" or now["lines_99"] > 512, str(l))
    text = good(work.pgokit, "show", b.program, "--layout", b.trace)
    require(mapped["verdict"] in text and f" {mapped['now']['lines_99']} " in text, text)
    result = run(work.pgokit, "show", b.program, "--layout", b.input)
    require(result.code == 2, str(result))
    return mapped["verdict"]


# ---- other input ----

def refused(work):
    b = built(work, 22)
    out = f"{b.folder}/none"

    def expect(text, *words):
        result = run(work.pgokit, "gen", *words, "--format", "propeller", "-o", out)
        require(result.code == 2 and text in result.errors, str(result))
        require(not os.path.exists(out) and not os.path.exists(out + ".order"), "half a file")

    plain, stripped = f"{b.folder}/plain", f"{b.folder}/stripped"
    good("objcopy", "--remove-section=.llvm_bb_addr_map", b.program, plain)
    expect("-fbasic-block-address-map", b.trace, "-b", plain, "--map", f"program={plain}")
    good("strip", "--keep-section=.llvm_bb_addr_map", b.program, "-o", stripped)
    expect("a symbol table", b.trace, "-b", stripped, "--map", f"program={stripped}")
    good(work.pgokit, "gen", "-q", "-b", b.program, b.trace, "-o", f"{b.folder}/profile")
    expect("", f"{b.folder}/profile", "-b", b.program)


def add_cases(work, tap):
    work.recorder, work.built = os.path.abspath(os.environ["BRANCH_TRACE"]), {}
    work.walker = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(work.pgokit))),
                               "bench/branch_walk")
    for release in RELEASES:
        tap.add(f"the map of clang {release}", same_map, work, release)
    for release in BUILT_AGAIN:
        tap.add(f"built again by clang {release}", built_again, work, release)
    tap.add("worth as much as llvm-bolt's", worth_as_much, work)
    tap.add("how code lies", lies, work)
    tap.add("refused", refused, work)


if __name__ == "__main__":
    sys.exit(main(add_cases))
