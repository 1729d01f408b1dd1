// A sample profile as the views want it: the tree of functions, contexts and inlined code with
// sums, functions as rows, and places with what was counted there.
import type { SampleData } from "./data";
import type { Tree } from "./tree";
import { addUp, ancestors, children, link } from "./tree";

export interface Counted {
    func: number;
    count: number;
}

/** A line or probe of a function: samples, calls and types of objects, most first. Lines count
 * from the function's first one, and may stand before it. */
export interface Place {
    line: number;
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
    readonly inside: Float64Array; // of a node with what is inlined into it
    readonly samples: Float64Array; // of a row
    readonly samplesBefore: Float64Array | null;
    readonly whole: number; // of which shares are told
    readonly wholeBefore: number;
    readonly cumulative: Float64Array; // share of a row and those with more samples
    readonly hottest: Float64Array; // samples of a node's hottest line
    readonly hottestInside: Float64Array; // the same with what is inlined into it
    readonly isDiff: boolean;
    readonly isDeep: boolean; // has code below functions
    private readonly sourceOf = new Map<number, Record<string, string>>();
    private readonly rowOfNode = new Map<number, number>();
    private readonly firstRecord: Int32Array;

    constructor(readonly data: SampleData) {
        const { nodes, rows, now, before } = data;
        const n = (this.n = rows.node.length);
        this.nodeOf = Int32Array.from(rows.node);
        this.nodeOf.forEach((node, row) => this.rowOfNode.set(node, row));
        for (const [file, lines] of data.sources ?? []) this.sourceOf.set(file, lines);
        this.tree = link(nodes.parent.map((step, i) => (i ? i - step : -1)));
        this.weight = addUp(this.tree, Float64Array.from(nodes.own));
        this.weightBefore = nodes.own_before
            ? addUp(this.tree, Float64Array.from(nodes.own_before))
            : null;
        this.isDiff = before !== undefined;
        this.whole = (data.overlap ? data.overlap.test_samples : now.total_count) || 1;
        this.wholeBefore = data.overlap?.base_samples || 1;
        // What is not on the page is part of the whole.
        this.weight[0] = Math.max(this.weight[0]!, this.whole);
        if (this.weightBefore)
            this.weightBefore[0] = Math.max(this.weightBefore[0]!, this.wholeBefore);
        this.inside = this.withInlinees();
        this.samples = rows.samples
            ? Float64Array.from(rows.samples)
            : Float64Array.from(rows.node, (node) => this.inside[node]!);
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

    private withInlinees(): Float64Array {
        const out = Float64Array.from(this.data.nodes.own);
        for (let i = out.length - 1; i > 0; i--)
            if (!this.isContext(i)) out[this.tree.parent[i]!]! += out[i]!;
        return out;
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

    /** The rows of a function: one, or its contexts, or none if it is always inlined. */
    rowsOf(func: number): number[] {
        const list: number[] = [];
        this.nodeOf.forEach((node, row) => this.data.nodes.func[node] === func && list.push(row));
        return list;
    }

    /** What the address of the page has for a function: of several of a name, they are numbered. */
    funcKey(func: number): string {
        const name = this.fullName(func);
        const place = this.named(name).indexOf(func);
        return place ? `${name}#${place + 1}` : name;
    }

    findFunc(key: string): number | null {
        const [, name, place] = /^(.*?)(?:#(\d+))?$/s.exec(key)!;
        return this.named(key)[0] ?? this.named(name!)[Number(place ?? 1) - 1] ?? null;
    }

    private fullName(func: number): string {
        return this.linkage(func) || this.funcName(func);
    }

    private named(name: string): number[] {
        const list: number[] = [];
        this.data.funcs.name.forEach((_, f) => this.fullName(f) === name && list.push(f));
        return list;
    }

    /** The calls of a node's lines that were sampled. */
    calls(node: number): Counted[] {
        const { what, count } = this.data.records;
        const list: Counted[] = [];
        for (let i = this.firstRecord[node]!; i < this.firstRecord[node + 1]!; i++)
            if (what[i]! % 2) list.push({ func: (what[i]! - 1) >> 1, count: count[i]! });
        return list;
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

    /** Where a node is called or inlined: "parse:112", or "parse+12" where only that is known. */
    calledFrom(node: number, shorten: (name: string) => string): string {
        const parent = this.tree.parent[node]!;
        if (parent <= 0) return "";
        const { line, func } = this.data.nodes;
        return this.placeIn(func[parent]!, this.signed(line[node]!), shorten);
    }

    placeIn(func: number, line: number, shorten: (name: string) => string): string {
        const text = this.lineText(func, line);
        const mark = /^[+\u2212]/.test(text) ? "" : ":";
        return `${shorten(this.funcName(func))}${mark}${text}`;
    }

    /** Distances of lines before a function's first one are kept in 16 bits. */
    signed(line: number): number {
        return !this.data.info.probes && line >= 0x8000 && line <= 0xffff ? line - 0x10000 : line;
    }

    /** The first line of a function in its file; 0: unknown. */
    start(func: number): number {
        return this.data.info.probes ? 0 : (this.data.funcs.start?.[func] ?? 0);
    }

    /** The line of a file, or "+12" from the function's first line; the id of a probe. */
    lineText(func: number, line: number): string {
        if (this.data.info.probes) return String(line);
        const start = this.start(func);
        // Code that belongs to no line, as compilers make it, has line 0.
        if (start) return start + line > 0 ? String(start + line) : "none";
        return line < 0 ? `\u2212${-line}` : `+${line}`;
    }

    /** The text of the line; undefined: its file was not found, or does not have it. */
    sourceText(func: number, line: number): string | undefined {
        const start = this.start(func);
        const file = this.data.funcs.file?.[func];
        return start && file ? this.sourceOf.get(file)?.[start + line] : undefined;
    }

    /** Where a function is; "": unknown. */
    place(func: number): string {
        const file = this.data.funcs.file?.[func];
        const start = this.start(func);
        if (!file) return "";
        let path = this.data.texts[file]!;
        for (let before = ""; path !== before; ) {
            before = path;
            path = path.replace(/(^|\/)(?!\.\.\/)[^/]+\/\.\.\//, "$1"); // "lib/../include/"
        }
        return `${path}${start ? `:${start}` : ""}`;
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

    /** Adds what was counted in lines of the node itself, without inlinees. Parts of a line, which
     * discriminators tell apart, are one place. */
    addPlaces(node: number, places: Map<number, Place>): void {
        const { line, what, count } = this.data.records;
        for (let i = this.firstRecord[node]!; i < this.firstRecord[node + 1]!; i++) {
            const at = this.signed(line[i]!);
            const place = places.get(at) ?? { line: at, samples: null, calls: [], types: [] };
            places.set(at, place);
            if (what[i] === 0) place.samples = (place.samples ?? 0) + count[i]!;
            else addTo(what[i]! % 2 ? place.calls : place.types, (what[i]! - 1) >> 1, count[i]!);
        }
    }

    /** Places that call several functions or whose types of objects are known: what a compiler
     * turns into direct calls. Most calls first. */
    callSites(): Site[] {
        const list: Site[] = [];
        for (let node = 1; node < this.data.nodes.func.length; node++) {
            if (!this.hasTargets(node)) continue;
            for (const place of mergePlaces(this, [node])) {
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
    search(query: string): { nodes: Float64Array; rows: Uint8Array; funcs: boolean[] } {
        const wanted = query.trim().toLowerCase();
        const { texts, funcs, nodes } = this.data;
        const inText = texts.map((t) => t.toLowerCase().includes(wanted));
        const inFunc = funcs.name.map((name, i) => inText[name]! || inText[funcs.linkage[i]!]!);
        const own = new Float64Array(nodes.func.length);
        for (let i = 1; i < own.length; i++) own[i] = inFunc[nodes.func[i]!] ? 1 : 0;
        const below = addUp(this.tree, own);
        const within = Uint8Array.from(own);
        for (let i = 1; i < own.length; i++)
            if (this.tree.parent[i]! > 0 && within[this.tree.parent[i]!]) within[i] = 1;
        const rows = Uint8Array.from(this.nodeOf, (node) =>
            within[node] || this.hasInlined(node, own) ? 1 : 0,
        );
        return { nodes: below.map((v, i) => v || within[i]!), rows, funcs: inFunc };
    }

    private hasInlined(node: number, own: Float64Array): boolean {
        for (let c = this.tree.firstChild[node]!; c >= 0; c = this.tree.nextSibling[c]!)
            if (!this.isContext(c) && (own[c] || this.hasInlined(c, own))) return true;
        return false;
    }
}

function addTo(list: Counted[], func: number, count: number): void {
    const there = list.find((c) => c.func === func);
    if (there) there.count += count;
    else list.push({ func, count });
}

/** The places of nodes of one function, by line. */
export function mergePlaces(model: SampleModel, nodes: number[]): Place[] {
    const places = new Map<number, Place>();
    for (const node of nodes) model.addPlaces(node, places);
    for (const place of places.values()) {
        place.calls.sort((a, b) => b.count - a.count);
        place.types.sort((a, b) => b.count - a.count);
    }
    return [...places.values()].sort((a, b) => a.line - b.line);
}
