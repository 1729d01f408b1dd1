// The figures to know before anything else.
import type { HeapData, Totals } from "./data";
import * as format from "./format";
import type { HeapModel } from "./heap_model";

interface Tile {
  key: string;
  label: string;
  value: string;
  detail: string;
  exact: number; // as in the JSON of `pgokit show`
}

function ratio(part: number | undefined, whole: number | undefined): number {
  return part !== undefined && whole ? part / whole : NaN;
}

function tiles(data: HeapData): Tile[] {
  const t = data.totals;
  const bytes = t.TotalSize ?? 0;
  const count = t.AllocCount ?? 0;
  const list: Tile[] = [
    {
      key: "TotalSize",
      label: "Allocated",
      value: format.bytes(bytes),
      detail: count ? `${format.bytes(bytes / count)} per object` : "",
      exact: bytes,
    },
    {
      key: "AllocCount",
      label: "Objects",
      value: format.count(count),
      detail: `in ${format.plural(t.contexts, "context")}`,
      exact: count,
    },
  ];
  if (t.TotalAccessCount !== undefined)
    list.push({
      key: "TotalAccessCount",
      label: "Accesses",
      value: `${format.density(ratio(t.TotalAccessCount, bytes) || 0)} per byte`,
      detail: `${format.count(t.TotalAccessCount)} loads and stores`,
      exact: t.TotalAccessCount,
    });
  if (t.TotalLifetime !== undefined && count)
    list.push({
      key: "TotalLifetime",
      label: "Average life",
      value: format.ms(t.TotalLifetime / count),
      detail: "of an object",
      exact: t.TotalLifetime,
    });
  for (const label of data.labels)
    if (label.name && label.contexts)
      list.push({
        key: label.name,
        label: label.name[0]!.toUpperCase() + label.name.slice(1),
        value: format.percent(bytes ? label.bytes / bytes : 0),
        detail: `${format.bytes(label.bytes)} in ${format.plural(label.contexts, "context")}`,
        exact: label.bytes,
      });
  return list;
}

function change(data: HeapData, key: string): string {
  const before = data.totals_before?.[key as keyof Totals];
  const now = data.totals[key as keyof Totals];
  return before && now !== undefined ? format.signedPercent(now / before) : "";
}

/** One sentence on what a comparison shows. */
function compared(data: HeapData): string {
  const states = data.contexts.change!.map((c) => data.changes![c]!);
  const number = (state: string) => states.filter((s) => s === state).length;
  const before = data.totals_before?.TotalSize ?? 0;
  const now = data.totals.TotalSize ?? 0;
  const words = { new: "new", gone: "gone", grew: "grown", shrank: "shrunk", cooled: "cooler" };
  const parts = Object.entries(words)
    .filter(([state]) => number(state))
    .map(([state, word]) => `${format.count(number(state))} ${word}`);
  return (
    `${format.bytes(before)} before, ${format.bytes(now)} now (${format.signedPercent(now / before)}). ` +
    `Contexts: ${parts.length ? parts.join(", ") : "none changed by 10 % or more"}. ` +
    `Both profiles allocate ${format.percent(data.overlap ?? 0)} in the same places.`
  );
}

/** One sentence on what a profile shows. */
function summed(data: HeapData): string {
  const first = data.advice[0];
  const bytes = data.totals.TotalSize ?? 0;
  if (!first || !bytes) return "No rule of the report found anything to change.";
  return (
    `${format.bytes(first.bytes)} of the ${format.bytes(bytes)} allocated, ` +
    `${format.percent(first.bytes / bytes)}, ${first.says}.`
  );
}

export function Headline({ model }: { model: HeapModel }) {
  const { data } = model;
  return (
    <section aria-label="Headline figures">
      <p class="verdict" id="verdict">
        {model.isDiff ? compared(data) : summed(data)}
      </p>
      <dl class="tiles">
        {tiles(data).map((tile) => (
          <div key={tile.key} class="tile" data-figure={tile.key} data-exact={tile.exact}>
            <dt>{tile.label}</dt>
            <dd class="value">
              {tile.value}
              {model.isDiff && change(data, tile.key) && (
                <span class="delta">{change(data, tile.key)}</span>
              )}
            </dd>
            <dd class="quiet">{tile.detail}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
