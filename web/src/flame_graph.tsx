// Calling contexts as a flame graph that hangs from the entry of the program, or, bottom-up, from
// the functions that allocate. The width of a box is what is allocated in and below it, or how much
// of that was alive at the peak or at the end; its colour is how often a byte of that is accessed.
// By type, the types of objects are the first row.
import { useMemo, useState } from "preact/hooks";
import { Breadcrumb, FlameControls } from "./flame_controls";
import type { HeapData } from "./data";
import * as format from "./format";
import type { CallTree, HeapModel, Weight } from "./heap_model";
import { sums } from "./heap_model";
import { changeClass, densityClass, Legend } from "./heat";
import { Icicle } from "./icicle";

interface Props {
    model: HeapModel;
    tree: CallTree;
    root: number; // the box that fills the width
    onZoom: (node: number) => void;
    weight: Weight; // width of a box
    onWeight: (weight: Weight) => void;
    programOnly: boolean;
    onProgramOnly: (programOnly: boolean) => void;
    bottomUp: boolean;
    onBottomUp: (bottomUp: boolean) => void;
    byType: boolean;
    onByType: (byType: boolean) => void;
    matches: Uint8Array | null;
}

const weightNames: Record<Weight, string> = {
    bytes: "Bytes",
    count: "Objects",
    accesses: "Accesses",
    lifetime: "Bytes × lifetime",
    peak: "At the peak",
    exit: "Left at exit",
    range: "In the range",
};

export function weightName(model: HeapModel, weight: Weight): string {
    return weight === "exit" ? exitName(model.data) : weightNames[weight];
}

/** What was alive at the end, which is no leak where the process ran on. */
export function exitName(data: HeapData): string {
    return data.last_moment === "at exit" ? weightNames.exit : "Last known";
}

export function weightText(weight: Weight, v: number): string {
    if (weight === "lifetime") return `${format.bytes(v)}·s`;
    if (weight === "count") return format.plural(v, "object");
    return weight === "accesses" ? format.plural(v, "access", "accesses") : format.bytes(v);
}

interface Sums {
    weight: Float64Array;
    now: Float64Array; // as weight, unless that is what was before
    bytes: Float64Array;
    count: Float64Array;
    accesses: Float64Array;
    before: Float64Array | null;
}

export function FlameGraph(props: Props) {
    const { model, tree, weight, programOnly, bottomUp, byType, matches } = props;
    const [before, setBefore] = useState(false);

    const s = useMemo<Sums>(() => {
        const now = sums(tree, model.weights(weight));
        const then = model.isDiff ? sums(tree, model.weights(weight, true)) : null;
        return {
            weight: before && then ? then : now,
            now,
            bytes: sums(tree, model.bytes),
            count: sums(tree, model.count),
            accesses: sums(tree, model.accesses),
            before: then,
        };
    }, [tree, model, weight, before]);
    const matched = useMemo(
        () => (matches ? sums(tree, Float64Array.from(matches)) : null),
        [tree, matches],
    );

    const heat = (node: number) =>
        `${format.density(s.accesses[node]! / (s.bytes[node]! || 1))} accesses per byte`;
    const name = (node: number) => model.boxName(tree, node);
    const colour = (node: number) => {
        if (s.before) return changeClass(s.before[node]!, s.now[node]!);
        return densityClass(model, s.accesses[node]! / s.bytes[node]!);
    };

    return (
        <section class="card flame" aria-labelledby="flame-title">
            <FlameControls
                title="Where memory comes from"
                before={model.isDiff ? before : null}
                onBefore={setBefore}
            >
                <fieldset class="choice">
                    <legend class="hidden">Width of a box</legend>
                    {model.knownWeights().map((w) => (
                        <label key={w}>
                            <input
                                type="radio"
                                name="weight"
                                value={w}
                                checked={w === weight}
                                onChange={() => props.onWeight(w)}
                            />
                            <span>{weightName(model, w)}</span>
                        </label>
                    ))}
                </fieldset>
                <label class="check">
                    <input
                        type="checkbox"
                        checked={programOnly}
                        onChange={() => props.onProgramOnly(!programOnly)}
                    />
                    <span>Program only</span>
                </label>
                <label class="check" title="Those that allocate first, their callers below them">
                    <input
                        type="checkbox"
                        name="bottom-up"
                        checked={bottomUp}
                        onChange={() => props.onBottomUp(!bottomUp)}
                    />
                    <span>Bottom-up</span>
                </label>
                {model.data.types && (
                    <label class="check">
                        <input
                            type="checkbox"
                            name="by-type"
                            checked={byType}
                            onChange={() => props.onByType(!byType)}
                        />
                        <span>By type</span>
                    </label>
                )}
            </FlameControls>
            <Legend model={model} />
            <Breadcrumb tree={tree} root={props.root} name={name} onChoose={props.onZoom} />
            <Icicle
                tree={tree}
                weight={s.weight}
                root={props.root}
                label="Calling contexts; arrow keys move, Enter goes in, Escape goes back"
                name={name}
                weightText={(node) => weightText(weight, s.weight[node]!)}
                colour={colour}
                matched={matched}
                onChoose={props.onZoom}
                tip={(node) => (
                    <>
                        <span>
                            {format.plural(s.count[node]!, "object")},{" "}
                            {format.bytes(s.bytes[node]!)}
                            {model.knowsAccesses && `, ${heat(node)}`}
                        </span>
                        {s.before && (
                            <span>
                                before: {weightText(weight, s.before[node]!)} (
                                {format.signedPercent(s.now[node]! / s.before[node]!)})
                            </span>
                        )}
                        <span>{format.plural(tree.contexts[node]!, "context")} below</span>
                    </>
                )}
            />
        </section>
    );
}
