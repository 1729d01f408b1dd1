// A flame graph that hangs from its root: a box per node of a tree, as wide as its weight. Keys
// walk it as any tree; a click or Enter goes in.
import { hierarchy, partition } from "d3-hierarchy";
import type { HierarchyRectangularNode } from "d3-hierarchy";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as format from "./format";
import { Tip } from "./tip";
import type { Tree } from "./tree";
import { ancestors, children } from "./tree";
import { useWidth } from "./use_width";

interface Props {
    tree: Tree;
    weight: Float64Array; // of a node with all below it
    root: number; // what fills the width
    label: string;
    name: (node: number) => string;
    weightText: (node: number) => string;
    colour: (node: number) => string; // a class
    matched: Float64Array | null; // 0: the search does not have it
    tip: (node: number) => preact.ComponentChildren;
    onChoose: (node: number) => void;
}

const NARROWEST = 0.0012; // share of the width below which a box is not drawn
const OTHERS = 0.004; // share from which those not drawn are drawn as one
const ROW = 22; // pixels
const TALLEST = 22 * ROW; // before the frame scrolls
const THIN = 3; // pixels; a box with less has no gap at its end
const TRUNK = 6; // single boxes in sight above the first that branches
type Box = HierarchyRectangularNode<number>;

/** What stands beside the boxes below one for all that are too narrow. */
interface Others {
    count: number;
    level: number;
    x0: number;
    x1: number;
}

/** Boxes at and below `root` that are wide enough to see, heaviest first. */
function layOut(tree: Tree, weight: Float64Array, root: number): [Box[], Others[]] {
    const least = weight[root]! * NARROWEST;
    const visible = (node: number): number[] =>
        children(tree, node)
            .filter((c) => weight[c]! > 0 && weight[c]! >= least)
            .sort((a, b) => weight[b]! - weight[a]! || a - b);
    const valued = hierarchy(root, visible).each((node) => {
        (node as { value?: number }).value = weight[node.data]!;
    });
    const boxes = partition<number>()(valued).descendants();
    return [boxes, boxes.flatMap((b) => othersBelow(tree, weight, b))];
}

function othersBelow(tree: Tree, weight: Float64Array, box: Box): Others[] {
    const all = children(tree, box.data);
    const shown = box.children ?? [];
    let hidden = 0;
    for (const c of all) hidden += weight[c]!;
    for (const b of shown) hidden -= weight[b.data]!;
    const width = (hidden / weight[box.data]!) * (box.x1 - box.x0);
    if (!(width >= OTHERS)) return [];
    const x0 = shown.at(-1)?.x1 ?? box.x0;
    return [
        {
            count: all.length - shown.length,
            level: box.depth + 1,
            x0,
            x1: Math.min(box.x1, x0 + width),
        },
    ];
}

export function Icicle(props: Props) {
    const { tree, weight, root, name, matched } = props;
    const [active, setActive] = useState(root);
    const [pointed, setPointed] = useState<{ node: number; x: number; y: number } | null>(null);
    const frame = useRef<HTMLDivElement>(null);
    const area = useRef<HTMLDivElement>(null);
    const width = useWidth(area, 900);
    const [boxes, others] = useMemo(() => layOut(tree, weight, root), [tree, weight, root]);
    const above = useMemo(() => ancestors(tree, root), [tree, root]);
    const deepest = Math.max(...boxes.map((b) => b.depth), ...others.map((o) => o.level));
    const levels = deepest + above.length + 1;
    // A long way of single boxes says little: what branches off it is to be seen first.
    const trunk = boxes.findIndex((b) => b.children?.length !== 1);
    useEffect(() => {
        setActive(root);
        setPointed(null);
        frame.current?.scrollTo({ top: Math.max(0, above.length + trunk - TRUNK) * ROW });
    }, [tree, root, above, trunk]);

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
        if (event.key === "Enter" || event.key === " ") props.onChoose(active);
        else if (event.key === "Escape" && root) props.onChoose(0);
        else if (event.key in go) {
            const next = go[event.key];
            if (next !== undefined && above.includes(next)) props.onChoose(next);
            else if (next !== undefined) setActive(next);
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
    const thin = (x0: number, x1: number) => ((x1 - x0) * width < THIN ? " thin" : "");
    const share = (node: number) => format.percent(weight[node]! / (weight[0]! || 1));
    const box = (node: number, level: number, x0: number, x1: number, faded: boolean) => (
        <div
            key={node}
            id={`box-${node}`}
            data-node={node}
            role="treeitem"
            aria-level={level + 1}
            aria-label={`${name(node)}, ${props.weightText(node)}, ${share(node)}`}
            aria-selected={node === active}
            class={
                `box ${props.colour(node)}` +
                thin(x0, x1) +
                (faded ? " faded" : "") +
                (node === active ? " active" : "") +
                (matched && !matched[node] ? " unmatched" : "")
            }
            style={{
                left: `${100 * x0}%`,
                width: `${100 * (x1 - x0)}%`,
                top: `${level * ROW}px`,
            }}
        >
            {(x1 - x0) * width > 18 && format.fit(name(node), ((x1 - x0) * width - 12) / 6.4)}
        </div>
    );
    const othersBox = ({ count, level, x0, x1 }: Others, i: number) => {
        const text = format.plural(count, "smaller box", "smaller boxes");
        return (
            <div
                key={`others-${i}`}
                class={`box others${thin(x0, x1)}`}
                title={text}
                aria-hidden="true"
                style={{
                    left: `${100 * x0}%`,
                    width: `${100 * (x1 - x0)}%`,
                    top: `${(above.length + level) * ROW}px`,
                }}
            >
                {(x1 - x0) * width > 6.4 * text.length + 12 && text}
            </div>
        );
    };
    return (
        <>
            <div
                ref={frame}
                class="boxes-frame"
                style={{ minHeight: `${Math.min(TALLEST, levels * ROW)}px` }}
            >
                <div
                    ref={area}
                    class="boxes"
                    role="tree"
                    tabIndex={0}
                    aria-label={props.label}
                    aria-activedescendant={`box-${active}`}
                    style={{ height: `${levels * ROW}px` }}
                    onKeyDown={onKeyDown}
                    onClick={(event) => {
                        const node = nodeAt(event);
                        setPointed(null);
                        if (node !== null) props.onChoose(node);
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
                    {others.map(othersBox)}
                </div>
            </div>
            {pointed && (
                <Tip x={pointed.x} y={pointed.y}>
                    <strong>{name(pointed.node)}</strong>
                    <span>
                        {props.weightText(pointed.node)} ({share(pointed.node)})
                    </span>
                    {props.tip(pointed.node)}
                </Tip>
            )}
        </>
    );
}
