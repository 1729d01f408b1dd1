// Figures side by side.
import * as format from "./format";

export interface Tile {
    key: string;
    label: string;
    value: string;
    detail: string;
    exact: number; // as in the JSON of `pgokit show`
    change?: number | undefined; // of the value, now / before
}

export function Tiles({ tiles }: { tiles: Tile[] }) {
    return (
        <dl class="tiles">
            {tiles.map((tile) => (
                <div key={tile.key} class="tile" data-figure={tile.key} data-exact={tile.exact}>
                    <dt>{tile.label}</dt>
                    <dd class="value">{tile.value}</dd>
                    <dd class="quiet">
                        {tile.change !== undefined && (
                            <span class="delta">{format.signedPercent(tile.change)} </span>
                        )}
                        {tile.detail}
                    </dd>
                </div>
            ))}
        </dl>
    );
}
