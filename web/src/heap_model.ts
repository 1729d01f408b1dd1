// A heap profile as the views want it: contexts with derived numbers, and the tree of calling
// functions with sums.
import type { Column, Estimated, HeapData, OverTime } from "./data";
import * as format from "./format";
import type { Range } from "./held_times";
import { averageOf, curveOf, heldIn } from "./held_times";
import { PairIndex } from "./pair_index";
import type { Tree } from "./tree";
import { addUp, link } from "./tree";

export type Weight = "bytes" | "count" | "accesses" | "lifetime" | "peak" | "exit" | "range";

export type Side = "now" | "before";

/** Fields that are weights as they are. */
const fields = {
    bytes: "TotalSize",
    count: "AllocCount",
    accesses: "TotalAccessCount",
    peak: "PeakSize",
    exit: "ExitSize",
};

export interface Frame {
    name: string;
    linkage: string;
    file: string;
    module: string;
    path: string; // of the module's file
    line: number;
    lineOffset: number;
    column: number;
    inlined: boolean;
    library: boolean;
}

/** The tree of calling functions. */
export interface CallTree extends Tree {
    func: Int32Array; // -1 at the root and of a type
    type: Int32Array; // -1 of a function
    /** Node of each context's stack. */
    nodeOf: Int32Array;
    contexts: Float64Array; // contexts at or below a node
}

export class HeapModel {
    readonly n: number;
    readonly bytes: Float64Array;
    readonly count: Float64Array;
    readonly knowsAccesses: boolean;
    readonly accesses: Float64Array; // NaN: unknown
    readonly life: Float64Array; // average, ms; NaN: unknown
    readonly density: Float64Array; // accesses per byte; NaN: unknown
    readonly bytesBefore: Float64Array | null;
    readonly averageDensity: number; // of the whole profile; NaN: unknown
    readonly isDiff: boolean;
    readonly nodeParent: Int32Array;
    /** Node in which the program, rather than a library on its behalf, asks for the memory of each
     * context: the innermost one of the program, or else the leaf; 0: no stack. */
    readonly siteNode: Int32Array;
    range: Range | null = null; // of time, of which there is a weight
    private readonly sourceOf = new Map<number, Record<string, string>>();

    constructor(readonly data: HeapData) {
        const n = (this.n = data.contexts.node.length);
        nameAddresses(data);
        this.isDiff = data.before !== undefined;
        this.bytes = column(data.now.TotalSize, n, 0);
        this.count = column(data.now.AllocCount, n, 0);
        // Those of library functions alone say nothing about what is used.
        const seen = !data.some_accesses && data.sampled?.hits !== 0;
        this.knowsAccesses = seen && data.now.TotalAccessCount !== undefined;
        const accesses = this.knowsAccesses ? data.now.TotalAccessCount : undefined;
        this.accesses = column(accesses, n, NaN);
        const life = column(data.now.TotalLifetime, n, NaN);
        this.life = life.map((v, i) => v / this.count[i]!);
        this.density = this.accesses.map((v, i) => v / this.bytes[i]!);
        this.averageDensity =
            (this.knowsAccesses ? (data.totals.TotalAccessCount ?? NaN) : NaN) /
            (data.totals.TotalSize || NaN);
        this.bytesBefore = data.before ? column(data.before.TotalSize, n, 0) : null;
        this.nodeParent = new Int32Array(data.nodes.parent).map((step, i) => i - step);
        this.siteNode = this.findSites();
        for (const [file, lines] of data.sources) this.sourceOf.set(file, lines);
    }

    private findSites(): Int32Array {
        const { funcs, frames, nodes, contexts } = this.data;
        const siteOf = new Int32Array(nodes.frame.length);
        for (let n = 1; n < siteOf.length; n++)
            siteOf[n] = funcs.library[frames.func[nodes.frame[n]!]!]
                ? siteOf[this.nodeParent[n]!]!
                : n;
        return Int32Array.from(contexts.node, (node) => siteOf[node] || node);
    }

    /** The same profile with a range of time, which is a weight of its own. */
    in(range: Range | null): HeapModel {
        const model = Object.create(this) as HeapModel;
        model.range = range;
        return model;
    }

    /** The fields of contexts. */
    side(side: Side): Record<string, Column> {
        return (side === "before" && this.data.before) || this.data.now;
    }

    times(side: Side): OverTime | undefined {
        return side === "now" ? this.data.over_time : this.data.over_time_before;
    }

    weights(weight: Weight, before = false): Float64Array {
        if (weight === "range")
            return this.range
                ? heldIn(this, this.range, before ? "before" : "now")
                : new Float64Array(this.n);
        const data = this.side(before ? "before" : "now");
        if (weight !== "lifetime") return column(data[fields[weight]], this.n, 0);
        const size = column(data.TotalSize, this.n, 0);
        const objects = column(data.AllocCount, this.n, 0);
        const life = column(data.TotalLifetime, this.n, 0);
        return life.map((v, i) => (objects[i] ? (v * size[i]!) / objects[i]! / 1000 : 0));
    }

    /** The whole program's, with contexts that are not on the page where their sum is known. */
    whole(weight: Weight): number {
        const { totals, over_time: times } = this.data;
        if (weight === "range" && times && this.range)
            return averageOf(curveOf(times, "bytes"), this.range) || 1;
        if (weight === "bytes" && totals.TotalSize) return totals.TotalSize;
        if (weight === "count" && totals.AllocCount) return totals.AllocCount;
        if (weight === "accesses" && totals.TotalAccessCount) return totals.TotalAccessCount;
        return this.weights(weight).reduce((sum, v) => sum + v, 0) || 1;
    }

    /** Which weights the profile knows at all. */
    knownWeights(): Weight[] {
        const known: Weight[] = ["bytes", "count"];
        if (this.knowsAccesses) known.push("accesses");
        if (this.data.now.TotalLifetime) known.push("lifetime");
        if (this.data.now.PeakSize) known.push("peak");
        if (this.data.now.ExitSize) known.push("exit");
        if (this.range) known.push("range");
        return known;
    }

    /** Whether it is known of any function in which file it is. */
    knowsLibraries(): boolean {
        const { path, module } = this.data.funcs;
        return path.some((id) => id > 0) || module.some((id) => id > 0);
    }

    text(id: number): string {
        return this.data.texts[id]!;
    }

    funcName(func: number): string {
        return this.text(this.data.funcs.name[func]!);
    }

    linkage(func: number): string {
        return this.text(this.data.funcs.linkage[func]!);
    }

    /** The file and the library of a function. */
    place(func: number): string {
        const { file, path, module } = this.data.funcs;
        const library = this.text(path[func]! || module[func]!);
        return [format.fileName(this.text(file[func]!)), library && libraryName(library)]
            .filter(Boolean)
            .join(" · ");
    }

    /** Whether a text of a function is among some: its name, linkage name, file or library. */
    funcHas(func: number, inText: boolean[]): boolean {
        const { name, linkage, file, path } = this.data.funcs;
        return [name, linkage, file, path].some((texts) => inText[texts[func]!]);
    }

    /** The type of a context's objects, a row of the types; null: none is known of any. */
    typeOf(context: number): number | null {
        return this.data.contexts.type?.[context] ?? null;
    }

    typeName(type: number): string {
        const name = this.data.types!.name[type]!;
        return name ? this.text(name) : "(type not known)";
    }

    frame(node: number): Frame {
        const { funcs, frames, nodes } = this.data;
        const f = nodes.frame[node]!;
        const func = frames.func[f]!;
        return {
            name: this.funcName(func),
            linkage: this.text(funcs.linkage[func]!),
            file: this.text(funcs.file[func]!),
            module: this.text(funcs.module[func]!),
            path: this.text(funcs.path[func]!),
            line: frames.line[f]!,
            lineOffset: frames.line_offset[f]!,
            column: frames.column[f]!,
            inlined: frames.inlined[f] === 1,
            library: funcs.library[func] === 1,
        };
    }

    /** The frame in which the program asks for the memory of a context; null: no stack. */
    site(context: number): Frame | null {
        const node = this.siteNode[context]!;
        return node ? this.frame(node) : null;
    }

    /** The functions of the program that call the one of the site, innermost first; those
     * that call themselves once. */
    callers(context: number, most: number): string[] {
        const list: string[] = [];
        const site = this.siteNode[context]!;
        if (!site) return list;
        let { name } = this.frame(site);
        for (let n = this.nodeParent[site]!; n > 0 && list.length < most; n = this.nodeParent[n]!) {
            const frame = this.frame(n);
            if (frame.library || frame.name === name) continue;
            ({ name } = frame);
            list.push(name);
        }
        return list;
    }

    /** Nodes of a context's stack, leaf first. */
    stack(context: number): number[] {
        const nodes = [];
        for (let n = this.data.contexts.node[context]!; n > 0; n = this.nodeParent[n]!)
            nodes.push(n);
        return nodes;
    }

    /** The text of a line of a file; undefined: it is not on the page. */
    sourceText(file: number, line: number): string | undefined {
        return this.sourceOf.get(file)?.[line];
    }

    /** Source lines around a frame: [number, text] pairs. */
    excerpt(node: number): [number, string][] {
        const { funcs, frames, nodes } = this.data;
        const f = nodes.frame[node]!;
        const lines = this.sourceOf.get(funcs.file[frames.func[f]!]!);
        const line = frames.line[f]!;
        const found: [number, string][] = [];
        if (lines?.[line] === undefined) return found;
        for (let i = line - 2; i <= line + 2; i++) {
            const text = lines[i];
            if (text !== undefined) found.push([i, text]);
        }
        return found;
    }

    field(context: number, name: string, before = false): number | null {
        const side = before ? this.data.before : this.data.now;
        return side?.[name]?.[context] ?? null;
    }

    /** " (0.90 MiB to 1.60 MiB)" of a figure that is an estimate; "" of others. */
    interval(context: number, name: Estimated, text: (v: number) => string): string {
        const [low, high] = this.data.intervals?.[name] ?? [];
        const limits = low && high && format.interval(low[context]!, high[context]!, text);
        return limits ? ` ${limits}` : "";
    }

    label(context: number): string {
        return this.data.labels[this.data.contexts.label[context]!]!.name;
    }

    change(context: number): string {
        return this.data.changes?.[this.data.contexts.change![context]!] ?? "";
    }

    /** Contexts whose stack has a function or file, or whose objects have a type, with this text in
     * its name. */
    search(query: string): Uint8Array {
        const wanted = query.trim().toLowerCase();
        const { texts, funcs, frames, nodes, contexts } = this.data;
        const inText = texts.map((t) => t.toLowerCase().includes(wanted));
        const inFunc = funcs.name.map(
            (name, i) => inText[name] || inText[funcs.linkage[i]!] || inText[funcs.file[i]!],
        );
        const inNode = new Uint8Array(nodes.frame.length);
        for (let n = 1; n < inNode.length; n++)
            inNode[n] =
                inFunc[frames.func[nodes.frame[n]!]!] || inNode[this.nodeParent[n]!] ? 1 : 0;
        const ofType = this.data.types?.name.map((name) => inText[name]!);
        return Uint8Array.from(contexts.node, (node, c) =>
            inNode[node] || ofType?.[contexts.type![c]!] ? 1 : 0,
        );
    }

    boxName(tree: CallTree, node: number): string {
        if (tree.type[node]! >= 0) return this.typeName(tree.type[node]!);
        return tree.func[node]! < 0 ? "whole program" : this.funcName(tree.func[node]!);
    }

    /** The tree of functions; frames of libraries are left out if `programOnly`, except where a
     * stack has nothing else. If `byType`, types of objects stand above it. If `bottomUp`, those
     * that allocate come first, and their callers below them. */
    callTree(programOnly: boolean, byType: boolean, bottomUp: boolean): CallTree {
        const { funcs, frames, nodes, contexts } = this.data;
        const nFuncs = funcs.name.length;
        // Of a parent and a function, or a type beyond them.
        const boxes = new PairIndex();
        boxes.number(-1, -1);
        const child = (at: number, what: number) => boxes.number(at, what);
        const funcOf = (n: number) => frames.func[nodes.frame[n]!]!;
        const nodeOf = new Int32Array(this.n);
        const mapped = new Int32Array(nodes.frame.length);
        for (const [top, members] of this.groups(byType)) {
            const root = top < 0 ? 0 : child(0, nFuncs + top);
            if (bottomUp) {
                for (const c of members) {
                    let at = root;
                    for (const n of this.stack(c))
                        if (!programOnly || !funcs.library[funcOf(n)]) at = child(at, funcOf(n));
                    const leaf = contexts.node[c]!;
                    nodeOf[c] = at === root && leaf ? child(root, funcOf(leaf)) : at;
                }
                continue;
            }
            const used = this.usedBy(members);
            mapped[0] = root;
            for (const n of used) {
                const at = mapped[this.nodeParent[n]!]!;
                mapped[n] = programOnly && funcs.library[funcOf(n)] ? at : child(at, funcOf(n));
            }
            for (const c of members) {
                const node = contexts.node[c]!;
                const at = mapped[node]!;
                nodeOf[c] = at === root && node ? child(root, funcOf(node)) : at;
            }
        }
        const tree = link(boxes.a.subarray(0, boxes.n));
        const box = boxes.b.subarray(0, boxes.n);
        const own = new Float64Array(boxes.n);
        for (const node of nodeOf) own[node]!++;
        return {
            ...tree,
            func: box.map((what) => (what < nFuncs ? what : -1)),
            type: box.map((what) => (what < nFuncs ? -1 : what - nFuncs)),
            nodeOf,
            contexts: addUp(tree, own),
        };
    }

    /** Contexts by type, or all of them as one group, -1. */
    private groups(byType: boolean): Map<number, number[]> {
        const groups = new Map<number, number[]>();
        for (let c = 0; c < this.n; c++) {
            const type = byType ? this.data.contexts.type![c]! : -1;
            const members = groups.get(type);
            if (members) members.push(c);
            else groups.set(type, [c]);
        }
        return groups;
    }

    /** Nodes of the stacks of contexts, callers before callees. */
    private usedBy(contexts: number[]): Int32Array {
        const { node } = this.data.contexts;
        // The page has no other nodes than those of its contexts.
        if (contexts.length === this.n)
            return new Int32Array(this.nodeParent.length - 1).map((_, i) => i + 1);
        const used = new Set<number>();
        for (const c of contexts)
            for (let n = node[c]!; n > 0 && !used.has(n); n = this.nodeParent[n]!) used.add(n);
        return Int32Array.from(used).sort();
    }
}

function column(values: Column | undefined, n: number, unknown: number): Float64Array {
    const out = new Float64Array(n).fill(unknown);
    values?.forEach((v, i) => {
        if (v !== null) out[i] = v;
    });
    return out;
}

/** Gives addresses without a name one that says where they are: "[libx.so]+0x1234 (near name)". */
function nameAddresses({ texts, funcs }: HeapData): void {
    funcs.name.forEach((name, func) => {
        if (name) return;
        const file = fileOf(texts[funcs.path[func]!]!);
        const near = texts[funcs.near[func]!]!;
        const place = `0x${funcs.address[func]!.toString(16)}`;
        const text = file ? `[${file}]+${place}` : place;
        funcs.name[func] = texts.push(near ? `${text} (near ${near})` : text) - 1;
    });
}

/** Adds up a number per context over the tree, for each node with all below it. */
export function sums(tree: CallTree, values: Float64Array): Float64Array {
    const own = new Float64Array(tree.parent.length);
    tree.nodeOf.forEach((node, context) => {
        const v = values[context]!;
        if (!Number.isNaN(v)) own[node]! += v;
    });
    return addUp(tree, own);
}

const fileOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The end of a path; of a build id, as much as tells it from others. */
export function libraryName(text: string): string {
    if (!text) return "(library not known)";
    if (/^[0-9a-f]{16,}$/.test(text)) return `build id ${text.slice(0, 16)}`;
    return fileOf(text);
}
