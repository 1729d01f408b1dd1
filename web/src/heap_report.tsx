// The report of a heap profile, or of two: headline, flame graph, functions, contexts, advice,
// scatter, and a panel for one function or context.
import { useMemo } from "preact/hooks";
import { AdviceList } from "./advice_list";
import { ContextPanel } from "./context_panel";
import { ContextTable } from "./context_table";
import type { HeapData } from "./data";
import { FlameGraph } from "./flame_graph";
import * as format from "./format";
import { Headline } from "./headline";
import { HeapFunctions } from "./heap_functions";
import { found, useHits } from "./heap_hits";
import { HeapModel } from "./heap_model";
import { useView } from "./heap_view";
import { PageTop, useKeys } from "./page_frame";
import { PlanGroups } from "./plan_groups";
import { SandwichPanel } from "./sandwich_panel";
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
    const profile = useMemo(() => new HeapModel(data), [data]);
    const view = useView(profile);
    const { model, sums, weight, query, matches, marked, rows, filter, setFilter, context } = view;
    const hits = useHits(view);
    useKeys(view.panel !== null, view.close);

    return (
        <>
            <PageTop
                title={data.title}
                subtitle={subtitle(data)}
                searches={data.types ? "functions, files and types" : "functions and files"}
                query={query}
                onQuery={view.setQuery}
                hits={hits}
                found={found(view)}
            />
            <main>
                <Headline model={model} />
                {data.over_time && data.over_time.points.length > 1 && (
                    <Timeline
                        model={model}
                        times={data.over_time}
                        matches={marked}
                        kind={view.held}
                        onBy={view.setHeldBy}
                        onRange={view.setRange}
                    />
                )}
                {data.plan && <PlanGroups plan={data.plan} />}
                <div class="columns wide-left">
                    <div class="column">
                        <FlameGraph
                            model={model}
                            tree={view.tree}
                            root={view.zoom}
                            onZoom={view.setZoom}
                            weight={weight}
                            onWeight={view.setWeight}
                            programOnly={view.programOnly}
                            onProgramOnly={view.setProgramOnly}
                            bottomUp={view.bottomUp}
                            onBottomUp={(bottomUp) => view.setFlame({ bottomUp })}
                            byType={view.byType}
                            onByType={(byType) => view.setFlame({ byType })}
                            matches={marked}
                        />
                        <HeapFunctions
                            model={model}
                            sums={sums}
                            weight={weight}
                            matches={rows}
                            sort={view.sort}
                            onSort={view.setSort}
                            onGroup={view.setGroup}
                            open={view.row}
                            onOpen={view.openRow}
                        />
                        <ContextTable
                            key={model.range ? "range" : "all"}
                            model={model}
                            matches={matches}
                            filter={filter}
                            onClearFilter={view.clearFilter}
                            onOpen={view.openContext}
                            open={context}
                        />
                        {data.types && (
                            <TypeTable
                                model={model}
                                matches={view.row === null && !model.range ? matches : marked}
                                onFilter={setFilter}
                            />
                        )}
                    </div>
                    <div class="column">
                        <AdviceList
                            model={model}
                            onOpen={view.openContext}
                            onFilter={setFilter}
                        />
                        {!data.some_accesses && (
                            <Scatter
                                model={model}
                                matches={matches}
                                filter={filter}
                                onOpen={view.openContext}
                                open={context}
                            />
                        )}
                    </div>
                </div>
                <Rest data={data} />
            </main>
            {view.panel === "context" && (
                <ContextPanel model={model} context={context!} onClose={view.close} />
            )}
            {view.panel === "row" && (
                <SandwichPanel
                    model={model}
                    sums={sums}
                    row={view.row!}
                    weight={weight}
                    programOnly={view.programOnly}
                    onOpen={view.openIn}
                    onClose={view.close}
                />
            )}
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
                    The program was not compiled for recording: accesses were counted in library
                    functions alone (memcpy and the like), so that it is not known what is not
                    used, cold or hot, and the page does not show it.
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
