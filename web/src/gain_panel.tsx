// Everything about one function in both builds.
import * as format from "./format";
import { callText } from "./gain_changes";
import { difference } from "./gain_functions";
import type { GainModel } from "./gain_model";
import { SidePanel } from "./side_panel";

interface Props {
    model: GainModel;
    row: number;
    onClose: () => void;
}

export function GainPanel({ model, row, onClose }: Props) {
    const f = model.data.functions;
    const spent = model.of(row);
    const bytes = (v: number) => (v ? format.bytes(v) : "none");
    const place = (v: number) => (v ? format.bytes(v - 1) : "");
    const lines: [what: string, before: string, now: string][] = [
        ["processor time", format.ms(spent.before * 1000), format.ms(spent.now * 1000)],
        ["ticks", format.count(f.ticks_before[row]!), format.count(f.ticks[row]!)],
        ["… in inlined copies", format.count(f.away_before[row]!), format.count(f.away[row]!)],
        ["code of its own", bytes(f.bytes_before[row]!), bytes(f.bytes[row]!)],
        ["… split off as cold", bytes(f.cold_before[row]!), bytes(f.cold[row]!)],
        ["… split off from the inlined rest", bytes(f.part_before[row]!), bytes(f.part[row]!)],
        ["place in the code", place(f.place_before[row]!), place(f.place[row]!)],
    ];
    return (
        <SidePanel title={format.shorten(model.name(row))} about={row} onClose={onClose}>
            {model.isCompared && (
                <p class="amount">
                    {difference(spent.before - spent.now)}{" "}
                    <span class="quiet">
                        ± {format.ms(2000 * spent.error)}
                        {!model.isSure(spent) && ", which may be chance"}
                    </span>
                </p>
            )}
            <p>
                {model.tags(row).map((tag) => (
                    <span key={tag} class="tag">
                        {tag}
                    </span>
                ))}
            </p>
            <table class="spread">
                <thead>
                    <tr>
                        <th />
                        <th scope="col">{model.isCompared ? "before" : "plain"}</th>
                        {model.isCompared && <th scope="col">now</th>}
                    </tr>
                </thead>
                <tbody>
                    {lines.map(([what, before, now]) => (
                        <tr key={what}>
                            <th scope="row">{what}</th>
                            <td>{before}</td>
                            {model.isCompared && <td>{now}</td>}
                        </tr>
                    ))}
                </tbody>
            </table>
            <Calls model={model} row={row} isNew={true} title="Inlined now" />
            <Calls model={model} row={row} isNew={false} title="No longer inlined" />
        </SidePanel>
    );
}

function Calls(props: { model: GainModel; row: number; isNew: boolean; title: string }) {
    const { model, row, isNew, title } = props;
    const { callee, caller } = model.data.inlined;
    const list = model.calls(model.name(row), isNew);
    if (!list.length) return null;
    return (
        <>
            <h3>{title}</h3>
            <ul class="changes">
                {list.map((i) => (
                    <li key={i}>
                        <span class="name">
                            {format.brief(callee[i]!)}
                            <span class="quiet"> in {format.brief(caller[i]!)}</span>
                        </span>
                        <span class="many">{callText(model, i)}</span>
                    </li>
                ))}
            </ul>
        </>
    );
}
