import { readFileSync } from "node:fs"

import { describe, expect, it } from "vitest"

import type { Json, JsonObject } from "@/api/contract.gen"
import { compatibility, skillCompatibilities } from "@/domain/compatibility/skills"

interface Case {
  readonly name: string
  readonly accepted: JsonObject
  readonly by: JsonObject
  readonly within?: JsonObject
  readonly compatible: string
  readonly example?: Json
}

const file = new URL("../../../../contracts/vectors/schema-compatibility.json", import.meta.url)
const { cases } = JSON.parse(readFileSync(file, "utf-8")) as { readonly cases: ReadonlyArray<Case> }

describe("the compatibility of two schemas", () => {
  it.each(cases)("is as its vector says: $name", ({ accepted, by, within, compatible, example }) => {
    expect(compatibility(accepted, by, within)).toEqual(
      compatible === "no" ? { compatible, example } : { compatible },
    )
  })

  it("ends within its steps, whatever the schemas are", () => {
    const union = (at: number) => ({
      anyOf: Array.from({ length: 40 }, (_, name) => ({ required: [`${at}.${name}`] })),
    })
    const wide = { allOf: Array.from({ length: 40 }, (_, at) => union(at)) }
    expect(compatibility(wide, { ...wide, maxProperties: 3 })).toEqual({ compatible: "not_decided" })
    const links = Array.from({ length: 900 }, (_, at) => [
      `p${at}`,
      { properties: { next: { $ref: `#/$defs/p${at + 1}` } } },
    ])
    const chain = (last: JsonObject) => ({
      $ref: "#/$defs/p0",
      $defs: Object.fromEntries([...links, ["p900", last]]) as JsonObject,
    })
    expect(compatibility(chain({}), chain({ type: "null" }))).toEqual({ compatible: "not_decided" })
    const listed = Array.from({ length: 9000 }, (_, at) => `e${at}`)
    expect(compatibility({ enum: listed }, { enum: listed.slice(1) })).toEqual({ compatible: "not_decided" })
  })

  it("takes names that objects inherit for names like any other", () => {
    const named = (name: string) =>
      JSON.parse(`{"properties": {"${name}": {"type": "string"}}}`) as JsonObject
    for (const name of ["__proto__", "constructor", "toString"]) {
      expect(compatibility({ required: [name] }, { ...named(name), required: [name] })).toMatchObject({
        compatible: "no",
      })
      expect(compatibility(named(name), { ...named(name), required: [name] })).toMatchObject({
        compatible: "no",
      })
    }
  })
})

describe("the compatibility of two versions", () => {
  const narrow = { type: "string", maxLength: 3 }
  const wide = { type: "string" }
  const skill = (id: string, inputSchema: JsonObject, outputSchema: JsonObject) => ({
    ...{ id, inputSchema, outputSchema },
  })

  it("is told of each Skill that both have: inputs for callers, outputs for readers", () => {
    const older = [skill("a", narrow, narrow), skill("gone", {}, {})]
    const newer = [skill("a", wide, wide), skill("new", {}, {})]
    expect(skillCompatibilities(older, newer)).toEqual([
      { skillId: "a", inputs: { compatible: "yes" }, outputs: { compatible: "no", example: "aaaa" } },
    ])
  })
})
