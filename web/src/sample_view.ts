// What the page of a sample profile shows at the moment: the search, what is chosen. The address of
// the page keeps it.
import { useCallback, useMemo, useState } from "preact/hooks";
import { number, useAddress } from "./address";
import type { Sort } from "./data_table";
import * as format from "./format";
import type { Filter } from "./page_frame";
import { FunctionSums } from "./sample_calls";
import type { SampleModel } from "./sample_model";
import type { Hit } from "./search_box";
import { within } from "./tree";

export type SampleView = ReturnType<typeof useSampleView>;

const MOST = 200; // hits that are gone through one by one

/** What a row is: a profile of a function or context, or a function with all its copies. */
export type SampleGroup = "profile" | "function";

export const firstSort = (model: SampleModel, group: SampleGroup = "profile"): string =>
    group === "function" ? "self" : model.isDiff ? "moved" : "samples";

/** Rows below a box, or else the one that it is in. */
function below(model: SampleModel, node: number): number[] {
    const inside = within(model.tree, node);
    const rows: number[] = [];
    model.nodeOf.forEach((n, row) => inside[n] && rows.push(row));
    const above = model.rowAbove(node);
    return rows.length || above === undefined ? rows : [above];
}

export function useSampleView(model: SampleModel) {
    const { get, change } = useAddress();
    const [closed, setClosed] = useState<string | null>(null);
    const query = get("search") ?? "";
    const found = useMemo(() => (query.trim() ? model.search(query) : null), [model, query]);
    const sums = useMemo(() => new FunctionSums(model), [model]);

    const chosen = get("chosen");
    const func = useMemo(() => (chosen === null ? null : model.findFunc(chosen)), [model, chosen]);
    const rows = useMemo(() => (func === null ? [] : model.rowsOf(func)), [model, func]);
    const asked = number(get("row"));
    const only = rows.length === 1 ? rows[0]! : null;
    const row = asked !== null && rows.includes(asked) ? asked : only;
    const here = `${chosen} ${row}`;

    const box = number(get("zoom"));
    const zoom = box !== null && box < model.tree.parent.length ? box : 0;
    const filter = useMemo<Filter | null>(() => {
        if (!zoom) return null;
        const set = new Set(below(model, zoom));
        return { text: `below ${format.shorten(model.name(zoom))}`, has: (r) => set.has(r) };
    }, [model, zoom]);

    const openFunc = useCallback(
        (at: number) => {
            setClosed(null);
            change({ chosen: model.funcKey(at), row: null }, true);
        },
        [model, change],
    );
    const rowWords = (at: number) => {
        const of = model.data.nodes.func[model.nodeOf[at]!]!;
        const several = model.rowsOf(of).length > 1;
        return { chosen: model.funcKey(of), row: several ? String(at) : null };
    };
    const openRow = useCallback(
        (at: number) => {
            setClosed(null);
            change(rowWords(at), true);
        },
        [model, change],
    );
    const setZoom = (node: number) => {
        const of = node ? below(model, node) : [];
        setClosed(null);
        change(
            {
                zoom: node ? String(node) : null,
                ...(of.length === 1 ? rowWords(of[0]!) : { chosen: null, row: null }),
            },
            true,
        );
    };
    const close = useCallback(() => setClosed(here), [here]);

    const list = useMemo(() => {
        const funcs: number[] = [];
        found?.funcs.forEach((is, f) => is && sums.total[f]! > 0 && funcs.push(f));
        return funcs.sort((a, b) => sums.total[b]! - sums.total[a]! || a - b);
    }, [found, sums]);
    const hits = useMemo<Hit[]>(() => {
        return list.slice(0, MOST).map((f) => ({
            key: String(f),
            name: model.funcName(f),
            kind: model.rowsOf(f).length ? "" : "inlined everywhere",
            text: format.plural(sums.total[f]!, "sample"),
            choose: () => openFunc(f),
        }));
    }, [model, sums, list, openFunc]);

    const group: SampleGroup = get("group") === "function" ? "function" : "profile";
    const order = get("sort");
    const rising = get("order") === "rising";
    const sort = useMemo<Sort>(
        () => ({ key: order ?? firstSort(model, group), falling: !rising }),
        [model, group, order, rising],
    );
    return {
        model,
        sums,
        query,
        found,
        hits,
        foundFuncs: list.length,
        func,
        row,
        isOpen: func !== null && closed !== here,
        zoom,
        filter,
        sort,
        group,
        openFunc,
        openRow,
        setZoom,
        close,
        setQuery: (text: string) => change({ search: text }),
        setSort: (to: Sort) =>
            change({
                sort: to.key === firstSort(model, group) ? null : to.key,
                order: to.falling ? null : "rising",
            }),
        setGroup: (to: SampleGroup) =>
            change({ group: to === "profile" ? null : to, sort: null, order: null }),
    };
}
