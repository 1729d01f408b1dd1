#!/usr/bin/env python3
"""Ten programs, each with one thing wrong that was put there on purpose: the answer of the tool
that one would ask names it, and names it first.

usage: planted.py PGOKIT [CASE...]      a case as it is printed
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "house")]

from raw_client import RawClient  # noqa: E402
from tap import Report  # noqa: E402

PGOKIT = os.path.abspath(sys.argv[1])
HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define KEEP __attribute__((noinline))
static volatile unsigned sum;
"""

# ---- hot spots: counters of clang say how often each block ran ----

SORT = HEAD + """
KEEP void read_input(int *v, int n) { for (int i = 0; i < n; i++) v[i] = (i * 7919) % 10007; }
KEEP void bubble_pass(int *v, int n)
{
    for (int i = 1; i < n; i++)
        if (v[i - 1] > v[i]) { int t = v[i]; v[i] = v[i - 1]; v[i - 1] = t; }
}
KEEP void sort(int *v, int n) { for (int i = 0; i < n; i++) bubble_pass(v, n); }
int main(void) { static int v[900]; read_input(v, 900); sort(v, 900); sum += v[5]; return 0; }
"""
PARSER = HEAD + """
KEEP int is_blank(char c) { return c == ' ' || c == 9; }
KEEP const char *skip_blanks(const char *at) { while (is_blank(*at)) at++; return at; }
KEEP const char *take_word(const char *at) { while (*at && *at != ' ') at++; return at; }
KEEP void parse(const char *at) { while (*at) { at = skip_blanks(at); at = take_word(at); sum++; } }
int main(void)
{
    static char text[20001];
    memset(text, ' ', 20000);
    for (int i = 0; i < 20000; i += 1000) text[i] = 'x';
    for (int i = 0; i < 20; i++) parse(text);
    return 0;
}
"""
TREE = HEAD + """
struct node { struct node *left, *right; int key; };
KEEP struct node *insert(struct node *at, int key)
{
    if (!at) { at = calloc(1, sizeof *at); at->key = key; return at; }
    if (key < at->key) at->left = insert(at->left, key); else at->right = insert(at->right, key);
    return at;
}
KEEP void print_depth(struct node *at) { sum += at->key; }
int main(void)
{
    struct node *root = NULL;
    for (int i = 0; i < 900; i++) root = insert(root, i); /* a list in fact */
    print_depth(root);
    return 0;
}
"""

# ---- leaks ----

SESSIONS = HEAD + """
struct session { char name[200]; };
static struct session *last;
KEEP struct session *open_session(int i)
{
    struct session *s = malloc(sizeof *s);
    snprintf(s->name, sizeof s->name, "%d", i);
    return s;
}
KEEP void handle(int i) { char *volatile text = malloc(5000); memset(text, 1, 5000); free(text);
                          last = open_session(i); sum += last->name[0]; }
int main(void) { for (int i = 0; i < 3000; i++) handle(i); last = NULL; return 0; }
"""
ERROR_PATH = HEAD + """
KEEP char *read_header(int i) { char *h = malloc(64); memset(h, i, 64); return h; }
KEEP char *read_body(int i) { char *b = malloc(3000); memset(b, i, 3000); return b; }
KEEP int check(int i) { return i % 4; }
KEEP int request(int i)
{
    char *volatile header = read_header(i), *volatile body = read_body(i);
    if (!check(i)) { free(header); return -1; } /* the body stays */
    free(body);
    free(header);
    return 0;
}
int main(void) { for (int i = 0; i < 2000; i++) sum += request(i); return 0; }
"""
CACHE = HEAD + """
struct entry { struct entry *next; char value[120]; };
static struct entry *table[64];
KEEP void remember(unsigned key)
{
    struct entry *e = malloc(sizeof *e);
    snprintf(e->value, sizeof e->value, "%u", key);
    e->next = table[key % 64];
    table[key % 64] = e;
}
KEEP void answer(unsigned key) { char *volatile t = malloc(900); t[0] = 1; free(t); remember(key); }
int main(void) { for (unsigned i = 0; i < 4000; i++) answer(i); memset(table, 0, sizeof table);
                 return 0; }
"""

# ---- growth: two runs of one program ----

REPORTS = HEAD + """
KEEP void *line(void) { char *volatile l = malloc(80); memset(l, 1, 80); return l; }
KEEP void *column(int n) { char *volatile c = malloc(n); memset(c, 1, n); return c; }
KEEP void report(int width) { free(line()); free(column(width)); }
int main(int argc, char **argv)
{
    for (int i = 0; i < 2000; i++) report(argc > 1 ? atoi(argv[1]) : 100);
    return 0;
}
"""
RETRIES = HEAD + """
KEEP void *connect_once(void) { char *volatile c = malloc(600); memset(c, 1, 600); return c; }
KEEP void *send_message(void) { char *volatile m = malloc(900); memset(m, 1, 900); return m; }
KEEP void deliver(int tries) { for (int i = 0; i < tries; i++) free(connect_once());
                               free(send_message()); }
int main(int argc, char **argv)
{
    for (int i = 0; i < 1000; i++) deliver(argc > 1 ? atoi(argv[1]) : 1);
    return 0;
}
"""

# ---- stale profiles: the function CHANGED is another one in the build that the profile is for ----

PRICES = HEAD + """
KEEP int tax(int p) { return p / 5; }
KEEP int discount(int p)
{
#ifdef CHANGED
    for (int i = 0; i < 9; i++) if (p > 100 * i) p -= i; else if (p & 1) p++;
    return p;
#else
    return p > 100 ? p - 10 : p;
#endif
}
int main(void) { for (int i = 0; i < 5000; i++) sum += tax(i) + discount(i); return 0; }
"""
CODEC = HEAD + """
KEEP unsigned encode(unsigned x) { return x * 2654435761u; }
#ifdef CHANGED
KEEP unsigned unpack(unsigned x) { unsigned n = 0; while (x) { n += x & 1; x >>= 1; } return n; }
#else
KEEP unsigned decode(unsigned x) { unsigned n = 0; while (x) { n += x & 1; x >>= 1; } return n; }
#define unpack decode
#endif
int main(void) { for (unsigned i = 0; i < 3000; i++) sum += encode(i) + unpack(i); return 0; }
"""


def run(*command, folder, **env):
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True,
                          check=False, env={**os.environ, **env})
    assert not done.returncode, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Case:
    """A folder with a program's profile as a user would have it."""

    def __init__(self, folder, source):
        self.folder, self.source = folder, folder / "app.c"
        self.source.write_text(source)

    def counters(self, *flags, name="app"):
        clang = shutil.which("clang-22")
        run(clang, "-O1", "-g", "-fprofile-generate", *flags, self.source, "-o",
            self.folder / name, folder=self.folder)

    def record_counters(self):
        self.counters()
        run("./app", folder=self.folder, LLVM_PROFILE_FILE="app.profraw")

    def record_heap(self, name, *arguments):
        if not (self.folder / "app").exists():
            run("gcc", "-O1", "-g", "-fno-omit-frame-pointer", self.source, "-o", "app",
                folder=self.folder)
        run(PGOKIT, "record", "heap", "-q", "-o", name, "--", "./app", *arguments,
            folder=self.folder)

    def ask(self, tool, **arguments):
        with RawClient(PGOKIT, self.folder) as client:
            listed = client.whole("list_profiles")
            for path in [*arguments.get("binaries", []), arguments.get("profile")]:
                assert not path or f"{path}: " in listed, f"{path} is not in\n{listed}"
            text, failed, _ = client.call(tool, **arguments)
        assert not failed, text
        return text


def first_named(text, names):
    """Which of the functions the text names first."""
    places = [(text.find(name), name) for name in names if name in text]
    return min(places)[1] if places else None


def hot(case, names):
    case.record_counters()
    return first_named(case.ask("top", profile="app.profraw", binaries=["app"]), names)


def leak(case, names):
    case.record_heap("app.heap")
    text = case.ask("top", profile="app.heap", binaries=["app"], sort="leaked", top=1)
    return first_named(text[text.index("#1"):], names)


def leak_by_advice(case, names):
    """Of contexts that free nothing the advice says so, too."""
    found = leak(case, names)
    text = case.ask("advice", profile="app.heap", binaries=["app"])
    advised = first_named(text[text.index("are never freed"):], names)
    return found if advised == found else f"{found}, but the advice names {advised}"


def growth(case, names, first, second):
    case.record_heap("old.heap", first)
    case.record_heap("new.heap", second)
    text = case.ask("diff", before="old.heap", now="new.heap", binaries=["app"])
    return first_named(text[text.index("#1"):] if "#1" in text else text, names)


def stale(case, names):
    case.record_counters()
    case.counters("-DCHANGED", name="next")
    text = case.ask("match", profile="app.profraw", binaries=["next"])
    return first_named(text, names)


CASES = {
    "a sort that compares too often": (SORT, hot, "bubble_pass", ["read_input", "bubble_pass"]),
    "blanks that are looked at twice": (PARSER, hot, "is_blank",
                                        ["take_word", "is_blank", "main"]),
    "a tree that is a list": (TREE, hot, "insert", ["print_depth", "insert", "main"]),
    "sessions that are not closed": (SESSIONS, leak_by_advice, "open_session",
                                     ["open_session", "handle"]),
    "a body left by an error": (ERROR_PATH, leak, "read_body", ["read_header", "read_body"]),
    "a cache that forgets nothing": (CACHE, leak_by_advice, "remember", ["remember", "answer"]),
    "wider columns": (REPORTS, lambda c, n: growth(c, n, "100", "400"), "column",
                      ["line", "column"]),
    "more tries": (RETRIES, lambda c, n: growth(c, n, "1", "5"), "connect_once",
                   ["connect_once", "send_message"]),
    "a changed function": (PRICES, stale, "discount", ["discount", "tax"]),
    "a renamed function": (CODEC, stale, "decode", ["decode", "encode"]),
}


def main():
    report = Report()
    wanted = sys.argv[2:]
    probe = subprocess.run([PGOKIT, "mcp", HERE], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, check=False)
    for name, (source, question, culprit, names) in CASES.items():
        if wanted and name not in wanted:
            continue
        if "built without mcp" in probe.stderr:
            report.skip(name, "built without jansson")
            continue
        if question in (hot, stale) and not shutil.which("clang-22"):
            report.skip(name, "missing clang-22")
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = question(Case(pathlib.Path(folder).resolve(), source), names)
                report.case(name, [] if found == culprit else [f"named first: {found}"])
            except (AssertionError, ValueError, json.JSONDecodeError) as error:
                report.case(name, [f"{type(error).__name__}: {error}"])
    report.end()


main()
