import { readFileSync } from "node:fs"

import { expect, it } from "vitest"

import type { JsonObject } from "@/api/contract.gen"
import { allowsOnlyObjects, toolCall, toolNames, type SkillKey } from "@/domain/mcpCall"

function casesOf(name: string): unknown {
  const file = new URL(`../../../contracts/vectors/${name}.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly cases: unknown }).cases
}

interface NameCase {
  readonly name: string
  readonly skills: ReadonlyArray<SkillKey>
  readonly names: ReadonlyArray<string | null>
}

it.each(casesOf("tool-names") as NameCase[])(
  "a tool is named as the door names it: $name",
  async ({ skills, names }) => {
    expect((await toolNames(skills)).map((name) => name ?? null)).toEqual(names)
  },
)

interface SchemaCase {
  readonly name: string
  readonly schema: JsonObject
  readonly wrapped?: boolean
}

it.each((casesOf("tool-schemas") as SchemaCase[]).filter(({ wrapped }) => wrapped !== undefined))(
  "an input is wrapped as the door wraps it: $name",
  ({ schema, wrapped }) => {
    expect(!allowsOnlyObjects(schema, schema, new Set())).toBe(wrapped)
  },
)

it("is a request that a client of MCP can send", () => {
  expect(JSON.parse(toolCall("a__b", { type: "string" }, "Hello"))).toEqual({
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "a__b", arguments: { input: "Hello" } },
  })
})
