// A box of text beside the pointer.
export function Tip(props: { x: number; y: number; children: preact.ComponentChildren }) {
    const right = props.x > window.innerWidth / 2;
    const low = props.y > window.innerHeight - 160;
    return (
        <div
            class="tip"
            aria-hidden="true"
            style={{
                left: right ? "auto" : `${props.x + 14}px`,
                right: right ? `${window.innerWidth - props.x + 14}px` : "auto",
                top: low ? "auto" : `${props.y + 14}px`,
                bottom: low ? `${window.innerHeight - props.y + 14}px` : "auto",
            }}
        >
            {props.children}
        </div>
    );
}
