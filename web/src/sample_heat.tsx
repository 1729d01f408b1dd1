// Colours of a sample profile: how hot the hottest line of a function is to a compiler, or how
// much a share changed.
import type { SampleSide } from "./data";
import { changeClass, ChangeLegend } from "./heat";
import type { SampleModel } from "./sample_model";
import { MOVED_OF_ALL } from "./sample_model";

const HALF_PPM = 500_000;

/** Samples of the coldest line among those with half of all samples. */
function halfCount(side: SampleSide): number {
    return side.cutoffs.find(([ppm]) => ppm >= HALF_PPM)?.[1] ?? Infinity;
}

export function lineClass(model: SampleModel, count: number): string {
    const { now } = model.data;
    if (!count) return "heat-none";
    if (count >= Math.max(halfCount(now), now.hot_count)) return "heat-6";
    if (count >= now.hot_count) return "heat-4";
    return count > now.cold_count ? "heat-2" : "heat-0";
}

export function nodeChangeClass(model: SampleModel, node: number): string {
    const now = model.weight[node]! / model.whole;
    const before = model.weightBefore![node]! / model.wholeBefore;
    return Math.abs(now - before) < MOVED_OF_ALL ? "change-2" : changeClass(before, now);
}

export function SampleLegend({ model }: { model: SampleModel }) {
    if (model.isDiff) return <ChangeLegend what="share of all samples" />;
    const unit = model.data.info.probes ? "probe" : "line";
    const steps: [name: string, text: string][] = [
        ["heat-0", "cold"],
        ["heat-2", "warm"],
        ["heat-4", "hot"],
        ["heat-6", "among those with half of all samples"],
        ["heat-none", `no ${unit} of its own`],
    ];
    return (
        <p class="legend quiet">
            <span>hottest {unit}:</span>
            {steps.map(([name, text]) => (
                <span key={name} class="step">
                    <span class={`swatch ${name}`} /> {text}
                </span>
            ))}
            {model.data.info.inlinees > 0 && <em class="step">inlined</em>}
        </p>
    );
}
