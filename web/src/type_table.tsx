// What the objects of each type cost.
import { useMemo } from "preact/hooks";
import type { Column } from "./data";
import type { TableColumn } from "./data_table";
import { DataTable } from "./data_table";
import * as format from "./format";
import type { HeapModel } from "./heap_model";
import { densityClass } from "./heat";
import type { Filter } from "./page_frame";

interface Props {
    model: HeapModel;
    matches: Uint8Array | null;
    onFilter: (filter: Filter | null) => void;
}

const known = (column: Column | undefined, type: number): number => column?.[type] ?? NaN;
const orDash = (v: number, text: (v: number) => string) => (Number.isNaN(v) ? "–" : text(v));

function columns(model: HeapModel): TableColumn[] {
    const { now, before, contexts } = model.data.types!;
    const bytes = (type: number) => now.TotalSize?.[type] ?? 0;
    const count = (type: number) => now.AllocCount?.[type] ?? 0;
    const density = (type: number) => known(now.TotalAccessCount, type) / bytes(type);
    const life = (type: number) => known(now.TotalLifetime, type) / count(type);
    const list: TableColumn[] = [
        { key: "bytes", title: "Bytes", value: bytes, text: (t) => format.bytes(bytes(t)) },
    ];
    if (before) {
        const then = (type: number) => before.TotalSize?.[type] ?? 0;
        const difference = (type: number) => bytes(type) - then(type);
        list.push(
            {
                key: "before",
                title: "Before",
                value: then,
                text: (t) => format.bytes(then(t)),
            },
            {
                key: "change",
                title: "Change",
                value: difference,
                order: (t) => Math.abs(difference(t)),
                text: (t) => (difference(t) > 0 ? "+" : "") + format.bytes(difference(t)),
            },
        );
    }
    list.push({
        key: "count",
        title: "Objects",
        value: count,
        text: (t) => format.count(count(t)),
    });
    if (model.knowsAccesses)
        list.push(
            {
                key: "accesses",
                title: "Accesses",
                value: (t) => known(now.TotalAccessCount, t),
                text: (t) => orDash(known(now.TotalAccessCount, t), format.count),
            },
            {
                key: "density",
                title: "Accesses/B",
                value: density,
                text: (t) => (
                    <>
                        <span class={`dot ${densityClass(model, density(t))}`} />
                        {orDash(density(t), format.density)}
                    </>
                ),
            },
        );
    if (now.TotalLifetime)
        list.push({
            key: "life",
            title: "Average life",
            value: life,
            text: (t) => orDash(life(t), format.ms),
        });
    list.push({
        key: "contexts",
        title: "Contexts",
        value: (t) => contexts[t]!,
        text: (t) => format.count(contexts[t]!),
    });
    return list;
}

export function TypeTable({ model, matches, onFilter }: Props) {
    const types = model.data.types!;
    const all = useMemo(() => columns(model), [model]);
    const found = useMemo(() => {
        const list = matches && new Uint8Array(types.name.length);
        matches?.forEach((match, c) => {
            if (match) list![model.typeOf(c)!] = 1;
        });
        return list;
    }, [model, matches]);
    const whole = model.data.totals.TotalSize || 1;
    const sum = (rows: number[]) => {
        const bytes = rows.reduce((total, t) => total + (types.now.TotalSize?.[t] ?? 0), 0);
        return `${format.bytes(bytes)} (${format.percent(bytes / whole)})`;
    };
    const choose = (type: number) =>
        onFilter({
            text: `of ${format.brief(model.typeName(type))}`,
            has: (c) => model.typeOf(c) === type,
        });
    return (
        <DataTable
            id="types"
            title="Types of objects"
            rowTitle="Type"
            noun="type"
            n={types.name.length}
            columns={all}
            sortedBy={model.isDiff ? "change" : "bytes"}
            matches={found}
            filter={null}
            onClearFilter={() => onFilter(null)}
            onOpen={choose}
            open={null}
            sum={sum}
            row={(t) => (
                <button type="button" class="link" data-type={t} title={model.typeName(t)}>
                    {format.brief(format.withStrings(model.typeName(t)))}
                </button>
            )}
            empty="No context that is found has a type."
        />
    );
}
