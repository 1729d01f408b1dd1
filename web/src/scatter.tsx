// Contexts by how long their objects live and how often a byte of them is accessed. Both axes
// are logarithmic; values of zero stand on the edge.
import { quadtree } from "d3-quadtree";
import { scaleLog, scaleSqrt } from "d3-scale";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { siteName } from "./advice_list";
import { labelMiddle } from "./axis";
import * as format from "./format";
import type { HeapModel } from "./heap_model";
import type { Filter } from "./page_frame";
import { Tip } from "./tip";
import { useWidth } from "./use_width";

interface Props {
    model: HeapModel;
    matches: Uint8Array | null;
    filter: Filter | null;
    open: number | null;
    onOpen: (context: number) => void;
}

interface Point {
    context: number;
    x: number;
    y: number;
    r: number;
}

const margin = { left: 46, right: 10, top: 10, bottom: 50 };
const heightOf = (width: number) => (width > 560 ? 460 : 360);
const SHORT_MS = 10; // the limits of lib/heap/mib.c
const COLD_MS = 200_000;
const HOT_PER_S = 1000;
const COLD_PER_S = 0.05;

function powers(from: number, to: number, step: number): number[] {
    const list = [];
    for (let e = Math.ceil(Math.log10(from)); e <= Math.log10(to) + 1e-9; e += step)
        list.push(10 ** e);
    return list;
}

function extent(values: Float64Array, least: number, most: number): [number, number] {
    let lowest = most;
    let highest = least;
    for (const v of values) {
        if (!(v > 0) || v === Infinity) continue;
        lowest = Math.min(lowest, v);
        highest = Math.max(highest, v);
    }
    // Some room at the edge, so that circles do not lie on the labels.
    return [Math.max(1e-6, Math.min(least, lowest) / 2), Math.max(most, highest)];
}

function usePlot(model: HeapModel, width: number) {
    return useMemo(() => {
        const xs = scaleLog(extent(model.life, 0.01, 1e5), [
            margin.left,
            width - margin.right,
        ]).clamp(true);
        const ys = scaleLog(extent(model.density, 0.01, 100), [
            heightOf(width) - margin.bottom,
            margin.top,
        ]).clamp(true);
        const most = model.bytes.reduce((a, b) => Math.max(a, b), 1);
        const radius = scaleSqrt([0, most], [1.5, 22]);
        const points: Point[] = [];
        for (let context = 0; context < model.n; context++) {
            const life = model.life[context]!;
            const density = model.density[context]!;
            if (Number.isNaN(life) || Number.isNaN(density)) continue;
            points.push({
                context,
                x: xs(Math.max(life, xs.domain()[0]!)),
                y: ys(Math.max(density, ys.domain()[0]!)),
                r: radius(model.bytes[context]!),
            });
        }
        const tree = quadtree(
            points,
            (p) => p.x,
            (p) => p.y,
        );
        return { xs, ys, points, tree };
    }, [model, width]);
}

/** Area of a rule in the plot: density above or below a line of accesses per byte and second. */
function region(
    plot: ReturnType<typeof usePlot>,
    perSecond: number,
    above: boolean,
    fromMs: number,
) {
    const [x0, x1] = plot.xs.domain() as [number, number];
    const [y0, y1] = plot.ys.domain() as [number, number];
    const at = (life: number) => Math.min(y1, Math.max(y0, (perSecond * life) / 1000));
    const start = Math.max(x0, fromMs);
    if (start >= x1) return "";
    const corners: string[] = [];
    for (let i = 0; i <= 40; i++) {
        const life = start * (x1 / start) ** (i / 40);
        corners.push(`${plot.xs(life)},${plot.ys(at(life))}`);
    }
    const edge = plot.ys(above ? y1 : y0);
    return [`${plot.xs(start)},${edge}`, ...corners, `${plot.xs(x1)},${edge}`].join(" ");
}

export function Scatter({ model, matches, filter, open, onOpen }: Props) {
    const frame = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const width = useWidth(frame, 480);
    const [pointed, setPointed] = useState<{ point: Point; x: number; y: number } | null>(null);
    const [drawn, setDrawn] = useState(0);
    const plot = usePlot(model, width);

    useEffect(() => {
        const redraw = () => setDrawn((n) => n + 1);
        const dark = matchMedia("(prefers-color-scheme: dark)");
        dark.addEventListener("change", redraw);
        window.addEventListener("themechange", redraw);
        return () => {
            dark.removeEventListener("change", redraw);
            window.removeEventListener("themechange", redraw);
        };
    }, []);
    useEffect(() => {
        const visible = (c: number) =>
            (!matches || matches[c] === 1) && (!filter || filter.has(c));
        draw(canvas.current!, model, plot.points, width, visible, open);
    }, [model, plot, width, matches, filter, open, drawn]);

    const nearest = (event: MouseEvent): Point | undefined => {
        const box = canvas.current!.getBoundingClientRect();
        return plot.tree.find(event.clientX - box.left, event.clientY - box.top, 24);
    };
    const xTicks = powers(plot.xs.domain()[0]!, plot.xs.domain()[1]!, 1);
    const yTicks = powers(plot.ys.domain()[0]!, plot.ys.domain()[1]!, 1);
    const height = heightOf(width);
    const bottom = height - margin.bottom;
    const short = plot.xs(SHORT_MS);
    return (
        <section class="card scatter" aria-labelledby="scatter-title">
            <h2 id="scatter-title">Heat and lifetime</h2>
            <p class="quiet">
                {plot.points.length
                    ? "A circle is a context, as large as its bytes. Click one to open it."
                    : "This profile has no access counts; pgokit merge --full-schema keeps them."}
            </p>
            <p class="legend quiet">
                {labels(model).map((name) => (
                    <span key={name}>
                        <span class={`dot label-${name.replace(" ", "-") || "plain"}`} />{" "}
                        {name || "other"}
                    </span>
                ))}
            </p>
            <div class="plot" style={{ height: `${height}px` }} ref={frame}>
                <svg width={width} height={height} aria-hidden="true">
                    <polygon class="region-hot" points={region(plot, HOT_PER_S, true, 0)} />
                    <polygon
                        class="region-cold"
                        points={region(plot, COLD_PER_S, false, COLD_MS)}
                    />
                    <rect
                        class="region-short"
                        x={margin.left}
                        y={margin.top}
                        width={Math.max(0, short - margin.left)}
                        height={bottom - margin.top}
                    />
                    <text class="region-name" x={margin.left + 6} y={bottom - 8}>
                        short-lived
                    </text>
                    <text class="region-name" x={margin.left + 6} y={margin.top + 14}>
                        hot
                    </text>
                    {plot.xs(COLD_MS) < width - margin.right - 30 && (
                        <text
                            class="region-name"
                            x={width - margin.right - 6}
                            y={bottom - 8}
                            text-anchor="end"
                        >
                            cold
                        </text>
                    )}
                    {xTicks.map((t, i) => (
                        <g key={t}>
                            <line
                                class="grid"
                                x1={plot.xs(t)}
                                x2={plot.xs(t)}
                                y1={margin.top}
                                y2={bottom}
                            />
                            {(i % 2 === 0 || xTicks.length < 7) && (
                                <text
                                    x={labelMiddle(plot.xs(t), lifeTick(t), width)}
                                    y={bottom + 26}
                                    text-anchor="middle"
                                >
                                    {lifeTick(t)}
                                </text>
                            )}
                        </g>
                    ))}
                    {yTicks.map((t) => (
                        <g key={t}>
                            <line
                                class="grid"
                                y1={plot.ys(t)}
                                y2={plot.ys(t)}
                                x1={margin.left}
                                x2={width - margin.right}
                            />
                            <text x={margin.left - 6} y={plot.ys(t) + 4} text-anchor="end">
                                {densityTick(t)}
                            </text>
                        </g>
                    ))}
                    <text x={(margin.left + width) / 2} y={height - 6} text-anchor="middle">
                        average lifetime
                    </text>
                    <text
                        transform={`translate(11 ${(margin.top + bottom) / 2}) rotate(-90)`}
                        text-anchor="middle"
                    >
                        accesses per byte
                    </text>
                </svg>
                <canvas
                    ref={canvas}
                    role="img"
                    aria-label="Contexts by lifetime and heat; the table has the figures"
                    onPointerMove={(event) => {
                        const point = nearest(event);
                        setPointed(point ? { point, x: event.clientX, y: event.clientY } : null);
                    }}
                    onPointerLeave={() => setPointed(null)}
                    onClick={(event) => {
                        const point = nearest(event);
                        if (point) onOpen(point.context);
                    }}
                />
            </div>
            {pointed && (
                <Tip x={pointed.x} y={pointed.y}>
                    <strong>{siteName(model, pointed.point.context)}</strong>
                    <span>
                        {format.bytes(model.bytes[pointed.point.context]!)},{" "}
                        {format.plural(model.count[pointed.point.context]!, "object")}
                    </span>
                    <span>
                        life {format.ms(model.life[pointed.point.context]!)},{" "}
                        {format.density(model.density[pointed.point.context]!)} accesses per byte
                    </span>
                </Tip>
            )}
        </section>
    );
}

/** Labels that contexts of the profile have. */
function labels(model: HeapModel): string[] {
    return model.data.labels.filter((label) => label.contexts).map((label) => label.name);
}

function densityTick(v: number): string {
    if (v < 0.001) return v.toExponential(0);
    return v >= 1000 ? `${v / 1000}k` : `${Number(v.toPrecision(1))}`;
}

function lifeTick(v: number): string {
    if (v < 1) return `${Number((v * 1000).toPrecision(1))} µs`;
    return v < 1000 ? `${v} ms` : v < 1e6 ? `${v / 1000} s` : `${v / 1e6}k s`;
}

/** Large circles first, so that small ones lie on top of them. */
function draw(
    canvas: HTMLCanvasElement,
    model: HeapModel,
    points: Point[],
    width: number,
    visible: (context: number) => boolean,
    open: number | null,
): void {
    const scale = window.devicePixelRatio || 1;
    const pen = canvas.getContext("2d")!;
    // Names of colours become colours where they are used for `color`.
    const resolve = (name: string) => {
        canvas.style.color = `var(--${name})`;
        return getComputedStyle(canvas).color;
    };
    const colours = ["cold", "hot", "never-used", "short-lived", "plain", "undecided"].map((name) =>
        resolve(`label-${name}`),
    );
    const ink = resolve("ink");
    canvas.width = width * scale;
    canvas.height = heightOf(width) * scale;
    pen.scale(scale, scale);
    for (const p of [...points].sort((a, b) => b.r - a.r)) {
        const colour = colours[model.data.contexts.label[p.context]!]!;
        pen.globalAlpha = visible(p.context) ? 0.5 : 0.06;
        pen.fillStyle = colour;
        pen.beginPath();
        pen.arc(p.x, p.y, p.r, 0, 2 * Math.PI);
        pen.fill();
        pen.globalAlpha = visible(p.context) ? 0.9 : 0.1;
        pen.strokeStyle = p.context === open ? ink : colour;
        pen.lineWidth = p.context === open ? 3 : 1;
        pen.stroke();
    }
}
