// The turns of a row as dots along one axis for all rows, with the interval in which the gain
// surely is, and the median.
import { scaleLinear } from "d3-scale";
import { labelMiddle } from "./axis";
import type { TrialRow } from "./data";
import { gains } from "./gain_model";

export type Scale = [least: number, most: number];

const HEIGHT = 34;
const EDGE = 5;

/** From the 5th to the 95th of a hundred turns, so that one that was disturbed does not squeeze
 * all others. */
export function scaleOf(rows: TrialRow[]): Scale {
    let [least, most] = [-1, 1];
    for (const row of rows) {
        const list = gains(row).sort((a, b) => a - b);
        const at = (part: number) => list[Math.round(part * (list.length - 1))];
        const known = [at(0.05), at(0.95), row.low_percent, row.high_percent];
        for (const v of known)
            if (v !== null && v !== undefined)
                [least, most] = [Math.min(least, v), Math.max(most, v)];
    }
    const margin = (most - least) * 0.06;
    return [least - margin, most + margin];
}

export function TurnChart({ row, scale, width }: { row: TrialRow; scale: Scale; width: number }) {
    const list = gains(row);
    if (!list.length) return null;
    const x = scaleLinear(scale, [EDGE, width - EDGE]).clamp(true);
    const y = (turn: number) => 6 + ((turn * 7) % 11) * ((HEIGHT - 12) / 10);
    const { low_percent: low, high_percent: high, gain_percent: gain } = row;
    const text =
        `${list.length} turns; median ${gain!.toFixed(1)} %` +
        (low === null ? "" : `, surely from ${low.toFixed(1)} to ${high!.toFixed(1)} %`);
    return (
        <svg
            class={`turns ${row.kept ? "is-kept" : ""}`}
            width={width}
            height={HEIGHT}
            role="img"
            aria-label={text}
        >
            <title>{text}</title>
            <line class="zero" x1={x(0)} x2={x(0)} y1={0} y2={HEIGHT} />
            {low !== null && high !== null && (
                <rect
                    class="interval"
                    x={x(low)}
                    width={Math.max(1.5, x(high) - x(low))}
                    y={3}
                    height={HEIGHT - 6}
                    rx={3}
                />
            )}
            {list.map((v, turn) => (
                <circle key={turn} class="turn" cx={x(v)} cy={y(turn)} r={1.8} />
            ))}
            <line class="median" x1={x(gain!)} x2={x(gain!)} y1={2} y2={HEIGHT - 2} />
        </svg>
    );
}

/** What the axis of all rows says. */
export function TurnAxis({ scale, width }: { scale: Scale; width: number }) {
    const x = scaleLinear(scale, [EDGE, width - EDGE]);
    const label = (v: number) => `${v > 0 ? "+" : v < 0 ? "\u2212" : ""}${Math.abs(v)} %`;
    return (
        <svg class="turns axis" width={width} height={16} aria-hidden="true">
            {x.ticks(width / 80).map((v) => (
                <text key={v} x={labelMiddle(x(v), label(v), width)} y={12} text-anchor="middle">
                    {label(v)}
                </text>
            ))}
        </svg>
    );
}
