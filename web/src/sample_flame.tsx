// Functions, the contexts they call and the code inlined into them as a flame graph: a box is as
// wide as the samples in and below it.
import { useState } from "preact/hooks";
import { Breadcrumb, FlameControls } from "./flame_controls";
import * as format from "./format";
import { Icicle } from "./icicle";
import { lineClass, nodeChangeClass, SampleLegend } from "./sample_heat";
import type { SampleModel } from "./sample_model";

interface Props {
    model: SampleModel;
    matched: Float64Array | null;
    root: number; // the box that fills the width
    onZoom: (node: number) => void;
}

export function SampleFlame({ model, matched, root, onZoom }: Props) {
    const [before, setBefore] = useState(false);
    const weight = before && model.weightBefore ? model.weightBefore : model.weight;
    const name = (node: number) => (node ? model.name(node) : "whole program");

    const kind = (node: number) => {
        if (!model.tree.parent[node] || node === 0) return "";
        const how = model.isContext(node) ? "called from" : "inlined into";
        return `${how} ${model.calledFrom(node, format.shorten)}`;
    };
    return (
        <section class="card flame" aria-labelledby="flame-title">
            <FlameControls
                title={model.data.info.contexts ? "Calling contexts" : "Inlined code"}
                before={model.isDiff ? before : null}
                onBefore={setBefore}
            />
            <SampleLegend model={model} />
            <Breadcrumb tree={model.tree} root={root} name={name} onChoose={onZoom} />
            <Icicle
                tree={model.tree}
                weight={weight}
                root={root}
                label={
                    "Functions, contexts and inlined code; " +
                    "arrow keys move, Enter goes in, Escape goes back"
                }
                name={name}
                weightText={(node) => format.plural(weight[node]!, "sample")}
                colour={(node) =>
                    (model.isDiff
                        ? nodeChangeClass(model, node)
                        : lineClass(model, model.hottest[node]!)) +
                    (node && !model.isContext(node) ? " inlined" : "")
                }
                matched={matched}
                onChoose={onZoom}
                tip={(node) => (
                    <>
                        {node > 0 && kind(node) && <span>{kind(node)}</span>}
                        {model.weightBefore && (
                            <span>
                                before: {format.plural(model.weightBefore[node]!, "sample")} (
                                {format.percent(
                                    model.weightBefore[node]! / model.weightBefore[0]!,
                                )}
                                )
                            </span>
                        )}
                        {node > 0 && !model.isDiff && (
                            <span>
                                {format.percent(model.data.nodes.own[node]! / model.whole)} in its
                                own {model.data.info.probes ? "probes" : "lines"}
                            </span>
                        )}
                    </>
                )}
            />
        </section>
    );
}
