"""Programs for bench/placement: their command lines for the profile and for measuring, and how the
one that is a server is run."""

import os
import random
import re
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
XPATH = ("count(//item[price>500][@cat='c7']) + count(//item/name[contains(.,'99')]) + sum(//price)"
         " + count(//item[position() mod 7 = 1]/following-sibling::item[1])")
UNLIKE = ("string-length(//item[last()]/note) + count(//note[string-length(.) > 30]) + "
          "count(//@id[starts-with(., 'i1')]) + count(//text()[contains(., 'word word')])")
PERL = "my %h; $h{$_ % 5003} .= \"x$_\" for 1..shift; print length $h{7}, qq(\\n)"
# What redis does is inside of it: a client would need more time than the server.
REDIS = """
local n, sum = tonumber(ARGV[1]), 0
for i = 1, n do
    redis.call('set', 'key:' .. i, 'value ' .. i % 97 .. string.rep('x', i % 40))
    redis.call('hset', 'hash:' .. i % 1000, 'field' .. i, i)
    redis.call('zadd', 'sorted:' .. i % 50, i % 7919, 'member' .. i)
end
for _ = 1, 3 do
    for i = 1, n do
        sum = sum + redis.call('strlen', 'key:' .. (i * 7919) % n + 1)
                  + redis.call('exists', 'key:' .. (i * 31) % (2 * n))
    end
end
return tostring(sum)
"""


def document(folder, items):
    dice, path = random.Random(items), os.path.join(folder, f"{items}.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("<site>\n")
        for i in range(items):
            file.write(f'<item id="i{i}" cat="c{dice.randrange(50)}"><name>thing {i}</name>'
                       f'<price cur="EUR">{dice.randrange(1000)}</price>'
                       f'<note>{"word " * dice.randrange(1, 12)}</note></item>\n')
        file.write("</site>\n")
    return path


def c_program(folder, name, *flags):
    program = os.path.join(folder, name)
    subprocess.run(["gcc", "-O2", "-g", *flags, "-Wl,--build-id", os.path.join(HERE, name + ".c"),
                    "-o", program, "-pthread"], check=True)
    return program


def source(folder, functions):
    path = os.path.join(folder, f"{functions}.c")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(functions):
            file.write(f"int f{i}(int *p, int n) {{ int s = {i}; for (int i = 0; i < n; i++) "
                       f"s += p[i] * {i} + (s >> {i % 7}); return s; }}\n")
    return path


def fewer_rows(folder, sql):
    """The same shop with a tenth of the customers and orders."""
    path = os.path.join(folder, "few.sql")
    with open(sql, encoding="utf-8") as file, open(path, "w", encoding="utf-8") as few:
        few.write(re.sub(r"(i < \d+)0\b", r"\1", file.read()))
    return path


def programs(folder):
    """Name, and command lines for the profile and for measuring; of redis so many keys."""
    xml = ["xmllint", "--xpath"]
    small, large = document(folder, 5000), document(folder, 40000)
    graph, health = c_program(folder, "alloc_graph"), c_program(folder, "alloc_health")
    style = ["xsltproc", os.path.join(HERE, "dear_items.xsl")]
    # Debian's Python has an allocator of its own for small objects, instead of malloc.
    python = ["env", "PYTHONMALLOC=malloc", "/usr/bin/python3",
              os.path.join(HERE, "graph_of_objects.py")]
    sql, trees = (os.path.join(HERE, "runtime", name) for name in ("orders.sql",
                                                                    "binary_trees.lua"))
    few = fewer_rows(folder, sql)
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, text=True,
                              capture_output=True).stdout.strip()
    compile_it = [compiler, "-quiet", "-O2", "-o", "-"]
    return {
        "xpath": ([*xml, XPATH, small], [*xml, XPATH, large]),
        "xpath, other queries": ([*xml, XPATH, small], [*xml, UNLIKE, large]),
        "xsltproc": ([*style, document(folder, 3000)], [*style, document(folder, 15000)]),
        "health": ([health, "6", "100"], [health, "7", "160"]),
        "graph": ([graph, "5000", "10", "1"], [graph, "150000", "40", "1"]),
        "graph, 4 threads": ([graph, "5000", "10", "1"], [graph, "50000", "40", "4"]),
        "sqlite3": (["sqlite3", ":memory:", ".read " + few],
                    ["sqlite3", ":memory:", ".read " + sql]),
        "lua": (["lua5.4", trees, "8"], ["lua5.4", trees, "15"]),
        "perl": (["perl", "-e", PERL, "20000"], ["perl", "-e", PERL, "1500000"]),
        "python": ([*python, "8000", "4"], [*python, "60000", "20"]),
        "redis": (["redis-server", "5000"], ["redis-server", "60000"]),
        "cc1": ([*compile_it, source(folder, 30)], [*compile_it, source(folder, 400)]),
    }


def program_of(argv):
    """The program of a command line that may set variables first."""
    return argv[2] if argv[0] == "env" else argv[0]


def ask_redis(address, keys):
    asked = subprocess.run(["redis-cli", "-s", address, "--raw", "eval", REDIS, "0", keys],
                           check=True, capture_output=True)
    subprocess.run(["redis-cli", "-s", address, "shutdown", "nosave"], check=False,
                   capture_output=True)
    return asked.stdout


class Run:
    """A process, with what it printed when it has ended. A server is asked, and ends then."""

    def __init__(self, prefix, argv):
        self.redis = argv[0] == "redis-server"
        self.folder = tempfile.TemporaryDirectory(prefix="pgokit-bench-")
        self.out = tempfile.TemporaryFile()
        self.argv, self.keys = argv, None
        if self.redis:
            self.address = os.path.join(self.folder.name, "socket")
            self.keys = argv[1]
            argv = ["redis-server", "--port", "0", "--unixsocket", self.address, "--save", "",
                    "--appendonly", "no", "--dir", self.folder.name, "--logfile",
                    os.path.join(self.folder.name, "log")]
        self.started = time.monotonic()
        self.child = subprocess.Popen([*prefix, *argv], stdin=subprocess.DEVNULL, stdout=self.out,
                                      stderr=subprocess.DEVNULL)

    def end(self):
        """Processor time, elapsed time, MiB at the peak, and the output."""
        text = b""
        if self.redis:
            while not os.path.exists(self.address):
                if time.monotonic() - self.started > 60:
                    self.child.send_signal(signal.SIGTERM)
                    raise SystemExit("bench: redis-server does not start")
                time.sleep(0.01)
            text = ask_redis(self.address, self.keys)
        _, status, usage = os.wait4(self.child.pid, 0)
        seconds = time.monotonic() - self.started
        self.child.returncode = os.waitstatus_to_exitcode(status)
        if self.child.returncode:
            raise SystemExit(f"bench: exit code {self.child.returncode}: {' '.join(self.argv)}")
        self.out.seek(0)
        text += self.out.read()
        self.out.close()
        self.folder.cleanup()
        return usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024, text
