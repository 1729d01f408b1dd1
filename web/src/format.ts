// Numbers as lib/base/human.c prints them, so that page and terminal say the same.

function threeDigits(v: number, unit: string): string {
    return `${v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0)} ${unit}`;
}

export function bytes(v: number): string {
    if (v < 0) return `-${bytes(-v)}`;
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = 0;
    while (v >= 999.5 && unit + 1 < units.length) {
        v /= 1024;
        unit++;
    }
    if (!(v < 999.5)) return `${v.toPrecision(3)} ${units[unit]}`;
    return unit === 0 && Number.isInteger(v) ? `${v} B` : threeDigits(v, units[unit]!);
}

function twoParts(n: number, per: number, big: string, small: string): string {
    const whole = Math.floor(n / per);
    return n % per ? `${whole} ${big} ${n % per} ${small}` : `${whole} ${big}`;
}

export function ms(v: number): string {
    const s = v / 1e3;
    if (v > 0 && v < 0.9995) return threeDigits(v * 1e3, "µs");
    if (v < 999.5) return Number.isInteger(v) ? `${v} ms` : threeDigits(v, "ms");
    if (s < 59.95) return threeDigits(s, "s");
    if (s < 3599.5) return twoParts(Math.round(s), 60, "min", "s");
    if (s < 86370) return twoParts(Math.round(s / 60), 60, "h", "min");
    return twoParts(Math.round(s / 3600), 24, "d", "h");
}

export function count(v: number): string {
    return Math.round(v).toLocaleString("en-US");
}

export function density(v: number): string {
    return v >= 1000 ? count(v) : v.toFixed(v < 9.995 ? 2 : 1);
}

/** A share of a whole: "12.3 %"; less than the last digit shows is said so. */
export function percent(share: number): string {
    const v = share * 100;
    return v > 0 && v < 0.05 ? "< 0.1 %" : `${v.toFixed(1)} %`;
}

export function signedPercent(ratio: number): string {
    if (!Number.isFinite(ratio)) return "new";
    const v = (ratio - 1) * 100;
    return `${v > 0 ? "+" : v < 0 ? "\u2212" : ""}${Math.abs(v).toFixed(1)} %`;
}

/** "1.20 MiB (0.90 MiB to 1.60 MiB)"; the part in brackets, "" of an exact figure. */
export function interval(
    low: number | null,
    high: number | null,
    text: (v: number) => string,
): string {
    if (low === null || low === high) return "";
    return high === null ? `(${text(low)} or more)` : `(${text(low)} to ${text(high)})`;
}

/** A difference of two shares: "+1.25 %". */
export function points(difference: number): string {
    const v = difference * 100;
    const sign = v > 0 ? "+" : v < 0 ? "\u2212" : "";
    return `${sign}${Math.abs(v).toFixed(2)} %`;
}

/** Millionths as a share: "99.9 %". */
export function ppm(v: number): string {
    return `${Number((v / 10_000).toPrecision(6))} %`;
}

export function plural(n: number, noun: string, nouns = `${noun}s`): string {
    return `${count(n)} ${n === 1 ? noun : nouns}`;
}

/** "a<b<c>>::d<e>" as "a<…>::d<…>": what templates are made for says little in a narrow box. */
export function shorten(name: string): string {
    if (name.includes("operator")) return name;
    let out = /^<*/.exec(name)![0]; // Rust's "<Type as Trait>::method"
    let depth = 0;
    for (const c of name.slice(out.length)) {
        if (c === "<" && depth === 0 && !/(\w|::)$/.test(out)) return name;
        if (c === "<" && depth++ === 0) out += "<…";
        if (c === ">" && depth > 0) depth--;
        if (depth === 0) out += c;
    }
    return depth === 0 ? out : name;
}

/** The name with what everybody writes for the string type. */
export function withStrings(name: string): string {
    return name
        .replace(
            /std::(__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>/g,
            "std::string",
        )
        .replaceAll(" >", ">");
}

const BRIEF = 90; // letters

/** A name for a row of a table or list, however long it is. */
export function brief(name: string): string {
    const short = shorten(name);
    if (short.length <= BRIEF) return short;
    const end = fit(name, BRIEF);
    return end.length <= BRIEF ? end : `${end.slice(0, BRIEF - 1)}…`;
}

/** As much of the end of a qualified name as fits: "Desk::run" of "app::Desk::run". */
export function fit(name: string, letters: number): string {
    let text = shorten(name);
    for (let at = 0; text.length > letters && (at = nextPart(text)) > 0;) text = text.slice(at);
    return text;
}

/** Where the part behind the first "::" outside of brackets begins; 0: there is none. */
function nextPart(name: string): number {
    let depth = 0;
    for (let i = 0; i + 2 < name.length; i++) {
        const c = name[i]!;
        if ("(<[{".includes(c)) depth++;
        else if (")>]}".includes(c)) depth--;
        else if (depth === 0 && c === ":" && name[i + 1] === ":") return i + 2;
    }
    return 0;
}

export function fileName(path: string): string {
    return path.slice(path.lastIndexOf("/") + 1);
}
