#!/usr/bin/env python3
"""The plan of pgokit-fleet: every input once, shards by bytes, builds apart, names that depend on
nothing but content and release; and its types.

usage: fleet_plan.py PGOKIT
"""

import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLEET = HERE.parents[1] / "fleet"
sys.path.insert(0, str(HERE.parent / "house"))
sys.path.insert(0, str(FLEET))

import fleet_store  # noqa: E402
from fleet_tasks import Input, builds_by, list_inputs, look_at, make_plan, tree_kinds  # noqa: E402
from tap import Report  # noqa: E402

BUILDS = ["a" * 40, "b" * 40]


def inputs(n, sizes=(1000,)):
    return sorted((Input(f"/{BUILDS[i % 2]}/{i}", 1 + i % 3, sizes[i % len(sizes)], "1")
                   for i in range(n)), key=lambda i: i.path)


def plan(files, version="1", shard=4000, fan_in=8):
    return make_plan(version, files, {}, builds_by("[0-9a-f]{40}", files), shard, fan_in)


def whole_tree():
    """Each input is in one leaf, each task but the roots in one other, children come first."""
    for n in (1, 2, 9, 100, 1000):
        tasks, roots = plan(inputs(n, (10, 3900, 70)))
        taken = [o for t in tasks for o in t.operands]
        if sorted(taken) != sorted(i.operand for i in inputs(n, (10, 3900, 70))):
            return [f"{n}: inputs are lost or counted twice"]
        seen = set()
        for t in tasks:
            if not set(t.children) <= seen or len(t.children) > 8:
                return [f"{n}: children {t.children}"]
            seen.add(t.name)
        inner = [c for t in tasks for c in t.children]
        if sorted(inner + [r.name for r in roots]) != sorted(seen) or len(roots) > 8:
            return [f"{n}: not a tree"]
    return []


def by_bytes_and_build():
    tasks, _ = plan(inputs(60, (1500,)))
    leaves = [t for t in tasks if not t.children]
    return [f"{t.operands}" for t in leaves
            if t.bytes > 4000 or len({o.split("/")[1] for o in t.operands}) > 1]


def kinds():
    """A tree for each of the two kinds that an output can hold; strays go with the most."""
    files = inputs(60, (1500,))
    of = {f.path: "heap" if i % 3 else "instr" for i, f in enumerate(files)}
    tasks, roots = make_plan("1", files, tree_kinds(of), builds_by("x", files), 4000, 8)
    mixed = [t.operands for t in tasks if len({of[o.partition("@")[0]] for o in t.operands}) > 1]
    below = {t.name: t for t in tasks}
    problems = [f"{operands}" for operands in mixed]
    for root in roots:
        leaves, some = [root], []
        while leaves:
            task = leaves.pop()
            leaves += [below[c] for c in task.children]
            some += task.operands
        if len({of[o.partition("@")[0]] for o in some}) > 1:
            problems.append(f"a root of two kinds: {some}")
    for found, want in (({"a": "heap", "b": "unknown", "c": "sample"}, {"heap"}),
                        ({"a": "sample", "b": "sample", "c": "heap"}, {"sample"}),
                        ({"a": "unknown", "b": "unknown", "c": "instr"}, {"instr"}),
                        ({"a": "unknown"}, {"unknown"}), ({}, set())):
        if set(tree_kinds(found).values()) != want:
            problems.append(f"{found}: {tree_kinds(found)}")
    return problems


def builds():
    """Of files the build id of the program, of objects that in the name."""
    files = [Input(str(p), 1, 1, "1") for p in sorted((HERE.parent / "golden").glob("*-raw/clang*"))
             if p.suffix == ".profraw"]
    files.append(Input(f"s3://b/{BUILDS[0]}/x", 1, 1, "1"))
    kinds, found = look_at(sys.argv[1], files)
    with_id = [path for path, build in found.items() if build]
    problems = [] if set(kinds.values()) == {"heap", "instr"} else [f"{kinds}"]
    for folder in ("heap-raw", "instr-raw"):
        if not any(f"/{folder}/" in path for path in with_id):
            problems.append(f"{folder}: no build id in any file")
    problems += [f"{path}: {found[path]}" for path in with_id
                 if not re.fullmatch("([0-9a-f]{2})+", found[path])]
    if found[files[-1].path] != BUILDS[0] or set(found) != {f.path for f in files}:
        problems.append("an object")
    return problems


def names():
    """The same for the same inputs, another one after a change of an input or of pgokit."""
    files = inputs(50)
    first = [t.name for t in plan(files)[0]]
    shuffled = files[:]
    random.Random(1).shuffle(shuffled)
    problems = []
    if [t.name for t in plan(sorted(shuffled, key=lambda i: i.path))[0]] != first:
        problems.append("the same inputs have other names")
    if set(first) & {t.name for t in plan(files, version="2")[0]}:
        problems.append("another release of pgokit has the same names")
    touched = [Input(i.path, i.weight, i.bytes, "2") if k == 7 else i for k, i in enumerate(files)]
    changed = set(first) - {t.name for t in plan(touched)[0]}
    if not 0 < len(changed) < len(first) / 2:
        problems.append(f"a changed input renames {len(changed)} of {len(first)} tasks")
    return problems


def sources():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for name in ("a", "sub/b", "c@3"):
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(name)
        (place / "list").write_text(f"{folder}/a@5\n\n{folder}/sub/*@2\n{folder}/a\n")
        found, left_out = list_inputs([f"@{folder}/list", f"{folder}/c@3"])
        got = {(pathlib.Path(i.path).name, i.weight) for i in found}
        problems = []
        if got != {("a", 5), ("b", 2), ("c@3", 1)} or len(left_out) != 1:
            problems.append(f"{got} {left_out}")
        if len(list_inputs([folder])[0]) != 4:
            problems.append("a folder")
        try:
            list_inputs([f"{folder}/gone"])
            problems.append("what is not there is taken")
        except fleet_store.Failure:
            pass
        return problems


def engines_that_are_not_there():
    """One sentence that says what to install, before anything is written."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "distributed.py").write_text("raise ImportError('No module')\n")
        (place / "input").write_text("")
        for engine, wanted in (("dask", "apt install --no-install-recommends python3-distributed"),
                               ("slurm", "needs sbatch")):
            command = [sys.executable, FLEET / "pgokit-fleet", "merge", place / "input",
                       "--engine", engine, "--pgokit", sys.argv[1], "-o", place / "out"]
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  env={"PYTHONPATH": folder, "PATH": folder})
            if done.returncode != 2 or wanted not in done.stderr or "Traceback" in done.stderr:
                problems.append(f"{engine}: {done}")
        left = {path.name for path in place.iterdir()} - {"distributed.py", "input", "__pycache__"}
        if left:
            problems.append(f"{left} are left")
    return problems


def types():
    done = subprocess.run(["mypy", "--strict", "--scripts-are-modules", "--cache-dir=/dev/null",
                           FLEET / "pgokit-fleet", *FLEET.glob("*.py")],
                          capture_output=True, text=True, check=False)
    return [done.stdout] if done.returncode else []


def main():
    report = Report()
    for case in (whole_tree, by_bytes_and_build, kinds, builds, names, sources,
                 engines_that_are_not_there):
        report.case(case.__name__.replace("_", " "), case())
    if shutil.which("mypy"):
        report.case("types", types())
    else:
        report.skip("types", "missing mypy")
    report.end()


if __name__ == "__main__":
    main()
