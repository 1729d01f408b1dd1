// The report of a sample profile, or of two: headline, contexts and inlined code, how samples
// spread, indirect calls, functions, and a panel for one of them.
import { useMemo } from "preact/hooks";
import { CallSites } from "./call_sites";
import type { SampleData } from "./data";
import * as format from "./format";
import { FunctionPanel } from "./function_panel";
import { FunctionTable } from "./function_table";
import { PageTop, useKeys } from "./page_frame";
import { SampleFlame } from "./sample_flame";
import { SampleFunctions } from "./sample_functions";
import { SampleHeadline } from "./sample_headline";
import { MOVED_OF_ALL, MOVED_OF_ITSELF, SampleModel } from "./sample_model";
import { SampleSpread } from "./sample_spread";
import type { SampleGroup } from "./sample_view";
import { useSampleView } from "./sample_view";

function subtitle({ base, format: name, info }: SampleData): string {
    const parts = [
        base !== undefined ? `Sample profile compared with ${base}` : "Sample profile",
        name,
        info.contexts && "with calling contexts",
        info.probes && "by probes",
        info.preinlined && "with inline decisions",
        info.partial && "of shared code",
    ];
    return parts.filter(Boolean).join(" · ");
}

export function SampleReport({ data }: { data: SampleData }) {
    const model = useMemo(() => new SampleModel(data), [data]);
    const view = useSampleView(model);
    const { found, hits } = view;
    useKeys(view.isOpen, view.close);
    const spread = <SampleSpread model={model} />;
    const sites = (
        <CallSites model={model} nodes={found?.nodes ?? null} onOpen={view.openRow} />
    );
    const choice = <GroupChoice group={view.group} data={data} onGroup={view.setGroup} />;
    const table = view.group === "function" ? (
        <SampleFunctions
            model={model}
            sums={view.sums}
            matches={found?.funcs ?? null}
            sort={view.sort}
            onSort={view.setSort}
            onOpen={view.openFunc}
            open={view.func}
        >
            {choice}
        </SampleFunctions>
    ) : (
        <FunctionTable
            model={model}
            matches={found?.rows ?? null}
            filter={view.filter}
            onClearFilter={() => view.setZoom(0)}
            sort={view.sort}
            onSort={view.setSort}
            onOpen={view.openRow}
            open={view.row}
        >
            {choice}
        </FunctionTable>
    );
    return (
        <>
            <PageTop
                title={data.title}
                subtitle={subtitle(data)}
                searches="functions"
                query={view.query}
                onQuery={view.setQuery}
                hits={hits}
                found={found ? inWords(view.foundFuncs, found.rows, data) : ""}
            />
            <main>
                <SampleHeadline model={model} />
                {model.isDeep && (
                    <div class="columns">
                        <SampleFlame
                            model={model}
                            matched={found?.nodes ?? null}
                            root={view.zoom}
                            onZoom={view.setZoom}
                        />
                    </div>
                )}
                <div class="columns wide-right">
                    <div class="column">
                        {spread}
                        {sites}
                    </div>
                    {table}
                </div>
                <Rest model={model} />
            </main>
            {view.isOpen && <FunctionPanel view={view} func={view.func!} row={view.row} />}
        </>
    );
}

/** Functions that are inlined everywhere have no profile of their own. */
function GroupChoice(props: {
    group: SampleGroup;
    data: SampleData;
    onGroup: (group: SampleGroup) => void;
}) {
    const { info } = props.data;
    if (!info.inlinees && !info.contexts) return null;
    const names: Record<SampleGroup, string> = {
        profile: info.contexts ? "Contexts" : "With a profile",
        function: "All copies",
    };
    return (
        <fieldset class="choice">
            <legend class="hidden">What a row is</legend>
            {(Object.keys(names) as SampleGroup[]).map((group) => (
                <label key={group}>
                    <input
                        type="radio"
                        name="group"
                        value={group}
                        checked={group === props.group}
                        onChange={() => props.onGroup(group)}
                    />
                    <span>{names[group]}</span>
                </label>
            ))}
        </fieldset>
    );
}

/** How many functions the search finds, and contexts, in words. */
function inWords(funcs: number, rows: Uint8Array, { info }: SampleData): string {
    const functions = format.plural(funcs, "function");
    const found = rows.reduce((n, is) => n + is, 0);
    return info.contexts ? `${functions}, ${format.plural(found, "context")}` : functions;
}

/** What the page leaves out, and how much that is. */
function Rest({ model }: { model: SampleModel }) {
    const { rest, info, generator } = model.data;
    const noun = info.contexts ? "context" : "function";
    const unit = info.probes ? "probe" : "line";
    return (
        <footer class="quiet">
            {rest.functions > 0 && (
                <p id="rest">
                    Not shown one by one: {format.plural(rest.functions, noun)} with{" "}
                    {format.plural(rest.samples, "sample")} (
                    {format.percent(rest.samples / model.whole)} of all), none with more than{" "}
                    {format.percent(rest.largest_share)}.
                </p>
            )}
            {rest.inlinees > 0 && (
                <p id="folded">
                    Not shown one by one: {format.plural(rest.inlinees, "inlined function")}{" "}
                    {rest.folded_share
                        ? `with ${format.percent(rest.folded_share)} of the samples or less`
                        : "without samples"}
                    , counted where {rest.inlinees === 1 ? "it is" : "they are"} inlined.
                </p>
            )}
            {rest.records > 0 && (
                <p id="left-out">
                    {format.plural(rest.records, "count")} of {unit}s, calls and types with fewer
                    than {format.plural(rest.least_count, "sample")} are left out of the panels.
                </p>
            )}
            {info.conflicts > 0 && (
                <p>
                    {format.plural(info.conflicts, noun)} with{" "}
                    {format.plural(info.conflict_samples, "sample")} are left out: another checksum
                    of the same function has more samples.
                </p>
            )}
            {model.isDiff && (
                <p>
                    Hotter and cooler: a share that moved by {100 * MOVED_OF_ITSELF} % of itself or
                    more, and by {100 * MOVED_OF_ALL} % of all samples or more. Samples compared
                    are those of {unit}s.
                </p>
            )}
            {!model.isDiff && (
                <p>
                    Samples are those of {unit}s: a {noun} has those of its {unit}s and of what is
                    inlined there, and all together are the samples of the profile.
                </p>
            )}
            <p>Made by {generator}.</p>
        </footer>
    );
}
