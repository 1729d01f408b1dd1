// The course of figures over the profiles of a history, one place for each of them.
import { scaleLinear } from "d3-scale";
import { useRef, useState } from "preact/hooks";
import { labelMiddle } from "./axis";
import type { HistoryProfile } from "./data";
import type { Series } from "./history_model";
import { nameOf, timeText } from "./history_model";
import { Tip } from "./tip";
import { useWidth } from "./use_width";

const HEIGHT = 220;
const margin = { left: 70, right: 14, top: 12, bottom: 22 };
const LABEL = 96; // pixels that a version takes

/** Pieces of a line between profiles that do not know the figure. */
function pieces(values: Series["values"]): [number, number][][] {
    const all: [number, number][][] = [[]];
    values.forEach((v, i) => {
        if (v === null) all.push([]);
        else all.at(-1)!.push([i, v]);
    });
    return all.filter((piece) => piece.length > 0);
}

export function HistoryPlot(props: {
    title: string;
    profiles: HistoryProfile[];
    series: Series[];
    text: (v: number) => string;
    chosen: number;
    onChoose: (row: number) => void;
    fromZero?: boolean; // default: true
    most?: number; // where the axis ends
    span?: number; // that the axis has at least
    base?: number; // of units: 1024 for bytes
}) {
    const { title, profiles, series, text, chosen, onChoose } = props;
    const frame = useRef<HTMLDivElement>(null);
    const width = useWidth(frame, 640);
    const [pointed, setPointed] = useState<{ x: number; y: number; row: number } | null>(null);
    const values = series.flatMap((s) => s.values.filter((v) => v !== null));
    const high = props.most ?? Math.max(...values, props.span ?? 1);
    const low = Math.min(...values, props.fromZero === false ? high - (props.span ?? 1) : 0);
    const unit = props.base === 1024 ? 1024 ** Math.floor(Math.log(high) / Math.log(1024)) : 1;
    const last = Math.max(profiles.length - 1, 1);
    const xs = scaleLinear([0, last], [margin.left, width - margin.right]);
    const ys = scaleLinear([low / unit, high / unit], [HEIGHT - margin.bottom, margin.top]).nice(4);
    const yOf = (v: number) => ys(v / unit);
    const step = Math.max(1, Math.ceil((profiles.length * LABEL) / Math.max(width - 80, 1)));
    const rowAt = (clientX: number) => {
        const x = clientX - frame.current!.getBoundingClientRect().left;
        return Math.max(0, Math.min(profiles.length - 1, Math.round(xs.invert(x))));
    };
    const at = pointed && profiles[pointed.row];
    return (
        <section class="card history-plot" aria-label={title}>
            <div class="bar-of-controls">
                <h2>{title}</h2>
                <span class="legend">
                    {series.map((s) => (
                        <span key={s.key}>
                            <i class={`swatch series-${s.key}`} /> {s.name}
                        </span>
                    ))}
                </span>
            </div>
            <div
                class="plot"
                ref={frame}
                style={{ height: `${HEIGHT}px` }}
                onPointerMove={(e) =>
                    setPointed({ x: e.clientX, y: e.clientY, row: rowAt(e.clientX) })
                }
                onPointerLeave={() => setPointed(null)}
                onClick={(e) => onChoose(rowAt(e.clientX))}
            >
                <svg
                    role="img"
                    width={width}
                    height={HEIGHT}
                    aria-label={series
                        .map((s) => `${s.name}: ${lastText(s, text)} in the end`)
                        .join("; ")}
                >
                    {ys.ticks(4).map((t) => (
                        <g key={t}>
                            <line
                                class="grid"
                                x1={margin.left}
                                x2={width - margin.right}
                                y1={ys(t)}
                                y2={ys(t)}
                            />
                            <text x={margin.left - 6} y={ys(t) + 4} text-anchor="end">
                                {text(t * unit)}
                            </text>
                        </g>
                    ))}
                    <line
                        class="chosen"
                        x1={xs(chosen)}
                        x2={xs(chosen)}
                        y1={margin.top}
                        y2={HEIGHT - margin.bottom}
                    />
                    {series.map((s) =>
                        pieces(s.values).map((piece) => (
                            <g key={`${s.key} ${piece[0]![0]}`} class={`series-${s.key}`}>
                                <polyline
                                    points={piece
                                        .map(([i, v]) => `${xs(i)},${yOf(v)}`)
                                        .join(" ")}
                                />
                                {profiles.length <= 60 &&
                                    piece.map(([i, v]) => (
                                        <circle key={i} cx={xs(i)} cy={yOf(v)} r={3} />
                                    ))}
                            </g>
                        )),
                    )}
                    {profiles.map((profile, i) =>
                        i % step ? null : (
                            <text
                                key={profile.id}
                                x={labelMiddle(xs(i), short(nameOf(profile)), width)}
                                y={HEIGHT - 5}
                                text-anchor="middle"
                            >
                                {short(nameOf(profile))}
                            </text>
                        ),
                    )}
                </svg>
                {pointed && at && (
                    <Tip x={pointed.x} y={pointed.y}>
                        <b>{nameOf(at)}</b>
                        <span>{timeText(at.time)}</span>
                        {series.map((s) => {
                            const v = s.values[pointed.row];
                            return v === null || v === undefined ? null : (
                                <span key={s.key}>
                                    {text(v)} {s.name}
                                </span>
                            );
                        })}
                    </Tip>
                )}
            </div>
        </section>
    );
}

function short(name: string): string {
    return name.length > 14 ? `${name.slice(0, 13)}…` : name;
}

function lastText(s: Series, text: (v: number) => string): string {
    const known = s.values.filter((v) => v !== null);
    return known.length ? text(known.at(-1)!) : "not known";
}
