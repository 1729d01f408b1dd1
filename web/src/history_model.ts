// The profiles of a history by what may be compared: one host class and kind at a time.
import type { HistoryData, HistoryProfile } from "./data";
import * as format from "./format";

export interface ProfileClass {
    key: string;
    name: string;
    kind: HistoryProfile["kind"];
    profiles: HistoryProfile[]; // by time
}

const KINDS = { heap: "Heap", sample: "Samples", instr: "Counters" };
/** What the weight of a kind counts. */
export const WEIGHTS = { heap: "allocated", sample: "samples", instr: "counts" };

export function classesOf(data: HistoryData): ProfileClass[] {
    const classes = new Map<string, ProfileClass>();
    for (const profile of data.profiles) {
        const key = `${profile.kind} ${profile.host}`;
        const name = [KINDS[profile.kind], profile.host].filter(Boolean).join(", ");
        const known = classes.get(key) ?? { key, name, kind: profile.kind, profiles: [] };
        known.profiles.push(profile);
        classes.set(key, known);
    }
    return [...classes.values()];
}

export function weightText(kind: ProfileClass["kind"], v: number): string {
    return kind === "heap" ? format.bytes(v) : format.count(v);
}

/** "2026-11-27 16:00", of UTC as in the terminal. */
export function timeText(seconds: number): string {
    const time = new Date(seconds * 1000);
    return Number.isNaN(time.getTime()) ? "" : time.toISOString().slice(0, 16).replace("T", " ");
}

export function nameOf(profile: HistoryProfile): string {
    return profile.version || `#${profile.id}`;
}

/** Of a figure from one profile to the next, as now / before. */
export function ratio(now: number | null, before: number | null | undefined): number | undefined {
    return now !== null && before ? now / before : undefined;
}

/** One line that is drawn: a value or nothing for each profile. */
export interface Series {
    key: string;
    name: string;
    values: (number | null)[];
}

function series(
    chosen: ProfileClass,
    key: string,
    name: string,
    value: (profile: HistoryProfile) => number | null,
): Series[] {
    const values = chosen.profiles.map(value);
    return values.some((v) => v !== null) ? [{ key, name, values }] : [];
}

export function sizesOf(chosen: ProfileClass): Series[] {
    return [
        ...series(chosen, "weight", WEIGHTS[chosen.kind], (p) => p.weight),
        ...series(chosen, "peak", "at the peak", (p) => p.peak),
        ...series(chosen, "exit", "at exit", (p) => p.exit),
    ];
}

export function gainsOf(chosen: ProfileClass): Series[] {
    return series(chosen, "gain", "gain", (p) => p.gain);
}

export function matchesOf(chosen: ProfileClass): Series[] {
    return series(chosen, "match", "match rate", (p) => p.match);
}
