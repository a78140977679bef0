/** Lists what is installed, makes one call and reads one stream: `node dist/example.js GATEWAY WORKSPACE AGENT SKILL`. */

import createClient from "openapi-fetch"

import type { components, paths } from "./gateway.js"

type StreamEvent = components["schemas"]["InvocationStreamEvent"]

const [baseUrl = "", workspaceId = "", agentId = "", capability = ""] = process.argv.slice(2)
const token = process.env["AOP_TOKEN"] ?? ""
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } })
const params = { path: { workspaceId } }

const installed = await client.GET("/v1/workspaces/{workspaceId}/installations", { params })
say("installed", installed.data?.items.map(({ agentName, skills }) => [agentName, skills.length]))

const called = await client.POST("/v1/workspaces/{workspaceId}/invocations", {
  params,
  body: { agentId, capability, input: {}, stream: false },
})
// A call that is no stream answers with an object; the other type of answer is the text of a stream.
say("result", typeof called.data === "object" ? called.data.result : undefined)

const refused = await client.POST("/v1/workspaces/{workspaceId}/invocations", {
  params,
  body: { agentId, capability: "no-such-skill", input: {}, stream: false },
})
say("refused", [refused.response.status, refused.error?.code, refused.error?.reason])

const streamed = await client.POST("/v1/workspaces/{workspaceId}/invocations", {
  params,
  body: { agentId, capability, input: {}, stream: true },
  parseAs: "stream",
})
for await (const event of events(streamed.data)) say(event.type, event.chunk)

/** An event is one `data:` line. A stream that ends without a terminal event was interrupted. */
async function* events(body: ReadableStream<Uint8Array> | null | undefined): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let rest = ""
  let last: StreamEvent | undefined
  for await (const piece of body ?? []) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines.filter((line) => line.startsWith("data: "))) {
      last = JSON.parse(line.slice(6)) as StreamEvent
      yield last
    }
  }
  if (last === undefined || last.type === "accepted" || last.type === "chunk") throw new Error("interrupted")
}

function say(what: string, value: unknown): void {
  console.log(JSON.stringify([what, value ?? null]))
}
