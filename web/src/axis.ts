// Labels of a horizontal axis.

const LETTER = 6.4; // pixels, of the text of plots; most letters are narrower

/** The middle of a label for `x` that lies within the plot, also at the ends of the axis. */
export function labelMiddle(x: number, label: string, width: number): number {
    const half = (label.length * LETTER) / 2;
    return Math.max(half, Math.min(x, width - half));
}
