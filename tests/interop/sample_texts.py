"""Random sample profiles as text, of every kind, for the interop tests. The same seed gives
the same text; `variant` changes counts and what a file mentions, as another run would.
"""

import random

FUNCTIONS = ["main", "foo", "bar", "baz", "_ZN4base6Buffer3getEv", "_ZN3net7Session5flushEPKc",
             "_Z3quxi", "alpha.llvm.123", "beta.part.0", "gamma.__uniq.42", "a", "ab", "abc",
             "_ZNSt6vectorIiE4pushEi", "operator new(unsigned long)"]
VTABLES = ["_ZTV1A", "_ZTV1B", "_ZTVN3net7SessionE", "_ZTV4Leaf"]
KINDS = ("flat", "nested", "probe", "cs", "cs-probe", "preinlined")


class Texts:
    def __init__(self, seed, kind, vtables=False, variant=0):
        self.random = random.Random(f"{seed} {kind} {variant}")
        self.kind, self.vtables = kind, vtables
        self.probe = "probe" in kind
        self.contexts = kind in ("cs", "cs-probe", "preinlined")

    def names(self):
        return [name for name in FUNCTIONS if not (self.contexts and " " in name)]

    def count(self):
        r = self.random
        return r.choice([0, 1, 2, 7, r.randrange(100), r.randrange(10000), r.randrange(1 << 40)])

    def loc(self):
        r = self.random
        line = r.choice([0, 1, 2, 3, r.randrange(20), r.randrange(65536)])
        if self.probe or r.random() < 0.6:
            return line, 0
        return line, r.choice([1, 2, 15, 4294967295])

    @staticmethod
    def loc_text(loc):
        return f"{loc[0]}.{loc[1]}" if loc[1] else str(loc[0])

    def targets(self, names):
        r = self.random
        chosen = r.sample(names, r.choice([1, 1, 2, 4])) if r.random() < 0.4 else []
        return "".join(f" {name}:{self.count()}" for name in chosen)

    def body(self, depth, out):
        r, pad, names = self.random, " " * depth, self.names()
        places = sorted({self.loc() for _ in range(r.randrange(1, 6))})
        for loc in places:
            out.append(f"{pad}{self.loc_text(loc)}: {self.count()}{self.targets(names)}")
            if self.vtables and r.random() < 0.4:
                chosen = sorted(r.sample(VTABLES, r.randrange(1, 4)))
                counts = "".join(f"{name}:{self.count()} " for name in chosen)
                out.append(f"{pad}{self.loc_text(loc)}: vtables {counts}")
        if self.kind in ("nested", "probe") and depth < 4 and r.random() < 0.6:
            for _ in range(r.randrange(1, 3)):
                # Apart from places with samples, where LLVM would print vtables twice.
                loc = (r.randrange(1000, 1010), 0)
                name = r.choice(names)
                out.append(f"{pad}{self.loc_text(loc)}: {name}:{self.count()}")
                self.body(depth + 1, out)
        if self.probe:
            out.append(f"{pad}!CFGChecksum: {self.checksum(out, depth)}")
        if self.kind == "preinlined" or (self.contexts and self.checksum(out, depth) % 3 == 0):
            out.append(f"{pad}!Attributes: {2 if self.kind == 'preinlined' else 1}")

    def checksum(self, out, depth):
        """One per function, whatever the file, so that nothing is left out of a merge."""
        head = next(line for line in reversed(out) if len(line) - len(line.lstrip()) == depth - 1
                    and not line.lstrip().startswith("!"))
        text = head.strip()
        name = text.rpartition(":")[0] if depth > 1 else text.rsplit(":", 2)[0]
        if depth > 1:
            name = name.partition(": ")[2]
        return 1 + sum(name.strip("[]").rpartition("@ ")[2].encode()) * 7919

    def head(self):
        r, names = self.random, self.names()
        name = r.choice(names)
        if not self.contexts:
            return name
        frames = [f"{r.choice(names)}:{self.loc_text(self.loc())}" for _ in range(r.randrange(4))]
        return "[" + " @ ".join([*frames, name]) + "]"

    def text(self, functions=12):
        heads, out = [], []
        while len(heads) < functions:
            head = self.head()
            if head in heads:
                functions -= 1
                continue
            heads.append(head)
            out.append(f"{head}:{self.count()}:{self.count()}")
            self.body(1, out)
        return "\n".join(out) + "\n"


def text(seed, kind, vtables=False, variant=0):
    return Texts(seed, kind, vtables, variant).text()
