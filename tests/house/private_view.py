"""Runs a command where it may install into /usr/local: in a view of files that ends with it."""

import os
import shutil
import subprocess

NO_VIEW = 77
# What is there of ours already is not seen.
SCRIPT = f"""
view=$(mktemp -d)
trap 'rmdir "$view"' EXIT
mount -t tmpfs tmpfs "$view" || exit {NO_VIEW}
trap 'umount -l "$view"; rmdir "$view"' EXIT
for folder in /usr/local /etc /var/cache; do
    mkdir -p "$view$folder.new" "$view$folder.work"
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=$view$folder.new" \\
        -o "workdir=$view$folder.work" "$folder" || exit {NO_VIEW}
done
find /usr/local -maxdepth 5 -name '*pgokit*' -prune -exec rm -rf {{}} +
"$@"
"""


def run_in_view(*command, **kw):
    """What subprocess.run returns, and why there is no such view if there is none."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return None, "needs root and unshare"
    done = subprocess.run(["unshare", "--mount", "bash", "-c", SCRIPT, "view",
                           *(str(word) for word in command)],
                          capture_output=True, text=True, check=False, **kw)
    if done.returncode == NO_VIEW:
        return None, (done.stderr.splitlines() or ["no view of the file system"])[0]
    return done, ""
