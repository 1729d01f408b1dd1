"""What the tests and the benchmark of pgokit-fleet share: a Dask scheduler with workers on the
loopback, an object store of a few lines that can be slow and answer errors, a pgokit that takes
its time, and ways to hurt each of them."""

import contextlib
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
FLEET = HERE.parents[1] / "fleet" / "pgokit-fleet"
PYTHON = "/usr/bin/python3"
PROFILES = int(os.environ.get("PGOKIT_TEST_PROFILES", "48"))
LIMIT_S = 300 + PROFILES // 10  # of one run: what takes longer hangs
PAGE = max(20, min(1000, PROFILES // 10))  # objects in a page of a list


def why_not(*modules):
    """Why the Python that pgokit-fleet runs in cannot do it; None if it can."""
    if not os.path.exists(PYTHON):
        return f"missing {PYTHON}"
    for module in modules:
        if subprocess.run([PYTHON, "-c", f"import {module}"], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            return f"missing python3-{module}"
    return None


def why_no_curl():
    """Why curl cannot sign requests; None if it can."""
    done = subprocess.run(["sh", "-c", "curl --help all"], capture_output=True, text=True,
                          check=False)
    return None if "--aws-sigv4" in done.stdout else "missing curl 7.75 or newer"


def until(condition, what, limit_s=LIMIT_S):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"waited for {limit_s} s: {what}")
        time.sleep(0.01)


def children_of(pid):
    with contextlib.suppress(OSError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)


def descendants(pid):
    for child in children_of(pid):
        yield child
        yield from descendants(child)


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Cluster:
    """A scheduler and workers, each a process of its own that can be killed."""

    def __init__(self, folder, workers=2, env=None):
        self.folder, self.env = folder, {**os.environ, **(env or {}), "TMPDIR": str(folder)}
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes = []
        self.start_scheduler()
        self.workers = [self.start_worker() for _ in range(workers)]

    def start(self, *command):
        process = subprocess.Popen([PYTHON, "-m", *command], cwd=self.folder, env=self.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def start_scheduler(self):
        self.scheduler = self.start("distributed.cli.dask_scheduler", "--host", "127.0.0.1",
                                    "--port", str(self.port), "--no-dashboard")

    def start_worker(self):
        return self.start("distributed.cli.dask_worker", self.address, "--host", "127.0.0.1",
                          "--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory",
                          str(self.folder))

    def kill_worker(self, rng):
        """Whoever runs workers starts another one."""
        victim = rng.choice(self.workers)
        victim.kill()
        victim.wait()
        self.workers[self.workers.index(victim)] = self.start_worker()

    def restart_scheduler(self):
        self.scheduler.kill()
        self.scheduler.wait()
        self.start_scheduler()
        for i, worker in enumerate(self.workers):
            worker.kill()
            worker.wait()
            self.workers[i] = self.start_worker()

    def merges(self):
        return [pid for worker in self.workers for pid in descendants(worker.pid)
                if " merge " in name_of(pid)]

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


def no_boto3(folder):
    """An environment in which Python has no boto3, whether or not it is installed."""
    place = pathlib.Path(folder, "no-boto3")
    place.mkdir(exist_ok=True)
    (place / "boto3.py").write_text("raise ImportError\n")
    return {"PYTHONPATH": str(place)}


def signature(request, secret):
    """By Amazon's rules (Signature Version 4), of a request as it came."""
    head, path = request.headers, request.path.partition("?")
    date, region, service, _ = (scope := found_in(head, "Credential").partition("/")[2]).split("/")
    names = found_in(head, "SignedHeaders")
    query = "&".join(sorted(word if "=" in word else f"{word}=" for word in path[2].split("&")
                            if word))
    asked = "\n".join([request.command, path[0], query,
                       *(f"{name}:{' '.join(head[name].split())}" for name in names.split(";")),
                       "", names, head["x-amz-content-sha256"]])
    key = f"AWS4{secret}".encode()
    for word in (date, region, service, "aws4_request"):
        key = hmac.digest(key, word.encode(), "sha256")
    digest = hashlib.sha256(asked.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", head["x-amz-date"], scope, digest])
    return hmac.digest(key, text.encode(), "sha256").hex()


def found_in(headers, name):
    """A part of the Authorization header."""
    return re.search(rf"{name}=([^, ]+)", headers["Authorization"])[1]


class Store(http.server.ThreadingHTTPServer):
    """As much of S3 as pgokit-fleet uses, signatures included. An object that is None is listed
    and not there. A share of all requests, a tenth, fail or are slow, as `trouble` says: errors are
    an answer that says so, no answer, or half of one."""

    daemon_threads = True
    request_queue_size = 128  # of connections that wait for a thread
    share = 0.1
    user, secret = "nobody", "nothing/at+all"

    def __init__(self, trouble=None, rng=None):
        super().__init__(("127.0.0.1", 0), StoreRequest)
        self.objects, self.trouble, self.rng = {}, trouble, rng or random.Random(1)
        self.lock, self.requests, self.failed = threading.Lock(), 0, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client may go away
            super().handle_error(request, client_address)

    def env(self):
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server_address[1]}",
                "AWS_ACCESS_KEY_ID": self.user, "AWS_SECRET_ACCESS_KEY": self.secret,
                "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}


class StoreRequest(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer goes out at once, and no part of it waits for the other side
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def handle_expect_100(self):
        super().handle_expect_100()
        self.wfile.flush()  # the client waits for it
        return True

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:len(body) // 2] if self.halves else body)
        self.close_connection |= self.halves

    def troubled(self):
        """Answers with an error, or waits."""
        self.halves = False
        store = self.server
        if signature(self, store.secret) != found_in(self.headers, "Signature"):
            self.answer(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
            return True
        with store.lock:
            store.requests += 1
            kind = store.trouble if store.rng.random() < store.share else None
            store.failed += bool(kind)
        if kind == "slow":
            time.sleep(0.2)
        elif kind == "errors":
            how = store.rng.choice(["error", "nothing", "half"])
            self.halves = how == "half" and self.command == "GET"
            if how == "error":
                self.answer(503, b"<Error><Code>SlowDown</Code></Error>")
            self.close_connection |= how == "nothing"
            return how != "half"
        return False

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            raise ValueError("not expected")
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_PUT(self):
        body = self.body()
        if not self.troubled():
            self.server.objects[urllib.parse.unquote(self.path.partition("?")[0])] = body
            self.answer(200, headers=[("ETag", f'"{hash(body):x}"')])

    def do_DELETE(self):
        if self.troubled():
            return
        self.server.objects.pop(urllib.parse.unquote(self.path), None)
        self.answer(204)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        if self.troubled():
            return
        path, _, query = self.path.partition("?")
        if "list-type=2" in query:
            asked = urllib.parse.parse_qs(query)
            self.list(path, asked.get("prefix", [""])[0],
                      int(asked.get("continuation-token", ["0"])[0]))
            return
        body = self.server.objects.get(urllib.parse.unquote(path))
        if body is None:
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        headers = [("ETag", '"1"'), ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")]
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if wanted:
            first, last = int(wanted[1]), int(wanted[2] or len(body) - 1)
            headers.append(("Content-Range", f"bytes {first}-{last}/{len(body)}"))
            self.answer(206, body[first:last + 1], headers)
        else:
            self.answer(200, body, headers)

    def list(self, bucket, prefix, start):
        """A page of objects; the token of the next one is where it starts."""
        bucket = bucket.rstrip("/")
        objects = sorted(self.server.objects.items())
        found = [(path[len(bucket) + 1:], body or b"") for path, body in objects
                 if path.startswith(f"{bucket}/{prefix}")]
        page = found[start:start + PAGE]
        more = start + len(page) < len(found)
        items = "".join(f"<Contents><Key>{key}</Key><Size>{len(body)}</Size>"
                        f"<ETag>{len(body)}</ETag></Contents>" for key, body in page)
        token = f"<NextContinuationToken>{start + PAGE}</NextContinuationToken>" if more else ""
        self.answer(200, f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{items}"
                    f"{token}</ListBucketResult>".encode())


def slow_pgokit(folder, pgokit, seconds, started):
    """A pgokit that gives one the time to kill it, and counts its shards: a line of `started`."""
    path = pathlib.Path(folder, "slow")
    path.write_text(f"""#!/bin/sh
case " $* " in *" --partial "*)
    echo >>{started}
    sleep {seconds} ;;
esac
exec {pgokit} "$@"
""")
    path.chmod(0o755)
    return path


def cramped_pgokit(folder, pgokit, full, tried):
    """A pgokit that can write 512 bytes to a file while `full` is there, and then makes `tried`."""
    path = pathlib.Path(folder, "cramped")
    path.write_text(f"""#!/bin/sh
if [ -e {full} ] && [ "$1" != --version ]; then
    touch {tried}
    trap '' XFSZ
    ulimit -f 1
fi
exec {pgokit} "$@"
""")
    path.chmod(0o755)
    return path


class Run:
    """A pgokit-fleet at work."""

    def __init__(self, pgokit, source, out, *options, last=(), env=None):
        self.out = pathlib.Path(out)
        command = [PYTHON, FLEET, "merge", *source, "-o", out, "--pgokit", pgokit, "--json", "-q",
                   *options, "--", *last]
        self.process = subprocess.Popen([str(w) for w in command], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(env or {})})

    def running(self):
        return self.process.poll() is None

    def end(self):
        """Exit status, the result as JSON, messages."""
        try:
            out, err = self.process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired as late:
            self.stop()
            raise RuntimeError(f"the run did not end within {LIMIT_S} s, and was killed") from late
        return self.process.returncode, json.loads(out) if out else {}, err

    def stop(self):
        """Kills it, with all that it started and that may hold its output open."""
        if self.running():
            started = [self.process.pid, *descendants(self.process.pid)]
            for pid in started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.communicate()
