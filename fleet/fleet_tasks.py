"""What pgokit-fleet does without an engine: lists inputs, plans the tree of merges, and runs one
of them, on whichever machine."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import glob
import hashlib
import json
import os
import re
import shlex
import socket
import subprocess
import tempfile
import time
from typing import Any, Iterator, Sequence

from fleet_store import Failure, fetch_all, is_s3, list_folder, store

Report = dict[str, Any]
DONE, INCOMPLETE, FAILED, BAD_INPUT = 0, 1, 2, 3
MIB = 1 << 20
LEAF_FILES = 4096
RETRIES, PAUSE_S = 5, 0.5
BUILD_ID = "[0-9a-f]{40}"
BATCH = 1000  # names of files in a command line
JOINED = {"heap", "instr"}  # kinds that one output can hold


# ---- inputs ----

@dataclasses.dataclass(frozen=True)
class Input:
    """A profile, and what tells whether it is still the same."""
    path: str
    weight: int
    bytes: int
    state: str

    @property
    def operand(self) -> str:
        return f"{self.path}@{self.weight}"


def split_weight(text: str) -> tuple[str, int]:
    found = None if os.path.exists(text) else re.fullmatch(r"(.+)@([1-9][0-9]*)", text)
    return (found[1], int(found[2])) if found else (text, 1)


def expand(source: str) -> Iterator[Input]:
    """The inputs of a folder, a pattern, a list @FILE, a file, or s3://BUCKET/PREFIX."""
    if source.startswith("@"):
        with open(source[1:], encoding="utf-8", errors="surrogateescape") as lines:
            for line in filter(None, map(str.strip, lines)):
                yield from expand(line)
        return
    path, weight = split_weight(source)
    if is_s3(path) or os.path.isdir(path):
        folder = path if is_s3(path) else os.path.abspath(path)
        for name, size, state in list_folder(folder):
            yield Input(name, weight, size, state)
        return
    names = [path] if os.path.exists(path) else glob.glob(path, recursive=True)
    if not names:
        raise Failure(f"{path}: there is no such profile")
    for name in (os.path.abspath(n) for n in names if os.path.isfile(n)):
        yield Input(name, weight, os.path.getsize(name), str(os.stat(name).st_mtime_ns))


def list_inputs(sources: Sequence[str]) -> tuple[list[Input], list[Report]]:
    """Sorted, and those that were listed again, which count once."""
    taken: dict[str, Input] = {}
    left_out = []
    for found in (one for source in sources for one in expand(source)):
        if "\n" in found.path:
            raise Failure(f"{found.path!r}: names with line breaks are not supported")
        if found.path in taken:
            left_out.append({"file": found.path, "offset": None, "reason": "is listed twice"})
        taken.setdefault(found.path, found)
    if not taken:
        raise Failure("there are no inputs")
    return sorted(taken.values(), key=lambda i: i.path), left_out


# ---- kinds and builds of inputs ----

def look_at(pgokit: str, inputs: Sequence[Input]) -> tuple[dict[str, str], dict[str, str]]:
    """Of each file the kind, and the build id of the program, which is the first. Objects are not
    opened: their builds are known by their names."""
    paths = [i.path for i in inputs if not is_s3(i.path)]
    kinds: dict[str, str] = {}
    builds = builds_by(BUILD_ID, [i for i in inputs if is_s3(i.path)])
    for batch in (paths[i:i + BATCH] for i in range(0, len(paths), BATCH)):
        told = subprocess.run([pgokit, "check", "--kinds", "--", *batch], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              errors="surrogateescape").stdout.split("\n")
        for path, line in zip(batch, told):
            kinds[path], _, ids = line.rpartition(": ")[2].partition(" ")
            builds[path] = ids.partition(" ")[0]
    return kinds, builds


def builds_by(pattern: str, inputs: Sequence[Input]) -> dict[str, str]:
    """By their paths."""
    found = {i.path: re.search(pattern, i.path) for i in inputs}
    return {path: match[0] if match else "" for path, match in found.items()}


def tree_kinds(kinds: dict[str, str]) -> dict[str, str]:
    """In the trees of which kind inputs are merged. Heap profiles and counters have trees of their
    own, which the last merge joins. Whatever else is among them is left out by pgokit there."""
    count = collections.Counter(sorted(kinds.values()))
    most = max(count, key=lambda kind: (kind != "unknown", count[kind]), default="")
    return {path: kind if {kind, most} <= JOINED else most for path, kind in kinds.items()}


# ---- the plan: a tree of merges ----

@dataclasses.dataclass
class Task:
    """One `merge --partial`, of inputs or of what other tasks wrote."""
    name: str
    level: int
    operands: list[str]
    children: list[str]
    bytes: int


def task_of(version: str, level: int, inputs: Sequence[Input], children: Sequence[Task]) -> Task:
    identities = sorted([f"{i.operand} {i.bytes} {i.state}" for i in inputs]
                        + [c.name for c in children])
    digest = hashlib.sha256("\n".join([version, *identities]).encode("utf-8", "surrogateescape"))
    return Task(digest.hexdigest()[:40], level, [i.operand for i in inputs],
                [c.name for c in children], sum(i.bytes for i in inputs)
                + sum(c.bytes for c in children))


def leaves(version: str, inputs: Sequence[Input], shard_bytes: int) -> Iterator[Task]:
    shard: list[Input] = []
    size = 0
    for one in inputs:
        if shard and (size + one.bytes > shard_bytes or len(shard) == LEAF_FILES):
            yield task_of(version, 0, shard, ())
            shard, size = [], 0
        shard.append(one)
        size += one.bytes
    yield task_of(version, 0, shard, ())


def make_plan(version: str, inputs: Sequence[Input], kinds: dict[str, str],
              builds: dict[str, str], shard_bytes: int,
              fan_in: int) -> tuple[list[Task], list[Task]]:
    """All tasks, children first, and the roots of all kinds."""
    sets: dict[str, list[Input]] = {}
    for one in inputs:
        sets.setdefault(kinds.get(one.path, ""), []).append(one)
    plans = [plan_kind(version, sets[kind], builds, shard_bytes, fan_in) for kind in sorted(sets)]
    return [t for tasks, _ in plans for t in tasks], [r for _, roots in plans for r in roots]


def plan_kind(version: str, inputs: Sequence[Input], builds: dict[str, str], shard_bytes: int,
              fan_in: int) -> tuple[list[Task], list[Task]]:
    """Profiles of one build share their code, so their shards are small: each build has a tree of
    its own."""
    groups: dict[str, list[Input]] = {}
    for one in inputs:
        groups.setdefault(builds[one.path], []).append(one)
    size = shard_bytes or min(max(sum(i.bytes for i in inputs) // 64, MIB), 128 * MIB)
    rows = [list(leaves(version, group, size)) for _, group in sorted(groups.items())]
    tasks = [task for row in rows for task in row]
    while sum(map(len, rows)) > fan_in:
        if all(len(row) == 1 for row in rows):
            rows = [[row[0] for row in rows]]
        rows = [row if len(row) == 1 else level_above(version, row, fan_in) for row in rows]
        known = {task.name for task in tasks}
        tasks += [task for row in rows for task in row if task.name not in known]
    return tasks, [task for row in rows for task in row]


def level_above(version: str, row: Sequence[Task], fan_in: int) -> list[Task]:
    n, level = -(-len(row) // fan_in), max(task.level for task in row) + 1
    shares = [row[len(row) * i // n:len(row) * (i + 1) // n] for i in range(n)]
    return [task_of(version, level, (), share) for share in shares]


# ---- a task, on whichever machine ----

@dataclasses.dataclass
class Setting:
    """What all tasks need to know."""
    pgokit: str
    workdir: str
    threads: int

    def part(self, name: str) -> str:
        return f"{self.workdir}/{name}.pgk"

    def report(self, name: str) -> str:
        return f"{self.workdir}/{name}.json"


def read_report(setting: Setting, task: Task) -> Report | None:
    """What a finished task told; None if it has not finished."""
    name = setting.report(task.name)
    with tempfile.TemporaryDirectory() as scratch, contextlib.suppress(FileNotFoundError):
        for place in fetch_all([name], scratch, may_lack=True).values():
            with open(place, "rb") as file:
                report: Report = json.load(file)
                return report
    return None


def bad_inputs(errors: str, names: dict[str, str]) -> Iterator[Report]:
    for line in errors.splitlines():
        if line.startswith("{"):
            bad: Report = json.loads(line)
            yield {**bad, "file": names.get(bad["file"], bad["file"])}


def run_task(setting: Setting, task: Task, children: Sequence[Report]) -> Report:
    """Writes the part and then its report; finds both there if the task was run before."""
    done = read_report(setting, task)
    if done:
        return {**done, "old": True}
    local = None if is_s3(setting.workdir) else setting.workdir
    with tempfile.TemporaryDirectory(prefix="tmp-", dir=local) as scratch:
        parts = [setting.part(c["task"]) for c in children if c["taken"]]
        weights = dict(map(split_weight, task.operands or parts))
        places = fetch_all(list(weights), scratch, may_lack=bool(task.operands))
        report = {"task": task.name, "level": task.level, "bytes": task.bytes, "part_bytes": 0,
                  "host": socket.gethostname(), "old": False,
                  "left_out": [gone(name) for name in weights if name not in places],
                  "taken": sum(c["taken"] for c in children)}
        if places:
            merge_once(setting, task, places, weights, f"{scratch}/part", report)
        if report["taken"]:
            report["part_bytes"] = os.path.getsize(f"{scratch}/part")
            store(f"{scratch}/part", setting.part(task.name))
        with open(f"{scratch}/report", "w", encoding="utf-8") as file:
            json.dump(report, file)
        store(f"{scratch}/report", setting.report(task.name))
    return report


def run_measured(command: Sequence[str], text: str = "") -> tuple[int, str, Report]:
    """Status and messages of a program that reads the text, and what it took."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="surrogateescape") as given, \
            tempfile.TemporaryFile("w+", errors="surrogateescape") as told:
        given.write(text)
        given.seek(0)
        process = subprocess.Popen(command, stdin=given, stderr=told)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        return process.returncode, told.read(), {
            "wall_s": time.monotonic() - start, "cpu_s": used.ru_utime + used.ru_stime,
            "peak_kib": used.ru_maxrss}


def gone(name: str) -> Report:
    """An input that was listed, and is not in the store any more."""
    return {"file": name, "offset": None, "status": "not found",
            "reason": f"{name}: the store listed this object and has it no more"}


def merge_once(setting: Setting, task: Task, places: dict[str, str], weights: dict[str, int],
               out: str, report: Report) -> None:
    limit = len(places) if task.operands else 0
    command = [setting.pgokit, "merge", "--partial", "--run-names", "none", "--skip-bad",
               str(limit), "--parent", str(os.getpid()), "-q", "-j", str(setting.threads),
               "--files-from", "-", "-o", out]
    status, errors, cost = run_measured(
        command, "".join(f"{place}@{weights[name]}\n" for name, place in places.items()))
    bad = list(bad_inputs(errors, {place: name for name, place in places.items()}))
    if status not in (DONE, INCOMPLETE) and not (
            status == BAD_INPUT and task.operands and len(bad) == len(places)):
        raise RuntimeError(f"{shlex.join(command)}: status {status}: {errors.strip()[-2000:]}")
    report.update(cost, left_out=report["left_out"] + bad)
    report["taken"] = report["taken"] or len(places) - len(bad)


def attempt(setting: Setting, task: Task, children: Sequence[Report]) -> Report:
    """Tries again what may go better: pgokit was killed, a disk was full, a store slow."""
    for left in reversed(range(RETRIES)):
        try:
            failed = next((c for c in children if "error" in c), None)
            return failed or run_task(setting, task, children)
        except Exception as err:
            if not left or isinstance(err, Failure):
                return {"error": str(err), "task": task.name}
            time.sleep(PAUSE_S * 2 ** (RETRIES - left - 1))
    raise AssertionError
