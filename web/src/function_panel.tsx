// Everything about one function of a sample profile, or one of its contexts: callers and callees,
// and its lines with calls, types and what is inlined there.
import { useMemo } from "preact/hooks";
import * as format from "./format";
import type { Neighbour } from "./neighbours";
import { NeighbourList } from "./neighbours";
import type { FunctionFigures } from "./sample_calls";
import { figuresOf } from "./sample_calls";
import { Inside, MergedLines } from "./sample_lines";
import type { SampleModel } from "./sample_model";
import type { SampleView } from "./sample_view";
import { SidePanel } from "./side_panel";

interface Props {
    view: SampleView;
    func: number;
    row: number | null; // null: it has several contexts, or is inlined everywhere
}

export function FunctionPanel({ view, func, row }: Props) {
    const { model } = view;
    const name = model.funcName(func);
    const linkage = model.linkage(func);
    const figures = useMemo(() => figuresOf(model, func), [model, func]);
    const place = model.place(func);
    return (
        <SidePanel title={format.brief(name)} about={`${func} ${row}`} onClose={view.close}>
            {(linkage || name !== format.brief(name)) && (
                <details class="full-name">
                    <summary>Full name</summary>
                    <p>{name}</p>
                    {linkage && <code>{linkage}</code>}
                </details>
            )}
            {place && <p class="quiet where-from">{place}</p>}
            {row !== null ? <RowFigures model={model} row={row} /> : null}
            <Figures model={model} figures={figures} />
            {row === null && <Rows view={view} func={func} />}
            {row !== null && <Path model={model} node={model.nodeOf[row]!} />}
            <Around view={view} id="callers" title="Callers" figures={figures} />
            <Around view={view} id="callees" title="Callees" figures={figures} />
            <Lines model={model} row={row} figures={figures} />
        </SidePanel>
    );
}

function RowFigures({ model, row }: { model: SampleModel; row: number }) {
    const node = model.nodeOf[row]!;
    const tags = model.attributes(node);
    const change = model.isDiff ? model.change(row) : "same";
    if (change !== "same") tags.push(change);
    return (
        <>
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
                    {format.count(model.data.nodes.head[node]!)} at its head
                </span>
            </p>
            {model.isDiff && (
                <p>
                    Before: {format.plural(model.samplesBefore![row]!, "sample")},{" "}
                    {format.percent(model.shareBefore(row))} of all (
                    {format.points(model.share(row) - model.shareBefore(row))} since).
                </p>
            )}
        </>
    );
}

/** Of the function with all its copies. */
function Figures({ model, figures }: { model: SampleModel; figures: FunctionFigures }) {
    const rows: [id: string, name: string, samples: number][] = [
        ["self", "Self", figures.self],
        ["total", "Total", figures.total],
    ];
    const copies = figures.nodes.length;
    return (
        <table class="spread">
            <thead>
                <tr>
                    <th scope="col">{format.plural(copies, "copy", "copies")}</th>
                    <th scope="col">samples</th>
                    <th scope="col">of all</th>
                </tr>
            </thead>
            <tbody>
                {rows.map(([id, name, samples]) => (
                    <tr key={id}>
                        <th scope="row">{name}</th>
                        <td id={id} data-exact={samples}>
                            {format.count(samples)}
                        </td>
                        <td>{format.percent(samples / model.whole)}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

/** The contexts of a function that has several. */
function Rows({ view, func }: { view: SampleView; func: number }) {
    const { model } = view;
    const rows = model.rowsOf(func).sort((a, b) => model.samples[b]! - model.samples[a]!);
    if (!rows.length)
        return <p>It has no profile of its own: it is inlined wherever it was sampled.</p>;
    const list = rows.map((row): Neighbour => ({
        key: row,
        name: model.calledFrom(model.nodeOf[row]!, format.shorten) || "(outermost)",
        share: model.share(row),
        exact: model.samples[row]!,
        text: format.count(model.samples[row]!),
        open: () => view.openRow(row),
    }));
    return (
        <>
            <h3>Contexts</h3>
            <NeighbourList id="of-function" list={list} />
        </>
    );
}

function Path({ model, node }: { model: SampleModel; node: number }) {
    const path = [node, ...model.callers(node)].filter((n) => model.tree.parent[n]! > 0);
    if (!path.length) return null;
    return (
        <>
            <h3>Called from</h3>
            <ol class="callers">
                {path.map((n) => (
                    <li key={n}>{model.calledFrom(n, (name) => name)}</li>
                ))}
            </ol>
        </>
    );
}

function Around(props: {
    view: SampleView;
    id: "callers" | "callees";
    title: string;
    figures: FunctionFigures;
}) {
    const { view, id, title, figures } = props;
    const of = figures[id];
    const list = (sums: Map<number, number>, whole: number, noun: string): Neighbour[] =>
        [...sums]
            .filter(([, sum]) => sum > 0)
            .sort((a, b) => b[1] - a[1] || a[0] - b[0])
            .map(([func, sum]) => ({
                key: func,
                name: view.model.funcName(func),
                share: sum / (whole || 1),
                exact: sum,
                text: format.plural(sum, noun),
                open: () => view.openFunc(func),
            }));
    const copies = list(of.copies, figures.total, "sample");
    const calls = list(of.calls, [...of.calls.values()].reduce((a, b) => a + b, 0), "call");
    const where = id === "callers" ? "In them, by samples" : "In it, by samples";
    return (
        <>
            <h3>{title}</h3>
            {!copies.length && !calls.length && <p class="quiet">None was sampled.</p>}
            {copies.length > 0 && (
                <p class="quiet">{where}: inlined, or called in a context; of its total.</p>
            )}
            {copies.length > 0 && <NeighbourList id={id} list={copies} />}
            {calls.length > 0 && <p class="quiet">By calls that were sampled.</p>}
            {calls.length > 0 && <NeighbourList id={`${id}-calls`} list={calls} />}
        </>
    );
}

function Lines(props: { model: SampleModel; row: number | null; figures: FunctionFigures }) {
    const { model, row, figures } = props;
    const { info, funcs } = model.data;
    const gone = row !== null && model.isDiff && model.change(row) === "gone";
    const first = figures.nodes[0];
    const known = first !== undefined && model.start(model.data.nodes.func[first]!);
    return (
        <>
            <h3>{info.probes ? "Probes" : "Lines"} and inlined code</h3>
            <p class="quiet">
                {info.probes
                    ? "Probes by their ids, with their samples."
                    : known
                      ? "Lines of the source file, with their samples."
                      : "Lines counted from the function's first one, with their samples" +
                        (funcs.start ? "." : "; -b BINARY gives their real numbers.")}
            </p>
            {gone ? (
                <p>Only the older profile has this function.</p>
            ) : row !== null ? (
                <Inside
                    model={model}
                    node={model.nodeOf[row]!}
                    most={model.hottestInside[model.nodeOf[row]!]!}
                />
            ) : (
                <MergedLines model={model} nodes={figures.nodes} />
            )}
        </>
    );
}
