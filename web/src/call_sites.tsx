// Indirect calls: where several functions are called from one place, or objects of several types
// are used. Compilers turn the most frequent ones into direct calls.
import { useMemo, useState } from "preact/hooks";
import { AllButton } from "./all_button";
import * as format from "./format";
import type { SampleModel, Site } from "./sample_model";
import { Shares } from "./shares";

interface Props {
    model: SampleModel;
    nodes: Float64Array | null; // 0: the search does not have the node
    onOpen: (row: number) => void;
}

const SHOWN = 6;
const MOST = 500; // when all are asked for

export function CallSites({ model, nodes, onOpen }: Props) {
    const [all, setAll] = useState(false);
    const sites = useMemo(() => model.callSites(), [model]);
    const found = nodes ? sites.filter((s) => nodes[s.node]) : sites;
    if (!sites.length) return null;
    const shown = found.slice(0, all ? MOST : SHOWN);
    return (
        <section class="card sites" aria-labelledby="sites-title">
            <h2 id="sites-title">Indirect calls</h2>
            <p class="quiet">
                {format.plural(found.length, "place")} with several targets, or with types of
                objects. A compiler can make the frequent ones direct.
            </p>
            <ol>
                {shown.map((site, i) => (
                    <SiteItem key={i} model={model} site={site} onOpen={onOpen} />
                ))}
            </ol>
            <AllButton n={found.length} shown={SHOWN} most={MOST} all={all} onAll={setAll} />
        </section>
    );
}

function SiteItem(props: { model: SampleModel; site: Site; onOpen: (row: number) => void }) {
    const { model, site, onOpen } = props;
    const row = model.rowAbove(site.node);
    const func = model.data.nodes.func[site.node]!;
    const into = row !== undefined && model.nodeOf[row] !== site.node ? model.nodeOf[row]! : 0;
    return (
        <li>
            <h3>
                <button
                    type="button"
                    class="link"
                    onClick={() => row !== undefined && onOpen(row)}
                >
                    {model.placeIn(func, site.line, format.brief)}
                </button>
                <span class="stake">
                    {format.plural(site.total, site.calls.length ? "call" : "object")}
                </span>
            </h3>
            {into > 0 && (
                <p class="quiet">inlined into {format.brief(model.name(into))}</p>
            )}
            <Shares
                what="calls"
                list={site.calls.map((c) => ({ name: model.funcName(c.func), count: c.count }))}
            />
            {site.types.length > 0 && <p class="quiet">objects by type</p>}
            <Shares
                what="types"
                list={site.types.map((c) => ({ name: model.typeName(c.func), count: c.count }))}
            />
        </li>
    );
}
