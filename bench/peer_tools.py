"""The tools of LLVM that pgokit is compared with: those of release 22, which must be there, and
those of 23, which scripts/peers brings; without them their cases are left out with a reason."""

import os
import shutil

BROUGHT = os.environ.get("PGOKIT_PEERS") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pgokit", "peers")
OLDER, NEWER = 22, 23


def releases(name):
    """Yields (label, path) of the tool of each release; its starting takes a few milliseconds
    where it runs in a root of scripts/peers."""
    found = shutil.which(f"{name}-{OLDER}")
    if not found:
        raise SystemExit(f"bench: {name}-{OLDER} is missing; scripts/deps bench installs it")
    yield f"{name}-{OLDER}", found
    newer = f"{name}-{NEWER}"
    found = shutil.which(newer) or shutil.which(newer, path=os.path.join(BROUGHT, "bin"))
    if found:
        yield newer, found
    else:
        print(f"\nleft out: {newer}, which scripts/peers brings", flush=True)
