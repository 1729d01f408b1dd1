// A function or a library between those that call it and those that it calls.
import { useMemo, useState } from "preact/hooks";
import { AllButton } from "./all_button";
import type { CallSums, Neighbours } from "./call_sums";
import { NONE } from "./call_sums";
import { weightNames, weightText } from "./flame_graph";
import * as format from "./format";
import type { HeapModel, Weight } from "./heap_model";
import { SidePanel } from "./side_panel";

interface Props {
    model: HeapModel;
    sums: CallSums;
    row: number;
    weight: Weight;
    onOpen: (row: number) => void;
    onClose: () => void;
}

export function SandwichPanel({ model, sums, row, weight, onOpen, onClose }: Props) {
    const values = useMemo(() => model.weights(weight), [model, weight]);
    const around = useMemo(() => sums.around(row, values), [sums, row, values]);
    const inside = useMemo(() => sums.through(row), [sums, row]);
    const self = useMemo(() => sums.self(values), [sums, values])[row]!;
    const of = (numbers: Float64Array) =>
        numbers.reduce((sum, v, c) => (inside[c] ? sum + v : sum), 0);
    const total = of(values);
    const whole = model.whole(weight);
    const name = sums.name(row);
    const place = sums.place(row);
    const shortened = format.brief(name) !== name;
    const contexts = inside.reduce((n, is) => n + is, 0);
    const list = { sums, weight, total, onOpen };
    return (
        <SidePanel title={format.brief(name)} about={row} onClose={onClose}>
            {sums.by === "function" && (shortened || sums.fullName(row) !== name) && (
                <details class="full-name">
                    <summary>Full name</summary>
                    <p>{name}</p>
                    <code>{sums.fullName(row)}</code>
                </details>
            )}
            {place && <p class="quiet where-from">{place}</p>}
            <table class="spread">
                <thead>
                    <tr>
                        <th scope="col">{weightNames[weight]}</th>
                        <th scope="col">amount</th>
                        <th scope="col">of the program</th>
                    </tr>
                </thead>
                <tbody>
                    <tr>
                        <th scope="row">Self</th>
                        <td id="self">{weightText(weight, self)}</td>
                        <td>{format.percent(self / whole)}</td>
                    </tr>
                    <tr>
                        <th scope="row">Total</th>
                        <td id="total">{weightText(weight, total)}</td>
                        <td>{format.percent(total / whole)}</td>
                    </tr>
                </tbody>
            </table>
            <p class="quiet">
                {format.bytes(of(model.bytes))} in {format.plural(of(model.count), "object")}
                , in{" "}
                <button
                    type="button"
                    class="link"
                    onClick={() => {
                        onClose();
                        document.getElementById("contexts")?.scrollIntoView();
                    }}
                >
                    {format.plural(contexts, "context")}
                </button>
                . Shares below are of the total; a context with several callers or callees counts
                for each.
            </p>
            <h3>Callers</h3>
            <List id="callers" {...list} rows={around.callers} none="(none: outermost)" />
            <h3>Callees</h3>
            <List
                id="callees"
                {...list}
                rows={around.callees}
                none="(none: allocated in it)"
            />
        </SidePanel>
    );
}

interface Of {
    sums: CallSums;
    weight: Weight;
    total: number;
    onOpen: (row: number) => void;
}

const SHOWN = 12;
const MOST = 300; // when all are asked for

/** `none`: what stands for no function. */
function List(props: Of & { id: string; rows: Neighbours; none: string }) {
    const { id, rows, none, ...of } = props;
    const [all, setAll] = useState(false);
    return (
        <>
            <ul class="neighbours" id={id}>
                {rows.slice(0, all ? MOST : SHOWN).map(([row, sum]) => (
                    <Item key={row} {...of} row={row} sum={sum} none={none} />
                ))}
            </ul>
            <AllButton n={rows.length} shown={SHOWN} most={MOST} all={all} onAll={setAll} />
        </>
    );
}

function Item(props: Of & { row: number; sum: number; none: string }) {
    const { sums, row, sum, none, total, weight, onOpen } = props;
    const share = sum / (total || 1);
    return (
        <li data-exact={sum}>
            <span class="share">{format.percent(share)}</span>
            <span class="meter" aria-hidden="true">
                <span style={{ width: `${Math.min(100, 100 * share)}%` }} />
            </span>
            {row === NONE ? (
                <span class="quiet">{none}</span>
            ) : (
                <button
                    type="button"
                    class="link"
                    title={sums.name(row)}
                    onClick={() => onOpen(row)}
                >
                    {format.brief(sums.name(row))}
                </button>
            )}
            <span class="many quiet">{weightText(weight, sum)}</span>
        </li>
    );
}
