// Everything about one context: its figures, what can be changed, and its call stack.
import * as format from "./format";
import type { Frame, HeapModel } from "./heap_model";
import { SidePanel } from "./side_panel";

interface Props {
    model: HeapModel;
    context: number;
    onClose: () => void;
}

export function ContextPanel({ model, context, onClose }: Props) {
    const site = model.site(context);
    const label = model.label(context);
    const type = model.typeOf(context);
    const share = model.bytes[context]! / (model.data.totals.TotalSize || 1);
    return (
        <SidePanel title={site?.name ?? "(no stack)"} about={context} onClose={onClose}>
            <p class="quiet">
                {site?.file && `${site.file}${site.line ? `:${site.line}` : ""} · `}
                context {format.count(context + 1)} by bytes
                {label && <span class={`tag tag-${label.replace(" ", "-")}`}>{label}</span>}
                {model.isDiff && <span class="tag">{model.change(context)}</span>}
            </p>
            <p class="amount">
                {format.bytes(model.bytes[context]!)}{" "}
                <span class="quiet">
                    {format.percent(share)} of all bytes, in{" "}
                    {format.plural(model.count[context]!, "object")}
                </span>
            </p>
            {model.field(context, "SampleCount") !== null && (
                <Samples model={model} context={context} />
            )}
            {type !== null && (
                <p id="type">
                    Type: <code>{model.typeName(type)}</code>
                </p>
            )}
            {model.isDiff && <Before model={model} context={context} />}
            <Spread model={model} context={context} />
            <Advice model={model} context={context} />
            <Histogram model={model} context={context} />
            <Stack model={model} context={context} />
            <AllFields model={model} context={context} />
        </SidePanel>
    );
}

/** What the figures stand on, and their intervals. */
function Samples({ model, context }: { model: HeapModel; context: number }) {
    const bytes = model.interval(context, "TotalSize", format.bytes);
    const objects = model.interval(context, "AllocCount", format.count);
    const hits = model.interval(context, "TotalAccessCount", format.count);
    const accesses = model.field(context, "TotalAccessCount");
    return (
        <p id="samples">
            Estimated from {format.plural(model.field(context, "SampleCount")!, "object")}
            {accesses !== null &&
                ` and ${format.plural(model.field(context, "SampleHits")!, "access", "accesses")}`}
            : {format.bytes(model.bytes[context]!)}
            {bytes}, {format.plural(model.count[context]!, "object")}
            {objects}
            {accesses !== null &&
                `, ${format.plural(accesses, "access", "accesses")}${hits}`}
            .
        </p>
    );
}

function Before({ model, context }: { model: HeapModel; context: number }) {
    const before = model.bytesBefore![context]!;
    const moved = model.data.contexts.moved![context];
    return (
        <p>
            Before: {format.bytes(before)}
            {before > 0 && `, ${format.signedPercent(model.bytes[context]! / before)} since`}.
            {moved === 1 && " Matched by its functions; lines have moved."}
        </p>
    );
}

/** Smallest, average and largest of size, lifetime and accesses. */
function Spread({ model, context }: { model: HeapModel; context: number }) {
    const count = model.count[context]!;
    const rows: [string, string, string, string, (v: number) => string][] = [
        ["Size", "MinSize", "TotalSize", "MaxSize", format.bytes],
        ["Lifetime", "MinLifetime", "TotalLifetime", "MaxLifetime", format.ms],
        ["Accesses", "MinAccessCount", "TotalAccessCount", "MaxAccessCount", accesses],
    ];
    if (!model.knowsAccesses) rows.pop();
    const cell = (v: number | null, text: (v: number) => string) => (v === null ? "–" : text(v));
    return (
        <table class="spread">
            <thead>
                <tr>
                    <th scope="col">Per object</th>
                    <th scope="col">smallest</th>
                    <th scope="col">average</th>
                    <th scope="col">largest</th>
                </tr>
            </thead>
            <tbody>
                {rows.map(([name, min, total, max, text]) => {
                    const sum = model.field(context, total);
                    return (
                        <tr key={name}>
                            <th scope="row">{name}</th>
                            <td>{cell(model.field(context, min), text)}</td>
                            <td>{cell(sum === null || !count ? null : sum / count, text)}</td>
                            <td>{cell(model.field(context, max), text)}</td>
                        </tr>
                    );
                })}
            </tbody>
        </table>
    );
}

function accesses(v: number): string {
    return Number.isInteger(v) ? format.count(v) : format.density(v);
}

function Advice({ model, context }: { model: HeapModel; context: number }) {
    const found = model.data.advice.flatMap((a) =>
        a.rows.filter(([row]) => row === context).map(([, bytes]) => ({ ...a, bytes })),
    );
    const count = model.count[context]!;
    const per = (name: string) => {
        const v = model.field(context, name);
        return v === null || !count ? null : format.percent(v / count);
    };
    const migrated = per("NumMigratedCpu");
    const overlaps = per("NumLifetimeOverlaps");
    return (
        <>
            {found.map((a) => (
                <p key={a.name} class="hint">
                    <strong>{a.title}</strong> ({format.bytes(a.bytes)}). {a.action}
                </p>
            ))}
            {(migrated ?? overlaps) !== null && (
                <p class="quiet">
                    {migrated !== null && `${migrated} freed on another CPU than allocated on. `}
                    {overlaps !== null && `${overlaps} alive together with the object before.`}
                </p>
            )}
        </>
    );
}

/** Accesses over the object, a bar per 8 bytes or more. */
function Histogram({ model, context }: { model: HeapModel; context: number }) {
    const words = model.data.histograms[context];
    if (!words || model.data.some_accesses) return null;
    const step = Math.ceil(words.length / 128);
    const bars: number[] = [];
    for (let i = 0; i < words.length; i += step)
        bars.push(words.slice(i, i + step).reduce((a, b) => a + b, 0));
    const most = Math.max(...bars, 1);
    const unused = words.filter((w) => !w).length;
    return (
        <figure class="histogram">
            <figcaption>
                Accesses over the object, {format.bytes(8 * step)} a bar;{" "}
                {format.bytes(8 * unused)} of {format.bytes(8 * words.length)} never accessed
            </figcaption>
            <div
                class="bars"
                role="img"
                aria-label={`${bars.length} bars, most ${format.count(most)}`}
            >
                {bars.map((v, i) => (
                    <span
                        key={i}
                        class={v ? "" : "none"}
                        title={`from byte ${8 * step * i}: ${format.count(v)} accesses`}
                        style={{ height: v ? `${Math.max(4, (100 * v) / most)}%` : "100%" }}
                    />
                ))}
            </div>
        </figure>
    );
}

function place(f: Frame): string {
    if (f.module) return `in ${f.module}`;
    if (f.file) return f.line ? `${f.file}:${f.line}` : f.file;
    return `line +${f.lineOffset}${f.column ? `, column ${f.column}` : ""}`;
}

/** Runs of frames: library frames stand between those of the program, and matter less. */
function runs(model: HeapModel, context: number): { library: boolean; nodes: number[] }[] {
    const list: { library: boolean; nodes: number[] }[] = [];
    for (const node of model.stack(context)) {
        const library = model.frame(node).library;
        const last = list.at(-1);
        if (last?.library === library) last.nodes.push(node);
        else list.push({ library, nodes: [node] });
    }
    return list;
}

function Stack({ model, context }: { model: HeapModel; context: number }) {
    const list = runs(model, context);
    return (
        <>
            <h3>Call stack</h3>
            <div class="stack">
                {list.map(({ library, nodes }, i) => {
                    const frames = (
                        <ol key={i}>
                            {nodes.map((node) => (
                                <StackFrame key={node} model={model} node={node} />
                            ))}
                        </ol>
                    );
                    if (!library || list.length === 1) return frames;
                    return (
                        <details key={i}>
                            <summary>{format.plural(nodes.length, "frame")} of libraries</summary>
                            {frames}
                        </details>
                    );
                })}
            </div>
        </>
    );
}

function StackFrame({ model, node }: { model: HeapModel; node: number }) {
    const f = model.frame(node);
    const lines = model.excerpt(node);
    return (
        <li class={f.library ? "library" : ""}>
            <span class="function" title={f.linkage || f.name}>
                {f.name.length > 120 ? format.shorten(f.name) : f.name}
            </span>
            <span class="quiet">
                {place(f)}
                {f.inlined && " (inlined)"}
            </span>
            {lines.length > 0 && (
                <pre>
                    {lines.map(([number, text]) => (
                        <span key={number} class={number === f.line ? "line here" : "line"}>
                            <span class="line-number">{number}</span>
                            {text}
                            {"\n"}
                        </span>
                    ))}
                </pre>
            )}
        </li>
    );
}

function AllFields({ model, context }: { model: HeapModel; context: number }) {
    // The number of a type says nothing, and has more digits than numbers have here.
    const known = Object.entries(model.data.fields).filter(
        ([name]) => name !== "DataTypeId" && model.field(context, name) !== null,
    );
    return (
        <details>
            <summary>All fields</summary>
            <table class="fields">
                <tbody>
                    {known.map(([name, [unit, meaning]]) => (
                        <tr key={name}>
                            <th scope="row" title={meaning}>
                                {name}
                            </th>
                            <td>
                                {format.count(model.field(context, name)!)} {unit}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </details>
    );
}
