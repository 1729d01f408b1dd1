// All contexts in a table that can be sorted and narrowed.
import { useEffect, useMemo, useState } from "preact/hooks";
import * as format from "./format";
import type { Filter } from "./heap_report";
import type { HeapModel } from "./heap_model";
import { densityClass } from "./heat";

interface Props {
    model: HeapModel;
    matches: Uint8Array | null;
    query: string;
    filter: Filter | null;
    onClearFilter: () => void;
    onOpen: (context: number) => void;
    open: number | null;
}

interface TableColumn {
    key: string;
    title: string;
    value: (context: number) => number;
    text: (context: number) => string;
}

const PAGE = 25;

function columns(model: HeapModel): TableColumn[] {
    const list: TableColumn[] = [
        {
            key: "bytes",
            title: "Bytes",
            value: (c) => model.bytes[c]!,
            text: (c) => format.bytes(model.bytes[c]!),
        },
    ];
    const before = model.bytesBefore;
    if (before)
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
                value: (c) => model.bytes[c]! - before[c]!,
                text: (c) => {
                    const difference = model.bytes[c]! - before[c]!;
                    return (difference > 0 ? "+" : "") + format.bytes(difference);
                },
            },
        );
    list.push({
        key: "count",
        title: "Objects",
        value: (c) => model.count[c]!,
        text: (c) => format.count(model.count[c]!),
    });
    const known = model.knownWeights();
    if (known.includes("accesses"))
        list.push({
            key: "density",
            title: "Accesses/B",
            value: (c) => model.density[c]!,
            text: (c) =>
                Number.isNaN(model.density[c]!) ? "–" : format.density(model.density[c]!),
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

export function ContextTable(props: Props) {
    const { model, matches, filter, open } = props;
    const all = useMemo(() => columns(model), [model]);
    const [sort, setSort] = useState({ key: model.isDiff ? "change" : "bytes", falling: true });
    const [page, setPage] = useState(0);
    const rows = useMemo(() => {
        const value = all.find((c) => c.key === sort.key)!.value;
        const list: number[] = [];
        for (let c = 0; c < model.n; c++)
            if ((!matches || matches[c]) && (!filter || filter.has(c))) list.push(c);
        const sign = sort.falling ? -1 : 1;
        const keys = Float64Array.from({ length: model.n }, (_, c) => {
            const v = value(c);
            return Number.isNaN(v) ? -Infinity * sign * -1 : v;
        });
        return list.sort((a, b) => {
            const x = keys[a]!;
            const y = keys[b]!;
            return x === y ? a - b : x < y ? -sign : sign;
        });
    }, [all, model, matches, filter, sort]);
    useEffect(() => setPage(0), [rows]);
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    const shown = rows.slice(page * PAGE, (page + 1) * PAGE);
    const bytes = rows.reduce((sum, c) => sum + model.bytes[c]!, 0);
    const whole = model.data.totals.TotalSize || 1;

    return (
        <section class="card contexts" id="contexts" aria-labelledby="contexts-title">
            <div class="bar-of-controls">
                <h2 id="contexts-title">Allocation contexts</h2>
                <p class="quiet" role="status" id="found">
                    {rows.length === model.n
                        ? format.plural(rows.length, "context")
                        : `${format.count(rows.length)} of ${format.plural(model.n, "context")}, ` +
                          `${format.bytes(bytes)} (${format.percent(bytes / whole)})`}
                </p>
                {filter && (
                    <button type="button" class="chip" onClick={props.onClearFilter}>
                        {filter.text} ✕<span class="hidden">: show all again</span>
                    </button>
                )}
            </div>
            <div class="table-frame">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">Allocated by</th>
                            {all.map((c) => (
                                <th
                                    key={c.key}
                                    scope="col"
                                    class="number"
                                    aria-sort={
                                        sort.key !== c.key
                                            ? "none"
                                            : sort.falling
                                              ? "descending"
                                              : "ascending"
                                    }
                                >
                                    <button
                                        type="button"
                                        onClick={() =>
                                            setSort({
                                                key: c.key,
                                                falling:
                                                    sort.key === c.key ? !sort.falling : true,
                                            })
                                        }
                                    >
                                        {c.title}
                                        <span aria-hidden="true">
                                            {sort.key === c.key
                                                ? sort.falling
                                                    ? " ▾"
                                                    : " ▴"
                                                : ""}
                                        </span>
                                    </button>
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {shown.map((c) => (
                            <Row
                                key={c}
                                context={c}
                                columns={all}
                                {...props}
                                selected={open === c}
                            />
                        ))}
                    </tbody>
                </table>
                {rows.length === 0 && <p>No context has this in its call stack.</p>}
            </div>
            {pages > 1 && (
                <nav class="pages" aria-label="Pages of the table">
                    <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
                        Previous
                    </button>
                    <span class="quiet">
                        {format.count(page * PAGE + 1)} to{" "}
                        {format.count(page * PAGE + shown.length)}
                    </span>
                    <button
                        type="button"
                        disabled={page + 1 >= pages}
                        onClick={() => setPage(page + 1)}
                    >
                        Next
                    </button>
                </nav>
            )}
        </section>
    );
}

function Row(props: Props & { context: number; columns: TableColumn[]; selected: boolean }) {
    const { model, context, onOpen } = props;
    const site = model.site(context);
    const tag = model.isDiff ? model.change(context) : model.label(context);
    const place = site?.file && site.line ? `${format.fileName(site.file)}:${site.line}` : "";
    const caller = model.caller(context);
    return (
        <tr class={props.selected ? "selected" : ""} onClick={() => onOpen(context)}>
            <th scope="row">
                <button
                    type="button"
                    class="link"
                    data-context={context}
                    title={site?.name ?? ""}
                >
                    {site ? format.shorten(site.name) : "(no stack)"}
                </button>
                <span class="quiet place">
                    {place}
                    {caller && ` ← ${format.fit(caller.name, 40)}`}
                    {tag && tag !== "same" && (
                        <span class={`tag tag-${tag.replace(" ", "-")}`}>{tag}</span>
                    )}
                </span>
            </th>
            {props.columns.map((c) => (
                <td key={c.key} class="number">
                    {c.key === "density" && (
                        <span class={`dot ${densityClass(model, model.density[context]!)}`} />
                    )}
                    {c.text(context)}
                </td>
            ))}
        </tr>
    );
}
