"""Where the files of pgokit-fleet are: in folders, or in an object store, which is asked through
boto3 or curl."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import importlib
import json
import os
import random
import subprocess
import tempfile
import time
import urllib.parse
from typing import Any, Iterator, Sequence
from xml.etree import ElementTree

AT_ONCE = 16  # requests that are on their way
PAUSES_S = [0, *(0.1 * 2 ** n for n in range(9))]  # before each try, 50 s in all
Copy = tuple[str, str]  # an object, and the file here that it comes from or goes to
Page = tuple[list[tuple[str, int, str]], str]  # keys, sizes and states; what asks for the next page


class Failure(Exception):
    """The run cannot go on; what is done stays for the next one."""


class Refused(RuntimeError):
    """What the store did not do. The status is HTTP's, 0 if there was no whole answer."""

    def __init__(self, uri: str, status: int, text: str):
        super().__init__(f"{uri}: {text}")
        self.uri, self.status = uri, status
        self.for_good = 400 <= status < 500 and status not in (408, 429)


def is_s3(path: str) -> bool:
    return path.startswith("s3://")


def s3_parts(uri: str) -> tuple[str, str]:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


class Boto:
    """Objects through boto3. Each is asked for once here, since boto3 lets a thread wait before
    it tries again."""

    def __init__(self, boto3: Any):
        module = importlib.import_module
        of_core = module("botocore.exceptions")
        self.errors = (module("boto3.exceptions").Boto3Error, of_core.BotoCoreError,
                       of_core.ClientError, module("botocore.parsers").ResponseParserError)
        self.client = boto3.client(
            "s3", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"),
            config=module("botocore.config").Config(retries={"total_max_attempts": 1},
                                                    read_timeout=60,
                                                    max_pool_connections=AT_ONCE))

    @contextlib.contextmanager
    def asking(self, uri: str) -> Iterator[tuple[str, str]]:
        """The bucket and key, with errors of boto3 in our words."""
        try:
            yield s3_parts(uri)
        except self.errors as err:
            answer = getattr(err, "response", None) or {}
            about = answer.get("ResponseMetadata", {})
            raise Refused(uri, about.get("HTTPStatusCode", 0), str(err)) from err

    def get(self, bucket: str, key: str, path: str) -> None:
        with open(path, "wb") as file:
            body = self.client.get_object(Bucket=bucket, Key=key)["Body"]
            for chunk in body.iter_chunks(1 << 20):  # as long as the answer says, or an error
                file.write(chunk)

    def put(self, bucket: str, key: str, path: str) -> None:
        self.client.upload_file(path, bucket, key)

    def delete(self, bucket: str, key: str, _: str) -> None:
        self.client.delete_object(Bucket=bucket, Key=key)

    def ask(self, what: str, copies: Sequence[Copy]) -> Sequence[Refused]:
        def one(copy: Copy) -> Refused | None:
            try:
                with self.asking(copy[0]) as place:
                    getattr(self, what)(*place, copy[1])
                return None
            except Refused as err:
                return err
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return [refused for refused in pool.map(one, copies) if refused]

    def page(self, uri: str, token: str) -> Page:
        with self.asking(uri) as (bucket, prefix):
            more = {"ContinuationToken": token} if token else {}
            page = self.client.list_objects_v2(Bucket=bucket, Prefix=prefix, **more)
        return ([(one["Key"], one["Size"], one["ETag"]) for one in page.get("Contents", ())],
                page.get("NextContinuationToken", ""))


class Curl:
    """Objects through `curl --aws-sigv4`, where boto3 is not installed. One process asks for any
    number of objects."""

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
        self.secrets = self.line("user", f"{user}:{secret}") + (
            self.line("header", f"x-amz-security-token: {token}") if token else "")
        self.command = ["curl", "-q", "-sSfg", "--no-progress-meter", "--aws-sigv4",
                        f"aws:amz:{region}:s3", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD",
                        "--connect-timeout", "60", "--speed-time", "60", "--parallel",
                        "--parallel-max", str(AT_ONCE), "-K", "-",
                        "-w", r"%{urlnum} %{http_code} %{exitcode} %{errormsg}\n"]

    @staticmethod
    def line(option: str, value: str) -> str:
        """As curl's config files have it."""
        return f"{option} = {json.dumps(value, ensure_ascii=False)}\n"

    def ask(self, what: str, copies: Sequence[Copy], query: str = "") -> Sequence[Refused]:
        asked = [self.secrets, self.line("request", "DELETE") if what == "delete" else ""]
        for uri, path in copies:
            bucket, key = s3_parts(uri)
            place = urllib.parse.quote(f"{bucket}/{key}" if key else bucket, safe="/~")
            asked += [self.line("url", f"{self.endpoint}/{place}{query}"),
                      self.line("output", path if what == "get" else os.devnull)]
            if what == "put":
                asked.append(self.line("upload-file", path))
        done = subprocess.run(self.command, check=False, capture_output=True, text=True,
                              input="".join(asked), errors="surrogateescape")
        told = {}
        for number, status, code, text in (row.split(" ", 3) for row in done.stdout.splitlines()):
            told[int(number)] = int(code), int(status), text
        lost = -1, 0, done.stderr.strip() or f"curl: status {done.returncode}"
        answers = [(copy[0], *told.get(n, lost)) for n, copy in enumerate(copies)]
        # An answer counts if it is whole (0), or an error (22).
        return [Refused(uri, status if code == 22 else 0, text)
                for uri, code, status, text in answers if code]

    def page(self, uri: str, token: str) -> Page:
        bucket, prefix = s3_parts(uri)
        words = {"list-type": "2", "prefix": prefix, **({"continuation-token": token} if token
                                                        else {})}
        # curl before 8.3 signs the query as it is: sorted and quoted
        query = urllib.parse.urlencode(sorted(words.items()), quote_via=urllib.parse.quote,
                                       safe="~")
        with tempfile.NamedTemporaryFile() as answer:
            for refused in self.ask("get", [(f"s3://{bucket}", answer.name)], f"?{query}"):
                raise refused
            page = ElementTree.parse(answer.name)
        found = [[one.findtext(f"{{*}}{name}", "") for name in ("Key", "Size", "ETag")]
                 for one in page.iterfind("{*}Contents")]
        return ([(key, int(size), state) for key, size, state in found],
                page.findtext("{*}NextContinuationToken", ""))


@functools.lru_cache(maxsize=None)
def s3() -> Boto | Curl:
    try:
        return Boto(importlib.import_module("boto3"))
    except ImportError:
        return Curl()


def insist(what: str, wanted: Sequence[Copy]) -> list[Refused]:
    """Asks for all, and again for what failed for now; returns what is refused for good. Nothing
    waits while there is something that was not asked for, and then all wait together, longer each
    time: a store that says it has too much to do gets less."""
    refused: list[Refused] = []
    for pause in PAUSES_S:
        if not wanted:
            return refused
        time.sleep(pause * random.uniform(0.5, 1))
        failed = {one.uri: one for one in s3().ask(what, wanted)}
        refused += [one for one in failed.values() if one.for_good]
        wanted = [one for one in wanted if one[0] in failed and not failed[one[0]].for_good]
    if wanted:
        raise RuntimeError(f"{len(wanted)} requests failed {len(PAUSES_S)} times, such as "
                           f"{failed[wanted[0][0]]}")
    return refused


def fetch_all(paths: Sequence[str], folder: str, may_lack: bool = False) -> dict[str, str]:
    """The files themselves, or copies of them here; without those that the store does not have,
    which is a failure unless some may be lacking."""
    places = {path: f"{folder}/{n}" if is_s3(path) else path for n, path in enumerate(paths)}
    refused = insist("get", [copy for copy in places.items() if is_s3(copy[0])])
    fatal = [one for one in refused if one.status != 404 or not may_lack]
    if fatal:
        raise Failure(f"{len(fatal)} objects cannot be read: {'; '.join(map(str, fatal[:9]))}")
    for one in refused:
        del places[one.uri]
    return places


def store(path: str, to: str) -> None:
    if not is_s3(to):
        os.replace(path, to)
        return
    for refused in insist("put", [(to, path)]):
        raise refused


def list_folder(folder: str) -> Iterator[tuple[str, int, str]]:
    """Each file below a folder or prefix: its name, bytes and state."""
    if is_s3(folder):
        yield from list_objects(folder)
        return
    for place, _, names in os.walk(folder):
        for path in (os.path.join(place, name) for name in names):
            yield path, os.path.getsize(path), str(os.stat(path).st_mtime_ns)


def list_objects(uri: str) -> Iterator[tuple[str, int, str]]:
    token, bucket = "", s3_parts(uri)[0]
    while True:
        objects, token = patient_page(uri, token)
        yield from ((f"s3://{bucket}/{key}", size, state) for key, size, state in objects)
        if not token:
            return


def patient_page(uri: str, token: str) -> Page:
    for pause in PAUSES_S[1:]:
        try:
            return s3().page(uri, token)
        except Refused as err:
            if err.for_good:
                raise
            time.sleep(pause)
    return s3().page(uri, token)


def remove(paths: Sequence[str]) -> None:
    for refused in insist("delete", [(path, "") for path in paths if is_s3(path)]):
        if refused.status != 404:
            raise refused
    for path in (path for path in paths if not is_s3(path)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
