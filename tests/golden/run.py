#!/usr/bin/env python3
"""Golden files: every profile beside its readable twin.

run.py PGOKIT            compares, TAP output
run.py PGOKIT --rebase   rewrites the twins from what PGOKIT prints now

FILE.txt holds what `pgokit show --raw FILE` prints; in sample/, what FILE is as text; in
sample-gcc/, what it is as JSON; in probe/,
what `pgokit disasm --format llvm --probes FILE` prints; in counts/, the listing of a program of
probe/ with the counts of the profile. Files under reject/ must be refused:
their FILE.txt holds the message. HOWTO.md says how the files were made.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "house"))

import emulated  # noqa: E402

VERBS = {
    "counts": ["disasm", "../probe/foo2-clang22", "--profile"],
    "probe": ["disasm", "--format", "llvm", "--probes"],
    "reject": ["check"],
    "sample-gcc": ["show", "--json"],
    "sample": ["convert", "--to", "text", "--vtables", "--drop-symbols", "-o", "-"],
}
HERE = os.path.dirname(os.path.abspath(__file__))


def run(pgokit, folder, name):
    """What pgokit prints for a file, with its exit status where it should be refused."""
    reject = folder == "reject"
    verb = VERBS.get(folder, ["show", "--raw"])
    r = subprocess.run([*emulated.started(pgokit), *verb, name], cwd=os.path.join(HERE, folder),
                       capture_output=True, text=True, timeout=60)
    text = r.stderr if reject else r.stdout
    return text, r.returncode, 2 if reject else 0


def main():
    pgokit = os.path.abspath(sys.argv[1])
    rebase = "--rebase" in sys.argv[2:]
    cases = [(folder, name)
             for folder in sorted(os.listdir(HERE)) if os.path.isdir(os.path.join(HERE, folder))
             for name in sorted(os.listdir(os.path.join(HERE, folder)))
             if not name.endswith(".txt")]
    print(f"1..{len(cases)}")
    for i, (folder, name) in enumerate(cases, 1):
        twin = os.path.join(HERE, folder, name + ".txt")
        text, code, want_code = run(pgokit, folder, name)
        if rebase:
            with open(twin, "w") as f:
                f.write(text)
        want = open(twin).read() if os.path.exists(twin) else "(no twin)"
        ok = text == want and code == want_code
        print(f"{'ok' if ok else 'not ok'} {i} - {folder}/{name}")
        if not ok:
            print(f"# exit status {code}, expected {want_code}")
            for a, b in zip(text.splitlines() + [""] * 999, want.splitlines()):
                if a != b:
                    print(f"# printed  {a}\n# expected {b}")
                    break


main()
