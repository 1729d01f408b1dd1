// What stands above a flame graph: its title, what can be chosen, and the way back to the whole.
import type { ComponentChildren } from "preact";

interface Props {
    title: string;
    before: boolean | null; // whether widths are those before; null without a comparison
    onBefore: (before: boolean) => void;
    root: number;
    onWhole: () => void;
    children?: ComponentChildren;
}

export function FlameControls({ title, before, onBefore, root, onWhole, children }: Props) {
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
            {root !== 0 && (
                <button type="button" onClick={onWhole}>
                    Whole program
                </button>
            )}
        </div>
    );
}
