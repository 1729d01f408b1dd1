// Who calls something, or whom it calls, with shares; largest first.
import { useState } from "preact/hooks";
import { AllButton } from "./all_button";
import * as format from "./format";

export interface Neighbour {
    key: number;
    name: string;
    share: number; // of all that the list is about
    exact: number;
    text: string; // how much
    open: (() => void) | null; // null: no function
}

const SHOWN = 12;
const MOST = 300; // when all are asked for

export function NeighbourList({ id, list }: { id: string; list: Neighbour[] }) {
    const [all, setAll] = useState(false);
    return (
        <>
            <ul class="neighbours" id={id}>
                {list.slice(0, all ? MOST : SHOWN).map((n) => (
                    <li key={n.key} data-exact={n.exact}>
                        <span class="share">{format.percent(n.share)}</span>
                        <span class="meter" aria-hidden="true">
                            <span style={{ width: `${Math.min(100, 100 * n.share)}%` }} />
                        </span>
                        {n.open === null ? (
                            <span class="quiet">{n.name}</span>
                        ) : (
                            <button type="button" class="link" title={n.name} onClick={n.open}>
                                {format.brief(n.name)}
                            </button>
                        )}
                        <span class="many quiet">{n.text}</span>
                    </li>
                ))}
            </ul>
            <AllButton n={list.length} shown={SHOWN} most={MOST} all={all} onAll={setAll} />
        </>
    );
}
