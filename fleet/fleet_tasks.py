"""What pgokit-fleet does without an engine: lists inputs, plans the tree of merges, and runs one
of them, on whichever machine."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import dataclasses
import functools
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
import urllib.parse
from typing import Any, Iterator, Sequence
from xml.etree import ElementTree

Report = dict[str, Any]
DONE, INCOMPLETE, FAILED, BAD_INPUT = 0, 1, 2, 3
MIB = 1 << 20
LEAF_FILES = 4096
RETRIES, PAUSE_S = 5, 0.5
FETCHES = 16  # objects that are on their way at once
BUILD_ID = "[0-9a-f]{40}"
BATCH = 1000  # names of files in a command line
JOINED = {"heap", "instr"}  # kinds that one output can hold


class Failure(Exception):
    """The run cannot go on; what is done stays for the next one."""


# ---- where files are: folders, or an object store ----

def is_s3(path: str) -> bool:
    return path.startswith("s3://")


def s3_parts(uri: str) -> tuple[str, str]:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


class Boto:
    """Objects through boto3."""

    def __init__(self, boto3: Any):
        from boto3.s3.transfer import TransferConfig  # type: ignore[import]
        from botocore.config import Config  # type: ignore[import]
        patient = Config(retries={"max_attempts": 10, "mode": "standard"}, read_timeout=60,
                         max_pool_connections=FETCHES)
        self.one_thread = TransferConfig(use_threads=False)
        self.client = boto3.client("s3", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"),
                                   config=patient)

    def get(self, uri: str, to: str) -> None:
        self.client.download_file(*s3_parts(uri), to, Config=self.one_thread)

    def put(self, path: str, uri: str) -> None:
        self.client.upload_file(path, *s3_parts(uri))

    def list(self, uri: str) -> Iterator[tuple[str, int, str]]:
        bucket, prefix = s3_parts(uri)
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        for found in (one for page in pages for one in page.get("Contents", ())):
            yield f"s3://{bucket}/{found['Key']}", found["Size"], found["ETag"]

    def delete(self, uri: str) -> None:
        self.client.delete_object(**dict(zip(("Bucket", "Key"), s3_parts(uri))))


class Curl:
    """Objects through `curl --aws-sigv4`, where boto3 is not installed."""

    def __init__(self) -> None:
        env = os.environ.get
        region = env("AWS_DEFAULT_REGION") or env("AWS_REGION") or "us-east-1"
        amazon = f"https://s3.{region}.amazonaws.com"
        self.endpoint = (env("AWS_ENDPOINT_URL") or amazon).rstrip("/")
        user, secret = env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY")
        if not user or not secret:
            raise Failure("without python3-boto3, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
                          "have to be set")
        token = env("AWS_SESSION_TOKEN")
        # On standard input, because other users of the machine see the command line.
        self.secrets = f"user = {json.dumps(f'{user}:{secret}')}\n" + (
            f"header = {json.dumps(f'x-amz-security-token: {token}')}\n" if token else "")
        self.command = ["curl", "-q", "-sSfg", "--aws-sigv4", f"aws:amz:{region}:s3", "-H",
                        "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--retry", "10",
                        "--retry-connrefused", "--speed-time", "60", "-K", "-"]

    def run(self, uri: str, *words: str, query: str = "") -> bytes:
        bucket, key = s3_parts(uri)
        path = urllib.parse.quote(f"{bucket}/{key}" if key else bucket, safe="/~")
        done = subprocess.run([*self.command, *words, f"{self.endpoint}/{path}{query}"],
                              check=False, capture_output=True, input=self.secrets.encode())
        if done.returncode:
            text = f"{uri}: {done.stderr.decode(errors='replace').strip()}"
            raise FileNotFoundError(text) if "error: 404" in text else RuntimeError(text)
        return done.stdout

    def get(self, uri: str, to: str) -> None:
        self.run(uri, "-o", to)

    def put(self, path: str, uri: str) -> None:
        self.run(uri, "-T", path)

    def list(self, uri: str) -> Iterator[tuple[str, int, str]]:
        bucket, prefix = s3_parts(uri)
        ask = {"list-type": "2", "prefix": prefix}
        while True:  # curl before 8.3 signs the query as it is: sorted and quoted
            query = urllib.parse.urlencode(sorted(ask.items()), quote_via=urllib.parse.quote,
                                           safe="~")
            page = ElementTree.fromstring(self.run(f"s3://{bucket}", query=f"?{query}"))
            for one in page.iterfind("{*}Contents"):
                key, size, state = (one.findtext(f"{{*}}{n}", "") for n in ("Key", "Size", "ETag"))
                yield f"s3://{bucket}/{key}", int(size), state
            ask["continuation-token"] = page.findtext("{*}NextContinuationToken", "")
            if not ask["continuation-token"]:
                return

    def delete(self, uri: str) -> None:
        self.run(uri, "-X", "DELETE")


@functools.lru_cache(maxsize=None)
def s3() -> Boto | Curl:
    try:
        import boto3  # type: ignore[import]
    except ImportError:
        return Curl()
    return Boto(boto3)


def fetch(path: str, to: str) -> str:
    """The file itself, or a copy of it here."""
    if not is_s3(path):
        return path
    s3().get(path, to)
    return to


def fetch_all(paths: Sequence[str], folder: str) -> list[str]:
    """The same for many, several at a time: what an object costs is mostly waiting."""
    if any(map(is_s3, paths)):
        s3()  # boto3 makes clients on one thread only
    with concurrent.futures.ThreadPoolExecutor(FETCHES) as pool:
        return list(pool.map(fetch, paths, (f"{folder}/{n}" for n in range(len(paths)))))


def store(path: str, to: str) -> None:
    if is_s3(to):
        s3().put(path, to)
    else:
        os.replace(path, to)


def list_folder(folder: str) -> Iterator[tuple[str, int, str]]:
    """Each file below a folder or prefix: its name, bytes and state."""
    if is_s3(folder):
        yield from s3().list(folder)
        return
    for place, _, names in os.walk(folder):
        for path in (os.path.join(place, name) for name in names):
            yield path, os.path.getsize(path), str(os.stat(path).st_mtime_ns)


def remove(path: str) -> None:
    if is_s3(path):
        s3().delete(path)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


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
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with open(fetch(setting.report(task.name), f"{scratch}/report"), "rb") as file:
                report: Report = json.load(file)
                return report
        except Exception as err:
            if isinstance(err, FileNotFoundError) or "404" in str(err):
                return None
            raise


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
        operands = task.operands or parts
        names, weights = zip(*map(split_weight, operands)) if operands else ((), ())
        paths = [f"{path}@{weight}" for path, weight in zip(fetch_all(names, scratch), weights)]
        report = {"task": task.name, "level": task.level, "bytes": task.bytes, "part_bytes": 0,
                  "host": socket.gethostname(), "old": False, "left_out": [],
                  "taken": sum(c["taken"] for c in children)}
        if paths:
            merge_once(setting, task, paths, operands, f"{scratch}/part", report)
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


def merge_once(setting: Setting, task: Task, paths: list[str], operands: Sequence[str], out: str,
               report: Report) -> None:
    limit = len(paths) if task.operands else 0
    command = [setting.pgokit, "merge", "--partial", "--run-names", "none", "--skip-bad",
               str(limit), "--parent", str(os.getpid()), "-q", "-j", str(setting.threads),
               "--files-from", "-", "-o", out]
    status, errors, cost = run_measured(command, "".join(f"{p}\n" for p in paths))
    names = {split_weight(p)[0]: split_weight(o)[0] for p, o in zip(paths, operands)}
    bad = list(bad_inputs(errors, names))
    if status not in (DONE, INCOMPLETE) and not (
            status == BAD_INPUT and task.operands and len(bad) == len(paths)):
        raise RuntimeError(f"{shlex.join(command)}: status {status}: {errors.strip()[-2000:]}")
    report.update(cost, left_out=bad)
    report["taken"] = report["taken"] or len(paths) - len(bad)


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
