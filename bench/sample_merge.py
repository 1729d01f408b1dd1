"""Sample profiles like those of a large C++ program: llvm-profdata 22 and 23 against pgokit."""

import os
import subprocess

import peer_tools

FILES, FUNCTIONS, MANY_FUNCTIONS = 20, 20000, 200000
WRITE_VTABLES = {"peer": ["-extbinary-write-vtable-type-prof"], "ours": ["--vtables"]}


class Form:
    """Profiles of one kind; `more` are options of both tools that keep all that is in them."""

    def __init__(self, title, kind, vtables=False):
        self.title, self.kind, self.vtables = title, kind, vtables
        self.name = kind + ("-vtables" if vtables else "")

    def more(self, tool):
        return WRITE_VTABLES[tool] if self.vtables else []


NESTED = Form("nested", "nested")
CONTEXTS = Form("context-sensitive", "contexts")
FORMS = (NESTED, CONTEXTS, Form("with probes", "probes"), Form("with vtables", "nested", True))


class Inputs:
    """Made once, by a generator whose output depends on its arguments alone."""

    def __init__(self, bench, peer):
        self.folder, self.peer = os.path.join(bench.data, "sample"), peer
        self.generator = os.path.join(bench.build, "bench", "gen_sample")
        os.makedirs(self.folder, exist_ok=True)

    def made(self, name, *command):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            subprocess.run([*command, "-o", path + ".new"], check=True,
                           stderr=subprocess.DEVNULL)
            os.rename(path + ".new", path)
        return path

    def text(self, form, functions=FUNCTIONS, run=0):
        return self.made(f"{form.name}-{functions}-{run}.txt", self.generator, "--kind", form.kind,
                         "--functions", str(functions), "--run", str(run),
                         *(["--vtables"] if form.vtables else []))

    def binary(self, form, functions=FUNCTIONS, run=0):
        """The text as llvm-profdata's extensible binary."""
        text = self.text(form, functions, run)
        return self.made(os.path.basename(text).removesuffix(".txt") + ".afdo", self.peer, "merge",
                         "--sample", *form.more("peer"), text)

    def binaries(self, form, files=FILES, functions=FUNCTIONS):
        return [self.binary(form, functions, run) for run in range(files)]


def thousands(n):
    return f"{n:,}"


def case(bench, peer, name, inputs, required, theirs=(), ours=()):
    return (name,
            [peer, "merge", "--sample", *theirs, *inputs, "-o", bench.out("peer")],
            [bench.pgokit, "merge", *ours, *inputs, "-o", bench.out("ours")], required)


def merges(bench, peer, inputs):
    for form in FORMS:
        required = {"cpu": 1 / 15}
        if form is NESTED:
            required["peak"] = 1 / 5
        yield case(bench, peer,
                   f"merge {FILES} files of {thousands(FUNCTIONS)} functions, {form.title}",
                   inputs.binaries(form), required, form.more("peer"), form.more("ours"))
    for form in FORMS if bench.full else ():
        yield case(bench, peer, f"merge 4 files of {thousands(MANY_FUNCTIONS)} functions, "
                   f"{form.title}", inputs.binaries(form, 4, MANY_FUNCTIONS), {},
                   form.more("peer"), form.more("ours"))


def conversions(bench, peer, inputs):
    for form in FORMS:
        yield case(bench, peer, f"text to extensible binary, {thousands(FUNCTIONS)} functions, "
                   f"{form.title}", [inputs.text(form)], {"cpu": 1 / 10}, form.more("peer"),
                   form.more("ours"))
    for form in FORMS if bench.full else (NESTED,):
        yield case(bench, peer, f"text to extensible binary, {thousands(MANY_FUNCTIONS)} "
                   f"functions, {form.title}", [inputs.text(form, MANY_FUNCTIONS)],
                   {"cpu": 1 / 10}, form.more("peer"), form.more("ours"))
    yield case(bench, peer, f"extensible binary to text, {thousands(FUNCTIONS)} functions",
               [inputs.binary(NESTED)], {}, ["--text"], ["--to", "text"])


def first_function(path):
    """The innermost function of the first profile in a text."""
    with open(path, encoding="ascii") as f:
        return next(f).rsplit(":", 2)[0].strip("[]").rpartition(" @ ")[2]


def shows(bench, peer, inputs):
    for form in FORMS:
        function = first_function(inputs.text(form, MANY_FUNCTIONS))
        many = inputs.binary(form, MANY_FUNCTIONS)
        yield (f"show one function of {thousands(MANY_FUNCTIONS)}, {form.title}",
               [peer, "show", "--sample", f"--function={function}", many],
               [bench.pgokit, "show", many, "--function", function], {"wall_s": 0.020})


# What LLVM 24 brought: options of its merge and of ours.
NEXT = (("indexed tables", ["--extbinary", "--use-md5", "--md5-indexed-tables"],
         ["--indexed-tables", "--quiet"]),
        ("composite", ["--extbinary", "--extbinary-composite-prof"], ["--composite"]))
HUGE = 2000000  # that many functions have 1.95 million names


def of_next_release(bench, peer, inputs):
    """Merging what such a merge wrote, and one function of a huge profile by the index."""
    for title, theirs, ours in NEXT:
        made = [inputs.made(f"{title.split()[0]}-{MANY_FUNCTIONS}-{run}.afdo", bench.pgokit,
                            "convert", *ours, inputs.text(NESTED, MANY_FUNCTIONS, run))
                for run in range(2)]
        yield case(bench, peer, f"merge 2 files of {thousands(MANY_FUNCTIONS)} functions, {title}",
                   made, {"cpu": 1 / 4, "peak": 1 / 3}, theirs, ours)
    if bench.full:
        text = inputs.text(NESTED, HUGE)
        huge = inputs.made(f"indexed-{HUGE}.afdo", bench.pgokit, "convert", "--to", "llvm24", text)
        function = first_function(text)
        yield (f"show one function of {thousands(HUGE)}, indexed tables",
               [peer, "show", "--sample", f"--function={function}", huge],
               [bench.pgokit, "show", huge, "--function", function], {"wall_s": 0.005})


def cases(bench):
    """Yields (name, peer's command, our command, required ratios, labels)."""
    peers = list(peer_tools.releases("llvm-profdata"))
    inputs = Inputs(bench, peers[0][1])
    for label, peer in peers:
        for part in (merges, conversions, shows):
            for row in part(bench, peer, inputs):
                yield *row, (label, "pgokit")
    for label, peer in peer_tools.next_release("llvm-profdata"):
        for row in of_next_release(bench, peer, inputs):
            yield *row, (label, "pgokit")
