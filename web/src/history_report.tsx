// The report of a history: the course of its figures, what moved, and all profiles with links.
import { useMemo, useState } from "preact/hooks";
import type { HistoryData, HistoryProfile } from "./data";
import * as format from "./format";
import type { ProfileClass } from "./history_model";
import {
    classesOf, gainsOf, matchesOf, nameOf, ratio, sizesOf, timeText, WEIGHTS, weightText,
} from "./history_model";
import { HistoryPlot } from "./history_plot";
import { ThemeSwitch } from "./theme_switch";
import type { Tile } from "./tiles";
import { Tiles } from "./tiles";

const percentText = (v: number) => `${v.toFixed(1)} %`;
const gainText = (v: number) => format.points(v / 100).replace(/(\.\d)\d /, "$1 ");

function tilesOf(chosen: ProfileClass, row: number): Tile[] {
    const now = chosen.profiles[row]!;
    const before = chosen.profiles[row - 1];
    const figure = (
        key: "weight" | "peak" | "exit" | "objects",
        label: string,
        text: (v: number) => string,
    ): Tile[] => {
        const value = now[key];
        if (value === null) return [];
        const change = ratio(value, before?.[key]);
        const detail = change === undefined ? "" : `since ${nameOf(before!)}`;
        return [{ key, label, value: text(value), detail, exact: value, change }];
    };
    const share = (key: "gain" | "match", label: string, text: (v: number) => string): Tile[] => {
        const value = now[key];
        const was = before?.[key] ?? null;
        const detail = was === null ? "" : `${text(was)} in ${nameOf(before!)}`;
        return value === null ? [] : [{ key, label, value: text(value), detail, exact: value }];
    };
    return [
        ...figure("weight", WEIGHTS[chosen.kind], (v) => weightText(chosen.kind, v)),
        ...figure("peak", "at the peak", format.bytes),
        ...figure("exit", "at exit", format.bytes),
        ...figure("objects", "objects", format.count),
        ...share("gain", "gain", gainText),
        ...share("match", "match rate", percentText),
    ];
}

function Movers({ now, before }: { now: HistoryProfile; before: HistoryProfile | undefined }) {
    const most = Math.max(...now.movers.map(([, a, b]) => Math.abs(b - a)), 1e-9);
    return (
        <section class="card movers" aria-labelledby="movers-title">
            <h2 id="movers-title">
                Top movers in {nameOf(now)}
                {before && <span class="quiet"> since {nameOf(before)}</span>}
            </h2>
            {now.movers.length === 0 && (
                <p class="quiet">
                    {before ? "No function's share differs." : "It is the first of its class."}
                </p>
            )}
            <ol>
                {now.movers.map(([name, was, is]) => (
                    <li key={name} title={`${percentText(was)} → ${percentText(is)}`}>
                        <span class="many">{format.points((is - was) / 100)}</span>
                        <span class="moved">
                            <span
                                class={is > was ? "grew" : "shrank"}
                                style={{ width: `${(Math.abs(is - was) / most) * 100}%` }}
                            />
                        </span>
                        <span class="name">{format.brief(name)}</span>
                    </li>
                ))}
            </ol>
        </section>
    );
}

function cell(v: number | null, text: (v: number) => string): string {
    return v === null ? "" : text(v);
}

function ProfileTable(props: {
    chosen: ProfileClass;
    row: number;
    onChoose: (row: number) => void;
}) {
    const { chosen, row, onChoose } = props;
    const { profiles, kind } = chosen;
    const isHeap = kind === "heap";
    const hasGain = gainsOf(chosen).length > 0;
    const hasMatch = matchesOf(chosen).length > 0;
    const rows = profiles.map((profile, i) => ({ profile, i })).reverse();
    return (
        <section class="card" aria-labelledby="profiles-title">
            <h2 id="profiles-title">{format.plural(profiles.length, "profile")}</h2>
            <div class="table-frame">
                <table id="profiles">
                    <thead>
                        <tr>
                            <th>version</th>
                            <th>recorded (UTC)</th>
                            <th class="many">{WEIGHTS[kind]}</th>
                            <th class="many">change</th>
                            {isHeap && <th class="many">at the peak</th>}
                            {isHeap && <th class="many">at exit</th>}
                            {hasGain && <th class="many">gain</th>}
                            {hasMatch && <th class="many">match rate</th>}
                            <th>top mover</th>
                            <th>page</th>
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map(({ profile: p, i }) => {
                            const change = ratio(p.weight, profiles[i - 1]?.weight);
                            const mover = p.movers[0];
                            return (
                                <tr key={p.id} aria-selected={i === row}>
                                    <th scope="row">
                                        <button
                                            type="button"
                                            class="link"
                                            onClick={() => onChoose(i)}
                                        >
                                            {nameOf(p)}
                                        </button>
                                    </th>
                                    <td class="nowrap">{timeText(p.time)}</td>
                                    <td class="many">{weightText(kind, p.weight)}</td>
                                    <td class="many">
                                        {change !== undefined && format.signedPercent(change)}
                                    </td>
                                    {isHeap && (
                                        <td class="many">{cell(p.peak, format.bytes)}</td>
                                    )}
                                    {isHeap && (
                                        <td class="many">{cell(p.exit, format.bytes)}</td>
                                    )}
                                    {hasGain && (
                                        <td class="many">{cell(p.gain, gainText)}</td>
                                    )}
                                    {hasMatch && (
                                        <td class="many">{cell(p.match, percentText)}</td>
                                    )}
                                    <td class="mover">
                                        {mover && (
                                            <>
                                                {format.points((mover[2] - mover[1]) / 100)}{" "}
                                                {format.brief(mover[0])}
                                            </>
                                        )}
                                    </td>
                                    <td>{p.page && <a class="link" href={p.page}>open</a>}</td>
                                </tr>
                            );
                        })}
                    </tbody>
                </table>
            </div>
        </section>
    );
}

function verdict(chosen: ProfileClass): string {
    const { profiles, kind } = chosen;
    const first = profiles[0]!;
    const last = profiles.at(-1)!;
    const change = ratio(last.weight, first.weight);
    if (profiles.length < 2 || change === undefined)
        return `One profile so far, of ${nameOf(last)}.`;
    const grew = change > 1 ? "more" : "less";
    const what = kind === "heap" ? "bytes allocated" : WEIGHTS[kind];
    return change === 1
        ? `As many ${what} in ${nameOf(last)} as in ${nameOf(first)}.`
        : `${format.percent(Math.abs(change - 1))} ${grew} ${what} in ${nameOf(last)} than in ` +
              `${nameOf(first)}, over ${format.plural(profiles.length, "profile")}.`;
}

export function HistoryReport({ data }: { data: HistoryData }) {
    const classes = useMemo(() => classesOf(data), [data]);
    const [key, setKey] = useState(classes.at(-1)?.key);
    const [row, setRow] = useState<number | null>(null);
    const chosen = classes.find((c) => c.key === key);
    if (!chosen)
        return (
            <header class="top">
                <div>
                    <h1>{data.title}</h1>
                    <p class="quiet">No profile is in this history, or none is meant.</p>
                </div>
                <ThemeSwitch />
            </header>
        );
    const { profiles, kind } = chosen;
    const at = Math.min(row ?? profiles.length - 1, profiles.length - 1);
    const gains = gainsOf(chosen);
    const matches = matchesOf(chosen);
    const plot = { profiles, chosen: at, onChoose: setRow };
    return (
        <>
            <header class="top">
                <div>
                    <h1>{data.title}</h1>
                    <p class="quiet">
                        History of profiles, {timeText(profiles[0]!.time)} to{" "}
                        {timeText(profiles.at(-1)!.time)} UTC
                    </p>
                </div>
                {classes.length > 1 && (
                    <label>
                        <span class="hidden">Kind and host class</span>
                        <select
                            id="class"
                            value={key}
                            onChange={(e) => {
                                setKey(e.currentTarget.value);
                                setRow(null);
                            }}
                        >
                            {classes.map((c) => (
                                <option key={c.key} value={c.key}>
                                    {c.name}
                                </option>
                            ))}
                        </select>
                    </label>
                )}
                <ThemeSwitch />
            </header>
            <p class="verdict">{verdict(chosen)}</p>
            <Tiles tiles={tilesOf(chosen, at)} />
            <div class="columns history-columns">
                <HistoryPlot
                    {...plot}
                    title={kind === "heap" ? "Bytes" : kind === "sample" ? "Samples" : "Counts"}
                    series={sizesOf(chosen)}
                    text={(v) => weightText(kind, v)}
                    base={kind === "heap" ? 1024 : 10}
                />
                <Movers now={profiles[at]!} before={profiles[at - 1]} />
                {gains.length > 0 && (
                    <HistoryPlot {...plot} title="Gain" series={gains} text={gainText} span={1} />
                )}
                {matches.length > 0 && (
                    <HistoryPlot
                        {...plot}
                        title="Match rate"
                        series={matches}
                        text={percentText}
                        fromZero={false}
                        most={100}
                        span={2}
                    />
                )}
            </div>
            <div class="columns">
                <ProfileTable chosen={chosen} row={at} onChoose={setRow} />
            </div>
        </>
    );
}
