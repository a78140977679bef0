import { describe, expect, it } from "vitest"

import type { JsonObject } from "@/api/contract.gen"
import {
  begun,
  emptyInput,
  fieldPointers,
  firstInput,
  hiddenMembers,
  takesText,
} from "@/features/playground/formValue"

const SCHEMA: JsonObject = {
  type: "object",
  required: ["text", "kind", "window", "tags"],
  properties: {
    text: { type: "string" },
    kind: { const: "summary" },
    sentences: { type: "integer", default: 3 },
    window: { $ref: "#/$defs/window" },
    tags: { type: "array", items: { type: "string" } },
    children: { type: "array", items: { $ref: "#" } },
  },
  $defs: { window: { type: "object", required: ["from"], properties: { from: { type: "string" } } } },
}

describe("the input to begin with", () => {
  it("is the schema's own example", () => {
    expect(firstInput({ ...SCHEMA, examples: [{ text: "Hello" }] })).toEqual({ text: "Hello" })
  })

  it("without one has the defaults, and what is required and leaves no choice", () => {
    expect(firstInput(SCHEMA)).toEqual({ kind: "summary", sentences: 3, window: {}, tags: [] })
    expect(emptyInput({ ...SCHEMA, examples: [{ text: "Hello" }] })).toEqual(firstInput(SCHEMA))
  })

  it("is an object whatever the schema says", () => {
    expect(firstInput({})).toEqual({})
    expect(firstInput({ type: "object", examples: ["text"], default: 3 })).toEqual({})
  })

  it("of a text is its example, else nothing typed yet", () => {
    const text = { type: "string", minLength: 1 }
    expect([takesText(text), takesText(SCHEMA), takesText({ type: "string", enum: ["a"] })]).toEqual([
      ...[true, false, false],
    ])
    expect(firstInput({ ...text, examples: ["Hello"] })).toBe("Hello")
    expect(firstInput({ ...text, examples: [{ text: "Hello" }] })).toBe("")
    expect(emptyInput({ ...text, examples: ["Hello"] })).toBe("")
  })
})

describe("a new value", () => {
  it("is what its field can show", () => {
    expect(begun({ type: "string" }, {}, 1)).toBe("")
    expect(begun({ enum: ["a", "b"] }, {}, 1)).toBe("a")
    expect(begun({ type: "array", items: { type: "string" } }, {}, 1)).toEqual([])
    expect(begun({ type: "integer", default: 7 }, {}, 1)).toBe(7)
    expect(begun({ $ref: "#" }, SCHEMA, 1)).toEqual(firstInput(SCHEMA))
  })

  it("of a schema that needs itself ends somewhere", () => {
    const endless: JsonObject = { type: "object", required: ["inner"], properties: { inner: { $ref: "#" } } }
    expect(JSON.stringify(emptyInput(endless)).length).toBeLessThan(200)
  })
})

describe("the fields of a form", () => {
  it("are those of the members, of objects that are there, and of items", () => {
    const value = { window: {}, tags: ["a", "b"], children: [{ text: "x" }] }
    const pointers = fieldPointers(SCHEMA, value)
    for (const pointer of ["", "/text", "/window/from", "/tags", "/tags/1", "/children/0/text"]) {
      expect(pointers).toContain(pointer)
    }
    expect(pointers).not.toContain("/tags/2")
    expect(fieldPointers(SCHEMA, {})).not.toContain("/window/from")
  })

  it("leave out members the schema does not declare, and name them", () => {
    const members = [{ name: "text", schema: true, required: true }]
    expect(hiddenMembers(members, { text: "x", extra: 1 })).toEqual(["extra"])
    expect(hiddenMembers(members, undefined)).toEqual([])
  })
})
