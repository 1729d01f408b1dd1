// What the C side wrote into the page: lib/export/heap_page_json.c, sample_page_json.c,
// history_html.c, lib/gain/trial_page.c, docs/report.md.

export type Column = (number | null)[];

export interface Totals {
    contexts: number;
    AllocCount?: number;
    TotalSize?: number;
    TotalAccessCount?: number;
    TotalLifetime?: number;
    /** With a leak check: alive at exit, and no pointer led there. */
    UnreachableSize?: number;
    UnreachableCount?: number;
    /** Bytes alive at the last moment. */
    ExitSize?: number;
    /** Contexts with stacks that have more frames than were kept, and their bytes. */
    cut?: number;
    CutSize?: number;
}

/** A figure of a sampled profile and its interval of 95 %; null: it has no upper limit. */
export type Estimate = [value: number, low: number, high: number | null];

/** What a profile stands on of which a part of the objects was recorded. */
export interface Sampled {
    samples: number; // objects drawn
    hits: number; // accesses seen
    sample_bytes: number; // mean from one to the next, at most; 0: not known
    exact: boolean; // processes counted objects and bytes
    AllocCount: Estimate;
    TotalSize: Estimate;
    TotalAccessCount: Estimate;
}

/** The figures that have an interval. */
export type Estimated = "AllocCount" | "TotalSize" | "TotalAccessCount";

export interface Label {
    name: string;
    rule: string;
    contexts: number;
    bytes: number;
}

export interface Advice {
    name: string;
    title: string;
    says: string;
    action: string;
    rule: string;
    example: string; // lines of a diff
    bytes: number;
    objects: number;
    contexts: number;
    rows: [row: number, bytes: number][];
}

/** What was alive, of the process with the highest peak. */
export interface OverTime {
    processes: number;
    peak_ms: number;
    peak_bytes: number;
    peak_objects: number;
    points: {
        ms: number;
        bytes: number;
        objects: number;
        allocated_bytes: number; // up to then
        allocated_objects: number;
    }[];
    /** What contexts held at points: columns, by point. Those that held most then. */
    shares?: { point: number[]; row: number[]; bytes: number[] };
}

/** A plan for the allocator; the last group is of all objects that are in no group. */
export interface Plan {
    calls: number;
    expected: { what: string; with: number; without: number }[]; // bytes of pages
    groups: {
        group: number; // 0: none
        cold: boolean;
        hot: boolean;
        contexts: number;
        objects: number;
        peak: number; // bytes
        lifetime: number; // ms, mean
        scattered: number; // bytes of pages at the peak, among other objects
        apart: number;
        held?: { objects: number; pages: number; empty: number }; // bytes, in a process
        /** Those that held most. */
        members: {
            names: string;
            peak: number;
            lifetime: number;
            density?: number;
            why?: string; // it is in no group
        }[];
    }[];
}

/** Excerpts of source files. */
export type Sources = [file: number, lines: Record<string, string>][];

export interface HeapData {
    schema: "pgokit-page-1";
    kind: "heap";
    generator: string;
    title: string;
    format: string;
    some_accesses: boolean; // those of library functions only
    last_moment: "at exit" | "last known"; // of a process that was killed or runs on
    totals: Totals;
    sampled?: Sampled;
    labels: Label[];
    over_time?: OverTime;
    over_time_before?: OverTime; // of a comparison
    advice: Advice[];
    plan?: Plan;
    fields: Record<string, [unit: string, meaning: string]>;
    texts: string[];
    funcs: {
        name: number[]; // 0: of an address, whose name is made of its parts
        linkage: number[];
        file: number[];
        module: number[]; // of an address: its build id
        path: number[]; // of the module's file
        library: number[];
        near: number[]; // of an address: the symbol nearest to it
        address: number[];
    };
    frames: {
        func: number[];
        line: number[];
        line_offset: number[];
        column: number[];
        inlined: number[];
    };
    nodes: { parent: number[]; frame: number[] };
    contexts: {
        node: number[];
        label: number[];
        type?: number[]; // rows of `types`
        thread?: number[]; // rows of `threads`
        change?: number[];
        moved?: number[];
    };
    now: Record<string, Column>;
    /** Of a sampled profile: from where to where figures of contexts are. */
    intervals?: Record<Estimated, [low: Column, high: Column]>;
    /** Where several threads are known, by the functions that they run. */
    threads?: {
        main: number[]; // 1: of the first thread of a process
        func: number[]; // counted from 1; 0: none, so that a row is of contexts without one
    };
    /** Where types of objects are known. */
    types?: {
        name: number[]; // 0: of contexts whose type is not known
        contexts: number[];
        now: Record<string, Column>; // of all contexts together
        before?: Record<string, Column>;
    };
    histograms: Record<string, number[]>;
    rest: {
        contexts: number;
        TotalSize: number;
        AllocCount: number;
        TotalAccessCount: number;
        largest_share: number;
    };
    sources: Sources;
    // Of a comparison:
    base?: string;
    totals_before?: Totals;
    before?: Record<string, Column>;
    overlap?: number;
    changes?: string[];
}

export interface SampleSide {
    heads: number;
    density: number;
    total_count: number;
    max_count: number;
    max_function_count: number;
    num_counts: number;
    num_functions: number;
    hot_count: number;
    cold_count: number;
    cutoffs: [ppm: number, least: number, lines: number][];
}

/** Of both sides, of the older one only, of the newer one only. */
export type Split = [both: number, base: number, test: number];

export interface SampleData {
    schema: "pgokit-page-1";
    kind: "sample";
    generator: string;
    title: string;
    format: string;
    info: {
        functions: number;
        contexts: boolean;
        probes: boolean;
        preinlined: boolean;
        partial: boolean;
        names_missing: boolean;
        symbols: number;
        conflicts: number;
        conflict_samples: number;
        distinct: number; // functions that have a profile in any context
        lines: number;
        inlinees: number;
        targets: number;
        vtables: number;
    };
    now: SampleSide;
    coverage?: {
        functions: number;
        profiled: number;
        inlined: number;
        bytes: number;
        profiled_bytes: number;
        inlined_bytes: number;
        unknown: number;
        unknown_samples: number;
    };
    texts: string[];
    /** With the program: the file that has the function, and its first line; 0: unknown. */
    funcs: { name: number[]; linkage: number[]; file?: number[]; start?: number[] };
    sources?: Sources;
    nodes: {
        parent: number[];
        func: number[];
        line: number[];
        discriminator: number[];
        context: number[];
        head: number[];
        own: number[];
        own_before?: number[];
        attributes: number[];
        records: number[];
        left_out: number[];
    };
    records: { line: number[]; what: number[]; count: number[] };
    rows: {
        node: number[];
        samples?: number[];
        samples_before?: number[];
        similarity?: number[];
    };
    rest: {
        functions: number;
        samples: number;
        largest_share: number;
        inlinees: number;
        folded_share: number;
        records: number;
        least_count: number;
    };
    // Of a comparison:
    base?: string;
    before?: SampleSide;
    overlap?: {
        similarity: number;
        sample_overlap: number;
        base_unique: number;
        test_unique: number;
        base_samples: number;
        test_samples: number;
        functions: Split;
        hot_functions: Split;
        hot_lines: Split;
    };
}

/** A profile of a history; null: not known. */
export interface HistoryProfile {
    id: number;
    time: number; // seconds since 1970
    name: string; // of its file
    kind: "heap" | "sample" | "instr";
    version: string;
    host: string;
    build_id: string;
    page: string; // address of its page; "": none
    weight: number; // bytes allocated, samples or counts
    objects: number | null;
    peak: number | null; // bytes
    exit: number | null;
    gain: number | null; // per cent
    match: number | null;
    /** Since the one before it of its host class and kind; per cent of the weight. */
    movers: [name: string, before: number, now: number][];
}

export interface HistoryData {
    schema: "pgokit-page-1";
    kind: "history";
    generator: string;
    title: string;
    profiles: HistoryProfile[]; // by time
}

/** A form of build that was tried, as `pgokit pgo --json` has it. */
export interface TrialRow {
    name: string;
    before: string;
    verdict: "faster" | "no difference" | "slower" | "not sure" | "not measured";
    kept: boolean;
    why: string | null;
    advice: string | null;
    gain_percent: number | null;
    low_percent: number | null;
    high_percent: number | null;
    seconds_before: number | null;
    seconds: number | null;
    instructions_before: number | null;
    instructions: number | null;
    bytes_before: number | null;
    bytes: number | null;
    turns: number[][]; // seconds before and of the row, then instructions
}

/** What was recorded of a build. */
export interface GainSide {
    ticks: number;
    pages: number; // of 4 KiB, that nine tenths of the ticks came on
}

/** Two builds: what became faster and why. lib/gain/trial_page.c. */
export interface GainData {
    schema: "pgokit-page-1";
    kind: "gain";
    generator: string;
    title: string;
    format: string;
    trial: {
        build: string | null;
        run: string | null;
        measured: string | null;
        compiler: string | null;
        profile: string | null;
        sure_percent: number;
        matters_percent: number;
        plain_bytes: number | null;
        kept: boolean;
        rows: TrialRow[];
    };
    /** Of the plain build, and of what is in place. */
    seconds: [plain: number | null, now: number | null];
    before?: GainSide;
    after?: GainSide;
    functions: {
        name: string[]; // "": code without a name
        ticks_before: number[];
        ticks: number[];
        away_before: number[]; // of these, in copies that are inlined
        away: number[];
        bytes_before: number[]; // of code of its own; 0: it has none
        bytes: number[];
        cold_before: number[]; // of these, in parts that are split off as cold
        cold: number[];
        part_before: number[]; // and so that the rest can be inlined
        part: number[];
        place_before: number[]; // from the start of the code, counted from 1; 0: none
        place: number[];
        moved: number[]; // 1: to another place in the order
    };
    rest: {
        functions: number;
        ticks_before: number;
        ticks: number;
        bytes_before: number;
        bytes: number;
        calls: number;
    };
    /** Calls that are inlined in one of both builds only. */
    inlined: {
        callee: string[];
        caller: string[];
        new: number[]; // 1: in the later one
        places: number[];
        share: number[]; // of the samples of all inlined code of that build
    };
    /** Files that the build does not make. */
    others: [path: string, before: number, now: number][];
}

/** Data of any kind of profile, or of many; the page shows the view of its kind. */
export type PageData = HeapData | SampleData | HistoryData | GainData;

export async function readPage(): Promise<PageData> {
    const text = document.getElementById("data")?.textContent ?? "";
    const packed = atob(text);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return (await new Response(stream).json()) as PageData;
}
