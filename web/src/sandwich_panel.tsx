// A function or a library between those that call it and those that it calls; a thread or a type
// with the functions that allocate in it.
import { useMemo } from "preact/hooks";
import type { Neighbours } from "./call_sums";
import { CallSums, falling } from "./call_sums";
import { weightName, weightText } from "./flame_graph";
import * as format from "./format";
import type { GroupSums } from "./group_sums";
import { NONE } from "./group_sums";
import type { HeapModel, Weight } from "./heap_model";
import type { Neighbour } from "./neighbours";
import { NeighbourList } from "./neighbours";
import { SidePanel } from "./side_panel";

interface Props {
    model: HeapModel;
    sums: GroupSums;
    row: number;
    weight: Weight;
    programOnly: boolean;
    onOpen: (sums: GroupSums, row: number) => void;
    onClose: () => void;
}

export function SandwichPanel(props: Props) {
    const { model, sums, row, weight, onClose } = props;
    const values = useMemo(() => model.weights(weight), [model, weight]);
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
    const calls = sums instanceof CallSums;
    const fullName = sums.by === "library" ? name : sums.fullName(row);
    return (
        <SidePanel title={format.brief(name)} about={row} onClose={onClose}>
            {(shortened || fullName !== name) && (
                <details class="full-name">
                    <summary>Full name</summary>
                    <p>{name}</p>
                    {fullName !== name && <code>{fullName}</code>}
                </details>
            )}
            {place && <p class="quiet where-from">{place}</p>}
            <table class="spread">
                <thead>
                    <tr>
                        <th scope="col">{weightName(model, weight)}</th>
                        <th scope="col">amount</th>
                        <th scope="col">of the program</th>
                    </tr>
                </thead>
                <tbody>
                    {calls && (
                        <tr>
                            <th scope="row">Self</th>
                            <td id="self">{weightText(weight, self)}</td>
                            <td>{format.percent(self / whole)}</td>
                        </tr>
                    )}
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
                . Shares below are of the total
                {calls && "; a context with several callers or callees counts for each"}.
            </p>
            {calls ? (
                <Callers {...props} sums={sums} values={values} total={total} />
            ) : (
                <Functions {...props} values={values} inside={inside} total={total} />
            )}
            {calls && sums.by === "function" && (
                <Lines sums={sums} row={row} values={values} weight={weight} total={total} />
            )}
        </SidePanel>
    );
}

interface ListProps extends Props {
    values: Float64Array;
    total: number;
}

/** Rows as a list in which each can be opened; without one, `none` is what there is. */
function neighbours(
    { weight, total, onOpen }: ListProps,
    sums: GroupSums,
    rows: Neighbours,
    none: string,
): Neighbour[] {
    return rows.map(([at, sum]) => ({
        key: at,
        name: at === NONE ? none : sums.name(at),
        share: sum / (total || 1),
        exact: sum,
        text: weightText(weight, sum),
        open: at === NONE ? null : () => onOpen(sums, at),
    }));
}

function Callers(props: ListProps & { sums: CallSums }) {
    const { sums, row, values } = props;
    const around = useMemo(() => sums.around(row, values), [sums, row, values]);
    const list = (rows: Neighbours, none: string) => neighbours(props, sums, rows, none);
    return (
        <>
            <h3>Callers</h3>
            <NeighbourList id="callers" list={list(around.callers, "(none: outermost)")} />
            <h3>Callees</h3>
            <NeighbourList id="callees" list={list(around.callees, "(none: allocated in it)")} />
        </>
    );
}

/** The functions that allocate the contexts of a thread or a type. */
function Functions(props: ListProps & { inside: Uint8Array }) {
    const { model, programOnly, values, inside } = props;
    const functions = useMemo(
        () => new CallSums(model, "function", programOnly),
        [model, programOnly],
    );
    const rows = useMemo(() => {
        const own = new Map<number, number>();
        inside.forEach((is, c) => {
            if (is) own.set(functions.site(c), (own.get(functions.site(c)) ?? 0) + values[c]!);
        });
        return falling(own);
    }, [functions, values, inside]);
    return (
        <>
            <h3>Functions that allocate</h3>
            <NeighbourList
                id="allocating"
                list={neighbours(props, functions, rows, "(without a stack)")}
            />
        </>
    );
}

const AROUND = 2; // lines of source shown next to one with an amount

/** The lines of the function that contexts go through, beside the text of the file. */
function Lines(props: {
    sums: CallSums;
    row: number;
    values: Float64Array;
    weight: Weight;
    total: number;
}) {
    const { sums, row, values, weight, total } = props;
    const lines = useMemo(() => sums.lines(row, values), [sums, row, values]);
    const text = (line: number) =>
        lines.offsets ? undefined : sums.model.sourceText(lines.file, line);
    const shown = new Set<number>();
    for (const line of lines.sums.keys())
        for (let at = line - AROUND; at <= line + AROUND; at++)
            if (lines.sums.has(at) || text(at) !== undefined) shown.add(at);
    if (!lines.sums.size) return null;
    return (
        <>
            <h3>Lines</h3>
            <p class="quiet">
                {lines.offsets
                    ? "Counted from the function's first line; -b BINARY gives their real numbers."
                    : "A context counts for each line that it goes through."}
            </p>
            <ol class="inside" id="lines">
                {[...shown]
                    .sort((a, b) => a - b)
                    .map((line) => (
                        <Line
                            key={line}
                            label={lines.offsets ? `+${line}` : String(line)}
                            sum={lines.sums.get(line)}
                            amount={(sum) => weightText(weight, sum)}
                            total={total}
                            text={text(line)}
                        />
                    ))}
            </ol>
        </>
    );
}

function Line(props: {
    label: string;
    sum: number | undefined; // undefined: a line between
    amount: (sum: number) => string;
    total: number;
    text: string | undefined;
}) {
    const { label, sum, amount, total, text } = props;
    if (sum === undefined)
        return (
            <li class="source-line">
                <span class="where">{label}</span>
                <code>{text}</code>
            </li>
        );
    return (
        <li data-exact={sum}>
            <div class="at">
                <span class="where">{label}</span>
                <span class="meter" aria-hidden="true">
                    <span style={{ width: `${(100 * sum) / (total || 1)}%` }} />
                </span>
                <span class="many">{amount(sum)}</span>
                {text !== undefined && <code>{text}</code>}
            </div>
        </li>
    );
}
