// What a plan for the allocator does: its groups, what is expected of them, and what they held.
import type { Plan } from "./data";
import * as format from "./format";

type Group = Plan["groups"][number];

const name = (g: Group) => (g.group ? `Group ${g.group}` : "No group");

function Expected({ expected }: { expected: Plan["expected"] }) {
    return (
        <ul class="expected">
            {expected.map((e) => (
                <li key={e.what} data-expected={e.what} data-with={e.with} data-without={e.without}>
                    {e.what}: {format.bytes(e.without)}, with the plan{" "}
                    <b>{format.bytes(e.with)}</b>
                </li>
            ))}
        </ul>
    );
}

function Held({ group }: { group: Group }) {
    const { held } = group;
    if (!held)
        return (
            <>
                <td class="number">–</td>
                <td class="number">–</td>
                <td class="number">–</td>
            </>
        );
    return (
        <>
            <td class="number">{format.bytes(held.objects)}</td>
            <td class="number">
                {format.bytes(held.pages)}{" "}
                <span class="quiet">
                    {held.pages ? format.percent(held.objects / held.pages) : ""}
                </span>
            </td>
            <td class="number">{format.bytes(held.empty)}</td>
        </>
    );
}

function Members({ group }: { group: Group }) {
    return (
        <details>
            <summary>
                {name(group)}
                {group.cold && <span class="quiet"> cold</span>}
                {group.hot && <span class="quiet"> hot</span>}
                <span class="quiet"> {format.plural(group.contexts, "context")}</span>
                {group.group > 0 && group.members[0] && (
                    <span class="place">{group.members[0].names}</span>
                )}
            </summary>
            <ul>
                {group.members.map((m, i) => (
                    <li key={i}>
                        {m.names}{" "}
                        <span class="quiet">
                            {format.bytes(m.peak)}, lives {format.ms(m.lifetime)}
                            {m.density !== undefined && `, ${format.density(m.density)} accesses/B`}
                            {m.why && `: ${m.why}`}
                        </span>
                    </li>
                ))}
                {group.contexts > group.members.length && (
                    <li class="quiet">
                        and {format.count(group.contexts - group.members.length)} more
                    </li>
                )}
            </ul>
        </details>
    );
}

export function PlanGroups({ plan }: { plan: Plan }) {
    const held = plan.groups.some((g) => g.held);
    return (
        <section class="card rows plan" id="plan" aria-labelledby="plan-title">
            <div class="bar-of-controls">
                <h2 id="plan-title">Plan for the allocator</h2>
                <p class="quiet">
                    {format.plural(plan.groups.length - 1, "group")}, which the allocator knows
                    by {format.plural(plan.calls, "call")}. Pages are expected at the peak.
                </p>
            </div>
            <Expected expected={plan.expected} />
            <div class="table-frame">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">Group</th>
                            <th scope="col" class="number">Bytes at the peak</th>
                            <th scope="col" class="number">Average life</th>
                            <th scope="col" class="number">Pages without the plan</th>
                            <th scope="col" class="number">With the plan</th>
                            {held && (
                                <>
                                    <th scope="col" class="number">Held: objects</th>
                                    <th scope="col" class="number">Held: pages</th>
                                    <th scope="col" class="number">Held: empty pages</th>
                                </>
                            )}
                        </tr>
                    </thead>
                    <tbody>
                        {plan.groups.map((g) => (
                            <tr key={g.group} data-group={g.group}>
                                <th scope="row">
                                    <Members group={g} />
                                </th>
                                <td class="number">{format.bytes(g.peak)}</td>
                                <td class="number">{format.ms(g.lifetime)}</td>
                                <td class="number">
                                    {g.group ? format.bytes(g.scattered) : "–"}
                                </td>
                                <td class="number">{g.group ? format.bytes(g.apart) : "–"}</td>
                                {held && <Held group={g} />}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </section>
    );
}
