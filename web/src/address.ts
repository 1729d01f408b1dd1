// What the address of the page keeps of its state, after "#": it can be sent to others, reloaded
// and gone back to.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export type Changes = Record<string, string | null>; // null: not there any more

export interface Address {
    get: (key: string) => string | null;
    /** A step is one that the browser's "back" takes back. */
    change: (changes: Changes, step?: boolean) => void;
}

/** A word of the address that is a number. */
export function number(text: string | null): number | null {
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

const read = () => new URLSearchParams(location.hash.slice(1));

export function useAddress(): Address {
    const [state, setState] = useState(read);
    const latest = useRef(state); // of several changes between two pictures
    useEffect(() => {
        const onMove = () => {
            latest.current = read();
            setState(latest.current);
        };
        window.addEventListener("popstate", onMove);
        return () => window.removeEventListener("popstate", onMove);
    }, []);
    const change = useCallback((changes: Changes, step = false) => {
        const next = new URLSearchParams(latest.current);
        for (const [key, value] of Object.entries(changes))
            if (value) next.set(key, value);
            else next.delete(key);
        if (next.toString() === latest.current.toString()) return;
        latest.current = next;
        write(next, step);
        setState(next);
    }, []);
    return { get: (key) => state.get(key), change };
}

function write(state: URLSearchParams, step: boolean): void {
    const text = state.toString();
    try {
        const url = `${location.href.split("#")[0]}${text && `#${text}`}`;
        if (step) history.pushState(null, "", url);
        else history.replaceState(null, "", url);
    } catch {
        // Frames without an origin of their own refuse it; the page works without.
    }
}
