// A panel at the side with everything about one thing. The focus goes to its title, and back to
// where it was; it stays in the search, whose hits are gone through there.
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
    title: string;
    about: unknown; // what it is about; another one takes the focus anew
    onClose: () => void;
    children: preact.ComponentChildren;
}

export function SidePanel({ title, about, onClose, children }: Props) {
    const heading = useRef<HTMLHeadingElement>(null);
    useLayoutEffect(() => {
        const back = document.activeElement;
        if (back?.id === "search") return;
        heading.current?.focus();
        return () => {
            if (back instanceof HTMLElement) back.focus();
        };
    }, [about]);
    return (
        <aside class="panel" role="dialog" aria-labelledby="panel-title" id="panel">
            <button type="button" class="close" onClick={onClose} aria-label="Close">
                ✕
            </button>
            <h2 id="panel-title" tabIndex={-1} ref={heading}>
                {title}
            </h2>
            {children}
        </aside>
    );
}
