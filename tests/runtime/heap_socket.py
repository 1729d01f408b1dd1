#!/usr/bin/env python3
"""The socket of a running program: requests under load, clients that send nonsense or nothing,
and what the program sees of all this. PGOKIT_TEST_REQUESTS=10000 sends so many requests."""

import concurrent.futures
import http.client
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import time

import raw_profile
from harness import PATIENCE, Cases, Failure, Skip, require, run, tool, wait_until
from pprof_profile import Pprof
from runtime_programs import PGOKIT, SHARED, HERE, build, check_sound, one_file

REQUESTS = int(os.environ.get("PGOKIT_TEST_REQUESTS", "400"))
REQUEST_SECONDS = 2  # until a client has to have sent all of its request
VALUES = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
          ("inuse_space", "bytes")]


class Served:
    """A running program with a socket."""

    def __init__(self, folder, program, *arguments, options="", preload=False, name="s.sock",
                 wait=True):
        self.folder, self.path = folder, os.path.join(folder, name)
        env = dict(os.environ, PGOKIT_HEAP=f"socket={self.path}:{options}")
        if preload:
            env["LD_PRELOAD"] = SHARED
        self.process = subprocess.Popen([program, *arguments], cwd=folder, env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.pid = None
        if wait:
            self.wait()

    def wait(self):
        """Until it has started, and its socket with it."""
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise Failure(f"the program said {line!r} {self.ended(None)}")
        self.pid = int(line.split()[1])
        self.path = self.path.replace("%p", str(self.pid))

    def ended(self, status=0, err=""):
        """What the program had to say, having been told to end."""
        out, said = self.process.communicate(timeout=PATIENCE)
        require(status is None or self.process.returncode == status and out == "fine\n" and
                said == err, f"status {self.process.returncode}, {out!r}, {said!r}")
        return said

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(PATIENCE)
        client.connect(self.path)
        return client

    def ask(self, request):
        with self.connect() as client:
            client.sendall(request.encode() + b"\n")
            return read_all(client)

    def get(self, path, method="GET"):
        connection = http.client.HTTPConnection("localhost", timeout=PATIENCE)
        connection.sock = self.connect()
        connection.request(method, path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def status(self):
        return dict(line.split(": ", 1) for line in self.ask("status").splitlines())

    def status_when(self, right):
        """The status once it is as wanted."""
        end = time.monotonic() + PATIENCE
        while not right(told := self.status()):
            require(time.monotonic() < end, f"the status stays {told}")
            time.sleep(0.02)
        return told

    def at_work(self):
        """When its threads have allocated, each in each of its ways."""
        return self.status_when(lambda told: int(told["allocated objects"]) > 5000)

    def dump(self):
        answer = self.ask("dump")
        require(answer.startswith("ok: dump written to "), answer)
        return answer.split(" to ", 1)[1].strip()


def read_all(client):
    found = b""
    while part := client.recv(65536):
        found += part
    return found.decode()


def program_of(folder):
    return build(folder, "served.c", "clang-22", "archive", "served", ["-Wno-unused-result"])


def profile_of(served, what):
    status, body = served.get(f"/debug/pprof/{what}")
    require(status == 200, f"HTTP status {status}: {body[:200]}")
    return Pprof(body)


# ---- what is answered ----

def answers(folder, preload):
    if preload:
        program = os.path.join(folder, "served")
        run([tool("gcc"), "-O1", "-g", os.path.join(HERE, "programs", "served.c"), "-pthread",
             "-Wl,--build-id", "-o", program], folder)
    else:
        program = program_of(folder)
    served = Served(folder, program, "2", preload=preload)
    mode = os.stat(served.path).st_mode
    require(stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, f"mode {mode:o}")
    told = served.at_work()
    require(int(told["process"]) == served.pid and told["recording"] == "yes", f"{told}")
    require(int(told["alive bytes"]) > 0 and int(told["contexts"]) > 1, f"{told}")
    for what, default in (("heap", "inuse_space"), ("allocs", "alloc_space")):
        found = profile_of(served, what)
        require(found.types == VALUES and found.default == default, f"{found.types}")
        check_samples(found, program)
    path = served.dump()
    require(path == told["profile"] == one_file(folder), f"{path}, {told}")
    check_sound(path)
    for request, wanted in (("GET /debug/pprof/goroutine HTTP/1.0\r\n\r\n", "HTTP/1.1 404"),
                            ("POST /debug/pprof/heap HTTP/1.1\r\n\r\n", "HTTP/1.1 405"),
                            ("dumps", "error: unknown request")):
        answer = served.ask(request)
        require(answer.startswith(wanted), f"{request!r}: {answer!r}")
    served.ended()
    require(not os.path.exists(served.path), "the socket is still there")
    check_sound(one_file(folder))
    require(not raw_profile.Profile(one_file(folder)).interrupted, "interrupted")


def check_samples(found, program):
    """Those of the program itself lead to its functions."""
    notes = run(["readelf", "-n", program], "/").stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
    names = set()
    for where, values in found.samples:
        require(values[2] <= values[0] and values[3] <= values[1], f"values {values}")
        for mapping, address in where:
            module = found.mappings.get(mapping, {})
            if module.get("build_id") != build_id:
                continue
            require(module["file"] == program, f"{module}")
            in_file = address - module["start"] + module["offset"]
            names.add(function_at(program, in_file))
    require({"make", "make_zero", "work"} <= names, f"functions {names}")


def function_at(program, in_file):
    """By the symbol table, as pprof's own tools do: the file's offset to an address, to a name."""
    found = re.search(r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+\s+0x(\w+) 0x\w+ R E",
                      run(["readelf", "-lW", program], "/").stdout)
    off, start, size = (int(word, 16) for word in found.groups())
    require(off <= in_file < off + size, f"{in_file:#x} is not in the code of {program}")
    return run(["addr2line", "-fe", program, hex(in_file - off + start)], "/").stdout.split()[0]


def pausing(folder):
    """Stopped, nothing new is recorded, and what is freed is no longer alive."""
    served = Served(folder, program_of(folder), "2")
    require(served.ask("stop").startswith("ok"), "stop")
    first = served.status()
    second = served.status_when(lambda told: int(told["alive objects"]) < 100)
    require(first["recording"] == "stopped" and
            first["allocated objects"] == second["allocated objects"], f"{first} {second}")
    require(served.ask("start").startswith("ok"), "start")
    made = int(second["allocated objects"])
    third = served.status_when(lambda told: int(told["allocated objects"]) > made)
    require(third["recording"] == "yes", f"{third}")
    served.ended()
    check_sound(one_file(folder))


def paused_at_first(folder):
    served = Served(folder, program_of(folder), "1", options="paused=1")
    told = served.status()
    require(told["recording"] == "stopped" and told["allocated objects"] == "0", f"{told}")
    served.ask("start")
    served.status_when(lambda told: int(told["allocated objects"]) > 0)
    served.ended()
    check_sound(one_file(folder))


# ---- load ----

def nonsense(served, rng):
    """A client that does not keep to any rule."""
    with served.connect() as client:
        kind = rng.randrange(6)
        try:
            if kind == 0:
                client.sendall(rng.randbytes(rng.randrange(1, 20000)))
            elif kind == 1:
                client.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: " + b"x" * 9000)
            elif kind == 2:
                client.sendall(b"GET /debug/pprof/allocs HTTP/1.1\r\n\r\n")
                client.recv(100)  # and goes
            elif kind == 3:
                client.sendall(b"GET  HTTP/1.1\r\n\r\n" * 3)
            elif kind == 4:
                client.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def copied(path, to):
    """While threads write into it. Who is overtaken by a dump has to read again, as
    docs/design/runtime.md says; of 10,000 requests that happens to about one copy."""
    for _ in range(10):
        shutil.copyfile(path, to)
        if run([PGOKIT, "check", "-q", to], "/", status=None).returncode == 0:
            break
    return to


def one_request(served, number, copies):
    rng = random.Random(number)
    kind = rng.randrange(20)
    if kind == 0:
        path = served.dump()
        if rng.randrange(4) == 0:
            return copied(path, copies)
    elif kind < 4:
        nonsense(served, rng)
    elif kind < 8:
        told = served.status()
        require("alive bytes" in told, f"status {told}")
    else:
        found = profile_of(served, rng.choice(["heap", "allocs"]))
        require(found.types == VALUES and found.samples, "an empty profile")
    return None


def under_load(folder):
    began = time.monotonic()
    served = Served(folder, program_of(folder), "16")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        copies = [name for name in pool.map(
            lambda number: one_request(served, number, os.path.join(folder, f"copy.{number}")),
            range(REQUESTS)) if name]
    served.ended()
    path = one_file(folder)
    require(not raw_profile.Profile(path).interrupted, "interrupted")
    check_sound(path, *copies)
    return [f"{REQUESTS} requests, {raw_profile.Profile(path).dumps} dumps, {len(copies)} copies "
            f"in {time.monotonic() - began:.1f} s"]


def one_thread(folder):
    """The program's descriptors are those it would have without a socket."""
    served = Served(folder, program_of(folder), "0")
    for number in range(150):
        one_request(served, number, os.path.join(folder, "copy"))
    served.ended()
    profile = raw_profile.Profile(one_file(folder))
    require(not profile.interrupted and profile.dumps > 2, f"{profile.dumps} dumps")
    check_sound(one_file(folder))


def ends_at_once(folder, program):
    """Before a client is let go that sends nothing while the program ends."""
    served = Served(folder, program, "1")
    with served.connect():
        began = time.monotonic()
        served.ended()
        return time.monotonic() - began < REQUEST_SECONDS * 0.75


def slow_clients(folder):
    """One that sends nothing, one that takes nothing, and one that was killed are let go at some
    time, so that others are served, and the end of the program does not wait for them."""
    program = program_of(folder)
    served = Served(folder, program, "4")
    silent, greedy = served.connect(), served.connect()
    greedy.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\n\r\n")
    require("process" in served.status(), "status")
    client = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    client.send_signal(signal.SIGKILL)
    client.wait()
    served.ended()
    for one in (silent, greedy):
        one.close()
    # A program that waited for its client would do so each time; one that a busy machine keeps from
    # ending is quick enough at some time.
    require(any(ends_at_once(folder, program) for _ in range(20)), "each end waited for a client")


# ---- the file of the socket ----

def dead_and_alive(folder):
    program = program_of(folder)
    first = Served(folder, program, "1", options="out=a.profraw")
    second = Served(folder, program, "1", options="out=b.profraw")
    require(int(second.status()["process"]) == first.pid, "a living socket was replaced")
    require("another process answers there" in second.ended(None), "no message")
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    require(os.path.exists(first.path), "the socket of the killed process is gone")
    third = Served(folder, program, "1", options="out=c.profraw")
    require(int(third.status()["process"]) == third.pid, "a dead socket was not replaced")
    third.ended()
    with open(third.path, "w", encoding="utf-8") as file:
        file.write("a file of the user")
    fourth = Served(folder, program, "1", options="out=d.profraw")
    fourth.ended(None)
    with open(third.path, encoding="utf-8") as file:
        require(file.read() == "a file of the user", "a file that is no socket was removed")


def many_at_once(folder):
    """Of processes that want one name at once one gets it, and stays the one that has it."""
    program = program_of(folder)
    for _ in range(5):
        all_of = [Served(folder, program, "1", options="out=%p.profraw", wait=False)
                  for _ in range(6)]
        for one in all_of:
            one.wait()
        require(int(all_of[0].status()["process"]) in [one.pid for one in all_of], "who answers?")
        said = [one.ended(None) for one in all_of]
        require(sum("another process answers" in text for text in said) == 5, f"{said}")
        require(not os.path.exists(all_of[0].path), "the socket is still there")


# ---- what programs do ----

def of_child(folder):
    served = Served(folder, program_of(folder), "2", "fork", name="%p.sock")
    require(int(served.status()["process"]) == served.pid != served.process.pid, "not the child")
    check_sound(served.dump())
    require(os.path.exists(os.path.join(folder, f"{served.process.pid}.sock")), "of the parent")
    served.ended()
    require(not [name for name in os.listdir(folder) if name.endswith(".sock")], "left over")


def across_exec(folder):
    """Gone before another program comes, which makes its own; and there again if none does."""
    served = Served(folder, program_of(folder), "2", "exec")
    require(int(served.status()["process"]) == served.pid, "another process")
    served.dump()
    served.ended()
    check_sound(*raw_profile.files(folder))


def at_its_end(folder):
    """The last thread that the program knows ends the process."""
    served = Served(folder, program_of(folder), "2", "pthread_exit")
    served.dump()
    served.ended()
    check_sound(one_file(folder))


def closing(folder):
    """A program that closes all descriptors it may have closes none of the socket's."""
    served = Served(folder, program_of(folder), "2", "closing")
    path = served.dump()
    held = os.listdir(f"/proc/{served.pid}/fd")
    require(len(held) <= 5, f"descriptors {held}")
    for _ in range(20):  # the file grows while it is read
        check_sound(path)
    served.ended()


def confined(folder):
    served = Served(folder, program_of(folder), "2", "seccomp")
    require(not os.path.exists(served.path), "the socket is still there")
    said = served.ended(None)
    require(served.process.returncode == 0 and "no socket" in said and "seccomp" in said, said)
    check_sound(one_file(folder))


def renamed(folder):
    """Who asks for a dump may take it away: recording goes on in the file that it is."""
    served = Served(folder, program_of(folder), "4", options="out=a.profraw")
    os.rename(served.dump(), os.path.join(folder, "mine.profraw"))
    for _ in range(3):
        served.dump()
    time.sleep(0.2)
    served.ended()
    check_sound(os.path.join(folder, "a.profraw"))
    check_sound(os.path.join(folder, "mine.profraw"))


def other_user(folder):
    """A program that gives up rights leaves no thread behind that has them and is served."""
    if os.getuid():
        raise Skip("missing the rights of root, to give up")
    served = Served(folder, program_of(folder), "1", "setuid")
    with served.connect() as client:
        try:
            client.sendall(b"status\n")
            require(not read_all(client), "it was answered")
        except (ConnectionResetError, BrokenPipeError):
            pass
    wait_until(lambda: not os.path.exists(served.path), "that the socket went")
    served.ended(None)
    check_sound(one_file(folder))


def no_place(folder):
    program = program_of(folder)
    for name, text in (("nowhere/s.sock", "no such file or directory"), ("x" * 120, "longer than")):
        served = Served(folder, program, "1", name=name)
        said = served.ended(None)
        require(served.process.returncode == 0 and "no socket" in said and text in said, said)


def attached(folder):
    served = Served(folder, program_of(folder), "2")

    def attach(*words, status=0):
        return run([PGOKIT, "record", "heap", "--attach", str(served.pid), *words], folder,
                   status=status)
    require("recording: yes" in attach("status").stdout, "status")
    told = attach("dump")
    require("dump written to " in told.stdout, told.stdout)
    raw = told.stdout.split(" to ", 1)[1].strip()
    for _ in range(2):
        attach("dump")
    # Dumps as they were asked for, of a process that has not ended.
    checked = run([PGOKIT, "check", raw], folder).stdout
    require(", 3 dumps, still running" in checked and "interrupted" not in checked, checked)
    shown = run([PGOKIT, "show", raw], folder).stdout
    require("\n  last known       " in shown and "at exit" not in shown, shown)
    copied(raw, os.path.join(folder, "copy"))
    checked = run([PGOKIT, "check", "copy"], folder).stdout
    require(", 3 dumps, interrupted" in checked, checked)
    require("not recorded" in attach("stop").stdout, "stop")
    require("are recorded" in attach("start").stdout, "start")
    require("dump, start, status or stop" in attach("dunp", status=2).stderr, "dunp")
    served.ended()
    shown = run([PGOKIT, "show", raw], folder).stdout
    require(", 4 dumps" in shown and "running" not in shown and "\n  at exit  " in shown, shown)
    require("no process" in attach("status", status=125).stderr, "a process that has ended")
    other = run([PGOKIT, "record", "heap", "--attach", str(os.getpid()), "status"], folder,
                status=125)
    require("has no socket" in other.stderr, other.stderr)


def main():
    cases = Cases()
    cases.run("requests and answers", answers, False)
    cases.run("requests and answers: preloaded", answers, True)
    cases.run("recording stops and starts", pausing)
    cases.run("recording waits for a start", paused_at_first)
    cases.run("requests under load", under_load)
    cases.run("requests to a program with one thread", one_thread)
    cases.run("slow and dead clients", slow_clients)
    cases.run("sockets of dead and of living processes", dead_and_alive)
    cases.run("many processes want one name", many_at_once)
    cases.run("the socket of a child", of_child)
    cases.run("exec", across_exec)
    cases.run("a main thread that ends before the process", at_its_end)
    cases.run("a program that closes all descriptors", closing)
    cases.run("a program under a filter of system calls", confined)
    cases.run("a dump that gets another name", renamed)
    cases.run("a program that becomes another user", other_user)
    cases.run("no place for a socket", no_place)
    cases.run("pgokit record heap --attach", attached)
    cases.finish()


main()
