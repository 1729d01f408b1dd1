// The functions or contexts of a sample profile in a table.
import { useMemo } from "preact/hooks";
import type { Sort, TableColumn } from "./data_table";
import { DataTable } from "./data_table";
import * as format from "./format";
import type { Filter } from "./page_frame";
import { lineClass } from "./sample_heat";
import type { SampleModel } from "./sample_model";
import { firstSort } from "./sample_view";

interface Props {
    model: SampleModel;
    matches: Uint8Array | null;
    filter: Filter | null;
    onClearFilter: () => void;
    onOpen: (row: number) => void;
    open: number | null;
    sort: Sort;
    onSort: (sort: Sort) => void;
    children: preact.ComponentChildren;
}

function columns(model: SampleModel): TableColumn[] {
    const { nodes, info } = model.data;
    const unit = info.probes ? "probe" : "line";
    const self = (row: number) => nodes.own[model.nodeOf[row]!]!;
    const head = (row: number) => nodes.head[model.nodeOf[row]!]!;
    const hottest = (row: number) => model.hottestInside[model.nodeOf[row]!]!;
    return [
        {
            key: "samples",
            title: "Samples",
            hint: "in the function and what is inlined into it",
            value: (row) => model.samples[row]!,
            text: (row) => format.count(model.samples[row]!),
        },
        {
            key: "self",
            title: "Self",
            hint: `in its own ${unit}s, without what is inlined into it`,
            value: self,
            text: (row) => format.count(self(row)),
        },
        {
            key: "share",
            title: "Share",
            hint: "of all samples",
            value: (row) => model.share(row),
            text: (row) => format.percent(model.share(row)),
        },
        {
            key: "cumulative",
            title: "Cumulative",
            hint: "share of this one and all with more samples",
            value: (row) => model.cumulative[row]!,
            text: (row) => format.percent(model.cumulative[row]!),
        },
        {
            key: "head",
            title: "At head",
            hint: "samples at the function's entry: how often it was called",
            value: head,
            text: (row) => format.count(head(row)),
        },
        {
            key: "hottest",
            title: `Hottest ${unit}`,
            hint:
                `samples of its hottest ${unit}; a compiler takes it for hot from ` +
                `${format.count(model.data.now.hot_count)} on`,
            value: hottest,
            text: (row) => (
                <>
                    <span class={`dot ${lineClass(model, hottest(row))}`} />
                    {format.count(hottest(row))}
                </>
            ),
        },
    ];
}

function diffColumns(model: SampleModel): TableColumn[] {
    const before = model.samplesBefore!;
    const similarity = model.data.rows.similarity!;
    const moved = (row: number) => model.share(row) - model.shareBefore(row);
    return [
        {
            key: "moved",
            title: "Moved",
            hint: "its share of all samples now less that before",
            value: (row) => Math.abs(moved(row)),
            text: (row) => format.points(moved(row)),
        },
        {
            key: "share",
            title: "Share",
            hint: "of all samples",
            value: (row) => model.share(row),
            text: (row) => format.percent(model.share(row)),
        },
        {
            key: "before",
            title: "Share before",
            hint: "share of all samples before",
            value: (row) => model.shareBefore(row),
            text: (row) => format.percent(model.shareBefore(row)),
        },
        {
            key: "samples",
            title: "Samples",
            value: (row) => model.samples[row]!,
            text: (row) => format.count(model.samples[row]!),
        },
        {
            key: "samples_before",
            title: "Samples before",
            value: (row) => before[row]!,
            text: (row) => format.count(before[row]!),
        },
        {
            key: "similarity",
            title: "Alike",
            hint: "how alike its lines are on both sides, as llvm-profdata overlap has it",
            value: (row) => similarity[row]!,
            text: (row) => format.percent(similarity[row]!),
        },
    ];
}

export function FunctionTable({ model, ...rest }: Props) {
    const all = useMemo(() => (model.isDiff ? diffColumns(model) : columns(model)), [model]);
    const { contexts } = model.data.info;
    const sum = (rows: number[]) => {
        const samples = rows.reduce((total, row) => total + model.samples[row]!, 0);
        return `${format.plural(samples, "sample")} (${format.percent(samples / model.whole)})`;
    };
    return (
        <DataTable
            id="functions"
            title={contexts ? "Contexts" : "Functions"}
            rowTitle={contexts ? "Function and its callers" : "Function"}
            noun={contexts ? "context" : "function"}
            n={model.n}
            columns={all}
            sortedBy={firstSort(model)}
            sum={sum}
            row={(row) => <RowHead model={model} row={row} />}
            empty="No function, caller or inlined function has this in its name."
            {...rest}
        />
    );
}

const CALLERS = 3; // named in a row

function RowHead({ model, row }: { model: SampleModel; row: number }) {
    const node = model.nodeOf[row]!;
    const name = model.name(node);
    const short = format.brief(name);
    const callers = model.callers(node).length;
    const shown = [];
    for (let n = node; n > 0 && shown.length < CALLERS; n = model.tree.parent[n]!) {
        const from = model.calledFrom(n, (name) => format.fit(name, 28));
        if (from) shown.push(from);
    }
    const change = model.isDiff ? model.change(row) : "same";
    const tags = model.attributes(node).filter((tag) => tag !== "was inlined");
    if (change !== "same") tags.push(change);
    return (
        <>
            <button type="button" class="link" data-row={row} title={name}>
                {short}
            </button>
            {tags.map((tag) => (
                <span key={tag} class={`tag tag-${tag.replaceAll(" ", "-")}`}>
                    {tag}
                </span>
            ))}
            {shown.length === 0 && short !== name && (
                <span class="quiet place clipped">{format.withStrings(name)}</span>
            )}
            {shown.length > 0 && (
                <span class="quiet place">
                    {shown.map((from) => `← ${from} `)}
                    {callers > shown.length && `← ${callers - shown.length} more`}
                </span>
            )}
        </>
    );
}
