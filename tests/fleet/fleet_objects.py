#!/usr/bin/env python3
"""Objects of a store through boto3 and through curl: any names, whole or not at all, each error
told of its object, nothing asked for again in vain, and no secrets on a command line.

usage: fleet_objects.py
"""

import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))
sys.path.insert(0, str(HERE.parents[1] / "fleet"))

import fleet_store  # noqa: E402
from fleet_harness import PAGE, Store, why_no_curl  # noqa: E402
from tap import Report  # noqa: E402

NAMES = ["plain", "a b", "per%cent", "plus+", "question?", "hash#", "quo\"te'", "back\\slash",
         "ä/日本", "[glob]{1,2}", "under/folder.prof", "@3", "empty"]


def boto():
    import boto3
    return fleet_store.Boto(boto3)


def curl_that_tells(folder):
    """A curl that writes its command lines to a file."""
    path = pathlib.Path(folder, "curl")
    log = f'printf "%s\\n" "$*" >>{folder}/lines'
    path.write_text(f'#!/bin/sh\n{log}\nexec {shutil.which("curl")} "$@"\n')
    path.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def uri(name):
    return f"s3://bucket/in/{name}"


def fetched(names, folder):
    places = fleet_store.fetch_all([uri(n) for n in names], folder, may_lack=True)
    return {name: pathlib.Path(places[uri(name)]).read_bytes() for name in names
            if uri(name) in places}


def any_names(store, folder):
    """Written, listed, read, and deleted."""
    whole = {name: name.encode() * 5000 if name != "empty" else b"" for name in NAMES}
    for name, body in whole.items():
        pathlib.Path(folder, "one").write_bytes(body)
        fleet_store.store(f"{folder}/one", uri(name))
    listed = {name: size for name, size, _ in fleet_store.list_folder("s3://bucket/in/")}
    problems = []
    if listed != {uri(name): len(body) for name, body in whole.items()}:
        problems.append(f"listed: {listed}")
    if fetched(NAMES, folder) != whole:
        problems.append("read other bytes")
    fleet_store.remove([uri(name) for name in [*NAMES, "is not there"]])
    return problems + [f"left: {name}" for name in store.objects]


def errors_and_halves(store, folder):
    """A third of all answers is an error, none, or half of one. Few objects are asked for again."""
    names = [f"{i:04}" for i in range(3 * PAGE)]
    store.objects = {f"/bucket/in/{name}": name.encode() * 100 for name in names}
    store.trouble, store.share = "errors", 0.3
    if fetched(names, folder) != {name: name.encode() * 100 for name in names}:
        return ["read other bytes"]
    if len(list(fleet_store.list_folder("s3://bucket/in/"))) != len(names):
        return ["the list is not whole"]
    fleet_store.remove([uri(name) for name in names])
    return [f"left: {name}" for name in store.objects]


def one_is_gone(store, folder):
    """It is told, and not asked for again; for what may not lack it is the end."""
    store.objects = {"/bucket/in/a": b"a", "/bucket/in/gone": None, "/bucket/in/z": b"z"}
    problems = []
    if fetched(["a", "gone", "z"], folder) != {"a": b"a", "z": b"z"} or store.requests != 3:
        problems.append(f"{store.requests} requests")
    try:
        fleet_store.fetch_all([uri("gone")], folder)
        problems.append("what is gone does not lack")
    except fleet_store.Failure as err:
        if uri("gone") not in str(err):
            problems.append(str(err))
    return problems


def no_right(store, folder):
    """Each object that may not be read is named, once."""
    store.objects = {"/bucket/in/a": b"a"}
    store.secret = "another"
    try:
        fleet_store.fetch_all([uri("a"), uri("b")], folder, may_lack=True)
        return ["read without the right to"]
    except fleet_store.Failure as err:
        told = uri("a") in str(err) and uri("b") in str(err) and "2 objects" in str(err)
        return [] if told else [str(err)]


def never(store, folder):
    """What fails each time ends, with the name of the object."""
    store.objects = {"/bucket/in/a": b"a"}
    store.trouble, store.share = "errors", 1
    try:
        fetched(["a"], folder)
        return ["read what is never there as a whole"]
    except RuntimeError as err:
        tries = len(fleet_store.PAUSES_S)
        told = uri("a") in str(err) and store.requests == tries
        return [] if told else [f"{store.requests} requests: {err}"]


def command_lines(store, folder):
    """One process for all objects; what it says to everybody is not the secret."""
    fetched(["a", "b", "c"], folder)
    lines = pathlib.Path(folder).parent.joinpath("lines").read_text().splitlines()
    problems = [f"on a command line: {word}" for word in (store.user, store.secret, "token")
                if any(word in line for line in lines)]
    before = len(lines)
    store.objects = {f"/bucket/in/{i}": b"1" for i in range(100)}
    failed = fleet_store.s3().ask("get", [(uri(i), f"{folder}/{i}") for i in range(100)])
    lines = pathlib.Path(folder).parent.joinpath("lines").read_text().splitlines()
    problems += [f"{len(lines) - before} processes"] if len(lines) != before + 1 else []
    return problems + [str(one) for one in failed]


def main():
    report = Report()
    fleet_store.PAUSES_S = [0, *[0.01] * 12]
    try:
        import boto3  # noqa: F401
        no_boto = None
    except ImportError:
        no_boto = "missing python3-boto3"
    cases = [any_names, errors_and_halves, one_is_gone, no_right, never]
    for client, make, reason, more in (("boto3", boto, no_boto, []),
                                       ("curl", fleet_store.Curl, why_no_curl(), [command_lines])):
        for case in cases + more:
            name = f"{client}: {case.__name__.replace('_', ' ')}"
            if reason:
                report.skip(name, reason)
                continue
            with tempfile.TemporaryDirectory() as folder:
                report.case(name, try_with(make, case, folder))
    report.end()


def try_with(make, case, folder):
    store, before = Store(), dict(os.environ)
    try:
        os.environ.update(store.env())
        if make is fleet_store.Curl:
            curl_that_tells(folder)
            os.environ["AWS_SESSION_TOKEN"] = "a-token"
        client = make()
        fleet_store.s3 = lambda: client
        os.mkdir(f"{folder}/here")
        return case(store, f"{folder}/here")
    finally:
        os.environ.clear()
        os.environ.update(before)
        store.shutdown()
        store.server_close()


if __name__ == "__main__":
    main()
