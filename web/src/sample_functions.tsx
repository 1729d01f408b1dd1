// All functions of a sample profile in a table, with all their copies: also those that are inlined
// everywhere and have no profile of their own.
import { useMemo } from "preact/hooks";
import type { Sort, TableColumn } from "./data_table";
import { DataTable } from "./data_table";
import * as format from "./format";
import type { FunctionSums } from "./sample_calls";
import type { SampleModel } from "./sample_model";
import { firstSort } from "./sample_view";

interface Props {
    model: SampleModel;
    sums: FunctionSums;
    matches: boolean[] | null;
    sort: Sort;
    onSort: (sort: Sort) => void;
    open: number | null;
    onOpen: (func: number) => void;
    children: preact.ComponentChildren;
}

/** `funcs`: the functions of rows. */
function columns(model: SampleModel, sums: FunctionSums, funcs: number[]): TableColumn[] {
    const self = (row: number) => sums.self[funcs[row]!]!;
    const total = (row: number) => sums.total[funcs[row]!]!;
    const unit = model.data.info.probes ? "probe" : "line";
    return [
        {
            key: "self",
            title: "Self",
            hint: `samples of its own ${unit}s, wherever it is inlined`,
            value: self,
            text: (row) => format.count(self(row)),
        },
        {
            key: "total",
            title: "Total",
            hint: "with what is inlined into it, or called from it in a context",
            value: total,
            text: (row) => format.count(total(row)),
        },
        {
            key: "share",
            title: "Share",
            hint: "its total, of all samples",
            value: (row) => total(row) / model.whole,
            text: (row) => format.percent(total(row) / model.whole),
        },
    ];
}

export function SampleFunctions(props: Props) {
    const { model, sums } = props;
    // Others are only called, or types.
    const funcs = useMemo(() => {
        const sampled: number[] = [];
        sums.total.forEach((v, func) => v > 0 && sampled.push(func));
        return sampled;
    }, [sums]);
    const all = useMemo(() => columns(model, sums, funcs), [model, sums, funcs]);
    const matches = useMemo(
        () => props.matches && Uint8Array.from(funcs, (func) => (props.matches![func] ? 1 : 0)),
        [funcs, props.matches],
    );
    const sum = (rows: number[]) => {
        const self = rows.reduce((total, row) => total + sums.self[funcs[row]!]!, 0);
        return `self ${format.plural(self, "sample")} (${format.percent(self / model.whole)})`;
    };
    return (
        <DataTable
            id="functions"
            title="Functions"
            rowTitle="Function"
            noun="function"
            n={funcs.length}
            columns={all}
            sortedBy={firstSort(model, "function")}
            sort={props.sort}
            onSort={props.onSort}
            matches={matches}
            filter={null}
            onClearFilter={() => undefined}
            onOpen={(row) => props.onOpen(funcs[row]!)}
            open={props.open === null ? null : funcs.indexOf(props.open)}
            sum={sum}
            row={(row) => <RowHead model={model} func={funcs[row]!} />}
            empty="No function has this in its name."
        >
            {props.children}
        </DataTable>
    );
}

function RowHead({ model, func }: { model: SampleModel; func: number }) {
    const name = model.funcName(func);
    const place = model.place(func);
    return (
        <>
            <button type="button" class="link" data-row={func} title={name}>
                {format.brief(name)}
            </button>
            {place && <span class="quiet place">{format.fileName(place)}</span>}
        </>
    );
}
