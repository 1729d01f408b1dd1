// A tree in columns, whose parents stand before their children; node 0 is the root.

export interface Tree {
    parent: Int32Array; // -1 at the root
    firstChild: Int32Array; // -1: none
    nextSibling: Int32Array;
}

export function link(parents: ArrayLike<number>): Tree {
    const n = parents.length;
    const tree: Tree = {
        parent: Int32Array.from(parents),
        firstChild: new Int32Array(n).fill(-1),
        nextSibling: new Int32Array(n).fill(-1),
    };
    for (let i = n - 1; i > 0; i--) {
        tree.nextSibling[i] = tree.firstChild[parents[i]!]!;
        tree.firstChild[parents[i]!] = i;
    }
    return tree;
}

/** Adds what each node has of its own up over the tree: each node with all below it. */
export function addUp(tree: Tree, own: Float64Array): Float64Array {
    const out = Float64Array.from(own);
    for (let i = out.length - 1; i > 0; i--) out[tree.parent[i]!]! += out[i]!;
    return out;
}

export function children(tree: Tree, node: number): number[] {
    const list = [];
    for (let c = tree.firstChild[node]!; c >= 0; c = tree.nextSibling[c]!) list.push(c);
    return list;
}

/** Whether each node is one of those at or below a node. */
export function within(tree: Tree, node: number): Uint8Array {
    const inside = new Uint8Array(tree.parent.length);
    inside[node] = 1;
    for (let i = node + 1; i < inside.length; i++) inside[i] = inside[tree.parent[i]!]!;
    return inside;
}

/** The nodes above, outermost first. */
export function ancestors(tree: Tree, node: number): number[] {
    const list = [];
    for (let n = tree.parent[node]!; n >= 0; n = tree.parent[n]!) list.push(n);
    return list.reverse();
}
