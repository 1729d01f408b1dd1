#!/usr/bin/env python3
"""Merging in parts: any tree of `merge --partial`, in any order, of heap profiles, counters and
sample profiles of all shapes, gives the bytes of one merge. And a merge ends with its parent.

usage: merge_trees.py PGOKIT

The seed is printed; PGOKIT_TEST_SEED sets it, PGOKIT_TEST_TREES the number of trees of a kind.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
sys.path.insert(0, str(HERE.parent / "house"))
sys.path.insert(0, str(HERE.parent / "interop"))

import sample_texts  # noqa: E402
from tap import Report  # noqa: E402

TREES = int(os.environ.get("PGOKIT_TEST_TREES", "8"))
SEED = int(os.environ.get("PGOKIT_TEST_SEED", random.randrange(1 << 30)))
LARGEST = (1 << 64) - 1


def golden(folder, *patterns):
    return sorted(str(p) for pattern in patterns for p in (GOLDEN / folder).glob(pattern))


def sample_files(folder, kind, huge=False):
    made = []
    for i in range(6):
        text = sample_texts.text(5, kind, True, i)
        if huge and kind == "flat":
            text += f"huge:{LARGEST}:{LARGEST}\n 1: {LARGEST} far:{LARGEST}\n"
        path = pathlib.Path(folder, f"{kind}{i}{'-huge' * huge}.prof")
        path.write_text(text)
        made.append(str(path))
    return made


def counter_texts(folder):
    """Counts near the limit, several hashes of a function, value data, by any order."""
    made = []
    for i in range(6):
        path = pathlib.Path(folder, f"counters{i}.proftext")
        targets = "".join(f"callee{k}:{k * k + i}\n" for k in range(i, 9 + i))
        path.write_text(f":ir\nfoo\n7\n2\n{LARGEST // (i + 1)}\n{i}\n\nfoo\n{8 + i % 2}\n1\n{i}\n\n"
                        f"caller\n3\n1\n5\n1\n0\n1\n9\n{targets}\n")
        made.append(str(path))
    return made


class Trees:
    def __init__(self, pgokit, folder, rng):
        self.pgokit, self.folder, self.rng, self.files = pgokit, folder, rng, 0

    def merge(self, inputs, *options):
        self.files += 1
        path = f"{self.folder}/part{self.files}"
        done = subprocess.run([self.pgokit, "merge", *inputs, *options, "-o", path], check=False,
                              capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{done.args}: {done.returncode}: {done.stderr}")
        return path

    def part(self, inputs):
        return self.merge(inputs, "--partial", "--run-names", "none",
                          f"-j{self.rng.randint(1, 4)}")

    def grow(self, leaves):
        """A random tree over the leaves, down to one part."""
        nodes = list(leaves)
        self.rng.shuffle(nodes)
        while len(nodes) > 1 or nodes[0] in leaves:
            count = self.rng.randint(1, len(nodes))
            at = self.rng.randint(0, len(nodes) - count)
            nodes.append(self.part(nodes[at:at + count]))
            del nodes[at:at + count]
            self.rng.shuffle(nodes)
        return nodes[0]

    def problems(self, files, last):
        leaves = [f"{f}@{self.rng.randint(1, 9)}" if self.rng.random() < 0.3 else f
                  for f in files * 2]
        whole = pathlib.Path(self.part(leaves)).read_bytes()
        written = pathlib.Path(self.merge(leaves, *last)).read_bytes()
        for _ in range(TREES):
            root = self.grow(leaves)
            if pathlib.Path(root).read_bytes() != whole:
                return [f"the partial profile of a tree has other bytes than that of one merge; "
                        f"seed {SEED}"]
            if pathlib.Path(self.merge([root], *last)).read_bytes() != written:
                return [f"the output of a tree differs; seed {SEED}"]
        return []


def reads(pid):
    """The process has made its place in memory for what comes from the pipe."""
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            if "pgokit-input" in os.readlink(fd):
                return True
        except FileNotFoundError:  # closed since it was listed
            pass
    return False


def runs(pid):
    """The process is there, and has not ended."""
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends_with_parent(pgokit, folder):
    """pgokit waits for its input when its parent is killed."""
    command = f"{pgokit} merge - --parent $$ --partial -o {folder}/out"
    script = f"exec 3<&0; {command} <&3 & echo $!; wait"
    with subprocess.Popen(["bash", "-c", script], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        status = pathlib.Path("/proc", str(child), "status")
        deadline = time.monotonic() + 60
        # It reads when it has taken its options.
        while "pgokit" not in status.read_text() or not reads(child):
            if time.monotonic() > deadline:
                return ["it does not read"]
            time.sleep(0.01)
        parent.send_signal(signal.SIGKILL)
        while runs(child):
            if time.monotonic() > deadline:
                return ["it is still there"]
            time.sleep(0.01)
    return []


def main():
    pgokit, report, rng = sys.argv[1], Report(), random.Random(SEED)
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        part = ["--partial", "--run-names", "none"]
        kinds = {
            "raw heap profiles": (golden("heap-raw", "clang*.profraw"), part),
            "heap profiles over time": (golden("heap-raw", "handmade*.profraw"), part),
            "heap profiles with names": (
                golden("indexed", "*.profdata") + golden("yaml", "*.yaml"), ["--to", "llvm22"]),
            "partial heap profiles": (golden("partial", "*.pgk"), part),
            "counters": (golden("instr-raw", "clang2*-ir.profraw", "clang1*-ir.profraw"), []),
            "counters of the front end": (golden("instr-raw", "clang2*-fe.profraw"), []),
            "counters with traces": (golden("instr-raw", "clang22-temp.profraw")
                                     + golden("instr-indexed", "llvm22-temporal.profdata"), []),
            "counters with bitmaps": (golden("instr-raw", "clang2*-mcdc.profraw"), []),
            "counters near the limit": (counter_texts(folder), []),
            "flat samples near the limit": (sample_files(folder, "flat", True), ["--vtables"]),
        }
        for kind in sample_texts.KINDS:
            kinds[f"samples: {kind}"] = (sample_files(folder, kind), ["--vtables"])
        for name, (files, last) in kinds.items():
            with tempfile.TemporaryDirectory() as parts:
                try:
                    problems = Trees(pgokit, parts, rng).problems(files, last)
                except RuntimeError as err:
                    problems = [err]
                report.case(f"{name}: {len(files)} files", problems)
        report.case("a merge ends with its parent", ends_with_parent(pgokit, folder))
    report.end()


if __name__ == "__main__":
    main()
