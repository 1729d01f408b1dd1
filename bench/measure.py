"""Timing of whole processes: commands run in turn (A B C, B C A, ...), medians of what the system
accounts to each finished child. CPU time is user plus system over all threads."""

import os
import statistics
import subprocess
import time


class Cost:
    """Medians over the runs of one command, the fastest of them, and the CPU time of each."""

    def __init__(self, runs):
        self.turns_cpu_s = [r[0] for r in runs]
        self.cpu_s = statistics.median(self.turns_cpu_s)
        self.wall_s = statistics.median(r[1] for r in runs)
        self.fastest_cpu_s = min(r[0] for r in runs)
        self.fastest_wall_s = min(r[1] for r in runs)
        self.peak_mib = statistics.median(r[2] for r in runs)


def once(argv):
    start = time.monotonic()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    # Read before waiting: a child that fills the pipe would never end.
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stderr.close()
    if child.returncode != 0:
        raise SystemExit(f"bench: exit code {child.returncode}: {' '.join(argv)}\n"
                         + errors.decode(errors="replace")[-2000:])
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def in_turn(commands, runs, warm_up=1):
    """The Cost of each command: arguments, or a function that runs something and returns what
    once() returns. Each turn begins with another one, so that none always comes after the same."""
    measured = [[] for _ in commands]
    for turn in range(warm_up + runs):
        first = turn % len(commands)
        for at in [*range(first, len(commands)), *range(first)]:
            argv, results = commands[at], measured[at]
            cost = argv() if callable(argv) else once(argv)
            if turn >= warm_up:
                results.append(cost)
    return [Cost(results) for results in measured]


def first_match(path, key):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                if line.startswith(key):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return "unknown"


def machine():
    """One line on where the numbers were taken."""
    memory = first_match("/proc/meminfo", "MemTotal").split()[0]
    gib = f"{int(memory) / (1 << 20):.0f} GiB" if memory.isdigit() else "unknown memory"
    return (f"{first_match('/proc/cpuinfo', 'model name')}, {os.cpu_count()} processors, {gib}, "
            f"Linux {os.uname().release}")
