// What all views of a profile have around them: the top with its search, and keys.
import { useCallback, useLayoutEffect, useState } from "preact/hooks";
import { ThemeSwitch } from "./theme_switch";

/** What a table is narrowed to, besides the search. */
export interface Filter {
    text: string;
    has: (row: number) => boolean;
}

interface Props {
    title: string;
    subtitle: string;
    searches: string; // what the search looks in
    query: string;
    onQuery: (query: string) => void;
}

export function PageTop({ title, subtitle, searches, query, onQuery }: Props) {
    return (
        <header class="top">
            <div>
                <h1>{title}</h1>
                <p class="quiet">{subtitle}</p>
            </div>
            <search>
                <label for="search" class="hidden">
                    Search {searches}
                </label>
                <input
                    id="search"
                    type="search"
                    placeholder={`Search ${searches} ( / )`}
                    value={query}
                    onInput={(e) => onQuery(e.currentTarget.value)}
                />
            </search>
            <ThemeSwitch />
        </header>
    );
}

/** Which row has its panel open; Escape closes it, "/" goes to the search. */
export function usePanel() {
    const [open, setOpen] = useState<number | null>(null);
    const close = useCallback(() => setOpen(null), []);
    // At once, so that no key gets lost between the first picture and the effects behind it.
    useLayoutEffect(() => {
        const onKey = (event: KeyboardEvent) => {
            const typing = event.target instanceof HTMLInputElement;
            if (event.key === "Escape" && open !== null) close();
            if (event.key === "/" && !typing) {
                event.preventDefault();
                document.getElementById("search")?.focus();
            }
        };
        document.addEventListener("keydown", onKey);
        return () => document.removeEventListener("keydown", onKey);
    }, [open, close]);
    return { open, setOpen, close };
}
