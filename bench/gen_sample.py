#!/usr/bin/env python3
"""Makes a large sample profile as text, shaped like that of a big C++ program.

  bench/gen_sample.py --functions N --kind flat|contexts|probes [--vtables] --run R -o FILE

Which functions there are, their names, lines, call targets and inlinees are the same for every
run R; which of them a run mentions, and how often, differs: what a fleet of machines that sample
one program gives. Heat follows Zipf's law, names are mangled and a tenth are long, a third of the
lines have call targets, a quarter of the functions have inlinees, up to four deep.
"""

import argparse
import random

SCOPES = ("base", "net", "storage", "proto", "index", "rpc", "cache", "std", "absl", "internal")
CLASSES = ("Buffer", "Reader", "Session", "Scheduler", "Table", "Iterator", "Parser", "Allocator")
VERBS = ("get", "insert", "erase", "lookup", "flush", "parse", "visit", "resize", "encode", "run")
TAILS = ("v", "i", "Pv", "PKc", "RKS_", "jj", "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcEE")
MAX_INLINE_DEPTH = 4


def mangled(text):
    return f"{len(text)}{text}"


def function_name(i):
    r = random.Random(i * 2654435761)
    scopes = "".join(mangled(r.choice(SCOPES)) for _ in range(r.randint(1, 3)))
    owner = mangled(r.choice(CLASSES))
    if r.random() < 0.3:
        owner += "I" + "".join(r.choice("ijmdc") for _ in range(r.randint(1, 5))) + "E"
    name = f"_ZN{scopes}{owner}{mangled(r.choice(VERBS) + str(i))}E{r.choice(TAILS)}"
    if r.random() < 0.1:
        name += "I" + "".join(f"NS{r.randint(1, 9)}_IPKcE" for _ in range(r.randint(3, 12))) + "E"
    return name


class Profile:
    def __init__(self, args):
        self.args = args
        self.names = [function_name(i) for i in range(args.functions)]
        self.types = [f"_ZTV{mangled(c + str(i))}" for i in range(max(50, args.functions // 100))
                      for c in CLASSES[:2]]
        self.counts = random.Random(f"run {args.run}")
        self.lines = []

    def callee(self, r):
        return self.names[int(self.args.functions * r.random() ** 3)]

    def body(self, r, depth, weight, nest):
        """Adds the lines of a body; `r` draws its shape, self.counts what this run saw."""
        args, seen, pad, total = self.args, self.counts, " " * depth, 0
        line = 0
        for _ in range(1 + min(int(r.lognormvariate(2.1 if depth == 1 else 1.2, 0.8)), 300)):
            line += 1 if args.kind == "probes" else r.choice((1, 1, 1, 2, 3, 8))
            targets = []
            if r.random() < 0.3:
                wanted = 1 if r.random() < 0.8 else r.randint(2, 6)
                targets = [self.callee(r) for _ in range(wanted)]
            mentioned = seen.random() < 0.9
            count = int(weight * 2 * seen.random()) + (weight >= 1)
            if mentioned:
                total += count
                calls = "".join(f" {name}:{int(count * seen.random())}"
                                for name in dict.fromkeys(targets))
                self.lines.append(f"{pad}{line}: {count}{calls}")
                if args.vtables and len(targets) > 1:
                    types = r.sample(self.types, len(targets))
                    self.lines.append(f"{pad}{line}: vtables " + "".join(
                        f"{name}:{int(count * seen.random())} " for name in sorted(types)))
            elif args.vtables and len(targets) > 1:
                r.sample(self.types, len(targets))
        for _ in range(nest and depth <= MAX_INLINE_DEPTH and r.choice((0, 0, 0, 1, 1, 2, 3))):
            line += r.randint(1, 4)
            total += self.inlinee(r, depth, weight, line)
        return total

    def inlinee(self, r, depth, weight, line):
        callee, inner = int(self.args.functions * r.random() ** 3), random.Random(r.random())
        if self.counts.random() > 0.9:
            return 0
        at = len(self.lines)
        self.lines.append("")
        total = self.body(inner, depth + 1, weight * (0.2 + self.counts.random()), True)
        self.lines[at] = f"{' ' * depth}{line}: {self.names[callee]}:{total}"
        if self.args.kind == "probes":
            self.lines.append(f"{' ' * (depth + 1)}!CFGChecksum: {checksum(callee)}")
        return total

    def function(self, i):
        args, r = self.args, random.Random(i * 97531)
        heat = 3e7 / ((i * 7 % args.functions) + 1) ** 1.05
        contexts = 1 + min(int(r.expovariate(0.7)), 40) if args.kind == "contexts" else 1
        for _ in range(contexts):
            head = self.names[i]
            if args.kind == "contexts":
                frames = [f"{self.callee(r)}:{r.randint(1, 60)}" for _ in range(r.randint(0, 6))]
                head = "[" + " @ ".join([*frames, head]) + "]"
            inner = random.Random(r.random())
            if self.counts.random() > 0.85:
                continue
            at = len(self.lines)
            self.lines.append("")
            nest = args.kind != "contexts" and r.random() < 0.25
            total = self.body(inner, 1, heat * self.counts.random(), nest)
            self.lines[at] = f"{head}:{total}:{int(heat * self.counts.random())}"
            if args.kind == "probes":
                self.lines.append(f" !CFGChecksum: {checksum(i)}")

    def write(self, path):
        with open(path, "w", encoding="ascii") as f:
            for i in range(self.args.functions):
                if self.counts.random() < 0.8:
                    self.function(i)
                    f.write("\n".join(self.lines) + "\n" if self.lines else "")
                    self.lines.clear()


def checksum(i):
    return (i * 0x9e3779b97f4a7c15 & 0xffffffffffff) | 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=20000)
    parser.add_argument("--kind", choices=("flat", "contexts", "probes"), default="flat")
    parser.add_argument("--vtables", action="store_true")
    parser.add_argument("--run", type=int, default=0)
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    Profile(args).write(args.output)


if __name__ == "__main__":
    main()
