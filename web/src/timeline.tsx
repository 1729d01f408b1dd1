// What was alive over time, and the peak: bytes, by the functions, libraries or contexts that held
// most of them, or objects.
import { bisector } from "d3-array";
import { scaleLinear } from "d3-scale";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { labelMiddle } from "./axis";
import type { OverTime } from "./data";
import * as format from "./format";
import type { HeapModel, Side } from "./heap_model";
import type { HeldBy, HeldKind } from "./held";
import { AT_ONCE, HeldAreas, heldName, HeldLegend, useHeld } from "./held";
import type { Curve, Moment, Range } from "./held_times";
import { curveOf, nearestPoint, rangeOf } from "./held_times";
import { RangeBar } from "./time_range";
import { Tip } from "./tip";
import { useWidth } from "./use_width";

type Shown = "bytes" | "objects";

const LEAST_DRAG = 5; // pixels; less is a click
const margin = { left: 64, right: 26, top: 18, bottom: 22 };
const heightOf = (width: number) => (width > 1600 ? 260 : 190);
const names: Record<Shown, string> = { bytes: "Bytes alive", objects: "Objects alive" };
const before = bisector((p: OverTime["points"][number]) => p.ms).right;

function text(shown: Shown, v: number): string {
    return shown === "bytes" ? format.bytes(v) : format.count(v);
}

/** Round numbers up to the highest; those of bytes are round in their unit. */
function ticks(shown: Shown, highest: number): number[] {
    const power = Math.floor(Math.log(highest) / Math.log(1024));
    const unit = shown === "bytes" ? 1024 ** power : 1;
    return scaleLinear([0, highest / unit], [0, 1])
        .ticks(4)
        .filter((t) => shown === "bytes" || Number.isInteger(t))
        .map((t) => t * unit);
}

/** The one whose split is drawn at a time. */
function latest(moments: Moment[], ms: number): Moment | undefined {
    return moments.filter((moment) => moment.ms <= ms).pop();
}

/** What the areas that are drawn held at a time. */
function HeldThen(props: {
    model: HeapModel;
    kind: HeldKind;
    rows: [number, number][];
    moment: Moment | undefined;
}) {
    const { model, kind, rows, moment } = props;
    if (!moment) return null;
    const there = rows.filter(([row]) => moment.held.get(row));
    return (
        <>
            {there.length > 0 && <b>after {format.ms(moment.ms)}, by {kind.by}</b>}
            {there.map(([row]) => (
                <span key={row}>
                    {format.bytes(moment.held.get(row)!)} {heldName(model, kind, row, rows)}
                </span>
            ))}
        </>
    );
}

/** The curves of the profile and of the one that it is compared with, on the same axes. */
function usePlot(model: HeapModel, shown: Shown, width: number, height: number) {
    const { over_time: times, over_time_before: before } = model.data;
    return useMemo(() => {
        const curve = curveOf(times!, shown);
        const other = before && before.points.length > 1 ? curveOf(before, shown) : null;
        const all = [...curve, ...(other ?? [])];
        const peak = shown === "bytes" ? times!.peak_bytes : times!.peak_objects;
        const highest = all.reduce((most, [, v]) => Math.max(most, v), 1);
        const last = all.reduce((most, [ms]) => Math.max(most, ms), 1);
        const xs = scaleLinear([0, last], [margin.left, width - margin.right]);
        const ys = scaleLinear([0, highest], [height - margin.bottom, margin.top]);
        const line = (points: Curve) =>
            points.map(([ms, v]) => `${xs(ms).toFixed(1)},${ys(v).toFixed(1)}`).join(" ");
        const area = (points: Curve) =>
            `${xs(points[0]![0])},${ys(0)} ${line(points)} ${xs(points.at(-1)![0])},${ys(0)}`;
        return { xs, ys, peak, highest, curve, other, line, area };
    }, [times, before, shown, width, height]);
}

export function Timeline(props: {
    model: HeapModel;
    times: OverTime;
    matches: Uint8Array | null; // contexts that areas have
    kind: HeldKind;
    onBy: (by: HeldBy) => void;
    onRange: (range: Range | null) => void;
}) {
    const { model, times, matches, kind, onRange } = props;
    const frame = useRef<HTMLDivElement>(null);
    const width = useWidth(frame, 960);
    const [shown, setShown] = useState<Shown>("bytes");
    const [pointed, setPointed] = useState<{ x: number; y: number; ms: number } | null>(null);
    const height = heightOf(width);
    const plot = usePlot(model, shown, width, height);
    const [side, setSide] = useState<Side>("now");
    const drawn = side === "before" && plot.other ? plot.other : plot.curve;
    const held = useHeld(model, kind, matches, side);
    const [dragged, setDragged] = useState<number | null>(null); // from where, in ms
    const [first, setFirst] = useState(0);
    useEffect(() => setFirst((at) => Math.min(at, 0)), [held]);
    const stacked = shown === "bytes" && held.moments.length > 1;
    const rows = stacked && first >= 0 ? held.rows.slice(first, first + AT_ONCE) : [];
    const last = times.points[times.points.length - 1]!;
    const at = pointed && times.points[Math.max(0, before(times.points, pointed.ms) - 1)]!;
    const peakX = plot.xs(times.peak_ms);
    const choose = (a: number, b: number) => {
        const { points } = times;
        const range = rangeOf(points, nearestPoint(points, a), nearestPoint(points, b));
        if (range) onRange(range);
    };
    const { range } = model;
    const ends =
        dragged !== null && pointed
            ? [dragged, pointed.ms]
            : range && [range.from, range.to];
    return (
        <section class="card timeline" aria-labelledby="timeline-title">
            <div class="bar-of-controls">
                <h2 id="timeline-title">The heap over time</h2>
                <fieldset class="choice">
                    <legend class="hidden">What is drawn</legend>
                    {(Object.keys(names) as Shown[]).map((s) => (
                        <label key={s}>
                            <input
                                type="radio"
                                name="alive"
                                value={s}
                                checked={s === shown}
                                onChange={() => setShown(s)}
                            />
                            <span>{names[s]}</span>
                        </label>
                    ))}
                </fieldset>
                {plot.other && (
                    <fieldset class="choice">
                        <legend class="hidden">Whose areas are drawn</legend>
                        {(["before", "now"] as const).map((s) => (
                            <label key={s}>
                                <input
                                    type="radio"
                                    name="side"
                                    value={s}
                                    checked={s === side}
                                    onChange={() => setSide(s)}
                                />
                                <span>Areas {s}</span>
                            </label>
                        ))}
                    </fieldset>
                )}
                {times.processes > 1 && (
                    <span class="quiet">
                        the process with the highest peak, of {format.count(times.processes)}
                    </span>
                )}
            </div>
            <div
                class="plot"
                style={{ height: `${height}px` }}
                ref={frame}
                onPointerMove={(e) => {
                    const { clientX: x, clientY: y } = e;
                    const left = frame.current!.getBoundingClientRect().left;
                    setPointed({ x, y, ms: plot.xs.invert(x - left) });
                }}
                onPointerDown={(e) => {
                    if (e.button !== 0 || e.pointerType === "touch") return;
                    const left = frame.current!.getBoundingClientRect().left;
                    setDragged(plot.xs.invert(e.clientX - left));
                    frame.current!.setPointerCapture(e.pointerId);
                }}
                onPointerUp={(e) => {
                    const left = frame.current!.getBoundingClientRect().left;
                    const x = e.clientX - left;
                    if (dragged !== null && Math.abs(x - plot.xs(dragged)) > LEAST_DRAG)
                        choose(dragged, plot.xs.invert(x));
                    setDragged(null);
                }}
                onPointerCancel={() => setDragged(null)}
                onPointerLeave={() => setPointed(null)}
            >
                <svg
                    role="img"
                    aria-label={
                        `At the peak, after ${format.ms(times.peak_ms)}: ` +
                        `${format.bytes(times.peak_bytes)} in ` +
                        `${format.plural(times.peak_objects, "object")}. At the end, after ` +
                        `${format.ms(last.ms)}: ${format.bytes(last.bytes)} in ` +
                        `${format.plural(last.objects, "object")}.`
                    }
                >
                    {ticks(shown, plot.highest).map((t) => (
                        <g key={t}>
                            <line
                                class="grid"
                                x1={margin.left}
                                x2={width - margin.right}
                                y1={plot.ys(t)}
                                y2={plot.ys(t)}
                            />
                            <text x={margin.left - 6} y={plot.ys(t) + 4} text-anchor="end">
                                {text(shown, t)}
                            </text>
                        </g>
                    ))}
                    {plot.xs.ticks(Math.max(2, Math.floor(width / 140))).map((t) => (
                        <text
                            key={t}
                            x={labelMiddle(plot.xs(t), format.ms(t), width)}
                            y={height - 5}
                            text-anchor="middle"
                        >
                            {format.ms(t)}
                        </text>
                    ))}
                    <polygon class="area" points={plot.area(drawn)} />
                    {rows.length > 0 && (
                        <HeldAreas
                            moments={held.moments}
                            rows={rows.map(([row]) => row)}
                            curve={drawn}
                            xs={plot.xs}
                            ys={plot.ys}
                            within={plot.area(drawn)}
                        />
                    )}
                    {plot.other && (
                        <polyline class="curve before" points={plot.line(plot.other)} />
                    )}
                    <polyline class="curve" points={plot.line(plot.curve)} />
                    {ends && (
                        <rect
                            class="range"
                            x={Math.max(margin.left, plot.xs(Math.min(...ends)))}
                            width={
                                Math.min(width - margin.right, plot.xs(Math.max(...ends))) -
                                Math.max(margin.left, plot.xs(Math.min(...ends)))
                            }
                            y={margin.top}
                            height={height - margin.bottom - margin.top}
                        />
                    )}
                    {at && (
                        <line
                            class="pointed"
                            x1={plot.xs(at.ms)}
                            x2={plot.xs(at.ms)}
                            y1={margin.top}
                            y2={height - margin.bottom}
                        />
                    )}
                    <circle class="peak" cx={peakX} cy={plot.ys(plot.peak)} r={4} />
                    <text
                        class="peak-name"
                        x={peakX + (peakX > width / 2 ? -8 : 8)}
                        y={Math.max(plot.ys(plot.peak) - 5, 12)}
                        text-anchor={peakX > width / 2 ? "end" : "start"}
                    >
                        {`at the peak ${text(shown, plot.peak)}`}
                    </text>
                </svg>
            </div>
            {pointed && at && (
                <Tip x={pointed.x} y={pointed.y}>
                    <b>after {format.ms(at.ms)}</b>
                    <span>
                        {format.bytes(at.bytes)} alive in {format.plural(at.objects, "object")}
                    </span>
                    <span>
                        {format.bytes(at.allocated_bytes)} allocated up to then, in{" "}
                        {format.plural(at.allocated_objects, "object")}
                    </span>
                    {rows.length > 0 && (
                        <HeldThen
                            model={model}
                            kind={kind}
                            rows={rows}
                            moment={latest(held.moments, pointed.ms)}
                        />
                    )}
                </Tip>
            )}
            <RangeBar model={model} times={times} onRange={onRange} />
            {plot.other && (
                <p class="legend quiet">
                    <span class="dashes" /> before <span class="dashes now" /> now
                </p>
            )}
            {stacked && (
                <HeldLegend
                    model={model}
                    held={held}
                    kind={kind}
                    onBy={props.onBy}
                    first={first}
                    onFirst={setFirst}
                />
            )}
        </section>
    );
}
