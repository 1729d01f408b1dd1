#!/usr/bin/env python3
"""pgokit-fleet comes to the bytes of one process, whatever is killed, damaged, full or slow.

usage: fleet_faults.py PGOKIT

PGOKIT_TEST_FAULTS is how often each fault happens (default 1), to generated sample profiles and to
recorded heap profiles in turn; PGOKIT_TEST_PROFILES is how many profiles there are (default 48),
PGOKIT_TEST_RECORDED a folder of heap profiles to take instead of those in tests/golden,
PGOKIT_TEST_ONLY a part of the names of those faults that are wanted, and PGOKIT_TEST_SEED the seed,
which is printed.
"""

import contextlib
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))
sys.path.insert(0, str(HERE.parent / "interop"))

import sample_texts  # noqa: E402
from fleet_harness import (PROFILES, Cluster, Run, Store, cramped_pgokit,  # noqa: E402
                           descendants, name_of, no_boto3, slow_pgokit, until, why_no_curl, why_not)
from merge_trees import golden, sample_files  # noqa: E402
from tap import Report  # noqa: E402

TIMES = int(os.environ.get("PGOKIT_TEST_FAULTS", "1"))
RECORDED = os.environ.get("PGOKIT_TEST_RECORDED")
ONLY = os.environ.get("PGOKIT_TEST_ONLY", "")
SEED = int(os.environ.get("PGOKIT_TEST_SEED", random.randrange(1 << 30)))
TASKS = 12


class Wrong(Exception):
    """Something does not hold."""


def require(condition, text):
    if not condition:
        raise Wrong(text)


def generated_samples():
    """Sample profiles, one that can be cut, and how they are merged."""
    kinds = [sample_texts.text(seed, "flat", True, seed).encode() for seed in range(23)]
    return kinds, golden("sample", "llvm*-ext.afdo"), ["--vtables"]


def recorded_heaps():
    files = ([str(p) for p in sorted(pathlib.Path(RECORDED).iterdir())] if RECORDED
             else golden("heap-raw", "clang*.profraw"))
    kinds = [pathlib.Path(p).read_bytes() for p in files]
    return kinds, files, ["--partial", "--run-names", "none"]


class Fleet:
    """Profiles, what one process makes of them, and a folder to work in."""

    def __init__(self, pgokit, folder, rng, profiles):
        self.pgokit, self.folder, self.rng = pgokit, pathlib.Path(folder), rng
        self.inputs, self.count, self.runs = self.folder / "in", 0, []
        self.inputs.mkdir(parents=True)
        kinds, self.cuttable, self.last = profiles
        for i in range(PROFILES):
            build = "0123456789abcdef"[i % 3] * 40
            (self.inputs / f"{build}-{i}.prof").write_bytes(kinds[i % len(kinds)])
        self.one = self.alone([self.inputs], self.last)
        size = sum(p.stat().st_size for p in self.inputs.iterdir())
        self.options = ["--shard-bytes", size // TASKS, "--patience", "120",
                        "--group-by", "[0-9a-f]{40}"]
        self.started = self.folder / "started"
        self.slow = slow_pgokit(folder, os.path.abspath(pgokit), 0.3, self.started)

    def alone(self, inputs, last):
        run = os.path.join(self.folder, "one")
        command = [self.pgokit, "merge", *map(str, inputs), *last, "-q", "-o", run]
        status = os.spawnvp(os.P_WAIT, command[0], command)
        require(status in (0, 1), f"one process: {status}")
        return pathlib.Path(run).read_bytes()

    def new_out(self):
        self.count += 1
        return self.folder / f"out{self.count}"

    def reworked(self, result):
        """How many shards were merged again since the last call. The last merge is no shard."""
        started = len(self.started.read_text()) - ("--partial" in self.last)
        self.started.unlink()
        return started - result["tasks"]

    def run(self, *options, source=None, pgokit=None, out=None, **kw):
        return self.begin(pgokit or self.slow, source or [self.inputs], out or self.new_out(),
                          *self.options, *options, last=self.last, **kw)

    def begin(self, *args, **kw):
        self.runs.append(Run(*args, **kw))
        return self.runs[-1]

    def stop(self):
        """No run outlives the turn that began it."""
        while self.runs:
            self.runs.pop().stop()

    def check(self, run, bad=(), want=None):
        """It ended well, with these inputs left out, and nothing is left."""
        status, result, errors = run.end()
        require(status == (1 if bad else 0), f"status {status}: {errors}")
        require(run.out.read_bytes() == (want or self.one), "other bytes than those of one process")
        names = sorted(os.path.basename(b["file"]) for b in result["left_out"])
        require(names == sorted(bad), f"left out: {names}")
        require(not os.path.exists(f"{run.out}.work"), "the work folder is still there")
        return result


def done_tasks(run):
    return len(list(pathlib.Path(f"{run.out}.work").glob("*.json")))


def at_random(fleet, run):
    """Waits until some of the tasks are done."""
    wanted = fleet.rng.randint(1, TASKS - 4)
    until(lambda: done_tasks(run) >= wanted or not run.running(), "tasks that are done")
    time.sleep(fleet.rng.random() * 0.3)


def at_most(fleet, shards, result):
    """A kill costs what was being merged, and no more."""
    reworked = fleet.reworked(result)
    require(reworked <= shards, f"{reworked} shards were merged again")


def nothing_happens(fleet):
    fleet.check(fleet.run(pgokit=fleet.pgokit))


def nobody_else_can_foresee(fleet):
    """What Dask keeps of a run lies in a folder of this run, which only its user can open."""
    temporary = fleet.folder / "tmp"
    temporary.mkdir()
    run = fleet.run(pgokit=fleet.pgokit, env={"TMPDIR": str(temporary)})
    until(lambda: any(temporary.glob("**/dask-*")) or not run.running(), "a folder of Dask")
    found = [*temporary.glob("dask-*"), *temporary.glob("*/dask-*")]
    require(found, "Dask has no folder")
    for path in found:
        require(path.parent != temporary, f"{path.name} has a name that others know")
        require(not path.parent.stat().st_mode & 0o077, f"{path.parent} is open to others")
    fleet.check(run)
    temporary.rmdir()


def every_kind(fleet):
    """Heap profiles, counters, both with an earlier output, samples with probes and contexts, in
    shards of a few files."""
    part = ["--partial", "--run-names", "none"]
    counters = golden("instr-raw", "clang*-ir.profraw")
    base = golden("instr-indexed", "llvm22-ir.profdata")[0] + "@2"
    kinds = [(golden("heap-raw", "clang*.profraw"), [], part), (counters, [], []),
             (counters + golden("yaml", "*.yaml"), ["--base", base], ["--to", "llvm22"])]
    for kind in ("probe", "cs", "cs-probe"):
        kinds.append((sample_files(fleet.folder, kind), [], ["--vtables"]))
    cluster = Cluster(fleet.folder)
    try:
        for files, options, last in kinds:
            want = fleet.alone([*files, *options[1:]], last)
            run = fleet.begin(fleet.pgokit, files, fleet.new_out(), "--shard-bytes", "1000",
                              "--scheduler", cluster.address, *options, last=last)
            require(fleet.check(run, want=want)["tasks"] > 1, "one task for all")
    finally:
        cluster.close()


def worker_killed(fleet):
    cluster = Cluster(fleet.folder)
    try:
        run = fleet.run("--scheduler", cluster.address)
        at_random(fleet, run)
        cluster.kill_worker(fleet.rng)
        at_most(fleet, 1, fleet.check(run))
    finally:
        cluster.close()


def pgokit_killed(fleet):
    cluster = Cluster(fleet.folder)
    try:
        run = fleet.run("--scheduler", cluster.address)
        at_random(fleet, run)
        victims = []
        until(lambda: victims.extend(cluster.merges()) or victims or not run.running(),
              "a merge that runs")
        for victim in victims[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        at_most(fleet, 1, fleet.check(run))
    finally:
        cluster.close()


def scheduler_killed(fleet):
    cluster = Cluster(fleet.folder)
    try:
        run = fleet.run("--scheduler", cluster.address)
        at_random(fleet, run)
        cluster.restart_scheduler()
        at_most(fleet, len(cluster.workers), fleet.check(run))
    finally:
        cluster.close()


def all_killed(fleet):
    """The run itself, with its cluster: the next one goes on, and the orphans end."""
    run = fleet.run()
    at_random(fleet, run)
    started = list(descendants(run.process.pid))
    done = done_tasks(run)
    run.process.kill()
    run.end()
    again = fleet.run(out=run.out)
    result = fleet.check(again)
    fresh = [r for r in result["reports"] if not r["old"]]
    require(len(fresh) <= result["tasks"] - done, f"{done} were done, {len(fresh)} ran again")
    at_most(fleet, os.cpu_count(), result)
    until(lambda: not any(" merge " in name_of(pid) for pid in started), "orphans to end")


def killed_at_start(fleet):
    """Workers of this machine, while they start, and with them Python's resource tracker."""
    run = fleet.run("--workers", "2")

    def of_dask():
        return [pid for pid in descendants(run.process.pid)
                if any(word in name_of(pid) for word in ("spawn_main", "resource_tracker"))]

    until(lambda: len(of_dask()) == 3 or not run.running(), "two workers and the tracker")
    require(run.running(), "the run ended before its workers")
    for pid in of_dask():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    fleet.check(run)


def bad_inputs(fleet):
    cut = fleet.folder / "bad" / "cut.prof"
    forged = fleet.folder / "bad" / "forged.prof"
    cut.parent.mkdir(exist_ok=True)
    whole = pathlib.Path(fleet.rng.choice(fleet.cuttable)).read_bytes()
    cut.write_bytes(whole[:fleet.rng.randint(1, len(whole) - 1)])
    forged.write_bytes(fleet.rng.randbytes(fleet.rng.randint(1, 5000)))
    fleet.check(fleet.run(source=[fleet.inputs, cut.parent], pgokit=fleet.pgokit),
                [cut.name, forged.name])
    refused = fleet.run("--max-bad", "1", source=[fleet.inputs, cut.parent], pgokit=fleet.pgokit)
    status, result, errors = refused.end()
    require(status == 3 and len(result["left_out"]) == 2, f"status {status}: {errors}")
    require(not refused.out.exists(), "there is an output with too many inputs left out")


def delivered_twice(fleet):
    again = fleet.rng.choice(sorted(fleet.inputs.iterdir()))
    fleet.check(fleet.run(source=[fleet.inputs, again], pgokit=fleet.pgokit), [again.name])


def full_disk(fleet):
    """No merge can write more than a few bytes, until there is room again: soon, or in the next
    run."""
    full, tried = fleet.folder / "full", fleet.folder / "tried"
    pgokit = cramped_pgokit(fleet.folder, os.path.abspath(fleet.pgokit), full, tried)
    full.touch()
    run = fleet.run(pgokit=pgokit)
    until(lambda: tried.exists() or not run.running(), "a merge without room")
    full.unlink()
    fleet.check(run)
    full.touch()
    run = fleet.run(pgokit=pgokit)
    status, _, errors = run.end()
    require(status == 2 and "File too large" in errors, f"status {status}: {errors}")
    require(not run.out.exists() and not done_tasks(run), "half of it is there")
    full.unlink()
    fleet.check(fleet.run(pgokit=pgokit, out=run.out))


def object_store(fleet, trouble, env=None):
    """One object is no profile, and one is deleted after it was listed."""
    store = Store(trouble, fleet.rng)
    for path in fleet.inputs.iterdir():
        store.objects[f"/profiles/day/{path.name}"] = path.read_bytes()
    store.objects["/profiles/day/forged.prof"] = fleet.rng.randbytes(100)
    store.objects["/profiles/day/gone.prof"] = None
    before = len(store.objects)
    try:
        run = fleet.run("--workdir", "s3://profiles/work", source=["s3://profiles/day/"],
                        pgokit=fleet.pgokit, env={**store.env(), **(env or {})})
        fleet.check(run, ["forged.prof", "gone.prof"])
        require(len(store.objects) == before, "objects are left in the work folder")
        require(store.failed > 0, "the store answered all requests at once")
    finally:
        store.shutdown()
        store.server_close()


FAULTS = {
    "nothing happens": (nothing_happens, []),
    "Dask keeps its files where nobody else can foresee": (nobody_else_can_foresee, []),
    "profiles of every kind": (every_kind, []),
    "a worker is killed": (worker_killed, []),
    "pgokit is killed": (pgokit_killed, []),
    "the scheduler is killed and started again": (scheduler_killed, []),
    "everything is killed, and run again": (all_killed, []),
    "workers are killed while they start": (killed_at_start, []),
    "a truncated and a forged input": (bad_inputs, []),
    "an input is delivered twice": (delivered_twice, []),
    "the disk is full for a while": (full_disk, []),
    "an object store answers errors": (lambda f: object_store(f, "errors"), ["boto3"]),
    "an object store is slow": (lambda f: object_store(f, "slow"), ["boto3"]),
    "an object store, by curl, answers errors": (
        lambda f: object_store(f, "errors", no_boto3(f.folder)), []),
}


def all_faults(pgokit, rng):
    """Yields the name of each fault, why it cannot be tried, what went wrong, and seconds."""
    for name, (fault, modules) in FAULTS.items():
        if ONLY not in name:
            continue
        reason = why_not("distributed", *modules) or ("by curl" in name and why_no_curl())
        problems, start = [], time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            fleets = [] if reason else [
                Fleet(pgokit, os.path.join(folder, make.__name__), rng, make())
                for make in rng.sample([generated_samples, recorded_heaps], min(TIMES, 2))]
            for turn in range(TIMES if fleets else 0):
                try:
                    fault(fleets[turn % 2])
                except (Wrong, RuntimeError) as err:
                    problems.append(f"turn {turn}, seed {SEED}: {err}")
                finally:
                    fleets[turn % 2].stop()
        yield name, reason, problems, time.monotonic() - start


def main():
    report = Report()
    print(f"# seed {SEED}")
    for name, reason, problems, seconds in all_faults(sys.argv[1], random.Random(SEED)):
        if reason:
            report.skip(name, reason)
        else:
            report.case(f"{name}: {TIMES - len(problems)} of {TIMES}", problems)
            print(f"# {seconds:.0f} s")
    report.end()


if __name__ == "__main__":
    main()
