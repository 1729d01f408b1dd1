// What functions, or libraries, allocate themselves and with all that they call.
import { GroupSums, NONE } from "./group_sums";
import type { HeapModel } from "./heap_model";
import { libraryName } from "./heap_model";
import type { Tree } from "./tree";
import { addUp, link } from "./tree";

/** Sums of contexts by a row next to a chosen one, largest first; NONE: nothing is there. */
export type Neighbours = [row: number, sum: number][];

export interface Sandwich {
    callers: Neighbours;
    callees: Neighbours;
}

export interface FunctionLines {
    file: number; // text; 0: unknown
    offsets: boolean; // from the function's first line
    sums: Map<number, number>;
}

/** Frames of libraries are left out if `programOnly`, except where a stack has nothing else. */
export class CallSums extends GroupSums {
    readonly n: number;
    private readonly groups: Int32Array; // by row: a function, or the text of a library
    private readonly nodeRow: Int32Array; // by node; NONE: left out
    private readonly siteRow: Int32Array; // by context: who allocates; NONE: no stack
    private readonly onlyLibrary: number[]; // contexts whose site is left out as a frame
    private readonly tree: Tree;
    /** Nodes whose row is not among their callers: a recursion counts once there. */
    private readonly outermost: Uint8Array;

    constructor(
        model: HeapModel,
        readonly by: "function" | "library",
        programOnly: boolean,
    ) {
        super(model);
        const { funcs, nodes, frames } = model.data;
        const groupOf =
            by === "function" ? funcs.name.map((_, f) => f) : funcs.path.map(libraryOf(model));
        const rowOfGroup = new Map<number, number>();
        const rowOfFunc = new Int32Array(funcs.name.length).fill(NONE);
        const groups: number[] = [];
        const row = (node: number): number => {
            const func = frames.func[nodes.frame[node]!]!;
            if (rowOfFunc[func] !== NONE) return rowOfFunc[func]!;
            const group = groupOf[func]!;
            const at = rowOfGroup.get(group) ?? groups.length;
            if (at === groups.length) groups.push(group);
            rowOfGroup.set(group, at);
            return (rowOfFunc[func] = at);
        };
        this.nodeRow = new Int32Array(nodes.frame.length).fill(NONE);
        for (let n = 1; n < this.nodeRow.length; n++)
            if (!programOnly || !funcs.library[frames.func[nodes.frame[n]!]!])
                this.nodeRow[n] = row(n);
        this.siteRow = model.siteNode.map((site) => (site ? row(site) : NONE));
        this.onlyLibrary = [];
        model.siteNode.forEach((site, c) => {
            if (site && this.nodeRow[site] === NONE) this.onlyLibrary.push(c);
        });
        this.groups = Int32Array.from(groups);
        this.n = groups.length;
        this.tree = link(model.nodeParent);
        this.outermost = this.findOutermost();
    }

    name(row: number): string {
        const group = this.groups[row]!;
        if (this.by === "function") return this.model.funcName(group);
        return libraryName(this.model.text(group));
    }

    /** A function's linkage name, as compilers have it, or a library's path. */
    fullName(row: number): string {
        const group = this.groups[row]!;
        if (this.by === "library") return this.model.text(group) || libraryName("");
        return this.model.linkage(group) || this.name(row);
    }

    /** Where a function is, its file and library; the path of a library. */
    place(row: number): string {
        const group = this.groups[row]!;
        return this.by === "library" ? this.model.text(group) : this.model.place(group);
    }

    protected has(row: number, inText: boolean[]): boolean {
        const group = this.groups[row]!;
        return this.by === "library" ? inText[group]! : this.model.funcHas(group, inText);
    }

    /** The row that allocates a context; NONE: it has no stack. */
    site(context: number): number {
        return this.siteRow[context]!;
    }

    /** Of the contexts that each row allocates in itself. */
    self(values: Float64Array): Float64Array {
        const sums = new Float64Array(this.n);
        this.siteRow.forEach((row, c) => {
            if (row !== NONE) sums[row]! += values[c]!;
        });
        return sums;
    }

    /** Of the contexts that have each row in their stack. */
    total(values: Float64Array): Float64Array {
        const { node } = this.model.data.contexts;
        const own = new Float64Array(this.nodeRow.length);
        node.forEach((n, c) => (own[n]! += values[c]!));
        const below = addUp(this.tree, own);
        const sums = new Float64Array(this.n);
        for (let n = 1; n < below.length; n++)
            if (this.outermost[n]) sums[this.nodeRow[n]!]! += below[n]!;
        for (const c of this.onlyLibrary) sums[this.siteRow[c]!]! += values[c]!;
        return sums;
    }

    /** Contexts that have the row in their stack. */
    through(row: number): Uint8Array {
        const { node } = this.model.data.contexts;
        const below = new Uint8Array(this.nodeRow.length);
        for (let n = 1; n < below.length; n++)
            below[n] = this.nodeRow[n] === row ? 1 : below[this.model.nodeParent[n]!]!;
        const found = Uint8Array.from(node, (n) => below[n]!);
        for (const c of this.onlyLibrary) if (this.siteRow[c] === row) found[c] = 1;
        return found;
    }

    /** Who calls a row, and whom it calls: a context counts once for each neighbour. */
    around(row: number, values: Float64Array): Sandwich {
        const callers = new Map<number, number>();
        const callees = new Map<number, number>();
        const add = (to: Map<number, number>, rows: Set<number>, value: number) => {
            for (const at of rows) to.set(at, (to.get(at) ?? 0) + value);
        };
        this.through(row).forEach((is, c) => {
            if (!is) return;
            const rows = this.stackRows(c);
            const above = new Set<number>();
            const below = new Set<number>();
            rows.forEach((at, i) => {
                if (at !== row) return;
                if (i > 0) below.add(rows[i - 1]!);
                above.add(rows[i + 1] ?? NONE);
            });
            if (this.siteRow[c] === row) below.add(NONE);
            add(callers, above, values[c]!);
            add(callees, below, values[c]!);
        });
        return { callers: falling(callers), callees: falling(callees) };
    }

    /** Of the contexts that go through each line of a function; a context counts once for a line.
     * Lines that only their distance from the function's first one is known of are offsets. */
    lines(row: number, values: Float64Array): FunctionLines {
        const { frames, nodes, funcs, contexts } = this.model.data;
        const sums = new Map<number, number>();
        const found: FunctionLines = { file: 0, offsets: false, sums };
        this.through(row).forEach((is, c) => {
            if (!is) return;
            const lines = new Set<number>();
            for (let n = contexts.node[c]!; n > 0; n = this.model.nodeParent[n]!) {
                const isSite = n === this.model.siteNode[c] && this.siteRow[c] === row;
                if (this.nodeRow[n] !== row && !isSite) continue;
                const frame = nodes.frame[n]!;
                const { line, line_offset: offset } = frames;
                found.file ||= funcs.file[frames.func[frame]!]!;
                found.offsets ||= !line[frame] && offset[frame]! > 0;
                lines.add(line[frame]! || offset[frame]!);
            }
            for (const line of lines) sums.set(line, (sums.get(line) ?? 0) + values[c]!);
        });
        sums.delete(0);
        return found;
    }

    /** Rows of a stack, innermost first; one that calls itself stands there once. */
    private stackRows(context: number): number[] {
        const rows: number[] = [];
        const { nodeParent, data } = this.model;
        for (let n = data.contexts.node[context]!; n > 0; n = nodeParent[n]!) {
            const row = this.nodeRow[n]!;
            if (row !== NONE && row !== rows.at(-1)) rows.push(row);
        }
        return rows.length ? rows : [this.siteRow[context]!];
    }

    private findOutermost(): Uint8Array {
        const { firstChild, nextSibling, parent } = this.tree;
        const found = new Uint8Array(this.nodeRow.length);
        const above = new Int32Array(this.n); // how often a row is among the nodes gone into
        let n = firstChild[0]!;
        while (n > 0) {
            const row = this.nodeRow[n]!;
            if (row !== NONE && above[row]!++ === 0) found[n] = 1;
            if (firstChild[n]! >= 0) {
                n = firstChild[n]!;
                continue;
            }
            while (n > 0) {
                if (this.nodeRow[n] !== NONE) above[this.nodeRow[n]!]!--;
                if (nextSibling[n]! >= 0) break;
                n = parent[n]!;
            }
            if (n > 0) n = nextSibling[n]!;
        }
        return found;
    }
}

/** Largest first, without what has nothing. */
export function falling(sums: Map<number, number>): Neighbours {
    return [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/** The text that a function's library is known by: its path, or else its build id. */
function libraryOf(model: HeapModel): (path: number, func: number) => number {
    return (path, func) => path || model.data.funcs.module[func]!;
}
