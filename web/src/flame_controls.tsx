// What stands above a flame graph: its title, what can be chosen, and the boxes above the one that
// fills the width.
import type { ComponentChildren } from "preact";
import * as format from "./format";
import type { Tree } from "./tree";
import { ancestors } from "./tree";

interface Props {
    title: string;
    before: boolean | null; // whether widths are those before; null without a comparison
    onBefore: (before: boolean) => void;
    children?: ComponentChildren;
}

export function FlameControls({ title, before, onBefore, children }: Props) {
    return (
        <div class="bar-of-controls">
            <h2 id="flame-title">{title}</h2>
            {children}
            {before !== null && (
                <label class="check">
                    <input type="checkbox" checked={before} onChange={() => onBefore(!before)} />
                    <span>Widths before</span>
                </label>
            )}
        </div>
    );
}

const ENDS = 3; // boxes named at each end of a long path

/** The path to the box that fills the width; a click goes back to a part of it. */
export function Breadcrumb(props: {
    tree: Tree;
    root: number;
    name: (node: number) => string;
    onChoose: (node: number) => void;
}) {
    const { tree, root, name } = props;
    if (!root) return null;
    const path = [...ancestors(tree, root), root];
    const left = path.length - 2 * ENDS;
    return (
        <nav class="crumbs" aria-label="Path to the box that fills the width">
            <ol>
                {path.map((node, i) => {
                    if (left > 1 && i === ENDS)
                        return <li key="left">{format.plural(left, "function")}</li>;
                    if (left > 1 && i > ENDS && i < ENDS + left) return null;
                    const text = node ? format.fit(name(node), 40) : "Whole program";
                    return (
                        <li key={node}>
                            {node === root ? (
                                <b aria-current="location" title={name(node)}>
                                    {text}
                                </b>
                            ) : (
                                <button
                                    type="button"
                                    class="link"
                                    title={name(node)}
                                    onClick={() => props.onChoose(node)}
                                >
                                    {text}
                                </button>
                            )}
                        </li>
                    );
                })}
            </ol>
        </nav>
    );
}
