// Everything about one function or context of a sample profile: its callers, and its lines with
// calls, types and what is inlined there.
import { useState } from "preact/hooks";
import * as format from "./format";
import type { Place, SampleModel } from "./sample_model";
import { placeText } from "./sample_model";
import { Shares } from "./shares";
import { SidePanel } from "./side_panel";

interface Props {
    model: SampleModel;
    row: number;
    onClose: () => void;
}

export function FunctionPanel({ model, row, onClose }: Props) {
    const node = model.nodeOf[row]!;
    const { data } = model;
    const name = model.name(node);
    const linkage = model.linkage(data.nodes.func[node]!);
    const tags = model.attributes(node);
    const change = model.isDiff ? model.change(row) : "same";
    if (change !== "same") tags.push(change);
    return (
        <SidePanel title={format.brief(name)} about={row} onClose={onClose}>
            {(linkage || name !== format.brief(name)) && (
                <details class="full-name">
                    <summary>Full name</summary>
                    <p>{name}</p>
                    {linkage && <code>{linkage}</code>}
                </details>
            )}
            <p class="quiet">
                {tags.map((tag) => (
                    <span key={tag} class={`tag tag-${tag.replaceAll(" ", "-")}`}>
                        {tag}
                    </span>
                ))}
            </p>
            <p class="amount">
                {format.plural(model.samples[row]!, "sample")}{" "}
                <span class="quiet">
                    {format.percent(model.share(row))} of all;{" "}
                    {format.count(data.nodes.head[node]!)} at its head
                </span>
            </p>
            {model.isDiff && (
                <p>
                    Before: {format.plural(model.samplesBefore![row]!, "sample")},{" "}
                    {format.percent(model.shareBefore(row))} of all (
                    {format.points(model.share(row) - model.shareBefore(row))} since).
                </p>
            )}
            <Callers model={model} node={node} />
            <h3>{data.info.probes ? "Probes" : "Lines"} and inlined code</h3>
            <p class="quiet">
                {data.info.probes
                    ? "Probes by their ids, with their samples; "
                    : "Lines from the function's first line on, discriminators behind a dot, " +
                      "with their samples; "}
                of what is inlined, the total.
            </p>
            {change === "gone" ? (
                <p>Only the older profile has this function.</p>
            ) : (
                <Inside model={model} node={node} most={model.hottestInside[node]!} />
            )}
        </SidePanel>
    );
}

function Callers({ model, node }: { model: SampleModel; node: number }) {
    const way = [node, ...model.callers(node)].filter((n) => model.tree.parent[n]! > 0);
    if (!way.length) return null;
    return (
        <>
            <h3>Called from</h3>
            <ol class="callers">
                {way.map((n) => (
                    <li key={n}>{model.calledFrom(n, (name) => name)}</li>
                ))}
            </ol>
        </>
    );
}

type Item = { place: Place } | { inlinee: number };

/** Places and inlined functions in one order. */
function items(model: SampleModel, node: number): Item[] {
    const { line, discriminator } = model.data.nodes;
    const list: [line: number, discriminator: number, item: Item][] = [
        ...model
            .places(node)
            .map((place): (typeof list)[number] => [
                place.line,
                place.discriminator,
                { place },
            ]),
        ...model
            .inlinees(node)
            .map((inlinee): (typeof list)[number] => [
                line[inlinee]!,
                discriminator[inlinee]!,
                { inlinee },
            ]),
    ];
    return list.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , item]) => item);
}

function Inside({ model, node, most }: { model: SampleModel; node: number; most: number }) {
    const left = model.data.nodes.left_out[node]!;
    return (
        <ol class="inside">
            {items(model, node).map((item, i) =>
                "place" in item ? (
                    <PlaceItem key={i} model={model} place={item.place} most={most} />
                ) : (
                    <Inlinee key={i} model={model} node={item.inlinee} most={most} />
                ),
            )}
            {left > 0 && (
                <li class="quiet">
                    {format.plural(left, "count")} below {model.data.rest.least_count} left out
                </li>
            )}
        </ol>
    );
}

function PlaceItem({ model, place, most }: { model: SampleModel; place: Place; most: number }) {
    const samples = place.samples ?? 0;
    return (
        <li>
            <div class="at">
                <span class="where">{placeText(place.line, place.discriminator)}</span>
                <span class="meter" aria-hidden="true">
                    <span style={{ width: `${most ? (100 * samples) / most : 0}%` }} />
                </span>
                <span class="many">
                    {place.samples === null ? "" : format.count(samples)}
                </span>
            </div>
            <Shares
                what="calls"
                list={place.calls.map((c) => ({ name: model.funcName(c.func), count: c.count }))}
            />
            {place.types.length > 0 && <p class="quiet">objects by type</p>}
            <Shares
                what="types"
                list={place.types.map((c) => ({ name: model.typeName(c.func), count: c.count }))}
            />
        </li>
    );
}

const OPEN_SHARE = 0.05; // of the panel's function, from which inlined code is shown at once

function Inlinee({ model, node, most }: { model: SampleModel; node: number; most: number }) {
    const { total, line, discriminator } = model.data.nodes;
    const row = model.rowAbove(node);
    const whole = row === undefined ? 0 : total[model.nodeOf[row]!]!;
    const [open, setOpen] = useState(total[node]! >= OPEN_SHARE * whole);
    return (
        <li class="inlinee">
            <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
                <summary>
                    <span class="where">{placeText(line[node]!, discriminator[node]!)}</span>
                    <span class="function" title={model.name(node)}>
                        {format.fit(model.name(node), 40)}
                    </span>
                    <span class="many">{format.count(total[node]!)}</span>
                </summary>
                {open && <Inside model={model} node={node} most={most} />}
            </details>
        </li>
    );
}
