import { describe, expect, it } from "vitest"

import { schemaExample } from "@/domain/schemaExample"

describe("the example of a schema", () => {
  it("is its own first example", () => {
    expect(schemaExample({ type: "object", examples: [{ a: 1 }, { a: 2 }] })).toEqual({ a: 1 })
  })

  it("has the required members, each with a value of its kind", () => {
    const properties = {
      text: { type: "string", minLength: 6 },
      count: { type: "integer", minimum: 3 },
      tone: { enum: ["calm", "brief"] },
      tags: { type: "array", minItems: 1, items: { $ref: "#/$defs/tag" } },
      left: { type: "boolean" },
    }
    const schema = {
      type: "object",
      required: ["text", "count", "tone", "tags"],
      properties,
      $defs: { tag: { const: "x" } },
    }
    expect(schemaExample(schema)).toEqual({ text: "textxx", count: 10, tone: "calm", tags: ["x"] })
  })

  it("has numbers that people would give, within their bounds", () => {
    expect(schemaExample({ type: "integer" })).toBe(10)
    expect(schemaExample({ type: "integer", minimum: 30 })).toBe(30)
    expect(schemaExample({ type: "integer", exclusiveMaximum: 5 })).toBe(4)
    expect(schemaExample({ type: "integer", multipleOf: 15, maximum: 20 })).toBe(15)
    expect(schemaExample({ type: "number", maximum: 1 })).toBe(1)
  })

  it("ends where a schema goes round", () => {
    const node = { type: "object", required: ["next"], properties: { next: { $ref: "#/$defs/node" } } }
    expect(() => schemaExample({ $ref: "#/$defs/node", $defs: { node } })).not.toThrow()
  })
})
