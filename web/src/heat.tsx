// Colours with a meaning: how often a byte is accessed, and how much something changed.
import { scaleThreshold } from "d3-scale";
import * as format from "./format";
import type { HeapModel } from "./heap_model";

// Programs differ by orders of magnitude, so heat is told against the program's own average.
const steps = [0.1, 0.4, 0.8, 1.25, 2.5, 10];
const densityStep = scaleThreshold<number, string>()
    .domain(steps)
    .range(["heat-0", "heat-1", "heat-2", "heat-3", "heat-4", "heat-5", "heat-6"]);

export function densityClass(model: HeapModel, density: number): string {
    const relative = density / model.averageDensity;
    return Number.isNaN(relative) ? "heat-none" : densityStep(relative);
}

const changeStep = scaleThreshold<number, string>()
    .domain([0.5, 0.9, 1.1, 2])
    .range(["change-0", "change-1", "change-2", "change-3", "change-4"]);

export function changeClass(before: number, now: number): string {
    if (!before && now) return "change-new";
    return before ? changeStep(now / before) : "change-2";
}

export function ChangeLegend({ what }: { what: string }) {
    const steps: [name: string, text: string][] = [
        ["change-0", "half or less"],
        ["change-1", "less"],
        ["change-2", "alike"],
        ["change-3", "more"],
        ["change-4", "double or more"],
        ["change-new", "new"],
    ];
    return (
        <p class="legend quiet">
            <span>{what}:</span>
            {steps.map(([name, text]) => (
                <span key={name} class="step">
                    <span class={`swatch ${name}`} /> {text}
                </span>
            ))}
        </p>
    );
}

export function Legend({ model }: { model: HeapModel }) {
    if (model.isDiff) return <ChangeLegend what="change" />;
    if (Number.isNaN(model.averageDensity))
        return (
            <p class="legend quiet">
                {model.data.some_accesses
                    ? "no heat: accesses are those of library functions alone"
                    : "no access counts in this profile"}
            </p>
        );
    return (
        <p class="legend quiet">
            <span>accesses per byte: cold</span>
            {densityStep.range().map((c, i) => (
                <span
                    key={c}
                    class={`swatch ${c}`}
                    title={i === 0 ? `below ${steps[0]} times` : `${steps[i - 1]} times or more`}
                />
            ))}
            <span>hot, against the average of {format.density(model.averageDensity)}</span>
        </p>
    );
}
