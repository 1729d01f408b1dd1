"""The RUN lines of LLVM's own tests, as its test driver lit understands them: what each needs, what
the words with % in it stand for, and what a shell makes of it. Only what the tests of the profile
tools use is here; another word with % is reported.
"""

import os
import re
import subprocess

RUN = re.compile(rb"\bRUN:(.*)$", re.M)
NEEDS = re.compile(rb"\b(REQUIRES|UNSUPPORTED|XFAIL):(.*)$", re.M)
# What Debian's LLVM on this machine is.
FEATURES = {"x86_64-linux", "x86-registered-target", "zlib", "system-linux", "shell"}
LIMIT = 120  # seconds for a test, whose lines take some milliseconds each


class Unknown(Exception):
    """A test says something that is not understood here."""


def holds(condition):
    """Whether a feature, or !feature, or several with && and ||, is given here."""
    def one(word):
        word = word.strip().strip("()")
        if word.startswith("!"):
            return not one(word[1:])
        return word in FEATURES or word == "*"
    return any(all(one(part) for part in every.split("&&")) for every in condition.split("||"))


class LitTest:
    """A test: its file, its RUN lines as (line number, shell command), and why it does not run here
    ("" if it does)."""

    def __init__(self, path, name):
        self.path, self.name, self.why_not = path, name, ""
        with open(path, "rb") as f:
            data = f.read()
        for match in NEEDS.finditer(data):
            for condition in match[2].decode().split(","):
                kind, condition = match[1].decode(), condition.strip()
                # LLVM itself does not do what a test with XFAIL asks for.
                if holds(condition) != (kind == "REQUIRES"):
                    self.why_not = f"{kind} {condition}"
        self.lines = list(self.commands(data))

    @staticmethod
    def commands(data):
        """A backslash at the end of a line joins it with the next one."""
        start, text = None, ""
        for match in RUN.finditer(data):
            start = start or data.count(b"\n", 0, match.start()) + 1
            text += match[1].decode("utf-8", "surrogateescape").strip()
            if text.endswith("\\"):
                text = text[:-1]
                continue
            yield start, text
            start, text = None, ""
        if text:
            yield start, text

    def expanded(self, command, folder, tools):
        """`folder` is for what the test writes; `tools` has paths of tools by their names."""
        here, base = os.path.dirname(self.path), os.path.basename(self.path) + ".tmp"
        words = {"%s": self.path, "%S": here, "%p": here, "%t": os.path.join(folder, base),
                 "%T": folder, "%/t": os.path.join(folder, base), "%/s": self.path, "%/S": here,
                 "%errc_ENOENT": "'No such file or directory'", "%basename_t": base,
                 "%errc_EISDIR": "'Is a directory'", "%python": "python3", "%%": "%"}

        def word(match):
            if match[0] not in words:
                raise Unknown(f"{self.name}: {match[0]} in {command}")
            return words[match[0]]
        known = "|".join(sorted((re.escape(w) for w in words), key=len, reverse=True))
        command = re.sub(known + r"|%\{[^}]*\}|%\([^)]*\)", word, command)
        names = "|".join(re.escape(name) for name in tools)
        return re.sub(rf"(?<![\w/.%=-])({names})(?![\w/.=-])", lambda m: tools[m[1]], command)


def run_lines(commands, folder):
    """Runs commands one after the other in one shell, each as lit does, where each part of a pipe
    has to succeed. A command is (first, second); the second, which may be None, runs where the
    first fails. The result is a list of exit statuses of the first ones; what they printed is in
    folder/N.said, N from 0."""
    script = ["set -o pipefail"]
    for i, (first, second) in enumerate(commands):
        script.append(f"( {first}\n) >{i}.said 2>&1 </dev/null; status=$?; echo $status >>statuses")
        if second:
            script.append(f"[ $status = 0 ] || ( {second}\n) >/dev/null 2>&1 </dev/null")
    # Bytes as the tests have them, which are not always UTF-8.
    path = os.path.join(folder, "script")
    with open(path, "wb") as f:
        f.write("\n".join(script).encode("utf-8", "surrogateescape") + b"\n")
    try:
        subprocess.run(["bash", path], cwd=folder, env=dict(os.environ, LC_ALL="C"), check=False,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        pass
    statuses = []
    if os.path.exists(os.path.join(folder, "statuses")):
        with open(os.path.join(folder, "statuses"), encoding="ascii") as f:
            statuses = [int(line) for line in f]
    return statuses + [-1] * (len(commands) - len(statuses))


def said(folder, i):
    """What command `i` printed."""
    try:
        with open(os.path.join(folder, f"{i}.said"), "rb") as f:
            return f.read().decode("utf-8", "replace")
    except OSError:
        return ""
