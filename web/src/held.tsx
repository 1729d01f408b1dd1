// Which functions, libraries or contexts held what over time: areas on top of each other, the
// largest at the bottom.
import type { ScaleLinear } from "d3-scale";
import { useMemo } from "preact/hooks";
import { rowName } from "./advice_list";
import type { CallSums } from "./call_sums";
import { NONE } from "./call_sums";
import * as format from "./format";
import type { HeapModel } from "./heap_model";

export const AT_ONCE = 8; // areas, each of a colour of its own

export type HeldBy = "function" | "library" | "context";

/** What an area is: a row of functions or libraries, whose own contexts it has, or a context. */
export interface HeldKind {
    by: HeldBy;
    sums: CallSums | null; // null: contexts
    open: (row: number) => void;
}

export function heldName(
    model: HeapModel,
    { sums }: HeldKind,
    row: number,
    rows: Held["rows"],
): string {
    return sums ? format.brief(sums.name(row)) : rowName(model, row, rows);
}

/** What contexts held at one time; of those that are not told, others held more. */
export interface Moment {
    ms: number;
    held: Map<number, number>; // bytes, by row
}

/** What was alive in all: pairs of ms and bytes, whose times do not fall. */
export type Curve = (readonly [ms: number, bytes: number])[];

export interface Held {
    moments: Moment[]; // times rise
    rows: [row: number, most: number][]; // by the most that each held at a time, falling
}

/** All contexts at one time, of a field of the profile. */
function whole(model: HeapModel, ms: number, field: "PeakSize" | "ExitSize"): Moment {
    const held = new Map<number, number>();
    model.data.now[field]?.forEach((bytes, row) => {
        if (bytes) held.set(row, bytes);
    });
    return { ms, held };
}

function sum(moment: Moment): number {
    let bytes = 0;
    for (const more of moment.held.values()) bytes += more;
    return bytes;
}

function collect(model: HeapModel): Moment[] {
    const { over_time: times, contexts } = model.data;
    if (!times?.points.length) return [];
    const rowOf = new Map(contexts.id.map((id, row) => [id, row]));
    const byMs = new Map<number, Moment>();
    const { point, context, bytes } = times.shares ?? { point: [], context: [], bytes: [] };
    point.forEach((p, i) => {
        const { ms } = times.points[p]!;
        const moment = byMs.get(ms) ?? { ms, held: new Map<number, number>() };
        byMs.set(ms, moment);
        const row = rowOf.get(context[i]!);
        if (row !== undefined) moment.held.set(row, bytes[i]!);
    });
    // Of several processes peak and exit are sums, and the curve is that of one of them.
    if (times.processes === 1) {
        const last = times.points[times.points.length - 1]!;
        const exit = whole(model, last.ms, "ExitSize");
        // What a killed process last held may be more recent than its last point. Files of other
        // tools do not tell what was alive at the end; then the last time that is told stays.
        if (model.data.now.ExitSize && sum(exit) <= last.bytes) byMs.set(last.ms, exit);
        if (model.data.now.PeakSize) {
            byMs.set(times.peak_ms, whole(model, times.peak_ms, "PeakSize"));
        }
    }
    return [...byMs.values()].sort((a, b) => a.ms - b.ms);
}

/** Rows of functions or libraries instead of contexts; only of contexts that match. */
function grouped(moments: Moment[], sums: CallSums | null, matches: Uint8Array | null): Held {
    const most = new Map<number, number>();
    const found = moments.map(({ ms, held: contexts }) => {
        const held = new Map<number, number>();
        for (const [context, bytes] of contexts) {
            if (matches && !matches[context]) continue;
            const row = sums ? sums.site(context) : context;
            held.set(row, (held.get(row) ?? 0) + bytes);
        }
        for (const [row, bytes] of held) most.set(row, Math.max(bytes, most.get(row) ?? 0));
        return { ms, held };
    });
    most.delete(NONE);
    return { moments: found, rows: [...most].sort((a, b) => b[1] - a[1] || a[0] - b[0]) };
}

export function useHeld(
    model: HeapModel,
    { sums }: HeldKind,
    matches: Uint8Array | null,
): Held {
    const moments = useMemo(() => collect(model), [model]);
    return useMemo(() => grouped(moments, sums, matches), [moments, sums, matches]);
}

/** A time, what contexts held when it was last told, and how much larger all was since. */
interface Slice {
    ms: number;
    moment: Moment;
    scale: number;
}

/** Between two times the last split is that of the curve: a new one is known when it is told. */
function slices(moments: Moment[], curve: Curve): Slice[] {
    const found: Slice[] = [];
    let at = 0; // of the curve; what is before it is not later than the moment
    moments.forEach((moment, i) => {
        const end = moments[i + 1]?.ms ?? Infinity;
        while (at < curve.length && curve[at]![0] <= moment.ms) at++;
        const then = curve[at - 1]?.[1] ?? 0;
        const add = (ms: number, bytes: number) =>
            found.push({ ms, moment, scale: then ? bytes / then : 1 });
        add(moment.ms, then);
        for (; at < curve.length && curve[at]![0] <= end; at++) add(...curve[at]!);
    });
    return found;
}

/** The areas of some rows; they end where the curve does. */
export function HeldAreas(props: {
    moments: Moment[];
    rows: number[];
    curve: Curve;
    xs: ScaleLinear<number, number>;
    ys: ScaleLinear<number, number>;
    within: string; // points of the area below the curve
}) {
    const { moments, rows, curve, xs, ys } = props;
    const columns = slices(moments, curve);
    const below = columns.map(() => 0);
    const edge = () =>
        columns.map(({ ms }, i) => `${xs(ms).toFixed(1)},${ys(below[i]!).toFixed(1)}`);
    const areas = rows.map((row) => {
        const lower = edge();
        columns.forEach(({ moment, scale }, i) => {
            below[i]! += (moment.held.get(row) ?? 0) * scale;
        });
        return [...edge(), ...lower.reverse()].join(" ");
    });
    return (
        <g clip-path="url(#below-the-curve)">
            <clipPath id="below-the-curve">
                <polygon points={props.within} />
            </clipPath>
            {areas.map((points, i) => (
                <polygon key={rows[i]} class={`held held-${i}`} points={points} />
            ))}
        </g>
    );
}

const kinds: Record<HeldBy, string> = {
    function: "Functions",
    library: "Libraries",
    context: "Contexts",
};

/** The names of the areas; which ones they are is chosen here. */
export function HeldLegend(props: {
    model: HeapModel;
    held: Held;
    kind: HeldKind;
    onBy: (by: HeldBy) => void;
    first: number; // of the rows that are drawn; -1: none are
    onFirst: (first: number) => void;
}) {
    const { model, held, kind, first } = props;
    const shown = first < 0 ? [] : held.rows.slice(first, first + AT_ONCE);
    const starts = held.rows.map((_, i) => i).filter((i) => i % AT_ONCE === 0);
    const known = (by: HeldBy) => by !== "library" || model.knowsLibraries();
    return (
        <div class="held-legend">
            <select
                aria-label="What an area is"
                id="held-by"
                value={kind.by}
                onChange={(e) => props.onBy(e.currentTarget.value as HeldBy)}
            >
                {(Object.keys(kinds) as HeldBy[]).filter(known).map((by) => (
                    <option key={by} value={by}>
                        {kinds[by]}
                    </option>
                ))}
            </select>
            {held.rows.length > 0 && (
                <select
                    aria-label="Which areas are drawn"
                    id="held-first"
                    value={first}
                    onChange={(e) => props.onFirst(Number(e.currentTarget.value))}
                >
                    {starts.map((start) => (
                        <option key={start} value={start}>
                            {start + 1} to {Math.min(start + AT_ONCE, held.rows.length)} by size
                        </option>
                    ))}
                    <option value={-1}>none</option>
                </select>
            )}
            {held.rows.length === 0 && (
                <p class="quiet">
                    None of the contexts whose bytes are known over time is among the chosen ones.
                </p>
            )}
            <ol start={first + 1}>
                {shown.map(([row, most], i) => (
                    <li key={row} data-exact={most}>
                        <span class={`swatch held-${i}`} aria-hidden="true" />
                        <button type="button" class="link" onClick={() => kind.open(row)}>
                            {heldName(model, kind, row, shown)}
                        </button>
                        <span class="quiet">up to {format.bytes(most)}</span>
                    </li>
                ))}
            </ol>
        </div>
    );
}
