#!/usr/bin/env python3
"""Debug files and programs that nobody gave: from perf's cache, from that of debuginfod, and from a
debuginfod server on the loopback, and what is said where a server does not do what it should."""

import contextlib
import http.server
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from peers import Variant, good, main, read, require, run, tool

SOURCE = "lifetimes.cpp"
START_SECONDS = 300  # for a server on a busy machine
NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Case:
    """A recorded program that is not where it was, and a folder that a server may show: with the
    program, stripped, and its debug file."""

    def __init__(self, work):
        self.pgokit, self.folder = work.pgokit, pathlib.Path(work.temp("case"))
        program = work.build(SOURCE, Variant(22, "-pie"))
        self.raw = program.raw
        self.served, self.cache = self.folder / "served", self.folder / "cache"
        self.served.mkdir()
        self.debug, self.stripped = self.served / "app.debug", self.served / "app"
        good(tool("objcopy"), "--only-keep-debug", program.exe, self.debug)
        good(tool("objcopy"), "--strip-all", program.exe, self.stripped)
        self.exe = self.folder / "app"
        shutil.copy(program.exe, self.exe)
        self.id = re.search(r"Build ID: ([0-9a-f]+)", good(tool("readelf"), "-n", self.exe))[1]
        self.expected = self.named_lines(self.show("-b", self.exe))
        require(self.expected, "the program itself gives no names")

    @staticmethod
    def named_lines(result):
        """Lines with names of the program: libraries of this machine may have names, too."""
        return sorted(line for line in result.text.splitlines() if SOURCE in line)

    def show(self, *options, **environment):
        env = {"HOME": self.folder / "home", "XDG_CACHE_HOME": self.folder / "none",
               "DEBUGINFOD_CACHE_PATH": self.cache, "PERF_CONFIG": "/dev/null", "no_proxy": "*",
               "DEBUGINFOD_URLS": "", "PERF_BUILDID_DIR": "", **environment}
        return run(self.pgokit, "show", self.raw, "--no-cache", *options,
                   env={name: os.fspath(value) for name, value in env.items()})

    def named(self, what, *options, **environment):
        result = self.show(*options, **environment)
        require(result.code == 0 and self.named_lines(result) == self.expected, f"{what}: {result}")
        return result

    def unnamed(self, what, *said, options=(), **environment):
        result = self.show(*options, **environment)
        require(result.code == 0 and SOURCE not in result.text, f"{what}: {result}")
        for text in said:
            require(text in result.errors, f"{what}: '{text}' is not said: {result}")
        return result

    def cached(self, name):
        return self.cache / self.id / name


# ---- caches ----

def in_debuginfod_cache(work):
    case = Case(work)
    case.unnamed("nothing there", "holds no names")
    case.cached("debuginfo").parent.mkdir(parents=True)
    shutil.copy(case.debug, case.cached("debuginfo"))
    result = case.named("without -b")
    require("by build id" in result.errors and str(case.cached("debuginfo")) in result.errors,
            str(result))
    case.named("a stripped program", "-b", case.stripped)
    case.named("in the folder of XDG_CACHE_HOME", DEBUGINFOD_CACHE_PATH="",
               XDG_CACHE_HOME=renamed(case.cache, case.folder / "xdg/debuginfod_client").parent)


def a_library_alone(work):
    """Its frames alone would make a profile of what the program has to do with it."""
    case, program = Case(work), work.modules(Variant(22, "-pie"))
    case.raw = program.raw
    for name in ("lib.so", "prog"):
        path = program.path(name)
        case.id = re.search(r"Build ID: ([0-9a-f]+)", good(tool("readelf"), "-n", path))[1]
        case.cached("debuginfo").parent.mkdir(parents=True)
        good(tool("objcopy"), "--only-keep-debug", path, case.cached("debuginfo"))
        result = case.show()
        require(result.code == 0 and ("module_library.cpp" in result.text) == (name == "prog"),
                f"with {name}: {result}")


def renamed(path, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    path.rename(to)
    return to


def bad_files_of_a_cache(work):
    case = Case(work)
    path = case.cached("debuginfo")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    require("debuginfo" not in case.unnamed("no server had it", "holds no names").errors, "told")
    whole = read(case.debug)
    path.write_bytes(whole[:len(whole) // 2])
    case.unnamed("truncated", str(path), "is not used", "remove it")
    path.write_bytes(whole.replace(bytes.fromhex(case.id), bytes(len(case.id) // 2)))
    case.unnamed("another build id", str(path), "build id is not that of its name")


def in_perfs_cache(work):
    case, perf = Case(work), tool("perf")
    folder = case.folder / "perf-cache"
    good(perf, "--buildid-dir", folder, "buildid-cache", "--add", case.exe)
    case.named("PERF_BUILDID_DIR", PERF_BUILDID_DIR=folder)
    config = case.folder / "perfconfig"
    config.write_text(f"[report]\n\tdir = /nowhere\n[buildid]\n\tdir = {folder} # here\n",
                      encoding="utf-8")
    case.named("buildid.dir", PERF_CONFIG=config)
    folder.rename(case.folder / ".debug")
    case.named("in the home folder", HOME=case.folder)
    case.unnamed("nowhere", "holds no names")


# ---- a server ----

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def has(url):
    with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
        with NO_PROXY.open(url, timeout=60) as answer:
            return bool(answer.read(1))
    return False


@contextlib.contextmanager
def debuginfod(case, wanted):
    """Debian's server, from when it has what is wanted."""
    program = tool("debuginfod")
    port, log = free_port(), case.folder / "server.log"
    url = f"http://127.0.0.1:{port}"
    with open(log, "w", encoding="utf-8") as out:
        server = subprocess.Popen(
            [program, "-F", "-d", case.folder / "index.sqlite", "-p", str(port), "-t", "1",
             case.served], stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_SECONDS
        while not has(f"{url}/buildid/{case.id}/{wanted}"):
            text = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            require(server.poll() is None and time.monotonic() < end, f"no server: {text}")
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait()


def from_a_server(work):
    case = Case(work)
    with debuginfod(case, "debuginfo") as url:
        case.unnamed("not by itself", "holds no names")
        case.unnamed("not wanted", "holds no names", options=["--no-debuginfod"],
                     DEBUGINFOD_URLS=url)
        require(not case.cache.exists(), "something was downloaded")
        result = case.named("downloaded", DEBUGINFOD_URLS=url)
        require(f"servers of DEBUGINFOD_URLS ({url})" in result.errors, str(result))
        require(read(case.cached("debuginfo")) == read(case.debug), "other bytes")
    case.named("from the cache, with the server gone", DEBUGINFOD_URLS=url)
    case.named("from the cache, without servers")


def a_stripped_program(work):
    case = Case(work)
    with debuginfod(case, "debuginfo") as url:
        listing = good(case.pgokit, "disasm", case.stripped, "--function", "keep", "--source",
                       env=server_env(case, url))
        require(SOURCE in listing, listing)
        shutil.rmtree(case.cache)
        case.named("show -b", "-b", case.stripped, DEBUGINFOD_URLS=url)


def server_env(case, url):
    return {"HOME": os.fspath(case.folder), "PERF_CONFIG": "/dev/null", "DEBUGINFOD_URLS": url,
            "DEBUGINFOD_CACHE_PATH": os.fspath(case.cache), "no_proxy": "*"}


def a_program_without_debug_file(work):
    case = Case(work)
    case.debug.unlink()
    with debuginfod(case, "executable") as url:
        result = case.unnamed("downloaded", "it has no debug information", DEBUGINFOD_URLS=url)
        require(read(case.cached("executable")) == read(case.stripped), str(result))


# ---- servers that do not do what they should ----

@contextlib.contextmanager
def faulty(answer):
    """A server that answers each request by `answer(handler)`; yields its address and requests."""
    asked, over = [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            answer(self, over)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def send(handler, data, size):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/octet-stream")
    handler.send_header("Content-Length", str(size))
    handler.end_headers()
    handler.wfile.write(data)
    handler.close_connection = True


def gone(work):
    tool("debuginfod")
    case = Case(work)
    url = f"http://127.0.0.1:{free_port()}"
    result = case.unnamed("gone", "no server of DEBUGINFOD_URLS gave", "not asked again",
                          DEBUGINFOD_URLS=url)
    require(result.errors.count("not asked again") == 1, str(result))


def without_the_file(work):
    tool("debuginfod")
    case = Case(work)
    with faulty(lambda handler, _: handler.send_error(404)) as (url, asked):
        result = case.unnamed("404", "holds no names", DEBUGINFOD_URLS=url)
        require("warning" not in result.errors, str(result))
        require(any(path.endswith(f"{case.id}/debuginfo") for path in asked) and
                any(path.endswith(f"{case.id}/executable") for path in asked), str(asked))
        del asked[:]
        case.unnamed("404, known", "holds no names", DEBUGINFOD_URLS=url)
        require(not asked, f"asked again: {asked}")


def slow(work):
    tool("debuginfod")
    case = Case(work)
    with faulty(lambda _, over: over.wait()) as (url, asked):
        case.unnamed("slow", "no server of DEBUGINFOD_URLS gave", "DEBUGINFOD_TIMEOUT",
                     DEBUGINFOD_URLS=url, DEBUGINFOD_TIMEOUT="1", DEBUGINFOD_RETRY_LIMIT="1")
        require(len({*asked}) == 1, f"asked for more: {asked}")


def cut_short(work):
    tool("debuginfod")
    case = Case(work)
    data = read(case.debug)
    with faulty(lambda handler, _: send(handler, data[:1000], len(data))) as (url, _):
        case.unnamed("connection lost", "holds no names", DEBUGINFOD_URLS=url)
        require(not case.cached("debuginfo").exists() or not read(case.cached("debuginfo")),
                "half a file is in the cache")
    shutil.rmtree(case.cache, ignore_errors=True)
    with faulty(lambda handler, _: send(handler, data[:1000], 1000)) as (url, _):
        case.unnamed("half a file", str(case.cached("debuginfo")), "is not used",
                     DEBUGINFOD_URLS=url)


def another_build_id(work):
    tool("debuginfod")
    case = Case(work)
    data = read(case.debug).replace(bytes.fromhex(case.id), bytes(len(case.id) // 2))
    with faulty(lambda handler, _: send(handler, data, len(data))) as (url, _):
        case.unnamed("another build id", "build id is not that of its name", DEBUGINFOD_URLS=url)


def without_the_library(work):
    """What programs say that cannot load libdebuginfod: here, one of another format."""
    case = Case(work)
    folder = case.folder / "libraries"
    folder.mkdir()
    (folder / "libdebuginfod.so.1").write_text("no library\n", encoding="utf-8")
    case.unnamed("no library", "libdebuginfod.so.1 cannot be loaded", LD_LIBRARY_PATH=folder,
                 DEBUGINFOD_URLS="http://127.0.0.1:1")


def cases(work, tap):
    for fn in (in_debuginfod_cache, a_library_alone, bad_files_of_a_cache, in_perfs_cache,
               from_a_server, a_stripped_program, a_program_without_debug_file, gone,
               without_the_file, slow, cut_short, another_build_id, without_the_library):
        tap.add(fn.__name__.replace("_", " "), fn, work)


if __name__ == "__main__":
    sys.exit(main(cases))
