"""A graph of Python objects that is gone over again and again: graph_of_objects.py NODES ROUNDS.
Each node has a name that is never read, beside what is. Prints a sum."""
import sys


class Node:
    __slots__ = ("key", "name", "next", "weight")

    def __init__(self, key):
        self.key = key
        self.name = f"node {key}"
        self.next = None
        self.weight = float(key % 97)


def main():
    count, rounds = int(sys.argv[1]), int(sys.argv[2])
    nodes = [Node(key) for key in range(count)]
    seed, total = 1, 0.0
    for node in nodes:
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        node.next = nodes[seed % count]
    for _ in range(rounds):
        for node in nodes:
            total += node.weight * node.next.key
    print(total)


main()
