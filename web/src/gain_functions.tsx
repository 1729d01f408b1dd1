// Where the time was before, and where it is now, by function: a copy that is inlined counts for
// its function.
import { useMemo } from "preact/hooks";
import type { TableColumn } from "./data_table";
import { DataTable } from "./data_table";
import * as format from "./format";
import type { GainModel } from "./gain_model";

interface Props {
    model: GainModel;
    matches: Uint8Array | null;
    open: number | null;
    onOpen: (row: number) => void;
}

function time(seconds: number): string {
    return seconds > 0 ? format.ms(seconds * 1000) : "";
}

/** Less time is good: "−12 ms". */
export function difference(seconds: number): string {
    if (seconds === 0) return "0";
    return `${seconds > 0 ? "\u2212" : "+"}${format.ms(Math.abs(seconds) * 1000)}`;
}

function columns(model: GainModel): TableColumn[] {
    const { functions: f } = model.data;
    const saved = (row: number) => model.of(row).before - model.of(row).now;
    const before: TableColumn = {
        key: "before",
        title: model.isCompared ? "Before" : "Time",
        hint: "processor time in the plain build: its share of the ticks, of the time measured",
        value: (row) => model.of(row).before,
        text: (row) => time(model.of(row).before),
    };
    const bytesBefore: TableColumn = {
        key: "bytes_before",
        title: model.isCompared ? "Code before" : "Code",
        hint: "bytes of code of its own in the plain build",
        value: (row) => f.bytes_before[row]!,
        text: (row) => (f.bytes_before[row] ? format.bytes(f.bytes_before[row]!) : ""),
    };
    if (!model.isCompared) return [before, bytesBefore];
    return [
        {
            key: "saved",
            title: "Change",
            hint: "grey: it may be chance, as few ticks came there",
            value: saved,
            text: (row) => (
                <span class={model.isSure(model.of(row)) ? "" : "quiet"}>
                    {difference(saved(row))}
                </span>
            ),
        },
        before,
        {
            key: "now",
            title: "Now",
            hint: "processor time in the build that was kept",
            value: (row) => model.of(row).now,
            text: (row) => time(model.of(row).now),
        },
        bytesBefore,
        {
            key: "bytes",
            title: "Code now",
            hint: "bytes of code of its own in the build that was kept",
            value: (row) => f.bytes[row]!,
            text: (row) =>
                f.bytes[row] ? format.bytes(f.bytes[row]!) : f.bytes_before[row] ? "none" : "",
        },
    ];
}

export function GainFunctions({ model, matches, open, onOpen }: Props) {
    const all = useMemo(() => columns(model), [model]);
    const sum = (rows: number[]) => {
        const total = rows.reduce((s, row) => s + model.of(row).before, 0);
        return `${format.ms(total * 1000)} before`;
    };
    return (
        <DataTable
            id="gain-functions"
            title="Where the time was"
            rowTitle="Function"
            noun="function"
            n={model.n}
            columns={all}
            sortedBy={model.isCompared ? "saved" : "before"}
            matches={matches}
            filter={null}
            onClearFilter={() => undefined}
            onOpen={onOpen}
            open={open}
            sum={sum}
            row={(row) => <RowHead model={model} row={row} />}
            empty="No function has this in its name."
        />
    );
}

function RowHead({ model, row }: { model: GainModel; row: number }) {
    const name = model.name(row);
    return (
        <>
            <button type="button" class="link" data-row={row} title={name}>
                {format.brief(name)}
            </button>
            {model.tags(row).map((tag) => (
                <span key={tag} class="tag small">
                    {tag}
                </span>
            ))}
        </>
    );
}
