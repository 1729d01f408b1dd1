// The figures to know about a sample profile before anything else.
import type { SampleData, SampleSide } from "./data";
import * as format from "./format";
import type { Change, SampleModel } from "./sample_model";
import { Tiles } from "./tiles";
import type { Tile } from "./tiles";

function nouns(data: SampleData) {
    return {
        function: data.info.contexts ? "context" : "function",
        line: data.info.probes ? "probe" : "line",
    };
}

function tiles({ data }: SampleModel): Tile[] {
    const { now, before, info, coverage } = data;
    const noun = nouns(data);
    const compare = (of: (side: SampleSide) => number) =>
        before && of(before) ? of(now) / of(before) : undefined;
    const list: Tile[] = [
        {
            key: "total_count",
            label: "Samples",
            value: format.count(now.total_count),
            detail: `on ${format.plural(info.lines, noun.line)}`,
            exact: now.total_count,
            change: compare((s) => s.total_count),
        },
        {
            key: "functions",
            label: info.contexts ? "Contexts" : "Functions",
            value: format.count(info.functions),
            detail: info.contexts
                ? `of ${format.plural(info.distinct, "function")}`
                : `with ${format.plural(info.inlinees, "inlined one")}`,
            exact: info.functions,
        },
        {
            key: "heads",
            label: "Calls sampled",
            value: format.count(now.heads),
            detail: "at the heads of functions",
            exact: now.heads,
            change: compare((s) => s.heads),
        },
        {
            key: "hot_count",
            label: "Hot from",
            value: format.plural(now.hot_count, "sample"),
            detail: `a ${noun.line}; the hottest has ${format.count(now.max_count)}`,
            exact: now.hot_count,
            change: compare((s) => s.hot_count),
        },
        {
            key: "density",
            label: "Density",
            value: format.density(now.density),
            detail: `samples a ${noun.line} in the functions with 99 % of all`,
            exact: now.density,
            change: compare((s) => s.density),
        },
    ];
    if (coverage)
        list.push({
            key: "coverage",
            label: "Coverage",
            value: format.percent(coverage.profiled / (coverage.functions || 1)),
            detail: `of ${format.plural(coverage.functions, "function")} of the program`,
            exact: coverage.profiled,
        });
    return list;
}

/** One sentence on where the samples are. */
function summed(model: SampleModel): string {
    const noun = nouns(model.data).function;
    const most = model.nodeOf[0];
    if (most === undefined) return "This profile has no samples.";
    const ninety = model.cumulative.filter((share) => share < 0.9).length + 1;
    const few = Math.min(ninety, model.data.info.functions);
    return (
        `${format.count(few)} of ${format.plural(model.data.info.functions, noun)} ` +
        `${few === 1 ? "has" : "have"} 90 % of the samples. The hottest, ` +
        `${format.brief(model.name(most))}, has ${format.percent(model.share(0))}.`
    );
}

/** One sentence on what a comparison shows. */
function compared(model: SampleModel): string {
    const { data } = model;
    const overlap = data.overlap!;
    const number = { new: 0, gone: 0, hotter: 0, cooler: 0, same: 0 } as Record<Change, number>;
    for (let row = 0; row < model.n; row++) number[model.change(row)]++;
    const parts = (["new", "gone", "hotter", "cooler"] as const)
        .filter((change) => number[change])
        .map((change) => `${format.count(number[change])} ${change}`);
    return (
        `Samples are ${format.percent(overlap.similarity)} alike in where they are ` +
        `(sample overlap ${format.percent(overlap.sample_overlap)}). ` +
        `${data.info.contexts ? "Contexts" : "Functions"}: ` +
        `${parts.length ? parts.join(", ") : "none changed"}.`
    );
}

export function SampleHeadline({ model }: { model: SampleModel }) {
    return (
        <section aria-label="Headline figures">
            <p class="verdict" id="verdict">
                {model.isDiff ? compared(model) : summed(model)}
            </p>
            <Tiles tiles={tiles(model)} />
        </section>
    );
}
