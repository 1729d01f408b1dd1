// Which functions, libraries, threads, types or contexts held what over time: areas on top of each
// other, the largest at the bottom.
import type { ScaleLinear } from "d3-scale";
import { useMemo } from "preact/hooks";
import { rowName } from "./advice_list";
import * as format from "./format";
import type { Grouping, GroupSums } from "./group_sums";
import { groupings, knownGroupings, NONE } from "./group_sums";
import type { HeapModel, Side } from "./heap_model";
import type { Curve, Moment } from "./held_times";
import { momentsOf, slices } from "./held_times";

export const AT_ONCE = 8; // areas, each of a colour of its own

export type HeldBy = Grouping | "context";

/** What an area is: a row of functions or the like, whose own contexts it has, or a context. */
export interface HeldKind {
    by: HeldBy;
    sums: GroupSums | null; // null: contexts
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

export interface Held {
    moments: Moment[]; // times rise
    rows: [row: number, most: number][]; // by the most that each held at a time, falling
}

/** Rows of functions or the like instead of contexts; only of contexts that match. */
function grouped(moments: Moment[], sums: GroupSums | null, matches: Uint8Array | null): Held {
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
    side: Side,
): Held {
    const moments = useMemo(() => momentsOf(model, side), [model, side]);
    return useMemo(() => grouped(moments, sums, matches), [moments, sums, matches]);
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
    return (
        <div class="held-legend">
            <select
                aria-label="What an area is"
                id="held-by"
                value={kind.by}
                onChange={(e) => props.onBy(e.currentTarget.value as HeldBy)}
            >
                {knownGroupings(model).map((by) => (
                    <option key={by} value={by}>
                        {groupings[by].title}
                    </option>
                ))}
                <option value="context">Contexts</option>
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
