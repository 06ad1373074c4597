// Holds one conversation with a server over stdio and prints what it heard as JSON.
//
// node client.mjs sdk1|client2|client2-auto QUERY COMMAND [ARGUMENT...]
//
// The packages are looked up from the working folder, where install.py put them.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [kind, query, command, ...args] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${process.cwd()}/`));
const load = async (name) => import(pathToFileURL(require.resolve(name)));

const oldClient = kind === "sdk1";
const { Client } = oldClient
  ? await load("@modelcontextprotocol/sdk/client/index.js")
  : await load("@modelcontextprotocol/client");
const { StdioClientTransport } = oldClient
  ? await load("@modelcontextprotocol/sdk/client/stdio.js")
  : await load("@modelcontextprotocol/client/stdio");

const options = kind === "client2-auto" ? { versionNegotiation: { mode: "auto" } } : {};
const client = new Client({ name: "localdb-tests", version: "1" }, options);
await client.connect(new StdioClientTransport({ command, args, env: process.env }));

const call = async (name, given) => {
  const result = await client.callTool({ name, arguments: given });
  const text = result.content[0].text;
  if (result.isError) throw new Error(`${name}: ${text}`);
  return JSON.parse(text.split("\n\n---\n")[0]);
};

const { tools } = await client.listTools();
const hit = (await call("search", { query })).citations[0];
const document = await call("get_document", { id: hit.resource_id });
const chunks = await call("get_chunks", {
  resource_id: hit.resource_id,
  anchor_chunk_id: hit.chunk_id,
});
await client.close();

console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), hit, document, chunks }));
