// Colours with a meaning: how often a byte is accessed, and how much something changed.
import { scaleThreshold } from "d3-scale";
import type { Column } from "./data";

const steps = [0.03, 0.1, 0.3, 1, 3, 10];
const densityStep = scaleThreshold<number, string>()
  .domain(steps)
  .range(["heat-0", "heat-1", "heat-2", "heat-3", "heat-4", "heat-5", "heat-6"]);

export function densityClass(density: number, known: Column | undefined): string {
  return known && !Number.isNaN(density) ? densityStep(density) : "heat-none";
}

const changeStep = scaleThreshold<number, string>()
  .domain([0.5, 0.9, 1.1, 2])
  .range(["change-0", "change-1", "change-2", "change-3", "change-4"]);

export function changeClass(before: number, now: number): string {
  if (!before && now) return "change-new";
  return before ? changeStep(now / before) : "change-2";
}

export function Legend({ isDiff, known }: { isDiff: boolean; known: boolean }) {
  if (isDiff)
    return (
      <p class="legend quiet">
        <span>change:</span>
        <span class="swatch change-0" /> half or less
        <span class="swatch change-1" /> less
        <span class="swatch change-2" /> alike
        <span class="swatch change-3" /> more
        <span class="swatch change-4" /> double or more
        <span class="swatch change-new" /> new
      </p>
    );
  if (!known) return <p class="legend quiet">no access counts in this profile</p>;
  return (
    <p class="legend quiet">
      <span>accesses per byte: cold</span>
      {densityStep.range().map((c, i) => (
        <span
          key={c}
          class={`swatch ${c}`}
          title={i === 0 ? `below ${steps[0]}` : `${steps[i - 1]} or more`}
        />
      ))}
      <span>hot</span>
    </p>
  );
}
