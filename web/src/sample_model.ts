// A sample profile as the views want it: the tree of functions, contexts and inlined code with
// sums, functions as rows, and places with what was counted there.
import type { SampleData } from "./data";
import type { Tree } from "./tree";
import { addUp, ancestors, children, link } from "./tree";

export interface Counted {
    func: number;
    count: number;
}

/** A line or probe of a function: samples, calls and types of objects, most first. */
export interface Place {
    line: number;
    discriminator: number;
    samples: number | null; // null: none are told
    calls: Counted[];
    types: Counted[];
}

/** A place in a node of the tree. */
export interface Site extends Place {
    node: number;
    total: number; // calls or, if there are none, objects
}

export type Change = "new" | "gone" | "hotter" | "cooler" | "same";

const WAS_INLINED = 1; // as in pgokit/sample.h
const SHOULD_INLINE = 2;
const IN_BASE = 4;
// A share that moved by less, of itself or of all samples, is taken for chance.
export const MOVED_OF_ITSELF = 0.1;
export const MOVED_OF_ALL = 0.001;

export class SampleModel {
    readonly n: number; // rows
    readonly nodeOf: Int32Array; // by row
    readonly tree: Tree;
    readonly weight: Float64Array; // of a node with all below it
    readonly weightBefore: Float64Array | null;
    readonly samples: Float64Array; // of a row
    readonly samplesBefore: Float64Array | null;
    readonly whole: number; // of which shares are told
    readonly wholeBefore: number;
    readonly cumulative: Float64Array; // share of a row and those with more samples
    readonly hottest: Float64Array; // samples of a node's hottest line
    readonly hottestInside: Float64Array; // the same with what is inlined into it
    readonly isDiff: boolean;
    readonly isDeep: boolean; // has code below functions
    private readonly rowOfNode = new Map<number, number>();
    private readonly firstRecord: Int32Array;

    constructor(readonly data: SampleData) {
        const { nodes, rows, now, before } = data;
        const n = (this.n = rows.node.length);
        this.nodeOf = Int32Array.from(rows.node);
        this.nodeOf.forEach((node, row) => this.rowOfNode.set(node, row));
        this.tree = link(nodes.parent.map((step, i) => (i ? i - step : -1)));
        this.weight = addUp(this.tree, Float64Array.from(nodes.own));
        this.weightBefore = nodes.own_before
            ? addUp(this.tree, Float64Array.from(nodes.own_before))
            : null;
        this.isDiff = before !== undefined;
        this.whole = (data.overlap ? data.overlap.test_samples : now.functions_total) || 1;
        this.wholeBefore = data.overlap?.base_samples || 1;
        // What is not on the page is part of the whole.
        this.weight[0] = Math.max(this.weight[0]!, this.whole);
        if (this.weightBefore)
            this.weightBefore[0] = Math.max(this.weightBefore[0]!, this.wholeBefore);
        this.samples = rows.samples
            ? Float64Array.from(rows.samples)
            : Float64Array.from(rows.node, (node) => nodes.total[node]!);
        this.samplesBefore = rows.samples_before ? Float64Array.from(rows.samples_before) : null;
        this.cumulative = new Float64Array(n);
        const order = Array.from({ length: n }, (_, i) => i);
        order.sort((a, b) => this.samples[b]! - this.samples[a]! || a - b);
        let sum = 0;
        for (const row of order) this.cumulative[row] = (sum += this.samples[row]!) / this.whole;
        this.isDeep = this.tree.parent.some((parent) => parent > 0);
        this.firstRecord = new Int32Array(nodes.records.length + 1);
        nodes.records.forEach((k, i) => {
            this.firstRecord[i + 1] = this.firstRecord[i]! + k;
        });
        this.hottest = this.hottestLines();
        this.hottestInside = Float64Array.from(this.hottest);
        for (let i = this.hottest.length - 1; i > 0; i--) {
            const parent = this.tree.parent[i]!;
            if (!this.isContext(i) && this.hottestInside[i]! > this.hottestInside[parent]!)
                this.hottestInside[parent] = this.hottestInside[i]!;
        }
    }

    private hottestLines(): Float64Array {
        const { what, count } = this.data.records;
        const out = new Float64Array(this.data.nodes.func.length);
        for (let node = 1; node < out.length; node++)
            for (let i = this.firstRecord[node]!; i < this.firstRecord[node + 1]!; i++)
                if (what[i] === 0 && count[i]! > out[node]!) out[node] = count[i]!;
        return out;
    }

    share(row: number): number {
        return this.samples[row]! / this.whole;
    }

    shareBefore(row: number): number {
        return (this.samplesBefore?.[row] ?? 0) / this.wholeBefore;
    }

    change(row: number): Change {
        const now = this.share(row);
        const before = this.shareBefore(row);
        if (!before) return now ? "new" : "same";
        if (!now) return "gone";
        const moved = now - before;
        if (Math.abs(moved) < MOVED_OF_ALL || Math.abs(moved) < MOVED_OF_ITSELF * before)
            return "same";
        return moved > 0 ? "hotter" : "cooler";
    }

    /** The row of a node, if it has one. */
    row(node: number): number | undefined {
        return this.rowOfNode.get(node);
    }

    funcName(func: number): string {
        return this.data.texts[this.data.funcs.name[func]!]!;
    }

    /** As the linker knows it, if that is another name. */
    linkage(func: number): string {
        return this.data.texts[this.data.funcs.linkage[func]!]!;
    }

    /** "Base" of the vtable "vtable for Base". */
    typeName(func: number): string {
        return this.funcName(func).replace(/^vtable for /, "");
    }

    name(node: number): string {
        return this.funcName(this.data.nodes.func[node]!);
    }

    isContext(node: number): boolean {
        return this.data.nodes.context[node] === 1;
    }

    /** Where a node is called or inlined: "parse:12.3". */
    calledFrom(node: number, shorten: (name: string) => string): string {
        const parent = this.tree.parent[node]!;
        if (parent <= 0) return "";
        const { line, discriminator } = this.data.nodes;
        return `${shorten(this.name(parent))}:${placeText(line[node]!, discriminator[node]!)}`;
    }

    /** The nodes above one, innermost first. */
    callers(node: number): number[] {
        return ancestors(this.tree, node)
            .filter((n) => n > 0)
            .reverse();
    }

    attributes(node: number): string[] {
        const bits = this.data.nodes.attributes[node]!;
        const list = [];
        if (bits & WAS_INLINED) list.push("was inlined");
        if (bits & SHOULD_INLINE) list.push("to be inlined");
        if (bits & IN_BASE) list.push("also in its function");
        return list;
    }

    /** The functions inlined into a node, in order of their places. */
    inlinees(node: number): number[] {
        const { line, discriminator } = this.data.nodes;
        return children(this.tree, node)
            .filter((c) => !this.isContext(c))
            .sort(
                (a, b) =>
                    line[a]! - line[b]! || discriminator[a]! - discriminator[b]! || a - b,
            );
    }

    /** Samples of lines of the node itself, without inlinees. */
    places(node: number): Place[] {
        const { line, discriminator, what, count } = this.data.records;
        const list: Place[] = [];
        for (let i = this.firstRecord[node]!; i < this.firstRecord[node + 1]!; i++) {
            let place = list.at(-1);
            if (place?.line !== line[i] || place?.discriminator !== discriminator[i]) {
                place = {
                    line: line[i]!,
                    discriminator: discriminator[i]!,
                    samples: null,
                    calls: [],
                    types: [],
                };
                list.push(place);
            }
            const counted = { func: (what[i]! - 1) >> 1, count: count[i]! };
            if (what[i] === 0) place.samples = count[i]!;
            else (what[i]! % 2 ? place.calls : place.types).push(counted);
        }
        for (const place of list) {
            place.calls.sort((a, b) => b.count - a.count);
            place.types.sort((a, b) => b.count - a.count);
        }
        return list;
    }

    /** Places that call several functions or whose types of objects are known: what a compiler
     * turns into direct calls. Most calls first. */
    callSites(): Site[] {
        const list: Site[] = [];
        for (let node = 1; node < this.data.nodes.func.length; node++) {
            if (!this.hasTargets(node)) continue;
            for (const place of this.places(node)) {
                if (place.calls.length < 2 && !place.types.length) continue;
                const of = place.calls.length ? place.calls : place.types;
                list.push({ ...place, node, total: of.reduce((sum, c) => sum + c.count, 0) });
            }
        }
        return list.sort((a, b) => b.total - a.total || a.node - b.node);
    }

    private hasTargets(node: number): boolean {
        const { what } = this.data.records;
        for (let i = this.firstRecord[node]!; i < this.firstRecord[node + 1]!; i++)
            if (what[i]) return true;
        return false;
    }

    /** The nearest row at or above a node. */
    rowAbove(node: number): number | undefined {
        for (let n = node; n > 0; n = this.tree.parent[n]!) {
            const row = this.row(n);
            if (row !== undefined) return row;
        }
        return undefined;
    }

    /** Nodes whose function has this text in its name, one of its callers, or inlined code. */
    search(query: string): { nodes: Float64Array; rows: Uint8Array } {
        const wanted = query.trim().toLowerCase();
        const { texts, funcs, nodes } = this.data;
        const inText = texts.map((t) => t.toLowerCase().includes(wanted));
        const inFunc = funcs.name.map((name, i) => inText[name] || inText[funcs.linkage[i]!]);
        const own = new Float64Array(nodes.func.length);
        for (let i = 1; i < own.length; i++) own[i] = inFunc[nodes.func[i]!] ? 1 : 0;
        const below = addUp(this.tree, own);
        const within = Uint8Array.from(own);
        for (let i = 1; i < own.length; i++)
            if (this.tree.parent[i]! > 0 && within[this.tree.parent[i]!]) within[i] = 1;
        const rows = Uint8Array.from(this.nodeOf, (node) =>
            within[node] || this.hasInlined(node, own) ? 1 : 0,
        );
        return { nodes: below.map((v, i) => v || within[i]!), rows };
    }

    private hasInlined(node: number, own: Float64Array): boolean {
        for (let c = this.tree.firstChild[node]!; c >= 0; c = this.tree.nextSibling[c]!)
            if (!this.isContext(c) && (own[c] || this.hasInlined(c, own))) return true;
        return false;
    }
}

export function placeText(line: number, discriminator: number): string {
    return discriminator ? `${line}.${discriminator}` : String(line);
}
