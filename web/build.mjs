// Bundles src/ into one HTML file that needs no network:
//
//   node build.mjs OUTPUT
//
// The page's policy allows the one script and the one style sheet in it, by their hashes, and
// nothing else. The same sources and the same lock file give the same bytes.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const output = process.argv[2];
if (!output) {
    console.error("usage: node build.mjs OUTPUT");
    process.exit(2);
}

async function bundle(entry) {
    const result = await build({
        entryPoints: [entry],
        bundle: true,
        minify: true,
        write: false,
        metafile: true,
        format: "iife",
        target: ["chrome123", "firefox120", "safari17.5"],
        charset: "utf8",
        legalComments: "none", // the licences stand at the end of the page
        absWorkingDir: import.meta.dirname ?? process.cwd(),
    });
    return {
        text: result.outputFiles[0].text.trim(),
        inputs: Object.keys(result.metafile.inputs),
    };
}

/** Licences of the bundled libraries; packages with the same text share it. */
function licences(inputs) {
    const packages = [
        ...new Set(inputs.map((path) => path.match(/^node_modules\/([^/]+)\//)?.[1])),
    ];
    const texts = new Map();
    for (const name of packages.filter(Boolean).sort()) {
        const file = ["LICENSE", "LICENSE.md"]
            .map((f) => `node_modules/${name}/${f}`)
            .find(existsSync);
        if (!file) throw new Error(`${name} has no licence file`);
        const text = readFileSync(file, "utf8").trim().replaceAll("--", "- -");
        texts.set(text, [...(texts.get(text) ?? []), name]);
    }
    return [...texts].map(([text, names]) => `${names.join(", ")}:\n\n${text}`).join("\n\n");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Of all files that the page is made of, so that it can be told without node whether the bundle
 * is theirs; tests/web/bundle.py does the same sum. */
function sourcesHash() {
    const own = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"];
    const sum = createHash("sha256");
    for (const name of [...own, ...readdirSync("src").map((f) => `src/${f}`)].sort()) {
        const bytes = readFileSync(name);
        sum.update(`${name}\n${bytes.length}\n`).update(bytes);
    }
    return sum.digest("hex");
}

const script = await bundle("src/main.tsx");
const style = await bundle("src/style.css");
const policy = [
    "default-src 'none'",
    `script-src ${hash(script.text)}`,
    `style-src ${hash(style.text)}`,
    "base-uri 'none'",
    "form-action 'none'",
].join("; ");

const parts = {
    policy,
    style: style.text,
    script: script.text,
    licences: licences(script.inputs),
    sources: sourcesHash(),
};
const page = readFileSync("src/page.html", "utf8").replace(
    /\{\{(\w+)\}\}/g,
    (_, key) => parts[key],
);
writeFileSync(output, page);
console.log(`${output}: ${page.length} characters, script ${script.text.length}`);
