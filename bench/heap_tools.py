"""Heap profilers on programs as Debian installs them: plain runs against pgokit record heap,
heaptrack, and valgrind's dhat and massif. A ratio is the tool's cost divided by the plain run's.
"""

import os
import shutil

QUERY = "sum(//price) + count(//item[position() mod 7 = 1]/following-sibling::item[1])"


def workloads(bench):
    """Yields (name, arguments) of what is installed."""
    document = bench.out("items.xml")
    with open(document, "w", encoding="utf-8") as f:
        f.writelines(["<items>", *(f"<item><price>{i % 977}</price></item>" for i in range(20000)),
                      "</items>"])
    orders = f".read {os.path.join(bench.here, 'runtime', 'orders.sql')}"
    trees = os.path.join(bench.here, "runtime", "binary_trees.lua")
    for name, argv in (("lua5.4, binary trees", ["lua5.4", trees, "14"]),
                       ("sqlite3, orders", ["sqlite3", ":memory:", orders]),
                       ("xmllint, XPath", ["xmllint", "--xpath", QUERY, document])):
        if shutil.which(argv[0]):
            yield name, argv
        else:
            print(f"\n{name}: {argv[0]} is not installed")


def profilers(bench):
    """What is put in front of a command line, by name."""
    raw = bench.out("heap.profraw")
    yield "record heap", [bench.pgokit, "record", "heap", "-q", "-o", raw, "--"]
    for tool, argv in (
            ("heaptrack", ["heaptrack", "-o", bench.out("heaptrack")]),
            ("dhat", ["valgrind", "-q", "--tool=dhat", f"--dhat-out-file={bench.out('dhat')}"]),
            ("massif", ["valgrind", "-q", "--tool=massif",
                        f"--massif-out-file={bench.out('massif')}"])):
        if shutil.which(argv[0]):
            yield tool, argv
        else:
            print(f"\n{tool} is not installed")


def cases(bench):
    """Yields (name, the plain command, profiled commands by tool, required ratios, labels)."""
    tools = list(profilers(bench))
    for name, argv in workloads(bench):
        yield name, argv, {tool: before + argv for tool, before in tools}, {}, ("plain", "profiled")
