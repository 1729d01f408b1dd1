// The functions, libraries, threads or types of a heap profile in a table: what each allocates,
// functions and libraries themselves and with all that they call.
import { useMemo } from "preact/hooks";
import type { Sort, TableColumn } from "./data_table";
import { DataTable } from "./data_table";
import { weightName, weightText } from "./flame_graph";
import * as format from "./format";
import type { Grouping, GroupSums } from "./group_sums";
import { groupings, isOfCalls, knownGroupings } from "./group_sums";
import type { HeapModel, Weight } from "./heap_model";

interface Props {
    model: HeapModel;
    sums: GroupSums;
    weight: Weight;
    matches: Uint8Array | null; // rows
    sort: Sort;
    onSort: (sort: Sort) => void;
    onGroup: (by: Grouping) => void;
    open: number | null;
    onOpen: (row: number) => void;
}

export function firstSort(model: HeapModel, by: Grouping): string {
    if (model.isDiff) return "change";
    return isOfCalls(by) ? "self" : "total";
}

/** What a row has of a weight itself and in all. */
interface Measure {
    self: Float64Array;
    total: Float64Array;
}

const measure = (sums: GroupSums, values: Float64Array): Measure => ({
    self: sums.self(values),
    total: sums.total(values),
});

function columns(model: HeapModel, sums: GroupSums, weight: Weight): TableColumn[] {
    const values = model.weights(weight);
    const now = measure(sums, values);
    const whole = model.whole(weight);
    const text = (v: number) => shortWeight(weight, v);
    const name = weightName(model, weight);
    const self: TableColumn = {
        key: "self",
        title: "Self",
        hint: `${name}: allocated in it, or by an allocator that it calls`,
        value: (row) => now.self[row]!,
        text: (row) => text(now.self[row]!),
    };
    const calls = isOfCalls(sums.by);
    const total: TableColumn = {
        key: "total",
        title: calls ? "Total" : name,
        hint: calls ? `${name}: allocated in it and in all that it calls` : "in all",
        value: (row) => now.total[row]!,
        text: (row) => text(now.total[row]!),
    };
    // On narrow screens only the first two are shown.
    return [
        ...(calls && !model.isDiff ? [self] : []),
        total,
        ...(model.isDiff ? [changeColumn(model, sums, weight, now)] : []),
        ...(calls && model.isDiff ? [self] : []),
        ...(model.isDiff ? [] : [shareColumn(now, whole)]),
        objectsColumn(model, sums, weight),
    ];
}

function changeColumn(
    model: HeapModel,
    sums: GroupSums,
    weight: Weight,
    now: Measure,
): TableColumn {
    const before = sums.total(model.weights(weight, true));
    const difference = (row: number) => now.total[row]! - before[row]!;
    return {
        key: "change",
        title: "Change",
        hint: "of the total, since the profile before",
        value: difference,
        order: (row) => Math.abs(difference(row)),
        text: (row) => (difference(row) > 0 ? "+" : "") + shortWeight(weight, difference(row)),
    };
}

function shareColumn(now: Measure, whole: number): TableColumn {
    return {
        key: "share",
        title: "Share",
        hint: "its total, of the whole program's",
        value: (row) => now.total[row]! / whole,
        text: (row) => format.percent(now.total[row]! / whole),
    };
}

/** Objects next to any other unit, and bytes next to objects. */
function objectsColumn(model: HeapModel, sums: GroupSums, weight: Weight): TableColumn {
    const other = weight === "count" ? "bytes" : "count";
    const total = sums.total(model.weights(other));
    return {
        key: other,
        title: weightName(model, other),
        hint: "in all",
        value: (row) => total[row]!,
        text: (row) => shortWeight(other, total[row]!),
    };
}

/** A number whose unit the column's title has. */
function shortWeight(weight: Weight, v: number): string {
    return weight === "count" || weight === "accesses" ? format.count(v) : weightText(weight, v);
}

export function HeapFunctions(props: Props) {
    const { model, sums, weight } = props;
    const all = useMemo(() => columns(model, sums, weight), [model, sums, weight]);
    const values = useMemo(() => sums.self(model.weights(weight)), [model, sums, weight]);
    const whole = useMemo(() => model.whole(weight), [model, weight]);
    // Of a range only those are shown that held something then.
    const matches = useMemo(() => {
        if (weight !== "range") return props.matches;
        const total = sums.total(model.weights(weight));
        return Uint8Array.from(total, (v, row) =>
            v > 0 && (!props.matches || props.matches[row]) ? 1 : 0,
        );
    }, [model, sums, weight, props.matches]);
    const sum = (rows: number[]) => {
        const self = rows.reduce((total, row) => total + values[row]!, 0);
        const amount = `${weightText(weight, self)} (${format.percent(self / whole)})`;
        return isOfCalls(sums.by) ? `self ${amount}` : amount;
    };
    const { title, noun, nouns } = groupings[sums.by];
    const known = knownGroupings(model);
    return (
        <DataTable
            id="functions"
            title={title}
            rowTitle={noun[0]!.toUpperCase() + noun.slice(1)}
            noun={noun}
            nouns={nouns}
            n={sums.n}
            columns={all}
            sortedBy={firstSort(model, sums.by)}
            sort={props.sort}
            onSort={props.onSort}
            perPage={PER_PAGE}
            matches={matches}
            filter={null}
            onClearFilter={() => undefined}
            onOpen={props.onOpen}
            open={props.open}
            sum={sum}
            row={(row) => <RowHead sums={sums} row={row} />}
            empty={`No ${noun} has this in its name.`}
        >
            {known.length > 1 && (
                <fieldset class="choice">
                    <legend class="hidden">What a row is</legend>
                    {known.map((by) => (
                        <label key={by}>
                            <input
                                type="radio"
                                name="group"
                                value={by}
                                checked={by === sums.by}
                                onChange={() => props.onGroup(by)}
                            />
                            <span>By {by}</span>
                        </label>
                    ))}
                </fieldset>
            )}
        </DataTable>
    );
}

const PER_PAGE = 12; // the contexts stand below

function RowHead({ sums, row }: { sums: GroupSums; row: number }) {
    const place = sums.place(row);
    return (
        <>
            <button type="button" class="link" data-row={row} title={sums.fullName(row)}>
                {format.brief(sums.name(row))}
            </button>
            {place !== sums.name(row) && <span class="quiet place">{place}</span>}
        </>
    );
}
