// A client of the MCP SDK for TypeScript: lists the tools, calls one, follows one, cancels one. One line of JSON per step.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const plan = JSON.parse(process.argv[2]);
const transport = plan.url
  ? new StreamableHTTPClientTransport(new URL(plan.url), {
      requestInit: { headers: { Authorization: `Bearer ${process.env.AOP_TOKEN}` } },
    })
  : new StdioClientTransport({ command: plan.command[0], args: plan.command.slice(1), env: process.env });
const client = new Client({ name: "interop", version: "1.0.0" });
await client.connect(transport);

const say = (step, found) => console.log(JSON.stringify({ step, found }));
const tools = (await client.listTools()).tools;
const named = (skill) => tools.find((tool) => tool._meta["aop/skillId"] === skill).name;
say("list", tools.map((tool) => tool._meta["aop/skillId"]).sort());

const result = await client.callTool({ name: named(plan.result), arguments: {} });
say("call", result.structuredContent);

const seen = [];
const followed = await client.callTool({ name: named(plan.progress), arguments: {} }, undefined, {
  onprogress: (progress) => seen.push(progress.progress),
});
say("progress", [seen, followed.structuredContent]);

const failed = await client.callTool({ name: named(plan.error), arguments: {} });
say("error", [failed.isError, failed._meta["aop/error"].code]);

const leaving = new AbortController();
const waiting = client.callTool({ name: named(plan.waits), arguments: {} }, undefined, { signal: leaving.signal });
setTimeout(() => leaving.abort(), 1000);
say("cancel", await waiting.then(() => "a result", () => "cancelled"));
await client.close();
