// The width of an element in pixels, also after the window has changed.
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export function useWidth(element: RefObject<HTMLElement>, first: number): number {
    const [width, setWidth] = useState(first);
    useLayoutEffect(() => {
        setWidth(Math.round(element.current!.getBoundingClientRect().width));
        const observer = new ResizeObserver(([entry]) =>
            setWidth(Math.round(entry!.contentRect.width)),
        );
        observer.observe(element.current!);
        return () => observer.disconnect();
    }, [element]);
    return width;
}
