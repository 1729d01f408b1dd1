"""Are the hints that a program built by a heap profile gives its allocator those of the profile?

The program runs with an allocator that has the hint of each object in its call stack
(programs/hint_stacks.c) and with the heap profiler behind it. So the contexts of the new build are
recorded, merged and named as those of the profile were, and each that came with a hint is looked
up there: the frames of a context of the profile are the first frames of it, however either build
is inlined. What the profile's context is follows from the thresholds, computed here once more.
"""

import collections
import json
import os
import re
import subprocess

LIBRARY = "hint_stacks.c"
# Physical frames that are kept of call stacks: two are those of the library, and one of the
# profiled build may be several here, as it is not inlined.
DEPTH = 24
MS_PER_S = 1000
PER_BYTE = 100  # densities in files are in accesses per 100 bytes

# Of the thresholds of the plugin; see docs/design/profile-use.md.
Limits = collections.namedtuple("Limits", "cold_lifetime cold_share hot_density",
                                defaults=[0.1, 0.1, 0])
OPTIONS = {"-pgokit-use-cold-lifetime": "cold_lifetime", "-pgokit-use-cold-share": "cold_share",
           "-pgokit-use-hot-density": "hot_density"}


def limits_of(options):
    pairs = (option.split("=") for option in options)
    return Limits(**{OPTIONS[name]: float(value) for name, value in pairs})


# ---- running the new build ----

def make_library(compiler, folder):
    path = os.path.join(folder, "hint_stacks.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", LIBRARY)
    subprocess.run([compiler, "-O1", "-g", "-fPIC", "-shared", "-fno-builtin", "-w", source, "-o",
                    path], check=True)
    return path


def environment(library, runtime, folder):
    """For a process whose contexts go into files in the folder; so do those of its children."""
    return {"LD_PRELOAD": f"{library}:{runtime}",
            "PGOKIT_HEAP_OPTIONS": f"log_path={folder}/heap:depth={DEPTH}"}


# ---- what a profile says ----

def mean(mib, field):
    return mib[field] / mib["AllocCount"] if mib["AllocCount"] else 0


def density(mib):
    return mean(mib, "TotalLifetimeAccessDensity") / PER_BYTE


def heat(mib):
    """Accesses per byte."""
    if mib["TotalSize"] and "TotalAccessCount" in mib:
        return mib["TotalAccessCount"] / mib["TotalSize"]
    return density(mib) * (mean(mib, "TotalLifetime") / MS_PER_S or 1)


def class_of(mib, limits, all_heat):
    if (heat(mib) < all_heat * limits.cold_share and
            mean(mib, "TotalLifetime") / MS_PER_S >= limits.cold_lifetime):
        return "cold"
    return "hot" if limits.hot_density and density(mib) > limits.hot_density else "neither"


def contexts(pgokit, profile, binaries):
    """Those of a heap profile with the names of binaries, one after the other; without frames that
    have no name."""
    named = [word for path in binaries for word in ("-b", os.fspath(path))]
    with subprocess.Popen([pgokit, "show", "-q", "--json", profile, *named], text=True,
                          stdout=subprocess.PIPE) as shown:
        for line in shown.stdout:  # there may be more than fit into memory
            if line.startswith('    {"label":'):
                context = json.loads(line.rstrip(",\n"))
                context["stack"] = [frame for frame in context["stack"] if "guid" in frame]
                yield context
    if shown.returncode not in (0, 1):
        raise SystemExit(f"pgokit show {profile} fails")


def place(frame):
    """Copies of functions that a link makes are the same function. Without a line: any of it."""
    name = re.sub(r"\.(?:llvm|part|memprof)\..*", "", frame.get("function") or frame["guid"])
    return (name, frame["line_offset"] & 0xffff, frame["column"]) if frame.get("line") else (name,)


class Tree:
    """Contexts by their frames, leaf first."""

    def __init__(self):
        self.children = {}
        self.is_class = None  # of the context that ends here
        self.classes = set()  # of all that begin so
        self.by_name = collections.defaultdict(list)

    def add(self, stack, is_class):
        node = self
        for frame in stack:
            node.classes.add(is_class)
            at = place(frame)
            if at not in node.children:
                node.children[at] = Tree()
                node.by_name[at[0]].append(node.children[at])
            node = node.children[at]
        node.classes.add(is_class)
        node.is_class = is_class

    def below(self, at):
        """Those for the next frame of a stack."""
        if len(at) == 1:
            return self.by_name.get(at[0], [])
        return [self.children[key] for key in (at, at[:1]) if key in self.children]


def profile_tree(pgokit, profile, binary, limits):
    found = list(contexts(pgokit, profile, [binary]))
    size = sum(context["mib"]["TotalSize"] for context in found)
    all_heat = sum(heat(context["mib"]) * context["mib"]["TotalSize"] for context in found) / size
    tree = Tree()
    for context in found:
        tree.add(context["stack"], class_of(context["mib"], limits, all_heat))
    return tree


# ---- contexts of the new build ----

def hint_and_stack(context):
    """"cold", "hot", or None, and the frames of the program."""
    stack, hint = context["stack"], None
    for i, frame in enumerate(stack):
        if not frame.get("file", "").endswith(LIBRARY):
            return hint, stack[i:]
        name = frame.get("function", "")
        hint = name.removeprefix("hint_is_") if name.startswith("hint_is_") else hint
    return hint, []


def look_up(tree, stack):
    """Classes of the contexts that a stack begins with, and of those that share most frames with
    it."""
    nodes, found = [tree], set()
    for frame in stack:
        further = [child for node in nodes for child in node.below(place(frame))]
        if not further:
            break
        nodes = further
        ended = {node.is_class for node in nodes if node.is_class}
        found = ended or found  # the deepest ones
    shared = set().union(*(node.classes for node in nodes)) if nodes != [tree] else set()
    return found, shared


def verdict(tree, hint, stack):
    found, shared = look_up(tree, stack)
    if found:
        return "right" if hint in found else "wrong"
    if not shared:
        return "unknown call"
    return "alike" if shared == {hint} else "mixed" if hint in shared else "unlike"


Result = collections.namedtuple("Result", "contexts objects examples bytes")


def compare(pgokit, tree, recorded, binaries, examples=3):
    """What became of the contexts of a new build, by hint and verdict:

    right, wrong   the profile has the context, and it is what the hint says, or is not
    alike          it does not, and all contexts are so that share most frames with this one
    mixed          some of these are so
    unlike         none of these is so
    unknown call   it has none that share any frame

    and bytes by class, in the profile, and hint."""
    result = Result(collections.Counter(), collections.Counter(), collections.defaultdict(list),
                    collections.Counter())
    for context in contexts(pgokit, recorded, binaries):
        hint, stack = hint_and_stack(context)
        mib = context["mib"]
        for is_class in look_up(tree, stack)[0]:
            result.bytes[is_class, hint] += mib["TotalSize"]
        if not hint:
            continue
        key = hint, verdict(tree, hint, stack)
        result.contexts[key] += 1
        result.objects[key] += mib["AllocCount"]
        if len(result.examples[key]) < examples:
            result.examples[key].append(stack)
    return result


def words(stack, frames=6):
    """Of a stack without what is inlined into its first function: mostly the library's."""
    first = next((i for i, frame in enumerate(stack) if not frame["inline"]), 0)
    return " < ".join(f"{place(frame)[0]}:{frame.get('line', 0)}:{frame['column']}"
                      for frame in stack[first:first + frames])
