import { describe, expect, it } from "vitest"

import { memberNames, schemaOutline } from "@/domain/schemaOutline"

describe("the outline of a schema", () => {
  it("lists members with type, need, bounds and meaning, nested ones after their parent", () => {
    const outline = schemaOutline({
      type: "object",
      required: ["items"],
      properties: {
        items: {
          type: "array",
          minItems: 1,
          items: {
            type: "object",
            properties: { title: { type: "string", maxLength: 80, description: "Short." } },
          },
        },
        tone: { enum: ["calm", "brief"], default: "calm" },
      },
    })
    expect(outline).toEqual([
      {
        path: "items",
        type: "array of object",
        required: true,
        description: undefined,
        bounds: ["at least 1 item"],
      },
      {
        path: "items[].title",
        type: "string",
        required: false,
        description: "Short.",
        bounds: ["at most 80 characters"],
      },
      {
        path: "tone",
        type: "choice",
        required: false,
        description: undefined,
        bounds: ["one of calm, brief", "default calm"],
      },
    ])
  })

  it("names required members in the order of their author, and the others as people count", () => {
    const properties = { part1: {}, part10: {}, part2: {}, text: {} }
    expect(memberNames({ properties, required: ["text"] })).toEqual(["text", "part1", "part2", "part10"])
  })

  it("follows local references and ends where they go round", () => {
    const outline = schemaOutline({
      $ref: "#/$defs/node",
      $defs: {
        node: { type: "object", properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } } },
      },
    })
    expect(outline[0]?.path).toBe("name")
    expect(outline.some((member) => member.path === "next.name")).toBe(true)
    expect(outline.length).toBeLessThan(30)
  })

  it("of a schema without members is the value itself", () => {
    expect(schemaOutline({ type: "string", minLength: 1 })).toEqual([
      { path: "", type: "string", required: true, description: undefined, bounds: ["at least 1 character"] },
    ])
    expect(schemaOutline({})[0]?.type).toBe("any")
  })
})
