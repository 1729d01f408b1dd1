// The search of the page. Where the page has hits for it, they stand below the box as one types:
// arrows go through them, and Enter chooses one, or the next one.
import { useState } from "preact/hooks";
import * as format from "./format";

/** Something that has the text in its name. */
export interface Hit {
    key: string;
    name: string;
    kind: string; // what it is
    text: string; // how much
    choose: () => void;
}

export interface SearchProps {
    searches: string; // what the search looks in
    query: string;
    onQuery: (query: string) => void;
    hits?: Hit[]; // largest first
    found?: string; // how many there are
}

const SHOWN = 10;

export function SearchBox({ searches, query, onQuery, hits = [], found = "" }: SearchProps) {
    const [open, setOpen] = useState(false);
    const [at, setAt] = useState(-1);
    const [chosen, setChosen] = useState(-1);
    const isOpen = open && hits.length > 0;
    const first = Math.max(0, Math.min(at - SHOWN + 1, hits.length - SHOWN));
    const choose = (i: number) => {
        setAt(i);
        setChosen(i);
        hits[i]!.choose();
    };
    const go = (step: number): number => (at + step + hits.length) % hits.length;

    const onKeyDown = (event: KeyboardEvent) => {
        if (!hits.length) return;
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            setOpen(true);
            setAt(event.key === "ArrowDown" ? go(1) : at < 0 ? hits.length - 1 : go(-1));
        } else if (event.key === "Enter") {
            setOpen(true);
            choose(at < 0 ? 0 : at !== chosen ? at : go(event.shiftKey ? -1 : 1));
        } else if (event.key === "Escape" && isOpen) {
            setOpen(false);
            event.stopPropagation();
        } else return;
        event.preventDefault();
    };
    return (
        <search>
            <label for="search" class="hidden">
                Search {searches}
            </label>
            <input
                id="search"
                type="search"
                role="combobox"
                autocomplete="off"
                aria-autocomplete="list"
                aria-controls="hits"
                aria-expanded={isOpen}
                aria-describedby="hits-found"
                aria-activedescendant={isOpen && at >= 0 ? `hit-${at}` : undefined}
                placeholder={`Search ${searches} ( / )`}
                value={query}
                onInput={(e) => {
                    setOpen(true);
                    setAt(-1);
                    setChosen(-1);
                    onQuery(e.currentTarget.value);
                }}
                onKeyDown={onKeyDown}
                onBlur={() => setOpen(false)}
            />
            <span id="hits-found" class="quiet" role="status">
                {found}
            </span>
            <ul id="hits" role="listbox" aria-label="Hits" hidden={!isOpen}>
                {isOpen &&
                    hits.slice(first, first + SHOWN).map((hit, i) => (
                        <li
                            key={hit.key}
                            id={`hit-${first + i}`}
                            role="option"
                            aria-selected={first + i === at}
                            aria-posinset={first + i + 1}
                            aria-setsize={hits.length}
                            // So that the focus stays in the box.
                            onMouseDown={(event) => event.preventDefault()}
                            onClick={() => {
                                setOpen(false);
                                choose(first + i);
                            }}
                        >
                            <span class="name">{format.brief(hit.name)}</span>
                            <span class="quiet">{hit.kind}</span>
                            <span class="many">{hit.text}</span>
                        </li>
                    ))}
            </ul>
        </search>
    );
}
