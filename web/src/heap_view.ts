// What the page of a heap profile shows at the moment: the unit, the search, what is chosen. The
// address of the page keeps it.
import { useCallback, useMemo, useState } from "preact/hooks";
import { useAddress } from "./address";
import type { Grouping } from "./call_sums";
import { CallSums } from "./call_sums";
import type { Sort } from "./data_table";
import * as format from "./format";
import type { HeapModel, Weight } from "./heap_model";
import { firstSort } from "./heap_functions";
import type { HeldBy, HeldKind } from "./held";
import type { Filter } from "./page_frame";

export type View = ReturnType<typeof useView>;

/** The words of the address. */
function useStates(model: HeapModel) {
    const { get, change } = useAddress();
    const unit = get("unit") as Weight | null;
    const weight: Weight = unit && model.knownWeights().includes(unit) ? unit : "bytes";
    const programOnly = get("frames") !== "all";
    const by: Grouping =
        get("group") === "library" && model.knowsLibraries() ? "library" : "function";
    const order = get("sort");
    const rising = get("order") === "rising";
    const sort = useMemo<Sort>(
        () => ({ key: order ?? firstSort(model), falling: !rising }),
        [model, order, rising],
    );
    const over = get("over");
    const contextText = get("context");
    const context = contextText === null ? NaN : Number(contextText);
    return {
        change,
        weight,
        programOnly,
        bottomUp: get("flame") === "bottom-up",
        by,
        sort,
        heldBy: heldBy(model, over),
        query: get("search") ?? "",
        chosen: get("chosen"),
        context: Number.isInteger(context) && context >= 0 && context < model.n ? context : null,
    };
}

function heldBy(model: HeapModel, word: string | null): HeldBy {
    if (word === "context") return word;
    return word === "library" && model.knowsLibraries() ? word : "function";
}

/** Contexts that the search and the filter have; null: all. */
function both(n: number, matches: Uint8Array | null, filter: Filter | null): Uint8Array | null {
    if (!filter) return matches;
    return Uint8Array.from({ length: n }, (_, c) =>
        (!matches || matches[c]) && filter.has(c) ? 1 : 0,
    );
}

export function useView(model: HeapModel) {
    const states = useStates(model);
    const { change, programOnly, by, query, chosen, context } = states;
    const [other, setOther] = useState<Filter | null>(null);
    const [closed, setClosed] = useState<string | null>(null);
    const sums = useMemo(() => new CallSums(model, by, programOnly), [model, by, programOnly]);
    const matches = useMemo(() => (query.trim() ? model.search(query) : null), [model, query]);
    const rows = useMemo(() => sums.search(query), [sums, query]);
    const row = useMemo(() => (chosen === null ? null : sums.find(chosen)), [sums, chosen]);
    const filter = useMemo<Filter | null>(() => {
        if (row === null) return other;
        const inside = sums.through(row);
        return { text: `through ${format.fit(sums.name(row), 60)}`, has: (c) => inside[c] === 1 };
    }, [sums, row, other]);
    const marked = useMemo(
        () => both(model.n, matches, filter),
        [model, matches, filter],
    );
    const panel = context !== null ? "context" : row !== null && closed !== chosen ? "row" : null;

    const openIn = useCallback(
        (rowsOf: CallSums, at: number) => {
            setOther(null);
            setClosed(null);
            const group = rowsOf.by === "function" ? null : rowsOf.by;
            change({ group, chosen: rowsOf.key(at), context: null }, true);
        },
        [change],
    );
    const openRow = useCallback((at: number) => openIn(sums, at), [openIn, sums]);
    const openContext = useCallback(
        (at: number) => change({ context: String(at) }, true),
        [change],
    );
    const { heldBy } = states;
    const held = useMemo<HeldKind>(() => {
        if (heldBy === "context") return { by: heldBy, sums: null, open: openContext };
        const shared = heldBy === by || !model.data.over_time;
        const own = shared ? sums : new CallSums(model, heldBy, programOnly);
        return { by: heldBy, sums: own, open: (at) => openIn(own, at) };
    }, [model, heldBy, by, programOnly, sums, openContext, openIn]);
    const close = useCallback(() => {
        if (context !== null) change({ context: null });
        else setClosed(chosen);
    }, [change, context, chosen]);
    const setFilter = useCallback(
        (to: Filter | null) => {
            setOther(to);
            change({ chosen: null }, true);
        },
        [change],
    );
    return {
        ...states,
        model,
        sums,
        matches,
        marked,
        rows,
        row,
        filter,
        held,
        panel,
        openRow,
        openContext,
        close,
        setFilter,
        setHeldBy: (to: HeldBy) => change({ over: to === "function" ? null : to }),
        setQuery: (text: string) => change({ search: text }),
        setWeight: (to: Weight) => change({ unit: to === "bytes" ? null : to }),
        setProgramOnly: (to: boolean) => change({ frames: to ? null : "all" }),
        setBottomUp: (to: boolean) => change({ flame: to ? "bottom-up" : null }),
        setSort: (to: Sort) =>
            change({
                sort: to.key === firstSort(model) ? null : to.key,
                order: to.falling ? null : "rising",
            }),
        setGroup: (to: Grouping) =>
            change({ group: to === "function" ? null : to, chosen: null }, true),
    };
}
