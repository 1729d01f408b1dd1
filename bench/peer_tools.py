"""The tools that pgokit is compared with: those of LLVM 22, which must be there, and those of newer
releases of Debian, which scripts/peers brings; without them their cases are left out with a
reason."""

import os
import shutil

BROUGHT = os.environ.get("PGOKIT_PEERS") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pgokit", "peers")
OLDER, NEWER = 22, 23
NEXT = 24  # a snapshot


def brought(name):
    """Path of a tool of a newer Debian, whose start takes a few milliseconds where it runs in a
    root of scripts/peers; None if there is none, which is said."""
    found = shutil.which(name) or shutil.which(name, path=os.path.join(BROUGHT, "bin"))
    if not found:
        print(f"\nleft out: {name}, which scripts/peers brings", flush=True)
    return found


def releases(name):
    """Yields (label, path) of the tool of each release."""
    found = shutil.which(f"{name}-{OLDER}")
    if not found:
        raise SystemExit(f"bench: {name}-{OLDER} is missing; scripts/deps bench installs it")
    yield f"{name}-{OLDER}", found
    newer = f"{name}-{NEWER}"
    if found := brought(newer):
        yield newer, found


def next_release(name):
    """Yields that of a snapshot of the next release, if scripts/peers brought it."""
    if found := brought(f"{name}-{NEXT}"):
        yield f"{name}-{NEXT}", found
