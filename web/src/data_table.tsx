// Rows in a table that can be sorted and narrowed, some at a time.
import { useEffect, useMemo, useState } from "preact/hooks";
import * as format from "./format";
import type { Filter } from "./page_frame";

export interface TableColumn {
    key: string;
    title: string;
    hint?: string; // what the title means, where that needs words
    value: (row: number) => number; // NaN: unknown, always last
    order?: (row: number) => number; // what rows are sorted by, where that is not the value
    text: (row: number) => preact.ComponentChildren;
}

export interface Sort {
    key: string;
    falling: boolean;
}

interface Props {
    id: string;
    title: string;
    rowTitle: string; // over the first column
    noun: string; // what a row is
    nouns?: string; // several of them, where that is not with an "s"
    n: number;
    columns: TableColumn[];
    sortedBy: string; // at first
    /** Where the page keeps the order; else the table does. */
    sort?: Sort;
    onSort?: (sort: Sort) => void;
    perPage?: number;
    children?: preact.ComponentChildren; // controls beside the title
    matches: Uint8Array | null;
    filter: Filter | null;
    onClearFilter: () => void;
    onOpen: (row: number) => void;
    open: number | null;
    /** Of the rows that are found, if they are not all. */
    sum: (rows: number[]) => string;
    row: (row: number) => preact.ComponentChildren;
    empty: string;
}

const PAGE = 25;

/** Which of two rows has more in the first column where they differ. */
function moreFirst(columns: TableColumn[], a: number, b: number): number {
    for (const { value } of columns) {
        const [x, y] = [value(a), value(b)];
        if (x > y || (Number.isNaN(y) && !Number.isNaN(x))) return -1;
        if (y > x || (Number.isNaN(x) && !Number.isNaN(y))) return 1;
    }
    return a - b;
}

function sorted(rows: number[], columns: TableColumn[], sort: Sort, n: number): number[] {
    const column = columns.find((c) => c.key === sort.key) ?? columns[0]!;
    const by = column.order ?? column.value;
    const sign = sort.falling ? -1 : 1;
    const keys = Float64Array.from({ length: n }, (_, row) => {
        const v = by(row);
        return Number.isNaN(v) ? sign * Infinity : v;
    });
    return rows.sort((a, b) => {
        const x = keys[a]!;
        const y = keys[b]!;
        return x === y ? moreFirst(columns, a, b) : x < y ? -sign : sign;
    });
}

export function DataTable(props: Props) {
    const { id, columns, n, noun, matches, filter, open } = props;
    const perPage = props.perPage ?? PAGE;
    const [own, setOwn] = useState<Sort>({ key: props.sortedBy, falling: true });
    const sort = props.sort ?? own;
    const setSort = props.onSort ?? setOwn;
    const [page, setPage] = useState(0);
    const rows = useMemo(() => {
        const list: number[] = [];
        for (let row = 0; row < n; row++)
            if ((!matches || matches[row]) && (!filter || filter.has(row))) list.push(row);
        return sorted(list, columns, sort, n);
    }, [columns, n, matches, filter, sort.key, sort.falling]);
    useEffect(() => {
        const at = open === null ? -1 : rows.indexOf(open);
        setPage(at < 0 ? 0 : Math.floor(at / perPage));
    }, [rows]);
    const pages = Math.max(1, Math.ceil(rows.length / perPage));
    const shown = rows.slice(page * perPage, (page + 1) * perPage);
    const choose = (key: string) =>
        setSort({ key, falling: sort.key === key ? !sort.falling : true });

    return (
        <section class="card rows" id={id} aria-labelledby={`${id}-title`}>
            <div class="bar-of-controls">
                <h2 id={`${id}-title`}>{props.title}</h2>
                {props.children}
                <p class="quiet" role="status" id={`${id}-found`}>
                    {rows.length === n
                        ? format.plural(rows.length, noun, props.nouns)
                        : `${format.count(rows.length)} of ` +
                          `${format.plural(n, noun, props.nouns)}, ${props.sum(rows)}`}
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
                            <th scope="col">{props.rowTitle}</th>
                            {columns.map((c) => (
                                <Head
                                    key={c.key}
                                    column={c}
                                    falling={sort.key === c.key ? sort.falling : null}
                                    onChoose={choose}
                                />
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {shown.map((row) => (
                            <tr
                                key={row}
                                class={open === row ? "selected" : ""}
                                onClick={() => props.onOpen(row)}
                            >
                                <th scope="row">{props.row(row)}</th>
                                {columns.map((c) => (
                                    <td key={c.key} class="number" data-exact={c.value(row)}>
                                        {c.text(row)}
                                    </td>
                                ))}
                            </tr>
                        ))}
                    </tbody>
                </table>
                {rows.length === 0 && <p>{props.empty}</p>}
            </div>
            {pages > 1 && (
                <nav class="pages" aria-label="Pages of the table">
                    <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
                        Previous
                    </button>
                    <span class="quiet">
                        {format.count(page * perPage + 1)} to{" "}
                        {format.count(page * perPage + shown.length)}
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

interface HeadProps {
    column: TableColumn;
    falling: boolean | null; // null: not sorted by it
    onChoose: (key: string) => void;
}

function Head({ column, falling, onChoose }: HeadProps) {
    return (
        <th
            scope="col"
            class="number"
            aria-sort={falling === null ? "none" : falling ? "descending" : "ascending"}
        >
            <button type="button" title={column.hint} onClick={() => onChoose(column.key)}>
                {column.title}
                <span aria-hidden="true">
                    {falling === null ? "" : falling ? " ▾" : " ▴"}
                </span>
            </button>
        </th>
    );
}
