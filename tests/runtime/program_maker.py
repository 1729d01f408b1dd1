"""Makes a C or C++ program at random: pointers, structs, loops with several exits, early frees,
realloc, calls through pointers, recursion, exceptions or setjmp. It ends, has no undefined
behaviour, and prints a number that all accesses go into."""

import random

ALLOCATIONS, FUNCTIONS, ROUNDS = 6, 7, 8

HEADER = """
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long u64;
struct node {
    u64 a, b[4];
    struct node *next;
    unsigned c;
    struct { u64 x, y; } in;
    unsigned char bytes[24];
};
#define SITE extern "C" __attribute__((noinline))
#ifndef __cplusplus
#undef SITE
#define SITE __attribute__((noinline))
#endif
typedef u64 function(struct node *p, u64 *q, u64 n);
extern u64 fuel, seen;
extern function *const table[];
extern jmp_buf *top;
"""

ALLOCATORS = """
u64 fuel, seen;
jmp_buf *top;
SITE struct node *site_nodes_%(i)d(u64 n)
{
    struct node *p = (struct node *)calloc(n, sizeof *p);
    for (u64 i = 0; i + 1 < n; i++)
        p[i].next = &p[i + 1];
    return p;
}
SITE u64 *site_words_%(i)d(u64 n)
{
    u64 *p = (u64 *)malloc(n * sizeof *p);
    memset(p, %(i)d, n * sizeof *p);
    return p;
}
SITE u64 *site_more_%(i)d(u64 *p, u64 n, u64 more)
{
    p = (u64 *)realloc(p, (n + more) * sizeof *p);
    memset(p + n, %(i)d, more * sizeof *p);
    return p;
}
SITE u64 give_%(i)d(struct node *p)
{
    u64 sum = p->a + p->in.y;
    free(p);
    return sum;
}
SITE u64 look_%(i)d(const struct node *p)
{
    return p->b[%(i)d & 3] * 3 + p->c;
}
"""

CXX_ONLY = """
SITE u64 *site_array(u64 n)
{
    u64 *p = new u64[n];
    for (u64 i = 0; i < n; i++)
        p[i] = i;
    return p;
}
"""

HOLDER = """
struct holder {
    u64 *words;
    ~holder() { words[1]++; delete[] words; }
};
"""


class Scope:
    """What statements may use: nodes and words by name with how many there are, numbers."""

    def __init__(self, nodes, words, numbers, owned=(), loops=0, depth=0, leaves=True,
                 around=0):
        self.nodes, self.words, self.numbers = dict(nodes), dict(words), list(numbers)
        self.owned, self.loops, self.depth = set(owned), loops, depth
        self.leaves = leaves  # a return or a throw is allowed
        self.around = around  # loops, however they are left

    def inner(self, **changes):
        parts = {"nodes": self.nodes, "words": self.words, "numbers": self.numbers,
                 "owned": self.owned, "loops": self.loops, "depth": self.depth + 1,
                 "leaves": self.leaves, "around": self.around + changes.get("loops", 0)}
        return Scope(**{**parts, **changes})


class ProgramMaker:
    def __init__(self, seed, cxx):
        self.random, self.cxx, self.names = random.Random(seed), cxx, 0
        self.sometimes = self.random.choice((3, 5, 9))

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def pick(self, *choices):
        return self.random.choice(choices)

    # ---- expressions ----

    def place(self, s):
        """Something in memory that may be read and written."""
        r = self.random
        if r.random() < 0.5:
            p, n = r.choice(sorted(s.nodes.items()))
            p = p if n == 1 or r.random() < 0.6 else f"({p} + {r.randrange(n)})"
            if n == 4 and r.random() < 0.4:
                p = f"({p.split(' ')[0].strip('(')} + ({self.value(s, 1)} & 3))"
            return self.pick(f"{p}->a", f"{p}->b[{r.randrange(4)}]", f"{p}->c", f"{p}->in.x",
                             f"{p}->in.y", f"{p}->bytes[{r.randrange(24)}]",
                             f"{p}->b[{self.value(s, 1)} & 3]",
                             f"{p}->bytes[(unsigned){self.value(s, 1)} % 24]")
        q, n = r.choice(sorted(s.words.items()))
        return self.pick(f"{q}[{r.randrange(n)}]", f"{q}[{self.value(s, 1)} & {n - 1}]",
                         f"*({q} + {r.randrange(n)})")

    def value(self, s, depth=0):
        r = self.random
        kind = r.random()
        if kind < 0.3 or depth > 2:
            return r.choice(s.numbers) if r.random() < 0.7 else str(r.randrange(1, 90))
        if kind < 0.65:
            return self.place(s)
        if kind < 0.7:
            return f"look_{r.randrange(ALLOCATIONS)}({r.choice(sorted(s.nodes))})"
        # Never negative: it may be an index or a size.
        return f"((u64){self.value(s, depth + 1)} {self.pick('+', '*', '^', '-')} " \
               f"{self.value(s, depth + 1)})"

    def condition(self, s):
        return self.pick(f"({self.value(s)}) % {self.random.randrange(2, 6)} == 0",
                         f"({self.value(s)}) & 2", f"seen++ % {self.sometimes} == 1",
                         f"{self.place(s)} > {self.value(s)}")

    # ---- statements ----

    def block(self, s, most=4):
        """Statements in braces; the scope is theirs."""
        lines = []
        for _ in range(self.random.randrange(1, most + 1)):
            lines += self.statement(s)
        return ["{", *lines, "}"]

    def statement(self, s):
        kinds = [self.assign] * 6 + [self.set_number, self.copy]
        if s.depth < 4:
            kinds += [self.choose, self.choose, self.switch, self.call, self.call, self.own,
                      self.narrow, self.realloc, self.release]
        if s.depth < 4 and s.around < 2:
            kinds += [self.count_loop] * 2 + [self.walk, self.walk_back, self.walk_list,
                                              self.do_loop]
        if s.depth < 2:
            kinds += [self.catch if self.cxx else self.jump_back]
        kinds += [self.leave]
        return self.random.choice(kinds)(s)

    def assign(self, s):
        to, kind = self.place(s), self.random.random()
        if kind < 0.04:
            return [f"__atomic_fetch_add(&{self.random.choice(sorted(s.words))}[1], 3, 5);"]
        if kind < 0.07:
            return [f"*(volatile u64 *)&{self.random.choice(sorted(s.words))}[2] += 1;"]
        return [f"{to} {self.pick('=', '+=', '^=')} {self.value(s)};"]

    def set_number(self, s):
        return [f"{s.numbers[-1]} {self.pick('=', '+=')} {self.value(s)};"] \
            if s.numbers[-1].startswith("x") else self.assign(s)

    def copy(self, s):
        p, q = self.random.choice(sorted(s.nodes)), self.random.choice(sorted(s.words))
        n = s.words[q]
        return [self.pick(f"{p}->in = {self.random.choice(sorted(s.nodes))}->in;",
                          f"memcpy({p}->b, {q}, sizeof {p}->b);",
                          f"memset({p}->bytes, {self.random.randrange(9)}, 24);",
                          f"memset({q}, (int){self.value(s)}, ({self.value(s)}) % {n} * 8);",
                          f"memmove({q} + 1, {q}, {n - 1} * sizeof *{q});",
                          f"memcpy({q}, {p}->bytes, {self.random.randrange(1, 25)});")]

    def choose(self, s):
        lines = [f"if ({self.condition(s)})", *self.block(s.inner())]
        return lines + (["else", *self.block(s.inner())] if self.random.random() < 0.5 else [])

    def switch(self, s):
        lines = [f"switch (({self.value(s)}) % 5) {{"]
        for case in range(self.random.randrange(2, 5)):
            lines += [f"case {case}:", *self.block(s.inner(loops=0), 2)]
            lines += ["break;"] if self.random.random() < 0.7 else []
        return [*lines, "default:;", "}"]

    def own(self, s):
        """Objects that end in this function, or never."""
        inner = s.inner()
        i = self.random.randrange(ALLOCATIONS)
        if self.random.random() < 0.5:
            name, n = self.name("v"), self.pick(1, 2, 4)
            inner.nodes[name] = n
            lines = [f"struct node *{name} = site_nodes_{i}({n});"]
        else:
            name, n = self.name("w"), self.pick(8, 16, 32)
            inner.words[name] = n
            lines = [f"u64 *{name} = site_words_{i}({n});"]
        inner.owned.add(name)
        body = self.block(inner, 5)
        freed = [f"free({name});"] if self.random.random() < 0.8 else []
        if name in inner.nodes and self.random.random() < 0.4:
            freed = [f"seen += give_{i}({name});"]
        return ["{", *lines, *body, *freed, "}"]

    def release(self, s):
        """Ends an object early, and goes on with another one, or not at all."""
        owned = sorted(name for name in s.owned if name in s.nodes)
        if not owned:
            return self.assign(s)
        name = self.random.choice(owned)
        again = f"{name} = site_nodes_{self.random.randrange(ALLOCATIONS)}({s.nodes[name]});"
        if self.random.random() < 0.5 and s.leaves:
            again = f"return {self.random.choice(s.numbers)};"
        return [f"if ({self.condition(s)}) {{", f"free({name});", again, "}"]

    def realloc(self, s):
        owned = sorted(name for name in s.owned if name in s.words)
        if not owned:
            return self.assign(s)
        name = self.random.choice(owned)
        i, more = self.random.randrange(ALLOCATIONS), self.random.randrange(1, 90)
        had = s.words[name]
        return [f"if ({self.condition(s)})", f"{name} = site_more_{i}({name}, {had}, {more});"]

    def narrow(self, s):
        """Another pointer into an object, which stays while that is used."""
        q, n = self.random.choice(sorted(s.words.items()))
        inner = s.inner(owned=())
        name = self.name("q")
        if n <= 8:
            return self.assign(s)
        at = self.pick(str(n - 8), f"(({self.value(s)}) & {n - 8 if n == 16 else 7})")
        inner.words[name] = 8
        return ["{", f"u64 *{name} = {q} + {at};", *self.block(inner), "}"]

    def call(self, s):
        p, q = self.random.choice(sorted(s.nodes)), self.random.choice(sorted(s.words))
        who = self.pick(f"f{self.random.randrange(FUNCTIONS)}",
                        f"table[({self.value(s)}) % {FUNCTIONS}]")
        return [f"seen += {who}({p}, {q}, {self.value(s)});"]

    def leave(self, s):
        ways = []
        if s.loops:
            ways += ["break;", "continue;"]
        if s.leaves:
            ways += [f"return {self.value(s)};"]
            ways += ["throw 1;"] if self.cxx else []
        if not self.cxx:
            ways += ["if (top) longjmp(*top, 1);"]
        return [f"if ({self.condition(s)})", self.random.choice(ways)] if ways else self.assign(s)

    # ---- loops ----

    def count_loop(self, s):
        i = self.name("i")
        inner = s.inner(loops=1, numbers=[i, *s.numbers])
        most = self.pick("7", "3", f"({self.value(s)}) % 9",
                         f"({self.value(s)}) % {5 if s.around else 40}")
        step = self.pick(f"{i}++", f"{i}++", f"{i} += 2")
        return [f"for (u64 {i} = 0, end{i} = {most}; {i} < end{i}; {step})", *self.block(inner)]

    def do_loop(self, s):
        i = self.name("i")
        inner = s.inner(loops=1, numbers=[i, *s.numbers])
        return ["{", f"u64 {i} = ({self.value(s)}) % 11;", "do", *self.block(inner),
                f"while ({i}-- > 1 && {i} < 100 && !({self.condition(s)}));", "}"]

    def walk(self, s):
        q, n = self.random.choice(sorted(s.words.items()))
        w = self.name("w")
        inner = s.inner(loops=1, owned=(), numbers=[f"*{w}", *s.numbers])
        return [f"for (u64 *{w} = {q}, *end{w} = {q} + {n}; {w} != end{w}; {w}++) {{",
                f"*{w} += {self.value(s)};", *self.block(inner, 2), "}"]

    def walk_back(self, s):
        q, n = self.random.choice(sorted(s.words.items()))
        w = self.name("w")
        inner = s.inner(loops=1, owned=())
        return [f"for (u64 *{w} = {q} + {n}; {w} != {q}; {w}--) {{",
                f"if ({w}[-1] % 3 == {self.random.randrange(3)})", *self.block(inner, 2),
                f"seen += {w}[-1];", "}"]

    def walk_list(self, s):
        p = self.random.choice(sorted(s.nodes))
        w = self.name("n")
        inner = s.inner(loops=1, owned=())
        inner.nodes[w] = 1
        return [f"for (struct node *{w} = {p}; {w}; {w} = {w}->next)", *self.block(inner, 3)]

    # ---- leaving by other ways ----

    def catch(self, s):
        inner = s.inner()
        holder = [f"holder {self.name('h')} = {{site_array({self.pick(2, 8, 33)})}};"] \
            if self.random.random() < 0.5 else []
        body = self.block(inner)
        return ["try {", *holder, *body, "} catch (int) {", *self.block(s.inner()), "}"]

    def jump_back(self, s):
        """Nothing that is used afterwards changes in between, and it is left at its end only."""
        nodes = {name: n for name, n in s.nodes.items() if name == "p"}
        words = {name: n for name, n in s.words.items() if name == "q"}
        inner = s.inner(nodes=nodes, words=words, numbers=["n"], owned=(), loops=0, leaves=False)
        here, saved = self.name("here"), self.name("saved")
        return ["{", f"jmp_buf {here}, *volatile {saved} = top;", f"top = &{here};",
                f"if (!setjmp({here}))", *self.block(inner), "else {",
                f"top = {saved};", *self.block(inner.inner(depth=4)), "}", f"top = {saved};", "}"]

    # ---- the program ----

    def function(self, i):
        s = Scope({"p": 1}, {"q": 8}, ["n", "x0"])
        jumping = not self.cxx and self.random.random() < 0.4
        s.numbers = ["n"] if jumping else s.numbers
        lines = [f"u64 f{i}(struct node *p, u64 *q, u64 n)", "{", "if (!fuel)", "return n;",
                 "fuel--;", "u64 x0 = n;"]
        for _ in range(self.random.randrange(3, 8)):
            lines += self.jump_back(s) if jumping and self.random.random() < 0.3 \
                else self.statement(s)
        return [*lines, "return x0 + p->a;", "}"]

    def calls(self):
        inside = [f"seen += table[round % {FUNCTIONS}](p + round % 4, q + round % 8, round);"]
        if self.cxx:
            inside = ["try {", *inside, "} catch (int) {", "seen++;", "}"]
        return ["int main(void)", "{", f"for (u64 round = 0; round < {ROUNDS}; round++) {{",
                "struct node *p = site_nodes_0(4);", "u64 *q = site_words_1(32);", "fuel = 20;",
                *inside, "for (int i = 0; i < 4; i++)", "seen += p[i].a + p[i].in.x + q[i];",
                "free(p);", "free(q);", "}", 'printf("%lu\\n", seen);', "return 0;", "}"]

    def program(self):
        """The texts of two files."""
        names = [f"f{i}" for i in range(FUNCTIONS)]
        declared = [f"function {', '.join(names)};"]
        for i in range(ALLOCATIONS):
            declared += [f"SITE struct node *site_nodes_{i}(u64 n);",
                         f"SITE u64 *site_words_{i}(u64 n), *site_more_{i}(u64 *, u64, u64);",
                         f"SITE u64 give_{i}(struct node *), look_{i}(const struct node *);"]
        if self.cxx:
            declared += ["SITE u64 *site_array(u64 n);", HOLDER]
        bodies = [line for i in range(FUNCTIONS) for line in self.function(i)]
        allocators = "\n".join(ALLOCATORS.replace("%(i)d", str(i)).replace(
            "" if i == 0 else "u64 fuel, seen;\njmp_buf *top;\n", "") for i in range(ALLOCATIONS))
        linkage = 'extern function *const table[];' if not self.cxx else ""
        table = f"{linkage}\nfunction *const table[] = {{{', '.join(names)}}};"
        head = HEADER + "\n".join(declared) + "\n"
        return (head + "\n".join(bodies) + "\n",
                head + allocators + (CXX_ONLY if self.cxx else "") + table + "\n"
                + "\n".join(self.calls()) + "\n")
