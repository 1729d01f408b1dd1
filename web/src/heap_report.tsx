// The report of a heap profile, or of two: headline, flame graph, advice, scatter, table, and
// a panel for one context.
import { useMemo, useState } from "preact/hooks";
import { AdviceList } from "./advice_list";
import { ContextPanel } from "./context_panel";
import { ContextTable } from "./context_table";
import type { HeapData } from "./data";
import { FlameGraph } from "./flame_graph";
import * as format from "./format";
import { Headline } from "./headline";
import { HeapModel } from "./heap_model";
import type { Filter } from "./page_frame";
import { PageTop, usePanel } from "./page_frame";
import { PlanGroups } from "./plan_groups";
import { Scatter } from "./scatter";
import { Timeline } from "./timeline";
import { TypeTable } from "./type_table";

function subtitle(data: HeapData): string {
    const kind =
        data.base !== undefined ? `Heap profile compared with ${data.base}` : "Heap profile";
    const parts = [kind, data.format, format.plural(data.totals.contexts, "context")];
    return parts.filter(Boolean).join(" · ");
}

export function HeapReport({ data }: { data: HeapData }) {
    const model = useMemo(() => new HeapModel(data), [data]);
    const [query, setQuery] = useState("");
    const [filter, setFilter] = useState<Filter | null>(null);
    const { open, setOpen, close } = usePanel();
    const matches = useMemo(() => (query.trim() ? model.search(query) : null), [model, query]);

    return (
        <>
            <PageTop
                title={data.title}
                subtitle={subtitle(data)}
                searches={data.types ? "functions, files and types" : "functions and files"}
                query={query}
                onQuery={setQuery}
            />
            <main>
                <Headline model={model} />
                {data.over_time && data.over_time.points.length > 1 && (
                    <Timeline model={model} times={data.over_time} onOpen={setOpen} />
                )}
                {data.plan && <PlanGroups plan={data.plan} />}
                <div class="columns wide-left">
                    <div class="column">
                        <FlameGraph
                            model={model}
                            matches={matches}
                            onOpen={setOpen}
                            onFilter={setFilter}
                        />
                        <ContextTable
                            model={model}
                            matches={matches}
                            filter={filter}
                            onClearFilter={() => setFilter(null)}
                            onOpen={setOpen}
                            open={open}
                        />
                        {data.types && (
                            <TypeTable model={model} matches={matches} onFilter={setFilter} />
                        )}
                    </div>
                    <div class="column">
                        <AdviceList model={model} onOpen={setOpen} onFilter={setFilter} />
                        <Scatter
                            model={model}
                            matches={matches}
                            filter={filter}
                            onOpen={setOpen}
                            open={open}
                        />
                    </div>
                </div>
                <Rest data={data} />
            </main>
            {open !== null && <ContextPanel model={model} context={open} onClose={close} />}
        </>
    );
}

/** What the page leaves out, and how much that is. */
function Rest({ data }: { data: HeapData }) {
    const { rest, totals } = data;
    return (
        <footer class="quiet">
            {rest.contexts > 0 && (
                <p id="rest">
                    Not shown one by one: {format.plural(rest.contexts, "context")}, together{" "}
                    {format.bytes(rest.TotalSize)} (
                    {format.percent(rest.TotalSize / (totals.TotalSize || 1))} of the bytes) in{" "}
                    {format.plural(rest.AllocCount, "object")}. None of them has more than{" "}
                    {format.percent(rest.largest_share)} of all bytes, objects, accesses or
                    lifetime.
                </p>
            )}
            {data.some_accesses && (
                <p id="some-accesses">
                    The program was not compiled for this: accesses are those of library functions
                    alone (memcpy and their like), so that what is not used, cold or hot cannot be
                    told.
                </p>
            )}
            <p>
                {data.labels
                    .filter((label) => label.name && label.contexts)
                    .map((label) => `${label.name}: ${label.rule}. `)}
                Made by {data.generator}.
            </p>
        </footer>
    );
}
