// What the search finds, by name: functions, libraries, threads or types, largest first.
import { useMemo } from "preact/hooks";
import { weightText } from "./flame_graph";
import * as format from "./format";
import { groupings } from "./group_sums";
import type { View } from "./heap_view";
import type { Hit } from "./search_box";

const MOST = 200; // gone through one by one

export function useHits(view: View): Hit[] {
    const { model, sums, rows, weight } = view;
    const searched = rows !== null;
    const totals = useMemo(
        () => (searched ? sums.total(model.weights(weight)) : null),
        [searched, model, sums, weight],
    );
    return useMemo(() => {
        if (!rows || !totals) return [];
        const list: number[] = [];
        rows.forEach((is, row) => is && list.push(row));
        list.sort((a, b) => totals[b]! - totals[a]! || a - b);
        return list.slice(0, MOST).map((row) => ({
            key: String(row),
            name: sums.name(row),
            kind: sums.place(row),
            text: weightText(weight, totals[row]!),
            choose: () => view.openRow(row),
        }));
    }, [rows, totals, view.openRow]);
}

/** How many there are, in words. */
export function found(view: View): string {
    const { rows, matches, sums } = view;
    if (!rows || !matches) return "";
    const count = (is: Uint8Array) => is.reduce((n, one) => n + one, 0);
    const { noun, nouns } = groupings[sums.by];
    return (
        `${format.plural(count(rows), noun, nouns)}, ` +
        format.plural(count(matches), "context")
    );
}
