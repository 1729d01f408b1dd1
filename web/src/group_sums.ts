// What contexts are grouped by, and what each group has of them: functions and libraries are in
// call_sums.ts, threads and types here, of which a context has one.
import * as format from "./format";
import type { HeapModel } from "./heap_model";

/** What several contexts may have in common, with the words for it. */
export const groupings = {
    function: { title: "Functions", noun: "function", nouns: "functions" },
    library: { title: "Libraries", noun: "library", nouns: "libraries" },
    thread: { title: "Threads", noun: "thread", nouns: "threads" },
    type: { title: "Types", noun: "type", nouns: "types" },
} as const;

export type Grouping = keyof typeof groupings;

/** Those that the profile knows. */
export function knownGroupings(model: HeapModel): Grouping[] {
    const known: Record<Grouping, boolean> = {
        function: true,
        library: model.knowsLibraries(),
        thread: model.data.threads !== undefined,
        type: model.data.types !== undefined,
    };
    return (Object.keys(groupings) as Grouping[]).filter((by) => known[by]);
}

/** Whether one calls the other, so that what it calls is not its own. */
export function isOfCalls(by: Grouping): boolean {
    return by === "function" || by === "library";
}

export const NONE = -1;

export abstract class GroupSums {
    abstract readonly by: Grouping;
    abstract readonly n: number;

    constructor(readonly model: HeapModel) {}

    abstract name(row: number): string;
    /** A function's linkage name, as compilers have it, or a library's path. */
    abstract fullName(row: number): string;
    /** Where that is. */
    abstract place(row: number): string;
    protected abstract has(row: number, inText: boolean[]): boolean;
    /** The row that has a context as its own; NONE: none has. */
    abstract site(context: number): number;
    /** Of the contexts that are each row's own. */
    abstract self(values: Float64Array): Float64Array;
    /** Of the contexts that each row has to do with. */
    abstract total(values: Float64Array): Float64Array;
    /** Contexts that the row has to do with. */
    abstract through(row: number): Uint8Array;

    /** What the address of the page has for a row: of several of a name, they are numbered. */
    key(row: number): string {
        const name = this.fullName(row);
        const place = this.named(name).indexOf(row);
        return place ? `${name}#${place + 1}` : name;
    }

    find(key: string): number | null {
        const [, name, place] = /^(.*?)(?:#(\d+))?$/s.exec(key)!;
        return this.named(key)[0] ?? this.named(name!)[Number(place ?? 1) - 1] ?? null;
    }

    private named(name: string): number[] {
        const list: number[] = [];
        for (let row = 0; row < this.n; row++) if (this.fullName(row) === name) list.push(row);
        return list;
    }

    /** Rows whose name or place has the text; null: none is asked for. */
    search(query: string): Uint8Array | null {
        const wanted = query.trim().toLowerCase();
        if (!wanted) return null;
        const inText = this.model.data.texts.map((t) => t.toLowerCase().includes(wanted));
        return Uint8Array.from({ length: this.n }, (_, row) => (this.has(row, inText) ? 1 : 0));
    }
}

/** Threads or types: a context is of one of them. */
abstract class ContextSums extends GroupSums {
    protected abstract rowOf: number[]; // by context

    site(context: number): number {
        return this.rowOf[context]!;
    }

    self(values: Float64Array): Float64Array {
        const sums = new Float64Array(this.n);
        this.rowOf.forEach((row, c) => (sums[row]! += values[c]!));
        return sums;
    }

    total(values: Float64Array): Float64Array {
        return this.self(values);
    }

    through(row: number): Uint8Array {
        return Uint8Array.from(this.rowOf, (at) => (at === row ? 1 : 0));
    }
}

export class TypeSums extends ContextSums {
    readonly by = "type";
    readonly n: number;
    protected rowOf: number[];

    constructor(model: HeapModel) {
        super(model);
        this.n = model.data.types!.name.length;
        this.rowOf = model.data.contexts.type!;
    }

    name(row: number): string {
        return format.withStrings(this.model.typeName(row));
    }

    fullName(row: number): string {
        return this.model.typeName(row);
    }

    place(): string {
        return "";
    }

    protected has(row: number, inText: boolean[]): boolean {
        return inText[this.model.data.types!.name[row]!]!;
    }
}

/** Threads by the functions that they run. */
export class ThreadSums extends ContextSums {
    readonly by = "thread";
    readonly n: number;
    protected rowOf: number[];

    constructor(model: HeapModel) {
        super(model);
        this.n = model.data.threads!.func.length;
        this.rowOf = model.data.contexts.thread!;
    }

    private func(row: number): number {
        return this.model.data.threads!.func[row]! - 1;
    }

    name(row: number): string {
        const { main } = this.model.data.threads!;
        if (main[row]) return "main thread";
        return this.func(row) < 0 ? "(thread not known)" : this.model.funcName(this.func(row));
    }

    fullName(row: number): string {
        const func = this.func(row);
        return (func >= 0 && this.model.linkage(func)) || this.name(row);
    }

    place(row: number): string {
        return this.func(row) < 0 ? "" : this.model.place(this.func(row));
    }

    protected has(row: number, inText: boolean[]): boolean {
        const func = this.func(row);
        return func >= 0 && this.model.funcHas(func, inText);
    }
}
