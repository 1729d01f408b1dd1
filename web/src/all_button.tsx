// Asks for all of a list of which only the first few are shown, and for those few again.
interface Props {
    n: number; // in the list
    shown: number; // at first
    most: number; // when all are asked for
    all: boolean;
    onAll: (all: boolean) => void;
}

export function AllButton({ n, shown, most, all, onAll }: Props) {
    if (n <= shown) return null;
    return (
        <button type="button" class="link small" onClick={() => onAll(!all)}>
            {all ? "fewer" : n > most ? `the first ${most}` : `all ${n}`}
        </button>
    );
}
