// How samples spread over lines, and how much of the program has any.
import * as format from "./format";
import type { SampleModel } from "./sample_model";

const HOT_PPM = 990_000; // LLVM's default, and llvm-profgen's

export function SampleSpread({ model }: { model: SampleModel }) {
    const { now, info } = model.data;
    const unit = info.probes ? "probe" : "line";
    // Of cutoffs that the same lines reach, the last one says all.
    const cutoffs = now.cutoffs.filter(
        ([ppm, , lines], i) => ppm === HOT_PPM || lines !== now.cutoffs[i + 1]?.[2],
    );
    const most = Math.log(now.num_counts + 1) || 1;
    return (
        <section class="card spread-card" aria-labelledby="spread-title">
            <h2 id="spread-title">Where the samples are</h2>
            <table class="cutoffs">
                <thead>
                    <tr>
                        <th scope="col">Samples</th>
                        <th scope="col" class="number" colSpan={2}>
                            {unit}s that have them
                        </th>
                        <th scope="col" class="number">
                            samples a {unit}
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {cutoffs.map(([ppm, least, lines]) => (
                        <tr key={ppm} class={ppm === HOT_PPM ? "hot" : ""}>
                            <th scope="row">
                                {format.ppm(ppm)}
                                {ppm === HOT_PPM && <span class="tag tag-hot">hot</span>}
                            </th>
                            <td class="wide">
                                <span class="meter" aria-hidden="true">
                                    <span
                                        style={{
                                            width: `${(100 * Math.log(lines + 1)) / most}%`,
                                        }}
                                    />
                                </span>
                            </td>
                            <td class="number">{format.count(lines)}</td>
                            <td class="number">≥ {format.count(least)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <p class="quiet">
                Bars are logarithmic, of {format.plural(now.num_counts, unit)}
                {info.contexts && ", contexts of a function added up"}. Compilers take a {unit} for
                hot from {format.plural(now.hot_count, "sample")} on, for cold up to{" "}
                {format.count(now.cold_count)}.
            </p>
            <Coverage model={model} />
        </section>
    );
}

function Coverage({ model }: { model: SampleModel }) {
    const { coverage: c, now, info } = model.data;
    if (!c)
        return (
            <p class="quiet">
                <code>-b BINARY</code> shows how much of the program this covers.
            </p>
        );
    const rows: [what: string, whole: number, profiled: number, inlined: number, bytes: boolean][] =
        [
            ["functions", c.functions, c.profiled, c.inlined, false],
            ["code", c.bytes, c.profiled_bytes, c.inlined_bytes, true],
        ];
    const unknownShare = format.percent(c.unknown_samples / (now.total_count || 1));
    const text = (v: number, bytes: boolean) => (bytes ? format.bytes(v) : format.count(v));
    return (
        <>
            <h3>Coverage of the program</h3>
            <table class="coverage">
                <thead>
                    <tr>
                        <th />
                        <th scope="col" class="number">
                            with a profile
                        </th>
                        <th scope="col" class="number">
                            inlined only
                        </th>
                        <th scope="col" class="number">
                            in all
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {rows.map(([what, whole, profiled, inlined, bytes]) => (
                        <tr key={what}>
                            <th scope="row">{what}</th>
                            <td class="number">
                                {text(profiled, bytes)} ({format.percent(profiled / (whole || 1))})
                            </td>
                            <td class="number">{text(inlined, bytes)}</td>
                            <td class="number">{text(whole, bytes)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {c.unknown > 0 && (
                <p class="quiet">
                    {format.plural(c.unknown, info.contexts ? "context" : "function")} of the
                    profile with {unknownShare} of the samples{" "}
                    {c.unknown === 1 ? "has no code of its" : "have no code of their"} own in the
                    binaries: inlined everywhere, or of another build.
                </p>
            )}
        </>
    );
}
