// The lines of a function with their samples, calls and types, the text of the source beside them,
// and the functions inlined there.
import { useState } from "preact/hooks";
import * as format from "./format";
import type { Place, SampleModel } from "./sample_model";
import { mergePlaces } from "./sample_model";
import { Shares } from "./shares";

type Item = { place: Place } | { inlinee: number } | { text: number };

const AROUND = 2; // lines of source shown next to one with samples

/** Places, inlined functions and lines of source between them in one order. */
function items(model: SampleModel, func: number, places: Place[], inlinees: number[]): Item[] {
    const { line } = model.data.nodes;
    const list: [line: number, item: Item][] = [
        ...places.map((place): [number, Item] => [place.line, { place }]),
        ...inlinees.map((inlinee): [number, Item] => [model.signed(line[inlinee]!), { inlinee }]),
    ];
    const counted = new Set(list.map(([at]) => at));
    const between = new Set<number>();
    if (model.start(func))
        for (const at of counted)
            for (let near = at - AROUND; near <= at + AROUND; near++)
                if (!counted.has(near) && model.sourceText(func, near) !== undefined)
                    between.add(near);
    for (const at of between) list.push([at, { text: at }]);
    return list.sort((a, b) => a[0] - b[0]).map(([, item]) => item);
}

export function Inside(props: { model: SampleModel; node: number; most: number }) {
    const { model, node, most } = props;
    const func = model.data.nodes.func[node]!;
    return (
        <List
            model={model}
            func={func}
            items={items(model, func, mergePlaces(model, [node]), model.inlinees(node))}
            most={most}
            left={model.data.nodes.left_out[node]!}
        />
    );
}

/** The same lines of several copies of a function together, without what is inlined there. */
export function MergedLines({ model, nodes }: { model: SampleModel; nodes: number[] }) {
    if (!nodes.length) return null;
    const func = model.data.nodes.func[nodes[0]!]!;
    const places = mergePlaces(model, nodes);
    const most = places.reduce((max, p) => Math.max(max, p.samples ?? 0), 0);
    const left = nodes.reduce((sum, n) => sum + model.data.nodes.left_out[n]!, 0);
    return (
        <List
            model={model}
            func={func}
            items={items(model, func, places, [])}
            most={most}
            left={left}
        />
    );
}

function List(props: {
    model: SampleModel;
    func: number;
    items: Item[];
    most: number;
    left: number;
}) {
    const { model, func, most, left } = props;
    return (
        <ol class="inside">
            {props.items.map((item, i) => {
                if ("place" in item)
                    return (
                        <PlaceItem
                            key={i}
                            model={model}
                            func={func}
                            place={item.place}
                            most={most}
                        />
                    );
                if ("inlinee" in item)
                    return <Inlinee key={i} model={model} node={item.inlinee} most={most} />;
                return (
                    <li key={i} class="source-line">
                        <span class="where">{model.lineText(func, item.text)}</span>
                        <code>{model.sourceText(func, item.text)}</code>
                    </li>
                );
            })}
            {left > 0 && (
                <li class="quiet">
                    {format.plural(left, "count")} below {model.data.rest.least_count} left out
                </li>
            )}
        </ol>
    );
}

function PlaceItem(props: { model: SampleModel; func: number; place: Place; most: number }) {
    const { model, func, place, most } = props;
    const samples = place.samples ?? 0;
    const text = model.sourceText(func, place.line);
    return (
        <li>
            <div class="at">
                <span class="where">{model.lineText(func, place.line)}</span>
                <span class="meter" aria-hidden="true">
                    <span style={{ width: `${most ? (100 * samples) / most : 0}%` }} />
                </span>
                <span class="many">
                    {place.samples === null ? "" : format.count(samples)}
                </span>
                {text !== undefined && <code>{text}</code>}
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

/** Unfolded, but for code without samples. */
function Inlinee({ model, node, most }: { model: SampleModel; node: number; most: number }) {
    const samples = model.inside[node]!;
    const { func: funcOf, line } = model.data.nodes;
    const caller = funcOf[model.tree.parent[node]!]!;
    const [open, setOpen] = useState(samples > 0);
    return (
        <li class="inlinee">
            <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
                <summary>
                    <span class="where">{model.lineText(caller, model.signed(line[node]!))}</span>
                    <span class="function" title={model.name(node)}>
                        {format.fit(model.name(node), 40)}
                    </span>
                    <span class="many">{format.count(samples)}</span>
                </summary>
                {open && <Inside model={model} node={node} most={most} />}
            </details>
        </li>
    );
}
