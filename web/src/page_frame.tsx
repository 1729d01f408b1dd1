// What all views of a profile have around them: the top with its search, and keys.
import { useLayoutEffect } from "preact/hooks";
import type { SearchProps } from "./search_box";
import { SearchBox } from "./search_box";
import { ThemeSwitch } from "./theme_switch";

/** What a table is narrowed to, besides the search. */
export interface Filter {
    text: string;
    has: (row: number) => boolean;
}

interface Props extends SearchProps {
    title: string;
    subtitle: string;
}

export function PageTop({ title, subtitle, ...search }: Props) {
    return (
        <header class="top">
            <div>
                <h1>{title}</h1>
                <p class="quiet">{subtitle}</p>
            </div>
            <SearchBox {...search} />
            <ThemeSwitch />
        </header>
    );
}

/** Escape closes the panel that is open, "/" goes to the search. */
export function useKeys(isOpen: boolean, close: () => void) {
    // At once, so that no key gets lost between the first picture and the effects behind it.
    useLayoutEffect(() => {
        const onKey = (event: KeyboardEvent) => {
            const typing = event.target instanceof HTMLInputElement;
            if (event.key === "Escape" && isOpen) close();
            if (event.key === "/" && !typing) {
                event.preventDefault();
                document.getElementById("search")?.focus();
            }
        };
        document.addEventListener("keydown", onKey);
        return () => document.removeEventListener("keydown", onKey);
    }, [isOpen, close]);
}
