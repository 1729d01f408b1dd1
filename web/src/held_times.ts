// What contexts held at the times that a profile knows of, and in a range of time: the numbers
// below the areas of the curve.
import { bisector } from "d3-array";
import type { OverTime } from "./data";
import type { HeapModel, Side } from "./heap_model";

/** What contexts held at one time; of those that are not told, others held more. */
export interface Moment {
    ms: number;
    held: Map<number, number>; // bytes, by row
}

/** What was alive in all: pairs of ms and bytes, whose times do not fall. */
export type Curve = (readonly [ms: number, bytes: number])[];

export interface Range {
    from: number; // ms
    to: number;
}

type Points = OverTime["points"];
const byTime = bisector((p: Points[number]) => p.ms);

/** The point of the curve that is nearest to a time: more is not known of others. */
export function nearestPoint(points: Points, ms: number): number {
    const at = Math.min(byTime.left(points, ms), points.length - 1);
    return at > 0 && ms - points[at - 1]!.ms < points[at]!.ms - ms ? at - 1 : at;
}

/** Between two points of the curve, whichever is first; null: they are one. */
export function rangeOf(points: Points, a: number, b: number): Range | null {
    const from = points[Math.min(a, b)]!.ms;
    const to = points[Math.max(a, b)]!.ms;
    return to > from ? { from, to } : null;
}

/** The curve with the peak put in, which is between two points, nearly always. */
export function curveOf(times: OverTime, shown: "bytes" | "objects"): Curve {
    const peak = shown === "bytes" ? times.peak_bytes : times.peak_objects;
    const values = times.points.map((p) => [p.ms, p[shown]] as const);
    const at = times.points.filter((p) => p.ms <= times.peak_ms).length;
    return [...values.slice(0, at), [times.peak_ms, peak] as const, ...values.slice(at)];
}

/** All contexts at one time, of a field of the profile. */
function whole(model: HeapModel, ms: number, field: string, side: Side): Moment {
    const held = new Map<number, number>();
    model.side(side)[field]?.forEach((bytes, row) => {
        if (bytes) held.set(row, bytes);
    });
    return { ms, held };
}

function sum(moment: Moment): number {
    let bytes = 0;
    for (const more of moment.held.values()) bytes += more;
    return bytes;
}

/** The times at which it is known what contexts held, rising. */
export function momentsOf(model: HeapModel, side: Side): Moment[] {
    const times = model.times(side);
    if (!times?.points.length) return [];
    const byMs = new Map<number, Moment>();
    const { point, row, bytes } = times.shares ?? { point: [], row: [], bytes: [] };
    point.forEach((p, i) => {
        const { ms } = times.points[p]!;
        const moment = byMs.get(ms) ?? { ms, held: new Map<number, number>() };
        byMs.set(ms, moment);
        moment.held.set(row[i]!, bytes[i]!);
    });
    // Of several processes peak and exit are sums, and the curve is that of one of them.
    if (times.processes === 1) {
        const last = times.points[times.points.length - 1]!;
        const exit = whole(model, last.ms, "ExitSize", side);
        // What a killed process last held may be more recent than its last point. Files of other
        // tools do not tell what was alive at the end; then the last time that is told stays.
        if (model.side(side).ExitSize && sum(exit) <= last.bytes) byMs.set(last.ms, exit);
        if (model.side(side).PeakSize)
            byMs.set(times.peak_ms, whole(model, times.peak_ms, "PeakSize", side));
    }
    return [...byMs.values()].sort((a, b) => a.ms - b.ms);
}

/** A time, what contexts held when it was last told, and how much larger all was since. */
export interface Slice {
    ms: number;
    moment: Moment;
    scale: number;
}

/** Between two times the last split is that of the curve: a new one is known when it is told. */
export function slices(moments: Moment[], curve: Curve): Slice[] {
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

/** The area below the line between two points, within a range. */
function area(a: readonly [number, number], b: readonly [number, number], range: Range): number {
    const from = Math.max(a[0], range.from);
    const to = Math.min(b[0], range.to);
    if (!(to > from)) return 0;
    const at = (ms: number) => a[1] + ((b[1] - a[1]) * (ms - a[0])) / (b[0] - a[0]);
    return ((at(from) + at(to)) / 2) * (to - from);
}

/** What was alive in a range on average. */
export function averageOf(curve: Curve, range: Range): number {
    let sum = 0;
    for (let i = 1; i < curve.length; i++) sum += area(curve[i - 1]!, curve[i]!, range);
    return sum / (range.to - range.from);
}

/** What each context held in a range on average, as far as it is told. */
export function heldIn(model: HeapModel, range: Range, side: Side): Float64Array {
    const held = new Float64Array(model.n);
    const times = model.times(side);
    if (!times?.points.length) return held;
    const columns = slices(momentsOf(model, side), curveOf(times, "bytes"));
    for (let i = 1; i < columns.length; i++) {
        const [a, b] = [columns[i - 1]!, columns[i]!];
        if (a.moment !== b.moment) continue;
        const share = area([a.ms, a.scale], [b.ms, b.scale], range) / (range.to - range.from);
        if (share) for (const [row, bytes] of a.moment.held) held[row]! += bytes * share;
    }
    // What follows the curve between two times may exceed what the context ever had.
    const all = model.side(side).TotalSize;
    return all ? held.map((v, row) => Math.min(v, all[row] ?? 0)) : held;
}
