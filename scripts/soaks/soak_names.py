"""Programs of Debian as they are installed, recorded by `pgokit record heap`; then the command that
it prints next is run literally, without an option.

A table says for each program how many of the bytes are allocated by a function that has a name, how
many by one that has a name or is in a library with one, and how many seconds the printed command
takes, of two runs the shorter one, without what earlier runs have kept. Where heaptrack is
installed, the same of what it records is next to that; the seconds are those of heaptrack_print.
Programs are C, C++, Rust, Python, Java, other interpreters, services, and scripts and launchers
that start them. Most command lines are those of tests/runtime/preload_programs.py.

The exit status is 1 if a program has less than 95 % or takes 2 s or more.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import preload_programs

LEAST_PERCENT, MOST_SECONDS, LIMIT_S = 95, 2, 300
# Of the command lines of the tests those with a heap worth looking at.
TAKEN = """
/usr/bin/python3 /usr/bin/perl bash dash awk sed grep sort uniq join find xargs diff tar xz make gcc
as ld objdump readelf nm git sqlite3 openssl jq file gawk zstd 7zr bc m4 flex bison tcc clang-14
clang-19 clang-22 gdb cmake curl gpg vim less groff rsync node java lua5.4 ruby php tclsh guile zsh
fish gnuplot dot gs convert-im6.q16 ffmpeg sox xmllint xsltproc emacs octave-cli Rscript ocaml
rustc pandoc gfortran swipl nasm tex inkscape g++ clang++-14 dpkg apt-cache doxygen w3m
""".split()
# Those that serve are ended after some time; PORT is one that is free.
MORE = r"""
timeout 2 redis-server --port 0 --unixsocket PWD/s
timeout 2 memcached -u root -U 0 -s PWD/m
timeout 2 /usr/bin/python3 -m http.server --bind 127.0.0.1 0
timeout 2 php -S 127.0.0.1:0 -t PWD
sh -c 'sort text | uniq -c | awk "{n += \$1} END {print n}"; gcc -c in.c -o out.o'
env LC_ALL=C nice -n 1 /usr/bin/python3 -c "print(len({i: str(i) for i in range(40000)}))"
find . -name in.c -exec gcc -O2 -S {} -o out.s ;
xargs -n 1 nm < objects
java -Xmx64m PWD/In.java
/usr/bin/python3 -c "import subprocess; subprocess.run(['sort', 'text', '-o', 'out'])"
"""
FILES = {
    "In.java": "public class In { public static void main(String[] a) {"
               " var m = new java.util.HashMap<Integer, String>();"
               " for (int i = 0; i < 20000; i++) m.put(i, \"v\" + i);"
               " System.out.println(m.size()); } }\n",
    "objects": "in.o\n",
}


def lines_of(only):
    """Command lines of programs that are installed."""
    rows = [row for part in (preload_programs.ALWAYS, preload_programs.WHERE_PRESENT)
            for row in preload_programs.rows(part)
            if preload_programs.name_of(row) in TAKEN and "@-" not in row.split()[0] and
            not re.search(r" --?version$| -V$| -v$", row)]
    rows += preload_programs.rows(MORE)
    return [row for row in rows if shutil.which(preload_programs.name_of(row)) and
            (not only or preload_programs.name_of(row) in only)]


class Tried:
    """A program in a folder of its own."""

    def __init__(self, folder, build, line):
        self.folder = os.path.join(folder, "work")
        os.mkdir(self.folder)
        preload_programs.fill(self.folder)
        for name, text in FILES.items():
            pathlib.Path(self.folder, name).write_text(text, encoding="utf-8")
        path, arguments, self.stdin, _ = preload_programs.parts_of(line)
        self.argv = [path, *(part.replace("PWD", self.folder) for part in arguments)]
        self.build = build
        self.env = dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8", TERM="dumb",
                        HOME=os.path.join(self.folder, "home"), DEBUGINFOD_URLS="",
                        PATH=f"{build}/tools:{os.environ['PATH']}")
        self.env.pop("XDG_CACHE_HOME", None)

    def run(self, argv, stdin=None):
        with open(os.path.join(self.folder, stdin) if stdin else os.devnull, "rb") as file:
            return subprocess.run(argv, cwd=self.folder, env=self.env, stdin=file, check=False,
                                  capture_output=True, timeout=LIMIT_S)

    def seconds(self, argv):
        """Of the shorter one of two runs, as if it were the first one."""
        best = None
        for _ in range(2):
            shutil.rmtree(os.path.join(self.folder, "home", ".cache"), ignore_errors=True)
            start = time.monotonic()
            done = self.run(argv)
            took = time.monotonic() - start
            if done.returncode:
                raise RuntimeError(f"{argv}: {done.stderr.decode(errors='replace')[-300:]}")
            best = took if best is None else min(best, took)
        return best

    def shares(self, command):
        """Per cent of the bytes by a named function, and by one with a name or in a library."""
        shown = json.loads(self.run(["sh", "-c", command + " --json"]).stdout)
        named = in_library = total = 0
        for context in shown["contexts"]:
            size = context["mib"].get("TotalSize", 0)
            total += size
            frame = context["stack"][0] if context["stack"] else {}
            # Readers of heaptrack call a function whose library alone is known by that.
            function = frame.get("function", "")
            by_function = bool(function) and not function.startswith("[")
            named += size * by_function
            in_library += size * (by_function or bool(function or frame.get("module")))
        return (100 * named / total, 100 * in_library / total) if total else (100.0, 100.0)


def of_pgokit(tried):
    """Shares and seconds, or why there are none."""
    recorded = tried.run(["pgokit", "record", "heap", "--", *tried.argv], tried.stdin)
    command = re.search(r"^ *(pgokit show .*)$", recorded.stderr.decode(errors="replace"), re.M)
    if not command:
        last = recorded.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError("no next command: " + (last[0] if last else "nothing is said"))
    return (*tried.shares(command[1]), tried.seconds(["sh", "-c", command[1]]))


def of_heaptrack(tried):
    name = os.path.join(tried.folder, "ht")
    tried.run(["heaptrack", "-o", name, *tried.argv], tried.stdin)
    files = [path for path in pathlib.Path(tried.folder).iterdir() if path.name.startswith("ht.")]
    if len(files) != 1:
        raise RuntimeError("no file of heaptrack")
    shares = tried.shares(f"pgokit show {files[0]}")
    return (*shares, tried.seconds(["heaptrack_print", "-f", str(files[0])]))


def row_of(measured):
    return f"{measured[0]:6.1f} {measured[1]:6.1f} {measured[2]:6.2f}"


def try_one(build, line, with_heaptrack):
    """A row of the table; True if it is as it should be."""
    columns, fine = [], True
    for measure in (of_pgokit, of_heaptrack)[:1 + with_heaptrack]:
        with tempfile.TemporaryDirectory(prefix="pgokit-names-") as folder:
            try:
                measured = measure(Tried(folder, build, line))
                columns.append(row_of(measured))
            except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
                measured = None
                columns.append(f"{str(error)[:70]:>20}")
        if measure is of_pgokit:
            fine = bool(measured) and measured[1] >= LEAST_PERCENT and measured[2] < MOST_SECONDS
    return "  |".join(columns), fine


def add_options(parser):
    parser.add_argument("--only", action="append", metavar="NAME", help="this program")
    parser.add_argument("--no-heaptrack", action="store_true", help="pgokit alone")


def soak(options):
    """True: all programs are named, and fast enough."""
    lines = lines_of(options.only)
    with_heaptrack = not options.no_heaptrack and bool(shutil.which("heaptrack"))
    head = "  named   +lib      s"
    print(f"{'':40}{'pgokit':>20}" + (f"  |{'heaptrack':>20}" if with_heaptrack else ""))
    print(f"{'program':40}{head:>20}" + (f"  |{head:>20}" if with_heaptrack else ""))
    wrong = []
    for line in lines:
        row, fine = try_one(options.build, line, with_heaptrack)
        short = line if len(line) < 38 else line[:35] + "..."
        print(f"{short:40}{row}{'' if fine else '   <<<'}", flush=True)
        if not fine:
            wrong.append(short)
    print(f"\n{len(lines)} programs, {len(lines) - len(wrong)} with {LEAST_PERCENT} % of the bytes "
          f"under a name in less than {MOST_SECONDS} s")
    return lines and not wrong
