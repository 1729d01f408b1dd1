#!/usr/bin/env python3
"""scripts/peers: what cannot be had is reported and left out; what is there is listed.

usage: test_peers.py SCRIPTS/PEERS
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from tap import Report

# Stands for a machine that cannot reach the archives, as for one that may not make roots.
UNREACHABLE = "#!/bin/sh\necho 'the archive has moved' >&2\nexit 25\n"


def run(script, folder, *args):
    return subprocess.run([script, *args], text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, timeout=60,
                          env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"))


def unlike(done, status, *texts):
    output = done.stdout + done.stderr
    found = [f"exit status {done.returncode} instead of {status}"] * (done.returncode != status)
    return found + [f"no '{text}' in: {output}" for text in texts if text not in output]


def main():
    script, report = sys.argv[1], Report()
    with tempfile.TemporaryDirectory() as folder:
        for command in ("mmdebstrap", "sudo"):
            path = pathlib.Path(folder) / command
            path.write_text(UNREACHABLE, encoding="utf-8")
            path.chmod(0o755)
        peers = pathlib.Path(folder) / "peers"
        report.case("a release that cannot be had is reported, its log shown, and the rest tried",
                    unlike(run(script, folder, peers, "sid", "forky"), 1, "the archive has moved",
                           "scripts/peers: sid: its base cannot be had",
                           "not there: sid: its base cannot be had",
                           "not there: forky: its base cannot be had"))
        report.case("reasons are listed later, too",
                    unlike(run(script, folder, "--list", peers), 0, "not there: sid"))
        report.case("an unknown release is refused",
                    unlike(run(script, folder, peers, "hamm"), 2, "unknown release 'hamm'"))
        (peers / "bin/gcc-99").write_text(
            "#!/bin/sh\n# gcc-99: gcc-99 99.1 of Debian sid; made by scripts/peers.\n",
            encoding="utf-8")
        report.case("tools are listed with their versions",
                    unlike(run(script, folder, "--list", peers), 0,
                           "gcc-99: gcc-99 99.1 of Debian sid\n"))
    report.end()


if __name__ == "__main__":
    main()
