// The report of two builds: what became faster, and why.
import { useCallback, useMemo, useState } from "preact/hooks";
import type { GainData } from "./data";
import * as format from "./format";
import { FormTable } from "./form_table";
import { InlinedCalls, MovedFunctions, OtherFiles, SplitFunctions } from "./gain_changes";
import { GainFunctions } from "./gain_functions";
import { GainModel } from "./gain_model";
import { GainPanel } from "./gain_panel";
import { PageTop, useKeys } from "./page_frame";
import type { Tile } from "./tiles";
import { Tiles } from "./tiles";

function subtitle({ trial }: GainData): string {
    const parts = ["Build with a profile", trial.compiler, trial.kept ? "kept" : "not kept"];
    return parts.filter(Boolean).join(" · ");
}

/** One sentence on what came of it. */
function verdict(model: GainModel): string {
    const { trial, seconds } = model.data;
    const kept = model.kept;
    if (kept && seconds[0] !== null && seconds[1] !== null) {
        const names = trial.rows.filter((row) => row.kept).map((row) => row.name);
        return (
            `${format.ms(seconds[1] * 1000)} of processor time instead of ` +
            `${format.ms(seconds[0] * 1000)}: ${(100 * (seconds[0] / seconds[1] - 1)).toFixed(1)}` +
            ` % faster. Kept: ${names.join(", ")}.`
        );
    }
    const why = trial.rows.filter((row) => row.why).at(-1)?.why;
    return `The build without a profile stays in place${why ? `: ${why}` : ""}.`;
}

function advice({ trial }: GainData): string[] {
    if (trial.kept) return [];
    return [...new Set(trial.rows.flatMap((row) => row.advice ?? []))];
}

function tiles(model: GainModel): Tile[] {
    const { trial, seconds, before, after, inlined } = model.data;
    const list: Tile[] = [];
    const [plain, now] = seconds;
    if (plain !== null && now !== null)
        list.push({
            key: "seconds",
            label: "Processor time",
            value: format.ms(now * 1000),
            detail: trial.kept ? `instead of ${format.ms(plain * 1000)}` : "without a profile",
            exact: now,
            change: trial.kept ? now / plain : undefined,
        });
    const bytes = model.kept?.bytes ?? trial.plain_bytes;
    if (bytes !== null)
        list.push({
            key: "bytes",
            label: "Code",
            value: format.bytes(bytes),
            detail: trial.kept && trial.plain_bytes !== null
                ? `instead of ${format.bytes(trial.plain_bytes)}` : "without a profile",
            exact: bytes,
            change: trial.kept && trial.plain_bytes ? bytes / trial.plain_bytes : undefined,
        });
    const side = after ?? before;
    if (side)
        list.push({
            key: "pages",
            label: "Hot pages",
            value: format.count(side.pages),
            detail: after && before
                ? `of 4 KiB, instead of ${format.count(before.pages)}, have 90 % of its time`
                : "of 4 KiB have 90 % of its time",
            exact: side.pages,
        });
    if (model.isCompared) {
        const fresh = inlined.new.filter((is) => is).length;
        list.push({
            key: "inlined",
            label: "Calls inlined now",
            value: format.count(fresh),
            detail: `${format.count(inlined.new.length - fresh)} no longer`,
            exact: fresh,
        });
        const moved = model.data.functions.moved.filter((is) => is).length;
        list.push({
            key: "moved",
            label: "Functions moved",
            value: format.count(moved),
            detail: "to another place in the order",
            exact: moved,
        });
    }
    return list;
}

export function GainReport({ data }: { data: GainData }) {
    const model = useMemo(() => new GainModel(data), [data]);
    const [query, setQuery] = useState("");
    const [open, setOpen] = useState<number | null>(null);
    const close = useCallback(() => setOpen(null), []);
    useKeys(open !== null, close);
    const matches = useMemo(() => {
        const text = query.trim().toLowerCase();
        if (!text) return null;
        return Uint8Array.from({ length: model.n }, (_, row) =>
            model.name(row).toLowerCase().includes(text) ? 1 : 0,
        );
    }, [model, query]);
    const found = matches ? matches.reduce((n, is) => n + is, 0) : 0;
    const lists = { model, matches, onOpen: setOpen };
    return (
        <>
            <PageTop
                title={data.title}
                subtitle={subtitle(data)}
                searches="functions"
                query={query}
                onQuery={setQuery}
                found={matches ? format.plural(found, "function") : ""}
            />
            <main>
                <section aria-label="Headline figures">
                    <p class="verdict" id="verdict">
                        {verdict(model)}
                    </p>
                    {advice(data).map((text) => (
                        <p key={text} class="hint">
                            {text}
                        </p>
                    ))}
                    <Tiles tiles={tiles(model)} />
                </section>
                <div class="columns">
                    <FormTable data={data} />
                </div>
                {data.before || data.after ? (
                    <div class={model.isCompared ? "columns gain-columns" : "columns"}>
                        <GainFunctions {...lists} open={open} />
                        <div class="column">
                            <InlinedCalls model={model} isNew={true} />
                            <InlinedCalls model={model} isNew={false} />
                            <MovedFunctions {...lists} />
                            <SplitFunctions {...lists} />
                            <OtherFiles model={model} />
                        </div>
                    </div>
                ) : null}
                <Rest model={model} />
            </main>
            {open !== null && <GainPanel model={model} row={open} onClose={close} />}
        </>
    );
}

/** What the figures are, and what the page leaves out. */
function Rest({ model }: { model: GainModel }) {
    const { rest, before, after, generator, trial } = model.data;
    return (
        <footer class="quiet">
            {before && (
                <p>
                    A function's time is its share of the {format.count(before.ticks)} ticks that
                    came while the plain build was recorded
                    {after && `, and of the ${format.count(after.ticks)} of the build kept`}
                    , of the time that was measured. Inlined copies count for their function.
                    {trial.run !== trial.measured &&
                        " Shares are of the recorded command, times of the measured one."}
                </p>
            )}
            {trial.kept && before && !after && (
                <p>The build that was kept was not recorded, so its functions are not shown.</p>
            )}
            {rest.functions > 0 && (
                <p id="rest">
                    Not shown one by one: {format.plural(rest.functions, "function")} with{" "}
                    {format.bytes(rest.bytes_before)} of code before
                    {after && ` and ${format.bytes(rest.bytes)} now`}, and{" "}
                    {format.plural(rest.ticks_before + rest.ticks, "tick")}.
                </p>
            )}
            {rest.calls > 0 && (
                <p>{format.plural(rest.calls, "further inlined call")} with fewer samples.</p>
            )}
            <p>Made by {generator}.</p>
        </footer>
    );
}
