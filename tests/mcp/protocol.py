#!/usr/bin/env python3
"""pgokit mcp: what is answered to sound messages and to others, and which files can be read.

usage: protocol.py PGOKIT [CASE...]      a case as it is printed
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]

from raw_client import ANSWER_MAX_BYTES, RawClient  # noqa: E402
from tap import Report  # noqa: E402

PGOKIT = os.path.abspath(sys.argv[1])
GOLDEN = HERE.parent / "golden"
PARSE, INVALID, NO_METHOD, PARAMS, VERSION = -32700, -32600, -32601, -32602, -32022
META = "io.modelcontextprotocol/"


def expect(problems, what, found, expected):
    if found != expected:
        problems.append(f"{what}: found {found!r}, expected {expected!r}")


def client(*folders, **kw):
    return RawClient(PGOKIT, *folders or [GOLDEN], **kw)


def versions(folder):
    """The asked revision if it is spoken, else the newest that begins by initialize."""
    problems = []
    with client() as c:
        for asked, answered in (("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"),
                                ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-11-25"),
                                ("2031-01-01", "2025-11-25"), ("", "2025-11-25")):
            found = c.ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={})
            expect(problems, f"initialize of {asked!r}", found["result"]["protocolVersion"],
                   answered)
            expect(problems, "name", found["result"]["serverInfo"]["name"], "pgokit")
        expect(problems, "no version", c.ask("initialize")["error"]["code"], PARAMS)
        # A notification is not answered: what comes next is the answer to ping.
        c.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        expect(problems, "ping", c.ask("ping")["result"], {})
    return problems


def stateless(folder):
    """Requests that name their revision themselves."""
    problems = []
    meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
    with client() as c:
        found = c.ask("server/discover", _meta=meta)["result"]
        expect(problems, "versions", found["supportedVersions"][:2], ["2026-07-28", "2025-11-25"])
        expect(problems, "type", found["resultType"], "complete")
        expect(problems, "scope", found["cacheScope"], "public")
        expect(problems, "name", found["_meta"][META + "serverInfo"]["name"], "pgokit")
        found = c.ask("tools/list", _meta=meta)["result"]
        expect(problems, "kept", found["ttlMs"] > 0, True)
        found = c.ask("tools/call", _meta=meta, name="list_profiles", arguments={})["result"]
        expect(problems, "type of a call", found["resultType"], "complete")
        expect(problems, "its cursor", "pgokit/nextCursor" in found["_meta"], True)
        expect(problems, "ping", c.ask("ping", _meta=meta)["error"]["code"], NO_METHOD)
        for other in ("2031-01-01", 7, None, "x" * 100000):
            error = c.ask("tools/list", _meta={META + "protocolVersion": other})["error"]
            expect(problems, "code", error["code"], VERSION)
            expect(problems, "supported", error["data"]["supported"][0], "2026-07-28")
    return problems


def refused_messages(folder):
    """Each gets an error of JSON-RPC, and the next request its answer."""
    problems = []
    deep = b"[" * 100000
    lines = [
        (b"{", PARSE, None), (b"nonsense", PARSE, None), (b'{"a":1,"a":2}', PARSE, None),
        (b'"\xff\xfe"', PARSE, None), (b'{"jsonrpc":"2.0","id":1,"method":"\\u0000"}', PARSE, None),
        (deep, PARSE, None), (deep + b"]" * 100000, PARSE, None),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, PARSE, None),
        (b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}', PARSE, None),
        (b"[]", INVALID, None), (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', INVALID, None),
        (b"7", INVALID, None), (b"null", INVALID, None), (b"{}", INVALID, None),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1}', INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', INVALID, 1),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":"' + b"i" * 300 + b'","method":"ping"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":"a","method":"resources/list"}', NO_METHOD, "a"),
        (b'{"jsonrpc":"2.0","id":2,"method":"' + b"m" * 500000 + b'"}', NO_METHOD, 2),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[]}', PARAMS, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}', PARAMS, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"shell"}}', PARAMS, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"top","arguments":1}}',
         PARAMS, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"x"}}', PARAMS, 3),
        (b" " * 1048577 + b"{}", INVALID, None), (b"x" * 9000000, INVALID, None),
    ]
    with client() as c:
        for line, code, number in lines:
            found = c.raw(line)
            expect(problems, f"code of {line[:60]!r}", found.get("error", {}).get("code"), code)
            expect(problems, f"id of {line[:60]!r}", found["id"], number)
            if not found.get("error", {}).get("message"):
                problems.append(f"no message for {line[:60]!r}")
            expect(problems, f"ping after {line[:60]!r}", c.ask("ping")["result"], {})
        # Neither of these is a request.
        for line in (b"", b"  \r", b'{"jsonrpc":"2.0","id":1,"result":{}}',
                     b'{"jsonrpc":"2.0","method":"no/such/notification","params":7}'):
            c.send(line + b"\n")
            expect(problems, f"ping after {line!r}", c.ask("ping")["result"], {})
    return problems


def last_line(folder):
    """Without a newline it counts; the server ends with its input."""
    done = subprocess.run([PGOKIT, "mcp", GOLDEN], capture_output=True, check=False, timeout=60,
                          input=b'{"jsonrpc":"2.0","id":5,"method":"ping"}')
    return [] if json.loads(done.stdout)["id"] == 5 and not done.returncode else [done]


def wrong_arguments(folder):
    """The sentences are for the model that chose them."""
    problems = []
    profile = "heap-raw/clang19.profraw"
    with client() as c:
        for tool, arguments, says in (
                ("top", {}, '"profile" is missing'),
                ("top", {"profile": 7}, '"profile" takes a text'),
                ("top", {"profile": ""}, "not below a folder"),
                ("top", {"profile": profile, "top": "3"}, '"top" takes a whole number'),
                ("top", {"profile": profile, "top": -1}, '"top" takes a whole number'),
                ("top", {"profile": profile, "top": 99999999999}, "--top"),
                ("top", {"profile": profile, "json": "yes"}, '"json" takes true or false'),
                ("top", {"profile": profile, "sort": "hot"}, "--sort takes bytes"),
                ("top", {"profile": profile, "binaries": "x"}, '"binaries" takes an array'),
                ("top", {"profile": profile, "binaries": [7]}, '"binaries" takes an array'),
                ("top", {"profile": profile, "binaries": [profile] * 100}, "name fewer files"),
                ("top", {"profile": profile, "colour": "red"}, 'no argument "colour"'),
                ("top", {"profile": profile, "cursor": 7}, '"cursor" takes a text'),
                ("top", {"profile": profile, "cursor": "7"}, '"cursor" is none'),
                ("top", {"profile": profile, "cursor": "0-0"}, "belongs to another answer"),
                ("top", {"profile": "HOWTO.md"}, "no format"),
                ("match", {"profile": "sample/llvm22-plain.afdo"}, '"binaries" is missing'),
                ("function", {"profile": "sample/llvm22-plain.afdo", "function": "["},
                 "regular expression")):
            text, failed, _ = c.call(tool, **arguments)
            if not failed or says not in text:
                problems.append(f"{tool} {arguments}: {text!r} does not say {says!r}")
        text, failed, _ = c.call("top", profile=profile, sort=None, binaries=[], json=False)
        expect(problems, "null is not given", failed, False)
    return problems


def pages(folder):
    """Together they are what the command line prints, line for line; a long line is cut."""
    problems = []
    listed = GOLDEN / "sample" / "llvm22-contexts.afdo"
    verb = subprocess.run([PGOKIT, "show", listed, "--json"], capture_output=True, text=True,
                          check=True).stdout
    name = "f" * 30000
    (folder / "long.prof").write_text(f"{name}:30:1\n 1: 30\n" + "".join(
        f"π{i}\\x:30:1\n 1: 30\n" for i in range(900)))
    with client(GOLDEN) as c:
        expect(problems, "JSON", c.whole("top", profile="sample/llvm22-contexts.afdo", json=True,
                                         top=0), verb)
        whole = c.whole("list_profiles")
        expect(problems, "files listed", whole.count("\n") > 100, True)
    with client(folder) as c:
        whole = c.whole("top", profile="long.prof", top=0, json=True)
        expect(problems, "a name of 30,000 bytes", whole.replace("\n", "").count(name), 1)
        for i in (0, 899):
            expect(problems, f"function {i}", whole.count(f'"π{i}\\\\x"'), 1)
        _, _, cursor = c.call("top", profile="long.prof", top=0)
        with open(folder / "long.prof", "a", encoding="utf-8") as file:
            file.write("later:9000:1\n 1: 9000\n")
        text, failed, _ = c.call("top", profile="long.prof", top=0, cursor=cursor)
        expect(problems, "a changed file", (failed, "a file has changed" in text), (True, True))
    return problems


def same_as_verbs(folder):
    """No tool has a view of its own."""
    problems = []
    sample, heap = "sample/llvm22-plain.afdo", "heap-raw/handmade-over-time.profraw"
    with client() as c:
        for tool, arguments, verb in (
                ("top", {"profile": sample, "top": 2}, ["show", sample, "--top", "2"]),
                ("function", {"profile": sample, "function": "main"},
                 ["show", sample, "--function", "main"]),
                ("function", {"profile": "partial/two-contexts.pgk", "function": "main"},
                 ["show", "partial/two-contexts.pgk", "--function", "main"]),
                ("summarise", {"profile": sample}, ["show", sample, "--top", "3"]),
                ("tree", {"profile": heap}, ["show", heap, "--tree"]),
                ("advice", {"profile": heap}, ["show", heap, "--advice"]),
                ("diff", {"before": sample, "now": sample, "json": True},
                 ["diff", sample, sample, "--json"])):
            done = subprocess.run([PGOKIT, *verb], capture_output=True, text=True, cwd=GOLDEN,
                                  check=False)
            expect(problems, tool, c.whole(tool, **arguments), done.stderr + done.stdout)
    return problems


def files(folder):
    """Nothing outside of the folders, by whatever name."""
    problems = []
    inside, outside = folder / "in", folder / "out"
    (inside / "deep").mkdir(parents=True)
    outside.mkdir()
    for path in (inside / "deep" / "a.prof", inside / "-", inside / "--json", outside / "b.prof"):
        path.write_text("main:30:1\n 1: 30\n")
    (inside / "link.prof").symlink_to(outside / "b.prof")
    (inside / "link").symlink_to(outside)
    (inside / "near.prof").symlink_to(inside / "deep" / "a.prof")
    os.mkfifo(inside / "pipe")
    with client(inside) as c:
        for name in ("deep/a.prof", "./deep//a.prof", f"{inside}/deep/a.prof", "-", "--json"):
            text, failed, _ = c.call("top", profile=name)
            expect(problems, f"{name} is read: {text}", failed, False)
        for name in ("../out/b.prof", "deep/../../out/b.prof", f"{outside}/b.prof", "/etc/passwd",
                     f"{inside}/../out/b.prof", "link.prof", "link/b.prof", "near.prof", "pipe",
                     f"{inside}-not", "/proc/self/root/etc/passwd", "deep/..", "none", "a" * 5000,
                     "deep/" + "a" * 300, "deep/a.prof/x", "", "/", "//"):
            for tool, arguments in (("top", {"profile": name}),
                                    ("list_profiles", {"folder": name}),
                                    ("summarise", {"profile": "deep/a.prof", "binaries": [name]})):
                text, failed, _ = c.call(tool, **arguments)
                expect(problems, f"{tool} of {name[:40]!r}: {text[:80]!r}", failed, True)
        listed = c.whole("list_profiles")
        expect(problems, "links and pipes are not listed", sorted(
            line.split(": ")[0] for line in listed.splitlines()), ["-", "--json", "deep/a.prof"])
    with client(inside / "deep", outside) as c:
        for name in ("a.prof", "b.prof", f"{inside}/deep/a.prof", f"{outside}/b.prof"):
            text, failed, _ = c.call("top", profile=name)
            expect(problems, f"{name} of two folders: {text}", failed, False)
        expect(problems, "-", c.call("top", profile=f"{inside}/-")[1], True)
        listed = c.whole("list_profiles")
        expect(problems, "whole names of two folders", listed.count(f"{folder}/"), 2)
    return problems


def exchanged(folder):
    """A link that is made after a look at the file leads nowhere, where the kernel can see to it:
    the process that reads has no other folders."""
    problems = []
    inside, outside = folder / "in", folder / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.prof").write_text("secret:30:1\n 1: 30\n")
    (inside / "plain.prof").write_text("plain:30:1\n 1: 30\n")
    at, spare = inside / "x.prof", inside / "y.prof"
    shutil.copy(inside / "plain.prof", at)
    exchanger = subprocess.Popen([sys.executable, "-c", """
import os, sys
at, spare, plain, secret = sys.argv[1:]
while True:
    os.symlink(secret, spare); os.rename(spare, at)
    os.link(plain, spare); os.rename(spare, at)
""", at, spare, inside / "plain.prof", outside / "secret.prof"])
    read = 0
    try:
        with client(inside) as c:
            end = time.monotonic() + 60
            for turn in range(400):
                text, failed, _ = c.call("top", profile="x.prof")
                read += not failed
                if "secret" in text:
                    problems.append(f"in turn {turn} the other file was read")
                if (turn > 60 and read > 5) or time.monotonic() > end:
                    break
    finally:
        exchanger.kill()
        exchanger.wait()
    expect(problems, "the file was read in some turns", read > 0, True)
    return problems


def confined():
    """Whether this kernel can keep a process to its folders."""
    import ctypes
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 0


def writes_nothing(folder):
    """Neither below the folders nor in the caches of the user."""
    home = folder / "home"
    home.mkdir()
    kept = folder / "kept"
    shutil.copytree(GOLDEN / "probe", kept)
    before = sorted((p, p.stat().st_mtime_ns) for p in kept.rglob("*"))
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    with client(kept, env=env) as c:
        for path in kept.iterdir():
            c.call("summarise", profile=path.name, binaries=[path.name])
    problems = []
    expect(problems, "caches", list(home.iterdir()), [])
    expect(problems, "files", sorted((p, p.stat().st_mtime_ns) for p in kept.rglob("*")), before)
    return problems


def histories(folder):
    """Read without a lock or a journal of its own, since nothing may be written."""
    problems = []
    profile = folder / "a.prof"
    profile.write_text("main:30:1\n 1: 30\n")
    added = subprocess.run([PGOKIT, "history", "add", folder / "h", profile, "--release", "v7"],
                           capture_output=True, text=True, check=False)
    if "without SQLite" in added.stderr:
        return []
    with client(folder) as c:
        expect(problems, "listed", "h/history.sqlite: history" in c.whole("list_profiles"), True)
        expect(problems, "shown", "v7" in c.whole("history", folder="h", top=3), True)
        text, failed, _ = c.call("history", folder="h", since="soon")
        expect(problems, text, (failed, "--since takes a time" in text), (True, True))
    expect(problems, "files", os.listdir(folder / "h"), ["history.sqlite"])
    return problems


def bad_profiles(folder):
    """Damaged files are tool errors with the reader's sentence, and the server goes on."""
    problems = []
    with client() as c:
        for path in sorted((GOLDEN / "reject").iterdir()):
            if path.suffix == ".txt":
                continue
            text, _, _ = c.call("summarise", profile=f"reject/{path.name}")
            expect(problems, f"{path.name}: {text}", "pgokit was stopped" in text, False)
        expect(problems, "ping", c.ask("ping")["result"], {})
    return problems


def time_limit(folder):
    """A verb that takes too long is ended and said so."""
    problems = []
    (folder / "many").mkdir()
    for i in range(9000):
        (folder / "many" / f"{i}.prof").write_text("main:30:1\n 1: 30\n")
    with open(folder / "large.prof", "w", encoding="ascii") as file:
        for i in range(2500000):
            file.write(f"function_{i}:30:1\n 1: 30\n 2: 40 other_{i}:20\n")
    with client(folder, options=["--timeout", "1"]) as c:
        text, failed, _ = c.call("top", profile="large.prof", top=0, json=True)
        expect(problems, f"stopped ({text[:80]})",
               (failed, "--timeout" in text or "64 MiB" in text), (True, True))
        expect(problems, "ping", c.ask("ping")["result"], {})
    return problems


def gone_client(folder):
    """A server whose client dies does not stay."""
    server = subprocess.Popen([PGOKIT, "mcp", GOLDEN], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    server.stdout.close()
    server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    server.stdin.flush()
    try:
        return [] if server.wait(30) in (2, -signal.SIGPIPE) else [f"status {server.returncode}"]
    except subprocess.TimeoutExpired:
        server.kill()
        return ["it stays"]
    finally:
        server.stdin.close()


def tools_list(folder):
    """On one page, each with a schema that knows all its arguments."""
    problems = []
    with client() as c:
        for tool in c.ask("tools/list")["result"]["tools"]:
            schema = tool["inputSchema"]
            expect(problems, tool["name"], (schema["type"], schema["additionalProperties"],
                                            tool["annotations"]["readOnlyHint"]),
                   ("object", False, True))
            expect(problems, "required", set(schema["required"]) <= set(schema["properties"]), True)
            for name, value in schema["properties"].items():
                expect(problems, f"{tool['name']} {name}", bool(value["description"]), True)
    return problems


CASES = {
    "revisions of the protocol": versions,
    "requests that name their revision": stateless,
    "messages that are refused": refused_messages,
    "a last line without newline": last_line,
    "the list of tools": tools_list,
    "arguments that are refused": wrong_arguments,
    "pages": pages,
    "tools print what verbs print": same_as_verbs,
    "files below the folders alone": files,
    "a link in place of a file": exchanged,
    "nothing is written": writes_nothing,
    "histories": histories,
    "damaged profiles": bad_profiles,
    "the time limit": time_limit,
    "a client that is gone": gone_client,
}


def main():
    report = Report()
    wanted = sys.argv[2:]
    probe = subprocess.run([PGOKIT, "mcp", GOLDEN], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, check=False)
    if "built without mcp" in probe.stderr:
        report.skip("pgokit mcp", "built without jansson")
        report.end()
    for name, case in CASES.items():
        if wanted and name not in wanted:
            continue
        if case is exchanged and not confined():
            report.skip(name, "this kernel has no Landlock")
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                report.case(name, case(pathlib.Path(folder).resolve()))
            except (AssertionError, json.JSONDecodeError, KeyError) as error:
                report.case(name, [f"{type(error).__name__}: {error}"])
    assert ANSWER_MAX_BYTES == 8192
    report.end()


main()
