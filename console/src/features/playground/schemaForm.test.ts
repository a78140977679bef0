import { describe, expect, it } from "vitest"

import type { Json, JsonObject } from "@/api/contract.gen"
import { formField, hintOf, type Control } from "@/features/playground/schemaForm"

function controlOf(schema: JsonObject, root: JsonObject = schema): Control {
  return formField(schema, root).control
}

function labels(control: Control): ReadonlyArray<string> | undefined {
  return control.kind === "choice" ? control.options.map((option) => option.label) : undefined
}

describe("the field of a schema", () => {
  it("is a line for a short string and an area for a long or unbounded one", () => {
    expect(controlOf({ type: "string", maxLength: 80 })).toEqual({ kind: "text", multiline: false })
    expect(controlOf({ type: "string", pattern: "^[0-9]+$" })).toEqual({ kind: "text", multiline: false })
    expect(controlOf({ type: "string" })).toEqual({ kind: "text", multiline: true })
    expect(controlOf({ type: "string", maxLength: 5000 })).toEqual({ kind: "text", multiline: true })
  })

  it("is a number for integers and numbers", () => {
    expect(controlOf({ type: "integer" }).kind).toBe("number")
    expect(controlOf({ type: "number" }).kind).toBe("number")
  })

  it("is a choice for booleans, enums, constants and alternatives that are constants", () => {
    expect(labels(controlOf({ type: "boolean" }))).toEqual(["true", "false"])
    expect(labels(controlOf({ enum: ["en", 2, null, ""] }))).toEqual(["en", "2", "null", '""'])
    expect(labels(controlOf({ const: "only" }))).toEqual(["only"])
    expect(
      labels(
        controlOf({
          oneOf: [
            { const: 1, title: "Low" },
            { const: 2, title: "High" },
          ],
        }),
      ),
    ).toEqual(["Low (1)", "High (2)"])
  })

  it("has the members of an object, what must be given first", () => {
    const control = controlOf({
      type: "object",
      required: ["z", "undeclared"],
      properties: { a: { type: "string" }, z: { type: "string" } },
    })
    expect(
      control.kind === "object" && control.members.map(({ name, required }) => [name, required]),
    ).toEqual([
      ["z", true],
      ["undeclared", true],
      ["a", false],
    ])
  })

  it("is an object without members where none is allowed, and JSON where all are", () => {
    expect(controlOf({ type: "object", additionalProperties: false })).toEqual({
      kind: "object",
      members: [],
    })
    expect(controlOf({ type: "object" })).toEqual({ kind: "json" })
    expect(controlOf({ type: "object", additionalProperties: { type: "string" } })).toEqual({ kind: "json" })
  })

  it("is a list for items of one schema, and JSON for a list of another form", () => {
    expect(controlOf({ type: "array", items: { type: "string" }, maxItems: 3 })).toEqual({
      kind: "list",
      item: { type: "string" },
      maxItems: 3,
    })
    expect(controlOf({ type: "array" }).kind).toBe("json")
    expect(
      controlOf({ type: "array", prefixItems: [{ type: "string" }], items: { type: "string" } }).kind,
    ).toBe("json")
  })

  it("falls back to JSON where a schema says more than a field can", () => {
    const several: JsonObject[] = [
      {},
      { type: ["string", "number"] },
      { oneOf: [{ type: "string" }, { type: "object", properties: { url: { type: "string" } } }] },
      { allOf: [{ type: "string" }, { minLength: 2 }] },
      { $ref: "#/$defs/missing" },
    ]
    for (const schema of several) expect(controlOf(schema).kind).toBe("json")
    const notSchemas: Json[] = [true, false]
    for (const schema of notSchemas) expect(formField(schema, {}).control.kind).toBe("json")
  })

  it("follows local references, and what stands beside one wins", () => {
    const root: JsonObject = {
      $defs: { size: { type: "integer", description: "of a box", maximum: 9 }, "a/b": { type: "boolean" } },
    }
    const field = formField({ $ref: "#/$defs/size", description: "of a bag" }, root)
    expect(field.control.kind).toBe("number")
    expect(field.description).toBe("of a bag")
    expect(field.hints).toEqual(["at most 9"])
    expect(controlOf({ $ref: "#/$defs/a~1b" }, root).kind).toBe("choice")
  })

  it("knows null by its type or as an alternative", () => {
    const nullable: JsonObject[] = [
      { type: ["string", "null"] },
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { oneOf: [{ const: null }, { type: "string" }] },
    ]
    for (const schema of nullable) {
      expect(formField(schema, schema)).toMatchObject({ nullable: true, control: { kind: "text" } })
    }
    const choice = formField({ type: ["boolean", "null"] }, {})
    expect(choice.nullable).toBe(false)
    expect(labels(choice.control)).toEqual(["true", "false", "null"])
  })

  it("takes the only alternative for the schema itself", () => {
    expect(controlOf({ title: "Name", allOf: [{ type: "string", maxLength: 9 }] })).toEqual({
      kind: "text",
      multiline: false,
    })
  })

  it("says what it is for and within which bounds; a pattern only when there is nothing else", () => {
    const root = {}
    expect(
      hintOf(formField({ type: "integer", minimum: 1, maximum: 9, description: "How many." }, root)),
    ).toBe("How many. (1–9)")
    expect(hintOf(formField({ type: "string", pattern: "^a$", description: "A date." }, root))).toBe(
      "A date.",
    )
    expect(hintOf(formField({ type: "string", pattern: "^a$" }, root))).toBe("matches ^a$")
    expect(hintOf(formField({ type: "boolean" }, root))).toBeUndefined()
  })
})
