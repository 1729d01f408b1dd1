// What to change, most bytes first, with the rule that says so.
import * as format from "./format";
import type { HeapModel } from "./heap_model";
import type { Filter } from "./page_frame";

interface Props {
    model: HeapModel;
    onOpen: (context: number) => void;
    onFilter: (filter: Filter) => void;
}

const CALLERS = 8; // looked at to tell contexts apart
const SHOWN = 3; // contexts named under a piece of advice

export function AdviceList({ model, onOpen, onFilter }: Props) {
    const { advice, totals } = model.data;
    const whole = totals.TotalSize || 1;
    return (
        <section class="card advice" aria-labelledby="advice-title">
            <h2 id="advice-title">What to change</h2>
            {advice.length === 0 && <p>No rule found anything to change.</p>}
            <ol>
                {advice.map((a) => (
                    <li key={a.name} data-advice={a.name} data-exact={a.bytes}>
                        <h3>
                            {a.title}
                            <span class="stake">
                                {format.bytes(a.bytes)}{" "}
                                <span class="quiet">{format.percent(a.bytes / whole)}</span>
                            </span>
                        </h3>
                        <div class="bar" aria-hidden="true">
                            <span
                                style={{ width: `${Math.min(100, (100 * a.bytes) / whole)}%` }}
                            />
                        </div>
                        <p>{a.action}</p>
                        <ul>
                            {a.rows.slice(0, SHOWN).map(([row, bytes]) => (
                                <li key={row}>
                                    <button
                                        type="button"
                                        class="link"
                                        onClick={() => onOpen(row)}
                                    >
                                        {rowName(model, row, a.rows.slice(0, SHOWN))}
                                    </button>
                                    <span class="quiet">{format.bytes(bytes)}</span>
                                </li>
                            ))}
                        </ul>
                        {a.contexts > SHOWN && (
                            <button
                                type="button"
                                class="link small"
                                onClick={() => {
                                    const rows = new Set(a.rows.map(([row]) => row));
                                    onFilter({ text: a.title, has: (c) => rows.has(c) });
                                    document.getElementById("contexts")?.scrollIntoView();
                                }}
                            >
                                {a.contexts > a.rows.length
                                    ? `the ${a.rows.length} largest of ${format.count(a.contexts)}`
                                    : `all ${format.count(a.contexts)} contexts`}
                            </button>
                        )}
                        <details class="example">
                            <summary>An example of the change</summary>
                            <Diff text={a.example} />
                        </details>
                        <details>
                            <summary>The rule</summary>
                            <p class="quiet">{a.rule}.</p>
                        </details>
                    </li>
                ))}
            </ol>
        </section>
    );
}

/** Lines of a diff. */
function Diff({ text }: { text: string }) {
    const kinds: Record<string, string> = { "+": "added", "-": "removed" };
    return (
        <pre>
            {text
                .replace(/\n$/, "")
                .split("\n")
                .map((line, i) => (
                    <span key={i} class={`line ${kinds[line[0]!] ?? ""}`}>
                        {line}
                        {"\n"}
                    </span>
                ))}
        </pre>
    );
}

/** The place that asks for memory; where others of `rows` are the same place, with the caller
 * that tells it from them. */
export function rowName(
    model: HeapModel,
    row: number,
    rows: [row: number, bytes: number][],
): string {
    const name = siteName(model, row);
    const same = rows.filter(([r]) => siteName(model, r) === name);
    if (same.length === 1) return name;
    const callers = model.callers(row, CALLERS);
    const others = same.filter(([r]) => r !== row).map(([r]) => model.callers(r, CALLERS));
    const differs = callers.findIndex((_, i) =>
        others.every((other) => callers.slice(0, i + 1).some((c, k) => c !== other[k])),
    );
    const caller = callers[Math.max(0, differs)];
    return caller === undefined ? name : `${name} ← ${format.fit(caller, 28)}`;
}

/** The place that asks for memory, in short. */
export function siteName(model: HeapModel, context: number): string {
    const site = model.site(context);
    if (!site) return "(no stack)";
    const place = site.file && site.line ? ` ${format.fileName(site.file)}:${site.line}` : "";
    return format.brief(site.name).replaceAll("(anonymous namespace)::", "") + place;
}
