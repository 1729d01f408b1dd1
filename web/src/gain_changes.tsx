// What the compiler and linker did: calls that are inlined now, functions at other places, code
// that was split off.
import { useState } from "preact/hooks";
import { AllButton } from "./all_button";
import * as format from "./format";
import type { GainModel } from "./gain_model";

interface Props {
    model: GainModel;
    matches: Uint8Array | null;
    onOpen: (row: number) => void;
}

const SHOWN = 8;
const MOST = 400;

/** What the rest of a line says of a call. */
export function callText(model: GainModel, call: number): string {
    const { places, share } = model.data.inlined;
    return `${format.plural(places[call]!, "place")}, ${format.percent(share[call]!)}`;
}

export function InlinedCalls({ model, isNew }: { model: GainModel; isNew: boolean }) {
    const [all, setAll] = useState(false);
    const { callee, caller } = model.data.inlined;
    const list = model.calls(null, isNew);
    if (!list.length) return null;
    return (
        <section class="card sites" id={isNew ? "inlined" : "not-inlined"}>
            <h2>{isNew ? "Inlined now" : "No longer inlined"}</h2>
            <p class="quiet">
                Calls of which {isNew ? "the new build" : "only the plain build"} has a copy in
                the caller, with the share of the samples of all inlined code.
            </p>
            <ul class="changes">
                {list.slice(0, all ? MOST : SHOWN).map((i) => (
                    <li key={i}>
                        <span class="name">
                            <b title={callee[i]}>{format.brief(callee[i]!)}</b>
                            <span class="quiet"> in {format.brief(caller[i]!)}</span>
                        </span>
                        <span class="many">{callText(model, i)}</span>
                    </li>
                ))}
            </ul>
            <AllButton n={list.length} shown={SHOWN} most={MOST} all={all} onAll={setAll} />
        </section>
    );
}

interface ListProps extends Props {
    id: string;
    title: string;
    says: string;
    has: (row: number) => boolean;
    text: (row: number) => string;
}

function FunctionList({ model, matches, onOpen, id, title, says, has, text }: ListProps) {
    const [all, setAll] = useState(false);
    const list = model.rows((row) => has(row) && (!matches || !!matches[row]));
    if (!list.length) return null;
    return (
        <section class="card sites" id={id}>
            <h2>
                {title} <span class="quiet">{format.plural(list.length, "function")}</span>
            </h2>
            <p class="quiet">{says}</p>
            <ul class="changes">
                {list.slice(0, all ? MOST : SHOWN).map((row) => (
                    <li key={row}>
                        <button type="button" class="link name" onClick={() => onOpen(row)}>
                            {format.brief(model.name(row))}
                        </button>
                        <span class="many">{text(row)}</span>
                    </li>
                ))}
            </ul>
            <AllButton n={list.length} shown={SHOWN} most={MOST} all={all} onAll={setAll} />
        </section>
    );
}

export function MovedFunctions(props: Props) {
    const f = props.model.data.functions;
    const at = (place: number) => format.bytes(place - 1);
    return (
        <FunctionList
            {...props}
            id="moved"
            title="Moved"
            says={
                "Functions at another place in the order, those with most time first: how far " +
                "from the start of the code they were, and are now."
            }
            has={(row) => f.moved[row]! > 0 && f.ticks_before[row]! + f.ticks[row]! > 0}
            text={(row) => `${at(f.place_before[row]!)} → ${at(f.place[row]!)}`}
        />
    );
}

export function SplitFunctions(props: Props) {
    const f = props.model.data.functions;
    const off = (row: number) => f.cold[row]! + f.part[row]!;
    const before = (row: number) => f.cold_before[row]! + f.part_before[row]!;
    return (
        <FunctionList
            {...props}
            id="split"
            title="Split off"
            says={
                "Code that was moved out of its function, because it is cold or so that the " +
                "rest can be inlined."
            }
            has={(row) => off(row) > before(row)}
            text={(row) => `${format.bytes(off(row))} of ${format.bytes(f.bytes[row]!)}`}
        />
    );
}

/** Libraries and the kernel, which are the same in both builds. */
export function OtherFiles({ model }: { model: GainModel }) {
    const { others } = model.data;
    if (!others.length) return null;
    const rows = others
        .map((other, i) => ({ path: other[0], spent: model.ofOther(i) }))
        .sort((a, b) => b.spent.before + b.spent.now - (a.spent.before + a.spent.now));
    return (
        <section class="card sites" id="others">
            <h2>In other files</h2>
            <p class="quiet">
                Libraries that the build does not make{model.isCompared && ": before, and now"}.
            </p>
            <ul class="changes">
                {rows.slice(0, SHOWN).map(({ path, spent }) => (
                    <li key={path}>
                        <span class="name" title={path}>
                            {format.fileName(path) || "unknown"}
                        </span>
                        <span class="many">
                            {format.ms(spent.before * 1000)}
                            {model.isCompared && ` → ${format.ms(spent.now * 1000)}`}
                        </span>
                    </li>
                ))}
            </ul>
        </section>
    );
}
