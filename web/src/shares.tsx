// What a call site calls, or the types it sees, with their shares.
import * as format from "./format";

export interface Share {
    name: string;
    count: number;
}

const SHOWN = 4; // others are summed up

export function Shares({ what, list }: { what: string; list: Share[] }) {
    if (!list.length) return null;
    if (list.length === 1)
        return (
            <p class="shares quiet" title={list[0]!.name}>
                {what === "calls" && "calls "}
                {format.shorten(list[0]!.name)}: {format.count(list[0]!.count)}
            </p>
        );
    const total = list.reduce((sum, s) => sum + s.count, 0) || 1;
    const rest = list.slice(SHOWN);
    const shown = list.slice(0, SHOWN);
    if (rest.length)
        shown.push({
            name: `${rest.length} others`,
            count: rest.reduce((sum, s) => sum + s.count, 0),
        });
    return (
        <ul class="shares" aria-label={what}>
            {shown.map((s, i) => (
                <li key={i}>
                    <span class="meter" aria-hidden="true">
                        <span style={{ width: `${(100 * s.count) / total}%` }} />
                    </span>
                    <span class="share">{format.percent(s.count / total)}</span>
                    <span class="function" title={s.name}>
                        {format.shorten(s.name)}
                    </span>
                </li>
            ))}
        </ul>
    );
}
