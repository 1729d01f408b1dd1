// Calling contexts as a flame graph that hangs from the entry of the program. The width of a box
// is what is allocated in and below it, its colour how often a byte of that is accessed.
import { hierarchy, partition } from "d3-hierarchy";
import type { HierarchyRectangularNode } from "d3-hierarchy";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as format from "./format";
import type { Filter } from "./heap_report";
import type { CallTree, HeapModel, Weight } from "./heap_model";
import { sums } from "./heap_model";
import { changeClass, densityClass, Legend } from "./heat";
import { useWidth } from "./use_width";

interface Props {
    model: HeapModel;
    matches: Uint8Array | null;
    onOpen: (context: number) => void;
    onFilter: (filter: Filter | null) => void;
}

export const weightNames: Record<Weight, string> = {
    bytes: "Bytes",
    count: "Objects",
    accesses: "Accesses",
    lifetime: "Bytes × lifetime",
};

export function weightText(weight: Weight, v: number): string {
    if (weight === "bytes") return format.bytes(v);
    if (weight === "lifetime") return `${format.bytes(v)}·s`;
    return format
        .plural(v, weight === "count" ? "object" : "access")
        .replace("accesss", "accesses");
}

const NARROWEST = 0.0012; // share of the width below which a box is not drawn
type Box = HierarchyRectangularNode<number>;

/** Boxes at and below `root` that are wide enough to see. */
function layOut(tree: CallTree, weight: Float64Array, root: number): Box[] {
    const least = weight[root]! * NARROWEST;
    const children = (node: number): number[] => {
        const list = [];
        for (let c = tree.firstChild[node]!; c >= 0; c = tree.nextSibling[c]!)
            if (weight[c]! > 0 && weight[c]! >= least) list.push(c);
        return list.sort((a, b) => weight[b]! - weight[a]! || a - b);
    };
    const top = hierarchy(root, children);
    const valued = top.each((node) => {
        (node as { value?: number }).value = weight[node.data]!;
    });
    return partition<number>()(valued).descendants();
}

interface Sums {
    weight: Float64Array;
    bytes: Float64Array;
    count: Float64Array;
    accesses: Float64Array;
    before: Float64Array | null;
    matched: Float64Array | null;
}

export function FlameGraph({ model, matches, onOpen, onFilter }: Props) {
    const [weight, setWeight] = useState<Weight>("bytes");
    const [programOnly, setProgramOnly] = useState(true);
    const [before, setBefore] = useState(false);
    const [root, setRoot] = useState(0);
    const [active, setActive] = useState(0);
    const [pointed, setPointed] = useState<{ node: number; x: number; y: number } | null>(null);
    const area = useRef<HTMLDivElement>(null);
    const width = useWidth(area, 900);

    const tree = useMemo(() => model.callTree(programOnly), [model, programOnly]);
    const s = useMemo<Sums>(
        () => ({
            weight: sums(tree, model.weights(weight, before)),
            bytes: sums(tree, model.bytes),
            count: sums(tree, model.count),
            accesses: sums(tree, model.accesses),
            before: model.isDiff ? sums(tree, model.weights(weight, true)) : null,
            matched: matches ? sums(tree, Float64Array.from(matches)) : null,
        }),
        [tree, model, weight, before, matches],
    );
    const boxes = useMemo(() => layOut(tree, s.weight, root), [tree, s, root]);
    const above = useMemo(() => {
        const list = [];
        for (let n = tree.parent[root]!; n >= 0; n = tree.parent[n]!) list.unshift(n);
        return list;
    }, [tree, root]);

    const heat = (node: number) =>
        `${format.density(s.accesses[node]! / (s.bytes[node]! || 1))} accesses per byte`;
    const name = (node: number) =>
        tree.func[node]! < 0 ? "whole program" : model.funcName(tree.func[node]!);
    const colour = (node: number) => {
        if (s.before) return changeClass(s.before[node]!, sumsNow(node));
        return densityClass(model, s.accesses[node]! / s.bytes[node]!);
    };
    const now = useMemo(
        () => (before ? sums(tree, model.weights(weight)) : null),
        [tree, model, weight, before],
    );
    const sumsNow = (node: number) => (now ?? s.weight)[node]!;

    const contextsBelow = (node: number): number[] => {
        const inside = new Uint8Array(tree.parent.length);
        inside[node] = 1;
        for (let i = node + 1; i < inside.length; i++) inside[i] = inside[tree.parent[i]!]!;
        const list: number[] = [];
        tree.nodeOf.forEach((n, c) => inside[n] && list.push(c));
        return list;
    };
    const choose = (node: number) => {
        const below = contextsBelow(node);
        setRoot(node);
        setActive(node);
        setPointed(null);
        if (node === 0) return onFilter(null);
        const set = new Set(below);
        onFilter({ text: `below ${format.shorten(name(node))}`, has: (c) => set.has(c) });
        if (below.length === 1) onOpen(below[0]!);
    };
    const reset = (change: () => void) => {
        change();
        setRoot(0);
        setActive(0);
        onFilter(null);
    };

    // Keys walk the tree as in any tree: up to the caller, down to the largest callee.
    const onKeyDown = (event: KeyboardEvent) => {
        const at = boxes.find((b) => b.data === active);
        const siblings = at?.parent?.children ?? [];
        const place = at ? siblings.indexOf(at) : -1;
        const go: Record<string, number | undefined> = {
            ArrowUp: at?.parent?.data ?? above.at(-1),
            ArrowDown: at?.children?.[0]?.data,
            ArrowRight: siblings[place + 1]?.data,
            ArrowLeft: siblings[place - 1]?.data,
            Home: root,
        };
        if (event.key === "Enter" || event.key === " ") choose(active);
        else if (event.key === "Escape" && root) choose(0);
        else if (event.key in go) {
            const next = go[event.key];
            if (next !== undefined) setActive(next);
            if (next !== undefined && above.includes(next)) setRoot(next);
        } else return;
        event.preventDefault();
        if (event.key === "Escape") event.stopPropagation();
    };
    useEffect(() => {
        if (document.activeElement === area.current)
            document.getElementById(`box-${active}`)?.scrollIntoView({ block: "nearest" });
    }, [active]);

    const nodeAt = (event: Event): number | null => {
        const box = (event.target as Element).closest<HTMLElement>("[data-node]");
        return box ? Number(box.dataset.node) : null;
    };
    const describe = (node: number) =>
        `${name(node)}, ${weightText(weight, s.weight[node]!)}, ` +
        format.percent(s.weight[node]! / (s.weight[0]! || 1));
    const box = (node: number, level: number, x0: number, x1: number, faded: boolean) => (
        <div
            key={node}
            id={`box-${node}`}
            data-node={node}
            role="treeitem"
            aria-level={level + 1}
            aria-label={describe(node)}
            aria-selected={node === active}
            class={
                `box ${colour(node)}` +
                (faded ? " faded" : "") +
                (node === active ? " active" : "") +
                (s.matched && !s.matched[node] ? " unmatched" : "")
            }
            style={{ left: `${100 * x0}%`, width: `${100 * (x1 - x0)}%`, top: `${level * 22}px` }}
        >
            {(x1 - x0) * width > 18 && format.fit(name(node), ((x1 - x0) * width - 12) / 6.4)}
        </div>
    );
    const levels = above.length + 1 + Math.max(...boxes.map((b) => b.depth));

    return (
        <section class="card flame" aria-labelledby="flame-title">
            <div class="bar-of-controls">
                <h2 id="flame-title">Where memory comes from</h2>
                <fieldset class="choice">
                    <legend class="hidden">Width of a box</legend>
                    {model.knownWeights().map((w) => (
                        <label key={w}>
                            <input
                                type="radio"
                                name="weight"
                                value={w}
                                checked={w === weight}
                                onChange={() => setWeight(w)}
                            />
                            <span>{weightNames[w]}</span>
                        </label>
                    ))}
                </fieldset>
                <label class="check">
                    <input
                        type="checkbox"
                        checked={programOnly}
                        onChange={() => reset(() => setProgramOnly(!programOnly))}
                    />
                    <span>Program only</span>
                </label>
                {model.isDiff && (
                    <label class="check">
                        <input
                            type="checkbox"
                            checked={before}
                            onChange={() => setBefore(!before)}
                        />
                        <span>Widths before</span>
                    </label>
                )}
                {root !== 0 && (
                    <button type="button" onClick={() => choose(0)}>
                        Whole program
                    </button>
                )}
            </div>
            <Legend model={model} />
            <div class="boxes-frame" style={{ minHeight: `${Math.min(470, levels * 22)}px` }}>
                <div
                    ref={area}
                    class="boxes"
                    role="tree"
                    tabIndex={0}
                    aria-label="Calling contexts; arrow keys move, Enter goes in, Escape goes back"
                    aria-activedescendant={`box-${active}`}
                    style={{ height: `${levels * 22}px` }}
                    onKeyDown={onKeyDown}
                    onClick={(event) => {
                        const node = nodeAt(event);
                        if (node !== null) choose(node);
                    }}
                    onPointerMove={(event) => {
                        const node = nodeAt(event);
                        setPointed(
                            node === null ? null : { node, x: event.clientX, y: event.clientY },
                        );
                    }}
                    onPointerLeave={() => setPointed(null)}
                >
                    {above.map((node, level) => box(node, level, 0, 1, true))}
                    {boxes.map((b) => box(b.data, above.length + b.depth, b.x0, b.x1, false))}
                </div>
            </div>
            {pointed && (
                <Tip x={pointed.x} y={pointed.y}>
                    <strong>{name(pointed.node)}</strong>
                    <span>
                        {weightText(weight, s.weight[pointed.node]!)} (
                        {format.percent(s.weight[pointed.node]! / (s.weight[0]! || 1))})
                    </span>
                    <span>
                        {format.plural(s.count[pointed.node]!, "object")},{" "}
                        {format.bytes(s.bytes[pointed.node]!)}
                        {model.data.now.TotalAccessCount && `, ${heat(pointed.node)}`}
                    </span>
                    {s.before && (
                        <span>
                            before: {weightText(weight, s.before[pointed.node]!)} (
                            {format.signedPercent(
                                sumsNow(pointed.node) / s.before[pointed.node]!,
                            )}
                            )
                        </span>
                    )}
                    <span>{format.plural(tree.contexts[pointed.node]!, "context")} below</span>
                </Tip>
            )}
        </section>
    );
}

/** A box of text beside the pointer. */
export function Tip(props: { x: number; y: number; children: preact.ComponentChildren }) {
    const right = props.x > window.innerWidth / 2;
    const low = props.y > window.innerHeight - 160;
    return (
        <div
            class="tip"
            aria-hidden="true"
            style={{
                left: right ? "auto" : `${props.x + 14}px`,
                right: right ? `${window.innerWidth - props.x + 14}px` : "auto",
                top: low ? "auto" : `${props.y + 14}px`,
                bottom: low ? `${window.innerHeight - props.y + 14}px` : "auto",
            }}
        >
            {props.children}
        </div>
    );
}
