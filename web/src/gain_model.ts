// Two builds of a program, function by function.
import type { GainData, GainSide, TrialRow } from "./data";

/** Something that both builds spend time in. */
interface Spent {
    before: number; // seconds
    now: number;
    error: number; // of the difference: one standard deviation
}

const SURE = 2; // standard deviations

export class GainModel {
    readonly n: number;
    /** Something is in place that was recorded, too. */
    readonly isCompared: boolean;

    constructor(readonly data: GainData) {
        this.n = data.functions.name.length;
        this.isCompared = data.before !== undefined && data.after !== undefined;
    }

    name(row: number): string {
        return this.data.functions.name[row] || "code without a name";
    }

    /** Ticks come by chance, so a function's share of them is off by some. */
    private spent(ticksBefore: number, ticksNow: number): Spent {
        const one = (side: GainSide | undefined, seconds: number | null, ticks: number) => {
            if (!side?.ticks || seconds === null) return [0, 0] as const;
            const share = ticks / side.ticks;
            return [
                share * seconds,
                (seconds * seconds * share * (1 - share)) / side.ticks,
            ] as const;
        };
        const [before, noise] = one(this.data.before, this.data.seconds[0], ticksBefore);
        const [now, more] = one(this.data.after, this.data.seconds[1], ticksNow);
        return { before, now, error: Math.sqrt(noise + more) };
    }

    of(row: number): Spent {
        const { ticks_before, ticks } = this.data.functions;
        return this.spent(ticks_before[row]!, ticks[row]!);
    }

    ofOther(at: number): Spent {
        const [, before, now] = this.data.others[at]!;
        return this.spent(before, now);
    }

    /** The difference is more than what chance makes of so few ticks. */
    isSure({ before, now, error }: Spent): boolean {
        return Math.abs(before - now) > SURE * error;
    }

    /** Its code, and what became of it. */
    tags(row: number): string[] {
        const f = this.data.functions;
        if (!this.isCompared) return [];
        const is = (condition: boolean, tag: string) => (condition ? [tag] : []);
        return [
            ...is(f.bytes_before[row]! > 0 && !f.bytes[row], "no code of its own"),
            ...is(!f.bytes_before[row] && f.bytes[row]! > 0, "new"),
            ...is(f.away[row]! > 0 && !f.away_before[row] && f.bytes_before[row]! > 0, "inlined"),
            ...is(f.cold[row]! > f.cold_before[row]!, "cold part"),
            ...is(f.part[row]! > f.part_before[row]!, "split"),
            ...is(f.moved[row]! > 0, "moved"),
        ];
    }

    /** Rows with something, those where most time was first. */
    rows(has: (row: number) => boolean): number[] {
        const list: number[] = [];
        for (let row = 0; row < this.n; row++) if (has(row)) list.push(row);
        return list; // as the page has them
    }

    /** Inlined calls of a function, as callee or caller. */
    calls(name: string | null, isNew: boolean): number[] {
        const { callee, caller, new: fresh } = this.data.inlined;
        const list: number[] = [];
        callee.forEach((to, i) => {
            if (!!fresh[i] === isNew && (name === null || to === name || caller[i] === name))
                list.push(i);
        });
        return list;
    }

    get kept(): TrialRow | undefined {
        return this.data.trial.rows.filter((row) => row.kept).at(-1);
    }
}

/** How much more often it runs in the same time, in per cent, in each turn. */
export function gains(row: TrialRow): number[] {
    return row.turns.map(([before, now]) => 100 * (before! / now! - 1));
}
