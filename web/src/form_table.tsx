// The forms and layers of the build that were tried, and what each brought.
import { useRef } from "preact/hooks";
import type { GainData, TrialRow } from "./data";
import * as format from "./format";
import { scaleOf, TurnAxis, TurnChart } from "./turn_chart";
import { useWidth } from "./use_width";

const WIDE = 240; // pixels
const PADDING = 44; // of the card and of a cell

export function FormTable({ data }: { data: GainData }) {
    const { rows, plain_bytes: plain } = data.trial;
    const frame = useRef<HTMLElement>(null);
    const around = useWidth(frame, 900);
    const width = around < 560 ? Math.max(120, around - PADDING) : WIDE;
    const scale = scaleOf(rows);
    return (
        <section class="card forms" id="forms" aria-labelledby="forms-title" ref={frame}>
            <h2 id="forms-title">What was tried</h2>
            <p class="quiet">
                Each build ran in turns with the best before it. A dot is a turn; the bar is where
                the gain surely is, at {data.trial.sure_percent} %.
            </p>
            <div class="table-frame">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">Build</th>
                            <th scope="col" class="number">Speed</th>
                            <th scope="col" class="chart">
                                <span class="hidden">Turns</span>
                                <TurnAxis scale={scale} width={width} />
                            </th>
                            <th scope="col" class="number">Time</th>
                            <th scope="col" class="number">Code</th>
                            <th scope="col">Result</th>
                        </tr>
                    </thead>
                    <tbody>
                        <tr>
                            <th scope="row">plain</th>
                            <td />
                            <td class="chart" />
                            <td class="number">{seconds(rows[0]?.seconds_before ?? null)}</td>
                            <td class="number">{plain !== null && format.bytes(plain)}</td>
                            <td class="result" />
                        </tr>
                        {rows.map((row, i) => (
                            <tr key={i} data-form={row.name} class={row.kept ? "is-kept" : ""}>
                                <th scope="row">
                                    {row.name}
                                    {row.before !== "plain" && (
                                        <span class="quiet place">after {row.before}</span>
                                    )}
                                </th>
                                <td class="number">{speed(row)}</td>
                                <td class="chart">
                                    <TurnChart row={row} scale={scale} width={width} />
                                </td>
                                <td class="number">{seconds(row.seconds)}</td>
                                <td class="number">{code(row, plain)}</td>
                                <td class="result">
                                    <Result row={row} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <Commands data={data} />
        </section>
    );
}

function Result({ row }: { row: TrialRow }) {
    return (
        <>
            <span class={`tag ${row.kept ? "tag-gone" : ""}`}>
                {row.kept ? "kept" : "not kept"}
            </span>{" "}
            {row.why ?? (row.verdict === "not measured" ? row.verdict : "")}
        </>
    );
}

function seconds(s: number | null): string {
    return s === null ? "" : format.ms(s * 1000);
}

function signed(v: number): string {
    return `${v > 0 ? "+" : v < 0 ? "\u2212" : ""}${Math.abs(v).toFixed(1)}`;
}

function speed(row: TrialRow) {
    if (row.gain_percent === null) return "";
    return (
        <>
            <b>{signed(row.gain_percent)} %</b>
            <span class="quiet place">
                {row.low_percent === null
                    ? "not sure"
                    : `${signed(row.low_percent)} to ${signed(row.high_percent!)} %`}
            </span>
        </>
    );
}

function code(row: TrialRow, plain: number | null) {
    if (row.bytes === null) return "";
    return (
        <>
            {format.bytes(row.bytes)}
            {plain !== null && (
                <span class="quiet place">{format.signedPercent(row.bytes / plain)}</span>
            )}
        </>
    );
}

function Commands({ data: { trial } }: { data: GainData }) {
    const list: [string, string | null][] = [
        ["built by", trial.build],
        ["compiler", trial.compiler],
        ["recorded", trial.run],
        ["measured", trial.measured],
        ["profile", trial.profile],
    ];
    return (
        <details>
            <summary>Commands</summary>
            <dl class="commands">
                {list.map(
                    ([what, text]) =>
                        text !== null && (
                            <div key={what}>
                                <dt>{what}</dt>
                                <dd>
                                    <code>{text}</code>
                                </dd>
                            </div>
                        ),
                )}
            </dl>
        </details>
    );
}
