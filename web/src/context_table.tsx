// All allocation contexts in a table.
import { useMemo } from "preact/hooks";
import type { Estimated } from "./data";
import type { TableColumn } from "./data_table";
import { DataTable } from "./data_table";
import * as format from "./format";
import type { HeapModel } from "./heap_model";
import { densityClass } from "./heat";
import type { Filter } from "./page_frame";

interface Props {
    model: HeapModel;
    matches: Uint8Array | null;
    filter: Filter | null;
    onClearFilter: () => void;
    onOpen: (context: number) => void;
    open: number | null;
}

/** A figure, below it where it lies if it is an estimate. */
function estimate(
    model: HeapModel,
    context: number,
    name: Estimated,
    value: number,
    text: (v: number) => string,
) {
    const limits = model.interval(context, name, text);
    if (!limits) return text(value);
    return (
        <>
            {text(value)}
            <span class="quiet limits">{limits}</span>
        </>
    );
}

function columns(model: HeapModel): TableColumn[] {
    const list: TableColumn[] = [
        {
            key: "bytes",
            title: "Bytes",
            value: (c) => model.bytes[c]!,
            text: (c) => estimate(model, c, "TotalSize", model.bytes[c]!, format.bytes),
        },
    ];
    if (model.range) {
        const held = model.weights("range");
        list.unshift({
            key: "range",
            title: "In the range",
            hint: "alive on average",
            value: (c) => held[c]!,
            text: (c) => format.bytes(held[c]!),
        });
    }
    const before = model.bytesBefore;
    if (before) {
        const difference = (c: number) => model.bytes[c]! - before[c]!;
        list.push(
            {
                key: "before",
                title: "Before",
                value: (c) => before[c]!,
                text: (c) => format.bytes(before[c]!),
            },
            {
                key: "change",
                title: "Change",
                value: difference,
                order: (c) => Math.abs(difference(c)),
                text: (c) => (difference(c) > 0 ? "+" : "") + format.bytes(difference(c)),
            },
        );
    }
    list.push({
        key: "count",
        title: "Objects",
        value: (c) => model.count[c]!,
        text: (c) => estimate(model, c, "AllocCount", model.count[c]!, format.count),
    });
    const known = model.knownWeights();
    if (known.includes("accesses"))
        list.push({
            key: "density",
            title: "Accesses/B",
            value: (c) => model.density[c]!,
            text: (c) => (
                <>
                    <span class={`dot ${densityClass(model, model.density[c]!)}`} />
                    {Number.isNaN(model.density[c]!) ? "–" : format.density(model.density[c]!)}
                </>
            ),
        });
    if (known.includes("lifetime"))
        list.push({
            key: "life",
            title: "Average life",
            value: (c) => model.life[c]!,
            text: (c) => (Number.isNaN(model.life[c]!) ? "–" : format.ms(model.life[c]!)),
        });
    return list;
}

export function ContextTable({ model, ...rest }: Props) {
    const all = useMemo(() => columns(model), [model]);
    const whole = model.data.totals.TotalSize || 1;
    const sum = (rows: number[]) => {
        const bytes = rows.reduce((total, c) => total + model.bytes[c]!, 0);
        return `${format.bytes(bytes)} (${format.percent(bytes / whole)})`;
    };
    return (
        <DataTable
            id="contexts"
            title="Allocation contexts"
            rowTitle="Allocated by"
            noun="context"
            n={model.n}
            columns={all}
            sortedBy={model.range ? "range" : model.isDiff ? "change" : "bytes"}
            sum={sum}
            row={(c) => <RowHead model={model} context={c} />}
            empty="No context has this in its call stack."
            {...rest}
        />
    );
}

const CALLERS = 4; // named in a row: allocators have wrappers

function RowHead({ model, context }: { model: HeapModel; context: number }) {
    const site = model.site(context);
    const tag = model.isDiff ? model.change(context) : model.label(context);
    const place = site?.file && site.line ? `${format.fileName(site.file)}:${site.line}` : "";
    return (
        <>
            <button
                type="button"
                class="link"
                data-context={context}
                title={site?.name ?? ""}
            >
                {site ? format.brief(site.name) : "(no stack)"}
            </button>
            <span class="quiet place">
                {place}
                {model.callers(context, CALLERS).map((name) => ` ← ${format.fit(name, 28)}`)}
                {tag && tag !== "same" && (
                    <span class={`tag tag-${tag.replace(" ", "-")}`}>{tag}</span>
                )}
            </span>
        </>
    );
}
