// Asks pgokit mcp by real client libraries, and prints what they got as JSON.
//
//   node clients.mjs PGOKIT FOLDER
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [pgokit, folder] = process.argv.slice(2);
const server = { command: pgokit, args: ["mcp", folder] };
const self = { name: "pgokit-test", version: "1" };

async function ask(client, transport) {
    const seen = {};
    await client.connect(transport);
    seen.server = client.getServerVersion();
    seen.instructions = client.getInstructions();
    seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
    seen.answers = {};
    for (const [key, name, args] of [
        ["list", "list_profiles", {}],
        ["function", "function", { profile: "sample/llvm22-plain.afdo", function: "main" }],
        ["outside", "top", { profile: "../meson.build" }],
    ]) {
        const answer = await client.callTool({ name, arguments: args });
        seen.answers[key] = { failed: answer.isError ?? false, text: answer.content[0].text };
        const cursor = answer._meta?.["pgokit/nextCursor"];
        if (cursor) {
            const next = await client.callTool({ name, arguments: { ...args, cursor } });
            seen.answers[key].next = next.content[0].text;
        }
    }
    // The protocol's own errors are exceptions of the library.
    seen.refused = await client
        .callTool({ name: "no_such_tool", arguments: {} })
        .then(() => "nothing", (error) => error.code);
    await client.close();
    return seen;
}

const results = {
    sdk: await ask(new OlderClient(self), new OlderTransport(server)),
    client: await ask(new Client(self), new StdioClientTransport(server)),
    pinned: await ask(
        new Client(self, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
        new StdioClientTransport(server),
    ),
    auto: await ask(
        new Client(self, { versionNegotiation: { mode: "auto" } }),
        new StdioClientTransport(server),
    ),
};
console.log(JSON.stringify(results));
