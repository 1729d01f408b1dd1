// The figures to know before anything else.
import type { HeapData, Totals } from "./data";
import { exitName } from "./flame_graph";
import * as format from "./format";
import type { HeapModel } from "./heap_model";
import type { Tile } from "./tiles";
import { Tiles } from "./tiles";

/** The figure of a tile: what it is called, and how it comes from totals. */
interface Figure {
    key: keyof Totals;
    label: string;
    of: (t: Totals) => number | undefined;
    text: (v: number) => string;
    detail: (t: Totals) => string;
}

function ratio(part: number | undefined, whole: number | undefined): number | undefined {
    return part !== undefined && whole ? part / whole : undefined;
}

const figures: Figure[] = [
    {
        key: "TotalSize",
        label: "Allocated",
        of: (t) => t.TotalSize,
        text: format.bytes,
        detail: (t) => `${format.bytes(ratio(t.TotalSize, t.AllocCount) ?? 0)} per object`,
    },
    {
        key: "AllocCount",
        label: "Objects",
        of: (t) => t.AllocCount,
        text: format.count,
        detail: (t) => `in ${format.plural(t.contexts, "context")}`,
    },
    {
        key: "TotalAccessCount",
        label: "Accesses",
        of: (t) => ratio(t.TotalAccessCount, t.TotalSize),
        text: (v) => `${format.density(v)} per byte`,
        detail: (t) => `${format.count(t.TotalAccessCount ?? 0)} in all`,
    },
    {
        key: "TotalLifetime",
        label: "Average life",
        of: (t) => ratio(t.TotalLifetime, t.AllocCount),
        text: format.ms,
        detail: () => "of an object",
    },
    {
        key: "UnreachableSize",
        label: "Unreachable",
        of: (t) => t.UnreachableSize,
        text: format.bytes,
        detail: (t) => `in ${format.plural(t.UnreachableCount ?? 0, "object")} at exit`,
    },
];

/** What a leak check found, as a sentence. */
function unreachable({ totals, totals_before: before }: HeapData): string {
    const { UnreachableSize: bytes = 0, UnreachableCount: objects = 0 } = totals;
    const then = before?.UnreachableSize;
    if (then !== undefined && totals.UnreachableSize !== undefined && then + bytes)
        return ` Unreachable at exit: ${format.bytes(then)} before, ${format.bytes(bytes)} now.`;
    if (!objects || then !== undefined) return "";
    return (
        ` At exit, no pointer led to ${format.plural(objects, "object")} ` +
        `(${format.bytes(bytes)}).`
    );
}

/** A tile of a sampled profile says how sure its figure is. */
function sampledTile(tile: Tile, { sampled, totals }: HeapData): Tile {
    if (!sampled) return tile;
    const { key } = tile;
    if (key !== "TotalSize" && key !== "AllocCount" && key !== "TotalAccessCount") return tile;
    const [value, low, high] = sampled[key];
    if (key === "TotalAccessCount") {
        const each = totals.TotalSize || 1;
        const limits = format.interval(low / each, high && high / each, format.density);
        return { ...tile, detail: `${limits} ${tile.detail}` };
    }
    const text = key === "TotalSize" ? format.bytes : format.count;
    return {
        ...tile,
        value: text(value),
        detail: `${format.interval(low, high, text) || "counted"}, ${tile.detail}`,
    };
}

function tiles({ data, knowsAccesses }: HeapModel): Tile[] {
    const list: Tile[] = [];
    for (const { key, label, of, text, detail } of figures) {
        const now = of(data.totals);
        const before = data.totals_before && of(data.totals_before);
        if (now === undefined || (key === "TotalAccessCount" && !knowsAccesses)) continue;
        const tile: Tile = {
            key,
            label,
            value: text(now),
            detail: detail(data.totals),
            exact: data.totals[key]!,
        };
        if (before) tile.change = now / before;
        list.push(sampledTile(tile, data));
    }
    const bytes = data.totals.TotalSize;
    const { cut, CutSize } = data.totals;
    if (cut && CutSize)
        list.push({
            key: "cut",
            label: "Stacks cut",
            value: format.percent(ratio(CutSize, bytes) ?? 0),
            detail: `${format.plural(cut, "context")} without outermost callers`,
            exact: CutSize,
        });
    for (const label of data.labels)
        if (label.name && label.contexts)
            list.push({
                key: label.name,
                label: label.name[0]!.toUpperCase() + label.name.slice(1),
                value: format.percent(ratio(label.bytes, bytes) ?? 0),
                detail: `${format.bytes(label.bytes)}, ${format.plural(label.contexts, "context")}`,
                exact: label.bytes,
            });
    return list;
}

/** A program that frees what it leaked allocates as much as before. */
function left(data: HeapData): string {
    const before = data.totals_before?.ExitSize;
    const now = data.totals.ExitSize;
    if (before === undefined || now === undefined) return "";
    return `${exitName(data)}: ${format.bytes(before)} before, ${format.bytes(now)} now. `;
}

/** One sentence on what a comparison shows. */
function compared(data: HeapData): string {
    const states = data.contexts.change!.map((c) => data.changes![c]!);
    const number = (state: string) => states.filter((s) => s === state).length;
    const before = data.totals_before?.TotalSize ?? 0;
    const now = data.totals.TotalSize ?? 0;
    const words = { new: "new", gone: "gone", grew: "grown", shrank: "shrunk", cooled: "cooler" };
    const parts = Object.entries(words)
        .filter(([state]) => number(state))
        .map(([state, word]) => `${format.count(number(state))} ${word}`);
    return (
        `${format.bytes(before)} before, ${format.bytes(now)} now ` +
        `(${format.signedPercent(now / before)}). ` +
        left(data) +
        `Contexts: ${parts.length ? parts.join(", ") : "none changed by 10 % or more"}. ` +
        `Both profiles allocate ${format.percent(data.overlap ?? 0)} in the same places.` +
        unreachable(data)
    );
}

/** One sentence on what a profile shows. */
function summed(data: HeapData): string {
    const first = data.advice[0];
    const bytes = data.totals.TotalSize ?? 0;
    if (!first || !bytes)
        return `No rule of the report found anything to change.${unreachable(data)}`;
    return (
        `${format.bytes(first.bytes)} of the ${format.bytes(bytes)} allocated, ` +
        `${format.percent(first.bytes / bytes)}, ${first.says}.${unreachable(data)}`
    );
}

/** What a sampled profile stands on, as a sentence, and what that leaves open. */
function sampled({ sampled: s, labels, totals }: HeapData): string {
    if (!s) return "";
    const open = labels.find((label) => label.name === "undecided");
    const share = open && totals.TotalSize ? open.bytes / totals.TotalSize : 0;
    return (
        `Sampled: figures are estimated from ${format.plural(s.samples, "object")}` +
        (s.sample_bytes ? `, one in at most ${format.bytes(s.sample_bytes)}` : "") +
        (s.hits ? `, and ${format.plural(s.hits, "access", "accesses")}` : "") +
        "; with 95 % confidence they are in the intervals in brackets. " +
        (open?.contexts
            ? `More samples are needed to know whether ${format.plural(open.contexts, "context")}` +
              ` with ${format.percent(share)} of the bytes ` +
              `${open.contexts === 1 ? "is" : "are"} cold, hot or short-lived.`
            : "")
    );
}

export function Headline({ model }: { model: HeapModel }) {
    const { data } = model;
    return (
        <section aria-label="Headline figures">
            <p class="verdict" id="verdict">
                {model.isDiff ? compared(data) : summed(data)}
            </p>
            {data.sampled && (
                <p class="quiet" id="sampled">
                    {sampled(data)}
                </p>
            )}
            <Tiles tiles={tiles(model)} />
        </section>
    );
}
