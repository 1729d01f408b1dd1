// A range of the time of a recording: what is known of it in all, and its ends, which can be moved.
import type { OverTime } from "./data";
import * as format from "./format";
import type { HeapModel } from "./heap_model";
import type { Range } from "./held_times";
import { averageOf, curveOf, nearestPoint, rangeOf } from "./held_times";

type Points = OverTime["points"];

interface Props {
    model: HeapModel;
    times: OverTime;
    onRange: (range: Range | null) => void;
}

export function RangeBar({ model, times, onRange }: Props) {
    const { points } = times;
    const { range } = model;
    const last = points.length - 1;
    // The peak is in both parts.
    const after = points.findIndex((p) => p.ms >= times.peak_ms);
    const toPeak = after < 0 ? last : after;
    const isAt = points[toPeak]!.ms <= times.peak_ms;
    const fromPeak = isAt ? toPeak : Math.max(0, toPeak - 1);
    const set = (a: number, b: number) => {
        const next = rangeOf(points, a, b);
        if (next) onRange(next);
    };
    return (
        <div class="range-bar">
            {range ? (
                <Told model={model} times={times} range={range} />
            ) : (
                <p class="quiet">Drag over the curve to look at a range of time.</p>
            )}
            {range && <Ends points={points} range={range} onEnds={set} />}
            {toPeak > 0 && (
                <button type="button" id="to-peak" onClick={() => set(0, toPeak)}>
                    Up to the peak
                </button>
            )}
            {fromPeak < last && (
                <button type="button" id="from-peak" onClick={() => set(fromPeak, last)}>
                    From the peak on
                </button>
            )}
            {range && (
                <button type="button" id="whole-time" onClick={() => onRange(null)}>
                    Whole time
                </button>
            )}
        </div>
    );
}

/** What the profile says about a range. */
function Told({ model, times, range }: { model: HeapModel; times: OverTime; range: Range }) {
    const curve = curveOf(times, "bytes");
    const average = averageOf(curve, range);
    const inside = curve.filter(([ms]) => ms >= range.from && ms <= range.to);
    const most = Math.max(...inside.map(([, bytes]) => bytes));
    const first = times.points[nearestPoint(times.points, range.from)]!;
    const end = times.points[nearestPoint(times.points, range.to)]!;
    const known = model.weights("range").reduce((sum, v) => sum + v, 0);
    return (
        <p id="range" data-from={range.from} data-to={range.to} data-average={average}>
            <b>
                {format.ms(range.from)} to {format.ms(range.to)}
            </b>
            : {format.bytes(average)} alive on average, {format.bytes(most)} at most;{" "}
            {format.bytes(end.allocated_bytes - first.allocated_bytes)} allocated in{" "}
            {format.plural(end.allocated_objects - first.allocated_objects, "object")}.{" "}
            <span class="quiet">
                For {format.percent(Math.min(1, known / (average || 1)))} of the average it is
                known who held it; the page shows that.
            </span>
        </p>
    );
}

function Ends(props: {
    points: Points;
    range: Range;
    onEnds: (from: number, to: number) => void;
}) {
    const { points, range, onEnds } = props;
    const from = nearestPoint(points, range.from);
    const to = nearestPoint(points, range.to);
    const slider = (
        name: string,
        at: number,
        [least, most]: [number, number],
        put: (v: number) => void,
    ) => (
        <label>
            <span class="quiet">{name}</span>
            <input
                type="range"
                id={`range-${name}`}
                min={least}
                max={most}
                value={at}
                aria-valuetext={format.ms(points[at]!.ms)}
                onChange={(e) => put(Number(e.currentTarget.value))}
            />
        </label>
    );
    return (
        <>
            {slider("from", from, [0, to - 1], (v) => onEnds(v, to))}
            {slider("to", to, [from + 1, points.length - 1], (v) => onEnds(from, v))}
        </>
    );
}
