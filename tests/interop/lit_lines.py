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
# Seconds for one line; each takes some milliseconds.
LIMIT = 60


class Unknown(Exception):
    """A test says something that is not understood here."""


def holds(condition):
    """Whether a feature, or !feature, or several with && and ||, is given here."""
    def one(word):
        word = word.strip().strip("()")
        return word.lstrip("!") in FEATURES or word == "*" if not word.startswith("!") else \
            not one(word[1:])
    return any(all(one(part) for part in every.split("&&")) for every in condition.split("||"))


class LitTest:
    """A test: its file, its RUN lines as shell commands, and why it does not run here ("" if it
    does)."""

    def __init__(self, path, name):
        self.path, self.name = path, name
        with open(path, "rb") as f:
            data = f.read()
        self.why_not, self.fails = "", False
        for match in NEEDS.finditer(data):
            for condition in match[2].decode().split(","):
                kind, condition = match[1].decode(), condition.strip()
                if kind == "XFAIL":
                    self.fails |= holds(condition)
                elif holds(condition) != (kind == "REQUIRES"):
                    self.why_not = f"{kind} {condition}"
        self.lines = list(self.commands(data))

    @staticmethod
    def commands(data):
        """(number of the first line, command), where a backslash at the end joins lines."""
        start, text = None, ""
        for match in RUN.finditer(data):
            start = start or data.count(b"\n", 0, match.start()) + 1
            piece = match[1].decode("utf-8", "surrogateescape").strip()
            text += piece
            if piece.endswith("\\"):
                text = text[:-1]
                continue
            yield start, text
            start, text = None, ""
        if text:
            yield start, text

    def expanded(self, command, folder, tools):
        """`folder` is for what the test writes; `tools` has paths of tools by their names."""
        base = os.path.join(folder, os.path.basename(self.path) + ".tmp")
        words = {"%s": self.path, "%S": os.path.dirname(self.path),
                 "%p": os.path.dirname(self.path), "%t": base, "%T": folder, "%/t": base,
                 "%/s": self.path, "%/S": os.path.dirname(self.path), "%%": "%",
                 "%errc_ENOENT": "'No such file or directory'",
                 "%errc_EISDIR": "'Is a directory'", "%errc_EINVAL": "'Invalid argument'",
                 "%errc_EACCES": "'Permission denied'", "%python": "python3",
                 "%basename_t": os.path.basename(base)}

        def word(match):
            if match[0] not in words:
                raise Unknown(f"{self.name}: {match[0]} in {command}")
            return words[match[0]]
        known = "|".join(sorted((re.escape(w) for w in words), key=len, reverse=True))
        command = re.sub(known + r"|%\{[^}]*\}|%\([^)]*\)", word, command)
        names = "|".join(re.escape(name) for name in tools)
        return re.sub(rf"(?<![\w/.%=-])({names})(?![\w/.=-])", lambda m: tools[m[1]], command)


def run_line(command, folder, env):
    """Runs a command as lit does, in which each part of a pipe has to succeed."""
    script = f"set -o pipefail; {command}"
    # Bytes as the tests have them, which are not always UTF-8.
    argv = [b"bash", b"-c", script.encode("utf-8", "surrogateescape")]
    try:
        return subprocess.run(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, -1, b"", f"still running after {LIMIT} s".encode())
