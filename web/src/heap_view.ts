// What the page of a heap profile shows at the moment: the unit, the search, what is chosen. The
// address of the page keeps it.
import { useCallback, useMemo, useState } from "preact/hooks";
import { number, useAddress } from "./address";
import { CallSums } from "./call_sums";
import type { Sort } from "./data_table";
import * as format from "./format";
import type { Grouping, GroupSums } from "./group_sums";
import { isOfCalls, knownGroupings, ThreadSums, TypeSums } from "./group_sums";
import type { CallTree, HeapModel, Weight } from "./heap_model";
import { firstSort } from "./heap_functions";
import type { HeldBy, HeldKind } from "./held";
import type { Range } from "./held_times";
import { nearestPoint, rangeOf } from "./held_times";
import type { Filter } from "./page_frame";
import { within } from "./tree";

export type View = ReturnType<typeof useView>;

/** The words of the address. */
function useStates(profile: HeapModel) {
    const { get, change } = useAddress();
    const [from, to] = [number(get("from")), number(get("to"))];
    const model = useMemo(() => {
        const range = rangeFrom(profile, from, to);
        return range ? profile.in(range) : profile;
    }, [profile, from, to]);
    const unit = get("unit") as Weight | null;
    const weight: Weight = unit && model.knownWeights().includes(unit) ? unit : "bytes";
    const programOnly = get("frames") !== "all";
    const group = get("group");
    const by = knownGroupings(model).find((known) => known === group) ?? "function";
    const order = get("sort");
    const rising = get("order") === "rising";
    const sort = useMemo<Sort>(
        () => ({ key: order ?? firstSort(model, by), falling: !rising }),
        [model, by, order, rising],
    );
    const over = get("over");
    const context = number(get("context"));
    const flame = (get("flame") ?? "").split(" ");
    return {
        change,
        model,
        weight,
        programOnly,
        bottomUp: flame.includes("bottom-up"),
        byType: flame.includes("by-type") && model.data.types !== undefined,
        zoom: number(get("zoom")),
        by,
        sort,
        heldBy: heldBy(model, over),
        query: get("search") ?? "",
        chosen: get("chosen"),
        context: context !== null && context < model.n ? context : null,
    };
}

/** The contexts at or below a box of the flame graph. */
function below(model: HeapModel, tree: CallTree, node: number, bottomUp: boolean): Filter {
    const inside = within(tree, node);
    const name = format.shorten(model.boxName(tree, node));
    return {
        text: `${bottomUp ? "from" : "below"} ${name}`,
        has: (c) => inside[tree.nodeOf[c]!] === 1,
    };
}

function heldBy(model: HeapModel, word: string | null): HeldBy {
    if (word === "context") return word;
    return knownGroupings(model).find((known) => known === word) ?? "function";
}

function sumsBy(model: HeapModel, by: Grouping, programOnly: boolean): GroupSums {
    if (by === "thread") return new ThreadSums(model);
    return by === "type" ? new TypeSums(model) : new CallSums(model, by, programOnly);
}

/** The range of time that is asked for, as far as it is one. */
function rangeFrom(model: HeapModel, from: number | null, to: number | null): Range | null {
    const points = model.data.over_time?.points;
    if (!points || from === null || to === null) return null;
    return rangeOf(points, nearestPoint(points, from), nearestPoint(points, to));
}

/** Contexts that the search and the filter have; null: all. */
function both(n: number, matches: Uint8Array | null, filter: Filter | null): Uint8Array | null {
    if (!filter) return matches;
    return Uint8Array.from({ length: n }, (_, c) =>
        (!matches || matches[c]) && filter.has(c) ? 1 : 0,
    );
}

/** Of a range only what held something then is shown. */
function inRange(model: HeapModel, filter: Filter | null): Filter | null {
    const { range } = model;
    if (!range) return filter;
    const held = model.weights("range");
    const text = `from ${format.ms(range.from)} to ${format.ms(range.to)}`;
    return {
        text: filter ? `${filter.text}, ${text}` : text,
        has: (c) => held[c]! > 0 && (!filter || filter.has(c)),
    };
}

export function useView(profile: HeapModel) {
    const states = useStates(profile);
    const { change, model, programOnly, by, query, chosen, context, bottomUp, byType } = states;
    const [other, setOther] = useState<Filter | null>(null);
    const [closed, setClosed] = useState<string | null>(null);
    const sums = useMemo(() => sumsBy(model, by, programOnly), [model, by, programOnly]);
    const matches = useMemo(() => (query.trim() ? model.search(query) : null), [model, query]);
    const rows = useMemo(() => sums.search(query), [sums, query]);
    const row = useMemo(() => (chosen === null ? null : sums.find(chosen)), [sums, chosen]);
    const tree = useMemo(
        () => model.callTree(programOnly, byType, bottomUp),
        [model, programOnly, byType, bottomUp],
    );
    const zoom = states.zoom !== null && states.zoom < tree.parent.length ? states.zoom : 0;
    const narrowed = useMemo<Filter | null>(() => {
        if (row === null) return zoom ? below(model, tree, zoom, bottomUp) : other;
        const inside = sums.through(row);
        const word = isOfCalls(sums.by) ? "through" : "of";
        return { text: `${word} ${format.fit(sums.name(row), 60)}`, has: (c) => inside[c] === 1 };
    }, [model, sums, row, other, tree, zoom, bottomUp]);
    const filter = useMemo(() => inRange(model, narrowed), [model, narrowed]);
    const marked = useMemo(
        () => both(model.n, matches, filter),
        [model, matches, filter],
    );
    const panel = context !== null ? "context" : row !== null && closed !== chosen ? "row" : null;

    const openIn = useCallback(
        (rowsOf: GroupSums, at: number) => {
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
        const own = shared ? sums : sumsBy(model, heldBy, programOnly);
        return { by: heldBy, sums: own, open: (at) => openIn(own, at) };
    }, [model, heldBy, by, programOnly, sums, openContext, openIn]);
    const close = useCallback(() => {
        if (context !== null) change({ context: null });
        else setClosed(chosen);
    }, [change, context, chosen]);
    const setFilter = useCallback(
        (to: Filter | null) => {
            setOther(to);
            change({ chosen: null, zoom: null }, true);
        },
        [change],
    );
    // What the table is narrowed to comes from the row, or else from the box, and then the range.
    const clearFilter = () => {
        if (row !== null) change({ chosen: null }, true);
        else if (narrowed) setFilter(null);
        else setRange(null);
    };
    const setRange = (range: Range | null) =>
        change(
            {
                from: range && String(range.from),
                to: range && String(range.to),
                unit: range && "range",
            },
            true,
        );
    const setZoom = (node: number) => {
        setOther(null);
        const inside = node ? within(tree, node) : null;
        const found: number[] = [];
        if (inside) tree.nodeOf.forEach((n, c) => inside[n] && found.push(c));
        change(
            {
                zoom: node ? String(node) : null,
                chosen: null,
                context: found.length === 1 ? String(found[0]) : null,
            },
            true,
        );
    };
    // Another tree has other boxes.
    const setFlame = (to: Partial<Record<"bottomUp" | "byType", boolean>>) => {
        const is = { bottomUp, byType, ...to };
        const words = [is.bottomUp && "bottom-up", is.byType && "by-type"].filter(Boolean);
        change({ flame: words.join(" ") || null, zoom: null });
    };
    return {
        ...states,
        setRange,
        tree,
        zoom,
        setZoom,
        setFlame,
        clearFilter,
        sums,
        matches,
        marked,
        rows,
        row,
        filter,
        held,
        panel,
        openIn,
        openRow,
        openContext,
        close,
        setFilter,
        setHeldBy: (to: HeldBy) => change({ over: to === "function" ? null : to }),
        setQuery: (text: string) => change({ search: text }),
        setWeight: (to: Weight) => change({ unit: to === "bytes" ? null : to }),
        setProgramOnly: (to: boolean) => change({ frames: to ? null : "all", zoom: null }),
        setSort: (to: Sort) =>
            change({
                sort: to.key === firstSort(model, by) ? null : to.key,
                order: to.falling ? null : "rising",
            }),
        setGroup: (to: Grouping) =>
            change(
                // Self is of functions and libraries only.
                { group: to === "function" ? null : to, chosen: null, sort: null, order: null },
                true,
            ),
    };
}
