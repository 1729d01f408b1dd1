"""What recording a heap profile costs: LLVM's runtime against ours, linked with the same objects.

Real programs from Debian's sources, in five variants: plain, counting alone (instrumented, with a
runtime that does nothing), LLVM's runtime, ours. What a runtime adds is its cost above counting
alone in the same turn, the median over the turns; the ratio is what ours adds, divided by what
LLVM's adds, and the quartiles of that ratio over the turns tell what it is worth. Programs run so
long that LLVM's adds about a second. Then small things: a pair of malloc and free, and the start
of an empty program.
"""

import json
import math
import os
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

import measure
from runtime import programs

HERE = os.path.dirname(os.path.abspath(__file__))
REQUIRED_EACH, REQUIRED_MEAN = 0.5, 0.3  # of what LLVM's runtime adds
REQUIRED_MEMORY = 0.9  # of the peak memory with LLVM's
# zstd allocates next to nothing: there is no part that could be halved.
SPARING = {"zstd"}
PAIR_NS, START_MS = 100, 3
LEAST_S = 0.001
THREADS = (1, 2, 4, 8, 16)
STARTS, PAIRS = 40, 2_000_000


# ---- workloads ----

def input_of(bench, name, write):
    """A file in the bench's data, made once; by a child, because the memory that this process has
    ever had is the least that the system reports for any program it starts."""
    path = os.path.join(bench.data, "heap-runtime", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path):
        child = os.fork()
        if not child:
            with open(path + ".new", "w", encoding="utf-8") as file:
                write(file)
            os.rename(path + ".new", path)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise SystemExit(f"bench: cannot make {path}")
    return path


def write_orders(file):
    at_random = random.Random(1)
    json.dump([{"id": i, "price": at_random.randrange(10000) / 100, "count": at_random.randrange(9),
                "customer": {"name": f"customer {at_random.randrange(20000)}",
                             "town": f"town {at_random.randrange(97)}"},
                "tags": [f"tag{at_random.randrange(300)}" for _ in range(i % 5)],
                "note": "".join(at_random.choices("abcdefghij ", k=40))}
               for i in range(100000)], file)


def write_text(bench):
    def write(file):
        for path in programs.files(os.path.join(bench.data, "sources"), "sqlite3-*/src/*.c",
                                   "redis-*/src/*.c", "libzstd-*/lib/*/*.c",
                                   "leveldb-*/*/*.cc", "jq-*/src/*.c",
                                   "lua5.4-*/src/*.c", "sqlite3-*/ext/*/*.c"):
            with open(path, encoding="utf-8", errors="replace") as source:
                file.write(source.read())
    return write


def sqlite(_, __, path):
    """The same shop four times, one after the other."""
    once = ".read " + os.path.join(HERE, "orders.sql")
    return [path, ":memory:", *[once, "drop table orders", "drop table customer"] * 4]


def lua(_, __, path):
    return [path, os.path.join(HERE, "binary_trees.lua"), "15"]


def jq(bench, _, path):
    return [path, "group_by(.customer.town) | map({town: .[0].customer.town, sum: (map(.price * "
            ".count) | add), tags: (map(.tags[]) | unique | join(\",\"))}) | sort_by(.sum)",
            *[input_of(bench, "orders.json", write_orders)] * 2]


def zstd(bench, _, path):
    return [path, "-9", "-q", "-f", input_of(bench, "sources.txt", write_text(bench)), "-o",
            "/dev/null"]


def leveldb(_, scratch, path):
    """Random writes, merged tables, random and ordered reads, as in the tool's own list. What is
    written fits into the write buffer, so that tables are merged when `compact` asks for it, and
    the same ones in every run. With buffers that fill up on the way, the second thread merges when
    it sees fit: runs of one program then differ by 2 % in objects and accesses, and by as much CPU
    time as recording adds; like this, by less than a thousandth of a percent."""
    return [path, f"--db={scratch}/leveldb", "--num=200000", "--reads=400000",
            f"--write_buffer_size={32 << 20}",
            "--benchmarks=fillrandom,compact,overwrite,compact,overwrite,compact,readrandom,"
            "readseq,readreverse,readrandom"]


def redis(bench, scratch, path):
    """The server's cost, while a client that is not measured keeps it busy."""
    client, socket = programs.build_redis_benchmark(bench), os.path.join(scratch, "redis.socket")

    def once():
        start = time.monotonic()
        with subprocess.Popen([path, "--port", "0", "--unixsocket", socket, "--save", "",
                               "--appendonly", "no"], cwd=scratch, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) as server:
            while not os.path.exists(socket):
                time.sleep(0.01)
            subprocess.run([client, "-s", socket, "-q", "-n", "150000", "-c", "20", "-P", "16",
                            "-d", "64", "-r", "50000",
                            "-t", "set,get,lpush,lpop,sadd,hset,zadd"],
                           check=True, stdout=subprocess.DEVNULL)
            server.terminate()
            _, status, usage = os.wait4(server.pid, 0)
            server.returncode = os.waitstatus_to_exitcode(status)
        if server.returncode != 0:
            raise SystemExit(f"bench: {path}: exit status {server.returncode}")
        return (usage.ru_utime + usage.ru_stime, time.monotonic() - start,
                usage.ru_maxrss / 1024)

    return once


def write_edges(file):
    """Each source is compiled by itself, then all are linked."""
    edges = 20000
    file.write("rule cc\n  command = cc -O2 -c $in -o $out\n  description = CC $out\n"
               "rule link\n  command = cc $in -o $out\n  description = LINK $out\n")
    names = [f"objects/part{i % 97}/source_file_{i}.o" for i in range(edges - 1)]
    file.writelines(f"build {name}: cc build.ninja\n" for name in names)
    file.write(f"build program: link {' '.join(names)}\n")


def ninja(bench, _, path):
    """What it would do, of which there is much to find out: it does nothing."""
    return [path, "-n", "-C", os.path.dirname(input_of(bench, "ninja/build.ninja", write_edges))]


def write_items(count):
    def write(file):
        at_random = random.Random(2)
        file.write("<?xml version=\"1.0\"?>\n<shop>\n")
        file.writelines(
            f'  <item id="{i}" kind="{at_random.choice("abcdefgh")}">\n'
            f"    <name>item {at_random.randrange(9999)}</name>\n"
            f"    <price>{at_random.randrange(10000) / 100}</price>\n"
            f"    <note>{''.join(at_random.choices('abcdefghij ', k=30))}</note>\n"
            "  </item>\n" for i in range(count))
        file.write("</shop>\n")
    return write


def xmllint(bench, _, path):
    """Over a file of 3.5 MB, then over one of 14 MB."""
    return [path, "--xpath", "count(//item[price > 50 and @kind = 'c']/note[contains(., 'abc')])",
            input_of(bench, "items-3.5.xml", write_items(25500)),
            input_of(bench, "items-14.xml", write_items(101000))]


def duktape(_, __, path):
    return [path, os.path.join(HERE, "measure.js"), os.path.join(HERE, "mixed.js")]


def tcc(bench, scratch, path):
    """sqlite3 in one file, by sixteen processes one after the other."""
    source, _ = programs.sqlite(bench.data, os.path.join(bench.data, "heap-runtime")).sources
    return ["sh", "-c", 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do "$@" || exit; done',
            "sh", path, "-w", "-c", source, "-o", os.path.join(scratch, "tcc.o")]


WORKLOADS = {"sqlite3": sqlite, "lua": lua, "jq": jq, "zstd": zstd, "leveldb": leveldb,
             "redis": redis, "ninja": ninja, "xmllint": xmllint, "duktape": duktape, "tcc": tcc}


# ---- tables ----

class Added:
    """What the runtimes add to counting alone, CPU time."""

    def __init__(self, name, costs):
        self.name, self.costs = name, costs
        ours, llvm = self.turns("pgokit", "counting"), self.turns("llvm", "counting")
        # A ratio takes numbers above 0; what is at the least is not told, see certain().
        self.ours, self.llvm = (max(statistics.median(turns), LEAST_S) for turns in (ours, llvm))
        self.ratio = self.ours / self.llvm
        self.low, self.high = quartiles([one / max(other, LEAST_S)
                                         for one, other in zip(ours, llvm)])

    def turns(self, variant, other):
        """How much longer one took than another, turn by turn."""
        return [one - two for one, two in zip(self.costs[variant].turns_cpu_s,
                                              self.costs[other].turns_cpu_s)]

    def certain(self):
        """Recording costs something. Where it seems not to, other work disturbed the runs."""
        return min(self.ours, self.llvm) > LEAST_S

    def verdicts(self):
        found = []
        if self.name not in SPARING and not self.certain():
            found.append("not told: runs differ by more than what recording adds; measure again")
        elif self.name not in SPARING:
            holds = self.ratio <= REQUIRED_EACH
            surely = self.high <= REQUIRED_EACH if holds else self.low > REQUIRED_EACH
            found.append(f"adds {self.ratio:.2f} of what LLVM's adds, required {REQUIRED_EACH}: "
                         + ("pass" if holds else "MISS")
                         + ("" if surely else ", but a quarter of the turns say otherwise"))
        # zstd spends all its time outside of both runtimes: where less than a hundredth tells them
        # apart, it is chance.
        least = self.costs["llvm"].cpu_s / 100
        if quartiles(self.turns("pgokit", "llvm"))[0] > least:
            found.append("MISS: more CPU time than LLVM's")
        if self.costs["pgokit"].peak_mib > self.costs["llvm"].peak_mib:
            found.append("MISS: more memory than LLVM's")
        return found


def quartiles(numbers):
    low, _, high = (statistics.quantiles(numbers, n=4, method="inclusive") if len(numbers) > 1
                    else numbers * 3)
    return low, high


def print_head():
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("\nCPU time in s, medians, times plain in brackets; added: above counting alone in the "
          "same turn,\nmedians, and their ratio with the quartiles of the turns; memory below "
          f"{floor:.0f} MiB is not told\n"
          f"{'':<9}{'plain':>7}{'counting':>15}{'LLVM':>15}{'pgokit':>15}"
          f"{'added':>7}{'LLVM':>7}{'ratio':>7}{'quartiles':>13}"
          f"{'peak MiB':>10}{'LLVM':>8}{'plain':>8}")


def print_row(added):
    c, plain = added.costs, added.costs["plain"].cpu_s
    print(f"{added.name:<9}{plain:>7.2f}"
          + "".join(f"{c[v].cpu_s:>8.2f} ({c[v].cpu_s / plain:4.2f})"
                    for v in ("counting", "llvm", "pgokit"))
          + f"{added.ours:>7.2f}{added.llvm:>7.2f}{added.ratio:>7.2f}"
          + f"{added.low:>7.2f}, {added.high:4.2f}"
          + f"{c['pgokit'].peak_mib:>10.1f}{c['llvm'].peak_mib:>8.1f}{c['plain'].peak_mib:>8.1f}")
    for verdict in added.verdicts():
        print(f"{'':<9}{verdict}")


def profiles_into(folder):
    """Where both runtimes put their profiles; emptied between runs by their fixed name."""
    os.environ["PGOKIT_HEAP_OPTIONS"] = f"out={folder}/profile"
    os.environ["MEMPROF_OPTIONS"] = f"log_path={folder}/llvm.profraw"


def geometric_mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers)))


def run_programs(bench, scratch, runs, names):
    rows = []
    for name in names:
        paths = programs.build(bench, name)
        commands = [WORKLOADS[name](bench, scratch, paths[variant])
                    for variant in programs.VARIANTS]
        costs = dict(zip(programs.VARIANTS, measure.in_turn(commands, runs)))
        if not rows:
            print_head()
        rows.append(Added(name, costs))
        print_row(rows[-1])
        print(end="", flush=True)
    allocating = [row for row in rows if row.name not in SPARING]
    if len(allocating) > 1:
        mean = geometric_mean(row.ratio for row in allocating)
        print(f"geometric mean of the ratio, programs that allocate: {mean:.2f}, required "
              f"{REQUIRED_MEAN}: "
              + ("not told" if not all(row.certain() for row in allocating)
                 else "pass" if mean <= REQUIRED_MEAN else "MISS"))
    if len(rows) > 1:
        mean = geometric_mean(row.costs["pgokit"].peak_mib / row.costs["llvm"].peak_mib
                              for row in rows)
        print(f"geometric mean of peak memory, as a part of LLVM's: {mean:.2f}, required "
              f"{REQUIRED_MEMORY}: {'pass' if mean <= REQUIRED_MEMORY else 'MISS'}")
    return rows


def pair_ns(path, threads):
    """LLVM's takes ten times as long, so it gets a tenth of the work."""
    pairs = PAIRS // threads // (10 if path.endswith("llvm") else 1)
    out = subprocess.run([path, str(threads), str(pairs)], check=True, capture_output=True,
                         text=True).stdout
    return float(out)


def run_pairs(paths, runs):
    print("\na pair of malloc and free, stack of ten frames: CPU time in ns, by threads\n"
          + f"{'':<9}" + "".join(f"{threads:>9}" for threads in THREADS))
    for variant in ("plain", "llvm", "pgokit"):
        medians = [statistics.median(pair_ns(paths[variant], threads) for _ in range(runs))
                   for threads in THREADS]
        print(f"{variant:<9}" + "".join(f"{ns:>9.1f}" for ns in medians))
    print(f"{'':<9}pgokit, required below {PAIR_NS} and flat: "
          f"{'pass' if max(medians) < PAIR_NS else 'MISS'}")


def run_starts(paths):
    print(f"\nstart of an empty program, the fastest of {STARTS}: CPU time and time passed in ms")
    costs = dict(zip(programs.VARIANTS,
                     measure.in_turn([[paths[variant]] for variant in programs.VARIANTS], STARTS)))
    for variant in ("plain", "llvm", "pgokit"):
        cost = costs[variant]
        print(f"{variant:<9}{cost.fastest_cpu_s * 1e3:>9.2f}{cost.fastest_wall_s * 1e3:>9.2f}")
    extra = (costs["pgokit"].fastest_wall_s - costs["plain"].fastest_wall_s) * 1e3
    print(f"{'':<9}pgokit adds {extra:.2f}, required below {START_MS}: "
          f"{'pass' if extra < START_MS else 'MISS'}")
    return costs


def run(bench, runs):
    """Prints all; returns (case, tool, cost) for each thing measured."""
    if not shutil.which(programs.CC):
        raise SystemExit(f"bench: {programs.CC} is missing; scripts/deps bench installs it")
    subprocess.run([os.path.join(bench.here, "fetch-sources"), bench.data, *programs.PACKAGES],
                   check=True)
    names = [name for name in WORKLOADS if not bench.only or name in bench.only]
    # In memory: a disk's cost is large, the same for all, and never twice the same.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="pgokit-bench-", dir=memory) as scratch:
        profiles_into(scratch)
        rows = [(added.name, variant, cost)
                for added in run_programs(bench, scratch, runs, names)
                for variant, cost in added.costs.items()]
        if not bench.only or "malloc_pairs" in bench.only:
            paths = programs.build(bench, "malloc_pairs")
            run_pairs(paths, runs)
            rows += [("empty program", *row) for row in run_starts(paths).items()]
    return rows
