// What the C side wrote into the page: lib/report/heap_page_json.c, docs/report.md.

export type Column = (number | null)[];

export interface Totals {
    contexts: number;
    AllocCount?: number;
    TotalSize?: number;
    TotalAccessCount?: number;
    TotalLifetime?: number;
}

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
    bytes: number;
    objects: number;
    contexts: number;
    rows: [row: number, bytes: number][];
}

export interface HeapData {
    schema: "pgokit-page-1";
    kind: "heap";
    generator: string;
    title: string;
    format: string;
    totals: Totals;
    labels: Label[];
    advice: Advice[];
    fields: Record<string, [unit: string, meaning: string]>;
    texts: string[];
    funcs: {
        name: number[];
        linkage: number[];
        file: number[];
        module: number[];
        library: number[];
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
        id: number[];
        node: number[];
        site: number[];
        label: number[];
        change?: number[];
        moved?: number[];
    };
    now: Record<string, Column>;
    histograms: Record<string, number[]>;
    rest: {
        contexts: number;
        TotalSize: number;
        AllocCount: number;
        TotalAccessCount: number;
        largest_share: number;
    };
    sources: [file: number, lines: Record<string, string>][];
    // Of a comparison:
    base?: string;
    totals_before?: Totals;
    before?: Record<string, Column>;
    overlap?: number;
    changes?: string[];
}

/** Data of any kind of profile; the page shows the view of its kind. */
export type PageData = HeapData;

export async function readPage(): Promise<PageData> {
    const text = document.getElementById("data")?.textContent ?? "";
    const packed = atob(text);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return (await new Response(stream).json()) as PageData;
}
