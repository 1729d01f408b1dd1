// The functions of a sample profile, each with all its copies: inlined ones and those in contexts.
import type { SampleModel } from "./sample_model";

/** By function: samples where it is inlined or called in a context, and calls that were sampled. */
export interface Callers {
    copies: Map<number, number>;
    calls: Map<number, number>;
}

export interface FunctionFigures {
    nodes: number[]; // its copies
    self: number; // samples of its own lines
    total: number; // with what is inlined into it or called from it in a context
    callers: Callers;
    callees: Callers;
}

const add = (to: Map<number, number>, key: number, value: number) =>
    to.set(key, (to.get(key) ?? 0) + value);

/** Of one function; a recursion counts once. */
export function figuresOf(model: SampleModel, func: number): FunctionFigures {
    const { nodes } = model.data;
    const { parent } = model.tree;
    const figures: FunctionFigures = {
        nodes: [],
        self: 0,
        total: 0,
        callers: { copies: new Map(), calls: new Map() },
        callees: { copies: new Map(), calls: new Map() },
    };
    const inside = new Uint8Array(nodes.func.length); // at or below a copy
    for (let n = 1; n < inside.length; n++) {
        const up = parent[n]!;
        const own = nodes.func[n] === func;
        inside[n] = own || inside[up] ? 1 : 0;
        if (own) {
            figures.nodes.push(n);
            figures.self += nodes.own[n]!;
            if (!inside[up]) figures.total += model.weight[n]!;
            if (up > 0 && nodes.func[up] !== func)
                add(figures.callers.copies, nodes.func[up]!, model.weight[n]!);
        }
        if (!own && up > 0 && nodes.func[up] === func)
            add(figures.callees.copies, nodes.func[n]!, model.weight[n]!);
        for (const call of model.calls(n)) {
            if (call.func === func) add(figures.callers.calls, nodes.func[n]!, call.count);
            if (own) add(figures.callees.calls, call.func, call.count);
        }
    }
    return figures;
}

/** Sums of all functions. */
export class FunctionSums {
    readonly self: Float64Array; // by function
    readonly total: Float64Array;

    constructor(readonly model: SampleModel) {
        const { nodes, funcs } = model.data;
        this.self = new Float64Array(funcs.name.length);
        this.total = new Float64Array(funcs.name.length);
        const { firstChild, nextSibling, parent } = model.tree;
        const above = new Int32Array(funcs.name.length); // how often it is among the callers
        let n = firstChild[0]!;
        while (n > 0) {
            const func = nodes.func[n]!;
            this.self[func]! += nodes.own[n]!;
            if (above[func]!++ === 0) this.total[func]! += model.weight[n]!;
            if (firstChild[n]! >= 0) {
                n = firstChild[n]!;
                continue;
            }
            while (n > 0) {
                above[nodes.func[n]!]!--;
                if (nextSibling[n]! >= 0) break;
                n = parent[n]!;
            }
            if (n > 0) n = nextSibling[n]!;
        }
    }
}
